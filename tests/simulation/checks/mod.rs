//! The invariants of ARCHITECTURE.md, as a stranger would check them: from the events and effects alone, with a record of
//! their own. Nothing here calls a rule of the step; the state is only compared with what the events have said.

mod again;
mod asks;
mod done;
mod history;
mod items;
mod money;
mod queue;
mod rights;
mod rules;
mod turn;
mod workflow;

use paddock_core::session::input::{Back, Effect, Input, SubReport};
use paddock_core::session::state::SessionState;
use paddock_protocol::*;
use std::collections::{BTreeMap, BTreeSet};

/// What leads to the events that are checked next.
#[derive(Clone, Debug)]
pub struct Step {
    pub now: Timestamp,
    pub input: Input,
    pub refused: bool,
    /// What the person decided first, when this is a decision.
    pub decided: Option<Decision>,
    /// Another session changes the folder.
    pub taken_by_other: bool,
    /// What all sessions had spent when the step began.
    pub spent_today: u64,
}

impl Step {
    fn op(&self) -> Option<&Op> {
        match &self.input {
            Input::Op(op) => Some(op),
            _ => None,
        }
    }
}

pub struct Checks {
    id: SessionId,
    config: SessionConfig,
    /// Absent while a log is read.
    step: Option<Step>,
    now: Timestamp,
    seq: u64,
    items: Vec<Item>,
    turn: Option<turn::Turn>,
    /// Tokens, with those of the sub-agents.
    used: u64,
    /// Tokens up to which the person raised the limit of the session, until the limit itself is another one.
    raised_tokens: Option<u64>,
    money: money::Money,
    rights: rights::Rights,
    rules: rules::Rules,
    asks: asks::Asks,
    /// A first run that ends now and was refused a place, with what it came to and what let it run.
    refused_run: Option<(CallId, CallOutput, Option<CallVerdict>)>,
    queue: queue::Waiting,
    workflow: Option<workflow::Run>,
    processes: BTreeSet<ProcessId>,
    ended_processes: BTreeSet<ProcessId>,
    awaits_folder: bool,
    plan: Vec<PlanTask>,
    /// Calls of complete answers.
    asked: BTreeSet<ItemId>,
    /// How often the work of a call was begun, and how often it may be: also over deaths.
    starts: BTreeMap<CallId, u32>,
    again: BTreeMap<CallId, u32>,
    /// Ways that no event has a name for.
    pub seen: BTreeSet<&'static str>,
}

impl Checks {
    pub fn new(id: SessionId, config: &SessionConfig) -> Self {
        Self {
            id,
            config: config.clone(),
            step: None,
            now: Timestamp(0),
            seq: 0,
            items: Vec::new(),
            turn: None,
            used: 0,
            raised_tokens: None,
            money: money::Money::default(),
            rights: rights::Rights::default(),
            rules: rules::Rules::default(),
            asks: asks::Asks::default(),
            refused_run: None,
            queue: queue::Waiting::default(),
            workflow: None,
            processes: BTreeSet::new(),
            ended_processes: BTreeSet::new(),
            awaits_folder: false,
            plan: Vec::new(),
            asked: BTreeSet::new(),
            starts: BTreeMap::new(),
            again: BTreeMap::new(),
            seen: BTreeSet::new(),
        }
    }

    pub fn begin(&mut self, step: Step) {
        self.now = step.now;
        self.money_step();
        self.ask_comes(&step);
        self.run_was_refused(&step);
        self.may_wake(&step);
        let wish = matches!(
            &step.input,
            Input::Op(Op::Decide {
                decision: Decision::Approve { rule: Some(_), .. },
                ..
            })
        );
        self.see_if(wish && step.refused, "rule: a wish was refused");
        self.step = Some(step);
    }

    fn see(&mut self, name: &'static str) {
        self.seen.insert(name);
    }

    fn see_if(&mut self, happened: bool, name: &'static str) {
        if happened {
            self.see(name);
        }
    }

