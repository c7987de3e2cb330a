//! Git folders among the places that a person allowed outside of the project. A linked worktree works with the repository
//! it belongs to; what it may change there is only what git itself changes for it. And in every repository outside, what
//! makes git run programs stays as it is.

use std::fs;
use std::path::{Path, PathBuf};

use super::PathGrant;
use super::audit::GUARDED;
use crate::{Kind, ProjectRoot};

const MAX_POINTER: u64 = 4096;
const MAX_SETTINGS: u64 = 1024 * 1024;
/// What git writes in the folder that all worktrees share.
const SHARED: &[&str] = &["objects", "refs", "logs"];
/// What in the worktree's own folder leads git to other settings.
const LEADING: &[&str] = &["commondir", "gitdir", WORKTREE_SETTINGS];
const WORKTREE_SETTINGS: &str = "config.worktree";

/// The git folders of a project that is a linked worktree of a repository elsewhere; real paths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LinkedWorktree {
    /// What belongs to this worktree alone.
    own: PathBuf,
    /// What all worktrees share.
    pub(crate) common: PathBuf,
}

/// What of the allowed places is visible, and how; and files to be there for that while the command runs.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Split {
    pub(crate) grants: Vec<PathGrant>,
    pub(crate) made: Vec<PathBuf>,
}

impl LinkedWorktree {
    /// The repository that the project's `.git` file names, when that repository knows this worktree: a file that came with
    /// a project could name any other.
    pub(crate) fn of(root: &ProjectRoot) -> Option<Self> {
        let pointer = root.relative(".git").ok()?;
        let found = root.link_metadata(&pointer).ok()?;
        if found.kind != Kind::File || found.size > MAX_POINTER {
            return None;
        }
        let text = root.read(&pointer, MAX_POINTER).ok()?;
        let named = std::str::from_utf8(&text)
            .ok()?
            .trim()
            .strip_prefix("gitdir:")?
            .trim();
        let own = root.path().join(named).canonicalize().ok()?;
        let worktrees = own.parent().filter(|folder| folder.ends_with("worktrees"))?;
        let common = worktrees.parent()?.to_owned();
        let linked = |name: &str| {
            let text = read_small(&own.join(name), MAX_POINTER)?;
            own.join(text.trim()).canonicalize().ok()
        };
        let is_known = linked("commondir").as_deref() == Some(&common)
            && linked("gitdir") == root.path().join(".git").canonicalize().ok()
            && common.join("HEAD").is_file()
            && !own.starts_with(root.path());
        is_known.then_some(Self { own, common })
    }

    /// Whether what a failed command wrote tells that it missed the repository.
    pub(crate) fn is_missed(&self, said: &[u8]) -> bool {
        let said = String::from_utf8_lossy(said);
        said.contains("not a git repository") || said.contains(&*self.common.to_string_lossy())
    }
}

/// What is to be visible for these grants. Where parts of a writable folder cannot be kept read-only, the repository of a
/// worktree is not writable at all.
pub(crate) fn split(root: &ProjectRoot, grants: &[PathGrant], has_parts: bool) -> Split {
    let linked = LinkedWorktree::of(root);
    let mut split = Split::default();
    for grant in grants {
        let real = grant.path.canonicalize().unwrap_or_else(|_| grant.path.clone());
        match &linked {
            Some(linked) if linked.common == real => {
                split.show(&real, false);
                if grant.writable && has_parts {
                    split.open_for(linked);
                }
            }
            _ => {
                split.grants.push(grant.clone());
                if grant.writable && has_parts {
                    split.close_repositories(&real);
                }
            }
        }
    }
    split
}

impl Split {
    fn show(&mut self, path: &Path, writable: bool) {
        self.grants.push(PathGrant {
            path: path.to_owned(),
            writable,
        });
    }

    fn open_for(&mut self, linked: &LinkedWorktree) {
        for name in SHARED {
            let folder = linked.common.join(name);
            if is_own_folder(&folder) {
                self.show(&folder, true);
            }
        }
        self.show(&linked.own, true);
        let settings = linked.own.join(WORKTREE_SETTINGS);
        let takes_settings = read_small(&linked.common.join("config"), MAX_SETTINGS)
            .is_none_or(|text| text.to_lowercase().contains("worktreeconfig"));
        if takes_settings && !settings.exists() {
            self.made.push(settings);
        }
        for name in LEADING {
            self.close(&linked.own.join(name));
        }
    }

