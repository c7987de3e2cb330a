//! A call is judged: its arguments were read, and it is refused, asked for, or let go.

use super::Draft;
use crate::session::input::{CallFailure, CallPlan};
use crate::session::live_turn::{LiveCall, beyond};
use crate::session::words;
use paddock_policy::{Decision as Ruling, Judgement};
use paddock_protocol::*;
use paddock_tools::{Flow, ToolKind};

impl Draft<'_> {
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
            Err(CallFailure::Arguments(reason) | CallFailure::Model(reason))
                if self.settle_first_run(&live, &reason) => {}
            // Nobody but the person wrote them: it is no answer of the model that cannot be used.
            Err(CallFailure::Arguments(reason)) if live.check => {
                self.call_failed(&live, CallFailure::Model(reason), Some(free_verdict()));
            }
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
            // The verdict says that it counts as tried. It stands in the log with the failure only: alone it would let the
            // call run when the program dies in between.
            Err(failure) => self.call_failed(&live, failure, Some(free_verdict())),
        }
        self.advance();
    }

    fn judge_plan(&mut self, live: &LiveCall, mut plan: CallPlan, edited: Option<String>) {
        if self.kind(live) == ToolKind::Write && self.follows_open_write(live, &plan.target) {
            // Its diff would be made against a file that is about to change: read again when its place has come.
            self.change_call(live.item, ItemStatus::Waiting, |call| {
                call.verb = plan.verb;
                call.target.clone_from(&plan.target);
            });
            return;
        }
        let again = self.call_item(live.item).and_then(|call| call.again);
        if let Some(first) = &again {
            plan.access.extend(first.refused.iter().cloned());
        }
        if let Some(reason) = self.absent_in_role(live, &plan) {
            let own = self.live.config.own_role.as_ref();
            let lacking = own.filter(|_| self.tool_refusal(&live.tool).is_some());
            let (about, says) = match lacking {
                Some(own) => (format!("Role {}", own.name), "does not have this tool"),
                None => (
                    "Sub-agents".to_owned(),
                    "not of this kind in this role, or too many",
                ),
            };
            let trace = decided_by(about, says, Vec::new());
            self.forbid(live, reason, trace, |call| {
                call.verb = plan.verb;
                call.target.clone_from(&plan.target);
            });
            return;
        }
        let mut judgement = self.judged(&plan.access, fence(&plan.body));
        if again.is_some() && judgement.decision == Ruling::Allow {
            // It would run a second time: that is the person's to say.
            judgement.decision = Ruling::Ask;
        }
        if live.picked && judgement.decision == Ruling::Allow {
            // They wanted a part of it, and what they chose from is gone.
            judgement.decision = Ruling::Ask;
            let about = "Your choice".to_owned();
            judgement.trace = decided_by(about, "you left a part of it out before", judgement.trace);
        }
        if let Some(first) = &again {
            // The command itself was let go before: what can be remembered is the place.
            let place = self.judged(&first.refused, fence(&plan.body));
            (judgement.scopes, judgement.remembered) = (place.scopes, place.remembered);
        }
        let seen = live
            .granted
            .as_ref()
            .filter(|_| edited.is_some() && !live.renewed);
        let wanted = beyond(&plan.access);
        let approved = seen.is_some_and(|seen| {
            judgement.classes.iter().all(|class| seen.classes.contains(class))
                && wanted.iter().all(|place| seen.reach.contains(place))
        });
        match &judgement.decision {
            Ruling::Forbid(reason) => {
                self.forbid(live, reason.clone(), judgement.trace.clone(), |call| {
                    describe(call, &plan, &judgement);
                });
            }
            Ruling::Ask if !approved && !self.previewed(&judgement) && !live.check => {
                self.ask_approval(live, plan, judgement, edited);
            }
            ruling => {
                let by = match (&judgement.rule, ruling) {
                    (_, Ruling::Ask) if live.check => DecidedBy::Person,
                    (_, Ruling::Ask) if !approved => DecidedBy::Workflow {
                        name: self
                            .live
                            .workflow
                            .as_ref()
                            .map(|run| run.plan.name.clone())
                            .unwrap_or_default(),
                    },
                    (_, Ruling::Ask) => DecidedBy::Person,
                    (rule, _) => self.decided_by_rule(rule.clone()),
                };
                let scope = seen.map(|seen| seen.scope);
                let trace = match &by {
                    DecidedBy::Workflow { name } => {
                        let about = format!("Workflow {name}");
                        decided_by(about, "you confirmed its preview", judgement.trace.clone())
                    }
                    DecidedBy::Person if live.check => decided_by(
                        "Check".to_owned(),
                        "you set this command",
                        judgement.trace.clone(),
                    ),
                    _ => judgement.trace.clone(),
                };
                let verdict = CallVerdict {
                    by,
                    allowed: true,
                    reason: None,
                    edited_arguments: edited,
                    left_out: Vec::new(),
                    scope,
                    reach: beyond(&plan.access),
                    trace,
                };
                self.let_go(live, &plan, &judgement, verdict);
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
        if self.settle_first_run(live, &reason) {
            return;
        }
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
        let refusal = self.tool_refusal(&live.tool);
        if live.check {
            return None;
        }
        if refusal.is_some() || self.is_workflow_turn() {
            return refusal;
        }
        match &plan.flow {
            Flow::Delegate { writes, .. } => self.delegate_refusal(*writes),
            _ => None,
        }
    }

    /// Why the role of one's own does not have the tool; what a workflow calls, the person asked for.
    pub(super) fn tool_refusal(&self, tool: &str) -> Option<String> {
        let own = self.live.config.own_role.as_ref();
        own.filter(|own| !own.has(tool) && !self.is_workflow_turn())
            .map(|own| words::not_in_role(tool, &own.name))
    }

    /// The person confirmed the preview of this workflow's step; what is protected or outside is asked all the same.
    fn previewed(&self, judgement: &Judgement) -> bool {
        let asks = |class: &RiskClass| matches!(class, RiskClass::Protected | RiskClass::Outside);
        self.is_workflow_turn() && !judgement.classes.iter().any(asks)
    }

    /// A call that may run. What the loop itself does with it stands in the log together with the verdict.
    fn let_go(&mut self, live: &LiveCall, plan: &CallPlan, judgement: &Judgement, verdict: CallVerdict) {
        let judged = |call: &mut CallItem| {
            describe(call, plan, judgement);
            call.verdict = Some(verdict);
        };
        match &plan.flow {
            Flow::Plan { tasks } => {
                self.emit(EventMsg::PlanChanged { tasks: tasks.clone() });
                self.finish_call(live, ItemStatus::Done, |call| {
                    judged(call);
                    call.output = Some(CallOutput {
                        ok: true,
                        text: words::PLAN_KEPT.to_owned(),
                        ..CallOutput::default()
                    });
                });
            }
            Flow::Delegate { name, task, writes } => {
                let agent = self.new_sub_agent(live, name, task, *writes);
                self.change_call(live.item, ItemStatus::Waiting, |call| {
                    judged(call);
                    call.sub_agent = Some(agent);
                });
            }
            _ => self.change_call(live.item, ItemStatus::Waiting, judged),
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
                background,
                sandbox,
                ..
            } => ApprovalBody::Command {
                command,
                folder,
                time_limit,
                background,
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
            body: body.clone(),
            agent_words: self.agent_words(turn, iteration),
            undo: plan.undo,
            trace: judgement.trace,
            scopes: self.with_openings(judgement.scopes, &body),
            rule,
            remembered_as,
            renewed: live.renewed,
            from_before_restart: false,
            ask: None,
            again: call.again,
            origin: None,
        };
        self.emit(EventMsg::ApprovalRequested {
            approval: Box::new(approval),
        });
    }

    /// A command may also run once with more than it would get, where the person sits before it and did not give it a free
    /// hand. No rule and no wish of the model leads there.
    fn with_openings(&self, mut scopes: Vec<AnswerScope>, body: &ApprovalBody) -> Vec<AnswerScope> {
        let ApprovalBody::Command { sandbox, .. } = body else {
            return scopes;
        };
        if !sandbox.confined || sandbox.read_only || !self.may_open_more() {
            return scopes;
        }
        if sandbox.network != NetworkLevel::Open {
            scopes.push(AnswerScope::OnceWithNetwork);
        }
        scopes.push(AnswerScope::OnceUnconfined);
        scopes
    }

    pub(super) fn may_open_more(&self) -> bool {
        let config = &self.live.config;
        config.autonomy != Autonomy::HandsOff && config.role != Role::Plan && config.parent.is_none()
    }

    /// What the model wrote in this iteration.
    pub(super) fn agent_words(&self, turn: TurnId, iteration: u32) -> Option<String> {
        let text = |item: &Item| match &item.kind {
            ItemKind::AgentText { text } if item.turn == turn && item.iteration == iteration => {
                Some(text.clone())
            }
            _ => None,
        };
        let fresh = self.fresh.iter().rev().find_map(|item| text(item));
        fresh.or_else(|| self.base.items.iter().rev().take(16).find_map(|item| text(item)))
    }
}

/// What holds a command; what is no command needs nothing that holds it.
#[derive(Clone, Copy)]
pub(super) struct Fence {
    pub(super) confined: bool,
    /// It reaches no host that is not asked for.
    pub(super) network_asks: bool,
}

pub(super) fn fence(body: &ApprovalBody) -> Fence {
    match body {
        ApprovalBody::Command { sandbox, .. } => Fence {
            confined: sandbox.confined,
            network_asks: sandbox.network != NetworkLevel::Open,
        },
        _ => Fence {
            confined: true,
            network_asks: true,
        },
    }
}

pub(super) fn free_verdict() -> CallVerdict {
    CallVerdict {
        by: DecidedBy::Policy,
        allowed: true,
        reason: None,
        edited_arguments: None,
        left_out: Vec::new(),
        scope: None,
        reach: Vec::new(),
        trace: Vec::new(),
    }
}

/// The trace with a further line, which decides in place of those before.
fn decided_by(about: String, says: &str, mut trace: Vec<TraceLine>) -> Vec<TraceLine> {
    trace.iter_mut().for_each(|line| line.decides = false);
    trace.push(TraceLine {
        about,
        says: says.to_owned(),
        decides: true,
    });
    trace
}

fn describe(call: &mut CallItem, plan: &CallPlan, judgement: &Judgement) {
    call.verb = plan.verb;
    call.target.clone_from(&plan.target);
    call.classes.clone_from(&judgement.classes);
}