    /// The call's file had changed: its work was not done and may begin once more.
    pub fn may_run_again(&mut self, call: &CallId) {
        *self.again.entry(call.clone()).or_default() += 1;
    }

    /// The machine died; the log is what is left.
    pub fn died(&mut self, log: &[Event]) {
        let waited = self.items.iter().any(|item| {
            matches!(&item.kind, ItemKind::Call(call) if call.again.is_some())
                && item.status == ItemStatus::Waiting
        });
        self.see_if(waited, "again: died while it waited");
        let mut fresh = Self::new(self.id.clone(), &self.config);
        fresh.seen = std::mem::take(&mut self.seen);
        for event in log {
            fresh.event(event);
        }
        fresh.starts = std::mem::take(&mut self.starts);
        fresh.again = std::mem::take(&mut self.again);
        // A start that changes nothing need not have been made sure; whoever asks again may look again.
        fresh.starts.retain(|call, _| {
            let again = fresh.again.contains_key(call);
            let began = |c: &CallItem| c.call == *call && (c.began.is_some() || c.again.is_some() || again);
            let known = fresh
                .items
                .iter()
                .any(|item| matches!(&item.kind, ItemKind::Call(c) if began(c)));
            let looks = self.items.iter().any(
                |item| matches!(&item.kind, ItemKind::Call(c) if c.call == *call && c.tool == "read_file"),
            );
            assert!(known || looks, "the start of {call} is not in the log");
            known
        });
        *self = fresh;
    }

    pub fn shown(&self, approval: &ApprovalId) -> Option<&ApprovalRequest> {
        self.rights.shown.get(approval)
    }

    fn op(&self) -> Option<&Op> {
        self.step.as_ref().and_then(Step::op)
    }

    fn call(&self, call: &CallId) -> Option<(&Item, &CallItem)> {
        self.items.iter().rev().find_map(|item| match &item.kind {
            ItemKind::Call(c) if c.call == *call => Some((item, &**c)),
            _ => None,
        })
    }

    /// Checks an event against what was before, then takes it into the record.
    pub fn event(&mut self, event: &Event) {
        self.now = event.at;
        if event.msg.is_durable() {
            assert_eq!(event.seq, self.seq + 1, "the numbers of the log have gaps");
            self.seq = event.seq;
        }
        if self.step.as_ref().is_some_and(|step| step.refused) {
            let refused = matches!(event.msg, EventMsg::OpRefused { .. });
            assert!(refused, "a refused op changed something: {:?}", event.msg);
        }
        self.money_event(&event.msg);
        self.turn_event(event);
        self.rule_event(&event.msg);
        match &event.msg {
            EventMsg::SessionCreated { config, .. } => self.config = config.clone(),
            EventMsg::SessionChanged { config } => self.session_changed(config),
            EventMsg::ItemStarted { item }
            | EventMsg::ItemUpdated { item }
            | EventMsg::ItemCompleted { item } => {
                self.item_event(&event.msg, item);
            }
            EventMsg::ApprovalRequested { approval } => self.approval_requested(approval),
            EventMsg::ApprovalResolved { approval, outcome } => self.approval_resolved(approval, outcome),
            EventMsg::QueueChanged { queue } => {
                let op = self.op().cloned();
                let live = self.step.is_some();
                self.queue.changed(queue, op.as_ref(), live);
            }
            EventMsg::PlanChanged { tasks } => {
                assert!(self.has_tool("update_plan"), "the role lacks the task list");
                self.plan.clone_from(tasks);
            }
            EventMsg::ProcessStarted { process } => {
                let fresh = !self.ended_processes.contains(&process.id);
                assert!(fresh && self.processes.insert(process.id.clone()));
            }
            EventMsg::ProcessEnded { process, .. } => {
                assert!(self.processes.remove(process), "{process} did not run");
                self.ended_processes.insert(process.clone());
            }
            EventMsg::FolderAwaited { waiting } => {
                assert_ne!(*waiting, self.awaits_folder);
                self.awaits_folder = *waiting;
            }
            _ => self.workflow_event(&event.msg),
        }
    }

