//! Places outside of the project: what an argument really names, links and `..` resolved as far as something is there, and
//! opening exactly that place once a person allowed it. From a place that was allowed no link is followed at all, so what
//! was shown is what is opened.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use super::error::{Failure, InvalidPath, OutsideError, PathError};
use super::never::{Around, never_granted};
use super::relative::{self, RelativePath};
use super::{Kind, ProjectRoot, Reach, Shared, Tree};

/// As many links as the kernel follows.
const MAX_LINKS: usize = 40;

/// What a path argument names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PathPlace {
    /// A path in the project, or one where nothing is that would be in it.
    Inside(RelativePath),
    Outside(OutsidePath),
    Invalid(InvalidPath),
}

/// A place outside of the project, to be shown to a person and opened with [`ProjectRoot::outside`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutsidePath {
    /// Absolute; links and `..` are resolved as far as something is there.
    pub real: PathBuf,
    /// The link in the project or the `..` where the argument leaves the project; none for an absolute path.
    pub leaves_at: Option<String>,
    /// What is there; none when there is nothing (yet), or the account cannot see it.
    pub kind: Option<Kind>,
}

impl ProjectRoot {
    /// What a path argument names, for reading it or writing to it. Not for removing and moving: those are about the entry
    /// itself and never follow a link.
    pub fn classify(&self, argument: &str) -> PathPlace {
        let leaves_at = match self.relative(argument) {
            Ok(path) => match self.tree().real(&path) {
                Err(Failure::Escapes) => Some(self.leaving_part(&path)),
                _ => return PathPlace::Inside(path),
            },
            Err(PathError::Invalid { why }) => return PathPlace::Invalid(why),
            Err(PathError::Outside { leaves_at, .. }) => Some(leaves_at).filter(|at| at == ".."),
            Err(_) => None,
        };
        let spelled = spelled(self.path(), argument);
        let (real, kind) = resolved(&spelled);
        match real.to_str() {
            None => PathPlace::Invalid(InvalidPath::NotText),
            // An absolute link back into the project, or another spelling of its folder.
            Some(text) => match relative::normalise(text, &[&self.shared.canonical]) {
                Ok(path) => PathPlace::Inside(path),
                Err(_) => PathPlace::Outside(OutsidePath {
                    real,
                    leaves_at,
                    kind,
                }),
            },
        }
    }

    /// Why a real path outside of the project is never opened for the agent, as the end of "… because"; none when a person
    /// may be asked.
    pub fn never_granted(&self, real: &Path, write: bool) -> Option<&'static str> {
        let home = std::env::home_dir().and_then(|home| home.canonicalize().ok());
        let around = Around {
            home: home.as_deref(),
            project: Some(&self.shared.canonical),
            own_data: self.shared.own_data.as_deref(),
        };
        never_granted(real, write, around)
    }

    /// Opens one place outside of the project that a person allowed: a folder with what is below it, a file, or with
    /// `write` a path where nothing is yet. The root that is returned reaches exactly that, follows no link, and changes
    /// nothing without `write`; the path is the place itself in it.
    pub fn outside(&self, real: &Path, write: bool) -> Result<(Self, RelativePath), OutsideError> {
        let plain = |part: Component<'_>| !matches!(part, Component::ParentDir | Component::CurDir);
        if !real.is_absolute() || !real.components().all(plain) || real.starts_with(self.path()) {
            return Err(OutsideError::NotReal);
        }
        if let Some(reason) = self.never_granted(real, write) {
            return Err(OutsideError::Never { reason });
        }
        let (folder, below) = nearest_folder(real)?;
        let scope = RelativePath::exactly(&below).ok_or(OutsideError::NotReal)?;
        let tree = Tree::open_exactly(folder).map_err(refusal)?;
        if !scope.is_root() {
            match tree.metadata(&scope) {
                Ok(found) if found.kind == Kind::Link => return Err(OutsideError::Link),
                Ok(found) if found.kind == Kind::Other => return Err(OutsideError::Special),
                Err(failure) if failure.is_not_found() && !write => return Err(OutsideError::Missing),
                Err(failure) if !failure.is_not_found() => return Err(refusal(failure)),
                _ => {}
            }
        }
        let shared = Arc::new(Shared {
            tree,
            canonical: folder.to_owned(),
            opened_as: folder.to_owned(),
            own_data: self.shared.own_data.clone(),
            outside: Some(scope.clone()),
            own: super::own::OwnWrites::default(),
        });
        let reach = Reach {
            read_only: !write,
            git_internals: false,
        };
        Ok((Self { shared, reach }, scope))
    }

    /// Whether this is a place outside of the project rather than the project.
    pub fn is_outside(&self) -> bool {
        self.shared.outside.is_some()
    }

    /// A path as a person and the model should read it: relative in the project, absolute outside of it.
    pub fn spelled(&self, path: &RelativePath) -> String {
        match (self.is_outside(), path.is_root()) {
            (false, _) => path.to_string(),
            (true, true) => self.path().display().to_string(),
            (true, false) => self.path().join(path.as_str()).display().to_string(),
        }
    }

    /// Refuses what lies beside the place that was allowed.
    pub(super) fn in_scope(&self, path: &RelativePath) -> Result<(), PathError> {
        match &self.shared.outside {
            Some(scope) if !path.starts_with(scope) => Err(PathError::NotGranted { path: path.clone() }),
            _ => Ok(()),
        }
    }
}

