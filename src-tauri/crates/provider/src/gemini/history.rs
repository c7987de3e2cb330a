//! The conversation as Gemini accepts it.
//!
//! Contents of user and model in turn, each call answered in the content after it, signatures on exactly the part that they came with.
//! The history is made legal here, before every request and always in the same way, so that the beginning of the request stays the
//! same from one iteration to the next.

use super::parameters::Parameters;
use super::signature::{Place, Signature};
use crate::dialect::{Speaker, conversation};
use crate::reading::ToolNames;
use crate::writing::{CallIds, image_placeholder, legal_arguments, result_text, results_of};
use crate::{AgentPart, CallResult, Image, Message, ModelRequest};
use paddock_protocol::{CallFormat, ProviderId};
use serde::Serialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// Where a conversation would begin or end with the model, who has to be asked.
const FILLER: &str = "Go on.";
/// In the place of a signature, on a call that another model made: tells the server not to look for one.
const STAND_IN: &str = "skip_thought_signature_validator";
/// Kinds of images that every model takes.
const IMAGE_TYPES: [&str; 3] = ["image/png", "image/jpeg", "image/webp"];

#[derive(Debug, Serialize)]
pub(super) struct Content<'a> {
    role: &'static str,
    parts: Vec<Part<'a>>,
}

#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Part<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    thought: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    inline_data: Option<InlineData<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    function_call: Option<FunctionCall<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    function_response: Option<FunctionResponse<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thought_signature: Option<Cow<'a, str>>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct InlineData<'a> {
    mime_type: &'a str,
    data: &'a str,
}

#[derive(Debug, Serialize)]
struct FunctionCall<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    name: String,
    #[serde(serialize_with = "as_json")]
    args: Cow<'a, str>,
}

#[derive(Debug, Serialize)]
struct FunctionResponse<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    name: String,
    response: Outcome<'a>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "lowercase")]
enum Outcome<'a> {
    Output(&'a str),
    Error(&'a str),
}

/// JSON text as it stands.
fn as_json<S: serde::Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
    let raw: &RawValue = serde_json::from_str(text.trim()).map_err(serde::ser::Error::custom)?;
    raw.serialize(serializer)
}

impl<'a> Part<'a> {
    fn text(text: impl Into<Cow<'a, str>>) -> Self {
        Self {
            text: Some(text.into()),
            ..Self::default()
        }
    }

    /// Text that is nothing but text.
    fn plain_text(&mut self) -> Option<&mut Cow<'a, str>> {
        match self {
            Self {
                text: Some(text),
                thought: false,
                thought_signature: None,
                ..
            } => Some(text),
            _ => None,
        }
    }
}

pub(super) struct HistoryWriter<'a> {
    pub provider: &'a ProviderId,
    pub names: &'a ToolNames,
    pub parameters: Parameters,
    /// Signatures of the model go back to it.
    pub signatures: bool,
}

