//! The invariants. Kept apart from the step on purpose: they look at events and effects as a stranger would.

use paddock_core::provider::{AgentPart, Message};
use paddock_core::session::history::history;
use paddock_core::session::input::Effect;
use paddock_core::session::state::SessionState;
use paddock_protocol::*;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Default)]
pub struct Checks {
    /// Calls whose work was started and has not ended.
    running: BTreeSet<CallId>,
    /// Completions by item.
    completed: BTreeMap<ItemId, u32>,
    /// Approved by the person: call and arguments.
    approved: BTreeSet<(CallId, String)>,
    requested: BTreeMap<ApprovalId, (CallId, String)>,
    resolved: BTreeSet<ApprovalId>,
    /// How often the work of a call was started, and how often it may be.
    starts: BTreeMap<CallId, u32>,
    may_start: BTreeMap<CallId, u32>,
}

impl Checks {
    pub fn is_running(&self, call: &CallId) -> bool {
        self.running.contains(call)
    }

    pub fn ended(&mut self, call: &CallId) {
        self.running.remove(call);
    }

    pub fn crashed(&mut self) {
        self.running.clear();
    }

    pub fn event(&mut self, state: &SessionState, event: &Event) {
        match &event.msg {
            EventMsg::ItemCompleted { item } => {
                let times = self.completed.entry(item.id).or_default();
                *times += 1;
                assert_eq!(*times, 1, "item {:?} was completed twice", item.id);
                assert!(item.status.is_final(), "a completed item is {:?}", item.status);
            }
            EventMsg::ItemStarted { item } | EventMsg::ItemUpdated { item } => {
                let undo = matches!(item.status, ItemStatus::Undone | ItemStatus::Done);
                assert!(
                    !self.completed.contains_key(&item.id) || undo,
                    "a completed item changed to {item:?}"
                );
                if let (ItemKind::Call(call), ItemStatus::Waiting) = (&item.kind, item.status) {
                    // Each approval of a renewed request allows one more start.
                    if call.verdict.as_ref().is_some_and(|verdict| verdict.allowed) {
                        *self.may_start.entry(call.call.clone()).or_default() += 1;
                    }
                }
            }
            EventMsg::ApprovalRequested { approval } => {
                let shown = (approval.call.clone(), approval.arguments.clone());
                assert!(
                    self.requested.insert(approval.id.clone(), shown).is_none(),
                    "an approval id was used twice"
                );
                assert!(!approval.scopes.is_empty());
            }
            EventMsg::ApprovalResolved { approval, outcome } => {
                assert!(
                    self.resolved.insert(approval.clone()),
                    "an approval was resolved twice"
                );
                if let ApprovalOutcome::Decided {
                    decision: Decision::Approve { edited_arguments, .. },
                    ..
                } = outcome
                {
                    let (call, arguments) = self.requested[approval].clone();
                    self.approved
                        .insert((call, edited_arguments.clone().unwrap_or(arguments)));
                }
            }
            EventMsg::IterationStarted {
                iteration, finishing, ..
            } => {
                let turn = state.live.turn.as_ref().expect("a turn");
                let past = *iteration > turn.iteration_limit && !finishing;
                assert!(!past, "iteration {iteration} of {}", turn.iteration_limit);
                let used = state.live.usage.total();
                assert!(
                    *finishing || turn.attempt > 1 || turn.token_limit.is_none_or(|limit| used < limit),
                    "a request was sent past the token cap"
                );
                assert!(turn.all_calls_final(), "a request was sent while calls were open");
            }
            EventMsg::TurnEnded { .. } => {
                assert!(state.live.approvals.is_empty(), "approvals wait in an ended turn");
                assert!(
                    state.live.open.is_empty(),
                    "items are open in an ended turn: {:?}",
                    state.live.open
                );
            }
            _ => {}
        }
    }

