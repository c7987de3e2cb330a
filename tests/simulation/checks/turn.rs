//! A turn: its limits, its pauses, its repetitions, its end.

use super::Checks;
use paddock_core::provider::AnswerPart;
use paddock_core::session::input::{Back, Input};
use paddock_protocol::*;
use std::collections::BTreeSet;

pub struct Turn {
    pub id: TurnId,
    pub without_model: bool,
    status: TurnStatus,
    pub iteration_limit: u32,
    active_limit: Option<u64>,
    pub token_limit: Option<u64>,
    active: u64,
    since: Timestamp,
    heard: Timestamp,
    pub iteration: u32,
    /// The request that is on its way.
    pub in_flight: Option<(u32, u32)>,
    pub answered: bool,
    pub finishing: bool,
    retries: u32,
    malformed: u32,
    /// Failures of one tool in a row.
    streak: (String, u32),
    allowed_tools: BTreeSet<String>,
    allowed_patterns: Vec<GuardPattern>,
    told: Vec<GuardPattern>,
    /// Calls with their results, by iteration.
    results: Vec<(u32, CallResult)>,
    /// The guard said that it pauses.
    must_pause: bool,
    pausing: bool,
    /// Somebody decided, or the machine died, since the last request.
    decided: bool,
    /// A message came since the last answer.
    steered: bool,
    pub sub_agents: u32,
    pub done: super::done::Done,
    pub ended: Option<TurnEnd>,
}

type CallResult = (String, String, String, Option<i32>);

impl Turn {
    fn active_at(&self, now: Timestamp) -> u64 {
        let passed = now.since(self.since).0;
        if self.status.waits_for_person() || self.status.is_final() {
            self.active
        } else {
            self.active + passed
        }
    }
}

impl Checks {
    pub(super) fn turn_event(&mut self, event: &Event) {
        match &event.msg {
            EventMsg::TurnStarted {
                turn,
                iteration_limit,
                without_model,
            } => self.turn_started(event.at, *turn, *iteration_limit, *without_model),
            EventMsg::TurnChanged { turn, status } => {
                self.of_this_turn(*turn);
                self.status_changed(event.at, status);
            }
            EventMsg::LimitChanged { turn, limit, allowed } => {
                self.of_this_turn(*turn);
                self.limit_changed(*limit, *allowed);
            }
            EventMsg::IterationStarted { turn, .. } => {
                self.of_this_turn(*turn);
                self.request_begins(event);
            }
            EventMsg::IterationAnswered {
                turn,
                iteration,
                usage,
                ..
            } => {
                self.of_this_turn(*turn);
                self.turn_goes_on();
                self.used += usage.total();
                self.answer_is_kept(*iteration);
                if let Some(turn) = &mut self.turn {
                    let asked = turn.in_flight.take().map(|(iteration, _)| iteration);
                    assert_eq!(
                        asked,
                        Some(*iteration),
                        "an answer to a request that is not on its way"
                    );
                    turn.answered = true;
                    turn.retries = 0;
                    turn.steered = false;
                }
            }
            EventMsg::CauseAllowed { cause, .. } => self.cause_allowed(cause),
            EventMsg::SubAgentUsed { call, usage } => {
                self.used_by_sub_agent(call, usage);
                self.used += usage.total();
            }
            EventMsg::ItemStarted { item }
            | EventMsg::ItemUpdated { item }
            | EventMsg::ItemCompleted { item } => self.turn_item(item),
            EventMsg::TurnEnded { turn, end } => {
                self.of_this_turn(*turn);
                self.turn_ended(*end);
            }
            _ => {}
        }
        if let Some(turn) = &mut self.turn {
            turn.heard = event.at;
        }
    }

    fn of_this_turn(&self, id: TurnId) {
        assert_eq!(self.turn.as_ref().map(|turn| turn.id), Some(id));
    }

