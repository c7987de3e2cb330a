//! The world around one session: what a model, tools, a clock, a person and a dying machine would do.

use crate::checks::Checks;
use crate::dice::Dice;
use paddock_core::provider::{Answer, AnswerPart, AskedCall, CallArguments, Finish, ModelEvent};
use paddock_core::session::input::{
    Back, CallFailure, CallPlan, Effect, Input, Stamped, Surroundings, Ticket, Timer,
};
use paddock_core::session::state::SessionState;
use paddock_core::session::step::step;
use paddock_core::tools::ToolKind;
use paddock_protocol::*;

/// Work that was started and has not come back.
#[derive(Clone, Debug)]
enum Work {
    Model {
        ticket: Ticket,
        tools: bool,
    },
    Prepare {
        call: CallId,
        tool: String,
        arguments: String,
    },
    Run {
        call: CallId,
        tool: String,
    },
    Timer {
        timer: Timer,
        at: Timestamp,
    },
    Undo {
        call: CallId,
        redo: bool,
    },
    Queued {
        text: String,
    },
}

pub struct World {
    dice: Dice,
    state: SessionState,
    log: Vec<Event>,
    around: Surroundings,
    now: Timestamp,
    /// Under way.
    works: Vec<Work>,
    /// Cancelled, but its answer may still arrive.
    late: Vec<Work>,
    checks: Checks,
    loud: bool,
}

const TOOLS: &[(&str, ToolKind)] = &[
    ("read_file", ToolKind::Read),
    ("write_file", ToolKind::Write),
    ("run_command", ToolKind::Command),
    ("ask_question", ToolKind::Breaking),
    ("task_completion", ToolKind::Breaking),
    ("converse", ToolKind::Breaking),
];

impl World {
    pub fn new(seed: u64, loud: bool) -> Self {
        let mut dice = Dice::new(seed);
        let mut limits = Limits {
            iterations: 2 + dice.below(12) as u32,
            ..Limits::default()
        };
        if dice.chance(20) {
            limits.active_time = Some(Millis::seconds(40));
        }
        if dice.chance(20) {
            limits.session_tokens = Some(3_000);
        }
        let config = SessionConfig {
            project: "/p".into(),
            title: String::new(),
            model: ModelChoice {
                provider: ProviderId::new("sim"),
                model: "m".into(),
            },
            role: *dice.pick(&[Role::Plan, Role::Act, Role::Act, Role::Act, Role::Admin]),
            autonomy: *dice.pick(&[Autonomy::Careful, Autonomy::Balanced, Autonomy::HandsOff]),
            limits,
            demo: false,
        };
        let mut world = Self {
            dice,
            state: SessionState::new(SessionId::new("s"), config.clone()),
            log: Vec::new(),
            around: Surroundings {
                tools: TOOLS
                    .iter()
                    .map(|(name, kind)| ((*name).to_owned(), *kind))
                    .collect(),
                confined: true,
            },
            now: Timestamp(1_000),
            works: Vec::new(),
            late: Vec::new(),
            checks: Checks::default(),
            loud,
        };
        world.happen(EventMsg::SessionCreated {
            version: PROTOCOL_VERSION,
            config,
        });
        world
    }

    /// Runs the schedule to its end and says how the last turn ended.
    pub fn run(mut self) -> String {
        self.input(Input::Op(Op::Send {
            text: "do it".into(),
            mode: SendMode::NextIteration,
        }));
        let moves = 10 + self.dice.below(120);
        for _ in 0..moves {
            self.random_move();
        }
        self.settle();
        self.checks.at_end(&self.state, &self.log);
        self.checks.replay_agrees(&self.state, &self.log);
        let status = self.state.live.turn.as_ref().map(|turn| turn.status.clone());
        assert!(
            status.as_ref().is_some_and(TurnStatus::is_final),
            "the schedule ends in {status:?}"
        );
        format!("{:?}", status.unwrap())
    }

    fn random_move(&mut self) {
        self.now = self.now.plus(Millis(self.dice.next() % 3_000));
        match self.dice.below(100) {
            0..=64 => self.deliver_something(),
            65..=80 => self.person_answers(),
            81..=94 => self.person_acts(),
            95..=96 => self.something_late(),
            _ => self.crash(),
        }
    }

