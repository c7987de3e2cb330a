//! A session as a client sees it: its configuration, a summary for lists, a snapshot to begin a view with.

use crate::*;
use serde::{Deserialize, Serialize};

/// What a session is set to. Changes replace the whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
pub struct SessionConfig {
    /// Absolute path of the project folder.
    pub project: String,
    pub title: String,
    pub model: ModelChoice,
    pub role: Role,
    pub autonomy: Autonomy,
    pub limits: Limits,
    /// Runs on the shipped sample project with scripted answers.
    #[serde(default)]
    pub demo: bool,
}

/// A model of a configured provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
pub struct ModelChoice {
    pub provider: ProviderId,
    /// The model's name as its server knows it.
    pub model: String,
}

/// A line of the session list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
pub struct SessionSummary {
    pub session: SessionId,
    pub project: String,
    pub title: String,
    pub created: Timestamp,
    pub changed: Timestamp,
    /// State of the newest turn; absent before the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub status: Option<TurnStatus>,
    /// Things that wait for the person: approvals, questions, pauses.
    pub waiting: u32,
    pub iteration: u32,
    pub usage: Usage,
}

/// The newest turn of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
pub struct Turn {
    pub turn: TurnId,
    pub status: TurnStatus,
    pub iteration: u32,
    pub iteration_limit: u32,
    pub started: Timestamp,
    /// Working time up to `status_since`, without waiting for the person.
    pub active: Millis,
    pub waiting: Millis,
    /// Since when the status holds; a running clock adds the time since then.
    pub status_since: Timestamp,
    pub usage: Usage,
}

/// All a view needs to begin; events with a higher `seq` follow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
pub struct SessionSnapshot {
    pub session: SessionId,
    #[cfg_attr(feature = "bindings", ts(type = "number"))]
    pub seq: u64,
    pub config: SessionConfig,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub turn: Option<Turn>,
    /// The newest items, oldest first; their text includes what has streamed so far.
    pub items: Vec<Item>,
    /// Number of all items of the session.
    pub item_count: u32,
    pub approvals: Vec<ApprovalRequest>,
    pub queue: Vec<String>,
    pub usage: Usage,
}
