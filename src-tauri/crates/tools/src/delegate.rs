//! A part of the work for a sub-agent; the loop starts it.

use crate::ask_question::required;
use crate::typed::{TypedTool, breaking};
use crate::{CallContext, Flow, Prepared, ToolError, ToolKind};
use paddock_protocol::Verb;
use schemars::JsonSchema;
use serde::Deserialize;

/// Letters of a name and of a task.
const MAX_NAME: usize = 40;
const MAX_TASK: usize = 20_000;

pub(crate) struct Delegate;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    name: String,
    /// Goal, what is known, where to look, what to return
    task: String,
    /// It must change files
    #[serde(default)]
    writes: bool,
}

impl TypedTool for Delegate {
    type Input = Input;
    const NAME: &'static str = "delegate";
    const DESCRIPTION: &'static str = include_str!("delegate.md").trim_ascii();
    const KIND: ToolKind = ToolKind::Loop;

    fn prepare(input: Input, _: &CallContext) -> Result<Prepared, ToolError> {
        let name = input.name.split_whitespace().collect::<Vec<_>>().join(" ");
        let name = bounded("name", &name, MAX_NAME)?;
        let task = bounded("task", &input.task, MAX_TASK)?;
        let flow = Flow::Delegate {
            name: name.clone(),
            task,
            writes: input.writes,
        };
        Ok(breaking(Verb::Delegate, &name, flow))
    }
}

fn bounded(field: &str, text: &str, most: usize) -> Result<String, ToolError> {
    let text = required(field, text)?;
    match text.chars().count() {
        letters if letters > most => Err(ToolError::Arguments(format!(
            "`{field}` has {letters} characters; at most {most} are possible"
        ))),
        _ => Ok(text),
    }
}
