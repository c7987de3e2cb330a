//! State of a session, changed only by applying events: a live run and a replay of the log go through the same line.
//!
//! `Live` is the small part the rules look at; a step works on a copy of it. The transcript is append-only and may be
//! long; a step only reads it.

use super::live_turn::LiveTurn;
use paddock_protocol::*;
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Clone, Debug)]
pub struct SessionState {
    pub id: SessionId,
    /// Number of the last durable event; 0 before the first.
    pub seq: u64,
    pub created: Timestamp,
    pub changed: Timestamp,
    /// All items in order; an item's id is its place here.
    pub items: Vec<Arc<Item>>,
    pub iterations: BTreeMap<(TurnId, u32), IterationRecord>,
    pub live: Live,
}

/// What a later request must know of an iteration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IterationRecord {
    pub limit: u32,
    pub finishing: bool,
    pub answered: bool,
    /// The model's order of the answer's parts, where the items stand in another one.
    pub order: Vec<ItemId>,
}

#[derive(Clone, Debug)]
pub struct Live {
    pub config: Arc<SessionConfig>,
    /// The newest turn, also when it has ended.
    pub turn: Option<LiveTurn>,
    pub approvals: Vec<Arc<ApprovalRequest>>,
    pub rules: Arc<Vec<Rule>>,
    /// Tokens up to which the person raised the session's limit in place; holds until the limit itself is set anew.
    pub raised_tokens: Option<u64>,
    /// The same for money, in millionths of a dollar.
    pub raised_money: Option<u64>,
    pub raised_day: Option<u64>,
    pub queue: Queue,
    /// Id of the next queued message.
    pub next_queued: u32,
    pub plan: Arc<Vec<PlanTask>>,
    /// Background processes that run.
    pub processes: Vec<Process>,
    /// Processes that were ever started here.
    pub process_count: u32,
    pub workflow: Option<Arc<WorkflowRun>>,
    /// Waits until another session no longer changes the folder.
    pub awaits_folder: bool,
    pub next_item: u32,
    pub usage: Usage,
    /// The same by what it was used for.
    pub sources: Arc<Vec<SourceUsage>>,
    pub context: ContextSize,
    /// How the session was set up when the newest request was sent: its answer has that price.
    pub asked: Arc<SessionConfig>,
    /// Items that are not final.
    pub open: Vec<OpenItem>,
}

/// What is known of the size of the conversation, for the expectation of the next request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContextSize {
    /// Tokens of the newest answered request and of its answer, as the server counted; 0 before the first.
    pub known: u32,
    /// Bytes that came after it.
    pub added_bytes: u64,
    /// The server keeps what it has read.
    pub is_cached: bool,
    /// Tokens of the newest answer.
    pub output: u32,
}

impl ContextSize {
    fn answered(&mut self, usage: &Usage) {
        *self = Self {
            known: u32::try_from(usage.total()).unwrap_or(u32::MAX),
            added_bytes: 0,
            is_cached: usage.cached > 0 || usage.cache_write > 0,
            output: usage.output.saturating_add(usage.reasoning),
        };
    }

    fn added(&mut self, item: &Item) {
        let bytes = match &item.kind {
            ItemKind::UserMessage { text, .. } => text.len(),
            ItemKind::Call(call) => call.output.as_ref().map_or(0, |output| output.text.len()),
            _ => 0,
        };
        self.added_bytes += bytes as u64;
    }
}

/// An item that is not final, with what has streamed into it.
#[derive(Clone, Debug)]
pub struct OpenItem {
    pub item: Arc<Item>,
    /// Text so far: of a message, of reasoning, of arguments.
    pub text: String,
    /// Output so far, both channels in their true order, its head and tail kept.
    pub output: String,
    /// Length in UTF-16 units of what has come, by channel.
    pub lengths: [u32; 4],
}

/// Output of a running command that is kept for the case that it is stopped.
const OPEN_OUTPUT_BYTES: usize = 64 * 1024;

fn channel_slot(channel: DeltaChannel) -> usize {
    match channel {
        DeltaChannel::Text => 0,
        DeltaChannel::Arguments => 1,
        DeltaChannel::Stdout => 2,
        DeltaChannel::Stderr => 3,
    }
}

impl OpenItem {
    pub fn length(&self, channel: DeltaChannel) -> u32 {
        self.lengths[channel_slot(channel)]
    }

