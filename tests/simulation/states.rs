//! The table of states in ARCHITECTURE.md: for every status of a turn and every input, what really followed over the
//! schedules of some fixed seeds. At each state, every op is also tried on the pure step without being carried out.

use crate::coverage::{STATUSES, status_name};
use crate::seat::Seat;
use crate::world::World;
use paddock_core::session::input::{Back, Effect, Input, Outcome, Stamped, SubReport, Timer};
use paddock_core::session::step::step;
use paddock_protocol::*;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::PathBuf;

/// Seeds of the table: enough that every status meets every input.
const SEEDS: u64 = 1_000;
const BEGIN: &str = "<!-- states: begin, written by `cargo xtask states` -->";
const END: &str = "<!-- states: end -->";
const BEFORE: &str = "no turn yet";

/// What followed an input, over all the times that it was seen.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Follows {
    next: BTreeSet<String>,
    refused: BTreeSet<String>,
    effects: BTreeSet<&'static str>,
}

#[derive(Clone, Debug, Default)]
pub struct Table(BTreeMap<&'static str, BTreeMap<&'static str, Follows>>);

impl Table {
    pub fn note(&mut self, seat: &Seat, input: &Input, outcome: &Outcome) {
        let before = seat.status().map_or(BEFORE, status_name);
        let cell = self
            .0
            .entry(before)
            .or_default()
            .entry(input_name(input))
            .or_default();
        let mut fresh = "";
        let mut next = None;
        for msg in &outcome.events {
            match msg {
                EventMsg::TurnStarted { .. } => fresh = "new turn: ",
                EventMsg::TurnChanged { status, .. } => next = Some(status_name(status)),
                EventMsg::OpRefused { error } => {
                    let code = serde_json::to_value(error.code).unwrap();
                    cell.refused.insert(code.as_str().unwrap().to_owned());
                }
                _ => {}
            }
        }
        if let Some(next) = next.filter(|next| !fresh.is_empty() || *next != before) {
            cell.next.insert(format!("{fresh}{next}"));
        }
        cell.effects.extend(outcome.effects.iter().map(effect_name));
    }

    /// Tries every op on the state as it is.
    pub fn probe(&mut self, seat: &Seat, now: Timestamp) {
        for op in ops(seat) {
            let input = Input::Op(op);
            let stamped = Stamped {
                now,
                entropy: 7,
                input: input.clone(),
            };
            let outcome = step(&seat.state, stamped, &seat.around);
            self.note(seat, &input, &outcome);
        }
    }

    fn markdown(&self) -> String {
        let mut text = String::new();
        for status in [BEFORE].iter().chain(STATUSES) {
            let Some(inputs) = self.0.get(status) else {
                continue;
            };
            let mut rows: BTreeMap<&Follows, Vec<&str>> = BTreeMap::new();
            for (input, follows) in inputs {
                rows.entry(follows).or_default().push(input);
            }
            let mut rows: Vec<(String, &Follows)> = rows
                .into_iter()
                .map(|(follows, inputs)| (inputs.join(" · "), follows))
                .collect();
            rows.sort();
            let _ = write!(
                text,
                "\n#### {status}\n\n| input | the turn is then | refused with | begins |\n|---|---|---|---|\n"
            );
            for (inputs, follows) in rows {
                let next: Vec<&str> = follows.next.iter().map(String::as_str).collect();
                let refused: Vec<&str> = follows.refused.iter().map(String::as_str).collect();
                let effects: Vec<&str> = follows.effects.iter().copied().collect();
                let _ = writeln!(
                    text,
                    "| {inputs} | {} | {} | {} |",
                    next.join(", "),
                    refused.join(", "),
                    effects.join(", ")
                );
            }
        }
        text
    }
}

