//! The end of a background process, by the agent that started it.

use crate::typed::{Stop, TypedTool, done, reading};
use crate::{CallContext, Prepared, Processes, ToolError, ToolKind, bounds};
use paddock_protocol::{CallOutput, ProcessEnd, ProcessId, UndoFact, Verb};
use schemars::JsonSchema;
use serde::Deserialize;
use std::time::Duration;

/// How long the end is waited for; the sandbox needs less than 2 s.
const LIMIT: Duration = Duration::from_secs(5);
/// Bytes of the last output that are shown.
const MAX_SHOWN: usize = 4 * 1024;

pub(crate) struct StopProcess;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// `p1`
    process: String,
}

impl TypedTool for StopProcess {
    type Input = Input;
    const NAME: &'static str = "stop_process";
    const DESCRIPTION: &'static str = include_str!("stop_process.md").trim_ascii();
    const KIND: ToolKind = ToolKind::Command;

    fn prepare(input: Input, cx: &CallContext) -> Result<Prepared, ToolError> {
        let process = ProcessId::new(input.process.trim());
        let command = cx
            .processes
            .view(&process)
            .filter(|view| view.end.is_none())
            .map(|view| view.process.command)
            .ok_or_else(|| unknown(&cx.processes, &process))?;
        Ok(Prepared {
            undo: UndoFact::NotCovered {
                why: "A process that was ended does not go on.".to_owned(),
            },
            ..reading(Verb::End, format!("{process}: {command}"), Vec::new())
        })
    }

    fn run(input: Input, cx: &CallContext, _: &Stop) -> Result<CallOutput, ToolError> {
        let process = ProcessId::new(input.process.trim());
        if !cx.processes.end(&process, ProcessEnd::EndedByAgent) {
            return Err(unknown(&cx.processes, &process));
        }
        if !cx.processes.wait_for_end(&process, LIMIT) {
            let seconds = LIMIT.as_secs();
            return Ok(CallOutput {
                ok: false,
                timed_out: true,
                ..done(format!(
                    "{process} was told to end and has not within {seconds} s."
                ))
            });
        }
        let output = cx.processes.output(&process).unwrap_or_default();
        let last = bounds::end_of(&output, MAX_SHOWN);
        Ok(done(format!("Ended {process}. Its last output:\n{last}")))
    }
}

/// The error for an id of no running process.
pub(crate) fn unknown(processes: &Processes, process: &ProcessId) -> ToolError {
    let running: Vec<String> = processes
        .list()
        .iter()
        .map(|process| {
            let command = bounds::short_line(process.command.lines().next().unwrap_or_default(), 60);
            format!("{} ({command})", process.id)
        })
        .collect();
    ToolError::Model(if running.is_empty() {
        format!("No background process `{process}` runs, nor any other.")
    } else {
        format!(
            "No background process `{process}` runs. Running: {}.",
            running.join(", ")
        )
    })
}
