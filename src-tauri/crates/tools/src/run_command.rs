//! A shell command, confined. The only tool that is written with async: it waits for output, for the end, and for the person
//! who lets it go on in the background.

use crate::gather::{Gathered, Source};
use crate::processes::{Adopted, Seat};
use crate::typed::blocking;
use crate::{
    CallContext, Flow, MAX_PROCESSES, Prepared, Tool, ToolError, ToolKind, arguments, outcome, paths,
};
use async_trait::async_trait;
use paddock_protocol::{
    Access, ApprovalBody, CallOutput, DeltaChannel, Millis, NetworkLevel, UndoFact, Verb,
};
use paddock_sandbox::{
    CommandSpec, Kind, Network, PathGrant, RelativePath, RunningCommand, SandboxError, SecretFiles, Streams,
};
use schemars::JsonSchema;
use serde::Deserialize;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

/// Pieces of output that wait before the command itself has to.
const WAITING: usize = 64;
/// How long a command that is started for the background is waited for: most faults show by then.
const EARLY: Duration = Duration::from_secs(1);

pub(crate) struct RunCommand {
    schema: serde_json::Value,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    command: String,
    folder: Option<String>,
    time_limit_s: Option<u32>,
    /// For servers and watchers
    #[serde(default)]
    background: bool,
}

/// A command as it will run.
struct Plan {
    command: String,
    folder: RelativePath,
    /// What is waited for before the person is asked, or the model's own limit.
    limit: Millis,
    /// The model's own limit, which ends the command.
    own_limit: Option<Duration>,
    background: bool,
}

/// A command that runs, with its output so far.
struct Live {
    begun: Instant,
    running: RunningCommand,
    output: Source,
    so_far: Gathered,
}

/// Why a command is no longer waited for.
enum Stage {
    /// Its output is closed.
    Over,
    OwnLimit,
    Background,
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
            return Err(ToolError::Model(format!(
                "`{folder}` is not a folder. Leave `folder` out to run it in the project folder."
            )));
        }
        if cx.read_only && !cx.sandbox.confined {
            return Err(ToolError::Model(
                "Commands must not change anything in this role, and this machine cannot make sure of that; it was not run."
                    .to_owned(),
            ));
        }
        let own_limit = input
            .time_limit_s
            .filter(|seconds| *seconds > 0)
            .map(|seconds| Millis::seconds(seconds.into()))
            .filter(|own| *own < cx.command_time);
        Ok(Plan {
            command: input.command,
            folder,
            limit: own_limit.unwrap_or(cx.command_time),
            own_limit: own_limit.map(Millis::as_duration),
            background: input.background,
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
                background: plan.background,
                sandbox,
            },
            undo,
            flow: Flow::Run,
        })
    }

    async fn run(&self, arguments: &str, cx: &CallContext) -> Result<CallOutput, ToolError> {
        let plan = self.plan(arguments, cx)?;
        let mut seat = None;
        if plan.background {
            seat = Some(cx.processes.seat().ok_or_else(|| too_many(cx))?);
        }
        let mut live = start(&plan, cx).await?;
        let stage = wait(&plan, &mut live, &mut seat, cx).await;
        match (stage, seat) {
            (Stage::Background, Some(seat)) => Ok(hand_over(&plan, live, seat, cx)),
            (stage, _) => {
                let timed_out = matches!(stage, Stage::OwnLimit);
                if timed_out {
                    live.running.stop();
                    while let Some(text) = live.output.next().await {
                        take(&text, &mut live.so_far, cx);
                    }
                }
                let end = live.running.wait().await;
                let limit = timed_out.then_some(plan.limit);
                Ok(outcome::report(&live.so_far, &end, limit, cx).await)
            }
        }
    }
}

