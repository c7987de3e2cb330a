//! The person: decides, answers, types, changes settings, starts workflows, and now and then does what does not fit.

use crate::tools::{OUTSIDE, PROTECTED};
use crate::world::{MAIN, World, budget, facts};
use paddock_core::session::input::Input;
use paddock_protocol::*;
use std::collections::BTreeMap;

/// Commands that the person sets as the check: one that is asked about, one that is free, one that may never run.
pub const CHECKS: &[&str] = &["make check", "make check", "make check", "ls", "sudo check"];

impl World {
    fn say(&mut self) -> String {
        self.messages += 1;
        format!("m{};", self.messages)
    }

    fn op(&mut self, op: Op) {
        self.input(MAIN, Input::Op(op));
    }

    /// The first thing that the session needs to end.
    pub(crate) fn person_goes_on(&mut self) {
        let live = self.seats[MAIN].state.live.clone();
        let Some(turn) = live.turn.filter(|turn| turn.is_live()) else {
            if live.queue.held && !live.queue.messages.is_empty() {
                self.op(Op::ReleaseQueue);
            } else {
                self.op(Op::StopEverything);
            }
            return;
        };
        let open = turn.calls.iter().any(|call| call.status == ItemStatus::Running);
        if !live.approvals.is_empty() || open {
            self.person_answers();
            return;
        }
        let op = match turn.status {
            TurnStatus::Paused {
                cause: PauseCause::Limits { reached },
            } => match self.dice.below(3) {
                0 => Op::Stop,
                1 if !turn.without_model => Op::FinishUp,
                _ => Op::Extend {
                    limit: reached[0].limit,
                    by: 20_000,
                },
            },
            TurnStatus::Paused { .. } if self.dice.chance(30) => Op::Stop,
            TurnStatus::Paused { .. } | TurnStatus::Interrupted => Op::Continue {
                note: None,
                allow_cause: self.dice.chance(30),
            },
            status => panic!("nothing is under way and nothing waits, yet the turn is {status:?}"),
        };
        self.op(op);
    }

    /// Something that waits for the person gets an answer.
    pub(crate) fn person_answers(&mut self) {
        let live = &self.seats[MAIN].state.live;
        let approvals = live.approvals.clone();
        if !approvals.is_empty() && self.dice.chance(85) {
            let request = self.dice.pick(&approvals).clone();
            self.decide(&request);
            return;
        }
        let live = &self.seats[MAIN].state.live;
        let calls = live
            .turn
            .as_ref()
            .map(|turn| turn.calls.clone())
            .unwrap_or_default();
        let running = calls.iter().filter(|call| call.status == ItemStatus::Running);
        let asked = running
            .clone()
            .find(|call| call.tool == "ask_question" || call.overdue)
            .cloned();
        if let Some(call) = asked.filter(|call| call.tool == "ask_question") {
            let text = match self.dice.below(10) {
                0..=4 => Some("Yes".to_owned()),
                5 | 6 => Some("No".to_owned()),
                7 => Some(" it's 'this'; one ".to_owned()),
                _ => None,
            };
            self.op(Op::Answer {
                call: call.call,
                text,
            });
        } else if let Some(call) = calls.into_iter().find(|call| call.overdue) {
            let call = call.call;
            let op = match self.dice.below(3) {
                0 => Op::KeepWaiting { call },
                1 => Op::ToBackground { call },
                _ => Op::EndCall { call },
            };
            self.op(op);
        }
    }

