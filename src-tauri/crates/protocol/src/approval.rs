//! Approvals: a call that waits for a decision. The request carries all that a card shows and exactly the answers
//! that may be given; a view never invents a scope.

use crate::*;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
pub struct ApprovalRequest {
    pub id: ApprovalId,
    pub call: CallId,
    pub item: ItemId,
    pub turn: TurnId,
    pub iteration: u32,
    pub requested: Timestamp,
    pub tool: String,
    /// Raw JSON text of the arguments that would run.
    pub arguments: String,
    pub verb: Verb,
    pub target: String,
    pub access: Vec<Access>,
    /// Strictest last.
    pub classes: Vec<RiskClass>,
    pub body: ApprovalBody,
    /// The text the model wrote before the call, in its own words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub agent_words: Option<String>,
    pub undo: UndoFact,
    /// Why it is asked.
    pub trace: Vec<TraceLine>,
    /// The scopes in which it may be approved; never empty, narrowest first.
    pub scopes: Vec<AnswerScope>,
    /// The rule that a wider scope makes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub rule: Option<RuleShape>,
    /// That rule in words: "npm test, any arguments".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub remembered_as: Option<String>,
    /// The file changed after the proposal and the diff was made again.
    pub renewed: bool,
    /// Asked before the program was started again.
    pub from_before_restart: bool,
    /// A call that runs already asks for this as well; the number tells its questions apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub ask: Option<u32>,
    /// The command ran and the sandbox refused it something; it would run again with just that allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub again: Option<RefusedRun>,
    /// The sub-agent that asks; absent for the turn itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub origin: Option<ApprovalOrigin>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
pub struct ApprovalOrigin {
    /// Name of the sub-agent.
    pub name: String,
    pub session: SessionId,
    /// The approval's id there.
    pub approval: ApprovalId,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
#[serde(tag = "body", rename_all = "snake_case")]
pub enum ApprovalBody {
    Command {
        command: String,
        segments: Vec<Segment>,
        /// Working folder relative to the project, `.` for the project itself.
        folder: String,
        /// After so long the person is asked, or, when the model set it, the command is ended.
        time_limit: Millis,
        /// It goes on beside the turn, without a limit.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        #[cfg_attr(feature = "bindings", ts(as = "Option<bool>", optional))]
        background: bool,
        sandbox: SandboxSummary,
    },
    Change {
        change: FileChange,
        /// State of the file when the diff was made; checked again before it is written.
        base: FileVersion,
    },
    /// Several files, all or nothing.
    Changes {
        changes: Vec<FileChange>,
        /// States of all files that are touched, checked again before the first one is written.
        base: Vec<FileBase>,
    },
    Delete {
        files: Vec<FileChange>,
        /// States of the files, checked again before the first one is removed.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[cfg_attr(feature = "bindings", ts(as = "Option<Vec<FileBase>>", optional))]
        base: Vec<FileBase>,
    },
    /// A connection.
    Connect {
        host: String,
        port: u16,
        reach: HostReach,
        /// `GET https://…`, when it is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "bindings", ts(optional))]
        request: Option<String>,
        /// The command that wants it; absent when Paddock itself would connect.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "bindings", ts(optional))]
        command: Option<String>,
    },
    /// Any other call: its arguments as they are.
    Other,
}

/// Where the addresses of a host are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum HostReach {
    Public,
    /// A network of one's own: home, company.
    Private,
    /// This machine.
    Loopback,
    /// Not looked up yet.
    Unknown,
}

/// A run of a command that the sandbox refused something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
pub struct RefusedRun {
    /// Exactly what was refused.
    pub refused: Vec<Access>,
    /// What the run came to; the model gets it when the person does not allow more.
    pub output: Box<CallOutput>,
    /// What let it run the first time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub verdict: Option<Box<CallVerdict>>,
}

impl ApprovalBody {
    /// The file states that an approval of this holds for.
    pub fn base(&self) -> Vec<FileBase> {
        match self {
            ApprovalBody::Change { change, base } => vec![FileBase {
                path: change.path.clone(),
                version: base.clone(),
                size: None,
            }],
            ApprovalBody::Changes { base, .. } | ApprovalBody::Delete { base, .. } => base.clone(),
            ApprovalBody::Command { .. } | ApprovalBody::Connect { .. } | ApprovalBody::Other => Vec::new(),
        }
    }

