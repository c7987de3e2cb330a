//! What can go wrong with the data folder and with keys.

use std::io;
use std::path::{Path, PathBuf};

/// A failure of the data folder. The texts are for the person; paths are below the data folder.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The system names no folder for data of programs.
    #[error(
        "This system names no folder for the data of programs. Set PADDOCK_HOME to a folder of your own."
    )]
    NoHome,
    /// Another Paddock (or another part of this one) writes there.
    #[error("{what} is in use by another Paddock.")]
    InUse { what: String },
    #[error("There is no {what}.")]
    NotFound { what: String },
    #[error("There is already a {what}.")]
    AlreadyExists { what: String },
    /// An id that cannot be a file name; only a damaged or hostile client sends one.
    #[error("`{id}` is not an id.")]
    InvalidId { id: String },
    /// An earlier write to this log could not be made safe; the log takes no more events until it is opened again.
    #[error("The log of this session could not be written safely; open the session again.")]
    LogBroken,
    #[error("The disk is full: {}", path.display())]
    DiskFull { path: PathBuf },
    #[error("{} could not be {doing}: {source}", path.display())]
    Io {
        doing: &'static str,
        path: PathBuf,
        source: io::Error,
    },
    /// Not even an index in memory could be asked; a fault in Paddock.
    #[error("The figures could not be computed: {0}")]
    Index(#[from] rusqlite::Error),
    /// A value that cannot be written as JSON; a fault in Paddock.
    #[error("A record could not be written as JSON: {0}")]
    Encoding(#[from] serde_json::Error),
}

impl StoreError {
    pub(crate) fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> StoreError {
        move |source| match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => StoreError::DiskFull {
                path: path.to_owned(),
            },
            _ => StoreError::Io {
                doing,
                path: path.to_owned(),
                source,
            },
        }
    }
}

/// Why the keyring did not do what was asked. Every text is one or two sentences with a remedy; none holds a key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    #[error(
        "The keyring of this system is not running. Start it (for example GNOME Keyring or KWallet) and try again."
    )]
    NotRunning,
    #[error("The keyring is locked. Unlock it and try again.")]
    Locked,
    #[error("The keyring did not answer within 3 seconds. If it shows a window, answer it and try again.")]
    NoAnswer,
    #[error("The keyring does not take this key: {why}.")]
    Refused { why: String },
    #[error("The keyring failed: {why}. Try again, or restart it.")]
    Failed { why: String },
}
