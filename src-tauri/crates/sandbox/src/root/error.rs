//! What can go wrong with a project folder or a path inside of it. The texts go to the model and to the person, so no
//! text names an absolute path: a refused argument stays in its field for the log.

use std::io;

use super::protection::Protection;
use super::relative::RelativePath;

/// Why a folder cannot become a project. Every text is one sentence for the person, with a remedy.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("There is no such folder: check the path, or choose another one.")]
    Missing,
    #[error("This is a file, not a folder: choose the folder it is in.")]
    NotAFolder,
    #[error("This folder cannot be read with your account: change its permissions or choose another one.")]
    NoPermission,
    #[error("Choose a smaller folder. The home folder or a whole drive is too much to hand over.")]
    HomeFolder,
    #[error("Choose a smaller folder. The home folder or a whole drive is too much to hand over.")]
    DriveRoot,
    #[error("Choose a folder of your own. This one belongs to the system.")]
    SystemFolder,
    #[error("Choose another folder. Paddock keeps its own data in this one.")]
    OwnData,
    #[error("This system is too old to keep file access inside of a folder: Linux 5.6 or newer is needed.")]
    TooOld,
    #[error("The folder could not be opened: {0}.")]
    Io(#[source] io::Error),
}

/// Why a place outside of the project is not opened. The texts name no path, so that they can go to the model too.
#[derive(Debug, thiserror::Error)]
pub enum OutsideError {
    #[error("this place outside of the project is never opened, because {reason}")]
    Never { reason: &'static str },
    /// The path is not absolute, not resolved, no text, or not outside.
    #[error("the path outside of the project is not spelled as it really is")]
    NotReal,
    /// Since it was shown, a link took the place.
    #[error("a link is at this place outside of the project, and links are not followed there")]
    Link,
    #[error("the place outside of the project does not exist")]
    Missing,
    #[error("a pipe, socket or device is at this place outside of the project, which is not opened")]
    Special,
    #[error("no permission for this place outside of the project")]
    NoPermission,
    #[error("this place outside of the project could not be opened: {0}")]
    Io(#[source] io::Error),
}

/// Why an access inside of the project was refused or failed.
#[derive(Debug, thiserror::Error)]
pub enum PathError {
    /// The path leads out of the project, by `..`, as an absolute path or through a link.
    #[error("the path leaves the project at `{leaves_at}`; only paths inside of the project can be used")]
    Outside {
        /// The argument as it was given; may be an absolute path, never shown to the model.
        argument: String,
        /// The part that leads out, safe to show.
        leaves_at: String,
    },
    #[error("`{path}` is protected: {}", protection.sentence())]
    Protected {
        path: RelativePath,
        protection: Protection,
    },
    #[error("the project is read-only in this role, so `{path}` was not changed")]
    ReadOnly { path: RelativePath },
    /// Outside of the project: not what the person allowed, or a change where only reading was.
    #[error("`{path}` is not part of what was allowed outside of the project")]
    NotGranted { path: RelativePath },
    #[error("`{path}` does not exist")]
    NotFound { path: RelativePath },
    #[error("`{path}` exists already")]
    AlreadyExists { path: RelativePath },
    /// A folder was needed, and the path or a part of it is something else.
    #[error("`{path}` is not a folder, or runs through something that is not one")]
    NotAFolder { path: RelativePath },
    /// A file was needed, and a link that leads nowhere is there.
    #[error("`{path}` is not a file")]
    NotAFile { path: RelativePath },
    /// A link that cannot be followed: in a circle, or where none is.
    #[error("`{path}` is, or runs through, a link that is not followed")]
    Link { path: RelativePath },
    #[error("`{path}` is a folder")]
    IsAFolder { path: RelativePath },
    #[error("`{path}` is not empty")]
    NotEmpty { path: RelativePath },
    /// A pipe, socket or device, which is never opened.
    #[error("`{path}` is a pipe, socket or device, which is not opened")]
    Special { path: RelativePath },
    #[error("`{path}` has {size} bytes, more than the {limit} that are read")]
    TooLarge {
        path: RelativePath,
        size: u64,
        limit: u64,
    },
    #[error("the path is not valid: {why}")]
    Invalid { why: InvalidPath },
    #[error("no permission for `{path}`")]
    Permission { path: RelativePath },
    #[error("no space left on the disk to write `{path}`")]
    NoSpace { path: RelativePath },
    #[error("`{path}` failed: {source}")]
    Io { path: RelativePath, source: io::Error },
}

/// Why a path argument is refused before anything is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidPath {
    #[error("it is empty")]
    Empty,
    #[error("it contains a NUL character")]
    Nul,
    #[error("it is longer than 4096 bytes")]
    TooLong,
    #[error("one of its names is longer than 255 bytes")]
    NameTooLong,
    #[error("it leads to a name that is no text")]
    NotText,
    #[error("the project folder itself cannot be the target")]
    ProjectFolder,
    #[error("it has a form that Windows treats specially")]
    WindowsForm,
}

/// A failure below the policy: the path led out of the project, a link was in the way, or the system said no.
#[derive(Debug)]
pub(super) enum Failure {
    Escapes,
    /// A link stood where none is followed, or links lead in a circle.
    Link,
    Io(io::Error),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl Failure {
    pub(super) fn is_not_found(&self) -> bool {
        matches!(self, Self::Io(error) if error.kind() == io::ErrorKind::NotFound)
    }

    /// The error of the public API for a failure at `path`.
    pub(super) fn at(self, path: &RelativePath) -> PathError {
        let path = path.clone();
        let error = match self {
            Self::Link => return PathError::Link { path },
            Self::Escapes => {
                return PathError::Outside {
                    argument: path.to_string(),
                    leaves_at: path.to_string(),
                };
            }
            Self::Io(error) => error,
        };
        match error.kind() {
            io::ErrorKind::NotFound => PathError::NotFound { path },
            io::ErrorKind::AlreadyExists => PathError::AlreadyExists { path },
            io::ErrorKind::NotADirectory => PathError::NotAFolder { path },
            io::ErrorKind::IsADirectory => PathError::IsAFolder { path },
            io::ErrorKind::DirectoryNotEmpty => PathError::NotEmpty { path },
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                PathError::Permission { path }
            }
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => PathError::NoSpace { path },
            io::ErrorKind::InvalidFilename => PathError::Invalid {
                why: InvalidPath::NameTooLong,
            },
            _ => PathError::Io { path, source: error },
        }
    }
}
