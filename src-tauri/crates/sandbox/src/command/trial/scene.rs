//! Where the fence is tried: a folder of its own with a project, a place beside it, and what is planted there.

use std::io;
use std::path::PathBuf;

#[cfg(unix)]
use super::Start;
#[cfg(unix)]
use crate::ProjectRoot;
#[cfg(unix)]
use crate::command::{CommandEnd, CommandSpec, SandboxError, StateDir};

/// A folder in the temporary one, for this account alone, removed at the end. It was made here, so it may be removed.
pub(crate) struct TrialFolder(pub(crate) PathBuf);

impl TrialFolder {
    pub(crate) fn make() -> io::Result<Self> {
        let path = std::env::temp_dir().join(format!("paddock-trial-{}", marker()));
        #[cfg_attr(not(unix), allow(unused_mut, reason = "only Unix has a mode to set"))]
        let mut builder = std::fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&path)?;
        // Removed by the path that it really has, whatever happens to links on the way there.
        Ok(Self(path.canonicalize().unwrap_or(path)))
    }
}

impl Drop for TrialFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Text that nothing else holds.
pub(super) fn marker() -> String {
    use std::sync::atomic::{AtomicU32, Ordering};
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |time| time.as_nanos());
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("{:x}-{now:x}-{count:x}", std::process::id())
}

/// The world of the trials.
#[cfg(unix)]
pub(super) struct Scene<'a> {
    start: Start<'a>,
    pub(super) root: ProjectRoot,
    pub(super) outside: PathBuf,
    /// Paddock's own data of this machine.
    pub(super) own_data: PathBuf,
    state: StateDir,
    _folder: TrialFolder,
}

/// What a command of a trial did.
#[cfg(unix)]
pub(super) struct Done {
    pub(super) end: CommandEnd,
    pub(super) said: String,
}

#[cfg(unix)]
impl<'a> Scene<'a> {
    pub(super) fn set(start: Start<'a>, own: &StateDir) -> io::Result<Self> {
        let folder = TrialFolder::make()?;
        let (project, outside) = (folder.0.join("project"), folder.0.join("outside"));
        std::fs::create_dir(&project)?;
        std::fs::create_dir(&outside)?;
        Ok(Self {
            start,
            root: ProjectRoot::open(&project).map_err(io::Error::other)?,
            outside,
            own_data: own.path().to_owned(),
            state: StateDir::new(folder.0.join("state")),
            _folder: folder,
        })
    }

    pub(super) fn spec(&self, line: &str) -> CommandSpec {
        let mut spec = CommandSpec::shell(self.root.clone(), self.state.clone(), line);
        spec.time_limit = Some(std::time::Duration::from_secs(3));
        spec.streams = crate::command::Streams::Together;
        spec.output_limit = 1024 * 1024;
        spec
    }

    /// Runs a command to its end.
    pub(super) fn run(&self, spec: CommandSpec) -> Result<Done, SandboxError> {
        let (sink, mut output) = tokio::sync::mpsc::channel(16);
        let running = (self.start)(spec, sink)?;
        let mut said = Vec::new();
        while let Ok(chunk) = output.try_recv().or_else(|_| output.blocking_recv().ok_or(())) {
            said.extend_from_slice(&chunk.bytes);
        }
        Ok(Done {
            end: running.wait_blocking(),
            said: String::from_utf8_lossy(&said).into_owned(),
        })
    }
}
