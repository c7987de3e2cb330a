//! Carries out effects: asks the model, runs tools, waits. Everything it learns goes back to the actor as an input; it
//! decides nothing.

mod calls;
mod model;

use crate::desk::WeakPaddock;
use crate::ledger::Ledger;
use crate::providers::Providers;
use crate::session::gate::CallGate;
use crate::session::input::{Back, Effect, Timer};
use crate::session::state::SessionState;
use crate::undo;
use paddock_protocol::*;
use paddock_provider::ToolSpec;
use paddock_sandbox::{Confinement, ProjectRoot, StateDir};
use paddock_store::{Home, ProjectLock};
use paddock_tools::{ChosenHunks, ProcessChange, Processes, Registry};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::sync::mpsc::UnboundedSender;
use tokio::task::AbortHandle;

/// How often a session that waits for its folder asks for it.
const FOLDER_POLL: Duration = Duration::from_millis(300);

/// What the calls of a session work with.
pub struct Workplace {
    pub session: SessionId,
    pub home: Home,
    pub root: ProjectRoot,
    pub registry: Arc<Registry>,
    pub confinement: Arc<dyn Confinement>,
    pub sandbox_state: StateDir,
    pub providers: Arc<Providers>,
    pub ledger: Arc<Ledger>,
    pub sandbox: OnceLock<SandboxSummary>,
    /// Where the sessions of sub-agents are made.
    pub desk: WeakPaddock,
}

impl Workplace {
    /// What confines commands here; the first call tries it (tens of milliseconds, blocking).
    pub fn sandbox_summary(&self) -> &SandboxSummary {
        self.sandbox
            .get_or_init(|| crate::sandbox_summary(&*self.confinement))
    }
}

pub struct Executor {
    place: Arc<Workplace>,
    back: UnboundedSender<Back>,
    model: Option<AbortHandle>,
    calls: HashMap<CallId, AbortHandle>,
    /// Heard by running commands: go on in the background.
    to_background: HashMap<CallId, Arc<Notify>>,
    /// Asked by the connections of commands, also of those that went to the background.
    gates: HashMap<CallId, Weak<CallGate>>,
    processes: Processes,
    awaits_folder: Option<AbortHandle>,
    preamble: Option<Preamble>,
    /// Images of the session in base64, by the hash of their bytes.
    images: Mutex<HashMap<String, Arc<str>>>,
}

/// What goes before the conversation, the same for all requests of a turn in one role.
#[derive(Clone)]
struct Preamble {
    turn: TurnId,
    config: Arc<SessionConfig>,
    system: Arc<str>,
    tools: Arc<[ToolSpec]>,
}

impl Executor {
    /// `process_count`: processes that the session ever started.
    pub fn new(place: Arc<Workplace>, back: UnboundedSender<Back>, process_count: u32) -> Self {
        let heard = back.clone();
        let on_change = Arc::new(move |change| {
            let _ = heard.send(match change {
                ProcessChange::Started(process) => Back::ProcessStarted { process },
                ProcessChange::Ended { process, end } => Back::ProcessEnded { process, end },
            });
        });
        Self {
            place,
            back,
            model: None,
            calls: HashMap::new(),
            to_background: HashMap::new(),
            gates: HashMap::new(),
            processes: Processes::new(on_change, process_count),
            awaits_folder: None,
            preamble: None,
            images: Mutex::default(),
        }
    }

