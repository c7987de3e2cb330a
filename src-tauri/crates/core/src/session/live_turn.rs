//! The live part of one turn: status, counters, the calls of the iteration. Folded from events like all state.

use super::guard::GuardRecord;
use paddock_protocol::*;
use paddock_tools::ChosenHunks;
use std::collections::BTreeSet;
use std::sync::Arc;

#[derive(Clone, Debug)]
pub struct LiveTurn {
    pub turn: TurnId,
    pub status: TurnStatus,
    pub iteration: u32,
    pub iteration_limit: u32,
    pub active_limit: Option<Millis>,
    /// Tokens that the session may have used; raised limits stay raised.
    pub token_limit: Option<u64>,
    pub started: Timestamp,
    pub status_since: Timestamp,
    /// Time of the newest event.
    pub heard: Timestamp,
    pub active: Millis,
    pub waiting: Millis,
    pub usage: Usage,
    /// Requests of this iteration so far; 0 before its first.
    pub attempt: u32,
    /// Failed requests in a row since somebody decided.
    pub retries: u32,
    /// The model is being asked.
    pub sampling: bool,
    /// This iteration's request offered no tools.
    pub finishing: bool,
    /// Calls of a workflow's step; no model is asked.
    pub without_model: bool,
    pub pausing: bool,
    /// Answers or calls in a row that could not be used.
    pub malformed: u32,
    pub failures: Failures,
    pub calls: Vec<LiveCall>,
    pub call_count: u32,
    pub changed_files: BTreeSet<String>,
    /// Messages of the person that no request has held yet.
    pub unused: Vec<ItemId>,
    pub guard: GuardRecord,
    /// Sub-agents that this turn started.
    pub sub_agents: u32,
    pub allowed_tools: BTreeSet<String>,
    /// Money that the turn may cost, in millionths of a dollar, as the person raised it.
    pub raised_money: Option<u64>,
    /// What the newest request was expected to use.
    pub expected: Option<Usage>,
    /// The person agreed that a request costs so much.
    pub agreed_cost: Micros,
    /// How long the model may reason, as chosen for the newest message.
    pub effort: Option<Effort>,
    /// Something may have changed that no check has seen yet.
    pub unchecked: bool,
    /// Failed checks since the person last decided.
    pub checks: u32,
    /// The person said that the turn may end without the check.
    pub check_allowed: bool,
    /// There is something to do: a message of the person, or a workflow's call.
    pub has_task: bool,
    /// The end is in the log; the status follows it.
    pub ended: Option<TurnEnd>,
}

/// Failures of the same tool in a row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Failures {
    pub tool: String,
    pub calls: Vec<CallId>,
}

/// A call of the iteration that goes on.
#[derive(Clone, Debug)]
pub struct LiveCall {
    pub call: CallId,
    pub item: ItemId,
    pub tool: String,
    pub status: ItemStatus,
    pub target: String,
    /// The approval it waits for.
    pub approval: Option<ApprovalId>,
    pub approvals: u32,
    /// Approved by the person, with what was shown.
    pub granted: Option<Granted>,
    /// The person switched a part of it off once: the whole of it runs only when they say so.
    pub picked: bool,
    /// Let go by anyone; runs when its place has come.
    pub allowed: bool,
    /// The arguments were read and judged.
    pub judged: bool,
    /// Judged once already; the file changed since, so it is asked again.
    pub renewed: bool,
    /// Passed its time limit; the person is asked.
    pub overdue: bool,
    /// Shown as waiting for an earlier call.
    pub after: Option<CallId>,
    pub terminate: bool,
    /// Paddock's own call, to see whether the work is done.
    pub check: bool,
    /// The sub-agent it started: whether it may write, and its share of the tokens with what it used.
    pub sub_agent: Option<LiveSubAgent>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LiveSubAgent {
    pub writes: bool,
    pub token_limit: Option<u64>,
    pub used: u64,
    /// Money that it may still spend of its share.
    pub promised: Micros,
}

/// What the person approved.
#[derive(Clone, Debug)]
pub struct Granted {
    /// States of the files that were shown.
    pub base: Vec<FileBase>,
    pub classes: Vec<RiskClass>,
    pub edited: Option<String>,
    /// Parts of the shown diff that were switched off.
    pub chosen: Option<Arc<ChosenHunks>>,
    pub scope: AnswerScope,
    /// What beyond the project was shown.
    pub reach: Vec<Access>,
    /// Where the host is, as a connection showed it.
    pub shown_reach: HostReach,
}

impl LiveCall {
    pub fn is_final(&self) -> bool {
        self.status.is_final()
    }
}

impl LiveTurn {
    pub fn new(
        turn: TurnId,
        iteration_limit: u32,
        active_limit: Option<Millis>,
        token_limit: Option<u64>,
        at: Timestamp,
    ) -> Self {
        Self {
            turn,
            status: TurnStatus::Starting,
            iteration: 0,
            iteration_limit,
            active_limit,
            token_limit,
            started: at,
            status_since: at,
            heard: at,
            active: Millis(0),
            waiting: Millis(0),
            usage: Usage::default(),
            attempt: 0,
            retries: 0,
            sampling: false,
            finishing: false,
            without_model: false,
            pausing: false,
            malformed: 0,
            failures: Failures::default(),
            calls: Vec::new(),
            call_count: 0,
            changed_files: BTreeSet::new(),
            unused: Vec::new(),
            guard: GuardRecord::default(),
            sub_agents: 0,
            allowed_tools: BTreeSet::new(),
            raised_money: None,
            expected: None,
            agreed_cost: Micros(0),
            effort: None,
            unchecked: false,
            checks: 0,
            check_allowed: false,
            has_task: false,
            ended: None,
        }
    }

