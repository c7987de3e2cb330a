//! Commands without a sandbox, for systems that have none: the command still has a process group of its own, which is
//! ended with it, a bounded environment and bounded output, and nothing more. The facts say so plainly.

use std::io;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use super::end::{CommandEnd, CommandExit};
use super::environment::command_environment;
use super::running::{Next, OutputSink, Pump, RunningCommand, Stream, Supervision, supervision};
use super::spec::{CommandLine, CommandSpec, Streams};
use super::{Confinement, SandboxError, SandboxFacts, Tier};

const LOOK: Duration = Duration::from_millis(10);
const GRACE: Duration = Duration::from_millis(400);

/// Runs commands with the rights of the account.
#[derive(Debug)]
pub struct Unconfined {
    why: String,
}

impl Unconfined {
    /// `why` is one sentence that says why there is no sandbox here.
    pub fn new(why: impl Into<String>) -> Self {
        Self { why: why.into() }
    }
}

impl Confinement for Unconfined {
    fn facts(&self) -> SandboxFacts {
        SandboxFacts {
            tier: Tier::None,
            summary: "Commands are not confined on this machine; each one asks.".into(),
            holds: vec![
                "A command and what it started in its process group end with it.".into(),
                "Only listed environment values reach a command.".into(),
            ],
            gaps: vec![
                self.why.clone(),
                "A command can read and change every file of this account.".into(),
                "A command can use the network.".into(),
                "A command can leave processes behind.".into(),
            ],
            remedy: None,
        }
    }

    fn start(&self, spec: CommandSpec, output: OutputSink) -> Result<RunningCommand, SandboxError> {
        let found = spec.root.metadata(&spec.folder).map_err(SandboxError::Folder)?;
        if found.kind != crate::Kind::Folder {
            return Err(SandboxError::Folder(crate::PathError::NotAFolder {
                path: spec.folder.clone(),
            }));
        }
        let (running, supervision) = supervision(spec.time_limit);
        let (started, result) = channel();
        std::thread::Builder::new()
            .name("command".into())
            .spawn(move || match spawn(&spec, output) {
                Ok((child, pumps)) => {
                    let _ = started.send(Ok(()));
                    supervise(child, pumps, supervision);
                }
                Err(error) => {
                    let _ = started.send(Err(error));
                }
            })
            .map_err(SandboxError::Start)?;
        let started = result
            .recv()
            .unwrap_or_else(|_| Err(io::ErrorKind::BrokenPipe.into()));
        started.map_err(SandboxError::Start)?;
        Ok(running)
    }
}

fn spawn(spec: &CommandSpec, output: OutputSink) -> io::Result<(Child, Vec<Pump>)> {
    let mut command = program(&spec.line);
    command
        .current_dir(spec.root.path().join(spec.folder.as_str()))
        .env_clear()
        .envs(command_environment(std::env::vars_os(), &spec.environment))
        .stdin(Stdio::null());
    own_group(&mut command);
    let limit = Arc::new(AtomicU64::new(spec.output_limit));
    if spec.streams == Streams::Together {
        let (reader, writer) = io::pipe()?;
        command.stdout(writer.try_clone()?).stderr(writer);
        let child = command.spawn()?;
        // The command value holds the writing ends, and the stream ends only when all of them are closed.
        drop(command);
        return Ok((child, vec![Pump::start(reader, Stream::Stdout, output, limit)?]));
    }
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let mut pumps = Vec::new();
    if let Some(stdout) = child.stdout.take() {
        pumps.push(Pump::start(
            stdout,
            Stream::Stdout,
            output.clone(),
            Arc::clone(&limit),
        )?);
    }
    if let Some(stderr) = child.stderr.take() {
        pumps.push(Pump::start(stderr, Stream::Stderr, output, limit)?);
    }
    Ok((child, pumps))
}

fn program(line: &CommandLine) -> Command {
    match line {
        CommandLine::Program { program, arguments } => {
            let mut command = Command::new(program);
            command.args(arguments);
            command
        }
        CommandLine::Shell(line) => shell(line),
    }
}

