//! Events: what happened, numbered per session. Durable ones are the log; the others only move a picture.

use crate::*;
use serde::{Deserialize, Serialize};

/// One event. `seq` counts durable events from 1; a transient one carries the number of the last durable one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
pub struct Event {
    pub session: SessionId,
    #[cfg_attr(feature = "bindings", ts(type = "number"))]
    pub seq: u64,
    pub at: Timestamp,
    pub msg: EventMsg,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum EventMsg {
    SessionCreated {
        version: u32,
        config: SessionConfig,
    },
    SessionChanged {
        config: SessionConfig,
    },
    TurnStarted {
        turn: TurnId,
        /// Iterations this turn may use; extensions change it.
        iteration_limit: u32,
        /// Calls of a workflow's step, without the model.
        #[serde(default)]
        without_model: bool,
    },
    TurnChanged {
        turn: TurnId,
        status: TurnStatus,
    },
    LimitChanged {
        turn: TurnId,
        limit: LimitKind,
        #[cfg_attr(feature = "bindings", ts(type = "number"))]
        allowed: u64,
    },
    IterationStarted {
        turn: TurnId,
        iteration: u32,
        /// Counts the requests of this iteration from 1: a retry is a further attempt, not a further iteration.
        attempt: u32,
        /// The limit at that moment; near it the model is told how many remain.
        limit: u32,
        /// The last request of the turn, without tools.
        finishing: bool,
        /// What the request is expected to use, before it is sent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "bindings", ts(optional))]
        estimate: Option<Usage>,
    },
    /// An attempt was given up after it had used tokens, as far as its server told or it can be estimated.
    AttemptLost {
        turn: TurnId,
        iteration: u32,
        usage: Usage,
    },
    /// The model's answer is complete. Its calls follow as items.
    IterationAnswered {
        turn: TurnId,
        iteration: u32,
        usage: Usage,
        finish: FinishReason,
        /// Time to the first byte of the answer.
        first_byte: Millis,
        /// The parts of the answer in the model's own order, where their items stand in another one.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[cfg_attr(feature = "bindings", ts(as = "Option<Vec<ItemId>>", optional))]
        order: Vec<ItemId>,
    },
    ItemStarted {
        item: Item,
    },
    /// The item as it is now: the part that changed is small, so the whole is sent.
    ItemUpdated {
        item: Item,
    },
    ItemCompleted {
        item: Item,
    },
    /// More text of a running item. Transient.
    ItemDelta {
        item: ItemId,
        channel: DeltaChannel,
        /// Length in UTF-16 units of what came before on this channel in this item: a gap can be seen.
        offset: u32,
        text: String,
    },
    ApprovalRequested {
        approval: Box<ApprovalRequest>,
    },
    ApprovalResolved {
        approval: ApprovalId,
        outcome: ApprovalOutcome,
    },
    RuleAdded {
        rule: Rule,
    },
    RuleRemoved {
        rule: RuleId,
    },
    /// The rules that hold beyond the session, as they are now.
    RulesLoaded {
        rules: Vec<Rule>,
    },
    /// The person said that the guard's pattern or the breaker's tool is fine for the rest of the turn.
    CauseAllowed {
        turn: TurnId,
        cause: PauseCause,
    },
    /// The messages that wait until the turn has ended, as they are now.
    QueueChanged {
        queue: Queue,
    },
    /// The task list, as `update_plan` left it.
    PlanChanged {
        tasks: Vec<PlanTask>,
    },
    ProcessStarted {
        process: Process,
    },
    ProcessEnded {
        process: ProcessId,
        end: ProcessEnd,
    },
    /// A sub-agent's request was answered: its tokens are the parent's too.
    SubAgentUsed {
        call: CallId,
        usage: Usage,
    },
    WorkflowStarted {
        plan: WorkflowPlan,
    },
    /// A step of the workflow begins; `step` counts from 1.
    WorkflowStepped {
        step: u32,
    },
    /// The answer to a question of the workflow.
    WorkflowAnswered {
        name: String,
        answer: String,
    },
    WorkflowEnded {
        end: WorkflowEnd,
    },
    /// The session waits, or no longer waits, until another one no longer changes this folder.
    FolderAwaited {
        waiting: bool,
    },
    TurnEnded {
        turn: TurnId,
        end: TurnEnd,
    },
    /// An op was refused and changed nothing. Transient.
    OpRefused {
        error: ClientError,
    },
}

impl EventMsg {
    /// Whether it belongs in the log.
    pub fn is_durable(&self) -> bool {
        !matches!(self, EventMsg::ItemDelta { .. } | EventMsg::OpRefused { .. })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum DeltaChannel {
    /// Text of an agent message or of reasoning.
    Text,
    /// Arguments of a call while they stream.
    Arguments,
    Stdout,
    Stderr,
}

/// Why the model stopped, as far as it says so. Never decides whether there are calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum FinishReason {
    Stop,
    Calls,
    /// Cut at the output limit.
    Length,
    Blocked,
    /// The provider interrupted a long answer: asked again as it stands, it goes on.
    Unfinished,
    Other,
}

/// State of a turn; the same words in strip, list, notification and screen reader.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum TurnStatus {
    Starting,
    Thinking,
    UsingTools,
    WaitingForApproval,
    WaitingForAnswer,
    WaitingToRetry {
        attempt: u32,
        of: u32,
        until: Timestamp,
    },
    MakingRoom,
    Pausing,
    Paused {
        cause: PauseCause,
    },
    FinishingUp,
    Completed,
    Stopped,
    Failed,
    /// The program died.
    Interrupted,
}

impl TurnStatus {
    pub fn is_final(&self) -> bool {
        matches!(
            self,
            TurnStatus::Completed | TurnStatus::Stopped | TurnStatus::Failed
        )
    }

    /// Whether nothing happens until the person acts.
    pub fn waits_for_person(&self) -> bool {
        matches!(
            self,
            TurnStatus::WaitingForApproval
                | TurnStatus::WaitingForAnswer
                | TurnStatus::Paused { .. }
                | TurnStatus::Interrupted
        )
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
#[serde(tag = "cause", rename_all = "snake_case")]
pub enum PauseCause {
    Person,
    Limits {
        reached: Vec<LimitReached>,
    },
    /// The next request is expected to cost a large part of what is left.
    Expensive {
        estimate: Micros,
        left: Micros,
    },
    Guard {
        pattern: GuardPattern,
    },
    Breaker {
        tool: String,
    },
    Model {
        error: ModelError,
    },
    /// The check says again and again that the work is not done.
    Check {
        command: String,
        attempts: u32,
    },
}
