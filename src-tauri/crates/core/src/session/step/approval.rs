//! Decisions of the person. First answer wins; what does not fit changes nothing and says so.

use super::Draft;
use super::judged::fence;
use crate::session::live_turn::{LiveCall, LiveTurn, beyond};
use crate::session::words;
use paddock_policy::Decision as Ruling;
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
        if let Some(number) = request.ask {
            self.decide_ask(&request, number, decision);
            return;
        }
        let Some(live) = self.turn().and_then(|turn| turn.call(&request.call)).cloned() else {
            return;
        };
        match decision {
            Decision::Approve {
                scope,
                edited_arguments,
                left_out,
                rule,
            } => self.approve(&request, &live, scope, (edited_arguments, left_out), rule),
            Decision::Reject { reason, pause } => self.reject(&request, &live, reason, pause),
        }
    }

    fn approve(
        &mut self,
        request: &Arc<ApprovalRequest>,
        live: &LiveCall,
        scope: AnswerScope,
        (edited, left_out): (Option<String>, Vec<u32>),
        rule: Option<RuleWish>,
    ) {
        if !self.may_answer(request, scope, edited.is_some(), rule.as_ref()) {
            return;
        }
        if !left_out.is_empty()
            && !self.may_leave_out(request, scope, &left_out, edited.is_none() && rule.is_none())
        {
            return;
        }
        let edited = edited.filter(|edited| *edited != request.arguments);
        let decision = Decision::Approve {
            scope,
            edited_arguments: edited.clone(),
            left_out: left_out.clone(),
            rule: rule.clone(),
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
                    left_out,
                    scope: Some(scope),
                    reach: beyond(&request.access),
                    trace: request.trace.clone(),
                });
            });
            self.remember(request, scope, rule);
            self.wake_rule(request);
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
        if !self.settle_first_run(live, &words::not_allowed_more(reason.as_deref())) {
            self.finish_call(live, ItemStatus::Rejected, |call| {
                call.verdict = Some(CallVerdict {
                    by: DecidedBy::Person,
                    allowed: false,
                    reason,
                    edited_arguments: None,
                    left_out: Vec::new(),
                    scope: None,
                    reach: Vec::new(),
                    trace,
                });
                call.output = Some(CallOutput {
                    text,
                    ..CallOutput::default()
                });
            });
        }
        self.wake();
        if pause {
            self.set_status(TurnStatus::Pausing);
        }
        self.advance();
    }

    /// Whether the answer is one of those that the request offers; else says why not.
    pub(super) fn may_answer(
        &mut self,
        request: &ApprovalRequest,
        scope: AnswerScope,
        edited: bool,
        rule: Option<&RuleWish>,
    ) -> bool {
        let narrow = !edited && rule.is_none();
        let no_longer = scope.opens_more() && !self.may_open_more();
        if no_longer || !request.scopes.contains(&scope) || (scope != AnswerScope::Once && edited) {
            self.refuse_scope();
            return false;
        }
        let Some(wish) = rule.filter(|_| !narrow) else {
            return true;
        };
        let unfit = paddock_policy::refused_shape(&wish.shape, RuleAnswer::Allow)
            .or_else(|| self.misfit(request, &wish.shape))
            .or_else(|| {
                let once = scope == AnswerScope::Once || scope.opens_more();
                once.then(|| "A rule holds for longer than once.".to_owned())
            });
        if let Some(why) = unfit {
            self.refuse(
                ErrorCode::BadRequest,
                &why,
                "Approve it once, or choose another pattern.",
            );
            return false;
        }
        true
    }

    /// Whether what is left out are parts of the diff that was shown, of which others stay; else says why not. It holds for this
    /// one diff: once, and with nothing else changed (`alone`).
    pub(super) fn may_leave_out(
        &mut self,
        request: &ApprovalRequest,
        scope: AnswerScope,
        left_out: &[u32],
        alone: bool,
    ) -> bool {
        let hunks = request.body.hunks().len();
        let in_order = left_out.windows(2).all(|pair| pair[0] < pair[1]);
        let known = left_out.iter().all(|place| (*place as usize) < hunks);
        if alone && scope == AnswerScope::Once && in_order && known && left_out.len() < hunks {
            return true;
        }
        self.refuse(
            ErrorCode::BadRequest,
            "These changes cannot be left out of what was shown.",
            "Choose again from the changes as they are shown, for once, or reject the call.",
        );
        false
    }

    /// Why a rule of this shape does not cover what is asked. At a second run only the refused places are new.
    fn misfit(&self, request: &ApprovalRequest, shape: &RuleShape) -> Option<String> {
        let again = request.again.as_ref();
        let access = again.map_or(&request.access, |first| &first.refused);
        let misfit = paddock_policy::rule_fits(shape, access).err()?;
        Some(format!("The rule does not fit this call: {misfit}."))
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
            let fence = fence(&request.body);
            let judgement = self.judged(&request.access, fence);
            if let Some(number) = request.ask {
                self.settle_ask(&request, number, &judgement);
                continue;
            }
            // A second run is always asked for, whatever the rules have become.
            if request.again.is_some() && judgement.decision == Ruling::Allow {
                continue;
            }
            if live.picked && judgement.decision == Ruling::Allow {
                continue;
            }
            let (allowed, reason, rule) = match (self.tool_refusal(&request.tool), judgement.decision) {
                // The role decides, whatever the rules say.
                (Some(reason), _) => (false, Some(reason), None),
                (None, Ruling::Forbid(reason)) => (false, Some(reason), judgement.rule),
                (None, Ruling::Ask) => continue,
                (None, Ruling::Allow) => (true, None, judgement.rule),
            };
            let by = self.decided_by_rule(rule);
            let decision = match &reason {
                None => Decision::approve(AnswerScope::Once),
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
                left_out: Vec::new(),
                scope: None,
                reach: if allowed {
                    beyond(&request.access)
                } else {
                    Vec::new()
                },
                trace: judgement.trace,
            };
            match reason {
                None => self.change_call(live.item, ItemStatus::Waiting, |call| {
                    call.verdict = Some(verdict)
                }),
                Some(text) if self.settle_first_run(&live, &text) => {}
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