    fn session_changed(&mut self, config: &SessionConfig) {
        let of_the_person = self.step.is_none() || self.op().is_some();
        let rights = |config: &SessionConfig| {
            (
                config.role,
                config.own_role.clone(),
                config.autonomy,
                config.limits.clone(),
            )
        };
        assert!(
            of_the_person || rights(config) == rights(&self.config),
            "rights or limits changed without the person"
        );
        if config.limits.session_tokens != self.config.limits.session_tokens {
            self.raised_tokens = None;
        }
        self.config = config.clone();
    }

    /// Whether the role has the tool; what a workflow does, the person asked for.
    fn has_tool(&self, tool: &str) -> bool {
        let of_a_workflow = self.turn.as_ref().is_some_and(|turn| turn.without_model);
        of_a_workflow || self.config.own_role.as_ref().is_none_or(|own| own.has(tool))
    }

    pub fn effect(&mut self, state: &SessionState, effect: &Effect) {
        match effect {
            Effect::Sample { ticket, tools, .. } => {
                let turn = self.turn.as_ref().expect("a turn");
                let asked = turn.in_flight == Some((ticket.iteration, ticket.attempt));
                assert!(asked && ticket.turn == turn.id, "a request that no event names");
                assert_ne!(*tools, turn.finishing, "the last request offers tools");
                history::is_right(state);
            }
            Effect::Prepare { call, .. } => {
                let (item, _) = self.call(call).expect("the call's item");
                assert_eq!(
                    item.status,
                    ItemStatus::Waiting,
                    "{call} is read while it does not wait"
                );
                self.turn_goes_on();
            }
            Effect::Run {
                call,
                tool,
                arguments,
                approved,
                chosen,
                protected_granted,
                reach,
                shown_reach: _,
                opened,
            } => {
                self.begins(call);
                self.may_open(call, *opened);
                self.holds_to_the_choice(call, arguments, chosen.as_deref());
                self.may_run(call, (tool, arguments), (approved, *protected_granted), reach);
                self.is_the_workflows(tool, arguments);
            }
            Effect::Delegate { call, config, .. } => {
                self.begins(call);
                self.may_delegate(call, config);
            }
            Effect::Undo { .. } => {
                let taken = self.step.as_ref().is_some_and(|step| step.taken_by_other);
                assert!(!taken, "an undo while another session changes the folder");
            }
            Effect::KeepRule { .. } | Effect::RuleUsed { .. } | Effect::DropRule { .. } => {
                self.rule_effect(effect);
            }
            Effect::AnswerAsk {
                call,
                number,
                allowed,
            } => self.ask_is_answered(call, *number, *allowed),
            Effect::EndProcess { process, .. } => assert!(self.processes.contains(process)),
            _ => {}
        }
    }

    fn turn_goes_on(&self) {
        let ended = self.turn.as_ref().is_none_or(|turn| turn.ended.is_some());
        assert!(!ended, "the turn has ended and something begins");
    }

    /// The work of a call begins: it was written down before, and happens once.
    fn begins(&mut self, call: &CallId) {
        self.turn_goes_on();
        let (item, shown) = self.call(call).expect("the call's item");
        assert_eq!(
            item.status,
            ItemStatus::Running,
            "the start is not in the log before the call runs"
        );
        let second = u32::from(shown.again.is_some());
        let may = 1 + second + self.again.get(call).copied().unwrap_or(0);
        let starts = self.starts.entry(call.clone()).or_default();
        *starts += 1;
        assert!(*starts <= may, "{call} was run {starts} times");
    }

