//! A call ends: by itself, by its time limit, by the person, or it is taken back later.

use super::Draft;
use crate::session::input::{CallFailure, Effect, Timer};
use crate::session::live_turn::LiveCall;
use crate::session::words;
use paddock_protocol::*;
use paddock_tools::{MAX_PROCESSES, ToolKind};

impl Draft<'_> {
    pub(super) fn call_ended(&mut self, id: &CallId, result: Result<CallOutput, CallFailure>) {
        let Some(live) = self
            .live_call(id)
            .filter(|live| live.status == ItemStatus::Running)
        else {
            return;
        };
        self.withdraw_asks(&live, WithdrawReason::CallEnded);
        match result {
            Ok(output) if self.may_run_again(&live, &output) => self.offer_another_run(&live, output),
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
                    let mut text = match edited {
                        Some(arguments) => words::edited(arguments) + &output.text,
                        None => output.text,
                    };
                    if call.again.is_some() {
                        text.insert_str(0, words::RAN_AGAIN);
                    }
                    call.output = Some(CallOutput { text, ..output });
                });
            }
            Err(CallFailure::ChangedSince { .. }) => {
                self.change_call(live.item, ItemStatus::Waiting, |call| {
                    call.verdict = None;
                    call.began = None;
                });
            }
            Err(failure) => self.call_failed(&live, failure, None),
        }
        self.advance();
    }

    pub(super) fn call_failed(
        &mut self,
        live: &LiveCall,
        failure: CallFailure,
        verdict: Option<CallVerdict>,
    ) {
        let judged = |call: &mut CallItem| call.verdict = verdict.or(call.verdict.take());
        let what = match failure {
            CallFailure::Model(what) | CallFailure::Arguments(what) => what,
            CallFailure::ChangedSince { path } => format!("{path} changed meanwhile"),
            CallFailure::Fatal(what) => {
                self.finish_call(live, ItemStatus::Failed, |call| {
                    judged(call);
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
            judged(call);
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
        if self.asks_for_more(&live) {
            // It waits for the person, so its time does not count.
            self.effect(Effect::StartTimer {
                timer: Timer::Call(id.clone()),
                at: self.now.plus(self.live.config.limits.command_time),
            });
            return;
        }
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

    pub(super) fn move_to_background(&mut self, id: &CallId) {
        let runs =
            |live: &LiveCall| live.status == ItemStatus::Running && self.kind(live) == ToolKind::Command;
        let Some(live) = self.live_call(id).filter(runs) else {
            self.refuse_ended_call();
            return;
        };
        if live.check {
            self.refuse(
                ErrorCode::NotNow,
                "The turn waits for what this check says.",
                "Wait for it, or end it.",
            );
            return;
        }
        if self.live.processes.len() >= MAX_PROCESSES {
            self.refuse(
                ErrorCode::NotNow,
                &format!("{MAX_PROCESSES} background processes run already."),
                "End one of them first.",
            );
            return;
        }
        self.effect(Effect::ToBackground { call: id.clone() });
        if live.overdue {
            self.keep_waiting(id);
        }
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

    /// Whether the running call can do nothing until the person decides.
    pub(super) fn waits_for_decision(&self, live: &LiveCall) -> bool {
        self.asks_for_more(live) || self.asks_through_sub_agent(live)
    }

    /// Whether the call is a sub-agent that can do nothing until the person decides.
    fn asks_through_sub_agent(&self, live: &LiveCall) -> bool {
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
        self.withdraw_asks(live, WithdrawReason::CallEnded);
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
        if live.status == ItemStatus::Waiting && self.settle_first_run(live, note) {
            return;
        }
        let partial = self
            .live
            .open_item(live.item)
            .map(|open| open.output.clone())
            .unwrap_or_default();
        let text = words::with_note(&partial, note);
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