    /// Everything comes back and the person answers until the turn has ended.
    fn settle(&mut self) {
        for round in 0..2_000 {
            let Some(turn) = &self.state.live.turn else { return };
            if turn.status.is_final() && self.works.is_empty() {
                return;
            }
            if round > 400 && !turn.status.is_final() {
                self.input(Input::Op(Op::Stop));
                continue;
            }
            if self.works.is_empty() {
                self.person_goes_on();
            } else {
                self.deliver_something();
            }
        }
        panic!("the schedule does not settle: {:?}", self.state.live.turn);
    }

    fn person_goes_on(&mut self) {
        let Some(turn) = self.state.live.turn.clone() else {
            return;
        };
        if !self.state.live.approvals.is_empty() || turn.status == TurnStatus::WaitingForAnswer {
            self.person_answers();
            return;
        }
        let op = match turn.status {
            TurnStatus::Paused {
                cause: PauseCause::Limits { reached },
            } => match self.dice.below(3) {
                0 => Op::Stop,
                1 => Op::FinishUp,
                _ => Op::Extend {
                    limit: reached[0].limit,
                    by: 20_000,
                },
            },
            TurnStatus::Paused { .. } if self.dice.chance(30) => Op::Stop,
            TurnStatus::Paused { .. } => Op::Continue {
                note: None,
                allow_cause: self.dice.chance(30),
            },
            TurnStatus::Interrupted if turn.calls.iter().any(|call| call.status == ItemStatus::Running) => {
                self.person_answers();
                return;
            }
            TurnStatus::Interrupted => Op::Continue {
                note: None,
                allow_cause: false,
            },
            status if status.is_final() => return,
            status => panic!("nothing is under way and nothing waits, yet the turn is {status:?}"),
        };
        self.input(Input::Op(op));
    }

    fn deliver_something(&mut self) {
        if self.works.is_empty() {
            return;
        }
        let work = self.works.remove(self.dice.below(self.works.len()));
        self.deliver(work);
    }

    fn something_late(&mut self) {
        if !self.late.is_empty() {
            let work = self.late.remove(self.dice.below(self.late.len()));
            self.deliver(work);
        }
    }

    fn deliver(&mut self, work: Work) {
        match work {
            Work::Model { ticket, tools } => self.model_answers(ticket, tools),
            Work::Prepare {
                call,
                tool,
                arguments,
            } => {
                let result = match self.dice.below(100) {
                    0..=4 => Err(CallFailure::Arguments("`path` is missing".into())),
                    5..=8 => Err(CallFailure::Model("no such file".into())),
                    _ => Ok(plan(&tool, &arguments)),
                };
                self.input(Input::Back(Back::Prepared {
                    call,
                    arguments,
                    result,
                }));
            }
            Work::Run { call, tool } => self.call_goes_on(call, tool),
            Work::Timer { timer, at } => {
                self.now = self.now.max(at);
                self.input(Input::Back(Back::TimerFired(timer)));
            }
            Work::Undo { call, redo } => {
                let files = vec![UndoneFile {
                    path: "a".into(),
                    result: UndoResult::Restored,
                }];
                self.input(Input::Back(Back::Undone { call, redo, files }));
            }
            Work::Queued { text } => self.input(Input::Op(Op::Send {
                text,
                mode: SendMode::NextIteration,
            })),
        }
    }

