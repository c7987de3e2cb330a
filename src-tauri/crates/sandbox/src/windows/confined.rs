//! The app's side of a command on Windows: the entries it needs are put in, then it is started into its job, watched,
//! stopped, and ended with everything it started.

use std::fs::File;
use std::io;
use std::os::windows::io::OwnedHandle;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use super::acl::List;
use super::boundary::{Boundary, Need};
use super::command_line::{Line, Machine};
use super::environment::{block, environment, private_folders, value};
use super::job::{Job, Process, Start};
use super::rights::{read_list, restricted_token, write_list};
use crate::around::{Around, Ended, Pipes, Reached};
use crate::command::running::{Next, Pump, Supervision};
use crate::command::slot::private_folder;
use crate::command::worktree;
use crate::command::{
    CommandExit, CommandLine, CommandSpec, Limit, OutputSink, PathGrant, ResourceLimits, SandboxError,
};

const LOOK: Duration = Duration::from_millis(10);
const SAMPLE: Duration = Duration::from_millis(200);
/// How long the last processes of a job that was ended are waited for.
const LAST_PROCESSES: Duration = Duration::from_secs(2);

/// How far a command is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Level {
    /// It ends with everything it started, and its resources are limited.
    Job,
    /// It also changes only what it may.
    Writes,
}

/// One command.
pub(super) struct Confined {
    process: Process,
    job: Job,
    around: Around,
    reached: Reached,
    pumps: Vec<Pump>,
    limits: ResourceLimits,
    temporary: TemporaryFolder,
}

impl Confined {
    pub(super) fn start(
        level: Level,
        mut spec: CommandSpec,
        output: OutputSink,
    ) -> Result<Self, SandboxError> {
        spec.extra = worktree::split(&spec.root, &spec.extra, false).grants;
        let around = Around::before(&spec)?;
        match launch(level, &spec, output, &around) {
            Ok((process, job, pumps, temporary)) => Ok(Self {
                process,
                job,
                pumps,
                temporary,
                around,
                limits: spec.limits,
                reached: Reached {
                    places: places(&spec.extra),
                    root: spec.root,
                },
            }),
            Err(error) => {
                around.abandon();
                Err(error)
            }
        }
    }

    pub(super) fn supervise(self, supervision: Supervision) {
        let mut sample_at = Instant::now() + SAMPLE;
        let exit = loop {
            if let Some(code) = self.process.exit_code() {
                break CommandExit::Code(code);
            }
            if sample_at <= Instant::now() {
                sample_at = Instant::now() + SAMPLE;
                if let Some(limit) = self.exceeded() {
                    break CommandExit::LimitExceeded(limit);
                }
            }
            match supervision.next(LOOK) {
                Next::Stop => break CommandExit::Stopped,
                Next::TimeUp => break CommandExit::TimedOut,
                Next::Ended | Next::Look => {}
            }
        };
        // Without a window there is no way to ask a program of Windows to end, so it is ended.
        let left = self.job.processes();
        self.job.end();
        let until = Instant::now() + LAST_PROCESSES;
        while self.job.processes() > 0 && Instant::now() < until {
            std::thread::sleep(LOOK);
        }
        // Whatever is still there ends with the last handle of the job.
        drop(self.job);
        drop(self.temporary);
        let ended = Ended {
            exit,
            left: if matches!(exit, CommandExit::Code(_)) {
                left
            } else {
                0
            },
            pumps: self.pumps,
            refused: Vec::new(),
        };
        self.around.after(ended, &self.reached, supervision);
    }

    /// The limit that was reached. Windows itself lets nothing pass it, which programs take in their own ways.
    fn exceeded(&self) -> Option<Limit> {
        if self.job.processes() >= self.limits.processes {
            return Some(Limit::Processes);
        }
        let (all, one) = self.job.peak_memory();
        (all >= self.limits.memory || one >= self.limits.process_memory).then_some(Limit::Memory)
    }
}

fn launch(
    level: Level,
    spec: &CommandSpec,
    output: OutputSink,
    around: &Around,
) -> Result<(Process, Job, Vec<Pump>, TemporaryFolder), SandboxError> {
    let setup = |step: &'static str| {
        move |source| SandboxError::Setup {
            step: step.into(),
            source,
        }
    };
    let own = spec.state.path().join("own");
    let is_new = !own.exists();
    private_folder(&own).map_err(SandboxError::State)?;
    let own = own.canonicalize().map_err(SandboxError::State)?;
    let token = match level {
        Level::Job => None,
        Level::Writes => Some(boundary(spec, around, &own)?),
    };
    let temporary = TemporaryFolder::make(&own).map_err(SandboxError::State)?;
    let private = private_folders(&plain(&own), &plain(&temporary.0));
    // Only before the first command: later one may have put a junction in their place, and nothing is made behind one.
    for (_, folder) in private.iter().filter(|_| is_new) {
        private_folder(Path::new(folder)).map_err(SandboxError::State)?;
    }
    let environment = environment(std::env::vars_os(), &spec.environment, &private);
    let folder = plain(&around.folder);
    let line = line(&spec.line, &environment, &folder).map_err(SandboxError::Start)?;
    let job = Job::new(spec.limits).map_err(setup("making the job"))?;
    let pipes = Pipes::open(spec.streams, output, spec.output_limit).map_err(SandboxError::Start)?;
    let nothing = File::open("NUL").map_err(SandboxError::Start)?;
    let process = Process::start(Start {
        line: &line,
        environment: &block(&environment),
        folder: &folder,
        token: token.as_ref(),
        job: &job,
        streams: [nothing.into(), pipes.stdout.into(), pipes.stderr.into()],
    })
    .map_err(SandboxError::Start)?;
    Ok((process, job, pipes.pumps, temporary))
}

