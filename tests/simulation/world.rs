//! The world around a session and its sub-agents: one seeded scheduler decides what happens next, to whom, and when the
//! machine dies.

use crate::coverage::Coverage;
use crate::dice::Dice;
use crate::model::Mood;
use crate::person::CHECKS;
use crate::seat::{Employer, Seat};
use crate::tools::Files;
use paddock_core::session::input::{Back, Input};
use paddock_core::session::state::SessionState;
use paddock_protocol::*;
use std::collections::BTreeMap;

/// The session of the person; the others are its sub-agents.
pub const MAIN: usize = 0;

/// Long after the beginning of time, so that there are rules which were not used for long.
const FIRST_DAY: u64 = 100 * DAY.0;
pub(crate) const DAY: Millis = Millis::minutes(24 * 60);

/// What is on its way between sessions.
#[derive(Clone, Debug)]
pub enum Errand {
    Begin {
        employer: usize,
        call: CallId,
        session: SessionId,
        config: Box<SessionConfig>,
        task: String,
    },
    Decide {
        session: SessionId,
        approval: ApprovalId,
        decision: Decision,
    },
    Close {
        seat: usize,
    },
}

pub struct World {
    pub dice: Dice,
    pub now: Timestamp,
    pub seats: Vec<Seat>,
    pub(crate) errands: Vec<Errand>,
    pub files: Files,
    /// Another session changes the folder.
    pub other_has_folder: bool,
    pub mood: Mood,
    /// What the person decided, by session and approval.
    pub(crate) decided: BTreeMap<(SessionId, ApprovalId), Decision>,
    pub messages: u32,
    pub(crate) rules_made: u32,
    pub deaths: u32,
    /// By all sessions, in millionths of a dollar.
    pub(crate) spent_today: u64,
    pub coverage: Coverage,
    pub(crate) loud: bool,
    /// Nothing dies any longer: the schedule comes to its end.
    pub(crate) settling: bool,
}

impl World {
    pub fn new(seed: u64, loud: bool) -> Self {
        let mut dice = Dice::new(seed);
        let mood = Mood::of(&mut dice);
        let config = config(&mut dice, mood);
        let mut world = Self {
            now: Timestamp(FIRST_DAY),
            seats: Vec::new(),
            errands: Vec::new(),
            files: Files::default(),
            other_has_folder: dice.chance(5),
            mood,
            dice,
            decided: BTreeMap::new(),
            messages: 0,
            rules_made: 0,
            deaths: 0,
            spent_today: 0,
            coverage: Coverage::default(),
            loud,
            settling: false,
        };
        world.begin_session(SessionId::new("s"), config, None);
        world
    }

    pub(crate) fn begin_session(
        &mut self,
        id: SessionId,
        config: SessionConfig,
        employer: Option<Employer>,
    ) -> usize {
        let mut seat = Seat::new(id, &config);
        seat.employer = employer;
        self.seats.push(seat);
        let place = self.seats.len() - 1;
        let created = EventMsg::SessionCreated {
            version: PROTOCOL_VERSION,
            config,
        };
        self.happen(place, created);
        place
    }

    /// Runs the schedule to its end and says how the last turn ended.
    pub fn run(&mut self) -> String {
        self.opening();
        let moves = 5 + self.dice.below(90);
        for _ in 0..moves {
            self.random_move();
        }
        self.settle();
        self.at_end();
        match self.seats[MAIN].status() {
            None => "no turn".to_owned(),
            Some(status) => format!("{status:?}"),
        }
    }

    pub(crate) fn random_move(&mut self) {
        self.now = self.now.plus(Millis(self.dice.next() % 3_000));
        match self.dice.below(1_000) {
            0..=649 => {
                self.something_happens();
            }
            650..=809 => self.person_answers(),
            810..=939 => self.person_acts(),
            940..=969 => self.outside(),
            970..=979 => self.person_meddles(),
            980..=993 => self.crash(),
            _ => self.close_and_open(),
        }
    }

    /// One of the things that may happen now, happens. Says whether there was one.
    pub(crate) fn something_happens(&mut self) -> bool {
        let total = self.errands.len() + self.seats.iter().map(Seat::pending).sum::<usize>();
        if total == 0 {
            return false;
        }
        let mut which = self.dice.below(total);
        if which < self.errands.len() {
            let errand = self.errands.remove(which);
            self.carry_out(errand);
            return true;
        }
        which -= self.errands.len();
        for place in 0..self.seats.len() {
            let pending = self.seats[place].pending();
            if which >= pending {
                which -= pending;
                continue;
            }
            if let Some(at) = self.seats[place].going_on().get(which) {
                let work = self.seats[place].works.remove(*at);
                self.work_goes_on(place, work);
                if self.dice.chance(75) {
                    while self.hear(place) {}
                }
            } else {
                self.hear(place);
            }
            return true;
        }
        true
    }

    /// The next of what came back reaches the session.
    pub(crate) fn hear(&mut self, place: usize) -> bool {
        let seat = self.seats.get_mut(place).filter(|seat| !seat.closed);
        let Some(back) = seat.and_then(|seat| seat.inbox.pop_front()) else {
            return false;
        };
        self.input(place, Input::Back(back));
        true
    }