    fn push(&mut self, channel: DeltaChannel, text: &str) {
        let units = text.encode_utf16().count();
        let slot = &mut self.lengths[channel_slot(channel)];
        *slot = slot.saturating_add(u32::try_from(units).unwrap_or(u32::MAX));
        match channel {
            DeltaChannel::Text | DeltaChannel::Arguments => self.text.push_str(text),
            DeltaChannel::Stdout | DeltaChannel::Stderr => {
                self.output.push_str(text);
                if self.output.len() > 2 * OPEN_OUTPUT_BYTES {
                    let mut cut = self.output.len() - OPEN_OUTPUT_BYTES;
                    while !self.output.is_char_boundary(cut) {
                        cut += 1;
                    }
                    self.output.drain(..cut);
                }
            }
        }
    }
}

impl SessionState {
    /// A session before its first event.
    pub fn new(id: SessionId, config: SessionConfig) -> Self {
        Self {
            id,
            seq: 0,
            created: Timestamp(0),
            changed: Timestamp(0),
            items: Vec::new(),
            iterations: BTreeMap::new(),
            live: Live {
                asked: Arc::new(config.clone()),
                config: Arc::new(config),
                turn: None,
                approvals: Vec::new(),
                rules: Arc::default(),
                raised_tokens: None,
                raised_money: None,
                raised_day: None,
                queue: Queue::default(),
                next_queued: 1,
                plan: Arc::default(),
                processes: Vec::new(),
                process_count: 0,
                workflow: None,
                awaits_folder: false,
                next_item: 0,
                usage: Usage::default(),
                sources: Arc::default(),
                context: ContextSize::default(),
                open: Vec::new(),
            },
        }
    }

    /// The state after `events`; `None` without a first event that creates a session.
    pub fn replay<'a>(events: impl IntoIterator<Item = &'a Event>) -> Option<Self> {
        let mut events = events.into_iter();
        let first = events.next()?;
        let EventMsg::SessionCreated { config, .. } = &first.msg else {
            return None;
        };
        let mut state = Self::new(first.session.clone(), config.clone());
        state.apply(first);
        for event in events {
            state.apply(event);
        }
        Some(state)
    }

    /// The only way in which state changes.
    pub fn apply(&mut self, event: &Event) {
        if event.msg.is_durable() {
            self.seq = event.seq;
            self.changed = event.at;
        }
        match &event.msg {
            EventMsg::SessionCreated { .. } => self.created = event.at,
            EventMsg::IterationStarted {
                turn,
                iteration,
                limit,
                finishing,
                ..
            } => {
                let record = IterationRecord {
                    limit: *limit,
                    finishing: *finishing,
                    answered: false,
                    order: Vec::new(),
                };
                self.iterations.insert((*turn, *iteration), record);
            }
            EventMsg::IterationAnswered {
                turn,
                iteration,
                order,
                ..
            } => {
                if let Some(record) = self.iterations.get_mut(&(*turn, *iteration)) {
                    record.answered = true;
                    record.order.clone_from(order);
                }
            }
            EventMsg::ItemStarted { item }
            | EventMsg::ItemUpdated { item }
            | EventMsg::ItemCompleted { item } => {
                let place = item.id.0 as usize;
                if place < self.items.len() {
                    self.items[place] = Arc::new(item.clone());
                } else {
                    self.items.push(Arc::new(item.clone()));
                }
            }
            _ => {}
        }
        self.live.apply(event.at, &event.msg);
    }

    pub fn item(&self, id: ItemId) -> Option<&Arc<Item>> {
        self.items.get(id.0 as usize)
    }

    pub fn snapshot(&self, newest: usize) -> SessionSnapshot {
        let skipped = self.items.len().saturating_sub(newest);
        let turn = self.live.turn.as_ref();
        let items = self
            .items
            .iter()
            .skip(skipped)
            .map(|item| self.with_streamed(item))
            .collect();
        SessionSnapshot {
            session: self.id.clone(),
            seq: self.seq,
            config: (*self.live.config).clone(),
            turn: turn.map(LiveTurn::view),
            items,
            item_count: u32::try_from(self.items.len()).unwrap_or(u32::MAX),
            approvals: self.live.approvals.iter().map(|a| (**a).clone()).collect(),
            rules: (*self.live.rules).clone(),
            queue: self.live.queue.clone(),
            plan: (*self.live.plan).clone(),
            processes: self.live.processes.clone(),
            workflow: self.live.workflow.as_deref().cloned(),
            waits_for_folder: self.live.awaits_folder,
            usage: self.live.usage,
            sources: (*self.live.sources).clone(),
            raised: self.live.raised(),
            estimate: turn.filter(|turn| turn.sampling).and_then(|turn| turn.expected),
        }
    }

    pub fn summary(&self) -> SessionSummary {
        let turn = self.live.turn.as_ref();
        let paused =
            turn.is_some_and(|t| t.status.waits_for_person() && t.status != TurnStatus::WaitingForApproval);
        SessionSummary {
            session: self.id.clone(),
            project: self.live.config.project.clone(),
            title: self.live.config.title.clone(),
            created: self.created,
            changed: self.changed,
            status: turn.map(|t| t.status.clone()),
            waiting: u32::try_from(self.live.approvals.len()).unwrap_or(u32::MAX) + u32::from(paused),
            iteration: turn.map_or(0, |t| t.iteration),
            usage: self.live.usage,
            parent: self.live.config.parent.clone(),
        }
    }

    fn with_streamed(&self, item: &Arc<Item>) -> Item {
        let mut item = (**item).clone();
        if let Some(open) = self.live.open.iter().find(|open| open.item.id == item.id) {
            match &mut item.kind {
                ItemKind::AgentText { text } | ItemKind::Reasoning { text, .. } => {
                    text.clone_from(&open.text)
                }
                ItemKind::Call(call) => {
                    if call.arguments.is_empty() {
                        call.arguments.clone_from(&open.text);
                    }
                    if call.output.is_none() && !open.output.is_empty() {
                        call.output = Some(CallOutput {
                            text: open.output.clone(),
                            ..CallOutput::default()
                        });
                    }
                }
                _ => {}
            }
        }
        item
    }
}

