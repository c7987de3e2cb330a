//! Carries out effects: asks the model, runs tools, waits. Everything it learns goes back to the actor as an input; it
//! decides nothing.

use super::input::{Back, CallFailure, CallPlan, Effect, Ticket, Timer};
use super::state::SessionState;
use super::traced;
use crate::desk::WeakPaddock;
use crate::providers::Providers;
use crate::{context, undo};
use paddock_protocol::*;
use paddock_provider::{ModelRequest, ToolSpec};
use paddock_sandbox::{Confinement, ProjectRoot, StateDir};
use paddock_store::{Home, ProjectLock};
use paddock_tools::{CallContext, ProcessChange, Processes, Registry, Tool, ToolError, ToolKind};
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use std::time::Instant;
use tokio::sync::Notify;
use tokio::sync::mpsc::UnboundedSender;
use tokio::task::AbortHandle;
use tracing::Instrument as _;

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
    processes: Processes,
    awaits_folder: Option<AbortHandle>,
    preamble: Option<Preamble>,
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
            processes: Processes::new(on_change, process_count),
            awaits_folder: None,
            preamble: None,
        }
    }

    pub fn start(&mut self, effect: Effect, state: &SessionState, now: Timestamp) {
        match effect {
            Effect::Sample { ticket, tools } => self.sample(ticket, tools, state),
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
                protected_granted,
            } => {
                self.run(call, &tool, arguments, approved, protected_granted, state);
            }
            Effect::CancelCall { call } => {
                if let Some(running) = self.calls.remove(&call) {
                    running.abort();
                }
            }
            Effect::StartTimer { timer, at } => self.start_timer(timer, at.since(now)),
            Effect::Undo { call, redo } => self.undo(call, redo),
            Effect::KeepRule { rule } => self.keep_rule(rule, &state.live.config.project),
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
                let work = super::sub_agent::run(place, back, call.clone(), session, *config, task);
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

    fn request(&mut self, tools: bool, state: &SessionState) -> ModelRequest {
        let config = &state.live.config;
        let turn = state.live.turn.as_ref().map_or(TurnId(0), |turn| turn.turn);
        let kept = self
            .preamble
            .take()
            .filter(|kept| kept.turn == turn && kept.config == *config);
        let preamble = kept.unwrap_or_else(|| {
            let at = state
                .live
                .turn
                .as_ref()
                .map_or(state.created, |turn| turn.started);
            Preamble {
                turn,
                config: config.clone(),
                system: context::system_prompt(&self.place.root, config, at).into(),
                tools: self
                    .place
                    .registry
                    .specs(config.role)
                    .into_iter()
                    .filter(|(name, ..)| config.own_role.as_ref().is_none_or(|own| own.has(name)))
                    .map(spec)
                    .collect(),
            }
        });
        self.preamble = Some(preamble.clone());
        ModelRequest {
            model: config.model.model.clone(),
            system: preamble.system,
            messages: super::history::history(state),
            tools: if tools { preamble.tools } else { Arc::default() },
            format: config.format,
            max_output: None,
            silence: config.limits.model_silence,
        }
    }

    fn sample(&mut self, ticket: Ticket, tools: bool, state: &SessionState) {
        let mut request = self.request(tools, state);
        let limits = &state.live.config.limits;
        let local_silence = limits.local_silence;
        let choice = state.live.config.model.clone();
        let (providers, back) = (self.place.providers.clone(), self.back.clone());
        let span = traced::request(&self.place.session, ticket, &choice);
        let work = async move {
            let (provider, local) = providers.get(&choice.provider).await?;
            if local {
                request.silence = request.silence.max(local_silence);
            }
            let begun = Instant::now();
            let mut first_byte = None;
            let events = back.clone();
            let answer = provider
                .sample(&request, &mut |event| {
                    first_byte.get_or_insert_with(|| Millis::from(begun.elapsed()));
                    let _ = events.send(Back::ModelEvent { ticket, event });
                })
                .await?;
            Ok((answer, first_byte.unwrap_or_else(|| begun.elapsed().into())))
        };
        let work = tokio::spawn(work.instrument(span));
        self.model = Some(work.abort_handle());
        let back = self.back.clone();
        tokio::spawn(async move {
            let message = match work.await {
                Ok(Ok((answer, first_byte))) => Back::ModelAnswered {
                    ticket,
                    answer,
                    first_byte,
                },
                Ok(Err(error)) => Back::ModelFailed { ticket, error },
                Err(ended) if ended.is_cancelled() => return,
                Err(_) => Back::ModelFailed {
                    ticket,
                    error: ModelError::new(
                        ModelErrorKind::BadRequest,
                        "Paddock failed while it read the answer.",
                    )
                    .with_hint("Try again; the log tells more."),
                },
            };
            let _ = back.send(message);
        });
    }

    fn context(&mut self, call: &CallId, state: &SessionState) -> CallContext {
        let calls = &self.calls;
        self.to_background
            .retain(|call, _| calls.get(call).is_some_and(|handle| !handle.is_finished()));
        let to_background = self.to_background.entry(call.clone()).or_default().clone();
        let config = &state.live.config;
        let read_only = config.role == Role::Plan;
        let place = &self.place;
        let (back, live_call) = (self.back.clone(), call.clone());
        let (home, session, of) = (place.home.clone(), place.session.clone(), call.clone());
        let keep = (home.clone(), session.clone(), of.clone());
        let after = keep.clone();
        let reader = (home.clone(), session.clone());
        let root = place.root.clone();
        CallContext {
            call: call.clone(),
            root: if read_only {
                place.root.read_only()
            } else {
                place.root.clone()
            },
            confinement: place.confinement.clone(),
            sandbox: SandboxSummary {
                read_only,
                ..SandboxSummary::default()
            },
            state: place.sandbox_state.clone(),
            read_only,
            command_time: config.limits.command_time,
            processes: self.processes.clone(),
            to_background,
            approved: Vec::new(),
            protected_granted: false,
            live: Arc::new(move |channel, text: &str| {
                let _ = back.send(Back::CallLive {
                    call: live_call.clone(),
                    channel,
                    text: text.to_owned(),
                });
            }),
            before: Arc::new(move |path, content| {
                let mode = undo::mode_of(&root, path);
                paddock_store::before::keep_before(&home, &session, &of, path.as_str(), content, mode)
                    .map_err(std::io::Error::other)
            }),
            whole_output: Arc::new(move |bytes| {
                paddock_store::outputs::keep_output(&keep.0, &keep.1, &keep.2, bytes)
                    .map_err(std::io::Error::other)
            }),
            after: Arc::new(move |path, version| {
                paddock_store::before::keep_after(&after.0, &after.1, &after.2, path.as_str(), version)
                    .map_err(std::io::Error::other)
            }),
            earlier_output: Arc::new(move |call| {
                match paddock_store::outputs::read_output(&reader.0, &reader.1, call) {
                    Ok(text) => Ok(Some(text)),
                    Err(paddock_store::StoreError::NotFound { .. }) => Ok(None),
                    Err(error) => Err(std::io::Error::other(error)),
                }
            }),
        }
    }

    fn tool(&self, name: &str) -> Option<Arc<dyn Tool>> {
        self.place.registry.get(name).cloned()
    }

    fn prepare(&mut self, call: CallId, tool: &str, arguments: String, state: &SessionState) {
        let span = traced::call(&self.place.session, &call, tool);
        let Some(tool) = self.tool(tool) else { return };
        let mut cx = self.context(&call, state);
        let (place, asked) = (self.place.clone(), arguments.clone());
        let back_call = call.clone();
        let work = async move {
            if tool.kind() == ToolKind::Command {
                cx.sandbox = confined_summary(place, cx.sandbox.read_only).await;
            }
            let plan = tool.prepare(&asked, &cx).await.map_err(failure)?;
            Ok(CallPlan {
                verb: plan.verb,
                target: plan.target,
                access: plan.access,
                body: plan.body,
                undo: plan.undo,
                flow: plan.flow,
            })
        };
        self.track(call, work.instrument(span), move |result| Back::Prepared {
            call: back_call,
            arguments,
            result,
        });
    }

    fn run(
        &mut self,
        call: CallId,
        tool: &str,
        arguments: String,
        approved: Vec<FileBase>,
        protected_granted: bool,
        state: &SessionState,
    ) {
        let span = traced::call(&self.place.session, &call, tool);
        let Some(tool) = self.tool(tool) else { return };
        let mut cx = self.context(&call, state);
        cx.approved = approved;
        cx.protected_granted = protected_granted;
        let place = self.place.clone();
        let back_call = call.clone();
        let work = async move {
            if tool.kind() == ToolKind::Command {
                cx.sandbox = confined_summary(place, cx.sandbox.read_only).await;
            }
            let begun = Instant::now();
            let mut output = tool.run(&arguments, &cx).await.map_err(failure)?;
            output.duration = begun.elapsed().into();
            Ok(output)
        };
        self.track(call, work.instrument(span), move |result| Back::CallEnded {
            call: back_call,
            result,
        });
    }

    /// Runs `work` so that it can be cancelled, and reports its end also when it panics.
    fn track<T: Send + 'static>(
        &mut self,
        call: CallId,
        work: impl Future<Output = Result<T, CallFailure>> + Send + 'static,
        report: impl FnOnce(Result<T, CallFailure>) -> Back + Send + 'static,
    ) {
        let work = tokio::spawn(work);
        self.calls.retain(|_, handle| !handle.is_finished());
        self.calls.insert(call, work.abort_handle());
        let back = self.back.clone();
        tokio::spawn(async move {
            let result = match work.await {
                Ok(result) => result,
                Err(ended) if ended.is_cancelled() => return,
                Err(_) => Err(CallFailure::Model("the tool itself failed".to_owned())),
            };
            let _ = back.send(report(result));
        });
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
        let kept = paddock_store::rules::load(&self.place.home, project).and_then(|loaded| {
            let mut rules = loaded.value;
            rules.push(rule);
            paddock_store::rules::save(&self.place.home, project, &rules)
        });
        if let Err(error) = kept {
            tracing::warn!(%error, "a rule for the project could not be kept; it holds for this session");
        }
    }
}

fn spec((name, description, parameters): (&str, &str, serde_json::Value)) -> ToolSpec {
    ToolSpec {
        name: name.to_owned(),
        description: description.to_owned(),
        parameters,
    }
}

async fn confined_summary(place: Arc<Workplace>, read_only: bool) -> SandboxSummary {
    let asked = place.clone();
    let known = match place.sandbox.get() {
        Some(known) => known.clone(),
        None => tokio::task::spawn_blocking(move || asked.sandbox_summary().clone())
            .await
            .unwrap_or_default(),
    };
    SandboxSummary { read_only, ..known }
}

fn failure(error: ToolError) -> CallFailure {
    match error {
        ToolError::Arguments(reason) => CallFailure::Arguments(reason),
        ToolError::Model(what) => CallFailure::Model(what),
        ToolError::ChangedSince { path } => CallFailure::ChangedSince { path },
        ToolError::Fatal(what) => CallFailure::Fatal(what),
    }
}