/// The absolute path that an argument spells, `..` resolved by text as everywhere.
fn spelled(project: &Path, argument: &str) -> PathBuf {
    let mut path = project.to_owned();
    for part in Path::new(argument).components() {
        match part {
            Component::ParentDir => {
                path.pop();
            }
            Component::CurDir => {}
            other => path.push(other),
        }
    }
    path
}

/// Where an absolute path really ends, and what is there. Names below one that does not exist are kept as they are.
fn resolved(spelled: &Path) -> (PathBuf, Option<Kind>) {
    let mut waiting: VecDeque<OsString> = spelled.components().map(owned).collect();
    let mut real = PathBuf::new();
    let (mut links, mut kind) = (0, Some(Kind::Folder));
    while let Some(name) = waiting.pop_front() {
        let next = match Path::new(&name).components().next() {
            Some(Component::ParentDir) => {
                real.pop();
                continue;
            }
            Some(Component::CurDir) | None => continue,
            Some(_) => real.join(&name),
        };
        kind = std::fs::symlink_metadata(&next).ok().map(|found| kind_of(&found));
        // What is in /proc leads elsewhere for each reader, and is never granted.
        let target = (kind == Some(Kind::Link) && links < MAX_LINKS && !next.starts_with("/proc"))
            .then(|| std::fs::read_link(&next).ok())
            .flatten();
        match target {
            Some(target) => {
                links += 1;
                for part in target.components().rev() {
                    waiting.push_front(owned(part));
                }
            }
            None => real = next,
        }
    }
    (long_names(real), kind)
}

/// Windows knows short names (`SSH~1`) for what has a long one; only the long ones say what a place is.
#[cfg(windows)]
fn long_names(real: PathBuf) -> PathBuf {
    let known = real
        .ancestors()
        .find_map(|part| Some((part.canonicalize().ok()?, real.strip_prefix(part).ok()?)));
    let Some((long, below)) = known else {
        return real;
    };
    let text = long.to_string_lossy();
    match text.strip_prefix(r"\\?\") {
        Some(plain) if plain.as_bytes().get(1) == Some(&b':') => Path::new(plain).join(below),
        _ => real,
    }
}

#[cfg(not(windows))]
fn long_names(real: PathBuf) -> PathBuf {
    real
}

fn owned(part: Component<'_>) -> OsString {
    part.as_os_str().to_owned()
}

fn kind_of(found: &std::fs::Metadata) -> Kind {
    if found.is_symlink() {
        Kind::Link
    } else if found.is_dir() {
        Kind::Folder
    } else if found.is_file() {
        Kind::File
    } else {
        Kind::Other
    }
}

/// The deepest folder of a path that is there, and the names below it.
fn nearest_folder(real: &Path) -> Result<(&Path, PathBuf), OutsideError> {
    let mut folder = real;
    loop {
        match std::fs::symlink_metadata(folder) {
            Ok(found) if found.is_dir() => break,
            Ok(found) if found.is_symlink() => return Err(OutsideError::Link),
            Ok(_) if folder != real => return Err(OutsideError::Missing),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(refusal(Failure::Io(error))),
        }
        folder = folder.parent().ok_or(OutsideError::Missing)?;
    }
    let below = real.strip_prefix(folder).map_err(|_| OutsideError::NotReal)?;
    Ok((folder, below.to_owned()))
}

fn refusal(failure: Failure) -> OutsideError {
    let error = match failure {
        Failure::Escapes | Failure::Link => return OutsideError::Link,
        Failure::Io(error) => error,
    };
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => OutsideError::Missing,
        io::ErrorKind::PermissionDenied => OutsideError::NoPermission,
        _ => OutsideError::Io(error),
    }
}
