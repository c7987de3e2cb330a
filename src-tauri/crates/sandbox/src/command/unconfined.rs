//! Commands without a sandbox, for systems that have none: the command still has a process group of its own (on Windows a
//! job), which is ended with it, a bounded environment and bounded output, and nothing more. The facts say so plainly.

use super::running::{OutputSink, RunningCommand};
use super::spec::CommandSpec;
use super::{Confinement, SandboxError, SandboxFacts, Tier};

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
        let ends = if cfg!(windows) {
            "A command and every process it started end with it."
        } else {
            "A command and what it started in its process group end with it."
        };
        let mut gaps = vec![
            self.why.clone(),
            "A command can read and change every file of this account.".into(),
            "A command can use the network.".into(),
        ];
        if cfg!(unix) {
            gaps.push("A command can leave processes behind.".into());
        }
        SandboxFacts {
            tier: Tier::None,
            summary: "Commands are not confined on this machine; each one asks.".into(),
            holds: vec![
                ends.into(),
                "Only listed environment values reach a command.".into(),
            ],
            gaps,
            remedy: None,
        }
    }

    fn start(&self, spec: CommandSpec, output: OutputSink) -> Result<RunningCommand, SandboxError> {
        #[cfg(unix)]
        return group::start(spec, output);
        #[cfg(windows)]
        return crate::windows::start_in_job(spec, output);
    }
}

/// A command in a process group of its own.
#[cfg(unix)]
mod group {
    use std::os::unix::process::{CommandExt, ExitStatusExt};
    use std::process::{Child, Command, ExitStatus, Stdio};
    use std::time::{Duration, Instant};

    use rustix::process::{Pid, Signal, kill_process_group};

    use crate::around::{Pipes, on_own_thread, working_folder};
    use crate::command::end::{CommandEnd, CommandExit};
    use crate::command::environment::command_environment;
    use crate::command::running::{Next, OutputSink, Pump, RunningCommand, Supervision};
    use crate::command::{CommandLine, CommandSpec, SandboxError};

    const LOOK: Duration = Duration::from_millis(10);
    const GRACE: Duration = Duration::from_millis(400);

    pub(super) fn start(spec: CommandSpec, output: OutputSink) -> Result<RunningCommand, SandboxError> {
        on_own_thread(spec, |spec| spawn(&spec, output), supervise)
    }

    fn spawn(spec: &CommandSpec, output: OutputSink) -> Result<(Child, Vec<Pump>), SandboxError> {
        let folder = working_folder(spec)?;
        let pipes = Pipes::open(spec.streams, output, spec.output_limit).map_err(SandboxError::Start)?;
        let child = program(&spec.line)
            .current_dir(folder)
            .env_clear()
            .envs(command_environment(std::env::vars_os(), &spec.environment))
            .stdin(Stdio::null())
            .stdout(pipes.stdout)
            .stderr(pipes.stderr)
            .process_group(0)
            .spawn()
            .map_err(SandboxError::Start)?;
        // The command value and with it the writing ends are gone: the streams end with the processes.
        Ok((child, pipes.pumps))
    }

    fn program(line: &CommandLine) -> Command {
        match line {
            CommandLine::Program { program, arguments } => {
                let mut command = Command::new(program);
                command.args(arguments);
                command
            }
            CommandLine::Shell(line) => {
                let bash = std::path::Path::new("/bin/bash");
                let mut command = Command::new(if bash.exists() { "/bin/bash" } else { "/bin/sh" });
                command.args(["-c", line]);
                command
            }
        }
    }

    fn supervise((mut child, pumps): (Child, Vec<Pump>), supervision: Supervision) {
        let mut forced = None;
        let mut kill_at = None;
        let status = loop {
            match child.try_wait() {
                Ok(Some(status)) => break Some(status),
                Ok(None) => {}
                Err(_) => break None,
            }
            if kill_at.is_some_and(|at| at <= Instant::now()) {
                signal_group(&child, Signal::KILL);
            }
            if kill_at.is_some() {
                std::thread::sleep(LOOK);
                continue;
            }
            let exit = match supervision.next(LOOK) {
                Next::Stop => CommandExit::Stopped,
                Next::TimeUp => CommandExit::TimedOut,
                Next::Ended | Next::Look => continue,
            };
            forced = Some(exit);
            signal_group(&child, Signal::TERM);
            kill_at = Some(Instant::now() + GRACE);
        };
        signal_group(&child, Signal::KILL);
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

    fn exit_of(status: Option<ExitStatus>) -> CommandExit {
        if let Some(signal) = status.and_then(|status| status.signal()) {
            return CommandExit::Signal(signal);
        }
        CommandExit::Code(status.and_then(|status| status.code()).unwrap_or(-1))
    }

    fn signal_group(child: &Child, signal: Signal) {
        if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process_group(group, signal);
        }
    }
}
