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
    /// How the model is asked to call tools.
    #[serde(default)]
    pub format: CallFormat,
    /// What is known of the model.
    #[serde(default)]
    pub facts: ModelFacts,
    #[serde(default)]
    pub budget: Budget,
    /// The role's own narrowing; `role` is its base then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub own_role: Option<OwnRole>,
    /// The model to go on with when this one fails.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub fallback: Option<Fallback>,
    /// The model of sub-agents; absent = the session's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub small: Option<SmallModel>,
    /// A command that has to succeed before a turn that changed something is done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub done_when: Option<String>,
    /// The call that started this session as a sub-agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub parent: Option<ParentCall>,
    /// Runs on the shipped sample project with scripted answers.
    #[serde(default)]
    pub demo: bool,
}

/// How a model calls tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum CallFormat {
    /// The provider's own function calling.
    #[default]
    Native,
    /// `{"tool": …, "parameters": …, "terminate": …}` in the text.
    Json,
    /// `<tool>{…}</tool>` in the text.
    Xml,
}

/// A second model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
pub struct Fallback {
    pub model: ModelChoice,
    /// Used without asking; else it is only offered.
    pub automatic: bool,
    /// Filled in by the core.
    #[serde(default)]
    #[cfg_attr(feature = "bindings", ts(skip))]
    pub known: KnownModel,
}

/// The model for small work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
pub struct SmallModel {
    pub model: ModelChoice,
    /// Filled in by the core.
    #[serde(default)]
    #[cfg_attr(feature = "bindings", ts(skip))]
    pub known: KnownModel,
}

/// How a model is asked, and what is known of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownModel {
    pub format: CallFormat,
    pub facts: ModelFacts,
}

/// The call of another session that a sub-agent works for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
pub struct ParentCall {
    pub session: SessionId,
    pub call: CallId,
}

/// A message that waits until the turn has ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
pub struct QueuedMessage {
    /// Unique within its session.
    pub id: u32,
    pub text: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "bindings", ts(as = "Option<Vec<Attachment>>", optional))]
    pub images: Vec<Attachment>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub effort: Option<Effort>,
}

/// Messages that wait, in the order in which they will be sent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
pub struct Queue {
    pub messages: Vec<QueuedMessage>,
    /// After a stop or a failure nothing is sent until the person releases it.
    pub held: bool,
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
    /// Set for the session of a sub-agent; lists leave it out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub parent: Option<ParentCall>,
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

/// Caps that the person raised in place, as they hold now. Absent = what is set holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
#[serde(default)]
pub struct RaisedCaps {
    /// Tokens of the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional, type = "number"))]
    pub tokens: Option<u64>,
    /// Money of the newest turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub turn: Option<Micros>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub session: Option<Micros>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub day: Option<Micros>,
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
    /// All rules in force.
    #[serde(default)]
    pub rules: Vec<Rule>,
    pub queue: Queue,
    /// The task list, as the agent last left it.
    pub plan: Vec<PlanTask>,
    /// Background processes that run.
    pub processes: Vec<Process>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub workflow: Option<WorkflowRun>,
    /// The session waits until another one no longer changes this folder.
    #[serde(default)]
    pub waits_for_folder: bool,
    pub usage: Usage,
    /// The same by what it was used for.
    pub sources: Vec<SourceUsage>,
    #[serde(default)]
    pub raised: RaisedCaps,
    /// What the request that is on its way is expected to use; absent while none is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub estimate: Option<Usage>,
}
