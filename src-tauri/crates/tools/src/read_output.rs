//! The rest of an output that was too long for the model, and what background processes write.

use crate::processes::View;
use crate::read_file::{Numbers, part_of};
use crate::typed::{Stop, TypedTool, reading};
use crate::{CallContext, Prepared, ToolError, ToolKind, bounds, stop_process};
use paddock_protocol::{CallId, CallOutput, ProcessEnd, ProcessId, Verb};
use schemars::JsonSchema;
use serde::Deserialize;

/// Lines at the end of what a process wrote, when nothing else is asked for.
const USUAL_TAIL: u32 = 200;

pub(crate) struct ReadOutput;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// `t2.i5.c1` or `p1`
    call: String,
    from_line: Option<u32>,
    to_line: Option<u32>,
    /// Instead: last lines
    tail: Option<u32>,
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
        if input.tail.is_some() && (input.from_line.is_some() || input.to_line.is_some()) {
            return Err(ToolError::Arguments(
                "`tail` stands alone; leave `from_line` and `to_line` out".to_owned(),
            ));
        }
        let call = input.call.trim();
        if let Some(view) = cx.processes.view(&ProcessId::new(call)) {
            return of_process(&view, &input);
        }
        let kept = (cx.earlier_output)(&CallId::new(call))
            .map_err(|_| ToolError::Model("The kept output could not be read.".to_owned()))?;
        let unknown = || match call.strip_prefix('p') {
            Some(number) if number.parse::<u32>().is_ok() => {
                stop_process::unknown(&cx.processes, &ProcessId::new(call))
            }
            _ => ToolError::Model(format!(
                "No output of a call `{call}` was kept; only cut outputs are."
            )),
        };
        let kept = kept.ok_or_else(unknown)?;
        let from = input.tail.map(|tail| first_of_tail(&kept, tail));
        part_of(&kept, from.or(input.from_line), input.to_line, Numbers::Shown)
    }
}

fn first_of_tail(text: &str, tail: u32) -> u32 {
    let lines = u32::try_from(text.lines().count()).unwrap_or(u32::MAX);
    lines.saturating_sub(tail.max(1)) + 1
}

/// Lines count within what is kept.
fn of_process(view: &View, input: &Input) -> Result<CallOutput, ToolError> {
    let from = match (input.from_line, input.to_line) {
        (None, None) => Some(first_of_tail(&view.output, input.tail.unwrap_or(USUAL_TAIL))),
        (from, _) => from,
    };
    let mut output = part_of(&view.output, from, input.to_line, Numbers::Shown)?;
    if view.dropped > 0 {
        let dropped = bounds::size(view.dropped);
        output.text.insert_str(
            0,
            &format!("[{dropped} before the first line are no longer kept]\n"),
        );
    }
    if !output.text.ends_with('\n') {
        output.text.push('\n');
    }
    let state = match view.end {
        None => format!("runs since {} s", view.running_for.as_secs()),
        Some(ProcessEnd::Exited { code: Some(code) }) => format!("ended with exit code {code}"),
        Some(ProcessEnd::Exited { code: None }) => "ended by a signal".to_owned(),
        Some(ProcessEnd::EndedByPerson) => "ended by the user".to_owned(),
        Some(ProcessEnd::EndedByAgent) => "ended by stop_process".to_owned(),
        Some(ProcessEnd::Closed | ProcessEnd::Lost) => "ended with the session".to_owned(),
    };
    output.text.push_str(&format!("[{} {state}]\n", view.process.id));
    Ok(output)
}
