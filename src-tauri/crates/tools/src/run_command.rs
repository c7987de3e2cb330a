//! A shell command, confined. The only tool that is written with async: it waits for output.

use crate::terminal::{Decoder, plain};
use crate::typed::blocking;
use crate::{CallContext, Flow, Prepared, Tool, ToolError, ToolKind, arguments, bounds, paths};
use async_trait::async_trait;
use paddock_protocol::{Access, ApprovalBody, CallOutput, DeltaChannel, Millis, OutputFacts, UndoFact, Verb};
use paddock_sandbox::{
    CommandEnd, CommandExit, CommandSpec, Kind, Limit, Network, OutputChunk, RelativePath, SandboxError,
    SecretFiles, Streams,
};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::sync::mpsc;

/// Bytes of output shown to the model before and after what is left out.
const HEAD: usize = 16 * 1024;
const TAIL: usize = 44 * 1024;
/// Refusals and files moved away that the model is told of, and bytes of each.
const MAX_NOTICES: usize = 8;
const MAX_NOTICE: usize = 400;
/// Pieces of output that wait before the command itself has to.
const WAITING: usize = 64;

pub(crate) struct RunCommand {
    schema: serde_json::Value,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// For bash
    command: String,
    /// Working folder; the project when left out
    folder: Option<String>,
    /// Seconds, within the person's limit
    time_limit_s: Option<u32>,
}

/// A command as it will run.
struct Plan {
    command: String,
    folder: RelativePath,
    limit: Millis,
}

impl RunCommand {
    pub(crate) fn new() -> Self {
        Self {
            schema: arguments::schema_of::<Input>(),
        }
    }

    fn plan(&self, arguments: &str, cx: &CallContext) -> Result<Plan, ToolError> {
        let input: Input = arguments::read(arguments, &self.schema)?;
        if input.command.trim().is_empty() {
            return Err(ToolError::Arguments("`command` is empty".to_owned()));
        }
        if input.command.contains('\0') {
            return Err(ToolError::Arguments(
                "`command` contains a NUL character".to_owned(),
            ));
        }
        let folder = paths::locate_or_root(cx, input.folder.as_deref())?;
        if cx.root.metadata(&folder).map_err(paths::failure)?.kind != Kind::Folder {
            return Err(ToolError::Model(format!("`{folder}` is not a folder.")));
        }
        if cx.read_only && !cx.sandbox.confined {
            return Err(ToolError::Model(
                "Commands must not change anything in this role, and this machine cannot make sure of that; it was not run."
                    .to_owned(),
            ));
        }
        let wanted = input
            .time_limit_s
            .filter(|seconds| *seconds > 0)
            .map(|seconds| Millis::seconds(seconds.into()));
        let limit = wanted.map_or(cx.command_time, |wanted| wanted.min(cx.command_time));
        Ok(Plan {
            command: input.command,
            folder,
            limit,
        })
    }
}

#[async_trait]
impl Tool for RunCommand {
    fn name(&self) -> &'static str {
        "run_command"
    }

    fn description(&self) -> &'static str {
        include_str!("run_command.md").trim_ascii()
    }

    fn schema(&self) -> serde_json::Value {
        self.schema.clone()
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Command
    }

    async fn prepare(&self, arguments: &str, cx: &CallContext) -> Result<Prepared, ToolError> {
        let plan = self.plan(arguments, cx)?;
        let mut sandbox = cx.sandbox.clone();
        sandbox.read_only |= cx.read_only;
        let undo = if cx.read_only && sandbox.confined {
            UndoFact::Nothing
        } else {
            UndoFact::NotCovered {
                why: "What a command changes is not kept.".to_owned(),
            }
        };
        Ok(Prepared {
            verb: Verb::Run,
            target: plan.command.clone(),
            access: vec![Access::Exec {
                command: plan.command.clone(),
            }],
            body: ApprovalBody::Command {
                command: plan.command,
                segments: Vec::new(),
                folder: plan.folder.to_string(),
                time_limit: plan.limit,
                sandbox,
            },
            undo,
            flow: Flow::Run,
        })
    }

    async fn run(&self, arguments: &str, cx: &CallContext) -> Result<CallOutput, ToolError> {
        let plan = self.plan(arguments, cx)?;
        let (sink, chunks) = mpsc::channel(WAITING);
        let mut spec = CommandSpec::shell(paths::root_of(cx), cx.state.clone(), plan.command.clone());
        spec.folder = plan.folder.clone();
        spec.time_limit = Some(plan.limit.as_duration());
        // One stream, because only then its order is the true one.
        spec.streams = Streams::Together;
        spec.network = if cx.sandbox.network {
            Network::Host
        } else {
            Network::Off
        };
        spec.secret_files = if cx.protected_granted {
            SecretFiles::Readable
        } else {
            SecretFiles::Hidden
        };
        let confinement = cx.confinement.clone();
        let running = blocking(move |_| confinement.start(spec, sink).map_err(not_started)).await?;
        let output = collect(chunks, cx).await;
        let end = running.wait().await;
        finish(&plan, &output, &end, cx).await
    }
}

