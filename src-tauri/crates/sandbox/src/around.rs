//! What is done around a command where no process of ours stands inside of the sandbox: the look at the project before
//! and after, the streams, the thread that owns the command. On Linux the helper has a part in all of it.

use std::io::{self, PipeWriter};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::mpsc::channel;

use crate::command::audit::Guard;
use crate::command::blocked::{self, Blocked, MAX_BLOCKED, Surroundings};
use crate::command::denial::{Circumstances, denials};
#[cfg(target_os = "linux")]
use crate::command::kept::Kept;
use crate::command::running::{Pump, Pumped, Supervision, supervision};
use crate::command::slot::{ClosingSlot, Slot, audit_after_crash};
use crate::command::worktree::LinkedWorktree;
use crate::command::{
    CommandEnd, CommandExit, CommandSpec, Network, OutputSink, Quarantined, RunningCommand, SandboxError,
    SecretFiles, StateDir, Stream, Streams,
};
use crate::{Kind, PathError, ProjectRoot};

/// A project around one command.
pub(crate) struct Around {
    pub(crate) guard: Guard,
    /// The working folder; a real path.
    pub(crate) folder: PathBuf,
    root: ProjectRoot,
    state: StateDir,
    slot: Slot,
    circumstances: Circumstances,
    /// The content of what must not change, where the confinement cannot keep it from that.
    #[cfg(target_os = "linux")]
    kept: Option<Kept>,
    /// What commands before this one left, when Paddock died with them.
    quarantined: Vec<Quarantined>,
}

impl Around {
    /// Looks at the project before the command.
    pub(crate) fn before(spec: &CommandSpec) -> Result<Self, SandboxError> {
        let folder = working_folder(spec)?;
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
        Ok(Self {
            guard,
            folder,
            root: spec.root.clone(),
            state: spec.state.clone(),
            slot,
            circumstances: Circumstances {
                network: spec.network,
                project_read_only: spec.root.reach().read_only,
                secrets_hidden: spec.secret_files == SecretFiles::Hidden,
            },
            #[cfg(target_os = "linux")]
            kept: None,
            quarantined,
        })
    }

    /// Keeps the content of what must not change, to bring it back after the command.
    #[cfg(target_os = "linux")]
    pub(crate) fn keep_contents(&mut self) {
        if !self.root.reach().read_only && !self.root.reach().git_internals {
            self.kept = Some(Kept::of(&self.root, &self.guard.protected));
        }
    }

    /// The command did not start.
    pub(crate) fn abandon(self) {
        Guard::forget(&self.slot.folder);
    }

    /// Looks at the project after the command, of which nothing is left, and tells its end. The caches stay taken until
    /// what is returned is dropped.
    pub(crate) fn after(
        mut self,
        ended: Ended,
        surroundings: &dyn Surroundings,
        supervision: Supervision,
    ) -> ClosingSlot {
        let duration = supervision.duration();
        let pumped: Vec<Pumped> = ended.pumps.into_iter().map(Pump::finish).collect();
        let mut quarantined = std::mem::take(&mut self.quarantined);
        #[cfg(target_os = "linux")]
        if let Some(kept) = &self.kept {
            quarantined.extend(kept.restore(&self.root, &self.state));
        }
        if !self.root.reach().read_only {
            quarantined.extend(self.guard.audit(&self.root, &self.state));
        }
        Guard::forget(&self.slot.folder);
        let has_failed = !matches!(
            ended.exit,
            CommandExit::Code(0) | CommandExit::Stopped | CommandExit::TimedOut
        );
        let said = pumped
            .last()
            .filter(|_| has_failed)
            .map_or(&[][..], |last| &last.tail);
        let mut blocked = ended.refused;
        if self.circumstances.network == Network::Off {
            blocked.extend(blocked::hosts(said));
        }
        blocked.extend(self.missed_places(said, surroundings));
        blocked.truncate(MAX_BLOCKED);
        let slot = self.slot.closing();
        supervision.finish(CommandEnd {
            exit: ended.exit,
            duration,
            processes_ended: ended.left,
            output_dropped: pumped.iter().map(|pumped| pumped.dropped).sum(),
            denials: denials(said, self.circumstances),
            blocked,
            quarantined,
        });
        slot
    }

    /// The places outside that the command missed. A linked worktree misses its repository as a whole.
    fn missed_places(&self, said: &[u8], surroundings: &dyn Surroundings) -> Vec<Blocked> {
        let mut missed = blocked::paths(said, &self.folder, surroundings);
        let linked = LinkedWorktree::of(&self.root).filter(|linked| {
            let path = &linked.common;
            linked.is_missed(said)
                && !surroundings.is_reachable(path, false)
                && surroundings.may_be_granted(path, true)
        });
        if let Some(linked) = linked {
            missed.retain(
                |other| !matches!(other, Blocked::Path { path, .. } if path.starts_with(&linked.common)),
            );
            missed.insert(
                0,
                Blocked::Path {
                    path: linked.common,
                    write: !self.circumstances.project_read_only,
                },
            );
        }
        missed
    }

