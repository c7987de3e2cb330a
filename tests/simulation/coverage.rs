//! What the schedules have reached, and what followed from what: so that nothing is claimed of a state never seen.

use crate::seat::Seat;
use crate::states::Table;
use paddock_core::session::input::{Effect, Input, Outcome};
use paddock_core::session::live_turn::LiveTurn;
use paddock_protocol::*;
use std::collections::{BTreeMap, BTreeSet};

/// Names of events, statuses and causes with how often they were seen.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    pub seen: BTreeMap<String, u64>,
    /// What followed from what, where a table is made.
    pub table: Option<Table>,
    steps: u64,
}

/// Ops are tried at every so many steps.
const PROBE_EVERY: u64 = 5;

impl Coverage {
    fn see(&mut self, name: &'static str) {
        match self.seen.get_mut(name) {
            Some(times) => *times += 1,
            None => {
                self.seen.insert(name.to_owned(), 1);
            }
        }
    }

    pub fn event(&mut self, turn: Option<&LiveTurn>, msg: &EventMsg) {
        self.see(event_name(msg));
        if let (EventMsg::TurnStarted { .. }, Some(turn)) = (msg, turn) {
            self.see(status_name(&turn.status));
        }
        if let EventMsg::TurnChanged { status, .. } = msg {
            self.see(status_name(status));
            if let TurnStatus::Paused { cause } = status {
                self.see(cause_name(cause));
            }
        }
    }

    /// What the checks saw happen.
    pub fn branches(&mut self, seen: &mut BTreeSet<&'static str>) {
        for name in std::mem::take(seen) {
            assert!(BRANCHES.contains(&name), "{name} is not known to be a branch");
            self.see(name);
        }
    }

    /// A step of the person's session, when a table is made: what it did, and what every op would have done.
    pub fn outcome(&mut self, seat: &Seat, now: Timestamp, input: &Input, outcome: &Outcome) {
        for effect in &outcome.effects {
            self.see(effect_name(effect));
        }
        let Some(table) = self.table.as_mut().filter(|_| seat.employer.is_none()) else {
            return;
        };
        table.note(seat, input, outcome);
        // A log that was cut in the middle of a step is put right before anybody asks for something.
        let whole = !matches!(input, Input::Reopened);
        if whole && self.steps.is_multiple_of(PROBE_EVERY) {
            table.probe(seat, now);
        }
        self.steps += 1;
    }

    pub fn join(&mut self, other: &Coverage) {
        for (name, times) in &other.seen {
            *self.seen.entry(name.clone()).or_default() += times;
        }
    }

    /// What no schedule reached though a step makes it, and what one reached though none is known to make it.
    pub fn missing(&self) -> Vec<&'static str> {
        let all = EVENTS
            .iter()
            .chain(STATUSES)
            .chain(CAUSES)
            .chain(EFFECTS)
            .chain(BRANCHES);
        all.copied()
            .filter(|name| self.seen.contains_key(*name) == NOWHERE_MADE.contains(name))
            .collect()
    }
}

/// Named by the protocol for a shortening of the history, which no rule of the step begins.
const NOWHERE_MADE: &[&str] = &["making room"];

const EVENTS: &[&str] = &[
    "event: session created",
    "event: session changed",
    "event: turn started",
    "event: turn changed",
    "event: limit changed",
    "event: iteration started",
    "event: iteration answered",
    "event: item started",
    "event: item updated",
    "event: item completed",
    "event: item delta",
    "event: approval requested",
    "event: approval resolved",
    "event: rule added",
    "event: rule removed",
    "event: rules loaded",
    "event: cause allowed",
    "event: queue changed",
    "event: plan changed",
    "event: process started",
    "event: process ended",
    "event: sub agent used",
    "event: attempt lost",
    "event: workflow started",
    "event: workflow stepped",
    "event: workflow answered",
    "event: workflow ended",
    "event: folder awaited",
    "event: turn ended",
    "event: op refused",
];

/// The name of an event; a new one does not compile before it is counted.
pub fn event_name(value: &EventMsg) -> &'static str {
    match value {
        EventMsg::SessionCreated { .. } => "event: session created",
        EventMsg::SessionChanged { .. } => "event: session changed",
        EventMsg::TurnStarted { .. } => "event: turn started",
        EventMsg::TurnChanged { .. } => "event: turn changed",
        EventMsg::LimitChanged { .. } => "event: limit changed",
        EventMsg::IterationStarted { .. } => "event: iteration started",
        EventMsg::IterationAnswered { .. } => "event: iteration answered",
        EventMsg::ItemStarted { .. } => "event: item started",
        EventMsg::ItemUpdated { .. } => "event: item updated",
        EventMsg::ItemCompleted { .. } => "event: item completed",
        EventMsg::ItemDelta { .. } => "event: item delta",
        EventMsg::ApprovalRequested { .. } => "event: approval requested",
        EventMsg::ApprovalResolved { .. } => "event: approval resolved",
        EventMsg::RuleAdded { .. } => "event: rule added",
        EventMsg::RuleRemoved { .. } => "event: rule removed",
        EventMsg::RulesLoaded { .. } => "event: rules loaded",
        EventMsg::CauseAllowed { .. } => "event: cause allowed",
        EventMsg::QueueChanged { .. } => "event: queue changed",
        EventMsg::PlanChanged { .. } => "event: plan changed",
        EventMsg::ProcessStarted { .. } => "event: process started",
        EventMsg::ProcessEnded { .. } => "event: process ended",
        EventMsg::SubAgentUsed { .. } => "event: sub agent used",
        EventMsg::AttemptLost { .. } => "event: attempt lost",
        EventMsg::WorkflowStarted { .. } => "event: workflow started",
        EventMsg::WorkflowStepped { .. } => "event: workflow stepped",
        EventMsg::WorkflowAnswered { .. } => "event: workflow answered",
        EventMsg::WorkflowEnded { .. } => "event: workflow ended",
        EventMsg::FolderAwaited { .. } => "event: folder awaited",
        EventMsg::TurnEnded { .. } => "event: turn ended",
        EventMsg::OpRefused { .. } => "event: op refused",
    }
}