    pub(crate) fn tell(&mut self, place: usize, back: Back) {
        // The same answer may come twice; what names a beginning or an amount comes once.
        let again = matches!(
            back,
            Back::ModelAnswered { .. }
                | Back::ModelFailed { .. }
                | Back::Prepared { .. }
                | Back::CallEnded { .. }
        ) && self.dice.chance(2);
        if again {
            self.seats[place].inbox.push_back(back.clone());
        }
        self.seats[place].inbox.push_back(back);
    }

    pub(crate) fn carry_out(&mut self, errand: Errand) {
        match errand {
            Errand::Begin {
                employer,
                call,
                session,
                config,
                task,
            } => {
                let employer = Employer {
                    seat: employer,
                    call,
                    hearing: Default::default(),
                    dropped: false,
                };
                let place = self.begin_session(session, *config, Some(employer));
                let send = Op::send(task, SendMode::NextIteration);
                self.input(place, Input::Op(send));
            }
            Errand::Decide {
                session,
                approval,
                decision,
            } => {
                let place = self
                    .seats
                    .iter()
                    .position(|seat| *seat.id() == session && !seat.closed);
                if let Some(place) = place {
                    let id = approval.clone();
                    self.input(place, Input::Op(Op::Decide { approval, decision }));
                    let seat = self.seats.get(place);
                    let waits = seat.is_some_and(|seat| seat.state.live.approvals.iter().any(|a| a.id == id));
                    assert!(
                        !waits,
                        "what the person decided for a sub-agent was not taken there"
                    );
                }
            }
            Errand::Close { seat } => self.close(seat),
        }
    }

    /// Ends a sub-agent's session: its turn is stopped, then its actor and its processes end.
    pub(crate) fn close(&mut self, place: usize) {
        let deaths = self.deaths;
        self.input(place, Input::Op(Op::Stop));
        if self.deaths == deaths {
            self.end_processes(place, ProcessEnd::Closed);
        }
        if self.deaths != deaths {
            return;
        }
        let seat = &mut self.seats[place];
        seat.checks
            .nothing_is_left(&seat.state, "a closed sub-agent's session");
        assert!(seat.has_ended(), "a closed sub-agent is {:?}", seat.status());
        seat.checks.at_end(&seat.state, &seat.log);
        seat.drop_all();
        seat.closed = true;
    }

    pub(crate) fn end_processes(&mut self, place: usize, end: ProcessEnd) {
        let deaths = self.deaths;
        for process in std::mem::take(&mut self.seats[place].processes) {
            self.input(place, Input::Back(Back::ProcessEnded { process, end }));
            if self.deaths != deaths {
                return;
            }
        }
    }

    /// What neither the session nor its person does.
    pub(crate) fn outside(&mut self) {
        match self.dice.below(6) {
            4 | 5 => self.rules_are_loaded(),
            0 if self.other_has_folder => self.folder_is_given_back(),
            0 | 1 if !self.seats[MAIN].holds_folder => self.other_has_folder = true,
            2 => {
                let path = format!("f{}", self.dice.below(3));
                self.files.write(&path, "by hand");
            }
            _ => {
                let place = self.dice.below(self.seats.len());
                if let Some(process) = self.seats[place].processes.first().cloned() {
                    let code = Some(i32::from(self.dice.chance(50)));
                    self.process_ends(place, &process, ProcessEnd::Exited { code });
                }
            }
        }
    }

    pub(crate) fn folder_is_given_back(&mut self) {
        self.other_has_folder = false;
        if std::mem::take(&mut self.seats[MAIN].awaits_folder) {
            self.tell(MAIN, Back::FolderFree);
        }
    }

    /// Everything comes back and the person answers until nothing is under way.
    pub(crate) fn settle(&mut self) {
        self.settling = true;
        for round in 0..3_000 {
            if self.other_has_folder {
                self.folder_is_given_back();
            }
            if self.something_happens() {
                continue;
            }
            if self.is_settled() {
                return;
            }
            if round > 300 {
                self.input(MAIN, Input::Op(Op::Stop));
            } else {
                self.person_goes_on();
            }
        }
        panic!("the schedule does not settle: {:?}", self.seats[MAIN].state.live);
    }

    pub(crate) fn is_settled(&self) -> bool {
        let main = &self.seats[MAIN].state.live;
        let waits = !main.queue.messages.is_empty() && !main.queue.held;
        self.seats[MAIN].has_ended() && !waits && main.workflow.is_none()
    }

    pub(crate) fn at_end(&mut self) {
        for seat in &self.seats[MAIN + 1..] {
            assert!(seat.closed, "the session of a sub-agent is left: {}", seat.id());
        }
        if self.dice.chance(30) {
            self.input(MAIN, Input::Op(Op::StopEverything));
            while self.something_happens() {}
            let seat = &self.seats[MAIN];
            seat.checks.nothing_is_left(&seat.state, "stop everything");
            let shown = &seat.state.live.processes;
            assert!(
                seat.processes.is_empty() && shown.is_empty(),
                "processes survive: {shown:?}"
            );
        }
        let seat = &self.seats[MAIN];
        seat.checks.at_end(&seat.state, &seat.log);
        seat.replay_agrees();
    }