impl Live {
    pub fn apply(&mut self, at: Timestamp, msg: &EventMsg) {
        match msg {
            EventMsg::SessionCreated { config, .. } | EventMsg::SessionChanged { config } => {
                self.set_up(config);
            }
            EventMsg::TurnStarted {
                turn,
                iteration_limit,
                without_model,
            } => {
                let raised = self.raised_tokens.unwrap_or(0);
                let tokens = self
                    .config
                    .limits
                    .session_tokens
                    .map(|set| raised.max(set.into()));
                let active = self.config.limits.active_time;
                self.turn = Some(LiveTurn::new(*turn, *iteration_limit, active, tokens, at));
                if let Some(turn) = &mut self.turn {
                    turn.without_model = *without_model;
                }
                self.drop_rules(|scope| !matches!(scope, RuleScope::Turn { turn: of } if of != *turn));
            }
            EventMsg::ItemStarted { item } | EventMsg::ItemUpdated { item } => {
                self.next_item = self.next_item.max(item.id.0 + 1);
                self.leave_queue(item);
                self.keep_open(item);
            }
            EventMsg::ItemCompleted { item } => {
                self.next_item = self.next_item.max(item.id.0 + 1);
                self.leave_queue(item);
                self.context.added(item);
                self.open.retain(|open| open.item.id != item.id);
            }
            EventMsg::ItemDelta {
                item, channel, text, ..
            } => {
                if let Some(open) = self.open.iter_mut().find(|open| open.item.id == *item) {
                    open.push(*channel, text);
                }
            }
            EventMsg::ApprovalRequested { approval } => self.approvals.push(Arc::new((**approval).clone())),
            EventMsg::TurnChanged {
                status: TurnStatus::Interrupted,
                ..
            } => {
                for approval in &mut self.approvals {
                    Arc::make_mut(approval).from_before_restart = true;
                }
            }
            EventMsg::LimitChanged { limit, allowed, .. } => self.raise(*limit, *allowed),
            EventMsg::RuleAdded { rule } => Arc::make_mut(&mut self.rules).push(rule.clone()),
            EventMsg::RuleRemoved { rule } => Arc::make_mut(&mut self.rules).retain(|kept| kept.id != *rule),
            EventMsg::RulesLoaded { rules } => {
                let kept = Arc::make_mut(&mut self.rules);
                kept.retain(|rule| !rule.scope.outlives_session());
                kept.extend(rules.iter().cloned());
            }
            EventMsg::QueueChanged { queue } => {
                let newest = queue.messages.iter().map(|message| message.id + 1).max();
                self.next_queued = self.next_queued.max(newest.unwrap_or(0));
                self.queue = queue.clone();
            }
            EventMsg::PlanChanged { tasks } => self.plan = Arc::new(tasks.clone()),
            EventMsg::ProcessStarted { process } => {
                self.process_count += 1;
                self.processes.push(process.clone());
            }
            EventMsg::ProcessEnded { process, .. } => self.processes.retain(|running| running.id != *process),
            EventMsg::FolderAwaited { waiting } => self.awaits_folder = *waiting,
            EventMsg::WorkflowStarted { plan } => {
                let plan = plan.clone();
                self.workflow = Some(Arc::new(WorkflowRun {
                    plan,
                    begun: 0,
                    answers: BTreeMap::new(),
                }));
            }
            EventMsg::WorkflowStepped { step } => self.change_workflow(|run| run.begun = *step),
            EventMsg::WorkflowAnswered { name, answer } => self.change_workflow(|run| {
                run.answers.insert(name.clone(), answer.clone());
            }),
            EventMsg::WorkflowEnded { .. } => self.workflow = None,
            EventMsg::IterationStarted { .. } => self.asked = self.config.clone(),
            EventMsg::IterationAnswered { usage, .. } => {
                self.context.answered(usage);
                self.used(UsageSource::Main, usage);
            }
            EventMsg::SubAgentUsed { usage, .. } => self.used(UsageSource::SubAgent, usage),
            EventMsg::AttemptLost { usage, .. } => self.used(UsageSource::Retry, usage),
            _ => {}
        }
        if let Some(turn) = &mut self.turn {
            turn.apply(at, msg, &self.approvals);
        }
        if let EventMsg::ApprovalResolved { approval, .. } = msg {
            self.approvals.retain(|a| a.id != *approval);
        }
    }

