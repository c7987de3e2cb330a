//! The project folder and path-safe access to the files in it. Every access runs through the handle that was opened once;
//! text decides only what is refused early. Whether a change is wanted is asked elsewhere: this wall holds what no answer
//! can widen (nothing outside of the folder) and git's internals, which need a root that was granted them.

mod changes;
mod error;
pub(crate) mod inventory;
#[cfg(all(target_os = "linux", not(feature = "portable")))]
mod linux;
mod never;
mod opening;
mod outside;
mod own;
#[cfg(any(not(target_os = "linux"), feature = "portable"))]
mod portable;
pub(crate) mod protection;
mod relative;

use std::ffi::OsStr;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

pub use error::{InvalidPath, OpenError, OutsideError, PathError};
#[cfg(all(target_os = "linux", not(feature = "portable")))]
use linux::{Folder, Tree};
pub use outside::{OutsidePath, PathPlace};
#[cfg(any(not(target_os = "linux"), feature = "portable"))]
use portable::{Folder, Tree};
pub use protection::{Protection, ProtectionKind};
pub use relative::RelativePath;

/// How many entries of one folder are listed at most.
pub const MAX_ENTRIES: usize = 100_000;

/// The open project folder, or one place outside of it that a person allowed. Cheap to clone; clones share the handle.
#[derive(Debug, Clone)]
pub struct ProjectRoot {
    shared: Arc<Shared>,
    reach: Reach,
}

#[derive(Debug)]
struct Shared {
    tree: Tree,
    canonical: PathBuf,
    opened_as: PathBuf,
    /// Where Paddock keeps its own data.
    own_data: Option<PathBuf>,
    /// For a place outside of the project: the only part of this folder that may be touched.
    outside: Option<RelativePath>,
    own: own::OwnWrites,
}

/// What the holder of a root may change. The same value bounds file access and confined commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reach {
    /// Nothing in the project may be changed (role Plan).
    pub read_only: bool,
    /// Writing below `.git` was granted for this one call.
    pub git_internals: bool,
}

/// What lies at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    File,
    Folder,
    Link,
    /// A pipe, socket or device.
    #[default]
    Other,
}

/// Facts about a file or folder. Times are nanoseconds since 1970; mode, owner and group are 0 on Windows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Metadata {
    pub kind: Kind,
    /// Bytes.
    pub size: u64,
    pub modified_ns: i128,
    pub changed_ns: i128,
    /// The volume; 0 on Windows.
    pub device: u64,
    pub inode: u64,
    pub mode: u32,
    pub owner: u32,
    pub group: u32,
}

impl Metadata {
    /// When the content was last modified.
    pub fn modified(&self) -> SystemTime {
        u64::try_from(self.modified_ns).map_or(UNIX_EPOCH, |time| UNIX_EPOCH + Duration::from_nanos(time))
    }

    /// Whether the owner may execute it (always false on Windows).
    pub fn is_executable(&self) -> bool {
        self.kind == Kind::File && self.mode & 0o100 != 0
    }
}

/// One entry of a folder; a link is reported as a link, not as what it leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The name; bytes that are no UTF-8 are replaced, such an entry cannot be addressed.
    pub name: String,
    pub kind: Kind,
    /// Bytes.
    pub size: u64,
    pub modified: SystemTime,
}

/// The version of a file, to see whether it changed since it was looked at. A content that was put back counts as changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FileStamp {
    /// Bytes.
    pub size: u64,
    /// Nanoseconds since 1970.
    pub modified_ns: i128,
    /// Nanoseconds since 1970; cannot be set back by a program. Equal to `modified_ns` on Windows.
    pub changed_ns: i128,
    pub inode: u64,
}

/// What a write expects at its target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteMode {
    /// Nothing may be there.
    CreateNew,
    /// A file must be there.
    Replace,
    CreateOrReplace,
}

impl ProjectRoot {
    /// The folder's canonical path, for display and for starting commands; never for file access.
    pub fn path(&self) -> &Path {
        &self.shared.canonical
    }

    /// What this root may change.
    pub fn reach(&self) -> Reach {
        self.reach
    }