    pub fn start(&mut self, effect: Effect, state: &SessionState, now: Timestamp) {
        match effect {
            Effect::Sample {
                ticket,
                tools,
                max_output,
                ..
            } => self.sample(ticket, tools, max_output, state),
            Effect::CancelModel => {
                if let Some(model) = self.model.take() {
                    model.abort();
                }
            }
            Effect::Prepare {
                call,
                tool,
                arguments,
            } => self.prepare(call, &tool, arguments, state),
            Effect::Run {
                call,
                tool,
                arguments,
                approved,
                chosen,
                protected_granted,
                reach,
                shown_reach,
                opened,
            } => {
                let granted = Granted {
                    approved,
                    chosen,
                    protected: protected_granted,
                    reach,
                    shown_reach,
                    opened,
                };
                self.run(call, &tool, arguments, granted, state);
            }
            Effect::CancelCall { call } => {
                if let Some(running) = self.calls.remove(&call) {
                    running.abort();
                }
            }
            Effect::StartTimer { timer, at } => self.start_timer(timer, at.since(now)),
            Effect::Undo { call, redo } => self.undo(call, redo),
            Effect::KeepRule { rule } => self.keep_rule(rule, &state.live.config.project),
            Effect::DropRule { rule } => self.drop_rule(&rule, &state.live.config.project),
            Effect::RuleUsed { rule } => self.count_rule(rule, state.live.config.project.clone(), now),
            Effect::AnswerAsk {
                call,
                number,
                allowed,
            } => {
                if let Some(gate) = self.gates.get(&call).and_then(Weak::upgrade) {
                    gate.answer(number, allowed);
                }
            }
            Effect::EndAllProcesses => self.processes.end_all(ProcessEnd::EndedByPerson),
            Effect::ToBackground { call } => {
                if let Some(told) = self.to_background.get(&call) {
                    told.notify_one();
                }
            }
            Effect::EndProcess { process, end } => {
                self.processes.end(&process, end);
            }
            Effect::Delegate {
                call,
                session,
                config,
                task,
            } => {
                let (place, back) = (self.place.clone(), self.back.clone());
                let work = crate::session::sub_agent::run(place, back, call.clone(), session, *config, task);
                self.calls.insert(call, tokio::spawn(work).abort_handle());
            }
            Effect::DecideThere {
                session,
                approval,
                decision,
                ..
            } => self.decide_there(session, approval, decision),
            Effect::AwaitFolder => self.await_folder(state.live.config.project.clone()),
            Effect::StopAwaitingFolder => {
                if let Some(waiting) = self.awaits_folder.take() {
                    waiting.abort();
                }
            }
        }
    }

    pub fn processes(&self) -> &Processes {
        &self.processes
    }

    fn decide_there(&self, session: SessionId, approval: ApprovalId, decision: Decision) {
        let Some(paddock) = self.place.desk.upgrade() else {
            return;
        };
        tokio::spawn(async move {
            if let Err(error) = paddock.submit(&session, Op::Decide { approval, decision }).await {
                tracing::warn!(%session, %error, "a decision came too late for its sub-agent");
            }
        });
    }

    /// Asks from time to time: the session that has the folder may belong to another program.
    fn await_folder(&mut self, project: String) {
        let (home, back) = (self.place.home.clone(), self.back.clone());
        let waiting = tokio::spawn(async move {
            while ProjectLock::try_take(&home, &project).is_err() {
                tokio::time::sleep(FOLDER_POLL).await;
            }
            let _ = back.send(Back::FolderFree);
        });
        if let Some(before) = self.awaits_folder.replace(waiting.abort_handle()) {
            before.abort();
        }
    }

    /// Drops everything that runs.
    pub fn cancel_all(&mut self) {
        self.model
            .take()
            .into_iter()
            .chain(self.calls.drain().map(|(_, handle)| handle))
            .chain(self.awaits_folder.take())
            .for_each(|h| h.abort());
    }

    fn start_timer(&self, timer: Timer, wait: Millis) {
        let back = self.back.clone();
        tokio::spawn(async move {
            tokio::time::sleep(wait.as_duration()).await;
            let _ = back.send(Back::TimerFired(timer));
        });
    }

    fn undo(&self, call: CallId, redo: bool) {
        let (place, back) = (self.place.clone(), self.back.clone());
        tokio::task::spawn_blocking(move || {
            let files = undo::take_back(&place, &call, redo);
            let _ = back.send(Back::Undone { call, redo, files });
        });
    }

    fn keep_rule(&self, rule: Rule, project: &str) {
        if let Err(error) = paddock_store::rules::keep(&self.place.home, project, rule) {
            tracing::warn!(%error, "a rule for the project could not be kept; it holds for this session");
        }
        self.tell_others();
    }

    fn drop_rule(&self, rule: &RuleId, project: &str) {
        if let Err(error) = paddock_store::rules::remove(&self.place.home, project, rule) {
            tracing::warn!(%error, "a rule could not be forgotten; it holds again in new sessions");
        }
        self.tell_others();
    }

    /// Other sessions of the project go by the same rules.
    fn tell_others(&self) {
        let Some(paddock) = self.place.desk.upgrade() else {
            return;
        };
        let project = self.place.root.path().to_string_lossy().into_owned();
        tokio::spawn(async move { paddock.rules_changed(&project).await });
    }

    fn count_rule(&self, rule: RuleId, project: String, now: Timestamp) {
        let home = self.place.home.clone();
        tokio::task::spawn_blocking(move || {
            if let Err(error) = paddock_store::rules::used(&home, &project, &rule, now) {
                tracing::warn!(%error, "the use of a rule could not be counted");
            }
        });
    }
}

/// What a call was granted beyond what every call may.
struct Granted {
    approved: Vec<FileBase>,
    chosen: Option<Arc<ChosenHunks>>,
    protected: bool,
    reach: Vec<Access>,
    shown_reach: HostReach,
    /// Opened by the person for this one run.
    opened: Option<AnswerScope>,
}
