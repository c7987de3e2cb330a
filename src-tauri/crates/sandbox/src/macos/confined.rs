//! The app's side of a confined command on macOS: a thread that starts it under its profile, watches what it uses, stops
//! it, and ends everything that carries its mark.

use std::ffi::OsString;
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use super::bounds::{OwnPlaces, account_home, bounds, definition, environment, make_home};
use super::keeper::{Keeper, end_marked};
use super::marker::Marker;
use super::processes::{Names, begin_apart, marked, memory};
use super::profile::{Bounds, Profile, Reachable, SYSTEM, profile};
use super::toolchains::DeveloperTools;
use crate::around::{Around, Ended, Pipes, Reached};
use crate::command::disk::DiskWatch;
use crate::command::environment::set;
use crate::command::proxy::{self, Proxy};
use crate::command::running::{Next, Pump, Supervision};
use crate::command::{
    CommandExit, CommandLine, CommandSpec, HelperProgram, Limit, Network, OutputSink, ResourceLimits,
    SandboxError,
};

/// By absolute path: what PATH names could be anything.
const SANDBOX_EXEC: &str = "/usr/bin/sandbox-exec";
const LOOK: Duration = Duration::from_millis(10);
/// Between two looks at what all processes of a command use; each look asks about every process of the account.
const SAMPLE: Duration = Duration::from_millis(200);
const GRACE: Duration = Duration::from_millis(400);

/// One confined command.
pub(super) struct Confined {
    child: Child,
    keeper: Keeper,
    marker: Marker,
    around: Around,
    reached: Reached,
    pumps: Vec<Pump>,
    proxy: Option<Proxy>,
    limits: ResourceLimits,
    disk: DiskWatch,
    /// Removed when everything else is over.
    temporary: TemporaryFolder,
}

impl Confined {
    pub(super) fn start(
        helper: &HelperProgram,
        spec: CommandSpec,
        output: OutputSink,
    ) -> Result<Self, SandboxError> {
        let around = Around::before(&spec)?;
        let (limits, root) = (spec.limits, spec.root.clone());
        let home = spec.state.path().join("home");
        match launch(helper, spec, output, &around) {
            Ok(launched) => Ok(Self {
                disk: DiskWatch::begin(root.path(), &home, limits.disk),
                reached: Reached {
                    root,
                    places: places(&launched.bounds),
                },
                child: launched.child,
                keeper: launched.keeper,
                marker: launched.marker,
                pumps: launched.pumps,
                proxy: launched.proxy,
                temporary: launched.temporary,
                around,
                limits,
            }),
            Err(error) => {
                around.abandon();
                Err(error)
            }
        }
    }

    pub(super) fn supervise(mut self, supervision: Supervision) {
        let mut forced = None;
        let mut kill_at: Option<Instant> = None;
        let mut sample_at = Instant::now() + SAMPLE;
        let status = loop {
            match self.child.try_wait() {
                Ok(Some(status)) => break Some(status),
                Ok(None) => {}
                Err(_) => break None,
            }
            let now = Instant::now();
            if kill_at.is_some_and(|at| at <= now) {
                signal_group(&self.child, rustix::process::Signal::KILL);
                end_marked(&self.marker);
            }
            if forced.is_none() && sample_at <= now {
                sample_at = now + SAMPLE;
                if let Some(limit) = self.exceeded() {
                    forced = Some(CommandExit::LimitExceeded(limit));
                    kill_at = Some(now);
                    continue;
                }
            }
            let next = if kill_at.is_some() {
                supervision.next_signal(LOOK)
            } else {
                supervision.next(LOOK)
            };
            let exit = match next {
                Next::Stop => CommandExit::Stopped,
                Next::TimeUp => CommandExit::TimedOut,
                Next::Ended | Next::Look => continue,
            };
            if forced.is_none() {
                forced = Some(exit);
                signal_group(&self.child, rustix::process::Signal::TERM);
                kill_at = Some(Instant::now() + GRACE);
            }
        };
        signal_group(&self.child, rustix::process::Signal::KILL);
        let left = end_marked(&self.marker);
        self.keeper.dismiss();
        let ended = Ended {
            exit: forced.unwrap_or_else(|| exit_of(status)),
            left,
            pumps: self.pumps,
            refused: self.proxy.map(Proxy::finish).unwrap_or_default(),
        };
        drop(self.temporary);
        self.around.after(ended, &self.reached, supervision);
    }

    /// The limit that all processes of the command together are above.
    fn exceeded(&mut self) -> Option<Limit> {
        if self.disk.is_exceeded() {
            return Some(Limit::Disk);
        }
        let processes = marked(&Names::of(&self.marker)?);
        if processes.len() > usize::try_from(self.limits.processes).unwrap_or(usize::MAX) {
            return Some(Limit::Processes);
        }
        let used: Vec<u64> = processes.into_iter().map(memory).collect();
        let is_too_much = used.iter().any(|bytes| *bytes > self.limits.process_memory)
            || used.iter().sum::<u64>() > self.limits.memory;
        is_too_much.then_some(Limit::Memory)
    }
}

/// What a start leaves behind.
struct Launched {
    child: Child,
    keeper: Keeper,
    marker: Marker,
    bounds: Bounds,
    pumps: Vec<Pump>,
    proxy: Option<Proxy>,
    temporary: TemporaryFolder,
}

