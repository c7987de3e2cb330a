//! File access on macOS and Windows: the same functions as on Linux over handles of `cap-std`, which resolves paths below
//! a folder handle on every system. Also builds on Linux (feature `portable`), so that its tests run there.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::path::{Component, Path};
use std::time::UNIX_EPOCH;

use cap_std::fs::{Dir, OpenOptions};

use super::error::Failure;
use super::relative::RelativePath;
use super::{Kind, Metadata};

/// The handle of the project folder.
#[derive(Debug)]
pub(super) struct Tree {
    handle: Dir,
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
        })
    }

    /// Opens a folder, links that stay beneath followed: first the real names are found, then they are opened one by one
    /// without following anything, so a link swapped in between is refused.
    pub(super) fn folder(&self, path: &RelativePath) -> Result<Folder, Failure> {
        let place = self.handle.canonicalize(path.as_str()).map_err(failure)?;
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
        Ok(metadata(&self.handle.metadata(path.as_str()).map_err(failure)?))
    }

    /// Where a path really ends, links that stay beneath followed.
    pub(super) fn real(&self, path: &RelativePath) -> Result<RelativePath, Failure> {
        Ok(RelativePath::from_system(
            &self.handle.canonicalize(path.as_str()).map_err(failure)?,
        ))
    }

    /// Opens a file for reading without waiting for a writer of a pipe; the caller checks what it is.
    pub(super) fn file(&self, path: &RelativePath) -> Result<(File, Metadata), Failure> {
        let before = self.metadata(path)?;
        if before.kind == Kind::Folder {
            return Err(io::Error::from(io::ErrorKind::IsADirectory).into());
        }
        let mut options = OpenOptions::new();
        options.read(true);
        #[cfg(unix)]
        {
            use cap_std::fs::OpenOptionsExt;
            options.custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY);
        }
        let file = self.handle.open_with(path.as_str(), &options).map_err(failure)?;
        let found = metadata(&file.metadata()?);
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
        Failure::Escapes
    } else {
        Failure::Io(error)
    }
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
