//! The owner of one session: takes inputs one at a time, steps, appends to the log, applies, tells the views, starts
//! effects. No lock, no second owner.

use super::executor::{Executor, Workplace};
use super::folder;
use super::input::{Back, Effect, Input, Outcome, Stamped, Surroundings};
use super::state::SessionState;
use super::step::step;
use crate::ledger::Account;
use paddock_protocol::*;
use paddock_store::{Durability, LogWriter, ProjectLock};
use paddock_tools::ToolKind;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};
use tokio::sync::{broadcast, mpsc, oneshot};

/// Newest items that a snapshot holds.
const SNAPSHOT_ITEMS: usize = 200;

/// What a client asks of the actor.
pub enum Ask {
    Submit {
        op: Op,
        done: oneshot::Sender<Result<(), ClientError>>,
    },
    Attach {
        done: oneshot::Sender<(SessionSnapshot, mpsc::UnboundedReceiver<Event>)>,
    },
    Snapshot {
        done: oneshot::Sender<SessionSnapshot>,
    },
    Items {
        from: ItemId,
        to: ItemId,
        done: oneshot::Sender<Vec<Item>>,
    },
    ProcessOutput {
        process: ProcessId,
        done: oneshot::Sender<Option<String>>,
    },
    /// Ends the actor; what runs is dropped, the log says how far it came.
    Close {
        done: oneshot::Sender<()>,
    },
}

/// System prompt and tools of a usual session; the first answer's count takes its place.
const PREAMBLE_BYTES: u32 = 8_000;

pub struct Actor {
    state: SessionState,
    log: LogWriter,
    around: Surroundings,
    place: Arc<Workplace>,
    executor: Executor,
    asks: mpsc::UnboundedReceiver<Ask>,
    backs: mpsc::UnboundedReceiver<Back>,
    views: Vec<mpsc::UnboundedSender<Event>>,
    everyone: broadcast::Sender<Event>,
    /// Inputs that the loop gives itself.
    own: Vec<Input>,
    failed: Option<ClientError>,
    /// Held while a turn of this session may change the folder.
    folder: Option<ProjectLock>,
    /// Undos under way.
    undoing: u32,
    account: Account,
    /// What the request on its way may cost.
    held: Micros,
    /// What the session list was last told: whether the turn waits or has ended, and how many approvals wait.
    listed: Option<(Option<(bool, bool)>, usize)>,
}

impl Actor {
    pub fn spawn(
        state: SessionState,
        log: LogWriter,
        place: Arc<Workplace>,
        everyone: broadcast::Sender<Event>,
        first: Vec<Input>,
    ) -> mpsc::UnboundedSender<Ask> {
        let (ask, asks) = mpsc::unbounded_channel();
        let (back, backs) = mpsc::unbounded_channel();
        let kind = |name: &&str| Some(((*name).to_owned(), place.registry.get(name)?.kind()));
        let kinds = |names: Vec<&'static str>| names.iter().filter_map(kind).collect();
        let process_count = state.live.process_count;
        let account = Account::new(place.ledger.clone(), state.id.clone());
        let actor = Actor {
            state,
            log,
            around: Surroundings {
                tools: kinds(place.registry.names(Role::Admin)),
                workflow_tools: kinds(place.registry.workflow_only()),
                confined: false,
                folder_taken: false,
                spent_today: Micros(0),
                preamble_bytes: PREAMBLE_BYTES,
            },
            executor: Executor::new(place.clone(), back, process_count),
            place,
            asks,
            backs,
            views: Vec::new(),
            everyone,
            own: first,
            failed: None,
            folder: None,
            undoing: 0,
            account,
            held: Micros(0),
            listed: None,
        };
        tokio::spawn(actor.run());
        ask
    }

    async fn run(mut self) {
        loop {
            while !self.own.is_empty() {
                let input = self.own.remove(0);
                let _ = self.take(input);
            }
            tokio::select! {
                biased;
                ask = self.asks.recv() => match ask {
                    Some(Ask::Close { done }) => {
                        self.close();
                        // With the actor go the log and the folder: whoever waits may open them at once.
                        drop(self);
                        let _ = done.send(());
                        return;
                    }
                    Some(ask) => self.answer(ask).await,
                    None => {
                        self.close();
                        return;
                    }
                },
                Some(back) = self.backs.recv() => {
                    let mut next = Some(back);
                    while let Some(back) = next {
                        let (joined, other) = self.join(back);
                        let _ = self.take(Input::Back(joined));
                        next = other;
                    }
                }
            }
        }
    }

    /// Where there is a cap on the day, what other sessions spent counts.
    async fn look_at_the_day(&mut self) {
        if self.state.live.config.budget.day.is_none() {
            return;
        }
        let (ledger, home) = (self.place.ledger.clone(), self.place.home.clone());
        match tokio::task::spawn_blocking(move || ledger.today(&home)).await {
            Ok(Ok(today)) => self.around.spent_today = today.cost,
            Ok(Err(error)) => tracing::warn!(%error, "what was spent today could not be read"),
            Err(error) => tracing::warn!(%error, "what was spent today could not be read"),
        }
    }

