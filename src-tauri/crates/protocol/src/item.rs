//! Items: the visible entries of the timeline, and at the same time the durable record from which the model's
//! history is rebuilt. A new feature is a new kind of item, not a new kind of event.

use crate::*;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
pub struct Item {
    pub id: ItemId,
    /// The turn it belongs to.
    pub turn: TurnId,
    /// The iteration it belongs to; 0 before the first.
    pub iteration: u32,
    pub started: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub ended: Option<Timestamp>,
    pub status: ItemStatus,
    pub kind: ItemKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum ItemStatus {
    /// Not begun: waits for its turn, for a decision or for an answer.
    Waiting,
    Running,
    Done,
    Failed,
    Rejected,
    Stopped,
    /// The program died while it ran.
    OutcomeUnknown,
    Undone,
}

impl ItemStatus {
    /// Whether nothing more happens to the item, an undo apart.
    pub fn is_final(self) -> bool {
        !matches!(self, ItemStatus::Waiting | ItemStatus::Running)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ItemKind {
    /// What the person wrote.
    UserMessage {
        text: String,
        delivery: Delivery,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        images: Vec<Attachment>,
        /// As chosen for this message.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "bindings", ts(optional))]
        effort: Option<Effort>,
        /// Its id in the queue, when it waited there; with this item it has left the queue.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "bindings", ts(optional))]
        queued: Option<u32>,
    },
    /// Text of the model, Markdown.
    AgentText {
        text: String,
    },
    Reasoning {
        text: String,
        /// The provider's own block, byte for byte, to be sent back to the same provider and model only.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "bindings", ts(optional))]
        opaque: Option<Opaque>,
    },
    Call(Box<CallItem>),
    /// The model could not be reached and is asked again.
    Retry {
        attempt: u32,
        of: u32,
        until: Timestamp,
        error: ModelError,
    },
    /// A call could not be read and was asked for again.
    Malformed {
        attempt: u32,
        of: u32,
        reason: String,
        raw: String,
    },
    /// The loop guard saw a repetition and told the model (`paused` = false) or paused the turn.
    Guard {
        pattern: GuardPattern,
        calls: Vec<CallId>,
        paused: bool,
    },
    /// The same tool failed several times in a row and the turn paused.
    Breaker {
        tool: String,
        calls: Vec<CallId>,
    },
    /// A limit was reached; the model is told of a warning, the turn pauses at the limit.
    Limit {
        reached: LimitReached,
    },
    /// The program died during the turn. Calls that ran then have an unknown outcome.
    Recovery {
        unknown: Vec<CallId>,
    },
    RoleChange {
        from: Role,
        to: Role,
        /// Name of the role of one's own that is in force now.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "bindings", ts(optional))]
        own: Option<String>,
    },
    ModelChange {
        from: ModelChoice,
        to: ModelChoice,
    },
    Error {
        error: ModelError,
    },
    /// The server read far less of a request than was sent: it cuts what does not fit its window. Told once for a model.
    PromptCut {
        model: ModelChoice,
        /// Tokens that the server counted.
        read: u32,
        /// Tokens that were sent, as an estimate.
        sent: u32,
        remedy: String,
    },
    /// File changes of a call were taken back (or, with `redo`, made again).
    Undo {
        call: CallId,
        redo: bool,
        files: Vec<UndoneFile>,
    },
    TurnSummary {
        report: TurnReport,
    },
    /// A workflow begins a step (`step` from 1) or ends.
    Workflow {
        name: String,
        title: String,
        step: u32,
        of: u32,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "bindings", ts(optional))]
        end: Option<WorkflowEnd>,
    },
    /// A running command was let through to a host by a rule, without asking.
    HostAdmitted {
        call: CallId,
        host: String,
        /// The rule in words, as it was then.
        rule: String,
        rule_id: RuleId,
    },
    /// The person decided about something that was set aside after a command.
    SetAside {
        path: String,
        /// Put back; else thrown away.
        back: bool,
    },
    /// A background process ended.
    ProcessEnded {
        process: Process,
        end: ProcessEnd,
    },
}

/// How a message reached the turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
#[serde(tag = "delivery", rename_all = "snake_case")]
pub enum Delivery {
    /// It began the turn.
    Start,
    /// Sent while the turn worked; `used_from` is the first iteration whose request holds it.
    Steer {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "bindings", ts(optional))]
        used_from: Option<u32>,
    },
    /// A note with which a paused turn was continued.
    Note {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "bindings", ts(optional))]
        used_from: Option<u32>,
    },
}

