//! The app's side of a confined command: one thread that starts the helper, passes the plan, waits, stops, and looks at the
//! project afterwards.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::AtomicU64;
use std::sync::mpsc::channel;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use super::wire::{Plan, Report, STOP, receive, send};
use super::{helper, plan};
use crate::command::audit::Guard;
use crate::command::denial::{Circumstances, denials};
use crate::command::running::{Next, Pump, Pumped, Signal, Supervision, supervision};
use crate::command::{
    CommandEnd, CommandExit, CommandSpec, Confinement, HelperProgram, Network, OutputSink, Quarantined,
    RunningCommand, SandboxError, SandboxFacts, SecretFiles, StateDir, Stream, Streams, Tier, Unconfined,
};
use crate::{PathError, ProjectRoot};

const SETUP_TIME: Duration = Duration::from_secs(20);
/// After this, a stop no longer waits for the helper to do it.
const STOP_TIME: Duration = Duration::from_millis(1500);
const IDLE: Duration = Duration::from_secs(3600);
const MAX_SLOTS: usize = 64;

/// Commands in namespaces, where this machine lets an ordinary account make them.
pub(crate) struct LinuxConfinement {
    helper: HelperProgram,
    facts: OnceLock<SandboxFacts>,
}

impl LinuxConfinement {
    pub(crate) fn new(helper: HelperProgram) -> Self {
        Self {
            helper,
            facts: OnceLock::new(),
        }
    }

    /// Runs one command for real, in a project of its own.
    fn probe(&self) -> Result<(), SandboxError> {
        let place = ProbeFolder::make().map_err(SandboxError::State)?;
        let project = place.0.join("project");
        std::fs::create_dir(&project).map_err(SandboxError::State)?;
        let root =
            ProjectRoot::open(&project).map_err(|error| SandboxError::State(io::Error::other(error)))?;
        // A write outside must fail, the process must be among its own, and a write inside must work.
        let line = "[ $$ = 2 ] && ! : 2>/dev/null >/etc/.paddock-probe && : >inside";
        let mut spec = CommandSpec::shell(root, StateDir::new(place.0.join("state")), line);
        spec.time_limit = Some(Duration::from_secs(10));
        let (sink, _output) = tokio::sync::mpsc::channel(16);
        let end = self.run(spec, sink)?.wait_blocking();
        if end.exit.is_success() && project.join("inside").exists() {
            return Ok(());
        }
        let source = io::Error::other(format!("the trial ended with {:?}", end.exit));
        Err(SandboxError::Setup {
            step: "trying the sandbox".into(),
            source,
        })
    }

    fn run(&self, spec: CommandSpec, output: OutputSink) -> Result<RunningCommand, SandboxError> {
        let (running, supervision) = supervision(spec.time_limit);
        let (started, result) = channel();
        let helper = self.helper.clone();
        std::thread::Builder::new()
            .name("command".into())
            .spawn(
                move || match Confined::start(&helper, spec, output, &supervision) {
                    Ok(confined) => {
                        let _ = started.send(Ok(()));
                        confined.supervise(supervision);
                    }
                    Err(error) => {
                        let _ = started.send(Err(error));
                    }
                },
            )
            .map_err(SandboxError::Start)?;
        result
            .recv()
            .unwrap_or_else(|_| Err(SandboxError::Start(io::ErrorKind::BrokenPipe.into())))?;
        Ok(running)
    }
}

impl Confinement for LinuxConfinement {
    fn facts(&self) -> SandboxFacts {
        self.facts
            .get_or_init(|| match self.probe() {
                Ok(()) => full(),
                Err(error) => none(&error),
            })
            .clone()
    }

    fn start(&self, spec: CommandSpec, output: OutputSink) -> Result<RunningCommand, SandboxError> {
        let facts = self.facts();
        if facts.is_confined() {
            return self.run(spec, output);
        }
        Unconfined::new(facts.gaps.first().cloned().unwrap_or_default()).start(spec, output)
    }
}

fn full() -> SandboxFacts {
    let texts = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect();
    SandboxFacts {
        tier: Tier::Full,
        summary: "Commands are confined to the project, network off.".into(),
        holds: texts(&[
            "Only the project can be changed; git's hooks and settings in it cannot.",
            "Of the home folder only toolchains and git's settings can be read.",
            "There is no network unless it is allowed, and no other program of this machine can be reached.",
            "When a command ends, is stopped, or Paddock dies, every process it started ends.",
            "Processes, memory and file sizes are limited.",
            "What a command leaves that would run later outside is moved away.",
        ]),
        gaps: texts(&[
            "A fault in the Linux kernel could be used to get out.",
            "What you run by hand later, like a changed build script, is not confined.",
        ]),
        remedy: None,
    }
}

fn none(error: &SandboxError) -> SandboxFacts {
    let why = format!("The sandbox does not work on this machine: {error}.");
    let mut facts = Unconfined::new(why).facts();
    let restricted = std::fs::read_to_string("/proc/sys/kernel/apparmor_restrict_unprivileged_userns");
    facts.remedy = Some(if restricted.is_ok_and(|value| value.trim() == "1") {
        "This system lets only known programs confine commands: install Paddock from its package, which brings the \
         AppArmor profile that allows it."
            .into()
    } else {
        "Allow unprivileged user namespaces for this account; in a container, allow it a /proc of its own."
            .into()
    });
    facts
}