impl HistoryWriter<'_> {
    /// The contents of a request; `system` where it has no field of its own.
    pub fn contents<'a>(&self, request: &'a ModelRequest, system: Option<&'a str>) -> Vec<Content<'a>> {
        let mut out = Contents::default();
        if let Some(system) = system {
            out.add("user", vec![Part::text(system)]);
        }
        match request.format {
            CallFormat::Native => self.native(request, &mut out),
            CallFormat::Json | CallFormat::Xml => self.dialect(request, &mut out),
        }
        let mut contents = out.0;
        if contents.first().is_none_or(|first| first.role == "model") {
            let role = "user";
            let parts = vec![Part::text(FILLER)];
            contents.insert(0, Content { role, parts });
        }
        if contents.last().is_some_and(|last| last.role == "model") {
            let role = "user";
            let parts = vec![Part::text(FILLER)];
            contents.push(Content { role, parts });
        }
        contents
    }

    /// Calls and results as the protocol has them.
    fn native<'a>(&self, request: &'a ModelRequest, out: &mut Contents<'a>) {
        let mut ids = CallIds::new(false);
        let mut messages = request.messages.iter().peekable();
        while let Some(message) = messages.next() {
            match message {
                Message::User { text, images } => {
                    let mut parts = Vec::new();
                    if !text.trim().is_empty() {
                        parts.push(Part::text(text.trim_end()));
                    }
                    self.images(images, None, &mut parts);
                    out.add("user", parts);
                }
                Message::Agent { parts } => {
                    let results = match messages.peek() {
                        Some(Message::Results { results }) => results.as_slice(),
                        _ => &[],
                    };
                    let ids: Vec<Option<String>> = calls(parts)
                        .map(|(id, _)| Some(ids.next(id)).filter(|_| self.parameters.ids))
                        .collect();
                    out.add("model", self.agent(parts, &ids, &request.model));
                    out.add("user", self.results(parts, &ids, results));
                }
                // Taken with the calls that they answer; without calls they are orphans.
                Message::Results { .. } => {}
            }
        }
    }

    /// Calls and results as text. Images stand after the message that they came with.
    fn dialect<'a>(&self, request: &'a ModelRequest, out: &mut Contents<'a>) {
        let mut rest = request.messages.as_slice();
        while !rest.is_empty() {
            let has_images = |message: &Message| match message {
                Message::User { images, .. } => !images.is_empty(),
                Message::Results { results } => results.iter().any(|result| !result.images.is_empty()),
                Message::Agent { .. } => false,
            };
            let end = rest.iter().position(has_images).map_or(rest.len(), |at| at + 1);
            let (now, later) = rest.split_at(end);
            for (speaker, text) in conversation(now, request.format) {
                let role = match speaker {
                    Speaker::User => "user",
                    Speaker::Agent => "model",
                };
                out.add(role, vec![Part::text(text)]);
            }
            let mut parts = Vec::new();
            match now {
                [.., Message::User { images, .. }] => self.images(images, None, &mut parts),
                [.., Message::Agent { .. }, Message::Results { results }] => {
                    for result in results {
                        self.images(&result.images, Some(&result.name), &mut parts);
                    }
                }
                _ => {}
            }
            out.add("user", parts);
            rest = later;
        }
    }

    fn agent<'a>(&self, parts: &'a [AgentPart], ids: &[Option<String>], model: &str) -> Vec<Part<'a>> {
        let mut signatures = Signature::of_message(parts, self.provider, model);
        if !self.signatures {
            signatures.clear();
        }
        let mut out: Vec<Part<'a>> = Vec::new();
        let mut ids = ids.iter();
        for (at, part) in parts.iter().enumerate() {
            let signature = signatures.get(&at);
            let written = match part {
                // Reasoning without a signature is told to people only.
                AgentPart::Reasoning { text, .. } => signature.map(|signature| Part {
                    thought: signature.place == Place::Thought,
                    ..Part::text(text.as_str())
                }),
                AgentPart::Text { text } if text.trim().is_empty() && signature.is_none() => None,
                AgentPart::Text { text } => Some(Part::text(text.as_str())),
                AgentPart::Call { name, arguments, .. } => Some(Part {
                    function_call: Some(FunctionCall {
                        id: ids.next().cloned().flatten(),
                        name: self.names.to_wire(name),
                        args: legal_arguments(arguments),
                    }),
                    ..Part::default()
                }),
            };
            out.extend(written.map(|part| Part {
                thought_signature: signature.map(|signature| Cow::Owned(signature.value.clone())),
                ..part
            }));
        }
        self.stand_in(&mut out);
        trim(&mut out);
        out
    }

    /// One call of an answer has to be signed, the first; where none is, the history comes from elsewhere.
    fn stand_in(&self, parts: &mut [Part<'_>]) {
        let mut calls = parts.iter_mut().filter(|part| part.function_call.is_some());
        let Some(first) = calls.next().filter(|_| self.parameters.stand_ins) else {
            return;
        };
        if first.thought_signature.is_none() && calls.all(|call| call.thought_signature.is_none()) {
            first.thought_signature = Some(Cow::Borrowed(STAND_IN));
        }
    }

    /// One result for each call, in the order of the calls; their images after all of them.
    fn results<'a>(
        &self,
        parts: &'a [AgentPart],
        ids: &[Option<String>],
        results: &'a [CallResult],
    ) -> Vec<Part<'a>> {
        let calls: Vec<(&str, &str)> = calls(parts).collect();
        let own_ids: Vec<&str> = calls.iter().map(|(id, _)| *id).collect();
        let found = results_of(&own_ids, results);
        let mut out = Vec::new();
        for (((_, name), id), result) in calls.iter().zip(ids).zip(&found) {
            let text = result_text(*result);
            out.push(Part {
                function_response: Some(FunctionResponse {
                    id: id.clone(),
                    name: self.names.to_wire(name),
                    response: match result {
                        Some(result) if result.ok => Outcome::Output(text),
                        _ => Outcome::Error(text),
                    },
                }),
                ..Part::default()
            });
        }
        for ((_, name), result) in calls.iter().zip(found) {
            if let Some(result) = result {
                self.images(&result.images, Some(name), &mut out);
            }
        }
        out
    }

    /// Images, or their names for a model that does not see. `tool`: whose result they belong to.
    fn images<'a>(&self, images: &'a [Image], tool: Option<&str>, out: &mut Vec<Part<'a>>) {
        for image in images {
            if !self.parameters.images {
                out.push(Part::text(image_placeholder(image)));
                continue;
            }
            if !IMAGE_TYPES.contains(&image.media_type.as_str()) || image.data.is_empty() {
                let text = format!(
                    "[Image {}: this model does not take {}]",
                    image.name.trim(),
                    image.media_type
                );
                out.push(Part::text(text));
                continue;
            }
            if let Some(tool) = tool {
                let of = if tool.is_empty() { "" } else { " of " };
                let text = format!("Image {}, from the result{of}{tool}:", image.name.trim());
                out.push(Part::text(text));
            }
            out.push(Part {
                inline_data: Some(InlineData {
                    mime_type: &image.media_type,
                    data: &image.data,
                }),
                ..Part::default()
            });
        }
    }
}