    pub fn view(&self) -> Turn {
        Turn {
            turn: self.turn,
            status: self.status.clone(),
            iteration: self.iteration,
            iteration_limit: self.iteration_limit,
            started: self.started,
            active: self.active,
            waiting: self.waiting,
            status_since: self.status_since,
            usage: self.usage,
        }
    }

    /// Whether the turn takes steps: neither ended nor interrupted.
    pub fn is_live(&self) -> bool {
        !self.status.is_final()
    }

    pub fn active_at(&self, now: Timestamp) -> Millis {
        if self.status.waits_for_person() || self.status.is_final() {
            self.active
        } else {
            self.active + now.since(self.status_since)
        }
    }

    pub fn call(&self, call: &CallId) -> Option<&LiveCall> {
        self.calls.iter().find(|c| c.call == *call)
    }

    /// Whether a message of the person or an answered call waits to be told to the model.
    pub fn all_calls_final(&self) -> bool {
        self.calls.iter().all(LiveCall::is_final)
    }

    pub fn apply(&mut self, at: Timestamp, msg: &EventMsg, approvals: &[Arc<ApprovalRequest>]) {
        match msg {
            EventMsg::TurnChanged { turn, status } if *turn == self.turn => self.change_status(at, status),
            EventMsg::LimitChanged { turn, limit, allowed } if *turn == self.turn => match limit {
                LimitKind::Iterations => self.iteration_limit = u32::try_from(*allowed).unwrap_or(u32::MAX),
                LimitKind::ActiveTime => self.active_limit = Some(Millis(*allowed)),
                LimitKind::SessionTokens => self.token_limit = Some(*allowed),
                LimitKind::TurnMoney => self.raised_money = Some(*allowed),
                LimitKind::SessionMoney | LimitKind::DayMoney => {}
            },
            EventMsg::IterationStarted {
                iteration,
                attempt,
                finishing,
                estimate,
                ..
            } => {
                self.expected = *estimate;
                self.calls.clear();
                self.iteration = *iteration;
                self.attempt = *attempt;
                self.finishing = *finishing;
                self.sampling = true;
            }
            EventMsg::IterationAnswered { usage, .. } => {
                self.sampling = false;
                self.retries = 0;
                self.attempt = 0;
                self.usage.add(usage);
            }
            EventMsg::ItemStarted { item }
            | EventMsg::ItemUpdated { item }
            | EventMsg::ItemCompleted { item }
                if item.turn == self.turn =>
            {
                self.apply_item(item);
            }
            EventMsg::SubAgentUsed { usage, .. } | EventMsg::AttemptLost { usage, .. } => {
                self.usage.add(usage)
            }
            EventMsg::TurnEnded { turn, end } if *turn == self.turn => self.ended = Some(*end),
            EventMsg::ApprovalRequested { approval } if approval.origin.is_none() => {
                if let Some(call) = self.calls.iter_mut().find(|c| c.call == approval.call) {
                    call.approvals += 1;
                    if approval.ask.is_none() {
                        call.approval = Some(approval.id.clone());
                        call.judged = true;
                    }
                }
            }
            EventMsg::ApprovalResolved { approval, outcome } => self.resolve(approval, outcome, approvals),
            EventMsg::CauseAllowed { cause, .. } => match cause {
                PauseCause::Guard { pattern } => self.guard.allow(*pattern),
                PauseCause::Breaker { tool } => {
                    self.allowed_tools.insert(tool.clone());
                    self.failures = Failures::default();
                }
                PauseCause::Check { .. } => self.check_allowed = true,
                PauseCause::Expensive { estimate, .. } => self.agreed_cost = self.agreed_cost.max(*estimate),
                _ => {}
            },
            _ => {}
        }
        self.heard = at;
    }

