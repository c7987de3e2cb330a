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
/// Folders of tools with many files. They are looked into last, for secrets and repositories only and within a budget of
/// their own: what lies deeper than that, or beyond it, is not found.
const CROWDED: &[&str] = &[
    "node_modules",
    "target",
    ".venv",
    "venv",
    "__pycache__",
    ".tox",
    "dist",
    "build",
    ".cache",
    "vendor",
];
const MAX_CROWDED_FOLDERS: usize = 300;
const MAX_CROWDED_ENTRIES: usize = 6_000;
/// Packages lie one or two folders below.
const MAX_CROWDED_DEPTH: usize = 2;
/// Packages bring such files along for everybody to read: certificates, keys of tests.
const PUBLIC_ENDINGS: &[&str] = &[".pem", ".key", ".p12", ".pfx", ".jks", ".keystore"];
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
        let mut crowded = VecDeque::new();
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
                if inner
                    && depth < MAX_DEPTH
                    && let Ok(inner) = folder.subfolder(name)
                {
                    if is_crowded(name) {
                        crowded.push_back((inner, 0));
                    } else {
                        waiting.push_back((inner, depth + 1));
                    }
                }
            }
        }
        found.look_into_crowded(crowded);
        found
    }
}

fn is_crowded(name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| CROWDED.contains(&name))
}

impl Inventory {
    /// Settings of editors and guides for agents in there belong to packages: nobody opens those folders with an editor.
    fn look_into_crowded(&mut self, mut waiting: VecDeque<(Folder, usize)>) {
        let (mut folders, mut seen) = (0, 0);
        while let Some((folder, depth)) = waiting.pop_front() {
            folders += 1;
            if folders > MAX_CROWDED_FOLDERS || seen > MAX_CROWDED_ENTRIES {
                return;
            }
            let Ok(entries) = folder.entries(MAX_CROWDED_ENTRIES) else {
                continue;
            };
            seen += entries.len();
            for (name, kind) in &entries {
                let mut of_package = Inventory::default();
                let inner = of_package.note(&folder, name, *kind);
                self.repositories.append(&mut of_package.repositories);
                self.pointers.append(&mut of_package.pointers);
                let secrets = of_package.secrets.drain(..);
                self.secrets.extend(secrets.filter(|path| !is_of_package(path)));
                if inner
                    && depth < MAX_CROWDED_DEPTH
                    && let Ok(inner) = folder.subfolder(name)
                {
                    waiting.push_back((inner, depth + 1));
                }
            }
        }
    }

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

fn is_of_package(path: &RelativePath) -> bool {
    let name = path.file_name().map(str::to_lowercase).unwrap_or_default();
    PUBLIC_ENDINGS.iter().any(|ending| name.ends_with(ending))
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

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[&str]) -> (Vec<String>, Vec<String>) {
        let place = tempfile::tempdir().unwrap();
        for file in files {
            let path = place.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "x").unwrap();
        }
        let root = ProjectRoot::open(place.path()).unwrap();
        let found = root.inventory();
        let texts = |paths: &[RelativePath]| {
            let mut texts: Vec<_> = paths.iter().map(ToString::to_string).collect();
            texts.sort_unstable();
            texts
        };
        (texts(&found.secrets), texts(&found.repositories))
    }

    #[test]
    fn secrets_and_repositories_in_folders_of_tools_are_found_too() {
        let (secrets, repositories) = found(&[
            "dist/.env",
            "node_modules/own/.npmrc",
            "node_modules/@scope/own/.env.local",
            "node_modules/tls/test/server.key",
            "node_modules/tls/roots.pem",
            "server.key",
            "vendor/lib/.git/HEAD",
            "node_modules/lib/AGENTS.md",
        ]);
        assert_eq!(
            secrets,
            [
                "dist/.env",
                "node_modules/@scope/own/.env.local",
                "node_modules/own/.npmrc",
                "server.key"
            ]
        );
        assert_eq!(repositories, ["vendor/lib/.git"]);
    }

    #[test]
    fn a_crowd_of_packages_costs_nothing_of_the_rest() {
        let packages: Vec<String> = (0..400)
            .map(|at| format!("node_modules/p{at:03}/index.js"))
            .collect();
        let mut files: Vec<&str> = packages.iter().map(String::as_str).collect();
        files.extend(["src/deep/deeper/.env", "node_modules/.env"]);
        assert_eq!(found(&files).0, ["node_modules/.env", "src/deep/deeper/.env"]);
    }
}
