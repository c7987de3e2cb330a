//! What goes into the step and what comes out of it. Ids and time come in with the input, so that the step stays pure.

use paddock_protocol::*;
use paddock_provider::{Answer, ModelEvent};
use paddock_tools::{ChosenHunks, Flow, ToolKind};
use std::collections::BTreeMap;
use std::sync::Arc;

/// An input with everything the step may not fetch by itself.
#[derive(Clone, Debug)]
pub struct Stamped {
    pub now: Timestamp,
    /// Randomness, for the jitter of a retry.
    pub entropy: u32,
    pub input: Input,
}

#[derive(Clone, Debug)]
pub enum Input {
    Op(Op),
    Back(Back),
    /// The session was read from its log; whatever ran died with the program before.
    Reopened,
}

/// What comes back from an effect.
#[derive(Clone, Debug)]
pub enum Back {
    ModelEvent {
        ticket: Ticket,
        event: ModelEvent,
    },
    ModelAnswered {
        ticket: Ticket,
        answer: Answer,
        first_byte: Millis,
        cut: Option<PromptCut>,
    },
    ModelFailed {
        ticket: Ticket,
        error: ModelError,
    },
    Prepared {
        call: CallId,
        arguments: String,
        result: Result<CallPlan, CallFailure>,
    },
    CallLive {
        call: CallId,
        channel: DeltaChannel,
        text: String,
    },
    CallEnded {
        call: CallId,
        result: Result<CallOutput, CallFailure>,
    },
    TimerFired(Timer),
    Undone {
        call: CallId,
        redo: bool,
        files: Vec<UndoneFile>,
    },
    ProcessStarted {
        process: Process,
    },
    ProcessEnded {
        process: ProcessId,
        end: ProcessEnd,
    },
    SubAgent {
        call: CallId,
        report: SubReport,
    },
    /// No other session changes the folder any longer.
    FolderFree,
    /// A running call asks for something more; `number` tells its questions apart.
    CallAsks {
        call: CallId,
        number: u32,
        access: Access,
        body: Box<ApprovalBody>,
    },
}

/// The server read far less than was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptCut {
    /// Tokens, as the server counted them.
    pub read: u32,
    /// Tokens, as an estimate.
    pub sent: u32,
    /// The server is on this machine, where the person sets its window.
    pub local: bool,
}

/// What a sub-agent's session tells the call that started it.
#[derive(Clone, Debug)]
pub enum SubReport {
    Progress {
        status: TurnStatus,
        iteration: u32,
        iteration_limit: u32,
    },
    Used {
        usage: Usage,
    },
    Asked {
        approval: Box<ApprovalRequest>,
    },
    /// It no longer waits there.
    Resolved {
        approval: ApprovalId,
    },
    Ended {
        ok: bool,
        /// Its last words, for the model that started it.
        text: String,
    },
}

/// What the person wrote, wherever it waits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    pub text: String,
    pub images: Vec<Attachment>,
    pub effort: Option<Effort>,
}

impl Written {
    pub fn item(self, delivery: Delivery, queued: Option<u32>) -> ItemKind {
        ItemKind::UserMessage {
            text: self.text,
            delivery,
            images: self.images,
            effort: self.effort,
            queued,
        }
    }
}

impl From<QueuedMessage> for Written {
    fn from(message: QueuedMessage) -> Self {
        Self {
            text: message.text,
            images: message.images,
            effort: message.effort,
        }
    }
}

impl From<String> for Written {
    fn from(text: String) -> Self {
        Self {
            text,
            ..Self::default()
        }
    }
}

/// Names one model request; what comes back under another ticket is too late.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ticket {
    pub turn: TurnId,
    pub iteration: u32,
    pub attempt: u32,
}

