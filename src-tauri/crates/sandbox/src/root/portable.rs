//! File access on macOS and Windows: the same functions as on Linux over handles of `cap-std`, which resolves paths below
//! a folder handle on every system. Also builds on Linux (feature `portable`), so that its tests run there.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::time::UNIX_EPOCH;

use cap_std::fs::{Dir, OpenOptions};

use super::error::Failure;
use super::relative::RelativePath;
use super::{Kind, Metadata};

/// The handle of the project folder, or of a folder outside of it.
#[derive(Debug)]
pub(super) struct Tree {
    handle: Dir,
    follows_links: bool,
}

/// The handle of one folder in the project and the place where it really is.
#[derive(Debug)]
pub(super) struct Folder {
    handle: Dir,
    pub(super) place: RelativePath,
}

impl Tree {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        Ok(Self {
            handle: Dir::open_ambient_dir(path, cap_std::ambient_authority())?,
            follows_links: true,
        })
    }

    /// Opens an absolute path without following a link anywhere, and follows none below it either.
    pub(super) fn open_exactly(path: &Path) -> Result<Self, Failure> {
        let top: PathBuf = path
            .components()
            .take_while(|part| !matches!(part, Component::Normal(_)))
            .collect();
        let mut folder = Folder {
            handle: Dir::open_ambient_dir(&top, cap_std::ambient_authority())?,
            place: RelativePath::root(),
        };
        for part in path.components() {
            if let Component::Normal(name) = part {
                folder = folder.subfolder(name)?;
            }
        }
        Ok(Self {
            handle: folder.handle,
            follows_links: false,
        })
    }

    /// Opens a folder, links that stay beneath followed: first the real names are found, then they are opened one by one
    /// without following anything, so a link swapped in between is refused.
    pub(super) fn folder(&self, path: &RelativePath) -> Result<Folder, Failure> {
        let place = if self.follows_links {
            self.handle.canonicalize(path.as_str()).map_err(failure)?
        } else {
            PathBuf::from(path.as_str())
        };
        let mut folder = Folder {
            handle: self.handle.try_clone()?,
            place: RelativePath::root(),
        };
        for part in place.components() {
            match part {
                Component::Normal(name) => folder = folder.subfolder(name)?,
                Component::CurDir => {}
                _ => return Err(Failure::Escapes),
            }
        }
        Ok(folder)
    }

    /// What a path is, links that stay beneath followed.
    pub(super) fn metadata(&self, path: &RelativePath) -> Result<Metadata, Failure> {
        if !self.follows_links
            && let (Some(parent), Some(name)) = (path.parent(), path.file_name())
        {
            return Ok(self.folder(&parent)?.entry(OsStr::new(name))?);
        }
        Ok(metadata(&self.handle.metadata(path.as_str()).map_err(failure)?))
    }

    /// Where a path really ends, links that stay beneath followed.
    pub(super) fn real(&self, path: &RelativePath) -> Result<RelativePath, Failure> {
        if !self.follows_links {
            return match self.metadata(path)?.kind {
                Kind::Link => Err(Failure::Link),
                _ => Ok(path.clone()),
            };
        }
        Ok(RelativePath::from_system(
            &self.handle.canonicalize(path.as_str()).map_err(failure)?,
        ))
    }

    /// Opens a file for reading without waiting for a writer of a pipe; the caller checks what it is.
    pub(super) fn file(&self, path: &RelativePath) -> Result<(File, Metadata), Failure> {
        let before = self.metadata(path)?;
        match before.kind {
            Kind::Folder => return Err(io::Error::from(io::ErrorKind::IsADirectory).into()),
            Kind::Link => return Err(Failure::Link),
            Kind::File | Kind::Other => {}
        }
        let mut options = OpenOptions::new();
        options.read(true);
        #[cfg(unix)]
        {
            use cap_std::fs::OpenOptionsExt;
            options.custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY);
        }
        let file = match (self.follows_links, path.parent(), path.file_name()) {
            (false, Some(parent), Some(name)) => self.folder(&parent)?.handle.open_with(name, &options),
            _ => self.handle.open_with(path.as_str(), &options),
        };
        let file = file.map_err(failure)?;
        let found = metadata(&file.metadata()?);
        // A swapped link would have led to another file.
        if !self.follows_links && (found.device, found.inode) != (before.device, before.inode) {
            return Err(Failure::Link);
        }
        Ok((file.into_std(), found))
    }
}

impl Folder {
    /// What a name in this folder is; a link is a link.
    pub(super) fn entry(&self, name: &OsStr) -> io::Result<Metadata> {
        Ok(metadata(&self.handle.symlink_metadata(name)?))
    }

