//! How a command ended, as data for the timeline and the model.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::blocked::Blocked;

/// How a command ended and what was noticed about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandEnd {
    pub exit: CommandExit,
    pub duration: Duration,
    /// How many processes it had left running; they were ended.
    pub processes_ended: u32,
    /// Output beyond the limit that was not delivered, in bytes.
    pub output_dropped: u64,
    /// Likely refusals by the sandbox, guessed from a failed command's output.
    pub denials: Vec<Denial>,
    /// The exact things that were refused and that a grant would allow.
    pub blocked: Vec<Blocked>,
    /// What was moved out of the project because it would run later outside of the sandbox.
    pub quarantined: Vec<Quarantined>,
}

/// Why a command is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind", content = "value")]
pub enum CommandExit {
    Code(i32),
    /// Ended by this signal.
    Signal(i32),
    TimedOut,
    Stopped,
    LimitExceeded(Limit),
}

impl CommandExit {
    /// Whether it ended by itself with code 0.
    pub fn is_success(&self) -> bool {
        *self == Self::Code(0)
    }
}

/// A resource limit that ended a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    Processes,
    Memory,
    Disk,
}

/// A likely refusal by the sandbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Denial {
    /// One sentence: what was refused, and that retrying alone will not help.
    pub sentence: String,
    /// The line of output it was guessed from, shortened.
    pub line: String,
}

/// Something that a command left in the project and that was moved away.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quarantined {
    /// Where it was, relative to the project.
    pub path: String,
    /// Where it is now, relative to the quarantine folder of the state folder; the same for what was cut out of a file.
    pub kept_as: String,
    /// One sentence: why.
    pub reason: String,
}
