//! File access on Linux: everything below the handle of the project folder, resolved by the kernel (`openat2` with
//! `RESOLVE_BENEATH`), never by text. A folder handle knows where it really is, so that protection is asked about that.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{self, AtFlags, FileType, Mode, OFlags, RenameFlags, ResolveFlags};
use rustix::io::Errno;

use super::error::Failure;
use super::relative::RelativePath;
use super::{Kind, Metadata};

const TRIES: usize = 128;
const BENEATH: ResolveFlags = ResolveFlags::BENEATH.union(ResolveFlags::NO_MAGICLINKS);
const NO_LINKS: ResolveFlags = BENEATH.union(ResolveFlags::NO_SYMLINKS);
const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY);

/// The handle of the project folder, or of a folder outside of it.
#[derive(Debug)]
pub(super) struct Tree {
    handle: OwnedFd,
    resolve: ResolveFlags,
}

/// The handle of one folder in the project and the place where it really is.
#[derive(Debug)]
pub(super) struct Folder {
    handle: OwnedFd,
    pub(super) place: RelativePath,
}

impl Tree {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let handle = fs::open(path, FOLDER | OFlags::CLOEXEC, Mode::empty())?;
        match beneath(handle.as_fd(), ".", FOLDER, BENEATH) {
            Err(Failure::Io(error)) => Err(error),
            _ => Ok(Self {
                handle,
                resolve: BENEATH,
            }),
        }
    }

    /// Opens an absolute path without following a link anywhere, and follows none below it either.
    pub(super) fn open_exactly(path: &Path) -> Result<Self, Failure> {
        let top = fs::open("/", FOLDER | OFlags::CLOEXEC, Mode::empty()).map_err(io::Error::from)?;
        let below = path.strip_prefix("/").unwrap_or(path);
        Ok(Self {
            handle: beneath(top.as_fd(), below, FOLDER, NO_LINKS)?,
            resolve: NO_LINKS,
        })
    }

    /// Opens a folder, links that stay beneath followed.
    pub(super) fn folder(&self, path: &RelativePath) -> Result<Folder, Failure> {
        let handle = self.opened(path, FOLDER)?;
        let place = if path.is_root() {
            RelativePath::root()
        } else {
            self.place(handle.as_fd())?
        };
        Ok(Folder { handle, place })
    }

    /// What a path is, links that stay beneath followed.
    pub(super) fn metadata(&self, path: &RelativePath) -> Result<Metadata, Failure> {
        let handle = self.opened(path, OFlags::PATH)?;
        Ok(metadata(&fs::fstat(&handle).map_err(io::Error::from)?))
    }

    /// Where a path really ends, links that stay beneath followed.
    pub(super) fn real(&self, path: &RelativePath) -> Result<RelativePath, Failure> {
        let handle = self.opened(path, OFlags::PATH)?;
        Ok(self.place(handle.as_fd())?)
    }

    /// Opens a file for reading without waiting for a writer of a pipe; the caller checks what it is.
    pub(super) fn file(&self, path: &RelativePath) -> Result<(File, Metadata), Failure> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
        let handle = self.opened(path, flags)?;
        let found = metadata(&fs::fstat(&handle).map_err(io::Error::from)?);
        Ok((File::from(handle), found))
    }

    fn opened(&self, path: &RelativePath, flags: OFlags) -> Result<OwnedFd, Failure> {
        beneath(self.handle.as_fd(), path.as_str(), flags, self.resolve)
    }

    fn place(&self, handle: BorrowedFd<'_>) -> io::Result<RelativePath> {
        let root = descriptor_path(self.handle.as_fd())?;
        let path = descriptor_path(handle)?;
        let below = path
            .strip_prefix(&root)
            .map_err(|_| io::Error::from(io::ErrorKind::NotFound))?;
        Ok(RelativePath::from_system(below))
    }
}

impl Folder {
    /// What a name in this folder is; a link is a link.
    pub(super) fn entry(&self, name: &OsStr) -> io::Result<Metadata> {
        Ok(metadata(&fs::statat(
            &self.handle,
            name,
            AtFlags::SYMLINK_NOFOLLOW,
        )?))
    }