    fn turn_started(&mut self, at: Timestamp, id: TurnId, iteration_limit: u32, without_model: bool) {
        let before = self.turn.as_ref();
        assert!(
            before.is_none_or(|turn| turn.ended.is_some()),
            "two turns at once"
        );
        assert_eq!(id.0, before.map_or(1, |turn| turn.id.0 + 1));
        let limits = &self.config.limits;
        assert!(iteration_limit <= limits.iterations.min(Limits::ceiling(self.config.role)));
        let tokens = limits.session_tokens.map(u64::from);
        let raised = self.raised_tokens;
        let held = tokens.is_some_and(|tokens| raised.is_some_and(|raised| raised > tokens));
        let turn = Turn {
            id,
            without_model,
            status: TurnStatus::Starting,
            iteration_limit,
            active_limit: limits.active_time.map(|time| time.0),
            token_limit: tokens.map(|tokens| tokens.max(raised.unwrap_or(0))),
            active: 0,
            since: at,
            heard: at,
            iteration: 0,
            in_flight: None,
            answered: false,
            finishing: false,
            retries: 0,
            malformed: 0,
            streak: (String::new(), 0),
            allowed_tools: BTreeSet::new(),
            allowed_patterns: Vec::new(),
            told: Vec::new(),
            results: Vec::new(),
            must_pause: false,
            pausing: false,
            decided: false,
            steered: false,
            sub_agents: 0,
            done: super::done::Done::default(),
            ended: None,
        };
        let taken = self.step.as_ref().is_some_and(|step| step.taken_by_other);
        assert!(
            !taken || self.config.role == Role::Plan,
            "a turn begins while another session changes the folder"
        );
        self.turn = Some(turn);
        self.see_if(held, "tokens: the raise holds in the next turn");
        self.turn_of_workflow(without_model);
    }

    fn status_changed(&mut self, at: Timestamp, status: &TurnStatus) {
        if let TurnStatus::Paused { cause } = status {
            match cause {
                PauseCause::Check { command, .. } => self.check_pauses(command),
                PauseCause::Limits { reached } => self.limits_are_reached(reached),
                _ => {}
            }
            self.check_counts_anew();
        }
        let Some(turn) = &mut self.turn else { return };
        assert!(!turn.status.is_final(), "an ended turn is {status:?}");
        let until = if *status == TurnStatus::Interrupted {
            turn.heard
        } else {
            at
        };
        turn.active = turn.active_at(until);
        turn.since = at;
        let end = match status {
            TurnStatus::Completed => Some(TurnEnd::Completed),
            TurnStatus::Stopped => Some(TurnEnd::Stopped),
            TurnStatus::Failed => Some(TurnEnd::Failed),
            _ => None,
        };
        assert_eq!(end.is_some(), turn.ended.is_some(), "the turn is {status:?}");
        assert!(end.is_none() || end == turn.ended);
        match status {
            TurnStatus::Pausing => turn.pausing = true,
            TurnStatus::Thinking | TurnStatus::UsingTools | TurnStatus::FinishingUp => turn.pausing = false,
            TurnStatus::WaitingToRetry { attempt, .. } => {
                turn.in_flight = None;
                // Shown again after a wish to pause was taken back, or the next one.
                let again = matches!(turn.status, TurnStatus::UsingTools) && *attempt == turn.retries;
                turn.retries += u32::from(!again);
                assert_eq!(*attempt, turn.retries, "retries are counted wrong");
            }
            TurnStatus::Paused { cause } => {
                if let PauseCause::Guard { .. } = cause {
                    assert!(turn.must_pause, "the guard pauses without a word");
                }
                turn.in_flight = None;
                turn.retries = 0;
                turn.streak = (String::new(), 0);
                turn.must_pause = false;
                turn.pausing = false;
                turn.decided = true;
            }
            TurnStatus::Interrupted => {
                turn.in_flight = None;
                turn.pausing = false;
                turn.must_pause = false;
                turn.decided = true;
            }
            _ => {}
        }
        turn.status = status.clone();
    }

    fn limit_changed(&mut self, limit: LimitKind, allowed: u64) {
        let asked = self.step.is_none() || matches!(self.op(), Some(Op::Extend { .. }));
        assert!(asked, "a limit was raised without the person");
        let ceiling = Limits::ceiling(self.config.role);
        let Some(turn) = &mut self.turn else { return };
        match limit {
            LimitKind::Iterations => {
                assert!(
                    allowed <= u64::from(ceiling),
                    "more iterations than the role may have"
                );
                turn.iteration_limit = u32::try_from(allowed).unwrap_or(u32::MAX);
            }
            LimitKind::ActiveTime => turn.active_limit = Some(allowed),
            LimitKind::TurnMoney | LimitKind::SessionMoney | LimitKind::DayMoney => {}
            LimitKind::SessionTokens => {
                turn.token_limit = Some(allowed);
                self.raised_tokens = Some(allowed);
            }
        }
    }

