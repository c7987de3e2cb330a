//! What outlives the program: the log of every session (the only truth), what is derived from it, settings, rules, kept
//! outputs, what files held before a call changed them, and keys in the OS keyring. Synchronous but for the keys: every
//! function is a few file operations. Deliberately absent: the meaning of events, and any key on disk.

pub mod attachments;
pub mod before;
mod disk;
mod error;
mod home;
pub mod index;
mod keyring;
mod keys;
mod lock;
pub mod log;
pub mod outputs;
pub mod raw;
pub mod reviews;
pub mod rules;
pub mod sessions;
pub mod settings;

pub use before::Before;
pub use disk::Loaded;
pub use error::{KeyError, StoreError};
pub use home::Home;
pub use keys::{Keys, Secret};
pub use lock::ProjectLock;
pub use log::{DamagedLine, Durability, LogEntry, LogReader, LogWriter, Replay, TornLine};