    fn change_status(&mut self, at: Timestamp, status: &TurnStatus) {
        // Nothing worked while the program was not there.
        let until = if *status == TurnStatus::Interrupted {
            self.heard
        } else {
            at
        };
        let passed = until.since(self.status_since);
        if self.status.waits_for_person() {
            self.waiting = self.waiting + passed;
        } else if !self.status.is_final() {
            self.active = self.active + passed;
        }
        self.status_since = at;
        match status {
            TurnStatus::Pausing => self.pausing = true,
            TurnStatus::Thinking | TurnStatus::UsingTools | TurnStatus::FinishingUp => self.pausing = false,
            TurnStatus::WaitingToRetry { attempt, .. } => {
                self.sampling = false;
                self.retries = *attempt;
            }
            TurnStatus::Paused { .. } => {
                self.sampling = false;
                self.pausing = false;
                self.retries = 0;
                self.checks = 0;
                self.failures = Failures::default();
            }
            TurnStatus::Interrupted | TurnStatus::Completed | TurnStatus::Stopped | TurnStatus::Failed => {
                self.sampling = false;
                self.pausing = false;
            }
            _ => {}
        }
        self.status = status.clone();
    }

    fn apply_item(&mut self, item: &Item) {
        match &item.kind {
            ItemKind::UserMessage { effort, .. } => {
                self.has_task = true;
                self.effort = effort.or(self.effort);
                self.unused.retain(|id| *id != item.id);
                if item.status == ItemStatus::Waiting {
                    self.unused.push(item.id);
                }
            }
            ItemKind::Malformed { attempt, .. } => self.malformed = *attempt,
            // Another model has its own tries.
            ItemKind::ModelChange { .. } => self.retries = 0,
            ItemKind::Guard { pattern, .. } => self.guard.told(*pattern),
            ItemKind::Call(call) => self.apply_call(item, call),
            _ => {}
        }
    }

    fn apply_call(&mut self, item: &Item, call: &CallItem) {
        self.has_task = true;
        if item.iteration != self.iteration {
            return;
        }
        let place = match self.calls.iter().position(|c| c.call == call.call) {
            Some(place) => place,
            None => {
                self.calls.push(LiveCall {
                    call: call.call.clone(),
                    item: item.id,
                    tool: call.tool.clone(),
                    status: item.status,
                    target: String::new(),
                    approval: None,
                    approvals: 0,
                    granted: None,
                    picked: false,
                    allowed: false,
                    judged: false,
                    renewed: false,
                    overdue: false,
                    after: None,
                    terminate: false,
                    check: call.check.is_some(),
                    sub_agent: None,
                });
                self.calls.len() - 1
            }
        };
        let live = &mut self.calls[place];
        let (was_final, was_running) = (live.status.is_final(), live.status == ItemStatus::Running);
        let was_allowed = live.allowed;
        live.status = item.status;
        live.tool.clone_from(&call.tool);
        live.target.clone_from(&call.target);
        live.overdue = call.overdue;
        live.after.clone_from(&call.after);
        live.terminate = call.terminate;
        self.sub_agents += u32::from(live.sub_agent.is_none() && call.sub_agent.is_some());
        live.sub_agent = call.sub_agent.as_ref().map(|agent| LiveSubAgent {
            writes: agent.writes,
            token_limit: agent.token_limit.map(u64::from),
            used: agent.usage.total(),
            promised: Micros(
                agent
                    .cost_limit
                    .map_or(0, |limit| limit.0.saturating_sub(agent.usage.cost.0)),
            ),
        });
        live.allowed = call.verdict.as_ref().is_some_and(|v| v.allowed);
        let by_other = |verdict: &CallVerdict| verdict.allowed && verdict.by != DecidedBy::Person;
        if call.verdict.as_ref().is_some_and(by_other) {
            live.granted = live.granted.take().filter(|granted| granted.edited.is_some());
        }
        if live.allowed {
            live.judged = true;
            self.malformed = 0;
        } else if item.status == ItemStatus::Waiting && (was_running || was_allowed) {
            live.judged = false;
            live.renewed |= was_running && call.again.is_none();
            // What was shown of the file holds no longer; arguments that the person wrote do.
            live.granted = live.granted.take().filter(|granted| granted.edited.is_some());
        }
        if item.status.is_final() && !was_final {
            self.finish_call(item, call);
        }
    }

