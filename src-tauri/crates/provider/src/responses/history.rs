//! The conversation as input items.
//!
//! The history is made legal here, before every request, without changing what was said: every call has one result after its
//! answer, neighbours of the user are one message, nothing is empty, sealed reasoning stands before what it led to. Always in the same way,
//! so that the beginning of the request stays the same from one iteration to the next.

use super::parameters::Parameters;
use super::quirks::{Quirks, Sent};
use super::sealed::{self, fingerprint};
use crate::dialect::{Speaker, conversation};
use crate::reading::ToolNames;
use crate::writing::{CallIds, image_placeholder, legal_arguments, result_text, results_of};
use crate::{AgentPart, CallResult, Image, Message, ModelRequest};
use paddock_protocol::{CallFormat, ProviderId};
use serde::{Serialize, Serializer};
use serde_json::Value;
use std::borrow::Cow;

/// Stands between results of tools and a message of the user, where a template wants an answer there.
const FILLER: &str = "Understood.";
/// A request without any message is refused.
const NOTHING_SAID: &str = "Go on.";

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum InputItem<'a> {
    Message {
        role: Role,
        content: Content<'a>,
    },
    FunctionCall {
        call_id: String,
        name: String,
        arguments: Cow<'a, str>,
    },
    FunctionCallOutput {
        call_id: String,
        output: Cow<'a, str>,
    },
    /// Reasoning, as the server sent it.
    #[serde(untagged)]
    Sealed(Value),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Role {
    User,
    Assistant,
}

/// Parts of a message; a single text of the user is written as a string, which more servers understand.
#[derive(Debug)]
pub(super) struct Content<'a>(Vec<Part<'a>>);

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Part<'a> {
    InputText { text: Cow<'a, str> },
    InputImage { image_url: String },
    OutputText { text: Cow<'a, str> },
}

impl Serialize for Content<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.as_slice() {
            [Part::InputText { text }] => serializer.serialize_str(text),
            parts => parts.serialize(serializer),
        }
    }
}

pub(super) struct HistoryWriter<'a> {
    pub provider: &'a ProviderId,
    pub names: &'a ToolNames,
    pub quirks: &'a Quirks,
    pub parameters: &'a Parameters,
    /// What of the request may be refused.
    pub sent: Sent,
}