    /// The folder of the command's own caches.
    #[cfg(target_os = "linux")]
    pub(crate) fn caches(&self) -> &Path {
        &self.slot.folder
    }
}

/// What is known of a command that ended.
pub(crate) struct Ended {
    pub(crate) exit: CommandExit,
    /// How many processes it had left.
    pub(crate) left: u32,
    pub(crate) pumps: Vec<Pump>,
    /// What its proxy refused.
    pub(crate) refused: Vec<Blocked>,
}

/// The real path of the folder that a command begins in.
pub(crate) fn working_folder(spec: &CommandSpec) -> Result<PathBuf, SandboxError> {
    let found = spec.root.metadata(&spec.folder).map_err(SandboxError::Folder)?;
    if found.kind != Kind::Folder {
        return Err(SandboxError::Folder(PathError::NotAFolder {
            path: spec.folder.clone(),
        }));
    }
    let real = spec.root.real(&spec.folder).map_err(SandboxError::Folder)?;
    Ok(spec.root.path().join(real.as_str()))
}

/// The writing ends of a command's streams, and what reads them.
pub(crate) struct Pipes {
    pub(crate) stdout: PipeWriter,
    pub(crate) stderr: PipeWriter,
    pub(crate) pumps: Vec<Pump>,
}

impl Pipes {
    /// Makes the streams; those who read them are at work.
    pub(crate) fn open(streams: Streams, output: OutputSink, most: u64) -> io::Result<Self> {
        let limit = Arc::new(AtomicU64::new(most));
        let (source, stdout) = io::pipe()?;
        if streams == Streams::Together {
            let stderr = stdout.try_clone()?;
            let pumps = vec![Pump::start(source, Stream::Stdout, output, limit)?];
            return Ok(Self {
                stdout,
                stderr,
                pumps,
            });
        }
        let (errors, stderr) = io::pipe()?;
        let pumps = vec![
            Pump::start(source, Stream::Stdout, output.clone(), Arc::clone(&limit))?,
            Pump::start(errors, Stream::Stderr, output, limit)?,
        ];
        Ok(Self {
            stdout,
            stderr,
            pumps,
        })
    }
}

/// Starts a command on a thread of its own, which then stays with it to its end.
pub(crate) fn on_own_thread<T>(
    spec: CommandSpec,
    start: impl FnOnce(CommandSpec) -> Result<T, SandboxError> + Send + 'static,
    supervise: impl FnOnce(T, Supervision) + Send + 'static,
) -> Result<RunningCommand, SandboxError> {
    let (running, supervision) = supervision(spec.time_limit);
    let (started, result) = channel();
    std::thread::Builder::new()
        .name("command".into())
        .spawn(move || match start(spec) {
            Ok(command) => {
                let _ = started.send(Ok(()));
                supervise(command, supervision);
            }
            Err(error) => {
                let _ = started.send(Err(error));
            }
        })
        .map_err(SandboxError::Start)?;
    result
        .recv()
        .unwrap_or_else(|_| Err(SandboxError::Start(io::ErrorKind::BrokenPipe.into())))?;
    Ok(running)
}

#[cfg(any(not(target_os = "linux"), test))]
/// What a command reaches outside of its project, for the question which grant would have helped it.
pub(crate) struct Reached {
    pub(crate) root: ProjectRoot,
    /// Places with everything below, and whether they can be changed.
    pub(crate) places: Vec<(PathBuf, bool)>,
}

#[cfg(any(not(target_os = "linux"), test))]
impl Surroundings for Reached {
    fn is_reachable(&self, path: &Path, write: bool) -> bool {
        // What is refused in the project is refused for reasons that no grant for a path changes.
        path.starts_with(self.root.path())
            || self
                .places
                .iter()
                .any(|(place, writable)| (*writable || !write) && path.starts_with(place))
    }

    fn may_be_granted(&self, path: &Path, write: bool) -> bool {
        self.root.never_granted(path, write).is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grant_helps_only_where_nothing_is_reached() {
        let place = tempfile::tempdir().unwrap();
        let root = ProjectRoot::open(place.path()).unwrap();
        let inside = root.path().join("src/x");
        let reached = Reached {
            root,
            places: vec![("/usr".into(), false), ("/srv/data".into(), true)],
        };
        let of = |path: &str, write| reached.is_reachable(Path::new(path), write);
        assert!(reached.is_reachable(&inside, true));
        assert!(of("/usr/lib/x", false) && !of("/usr/lib/x", true));
        assert!(of("/srv/data/x", true) && !of("/srv/database", false));
        assert!(!of("/", false));
    }
}