    fn cause_allowed(&mut self, cause: &PauseCause) {
        let asked = match self.op() {
            Some(Op::Continue { allow_cause, .. }) => {
                *allow_cause || matches!(cause, PauseCause::Expensive { .. })
            }
            Some(Op::Send { .. } | Op::SendQueued { .. }) => matches!(cause, PauseCause::Expensive { .. }),
            _ => false,
        };
        assert!(
            asked || self.step.is_none(),
            "a cause was allowed without the person"
        );
        let Some(turn) = &mut self.turn else { return };
        let paused = TurnStatus::Paused { cause: cause.clone() };
        assert_eq!(turn.status, paused, "another cause was allowed");
        match cause {
            PauseCause::Guard { pattern } => turn.allowed_patterns.push(*pattern),
            PauseCause::Breaker { tool } => {
                turn.allowed_tools.insert(tool.clone());
            }
            PauseCause::Check { .. } => self.check_is_waived(),
            _ => {}
        }
    }

    fn request_begins(&mut self, event: &Event) {
        let EventMsg::IterationStarted {
            iteration,
            attempt,
            limit,
            finishing,
            ..
        } = event.msg
        else {
            return;
        };
        self.turn_goes_on();
        let taken = self.step.as_ref().is_some_and(|step| step.taken_by_other);
        assert!(
            !taken || self.config.role == Role::Plan,
            "a request is sent while another session changes the folder"
        );
        let used = self.used;
        let open = self
            .items
            .iter()
            .find(|item| matches!(item.kind, ItemKind::Call(_)) && !item.status.is_final());
        assert!(open.is_none(), "a request is sent while {open:?} is open");
        let turn = self.turn.as_ref().expect("a turn");
        assert!(!turn.without_model, "a step without a model asks one");
        assert_eq!(limit, turn.iteration_limit);
        // The person may wish for last words again, after one more message at the limit.
        let most = if finishing {
            turn.iteration_limit.max(turn.iteration) + 1
        } else {
            turn.iteration_limit
        };
        assert!(iteration <= most, "iteration {iteration} of {limit}");
        let further = iteration == turn.iteration && !turn.answered;
        assert!(
            further && attempt > 1 || iteration == turn.iteration + 1 && attempt == 1,
            "iteration {iteration}, attempt {attempt} after {}",
            turn.iteration
        );
        if !finishing {
            let tokens = turn.token_limit.is_none_or(|limit| used < limit);
            assert!(tokens, "a request was sent past the token cap");
            let active = turn.active_at(event.at);
            let time = turn.active_limit.is_none_or(|limit| active < limit);
            assert!(
                time,
                "a request was sent after {active} ms of {:?}",
                turn.active_limit
            );
            assert!(!turn.must_pause, "the guard said that it pauses");
            assert!(
                !turn.finishing || turn.decided,
                "the turn goes on after its last request"
            );
            if !further && turn.iteration > 0 && !turn.decided {
                self.goes_on_rightly(turn);
            }
        }
        if let Some(turn) = &mut self.turn {
            turn.in_flight = Some((iteration, attempt));
            turn.iteration = iteration;
            turn.answered = false;
            turn.finishing = finishing;
            turn.decided = false;
        }
    }

