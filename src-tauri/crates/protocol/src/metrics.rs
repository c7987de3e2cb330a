//! What is watched: figures over the turns of a project, computed from the log's index. Local only.

use crate::*;
use serde::{Deserialize, Serialize};

/// Which turns are counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
#[serde(default)]
pub struct MetricsQuery {
    /// Absolute path; absent: all projects.
    pub project: Option<String>,
    pub session: Option<SessionId>,
    /// Turns that began in the last so many days; absent: all.
    pub days: Option<u32>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
pub struct Metrics {
    pub turns: u32,
    pub completed: u32,
    pub stopped: u32,
    pub failed: u32,
    /// Working time per turn, without waiting for the person.
    pub active: Spread,
    pub waiting: Spread,
    /// Turns by their number of iterations, ascending.
    pub iterations: Vec<IterationCount>,
    /// Turns that paused at the iteration limit.
    pub limit_hits: u32,
    pub tools: Vec<ToolMetrics>,
    pub approvals: ApprovalMetrics,
    pub retries: u32,
    pub malformed: u32,
    pub guard_hits: u32,
    pub breaker_hits: u32,
    pub undone_calls: u32,
    pub usage: Vec<SourceUsage>,
    /// Part of the input that came from the provider's cache, 0 to 1; absent without input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub cache_share: Option<f64>,
    pub days: Vec<DayUsage>,
}

/// Median, 90th percentile and greatest of some durations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
pub struct Spread {
    pub count: u32,
    pub median: Millis,
    pub p90: Millis,
    pub max: Millis,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
pub struct IterationCount {
    pub iterations: u32,
    pub turns: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
pub struct ToolMetrics {
    pub tool: String,
    pub calls: u32,
    pub failed: u32,
    pub timed_out: u32,
    pub duration: Spread,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
pub struct ApprovalMetrics {
    pub asked: u32,
    pub approved: u32,
    pub edited: u32,
    pub rejected: u32,
    pub withdrawn: u32,
    /// Calls that a rule let through without asking.
    pub by_rule: u32,
    pub time_to_decide: Spread,
    /// Reasons given at rejections, most frequent first.
    pub reasons: Vec<ReasonCount>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
pub struct ReasonCount {
    pub reason: String,
    pub count: u32,
}

/// Who used tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum UsageSource {
    Main,
    SubAgent,
    /// Attempts whose answer was not used.
    Retry,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
pub struct SourceUsage {
    pub source: UsageSource,
    /// `provider/model`.
    pub model: String,
    pub requests: u32,
    pub usage: Usage,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
pub struct DayUsage {
    /// `YYYY-MM-DD`, UTC.
    pub day: String,
    pub turns: u32,
    pub usage: Usage,
}

/// One line of the decision log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
pub struct DecisionLine {
    pub at: Timestamp,
    pub session: SessionId,
    pub call: CallId,
    pub tool: String,
    pub target: String,
    pub classes: Vec<RiskClass>,
    pub allowed: bool,
    pub by: DecidedBy,
    /// The line of the trace that decided.
    pub rule: String,
    pub edited: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub reason: Option<String>,
}