    fn decide(&mut self, request: &ApprovalRequest) {
        let decision = match self.dice.below(26) {
            // Also what does not fit: nothing that can be left out, or all of it.
            23..=25 => Decision::Approve {
                rule: None,
                scope: *self.dice.pick(&request.scopes),
                edited_arguments: self.dice.chance(5).then(|| self.edited(&request.tool)),
                left_out: self
                    .dice
                    .pick(&[&[0][..], &[1], &[0], &[1], &[0, 1], &[2]])
                    .to_vec(),
            },
            20..=22 => Decision::Approve {
                scope: if self.dice.chance(85) {
                    *request.scopes.last().expect("a scope")
                } else {
                    AnswerScope::Once
                },
                edited_arguments: self.dice.chance(5).then(|| self.edited(&request.tool)),
                left_out: Vec::new(),
                rule: Some(self.wish(request)),
            },
            0..=10 => Decision::approve(*self.dice.pick(&request.scopes)),
            11..=13 => Decision::Approve {
                rule: None,
                scope: AnswerScope::Once,
                edited_arguments: Some(self.edited(&request.tool)),
                left_out: Vec::new(),
            },
            // In a scope that may not be offered.
            14 => Decision::Approve {
                rule: None,
                scope: AnswerScope::Session,
                edited_arguments: self.dice.chance(30).then(|| "{}".to_owned()),
                left_out: Vec::new(),
            },
            15 | 16 => Decision::Reject {
                reason: Some("no".into()),
                pause: self.dice.chance(50),
            },
            _ => Decision::Reject {
                reason: None,
                pause: false,
            },
        };
        let decide = Op::Decide {
            approval: request.id.clone(),
            decision,
        };
        let waits = |world: &World| {
            let live = &world.seats[MAIN].state.live;
            live.approvals.iter().any(|waiting| waiting.id == request.id)
        };
        self.op(decide.clone());
        if self.dice.chance(20) && !waits(self) {
            // A second answer to the same approval changes nothing.
            let before = (self.deaths, self.seats[MAIN].log.len());
            self.op(decide);
            let after = (self.deaths, self.seats[MAIN].log.len());
            let died = before.0 != after.0;
            assert!(died || after == before, "a second answer changed something");
        }
    }

    fn edited(&mut self, tool: &str) -> String {
        match tool {
            "run_command" => {
                let command = self.dice.pick(&["make b", "sudo b", "rm b", "ls"]);
                format!("{{\"command\":\"{command}\"}}")
            }
            _ => {
                let path = *self
                    .dice
                    .pick(&["edited", "f1", PROTECTED, OUTSIDE[0], OUTSIDE[1]]);
                format!("{{\"path\":\"{path}\",\"text\":\"c\"}}")
            }
        }
    }

    fn some_call(&mut self) -> CallId {
        let live = &self.seats[MAIN].state.live;
        let calls: Vec<CallId> = live
            .turn
            .iter()
            .flat_map(|turn| turn.calls.iter().map(|call| call.call.clone()))
            .collect();
        if calls.is_empty() {
            return CallId::new("t9.i9.c9");
        }
        self.dice.pick(&calls).clone()
    }

    /// A call of the whole session that has ended.
    fn ended_call(&mut self) -> CallId {
        let calls: Vec<CallId> = self.seats[MAIN]
            .state
            .items
            .iter()
            .filter_map(|item| match &item.kind {
                ItemKind::Call(call) if call.output.as_ref().is_some_and(|o| !o.changes.is_empty()) => {
                    Some(call.call.clone())
                }
                _ => None,
            })
            .collect();
        if calls.is_empty() {
            return CallId::new("t9.i9.c9");
        }
        self.dice.pick(&calls).clone()
    }

    pub(crate) fn person_acts(&mut self) {
        if let Some(rule) = self.rule_in_use()
            && self.dice.chance(30)
        {
            self.op(Op::RemoveRule { rule });
            return;
        }
        let op = match self.dice.below(100) {
            0..=24 => self.message(),
            25..=42 => self.steering(),
            43..=58 => self.setting(),
            59..=72 => self.queue(),
            73..=84 => self.on_a_call(),
            85..=92 => Op::RunWorkflow {
                plan: self.workflow(),
            },
            93 => Op::StopEverything,
            94 => Op::StopWaiting,
            95..=96 => Op::EndProcess {
                process: ProcessId::new(format!("p{}", 1 + self.dice.below(3))),
            },
            97..=98 => Op::Decide {
                approval: ApprovalId::new("t1.i1.c1.a9"),
                decision: Decision::Reject {
                    reason: None,
                    pause: false,
                },
            },
            _ => Op::Answer {
                call: self.some_call(),
                text: None,
            },
        };
        self.op(op);
    }

