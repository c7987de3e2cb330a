//! Changes in the project: writing, making, moving and removing. Each one resolves the folder to a handle first, asks where
//! that handle really is, and then works on one name in it without following links.

use std::ffi::OsStr;
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use super::error::{Failure, InvalidPath, PathError};
use super::protection::ProtectionKind;
use super::relative::RelativePath;
use super::{Folder, Kind, Metadata, ProjectRoot, WriteMode, check_regular};

/// How many entries a removed folder may hold.
const MAX_REMOVED: usize = 1_000_000;
const MAX_DEPTH: usize = 256;

impl ProjectRoot {
    /// Writes a whole file in one step: readers see the old or the new content, and a hard link elsewhere keeps the old one.
    /// Missing folders of new files are made, the mode of a replaced file is kept. A link is written through only inside of the project.
    pub fn write(&self, path: &RelativePath, bytes: &[u8], mode: WriteMode) -> Result<(), PathError> {
        self.put(path, bytes, mode, None)
    }

    /// Brings back what a file held, also after it was removed or another one took its place, with its permissions where
    /// they are known (a Unix mode; ignored on Windows).
    pub fn restore(
        &self,
        path: &RelativePath,
        bytes: &[u8],
        permissions: Option<u32>,
    ) -> Result<(), PathError> {
        self.put(path, bytes, WriteMode::CreateOrReplace, permissions)
    }

    fn put(
        &self,
        path: &RelativePath,
        bytes: &[u8],
        mode: WriteMode,
        permissions: Option<u32>,
    ) -> Result<(), PathError> {
        self.in_scope(path)?;
        self.may_change(path)?;
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(project_itself());
        };
        let folder = match mode {
            WriteMode::Replace => self
                .tree()
                .folder(&parent)
                .map_err(|failure| self.explain(failure, path))?,
            WriteMode::CreateNew | WriteMode::CreateOrReplace => self.folder_made(&parent)?,
        };
        let (folder, name) = self.target(folder, name, path)?;
        let name = OsStr::new(&name);
        self.may_change(&folder.place.child(&name.to_string_lossy()))?;
        let old = match folder.entry(name) {
            Ok(found) => Some(found),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => return Err(Failure::Io(error).at(path)),
        };
        match (&old, mode) {
            (Some(_), WriteMode::CreateNew) => return Err(PathError::AlreadyExists { path: path.clone() }),
            (None, WriteMode::Replace) => return Err(PathError::NotFound { path: path.clone() }),
            (Some(found), _) => check_regular(found, path)?,
            (None, _) => {}
        }
        let new = NewContent {
            bytes,
            old: old.as_ref(),
            permissions,
        };
        replace(&folder, name, &new, mode).map_err(|error| Failure::Io(error).at(path))?;
        self.shared
            .own
            .note(folder.place.child(&name.to_string_lossy()), bytes);
        Ok(())
    }

    /// Makes a folder and the missing ones above it; an existing folder is fine.
    pub fn create_folder(&self, path: &RelativePath) -> Result<(), PathError> {
        self.in_scope(path)?;
        self.may_change(path)?;
        self.folder_made(path).map(|_| ())
    }

    /// Moves a file, link or folder to a name where nothing is.
    pub fn rename(&self, from: &RelativePath, to: &RelativePath) -> Result<(), PathError> {
        for path in [from, to] {
            self.in_scope(path)?;
            self.may_change(path)?;
        }
        let (Some((old_folder, old_name)), Some(parent), Some(new_name)) =
            (self.folder_of(from)?, to.parent(), to.file_name())
        else {
            return Err(project_itself());
        };
        self.may_change(&old_folder.place.child(old_name))?;
        old_folder
            .entry(OsStr::new(old_name))
            .map_err(|error| Failure::Io(error).at(from))?;
        let new_folder = self.folder_made(&parent)?;
        self.may_change(&new_folder.place.child(new_name))?;
        old_folder
            .rename(OsStr::new(old_name), &new_folder, OsStr::new(new_name), false)
            .map_err(|error| Failure::Io(error).at(to))
    }

    /// Removes a file or a link, never what the link leads to.
    pub fn remove_file(&self, path: &RelativePath) -> Result<(), PathError> {
        let (folder, name) = self.changed_entry(path)?;
        let found = folder
            .entry(OsStr::new(name))
            .map_err(|error| Failure::Io(error).at(path))?;
        if found.kind == Kind::Folder {
            return Err(PathError::IsAFolder { path: path.clone() });
        }
        folder
            .remove_file(OsStr::new(name))
            .map_err(|error| Failure::Io(error).at(path))
    }

    /// Removes a folder that is empty; a link to one is refused.
    pub fn remove_empty_folder(&self, path: &RelativePath) -> Result<(), PathError> {
        let (folder, name) = self.changed_entry(path)?;
        folder
            .remove_empty_folder(OsStr::new(name))
            .map_err(|error| Failure::Io(error).at(path))
    }

    /// Removes a folder with everything in it; links in it are removed, not followed. A folder that holds a repository's
    /// `.git` is refused as a whole unless git's internals were granted.
    pub fn remove_folder(&self, path: &RelativePath) -> Result<(), PathError> {
        let (folder, name) = self.changed_entry(path)?;
        let found = folder
            .entry(OsStr::new(name))
            .map_err(|error| Failure::Io(error).at(path))?;
        if found.kind != Kind::Folder {
            return Err(PathError::NotAFolder { path: path.clone() });
        }
        let inner = folder
            .subfolder(OsStr::new(name))
            .map_err(|failure| failure.at(path))?;
        self.may_remove(&inner, &mut 0, 0)?;
        empty(&inner, 0).map_err(|failure| failure.at(path))?;
        folder
            .remove_empty_folder(OsStr::new(name))
            .map_err(|error| Failure::Io(error).at(path))
    }

    fn changed_entry<'a>(&self, path: &'a RelativePath) -> Result<(Folder, &'a str), PathError> {
        self.in_scope(path)?;
        self.may_change(path)?;
        let (folder, name) = self.folder_of(path)?.ok_or_else(project_itself)?;
        self.may_change(&folder.place.child(name))?;
        Ok((folder, name))
    }

    /// Refuses a change in a read-only project and, unless granted, anything in git's internals.
    fn may_change(&self, path: &RelativePath) -> Result<(), PathError> {
        if self.reach.read_only {
            let path = path.clone();
            return Err(match self.is_outside() {
                true => PathError::NotGranted { path },
                false => PathError::ReadOnly { path },
            });
        }
        match self.protection_at(path) {
            Some(protection)
                if protection.kind == ProtectionKind::GitInternals && !self.reach.git_internals =>
            {
                Err(PathError::Protected {
                    path: path.clone(),
                    protection,
                })
            }
            _ => Ok(()),
        }
    }

    fn may_remove(&self, folder: &Folder, seen: &mut usize, depth: usize) -> Result<(), PathError> {
        let place = folder.place.clone();
        let too_much = || PathError::Io {
            path: place.clone(),
            source: std::io::ErrorKind::FileTooLarge.into(),
        };
        let entries = folder
            .entries(usize::MAX)
            .map_err(|error| Failure::Io(error).at(&folder.place))?;
        *seen += entries.len();
        if *seen > MAX_REMOVED || depth > MAX_DEPTH {
            return Err(too_much());
        }
        for (name, kind) in entries {
            self.may_change(&folder.place.child(&name.to_string_lossy()))?;
            if kind == Kind::Folder {
                let inner = folder
                    .subfolder(&name)
                    .map_err(|failure| failure.at(&folder.place))?;
                self.may_remove(&inner, seen, depth + 1)?;
            }
        }
        Ok(())
    }

    /// The folder at a path, made one by one below handles where it is missing.
    fn folder_made(&self, path: &RelativePath) -> Result<Folder, PathError> {
        match self.tree().folder(path) {
            Ok(folder) => return Ok(folder),
            Err(failure) if failure.is_not_found() => {}
            Err(failure) => return Err(self.explain(failure, path)),
        }
        let mut part = RelativePath::root();
        let mut folder = self.tree().folder(&part).map_err(|failure| failure.at(path))?;
        for name in path.components() {
            part = part.child(name);
            folder = match self.tree().folder(&part) {
                Ok(inner) => inner,
                Err(failure) if failure.is_not_found() => {
                    self.may_change(&folder.place.child(name))?;
                    match folder.make_folder(OsStr::new(name)) {
                        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
                            return Err(Failure::Io(error).at(&part));
                        }
                        _ => folder
                            .subfolder(OsStr::new(name))
                            .map_err(|failure| self.explain(failure, &part))?,
                    }
                }
                Err(failure) => return Err(self.explain(failure, &part)),
            };
        }
        Ok(folder)
    }

    /// Where a write to `name` in `folder` really goes: through a final link that stays in the project.
    fn target(&self, folder: Folder, name: &str, path: &RelativePath) -> Result<(Folder, String), PathError> {
        match folder.entry(OsStr::new(name)) {
            Ok(Metadata { kind: Kind::Link, .. }) => {}
            _ => return Ok((folder, name.to_owned())),
        }
        let real = match self.tree().real(&folder.place.child(name)) {
            Err(failure) if failure.is_not_found() => return Err(PathError::NotAFile { path: path.clone() }),
            result => result.map_err(|failure| self.explain(failure, path))?,
        };
        let (parent, name) = self
            .folder_of(&real)?
            .ok_or_else(|| PathError::IsAFolder { path: path.clone() })?;
        Ok((parent, name.to_owned()))
    }
}

