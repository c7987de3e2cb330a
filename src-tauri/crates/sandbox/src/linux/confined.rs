//! The app's side of a confined command: one thread that starts the helper, passes the plan, waits, stops, and looks at the
//! project afterwards.

use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use super::granted::NewFiles;
use super::machine::Way;
use super::visible::Visible;
use super::wire::{Plan, Report, STOP, receive, receive_with, send};
use super::{bwrap, helper, plan, reach};
use crate::PathError;
use crate::around::{Around, Ended, Pipes};
use crate::command::disk::{self, DiskWatch};
use crate::command::proxy::Proxy;
use crate::command::running::{Next, Pump, Signal, Supervision};
use crate::command::worktree;
use crate::command::{CommandExit, CommandSpec, HelperProgram, Limit, Network, OutputSink, SandboxError};

const SETUP_TIME: Duration = Duration::from_secs(20);
/// After this, a stop no longer waits for the helper to do it.
const STOP_TIME: Duration = Duration::from_millis(1500);

/// One confined command.
pub(super) struct Confined {
    around: Around,
    running: Running,
}

/// What there is of a command while it runs.
struct Running {
    keeper: Keeper,
    visible: Visible,
    proxy: Option<Proxy>,
    disk: DiskWatch,
    new_files: NewFiles,
}

impl Confined {
    pub(super) fn start(
        helper: &HelperProgram,
        way: Way,
        mut spec: CommandSpec,
        output: OutputSink,
    ) -> Result<Self, SandboxError> {
        if way == Way::Reduced && spec.network == Network::Asks {
            // There is no network of its own whose only way out could be a proxy.
            spec.network = Network::Off;
        }
        // Started first: while it comes up, the project is looked at.
        let keeper = Keeper::start(helper, way, &spec, output).map_err(SandboxError::Start)?;
        let mut around = Around::before(&spec)?;
        if way == Way::Reduced {
            around.keep_contents();
        }
        match Running::launch(keeper, spec, &around) {
            Ok(running) => Ok(Self { around, running }),
            Err(error) => {
                around.abandon();
                Err(error)
            }
        }
    }

    pub(super) fn supervise(mut self, supervision: Supervision) {
        let reports = listen(&self.running.keeper.socket, &supervision);
        let forced = match &reports {
            Ok(_) => self.running.wait(&supervision),
            Err(_) => {
                self.running.keeper.end();
                None
            }
        };
        let running = self.running;
        let refused = running.proxy.map(Proxy::finish).unwrap_or_default();
        let (exit, left) = match reports.ok().and_then(|reports| reports.try_iter().last()) {
            Some(Report::Ended { status, left }) => (exit_of(status), left),
            Some(Report::LimitExceeded { limit, left }) => (CommandExit::LimitExceeded(limit), left),
            _ => (CommandExit::Signal(libc::SIGKILL), 0),
        };
        let mut keeper = running.keeper;
        let ended = Ended {
            exit: forced.unwrap_or(exit),
            left,
            pumps: std::mem::take(&mut keeper.pumps),
            refused,
        };
        drop(running.new_files);
        let slot = self.around.after(ended, &running.visible, supervision);
        // What the kernel still has to clear away holds up nobody, but the next command must not use the same layers yet.
        drop(keeper);
        drop(slot);
    }
}

impl Running {
    /// Passes the plan and waits until the command runs.
    fn launch(mut keeper: Keeper, mut spec: CommandSpec, around: &Around) -> Result<Self, SandboxError> {
        let split = worktree::split(&spec.root, &spec.extra, keeper.way != Way::Reduced);
        let new_files = NewFiles::make(&spec.root, &split.grants, &split.made);
        spec.extra = split.grants;
        let mut plan = plan::make(&spec, &around.guard, around.caches())?;
        match keeper.way {
            Way::Own => {}
            Way::Bwrap { program, layers } => {
                let by = bwrap::prepare(program, layers, around.caches()).map_err(SandboxError::State)?;
                plan.bwrap = Some(by);
            }
            Way::Reduced => plan = reach::reduce(plan, around.caches()).map_err(SandboxError::State)?,
        }
        let proxy = match greet(&mut keeper.socket, &plan) {
            Ok((Report::Started, listener)) => listener,
            other => return Err(refusal(other.map(|(report, _)| report))),
        };
        let proxy = proxy
            .map(|listener| Proxy::start(listener.into(), spec.gate))
            .transpose()
            .map_err(SandboxError::Start)?;
        let disk = DiskWatch::begin(spec.root.path(), around.caches(), spec.limits.disk);
        let visible = Visible::of(&plan, &spec.root);
        Ok(Self {
            keeper,
            visible,
            proxy,
            disk,
            new_files,
        })
    }

    /// Waits until every process of the command is gone; how it ended, when that was not its own doing.
    fn wait(&mut self, supervision: &Supervision) -> Option<CommandExit> {
        let mut forced: Option<(CommandExit, Instant)> = None;
        let mut is_killed = false;
        loop {
            let next = match forced {
                None => supervision.next(disk::LOOK),
                Some((_, act_at)) => {
                    supervision.next_signal(act_at.saturating_duration_since(Instant::now()))
                }
            };
            let exit = match next {
                Next::Ended => return forced.map(|(exit, _)| exit),
                Next::Stop => CommandExit::Stopped,
                Next::TimeUp => CommandExit::TimedOut,
                Next::Look if forced.is_none() && self.disk.is_exceeded() => {
                    CommandExit::LimitExceeded(Limit::Disk)
                }
                Next::Look => match forced {
                    Some((exit, act_at)) if act_at <= Instant::now() => {
                        if is_killed {
                            return Some(exit);
                        }
                        // Everything goes with the keeper, by pid 1 or by its own hand; the end of the socket tells it.
                        self.keeper.ask();
                        is_killed = true;
                        forced = Some((exit, act_at + STOP_TIME));
                        continue;
                    }
                    _ => continue,
                },
            };
            if forced.is_none() {
                forced = Some((exit, Instant::now() + STOP_TIME));
                let _ = self.keeper.socket.write_all(&[STOP]);
            }
        }
    }
}

/// The helper's first process, with the streams of the command. It goes with this value, and takes everything with it.
struct Keeper {
    child: Child,
    socket: UnixStream,
    pumps: Vec<Pump>,
    way: Way,
}

impl Keeper {
    fn start(helper: &HelperProgram, way: Way, spec: &CommandSpec, output: OutputSink) -> io::Result<Self> {
        let (socket, far) = UnixStream::pair()?;
        let mut command = Command::new(helper.path());
        command
            .arg0(helper::NAME)
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::from(OwnedFd::from(far)));
        // A bundled app finds its libraries by this; the command does not get it.
        if let Some(libraries) = std::env::var_os("LD_LIBRARY_PATH") {
            command.env("LD_LIBRARY_PATH", libraries);
        }
        let pipes = Pipes::open(spec.streams, output, spec.output_limit)?;
        command.stdout(pipes.stdout).stderr(pipes.stderr);
        Ok(Self {
            child: command.spawn()?,
            socket,
            pumps: pipes.pumps,
            way,
        })
    }

    /// Ends the keeper. Without namespaces it has to end the others first, and does so when its socket does.
    fn ask(&mut self) {
        if self.way == Way::Reduced {
            let _ = self.socket.shutdown(std::net::Shutdown::Write);
        } else {
            let _ = self.child.kill();
        }
    }

    fn end(&mut self) {
        self.ask();
        let _ = self.child.wait();
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.end();
    }
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
