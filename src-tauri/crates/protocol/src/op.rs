//! Ops: what a client asks of a session, in the imperative. An op that does not fit changes nothing and says so.

use crate::*;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
#[serde(tag = "op", rename_all = "snake_case")]
pub enum Op {
    /// Begin a turn; while one works the message steers it.
    Send {
        text: String,
        #[serde(default)]
        mode: SendMode,
        /// Images that were added to the session before.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[cfg_attr(feature = "bindings", ts(as = "Option<Vec<Attachment>>", optional))]
        images: Vec<Attachment>,
        /// How long the model may reason in the turn; absent = as it does by itself.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "bindings", ts(optional))]
        effort: Option<Effort>,
    },
    Decide {
        approval: ApprovalId,
        decision: Decision,
    },
    /// Answer a question of the agent; `None` = skip, decide yourself.
    Answer {
        call: CallId,
        text: Option<String>,
    },
    /// Pause after this iteration.
    Pause,
    /// Take a pause back that has not begun.
    CancelPause,
    /// Go on from a pause or an interruption.
    Continue {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "bindings", ts(optional))]
        note: Option<String>,
        /// The pattern or tool at which the turn paused is fine for the rest of the turn.
        #[serde(default)]
        allow_cause: bool,
    },
    /// Raise a limit of the turn; a turn that waits at it goes on.
    Extend {
        limit: LimitKind,
        #[cfg_attr(feature = "bindings", ts(type = "number"))]
        by: u64,
    },
    /// One last request without tools.
    FinishUp,
    /// End everything now; what there is stays.
    Stop,
    EndCall {
        call: CallId,
    },
    /// Give a command that passed its time limit as much time again.
    KeepWaiting {
        call: CallId,
    },
    /// Let a running command go on beside the turn.
    ToBackground {
        call: CallId,
    },
    EndProcess {
        process: ProcessId,
    },
    /// Stop, end all background processes and empty the queue.
    StopEverything,
    /// Do not wait for the rest of a retry's delay.
    RetryNow,
    SetRole {
        role: Role,
    },
    SetAutonomy {
        autonomy: Autonomy,
    },
    SetModel {
        model: ModelChoice,
        /// Filled in by the core.
        #[serde(default)]
        #[cfg_attr(feature = "bindings", ts(skip))]
        known: KnownModel,
    },
    SetBudget {
        budget: Budget,
    },
    SetLimits {
        limits: Limits,
    },
    Rename {
        title: String,
    },
    /// Take back the file changes of one call.
    Undo {
        call: CallId,
    },
    Redo {
        call: CallId,
    },
    /// Replace the queue: edited, reordered, shortened. Ids that are not known are refused.
    SetQueue {
        messages: Vec<QueuedMessage>,
    },
    /// Send a queued message now, as if it was typed now.
    SendQueued {
        id: u32,
    },
    /// Go on with a queue that a stop holds.
    ReleaseQueue,
    SetFormat {
        format: CallFormat,
    },
    SetFallback {
        fallback: Option<Fallback>,
    },
    /// A role of one's own, as its file defines it.
    SetOwnRole {
        role: OwnRole,
    },
    /// Run a workflow whose preview was confirmed.
    RunWorkflow {
        plan: WorkflowPlan,
    },
    /// Do not wait for the folder any longer; the message stays in the queue.
    StopWaiting,
    /// A command that has to succeed before a turn that changed something is done; `None` = no check.
    SetDoneWhen {
        command: Option<String>,
    },
    /// Take a rule of this turn or session back.
    RemoveRule {
        rule: RuleId,
    },
    /// Something that was set aside was put back or thrown away. Sent by the core alone.
    NoteSetAside {
        path: String,
        back: bool,
    },
    /// The rules that hold beyond the session have changed. Sent by the core alone.
    LoadRules {
        rules: Vec<Rule>,
    },
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum SendMode {
    /// Before the next request.
    #[default]
    NextIteration,
    /// When the turn has ended.
    AfterTurn,
    /// Stop the current calls, then deliver.
    Interrupt,
    /// When no other session changes this folder any longer.
    WhenFree,
}

impl Op {
    /// A message of words alone.
    pub fn send(text: impl Into<String>, mode: SendMode) -> Self {
        Op::Send {
            text: text.into(),
            mode,
            images: Vec::new(),
            effort: None,
        }
    }
}
