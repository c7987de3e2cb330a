//! The content of what a command must not change, for confinement that cannot keep it from that: compared after the command
//! and brought back. Between the change and the end of the command it stands there; the facts of such a tier say so.

use std::collections::BTreeMap;

use super::audit::Room;
use super::end::Quarantined;
use super::spec::StateDir;
use crate::{Kind, ProjectRoot, RelativePath};

const MAX_FILE: u64 = 4 * 1024 * 1024;
const MAX_BYTES: u64 = 64 * 1024 * 1024;
const MAX_ENTRIES: usize = 5_000;

/// What lay at protected paths before a command.
#[derive(Debug, Clone, Default)]
pub(crate) struct Kept {
    places: Vec<RelativePath>,
    entries: BTreeMap<RelativePath, Entry>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Entry {
    Folder,
    File {
        bytes: Vec<u8>,
        mode: u32,
    },
    /// A link, or a file too large to be kept: its size and the time of its last change are compared.
    Other {
        size: u64,
        changed_ns: i128,
    },
}

impl Kept {
    /// Looks at the places and all below them, as far as that is bounded.
    pub(crate) fn of(root: &ProjectRoot, places: &[RelativePath]) -> Self {
        Self {
            places: places.to_vec(),
            entries: read(root, places),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Moves away what is there now and was not, and brings back what was; what Paddock itself wrote meanwhile stays.
    pub(crate) fn restore(&self, root: &ProjectRoot, state: &StateDir) -> Vec<Quarantined> {
        let now = read(root, &self.places);
        let mut room = Room::at(root, state);
        let own = |path: &RelativePath| matches!(now.get(path), Some(Entry::File { bytes, .. }) if root.wrote(path, bytes));
        for (path, entry) in &now {
            if own(path) {
                continue;
            }
            let reason = match self.entries.get(path) {
                Some(before) if before == entry => continue,
                Some(_) => "It must not be changed by commands; what it was before was brought back.",
                None => "It appeared in a place that commands must not change.",
            };
            // What was in a folder that went away goes with it.
            if room.root.link_metadata(path).is_ok() {
                room.take(path, reason);
            }
        }
        for (path, entry) in &self.entries {
            if now.get(path) == Some(entry) || own(path) {
                continue;
            }
            // What cannot be brought back was moved away at least, or never was content.
            let _ = match entry {
                Entry::Folder => room.root.create_folder(path),
                Entry::File { bytes, mode } => room.root.restore(path, bytes, Some(*mode)),
                Entry::Other { .. } => Ok(()),
            };
        }
        room.moved
    }
}

fn read(root: &ProjectRoot, places: &[RelativePath]) -> BTreeMap<RelativePath, Entry> {
    let mut entries = BTreeMap::new();
    let mut waiting = places.to_vec();
    let mut left = MAX_BYTES;
    while let Some(path) = waiting.pop() {
        let Ok(found) = root.link_metadata(&path) else {
            continue;
        };
        if entries.len() == MAX_ENTRIES {
            break;
        }
        let other = Entry::Other {
            size: found.size,
            changed_ns: found.changed_ns,
        };
        let entry = match found.kind {
            Kind::Folder => {
                let inner = root.read_dir(&path).unwrap_or_default();
                waiting.extend(inner.iter().filter_map(|entry| path.join(&entry.name).ok()));
                Entry::Folder
            }
            Kind::File if found.size <= MAX_FILE.min(left) => match root.read(&path, MAX_FILE) {
                Ok(bytes) => {
                    left = left.saturating_sub(found.size);
                    Entry::File {
                        bytes,
                        mode: found.mode & 0o777,
                    }
                }
                Err(_) => other,
            },
            _ => other,
        };
        entries.insert(path, entry);
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_there_comes_back() {
        let place = tempfile::tempdir().unwrap();
        let project = place.path().join("project");
        std::fs::create_dir_all(project.join(".git/hooks")).unwrap();
        for (name, text) in [
            ("config", "mine"),
            ("hooks/pre-commit", "mine"),
            ("hooks/other", "same"),
        ] {
            std::fs::write(project.join(".git").join(name), text).unwrap();
        }
        let root = ProjectRoot::open(&project).unwrap();
        let path = |text: &str| root.relative(text).unwrap();
        let kept = Kept::of(&root, &[path(".git/hooks"), path(".git/config")]);
        let state = StateDir::new(place.path().join("state"));
        assert!(kept.restore(&root, &state).is_empty());

        std::fs::remove_file(project.join(".git/config")).unwrap();
        std::fs::write(project.join(".git/hooks/pre-commit"), "evil").unwrap();
        std::fs::write(project.join(".git/hooks/new"), "evil").unwrap();
        let moved = kept.restore(&root, &state);
        let mut names: Vec<_> = moved.iter().map(|moved| moved.path.as_str()).collect();
        names.sort_unstable();
        assert_eq!(names, [".git/hooks/new", ".git/hooks/pre-commit"]);
        let read = |name: &str| std::fs::read_to_string(project.join(".git").join(name)).ok();
        assert_eq!(read("config").as_deref(), Some("mine"));
        assert_eq!(read("hooks/pre-commit").as_deref(), Some("mine"));
        assert_eq!(read("hooks/other").as_deref(), Some("same"));
        assert_eq!(read("hooks/new"), None);

        std::fs::rename(project.join(".git/hooks"), project.join("away")).unwrap();
        std::os::unix::fs::symlink("../away", project.join(".git/hooks")).unwrap();
        assert_eq!(kept.restore(&root, &state).len(), 1);
        assert!(
            !std::fs::symlink_metadata(project.join(".git/hooks"))
                .unwrap()
                .is_symlink()
        );
        assert_eq!(read("hooks/pre-commit").as_deref(), Some("mine"));
    }
}
