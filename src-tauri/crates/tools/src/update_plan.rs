//! The task list of the turn; the loop keeps it.

use crate::typed::{TypedTool, breaking};
use crate::{CallContext, Flow, Prepared, ToolError, ToolKind};
use paddock_protocol::{PlanTask, TaskState, Verb};
use schemars::JsonSchema;
use serde::Deserialize;

const MAX_TASKS: usize = 40;
/// Letters of a task.
const MAX_TEXT: usize = 300;

pub(crate) struct UpdatePlan;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// 1 to 40
    tasks: Vec<Task>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Task {
    text: String,
    state: State,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum State {
    Open,
    Doing,
    Done,
    Dropped,
}

impl TypedTool for UpdatePlan {
    type Input = Input;
    const NAME: &'static str = "update_plan";
    const DESCRIPTION: &'static str = include_str!("update_plan.md").trim_ascii();
    const KIND: ToolKind = ToolKind::Loop;

    fn prepare(input: Input, _: &CallContext) -> Result<Prepared, ToolError> {
        let tasks = input.tasks;
        if tasks.is_empty() || tasks.len() > MAX_TASKS {
            return Err(ToolError::Arguments(format!(
                "`tasks` has {} tasks; 1 to {MAX_TASKS} are possible",
                tasks.len()
            )));
        }
        let tasks: Vec<PlanTask> = tasks
            .into_iter()
            .enumerate()
            .map(|(index, task)| task.checked(index))
            .collect::<Result<_, _>>()?;
        let count = |state| tasks.iter().filter(|task| task.state == state).count();
        let doing = count(TaskState::Doing);
        if doing > 1 {
            return Err(ToolError::Arguments(format!(
                "`tasks` has {doing} tasks that are `doing`; at most one at a time"
            )));
        }
        let target = format!("{} of {} tasks done", count(TaskState::Done), tasks.len());
        Ok(breaking(Verb::Plan, &target, Flow::Plan { tasks }))
    }
}

impl Task {
    fn checked(self, index: usize) -> Result<PlanTask, ToolError> {
        let text = self.text.split_whitespace().collect::<Vec<_>>().join(" ");
        let letters = text.chars().count();
        if letters == 0 || letters > MAX_TEXT {
            return Err(ToolError::Arguments(format!(
                "`tasks[{index}].text` has {letters} characters; 1 to {MAX_TEXT} are possible"
            )));
        }
        let state = match self.state {
            State::Open => TaskState::Open,
            State::Doing => TaskState::Doing,
            State::Done => TaskState::Done,
            State::Dropped => TaskState::Dropped,
        };
        Ok(PlanTask { text, state })
    }
}
