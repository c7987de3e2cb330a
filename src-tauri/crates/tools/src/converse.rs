//! The agent just talks. Ends the turn without claiming that work was done.

use crate::ask_question::required;
use crate::typed::{TypedTool, breaking};
use crate::{CallContext, Flow, Prepared, ToolError, ToolKind};
use paddock_protocol::Verb;
use schemars::JsonSchema;
use serde::Deserialize;

pub(crate) struct Converse;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    message: String,
}

impl TypedTool for Converse {
    type Input = Input;
    const NAME: &'static str = "converse";
    const DESCRIPTION: &'static str = include_str!("converse.md").trim_ascii();
    const KIND: ToolKind = ToolKind::Breaking;

    fn prepare(input: Input, _: &CallContext) -> Result<Prepared, ToolError> {
        let message = required("message", &input.message)?;
        Ok(breaking(
            Verb::Say,
            &message,
            Flow::Say {
                message: message.clone(),
            },
        ))
    }
}