    /// Ends what runs; a turn that works is interrupted and goes on when the session is opened again.
    fn close(&mut self) {
        self.executor.cancel_all();
        for process in self.executor.processes().list() {
            let process = process.id;
            let _ = self.take(Input::Back(Back::ProcessEnded {
                process,
                end: ProcessEnd::Closed,
            }));
        }
        self.executor.processes().end_all(ProcessEnd::Closed);
        let _ = self.log.sync();
    }

    /// Takes the folder before a turn that may change it begins or goes on, and says whether another session has it.
    fn take_folder(&mut self, input: &Input) {
        let config = &self.state.live.config;
        if config.parent.is_some() || self.folder.is_some() {
            self.around.folder_taken = false;
            return;
        }
        if !folder::is_wanted(config, input) {
            return;
        }
        match ProjectLock::try_take(&self.place.home, &config.project) {
            Ok(lock) => self.folder = Some(lock),
            Err(paddock_store::StoreError::InUse { .. }) => {
                self.around.folder_taken = true;
                return;
            }
            Err(error) => tracing::warn!(%error, "the folder could not be locked against other sessions"),
        }
        self.around.folder_taken = false;
    }

    /// Gives the folder back when nothing of this session may change it.
    fn release_folder(&mut self) {
        if !folder::is_needed(&self.state.live) && self.undoing == 0 {
            self.folder = None;
        }
    }

    /// Joins text that waits already with the text before it: fewer events, nothing delayed.
    fn join(&mut self, mut first: Back) -> (Back, Option<Back>) {
        while let Ok(next) = self.backs.try_recv() {
            if let Some(next) = append(&mut first, next) {
                return (first, Some(next));
            }
        }
        (first, None)
    }

    async fn answer(&mut self, ask: Ask) {
        match ask {
            Ask::Submit { op, done } => {
                if matches!(
                    op,
                    Op::SetAutonomy {
                        autonomy: Autonomy::HandsOff
                    }
                ) {
                    let place = self.place.clone();
                    let tried = tokio::task::spawn_blocking(move || place.sandbox_summary().confined).await;
                    self.around.confined = tried.unwrap_or(false);
                }
                self.look_at_the_day().await;
                let result = self.take(Input::Op(op));
                let _ = done.send(result);
            }
            Ask::Attach { done } => {
                let (view, events) = mpsc::unbounded_channel();
                self.views.push(view);
                let _ = done.send((self.state.snapshot(SNAPSHOT_ITEMS), events));
            }
            Ask::Snapshot { done } => {
                let _ = done.send(self.state.snapshot(SNAPSHOT_ITEMS));
            }
            Ask::Items { from, to, done } => {
                let to = (to.0 as usize).min(self.state.items.len());
                let from = (from.0 as usize).min(to);
                let _ = done.send(
                    self.state.items[from..to]
                        .iter()
                        .map(|item| (**item).clone())
                        .collect(),
                );
            }
            Ask::ProcessOutput { process, done } => {
                let _ = done.send(self.executor.processes().output(&process));
            }
            Ask::Close { .. } => {}
        }
    }