/// Looks at a project after commands that Paddock did not survive, as it would have done after their end.
pub(crate) fn audit_after_crash(root: &ProjectRoot, state: &StateDir) -> Vec<Quarantined> {
    let mut moved = Vec::new();
    for number in 0..MAX_SLOTS {
        let folder = Slot::folder(state, number);
        if !folder.exists() {
            break;
        }
        if Guard::kept(&folder).is_none() {
            continue;
        }
        // A slot in use belongs to a command that runs, and will be looked at after its end.
        if let Ok(Some(slot)) = Slot::take_number(state, number)
            && let Some(guard) = Guard::kept(&slot.folder)
        {
            moved.extend(guard.audit(root, state));
            Guard::forget(&slot.folder);
        }
    }
    moved
}

/// One confined command.
struct Confined {
    child: Child,
    socket: UnixStream,
    pumps: Vec<Pump>,
    reports: std::sync::mpsc::Receiver<Report>,
    guard: Guard,
    root: ProjectRoot,
    state: StateDir,
    circumstances: Circumstances,
    /// What commands before this one left, when Paddock died with them.
    quarantined: Vec<Quarantined>,
    slot: Slot,
}

impl Confined {
    fn start(
        helper: &HelperProgram,
        spec: CommandSpec,
        output: OutputSink,
        supervision: &Supervision,
    ) -> Result<Self, SandboxError> {
        plan::private_folder(spec.state.path()).map_err(SandboxError::State)?;
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
        match greet(&mut socket, &plan) {
            Ok(Report::Started) => {}
            other => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(refusal(other));
            }
        }
        let reports = listen(&socket, supervision).map_err(SandboxError::Start)?;
        let circumstances = Circumstances {
            network_off: spec.network == Network::Off,
            project_read_only: spec.root.reach().read_only,
            secrets_hidden: spec.secret_files == SecretFiles::Hidden,
        };
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
            quarantined,
            slot,
        })
    }

    fn supervise(mut self, supervision: Supervision) {
        let mut forced = None;
        let mut kill_at: Option<Instant> = None;
        loop {
            let pause = kill_at.map_or(IDLE, |at| at.saturating_duration_since(Instant::now()));
            let next = if kill_at.is_some() {
                supervision.next_signal(pause)
            } else {
                supervision.next(pause)
            };
            match next {
                Next::Ended => break,
                Next::Stop | Next::TimeUp if forced.is_none() => {
                    let exit = if next == Next::Stop {
                        CommandExit::Stopped
                    } else {
                        CommandExit::TimedOut
                    };
                    forced = Some(exit);
                    kill_at = Some(Instant::now() + STOP_TIME);
                    let _ = self.socket.write_all(&[STOP]);
                }
                Next::Look if kill_at.is_some_and(|at| at <= Instant::now()) => {
                    let _ = self.child.kill();
                    break;
                }
                _ => {}
            }
        }
        // The keeper ends when the whole namespace is gone.
        let _ = self.child.wait();
        let duration = supervision.duration();
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
        let denials = match exit {
            CommandExit::Code(0) | CommandExit::Stopped | CommandExit::TimedOut => Vec::new(),
            _ => pumped
                .last()
                .map(|last| denials(&last.tail, self.circumstances))
                .unwrap_or_default(),
        };
        let output_dropped = pumped.iter().map(|pumped| pumped.dropped).sum();
        supervision.finish(CommandEnd {
            exit,
            duration,
            processes_ended,
            output_dropped,
            denials,
            blocked: Vec::new(),
            quarantined,
        });
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
fn greet(socket: &mut UnixStream, plan: &Plan) -> io::Result<Report> {
    socket.set_read_timeout(Some(SETUP_TIME))?;
    send(socket, plan)?;
    let report = receive(socket)?;
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

/// A set of private caches that no other running command uses: layers must not be shared while they are in use.
struct Slot {
    folder: PathBuf,
    _lock: File,
}

impl Slot {
    fn take(state: &StateDir) -> io::Result<Self> {
        for number in 0..MAX_SLOTS {
            let Some(slot) = Self::take_number(state, number)? else {
                continue;
            };
            // After a crash the look at the project is still due, and this command must not hide that.
            if Guard::kept(&slot.folder).is_none() {
                return Ok(slot);
            }
        }
        Err(io::ErrorKind::ResourceBusy.into())
    }

    /// One set of caches; none while it is in use.
    fn take_number(state: &StateDir, number: usize) -> io::Result<Option<Self>> {
        let folder = Self::folder(state, number);
        plan::private_folder(&folder)?;
        let lock = File::create(folder.join("lock"))?;
        Ok(lock.try_lock().is_ok().then_some(Self { folder, _lock: lock }))
    }

    fn folder(state: &StateDir, number: usize) -> PathBuf {
        state.path().join(format!("caches-{number}"))
    }
}

/// A folder for the trial, removed at the end. It was made here, so it may be removed.
struct ProbeFolder(PathBuf);

impl ProbeFolder {
    fn make() -> io::Result<Self> {
        use std::os::unix::fs::DirBuilderExt;
        let now = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .map_or(0, |time| time.as_nanos());
        let path = std::env::temp_dir().join(format!("paddock-probe-{}-{now:x}", std::process::id()));
        std::fs::DirBuilder::new().mode(0o700).create(&path)?;
        Ok(Self(path))
    }
}

impl Drop for ProbeFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