#[cfg(unix)]
fn shell(line: &str) -> Command {
    let shell = if std::path::Path::new("/bin/bash").exists() {
        "/bin/bash"
    } else {
        "/bin/sh"
    };
    let mut command = Command::new(shell);
    command.args(["-c", line]);
    command
}

#[cfg(windows)]
fn shell(line: &str) -> Command {
    let system = std::env::var_os("SystemRoot").unwrap_or_else(|| r"C:\Windows".into());
    let path = std::path::Path::new(&system).join(r"System32\WindowsPowerShell\v1.0\powershell.exe");
    let mut command = Command::new(path);
    command.args(["-NoLogo", "-NoProfile", "-NonInteractive", "-Command", line]);
    command
}

fn supervise(mut child: Child, pumps: Vec<Pump>, supervision: Supervision) {
    let mut forced = None;
    let mut kill_at = None;
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break Some(status),
            Ok(None) => {}
            Err(_) => break None,
        }
        if kill_at.is_some_and(|at| at <= Instant::now()) {
            end_group(&mut child);
        }
        let next = if kill_at.is_some() {
            pause()
        } else {
            supervision.next(LOOK)
        };
        let exit = match next {
            Next::Stop => CommandExit::Stopped,
            Next::TimeUp => CommandExit::TimedOut,
            Next::Ended | Next::Look => continue,
        };
        forced = Some(exit);
        ask_group(&child);
        kill_at = Some(Instant::now() + GRACE);
    };
    end_group(&mut child);
    let duration = supervision.duration();
    let dropped = pumps.into_iter().map(|pump| pump.finish().dropped).sum();
    supervision.finish(CommandEnd {
        exit: forced.unwrap_or_else(|| exit_of(status)),
        duration,
        processes_ended: 0,
        output_dropped: dropped,
        denials: Vec::new(),
        blocked: Vec::new(),
        quarantined: Vec::new(),
    });
}

fn pause() -> Next {
    std::thread::sleep(LOOK);
    Next::Look
}

fn exit_of(status: Option<ExitStatus>) -> CommandExit {
    #[cfg(unix)]
    if let Some(signal) = status.and_then(|status| std::os::unix::process::ExitStatusExt::signal(&status)) {
        return CommandExit::Signal(signal);
    }
    CommandExit::Code(status.and_then(|status| status.code()).unwrap_or(-1))
}

#[cfg(unix)]
fn own_group(command: &mut Command) {
    std::os::unix::process::CommandExt::process_group(command, 0);
}

#[cfg(unix)]
fn ask_group(child: &Child) {
    signal_group(child, rustix::process::Signal::TERM);
}

#[cfg(unix)]
fn end_group(child: &mut Child) {
    signal_group(child, rustix::process::Signal::KILL);
}

#[cfg(unix)]
fn signal_group(child: &Child, signal: rustix::process::Signal) {
    if let Some(group) = i32::try_from(child.id())
        .ok()
        .and_then(rustix::process::Pid::from_raw)
    {
        let _ = rustix::process::kill_process_group(group, signal);
    }
}

#[cfg(windows)]
fn own_group(command: &mut Command) {
    const CREATE_NO_WINDOW: u32 = 0x0800_0000;
    const CREATE_NEW_PROCESS_GROUP: u32 = 0x0000_0200;
    std::os::windows::process::CommandExt::creation_flags(
        command,
        CREATE_NO_WINDOW | CREATE_NEW_PROCESS_GROUP,
    );
}

#[cfg(windows)]
fn ask_group(_child: &Child) {}

/// Ends the process tree with the system's own program, by absolute path.
#[cfg(windows)]
fn end_group(child: &mut Child) {
    let system = std::env::var_os("SystemRoot").unwrap_or_else(|| r"C:\Windows".into());
    let path = std::path::Path::new(&system).join(r"System32\taskkill.exe");
    let mut taskkill = Command::new(path);
    taskkill.args(["/T", "/F", "/PID", &child.id().to_string()]);
    taskkill
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    own_group(&mut taskkill);
    let _ = taskkill.status();
    let _ = child.kill();
}
