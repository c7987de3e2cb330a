//! The scripted model: what it streams, what it answers, which calls it asks for. Its mood holds for a whole schedule, so
//! that rows of the same kind come about: an obstinate model repeats itself, a clumsy one sends what cannot be read.

use crate::dice::Dice;
use crate::seat::Bound;
use crate::tools::{OUTSIDE, PROTECTED};
use paddock_core::provider::{Answer, AnswerPart, AskedCall, CallArguments, Finish, ModelEvent};
use paddock_protocol::*;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mood {
    Usual,
    /// The same call again and again, with the same result.
    Obstinate,
    /// Answers that cannot be used.
    Clumsy,
    /// Sub-agents, many of them.
    Delegating,
    /// Its calls fail.
    Unlucky,
    /// Its server fails.
    Shaky,
    /// Never says that it is done.
    Tireless,
}

impl Mood {
    pub fn of(dice: &mut Dice) -> Self {
        match dice.below(100) {
            0..=49 => Mood::Usual,
            50..=61 => Mood::Obstinate,
            62..=69 => Mood::Clumsy,
            70..=83 => Mood::Delegating,
            84..=89 => Mood::Unlucky,
            90..=94 => Mood::Shaky,
            _ => Mood::Tireless,
        }
    }
}

pub fn streamed(dice: &mut Dice, tools: bool) -> ModelEvent {
    match dice.below(5) {
        0 => ModelEvent::Reasoning("hm ".into()),
        1 if tools => ModelEvent::CallStarted {
            slot: dice.below(3) as u32,
            name: "read_file".into(),
        },
        2 if tools => ModelEvent::CallArguments {
            slot: dice.below(3) as u32,
            text: "{".into(),
        },
        3 => ModelEvent::FirstByte,
        _ => ModelEvent::Text("some text ".into()),
    }
}

/// A request ends with an answer or an error.
pub fn ending(dice: &mut Dice, mood: Mood, tools: bool, bound: Bound) -> Result<Answer, ModelError> {
    if dice.chance(if mood == Mood::Shaky { 70 } else { 8 }) {
        let kinds = [
            ModelErrorKind::RateLimit,
            ModelErrorKind::Protocol,
            ModelErrorKind::Network,
            ModelErrorKind::Auth,
        ];
        let kind = kinds[dice.below(if mood == Mood::Shaky { 3 } else { 4 })];
        let mut error = ModelError::new(kind, "no");
        error.spent = dice.chance(30).then(|| Box::new(usage(dice, bound)));
        return Err(error);
    }
    let mut parts = Vec::new();
    if dice.chance(10) {
        parts.push(AnswerPart::Reasoning {
            text: "hm ".into(),
            opaque: None,
        });
    }
    if dice.chance(60) {
        parts.push(AnswerPart::Text("some text".into()));
    }
    let calls = match mood {
        Mood::Obstinate => 1,
        Mood::Delegating => dice.below(6),
        _ if dice.chance(12) => 0,
        _ => 1 + dice.below(3),
    };
    // Without tools a model may still send calls; they are not for it.
    if tools || dice.chance(10) {
        for _ in 0..calls {
            parts.push(AnswerPart::Call(asked_call(dice, mood)));
        }
    }
    let finish = *dice.pick(&[FinishReason::Stop, FinishReason::Calls, FinishReason::Length]);
    Ok(Answer {
        parts,
        usage: usage(dice, bound),
        finish: Finish(finish),
    })
}

fn usage(dice: &mut Dice, bound: Bound) -> Usage {
    let input = dice.below(bound.input.max(1) as usize) as u32 + u32::from(bound.input > 0);
    let cached = if dice.chance(30) { input / 2 } else { 0 };
    Usage {
        input: input - cached,
        cached,
        output: bound.output.min(20),
        ..Usage::default()
    }
}

fn asked_call(dice: &mut Dice, mood: Mood) -> AskedCall {
    let name = match (mood, dice.below(100)) {
        (Mood::Obstinate, 0..=79) => "read_file",
        (Mood::Delegating, 0..=69) => "delegate",
        (Mood::Clumsy, 0..=29) => "no_such_tool",
        (Mood::Tireless, 86..=99) => "read_file",
        (_, 0..=23) => "read_file",
        (_, 24..=51) => "write_file",
        (_, 52..=72) => "run_command",
        (_, 73..=76) => "stop_process",
        (_, 77..=80) => "update_plan",
        (_, 81..=85) => "delegate",
        (_, 86..=89) => "ask_question",
        (_, 90..=93) => "task_completion",
        (_, 94..=95) => "converse",
        (_, 96..=97) => "delete_files",
        _ => "no_such_tool",
    };
    let arguments = match name {
        "run_command" => {
            let command = dice.pick(&["make", "ls", "rm x", "sudo x", "make a", "curl h", "echo $(x)"]);
            format!("{{\"command\":\"{command}\",\"background\":{}}}", dice.chance(25))
        }
        "stop_process" => format!("{{\"process\":\"p{}\"}}", 1 + dice.below(3)),
        "ask_question" => "{\"question\":\"which\"}".to_owned(),
        "update_plan" => format!("{{\"task\":\"task {}\"}}", dice.below(3)),
        "delegate" => format!("{{\"task\":\"look\",\"writes\":{}}}", dice.chance(40)),
        "read_file" if mood == Mood::Obstinate => "{\"path\":\"f0\"}".to_owned(),
        _ if dice.chance(4) => format!("{{\"path\":\"{PROTECTED}\",\"text\":\"c\"}}"),
        _ if dice.chance(6) => format!("{{\"path\":\"{}\",\"text\":\"c\"}}", dice.pick(OUTSIDE)),
        _ => format!(
            "{{\"path\":\"f{}\",\"text\":\"{}\"}}",
            dice.below(3),
            dice.pick(&["a", "b"])
        ),
    };
    let unreadable = dice.chance(if mood == Mood::Clumsy { 50 } else { 4 });
    AskedCall {
        server_id: String::new(),
        name: name.to_owned(),
        arguments: if unreadable {
            CallArguments::Malformed {
                reason: "cut".into(),
                raw: "{\"pa".into(),
            }
        } else {
            CallArguments::Complete(arguments)
        },
        terminate: dice.chance(if mood == Mood::Tireless { 0 } else { 6 }),
    }
}