/// What a file will hold, and whose owner and permissions it gets.
struct NewContent<'a> {
    bytes: &'a [u8],
    old: Option<&'a Metadata>,
    permissions: Option<u32>,
}

fn replace(folder: &Folder, name: &OsStr, new: &NewContent<'_>, mode: WriteMode) -> std::io::Result<()> {
    let temporary = temporary_name();
    let temporary = OsStr::new(&temporary);
    let mut file = folder.make_file(temporary)?;
    let written = (|| {
        file.write_all(new.bytes)?;
        if let Some(old) = new.old {
            Folder::copy_mode(&file, old)?;
        }
        if let Some(permissions) = new.permissions {
            Folder::set_mode(&file, permissions)?;
        }
        file.sync_all()?;
        drop(file);
        folder.rename(temporary, folder, name, mode != WriteMode::CreateNew)
    })();
    if written.is_err() {
        let _ = folder.remove_file(temporary);
    }
    written
}

/// A name that no one guesses by chance; the exclusive creation is what makes it safe.
fn temporary_name() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let now = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .map_or(0, |time| time.as_nanos());
    format!(
        ".paddock-{}-{now:x}-{}.tmp",
        std::process::id(),
        COUNT.fetch_add(1, Ordering::Relaxed)
    )
}

fn empty(folder: &Folder, depth: usize) -> Result<(), Failure> {
    if depth > MAX_DEPTH {
        return Err(std::io::Error::from(std::io::ErrorKind::FileTooLarge).into());
    }
    for (name, kind) in folder.entries(usize::MAX)? {
        if kind == Kind::Folder {
            empty(&folder.subfolder(&name)?, depth + 1)?;
            folder.remove_empty_folder(&name)?;
        } else {
            folder.remove_file(&name)?;
        }
    }
    Ok(())
}

fn project_itself() -> PathError {
    PathError::Invalid {
        why: InvalidPath::ProjectFolder,
    }
}
