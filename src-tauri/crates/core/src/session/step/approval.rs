//! Decisions of the person. First answer wins; what does not fit changes nothing and says so.

use super::Draft;
use super::judged::is_confined;
use crate::session::input::Effect;
use crate::session::live_turn::{LiveCall, LiveTurn};
use crate::session::words;
use paddock_policy::{Circumstances, Decision as Ruling, judge};
use paddock_protocol::*;
use std::sync::Arc;

impl Draft<'_> {
    pub(super) fn decide(&mut self, id: &ApprovalId, decision: Decision) {
        let Some(request) = self
            .live
            .approvals
            .iter()
            .find(|approval| approval.id == *id)
            .cloned()
        else {
            self.refuse(
                ErrorCode::NotFound,
                "This approval no longer waits: it was answered, withdrawn, or is not of this session.",
                "Nothing was changed. Look at what waits now.",
            );
            return;
        };
        if let Some(origin) = &request.origin {
            self.decide_there(&request, origin, decision);
            return;
        }
        let Some(live) = self.turn().and_then(|turn| turn.call(&request.call)).cloned() else {
            return;
        };
        match decision {
            Decision::Approve {
                scope,
                edited_arguments,
            } => self.approve(&request, &live, scope, edited_arguments),
            Decision::Reject { reason, pause } => self.reject(&request, &live, reason, pause),
        }
    }

    fn approve(
        &mut self,
        request: &Arc<ApprovalRequest>,
        live: &LiveCall,
        scope: AnswerScope,
        edited: Option<String>,
    ) {
        if !request.scopes.contains(&scope) || (edited.is_some() && scope != AnswerScope::Once) {
            self.refuse_scope();
            return;
        }
        let edited = edited.filter(|edited| *edited != request.arguments);
        let decision = Decision::Approve {
            scope,
            edited_arguments: edited.clone(),
        };
        self.resolve(&request.id, decision);
        if edited.is_some() {
            self.prepare_calls();
        } else {
            let kept = live.granted.as_ref().and_then(|granted| granted.edited.clone());
            self.change_call(live.item, ItemStatus::Waiting, |call| {
                call.verdict = Some(CallVerdict {
                    by: DecidedBy::Person,
                    allowed: true,
                    reason: None,
                    edited_arguments: kept,
                    scope: Some(scope),
                    trace: request.trace.clone(),
                });
            });
            self.remember(request, scope);
        }
        self.go_on();
    }

    fn reject(
        &mut self,
        request: &Arc<ApprovalRequest>,
        live: &LiveCall,
        reason: Option<String>,
        pause: bool,
    ) {
        self.resolve(
            &request.id,
            Decision::Reject {
                reason: reason.clone(),
                pause,
            },
        );
        let text = words::rejected(reason.as_deref());
        let trace = request.trace.clone();
        self.finish_call(live, ItemStatus::Rejected, |call| {
            call.verdict = Some(CallVerdict {
                by: DecidedBy::Person,
                allowed: false,
                reason,
                edited_arguments: None,
                scope: None,
                trace,
            });
            call.output = Some(CallOutput {
                text,
                ..CallOutput::default()
            });
        });
        self.wake();
        if pause {
            self.set_status(TurnStatus::Pausing);
        }
        self.advance();
    }

    pub(super) fn refuse_scope(&mut self) {
        self.refuse(
            ErrorCode::BadRequest,
            "This call cannot be approved in that scope.",
            "Approve it once, or choose one of the offered scopes.",
        );
    }

    pub(super) fn resolve(&mut self, approval: &ApprovalId, decision: Decision) {
        let outcome = ApprovalOutcome::Decided {
            decision,
            by: DecidedBy::Person,
        };
        self.emit(EventMsg::ApprovalResolved {
            approval: approval.clone(),
            outcome,
        });
    }

    /// After a decision or an answer: calls that an interruption left unread are read now.
    pub(super) fn go_on(&mut self) {
        self.wake();
        self.advance();
    }

    fn wake(&mut self) {
        let Some(turn) = self.turn().filter(|turn| turn.status == TurnStatus::Interrupted) else {
            return;
        };
        let unread = |call: &LiveCall| call.status == ItemStatus::Waiting && !call.judged;
        if turn.calls.iter().any(unread) {
            self.set_status(TurnStatus::UsingTools);
            self.prepare_calls();
        }
    }

    fn remember(&mut self, request: &ApprovalRequest, scope: AnswerScope) {
        let scope = match scope {
            AnswerScope::Once => return,
            AnswerScope::Turn => RuleScope::Turn { turn: request.turn },
            AnswerScope::Session => RuleScope::Session,
            AnswerScope::Project => RuleScope::Project,
        };
        let Some(shape) = request.rule.clone() else { return };
        let id = RuleId::new(format!("{}.{}", self.base.id, request.id));
        let rule = Rule {
            id,
            shape,
            answer: RuleAnswer::Allow,
            scope,
            created: self.now,
        };
        self.emit(EventMsg::RuleAdded { rule: rule.clone() });
        if scope == RuleScope::Project {
            self.effect(Effect::KeepRule { rule });
        }
        self.judge_waiting();
    }

    /// Before the role or the autonomy changes: what may run and has not begun is no longer let go. In this order, so that
    /// no death in between leaves a verdict of the role before.
    pub(super) fn take_verdicts_back(&mut self) {
        let calls = self.turn().map(|turn| turn.calls.clone()).unwrap_or_default();
        for live in calls
            .iter()
            .filter(|call| call.status == ItemStatus::Waiting && call.allowed)
        {
            self.change_call(live.item, ItemStatus::Waiting, |call| call.verdict = None);
        }
    }

    /// After the role or the autonomy changed: what has not begun is judged anew.
    pub(super) fn judge_anew(&mut self) {
        let works = |turn: &&LiveTurn| turn.status != TurnStatus::Interrupted && !turn.sampling;
        if self.turn().filter(works).is_some() {
            self.prepare_calls();
        }
        self.judge_waiting();
    }

    /// Judges what waits once more, after a rule or the role changed.
    pub(super) fn judge_waiting(&mut self) {
        for request in self.live.approvals.clone() {
            if request.origin.is_some() {
                continue;
            }
            let Some(turn) = self.turn() else { return };
            let Some(live) = turn.call(&request.call).cloned() else {
                continue;
            };
            let config = self.live.config.clone();
            let rules = self.live.rules.clone();
            let circumstances = Circumstances {
                role: config.role,
                autonomy: config.autonomy,
                rules: &rules,
                turn: turn.turn,
                confined: is_confined(&request.body),
            };
            let judgement = judge(&request.access, &circumstances);
            let (allowed, reason) = match (self.tool_refusal(&request.tool), judgement.decision) {
                (Some(reason), _) | (None, Ruling::Forbid(reason)) => (false, Some(reason)),
                (None, Ruling::Ask) => continue,
                (None, Ruling::Allow) => (true, None),
            };
            let by = judgement
                .rule
                .map_or(DecidedBy::Policy, |rule| DecidedBy::Rule { rule });
            let decision = match &reason {
                None => Decision::Approve {
                    scope: AnswerScope::Once,
                    edited_arguments: None,
                },
                Some(reason) => Decision::Reject {
                    reason: Some(reason.clone()),
                    pause: false,
                },
            };
            let outcome = ApprovalOutcome::Decided {
                decision,
                by: by.clone(),
            };
            self.emit(EventMsg::ApprovalResolved {
                approval: request.id.clone(),
                outcome,
            });
            let edited_arguments = live.granted.as_ref().and_then(|granted| granted.edited.clone());
            let verdict = CallVerdict {
                by,
                allowed,
                reason: reason.clone(),
                edited_arguments,
                scope: None,
                trace: judgement.trace,
            };
            match reason {
                None => self.change_call(live.item, ItemStatus::Waiting, |call| {
                    call.verdict = Some(verdict)
                }),
                Some(text) => self.finish_call(&live, ItemStatus::Rejected, |call| {
                    call.verdict = Some(verdict);
                    call.output = Some(CallOutput {
                        text,
                        ..CallOutput::default()
                    });
                }),
            }
        }
    }

    pub(super) fn withdraw(&mut self, live: &LiveCall, why: WithdrawReason) {
        if let Some(approval) = live.approval.clone() {
            let outcome = ApprovalOutcome::Withdrawn { why };
            self.emit(EventMsg::ApprovalResolved { approval, outcome });
        }
    }
}
