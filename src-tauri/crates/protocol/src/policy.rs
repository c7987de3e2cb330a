//! Words of the policy: what a call would touch, in which role, under which rules. No decision is made here.

use crate::{Millis, RuleId, Segment, SessionId, Timestamp, TurnId};
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
    /// Lower case, ASCII form.
    Network {
        host: String,
    },
    /// A place outside of the project: absolute, links followed; a folder ends in `/`.
    Outside {
        path: String,
        write: bool,
        /// Where in the project it leaves: the link, or the part with `..`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "bindings", ts(optional))]
        through: Option<String>,
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
    #[serde(default)]
    pub end: RuleEnd,
    /// When it last decided something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub last_used: Option<Timestamp>,
    /// How often it decided.
    #[serde(default)]
    pub uses: u32,
}

/// When a rule ends, its scope apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
#[serde(tag = "end", rename_all = "snake_case")]
pub enum RuleEnd {
    #[default]
    Never,
    At {
        at: Timestamp,
    },
    /// It falls asleep when it was not used for so long: the next match asks once.
    Unused {
        days: u32,
    },
}

impl Rule {
    /// Whether its time is over.
    pub fn has_ended(&self, now: Timestamp) -> bool {
        matches!(self.end, RuleEnd::At { at } if now >= at)
    }

    /// Whether it was not used for so long that it no longer allows.
    pub fn is_asleep(&self, now: Timestamp) -> bool {
        let RuleEnd::Unused { days } = self.end else {
            return false;
        };
        let day = Millis::minutes(24 * 60).0;
        now.since(self.last_used.unwrap_or(self.created)).0 > u64::from(days) * day
    }
}

/// A rule as the person wishes it; id and time are added when it is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
pub struct RuleDraft {
    pub shape: RuleShape,
    pub answer: RuleAnswer,
    pub scope: RuleScope,
    #[serde(default)]
    pub end: RuleEnd,
}

/// Which calls a rule covers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
#[serde(tag = "shape", rename_all = "snake_case")]
pub enum RuleShape {
    /// Every part of the command line fits these words, one after another.
    Command { words: Vec<WordShape> },
    /// Writes to exactly this path, or below it when it ends in `/`.
    WritePath { path: String },
    /// Connections to exactly this host, or to all below a domain when it begins with `*.`.
    Host { host: String },
    /// A place outside of the project, or what is below it when it ends in `/`. Writing covers reading, never the reverse.
    Outside { path: String, write: bool },
    /// A tool of a connected server.
    ExternalTool { server: String, tool: String },
}

/// One word of a command in a rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
#[serde(tag = "word", rename_all = "snake_case")]
pub enum WordShape {
    Exact {
        text: String,
    },
    OneOf {
        texts: Vec<String>,
    },
    /// Any single word.
    Any,
    /// Any number of further words; only as the last.
    Rest,
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
    Turn {
        turn: TurnId,
    },
    Session,
    Project,
    /// All projects; made only in Settings.
    Everywhere,
}

impl RuleScope {
    /// Whether it holds beyond the session in which it was made.
    pub fn outlives_session(self) -> bool {
        matches!(self, RuleScope::Project | RuleScope::Everywhere)
    }
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

/// A rule with what a list shows of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
pub struct RuleInfo {
    pub rule: Rule,
    /// In words: "npm test, any arguments".
    pub words: String,
    pub asleep: bool,
}

/// What the policy says about a command, tried out and not run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
pub struct Judged {
    pub verdict: RuleAnswer,
    /// Strictest last.
    pub classes: Vec<RiskClass>,
    pub segments: Vec<Segment>,
    pub trace: Vec<TraceLine>,
}

/// What a rule would do, before it is made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
pub struct RulePreview {
    /// The rule in words.
    pub words: String,
    /// Why such a rule cannot be kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub refused: Option<String>,
    /// It covers so much that it is confirmed a second time: what it would permit, one sentence each.
    pub wide: Vec<String>,
    /// Past calls in this project that it would have covered, newest first, at most 50.
    pub covered: Vec<PastCall>,
    /// Past calls that nearly fit, at most 10.
    pub near: Vec<PastCall>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
pub struct PastCall {
    pub session: SessionId,
    pub at: Timestamp,
    pub target: String,
}
