//! The model's history, rebuilt from the items of the timeline: what was said, asked for and answered, in the order in
//! which the model saw it. The same items always give the same messages, so that a prompt's prefix stays byte-stable.

use super::state::SessionState;
use super::words;
use paddock_protocol::*;
use paddock_provider::{AgentPart, CallResult, Message};
use std::collections::BTreeMap;

pub fn history(state: &SessionState) -> Vec<Message> {
    let mut messages = Messages::default();
    let mut from = 0;
    while let Some(first) = state.items.get(from) {
        let turn = first.turn;
        let until = state.items[from..]
            .iter()
            .position(|item| item.turn != turn)
            .map_or(state.items.len(), |n| from + n);
        turn_messages(state, turn, &state.items[from..until], &mut messages);
        from = until;
    }
    messages.0
}

#[derive(Default)]
struct Messages(Vec<Message>);

impl Messages {
    /// Neighbours of the person's side become one message.
    fn user(&mut self, words: &str) {
        if words.trim().is_empty() {
            return;
        }
        match self.0.last_mut() {
            Some(Message::User { text }) => {
                text.push_str("\n\n");
                text.push_str(words);
            }
            _ => self.0.push(Message::User {
                text: words.to_owned(),
            }),
        }
    }
}

/// What one iteration adds to the history.
#[derive(Default)]
struct Group<'a> {
    parts: Vec<AgentPart>,
    stopped_text: Option<&'a str>,
    results: Vec<CallResult>,
    /// Told to the model after the results.
    notes: Vec<String>,
}

fn turn_messages(
    state: &SessionState,
    turn: TurnId,
    items: &[std::sync::Arc<Item>],
    messages: &mut Messages,
) {
    let mut groups: BTreeMap<u32, Group<'_>> = BTreeMap::new();
    let mut messages_before: BTreeMap<u32, Vec<&str>> = BTreeMap::new();
    let mut stopped = false;
    for item in items {
        let group = groups.entry(item.iteration).or_default();
        match &item.kind {
            ItemKind::UserMessage { text, delivery, .. } => match delivery {
                Delivery::Start => messages.user(text),
                Delivery::Steer {
                    used_from: Some(from),
                }
                | Delivery::Note {
                    used_from: Some(from),
                } => {
                    messages_before.entry(*from).or_default().push(text);
                }
                Delivery::Steer { used_from: None } | Delivery::Note { used_from: None } => {
                    group.notes.push(text.clone())
                }
            },
            ItemKind::Call(call) if item.iteration == 0 => group.notes.push(words::workflow_call(call)),
            ItemKind::TurnSummary { report } => stopped = report.end == TurnEnd::Stopped,
            _ => add(group, item),
        }
    }
    let last = state
        .iterations
        .range((turn, 0)..=(turn, u32::MAX))
        .next_back()
        .map_or(0, |((_, n), _)| *n);
    if let Some(group) = groups.get(&0) {
        group.notes.iter().for_each(|note| messages.user(note));
    }
    for iteration in 1..=last {
        let Some(record) = state.iterations.get(&(turn, iteration)) else {
            continue;
        };
        for text in messages_before.get(&iteration).into_iter().flatten() {
            messages.user(text);
        }
        if record.finishing {
            messages.user(words::FINISH_UP);
        } else if let Some(note) = words::remaining(iteration, record.limit) {
            messages.user(&note);
        }
        let Some(group) = groups.remove(&iteration) else {
            continue;
        };
        let mut parts = group.parts;
        if !record.answered {
            parts.clear();
            if let Some(text) = group.stopped_text.filter(|_| stopped) {
                parts.push(AgentPart::Text {
                    text: text.trim_end().to_owned(),
                });
            }
        }
        if !parts.is_empty() {
            messages.0.push(Message::Agent { parts });
        }
        if record.answered && !group.results.is_empty() {
            messages.0.push(Message::Results {
                results: group.results,
            });
        }
        group.notes.iter().for_each(|note| messages.user(note));
    }
    // Meant for a request that the program did not live to send.
    for text in messages_before.range(last + 1..).flat_map(|(_, texts)| texts) {
        messages.user(text);
    }
    if stopped {
        messages.user(words::STOPPED_TURN);
    }
}

fn add<'a>(group: &mut Group<'a>, item: &'a Item) {
    match &item.kind {
        ItemKind::AgentText { text } if item.status == ItemStatus::Done => {
            group.parts.push(AgentPart::Text { text: text.clone() });
        }
        ItemKind::AgentText { text } if !text.trim().is_empty() => group.stopped_text = Some(text),
        ItemKind::Reasoning { text, opaque } if item.status == ItemStatus::Done => {
            group.parts.push(AgentPart::Reasoning {
                text: text.clone(),
                opaque: opaque.clone(),
            });
        }
        ItemKind::Call(call) if call.check.is_some() => {
            let told = call.check.and_then(|check| words::check(call, check));
            group.notes.extend(told);
        }
        ItemKind::Call(call) => {
            let Some(output) = &call.output else { return };
            let id = if call.server_id.is_empty() {
                call.call.to_string()
            } else {
                call.server_id.clone()
            };
            group.parts.push(AgentPart::Call {
                id: id.clone(),
                name: call.tool.clone(),
                arguments: call.arguments.clone(),
            });
            group.results.push(CallResult {
                id,
                name: call.tool.clone(),
                text: output.text.clone(),
                ok: output.ok,
            });
        }
        ItemKind::Malformed {
            reason, attempt, of, ..
        } if group.results.is_empty() => {
            group
                .notes
                .push(words::malformed_note(reason, of.saturating_sub(*attempt)));
        }
        ItemKind::Guard { pattern, .. } => group.notes.push(words::guard(*pattern).to_owned()),
        ItemKind::Undo { call, redo, files } => group.notes.push(words::undone(*redo, call, files)),
        ItemKind::ProcessEnded { process, end } => group.notes.push(words::process_ended(process, *end)),
        ItemKind::Workflow {
            title,
            step,
            of,
            end: None,
            ..
        } => group.notes.push(words::workflow_step(title, *step, *of)),
        ItemKind::RoleChange { to, own, .. } => group.notes.push(words::role_changed(*to, own.as_deref())),
        _ => {}
    }
}
