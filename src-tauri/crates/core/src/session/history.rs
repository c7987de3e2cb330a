//! The model's history, rebuilt from the items of the timeline: what was said, asked for and answered, in the order in
//! which the model saw it. The same items always give the same messages, so that a prompt's prefix stays byte-stable.

use super::state::SessionState;
use super::words;
use paddock_protocol::*;
use paddock_provider::{AgentPart, CallResult, Image, Message};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// `image` fetches the bytes of an attachment; one that cannot be had is left out.
pub fn history(state: &SessionState, image: &dyn Fn(&Attachment) -> Option<Image>) -> Vec<Message> {
    let mut messages = Messages {
        all: Vec::new(),
        image,
    };
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
    messages.all
}

struct Messages<'a> {
    all: Vec<Message>,
    image: &'a dyn Fn(&Attachment) -> Option<Image>,
}

impl Messages<'_> {
    /// Neighbours of the person's side become one message.
    fn user(&mut self, words: &str) {
        self.said(words, &[]);
    }

    fn said(&mut self, words: &str, attachments: &[Attachment]) {
        let seen = self.images(attachments);
        if words.trim().is_empty() && seen.is_empty() {
            return;
        }
        match self.all.last_mut() {
            Some(Message::User { text, images }) => {
                if !text.is_empty() {
                    text.push_str("\n\n");
                }
                text.push_str(words);
                images.extend(seen);
            }
            _ => self.all.push(Message::User {
                text: words.to_owned(),
                images: seen,
            }),
        }
    }

    fn told(&mut self, notes: &[(Cow<'_, str>, &[Attachment])]) {
        notes.iter().for_each(|(words, images)| self.said(words, images));
    }

    fn images(&self, attachments: &[Attachment]) -> Vec<Image> {
        attachments.iter().filter_map(self.image).collect()
    }
}

/// What one iteration adds to the history.
#[derive(Default)]
struct Group<'a> {
    /// With the items they come from.
    parts: Vec<(ItemId, AgentPart)>,
    stopped_text: Option<&'a str>,
    results: Vec<(ItemId, CallResult)>,
    /// Told to the model after the results: words of Paddock, and messages that no request has held.
    notes: Vec<(Cow<'a, str>, &'a [Attachment])>,
}

impl Group<'_> {
    fn note(&mut self, words: impl Into<String>) {
        self.notes.push((Cow::Owned(words.into()), &[]));
    }
}

fn turn_messages(
    state: &SessionState,
    turn: TurnId,
    items: &[std::sync::Arc<Item>],
    messages: &mut Messages<'_>,
) {
    let mut groups: BTreeMap<u32, Group<'_>> = BTreeMap::new();
    let mut messages_before: BTreeMap<u32, Vec<(&str, &[Attachment])>> = BTreeMap::new();
    let mut stopped = false;
    for item in items {
        let group = groups.entry(item.iteration).or_default();
        match &item.kind {
            ItemKind::UserMessage {
                text,
                delivery,
                images,
                ..
            } => match delivery {
                Delivery::Start => messages.said(text, images),
                Delivery::Steer {
                    used_from: Some(from),
                }
                | Delivery::Note {
                    used_from: Some(from),
                } => {
                    messages_before.entry(*from).or_default().push((text, images));
                }
                Delivery::Steer { used_from: None } | Delivery::Note { used_from: None } => {
                    group.notes.push((Cow::Borrowed(text), images));
                }
            },
            ItemKind::Call(call) if item.iteration == 0 => group.note(words::workflow_call(call)),
            ItemKind::TurnSummary { report } => stopped = report.end == TurnEnd::Stopped,
            _ => add(group, item, messages),
        }
    }
    let last = state
        .iterations
        .range((turn, 0)..=(turn, u32::MAX))
        .next_back()
        .map_or(0, |((_, n), _)| *n);
    if let Some(group) = groups.get(&0) {
        messages.told(&group.notes);
    }
    for iteration in 1..=last {
        let Some(record) = state.iterations.get(&(turn, iteration)) else {
            continue;
        };
        for (text, images) in messages_before.get(&iteration).into_iter().flatten() {
            messages.said(text, images);
        }
        if record.finishing {
            messages.user(words::FINISH_UP);
        } else if let Some(note) = words::remaining(iteration, record.limit) {
            messages.user(&note);
        }
        let Some(group) = groups.remove(&iteration) else {
            continue;
        };
        let mut parts = in_order(group.parts, &record.order);
        let results = in_order(group.results, &record.order);
        if !record.answered {
            parts.clear();
            if let Some(text) = group.stopped_text.filter(|_| stopped) {
                parts.push(AgentPart::Text {
                    text: text.trim_end().to_owned(),
                });
            }
        }
        if !parts.is_empty() {
            messages.all.push(Message::Agent { parts });
        }
        if record.answered && !results.is_empty() {
            messages.all.push(Message::Results { results });
        }
        messages.told(&group.notes);
    }
    // Meant for a request that the program did not live to send.
    for (text, images) in messages_before.range(last + 1..).flat_map(|(_, said)| said) {
        messages.said(text, images);
    }
    if stopped {
        messages.user(words::STOPPED_TURN);
    }
}

