//! A call from its arguments to its result: judged, run in its order, ended.

use super::Draft;
use super::sub_agent::AT_ONCE;
use crate::session::input::{CallFailure, CallPlan, Effect, Timer};
use crate::session::live_turn::LiveCall;
use crate::session::words;
use paddock_policy::{Circumstances, Decision as Ruling, Judgement, judge};
use paddock_protocol::*;
use paddock_tools::{Flow, ToolKind};

const ASK: &str = "ask_question";

impl Draft<'_> {
    pub(super) fn is_question(&self, call: &LiveCall) -> bool {
        call.tool == ASK
    }

    fn kind(&self, call: &LiveCall) -> ToolKind {
        self.around.kind(&call.tool).unwrap_or(ToolKind::Command)
    }

    fn live_call(&self, call: &CallId) -> Option<LiveCall> {
        self.turn()?.call(call).cloned()
    }

    pub(super) fn prepared(&mut self, id: &CallId, arguments: &str, result: Result<CallPlan, CallFailure>) {
        let Some(live) = self
            .live_call(id)
            .filter(|live| live.status == ItemStatus::Waiting && !live.judged)
        else {
            return;
        };
        let edited = live.granted.as_ref().and_then(|granted| granted.edited.clone());
        let current = match &edited {
            Some(edited) => edited == arguments,
            None => self
                .call_item(live.item)
                .is_some_and(|call| call.arguments == arguments),
        };
        if !current {
            return;
        }
        match result {
            Ok(plan) => self.judge_plan(&live, plan, edited),
            Err(CallFailure::Arguments(reason)) => {
                let left = self.note_malformed(&reason, arguments);
                let text = words::malformed(&reason, self.live.config.format, left);
                self.finish_call(&live, ItemStatus::Failed, |call| {
                    call.output = Some(CallOutput {
                        text,
                        ..CallOutput::default()
                    });
                });
            }
            Err(failure) => {
                self.change_call(live.item, ItemStatus::Waiting, |call| {
                    call.verdict = Some(free_verdict())
                });
                self.call_failed(&live, failure);
            }
        }
        self.advance();
    }

    fn judge_plan(&mut self, live: &LiveCall, plan: CallPlan, edited: Option<String>) {
        if self.kind(live) == ToolKind::Write && self.follows_open_write(live, &plan.target) {
            // Its diff would be made against a file that is about to change: read again when its place has come.
            self.change_call(live.item, ItemStatus::Waiting, |call| {
                call.verb = plan.verb;
                call.target.clone_from(&plan.target);
            });
            return;
        }
        let config = self.live.config.clone();
        if let Some(reason) = self.absent_in_role(live, &plan) {
            self.forbid(live, reason, Vec::new(), |call| {
                call.verb = plan.verb;
                call.target.clone_from(&plan.target);
            });
            return;
        }
        let rules = self.live.rules.clone();
        let circumstances = Circumstances {
            role: config.role,
            autonomy: config.autonomy,
            rules: &rules,
            turn: self.turn().map_or(TurnId(0), |turn| turn.turn),
            confined: is_confined(&plan.body),
        };
        let judgement = judge(&plan.access, &circumstances);
        let seen = live
            .granted
            .as_ref()
            .filter(|_| edited.is_some() && !live.renewed);
        let approved =
            seen.is_some_and(|seen| judgement.classes.iter().all(|class| seen.classes.contains(class)));
        match &judgement.decision {
            Ruling::Forbid(reason) => {
                self.forbid(live, reason.clone(), judgement.trace.clone(), |call| {
                    describe(call, &plan, &judgement);
                });
            }
            Ruling::Ask if !approved && !self.previewed(&judgement) => {
                self.ask_approval(live, plan, judgement, edited);
            }
            ruling => {
                let by = match (&judgement.rule, ruling) {
                    (_, Ruling::Ask) if !approved => DecidedBy::Workflow {
                        name: self
                            .live
                            .workflow
                            .as_ref()
                            .map(|run| run.plan.name.clone())
                            .unwrap_or_default(),
                    },
                    (_, Ruling::Ask) => DecidedBy::Person,
                    (Some(rule), _) => DecidedBy::Rule { rule: rule.clone() },
                    (None, _) => DecidedBy::Policy,
                };
                let scope = seen.map(|seen| seen.scope);
                let trace = judgement.trace.clone();
                self.change_call(live.item, ItemStatus::Waiting, |call| {
                    describe(call, &plan, &judgement);
                    call.verdict = Some(CallVerdict {
                        by,
                        allowed: true,
                        reason: None,
                        edited_arguments: edited,
                        scope,
                        trace,
                    });
                });
                self.carry_out(live, plan.flow);
            }
        }
    }

    fn forbid(
        &mut self,
        live: &LiveCall,
        reason: String,
        trace: Vec<TraceLine>,
        describe: impl FnOnce(&mut CallItem),
    ) {
        let verdict = CallVerdict {
            allowed: false,
            reason: Some(reason.clone()),
            trace,
            ..free_verdict()
        };
        self.finish_call(live, ItemStatus::Rejected, |call| {
            describe(call);
            call.verdict = Some(verdict);
            call.output = Some(CallOutput {
                text: reason,
                ..CallOutput::default()
            });
        });
    }

    /// Why a call of the model does not exist for it, in its words: the role lacks the tool, or a cap is reached.
    fn absent_in_role(&self, live: &LiveCall, plan: &CallPlan) -> Option<String> {
        if self.is_workflow_turn() {
            return None;
        }
        let own = self.live.config.own_role.as_ref();
        if let Some(own) = own.filter(|own| !own.has(&live.tool)) {
            return Some(words::not_in_role(&live.tool, &own.name));
        }
        match &plan.flow {
            Flow::Delegate { writes, .. } => self.delegate_refusal(*writes),
            _ => None,
        }
    }

    /// The person confirmed the preview of this workflow's step; what is protected or outside is asked all the same.
    fn previewed(&self, judgement: &Judgement) -> bool {
        let asks = |class: &RiskClass| matches!(class, RiskClass::Protected | RiskClass::Outside);
        self.is_workflow_turn() && !judgement.classes.iter().any(asks)
    }

    /// What the loop itself does at once with a call that may run.
    fn carry_out(&mut self, live: &LiveCall, flow: Flow) {
        match flow {
            Flow::Plan { tasks } => {
                self.emit(EventMsg::PlanChanged { tasks });
                self.finish_call(live, ItemStatus::Done, |call| {
                    call.output = Some(CallOutput {
                        ok: true,
                        text: words::PLAN_KEPT.to_owned(),
                        ..CallOutput::default()
                    });
                });
            }
            Flow::Delegate { name, task, writes } => {
                let agent = self.new_sub_agent(live, &name, &task, writes);
                self.change_call(live.item, ItemStatus::Waiting, |call| {
                    call.sub_agent = Some(agent)
                });
            }
            _ => {}
        }
    }

    fn ask_approval(
        &mut self,
        live: &LiveCall,
        plan: CallPlan,
        judgement: Judgement,
        edited: Option<String>,
    ) {
        let Some(call) = self.call_item(live.item) else {
            return;
        };
        let (turn, iteration) = self.turn().map_or((TurnId(0), 0), |t| (t.turn, t.iteration));
        self.change_call(live.item, ItemStatus::Waiting, |call| {
            describe(call, &plan, &judgement);
            call.verdict = None;
        });
        let body = match plan.body {
            ApprovalBody::Command {
                command,
                folder,
                time_limit,
                sandbox,
                ..
            } => ApprovalBody::Command {
                command,
                folder,
                time_limit,
                sandbox,
                segments: judgement.segments,
            },
            body => body,
        };
        let (rule, remembered_as) = judgement.remembered.unzip();
        let approval = ApprovalRequest {
            id: live.call.approval(live.approvals + 1),
            call: live.call.clone(),
            item: live.item,
            turn,
            iteration,
            requested: self.now,
            tool: call.tool,
            arguments: edited.unwrap_or(call.arguments),
            verb: plan.verb,
            target: plan.target,
            access: plan.access,
            classes: judgement.classes,
            body,
            agent_words: self.agent_words(turn, iteration),
            undo: plan.undo,
            trace: judgement.trace,
            scopes: judgement.scopes,
            rule,
            remembered_as,
            renewed: live.renewed,
            from_before_restart: false,
            origin: None,
        };
        self.emit(EventMsg::ApprovalRequested {
            approval: Box::new(approval),
        });
    }

    /// What the model wrote in this iteration.
    fn agent_words(&self, turn: TurnId, iteration: u32) -> Option<String> {
        let text = |item: &Item| match &item.kind {
            ItemKind::AgentText { text } if item.turn == turn && item.iteration == iteration => {
                Some(text.clone())
            }
            _ => None,
        };
        let fresh = self.fresh.iter().rev().find_map(|item| text(item));
        fresh.or_else(|| self.base.items.iter().rev().take(16).find_map(|item| text(item)))
    }

    fn earlier_open<'s>(&'s self, live: &'s LiveCall) -> impl Iterator<Item = &'s LiveCall> {
        let calls = self.turn().map(|turn| turn.calls.as_slice()).unwrap_or_default();
        calls
            .iter()
            .take_while(move |call| call.call != live.call)
            .filter(|call| !call.is_final())
    }

    /// Whether an earlier change of the same file, or of one not known yet, is still open.
    fn follows_open_write(&self, live: &LiveCall, target: &str) -> bool {
        self.earlier_open(live).any(|call| {
            self.kind(call) == ToolKind::Write && (call.target == target || call.target.is_empty())
        })
    }

    /// Reads calls again that waited for an earlier change, or whose file changed since they were approved.
    fn prepare_deferred(&mut self) {
        let calls = self.turn().map(|turn| turn.calls.clone()).unwrap_or_default();
        for live in calls {
            let deferred = live.status == ItemStatus::Waiting && !live.judged && !live.target.is_empty();
            if deferred && !self.follows_open_write(&live, &live.target) {
                self.prepare_call(&live);
            }
        }
    }

    /// Starts every call whose place has come. Reads go side by side; what changes something goes in order.
    pub(super) fn run_calls(&mut self) {
        self.prepare_deferred();
        let calls = self.turn().map(|turn| turn.calls.clone()).unwrap_or_default();
        for live in calls {
            let Some(live) = self.live_call(&live.call) else {
                return;
            };
            if live.status != ItemStatus::Waiting || !live.allowed {
                continue;
            }
            let after = self
                .earlier_open(&live)
                .find(|call| self.comes_first(call, &live));
            match after.map(|call| call.call.clone()) {
                None if self.kind(&live) == ToolKind::Loop && self.running_sub_agents() >= AT_ONCE => {}
                None => self.run_call(&live),
                Some(after) if live.after.as_ref() != Some(&after) => {
                    self.change_call(live.item, ItemStatus::Waiting, |call| call.after = Some(after));
                }
                Some(_) => {}
            }
        }
    }

    /// Whether `earlier`, which is still open, must end before `live` may begin.
    fn comes_first(&self, earlier: &LiveCall, live: &LiveCall) -> bool {
        let kind = self.kind(earlier);
        if kind == ToolKind::Breaking {
            return true;
        }
        match self.kind(live) {
            ToolKind::Breaking => true,
            ToolKind::Loop => false,
            ToolKind::Read => kind == ToolKind::Write && earlier.judged && earlier.target == live.target,
            ToolKind::Command => !matches!(kind, ToolKind::Read | ToolKind::Loop),
            ToolKind::Write => match kind {
                ToolKind::Command => true,
                ToolKind::Write => {
                    earlier.status == ItemStatus::Running || earlier.target == live.target || !earlier.judged
                }
                _ => false,
            },
        }
    }

    fn run_call(&mut self, live: &LiveCall) {
        let Some(call) = self.call_item(live.item) else {
            return;
        };
        let arguments = call
            .verdict
            .as_ref()
            .and_then(|v| v.edited_arguments.clone())
            .unwrap_or(call.arguments);
        if self.kind(live) == ToolKind::Breaking {
            self.break_loop(live);
            return;
        }
        if live.sub_agent.is_some() {
            self.start_sub_agent(live);
            return;
        }
        let limits = &self.live.config.limits;
        let (now, time) = match self.kind(live) {
            ToolKind::Command => (self.now, limits.command_time),
            _ => (self.now, limits.tool_time),
        };
        self.change_call(live.item, ItemStatus::Running, |call| call.began = Some(now));
        let granted = live.granted.as_ref();
        self.effect(Effect::Run {
            call: live.call.clone(),
            tool: call.tool,
            arguments,
            approved: granted
                .and_then(|granted| granted.base.clone())
                .filter(|_| granted.is_some_and(|g| g.edited.is_none())),
            protected_granted: call.classes.contains(&RiskClass::Protected) && granted.is_some(),
        });
        self.effect(Effect::StartTimer {
            timer: Timer::Call(live.call.clone()),
            at: now.plus(time),
        });
    }

    /// `task_completion`, `converse`, `ask_question`: the loop itself carries them out; what was asked after them is not run.
    fn break_loop(&mut self, live: &LiveCall) {
        for later in self.turn().map(|turn| turn.calls.clone()).unwrap_or_default() {
            let after = later.item > live.item && !later.is_final();
            if after {
                self.withdraw(&later, WithdrawReason::CallEnded);
                self.close_call(&later, ItemStatus::Stopped, words::NOT_REACHED);
            }
        }
        if self.is_question(live) {
            let now = self.now;
            self.change_call(live.item, ItemStatus::Running, |call| call.began = Some(now));
            self.set_status(TurnStatus::WaitingForAnswer);
            return;
        }
        self.finish_call(live, ItemStatus::Done, |call| {
            call.output = Some(CallOutput {
                ok: true,
                text: "Shown to the user.".into(),
                ..CallOutput::default()
            });
        });
        if self.turn().is_some_and(|turn| !turn.unused.is_empty()) {
            self.iteration_done();
            return;
        }
        self.end_turn(TurnEnd::Completed);
    }

    pub(super) fn call_ended(&mut self, id: &CallId, result: Result<CallOutput, CallFailure>) {
        let Some(live) = self
            .live_call(id)
            .filter(|live| live.status == ItemStatus::Running)
        else {
            return;
        };
        match result {
            Ok(output) => {
                let status = if output.ok {
                    ItemStatus::Done
                } else {
                    ItemStatus::Failed
                };
                self.finish_call(&live, status, |call| {
                    let edited = call
                        .verdict
                        .as_ref()
                        .and_then(|verdict| verdict.edited_arguments.as_ref());
                    let text = match edited {
                        Some(arguments) => words::edited(arguments) + &output.text,
                        None => output.text,
                    };
                    call.output = Some(CallOutput { text, ..output });
                });
            }
            Err(CallFailure::ChangedSince { .. }) => {
                self.change_call(live.item, ItemStatus::Waiting, |call| {
                    call.verdict = None;
                    call.began = None;
                });
            }
            Err(failure) => self.call_failed(&live, failure),
        }
        self.advance();
    }

    fn call_failed(&mut self, live: &LiveCall, failure: CallFailure) {
        let what = match failure {
            CallFailure::Model(what) | CallFailure::Arguments(what) => what,
            CallFailure::ChangedSince { path } => format!("{path} changed meanwhile"),
            CallFailure::Fatal(what) => {
                self.finish_call(live, ItemStatus::Failed, |call| {
                    call.output = Some(CallOutput {
                        text: "Paddock could not go on.".into(),
                        ..CallOutput::default()
                    });
                });
                let error = ModelError::new(ModelErrorKind::BadRequest, what)
                    .with_hint("Nothing is lost. Make room or mend it, then continue.");
                self.note_item(ItemKind::Error { error: error.clone() });
                self.close_calls(words::STOPPED_BEFORE, words::STOPPED_DURING);
                self.pause(PauseCause::Model { error });
                return;
            }
        };
        let left = self.tries_left(&live.tool);
        self.finish_call(live, ItemStatus::Failed, |call| {
            call.output = Some(CallOutput {
                text: words::failed(&call.tool, &what, left),
                ..CallOutput::default()
            });
        });
    }

    /// Tries that remain after one more failure of this tool.
    fn tries_left(&self, tool: &str) -> u32 {
        let failed = self.turn().map_or(0, |turn| {
            if turn.failures.tool == tool {
                turn.failures.calls.len()
            } else {
                0
            }
        });
        let failed = u32::try_from(failed).unwrap_or(u32::MAX).saturating_add(1);
        self.live.config.limits.tool_failures.saturating_sub(failed)
    }

    pub(super) fn call_timed_out(&mut self, id: &CallId) {
        let Some(live) = self
            .live_call(id)
            .filter(|live| live.status == ItemStatus::Running)
        else {
            return;
        };
        if self.kind(&live) == ToolKind::Command {
            // A command may rightly take long: the person decides, and meanwhile it goes on.
            if self.is_sub_agent() {
                self.end_overdue(&live);
            } else {
                self.change_call(live.item, ItemStatus::Running, |call| call.overdue = true);
            }
            self.advance();
            return;
        }
        self.effect(Effect::CancelCall { call: id.clone() });
        let text = words::timed_out(&live.tool, self.live.config.limits.tool_time);
        self.finish_call(&live, ItemStatus::Failed, |call| {
            call.output = Some(CallOutput {
                text,
                ..CallOutput::default()
            });
        });
        self.advance();
    }

    fn end_overdue(&mut self, live: &LiveCall) {
        self.effect(Effect::CancelCall {
            call: live.call.clone(),
        });
        let note = words::overdue(&live.tool, self.live.config.limits.command_time);
        self.close_call(live, ItemStatus::Failed, &note);
    }

    /// The person gives a command that passed its limit as much time again.
    pub(super) fn keep_waiting(&mut self, id: &CallId) {
        let Some(live) = self.live_call(id).filter(|live| live.overdue && !live.is_final()) else {
            self.refuse_ended_call();
            return;
        };
        self.change_call(live.item, ItemStatus::Running, |call| call.overdue = false);
        self.effect(Effect::StartTimer {
            timer: Timer::Call(id.clone()),
            at: self.now.plus(self.live.config.limits.command_time),
        });
        self.advance();
    }

    pub(super) fn to_background(&mut self, id: &CallId) {
        let runs =
            |live: &LiveCall| live.status == ItemStatus::Running && self.kind(live) == ToolKind::Command;
        let Some(live) = self.live_call(id).filter(runs) else {
            self.refuse_ended_call();
            return;
        };
        if live.overdue {
            self.change_call(live.item, ItemStatus::Running, |call| call.overdue = false);
        }
        self.effect(Effect::ToBackground { call: id.clone() });
        self.advance();
    }

    pub(super) fn end_call(&mut self, id: &CallId) {
        if self.turn().is_some_and(|turn| turn.sampling) {
            self.refuse(
                ErrorCode::NotNow,
                "The model is still asking for this call.",
                "Stop the turn, or wait.",
            );
            return;
        }
        let Some(live) = self.live_call(id).filter(|call| !call.is_final()) else {
            self.refuse_ended_call();
            return;
        };
        if live.overdue {
            self.end_overdue(&live);
            self.go_on();
            return;
        }
        self.withdraw(&live, WithdrawReason::CallEnded);
        self.withdraw_nested(&live, |_| true);
        if live.status == ItemStatus::Running && !self.is_question(&live) {
            self.effect(Effect::CancelCall { call: id.clone() });
        }
        self.close_call(&live, ItemStatus::Stopped, words::ENDED);
        self.go_on();
    }

    fn refuse_ended_call(&mut self) {
        self.refuse(
            ErrorCode::NotNow,
            "This call has ended already.",
            "Nothing was changed.",
        );
    }

    /// Whether the call is a sub-agent that can do nothing until the person decides.
    pub(super) fn asks_through_sub_agent(&self, live: &LiveCall) -> bool {
        let status = live
            .sub_agent
            .and_then(|_| self.call_item(live.item)?.sub_agent)
            .map(|agent| agent.status);
        status.is_some_and(|status| status.waits_for_person())
            && self
                .live
                .approvals
                .iter()
                .any(|waiting| waiting.origin.is_some() && waiting.call == live.call)
    }

    pub(super) fn finish_call(
        &mut self,
        live: &LiveCall,
        status: ItemStatus,
        change: impl FnOnce(&mut CallItem),
    ) {
        let started = self.item(live.item).map_or(self.now, |item| item.started);
        let now = self.now;
        self.change_call(live.item, status, |call| {
            change(call);
            call.overdue = false;
            let started = call.began.unwrap_or(started);
            if let Some(output) = call.output.as_mut().filter(|output| output.duration == Millis(0)) {
                output.duration = now.since(started);
            }
        });
    }

    /// Ends a call from outside, with the output that has come so far.
    pub(super) fn close_call(&mut self, live: &LiveCall, status: ItemStatus, note: &str) {
        let partial = self
            .live
            .open_item(live.item)
            .map(|open| open.output.clone())
            .unwrap_or_default();
        let text = if partial.is_empty() {
            note.to_owned()
        } else {
            format!("{}\n{note}", partial.trim_end())
        };
        self.finish_call(live, status, |call| {
            call.output = Some(CallOutput {
                text,
                ..CallOutput::default()
            });
        });
    }

    pub(super) fn undone(&mut self, call: &CallId, redo: bool, files: Vec<UndoneFile>) {
        let changed = |item: &&std::sync::Arc<Item>| matches!(&item.kind, ItemKind::Call(c) if c.call == *call && c.output.is_some());
        let item = self.base.items.iter().rfind(changed);
        let Some(item) = item.map(|item| item.id) else {
            return;
        };
        let done = files
            .iter()
            .any(|file| matches!(file.result, UndoResult::Restored | UndoResult::Removed));
        self.note_item(ItemKind::Undo {
            call: call.clone(),
            redo,
            files,
        });
        if done {
            self.change_call(
                item,
                if redo {
                    ItemStatus::Done
                } else {
                    ItemStatus::Undone
                },
                |_| {},
            );
        }
    }
}

/// Whether the OS confines the command; what is no command needs no confinement.
pub(super) fn is_confined(body: &ApprovalBody) -> bool {
    match body {
        ApprovalBody::Command { sandbox, .. } => sandbox.confined,
        _ => true,
    }
}

fn free_verdict() -> CallVerdict {
    CallVerdict {
        by: DecidedBy::Policy,
        allowed: true,
        reason: None,
        edited_arguments: None,
        scope: None,
        trace: Vec::new(),
    }
}

fn describe(call: &mut CallItem, plan: &CallPlan, judgement: &Judgement) {
    call.verb = plan.verb;
    call.target.clone_from(&plan.target);
    call.classes.clone_from(&judgement.classes);
}
