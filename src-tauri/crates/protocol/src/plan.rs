//! The task list of a turn: what the agent means to do, as `update_plan` left it.

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
pub struct PlanTask {
    pub text: String,
    pub state: TaskState,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum TaskState {
    #[default]
    Open,
    /// The agent works on it now.
    Doing,
    Done,
    /// Given up, with the reason in the text.
    Dropped,
}