    /// After every step: what the state shows is what the events have said.
    pub fn after_step(&mut self, state: &SessionState) {
        let live = &state.live;
        let waiting: Vec<&ApprovalId> = live.approvals.iter().map(|a| &a.id).collect();
        let open: Vec<&ApprovalId> = self.rights.open.iter().collect();
        assert_eq!(waiting, open, "other approvals are shown than wait");
        assert_eq!(live.queue, self.queue.queue, "another queue is shown");
        assert_eq!(*live.rules, self.rules.kept, "other rules hold than were made");
        assert_eq!(*live.plan, self.plan);
        assert_eq!(*live.config, self.config);
        assert_eq!(live.usage.total(), self.used, "tokens were lost or counted twice");
        assert_eq!(live.awaits_folder, self.awaits_folder);
        assert_eq!(live.processes.len(), self.processes.len());
        let running = live.workflow.as_ref().map(|run| run.begun);
        assert_eq!(running, self.workflow.as_ref().map(|run| run.begun));
        self.status_fits();
        self.message_arrived();
        self.after_a_stop();
        self.asks_are_open();
        self.refused_run_is_offered();
        self.uses_are_counted();
        self.step = None;
    }

    /// A message that was taken is in the timeline or in the queue, once.
    fn message_arrived(&self) {
        let Some(step) = self.step.as_ref().filter(|step| !step.refused) else {
            return;
        };
        let said = match step.op() {
            Some(Op::Send { text, .. }) if text != "/stop" => Some(text),
            Some(Op::Continue { note: Some(note), .. }) => Some(note),
            _ => None,
        };
        if let Some(said) = said {
            let told =
                |item: &&Item| matches!(&item.kind, ItemKind::UserMessage { text, .. } if text == said);
            let waits = |message: &&QueuedMessage| message.text == *said;
            let times = self.items.iter().filter(told).count()
                + self.queue.queue.messages.iter().filter(waits).count();
            assert_eq!(times, 1, "the message {said:?} is there {times} times");
        }
    }

    fn after_a_stop(&self) {
        let stops = match self.op() {
            Some(Op::Stop | Op::StopEverything) => true,
            Some(Op::Send { text, .. }) => text == "/stop",
            _ => false,
        };
        if stops && !self.step.as_ref().is_some_and(|step| step.refused) {
            let ended = self.turn.as_ref().is_none_or(|turn| turn.ended.is_some());
            assert!(ended, "the turn goes on after a stop");
            assert!(self.workflow.is_none(), "the workflow goes on after a stop");
        }
        if matches!(self.op(), Some(Op::StopEverything)) {
            assert!(self.queue.queue.messages.is_empty() && !self.awaits_folder);
        }
    }

    pub fn nothing_is_left(&self, state: &SessionState, after: &str) {
        let live = &state.live;
        let empty = live.approvals.is_empty() && live.queue.messages.is_empty();
        assert!(
            empty && live.workflow.is_none(),
            "something is left after {after}"
        );
    }

    /// Every call of an answered iteration has exactly one result.
    pub fn at_end(&self, state: &SessionState, log: &[Event]) {
        assert_eq!(self.seq, log.len() as u64);
        assert_eq!(self.items.len(), state.items.len());
        for (item, shown) in self.items.iter().zip(&state.items) {
            assert_eq!(*item, **shown, "another item is shown than was written");
            assert!(item.status.is_final(), "{item:?} is open in the end");
            if let ItemKind::Call(call) = &item.kind {
                let asked = item.iteration == 0 || self.asked.contains(&item.id) || call.check.is_some();
                assert!(!asked || call.output.is_some(), "{call:?} has no result");
            }
        }
    }

    fn used_by_sub_agent(&mut self, call: &CallId, usage: &Usage) {
        let Some(step) = &self.step else { return };
        let told = matches!(
            &step.input,
            Input::Back(Back::SubAgent { call: of, report: SubReport::Used { usage: told } }) if of == call && told == usage
        );
        assert!(told, "tokens of a sub-agent that nobody reported");
        let ended = self.items.iter().rev().any(|item| {
            matches!(&item.kind, ItemKind::Call(of) if of.call == *call) && item.status.is_final()
        });
        self.see_if(ended, "money: tokens of a sub-agent whose call had ended");
    }
}
