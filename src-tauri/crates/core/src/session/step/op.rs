//! What the person asks for.

use super::Draft;
use super::setting::title_of;
use crate::session::input::{Effect, Written};
use crate::session::words;
use paddock_protocol::*;

impl Draft<'_> {
    pub(super) fn op(&mut self, op: Op) {
        let undoes = matches!(op, Op::Undo { .. } | Op::Redo { .. });
        let taken = self.folder_is_taken() || undoes && self.around.folder_taken;
        if taken && Self::needs_folder(&op) {
            self.refuse_folder();
            return;
        }
        if self.around.folder_taken && self.turn().is_some() && Self::lets_change_files(&op) {
            self.refuse_folder();
            return;
        }
        match op {
            Op::Send {
                text,
                mode,
                images,
                effort,
            } => self.send(Written { text, images, effort }, mode),
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
            Op::SetModel { model, known } => self.set_model(model, known),
            Op::SetBudget { budget } => self.set_budget(budget),
            Op::SetLimits { limits } => self.set_limits(limits),
            Op::Rename { title } => self.rename(&title),
            Op::Undo { call } => self.ask_undo(call, false),
            Op::Redo { call } => self.ask_undo(call, true),
            Op::KeepWaiting { call } => self.keep_waiting(&call),
            Op::ToBackground { call } => self.move_to_background(&call),
            Op::EndProcess { process } => self.end_process(process),
            Op::StopEverything => self.stop_everything(),
            Op::SetQueue { messages } => self.set_queue(messages),
            Op::SendQueued { id } => self.send_queued(id),
            Op::ReleaseQueue => self.release_queue(),
            Op::SetFormat { format } => self.set_format(format),
            Op::SetFallback { fallback } => self.set_fallback(fallback),
            Op::SetOwnRole { role } => self.set_own_role(role),
            Op::RunWorkflow { plan } => self.run_workflow(plan),
            Op::StopWaiting => self.stop_awaiting_folder(),
            Op::SetDoneWhen { command } => self.set_done_when(command),
            Op::RemoveRule { rule } => self.remove_rule(&rule),
            Op::LoadRules { rules } => self.load_rules(rules),
            Op::NoteSetAside { path, back } => {
                self.note_item(ItemKind::SetAside { path, back });
            }
        }
    }

    /// Whether the op lets a turn begin or go on, so that files may change.
    fn needs_folder(op: &Op) -> bool {
        matches!(
            op,
            Op::Decide { .. }
                | Op::Answer { .. }
                | Op::Continue { .. }
                | Op::Extend { .. }
                | Op::FinishUp
                | Op::EndCall { .. }
                | Op::RetryNow
                | Op::RunWorkflow { .. }
                | Op::SendQueued { .. }
                | Op::Undo { .. }
                | Op::Redo { .. }
        )
    }

    fn lets_change_files(op: &Op) -> bool {
        match op {
            Op::SetRole { role } => *role != Role::Plan,
            Op::SetOwnRole { role } => role.base != Role::Plan,
            _ => false,
        }
    }

    fn refuse_folder(&mut self) {
        self.refuse(
            ErrorCode::FolderBusy,
            "Another session is changing this folder.",
            "Wait for it, or work read-only in role Plan.",
        );
    }

    fn send(&mut self, mut message: Written, mode: SendMode) {
        message.text = message.text.trim().to_owned();
        if message.text.is_empty() && message.images.is_empty() {
            self.refuse(
                ErrorCode::BadRequest,
                "The message is empty.",
                "Say what you want done.",
            );
            return;
        }
        if message.text == "/stop" {
            self.op(Op::Stop);
            return;
        }
        self.deliver(message, mode, None);
    }

    /// A message of the person reaches the turn, or begins one. `queued` is its id when it waited in the queue.
    pub(super) fn deliver(&mut self, message: Written, mode: SendMode, queued: Option<u32>) {
        if self.folder_is_taken() {
            match mode {
                SendMode::WhenFree => {
                    self.enqueue(message);
                    self.await_folder();
                }
                SendMode::AfterTurn if self.turn().is_some() => self.enqueue(message),
                _ => self.refuse_folder(),
            }
            return;
        }
        let Some(status) = self.turn().map(|turn| turn.status.clone()) else {
            if self.live.config.title.is_empty() {
                self.change_config(|config| config.title = title_of(&message.text));
            }
            self.start_turn(message, queued);
            return;
        };
        match (mode, status) {
            (SendMode::AfterTurn, _) => self.enqueue(message),
            (
                _,
                TurnStatus::Paused {
                    cause: PauseCause::Limits { .. } | PauseCause::Expensive { .. },
                },
            ) => self.steer(message, queued),
            (_, TurnStatus::Paused { .. } | TurnStatus::Interrupted) => {
                self.note(message, queued);
                self.resume(None, false);
            }
            (SendMode::Interrupt, _) => {
                self.steer(message, queued);
                self.interrupt();
            }
            _ => self.steer(message, queued),
        }
    }

    fn steer(&mut self, message: Written, queued: Option<u32>) {
        self.message(message, Delivery::Steer { used_from: None }, queued);
    }

    fn note(&mut self, message: Written, queued: Option<u32>) {
        self.message(message, Delivery::Note { used_from: None }, queued);
    }

    fn message(&mut self, message: Written, delivery: Delivery, queued: Option<u32>) {
        let kind = message.item(delivery, queued);
        self.start_item(ItemStatus::Waiting, kind);
        if queued.is_some() {
            let queue = self.live.queue.clone();
            self.emit(EventMsg::QueueChanged { queue });
        }
    }

    /// Ends the request and the calls that go on, so that the message reaches the model now. Pauses are left to the person.
    fn interrupt(&mut self) {
        let Some(turn) = self.turn() else { return };
        match turn.status {
            TurnStatus::Paused { .. } | TurnStatus::Interrupted | TurnStatus::FinishingUp => return,
            _ if turn.without_model => return,
            _ => {}
        }
        let (sampling, retrying) = (
            turn.sampling,
            matches!(turn.status, TurnStatus::WaitingToRetry { .. }),
        );
        if sampling {
            self.effect(Effect::CancelModel);
            self.note_stopped_answer();
        }
        if sampling || retrying {
            self.close_streams();
            self.drop_streamed();
            self.ask_again();
        } else {
            self.close_calls(words::INTERRUPTED_BEFORE, words::INTERRUPTED);
            self.advance();
        }
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
        // To go on from there means to send just this request.
        let agrees = allow_cause || matches!(cause, Some(PauseCause::Expensive { .. }));
        if let (true, Some(cause), Some(turn)) = (agrees, cause.clone(), self.turn().map(|turn| turn.turn)) {
            self.emit(EventMsg::CauseAllowed { turn, cause });
        }
        if let Some(text) = note
            .map(|note| note.trim().to_owned())
            .filter(|note| !note.is_empty())
        {
            self.note(text.into(), None);
        }
        if self.turn().is_some_and(|turn| !turn.all_calls_final()) {
            self.set_status(TurnStatus::UsingTools);
            self.prepare_calls();
            self.advance();
        } else if self.is_workflow_turn() {
            self.workflow_call_done();
        } else {
            self.resume_after_answer();
        }
    }

    /// Goes on where no call is open: the request that was lost is sent again; an answer that came, but whose end did not
    /// reach the log before the program died, gets its end now.
    fn resume_after_answer(&mut self) {
        let Some(turn) = self.turn() else { return };
        let answered = turn.iteration > 0 && self.is_answered(turn);
        if !answered || !turn.unused.is_empty() {
            self.ask_again();
            return;
        }
        let (id, iteration, finishing) = (turn.turn, turn.iteration, turn.finishing);
        let in_turn = self.base.items.iter().rev().take_while(|item| item.turn == id);
        let of_answer: Vec<&Item> = in_turn
            .filter(|item| item.iteration == iteration)
            .map(|item| &**item)
            .collect();
        let told = of_answer.iter().any(|item| match &item.kind {
            ItemKind::Call(call) => call.output.is_some(),
            ItemKind::Malformed { .. } => true,
            _ => false,
        });
        let said =
            |item: &&Item| matches!(item.kind, ItemKind::AgentText { .. }) && item.status == ItemStatus::Done;
        let has_text = of_answer.iter().any(said);
        if finishing {
            self.end_turn(TurnEnd::Completed);
            return;
        }
        if self.was_checked() {
            self.resume_after_check();
            return;
        }
        if !told && has_text {
            self.complete_turn();
            return;
        }
        if !told {
            self.note_malformed(words::EMPTY_ANSWER, "");
        }
        self.ask_again();
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
            money => self.money_cap(turn, money),
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
                cause: PauseCause::Limits { .. } | PauseCause::Expensive { .. }
            }
        ) {
            self.ask_again();
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
        if turn.without_model {
            self.refuse(
                ErrorCode::NotNow,
                "This step of the workflow asks no model.",
                "Wait for it, or stop it.",
            );
            return;
        }
        if turn.finishing && turn.sampling {
            self.refuse(
                ErrorCode::NotNow,
                "The turn is finishing up already.",
                "Wait for its summary, or stop it.",
            );
            return;
        }
        let expected = self.expected();
        if !self.caps_reached(turn, &expected).is_empty() {
            self.refuse(
                ErrorCode::NotNow,
                "No request may be sent: a cap on tokens or money is reached.",
                "Raise it, or stop the turn; what there is stays.",
            );
            return;
        }
        if turn.sampling {
            self.effect(Effect::CancelModel);
            self.note_stopped_answer();
            self.close_streams();
            self.drop_streamed();
        }
        self.finish_up();
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
