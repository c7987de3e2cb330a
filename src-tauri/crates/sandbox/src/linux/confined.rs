//! The app's side of a confined command: one thread that starts the helper, passes the plan, waits, stops, and looks at the
//! project afterwards.

use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use super::disk::{self, DiskWatch};
use super::visible::Visible;
use super::wire::{Plan, Report, STOP, receive, receive_with, send};
use super::{helper, plan};
use crate::command::audit::Guard;
use crate::command::blocked::{self, MAX_BLOCKED};
use crate::command::denial::{Circumstances, denials};
use crate::command::proxy::Proxy;
use crate::command::running::{Next, Pump, Pumped, Signal, Supervision};
use crate::command::slot::{Slot, audit_after_crash, private_folder};
use crate::command::{
    CommandEnd, CommandExit, CommandSpec, HelperProgram, Limit, Network, OutputSink, Quarantined,
    SandboxError, SecretFiles, StateDir, Stream, Streams,
};
use crate::{PathError, ProjectRoot};

const SETUP_TIME: Duration = Duration::from_secs(20);
/// After this, a stop no longer waits for the helper to do it.
const STOP_TIME: Duration = Duration::from_millis(1500);

/// One confined command.
pub(super) struct Confined {
    child: Child,
    socket: UnixStream,
    pumps: Vec<Pump>,
    reports: std::sync::mpsc::Receiver<Report>,
    guard: Guard,
    root: ProjectRoot,
    state: StateDir,
    circumstances: Circumstances,
    visible: Visible,
    /// What commands before this one left, when Paddock died with them.
    quarantined: Vec<Quarantined>,
    slot: Slot,
    proxy: Option<Proxy>,
    disk: DiskWatch,
}

impl Confined {
    pub(super) fn start(
        helper: &HelperProgram,
        spec: CommandSpec,
        output: OutputSink,
        supervision: &Supervision,
    ) -> Result<Self, SandboxError> {
        private_folder(spec.state.path()).map_err(SandboxError::State)?;
        let is_changeable = !spec.root.reach().read_only;
        let quarantined = if is_changeable {
            audit_after_crash(&spec.root, &spec.state)
        } else {
            Vec::new()
        };
        let slot = Slot::take(&spec.state).map_err(SandboxError::State)?;
        let guard = Guard::of(&spec.root);
        if is_changeable {
            guard.keep(&slot.folder).map_err(SandboxError::State)?;
        }
        let folder = slot.folder.clone();
        let started = Self::launch(helper, spec, output, supervision, (slot, guard, quarantined));
        if started.is_err() {
            Guard::forget(&folder);
        }
        started
    }

    fn launch(
        helper: &HelperProgram,
        spec: CommandSpec,
        output: OutputSink,
        supervision: &Supervision,
        (slot, guard, quarantined): (Slot, Guard, Vec<Quarantined>),
    ) -> Result<Self, SandboxError> {
        let plan = plan::make(&spec, &guard, &slot.folder)?;
        let (mut socket, child_socket) = UnixStream::pair().map_err(SandboxError::Start)?;
        let limit = Arc::new(AtomicU64::new(spec.output_limit));
        let (mut child, pumps) =
            spawn(helper, child_socket, spec.streams, output, &limit).map_err(SandboxError::Start)?;
        let proxy = match greet(&mut socket, &plan) {
            Ok((Report::Started, listener)) => listener,
            other => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(refusal(other.map(|(report, _)| report)));
            }
        };
        let proxy = proxy
            .map(|listener| Proxy::start(listener.into(), spec.gate))
            .transpose()
            .map_err(SandboxError::Start)?;
        let reports = listen(&socket, supervision).map_err(SandboxError::Start)?;
        let circumstances = Circumstances {
            network: spec.network,
            project_read_only: spec.root.reach().read_only,
            secrets_hidden: spec.secret_files == SecretFiles::Hidden,
        };
        let disk = DiskWatch::begin(spec.root.path(), &slot.folder, spec.limits.disk);
        let visible = Visible::of(&plan, &spec.root);
        let (root, state) = (spec.root, spec.state);
        Ok(Self {
            child,
            socket,
            pumps,
            reports,
            guard,
            root,
            state,
            circumstances,
            visible,
            quarantined,
            slot,
            proxy,
            disk,
        })
    }

    pub(super) fn supervise(mut self, supervision: Supervision) {
        let forced = self.wait(&supervision);
        // The keeper ends when the whole namespace is gone.
        let _ = self.child.wait();
        let duration = supervision.duration();
        let hosts = self.proxy.map(Proxy::finish).unwrap_or_default();
        let (exit, processes_ended) = match self.reports.try_iter().last() {
            Some(Report::Ended { status, left }) => (exit_of(status), left),
            Some(Report::LimitExceeded { limit, left }) => (CommandExit::LimitExceeded(limit), left),
            _ => (CommandExit::Signal(libc::SIGKILL), 0),
        };
        let exit = forced.unwrap_or(exit);
        let pumped: Vec<Pumped> = self.pumps.into_iter().map(Pump::finish).collect();
        let mut quarantined = self.quarantined;
        if !self.root.reach().read_only {
            quarantined.extend(self.guard.audit(&self.root, &self.state));
        }
        Guard::forget(&self.slot.folder);
        let has_failed = !matches!(
            exit,
            CommandExit::Code(0) | CommandExit::Stopped | CommandExit::TimedOut
        );
        let said = pumped
            .last()
            .filter(|_| has_failed)
            .map_or(&[][..], |last| &last.tail);
        let denials = denials(said, self.circumstances);
        let mut blocked = hosts;
        if self.circumstances.network == Network::Off {
            blocked.extend(blocked::hosts(said));
        }
        blocked.extend(blocked::paths(said, &self.visible.folder, &self.visible));
        blocked.truncate(MAX_BLOCKED);
        let output_dropped = pumped.iter().map(|pumped| pumped.dropped).sum();
        supervision.finish(CommandEnd {
            exit,
            duration,
            processes_ended,
            output_dropped,
            denials,
            blocked,
            quarantined,
        });
    }

    /// Waits for the end; how the command ended, when that was not its own doing.
    fn wait(&mut self, supervision: &Supervision) -> Option<CommandExit> {
        let mut forced: Option<(CommandExit, Instant)> = None;
        loop {
            let next = match forced {
                None => supervision.next(disk::LOOK),
                Some((_, kill_at)) => {
                    supervision.next_signal(kill_at.saturating_duration_since(Instant::now()))
                }
            };
            let exit = match next {
                Next::Ended => return forced.map(|(exit, _)| exit),
                Next::Stop => CommandExit::Stopped,
                Next::TimeUp => CommandExit::TimedOut,
                Next::Look if forced.is_none() && self.disk.is_exceeded() => {
                    CommandExit::LimitExceeded(Limit::Disk)
                }
                Next::Look => {
                    if forced.is_some_and(|(_, kill_at)| kill_at <= Instant::now()) {
                        let _ = self.child.kill();
                        return forced.map(|(exit, _)| exit);
                    }
                    continue;
                }
            };
            if forced.is_none() {
                forced = Some((exit, Instant::now() + STOP_TIME));
                let _ = self.socket.write_all(&[STOP]);
            }
        }
    }
}