    fn model_answers(&mut self, ticket: Ticket, tools: bool) {
        for _ in 0..self.dice.below(4) {
            let event = match self.dice.below(4) {
                0 => ModelEvent::Reasoning("hm ".into()),
                1 if tools => ModelEvent::CallStarted {
                    slot: self.dice.below(2) as u32,
                    name: "read_file".into(),
                },
                2 if tools => ModelEvent::CallArguments {
                    slot: self.dice.below(2) as u32,
                    text: "{".into(),
                },
                _ => ModelEvent::Text("some text ".into()),
            };
            self.input(Input::Back(Back::ModelEvent { ticket, event }));
            if self.dice.chance(5) {
                // The request goes on while other things happen.
                if self.state.live.turn.as_ref().is_some_and(|turn| turn.sampling) {
                    self.works.push(Work::Model { ticket, tools });
                }
                return;
            }
        }
        if self.dice.chance(12) {
            let kind = *self.dice.pick(&[
                ModelErrorKind::RateLimit,
                ModelErrorKind::Protocol,
                ModelErrorKind::Auth,
            ]);
            let error = ModelError::new(kind, "no");
            self.input(Input::Back(Back::ModelFailed { ticket, error }));
            return;
        }
        let mut parts = Vec::new();
        if self.dice.chance(60) {
            parts.push(AnswerPart::Text("some text".into()));
        }
        if !self.dice.chance(12) {
            for _ in 0..=self.dice.below(3) {
                parts.push(AnswerPart::Call(self.asked_call()));
            }
        }
        let finish = *self
            .dice
            .pick(&[FinishReason::Stop, FinishReason::Calls, FinishReason::Length]);
        let usage = Usage {
            input: 100,
            output: 20,
            ..Usage::default()
        };
        let answer = Answer {
            parts,
            usage,
            finish: Finish(finish),
        };
        self.input(Input::Back(Back::ModelAnswered {
            ticket,
            answer,
            first_byte: Millis(5),
        }));
    }

    fn asked_call(&mut self) -> AskedCall {
        let name = match self.dice.below(100) {
            0..=29 => "read_file",
            30..=59 => "write_file",
            60..=84 => "run_command",
            85..=88 => "ask_question",
            89..=92 => "task_completion",
            93..=94 => "converse",
            _ => "no_such_tool",
        };
        let which = self.dice.below(3);
        let arguments = match name {
            "run_command" => format!(
                "{{\"command\":\"{}\"}}",
                self.dice.pick(&["make", "ls", "rm x", "sudo x"])
            ),
            _ => format!("{{\"path\":\"f{which}\"}}"),
        };
        let arguments = if self.dice.chance(6) {
            CallArguments::Malformed {
                reason: "cut".into(),
                raw: "{\"pa".into(),
            }
        } else {
            CallArguments::Complete(arguments)
        };
        AskedCall {
            server_id: String::new(),
            name: name.to_owned(),
            arguments,
        }
    }

    fn call_goes_on(&mut self, call: CallId, tool: String) {
        if self.dice.chance(30) {
            let text = "line\n".to_owned();
            self.input(Input::Back(Back::CallLive {
                call: call.clone(),
                channel: DeltaChannel::Stdout,
                text,
            }));
            if self.checks.is_running(&call) {
                self.works.push(Work::Run { call, tool });
            }
            return;
        }
        let result = match self.dice.below(100) {
            0..=9 => Err(CallFailure::Model("it broke".into())),
            10..=13 if tool == "write_file" => Err(CallFailure::ChangedSince { path: "f".into() }),
            14 => Err(CallFailure::Fatal("disk full".into())),
            _ => {
                let text = format!("result {}", self.dice.below(4));
                let changes = match tool.as_str() {
                    "write_file" => vec![FileChange {
                        path: "f0".into(),
                        kind: ChangeKind::Edited,
                        added: 1,
                        removed: 1,
                        diff: None,
                        undoable: true,
                    }],
                    _ => Vec::new(),
                };
                Ok(CallOutput {
                    ok: self.dice.chance(85),
                    text,
                    exit_code: Some(0),
                    changes,
                    ..CallOutput::default()
                })
            }
        };
        self.checks.ended(&call);
        self.input(Input::Back(Back::CallEnded { call, result }));
    }