pub const STATUSES: &[&str] = &[
    "starting",
    "thinking",
    "using tools",
    "waiting for approval",
    "waiting for answer",
    "waiting to retry",
    "making room",
    "pausing",
    "paused",
    "finishing up",
    "completed",
    "stopped",
    "failed",
    "interrupted",
];

/// The name of a status; a new one does not compile before it is counted.
pub fn status_name(value: &TurnStatus) -> &'static str {
    match value {
        TurnStatus::Starting => "starting",
        TurnStatus::Thinking => "thinking",
        TurnStatus::UsingTools => "using tools",
        TurnStatus::WaitingForApproval => "waiting for approval",
        TurnStatus::WaitingForAnswer => "waiting for answer",
        TurnStatus::WaitingToRetry { .. } => "waiting to retry",
        TurnStatus::MakingRoom => "making room",
        TurnStatus::Pausing => "pausing",
        TurnStatus::Paused { .. } => "paused",
        TurnStatus::FinishingUp => "finishing up",
        TurnStatus::Completed => "completed",
        TurnStatus::Stopped => "stopped",
        TurnStatus::Failed => "failed",
        TurnStatus::Interrupted => "interrupted",
    }
}

const CAUSES: &[&str] = &[
    "paused by the person",
    "paused at a limit",
    "paused by the guard",
    "paused by the breaker",
    "paused by the model",
    "paused by the check",
    "paused before an expensive request",
];

/// The name of a cause; a new one does not compile before it is counted.
pub fn cause_name(value: &PauseCause) -> &'static str {
    match value {
        PauseCause::Person => "paused by the person",
        PauseCause::Limits { .. } => "paused at a limit",
        PauseCause::Guard { .. } => "paused by the guard",
        PauseCause::Breaker { .. } => "paused by the breaker",
        PauseCause::Model { .. } => "paused by the model",
        PauseCause::Check { .. } => "paused by the check",
        PauseCause::Expensive { .. } => "paused before an expensive request",
    }
}

const EFFECTS: &[&str] = &[
    "effect: sample",
    "effect: cancel model",
    "effect: prepare",
    "effect: run",
    "effect: cancel call",
    "effect: start timer",
    "effect: undo",
    "effect: keep rule",
    "effect: rule used",
    "effect: drop rule",
    "effect: answer ask",
    "effect: to background",
    "effect: end process",
    "effect: end all processes",
    "effect: delegate",
    "effect: decide there",
    "effect: await folder",
    "effect: stop awaiting folder",
];

/// The name of an effect; a new one does not compile before it is counted.
fn effect_name(value: &Effect) -> &'static str {
    match value {
        Effect::Sample { .. } => "effect: sample",
        Effect::CancelModel => "effect: cancel model",
        Effect::Prepare { .. } => "effect: prepare",
        Effect::Run { .. } => "effect: run",
        Effect::CancelCall { .. } => "effect: cancel call",
        Effect::StartTimer { .. } => "effect: start timer",
        Effect::Undo { .. } => "effect: undo",
        Effect::KeepRule { .. } => "effect: keep rule",
        Effect::RuleUsed { .. } => "effect: rule used",
        Effect::DropRule { .. } => "effect: drop rule",
        Effect::AnswerAsk { .. } => "effect: answer ask",
        Effect::ToBackground { .. } => "effect: to background",
        Effect::EndProcess { .. } => "effect: end process",
        Effect::EndAllProcesses => "effect: end all processes",
        Effect::Delegate { .. } => "effect: delegate",
        Effect::DecideThere { .. } => "effect: decide there",
        Effect::AwaitFolder => "effect: await folder",
        Effect::StopAwaitingFolder => "effect: stop awaiting folder",
    }
}

/// What the checks themselves saw happen: ways that no event has a name for.
const BRANCHES: &[&str] = &[
    "money: a large request that was agreed to",
    "money: an answer is bounded",
    "money: tokens of a sub-agent whose call had ended",
    "ask: allowed by the person",
    "ask: refused by the person",
    "ask: allowed by a rule at once",
    "ask: allowed by a rule while it waited",
    "ask: refused by a rule",
    "ask: of a call that no longer runs",
    "ask: withdrawn with its call",
    "ask: withdrawn by a stop",
    "ask: found open after a death",
    "ask: a name that leads here, with a rule for the name",
    "ask: of a sub-agent",
    "again: offered",
    "again: ran",
    "again: not allowed by the person",
    "again: forbidden meanwhile",
    "again: stopped while it waited",
    "again: refused once more",
    "again: died while it waited",
    "approval: a run with more is offered",
    "run: with more, once",
    "run: with a part left out",
    "run: whole after a choice",
    "again: a rule covers the place",
    "reach: a place that was approved",
    "reach: a place by a rule",
    "check: begun",
    "check: passed",
    "check: failed",
    "check: outcome unknown",
    "check: stopped",
    "check: may not run",
    "check: a message came while it ran",
    "check: failed for the third time",
    "check: the turn completes without it, allowed",
    "check: the turn completes, the person ended it",
    "check: the turn completes, the role only looks",
    "check: asks for a host",
    "rule: a wish was kept",
    "rule: a wish was refused",
    "rule: with an end",
    "rule: has ended",
    "rule: sleeps",
    "rule: was woken by an approval",
    "rule: taken back while a call waits by it",
    "model: changed between retries",
    "tokens: the raise holds in the next turn",
];