fn line(line: &CommandLine, environment: &[(String, String)], folder: &str) -> io::Result<Line> {
    let of_machine = |name: &str, usual: &str| std::env::var(name).unwrap_or_else(|_| usual.into());
    let machine = Machine {
        windows: &of_machine("SystemRoot", r"C:\Windows"),
        programs: &of_machine("ProgramFiles", r"C:\Program Files"),
        path: value(environment, "PATH").unwrap_or_default(),
        endings: value(environment, "PATHEXT").unwrap_or(".COM;.EXE;.BAT;.CMD"),
        is_file: &|path| Path::new(path).is_file(),
    };
    let made = match line {
        CommandLine::Shell(line) => machine.shell(line),
        CommandLine::Program { program, arguments } => machine.program(program, arguments, folder),
    };
    made.map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))
}

/// Puts in the entries that the command needs; the token that they are about.
fn boundary(spec: &CommandSpec, around: &Around, own: &Path) -> Result<OwnedHandle, SandboxError> {
    let setup = |step: &str, path: &Path, source: io::Error| SandboxError::Setup {
        step: format!("{step} `{}`", plain(path)),
        source,
    };
    let project = spec.root.path();
    let mut boundary = Boundary::default();
    boundary.add_place(&plain(own));
    if !spec.root.reach().read_only {
        boundary.add_project(&plain(project), &around.guard, spec.root.reach().git_internals);
    }
    for grant in spec.extra.iter().filter(|grant| grant.writable) {
        boundary.add_place(&plain(&grant.path));
    }
    for folder in project.ancestors().chain(own.ancestors()) {
        let is_open = read_list(Path::new(&plain(folder)))
            .ok()
            .and_then(|text| List::read(&text))
            .is_none_or(|list| list.lets_everyone_change());
        if is_open {
            let why = "everyone may change what is in it, or nobody can tell who may";
            return Err(setup("looking at who may change", folder, io::Error::other(why)));
        }
    }
    for need in &boundary.needs {
        put_in(need).map_err(|error| setup("setting who may change", &need.path, error))?;
    }
    restricted_token(&boundary.identities).map_err(|source| SandboxError::Setup {
        step: "making the token".into(),
        source,
    })
}

/// Puts the entries of a need in; what is not there needs none. What a link leads to is not touched.
fn put_in(need: &Need) -> io::Result<()> {
    let found = match std::fs::symlink_metadata(&need.path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        found => found?,
    };
    if found.file_type().is_symlink()
        || std::os::windows::fs::MetadataExt::file_attributes(&found) & REPARSE != 0
    {
        return Ok(());
    }
    let mut entries = need.entries.clone();
    for entry in &mut entries {
        entry.inherited &= found.is_dir();
    }
    change_list(&need.path, |list| list.with(&need.identity, &entries))
}

/// The attribute of links, junctions and mount points.
const REPARSE: u32 = 0x400;

fn change_list(path: &Path, change: impl FnOnce(&List) -> Option<List>) -> io::Result<()> {
    let text = read_list(path)?;
    let list = List::read(&text).ok_or(io::ErrorKind::InvalidData)?;
    match change(&list) {
        Some(list) => write_list(path, &list.text(), list.is_protected()),
        None => Ok(()),
    }
}

/// Takes out of a folder what was put in for its commands; everything below loses it, too, but for refusals in it.
pub(super) fn take_out(folder: &Path) -> io::Result<()> {
    let identity = super::sid::of_place(&plain(folder));
    change_list(folder, |list| list.with(&identity, &[]))
}

/// What a command reaches: it reads everything, and changes what was granted.
fn places(grants: &[PathGrant]) -> Vec<(PathBuf, bool)> {
    let drives = ('A'..='Z').map(|drive| (PathBuf::from(format!(r"{drive}:\")), false));
    let granted = grants
        .iter()
        .filter(|grant| grant.writable)
        .map(|grant| (grant.path.clone(), true));
    drives.chain(granted).collect()
}

/// A path as programs write it: most do not know the form that Windows itself makes of it.
fn plain(path: &Path) -> String {
    let text = path.to_string_lossy();
    match text.strip_prefix(r"\\?\") {
        Some(rest) if rest.as_bytes().get(1) == Some(&b':') => rest.to_owned(),
        _ => text.into_owned(),
    }
}

/// A folder for one command's temporary files, below the private one; made here, so it may be removed.
struct TemporaryFolder(PathBuf);

impl TemporaryFolder {
    fn make(own: &Path) -> io::Result<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = own.join(format!("temp-{}-{count}", std::process::id()));
        match std::fs::create_dir(&path) {
            // An earlier process of the same number left it.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                std::fs::remove_dir_all(&path)?;
                std::fs::create_dir(&path)?;
            }
            other => other?,
        }
        Ok(Self(path))
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
