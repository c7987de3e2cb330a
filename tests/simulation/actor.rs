//! What an actor does with an input: step, log, apply, show, carry out; here the world keeps the sessions' effects.

use crate::checks::Step;
use crate::seat::{Bound, Employer, Seat, Work};
use crate::world::{Errand, MAIN, World};
use paddock_core::session::folder;
use paddock_core::session::input::{Back, Effect, Input, Stamped, SubReport, Surroundings, Ticket, Timer};
use paddock_core::session::step::step;
use paddock_core::tools::ToolKind;
use paddock_protocol::*;

impl World {
    /// One input to one session: step, log, apply, carry out. The machine may die in the middle.
    pub(crate) fn input(&mut self, place: usize, input: Input) {
        if self.loud {
            println!("{place} --> {input:?}");
        }
        self.take_folder(place, &input);
        if matches!(input, Input::Back(Back::Undone { .. })) {
            let seat = &mut self.seats[place];
            seat.undoing = seat.undoing.saturating_sub(1);
        }
        let entropy = self.dice.next() as u32;
        let stamped = Stamped {
            now: self.now,
            entropy,
            input: input.clone(),
        };
        self.seats[place].around.spent_today = Micros(self.spent_today);
        let seat = &self.seats[place];
        let outcome = step(&seat.state, stamped, &seat.around);
        let refused = outcome
            .events
            .iter()
            .any(|msg| matches!(msg, EventMsg::OpRefused { .. }));
        self.coverage.outcome(seat, self.now, &input, &outcome);
        assert!(
            !refused || outcome.effects.is_empty(),
            "a refused op has effects: {:?}",
            outcome.effects
        );
        let asked = self.person_decides(place, &input, refused);
        // The machine may die in the middle of the step, after so many of its events.
        let dies = !self.settling && self.dice.below(1_000) < 4;
        let dies_after = dies.then(|| self.dice.below(outcome.events.len() + 1));
        let step = Step {
            now: self.now,
            input,
            refused,
            decided: asked,
            taken_by_other: self.other_has_folder && place == MAIN,
            spent_today: self.spent_today,
        };
        self.seats[place].checks.begin(step);
        for (number, msg) in outcome.events.into_iter().enumerate() {
            if dies_after == Some(number) {
                let keep = self.seats[MAIN].log.len();
                self.die(keep);
                return;
            }
            self.happen(place, msg);
        }
        let seat = &mut self.seats[place];
        if outcome
            .effects
            .iter()
            .any(|effect| changes_world(&seat.around, effect))
        {
            seat.synced = seat.log.len();
        }
        for effect in outcome.effects {
            self.start(place, effect);
        }
        self.release_folder(place);
        self.after_step(place);
    }

    /// What the person answered, for every session that it concerns: the first answer counts.
    pub(crate) fn person_decides(&mut self, place: usize, input: &Input, refused: bool) -> Option<Decision> {
        let Input::Op(Op::Decide { approval, decision }) = input else {
            return None;
        };
        if refused {
            return None;
        }
        let seat = &self.seats[place];
        let key = (seat.id().clone(), approval.clone());
        self.decided.insert(key, decision.clone());
        Some(decision.clone())
    }

    pub(crate) fn take_folder(&mut self, place: usize, input: &Input) {
        let taken = self.other_has_folder;
        let seat = &mut self.seats[place];
        let config = &seat.state.live.config;
        if config.parent.is_some() || seat.holds_folder {
            seat.around.folder_taken = false;
            return;
        }
        if folder::is_wanted(config, input) {
            seat.holds_folder = !taken;
            seat.around.folder_taken = taken;
        }
    }

    pub(crate) fn release_folder(&mut self, place: usize) {
        let seat = &mut self.seats[place];
        if !folder::is_needed(&seat.state.live) && seat.undoing == 0 {
            seat.holds_folder = false;
        }
    }

