//! The conversation as Chat Completions accepts it.
//!
//! Servers and chat templates refuse a call without its result, two neighbours of one role, empty texts and odd ids. The history is
//! made legal here, before every request, without changing what was said: always in the same way, so that the beginning of the request
//! stays the same from one iteration to the next and the server's cache stays warm.

use super::content::Content;
use super::quirks::Quirks;
use crate::dialect::{Speaker, conversation};
use crate::reading::ToolNames;
use crate::writing::{CallIds, image_placeholder, legal_arguments, result_text, results_of};
use crate::{AgentPart, CallResult, Image, Message, ModelRequest};
use paddock_protocol::{CallFormat, Opaque, ProviderId};
use serde::Serialize;
use serde_json::Value;
use std::borrow::Cow;

/// Stands between results of tools and a message of the user, where a template wants an answer there.
const FILLER: &str = "Understood.";

#[derive(Debug, Serialize)]
pub(crate) struct WireMessage<'a> {
    role: &'static str,
    content: Option<Content<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_content: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_details: Option<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<WireCall<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<String>,
}

#[derive(Debug, Serialize)]
struct WireCall<'a> {
    id: String,
    #[serde(rename = "type")]
    kind: &'static str,
    function: WireFunction<'a>,
}

#[derive(Debug, Serialize)]
struct WireFunction<'a> {
    name: String,
    arguments: Cow<'a, str>,
}

impl<'a> WireMessage<'a> {
    fn new(role: &'static str, content: impl Into<Cow<'a, str>>) -> Self {
        Self {
            role,
            content: Some(Content::new(content)),
            reasoning_content: None,
            reasoning_details: None,
            tool_calls: Vec::new(),
            tool_call_id: None,
        }
    }

    fn append(&mut self, text: &str) {
        match &mut self.content {
            Some(content) => content.append(text),
            None => self.content = Some(Content::new(text.to_owned())),
        }
    }
}

pub(crate) struct HistoryWriter<'a> {
    pub provider: &'a ProviderId,
    pub names: &'a ToolNames,
    pub quirks: &'a Quirks,
}

