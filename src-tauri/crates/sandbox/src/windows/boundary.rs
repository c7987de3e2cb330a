//! Which entries a command needs on which files, so that it can change its project and its private folders and nothing
//! else. Pure: what is looked at and written is done elsewhere.

use std::path::PathBuf;

use super::acl::{ANY_CHANGE, CHANGE, Entry, MOVE};
use super::sid;
use crate::RelativePath;
use crate::command::audit::{GUARDED, Guard};

/// What a command may change, and the entries that say so.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Boundary {
    /// The identities that the command's token names.
    pub(super) identities: Vec<String>,
    pub(super) needs: Vec<Need>,
}

/// The entries of an identity on one file or folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Need {
    pub(super) path: PathBuf,
    pub(super) identity: String,
    pub(super) entries: Vec<Entry>,
}

impl Boundary {
    /// A place that may be changed with everything below, but neither moved nor removed itself.
    pub(super) fn add_place(&mut self, path: &str) -> String {
        let identity = sid::of_place(path);
        let entries = vec![
            Entry {
                allows: true,
                rights: CHANGE,
                inherited: true,
            },
            Entry {
                allows: false,
                rights: MOVE,
                inherited: false,
            },
        ];
        self.needs.push(Need {
            path: path.into(),
            identity: identity.clone(),
            entries,
        });
        self.identities.push(identity.clone());
        identity
    }

    /// A project: what is guarded in it stays as it is, and the folders above that stay where they are. Refusals of a
    /// place are listed after its permission, and stand before it in the lists that they become.
    pub(super) fn add_project(&mut self, path: &str, guard: &Guard, git_internals: bool) {
        let identity = self.add_place(path);
        let mut guarded: Vec<RelativePath> = guard.secrets.clone();
        let mut kept: Vec<RelativePath> = Vec::new();
        if git_internals {
            guarded.extend(
                guard
                    .protected
                    .iter()
                    .filter(|path| is_own_settings(path))
                    .cloned(),
            );
        } else {
            guarded.extend(guard.protected.iter().cloned());
            guarded.extend(
                guard
                    .pinned
                    .iter()
                    .flat_map(|repository| GUARDED.iter().filter_map(|name| repository.join(name).ok())),
            );
            kept.extend(guard.pinned.iter().cloned());
        }
        for path in &guarded {
            kept.extend(std::iter::successors(path.parent(), RelativePath::parent));
        }
        guarded.sort();
        guarded.dedup();
        kept.sort();
        kept.dedup();
        kept.retain(|path| !path.is_root() && !guarded.contains(path));
        let below = |inner: &RelativePath| {
            let mut whole = PathBuf::from(path);
            whole.extend(inner.components());
            whole
        };
        let mut refuse = |inner: &RelativePath, rights: u32, inherited: bool| {
            self.needs.push(Need {
                path: below(inner),
                identity: identity.clone(),
                entries: vec![Entry {
                    allows: false,
                    rights,
                    inherited,
                }],
            });
        };
        for inner in &guarded {
            refuse(inner, ANY_CHANGE, true);
        }
        for inner in &kept {
            refuse(inner, MOVE, false);
        }
    }
}

fn is_own_settings(path: &RelativePath) -> bool {
    path.components().next() == Some(".paddock")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ProjectRoot;

    fn guard(names: &[&str]) -> (tempfile::TempDir, Guard) {
        let place = tempfile::tempdir().unwrap();
        for name in names {
            let path = place.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        let root = ProjectRoot::open(place.path()).unwrap();
        (place, Guard::of(&root))
    }

    const PROJECT: [&str; 4] = [".git/HEAD", ".git/config", ".env", ".paddock/settings.toml"];

    fn need<'a>(boundary: &'a Boundary, inner: &str) -> Option<&'a Need> {
        let mut path = PathBuf::from(r"C:\p");
        path.extend(inner.split('/'));
        boundary.needs.iter().find(|need| need.path == path)
    }

    #[test]
    fn what_is_protected_is_refused_by_the_projects_own_identity() {
        let (_place, guard) = guard(&PROJECT);
        let mut boundary = Boundary::default();
        boundary.add_place(r"C:\state\own");
        boundary.add_project(r"C:\p", &guard, false);
        let identity = sid::of_place(r"C:\p");
        assert_eq!(
            boundary.identities,
            [sid::of_place(r"C:\state\own"), identity.clone()]
        );
        for name in [
            ".git/config",
            ".git/hooks",
            ".git/commondir",
            ".git/info/attributes",
            ".paddock",
            ".env",
        ] {
            let need = need(&boundary, name).unwrap();
            assert_eq!(need.identity, identity);
            assert_eq!(
                need.entries,
                [Entry {
                    allows: false,
                    rights: ANY_CHANGE,
                    inherited: true
                }],
                "{name}"
            );
        }
        for name in [".git", ".git/info"] {
            let entries = &need(&boundary, name).unwrap().entries;
            assert_eq!(
                entries,
                &[Entry {
                    allows: false,
                    rights: MOVE,
                    inherited: false
                }],
                "{name}"
            );
        }
    }

    #[test]
    fn a_place_cannot_be_moved_away_by_who_may_change_it() {
        let mut boundary = Boundary::default();
        boundary.add_place(r"C:\state\own");
        let entries = &boundary.needs[0].entries;
        assert!(
            entries
                .iter()
                .any(|entry| entry.allows && entry.inherited && entry.rights == CHANGE)
        );
        assert!(
            entries
                .iter()
                .any(|entry| !entry.allows && !entry.inherited && entry.rights == MOVE)
        );
    }

    #[test]
    fn a_granted_repository_leaves_paddocks_own_settings_guarded() {
        let (_place, guard) = guard(&PROJECT);
        let mut boundary = Boundary::default();
        boundary.add_project(r"C:\p", &guard, true);
        assert!(need(&boundary, ".git/config").is_none() && need(&boundary, ".git").is_none());
        assert!(need(&boundary, ".paddock").is_some() && need(&boundary, ".env").is_some());
    }
}