fn not_started(error: SandboxError) -> ToolError {
    let text = match error {
        SandboxError::Folder(error) => return paths::failure(error),
        SandboxError::ProjectReplaced => return ToolError::Fatal(paths::sentence(&error.to_string())),
        // The causes of these name places outside of the project.
        SandboxError::State(cause) => {
            tracing::warn!(%cause, "the state folder of commands cannot be used");
            "Paddock's own folder for this project cannot be used, so the command was not run".to_owned()
        }
        SandboxError::Start(cause) => {
            tracing::warn!(%cause, "a command did not start");
            format!("the command could not be started ({})", cause.kind())
        }
        SandboxError::Setup { step, source } => {
            tracing::warn!(%step, %source, "the sandbox could not be set up");
            "the sandbox could not be set up, so the command was not run".to_owned()
        }
    };
    ToolError::Model(paths::sentence(&text))
}

/// Takes all output, handing it on live.
async fn collect(mut chunks: mpsc::Receiver<OutputChunk>, cx: &CallContext) -> String {
    let mut decoder = Decoder::default();
    let mut output = String::new();
    while let Some(chunk) = chunks.recv().await {
        let mut bytes = chunk.bytes;
        while let Ok(more) = chunks.try_recv() {
            bytes.extend_from_slice(&more.bytes);
        }
        let text = decoder.push(&bytes);
        (cx.live)(DeltaChannel::Stdout, &text);
        output.push_str(&text);
    }
    output.push_str(&decoder.finish());
    output
}

async fn finish(plan: &Plan, raw: &str, end: &CommandEnd, cx: &CallContext) -> Result<CallOutput, ToolError> {
    let whole = plain(raw);
    let (mut text, total_bytes) = match bounds::shorten(&whole, HEAD, TAIL) {
        None => (whole.clone(), None),
        Some(cut) => {
            let lines = bounds::count(cut.lines, "line");
            let kept = keep(whole.clone(), cx).await;
            let rest = if kept {
                format!("; read_output with call {} shows them", cx.call)
            } else {
                String::new()
            };
            let head_end = if cut.head.is_empty() || cut.head.ends_with('\n') {
                ""
            } else {
                "\n"
            };
            let text = format!("{}{head_end}… {lines} not shown{rest} …\n{}", cut.head, cut.tail);
            (text, Some(whole.len() as u64))
        }
    };
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    for line in end_lines(plan, end, cx) {
        text.push_str(&line);
        text.push('\n');
    }
    let facts = OutputFacts::Command {
        sandbox: cx.sandbox.tier.clone(),
        timed_out: end.exit == CommandExit::TimedOut,
        denials: end.denials.iter().map(|denial| denial.sentence.clone()).collect(),
        quarantined: end.quarantined.iter().map(|file| file.path.clone()).collect(),
    };
    Ok(CallOutput {
        ok: end.exit.is_success(),
        text: bounds::start_of(&text, bounds::MAX_TEXT).to_owned(),
        duration: end.duration.into(),
        exit_code: match end.exit {
            CommandExit::Code(code) => Some(code),
            _ => None,
        },
        total_bytes,
        changes: Vec::new(),
        facts: Some(facts),
    })
}

/// Keeps the whole output; a disk that does not take it costs the output, not the call.
async fn keep(whole: String, cx: &CallContext) -> bool {
    let keep = cx.whole_output.clone();
    let kept = blocking(move |_| Ok(keep(whole.as_bytes()))).await;
    match kept {
        Ok(Ok(())) => true,
        Ok(Err(error)) => {
            tracing::warn!(%error, "a long output could not be kept");
            false
        }
        Err(_) => false,
    }
}

/// How it ended and what was noticed, a line each.
fn end_lines(plan: &Plan, end: &CommandEnd, cx: &CallContext) -> Vec<String> {
    let mut lines = vec![match end.exit {
        CommandExit::Code(code) => format!("[exit code {code}]"),
        CommandExit::Signal(signal) => format!("[ended by signal {signal}]"),
        CommandExit::TimedOut => {
            let most = cx.command_time.0 / 1000;
            let more = if plan.limit < cx.command_time {
                format!("; up to {most} s are possible")
            } else {
                String::new()
            };
            format!(
                "[did not end within {} s and was ended{more}]",
                plan.limit.0 as f64 / 1000.0
            )
        }
        CommandExit::Stopped => "[was stopped]".to_owned(),
        CommandExit::LimitExceeded(Limit::Processes) => {
            "[started too many processes and was ended]".to_owned()
        }
        CommandExit::LimitExceeded(Limit::Memory) => "[used too much memory and was ended]".to_owned(),
    }];
    if end.output_dropped > 0 {
        lines.push(format!(
            "[{} of output were too much and are lost]",
            bounds::size(end.output_dropped)
        ));
    }
    if end.processes_ended > 0 {
        let left = if end.processes_ended == 1 {
            "1 process".to_owned()
        } else {
            format!("{} processes", end.processes_ended)
        };
        lines.push(format!(
            "[{left} left running: ended; nothing runs on after a command]"
        ));
    }
    let notices = end
        .denials
        .iter()
        .map(|denial| format!("[sandbox: {}]", denial.sentence))
        .chain(
            end.quarantined
                .iter()
                .map(|file| format!("[moved away: {}: {}]", file.path, file.reason)),
        );
    let all = end.denials.len() + end.quarantined.len();
    lines.extend(
        notices
            .take(MAX_NOTICES)
            .map(|line| bounds::start_of(&line, MAX_NOTICE).to_owned()),
    );
    if all > MAX_NOTICES {
        lines.push(format!("[and {} more like these]", all - MAX_NOTICES));
    }
    lines
}