/// A provider-owned blob beside the text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
pub struct Opaque {
    pub provider: ProviderId,
    pub model: String,
    /// JSON text, kept byte for byte.
    pub data: String,
}

/// One use of one tool, from the asking to the result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
pub struct CallItem {
    pub call: CallId,
    /// The id the model's server gave, empty when it gave none.
    #[serde(default)]
    pub server_id: String,
    pub tool: String,
    /// Raw JSON text of the arguments, as the model wrote it.
    pub arguments: String,
    pub verb: Verb,
    /// The main argument in full: path relative to the project, command, pattern, question.
    pub target: String,
    #[serde(default)]
    pub classes: Vec<RiskClass>,
    /// Who or what let it run, or refused it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub verdict: Option<CallVerdict>,
    /// When it began to run; calls whose times overlap ran side by side.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub began: Option<Timestamp>,
    /// It may run, but an earlier call comes first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub after: Option<CallId>,
    /// A command that passed its time limit and still runs: the person is asked.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "bindings", ts(as = "Option<bool>", optional))]
    pub overdue: bool,
    /// The text dialects' flag: the turn ends after this call.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "bindings", ts(as = "Option<bool>", optional))]
    pub terminate: bool,
    /// The sandbox refused its first run something; it waits, or runs again, with just that allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub again: Option<RefusedRun>,
    /// Paddock made this call itself, to see whether the work is done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub check: Option<CheckRun>,
    /// What a `delegate` call started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub sub_agent: Option<SubAgent>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub output: Option<CallOutput>,
}

/// One run of the command that says whether the work is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
pub struct CheckRun {
    /// Counts from 1; starts again when the person goes on after a pause.
    pub attempt: u32,
    /// After so many failures the turn pauses.
    pub of: u32,
}

/// A sub-agent as the row of its call shows it. Its timeline is the session's own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
pub struct SubAgent {
    pub session: SessionId,
    pub name: String,
    pub task: String,
    /// It may change files; only a turn in role Admin starts such a one.
    pub writes: bool,
    pub status: TurnStatus,
    pub iteration: u32,
    pub iteration_limit: u32,
    pub usage: Usage,
    /// Its share of the parent's tokens; absent without a limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub token_limit: Option<u32>,
    /// Its share of the money that is left; absent without a cap.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub cost_limit: Option<Micros>,
}

/// The word with which a row begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum Verb {
    Read,
    List,
    Search,
    Edit,
    Create,
    Move,
    Delete,
    Run,
    Fetch,
    Ask,
    /// `task_completion`: the agent ends its work.
    Finish,
    /// `converse`: the agent just talks.
    Say,
    /// `update_plan`.
    Plan,
    /// `remember`.
    Note,
    /// `delegate`.
    Delegate,
    /// `stop_process`.
    End,
    /// Any other tool.
    Use,
}

/// Why a call ran or did not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
pub struct CallVerdict {
    pub by: DecidedBy,
    pub allowed: bool,
    /// The person's words at a rejection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub reason: Option<String>,
    /// Arguments as the person changed them before approving, raw JSON text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub edited_arguments: Option<String>,
    /// Hunks of the diff, by place from 0, that the person switched off.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "bindings", ts(as = "Option<Vec<u32>>", optional))]
    pub left_out: Vec<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub scope: Option<AnswerScope>,
    /// What beyond the project it may reach: places outside, hosts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "bindings", ts(as = "Option<Vec<Access>>", optional))]
    pub reach: Vec<Access>,
    pub trace: Vec<TraceLine>,
}

