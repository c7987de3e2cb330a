//! Which tools the schema of the next answer names. A small model repeats what it did last and changes what it has not looked at; a
//! choice it is not offered it cannot make. Only what the model is held to while it writes: a call of another tool is still read.

use super::told::{Room, told};
use crate::{AgentPart, Message, ModelRequest, ToolSpec};

/// Tools that only look. Nothing else is offered before the first look at the project.
const LOOKS: [&str; 5] = [
    "list_files",
    "find_files",
    "search_files",
    "read_file",
    "read_output",
];
/// Offered after some looks that found something: a small model asks what it could find out.
const ASK: &str = "ask_question";
const LOOKS_BEFORE_ASKING: usize = 2;
/// Never barred after the first look: without it a turn does not end.
pub(super) const END: &str = "task_completion";

/// The tools of the next answer. Where there is much room, all that are told.
pub(super) fn offered(request: &ModelRequest) -> Vec<&ToolSpec> {
    let room = Room::in_request(request);
    let told = told(&request.tools, room);
    if room == Room::Large {
        return told;
    }
    let rounds = rounds(&request.messages);
    let mut barred = barred(&rounds);
    let looks = rounds
        .iter()
        .flatten()
        .filter(|call| call.ok && LOOKS.contains(&call.name));
    if looks.count() < LOOKS_BEFORE_ASKING {
        barred.push(ASK);
    }
    let may = |tool: &&ToolSpec| {
        let name = tool.name.as_str();
        match rounds.is_empty() {
            true => LOOKS.contains(&name),
            false => !barred.contains(&name),
        }
    };
    let some: Vec<&ToolSpec> = told.iter().copied().filter(may).collect();
    // A role may have nothing else.
    match some.iter().any(|tool| tool.name != END) {
        true => some,
        false => told,
    }
}

/// A call with its result.
struct Called<'a> {
    name: &'a str,
    arguments: &'a str,
    ok: bool,
}

impl Called<'_> {
    fn may_change(&self) -> bool {
        self.ok && self.name != ASK && !LOOKS.contains(&self.name)
    }

    fn is_same(&self, other: &Called<'_>) -> bool {
        self.name == other.name && self.arguments == other.arguments
    }
}

/// The calls of each answer that had some, in order.
fn rounds(messages: &[Message]) -> Vec<Vec<Called<'_>>> {
    let mut rounds = Vec::new();
    for pair in messages.windows(2) {
        let [Message::Agent { parts }, Message::Results { results }] = pair else {
            continue;
        };
        let calls = parts.iter().filter_map(|part| match part {
            AgentPart::Call { id, name, arguments } => Some(Called {
                name,
                arguments,
                ok: results.iter().any(|result| result.id == *id && result.ok),
            }),
            _ => None,
        });
        rounds.push(calls.collect());
    }
    rounds
}

/// What failed in the last answer, and what the last two asked for a second time although nothing was changed in between.
fn barred<'a>(rounds: &[Vec<Called<'a>>]) -> Vec<&'a str> {
    let Some(last) = rounds.last() else {
        return Vec::new();
    };
    let mut barred: Vec<&str> = last
        .iter()
        .filter(|call| !call.ok)
        .map(|call| call.name)
        .collect();
    let changed = rounds
        .iter()
        .rposition(|calls| calls.iter().any(Called::may_change));
    let since = &rounds[changed.map_or(0, |at| at + 1)..];
    for at in since.len().saturating_sub(2)..since.len() {
        let earlier = since[..at].iter().flatten();
        let is_repeated = |call: &&Called<'_>| earlier.clone().any(|other| other.is_same(call));
        barred.extend(since[at].iter().filter(is_repeated).map(|call| call.name));
    }
    barred.retain(|name| *name != END);
    barred
}
