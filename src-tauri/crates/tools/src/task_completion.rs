//! The agent ends its work with a result.

use crate::ask_question::required;
use crate::typed::{TypedTool, breaking};
use crate::{CallContext, Flow, Prepared, ToolError, ToolKind};
use paddock_protocol::Verb;
use schemars::JsonSchema;
use serde::Deserialize;

pub(crate) struct TaskCompletion;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// What was done, how it was checked
    result: String,
}

impl TypedTool for TaskCompletion {
    type Input = Input;
    const NAME: &'static str = "task_completion";
    const DESCRIPTION: &'static str = include_str!("task_completion.md").trim_ascii();
    const KIND: ToolKind = ToolKind::Breaking;

    fn prepare(input: Input, _: &CallContext) -> Result<Prepared, ToolError> {
        let result = required("result", &input.result)?;
        Ok(breaking(
            Verb::Finish,
            &result,
            Flow::Finish {
                result: result.clone(),
            },
        ))
    }
}