impl HistoryWriter<'_> {
    /// All items of a request.
    pub fn items<'a>(&mut self, request: &'a ModelRequest) -> Vec<InputItem<'a>> {
        let mut out = Vec::with_capacity(request.messages.len());
        match request.format {
            CallFormat::Native => self.native(request, &mut out),
            CallFormat::Json | CallFormat::Xml => self.dialect(request, &mut out),
        }
        if out.is_empty() {
            self.user(vec![input_text(NOTHING_SAID)], &mut out);
        }
        out
    }

    /// Calls and results as the protocol has them.
    fn native<'a>(&mut self, request: &'a ModelRequest, out: &mut Vec<InputItem<'a>>) {
        let mut ids = CallIds::new(false);
        let mut messages = request.messages.iter().peekable();
        while let Some(message) = messages.next() {
            match message {
                Message::User { text, images } => {
                    let mut parts = Vec::new();
                    if !text.trim().is_empty() {
                        parts.push(input_text(text.trim_end()));
                    }
                    parts.extend(images.iter().map(|image| self.image(image)));
                    self.user(parts, out);
                }
                Message::Agent { parts } => {
                    let results = match messages.peek() {
                        Some(Message::Results { results }) => results.as_slice(),
                        _ => &[],
                    };
                    let asked = self.agent(parts, &request.model, &mut ids, out);
                    self.results(&asked, results, out);
                }
                // Taken with the calls that they answer; without calls they are orphans.
                Message::Results { .. } => {}
            }
        }
    }

    /// Calls and results as texts; images stand after the message that they belong to.
    fn dialect<'a>(&mut self, request: &'a ModelRequest, out: &mut Vec<InputItem<'a>>) {
        let mut rest = request.messages.as_slice();
        while !rest.is_empty() {
            let length = match rest {
                [Message::Agent { .. }, Message::Results { .. }, ..] => 2,
                _ => 1,
            };
            let (now, later) = rest.split_at(length);
            for (speaker, text) in conversation(now, request.format) {
                match speaker {
                    Speaker::User => self.user(vec![input_text(text)], out),
                    Speaker::Agent => self.answer(text.into(), out),
                }
            }
            let images = match now {
                [Message::User { images, .. }] => images.iter().map(|image| self.image(image)).collect(),
                [Message::Agent { parts }, Message::Results { results }] => {
                    let calls = parts.iter().filter_map(|part| match part {
                        AgentPart::Call { id, .. } => Some(id.as_str()),
                        _ => None,
                    });
                    let results = results_of(&calls.collect::<Vec<_>>(), results);
                    let results = results.into_iter().flatten();
                    results
                        .flat_map(|result| self.result_images(&result.name, result))
                        .collect()
                }
                _ => Vec::new(),
            };
            self.user(images, out);
            rest = later;
        }
    }

    /// The images of a result, after a line that says whose they are.
    fn result_images<'a>(&mut self, whose: &str, result: &CallResult) -> Vec<Part<'a>> {
        if result.images.is_empty() {
            return Vec::new();
        }
        let mut parts = vec![input_text(format!("Images of the result of {whose}:"))];
        parts.extend(result.images.iter().map(|image| self.image(image)));
        parts
    }

    /// One image, or its name for a model that does not see or whose server refused it.
    fn image<'a>(&mut self, image: &Image) -> Part<'a> {
        let fingerprint = fingerprint(&image.data);
        if !self.parameters.images || self.quirks.refused.contains(&fingerprint) {
            return input_text(image_placeholder(image));
        }
        self.sent.images.push(fingerprint);
        Part::InputImage {
            image_url: format!("data:{};base64,{}", image.media_type, image.data),
        }
    }

    /// Neighbours of the user are one message, texts beside each other one text.
    fn user<'a>(&self, parts: Vec<Part<'a>>, out: &mut Vec<InputItem<'a>>) {
        if parts.is_empty() {
            return;
        }
        let after_results = matches!(out.last(), Some(InputItem::FunctionCallOutput { .. }));
        if after_results && self.quirks.strict_alternation {
            self.answer(FILLER.into(), out);
        }
        if !matches!(out.last(), Some(InputItem::Message { role: Role::User, .. })) {
            out.push(InputItem::Message {
                role: Role::User,
                content: Content(Vec::new()),
            });
        }
        let Some(InputItem::Message { content, .. }) = out.last_mut() else {
            return;
        };
        for part in parts {
            match (content.0.last_mut(), part) {
                (Some(Part::InputText { text }), Part::InputText { text: more }) => {
                    let text = text.to_mut();
                    text.push_str("\n\n");
                    text.push_str(&more);
                }
                (_, part) => content.0.push(part),
            }
        }
    }

    /// A text of the model; neighbours are one message.
    fn answer<'a>(&self, text: Cow<'a, str>, out: &mut Vec<InputItem<'a>>) {
        if let Some(InputItem::Message {
            role: Role::Assistant,
            content,
        }) = out.last_mut()
            && let [Part::OutputText { text: all } | Part::InputText { text: all }] = content.0.as_mut_slice()
        {
            let all = all.to_mut();
            all.push_str("\n\n");
            all.push_str(&text);
            return;
        }
        // Written as a string.
        let part = match self.quirks.plain_answers {
            true => Part::InputText { text },
            false => Part::OutputText { text },
        };
        out.push(InputItem::Message {
            role: Role::Assistant,
            content: Content(vec![part]),
        });
    }

    /// An answer of the model. Returns its calls: own id, name and id on the wire.
    fn agent<'a>(
        &mut self,
        parts: &'a [AgentPart],
        model: &str,
        ids: &mut CallIds,
        out: &mut Vec<InputItem<'a>>,
    ) -> Vec<(&'a str, &'a str, String)> {
        let quirks = self.quirks;
        let is_refused = |fingerprint| quirks.refused.contains(&fingerprint);
        let mut sealed = sealed::items(parts, self.provider, model, is_refused)
            .into_iter()
            .peekable();
        // Sealed reasoning stands where it stood; otherwise calls come last, right before their results.
        let in_order = sealed.peek().is_some();
        let mut asked = Vec::new();
        let mut calls = Vec::new();
        for (at, part) in parts.iter().enumerate() {
            match part {
                AgentPart::Text { text } if text.trim().is_empty() => {}
                AgentPart::Text { text } => self.answer(text.trim_end().into(), out),
                AgentPart::Reasoning { opaque, .. } => {
                    if let Some((_, mut item)) = sealed.next_if(|(place, _)| *place == at) {
                        self.sent
                            .sealed
                            .extend(opaque.as_ref().map(|opaque| fingerprint(&opaque.data)));
                        if let Some(fields) = item.as_object_mut().filter(|_| self.quirks.no_item_status) {
                            fields.shift_remove("status");
                        }
                        out.push(InputItem::Sealed(item));
                    }
                }
                AgentPart::Call { id, name, arguments } => {
                    let call_id = ids.next(id);
                    asked.push((id.as_str(), name.as_str(), call_id.clone()));
                    let call = InputItem::FunctionCall {
                        call_id,
                        name: self.names.to_wire(name),
                        arguments: legal_arguments(arguments),
                    };
                    match in_order {
                        true => out.push(call),
                        false => calls.push(call),
                    }
                }
            }
        }
        out.extend(calls);
        asked
    }

    /// One result for each call, in the order of the calls; their images after all of them.
    fn results<'a>(
        &mut self,
        asked: &[(&str, &str, String)],
        results: &'a [CallResult],
        out: &mut Vec<InputItem<'a>>,
    ) {
        let ids: Vec<&str> = asked.iter().map(|(id, ..)| *id).collect();
        let mut images = Vec::new();
        for ((_, name, call_id), result) in asked.iter().zip(results_of(&ids, results)) {
            if let Some(result) = result {
                images.extend(self.result_images(&format!("{name} ({call_id})"), result));
            }
            out.push(InputItem::FunctionCallOutput {
                call_id: call_id.clone(),
                output: result_text(result).into(),
            });
        }
        self.user(images, out);
    }
}

fn input_text<'a>(text: impl Into<Cow<'a, str>>) -> Part<'a> {
    Part::InputText { text: text.into() }
}
