//! After a command: what it left in the project that would run later outside of the sandbox is moved to the state folder.
//! What existed before was read-only for the command; so whatever of that kind is there now and was not before is new.
//! No git is run here, and no link is followed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::end::Quarantined;
use super::gitconfig::{hooks_path, without_programs};
use super::kept::Kept;
use super::quarantine;
use super::slot::private_folder;
use super::spec::StateDir;
use crate::root::inventory::Inventory;
use crate::{Kind, PathError, ProjectRoot, RelativePath, WriteMode};

const MAX_FILE: u64 = 16 * 1024 * 1024;
const MAX_SETTINGS: u64 = 1024 * 1024;
const MAX_FILES: usize = 2_000;

/// Files of a repository that git takes programs or other places from.
pub(crate) const GUARDED: &[&str] = &[
    "hooks",
    "config",
    "config.worktree",
    "info/attributes",
    "commondir",
];

/// The file of a guard while its command runs.
const KEPT: &str = "guard.json";

/// What a command must not change, as it was before it ran.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Guard {
    /// Repositories, which cannot be moved or removed.
    pub(crate) pinned: Vec<RelativePath>,
    /// Existing files and folders, which are read-only.
    pub(crate) protected: Vec<RelativePath>,
    pub(crate) secrets: Vec<RelativePath>,
    /// What agents and login shells go by. Ordinary work with git changes such files, so they are brought back after the
    /// command instead of being read-only for it.
    guides: Vec<RelativePath>,
    #[serde(skip)]
    content_of_guides: Kept,
    since_ns: i128,
}

impl Guard {
    /// Looks at the project before a command.
    pub(crate) fn of(root: &ProjectRoot) -> Self {
        let since = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |time| time.as_nanos());
        // Times in file systems are those of the last clock tick.
        let since_ns = i128::try_from(since).unwrap_or(0) - 50_000_000;
        let Inventory {
            repositories,
            pointers,
            settings,
            secrets,
            guides,
        } = root.inventory();
        let mut protected: Vec<RelativePath> = repositories
            .iter()
            .flat_map(|repository| GUARDED.iter().filter_map(|name| repository.join(name).ok()))
            .filter(|path| root.exists(path))
            .collect();
        protected.extend(
            repositories
                .iter()
                .filter_map(|repository| hooks_folder(root, repository)),
        );
        protected.extend(pointers);
        protected.extend(settings);
        Self {
            pinned: repositories,
            protected,
            secrets,
            content_of_guides: Kept::of(root, &guides),
            guides,
            since_ns,
        }
    }

    /// Keeps what was seen beside the caches of a command, in case Paddock dies before it can look again.
    pub(crate) fn keep(&self, slot: &Path) -> std::io::Result<()> {
        std::fs::write(slot.join(KEPT), serde_json::to_vec(self)?)
    }

    /// What was kept here, when the look after a command is still due.
    pub(crate) fn kept(slot: &Path) -> Option<Self> {
        serde_json::from_slice(&std::fs::read(slot.join(KEPT)).ok()?).ok()
    }

    /// The look after a command was done.
    pub(crate) fn forget(slot: &Path) {
        let _ = std::fs::remove_file(slot.join(KEPT));
    }

    /// Looks at the project after a command and moves away what is new and would run later.
    pub(crate) fn audit(&self, root: &ProjectRoot, state: &StateDir) -> Vec<Quarantined> {
        let now = root.inventory();
        let known: BTreeSet<&RelativePath> = self.protected.iter().collect();
        let mut room = Room::at(root, state);
        let is_new = |path: &RelativePath| {
            !known.contains(path)
                && root
                    .link_metadata(path)
                    .is_ok_and(|found| found.changed_ns >= self.since_ns)
        };
        for path in now.settings.iter().filter(|path| is_new(path)) {
            room.take_foreign(
                path,
                "Editors and shells run what is in it when the project is opened.",
            );
        }
        // After a crash their content is not known: what changed since is moved away.
        let unknown = self.content_of_guides.is_empty();
        for path in now.guides.iter().filter(|path| is_new(path)) {
            if unknown || !self.guides.contains(path) {
                room.take_foreign(path, "Agents or login shells go by it.");
            }
        }
        for path in now.pointers.iter().filter(|path| is_new(path)) {
            if !points_into(root, path, &now.repositories) {
                room.take(path, "It makes git use a repository from another place.");
            }
        }
        for repository in &now.repositories {
            if repository.is_root()
                && !self.pinned.contains(repository)
                && let Ok(head) = repository.join("HEAD")
            {
                room.take(
                    &head,
                    "It made git take the project folder itself for a repository.",
                );
                continue;
            }
            self.audit_repository(root, repository, &is_new, &mut room);
        }
        let mut moved = room.moved;
        moved.extend(self.content_of_guides.restore(root, state));
        moved
    }

    fn audit_repository(
        &self,
        root: &ProjectRoot,
        repository: &RelativePath,
        is_new: &dyn Fn(&RelativePath) -> bool,
        room: &mut Room<'_>,
    ) {
        let inside = |name: &str| repository.join(name).ok();
        if let Some(hooks) = inside("hooks").filter(|hooks| !self.protected.contains(hooks)) {
            for entry in root.read_dir(&hooks).unwrap_or_default() {
                let hook = hooks
                    .join(&entry.name)
                    .ok()
                    .filter(|_| !entry.name.ends_with(".sample"));
                if let Some(hook) = hook.filter(|hook| is_new(hook)) {
                    room.take(&hook, "Git runs it by itself.");
                }
            }
            if root
                .link_metadata(&hooks)
                .is_ok_and(|found| found.kind == Kind::Link)
            {
                room.take(&hooks, "Git runs what is in it by itself.");
            }
        }
        for name in ["config", "config.worktree"] {
            if let Some(path) = inside(name).filter(|path| is_new(path)) {
                room.cut_programs(&path);
            }
        }
        let is_worktree = repository
            .parent()
            .and_then(|parent| parent.file_name().map(|name| name == "worktrees"));
        if is_worktree != Some(true)
            && let Some(path) = inside("commondir").filter(|path| is_new(path))
        {
            room.take(&path, "It makes git use the settings of another place.");
        }
    }
}

