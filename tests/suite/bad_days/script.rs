//! What a model says in a conversation, made from a seed: the answers, what they ask for, and the files that they leave.

use std::collections::BTreeMap;

use paddock_protocol::ProviderKind;
use serde_json::{Value, json};

use crate::dice::Dice;

pub struct Answer {
    pub reasoning: Option<String>,
    pub text: String,
    pub calls: Vec<Call>,
}

pub struct Call {
    pub tool: &'static str,
    pub arguments: Value,
    /// Words of its result.
    pub result: String,
}

pub struct Script {
    /// The person's message; no two conversations share one.
    pub task: String,
    pub answers: Vec<Answer>,
    /// What the project's files hold before.
    pub before: BTreeMap<&'static str, String>,
    /// And after the turn.
    pub after: BTreeMap<&'static str, String>,
}

const WORDS: &[&str] = &[
    "first",
    "the",
    "file",
    "holds",
    "größer",
    "a",
    "line",
    "—",
    "so",
    "it",
    "reads",
    "\n",
    "数える",
    "🦊",
    "and",
    "then",
    "\"quoted\"",
    "back\\slash",
    "{brace}",
    "goes",
    "on",
    "data:",
    "</end>",
];

fn prose(dice: &mut Dice, words: u64) -> String {
    let mut text = String::from("I say");
    for _ in 0..words {
        text.push(' ');
        text.push_str(dice.one_of(WORDS));
    }
    text + "."
}

impl Script {
    pub fn of(name: &str, dice: &mut Dice) -> Self {
        let (old, new) = (format!("{name} counts 1\n"), format!("{name} counts 2\n"));
        let mut middle = vec![
            vec![
                call("read_file", json!({ "path": "notes.txt" }), name),
                call("list_files", json!({ "path": "." }), "notes.txt"),
            ],
            vec![call(
                "run_command",
                json!({ "command": format!("echo {name} >> runs; cat runs") }),
                name,
            )],
            // Wrong a second time: the old text is no longer there.
            vec![call(
                "edit_file",
                json!({ "path": "counter.txt", "old_text": old, "new_text": new }),
                "counter.txt",
            )],
        ];
        let (one, two) = (prose(dice, 30), prose(dice, 5) + "\n");
        middle.push(vec![
            call(
                "write_file",
                json!({ "path": "one.txt", "content": one }),
                "one.txt",
            ),
            call(
                "write_file",
                json!({ "path": "two.txt", "content": two }),
                "two.txt",
            ),
        ]);
        dice.shuffle(&mut middle);
        let mut answers = Vec::new();
        for calls in middle.into_iter().chain([Vec::new()]) {
            let words = if calls.is_empty() { 20 + dice.below(300) } else { 8 };
            answers.push(Answer {
                reasoning: (dice.below(2) == 0).then(|| prose(dice, 10)),
                text: format!("{} {}", answers.len() + 1, prose(dice, words)),
                calls,
            });
        }
        let notes = format!("notes of {name}\n");
        Self {
            task: format!("Do the job of {name}."),
            answers,
            before: BTreeMap::from([("notes.txt", notes.clone()), ("counter.txt", old)]),
            after: BTreeMap::from([
                ("notes.txt", notes),
                ("counter.txt", new),
                ("runs", format!("{name}\n")),
                ("one.txt", one),
                ("two.txt", two),
            ]),
        }
    }

    /// What places an answer in the conversation for aimock: the person's words, and how many messages of the model came before. As it
    /// reads Responses, a text and each call are one message each.
    pub fn place(&self, protocol: ProviderKind, answer: usize) -> Value {
        let messages: usize = match protocol {
            ProviderKind::Responses => self.answers[..answer]
                .iter()
                .map(|before| 1 + before.calls.len())
                .sum(),
            _ => answer,
        };
        json!({ "userMessage": self.task, "turnIndex": messages })
    }
}

impl Answer {
    /// As aimock's conversations have it.
    pub fn response(&self, number: usize) -> Value {
        let calls: Vec<Value> = self
            .calls
            .iter()
            .enumerate()
            .map(|(at, call)| json!({ "id": format!("call_{number}_{at}"), "name": call.tool, "arguments": call.arguments }))
            .collect();
        let mut response = json!({ "content": self.text });
        if !calls.is_empty() {
            response["toolCalls"] = calls.into();
        }
        if let Some(reasoning) = &self.reasoning {
            response["reasoning"] = reasoning.as_str().into();
        }
        response
    }
}

fn call(tool: &'static str, arguments: Value, result: &str) -> Call {
    Call {
        tool,
        arguments,
        result: result.to_owned(),
    }
}