    /// The names in this folder without `.` and `..`, each with its kind; a link is a link.
    pub(super) fn entries(&self, limit: usize) -> io::Result<Vec<(OsString, Kind)>> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let readable = fs::openat(&self.handle, ".", flags, Mode::empty())?;
        // On the stack and as it is: a project has many folders, and each is read before and after every command.
        let mut buffer = [const { MaybeUninit::uninit() }; 8 * 1024];
        let mut read = fs::RawDir::new(&readable, &mut buffer);
        let mut entries = Vec::new();
        while let Some(entry) = read.next() {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if name == b"." || name == b".." {
                continue;
            }
            let name = OsStr::from_bytes(name).to_owned();
            let kind = match entry.file_type() {
                FileType::Unknown => self.entry(&name).map_or(Kind::Other, |found| found.kind),
                kind => kind_of(kind),
            };
            entries.push((name, kind));
            if entries.len() >= limit {
                break;
            }
        }
        Ok(entries)
    }

    /// Opens a folder in this folder; a link is refused.
    pub(super) fn subfolder(&self, name: &OsStr) -> Result<Self, Failure> {
        let handle = beneath(self.handle.as_fd(), name, FOLDER | OFlags::NOFOLLOW, NO_LINKS)?;
        Ok(Self {
            handle,
            place: self.place.child(&name.to_string_lossy()),
        })
    }

    pub(super) fn make_folder(&self, name: &OsStr) -> io::Result<()> {
        Ok(fs::mkdirat(&self.handle, name, Mode::from_raw_mode(0o777))?)
    }

    /// Makes a new file that nobody else has, for writing.
    pub(super) fn make_file(&self, name: &OsStr) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(File::from(fs::openat(
            &self.handle,
            name,
            flags,
            Mode::from_raw_mode(0o666),
        )?))
    }

    /// Gives a new file the mode and owner of the one it replaces. The owner is kept where the account may do so.
    pub(super) fn copy_mode(file: &File, like: &Metadata) -> io::Result<()> {
        let new = fs::fstat(file)?;
        if (new.st_uid, new.st_gid) != (like.owner, like.group) {
            let owner = fs::Uid::from_raw(like.owner);
            let group = fs::Gid::from_raw(like.group);
            let _ = fs::fchown(file, Some(owner), Some(group));
        }
        Self::set_mode(file, like.mode)
    }

    pub(super) fn set_mode(file: &File, mode: u32) -> io::Result<()> {
        Ok(fs::fchmod(file, Mode::from_raw_mode(mode & 0o777))?)
    }

    pub(super) fn rename(&self, name: &OsStr, to: &Self, to_name: &OsStr, replace: bool) -> io::Result<()> {
        if replace {
            return Ok(fs::renameat(&self.handle, name, &to.handle, to_name)?);
        }
        match fs::renameat_with(&self.handle, name, &to.handle, to_name, RenameFlags::NOREPLACE) {
            // Some file systems know no exclusive rename.
            Err(Errno::INVAL | Errno::NOSYS) if to.entry(to_name).is_err() => {
                Ok(fs::renameat(&self.handle, name, &to.handle, to_name)?)
            }
            result => Ok(result?),
        }
    }

    pub(super) fn remove_file(&self, name: &OsStr) -> io::Result<()> {
        Ok(fs::unlinkat(&self.handle, name, AtFlags::empty())?)
    }

    pub(super) fn remove_empty_folder(&self, name: &OsStr) -> io::Result<()> {
        Ok(fs::unlinkat(&self.handle, name, AtFlags::REMOVEDIR)?)
    }
}

fn beneath(
    folder: BorrowedFd<'_>,
    path: impl rustix::path::Arg + Copy,
    flags: OFlags,
    resolve: ResolveFlags,
) -> Result<OwnedFd, Failure> {
    let mut tries = 0;
    loop {
        match fs::openat2(folder, path, flags | OFlags::CLOEXEC, Mode::empty(), resolve) {
            // A rename elsewhere in the tree makes the kernel give up; it asks to try again.
            Err(Errno::AGAIN | Errno::INTR) if tries < TRIES => tries += 1,
            Err(Errno::XDEV) => return Err(Failure::Escapes),
            Err(Errno::LOOP) => return Err(Failure::Link),
            result => return Ok(result.map_err(io::Error::from)?),
        }
    }
}

fn descriptor_path(handle: BorrowedFd<'_>) -> io::Result<PathBuf> {
    use std::os::fd::AsRawFd;
    std::fs::read_link(format!("/proc/self/fd/{}", handle.as_raw_fd()))
}

fn kind_of(kind: FileType) -> Kind {
    match kind {
        FileType::RegularFile => Kind::File,
        FileType::Directory => Kind::Folder,
        FileType::Symlink => Kind::Link,
        _ => Kind::Other,
    }
}

fn metadata(stat: &fs::Stat) -> Metadata {
    Metadata {
        kind: kind_of(FileType::from_raw_mode(stat.st_mode)),
        size: u64::try_from(stat.st_size).unwrap_or(0),
        modified_ns: nanoseconds(stat.st_mtime, stat.st_mtime_nsec),
        changed_ns: nanoseconds(stat.st_ctime, stat.st_ctime_nsec),
        device: stat.st_dev,
        inode: stat.st_ino,
        mode: stat.st_mode,
        owner: stat.st_uid,
        group: stat.st_gid,
    }
}

#[allow(
    clippy::useless_conversion,
    clippy::unnecessary_fallible_conversions,
    reason = "the types differ by CPU"
)]
fn nanoseconds(seconds: impl TryInto<i128>, rest: impl TryInto<i128>) -> i128 {
    seconds.try_into().unwrap_or(0) * 1_000_000_000 + rest.try_into().unwrap_or(0)
}