    /// The turn goes on by itself: nothing in the iteration before said that it must not.
    fn goes_on_rightly(&self, turn: &Turn) {
        let limits = &self.config.limits;
        self.check_lets_go_on();
        assert!(!turn.pausing, "the person asked for a pause");
        assert!(
            turn.malformed < limits.malformed_calls,
            "the model is asked after {} answers that could not be used",
            turn.malformed
        );
        let (tool, times) = &turn.streak;
        assert!(
            *times < limits.tool_failures || turn.allowed_tools.contains(tool),
            "{tool} failed {times} times in a row and nobody was asked"
        );
        let last = self
            .last_calls(turn)
            .into_iter()
            .rfind(|(item, _)| item.status != ItemStatus::Stopped);
        let terminates = last.is_some_and(|(item, call)| call.terminate && item.status == ItemStatus::Done);
        assert!(
            !terminates || turn.steered || self.was_checked(),
            "the turn goes on after its last call"
        );
        if limits.guard == GuardMode::Off || turn.allowed_patterns.contains(&GuardPattern::SameCall) {
            return;
        }
        let fresh = turn.results.iter().filter(|(of, _)| *of == turn.iteration);
        let most = fresh
            .map(|(_, result)| turn.results.iter().filter(|(_, other)| other == result).count())
            .max()
            .unwrap_or(0);
        let told = self.items.iter().any(|item| {
            matches!(item.kind, ItemKind::Guard { .. })
                && item.turn == turn.id
                && item.iteration == turn.iteration
        });
        assert!(
            told || most < limits.same_result as usize,
            "the same call gave the same result {most} times and the guard is silent"
        );
    }

    fn last_calls(&self, turn: &Turn) -> Vec<(&Item, &CallItem)> {
        self.items
            .iter()
            .filter(|item| item.turn == turn.id && item.iteration == turn.iteration)
            .filter_map(|item| match &item.kind {
                ItemKind::Call(call) => Some((item, &**call)),
                _ => None,
            })
            .filter(|(item, _)| self.asked.contains(&item.id))
            .collect()
    }

    fn turn_item(&mut self, item: &Item) {
        let before = self.items.get(item.id.0 as usize).map(|item| item.status);
        let mode = self.config.limits.guard;
        let retries = self.config.limits.model_retries;
        let Some(turn) = self.turn.as_mut().filter(|turn| turn.id == item.turn) else {
            return;
        };
        match &item.kind {
            ItemKind::UserMessage { .. } if item.status == ItemStatus::Done => turn.steered = true,
            ItemKind::ModelChange { .. } => {
                let retries = std::mem::take(&mut turn.retries);
                self.see_if(retries > 0, "model: changed between retries");
            }
            ItemKind::Retry { attempt, of, .. } if before.is_none() => {
                assert_eq!(
                    (*attempt, *of),
                    (turn.retries + 1, retries),
                    "retries are counted wrong"
                );
                assert!(*attempt <= retries, "a request was tried again too often");
            }
            ItemKind::Malformed { attempt, .. } if before.is_none() => {
                turn.malformed += 1;
                assert_eq!(
                    *attempt, turn.malformed,
                    "answers that cannot be used are counted wrong"
                );
            }
            ItemKind::Guard { pattern, paused, .. } => {
                let again = turn.told.contains(pattern);
                assert_eq!(
                    *paused,
                    again && mode == GuardMode::HintThenAsk,
                    "the guard tells first"
                );
                turn.told.push(*pattern);
                turn.must_pause = *paused;
            }
            ItemKind::Call(call) => {
                let allowed = call.verdict.as_ref().is_some_and(|verdict| verdict.allowed);
                if allowed && item.iteration == turn.iteration {
                    turn.malformed = 0;
                }
                let was_final = before.is_some_and(ItemStatus::is_final);
                let told = allowed && call.check.is_none();
                if let (true, true, false, Some(output)) =
                    (told, item.status.is_final(), was_final, &call.output)
                {
                    let edited = call
                        .verdict
                        .as_ref()
                        .and_then(|verdict| verdict.edited_arguments.clone());
                    let arguments = edited.unwrap_or_else(|| call.arguments.clone());
                    let result = (
                        call.tool.clone(),
                        arguments,
                        output.text.clone(),
                        output.exit_code,
                    );
                    turn.results.push((item.iteration, result));
                    if item.status == ItemStatus::Failed && output.exit_code.is_none() {
                        if turn.streak.0 != call.tool {
                            turn.streak = (call.tool.clone(), 0);
                        }
                        turn.streak.1 += 1;
                    } else {
                        turn.streak = (String::new(), 0);
                    }
                }
            }
            _ => {}
        }
    }

