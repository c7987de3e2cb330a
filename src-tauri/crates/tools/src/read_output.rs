//! The rest of an output that was too long for the model.

use crate::read_file::part_of;
use crate::typed::{Stop, TypedTool, reading};
use crate::{CallContext, Prepared, ToolError, ToolKind};
use paddock_protocol::{CallId, CallOutput, Verb};
use schemars::JsonSchema;
use serde::Deserialize;

pub(crate) struct ReadOutput;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// As the cut output names it: `t2.i5.c1`
    call: String,
    /// First line, from 1
    from_line: Option<u32>,
    /// Last line
    to_line: Option<u32>,
}

impl TypedTool for ReadOutput {
    type Input = Input;
    const NAME: &'static str = "read_output";
    const DESCRIPTION: &'static str = include_str!("read_output.md").trim_ascii();
    const KIND: ToolKind = ToolKind::Read;

    fn prepare(input: Input, _: &CallContext) -> Result<Prepared, ToolError> {
        Ok(reading(
            Verb::Read,
            format!("output of {}", input.call.trim()),
            Vec::new(),
        ))
    }

    fn run(input: Input, cx: &CallContext, _: &Stop) -> Result<CallOutput, ToolError> {
        let call = input.call.trim();
        let kept = (cx.earlier_output)(&CallId::new(call))
            .map_err(|_| ToolError::Model("The kept output could not be read.".to_owned()))?;
        let unknown = || {
            ToolError::Model(format!(
                "No output of a call `{call}` was kept; only cut outputs are."
            ))
        };
        part_of(&kept.ok_or_else(unknown)?, input.from_line, input.to_line)
    }
}