    pub(crate) fn happen(&mut self, place: usize, msg: EventMsg) {
        if self.loud {
            println!("{place}     {msg:?}");
        }
        let durable = msg.is_durable();
        if let EventMsg::ApprovalRequested { approval } = &msg
            && let Some(origin) = &approval.origin
        {
            self.is_shown_as_asked(approval, origin);
        }
        if let EventMsg::IterationAnswered { usage, .. } | EventMsg::AttemptLost { usage, .. } = &msg {
            self.spent_today += usage.cost.0;
        }
        let seat = &mut self.seats[place];
        let event = Event {
            session: seat.state.id.clone(),
            seq: seat.state.seq + u64::from(durable),
            at: self.now,
            msg,
        };
        seat.checks.event(&event);
        seat.state.apply(&event);
        self.coverage.event(seat.state.live.turn.as_ref(), &event.msg);
        let report = seat
            .employer
            .as_mut()
            .filter(|employer| !employer.dropped)
            .and_then(|employer| {
                let report = employer.hearing.hear(&event.msg)?;
                employer.dropped = matches!(report, SubReport::Ended { .. });
                Some((employer.seat, employer.call.clone(), report, employer.dropped))
            });
        if durable {
            seat.log.push(event);
        }
        if let Some((employer, call, report, ended)) = report {
            if ended {
                self.errands.push(Errand::Close { seat: place });
            }
            self.tell(employer, Back::SubAgent { call, report });
        }
    }

    /// What is asked in the queue of the turn is what the sub-agent asks.
    pub(crate) fn is_shown_as_asked(&self, shown: &ApprovalRequest, origin: &ApprovalOrigin) {
        let there = self.seats.iter().find(|seat| *seat.id() == origin.session);
        let asked = there.and_then(|seat| seat.checks.shown(&origin.approval));
        let asked = asked.expect("a sub-agent's approval that it never asked for");
        assert_eq!(
            (&shown.tool, &shown.arguments, &shown.access, &shown.body),
            (&asked.tool, &asked.arguments, &asked.access, &asked.body),
            "another call is shown than the sub-agent's"
        );
    }

    fn ask_model(&mut self, place: usize, ticket: Ticket, tools: bool, max_output: Option<u32>) {
        let seat = &mut self.seats[place];
        seat.checks.answer_is_bounded(max_output);
        let asks = |work: &Work| matches!(work, Work::Model { .. });
        assert!(!seat.works.iter().any(asks), "two requests at once");
        let expected = seat.state.live.turn.as_ref().and_then(|turn| turn.expected);
        let bound = Bound {
            input: expected.map_or(1, |usage| usage.input + usage.cached),
            output: max_output.unwrap_or(u32::MAX),
        };
        seat.works.push(Work::Model { ticket, tools, bound });
    }

    pub(crate) fn start(&mut self, place: usize, effect: Effect) {
        if self.loud {
            println!("{place}     ==> {effect:?}");
        }
        let seat = &mut self.seats[place];
        seat.checks.effect(&seat.state, &effect);
        match effect {
            Effect::Sample {
                ticket,
                tools,
                max_output,
                ..
            } => {
                self.ask_model(place, ticket, tools, max_output);
            }
            Effect::CancelModel => self.cancel(place, |work| matches!(work, Work::Model { .. })),
            Effect::Prepare {
                call,
                tool,
                arguments,
            } => {
                assert!(
                    seat.around.kind(&tool).is_some(),
                    "nobody reads the arguments of {tool}"
                );
                seat.works.push(Work::Prepare {
                    call,
                    tool,
                    arguments,
                });
            }
            Effect::Run {
                call,
                tool,
                arguments,
                approved,
                reach,
                ..
            } => seat.works.push(Work::run(call, tool, arguments, approved, reach)),
            Effect::CancelCall { call } => {
                self.cancel(
                    place,
                    |work| matches!(work, Work::Run { call: of, .. } if *of == call),
                );
                self.drop_sub_agent(place, &call);
            }
            Effect::StartTimer { timer, at } => {
                if matches!(timer, Timer::Retry(_)) || self.dice.chance(10) {
                    self.seats[place].works.push(Work::Timer { timer, at });
                }
            }
            Effect::Undo { call, redo } => {
                seat.undoing += 1;
                seat.works.push(Work::Undo { call, redo });
            }
            Effect::KeepRule { .. } | Effect::RuleUsed { .. } | Effect::DropRule { .. } => {}
            Effect::AnswerAsk { call, number, .. } => self.answered(place, &call, number),
            Effect::EndAllProcesses => self.all_processes_end(place),
            Effect::ToBackground { call } => self.lets_go_on(place, &call),
            Effect::EndProcess { process, end } => {
                self.process_ends(place, &process, end);
            }
            Effect::Delegate {
                call,
                session,
                config,
                task,
            } => self.errands.push(Errand::Begin {
                employer: place,
                call,
                session,
                config,
                task,
            }),
            Effect::DecideThere {
                call,
                session,
                approval,
                decision,
            } => {
                let key = (seat.id().clone(), call.nested(&approval));
                assert_eq!(
                    self.decided.get(&key),
                    Some(&decision),
                    "a sub-agent is told what nobody decided"
                );
                self.errands.push(Errand::Decide {
                    session,
                    approval,
                    decision,
                });
            }
            Effect::AwaitFolder if self.other_has_folder => seat.awaits_folder = true,
            Effect::AwaitFolder => self.tell(place, Back::FolderFree),
            Effect::StopAwaitingFolder => seat.awaits_folder = false,
        }
    }