    /// One input: step, log, apply, show, carry out. An op that is refused comes back as its error.
    fn take(&mut self, input: Input) -> Result<(), ClientError> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        let now = now();
        let asked = matches!(input, Input::Op(_));
        self.take_folder(&input);
        if matches!(input, Input::Back(Back::Undone { .. })) {
            self.undoing = self.undoing.saturating_sub(1);
        }
        let entropy = uuid::Uuid::now_v7().as_u128() as u32;
        let outcome = self.step(Stamped { now, entropy, input });
        let changes_world = outcome.effects.iter().any(|effect| self.changes_world(effect));
        let mut refused = Ok(());
        for msg in outcome.events {
            if let (true, EventMsg::OpRefused { error }) = (asked, &msg) {
                refused = Err(error.clone());
                continue;
            }
            self.happen(now, msg)?;
        }
        self.hold_for_the_request();
        if changes_world && let Err(error) = self.log.sync() {
            return self.fail(&error);
        }
        for effect in outcome.effects {
            self.undoing += u32::from(matches!(effect, Effect::Undo { .. }));
            self.executor.start(effect, &self.state, now);
        }
        self.release_folder();
        refused
    }

    /// The step; what the request that it sends may cost is held before another session looks at what is left of the day.
    fn step(&mut self, stamped: Stamped) -> Outcome {
        let (state, around, held) = (&self.state, &mut self.around, &mut self.held);
        self.account.reckon(|spent| {
            around.spent_today = spent;
            let outcome = step(state, stamped, around);
            for effect in &outcome.effects {
                if let Effect::Sample { cost, .. } = effect {
                    *held = *cost;
                }
            }
            // What was used is held, too, until it stands in the sum of the day.
            let paid: u64 = outcome
                .events
                .iter()
                .filter_map(paid)
                .map(|usage| usage.cost.0)
                .sum();
            let holds = Micros(held.0.saturating_add(paid));
            (outcome, holds)
        })
    }

    /// A request holds its part of the day as long as it is on its way.
    fn hold_for_the_request(&mut self) {
        if !self.state.live.turn.as_ref().is_some_and(|turn| turn.sampling) {
            self.held = Micros(0);
        }
        self.account.hold(self.held);
    }

    fn changes_world(&self, effect: &Effect) -> bool {
        let changes =
            |tool: &String| matches!(self.around.kind(tool), Some(ToolKind::Write | ToolKind::Command));
        match effect {
            Effect::Run { tool, .. } => changes(tool),
            Effect::Undo { .. } | Effect::Delegate { .. } => true,
            _ => false,
        }
    }

    fn happen(&mut self, at: Timestamp, msg: EventMsg) -> Result<(), ClientError> {
        let durable = msg.is_durable();
        let seq = self.state.seq + u64::from(durable);
        let event = Event {
            session: self.state.id.clone(),
            seq,
            at,
            msg,
        };
        if durable && let Err(error) = self.log.append(&event, Durability::Written) {
            return self.fail(&error);
        }
        super::traced::happened(&event);
        if let Some(usage) = paid(&event.msg) {
            self.account.paid(usage);
        }
        self.state.apply(&event);
        self.keep_summary(&event.msg);
        self.views.retain(|view| view.send(event.clone()).is_ok());
        // What a sub-agent asks for is in the queue of the turn that started it.
        if durable && self.state.live.config.parent.is_none() {
            let _ = self.everyone.send(event);
        }
        Ok(())
    }

    /// Writes the line of the session list when it would read differently; not at every step of a turn.
    fn keep_summary(&mut self, msg: &EventMsg) {
        let turn = self.state.live.turn.as_ref();
        let phase = turn.map(|turn| (turn.status.waits_for_person(), turn.status.is_final()));
        let listed = Some((phase, self.state.live.approvals.len()));
        let named = matches!(msg, EventMsg::SessionChanged { .. });
        if listed == self.listed && !named {
            return;
        }
        self.listed = listed;
        if let Err(error) = paddock_store::sessions::write_summary(&self.place.home, &self.state.summary()) {
            tracing::warn!(%error, "the summary of a session could not be written; it is made again from the log");
        }
    }

    /// The log cannot be written: nothing more may happen in this session until it is opened again.
    fn fail(&mut self, error: &paddock_store::StoreError) -> Result<(), ClientError> {
        self.executor.cancel_all();
        self.account.hold(Micros(0));
        let error = ClientError::new(
            ErrorCode::Storage,
            format!("The session's record could not be written: {error}."),
        )
        .hint(
            "The turn stands still and nothing is lost. Make room on the disk, then open the session again.",
        );
        self.failed = Some(error.clone());
        let event = Event {
            session: self.state.id.clone(),
            seq: self.state.seq,
            at: now(),
            msg: EventMsg::OpRefused { error: error.clone() },
        };
        self.views.retain(|view| view.send(event.clone()).is_ok());
        Err(error)
    }
}

/// What a request of this session has used.
fn paid(msg: &EventMsg) -> Option<&Usage> {
    match msg {
        EventMsg::IterationAnswered { usage, .. } | EventMsg::AttemptLost { usage, .. } => Some(usage),
        _ => None,
    }
}

fn append(first: &mut Back, next: Back) -> Option<Back> {
    use paddock_provider::ModelEvent::{CallArguments, Reasoning, Text};
    match (first, next) {
        (
            Back::CallLive { call, channel, text },
            Back::CallLive {
                call: next_call,
                channel: next_channel,
                text: more,
            },
        ) if *call == next_call && *channel == next_channel => {
            text.push_str(&more);
            None
        }
        (
            Back::ModelEvent { ticket, event },
            Back::ModelEvent {
                ticket: next_ticket,
                event: next,
            },
        ) if *ticket == next_ticket => match (event, next) {
            (Text(text), Text(more)) | (Reasoning(text), Reasoning(more)) => {
                text.push_str(&more);
                None
            }
            (
                CallArguments { slot, text },
                CallArguments {
                    slot: next_slot,
                    text: more,
                },
            ) if *slot == next_slot => {
                text.push_str(&more);
                None
            }
            (_, next) => Some(Back::ModelEvent {
                ticket: next_ticket,
                event: next,
            }),
        },
        (_, next) => Some(next),
    }
}

pub fn now() -> Timestamp {
    let passed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(u64::try_from(passed.as_millis()).unwrap_or(u64::MAX))
}