    fn finish_call(&mut self, item: &Item, call: &CallItem) {
        let ran = call.verdict.as_ref().is_some_and(|v| v.allowed);
        let Some(output) = call.output.as_ref().filter(|_| ran) else {
            return;
        };
        self.call_count += 1;
        if call.check.is_some() {
            self.unchecked &= item.status != ItemStatus::Done;
            match item.status {
                ItemStatus::Done => self.checks = 0,
                ItemStatus::Failed => self.checks += 1,
                _ => {}
            }
            return;
        }
        self.unchecked |= may_have_changed(item.status, call, output);
        self.changed_files
            .extend(output.changes.iter().map(|change| change.path.clone()));
        self.guard.record(item.iteration, call, output);
        let failed = item.status == ItemStatus::Failed && output.exit_code.is_none();
        if !failed {
            self.failures = Failures::default();
        } else if self.failures.tool == call.tool {
            self.failures.calls.push(call.call.clone());
        } else {
            self.failures = Failures {
                tool: call.tool.clone(),
                calls: vec![call.call.clone()],
            };
        }
    }

    fn resolve(&mut self, id: &ApprovalId, outcome: &ApprovalOutcome, approvals: &[Arc<ApprovalRequest>]) {
        let Some(call) = self.calls.iter_mut().find(|c| c.approval.as_ref() == Some(id)) else {
            return;
        };
        call.approval = None;
        // Until the verdict stands in the item: a call that died in between is read and judged again.
        call.judged = false;
        let Some(request) = approvals.iter().find(|a| a.id == *id) else {
            return;
        };
        let ApprovalOutcome::Decided {
            decision:
                Decision::Approve {
                    scope,
                    edited_arguments,
                    left_out,
                    ..
                },
            by: DecidedBy::Person,
        } = outcome
        else {
            return;
        };
        call.picked |= !left_out.is_empty();
        call.granted = Some(Granted {
            base: request.body.base(),
            classes: request.classes.clone(),
            edited: edited_arguments.clone(),
            chosen: (!left_out.is_empty()).then(|| {
                Arc::new(ChosenHunks {
                    shown: request.body.hunks().to_vec(),
                    left_out: left_out.clone(),
                })
            }),
            scope: *scope,
            reach: beyond(&request.access),
            shown_reach: match &request.body {
                ApprovalBody::Connect { reach, .. } => *reach,
                _ => HostReach::Unknown,
            },
        });
    }
}

/// Whether something may be another way in the project than before the call. What it says it changed is believed where it came
/// to its end; a command may change anything, and what a sub-agent changed stands in its own session.
fn may_have_changed(status: ItemStatus, call: &CallItem, output: &CallOutput) -> bool {
    let changes =
        |class: &RiskClass| !matches!(class, RiskClass::Read | RiskClass::Network | RiskClass::Outside);
    let writes = |place: &Access| matches!(place, Access::Outside { write: true, .. });
    let reach = call
        .verdict
        .as_ref()
        .map(|verdict| verdict.reach.as_slice())
        .unwrap_or_default();
    let began = call.began.is_some() || call.again.is_some();
    let cut_short = matches!(status, ItemStatus::Stopped | ItemStatus::OutcomeUnknown);
    !output.changes.is_empty()
        || output.exit_code.is_some()
        || began && call.classes.contains(&RiskClass::Command)
        || began && cut_short && (call.classes.iter().any(changes) || reach.iter().any(writes))
        || began && call.sub_agent.as_ref().is_some_and(|agent| agent.writes)
}

/// What of an access is beyond the project.
pub(super) fn beyond(access: &[Access]) -> Vec<Access> {
    let is_beyond = |access: &&Access| matches!(access, Access::Outside { .. } | Access::Network { .. });
    access.iter().filter(is_beyond).cloned().collect()
}
