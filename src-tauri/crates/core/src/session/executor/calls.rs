//! The calls of the model: what each may use, and how it runs and ends.

use super::{Executor, Granted, Workplace};
use crate::providers::page_routes;
use crate::secrets::Secrets;
use crate::session::gate::{CallGate, OpenGate};
use crate::session::input::{Back, CallFailure, CallPlan};
use crate::session::state::SessionState;
use crate::session::traced;
use crate::undo;
use paddock_policy::secrets::MaskStream;
use paddock_protocol::*;
use paddock_sandbox::{Gate, PathGrant, Unconfined};
use paddock_tools::{CallContext, Tool, ToolError, ToolKind};
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Instant;
use tokio::sync::mpsc::UnboundedSender;
use tracing::Instrument as _;

impl Executor {
    pub(super) fn context(&mut self, call: &CallId, state: &SessionState) -> CallContext {
        let calls = &self.calls;
        self.to_background
            .retain(|call, _| calls.get(call).is_some_and(|handle| !handle.is_finished()));
        let to_background = self.to_background.entry(call.clone()).or_default().clone();
        let config = &state.live.config;
        let read_only = config.role == Role::Plan;
        let place = &self.place;
        let secrets = place.providers.secrets().clone();
        let found_keys = secrets.clone();
        let (home, session, of) = (place.home.clone(), place.session.clone(), call.clone());
        let keep = (home.clone(), session.clone(), of.clone());
        let after = keep.clone();
        let reader = (home.clone(), session.clone());
        let shower = reader.clone();
        // Where nothing is known the server's refusal tells.
        let may_see = config.facts.images != Some(false);
        let root = place.root.clone();
        let known = known_files(state);
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
            chosen: None,
            protected_granted: false,
            outside: Vec::new(),
            hosts: Vec::new(),
            shown_reach: HostReach::Unknown,
            route: page_routes(&place.providers),
            gate: None,
            live: Arc::new(|_, _| {}),
            before: Arc::new(move |path, content| {
                let mode = undo::mode_of(&root, path);
                paddock_store::before::keep_before(&home, &session, &of, path.as_str(), content, mode)
                    .map_err(std::io::Error::other)
            }),
            whole_output: Arc::new(move |bytes| {
                let bytes = secrets.mask_bytes(bytes);
                paddock_store::outputs::keep_output(&keep.0, &keep.1, &keep.2, &bytes)
                    .map_err(std::io::Error::other)
            }),
            after: Arc::new(move |path, version| {
                paddock_store::before::keep_after(&after.0, &after.1, &after.2, path.as_str(), version)
                    .map_err(std::io::Error::other)
            }),
            knows: Arc::new(move |path| known.contains(path.as_str())),
            key_lines: Arc::new(move |text| found_keys.masker().lines(text)),
            careful: config.format != CallFormat::Native,
            show_image: Arc::new(move |name, media_type, bytes| {
                if !may_see {
                    return Ok(None);
                }
                let kept = paddock_store::attachments::keep(&shower.0, &shower.1, name, media_type, bytes);
                kept.map(Some).map_err(std::io::Error::other)
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

    pub(super) fn prepare(&mut self, call: CallId, tool: &str, arguments: String, state: &SessionState) {
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

    pub(super) fn run(
        &mut self,
        call: CallId,
        tool: &str,
        arguments: String,
        granted: Granted,
        state: &SessionState,
    ) {
        let span = traced::call(&self.place.session, &call, tool);
        let Some(tool) = self.tool(tool) else { return };
        let mut cx = self.context(&call, state);
        cx.approved = granted.approved;
        cx.chosen = granted.chosen;
        cx.protected_granted = granted.protected;
        (cx.outside, cx.hosts) = beyond(granted.reach);
        let gate = (tool.kind() == ToolKind::Command).then(|| self.gate(&call, &arguments));
        cx.shown_reach = granted.shown_reach;
        cx.gate = gate.clone().map(|gate| Gate(gate));
        let place = self.place.clone();
        let back_call = call.clone();
        let secrets = place.providers.secrets().clone();
        let shown = LiveMask::new(&back_call, &self.back, &secrets);
        let live = shown.clone();
        cx.live = Arc::new(move |channel, text: &str| live.push(channel, text));
        let work = async move {
            let _open = gate.map(OpenGate);
            if tool.kind() == ToolKind::Command {
                cx.sandbox = confined_summary(place, cx.sandbox.read_only).await;
            }
            open_up(granted.opened, &mut cx);
            let begun = Instant::now();
            let ran = tool.run(&arguments, &cx).await;
            shown.finish();
            let mut output = ran.map_err(|error| masked_failure(error, &secrets))?;
            output.duration = begun.elapsed().into();
            secrets.mask_output(&mut output);
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

    /// Asks the loop for each connection of the command.
    fn gate(&mut self, call: &CallId, arguments: &str) -> Arc<CallGate> {
        let command = serde_json::from_str::<serde_json::Value>(arguments)
            .ok()
            .and_then(|value| Some(value.get("command")?.as_str()?.to_owned()))
            .unwrap_or_default();
        let before = self.gates.get(call).and_then(Weak::upgrade);
        let before = before.map_or(0, |gate| gate.count());
        let gate = Arc::new(CallGate::new(call.clone(), command, self.back.clone(), before));
        self.gates.retain(|_, gate| gate.strong_count() > 0);
        self.gates.insert(call.clone(), Arc::downgrade(&gate));
        gate
    }
}

/// Live output, with secrets masked also where they come in pieces.
#[derive(Clone)]
struct LiveMask {
    call: CallId,
    back: UnboundedSender<Back>,
    secrets: Arc<Secrets>,
    streams: Arc<Mutex<HashMap<DeltaChannel, MaskStream>>>,
}

impl LiveMask {
    fn new(call: &CallId, back: &UnboundedSender<Back>, secrets: &Arc<Secrets>) -> Self {
        Self {
            call: call.clone(),
            back: back.clone(),
            secrets: secrets.clone(),
            streams: Arc::default(),
        }
    }

    fn push(&self, channel: DeltaChannel, text: &str) {
        let mut streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        let stream = streams.entry(channel).or_insert_with(|| self.secrets.stream());
        self.tell(channel, stream.push(text));
    }

    /// What was held back because a secret might have begun in it.
    fn finish(&self) {
        let mut streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        for (channel, mut stream) in streams.drain() {
            self.tell(channel, stream.finish());
        }
    }

    fn tell(&self, channel: DeltaChannel, text: String) {
        if !text.is_empty() {
            let _ = self.back.send(Back::CallLive {
                call: self.call.clone(),
                channel,
                text,
            });
        }
    }
}

/// What the person opened for one run, and for that alone.
fn open_up(opened: Option<AnswerScope>, cx: &mut CallContext) {
    match opened {
        Some(AnswerScope::OnceWithNetwork) => cx.sandbox.network = NetworkLevel::Open,
        Some(AnswerScope::OnceUnconfined) => {
            let why = "You let this command run once without the sandbox.";
            cx.confinement = Arc::new(Unconfined::new(why));
            cx.sandbox = SandboxSummary {
                tier: "none".to_owned(),
                network: NetworkLevel::Open,
                gaps: vec![why.to_owned()],
                ..SandboxSummary::default()
            };
        }
        _ => {}
    }
}

/// Places outside of the project, and hosts.
fn beyond(reach: Vec<Access>) -> (Vec<PathGrant>, Vec<String>) {
    let (mut outside, mut hosts) = (Vec::new(), Vec::new());
    for access in reach {
        match access {
            Access::Outside { path, write, .. } => outside.push(PathGrant {
                path: PathBuf::from(path),
                writable: write,
            }),
            Access::Network { host } => hosts.push(host),
            _ => {}
        }
    }
    (outside, hosts)
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

/// Paths of files that calls of this session read or changed.
fn known_files(state: &SessionState) -> HashSet<String> {
    let calls = state.items.iter().filter_map(|item| match &item.kind {
        ItemKind::Call(call) => Some(call),
        _ => None,
    });
    let mut known = HashSet::new();
    for call in calls {
        let Some(output) = call.output.as_ref().filter(|output| output.ok) else {
            continue;
        };
        if call.verb == Verb::Read {
            known.insert(call.target.clone());
        }
        known.extend(output.changes.iter().map(|change| change.path.clone()));
    }
    known
}

fn failure(error: ToolError) -> CallFailure {
    match error {
        ToolError::Arguments(reason) => CallFailure::Arguments(reason),
        ToolError::Model(what) => CallFailure::Model(what),
        ToolError::ChangedSince { path } => CallFailure::ChangedSince { path },
        ToolError::Fatal(what) => CallFailure::Fatal(what),
    }
}

fn masked_failure(error: ToolError, secrets: &Secrets) -> CallFailure {
    match failure(error) {
        CallFailure::Model(what) => CallFailure::Model(secrets.mask(what)),
        other => other,
    }
}