/// A call whose arguments were read: what it would do.
#[derive(Clone, Debug)]
pub struct CallPlan {
    pub verb: Verb,
    pub target: String,
    pub access: Vec<Access>,
    pub body: ApprovalBody,
    pub undo: UndoFact,
    pub flow: Flow,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallFailure {
    /// The arguments do not fit the tool.
    Arguments(String),
    /// It did not work; the model is told.
    Model(String),
    /// The file is not as it was when the change was approved.
    ChangedSince { path: String },
    /// Paddock itself cannot go on.
    Fatal(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Ask the model. `tools` = false: the last request of a turn.
    Sample {
        ticket: Ticket,
        tools: bool,
        /// Longest answer in tokens that the caps allow.
        max_output: Option<u32>,
        /// What it may cost: held of the day's cap against other sessions as long as it is on its way.
        cost: Micros,
    },
    CancelModel,
    /// Read the arguments and say what the call would touch.
    Prepare {
        call: CallId,
        tool: String,
        arguments: String,
    },
    Run {
        call: CallId,
        tool: String,
        arguments: String,
        /// States of the files that the person was shown; a file that differs is not changed.
        approved: Vec<FileBase>,
        /// What of the shown diff the person switched off.
        chosen: Option<Arc<ChosenHunks>>,
        protected_granted: bool,
        /// What it may reach beyond the project: places outside, hosts.
        reach: Vec<Access>,
        /// Where the hosts of `reach` are, as the person was shown.
        shown_reach: HostReach,
        /// What the person opened for this one run besides.
        opened: Option<AnswerScope>,
    },
    CancelCall {
        call: CallId,
    },
    StartTimer {
        timer: Timer,
        at: Timestamp,
    },
    /// Restore what the files held before the call, or what the call made of them.
    Undo {
        call: CallId,
        redo: bool,
    },
    /// Keep a rule of project scope beyond the session.
    KeepRule {
        rule: Rule,
    },
    /// Such a rule decided; counted where it is kept.
    RuleUsed {
        rule: RuleId,
    },
    /// Forget a rule that was kept beyond the session.
    DropRule {
        rule: RuleId,
    },
    /// The answer to [`Back::CallAsks`].
    AnswerAsk {
        call: CallId,
        number: u32,
        allowed: bool,
    },
    /// Let a running command go on beside the turn; its call ends.
    ToBackground {
        call: CallId,
    },
    EndProcess {
        process: ProcessId,
        end: ProcessEnd,
    },
    /// Also those whose start was not heard of yet.
    EndAllProcesses,
    /// Start the session of a sub-agent. Ended by [`Effect::CancelCall`].
    Delegate {
        call: CallId,
        session: SessionId,
        config: Box<SessionConfig>,
        task: String,
    },
    /// Hand a decision to the sub-agent that waits for it.
    DecideThere {
        call: CallId,
        session: SessionId,
        approval: ApprovalId,
        decision: Decision,
    },
    /// Say when no other session changes the folder any longer.
    AwaitFolder,
    StopAwaitingFolder,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Timer {
    Retry(Ticket),
    /// The time limit of one call.
    Call(CallId),
}

/// Facts about the surroundings that the rules depend on; they do not change during a step.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// Tools by name. A name that is not here does not exist.
    pub tools: BTreeMap<String, ToolKind>,
    /// Tools that only a workflow uses; the model is not told of them.
    pub workflow_tools: BTreeMap<String, ToolKind>,
    /// Commands are confined by the OS on this machine.
    pub confined: bool,
    /// Another session changes this folder.
    pub folder_taken: bool,
    /// What all sessions of this account have spent since midnight.
    pub spent_today: Micros,
    /// Bytes of the system prompt and the tools, which no answer has counted yet.
    pub preamble_bytes: u32,
}

impl Surroundings {
    pub fn kind(&self, tool: &str) -> Option<ToolKind> {
        self.tools
            .get(tool)
            .or_else(|| self.workflow_tools.get(tool))
            .copied()
    }
}

#[derive(Clone, Debug, Default)]
pub struct Outcome {
    pub events: Vec<EventMsg>,
    pub effects: Vec<Effect>,
}
