//! What was started goes on and ends: the model streams and answers, tools run, processes come and go.

use crate::model::{self, Mood};
use crate::seat::{Bound, Work};
use crate::tools;
use crate::world::World;
use paddock_core::session::input::{Back, CallFailure, Ticket};
use paddock_protocol::*;

impl World {
    pub(crate) fn work_goes_on(&mut self, place: usize, work: Work) {
        match work {
            Work::Model { ticket, tools, bound } => self.model_goes_on(place, ticket, tools, bound),
            Work::Run { .. } if self.dice.chance(25) => self.run_streams(place, work),
            Work::Run { .. } if self.dice.chance(30) => self.run_asks(place, work),
            Work::Timer { at, .. } => {
                self.now = self.now.max(at);
                self.complete(place, work);
            }
            work => self.complete(place, work),
        }
    }

    pub(crate) fn model_goes_on(&mut self, place: usize, ticket: Ticket, tools: bool, bound: Bound) {
        for _ in 0..self.dice.below(3) {
            let event = model::streamed(&mut self.dice, tools);
            self.tell(place, Back::ModelEvent { ticket, event });
        }
        let work = Work::Model { ticket, tools, bound };
        if self.dice.chance(12) {
            // The request goes on while other things happen.
            self.seats[place].works.push(work);
        } else {
            self.complete(place, work);
        }
    }

    pub(crate) fn run_streams(&mut self, place: usize, work: Work) {
        if let Work::Run { call, .. } = &work {
            let live = Back::CallLive {
                call: call.clone(),
                channel: *self.dice.pick(&[DeltaChannel::Stdout, DeltaChannel::Stderr]),
                text: "line\n".to_owned(),
            };
            self.tell(place, live);
        }
        self.seats[place].works.push(work);
    }

    /// A command wants a connection. It waits for the answer, or goes on without it.
    fn run_asks(&mut self, place: usize, mut work: Work) {
        if let Work::Run {
            call,
            tool,
            arguments,
            asked,
            awaits,
            ..
        } = &mut work
            && tool == "run_command"
            && let Some((host, reach)) = self.wanted_host(asked)
        {
            asked.push((host.clone(), reach));
            let number = asked.len() as u32;
            if self.dice.chance(70) {
                awaits.insert(number);
            }
            let asks = Back::CallAsks {
                call: call.clone(),
                number,
                access: Access::Network { host: host.clone() },
                body: Box::new(ApprovalBody::Connect {
                    host,
                    port: 443,
                    reach,
                    request: None,
                    command: Some(tools::argument(arguments, "command")),
                }),
            };
            self.tell(place, asks);
        }
        self.seats[place].works.push(work);
    }

    /// The work ends: what it did is done, and its word is on the way.
    pub(crate) fn complete(&mut self, place: usize, work: Work) {
        let back = match work {
            Work::Model { ticket, tools, bound } => {
                match model::ending(&mut self.dice, self.mood, tools, bound) {
                    Ok(answer) => Back::ModelAnswered {
                        cut: None,
                        ticket,
                        answer,
                        first_byte: Millis(5),
                    },
                    Err(error) => Back::ModelFailed { ticket, error },
                }
            }
            Work::Prepare {
                call,
                tool,
                arguments,
            } => Back::Prepared {
                result: match self.dice.below(100) {
                    0..=2 => Err(CallFailure::Arguments("`path` is missing".into())),
                    3..=5 => Err(CallFailure::Model("no such file".into())),
                    _ if !tools::is_readable(&arguments) => Err(CallFailure::Arguments("no object".into())),
                    _ => Ok(tools::plan(&tool, &arguments, &self.files)),
                },
                call,
                arguments,
            },
            Work::Run {
                call,
                tool,
                arguments,
                approved,
                reach,
                to_background,
                ..
            } => {
                let may = (&approved[..], &reach[..]);
                let result = self.run_ends(place, &call, (&tool, &arguments), may, to_background);
                Back::CallEnded { call, result }
            }
            Work::Timer { timer, .. } => Back::TimerFired(timer),
            Work::Undo { call, redo } => {
                self.files.write("f0", "a");
                let result = *self.dice.pick(&[UndoResult::Restored, UndoResult::KeptNewer]);
                let path = "f0".to_owned();
                let files = vec![UndoneFile { path, result }];
                Back::Undone { call, redo, files }
            }
        };
        self.tell(place, back);
    }

    pub(crate) fn run_ends(
        &mut self,
        place: usize,
        call: &CallId,
        (tool, arguments): (&str, &str),
        may: (&[FileBase], &[Access]),
        to_background: bool,
    ) -> Result<CallOutput, CallFailure> {
        let goes_on = tool == "run_command" && (to_background || tools::flag(arguments, "background"));
        if goes_on {
            return Ok(self.process_starts(place, call, arguments));
        }
        if tool == "stop_process" {
            let process = ProcessId::new(tools::argument(arguments, "process"));
            if !self.process_ends(place, &process, ProcessEnd::EndedByAgent) {
                return Err(CallFailure::Model("no such process".into()));
            }
        }
        let steady = self.mood == Mood::Obstinate;
        if self.mood == Mood::Unlucky && self.dice.chance(70) {
            return Err(CallFailure::Model("it broke".into()));
        }
        let result = tools::outcome(&mut self.dice, tool, arguments, may, &mut self.files, steady);
        if matches!(result, Err(CallFailure::ChangedSince { .. })) {
            self.seats[place].checks.may_run_again(call);
        }
        result
    }

    pub(crate) fn process_starts(&mut self, place: usize, call: &CallId, arguments: &str) -> CallOutput {
        let started = self.now;
        let seat = &mut self.seats[place];
        seat.process_count += 1;
        let id = ProcessId::new(format!("p{}", seat.process_count));
        seat.processes.push(id.clone());
        let process = Process {
            id: id.clone(),
            call: call.clone(),
            command: tools::argument(arguments, "command"),
            started,
            ports: Vec::new(),
        };
        self.tell(place, Back::ProcessStarted { process });
        CallOutput {
            ok: true,
            text: format!("goes on as {id}"),
            facts: Some(OutputFacts::Background { process: id }),
            ..CallOutput::default()
        }
    }

    /// The host that a running command asked for is admitted, or not.
    pub(crate) fn answered(&mut self, place: usize, told: &CallId, number: u32) {
        for work in &mut self.seats[place].works {
            if let Work::Run { call, awaits, .. } = work
                && call == told
            {
                awaits.remove(&number);
            }
        }
    }

    pub(crate) fn all_processes_end(&mut self, place: usize) {
        for process in self.seats[place].processes.clone() {
            self.process_ends(place, &process, ProcessEnd::EndedByPerson);
        }
    }

    /// The process ends, if it runs; the word of it is on the way.
    pub(crate) fn process_ends(&mut self, place: usize, process: &ProcessId, end: ProcessEnd) -> bool {
        let running = &mut self.seats[place].processes;
        let Some(at) = running.iter().position(|id| id == process) else {
            return false;
        };
        let process = running.remove(at);
        self.tell(place, Back::ProcessEnded { process, end });
        true
    }
}