    pub(crate) fn lets_go_on(&mut self, place: usize, told: &CallId) {
        // Nothing happens when no further process may run.
        let full = self.dice.chance(10);
        for work in &mut self.seats[place].works {
            if let Work::Run {
                call,
                to_background,
                awaits,
                ..
            } = work
                && call == told
                && !full
            {
                *to_background = true;
                awaits.clear();
            }
        }
    }

    pub(crate) fn drop_sub_agent(&mut self, employer: usize, call: &CallId) {
        let begins = |errand: &Errand| matches!(errand, Errand::Begin { employer: of, call: by, .. } if *of == employer && by == call);
        self.errands.retain(|errand| !begins(errand));
        for place in 0..self.seats.len() {
            let works_for = |e: &Employer| e.seat == employer && e.call == *call && !e.dropped;
            if let Some(employer) = self.seats[place].employer.as_mut().filter(|e| works_for(e)) {
                employer.dropped = true;
                self.errands.push(Errand::Close { seat: place });
            }
        }
    }

    /// What was cancelled may have ended right before, and its answer comes late.
    pub(crate) fn cancel(&mut self, place: usize, matches: impl Fn(&Work) -> bool) {
        let works = std::mem::take(&mut self.seats[place].works);
        let (gone, kept): (Vec<Work>, Vec<Work>) = works.into_iter().partition(matches);
        self.seats[place].works = kept;
        for work in gone {
            if self.dice.chance(30) {
                self.complete(place, work);
            }
        }
    }

    /// When a turn has ended or is paused, no request, no call and no sub-agent of it goes on.
    fn nothing_outlives_the_turn(&self, place: usize) {
        let seat = &self.seats[place];
        let still = match seat.status() {
            None | Some(TurnStatus::Paused { .. } | TurnStatus::Interrupted) => true,
            Some(status) => status.is_final(),
        };
        if !still {
            return;
        }
        let goes_on = |work: &&Work| matches!(work, Work::Model { .. } | Work::Run { .. });
        let work = seat.works.iter().find(goes_on);
        assert!(
            work.is_none(),
            "the turn is {:?} and {work:?} goes on",
            seat.status()
        );
        let works_for = |e: &Employer| e.seat == place && !e.dropped;
        let employed = |seat: &&Seat| seat.employer.as_ref().is_some_and(works_for);
        let agent = self.seats.iter().find(employed).map(Seat::id);
        let begins = |errand: &Errand| matches!(errand, Errand::Begin { employer, .. } if *employer == place);
        assert!(
            agent.is_none() && !self.errands.iter().any(begins),
            "the turn is {:?} and its sub-agent {agent:?} goes on",
            seat.status()
        );
    }

    pub(crate) fn after_step(&mut self, place: usize) {
        let seat = &mut self.seats[place];
        seat.checks.after_step(&seat.state);
        self.coverage.branches(&mut seat.checks.seen);
        let seat = &self.seats[place];
        if let Some(turn) = &seat.state.live.turn
            && !turn.status.is_final()
            && !turn.status.waits_for_person()
        {
            let works_for = |e: &Employer| e.seat == place;
            let employs = |seat: &Seat| !seat.closed && seat.employer.as_ref().is_some_and(works_for);
            let begins =
                |errand: &Errand| matches!(errand, Errand::Begin { employer, .. } if *employer == place);
            let under_way =
                seat.pending() > 0 || self.seats.iter().any(employs) || self.errands.iter().any(begins);
            assert!(
                under_way,
                "the turn is {:?} and nothing is under way",
                turn.status
            );
        }
        self.nothing_outlives_the_turn(place);
        if self.seats[place].employer.is_some() {
            let stuck = matches!(
                self.seats[place].status(),
                Some(TurnStatus::Paused { .. } | TurnStatus::WaitingForAnswer)
            );
            assert!(!stuck, "a sub-agent waits for a person who is not there");
        }
    }
}

/// Before such an effect the log is made sure.
fn changes_world(around: &Surroundings, effect: &Effect) -> bool {
    match effect {
        Effect::Run { tool, .. } => {
            matches!(around.kind(tool), Some(ToolKind::Write | ToolKind::Command))
        }
        Effect::Undo { .. } | Effect::Delegate { .. } => true,
        _ => false,
    }
}