    /// The same project, where nothing can be changed.
    pub fn read_only(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
            reach: Reach {
                read_only: true,
                git_internals: false,
            },
        }
    }

    /// The same project for one call that the person allowed to write below `.git`.
    pub fn with_git_internals(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
            reach: Reach {
                git_internals: !self.reach.read_only,
                ..self.reach
            },
        }
    }

    /// Normalises a path argument: relative to the project, or absolute below it. No expansion of `~`, `$` or `%`.
    pub fn relative(&self, argument: &str) -> Result<RelativePath, PathError> {
        relative::normalise(argument, &[&self.shared.canonical, &self.shared.opened_as])
    }

    /// Facts about what a path leads to; links that stay in the project are followed.
    pub fn metadata(&self, path: &RelativePath) -> Result<Metadata, PathError> {
        self.in_scope(path)?;
        self.tree()
            .metadata(path)
            .map_err(|failure| self.explain(failure, path))
    }

    /// Facts about the path itself: a link is reported as a link.
    pub fn link_metadata(&self, path: &RelativePath) -> Result<Metadata, PathError> {
        self.in_scope(path)?;
        let Some((folder, name)) = self.folder_of(path)? else {
            return self.metadata(path);
        };
        folder
            .entry(OsStr::new(name))
            .map_err(|error| error::Failure::Io(error).at(path))
    }

    /// Whether anything is there, be it a link that leads nowhere.
    pub fn exists(&self, path: &RelativePath) -> bool {
        self.link_metadata(path).is_ok()
    }

    /// The version of a file; none when there is no regular file.
    pub fn stamp(&self, path: &RelativePath) -> Option<FileStamp> {
        let found = self
            .metadata(path)
            .ok()
            .filter(|found| found.kind == Kind::File)?;
        Some(FileStamp {
            size: found.size,
            modified_ns: found.modified_ns,
            changed_ns: found.changed_ns,
            inode: found.inode,
        })
    }

    /// Reads a regular file of at most `max_bytes`.
    pub fn read(&self, path: &RelativePath, max_bytes: u64) -> Result<Vec<u8>, PathError> {
        check_regular(&self.metadata(path)?, path)?;
        let (file, found) = self
            .tree()
            .file(path)
            .map_err(|failure| self.explain(failure, path))?;
        check_regular(&found, path)?;
        let too_large = |size| PathError::TooLarge {
            path: path.clone(),
            size,
            limit: max_bytes,
        };
        if found.size > max_bytes {
            return Err(too_large(found.size));
        }
        let mut bytes = Vec::with_capacity(usize::try_from(found.size).unwrap_or(0));
        let mut bounded = file.take(max_bytes.saturating_add(1));
        bounded
            .read_to_end(&mut bytes)
            .map_err(|error| error::Failure::Io(error).at(path))?;
        let size = bytes.len() as u64;
        if size > max_bytes {
            Err(too_large(size))
        } else {
            Ok(bytes)
        }
    }

    /// The entries of a folder by name, at most [`MAX_ENTRIES`]; no link is followed.
    pub fn read_dir(&self, path: &RelativePath) -> Result<Vec<Entry>, PathError> {
        self.in_scope(path)?;
        let folder = self
            .tree()
            .folder(path)
            .map_err(|failure| self.explain(failure, path))?;
        let names = folder
            .entries(MAX_ENTRIES)
            .map_err(|error| error::Failure::Io(error).at(path))?;
        let mut entries: Vec<Entry> = names
            .into_iter()
            .map(|(name, _)| name)
            // A name that vanished since is left out.
            .filter_map(|name| Some((folder.entry(&name).ok()?, name)))
            .map(|(found, name)| Entry {
                name: name.to_string_lossy().into_owned(),
                kind: found.kind,
                size: found.size,
                modified: found.modified(),
            })
            .collect();
        entries.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(entries)
    }

    /// The protection of a path: of its spelling, and of the place where it really ends. A path that cannot be resolved is
    /// judged by its spelling alone.
    pub fn protection(&self, path: &RelativePath) -> Option<Protection> {
        self.protection_at(path).or_else(|| {
            let real = self.tree().real(path).ok().or_else(|| {
                let (folder, name) = self.folder_of(path).ok()??;
                Some(folder.place.child(name))
            })?;
            self.protection_at(&real)
        })
    }

    /// The protection of a spelling. Outside of the project the names above count too: a granted folder may itself be
    /// part of something protected.
    fn protection_at(&self, path: &RelativePath) -> Option<Protection> {
        if !self.is_outside() {
            return protection::protection_of(path.components());
        }
        let above = self.path().to_string_lossy();
        let names = above.split(['/', '\\']).chain(path.components());
        protection::protection_outside(names)
    }

    /// Where a path really ends, links that stay in the project followed.
    pub(crate) fn real(&self, path: &RelativePath) -> Result<RelativePath, PathError> {
        self.tree()
            .real(path)
            .map_err(|failure| self.explain(failure, path))
    }

    /// What was written through this root and its clones.
    pub(crate) fn wrote(&self, place: &RelativePath, bytes: &[u8]) -> bool {
        self.shared.own.holds(place, bytes)
    }

    pub(crate) fn wrote_below(&self, place: &RelativePath) -> bool {
        self.shared.own.any_below(place)
    }

    fn tree(&self) -> &Tree {
        &self.shared.tree
    }

    /// The folder a path is in and its last name; none for the project itself.
    fn folder_of<'a>(&self, path: &'a RelativePath) -> Result<Option<(Folder, &'a str)>, PathError> {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Ok(None);
        };
        let folder = self
            .tree()
            .folder(&parent)
            .map_err(|failure| self.explain(failure, path))?;
        Ok(Some((folder, name)))
    }

    /// The error for a failure at a path; for an escape, the link where the path leaves the project.
    fn explain(&self, failure: error::Failure, path: &RelativePath) -> PathError {
        if !matches!(failure, error::Failure::Escapes) {
            return failure.at(path);
        }
        PathError::Outside {
            argument: path.to_string(),
            leaves_at: self.leaving_part(path),
        }
    }

    /// The link at which a path leaves the project.
    fn leaving_part(&self, path: &RelativePath) -> String {
        let mut part = RelativePath::root();
        for name in path.components() {
            part = part.child(name);
            if matches!(self.tree().real(&part), Err(error::Failure::Escapes)) {
                break;
            }
        }
        part.to_string()
    }
}

fn check_regular(found: &Metadata, path: &RelativePath) -> Result<(), PathError> {
    match found.kind {
        Kind::File => Ok(()),
        Kind::Folder => Err(PathError::IsAFolder { path: path.clone() }),
        Kind::Link => Err(PathError::NotAFile { path: path.clone() }),
        Kind::Other => Err(PathError::Special { path: path.clone() }),
    }
}