    fn person_answers(&mut self) {
        let approvals = self.state.live.approvals.clone();
        if !approvals.is_empty() {
            let request = self.dice.pick(&approvals).clone();
            let decision = match self.dice.below(10) {
                0..=5 => Decision::Approve {
                    scope: *self.dice.pick(&request.scopes),
                    edited_arguments: None,
                },
                6 => Decision::Approve {
                    scope: AnswerScope::Once,
                    edited_arguments: Some(match request.tool.as_str() {
                        "run_command" => self
                            .dice
                            .pick(&["{\"command\":\"make b\"}", "{\"command\":\"sudo b\"}"])
                            .to_string(),
                        _ => "{\"path\":\"edited\"}".to_owned(),
                    }),
                },
                7 => Decision::Reject {
                    reason: Some("no".into()),
                    pause: self.dice.chance(50),
                },
                _ => Decision::Reject {
                    reason: None,
                    pause: false,
                },
            };
            self.input(Input::Op(Op::Decide {
                approval: request.id.clone(),
                decision: decision.clone(),
            }));
            if self.dice.chance(20) {
                // A second answer to the same approval changes nothing.
                let before = self.log.len();
                self.input(Input::Op(Op::Decide {
                    approval: request.id.clone(),
                    decision,
                }));
                assert_eq!(self.log.len(), before, "a second answer changed something");
            }
            return;
        }
        let asked = self.state.live.turn.as_ref().and_then(|turn| {
            turn.calls
                .iter()
                .find(|call| call.status == ItemStatus::Running && call.tool == "ask_question")
                .cloned()
        });
        if let Some(call) = asked {
            let text = self.dice.chance(70).then(|| "this one".to_owned());
            self.input(Input::Op(Op::Answer {
                call: call.call,
                text,
            }));
        }
    }

    fn person_acts(&mut self) {
        let call = self
            .state
            .live
            .turn
            .as_ref()
            .and_then(|turn| turn.calls.first())
            .map(|call| call.call.clone());
        let call = call.unwrap_or_else(|| CallId::new("t9.i9.c9"));
        let op = match self.dice.below(22) {
            0 => Op::Send {
                text: "also this".into(),
                mode: SendMode::NextIteration,
            },
            1 => Op::Send {
                text: "later this".into(),
                mode: SendMode::AfterTurn,
            },
            2 => Op::Pause,
            3 => Op::CancelPause,
            4..=6 => Op::Continue {
                note: Some("go".into()),
                allow_cause: self.dice.chance(50),
            },
            7 => Op::Extend {
                limit: LimitKind::Iterations,
                by: 3,
            },
            8 => Op::FinishUp,
            9 => Op::Stop,
            10 => Op::EndCall { call },
            11 => Op::RetryNow,
            12 => Op::SetRole {
                role: *self.dice.pick(&[Role::Plan, Role::Act, Role::Admin]),
            },
            13 => Op::SetAutonomy {
                autonomy: *self.dice.pick(&[Autonomy::Careful, Autonomy::HandsOff]),
            },
            14 => Op::Rename { title: "t".into() },
            15 => Op::Undo { call },
            16 => Op::Redo { call },
            17 => Op::ClearQueue,
            18 => Op::Send {
                text: "  ".into(),
                mode: SendMode::NextIteration,
            },
            19 => Op::Decide {
                approval: ApprovalId::new("t1.i1.c1.a9"),
                decision: Decision::Reject {
                    reason: None,
                    pause: false,
                },
            },
            20 => Op::Extend {
                limit: LimitKind::ActiveTime,
                by: 60_000,
            },
            _ => Op::SetModel {
                model: ModelChoice {
                    provider: ProviderId::new("sim"),
                    model: "n".into(),
                },
            },
        };
        self.input(Input::Op(op));
    }

    /// `kill -9`: everything under way is gone; the session is read from its log again.
    fn crash(&mut self) {
        self.works.retain(|work| matches!(work, Work::Queued { .. }));
        self.works.clear();
        self.late.clear();
        self.checks.crashed();
        self.checks.replay_agrees(&self.state, &self.log);
        self.state = SessionState::replay(&self.log).expect("a log with a beginning");
        self.now = self.now.plus(Millis::minutes(7));
        self.input(Input::Reopened);
        if !self
            .state
            .live
            .turn
            .as_ref()
            .is_none_or(|turn| turn.status.is_final())
        {
            let waits = self
                .state
                .live
                .turn
                .as_ref()
                .is_some_and(|turn| turn.status.waits_for_person());
            assert!(waits, "after a restart nothing may go on by itself");
        }
        assert!(self.works.is_empty(), "after a restart nothing may run by itself");
    }