async fn start(plan: &Plan, cx: &CallContext) -> Result<Live, ToolError> {
    let (sink, chunks) = mpsc::channel(WAITING);
    let mut spec = CommandSpec::shell(paths::root_of(cx), cx.state.clone(), plan.command.clone());
    spec.folder = plan.folder.clone();
    // Limits of time and output are kept here: those of a command that goes on in the background are others.
    spec.time_limit = None;
    spec.output_limit = u64::MAX;
    // One stream, because only then its order is the true one.
    spec.streams = Streams::Together;
    (spec.network, spec.gate) = match (cx.sandbox.network, &cx.gate) {
        (NetworkLevel::Open, _) => (Network::Host, None),
        // A process that goes on keeps its gate; after the end of its call the gate itself says no.
        (NetworkLevel::Asks, Some(gate)) => (Network::Asks, Some(gate.clone())),
        (NetworkLevel::Asks, None) | (NetworkLevel::Off, _) => (Network::Off, None),
    };
    spec.extra = granted_outside(cx);
    spec.secret_files = if cx.protected_granted {
        SecretFiles::Readable
    } else {
        SecretFiles::Hidden
    };
    let confinement = cx.confinement.clone();
    let running = blocking(move |_| confinement.start(spec, sink).map_err(not_started)).await?;
    Ok(Live {
        begun: Instant::now(),
        running,
        output: Source::new(chunks),
        so_far: Gathered::default(),
    })
}

/// The places outside of the project that the call may reach; a role that changes nothing changes nothing there either.
fn granted_outside(cx: &CallContext) -> Vec<PathGrant> {
    let grants = cx.outside.iter().map(|grant| PathGrant {
        path: grant.path.clone(),
        writable: grant.writable && !cx.read_only,
    });
    grants.collect()
}

/// Takes output, handing it on live, until the command is over or is no longer waited for.
async fn wait(plan: &Plan, live: &mut Live, seat: &mut Option<Seat>, cx: &CallContext) -> Stage {
    let started = tokio::time::Instant::from_std(live.begun);
    let early = tokio::time::sleep_until(started + EARLY);
    let own_limit = tokio::time::sleep_until(started + plan.own_limit.unwrap_or_default());
    let asked = cx.to_background.notified();
    tokio::pin!(early, own_limit, asked);
    loop {
        tokio::select! {
            biased;
            () = &mut asked => {
                if seat.is_none() {
                    *seat = cx.processes.seat();
                }
                if seat.is_some() {
                    return Stage::Background;
                }
                asked.set(cx.to_background.notified());
            }
            () = &mut early, if plan.background => return Stage::Background,
            () = &mut own_limit, if plan.own_limit.is_some() => return Stage::OwnLimit,
            text = live.output.next() => match text {
                Some(text) => take(&text, &mut live.so_far, cx),
                None => return Stage::Over,
            },
        }
    }
}

fn take(text: &str, so_far: &mut Gathered, cx: &CallContext) {
    // What is not kept is not shown either.
    if so_far.beyond() == 0 {
        (cx.live)(DeltaChannel::Stdout, text);
    }
    so_far.push(text);
}

fn hand_over(plan: &Plan, live: Live, seat: Seat, cx: &CallContext) -> CallOutput {
    let shown = outcome::so_far(&live.so_far);
    let process = cx.processes.adopt(
        seat,
        Adopted {
            call: cx.call.clone(),
            command: plan.command.clone(),
            begun: live.begun,
            running: live.running,
            output: live.output,
            so_far: live.so_far.into_tail(),
            keep: cx.whole_output.clone(),
        },
    );
    outcome::goes_on(shown, process.id)
}

fn too_many(cx: &CallContext) -> ToolError {
    let running: Vec<String> = cx
        .processes
        .list()
        .iter()
        .map(|process| process.id.to_string())
        .collect();
    ToolError::Model(format!(
        "{MAX_PROCESSES} background processes run already ({}); it was not started. End one with stop_process first.",
        running.join(", ")
    ))
}

pub(crate) fn not_started(error: SandboxError) -> ToolError {
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