    /// The names in this folder without `.` and `..`, each with its kind; a link is a link.
    pub(super) fn entries(&self, limit: usize) -> io::Result<Vec<(OsString, Kind)>> {
        let entries = self.handle.entries()?.take(limit);
        entries
            .map(|entry| entry.and_then(|entry| Ok((entry.file_name(), kind_of(entry.file_type()?)))))
            .collect()
    }

    /// Opens a folder in this folder; a link or junction is refused.
    pub(super) fn subfolder(&self, name: &OsStr) -> Result<Self, Failure> {
        let before = self.entry(name)?;
        if before.kind == Kind::Link {
            return Err(Failure::Link);
        }
        if before.kind != Kind::Folder {
            return Err(io::Error::from(io::ErrorKind::NotADirectory).into());
        }
        let handle = self.handle.open_dir(name).map_err(failure)?;
        // A swapped link would have led to another folder.
        if metadata(&handle.dir_metadata()?).inode != before.inode {
            return Err(io::Error::from(io::ErrorKind::NotFound).into());
        }
        Ok(Self {
            handle,
            place: self.place.child(&name.to_string_lossy()),
        })
    }

    pub(super) fn make_folder(&self, name: &OsStr) -> io::Result<()> {
        self.handle.create_dir(name)
    }

    /// Makes a new file that nobody else has, for writing.
    pub(super) fn make_file(&self, name: &OsStr) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        Ok(self.handle.open_with(name, &options)?.into_std())
    }

    /// Gives a new file the mode of the one it replaces.
    pub(super) fn copy_mode(file: &File, like: &Metadata) -> io::Result<()> {
        Self::set_mode(file, like.mode)
    }

    pub(super) fn set_mode(file: &File, mode: u32) -> io::Result<()> {
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            file.set_permissions(std::fs::Permissions::from_mode(mode & 0o777))?;
        }
        #[cfg(not(unix))]
        let _ = (file, mode);
        Ok(())
    }

    pub(super) fn rename(&self, name: &OsStr, to: &Self, to_name: &OsStr, replace: bool) -> io::Result<()> {
        if !replace && to.entry(to_name).is_ok() {
            return Err(io::Error::from(io::ErrorKind::AlreadyExists));
        }
        self.handle.rename(name, &to.handle, to_name)
    }

    pub(super) fn remove_file(&self, name: &OsStr) -> io::Result<()> {
        self.handle.remove_file(name)
    }

    pub(super) fn remove_empty_folder(&self, name: &OsStr) -> io::Result<()> {
        self.handle.remove_dir(name)
    }
}

/// `cap-std` reports an escape as a refusal that no system call made.
fn failure(error: io::Error) -> Failure {
    if error.kind() == io::ErrorKind::PermissionDenied && error.raw_os_error().is_none() {
        return Failure::Escapes;
    }
    #[cfg(unix)]
    if error.raw_os_error() == Some(libc::ELOOP) {
        return Failure::Link;
    }
    Failure::Io(error)
}

fn kind_of(kind: cap_std::fs::FileType) -> Kind {
    if kind.is_symlink() {
        Kind::Link
    } else if kind.is_dir() {
        Kind::Folder
    } else if kind.is_file() {
        Kind::File
    } else {
        Kind::Other
    }
}

fn metadata(found: &cap_std::fs::Metadata) -> Metadata {
    let kind = kind_of(found.file_type());
    let modified_ns = found
        .modified()
        .ok()
        .and_then(|time| time.into_std().duration_since(UNIX_EPOCH).ok())
        .and_then(|time| i128::try_from(time.as_nanos()).ok())
        .unwrap_or(0);
    system_metadata(
        found,
        Metadata {
            kind,
            size: found.len(),
            modified_ns,
            ..Metadata::default()
        },
    )
}

#[cfg(unix)]
fn system_metadata(found: &cap_std::fs::Metadata, known: Metadata) -> Metadata {
    use cap_std::fs::MetadataExt;
    Metadata {
        changed_ns: i128::from(found.ctime()) * 1_000_000_000 + i128::from(found.ctime_nsec()),
        device: found.dev(),
        inode: found.ino(),
        mode: found.mode(),
        owner: found.uid(),
        group: found.gid(),
        ..known
    }
}

#[cfg(windows)]
fn system_metadata(found: &cap_std::fs::Metadata, known: Metadata) -> Metadata {
    use cap_std::fs::MetadataExt;
    // Reparse points that are no links (junctions, mount points) may lead to another volume.
    const REPARSE_POINT: u32 = 0x400;
    let kind = if found.file_attributes() & REPARSE_POINT != 0 {
        Kind::Link
    } else {
        known.kind
    };
    Metadata {
        kind,
        changed_ns: known.modified_ns,
        inode: found.creation_time(),
        ..known
    }
}
