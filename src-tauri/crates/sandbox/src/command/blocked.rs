//! The exact things that the sandbox refused to a command, so that a person can allow just these and run it again. Hosts
//! are known where a proxy refused them; all else is guessed from what a failed command wrote, and is named only where
//! a grant would change something.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Something that was refused and that a grant could allow.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Blocked {
    /// An absolute path outside of the project that exists on this machine; for a write its folder does.
    Path {
        path: PathBuf,
        write: bool,
    },
    Host {
        host: String,
        port: u16,
    },
}