    fn set_up(&mut self, config: &SessionConfig) {
        if self.config.limits.session_tokens != config.limits.session_tokens {
            self.raised_tokens = None;
        }
        if self.config.budget != config.budget {
            (self.raised_money, self.raised_day) = (None, None);
        }
        self.config = Arc::new(config.clone());
    }

    fn raise(&mut self, limit: LimitKind, allowed: u64) {
        match limit {
            LimitKind::SessionTokens => self.raised_tokens = Some(allowed),
            LimitKind::SessionMoney => self.raised_money = Some(allowed),
            LimitKind::DayMoney => self.raised_day = Some(allowed),
            // Of the turn alone.
            LimitKind::Iterations | LimitKind::ActiveTime | LimitKind::TurnMoney => {}
        }
    }

    fn raised(&self) -> RaisedCaps {
        let turn = self.turn.as_ref().and_then(|turn| turn.raised_money);
        RaisedCaps {
            tokens: self.raised_tokens,
            turn: turn.map(Micros),
            session: self.raised_money.map(Micros),
            day: self.raised_day.map(Micros),
        }
    }

    fn used(&mut self, source: UsageSource, usage: &Usage) {
        self.usage.add(usage);
        let model = match source {
            UsageSource::SubAgent => String::new(),
            UsageSource::Main | UsageSource::Retry => {
                format!("{}/{}", self.asked.model.provider, self.asked.model.model)
            }
        };
        let sources = Arc::make_mut(&mut self.sources);
        let same = |entry: &&mut SourceUsage| entry.source == source && entry.model == model;
        match sources.iter_mut().find(same) {
            Some(entry) => {
                entry.requests += 1;
                entry.usage.add(usage);
            }
            None => sources.push(SourceUsage {
                source,
                model,
                requests: 1,
                usage: *usage,
            }),
        }
    }

    pub fn open_item(&self, id: ItemId) -> Option<&OpenItem> {
        self.open.iter().find(|open| open.item.id == id)
    }

    fn keep_open(&mut self, item: &Item) {
        if item.status.is_final() {
            self.open.retain(|open| open.item.id != item.id);
            return;
        }
        match self.open.iter_mut().find(|open| open.item.id == item.id) {
            Some(open) => open.item = Arc::new(item.clone()),
            None => self.open.push(OpenItem {
                item: Arc::new(item.clone()),
                text: String::new(),
                output: String::new(),
                lengths: [0; 4],
            }),
        }
    }

    fn leave_queue(&mut self, item: &Item) {
        if let ItemKind::UserMessage { queued: Some(id), .. } = &item.kind {
            self.queue.messages.retain(|message| message.id != *id);
        }
    }

    fn change_workflow(&mut self, change: impl FnOnce(&mut WorkflowRun)) {
        if let Some(run) = &mut self.workflow {
            change(Arc::make_mut(run));
        }
    }

    fn drop_rules(&mut self, keep: impl Fn(RuleScope) -> bool) {
        if self.rules.iter().any(|rule| !keep(rule.scope)) {
            Arc::make_mut(&mut self.rules).retain(|rule| keep(rule.scope));
        }
    }
}
