//! What of a project needs care around a command: repositories (also nested ones and submodules), files of editors and
//! agents' settings, secrets. Found by a walk that is bounded, breadth first and follows no link.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};

use super::protection::{EDITOR_NAMES, ProtectionKind, fold, protection_of};
use super::relative::RelativePath;
use super::{Folder, Kind, ProjectRoot};

const MAX_FOLDERS: usize = 2_000;
const MAX_ENTRIES: usize = 40_000;
const MAX_DEPTH: usize = 12;
/// Folders of tools with many files, where nobody works with git by hand.
const SKIPPED: &[&str] = &[
    "node_modules",
    "target",
    ".venv",
    "venv",
    "__pycache__",
    ".tox",
    "dist",
    "build",
    ".cache",
];
/// Settings that git reads from a linked repository or a submodule live below these folders of a repository.
const NESTED: &[&str] = &["modules", "worktrees"];

/// What was found; sorted by path as the walk goes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Inventory {
    /// Folders that git takes for a repository: `.git` folders, those of submodules and worktrees in them, bare layouts.
    pub(crate) repositories: Vec<RelativePath>,
    /// `.git` files, which point to a repository elsewhere.
    pub(crate) pointers: Vec<RelativePath>,
    /// Files and folders that editors, shells or Paddock take settings from.
    pub(crate) settings: Vec<RelativePath>,
    pub(crate) secrets: Vec<RelativePath>,
    /// Files and folders that tell agents how to behave, and scripts that run at a login.
    pub(crate) guides: Vec<RelativePath>,
}

impl ProjectRoot {
    /// Walks the project. What cannot be read is left out.
    pub(crate) fn inventory(&self) -> Inventory {
        let mut found = Inventory::default();
        let Ok(top) = self.tree().folder(&RelativePath::root()) else {
            return found;
        };
        let mut waiting = VecDeque::from([(top, 0)]);
        let (mut folders, mut seen) = (0, 0);
        while let Some((folder, depth)) = waiting.pop_front() {
            folders += 1;
            if folders > MAX_FOLDERS || seen > MAX_ENTRIES {
                break;
            }
            let Ok(entries) = folder.entries(MAX_ENTRIES) else {
                continue;
            };
            seen += entries.len();
            if is_repository(&entries) {
                found.repositories.push(folder.place.clone());
            }
            for (name, kind) in &entries {
                let inner = found.note(&folder, name, *kind);
                let skipped = name.to_str().is_some_and(|name| SKIPPED.contains(&name));
                if inner
                    && !skipped
                    && depth < MAX_DEPTH
                    && let Ok(inner) = folder.subfolder(name)
                {
                    waiting.push_back((inner, depth + 1));
                }
            }
        }
        found
    }
}

impl Inventory {
    /// Notes one entry; whether it is a folder to look into.
    fn note(&mut self, folder: &Folder, name: &OsStr, kind: Kind) -> bool {
        let text = name.to_string_lossy();
        let path = folder.place.child(&text);
        let known = known_as(&text);
        if known == ".git" {
            match kind {
                Kind::Folder => self.note_repository(folder, name),
                _ => self.pointers.push(path),
            }
            return false;
        }
        let is_settings = EDITOR_NAMES.contains(&&*known) || folder.place.is_root() && known == ".paddock";
        if is_settings {
            self.settings.push(path);
            return false;
        }
        // Only the own name counts here: a folder of secrets is noted file by file.
        let secret =
            protection_of(path.components()).is_some_and(|found| found.kind == ProtectionKind::SecretFile);
        if secret && kind == Kind::File {
            self.secrets.push(path);
            return false;
        }
        if is_guide(&text) {
            self.guides.push(path);
            return false;
        }
        kind == Kind::Folder
    }

    fn note_repository(&mut self, folder: &Folder, name: &OsStr) {
        let Ok(repository) = folder.subfolder(name) else {
            return;
        };
        self.repositories.push(repository.place.clone());
        let mut waiting: VecDeque<(Folder, usize)> = NESTED
            .iter()
            .filter_map(|name| Some((repository.subfolder(OsStr::new(name)).ok()?, 0)))
            .collect();
        while let Some((folder, depth)) = waiting.pop_front() {
            let Ok(entries) = folder.entries(MAX_ENTRIES) else {
                continue;
            };
            let names: Vec<&OsString> = entries.iter().map(|(name, _)| name).collect();
            if names.iter().any(|name| is_same(name, "HEAD")) {
                self.repositories.push(folder.place.clone());
            }
            let inner = entries
                .iter()
                .filter(|(name, kind)| *kind == Kind::Folder && !is_plumbing(name));
            for (name, _) in inner {
                if depth < MAX_DEPTH
                    && let Ok(inner) = folder.subfolder(name)
                {
                    waiting.push_back((inner, depth + 1));
                }
            }
        }
    }
}

/// Whether agents or login shells go by what has this name.
fn is_guide(name: &str) -> bool {
    protection_of(std::iter::once(name)).is_some_and(|found| {
        matches!(
            found.kind,
            ProtectionKind::AgentInstructions | ProtectionKind::LoginScript
        )
    })
}

/// The name as programs look for it: where the file system takes several spellings for one, the usual one.
fn known_as(name: &str) -> Cow<'_, str> {
    if cfg!(target_os = "linux") {
        name.into()
    } else {
        fold(name).into()
    }
}

fn is_plumbing(name: &OsStr) -> bool {
    name.to_str()
        .is_some_and(|name| matches!(name, "objects" | "refs" | "logs" | "hooks" | "info" | "branches"))
}

/// Whether a name is this one for the file system.
fn is_same(name: &OsStr, other: &str) -> bool {
    if cfg!(target_os = "linux") {
        name == other
    } else {
        name.eq_ignore_ascii_case(other)
    }
}

/// Whether git would take a folder with these entries for a bare repository.
fn is_repository(entries: &[(OsString, Kind)]) -> bool {
    let has = |name: &str, folder: bool| {
        entries.iter().any(|(other, kind)| {
            is_same(other, name) && (*kind == Kind::Folder || *kind == Kind::Link || !folder)
        })
    };
    has("HEAD", false) && (has("objects", true) && has("refs", true) || has("commondir", false))
}