/// Every op, with what it may name taken from the state.
fn ops(seat: &Seat) -> Vec<Op> {
    let live = &seat.state.live;
    let call = live.turn.as_ref().and_then(|turn| {
        let open = turn.calls.iter().find(|call| !call.is_final());
        open.or(turn.calls.first()).map(|call| call.call.clone())
    });
    let call = call.unwrap_or_else(|| CallId::new("t0.i0.c0"));
    let message = |mode| Op::send("and then", mode);
    let approval = live.approvals.first().map(|approval| approval.id.clone());
    let approval = approval.unwrap_or_else(|| ApprovalId::new("t0.i0.c0.a1"));
    let decide = |decision| Op::Decide {
        approval: approval.clone(),
        decision,
    };
    let changed = seat.state.items.iter().find_map(|item| match &item.kind {
        ItemKind::Call(call) if call.output.as_ref().is_some_and(|o| !o.changes.is_empty()) => {
            Some(call.call.clone())
        }
        _ => None,
    });
    let changed = changed.unwrap_or_else(|| call.clone());
    let process = live.processes.first().map(|process| process.id.clone());
    let plan = WorkflowPlan {
        name: "w".into(),
        title: "w".into(),
        steps: vec![WorkflowStep::Confirm { question: "?".into() }],
    };
    vec![
        message(SendMode::NextIteration),
        message(SendMode::AfterTurn),
        message(SendMode::Interrupt),
        message(SendMode::WhenFree),
        decide(Decision::approve(AnswerScope::Once)),
        decide(Decision::Reject {
            reason: None,
            pause: false,
        }),
        Op::Answer {
            call: call.clone(),
            text: None,
        },
        Op::Pause,
        Op::CancelPause,
        Op::Continue {
            note: None,
            allow_cause: false,
        },
        Op::Extend {
            limit: LimitKind::Iterations,
            by: 5,
        },
        Op::FinishUp,
        Op::Stop,
        Op::EndCall { call: call.clone() },
        Op::KeepWaiting { call: call.clone() },
        Op::ToBackground { call },
        Op::EndProcess {
            process: process.unwrap_or_else(|| ProcessId::new("p0")),
        },
        Op::StopEverything,
        Op::RetryNow,
        Op::SetRole { role: Role::Plan },
        Op::SetAutonomy {
            autonomy: Autonomy::HandsOff,
        },
        Op::Undo {
            call: changed.clone(),
        },
        Op::Redo { call: changed },
        Op::SendQueued {
            id: live.queue.messages.first().map_or(0, |message| message.id),
        },
        Op::ReleaseQueue,
        Op::RunWorkflow { plan },
        Op::StopWaiting,
        Op::SetDoneWhen {
            command: Some("make check".into()),
        },
        Op::RemoveRule {
            rule: live
                .rules
                .first()
                .map_or_else(|| RuleId::new("nobody's"), |rule| rule.id.clone()),
        },
        Op::LoadRules { rules: Vec::new() },
        Op::NoteSetAside {
            path: ".git/hooks/pre-commit".into(),
            back: true,
        },
    ]
}

fn input_name(input: &Input) -> &'static str {
    match input {
        Input::Op(op) => op_name(op),
        Input::Back(back) => back_name(back),
        Input::Reopened => "the program starts again",
    }
}

fn op_name(op: &Op) -> &'static str {
    match op {
        Op::Send { text, .. } if text.trim().is_empty() => "an empty `send`",
        Op::Send { text, .. } if text == "/stop" => "`send` of `/stop`",
        Op::Send { mode, .. } => match mode {
            SendMode::NextIteration => "`send`",
            SendMode::AfterTurn => "`send` after the turn",
            SendMode::Interrupt => "`send` interrupting",
            SendMode::WhenFree => "`send` when the folder is free",
        },
        Op::Decide {
            decision: Decision::Approve { .. },
            ..
        } => "`decide`: approve",
        Op::Decide { .. } => "`decide`: reject",
        Op::Answer { .. } => "`answer`",
        Op::Pause => "`pause`",
        Op::CancelPause => "`cancel_pause`",
        Op::Continue { .. } => "`continue`",
        Op::Extend { .. } => "`extend`",
        Op::FinishUp => "`finish_up`",
        Op::Stop => "`stop`",
        Op::EndCall { .. } => "`end_call`",
        Op::KeepWaiting { .. } => "`keep_waiting`",
        Op::ToBackground { .. } => "`to_background`",
        Op::EndProcess { .. } => "`end_process`",
        Op::StopEverything => "`stop_everything`",
        Op::RetryNow => "`retry_now`",
        Op::SetRole { .. } => "`set_role`",
        Op::SetAutonomy { .. } => "`set_autonomy`",
        Op::SetModel { .. } | Op::SetFormat { .. } | Op::SetFallback { .. } => {
            "`set_model`, format, fallback"
        }
        Op::SetLimits { .. } => "`set_limits`",
        Op::SetBudget { .. } => "`set_budget`",
        Op::Rename { .. } => "`rename`",
        Op::Undo { .. } => "`undo`",
        Op::Redo { .. } => "`redo`",
        Op::SetQueue { .. } => "`set_queue`",
        Op::SendQueued { .. } => "`send_queued`",
        Op::ReleaseQueue => "`release_queue`",
        Op::SetOwnRole { .. } => "`set_own_role`",
        Op::RunWorkflow { .. } => "`run_workflow`",
        Op::StopWaiting => "`stop_waiting`",
        Op::SetDoneWhen { .. } => "`set_done_when`",
        Op::RemoveRule { .. } => "`remove_rule`",
        Op::LoadRules { .. } => "`load_rules`",
        Op::NoteSetAside { .. } => "`note_set_aside`",
    }
}