impl HistoryWriter<'_> {
    /// All messages of a request, system text first.
    pub fn messages<'a>(&self, request: &'a ModelRequest, system: &'a str) -> Vec<WireMessage<'a>> {
        let mut out = Vec::with_capacity(request.messages.len() + 1);
        let system = system.trim_end();
        if !system.is_empty() && !self.quirks.no_system_role {
            out.push(WireMessage::new("system", system));
        }
        match request.format {
            CallFormat::Native => self.native(request, &mut out),
            CallFormat::Json | CallFormat::Xml => {
                let said = conversation(&request.messages, request.format);
                out.extend(said.into_iter().map(|(speaker, text)| match speaker {
                    Speaker::User => WireMessage::new("user", text),
                    Speaker::Agent => WireMessage::new("assistant", text),
                }));
                self.show_beside_text(request, &mut out);
            }
        }
        if self.quirks.no_system_role && !system.is_empty() {
            match out.iter_mut().find(|message| message.role == "user") {
                Some(first) => first
                    .content
                    .get_or_insert_with(|| Content::new(""))
                    .prepend(system),
                None => out.insert(0, WireMessage::new("user", system)),
            }
        }
        out
    }

    /// Calls and results as the protocol has them.
    fn native<'a>(&self, request: &'a ModelRequest, out: &mut Vec<WireMessage<'a>>) {
        let mut ids = CallIds::new(self.quirks.short_ids);
        let mut messages = request.messages.iter().peekable();
        while let Some(message) = messages.next() {
            match message {
                Message::User { text, images } => {
                    self.user(text, out);
                    self.show(images, request, out);
                }
                Message::Agent { parts } => {
                    let results = match messages.peek() {
                        Some(Message::Results { results }) => results.as_slice(),
                        _ => &[],
                    };
                    self.agent(parts, results, &request.model, &mut ids, out);
                    // A result holds text alone; what it shows follows as if the person had shown it.
                    let images = results.iter().flat_map(|result| &result.images);
                    self.show(images, request, out);
                }
                // Taken with the calls that they answer; without calls they are orphans.
                Message::Results { .. } => {}
            }
        }
    }

    fn user<'a>(&self, text: &'a str, out: &mut Vec<WireMessage<'a>>) {
        if !text.trim().is_empty() {
            self.say(Cow::Borrowed(text), out);
        }
    }

    fn user_owned(&self, text: String, out: &mut Vec<WireMessage<'_>>) {
        self.say(Cow::Owned(text), out);
    }

    fn say<'a>(&self, text: Cow<'a, str>, out: &mut Vec<WireMessage<'a>>) {
        match out.last_mut() {
            Some(last) if last.role == "user" => last.append(&text),
            Some(last) if last.role == "tool" && self.quirks.strict_alternation => {
                out.push(WireMessage::new("assistant", FILLER));
                out.push(WireMessage::new("user", text));
            }
            _ => out.push(WireMessage::new("user", text)),
        }
    }

    /// In a text dialect neighbours are joined before; an image stands with the text that it came with.
    fn show_beside_text<'a>(&self, request: &'a ModelRequest, out: &mut Vec<WireMessage<'a>>) {
        for message in &request.messages {
            let Message::User { text, images } = message else {
                continue;
            };
            let says = |wire: &WireMessage<'_>| {
                wire.role == "user"
                    && wire
                        .content
                        .as_ref()
                        .is_some_and(|content| content.text().contains(text.trim()))
            };
            let Some(place) = out.iter().position(says) else {
                continue;
            };
            let rest = out.split_off(place + 1);
            self.show(images, request, out);
            out.extend(rest);
        }
    }

    /// Images join the person's message, or make one; for a model that does not see, words stand in their place.
    fn show<'a>(
        &self,
        images: impl IntoIterator<Item = &'a Image>,
        request: &ModelRequest,
        out: &mut Vec<WireMessage<'a>>,
    ) {
        let blind = self.quirks.no_images || request.facts.images == Some(false);
        for image in images {
            if blind {
                self.user_owned(image_placeholder(image), out);
                continue;
            }
            if out.last().is_none_or(|last| last.role != "user") {
                self.user_owned(image.name.clone(), out);
            }
            if let Some(content) = out.last_mut().and_then(|last| last.content.as_mut()) {
                content.show([image]);
            }
        }
    }

    fn agent<'a>(
        &self,
        parts: &'a [AgentPart],
        results: &'a [CallResult],
        model: &str,
        ids: &mut CallIds,
        out: &mut Vec<WireMessage<'a>>,
    ) {
        let mut message = WireMessage::new("assistant", "");
        message.content = None;
        let mut asked = Vec::new();
        for part in parts {
            match part {
                AgentPart::Text { text } if text.trim().is_empty() => {}
                AgentPart::Text { text } => match message.content {
                    None => message.content = Some(Content::new(text.trim_end())),
                    Some(_) => message.append(text.trim_end()),
                },
                AgentPart::Reasoning { text, opaque } => {
                    self.reasoning(text, opaque.as_ref(), model, &mut message);
                }
                AgentPart::Call { id, name, arguments } => {
                    let wire_id = ids.next(id);
                    asked.push((id.as_str(), wire_id.clone()));
                    message.tool_calls.push(WireCall {
                        id: wire_id,
                        kind: "function",
                        function: WireFunction {
                            name: self.names.to_wire(name),
                            arguments: legal_arguments(arguments),
                        },
                    });
                }
            }
        }
        if message.content.is_none() && message.tool_calls.is_empty() {
            return;
        }
        match out.last_mut() {
            Some(last) if last.role == "assistant" => {
                if let Some(content) = &message.content {
                    last.append(content.text());
                }
                last.tool_calls = message.tool_calls;
                last.reasoning_content = last.reasoning_content.take().or(message.reasoning_content);
                last.reasoning_details = last.reasoning_details.take().or(message.reasoning_details);
            }
            _ => out.push(message),
        }
        self.results(&asked, results, out);
    }

    /// One result for each call, in the order of the calls.
    fn results<'a>(
        &self,
        asked: &[(&str, String)],
        results: &'a [CallResult],
        out: &mut Vec<WireMessage<'a>>,
    ) {
        let ids: Vec<&str> = asked.iter().map(|(id, _)| *id).collect();
        for ((_, wire_id), result) in asked.iter().zip(results_of(&ids, results)) {
            let mut message = WireMessage::new("tool", result_text(result));
            message.tool_call_id = Some(wire_id.clone());
            out.push(message);
        }
    }

    /// Reasoning goes back only to the provider and model that it came from.
    fn reasoning<'a>(
        &self,
        text: &'a str,
        opaque: Option<&Opaque>,
        model: &str,
        message: &mut WireMessage<'a>,
    ) {
        let Some(opaque) = opaque.filter(|opaque| opaque.provider == *self.provider && opaque.model == model)
        else {
            return;
        };
        match serde_json::from_str::<Value>(&opaque.data) {
            Ok(details @ Value::Array(_)) => message.reasoning_details = Some(details),
            _ if self.quirks.echo_reasoning => message.reasoning_content = Some(Cow::Borrowed(text)),
            _ => {}
        }
    }
}
