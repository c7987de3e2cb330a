//! Ids and time. Ids inside of a session are counted, not random, so that the pure step can make them and a
//! replay makes the same ones; only the session's own id is globally unique.

use serde::{Deserialize, Serialize};
use std::fmt;

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            pub fn new(text: impl Into<String>) -> Self {
                Self(text.into())
            }

            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

text_id!(
    /// A session, unique in the world (UUID version 7).
    SessionId
);
text_id!(
    /// A call, for example `t2.i5.c1`: turn 2, iteration 5, first call asked for.
    CallId
);
text_id!(
    /// An approval of one call, for example `t2.i5.c1.a1`; a renewed request gets a new id.
    ApprovalId
);
text_id!(
    /// A remembered decision.
    RuleId
);
text_id!(
    /// A background process of a session: `p1`, `p2` and so on; never used again.
    ProcessId
);
text_id!(
    /// A configured model provider, for example `openai` or `local`.
    ProviderId
);

/// A turn, counted from 1 within its session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
#[serde(transparent)]
pub struct TurnId(pub u32);

impl TurnId {
    pub fn call(self, iteration: u32, number: u32) -> CallId {
        CallId::new(format!("t{}.i{iteration}.c{number}", self.0))
    }
}

impl CallId {
    /// The approval of a sub-agent in the queue of the turn that started it.
    pub fn nested(&self, approval: &ApprovalId) -> ApprovalId {
        ApprovalId::new(format!("{self}/{approval}"))
    }

    pub fn approval(&self, number: u32) -> ApprovalId {
        ApprovalId::new(format!("{self}.a{number}"))
    }
}

/// An item of the timeline: its place in the order, counted from 0 within its session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
#[serde(transparent)]
pub struct ItemId(pub u32);

/// A moment: milliseconds since 1970-01-01 UTC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export, type = "number"))]
#[serde(transparent)]
pub struct Timestamp(pub u64);

impl Timestamp {
    pub fn plus(self, duration: Millis) -> Self {
        Self(self.0.saturating_add(duration.0))
    }

    /// Time passed since `earlier`; zero when the clock went backwards.
    pub fn since(self, earlier: Timestamp) -> Millis {
        Millis(self.0.saturating_sub(earlier.0))
    }
}

/// A duration in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export, type = "number"))]
#[serde(transparent)]
pub struct Millis(pub u64);

impl Millis {
    pub const fn seconds(n: u64) -> Self {
        Self(n * 1_000)
    }

    pub const fn minutes(n: u64) -> Self {
        Self(n * 60_000)
    }

    pub fn as_duration(self) -> std::time::Duration {
        std::time::Duration::from_millis(self.0)
    }
}

impl From<std::time::Duration> for Millis {
    fn from(duration: std::time::Duration) -> Self {
        Self(duration.as_millis() as u64)
    }
}

impl std::ops::Add for Millis {
    type Output = Millis;
    fn add(self, other: Millis) -> Millis {
        Millis(self.0.saturating_add(other.0))
    }
}