    /// The machine dies: `kill -9` leaves the whole log, a loss of power its part that was made sure.
    pub(crate) fn crash(&mut self) {
        let seat = &self.seats[MAIN];
        let keep = if self.dice.chance(40) {
            let loose = seat.log.len() - seat.synced;
            seat.synced + self.dice.below(loose + 1)
        } else {
            seat.log.len()
        };
        self.die(keep);
    }

    pub(crate) fn die(&mut self, keep: usize) {
        if self.loud {
            println!("*** the machine dies; {keep} events are left");
        }
        self.deaths += 1;
        for seat in self.seats.iter().filter(|seat| !seat.closed) {
            seat.replay_agrees();
        }
        let main = &mut self.seats[MAIN];
        main.log.truncate(keep.max(1));
        self.open_again();
    }

    /// The program is closed in an orderly way and opened again.
    pub(crate) fn close_and_open(&mut self) {
        self.end_processes(MAIN, ProcessEnd::Closed);
        self.die(self.seats[MAIN].log.len());
    }

    pub(crate) fn open_again(&mut self) {
        self.errands.clear();
        self.decided.clear();
        self.seats.truncate(MAIN + 1);
        self.now = self.now.plus(Millis::minutes(7));
        let seat = &mut self.seats[MAIN];
        seat.drop_all();
        seat.synced = seat.log.len();
        seat.state = SessionState::replay(&seat.log).expect("a log with a beginning");
        seat.process_count = seat.process_count.max(seat.state.live.process_count);
        seat.checks.died(&seat.log);
        self.input(MAIN, Input::Reopened);
        let seat = &self.seats[MAIN];
        if let Some(status) = seat.status().filter(|status| !status.is_final()) {
            assert!(
                status.waits_for_person(),
                "after a restart nothing may go on by itself"
            );
        }
        let idle = seat.works.is_empty() && self.errands.is_empty();
        assert!(idle, "after a restart nothing may run by itself");
    }
}

/// A model of a cloud, one whose price nobody knows, or one of the person's own machine.
pub(crate) fn facts(dice: &mut Dice) -> ModelFacts {
    let cost = match dice.below(10) {
        0..=1 => ModelCost::Unknown,
        2 => ModelCost::Free,
        _ => ModelCost::PerMillion {
            price: Price {
                input: Micros(1_000_000 * (1 + dice.below(3) as u64)),
                output: Micros(5_000_000),
                cached: dice.chance(50).then_some(Micros(100_000)),
                ..Price::default()
            },
        },
    };
    ModelFacts {
        cost,
        output: dice.chance(30).then_some(64),
        ..ModelFacts::default()
    }
}

pub(crate) fn budget(dice: &mut Dice) -> Budget {
    let mut cap = |chance, least: usize| {
        dice.chance(chance)
            .then(|| Micros((least + dice.below(least * 4)) as u64))
    };
    Budget {
        turn: cap(12, 2_000),
        session: cap(20, 3_000),
        day: cap(8, 4_000),
        ask_expensive: dice.chance(40),
    }
}

fn config(dice: &mut Dice, mood: Mood) -> SessionConfig {
    let mut limits = Limits {
        iterations: 2 + dice.below(12) as u32,
        same_result: 2 + dice.below(2) as u32,
        tool_failures: 2 + dice.below(2) as u32,
        malformed_calls: 2 + dice.below(2) as u32,
        model_retries: 1 + dice.below(3) as u32,
        guard: *dice.pick(&[
            GuardMode::HintThenAsk,
            GuardMode::HintThenAsk,
            GuardMode::HintOnly,
            GuardMode::Off,
        ]),
        active_time: None,
        session_tokens: None,
        ..Limits::default()
    };
    if dice.chance(20) {
        limits.active_time = Some(Millis::seconds(40));
    }
    if dice.chance(if mood == Mood::Delegating { 60 } else { 20 }) {
        limits.session_tokens = Some(500 + dice.below(3_000) as u32);
    }
    let model = |name: &str| ModelChoice {
        provider: ProviderId::new("sim"),
        model: name.to_owned(),
    };
    SessionConfig {
        done_when: dice.chance(40).then(|| (*dice.pick(CHECKS)).to_owned()),
        project: "/p".into(),
        title: String::new(),
        model: model("m"),
        role: *dice.pick(&[
            Role::Plan,
            Role::Act,
            Role::Act,
            Role::Act,
            Role::Admin,
            Role::Admin,
        ]),
        autonomy: *dice.pick(&[Autonomy::Careful, Autonomy::Balanced, Autonomy::HandsOff]),
        limits,
        format: CallFormat::Native,
        own_role: None,
        fallback: dice.chance(15).then(|| Fallback {
            model: model("second"),
            automatic: true,
            known: KnownModel {
                facts: facts(dice),
                ..KnownModel::default()
            },
        }),
        parent: None,
        demo: false,
        budget: budget(dice),
        facts: facts(dice),
        small: None,
    }
}
