//! How a turn begins, goes on to its next iteration, pauses and ends.

use super::Draft;
use crate::session::input::{Effect, Ticket, Timer, Written};
use crate::session::live_turn::{LiveCall, LiveTurn};
use crate::session::words;
use paddock_protocol::*;

pub(super) fn ended_status(end: TurnEnd) -> TurnStatus {
    match end {
        TurnEnd::Completed => TurnStatus::Completed,
        TurnEnd::Stopped => TurnStatus::Stopped,
        TurnEnd::Failed => TurnStatus::Failed,
    }
}

impl Draft<'_> {
    /// A turn that begins with a message; `queued` is its id in the queue, when it waited there.
    pub(super) fn start_turn(&mut self, message: Written, queued: Option<u32>) {
        self.begin_turn(false);
        self.note_item(message.item(Delivery::Start, queued));
        if queued.is_some() {
            let queue = self.live.queue.clone();
            self.emit(EventMsg::QueueChanged { queue });
        }
        if self.live.workflow.is_some() {
            self.note_workflow(None);
        }
        self.next_iteration();
    }

    pub(super) fn begin_turn(&mut self, without_model: bool) -> TurnId {
        let turn = TurnId(self.live.turn.as_ref().map_or(1, |turn| turn.turn.0 + 1));
        let iteration_limit = self
            .live
            .config
            .limits
            .iterations
            .min(Limits::ceiling(self.live.config.role));
        self.emit(EventMsg::TurnStarted {
            turn,
            iteration_limit,
            without_model,
        });
        turn
    }

    /// Called whenever something has ended: runs what may run now, and when nothing is open goes on to the next iteration.
    pub(super) fn advance(&mut self) {
        let Some(turn) = self.turn() else { return };
        if turn.sampling
            || matches!(
                turn.status,
                TurnStatus::WaitingToRetry { .. } | TurnStatus::Paused { .. }
            )
        {
            return;
        }
        if !turn.all_calls_final() {
            self.run_calls();
        }
        match self.turn() {
            Some(turn) if turn.sampling || matches!(turn.status, TurnStatus::Paused { .. }) => {}
            Some(turn) if turn.all_calls_final() => self.iteration_done(),
            Some(_) => self.show_what_it_waits_for(),
            None => {}
        }
    }

    fn show_what_it_waits_for(&mut self) {
        let Some(turn) = self.turn() else { return };
        if turn.status == TurnStatus::Interrupted && !turn.calls.iter().any(|c| c.allowed && !c.is_final()) {
            return;
        }
        let works = |c: &LiveCall| !self.is_question(c) && !c.overdue && !self.waits_for_decision(c);
        let running = turn
            .calls
            .iter()
            .any(|c| c.status == ItemStatus::Running && works(c));
        let asked = turn
            .calls
            .iter()
            .any(|c| c.status == ItemStatus::Running && (self.is_question(c) || c.overdue));
        if running {
            self.set_working(TurnStatus::UsingTools);
        } else if !self.live.approvals.is_empty() {
            self.set_status(TurnStatus::WaitingForApproval);
        } else if asked {
            self.set_status(TurnStatus::WaitingForAnswer);
        } else {
            self.set_working(TurnStatus::UsingTools);
        }
    }

    /// Every call of the iteration has its result.
    pub(super) fn iteration_done(&mut self) {
        let Some(turn) = self.turn() else { return };
        if turn.without_model {
            self.workflow_call_done();
            return;
        }
        if self.was_checked() {
            self.check_ended();
            return;
        }
        let limits = &self.live.config.limits;
        if turn.iteration > 0 && turn.malformed >= limits.malformed_calls {
            let error = ModelError::new(
                ModelErrorKind::Protocol,
                format!(
                    "The model sent {} answers in a row that could not be used.",
                    turn.malformed
                ),
            )
            .with_hint("Try another model, or say the task in smaller steps.");
            self.note_item(ItemKind::Error { error });
            self.end_turn(TurnEnd::Failed);
            return;
        }
        let breaker = (turn.failures.calls.len() >= limits.tool_failures as usize
            && !turn.allowed_tools.contains(&turn.failures.tool))
        .then(|| turn.failures.clone());
        if let Some(failures) = breaker {
            self.note_item(ItemKind::Breaker {
                tool: failures.tool.clone(),
                calls: failures.calls,
            });
            self.pause(PauseCause::Breaker { tool: failures.tool });
            return;
        }
        if self.ended_by_its_last_call(turn) {
            self.complete_turn();
            return;
        }
        self.go_on_guarded();
    }

    /// The next iteration, unless the calls of this one repeat themselves or the person wished for a pause.
    pub(super) fn go_on_guarded(&mut self) {
        let Some(turn) = self.turn() else { return };
        let limits = &self.live.config.limits;
        let guard = limits.guard;
        let repetition = turn.guard.repetition(turn.iteration, limits.same_result);
        if let Some(repetition) = repetition.filter(|_| guard != GuardMode::Off) {
            let paused = repetition.told && guard == GuardMode::HintThenAsk;
            let pattern = repetition.pattern;
            self.note_item(ItemKind::Guard {
                pattern,
                calls: repetition.calls,
                paused,
            });
            if paused {
                self.pause(PauseCause::Guard { pattern });
                return;
            }
        }
        if self.turn().is_some_and(|turn| turn.pausing) {
            self.pause(PauseCause::Person);
            return;
        }
        self.next_iteration();
    }

    /// A call said that it is the last action, and it succeeded. One that failed is told to the model instead.
    fn ended_by_its_last_call(&self, turn: &LiveTurn) -> bool {
        let said = |call: &&LiveCall| call.terminate && call.status == ItemStatus::Done;
        turn.unused.is_empty()
            && turn
                .calls
                .iter()
                .rfind(|call| call.status != ItemStatus::Stopped)
                .filter(said)
                .is_some()
    }

    /// Waits for the person. Nobody sits before a sub-agent: it says what it has, or fails.
    pub(super) fn pause(&mut self, cause: PauseCause) {
        if !self.is_sub_agent() {
            self.set_status(TurnStatus::Paused { cause });
            return;
        }
        let is_cap = |limit| !matches!(limit, LimitKind::Iterations | LimitKind::ActiveTime);
        let capped = |reached: &[LimitReached]| reached.iter().any(|reached| is_cap(reached.limit));
        let finishing = self.turn().is_some_and(|turn| turn.finishing);
        match cause {
            PauseCause::Model { .. } => self.end_turn(TurnEnd::Failed),
            PauseCause::Limits { reached } if capped(&reached) => self.end_turn(TurnEnd::Failed),
            _ if finishing => self.end_turn(TurnEnd::Failed),
            _ => self.finish_up(),
        }
    }

    /// The next request, unless a limit is reached.
    pub(super) fn next_iteration(&mut self) {
        let Some(turn) = self.turn() else { return };
        let expected = self.expected();
        let reached = self.limits_reached(turn, &expected);
        if !reached.is_empty() {
            self.pause_at(reached);
            return;
        }
        let iteration = turn.iteration + 1;
        if let Some(cause) = self.too_expensive(turn, &expected) {
            self.pause(cause);
            return;
        }
        self.ask_model(iteration, false);
    }

    fn limits_reached(&self, turn: &LiveTurn, expected: &Usage) -> Vec<LimitReached> {
        let mut reached = Vec::new();
        if turn.iteration >= turn.iteration_limit {
            reached.push(LimitReached {
                limit: LimitKind::Iterations,
                used: u64::from(turn.iteration),
                allowed: u64::from(turn.iteration_limit),
            });
        }
        let active = turn.active_at(self.now);
        if let Some(allowed) = turn.active_limit.filter(|allowed| active >= *allowed) {
            reached.push(LimitReached {
                limit: LimitKind::ActiveTime,
                used: active.0,
                allowed: allowed.0,
            });
        }
        reached.extend(self.caps_reached(turn, expected));
        reached
    }

    /// Sends a request: a new iteration, or a further attempt of the one that has no answer yet.
    pub(super) fn ask_model(&mut self, iteration: u32, finishing: bool) {
        let Some(turn) = self.turn() else { return };
        let (id, limit) = (turn.turn, turn.iteration_limit);
        let attempt = if iteration == turn.iteration {
            turn.attempt + 1
        } else {
            1
        };
        for message in turn.unused.clone() {
            self.change_item(message, ItemStatus::Done, |kind| {
                if let ItemKind::UserMessage {
                    delivery: Delivery::Steer { used_from },
                    ..
                } = kind
                {
                    *used_from = Some(iteration);
                }
            });
        }
        let ticket = Ticket {
            turn: id,
            iteration,
            attempt,
        };
        let expected = self.expected();
        let max_output = self.turn().and_then(|turn| self.longest_answer(turn, &expected));
        self.emit(EventMsg::IterationStarted {
            turn: id,
            iteration,
            attempt,
            limit,
            finishing,
            estimate: Some(expected),
        });
        if finishing {
            self.set_status(TurnStatus::FinishingUp);
        } else {
            self.set_working(TurnStatus::Thinking);
        }
        self.effect(Effect::Sample {
            ticket,
            tools: !finishing,
            max_output,
            cost: self.held_for(&expected, max_output),
        });
    }

    /// Asks again in the iteration whose request failed or was lost; a new iteration when the last one was answered.
    /// A further attempt is no further iteration, but time and tokens count.
    pub(super) fn ask_again(&mut self) {
        let Some(turn) = self.turn() else { return };
        let lost = turn.iteration > 0 && !self.is_answered(turn);
        let (iteration, finishing) = (turn.iteration, turn.finishing);
        if !lost {
            self.next_iteration();
            return;
        }
        let expected = self.expected();
        let mut reached = self.limits_reached(turn, &expected);
        reached.retain(|reached| match reached.limit {
            LimitKind::Iterations => iteration > turn.iteration_limit && !finishing,
            LimitKind::ActiveTime => !finishing,
            _ => true,
        });
        let expensive = self.too_expensive(turn, &expected).filter(|_| !finishing);
        if !reached.is_empty() {
            self.pause_at(reached);
        } else if let Some(cause) = expensive {
            self.pause(cause);
        } else {
            self.ask_model(iteration, finishing);
        }
    }

    fn pause_at(&mut self, reached: Vec<LimitReached>) {
        for reached in &reached {
            self.note_item(ItemKind::Limit { reached: *reached });
        }
        self.pause(PauseCause::Limits { reached });
    }

    pub(super) fn is_answered(&self, turn: &LiveTurn) -> bool {
        let now = self.outcome.events.iter().any(
            |msg| matches!(msg, EventMsg::IterationAnswered { turn: t, iteration, .. } if *t == turn.turn && *iteration == turn.iteration),
        );
        now || self
            .base
            .iterations
            .get(&(turn.turn, turn.iteration))
            .is_some_and(|record| record.answered)
    }

    /// One last request without tools; a cap holds for it too.
    pub(super) fn finish_up(&mut self) {
        // The results of closed calls go with the request, so they count.
        self.close_calls(words::NOT_REACHED, words::STOPPED_DURING);
        let Some(turn) = self.turn() else { return };
        let reached = self.caps_reached(turn, &self.expected());
        if !reached.is_empty() {
            self.pause_at(reached);
            return;
        }
        let iteration = turn.iteration + u32::from(self.is_answered(turn) || turn.iteration == 0);
        self.ask_model(iteration, true);
    }

    pub(super) fn end_turn(&mut self, end: TurnEnd) {
        // Messages that no request has held stay in the record; the next turn's history begins with them.
        for message in self.turn().map(|turn| turn.unused.clone()).unwrap_or_default() {
            self.change_item(message, ItemStatus::Done, |_| {});
        }
        let Some(turn) = self.turn() else { return };
        let id = turn.turn;
        let report = TurnReport {
            end,
            iterations: turn.iteration,
            calls: turn.call_count,
            files_changed: u32::try_from(turn.changed_files.len()).unwrap_or(u32::MAX),
            active: turn.active_at(self.now),
            waiting: turn.waiting,
            usage: turn.usage,
        };
        self.note_item(ItemKind::TurnSummary { report });
        self.emit(EventMsg::TurnEnded { turn: id, end });
        self.set_status(ended_status(end));
        if end != TurnEnd::Completed {
            self.hold_queue();
        }
        if self.live.workflow.is_some() {
            self.workflow_after(end);
        }
        if self.turn().is_none() {
            self.send_next_queued();
        }
    }

    /// Ends everything now. What there is stays, every open call gets a result.
    pub(super) fn stop_turn(&mut self) {
        let Some(turn) = self.turn() else { return };
        if turn.sampling {
            self.effect(Effect::CancelModel);
            self.note_stopped_answer();
        }
        self.close_streams();
        self.close_calls(words::STOPPED_BEFORE, words::STOPPED_DURING);
        self.end_turn(TurnEnd::Stopped);
    }

    /// Closes texts that stream, with what has come.
    pub(super) fn close_streams(&mut self) {
        for open in self.live.open.clone() {
            match &open.item.kind {
                ItemKind::AgentText { .. } | ItemKind::Reasoning { .. } => {
                    self.change_item(open.item.id, ItemStatus::Stopped, |kind| match kind {
                        ItemKind::AgentText { text } | ItemKind::Reasoning { text, .. } => {
                            *text = open.text.clone()
                        }
                        _ => {}
                    });
                }
                ItemKind::Retry { .. } => self.change_item(open.item.id, ItemStatus::Stopped, |_| {}),
                _ => {}
            }
        }
    }

    /// Gives every open call a result.
    pub(super) fn close_calls(&mut self, before: &str, during: &str) {
        let open: Vec<_> = self
            .turn()
            .map(|t| t.calls.iter().filter(|c| !c.is_final()).cloned().collect())
            .unwrap_or_default();
        for call in open {
            self.withdraw(&call, WithdrawReason::Stopped);
            self.withdraw_nested(&call, |_| true);
            self.withdraw_asks(&call, WithdrawReason::Stopped);
            let running = call.status == ItemStatus::Running;
            if running && !self.is_question(&call) {
                self.effect(Effect::CancelCall {
                    call: call.call.clone(),
                });
            }
            self.close_call(&call, ItemStatus::Stopped, if running { during } else { before });
        }
    }

    pub(super) fn model_failed(&mut self, ticket: Ticket, error: ModelError) {
        if !self.is_current(ticket) {
            return;
        }
        self.close_streams();
        self.drop_streamed();
        self.note_lost(error.spent.as_deref().copied().unwrap_or_default());
        let Some(turn) = self.turn() else { return };
        let of = self.live.config.limits.model_retries;
        let attempt = turn.retries + 1;
        if !error.retryable || attempt > of {
            self.note_item(ItemKind::Error { error: error.clone() });
            if self.take_fallback() {
                self.ask_again();
            } else {
                self.pause(PauseCause::Model { error });
            }
            return;
        }
        let wait = error.retry_after.unwrap_or_else(|| {
            let base = 1_000_u64 << (attempt - 1).min(5);
            Millis(base + u64::from(self.entropy) % (base / 4 + 1))
        });
        let until = self.now.plus(wait);
        self.start_item(
            ItemStatus::Running,
            ItemKind::Retry {
                attempt,
                of,
                until,
                error,
            },
        );
        self.set_status(TurnStatus::WaitingToRetry { attempt, of, until });
        self.effect(Effect::StartTimer {
            timer: Timer::Retry(ticket),
            at: until,
        });
    }

    /// Goes over to the second model when the person allowed that without being asked.
    fn take_fallback(&mut self) -> bool {
        let config = &self.live.config;
        let Some(fallback) = config.fallback.clone().filter(|second| second.automatic) else {
            return false;
        };
        let from = config.model.clone();
        if from == fallback.model {
            return false;
        }
        let to = fallback.model;
        self.change_config(|config| {
            config.model = to.clone();
            config.format = fallback.known.format;
            config.facts = fallback.known.facts;
        });
        self.note_item(ItemKind::ModelChange { from, to });
        true
    }

    /// The wait is over, or the person does not want to wait.
    pub(super) fn retry_due(&mut self, ticket: Ticket) {
        let waits = self
            .turn()
            .is_some_and(|turn| matches!(turn.status, TurnStatus::WaitingToRetry { .. }));
        if !waits || self.ticket() != Some(ticket) {
            return;
        }
        for open in self.live.open.clone() {
            if matches!(open.item.kind, ItemKind::Retry { .. }) {
                self.change_item(open.item.id, ItemStatus::Done, |_| {});
            }
        }
        self.ask_again();
    }
}
