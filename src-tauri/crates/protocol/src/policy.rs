//! Words of the policy: what a call would touch, in which role, under which rules. No decision is made here.

use crate::{RuleId, Timestamp, TurnId};
use serde::{Deserialize, Serialize};

/// Which tools exist in a session. The model can never change it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Read-only; commands too are confined read-only.
    Plan,
    /// Reads, and writes with approval.
    #[default]
    Act,
    /// All tools and raised ceilings; ends with the session.
    Admin,
}

/// How much is asked inside a role.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum Autonomy {
    #[default]
    Careful,
    Balanced,
    HandsOff,
}

/// What a call would touch, declared by its tool before it runs. Paths are relative to the project, with `/`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
#[serde(tag = "access", rename_all = "snake_case")]
pub enum Access {
    Read {
        path: String,
    },
    Write {
        path: String,
    },
    Delete {
        path: String,
    },
    /// A shell command line.
    Exec {
        command: String,
    },
    Network {
        host: String,
    },
    /// A path that leaves the project.
    Outside {
        path: String,
        write: bool,
    },
    /// A protected place inside the project.
    Protected {
        path: String,
        write: bool,
        place: ProtectedPlace,
    },
    /// A tool of a connected server.
    External {
        server: String,
        tool: String,
    },
}

/// Why a place is protected even inside the project.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum ProtectedPlace {
    GitInternals,
    PaddockSettings,
    AgentInstructions,
    LoginScript,
    SecretFile,
    EditorTasks,
}

/// Class of risk, weakest first; the strictest class of a call decides order, buttons and what can be remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum RiskClass {
    Read,
    Write,
    Command,
    External,
    Network,
    Outside,
    Delete,
    Protected,
}

/// A remembered decision for calls of one shape. Kept in Paddock's data, never in the project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
pub struct Rule {
    pub id: RuleId,
    pub shape: RuleShape,
    pub answer: RuleAnswer,
    pub scope: RuleScope,
    pub created: Timestamp,
}

/// Which calls a rule covers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
#[serde(tag = "shape", rename_all = "snake_case")]
pub enum RuleShape {
    /// Every part of the command begins with these exact words.
    CommandPrefix { words: Vec<String> },
    /// Writes to exactly this path, or below it when it ends in `/`.
    WritePath { path: String },
    /// Connections to exactly this host.
    Host { host: String },
    /// A tool of a connected server.
    ExternalTool { server: String, tool: String },
}

/// Ordered: the strictest answer that matches wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum RuleAnswer {
    Allow,
    Ask,
    Never,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
#[serde(tag = "scope", rename_all = "snake_case")]
pub enum RuleScope {
    Turn { turn: TurnId },
    Session,
    Project,
}

/// One line of the answer to "why was this asked (allowed, refused)?", in the order of evaluation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
pub struct TraceLine {
    /// What was looked at: "Role Act", "Autonomy Careful", "Rule npm test …".
    pub about: String,
    /// What it said.
    pub says: String,
    /// Whether this line decided.
    pub decides: bool,
}
