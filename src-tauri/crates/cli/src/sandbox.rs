//! `paddock sandbox exec`: one command in the sandbox, bytes and exit code passed on as they are.

use crate::arguments::Arguments;
use crate::failure::{Failure, STOPPED};
use crate::view::plain;
use crate::{home, signals};
use paddock_core::{CommandEnd, CommandExit, CommandSpec, Network, OutputChunk, SandboxError, Stream};
use std::io::Write;
use std::time::Duration;
use tokio::sync::mpsc;

const TIMED_OUT: u8 = 124;
const NOT_SET_UP: u8 = 125;
const NOT_STARTED: u8 = 126;
const NOT_FOUND: u8 = 127;
const TOOK_TOO_MUCH: u8 = 137;
/// Pieces of output that wait before the command itself has to.
const WAITING: usize = 64;

pub async fn exec(arguments: &Arguments) -> Result<u8, Failure> {
    if let Some(extra) = arguments.operands.first() {
        return Err(Failure::usage(format!(
            "'{extra}' was not expected here. Put the command behind two dashes: -- {extra}"
        )));
    }
    let Some((program, rest)) = arguments.after.split_first() else {
        return Err(Failure::usage(
            "There is no command. Put it behind two dashes: paddock sandbox exec -- make test",
        ));
    };
    let time_limit = arguments.value("--timeout").map(seconds).transpose()?;
    let paddock = home::paddock()?;
    let mut root = paddock.open_root(arguments.project())?;
    if arguments.has("--read-only") {
        root = root.read_only();
    }
    let state = paddock.sandbox_state(&root);
    let mut spec = CommandSpec::program(root, state, program.clone(), rest.to_vec());
    spec.time_limit = time_limit;
    spec.output_limit = u64::MAX;
    if arguments.has("--network") {
        spec.network = Network::Host;
    }
    let mut interrupts = signals::listen()?;
    let confinement = paddock.confinement();
    let (sink, chunks) = mpsc::channel(WAITING);
    let starter = confinement.clone();
    let running = tokio::task::spawn_blocking(move || {
        if !starter.facts().is_confined() {
            note(&format!("not confined: {}", starter.facts().summary));
        }
        starter.start(spec, sink)
    })
    .await
    .map_err(|_| Failure::new(NOT_SET_UP, "The command could not be started."))?
    .map_err(|error| not_started(program, &error))?;
    let stopper = running.stopper();
    let pass = tokio::task::spawn_blocking(move || pass_on(chunks));
    let end = running.wait();
    tokio::pin!(end);
    let end = loop {
        tokio::select! {
            end = &mut end => break end,
            Some(()) = interrupts.recv() => stopper.stop(),
        }
    };
    let _ = pass.await;
    say(&end);
    Ok(code(end.exit))
}

fn seconds(text: &str) -> Result<Duration, Failure> {
    text.parse::<f64>()
        .ok()
        .filter(|seconds| *seconds > 0.0)
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .ok_or_else(|| {
            Failure::usage(format!(
                "--timeout needs a number of seconds above zero, not '{text}'."
            ))
        })
}

/// Writes the output as it comes. A reader that went away ends the command as a closed pipe would.
fn pass_on(mut chunks: mpsc::Receiver<OutputChunk>) {
    while let Some(chunk) = chunks.blocking_recv() {
        let written = match chunk.stream {
            Stream::Stdout => {
                let mut out = std::io::stdout().lock();
                out.write_all(&chunk.bytes).and_then(|()| out.flush())
            }
            Stream::Stderr => std::io::stderr().lock().write_all(&chunk.bytes),
        };
        if written.is_err() {
            return;
        }
    }
}

fn note(text: &str) {
    let _ = writeln!(std::io::stderr(), "paddock: {}", plain::line(text));
}

fn say(end: &CommandEnd) {
    for denial in &end.denials {
        note(&format!("sandbox: {}", denial.sentence));
    }
    for file in &end.quarantined {
        note(&format!(
            "moved away: {}: {} (kept as {})",
            file.path, file.reason, file.kept_as
        ));
    }
    match end.processes_ended {
        0 => {}
        1 => note("1 process was left running and was ended"),
        n => note(&format!("{n} processes were left running and were ended")),
    }
    match end.exit {
        CommandExit::TimedOut => note("the time is up, so the command was ended"),
        CommandExit::LimitExceeded(limit) => {
            note(&format!("the command took too much ({limit:?}) and was ended"))
        }
        _ => {}
    }
}

fn code(exit: CommandExit) -> u8 {
    match exit {
        // As a shell sees it: the low eight bits.
        CommandExit::Code(code) => (code & 0xff) as u8,
        CommandExit::Signal(signal) => u8::try_from(128 + signal).unwrap_or(u8::MAX),
        CommandExit::TimedOut => TIMED_OUT,
        CommandExit::Stopped => STOPPED,
        CommandExit::LimitExceeded(_) => TOOK_TOO_MUCH,
    }
}

fn not_started(program: &str, error: &SandboxError) -> Failure {
    if let SandboxError::Start(cause) = error {
        let (code, why) = match cause.kind() {
            std::io::ErrorKind::NotFound => (NOT_FOUND, "was not found in the sandbox"),
            std::io::ErrorKind::PermissionDenied => (NOT_STARTED, "may not be run"),
            _ => (NOT_STARTED, "could not be started"),
        };
        return Failure::new(
            code,
            format!("{program} {why} ({cause}). Check its name and that it is executable."),
        );
    }
    Failure::new(NOT_SET_UP, format!("Nothing was run: {error}."))
}
