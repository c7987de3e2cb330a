//! One session of the world: its state, its log, what is under way for it and what has come back but was not heard yet.
//! It does what an actor does: step, log, apply, carry out.

use crate::checks::Checks;
use paddock_core::session::input::{Back, Surroundings, Ticket, Timer};
use paddock_core::session::state::{Live, SessionState};
use paddock_core::session::sub_agent::Hearing;
use paddock_core::tools::ToolKind;
use paddock_protocol::*;
use std::collections::{BTreeSet, VecDeque};

/// What the server counts at most: the request as it was estimated, and the answer as it was bounded.
#[derive(Clone, Copy, Debug)]
pub struct Bound {
    pub input: u32,
    pub output: u32,
}

/// Work that was started and has not ended.
#[derive(Clone, Debug)]
pub enum Work {
    Model {
        ticket: Ticket,
        tools: bool,
        bound: Bound,
    },
    Prepare {
        call: CallId,
        tool: String,
        arguments: String,
    },
    Run {
        call: CallId,
        tool: String,
        arguments: String,
        approved: Vec<FileBase>,
        /// What it may reach beyond the project.
        reach: Vec<Access>,
        /// Asked to go on in the background.
        to_background: bool,
        /// Hosts that it asked for, by the number of the question less one.
        asked: Vec<(String, HostReach)>,
        /// Questions without an answer; it waits for them.
        awaits: BTreeSet<u32>,
    },
    Timer {
        timer: Timer,
        at: Timestamp,
    },
    Undo {
        call: CallId,
        redo: bool,
    },
}

impl Work {
    pub fn run(
        call: CallId,
        tool: String,
        arguments: String,
        approved: Vec<FileBase>,
        reach: Vec<Access>,
    ) -> Self {
        Work::Run {
            call,
            tool,
            arguments,
            approved,
            reach,
            to_background: false,
            asked: Vec::new(),
            awaits: BTreeSet::new(),
        }
    }

    /// It does nothing until somebody answers.
    fn waits(&self) -> bool {
        matches!(self, Work::Run { awaits, .. } if !awaits.is_empty())
    }
}

/// The call of another session for which this one works.
pub struct Employer {
    pub seat: usize,
    pub call: CallId,
    pub hearing: Hearing,
    /// It was told to stop, or has ended: nothing it says is heard any longer.
    pub dropped: bool,
}

pub struct Seat {
    pub state: SessionState,
    pub log: Vec<Event>,
    /// Events that a loss of power leaves.
    pub synced: usize,
    pub works: Vec<Work>,
    pub inbox: VecDeque<Back>,
    pub around: Surroundings,
    pub checks: Checks,
    pub employer: Option<Employer>,
    /// Background processes that really run.
    pub processes: Vec<ProcessId>,
    pub process_count: u32,
    pub awaits_folder: bool,
    pub holds_folder: bool,
    pub undoing: u32,
    pub closed: bool,
}

impl Seat {
    pub fn new(id: SessionId, config: &SessionConfig) -> Self {
        let kinds = |tools: &[(&str, ToolKind)]| {
            tools
                .iter()
                .map(|(name, kind)| ((*name).to_owned(), *kind))
                .collect()
        };
        Self {
            state: SessionState::new(id.clone(), config.clone()),
            log: Vec::new(),
            synced: 0,
            works: Vec::new(),
            inbox: VecDeque::new(),
            around: Surroundings {
                tools: kinds(crate::tools::TOOLS),
                workflow_tools: kinds(crate::tools::WORKFLOW_TOOLS),
                confined: true,
                folder_taken: false,
                preamble_bytes: 0,
                spent_today: Default::default(),
            },
            checks: Checks::new(id, config),
            employer: None,
            processes: Vec::new(),
            process_count: 0,
            awaits_folder: false,
            holds_folder: false,
            undoing: 0,
            closed: false,
        }
    }

    pub fn id(&self) -> &SessionId {
        &self.state.id
    }

    pub fn status(&self) -> Option<&TurnStatus> {
        self.state.live.turn.as_ref().map(|turn| &turn.status)
    }

    pub fn has_ended(&self) -> bool {
        self.status().is_none_or(TurnStatus::is_final)
    }

    /// Places of the works that go on by themselves.
    pub fn going_on(&self) -> Vec<usize> {
        let works = self.works.iter().enumerate();
        works
            .filter(|(_, work)| !work.waits())
            .map(|(place, _)| place)
            .collect()
    }

    /// The number of things that may happen to it next.
    pub fn pending(&self) -> usize {
        if self.closed {
            return 0;
        }
        let going_on = self.works.iter().filter(|work| !work.waits()).count();
        going_on + usize::from(!self.inbox.is_empty())
    }

    /// Everything under way is gone, and what was not heard with it.
    pub fn drop_all(&mut self) {
        self.works.clear();
        self.inbox.clear();
        self.processes.clear();
        self.awaits_folder = false;
        self.holds_folder = false;
        self.undoing = 0;
    }

    /// A replay of the log gives the same state, but for what only streamed.
    pub fn replay_agrees(&self) {
        let replayed = SessionState::replay(&self.log).expect("a log with a beginning");
        assert_eq!(self.state.seq, replayed.seq);
        assert!(self.state.items == replayed.items, "a replay gives other items");
        assert_eq!(self.state.iterations, replayed.iterations);
        let (live, again) = (comparable(&self.state.live), comparable(&replayed.live));
        assert_eq!(live, again, "a replay gives another state");
    }
}

fn comparable(live: &Live) -> String {
    let mut live = live.clone();
    for open in &mut live.open {
        open.text.clear();
        open.output.clear();
        open.lengths = [0; 4];
    }
    if let Some(turn) = &mut live.turn {
        turn.heard = Timestamp(0);
    }
    format!("{live:?}")
}