/// Id and name of each call.
fn calls(parts: &[AgentPart]) -> impl Iterator<Item = (&str, &str)> {
    parts.iter().filter_map(|part| match part {
        AgentPart::Call { id, name, .. } => Some((id.as_str(), name.as_str())),
        _ => None,
    })
}

/// Blanks at the end of texts go, except where a signed text goes on: it has to stay as it was.
fn trim(parts: &mut [Part<'_>]) {
    let mut goes_on = false;
    for part in parts.iter_mut().rev() {
        if let Some(text) = part.plain_text().filter(|_| !goes_on) {
            *text = match std::mem::take(text) {
                Cow::Borrowed(text) => Cow::Borrowed(text.trim_end()),
                Cow::Owned(text) => Cow::Owned(text.trim_end().to_owned()),
            };
        }
        let has_text = part.text.as_ref().is_some_and(|text| !text.is_empty());
        goes_on = has_text && part.thought_signature.is_some() && !part.thought;
    }
}

#[derive(Default)]
struct Contents<'a>(Vec<Content<'a>>);

impl<'a> Contents<'a> {
    /// Neighbours of one role become one content, their texts one text.
    fn add(&mut self, role: &'static str, parts: Vec<Part<'a>>) {
        if parts.is_empty() {
            return;
        }
        if self.0.last().is_none_or(|last| last.role != role) {
            let parts = Vec::with_capacity(parts.len());
            self.0.push(Content { role, parts });
        }
        let Some(last) = self.0.last_mut() else { return };
        for mut part in parts {
            let before = last.parts.last_mut().and_then(Part::plain_text);
            match (before, part.plain_text()) {
                (Some(before), Some(text)) => {
                    let before = before.to_mut();
                    before.push_str("\n\n");
                    before.push_str(text);
                }
                _ => last.parts.push(part),
            }
        }
    }
}