fn spawn(
    helper: &HelperProgram,
    socket: UnixStream,
    streams: Streams,
    output: OutputSink,
    limit: &Arc<AtomicU64>,
) -> io::Result<(Child, Vec<Pump>)> {
    let mut command = Command::new(helper.path());
    command
        .arg0(helper::NAME)
        .env_clear()
        .current_dir("/")
        .stdin(Stdio::from(OwnedFd::from(socket)));
    // A bundled app finds its libraries by this; the command does not get it.
    if let Some(libraries) = std::env::var_os("LD_LIBRARY_PATH") {
        command.env("LD_LIBRARY_PATH", libraries);
    }
    let (stdout, stdout_end) = io::pipe()?;
    let mut pumps = Vec::new();
    if streams == Streams::Together {
        command.stderr(stdout_end.try_clone()?);
    } else {
        let (stderr, stderr_end) = io::pipe()?;
        command.stderr(stderr_end);
        pumps.push(Pump::start(
            stderr,
            Stream::Stderr,
            output.clone(),
            Arc::clone(limit),
        )?);
    }
    command.stdout(stdout_end);
    pumps.insert(0, Pump::start(stdout, Stream::Stdout, output, Arc::clone(limit))?);
    let child = command.spawn()?;
    Ok((child, pumps))
}

/// Passes the plan and waits for the first report.
fn greet(socket: &mut UnixStream, plan: &Plan) -> io::Result<(Report, Option<OwnedFd>)> {
    socket.set_read_timeout(Some(SETUP_TIME))?;
    send(socket, plan)?;
    let report = receive_with(socket)?;
    socket.set_read_timeout(None)?;
    Ok(report)
}

fn refusal(report: io::Result<Report>) -> SandboxError {
    match report {
        Ok(Report::Failed {
            errno: libc::ESTALE,
            step,
        }) if step == "opening the project" => SandboxError::ProjectReplaced,
        Ok(Report::Failed {
            step,
            errno: libc::ENOENT,
        }) if step == "entering the working folder" => SandboxError::Folder(PathError::NotFound {
            path: crate::RelativePath::root(),
        }),
        Ok(Report::Failed { step, errno }) => SandboxError::Setup {
            step,
            source: io::Error::from_raw_os_error(errno),
        },
        Ok(_) => SandboxError::Setup {
            step: "starting".into(),
            source: io::ErrorKind::InvalidData.into(),
        },
        Err(source) => SandboxError::Setup {
            step: "starting the helper".into(),
            source,
        },
    }
}

/// Collects the helper's reports until it is gone.
fn listen(socket: &UnixStream, supervision: &Supervision) -> io::Result<std::sync::mpsc::Receiver<Report>> {
    let mut socket = socket.try_clone()?;
    let signals = supervision.sender.clone();
    let (sender, reports) = channel();
    std::thread::Builder::new()
        .name("command reports".into())
        .spawn(move || {
            while let Ok(report) = receive(&mut socket) {
                let _ = sender.send(report);
            }
            let _ = signals.send(Signal::Ended);
        })?;
    Ok(reports)
}

fn exit_of(status: i32) -> CommandExit {
    if libc::WIFSIGNALED(status) {
        CommandExit::Signal(libc::WTERMSIG(status))
    } else {
        CommandExit::Code(libc::WEXITSTATUS(status))
    }
}
