//! The conversation as Chat Completions accepts it.
//!
//! Servers and chat templates refuse a call without its result, two neighbours of one role, empty texts and odd ids. The history is
//! made legal here, before every request, without changing what was said: always in the same way, so that the beginning of the request
//! stays the same from one iteration to the next and the server's cache stays warm.

use super::quirks::Quirks;
use crate::dialect::{Speaker, conversation};
use crate::reading::ToolNames;
use crate::{AgentPart, CallResult, Message, ModelRequest};
use paddock_protocol::{CallFormat, Opaque, ProviderId};
use serde::Serialize;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::HashSet;

/// Result of a call that has none.
const INTERRUPTED: &str = "Interrupted before it gave a result; its outcome is unknown.";
/// Stands between results of tools and a message of the user, where a template wants an answer there.
const FILLER: &str = "Understood.";

#[derive(Debug, Serialize)]
pub(crate) struct WireMessage<'a> {
    role: &'static str,
    content: Option<Cow<'a, str>>,
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
            content: Some(content.into()),
            reasoning_content: None,
            reasoning_details: None,
            tool_calls: Vec::new(),
            tool_call_id: None,
        }
    }

    fn append(&mut self, text: &str) {
        match &mut self.content {
            Some(content) => {
                let content = content.to_mut();
                content.push_str("\n\n");
                content.push_str(text);
            }
            None => self.content = Some(Cow::Owned(text.to_string())),
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
            }
        }
        if self.quirks.no_system_role && !system.is_empty() {
            match out.iter_mut().find(|message| message.role == "user") {
                Some(first) => {
                    let text = format!("{system}\n\n{}", first.content.take().unwrap_or_default());
                    first.content = Some(Cow::Owned(text));
                }
                None => out.insert(0, WireMessage::new("user", system)),
            }
        }
        out
    }

    /// Calls and results as the protocol has them.
    fn native<'a>(&self, request: &'a ModelRequest, out: &mut Vec<WireMessage<'a>>) {
        let mut ids = Ids::new(self.quirks.short_ids);
        let mut messages = request.messages.iter().peekable();
        while let Some(message) = messages.next() {
            match message {
                Message::User { text, .. } => self.user(text, out),
                Message::Agent { parts } => {
                    let results = match messages.peek() {
                        Some(Message::Results { results }) => results.as_slice(),
                        _ => &[],
                    };
                    self.agent(parts, results, &request.model, &mut ids, out);
                }
                // Taken with the calls that they answer; without calls they are orphans.
                Message::Results { .. } => {}
            }
        }
    }

    fn user<'a>(&self, text: &'a str, out: &mut Vec<WireMessage<'a>>) {
        if text.trim().is_empty() {
            return;
        }
        match out.last_mut() {
            Some(last) if last.role == "user" => last.append(text),
            Some(last) if last.role == "tool" && self.quirks.strict_alternation => {
                out.push(WireMessage::new("assistant", FILLER));
                out.push(WireMessage::new("user", text));
            }
            _ => out.push(WireMessage::new("user", text)),
        }
    }

    fn agent<'a>(
        &self,
        parts: &'a [AgentPart],
        results: &'a [CallResult],
        model: &str,
        ids: &mut Ids,
        out: &mut Vec<WireMessage<'a>>,
    ) {
        let mut message = WireMessage::new("assistant", "");
        message.content = None;
        let mut asked = Vec::new();
        for part in parts {
            match part {
                AgentPart::Text { text } if text.trim().is_empty() => {}
                AgentPart::Text { text } => match message.content {
                    None => message.content = Some(Cow::Borrowed(text.trim_end())),
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
                if let Some(text) = &message.content {
                    last.append(text);
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
        let mut used = vec![false; results.len()];
        for (id, wire_id) in asked {
            let found = results
                .iter()
                .enumerate()
                .find(|(index, result)| !used[*index] && result.id == *id)
                .map(|(index, _)| index);
            let text = match found {
                Some(index) => {
                    used[index] = true;
                    results[index].text.as_str()
                }
                None => INTERRUPTED,
            };
            // Some templates refuse an empty result.
            let text = if text.trim().is_empty() {
                "(no output)"
            } else {
                text
            };
            let mut message = WireMessage::new("tool", text);
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

/// Arguments as they were written; where they are no JSON object, an object that holds them, because servers read them.
fn legal_arguments(arguments: &str) -> Cow<'_, str> {
    if arguments.trim().is_empty() {
        return Cow::Borrowed("{}");
    }
    let is_object = arguments.trim_start().starts_with('{')
        && serde_json::from_str::<serde::de::IgnoredAny>(arguments).is_ok();
    if is_object {
        return Cow::Borrowed(arguments);
    }
    let kept: String = arguments.chars().take(2_000).collect();
    Cow::Owned(serde_json::json!({ "not_valid_json": kept }).to_string())
}

/// Ids of calls on the wire: the given one where it is legal and new, otherwise a made one.
struct Ids {
    short: bool,
    count: u64,
    used: HashSet<String>,
}

impl Ids {
    fn new(short: bool) -> Self {
        Self {
            short,
            count: 0,
            used: HashSet::new(),
        }
    }

    fn next(&mut self, id: &str) -> String {
        self.count += 1;
        let legal = if self.short {
            id.len() == 9 && id.chars().all(|c| c.is_ascii_alphanumeric())
        } else {
            (1..=40).contains(&id.len())
                && id
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ':'))
        };
        if legal && self.used.insert(id.to_string()) {
            return id.to_string();
        }
        let mut seed = self.count;
        loop {
            let made = nine_characters(id, seed);
            if self.used.insert(made.clone()) {
                return made;
            }
            seed += 1_000_000;
        }
    }
}

/// Nine letters and digits made of an id and its place in the history: the same in every request.
fn nine_characters(id: &str, seed: u64) -> String {
    const LETTERS: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in id.bytes().chain(seed.to_le_bytes()) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    (0..9)
        .map(|_| {
            let letter = LETTERS[(hash % 62) as usize] as char;
            hash /= 62;
            letter
        })
        .collect()
}