/// The folder of an existing `core.hooksPath` in the project.
fn hooks_folder(root: &ProjectRoot, repository: &RelativePath) -> Option<RelativePath> {
    let text = root.read(&repository.join("config").ok()?, MAX_SETTINGS).ok()?;
    let value = hooks_path(&String::from_utf8_lossy(&text))?;
    let work = repository.parent().unwrap_or_else(RelativePath::root);
    let path = if Path::new(&value).is_absolute() {
        root.relative(&value)
    } else {
        work.join(&value)
    };
    path.ok().filter(|path| !path.is_root() && root.exists(path))
}

/// Whether a `.git` file names a repository that lies in this project and was found there.
fn points_into(root: &ProjectRoot, pointer: &RelativePath, repositories: &[RelativePath]) -> bool {
    let Ok(text) = root.read(pointer, 4096) else {
        return false;
    };
    let text = String::from_utf8_lossy(&text);
    let Some(target) = text.trim().strip_prefix("gitdir:").map(str::trim) else {
        return false;
    };
    let folder = pointer.parent().unwrap_or_else(RelativePath::root);
    let path = if Path::new(target).is_absolute() {
        root.relative(target)
    } else {
        folder.join(target)
    };
    path.is_ok_and(|path| repositories.contains(&path))
}

/// The quarantine of one run; its folder is made when the first thing comes in.
pub(super) struct Room<'a> {
    pub(super) root: ProjectRoot,
    folder: Option<(String, PathBuf)>,
    state: &'a StateDir,
    pub(super) moved: Vec<Quarantined>,
}

impl<'a> Room<'a> {
    pub(super) fn at(root: &ProjectRoot, state: &'a StateDir) -> Self {
        Self {
            root: root.with_git_internals(),
            folder: None,
            state,
            moved: Vec::new(),
        }
    }

    /// Moves a file or folder here, but for what Paddock itself wrote while the command ran. That is written once more: a
    /// command may have made another name for the same file.
    fn take_foreign(&mut self, path: &RelativePath, reason: &str) {
        let kind = self.root.link_metadata(path).map(|found| found.kind);
        if matches!(kind, Ok(Kind::Folder)) && self.root.wrote_below(path) {
            for entry in self.root.read_dir(path).unwrap_or_default() {
                match path.join(&entry.name) {
                    Ok(inner) => self.take_foreign(&inner, reason),
                    // A name that cannot be addressed goes with its folder.
                    Err(_) => return self.take(path, reason),
                }
            }
            return;
        }
        let own = matches!(kind, Ok(Kind::File))
            && self.root.read(path, MAX_FILE).is_ok_and(|bytes| {
                self.root.wrote(path, &bytes) && self.root.write(path, &bytes, WriteMode::Replace).is_ok()
            });
        if !own {
            self.take(path, reason);
        }
    }