    /// The hunks that the person may switch off one by one: those of an edit of one file.
    pub fn hunks(&self) -> &[Hunk] {
        match self {
            ApprovalBody::Change { change, .. } if change.kind == ChangeKind::Edited => {
                change.diff.as_ref().map_or(&[], |diff| &diff.hunks)
            }
            _ => &[],
        }
    }
}

/// The state of a file when a change of it was proposed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
pub struct FileBase {
    pub path: String,
    pub version: FileVersion,
    /// Bytes, when they were counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional, type = "number"))]
    pub size: Option<u64>,
}

/// One part of a command line, as far as it can be split.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
pub struct Segment {
    /// How it is joined to the one before: ``, `|`, `&&`, `||`, `;`, `$(`.
    pub joint: String,
    pub text: String,
    /// Facts about this part: "allowed by a rule", "writes build.log", "network", "deletes".
    pub notes: Vec<String>,
}

/// What confines commands on this machine, in words that the core has really tried.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
pub struct SandboxSummary {
    pub confined: bool,
    /// "full", "reduced" or "none".
    pub tier: String,
    pub network: NetworkLevel,
    /// The project is mounted read-only.
    pub read_only: bool,
    /// What is not enforced, one sentence each.
    pub gaps: Vec<String>,
}

/// What network commands see.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum NetworkLevel {
    /// A loopback of their own and nothing else.
    #[default]
    Off,
    /// Each host is asked for.
    Asks,
    /// The network of the machine.
    Open,
}

/// Identity of a file's content: hex SHA-256, or absent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
#[serde(tag = "file", rename_all = "snake_case")]
pub enum FileVersion {
    Absent,
    Content { hash: String },
}

/// Whether the effect of a call can be taken back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
#[serde(tag = "undo", rename_all = "snake_case")]
pub enum UndoFact {
    /// Nothing is changed.
    Nothing,
    Covered,
    NotCovered {
        why: String,
    },
}

/// For how long an approval holds, narrowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum AnswerScope {
    Once,
    Turn,
    Session,
    Project,
    /// Once, with the network of the machine in place of the proxy that asks.
    #[serde(rename = "once_open_network")]
    OnceWithNetwork,
    /// Once, without the sandbox.
    OnceUnconfined,
}

impl AnswerScope {
    /// Whether it holds for this one call, and opens more than its call asked for. Never by rule.
    pub fn opens_more(self) -> bool {
        matches!(self, AnswerScope::OnceWithNetwork | AnswerScope::OnceUnconfined)
    }
}

/// The person's answer to one approval.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
#[serde(tag = "answer", rename_all = "snake_case")]
pub enum Decision {
    Approve {
        scope: AnswerScope,
        /// Raw JSON text of changed arguments; they are checked and classified again.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "bindings", ts(optional))]
        edited_arguments: Option<String>,
        /// Hunks of the shown diff that are not written, by place from 0 and in order; at least one has to stay.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[cfg_attr(feature = "bindings", ts(as = "Option<Vec<u32>>", optional))]
        left_out: Vec<u32>,
        /// The rule to keep, when it is another one than the request proposes. It must cover this call.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "bindings", ts(optional))]
        rule: Option<RuleWish>,
    },
    Reject {
        /// Goes to the model as written.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "bindings", ts(optional))]
        reason: Option<String>,
        /// Pause the turn after this iteration.
        #[serde(default)]
        pause: bool,
    },
}

impl Decision {
    /// Approved whole and as it was shown.
    pub fn approve(scope: AnswerScope) -> Self {
        Self::Approve {
            scope,
            edited_arguments: None,
            left_out: Vec::new(),
            rule: None,
        }
    }
}

impl Decision {
    /// Whether the person let through something else than was asked for.
    pub fn changes_it(&self) -> bool {
        match self {
            Decision::Approve {
                edited_arguments,
                left_out,
                ..
            } => edited_arguments.is_some() || !left_out.is_empty(),
            Decision::Reject { .. } => false,
        }
    }
}

/// What of a rule the person may choose in an approval.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
pub struct RuleWish {
    pub shape: RuleShape,
    #[serde(default)]
    pub end: RuleEnd,
}

/// Why an approval no longer waits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum ApprovalOutcome {
    Decided {
        decision: Decision,
        by: DecidedBy,
    },
    /// The turn was stopped, the call was ended, or the file changed and a new request took its place.
    Withdrawn {
        why: WithdrawReason,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum WithdrawReason {
    Stopped,
    CallEnded,
    Renewed,
    /// The sub-agent that asked no longer waits for it.
    SubAgentEnded,
}