    fn message(&mut self) -> Op {
        let mode = *self.dice.pick(&[
            SendMode::NextIteration,
            SendMode::NextIteration,
            SendMode::AfterTurn,
            SendMode::AfterTurn,
            SendMode::Interrupt,
            SendMode::WhenFree,
        ]);
        let text = match self.dice.below(20) {
            0 => "  ".to_owned(),
            1 => "/stop".to_owned(),
            _ => self.say(),
        };
        Op::send(text, mode)
    }

    fn steering(&mut self) -> Op {
        match self.dice.below(12) {
            0 | 1 => Op::Pause,
            2 => Op::CancelPause,
            3 | 4 => Op::Continue {
                note: self.dice.chance(60).then(|| self.say()),
                allow_cause: self.dice.chance(50),
            },
            5 => Op::Extend {
                limit: LimitKind::Iterations,
                by: *self.dice.pick(&[0, 3, 190]),
            },
            6 => Op::Extend {
                limit: LimitKind::ActiveTime,
                by: 60_000,
            },
            7 => Op::Extend {
                limit: LimitKind::SessionTokens,
                by: 1_000,
            },
            8 => Op::FinishUp,
            9 => Op::Stop,
            _ => Op::RetryNow,
        }
    }

    fn setting(&mut self) -> Op {
        let role = *self.dice.pick(&[Role::Plan, Role::Act, Role::Act, Role::Admin]);
        let model = ModelChoice {
            provider: ProviderId::new("sim"),
            model: "n".into(),
        };
        match self.dice.below(18) {
            17 => Op::SetBudget {
                budget: budget(&mut self.dice),
            },
            12 | 13 => Op::SetDoneWhen {
                command: match self.dice.below(4) {
                    0 => None,
                    1 => Some("  ".into()),
                    _ => Some((*self.dice.pick(CHECKS)).to_owned()),
                },
            },
            14..=16 => Op::RemoveRule {
                rule: self.some_rule(),
            },
            0..=3 => Op::SetRole { role },
            4 | 5 => Op::SetAutonomy {
                autonomy: *self
                    .dice
                    .pick(&[Autonomy::Careful, Autonomy::Balanced, Autonomy::HandsOff]),
            },
            6 | 7 => {
                let choices: [&[&str]; 2] = [
                    &["read_file", "delegate"],
                    &["read_file", "write_file", "task_completion"],
                ];
                let tools = *self.dice.pick(&choices);
                let tools = tools.iter().map(|tool| (*tool).to_owned()).collect();
                Op::SetOwnRole {
                    role: OwnRole {
                        name: "own".into(),
                        base: role,
                        tools: self.dice.chance(80).then_some(tools),
                        prompt: String::new(),
                        model: self.dice.chance(20).then(|| model.clone()),
                        limits: None,
                    },
                }
            }
            8 => Op::SetFallback {
                fallback: self.dice.chance(60).then(|| Fallback {
                    model,
                    automatic: self.dice.chance(70),
                    known: Default::default(),
                }),
            },
            9 => Op::SetModel {
                model,
                known: KnownModel {
                    facts: facts(&mut self.dice),
                    ..KnownModel::default()
                },
            },
            10 => Op::Rename { title: "t".into() },
            _ => {
                let config = &self.seats[MAIN].state.live.config;
                let limits = Limits {
                    iterations: *self.dice.pick(&[0, 4, 9, 900]),
                    guard: *self.dice.pick(&[GuardMode::HintThenAsk, GuardMode::Off]),
                    session_tokens: match self.dice.below(4) {
                        0 => config.limits.session_tokens.map(|tokens| tokens + 700),
                        _ => config.limits.session_tokens,
                    },
                    ..config.limits.clone()
                };
                if self.dice.chance(80) {
                    Op::SetLimits { limits }
                } else {
                    Op::SetFormat {
                        format: CallFormat::Xml,
                    }
                }
            }
        }
    }