fn back_name(back: &Back) -> &'static str {
    match back {
        Back::ModelEvent { .. } => "the model streams",
        Back::ModelAnswered { .. } => "the model answers",
        Back::ModelFailed { .. } => "the model fails",
        Back::Prepared { .. } => "arguments are read",
        Back::CallLive { .. } => "a call streams",
        Back::CallEnded { .. } => "a call ends",
        Back::TimerFired(Timer::Retry(_)) => "a retry is due",
        Back::TimerFired(Timer::Call(_)) => "a call's time is over",
        Back::Undone { .. } => "an undo is made",
        Back::ProcessStarted { .. } => "a process starts",
        Back::ProcessEnded { .. } => "a process ends",
        Back::SubAgent { report, .. } => match report {
            SubReport::Progress { .. } | SubReport::Used { .. } => "a sub-agent goes on",
            SubReport::Asked { .. } => "a sub-agent asks",
            SubReport::Resolved { .. } => "a sub-agent no longer asks",
            SubReport::Ended { .. } => "a sub-agent ends",
        },
        Back::FolderFree => "the folder is free",
        Back::CallAsks { .. } => "a call asks for a host",
    }
}

fn effect_name(effect: &Effect) -> &'static str {
    match effect {
        Effect::Sample { .. } => "a request",
        Effect::CancelModel => "the end of the request",
        Effect::Prepare { .. } => "reading arguments",
        Effect::Run { .. } => "a call",
        Effect::CancelCall { .. } => "the end of calls",
        Effect::StartTimer { .. } => "a timer",
        Effect::Undo { .. } => "an undo",
        Effect::KeepRule { .. } => "keeping a rule",
        Effect::ToBackground { .. } => "a way to the background",
        Effect::EndProcess { .. } | Effect::EndAllProcesses => "the end of processes",
        Effect::RuleUsed { .. } => "counting a rule",
        Effect::DropRule { .. } => "dropping a rule",
        Effect::AnswerAsk { .. } => "an answer to a call",
        Effect::Delegate { .. } => "a sub-agent",
        Effect::DecideThere { .. } => "a word to a sub-agent",
        Effect::AwaitFolder => "waiting for the folder",
        Effect::StopAwaitingFolder => "no more waiting for the folder",
    }
}

#[test]
fn the_table_of_states_is_what_the_rules_do() {
    let mut table = Table::default();
    for seed in 0..SEEDS {
        let mut world = World::new(seed, false);
        world.coverage.table = Some(table);
        world.run();
        table = world.coverage.table.take().unwrap();
    }
    let root = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_else(|_| env!("CARGO_MANIFEST_DIR").into());
    let page = PathBuf::from(root).join("../ARCHITECTURE.md");
    let text = std::fs::read_to_string(&page).unwrap();
    let (before, rest) = text.split_once(BEGIN).expect("the beginning of the table");
    let (written, after) = rest.split_once(END).expect("the end of the table");
    let made = format!("\n{}\n", table.markdown());
    if std::env::var("PADDOCK_STATES").is_ok_and(|wish| wish == "write") {
        std::fs::write(&page, format!("{before}{BEGIN}{made}{END}{after}")).unwrap();
    } else {
        assert!(
            written == made,
            "the rules do something else now: `cargo xtask states`"
        );
    }
}
