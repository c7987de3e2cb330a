//! What a call asks for once it runs: a connection of its command, or a second run with what the sandbox refused it.

use super::Draft;
use super::judged::fence;
use crate::session::input::Effect;
use crate::session::live_turn::LiveCall;
use crate::session::words;
use paddock_policy::{Decision as Ruling, Judgement};
use paddock_protocol::*;
use paddock_tools::ToolKind;

impl Draft<'_> {
    /// The command waits until this is answered; nothing of the kind is known of it yet.
    pub(super) fn call_asks(&mut self, id: &CallId, number: u32, access: Access, body: ApprovalBody) {
        let near = leads_here(&body);
        let access = vec![access];
        let mut judgement = self.judged(&access, fence(&body));
        if near && judgement.decision != Ruling::Ask {
            // Whoever owns a name decides where it leads: a rule for the name does not hold for that.
            judgement.decision = judgement.decision.max(Ruling::Ask);
        }
        if near {
            judgement.scopes = vec![AnswerScope::Once];
            judgement.remembered = None;
        }
        let running = self
            .live_call(id)
            .filter(|live| live.status == ItemStatus::Running);
        let call = running.as_ref().and_then(|live| self.call_item(live.item));
        let runs = running.is_some();
        match (&judgement.decision, running, call) {
            (Ruling::Ask, Some(live), Some(call)) => {
                self.ask_more(&live, call, number, access, body, judgement)
            }
            (decision, ..) => {
                let allowed = *decision == Ruling::Allow;
                if allowed && runs {
                    self.note_admitted(id, &access, judgement.rule.clone());
                }
                if allowed {
                    self.decided_by_rule(judgement.rule);
                }
                self.answer_ask(id, number, allowed);
            }
        }
        self.advance();
    }

    /// What a rule let through unasked is seen all the same.
    fn note_admitted(&mut self, call: &CallId, access: &[Access], rule: Option<RuleId>) {
        let kept = rule.and_then(|id| self.live.rules.iter().find(|rule| rule.id == id));
        let (Some(rule), [Access::Network { host }]) = (kept, access) else {
            return;
        };
        let kind = ItemKind::HostAdmitted {
            call: call.clone(),
            host: host.clone(),
            rule: paddock_policy::in_words(&rule.shape),
            rule_id: rule.id.clone(),
        };
        self.note_item(kind);
    }

    fn ask_more(
        &mut self,
        live: &LiveCall,
        call: CallItem,
        number: u32,
        access: Vec<Access>,
        body: ApprovalBody,
        judgement: Judgement,
    ) {
        let (turn, iteration) = self.turn().map_or((TurnId(0), 0), |t| (t.turn, t.iteration));
        let (rule, remembered_as) = judgement.remembered.unzip();
        let approval = ApprovalRequest {
            id: live.call.approval(live.approvals + 1),
            call: live.call.clone(),
            item: live.item,
            turn,
            iteration,
            requested: self.now,
            tool: call.tool,
            arguments: call.arguments,
            verb: call.verb,
            target: call.target,
            access,
            classes: judgement.classes,
            body,
            agent_words: self.agent_words(turn, iteration),
            undo: UndoFact::Nothing,
            trace: judgement.trace,
            scopes: judgement.scopes,
            rule,
            remembered_as,
            renewed: false,
            from_before_restart: false,
            ask: Some(number),
            again: None,
            origin: None,
        };
        self.emit(EventMsg::ApprovalRequested {
            approval: Box::new(approval),
        });
    }

    fn answer_ask(&mut self, call: &CallId, number: u32, allowed: bool) {
        self.effect(Effect::AnswerAsk {
            call: call.clone(),
            number,
            allowed,
        });
    }

    pub(super) fn decide_ask(&mut self, request: &ApprovalRequest, number: u32, decision: Decision) {
        match decision {
            Decision::Approve {
                scope,
                edited_arguments,
                left_out,
                rule,
            } => {
                if !self.may_answer(request, scope, edited_arguments.is_some(), rule.as_ref()) {
                    return;
                }
                if edited_arguments.is_some() || !left_out.is_empty() {
                    self.refuse_scope();
                    return;
                }
                let decision = Decision::Approve {
                    scope,
                    edited_arguments: None,
                    left_out: Vec::new(),
                    rule: rule.clone(),
                };
                self.resolve(&request.id, decision);
                self.answer_ask(&request.call, number, true);
                self.remember(request, scope, rule);
                self.wake_rule(request);
            }
            Decision::Reject { reason, pause } => {
                self.resolve(&request.id, Decision::Reject { reason, pause });
                self.answer_ask(&request.call, number, false);
                if pause {
                    self.set_status(TurnStatus::Pausing);
                }
            }
        }
        self.advance();
    }

    /// A rule or the role changed: what a running call asks for may be answered by that.
    pub(super) fn settle_ask(&mut self, request: &ApprovalRequest, number: u32, judgement: &Judgement) {
        let decision = match &judgement.decision {
            Ruling::Ask => return,
            Ruling::Allow if leads_here(&request.body) => return,
            Ruling::Allow => Decision::approve(AnswerScope::Once),
            Ruling::Forbid(reason) => Decision::Reject {
                reason: Some(reason.clone()),
                pause: false,
            },
        };
        let allowed = judgement.decision == Ruling::Allow;
        let by = self.decided_by_rule(judgement.rule.clone());
        self.emit(EventMsg::ApprovalResolved {
            approval: request.id.clone(),
            outcome: ApprovalOutcome::Decided { decision, by },
        });
        self.answer_ask(&request.call, number, allowed);
    }

    /// Whether the running call waits for an answer to what it asks for.
    pub(super) fn asks_for_more(&self, live: &LiveCall) -> bool {
        let approvals = &self.live.approvals;
        approvals.iter().any(|waiting| is_ask_of(waiting, live))
    }

    /// The call no longer runs: nobody waits for the answers.
    pub(super) fn withdraw_asks(&mut self, live: &LiveCall, why: WithdrawReason) {
        for waiting in self.live.approvals.clone() {
            if is_ask_of(&waiting, live) {
                self.emit(EventMsg::ApprovalResolved {
                    approval: waiting.id.clone(),
                    outcome: ApprovalOutcome::Withdrawn { why },
                });
            }
        }
    }

    /// Whether a command failed because the sandbox refused it a place that the person could allow.
    pub(super) fn may_run_again(&self, live: &LiveCall, output: &CallOutput) -> bool {
        let places = output
            .refused
            .iter()
            .any(|access| matches!(access, Access::Outside { .. }));
        let first = self.call_item(live.item).is_some_and(|call| call.again.is_none());
        places
            && first
            && !output.ok
            && output.exit_code.is_some()
            && !live.check
            && self.kind(live) == ToolKind::Command
            && self.live.config.role != Role::Plan
            && !self.is_workflow_turn()
    }

    /// The command is asked for once more, with just what it was refused. Its first result is kept for the model.
    pub(super) fn offer_another_run(&mut self, live: &LiveCall, output: CallOutput) {
        let is_place = |access: &&Access| matches!(access, Access::Outside { .. });
        let refused = output.refused.iter().filter(is_place).cloned().collect();
        self.change_call(live.item, ItemStatus::Waiting, |call| {
            call.began = None;
            call.overdue = false;
            call.again = Some(RefusedRun {
                refused,
                output: Box::new(output),
                verdict: call.verdict.take().map(Box::new),
            });
        });
    }

    /// Ends a call that waits for a second run, with what its first one came to. False when it does not wait for one.
    pub(super) fn settle_first_run(&mut self, live: &LiveCall, note: &str) -> bool {
        let again = self.call_item(live.item).and_then(|call| call.again);
        let Some(first) = again.filter(|_| live.status == ItemStatus::Waiting) else {
            return false;
        };
        self.finish_call(live, ItemStatus::Failed, |call| {
            let mut output = *first.output;
            output.text = words::with_note(&output.text, note);
            call.output = Some(output);
            call.verdict = first.verdict.map(|verdict| *verdict);
        });
        true
    }
}

/// Questions of a sub-agent's call are not those of the call that started it.
fn is_ask_of(waiting: &ApprovalRequest, live: &LiveCall) -> bool {
    waiting.ask.is_some() && waiting.origin.is_none() && waiting.call == live.call
}

/// Whether a name, and no plain address, turned out to lead to this machine or its network.
pub(super) fn leads_here(body: &ApprovalBody) -> bool {
    let ApprovalBody::Connect { host, reach, .. } = body else {
        return false;
    };
    let named = host.parse::<std::net::IpAddr>().is_err() && host != "localhost";
    named && matches!(reach, HostReach::Private | HostReach::Loopback)
}