impl CallVerdict {
    /// Whether the person let through something else than was asked for.
    pub fn changes_it(&self) -> bool {
        self.edited_arguments.is_some() || !self.left_out.is_empty()
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum DecidedBy {
    Person,
    Rule {
        rule: RuleId,
    },
    /// Role and autonomy alone.
    Policy,
    /// The person confirmed the preview of a workflow.
    Workflow {
        name: String,
    },
}

/// The result of a call: what the model gets, and the facts a row shows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
pub struct CallOutput {
    pub ok: bool,
    /// Text for the model, at most 64 KiB.
    pub text: String,
    pub duration: Millis,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub exit_code: Option<i32>,
    /// Size of the whole output in bytes when `text` holds only a part; the rest is readable on demand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional, type = "number"))]
    pub total_bytes: Option<u64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "bindings", ts(as = "Option<Vec<FileChange>>", optional))]
    pub changes: Vec<FileChange>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub facts: Option<OutputFacts>,
    /// Ended by its own time limit.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "bindings", ts(as = "Option<bool>", optional))]
    pub timed_out: bool,
    /// Exactly what the sandbox refused, as far as it is known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "bindings", ts(as = "Option<Vec<Access>>", optional))]
    pub refused: Vec<Access>,
    /// Number of secrets that were masked in `text`.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[cfg_attr(feature = "bindings", ts(as = "Option<u32>", optional))]
    pub masked: u32,
    /// Images for a model that sees.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "bindings", ts(as = "Option<Vec<Attachment>>", optional))]
    pub images: Vec<Attachment>,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// Facts of an output by kind of tool, for one short text at the end of a row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
#[serde(tag = "facts", rename_all = "snake_case")]
pub enum OutputFacts {
    Lines {
        first: u32,
        last: u32,
        of: u32,
    },
    Hits {
        hits: u32,
        files: u32,
        more: bool,
    },
    Entries {
        entries: u32,
        more: bool,
    },
    Command {
        /// Name of the confinement: "full", "reduced", "none".
        sandbox: String,
        timed_out: bool,
        /// Things the sandbox refused, one sentence each.
        denials: Vec<String>,
        /// Files set aside because they would have run later outside of the sandbox.
        quarantined: Vec<String>,
    },
    Answer {
        answer: String,
    },
    /// The command goes on in the background.
    Background {
        process: ProcessId,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum GuardPattern {
    /// The same call gave the same result several times.
    SameCall,
    /// Two or three calls in rotation.
    Rotation,
    /// An edit was done and undone.
    BackAndForth,
    /// No change and nothing new for several iterations.
    NoProgress,
}

/// One file of an undo or redo.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
pub struct UndoneFile {
    pub path: String,
    pub result: UndoResult,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum UndoResult {
    Restored,
    /// Created by the agent, so taken away.
    Removed,
    /// Changed since; left as it is.
    KeptNewer,
    Failed,
}

/// What a turn came to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
pub struct TurnReport {
    pub end: TurnEnd,
    pub iterations: u32,
    pub calls: u32,
    pub files_changed: u32,
    /// Working time without waiting for the person.
    pub active: Millis,
    pub waiting: Millis,
    pub usage: Usage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum TurnEnd {
    Completed,
    Stopped,
    Failed,
}

/// Tokens, in parts that do not overlap: total input = `input` + `cached` + `cache_write`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
pub struct Usage {
    pub input: u32,
    /// Input read from the provider's cache.
    pub cached: u32,
    /// Input written to the provider's cache.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cache_write: u32,
    /// Output without reasoning.
    pub output: u32,
    pub reasoning: u32,
    /// Whether any part was estimated because the server reported none.
    pub estimated: bool,
    /// By the price list, of all parts whose price is known.
    #[serde(default)]
    pub cost: Micros,
    /// Whether a part has no known price; `cost` is then at least this.
    #[serde(default)]
    pub unpriced: bool,
}

impl Usage {
    pub fn total(&self) -> u64 {
        [
            self.input,
            self.cached,
            self.cache_write,
            self.output,
            self.reasoning,
        ]
        .iter()
        .map(|n| u64::from(*n))
        .sum()
    }

    pub fn add(&mut self, other: &Usage) {
        self.input = self.input.saturating_add(other.input);
        self.cached = self.cached.saturating_add(other.cached);
        self.cache_write = self.cache_write.saturating_add(other.cache_write);
        self.output = self.output.saturating_add(other.output);
        self.reasoning = self.reasoning.saturating_add(other.reasoning);
        self.estimated |= other.estimated;
        self.cost = Micros(self.cost.0.saturating_add(other.cost.0));
        self.unpriced |= other.unpriced;
    }
}