/// In the model's own order, where the items stand in another one.
fn in_order<T>(mut of_items: Vec<(ItemId, T)>, order: &[ItemId]) -> Vec<T> {
    of_items.sort_by_key(|(id, _)| order.iter().position(|other| other == id));
    of_items.into_iter().map(|(_, part)| part).collect()
}

fn add<'a>(group: &mut Group<'a>, item: &'a Item, messages: &Messages<'_>) {
    match &item.kind {
        ItemKind::AgentText { text } if item.status == ItemStatus::Done => {
            group
                .parts
                .push((item.id, AgentPart::Text { text: text.clone() }));
        }
        ItemKind::AgentText { text } if !text.trim().is_empty() => group.stopped_text = Some(text),
        ItemKind::Reasoning { text, opaque } if item.status == ItemStatus::Done => {
            let part = AgentPart::Reasoning {
                text: text.clone(),
                opaque: opaque.clone(),
            };
            group.parts.push((item.id, part));
        }
        ItemKind::Call(call) if call.check.is_some() => {
            if let Some(told) = call.check.and_then(|check| words::check(call, check)) {
                group.note(told);
            }
        }
        ItemKind::Call(call) => {
            let Some(output) = &call.output else { return };
            let id = if call.server_id.is_empty() {
                call.call.to_string()
            } else {
                call.server_id.clone()
            };
            let part = AgentPart::Call {
                id: id.clone(),
                name: call.tool.clone(),
                arguments: call.arguments.clone(),
            };
            group.parts.push((item.id, part));
            let result = CallResult {
                id,
                name: call.tool.clone(),
                text: output.text.clone(),
                ok: output.ok,
                images: messages.images(&output.images),
            };
            group.results.push((item.id, result));
        }
        ItemKind::Malformed {
            reason, attempt, of, ..
        } if group.results.is_empty() => {
            group.note(words::malformed_note(reason, of.saturating_sub(*attempt)));
        }
        ItemKind::Guard { pattern, .. } => group.note(words::guard(*pattern)),
        ItemKind::Undo { call, redo, files } => group.note(words::undone(*redo, call, files)),
        ItemKind::ProcessEnded { process, end } => group.note(words::process_ended(process, *end)),
        ItemKind::Workflow {
            title,
            step,
            of,
            end: None,
            ..
        } => group.note(words::workflow_step(title, *step, *of)),
        ItemKind::RoleChange { to, own, .. } => group.note(words::role_changed(*to, own.as_deref())),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn a_message_that_no_request_held_goes_to_the_model_with_its_images() {
        let config = serde_json::from_value(serde_json::json!({
            "project": "/p", "title": "", "model": crate::demo_model(), "role": Role::Act,
            "autonomy": Autonomy::default(), "limits": Limits::default(),
        }));
        let mut state = SessionState::new(SessionId::new("s"), config.unwrap());
        let shot = Attachment {
            id: "a".into(),
            name: "shot.png".into(),
            media_type: "image/png".into(),
            bytes: 9,
        };
        let said = [
            ("Begin.", Delivery::Start, Vec::new()),
            ("Look at this.", Delivery::Steer { used_from: None }, vec![shot]),
        ];
        for (number, (text, delivery, images)) in (0..).zip(said) {
            state.items.push(Arc::new(Item {
                id: ItemId(number),
                turn: TurnId(1),
                iteration: number,
                started: Timestamp(0),
                ended: None,
                status: ItemStatus::Done,
                kind: ItemKind::UserMessage {
                    text: text.into(),
                    delivery,
                    images,
                    effort: None,
                    queued: None,
                },
            }));
        }
        let record = super::super::state::IterationRecord {
            limit: 25,
            finishing: false,
            answered: true,
            order: Vec::new(),
        };
        state.iterations.insert((TurnId(1), 1), record);
        let image = |of: &Attachment| {
            Some(Image {
                media_type: of.media_type.clone(),
                data: "AAAA".into(),
                name: of.name.clone(),
            })
        };
        let messages = history(&state, &image);
        let Some(Message::User { text, images }) = messages.last() else {
            panic!("{messages:?}");
        };
        assert!(text.ends_with("Look at this."), "{text}");
        assert_eq!(images.len(), 1);
    }
}
