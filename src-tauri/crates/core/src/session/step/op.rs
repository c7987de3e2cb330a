//! What the person asks for.

use super::Draft;
use crate::session::input::Effect;
use crate::session::words;
use paddock_protocol::*;

impl Draft<'_> {
    pub(super) fn op(&mut self, op: Op) {
        match op {
            Op::Send { text, mode } => self.send(text, mode),
            Op::Decide { approval, decision } => self.decide(&approval, decision),
            Op::Answer { call, text } => self.answer(&call, text),
            Op::Pause => self.ask_to_pause(),
            Op::CancelPause => self.cancel_pause(),
            Op::Continue { note, allow_cause } => self.resume(note, allow_cause),
            Op::Extend { limit, by } => self.extend(limit, by),
            Op::FinishUp => self.ask_to_finish(),
            Op::Stop => match self.turn() {
                Some(_) => self.stop_turn(),
                None => self.refuse(
                    ErrorCode::NotNow,
                    "Nothing is running.",
                    "Send a message to begin.",
                ),
            },
            Op::EndCall { call } => self.end_call(&call),
            Op::RetryNow => self.retry_now(),
            Op::SetRole { role } => self.set_role(role),
            Op::SetAutonomy { autonomy } => self.set_autonomy(autonomy),
            Op::SetModel { model } => self.set_model(model),
            Op::SetLimits { limits } => self.set_limits(limits),
            Op::Rename { title } => self.rename(&title),
            Op::Undo { call } => self.ask_undo(call, false),
            Op::Redo { call } => self.ask_undo(call, true),
            Op::ClearQueue => self.emit(EventMsg::QueueEmptied),
        }
    }

    fn send(&mut self, text: String, mode: SendMode) {
        let text = text.trim().to_owned();
        if text.is_empty() {
            self.refuse(
                ErrorCode::BadRequest,
                "The message is empty.",
                "Say what you want done.",
            );
            return;
        }
        if text == "/stop" {
            self.op(Op::Stop);
            return;
        }
        let Some(status) = self.turn().map(|turn| turn.status.clone()) else {
            if self.live.config.title.is_empty() {
                self.change_config(|config| config.title = title_of(&text));
            }
            self.start_turn(text);
            return;
        };
        match (mode, status) {
            (SendMode::AfterTurn, _) => self.emit(EventMsg::MessageQueued { text }),
            (
                _,
                TurnStatus::Paused {
                    cause: PauseCause::Limits { .. },
                },
            ) => self.steer(text),
            (_, TurnStatus::Paused { .. } | TurnStatus::Interrupted) => self.resume(Some(text), false),
            _ => self.steer(text),
        }
    }

    fn steer(&mut self, text: String) {
        let delivery = Delivery::Steer { used_from: None };
        self.start_item(ItemStatus::Waiting, ItemKind::UserMessage { text, delivery });
    }

    fn answer(&mut self, id: &CallId, text: Option<String>) {
        let asked = self.turn().and_then(|turn| turn.call(id)).cloned();
        let Some(live) = asked.filter(|live| live.status == ItemStatus::Running && self.is_question(live))
        else {
            self.refuse(
                ErrorCode::NotFound,
                "This question no longer waits.",
                "Nothing was changed.",
            );
            return;
        };
        let given = text
            .map(|text| text.trim().to_owned())
            .filter(|text| !text.is_empty());
        let told = given
            .clone()
            .unwrap_or_else(|| words::SKIPPED_QUESTION.to_owned());
        self.finish_call(&live, ItemStatus::Done, |call| {
            let facts = given.map(|answer| OutputFacts::Answer { answer });
            call.output = Some(CallOutput {
                ok: true,
                text: told,
                facts,
                ..CallOutput::default()
            });
        });
        self.go_on();
    }

    fn ask_to_pause(&mut self) {
        let Some(turn) = self.turn() else {
            self.refuse(
                ErrorCode::NotNow,
                "Nothing is running.",
                "Send a message to begin.",
            );
            return;
        };
        match turn.status.clone() {
            TurnStatus::Paused { .. } | TurnStatus::Interrupted => {
                self.refuse(
                    ErrorCode::NotNow,
                    "The turn is paused already.",
                    "Continue it, or stop it.",
                );
            }
            TurnStatus::WaitingToRetry { .. } => {
                self.close_streams();
                self.pause(PauseCause::Person);
            }
            status => {
                self.set_status(TurnStatus::Pausing);
                if status.waits_for_person() {
                    self.set_status(status);
                }
            }
        }
    }

    fn cancel_pause(&mut self) {
        let Some(turn) = self.turn().filter(|turn| turn.pausing) else {
            self.refuse(
                ErrorCode::NotNow,
                "No pause is under way.",
                "Nothing was changed.",
            );
            return;
        };
        let (shows_other, status) = (turn.status != TurnStatus::Pausing, turn.status.clone());
        let working = if turn.sampling {
            TurnStatus::Thinking
        } else {
            TurnStatus::UsingTools
        };
        self.set_status(working);
        if shows_other {
            self.set_status(status);
        }
    }

    fn resume(&mut self, note: Option<String>, allow_cause: bool) {
        let status = self.turn().map(|turn| turn.status.clone());
        let cause = match status {
            Some(TurnStatus::Paused { cause }) => Some(cause),
            Some(TurnStatus::Interrupted) => None,
            _ => {
                self.refuse(
                    ErrorCode::NotNow,
                    "The turn is not paused.",
                    "Send a message instead.",
                );
                return;
            }
        };
        if let Some(PauseCause::Limits { .. }) = &cause {
            self.refuse(
                ErrorCode::NotNow,
                "The turn waits at a limit.",
                "Raise the limit, let it finish up, or stop it.",
            );
            return;
        }
        if let (true, Some(cause), Some(turn)) =
            (allow_cause, cause.clone(), self.turn().map(|turn| turn.turn))
        {
            self.emit(EventMsg::CauseAllowed { turn, cause });
        }
        if let Some(text) = note
            .map(|note| note.trim().to_owned())
            .filter(|note| !note.is_empty())
        {
            self.start_item(
                ItemStatus::Waiting,
                ItemKind::UserMessage {
                    text,
                    delivery: Delivery::Note { used_from: None },
                },
            );
        }
        if self.turn().is_some_and(|turn| !turn.all_calls_final()) {
            self.set_status(TurnStatus::UsingTools);
            self.prepare_calls();
            self.advance();
        } else {
            self.ask_again();
        }
    }

    fn extend(&mut self, limit: LimitKind, by: u64) {
        let Some(turn) = self.turn() else {
            self.refuse(
                ErrorCode::NotNow,
                "No turn is under way.",
                "The limits of new turns are in the settings.",
            );
            return;
        };
        let (id, status) = (turn.turn, turn.status.clone());
        let now = match limit {
            LimitKind::Iterations => Some(u64::from(turn.iteration_limit)),
            LimitKind::ActiveTime => turn
                .active_limit
                .map(|limit| limit.0.max(turn.active_at(self.now).0)),
            LimitKind::SessionTokens => turn.token_limit.map(|limit| limit.max(self.live.usage.total())),
        };
        let Some(allowed) = now.map(|now| now.saturating_add(by)).filter(|_| by > 0) else {
            self.refuse(
                ErrorCode::BadRequest,
                "There is nothing to add.",
                "Give a number above zero.",
            );
            return;
        };
        let ceiling = Limits::ceiling(self.live.config.role);
        if limit == LimitKind::Iterations && allowed > u64::from(ceiling) {
            self.refuse(
                ErrorCode::BadRequest,
                &format!("A turn may use at most {ceiling} iterations in this role."),
                "Add fewer, or begin a new turn.",
            );
            return;
        }
        self.emit(EventMsg::LimitChanged {
            turn: id,
            limit,
            allowed,
        });
        if matches!(
            status,
            TurnStatus::Paused {
                cause: PauseCause::Limits { .. }
            }
        ) {
            self.next_iteration();
        }
    }

    fn ask_to_finish(&mut self) {
        let Some(turn) = self.turn() else {
            self.refuse(
                ErrorCode::NotNow,
                "Nothing is running.",
                "Send a message to begin.",
            );
            return;
        };
        if turn.finishing && turn.sampling {
            self.refuse(
                ErrorCode::NotNow,
                "The turn is finishing up already.",
                "Wait for its summary, or stop it.",
            );
            return;
        }
        if turn.sampling {
            self.effect(Effect::CancelModel);
            self.close_streams();
            self.drop_streamed_calls();
        }
        self.finish_up();
    }

    fn end_call(&mut self, id: &CallId) {
        if self.turn().is_some_and(|turn| turn.sampling) {
            self.refuse(
                ErrorCode::NotNow,
                "The model is still asking for this call.",
                "Stop the turn, or wait.",
            );
            return;
        }
        let Some(live) = self
            .turn()
            .and_then(|turn| turn.call(id))
            .filter(|call| !call.is_final())
            .cloned()
        else {
            self.refuse(
                ErrorCode::NotNow,
                "This call has ended already.",
                "Nothing was changed.",
            );
            return;
        };
        self.withdraw(&live, WithdrawReason::CallEnded);
        if live.status == ItemStatus::Running && !self.is_question(&live) {
            self.effect(Effect::CancelCall { call: id.clone() });
        }
        self.close_call(&live, ItemStatus::Stopped, words::ENDED);
        self.go_on();
    }

    fn retry_now(&mut self) {
        match self.turn().map(|turn| turn.status.clone()) {
            Some(TurnStatus::WaitingToRetry { .. }) => {
                if let Some(ticket) = self.ticket() {
                    self.retry_due(ticket);
                }
            }
            Some(TurnStatus::Paused {
                cause: PauseCause::Model { .. },
            }) => self.resume(None, false),
            _ => self.refuse(ErrorCode::NotNow, "No retry is waiting.", "Nothing was changed."),
        }
    }

    fn change_config(&mut self, change: impl FnOnce(&mut SessionConfig)) {
        let mut config = (*self.live.config).clone();
        change(&mut config);
        if config != *self.live.config {
            self.emit(EventMsg::SessionChanged { config });
        }
    }

    fn set_role(&mut self, role: Role) {
        let from = self.live.config.role;
        self.change_config(|config| config.role = role);
        if from != role && self.live.turn.is_some() {
            self.note_item(ItemKind::RoleChange { from, to: role });
            self.judge_anew();
            self.advance_unless_interrupted();
        }
    }

    /// A changed setting lets a working turn go on, but does not wake one that was interrupted.
    fn advance_unless_interrupted(&mut self) {
        if self
            .turn()
            .is_some_and(|turn| turn.status != TurnStatus::Interrupted)
        {
            self.advance();
        }
    }

    fn set_autonomy(&mut self, autonomy: Autonomy) {
        if autonomy == Autonomy::HandsOff && !self.around.confined {
            self.refuse(
                ErrorCode::NotNow,
                "Hands-off is not available: nothing confines commands on this machine.",
                "Choose Careful or Balanced.",
            );
            return;
        }
        let before = self.live.config.autonomy;
        self.change_config(|config| config.autonomy = autonomy);
        if before != autonomy {
            self.judge_anew();
            self.advance_unless_interrupted();
        }
    }

    fn set_model(&mut self, model: ModelChoice) {
        let from = self.live.config.model.clone();
        self.change_config(|config| config.model = model.clone());
        if from != model && self.live.turn.is_some() {
            self.note_item(ItemKind::ModelChange { from, to: model });
        }
    }

    fn set_limits(&mut self, limits: Limits) {
        let ceiling = Limits::ceiling(self.live.config.role);
        if limits.iterations == 0 || limits.iterations > ceiling {
            self.refuse(
                ErrorCode::BadRequest,
                &format!("The number of iterations must be between 1 and {ceiling}."),
                "Give another number.",
            );
            return;
        }
        self.change_config(|config| config.limits = limits);
    }

    fn rename(&mut self, title: &str) {
        let title = title_of(title);
        if title.is_empty() {
            self.refuse(
                ErrorCode::BadRequest,
                "The title is empty.",
                "Give the session a name.",
            );
            return;
        }
        self.change_config(|config| config.title = title);
    }

    fn ask_undo(&mut self, call: CallId, redo: bool) {
        let wanted = if redo {
            ItemStatus::Undone
        } else {
            ItemStatus::Done
        };
        let fits = self.base.items.iter().any(|item| match &item.kind {
            ItemKind::Call(c) => {
                let changes = c
                    .output
                    .as_ref()
                    .map(|output| output.changes.as_slice())
                    .unwrap_or_default();
                c.call == call && item.status == wanted && changes.iter().any(|change| change.undoable)
            }
            _ => false,
        });
        if !fits {
            self.refuse(
                ErrorCode::NotNow,
                if redo {
                    "There is nothing to make again."
                } else {
                    "There is nothing to take back in this call."
                },
                "Only changes that Paddock kept can be undone.",
            );
            return;
        }
        let working = self.turn().is_some_and(|turn| {
            turn.calls
                .iter()
                .any(|c| c.status == ItemStatus::Running && !self.is_question(c))
        });
        if working {
            self.refuse(
                ErrorCode::Busy,
                "A call is running that may use these files.",
                "Wait for it to end, or stop the turn first.",
            );
            return;
        }
        self.effect(Effect::Undo { call, redo });
    }
}

/// A title from a message: its first line, at most 60 characters.
fn title_of(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or_default().trim();
    if line.chars().count() <= 60 {
        return line.to_owned();
    }
    let cut: String = line.chars().take(59).collect();
    format!("{}…", cut.trim_end())
}
