//! What the project's own checkers say. They run confined with the project read-only, so that looking never changes
//! anything; where commands are not confined, each is asked for as the command that it is.

mod checkers;
mod problems;

use crate::gather::{Gathered, Source};
use crate::run_command::not_started;
use crate::terminal::plain;
use crate::typed::{Stop, blocking, done};
use crate::{CallContext, Flow, Prepared, Tool, ToolError, ToolKind, arguments, bounds, paths};
use async_trait::async_trait;
use checkers::{Checker, Found};
use paddock_protocol::{Access, ApprovalBody, CallOutput, DeltaChannel, Millis, OutputFacts, UndoFact, Verb};
use paddock_sandbox::{CommandEnd, CommandExit, CommandSpec, Network, RelativePath, Streams};
use problems::Problems;
use schemars::JsonSchema;
use serde::Deserialize;
use std::fmt::Write;
use std::time::Instant;
use tokio::sync::mpsc;

const WAITING: usize = 64;
/// Bytes of output that are shown of a checker whose problems have no place.
const MAX_RAW: usize = 4 * 1024;
/// The exit code of a shell for a program that is not there.
const NOT_FOUND: i32 = 127;

pub(crate) struct Diagnostics {
    schema: serde_json::Value,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    path: Option<String>,
    /// `tsc`
    tool: Option<String>,
}

/// What will be run, and what of the result is wanted.
struct Plan {
    path: RelativePath,
    found: Found,
}

/// What one checker came to.
struct Ran {
    checker: Checker,
    output: String,
    end: CommandEnd,
    timed_out: bool,
}

impl Diagnostics {
    pub(crate) fn new() -> Self {
        Self {
            schema: arguments::schema_of::<Input>(),
        }
    }

    async fn plan(&self, arguments: &str, cx: &CallContext) -> Result<Plan, ToolError> {
        let input: Input = arguments::read(arguments, &self.schema)?;
        if cx.read_only && !cx.sandbox.confined {
            return Err(ToolError::Model(
                "Commands must not change anything in this role, and this machine cannot make sure of that; nothing was run."
                    .to_owned(),
            ));
        }
        let cx = cx.clone();
        blocking(move |stop| plan(&input, &cx, stop)).await
    }
}

fn plan(input: &Input, cx: &CallContext, stop: &Stop) -> Result<Plan, ToolError> {
    let path = paths::locate_or_root(cx, input.path.as_deref())?;
    cx.root.metadata(&path).map_err(paths::failure)?;
    let mut found = checkers::find(cx, &path, stop)?;
    let wanted = input
        .tool
        .as_deref()
        .map(str::trim)
        .filter(|tool| !tool.is_empty());
    if let Some(tool) = wanted {
        let known: Vec<&str> = found.checkers.iter().map(|checker| checker.name).collect();
        if !known.contains(&tool) && !known.is_empty() {
            return Err(ToolError::Model(format!(
                "`{tool}` is not set up here; set up: {}.",
                known.join(", ")
            )));
        }
        found.checkers.retain(|checker| checker.name == tool);
    }
    if found.checkers.is_empty() {
        let missing = match found.missing.is_empty() {
            true => "This project has set no checker up that is known here".to_owned(),
            false => format!("Missing: {}", found.missing.join("; ")),
        };
        return Err(ToolError::Model(format!("{missing}. Use run_command.")));
    }
    Ok(Plan { path, found })
}

impl Plan {
    /// The commands as one would type them in the project folder, a line each.
    fn commands(&self) -> Vec<String> {
        let checkers = self.found.checkers.iter();
        checkers
            .map(|checker| match checker.folder.is_root() {
                true => checker.line.clone(),
                false => format!("(cd '{}' && {})", quoted(&checker.folder), checker.line),
            })
            .collect()
    }
}

/// For single quotes of a shell.
fn quoted(path: &RelativePath) -> String {
    path.as_str().replace('\'', r"'\''")
}

#[async_trait]
impl Tool for Diagnostics {
    fn name(&self) -> &'static str {
        "diagnostics"
    }

    fn description(&self) -> &'static str {
        include_str!("../diagnostics.md").trim_ascii()
    }

    fn schema(&self) -> serde_json::Value {
        self.schema.clone()
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Command
    }

    async fn prepare(&self, arguments: &str, cx: &CallContext) -> Result<Prepared, ToolError> {
        let plan = self.plan(arguments, cx).await?;
        let names: Vec<&str> = plan.found.checkers.iter().map(|checker| checker.name).collect();
        let commands = plan.commands();
        let (access, body, undo) = if cx.sandbox.confined {
            let access = vec![Access::Read { path: ".".to_owned() }];
            (access, ApprovalBody::Other, UndoFact::Nothing)
        } else {
            let body = ApprovalBody::Command {
                command: commands.join("\n"),
                segments: Vec::new(),
                folder: ".".to_owned(),
                time_limit: cx.command_time,
                background: false,
                sandbox: cx.sandbox.clone(),
            };
            let why = "What a command changes is not kept.".to_owned();
            let access = commands.into_iter().map(|command| Access::Exec { command });
            (access.collect(), body, UndoFact::NotCovered { why })
        };
        Ok(Prepared {
            verb: Verb::Run,
            target: names.join(", "),
            access,
            body,
            undo,
            flow: Flow::Run,
        })
    }

    async fn run(&self, arguments: &str, cx: &CallContext) -> Result<CallOutput, ToolError> {
        let plan = self.plan(arguments, cx).await?;
        let deadline = Instant::now() + cx.command_time.as_duration();
        let mut all = Vec::new();
        let mut not_run = Vec::new();
        for checker in plan.found.checkers {
            if Instant::now() >= deadline {
                not_run.push(checker.name);
            } else {
                all.push(check(checker, deadline, cx).await?);
            }
        }
        let (cx, path, missing) = (cx.clone(), plan.path, plan.found.missing);
        blocking(move |_| Ok(report(all, &not_run, missing, &path, &cx))).await
    }
}

