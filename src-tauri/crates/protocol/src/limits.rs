//! Limits of a turn and of a session, with the profiles of the loop. At a limit the turn pauses and asks.

use crate::Millis;
use serde::{Deserialize, Serialize};

/// All limits of a session. Every one can be changed, and extended while a turn waits at it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
#[serde(default)]
pub struct Limits {
    /// Model requests per message of the person.
    pub iterations: u32,
    /// Active time per turn; waiting for the person does not count. `None` = no limit.
    pub active_time: Option<Millis>,
    /// One tool call that is not a command.
    pub tool_time: Millis,
    /// One command.
    pub command_time: Millis,
    /// Calls in a row that could not be read.
    pub malformed_calls: u32,
    /// Failures of the same tool in a row.
    pub tool_failures: u32,
    /// Times the same call may give the same result.
    pub same_result: u32,
    /// What the loop guard does when it sees a repetition.
    pub guard: GuardMode,
    /// Further tries of one model request.
    pub model_retries: u32,
    /// Silence of the model's server, counted in bytes, not in words.
    pub model_silence: Millis,
    /// The same for a server on this machine.
    pub local_silence: Millis,
    /// Tokens per session. `None` = no limit.
    pub session_tokens: Option<u32>,
}

impl Limits {
    /// Highest number of iterations per turn that a role may be extended to.
    pub const fn ceiling(role: crate::Role) -> u32 {
        match role {
            crate::Role::Admin => 500,
            _ => 200,
        }
    }

    pub fn of(profile: LimitProfile) -> Self {
        let standard = Self {
            iterations: 25,
            active_time: Some(Millis::minutes(30)),
            tool_time: Millis::seconds(60),
            command_time: Millis::seconds(120),
            malformed_calls: 3,
            tool_failures: 3,
            same_result: 3,
            guard: GuardMode::HintThenAsk,
            model_retries: 3,
            model_silence: Millis::seconds(120),
            local_silence: Millis::seconds(600),
            session_tokens: Some(1_000_000),
        };
        match profile {
            LimitProfile::Standard => standard,
            LimitProfile::Quick => Self {
                iterations: 5,
                active_time: Some(Millis::seconds(60)),
                tool_time: Millis::seconds(30),
                command_time: Millis::seconds(30),
                model_silence: Millis::seconds(30),
                ..standard
            },
            LimitProfile::Production => Self {
                iterations: 10,
                active_time: Some(Millis::seconds(300)),
                command_time: Millis::seconds(60),
                ..standard
            },
            LimitProfile::Complex => Self {
                iterations: 50,
                active_time: Some(Millis::minutes(60)),
                command_time: Millis::seconds(600),
                model_silence: Millis::seconds(600),
                ..standard
            },
            LimitProfile::Development => Self {
                iterations: 200,
                active_time: None,
                tool_time: Millis::seconds(300),
                command_time: Millis::seconds(600),
                same_result: 5,
                model_silence: Millis::seconds(600),
                ..standard
            },
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::of(LimitProfile::Standard)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum LimitProfile {
    #[default]
    Standard,
    Quick,
    Production,
    Complex,
    Development,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum GuardMode {
    /// The model is told first; the turn pauses when it goes on.
    #[default]
    HintThenAsk,
    HintOnly,
    Off,
}

/// A profile with what it stands for, so that no client keeps a copy of the numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
pub struct ProfileLimits {
    pub profile: LimitProfile,
    pub limits: Limits,
}

impl LimitProfile {
    pub const ALL: [Self; 5] = [
        Self::Standard,
        Self::Quick,
        Self::Production,
        Self::Complex,
        Self::Development,
    ];
}

/// A limit at which a turn pauses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum LimitKind {
    Iterations,
    /// In milliseconds of active time.
    ActiveTime,
    SessionTokens,
    /// In millionths of a dollar.
    TurnMoney,
    SessionMoney,
    DayMoney,
}

/// A limit that was reached: in the unit of its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
pub struct LimitReached {
    pub limit: LimitKind,
    #[cfg_attr(feature = "bindings", ts(type = "number"))]
    pub used: u64,
    #[cfg_attr(feature = "bindings", ts(type = "number"))]
    pub allowed: u64,
}