    /// In the repository that a folder is or holds.
    fn close_repositories(&mut self, folder: &Path) {
        for repository in [folder.to_owned(), folder.join(".git")] {
            if repository.join("HEAD").is_file() && is_own_folder(&repository.join("objects")) {
                for name in GUARDED {
                    self.close(&repository.join(name));
                }
            }
        }
    }

    fn close(&mut self, path: &Path) {
        if path.exists() || self.made.iter().any(|made| made == path) {
            self.show(path, false);
        }
    }
}

fn is_own_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_dir())
}

fn read_small(path: &Path, most: u64) -> Option<String> {
    let found = fs::symlink_metadata(path).ok()?;
    (found.is_file() && found.len() <= most)
        .then(|| fs::read_to_string(path).ok())
        .flatten()
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    struct World {
        place: tempfile::TempDir,
        root: ProjectRoot,
    }

    /// A worktree `project` of `main`, as git lays it out.
    fn world() -> World {
        let place = tempfile::tempdir().unwrap();
        let at = place.path().canonicalize().unwrap();
        for folder in [
            "main/.git/objects",
            "main/.git/refs",
            "main/.git/hooks",
            "main/.git/worktrees/project",
            "project",
        ] {
            fs::create_dir_all(at.join(folder)).unwrap();
        }
        let own = at.join("main/.git/worktrees/project");
        let put = |path: &Path, text: String| fs::write(path, text).unwrap();
        put(&at.join("main/.git/HEAD"), "ref: refs/heads/main\n".into());
        put(&at.join("main/.git/config"), "[core]\n".into());
        put(&own.join("commondir"), "../..\n".into());
        put(&own.join("gitdir"), format!("{}/project/.git\n", at.display()));
        put(&at.join("project/.git"), format!("gitdir: {}\n", own.display()));
        let root = ProjectRoot::open(&at.join("project")).unwrap();
        World { place, root }
    }

    impl World {
        fn at(&self, path: &str) -> PathBuf {
            self.place.path().canonicalize().unwrap().join(path)
        }

        fn split(&self, path: &str, has_parts: bool) -> Vec<(String, bool)> {
            let grant = PathGrant {
                path: self.at(path),
                writable: true,
            };
            let top = self.at("");
            let split = split(&self.root, &[grant], has_parts);
            let below = |path: &Path| path.strip_prefix(&top).unwrap().display().to_string();
            split
                .grants
                .iter()
                .map(|grant| (below(&grant.path), grant.writable))
                .collect()
        }
    }

    #[test]
    fn a_worktree_changes_only_what_git_changes_for_it() {
        let world = world();
        let own = "main/.git/worktrees/project";
        let expected = [
            ("main/.git".to_owned(), false),
            ("main/.git/objects".into(), true),
            ("main/.git/refs".into(), true),
            (own.into(), true),
            (format!("{own}/commondir"), false),
            (format!("{own}/gitdir"), false),
        ];
        assert_eq!(world.split("main/.git", true), expected);
        assert_eq!(world.split("main/.git", false), expected[..1]);
    }

    #[test]
    fn settings_of_a_worktree_cannot_appear_where_git_would_take_them() {
        let world = world();
        fs::write(
            world.at("main/.git/config"),
            "[extensions]\n\tworktreeConfig = true\n",
        )
        .unwrap();
        let settings = ("main/.git/worktrees/project/config.worktree".to_owned(), false);
        assert!(world.split("main/.git", true).contains(&settings));
    }

    #[test]
    fn a_pointer_that_the_repository_does_not_know_is_not_followed() {
        let world = world();
        assert!(LinkedWorktree::of(&world.root).is_some());
        fs::create_dir(world.at("other")).unwrap();
        let pointer = fs::read(world.at("project/.git")).unwrap();
        fs::write(world.at("other/.git"), pointer).unwrap();
        let other = ProjectRoot::open(&world.at("other")).unwrap();
        assert_eq!(LinkedWorktree::of(&other), None);
        fs::write(
            world.at("main/.git/worktrees/project/commondir"),
            "../../../../other\n",
        )
        .unwrap();
        assert_eq!(LinkedWorktree::of(&world.root), None);
    }

    #[test]
    fn hooks_and_settings_of_any_repository_outside_stay_closed() {
        let world = world();
        fs::remove_file(world.at("project/.git")).unwrap();
        let closed = [
            ("main".to_owned(), true),
            ("main/.git/hooks".into(), false),
            ("main/.git/config".into(), false),
        ];
        assert_eq!(world.split("main", true), closed);
        assert_eq!(world.split("main", false), closed[..1]);
        assert_eq!(world.split("main/.git", true)[0], ("main/.git".to_owned(), true));
        assert_eq!(world.split("main/.git", true)[1..], closed[1..]);
    }
}