/// Runs one checker to its end or to the deadline.
async fn check(checker: Checker, deadline: Instant, cx: &CallContext) -> Result<Ran, ToolError> {
    let (sink, chunks) = mpsc::channel(WAITING);
    let mut spec = CommandSpec::shell(cx.root.read_only(), cx.state.clone(), checker.line.clone());
    spec.folder = checker.folder.clone();
    spec.time_limit = None;
    spec.output_limit = u64::MAX;
    spec.streams = Streams::Together;
    spec.network = Network::Off;
    let confinement = cx.confinement.clone();
    let running = blocking(move |_| confinement.start(spec, sink).map_err(not_started)).await?;
    (cx.live)(DeltaChannel::Stdout, &format!("$ {}\n", checker.line));
    let mut source = Source::new(chunks);
    let mut output = Gathered::default();
    let mut timed_out = false;
    let at = tokio::time::sleep_until(deadline.into());
    tokio::pin!(at);
    loop {
        tokio::select! {
            () = &mut at, if !timed_out => {
                timed_out = true;
                running.stop();
            }
            text = source.next() => match text {
                Some(text) => {
                    (cx.live)(DeltaChannel::Stdout, &text);
                    output.push(&text);
                }
                None => break,
            },
        }
    }
    Ok(Ran {
        checker,
        output: plain(output.first()),
        end: running.wait().await,
        timed_out,
    })
}

fn report(
    all: Vec<Ran>,
    not_run: &[&str],
    missing: Vec<String>,
    path: &RelativePath,
    cx: &CallContext,
) -> CallOutput {
    let mut problems = Problems::default();
    let mut facts = String::new();
    let mut raw = String::new();
    let (mut has_run, mut is_clean) = (false, true);
    for ran in &all {
        let Checker { name, folder, .. } = &ran.checker;
        let place = if folder.is_root() {
            String::new()
        } else {
            format!(" in {folder}")
        };
        if ran.end.exit == CommandExit::Code(NOT_FOUND) {
            let _ = writeln!(facts, "[{name}{place}: not installed]");
            continue;
        }
        has_run |= !ran.timed_out;
        let count = problems.read(&ran.output, &cx.root, folder);
        let end = words_of(ran, cx.command_time);
        let is_kept = !ran.end.exit.is_success() && problems::wants_to_write(&ran.output);
        let hint = match is_kept {
            true => "; it wants to write in the project, which is read-only here: use run_command for it",
            false => "",
        };
        let _ = writeln!(facts, "[{name}{place}: {end}{hint}]");
        is_clean &= ran.end.exit.is_success() || count > 0;
        let rest: Vec<&str> = ran
            .output
            .lines()
            .filter(|line| !problems::wants_to_write(line))
            .collect();
        let rest = rest.join("\n");
        if count == 0 && !ran.end.exit.is_success() && !rest.trim().is_empty() {
            let _ = writeln!(raw, "{name}:\n{}", bounds::end_of(rest.trim_end(), MAX_RAW));
        }
    }
    for name in not_run {
        let _ = writeln!(facts, "[{name}: not run, the time was over]");
    }
    for what in missing {
        let _ = writeln!(facts, "[missing: {what}]");
    }
    let shown = problems.shown(path);
    let mut text = shown.text;
    if shown.problems > shown.lines {
        let _ = writeln!(
            text,
            "… {} shown of {}.",
            shown.lines,
            bounds::count(shown.problems, "problem")
        );
    }
    if shown.problems + shown.elsewhere == 0 && is_clean && has_run {
        text.push_str("No problems.\n");
    }
    if shown.elsewhere > 0 {
        let _ = writeln!(
            text,
            "{} elsewhere in the project.",
            bounds::count(shown.elsewhere, "problem")
        );
    }
    text.push_str(&raw);
    text.push_str(&facts);
    let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    CallOutput {
        ok: has_run,
        timed_out: all.iter().any(|ran| ran.timed_out),
        facts: Some(OutputFacts::Hits {
            hits: number(shown.problems),
            files: number(shown.files),
            more: shown.problems > shown.lines,
        }),
        ..done(bounds::start_of(&text, bounds::MAX_TEXT).to_owned())
    }
}

/// How a checker ended.
fn words_of(ran: &Ran, limit: Millis) -> String {
    match ran.end.exit {
        _ if ran.timed_out => format!("did not end within {} s", limit.0 / 1000),
        CommandExit::Code(code) => format!("exit code {code}"),
        _ => "was ended".to_owned(),
    }
}