fn launch(
    helper: &HelperProgram,
    spec: CommandSpec,
    output: OutputSink,
    around: &Around,
) -> Result<Launched, SandboxError> {
    let setup = |step: &'static str| {
        move |source| SandboxError::Setup {
            step: step.into(),
            source,
        }
    };
    let own: Vec<(OsString, OsString)> = std::env::vars_os().collect();
    let home = account_home(&own);
    let temporary = TemporaryFolder::make().map_err(setup("making a folder for temporary files"))?;
    let places = OwnPlaces {
        home: make_home(&spec.state.path().join("home"), &home).map_err(SandboxError::State)?,
        temporary: temporary.0.clone(),
    };
    let tools = developer_tools();
    let mut environment = environment(&own, &spec.environment, &places, &home, tools.as_ref());
    let marker = Marker::new().map_err(setup("marking the run"))?;
    let keeper = Keeper::start(helper, &marker).map_err(setup("starting the keeper"))?;
    let pipes = Pipes::open(spec.streams, output, spec.output_limit).map_err(SandboxError::Start)?;
    let (network, proxy) = network(&spec).map_err(setup("starting the proxy"))?;
    if let Reachable::Proxy(port) = network {
        for (name, value) in proxy::environment(port) {
            set(&mut environment, name, value.into());
        }
    }
    let bounds = bounds(&spec, &around.guard, &places, &environment, &home, network);
    let mut command = confined(&profile(&bounds, &marker), &spec.line);
    command
        .current_dir(&around.folder)
        .env_clear()
        .envs(environment)
        .stdin(Stdio::null())
        .stdout(pipes.stdout)
        .stderr(pipes.stderr);
    begin_apart(&mut command, spec.limits);
    match command.spawn() {
        Ok(child) => Ok(Launched {
            child,
            keeper,
            marker,
            bounds,
            pumps: pipes.pumps,
            proxy,
            temporary,
        }),
        Err(error) => {
            keeper.dismiss();
            let _ = proxy.map(Proxy::finish);
            Err(SandboxError::Start(error))
        }
    }
}

/// The program that lays the profile on itself and then becomes the command.
fn confined(profile: &Profile, line: &CommandLine) -> Command {
    let mut command = Command::new(SANDBOX_EXEC);
    command.arg("-p").arg(&profile.text);
    for (name, path) in &profile.parameters {
        command.arg("-D").arg(definition(name, path));
    }
    command.arg("--");
    match line {
        CommandLine::Shell(line) => command.args(["/bin/bash", "-c", line]),
        CommandLine::Program { program, arguments } => command.arg(program).args(arguments),
    };
    command
}

/// What network a command gets, and the proxy that asks about it. The proxy listens where other programs of this machine
/// could reach it too; what they ask for is asked about as if the command did.
fn network(spec: &CommandSpec) -> io::Result<(Reachable, Option<Proxy>)> {
    match spec.network {
        Network::Off => Ok((Reachable::Nothing, None)),
        Network::Host => Ok((Reachable::Machine, None)),
        Network::Asks => {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
            let port = listener.local_addr()?.port();
            let proxy = Proxy::start(listener, spec.gate.clone())?;
            Ok((Reachable::Proxy(port), Some(proxy)))
        }
    }
}

fn places(bounds: &Bounds) -> Vec<(PathBuf, bool)> {
    let system = SYSTEM.iter().map(|place| (PathBuf::from(place), false));
    let readable = bounds.readable.iter().map(|place| (place.clone(), false));
    let changed = [&bounds.own[..], &bounds.writable].concat();
    system
        .chain(readable)
        .chain(changed.into_iter().map(|place| (place, true)))
        .collect()
}

fn developer_tools() -> Option<DeveloperTools> {
    let chosen = std::fs::read_link("/var/db/xcode_select_link").ok();
    let usual = [
        "/Library/Developer/CommandLineTools",
        "/Applications/Xcode.app/Contents/Developer",
    ];
    chosen
        .into_iter()
        .chain(usual.map(PathBuf::from))
        .filter(|folder| SYSTEM.iter().any(|system| folder.starts_with(system)))
        .find_map(|folder| DeveloperTools::at(&folder))
}

fn signal_group(child: &Child, signal: rustix::process::Signal) {
    if let Some(group) = i32::try_from(child.id())
        .ok()
        .and_then(rustix::process::Pid::from_raw)
    {
        let _ = rustix::process::kill_process_group(group, signal);
    }
}

fn exit_of(status: Option<ExitStatus>) -> CommandExit {
    if let Some(signal) = status.and_then(|status| status.signal()) {
        return CommandExit::Signal(signal);
    }
    CommandExit::Code(status.and_then(|status| status.code()).unwrap_or(-1))
}

/// A folder for one command's temporary files; made here, so it may be removed. Its name is short, because the names of
/// sockets in it may not be long.
struct TemporaryFolder(PathBuf);

impl TemporaryFolder {
    fn make() -> io::Result<Self> {
        use std::os::unix::fs::DirBuilderExt;
        let name = Marker::new()?;
        let path = Path::new("/private/tmp").join(format!("paddock-{}", &name.text()[..12]));
        std::fs::DirBuilder::new().mode(0o700).create(&path)?;
        Ok(Self(path))
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        // What a command made unwritable for itself would stay.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