    fn queue(&mut self) -> Op {
        let mut messages = self.seats[MAIN].state.live.queue.messages.clone();
        match self.dice.below(10) {
            0 => {
                messages.pop();
                Op::SetQueue { messages }
            }
            1 => {
                messages.reverse();
                Op::SetQueue { messages }
            }
            2 => {
                if let Some(first) = messages.first_mut() {
                    first.text = self.say();
                }
                Op::SetQueue { messages }
            }
            // A stale picture of the queue: one was sent meanwhile, or stands twice.
            3 => {
                let text = self.say();
                messages.push(QueuedMessage {
                    id: 99,
                    text,
                    effort: None,
                    images: Vec::new(),
                });
                Op::SetQueue { messages }
            }
            4 => {
                messages.extend(messages.first().cloned());
                Op::SetQueue { messages }
            }
            5 | 6 => Op::SendQueued {
                id: messages.first().map_or(1, |message| message.id),
            },
            7 => Op::SendQueued { id: 98 },
            _ => Op::ReleaseQueue,
        }
    }

    fn on_a_call(&mut self) -> Op {
        let call = self.some_call();
        match self.dice.below(7) {
            0 | 1 => Op::EndCall { call },
            2 => Op::KeepWaiting { call },
            3 => Op::ToBackground { call },
            4 | 5 => Op::Undo {
                call: self.ended_call(),
            },
            _ => Op::Redo {
                call: self.ended_call(),
            },
        }
    }

    fn workflow(&mut self) -> WorkflowPlan {
        let mut steps = Vec::new();
        for _ in 0..self.dice.below(5) {
            let step = match self.dice.below(6) {
                0 | 1 => WorkflowStep::Message {
                    text: format!("{}{{answer.name}}", self.say()),
                },
                2 => WorkflowStep::Call {
                    tool: "delete_files".into(),
                    arguments: format!("{{\"path\":\"f{}\"}}", self.dice.below(3)),
                },
                3 => WorkflowStep::Call {
                    tool: self
                        .dice
                        .pick(&["run_command", "write_file", "no_such_tool"])
                        .to_string(),
                    arguments: format!(
                        "{{\"path\":\"{}\",\"text\":\"{{answer.name}}\",\"command\":\"{}\"}}",
                        self.dice.pick(&["f0", PROTECTED]),
                        self.dice.pick(&["make {answer.name}", "sudo x", "rm x"])
                    ),
                },
                4 => WorkflowStep::Confirm {
                    question: "go on?".into(),
                },
                _ => WorkflowStep::Ask {
                    name: "name".into(),
                    question: "which?".into(),
                    options: Vec::new(),
                },
            };
            steps.push(step);
        }
        WorkflowPlan {
            name: "tidy".into(),
            title: "Tidy up".into(),
            steps,
        }
    }

    /// The person looks into a sub-agent's session and acts there.
    pub(crate) fn person_meddles(&mut self) {
        let open: Vec<usize> = (MAIN + 1..self.seats.len())
            .filter(|place| !self.seats[*place].closed)
            .collect();
        if open.is_empty() {
            return;
        }
        let place = *self.dice.pick(&open);
        let waiting = self.seats[place].state.live.approvals.first().cloned();
        let op = match (self.dice.below(6), waiting) {
            (0..=2, Some(waiting)) => Op::Decide {
                approval: waiting.id.clone(),
                decision: Decision::Approve {
                    rule: self.dice.chance(10).then(|| self.wish(&waiting)),
                    scope: *self.dice.pick(&waiting.scopes),
                    edited_arguments: None,
                    left_out: Vec::new(),
                },
            },
            (3, _) => Op::Stop,
            (4, _) => Op::Pause,
            _ => Op::send(self.say(), SendMode::NextIteration),
        };
        self.input(place, Input::Op(op));
    }

    /// How a schedule begins: with a message, a workflow, or a plain wish that the folder is free.
    pub(crate) fn opening(&mut self) {
        let op = match self.dice.below(10) {
            0 => Op::RunWorkflow {
                plan: self.workflow(),
            },
            1 => Op::send(self.say(), SendMode::WhenFree),
            _ => Op::send(self.say(), SendMode::NextIteration),
        };
        self.op(op);
    }
}

/// What the answers of a workflow stand for, as the person reads its file: in a command one word, elsewhere the text.
pub fn fill(text: &str, answers: &BTreeMap<String, String>) -> String {
    match answers.get("name") {
        Some(answer) => text.replace("{answer.name}", answer),
        None => text.to_owned(),
    }
}