    fn input(&mut self, input: Input) {
        if self.loud {
            println!("--> {input:?}");
        }
        let entropy = self.dice.next() as u32;
        let outcome = step(
            &self.state,
            Stamped {
                now: self.now,
                entropy,
                input,
            },
            &self.around,
        );
        for msg in outcome.events {
            self.happen(msg);
        }
        for effect in outcome.effects {
            self.start(effect);
        }
        self.checks.after_step(&self.state);
    }

    fn happen(&mut self, msg: EventMsg) {
        if self.loud {
            println!("    {msg:?}");
        }
        let durable = msg.is_durable();
        let seq = self.state.seq + u64::from(durable);
        let event = Event {
            session: self.state.id.clone(),
            seq,
            at: self.now,
            msg,
        };
        self.state.apply(&event);
        self.checks.event(&self.state, &event);
        if durable {
            self.log.push(event);
        }
    }

    fn start(&mut self, effect: Effect) {
        if self.loud {
            println!("    ==> {effect:?}");
        }
        self.checks.effect(&self.state, &effect);
        match effect {
            Effect::Sample { ticket, tools } => self.works.push(Work::Model { ticket, tools }),
            Effect::CancelModel => self.cancel(|work| matches!(work, Work::Model { .. })),
            Effect::Prepare {
                call,
                tool,
                arguments,
            } => self.works.push(Work::Prepare {
                call,
                tool,
                arguments,
            }),
            Effect::Run { call, tool, .. } => self.works.push(Work::Run { call, tool }),
            Effect::CancelCall { call } => {
                self.cancel(|work| matches!(work, Work::Run { call: of, .. } if *of == call));
            }
            Effect::StartTimer {
                timer: Timer::Call(_),
                ..
            } if !self.dice.chance(5) => {}
            Effect::StartTimer { timer, at } => self.works.push(Work::Timer { timer, at }),
            Effect::Undo { call, redo } => self.works.push(Work::Undo { call, redo }),
            Effect::KeepRule { .. } => {}
            Effect::SendQueued { text } => self.works.push(Work::Queued { text }),
        }
    }

    fn cancel(&mut self, matches: impl Fn(&Work) -> bool) {
        let (gone, kept): (Vec<Work>, Vec<Work>) = self.works.drain(..).partition(matches);
        self.works = kept;
        self.late.extend(gone);
    }
}

fn plan(tool: &str, arguments: &str) -> CallPlan {
    let text = |key: &str| {
        serde_json::from_str::<serde_json::Value>(arguments)
            .ok()
            .and_then(|value| value.get(key).and_then(|v| v.as_str()).map(str::to_owned))
            .unwrap_or_default()
    };
    let (path, command) = (text("path"), text("command"));
    let (verb, target, access, body, undo) = match tool {
        "read_file" => {
            let access = vec![Access::Read { path: path.clone() }];
            (Verb::Read, path, access, ApprovalBody::Other, UndoFact::Nothing)
        }
        "write_file" => {
            let change = FileChange {
                path: path.clone(),
                kind: ChangeKind::Edited,
                added: 1,
                removed: 1,
                diff: None,
                undoable: true,
            };
            let body = ApprovalBody::Change {
                change,
                base: FileVersion::Absent,
            };
            (
                Verb::Edit,
                path.clone(),
                vec![Access::Write { path }],
                body,
                UndoFact::Covered,
            )
        }
        "run_command" => {
            let sandbox = SandboxSummary {
                confined: true,
                ..SandboxSummary::default()
            };
            let body = ApprovalBody::Command {
                command: command.clone(),
                segments: Vec::new(),
                folder: ".".into(),
                time_limit: Millis::seconds(1),
                sandbox,
            };
            let undo = UndoFact::NotCovered {
                why: "a command".into(),
            };
            (
                Verb::Run,
                command.clone(),
                vec![Access::Exec { command }],
                body,
                undo,
            )
        }
        _ => (
            Verb::Ask,
            String::new(),
            Vec::new(),
            ApprovalBody::Other,
            UndoFact::Nothing,
        ),
    };
    CallPlan {
        verb,
        target,
        access,
        body,
        undo,
    }
}