    fn turn_ended(&mut self, end: TurnEnd) {
        self.turn_goes_on();
        assert!(self.rights.open.is_empty(), "approvals wait in an ended turn");
        let open: Vec<&Item> = self.items.iter().filter(|item| !item.status.is_final()).collect();
        assert!(open.is_empty(), "items are open in an ended turn: {open:?}");
        let turn = self.turn.as_ref().expect("a turn");
        if end == TurnEnd::Completed && !turn.without_model {
            self.is_complete(turn);
            self.is_checked();
        }
        if let Some(turn) = &mut self.turn {
            turn.in_flight = None;
            turn.ended = Some(end);
        }
        self.turn_of_workflow_ended(end);
    }

    /// A turn completes by its model's word alone.
    pub(super) fn is_complete(&self, turn: &Turn) {
        assert!(turn.answered, "the turn completes without an answer");
        if turn.finishing {
            return;
        }
        let calls = self.last_calls(turn);
        if calls.is_empty() {
            let said = self.items.iter().any(|item| {
                matches!(item.kind, ItemKind::AgentText { .. })
                    && item.status == ItemStatus::Done
                    && item.turn == turn.id
                    && item.iteration == turn.iteration
            });
            assert!(said, "the turn completes without a word");
            return;
        }
        let breaks = |(item, call): &(&Item, &CallItem)| {
            item.status == ItemStatus::Done && matches!(call.tool.as_str(), "task_completion" | "converse")
        };
        let broken = calls.iter().any(breaks);
        let last = calls
            .into_iter()
            .rfind(|(item, _)| item.status != ItemStatus::Stopped);
        // The person may have taken it back meanwhile.
        let done = |item: &Item| matches!(item.status, ItemStatus::Done | ItemStatus::Undone);
        let ends = last.is_some_and(|(item, call)| done(item) && call.terminate);
        assert!(
            broken || ends,
            "the turn completes though its last call says nothing of it: {last:?}"
        );
    }

    /// The texts and calls of the timeline are those of the answer, and nothing of an attempt that failed before.
    fn answer_is_kept(&mut self, iteration: u32) {
        let turn = self.turn.as_ref().expect("a turn").id;
        let of_answer = |item: &&Item| item.turn == turn && item.iteration == iteration;
        let calls = self
            .items
            .iter()
            .filter(of_answer)
            .filter(|item| matches!(item.kind, ItemKind::Call(_)) && item.status != ItemStatus::Stopped);
        self.asked.extend(calls.map(|item| item.id));
        let Some(Input::Back(Back::ModelAnswered { answer, .. })) =
            self.step.as_ref().map(|step| &step.input)
        else {
            return;
        };
        let said = answer.parts.iter().filter_map(|part| match part {
            AnswerPart::Text(text) => Some(text),
            _ => None,
        });
        let kept = self
            .items
            .iter()
            .filter(of_answer)
            .filter_map(|item| match &item.kind {
                ItemKind::AgentText { text } if item.status == ItemStatus::Done => Some(text),
                _ => None,
            });
        let (said, kept): (Vec<&String>, Vec<&String>) = (said.collect(), kept.collect());
        assert_eq!(kept, said, "the model is told that it said something else");
    }

    pub(super) fn status_fits(&self) {
        let Some(turn) = &self.turn else { return };
        match &turn.status {
            TurnStatus::WaitingForApproval => {
                assert!(
                    !self.rights.open.is_empty(),
                    "it waits for an approval that is not there"
                );
            }
            TurnStatus::WaitingForAnswer => {
                let asks = self.items.iter().any(|item| {
                    matches!(&item.kind, ItemKind::Call(call) if call.tool == "ask_question" || call.overdue)
                        && item.status == ItemStatus::Running
                });
                assert!(asks, "it waits for an answer that nobody asked for");
            }
            TurnStatus::Paused { .. } => {
                let open = self
                    .items
                    .iter()
                    .find(|item| matches!(item.kind, ItemKind::Call(_)) && !item.status.is_final());
                assert!(
                    self.rights.open.is_empty() && open.is_none(),
                    "a paused turn has work under way"
                );
            }
            status => assert_eq!(status.is_final(), turn.ended.is_some()),
        }
    }
}
