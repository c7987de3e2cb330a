//! Which tools the schema of the next answer names. A small model repeats what it did last and changes what it has not looked at; a
//! choice it is not offered it cannot make. Only what the model is held to while it writes: a call of another tool is still read.

use super::question;
use super::told::{Room, told};
use crate::{AgentPart, Message, ModelRequest, ToolSpec};
use paddock_protocol::CallFormat;

/// Tools that only look. Nothing else is offered before the first look at the project.
const LOOKS: [&str; 5] = [
    "list_files",
    "find_files",
    "search_files",
    "read_file",
    "read_output",
];
/// Of these, the ones that tell where something is.
const FINDS: [&str; 3] = ["list_files", "find_files", "search_files"];
const EDIT: &str = "edit_file";
const RUN: &str = "run_command";
const ASK: &str = "ask_question";
/// Without it a turn does not end.
pub(super) const END: &str = "task_completion";
/// Looks that succeeded, after which a turn may end in which nothing was changed or run.
const LOOKS_BEFORE_ENDING: usize = 4;
/// Failed calls since the last change, after which a further one does not bar the end.
const FAILURES_BEFORE_ENDING: usize = 4;

/// The tools of the next answer. Where there is much room, all that are told.
pub(super) fn offered(request: &ModelRequest) -> Vec<&ToolSpec> {
    let room = Room::in_request(request);
    let told = told(&request.tools, room);
    if room == Room::Large {
        return told;
    }
    let rounds = rounds(&request.messages);
    let mut barred = barred(&rounds);
    if !may_end(&rounds, asks(request)) {
        barred.extend([ASK, END]);
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

/// What a model is told beside the words of the person, once more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reminder {
    /// Go on, or end the turn when all is done.
    GoOn,
    /// Nothing was changed yet, and the turn may not end.
    Unchanged,
    /// Nothing was changed yet; that may be all.
    UnchangedMayEnd,
}

/// Whether and how a model is told again what it was asked for: it calls in its text and has little room, and has something to do, or
/// has still to find an answer.
pub fn reminder(request: &ModelRequest) -> Option<Reminder> {
    let is_small = request.format != CallFormat::Native && Room::in_request(request) == Room::Small;
    let asked = request.asked.as_ref().filter(|asked| asked.is_begun)?;
    if !is_small || request.tools.is_empty() {
        return None;
    }
    let rounds = rounds(&request.messages);
    let may_end = may_end(&rounds, asks(request));
    match (asks(request), asked.is_changed) {
        (true, _) => {
            let is_open = failed(rounds.last()?) || !may_end;
            is_open.then_some(Reminder::GoOn)
        }
        (false, true) => Some(Reminder::GoOn),
        (false, false) if may_end => Some(Reminder::UnchangedMayEnd),
        (false, false) => Some(Reminder::Unchanged),
    }
}

/// Whether the person wants to know something: then a look is enough to answer.
fn asks(request: &ModelRequest) -> bool {
    let asked = request.asked.as_ref();
    asked.is_some_and(|asked| question::is_question(&asked.words))
}

/// Whether a turn has come far enough to end, or to ask the person. A small model says that all is done when it has only looked or
/// when its last call failed, and asks what it could find out; a call that fails once more without a change since may have shown all.
fn may_end(rounds: &[Vec<Called<'_>>], asks: bool) -> bool {
    let is_end = |calls: &Vec<Called<'_>>| calls.iter().any(|call| call.ok && call.name == END);
    let begin = rounds.iter().rposition(is_end).map_or(0, |at| at + 1);
    let of_turn = &rounds[begin..];
    let Some((last, earlier)) = of_turn.split_last() else {
        return false;
    };
    if last.iter().any(|call| call.name == END) {
        return true;
    }
    if failed(last) {
        let failures = || since_change(earlier).iter().flatten().filter(|call| !call.ok);
        let is_known = |call: &Called<'_>| failures().any(|other| other.is_same(call));
        return last.iter().all(is_known) || failures().count() >= FAILURES_BEFORE_ENDING;
    }
    let calls = || of_turn.iter().flatten();
    let looks = calls().filter(|call| call.ok && LOOKS.contains(&call.name));
    asks || calls().any(Called::may_change) || looks.count() >= LOOKS_BEFORE_ENDING
}

/// What came after the last call that may have changed something.
fn since_change<'a, 'b>(rounds: &'b [Vec<Called<'a>>]) -> &'b [Vec<Called<'a>>] {
    let changed = rounds
        .iter()
        .rposition(|calls| calls.iter().any(Called::may_change));
    &rounds[changed.map_or(0, |at| at + 1)..]
}

fn failed(calls: &[Called<'_>]) -> bool {
    calls.iter().all(|call| !call.ok)
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

/// What failed in the last answer or searched in it, and what the last two asked for a second time although nothing was changed
/// in between. A small model that searched goes on searching, in place of reading or changing what it found; and it searches where a
/// command that failed has just said what is wrong.
fn barred<'a>(rounds: &[Vec<Called<'a>>]) -> Vec<&'a str> {
    let Some(last) = rounds.last() else {
        return Vec::new();
    };
    let since = since_change(rounds);
    let failures = |name: &str| {
        let calls = since.iter().flatten();
        calls.filter(|call| !call.ok && call.name == name).count()
    };
    // The first edit that fails is told how to do better.
    let is_remediable = |call: &&Called<'_>| call.name == EDIT && failures(EDIT) == 1;
    let is_barred = |call: &&Called<'_>| FINDS.contains(&call.name) || !call.ok && !is_remediable(call);
    let mut barred: Vec<&str> = last.iter().filter(is_barred).map(|call| call.name).collect();
    if last.iter().any(|call| call.name == RUN && !call.ok) {
        barred.extend(FINDS);
    }
    for at in since.len().saturating_sub(2)..since.len() {
        let earlier = since[..at].iter().flatten();
        let is_repeated = |call: &&Called<'_>| earlier.clone().any(|other| other.is_same(call));
        barred.extend(since[at].iter().filter(is_repeated).map(|call| call.name));
    }
    barred.retain(|name| *name != END);
    barred
}