    pub fn effect(&mut self, state: &SessionState, effect: &Effect) {
        match effect {
            Effect::Run {
                call,
                tool,
                arguments,
                ..
            } => {
                assert!(
                    self.running.insert(call.clone()),
                    "{call} was started while it ran"
                );
                let starts = self.starts.entry(call.clone()).or_default();
                *starts += 1;
                assert!(
                    *starts <= self.may_start.get(call).copied().unwrap_or(0),
                    "{call} was run twice"
                );
                let item = state.items.iter().rev().find_map(|item| match &item.kind {
                    ItemKind::Call(c) if c.call == *call => Some((item.status, c)),
                    _ => None,
                });
                let (status, item) = item.expect("the call's item");
                assert_eq!(
                    status,
                    ItemStatus::Running,
                    "the start is not in the log before the call runs"
                );
                let verdict = item.verdict.as_ref().expect("nothing runs without a verdict");
                assert!(verdict.allowed);
                let config = &state.live.config;
                match verdict.by {
                    DecidedBy::Person => assert!(
                        self.approved.contains(&(call.clone(), arguments.clone())),
                        "{call} ran as {arguments}, which nobody approved"
                    ),
                    DecidedBy::Rule { ref rule } => {
                        assert!(
                            state.live.rules.iter().any(|r| r.id == *rule),
                            "{call} ran by a rule that is not there"
                        );
                    }
                    DecidedBy::Policy => assert_ne!(
                        (tool.as_str(), config.autonomy, config.role),
                        ("write_file", Autonomy::Careful, Role::Act),
                        "a change went unasked: {item:?}"
                    ),
                }
                assert!(!arguments.contains("sudo"), "a hard denial was run");
            }
            Effect::CancelCall { call } => {
                self.running.remove(call);
            }
            Effect::Sample { .. } => legal_history(state),
            _ => {}
        }
    }

    pub fn after_step(&self, state: &SessionState) {
        let Some(turn) = &state.live.turn else { return };
        if turn.status.is_final() {
            assert!(
                self.running.is_empty(),
                "the turn has ended and {:?} still runs",
                self.running
            );
        }
        if turn.status == TurnStatus::WaitingForApproval {
            assert!(
                !state.live.approvals.is_empty(),
                "it waits for an approval that is not there"
            );
        }
        if matches!(turn.status, TurnStatus::Paused { .. }) {
            assert!(
                state.live.approvals.is_empty() && self.running.is_empty(),
                "a paused turn has work under way"
            );
        }
    }

    /// Every call of an answered iteration has exactly one result.
    pub fn at_end(&self, state: &SessionState, log: &[Event]) {
        for item in &state.items {
            if let ItemKind::Call(call) = &item.kind {
                let answered = state
                    .iterations
                    .get(&(item.turn, item.iteration))
                    .is_some_and(|i| i.answered);
                assert!(item.status.is_final(), "{call:?} is {:?} in the end", item.status);
                // Its beginning streamed, but the complete answer did not hold it.
                let never_asked = item.status == ItemStatus::Stopped && call.arguments.is_empty();
                assert!(
                    !answered || call.output.is_some() || never_asked,
                    "{call:?} has no result"
                );
                assert_eq!(self.completed.get(&item.id), Some(&1));
            }
        }
        let seqs: Vec<u64> = log.iter().map(|event| event.seq).collect();
        assert!(
            seqs.iter().copied().eq(1..=seqs.len() as u64),
            "the numbers of the log have gaps"
        );
    }

    /// A replay of the log gives the same state, but for what only streamed.
    pub fn replay_agrees(&self, state: &SessionState, log: &[Event]) {
        let replayed = SessionState::replay(log).expect("a log with a beginning");
        let comparable = |state: &SessionState| {
            let mut state = state.clone();
            for open in &mut state.live.open {
                open.text.clear();
                open.output.clear();
                open.lengths = [0; 4];
            }
            if let Some(turn) = &mut state.live.turn {
                turn.heard = Timestamp(0);
            }
            format!("{state:?}")
        };
        assert_eq!(
            comparable(state),
            comparable(&replayed),
            "a replay gives another state"
        );
    }
}

/// Every call that the model is shown is followed at once by its result, in the order in which it asked.
fn legal_history(state: &SessionState) {
    let messages = history(state);
    assert!(
        matches!(messages.first(), Some(Message::User { .. })),
        "the history begins with {:?}",
        messages.first()
    );
    assert!(
        !matches!(messages.last(), Some(Message::Agent { .. })),
        "the history ends with the agent"
    );
    let mut awaited: Vec<String> = Vec::new();
    for message in messages {
        match message {
            Message::Results { results } => {
                let given: Vec<String> = results.into_iter().map(|result| result.id).collect();
                assert_eq!(given, awaited, "results do not fit the calls");
                awaited.clear();
            }
            Message::User { text } => {
                assert!(awaited.is_empty(), "calls without results: {awaited:?}");
                assert!(!text.trim().is_empty());
            }
            Message::Agent { parts } => {
                assert!(awaited.is_empty(), "calls without results: {awaited:?}");
                awaited.extend(parts.into_iter().filter_map(|part| match part {
                    AgentPart::Call { id, .. } => Some(id),
                    _ => None,
                }));
            }
        }
    }
}
