//! Background processes of a session: commands that go on while the turn does. They end with the session, at the latest
//! with the program.

use crate::*;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
pub struct Process {
    pub id: ProcessId,
    /// The call that started it; its kept output is the process's output.
    pub call: CallId,
    pub command: String,
    pub started: Timestamp,
    /// Ports of this machine on which it listens, as far as the sandbox lets it be known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "bindings", ts(as = "Option<Vec<u16>>", optional))]
    pub ports: Vec<u16>,
}

/// How a background process came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
#[serde(tag = "how", rename_all = "snake_case")]
pub enum ProcessEnd {
    /// By itself; no code when a signal ended it.
    Exited {
        code: Option<i32>,
    },
    EndedByPerson,
    EndedByAgent,
    /// The session was closed.
    Closed,
    /// The program died; the sandbox took the process with it.
    Lost,
}