    /// Moves a file or folder here. What cannot be kept is removed all the same: it must not stay.
    pub(super) fn take(&mut self, path: &RelativePath, reason: &str) {
        let kept_as = self.kept_as(path);
        let is_folder = self
            .root
            .link_metadata(path)
            .is_ok_and(|found| found.kind == Kind::Folder);
        let removed = if is_folder {
            self.root.remove_folder(path)
        } else {
            self.root.remove_file(path)
        };
        let reason = match removed {
            Ok(()) => reason.to_owned(),
            Err(_) => {
                format!("{reason} It could not be removed: remove it before you use git or an editor here.")
            }
        };
        self.note(Quarantined {
            path: path.to_string(),
            kept_as,
            reason,
        });
    }

    /// Adds it to what is told of this run, now and later.
    fn note(&mut self, one: Quarantined) {
        self.moved.push(one);
        // What cannot be listed was moved all the same, and is told at the end of the command.
        if let Ok((run, _)) = self.run_folder() {
            let _ = quarantine::note(self.state, &run, &self.moved);
        }
    }

    /// Cuts the settings that name programs out of a file; the whole file is kept here.
    fn cut_programs(&mut self, path: &RelativePath) {
        let Ok(bytes) = self.root.read(path, MAX_SETTINGS) else {
            return self.take(path, "Git takes programs to run from it.");
        };
        let (kept, cut) = without_programs(&String::from_utf8_lossy(&bytes));
        if cut == 0 {
            return;
        }
        let kept_as = self.kept_as(path);
        match self.root.write(path, kept.as_bytes(), WriteMode::Replace) {
            Ok(()) => self.note(Quarantined {
                path: path.to_string(),
                kept_as,
                reason: format!("{cut} lines that may name programs for git to run were cut out of it."),
            }),
            Err(_) => self.take(path, "Git takes programs to run from it."),
        }
    }

    /// Copies something here; its name in the quarantine, also where it could not be kept.
    fn kept_as(&mut self, path: &RelativePath) -> String {
        if let Ok(kept_as) = self.keep(path, &mut 0) {
            return kept_as;
        }
        let run = self.run_folder().map(|(run, _)| run).unwrap_or_default();
        format!("{run}/{path}")
    }

    /// Copies something here; where it is, relative to the quarantine folder.
    fn keep(&mut self, path: &RelativePath, count: &mut usize) -> Result<String, PathError> {
        let io = |source| PathError::Io {
            path: path.clone(),
            source,
        };
        let (run, folder) = self.run_folder().map_err(io)?;
        let target = folder.join(path.as_str());
        let found = self.root.link_metadata(path)?;
        *count += 1;
        match found.kind {
            Kind::Folder if *count < MAX_FILES => {
                std::fs::create_dir_all(&target).map_err(io)?;
                for entry in self.root.read_dir(path)? {
                    // The first one that cannot be kept does not lose the others.
                    let _ = path.join(&entry.name).and_then(|inner| self.keep(&inner, count));
                }
            }
            Kind::File if *count < MAX_FILES => {
                let bytes = self.root.read(path, MAX_FILE)?;
                if let Some(parent) = target.parent() {
                    std::fs::create_dir_all(parent).map_err(io)?;
                }
                std::fs::write(&target, bytes).map_err(io)?;
                #[cfg(unix)]
                if found.mode & 0o111 != 0 {
                    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
                    std::fs::set_permissions(&target, mode).map_err(io)?;
                }
            }
            _ => {}
        }
        Ok(format!("{run}/{path}"))
    }

    fn run_folder(&mut self) -> std::io::Result<(String, PathBuf)> {
        if let Some(folder) = &self.folder {
            return Ok(folder.clone());
        }
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |time| time.as_millis());
        private_folder(&self.state.quarantine())?;
        // Two looks may come in the same moment; each has a folder of its own.
        for number in 0_u32.. {
            let run = format!("{now}-{}-{number}", std::process::id());
            let path = self.state.quarantine().join(&run);
            match std::fs::create_dir(&path) {
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                made => {
                    made?;
                    self.folder = Some((run.clone(), path.clone()));
                    return Ok((run, path));
                }
            }
        }
        Err(std::io::ErrorKind::AlreadyExists.into())
    }
}
