//! A conversation as a model sees it that calls tools in its text: two speakers in turn, calls as it would have written them, the
//! results of an answer in one message.

use super::RESULT_MARK;
use super::example::written;
use crate::writing::{result_text, results_of};
use crate::{AgentPart, CallResult, Message};
use paddock_protocol::CallFormat;
use serde::de::IgnoredAny;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Speaker {
    User,
    Agent,
}

/// The messages, neighbours of one speaker joined. Reasoning stays out: it is no part of what was said.
pub(crate) fn conversation(messages: &[Message], format: CallFormat) -> Vec<(Speaker, String)> {
    let mut out = Conversation::default();
    let mut messages = messages.iter().peekable();
    while let Some(message) = messages.next() {
        match message {
            Message::User { text, .. } => out.say(Speaker::User, text),
            Message::Agent { parts } => {
                let results = match messages.peek() {
                    Some(Message::Results { results }) => results.as_slice(),
                    _ => &[],
                };
                out.say(Speaker::Agent, &answer(parts, format));
                out.say(Speaker::User, &results_text(parts, results));
            }
            // Taken with the calls that they answer; without calls they are orphans.
            Message::Results { .. } => {}
        }
    }
    out.0
}

#[derive(Default)]
struct Conversation(Vec<(Speaker, String)>);

impl Conversation {
    fn say(&mut self, speaker: Speaker, text: &str) {
        let text = text.trim_end();
        if text.trim().is_empty() {
            return;
        }
        match self.0.last_mut() {
            Some((last, all)) if *last == speaker => {
                all.push_str("\n\n");
                all.push_str(text);
            }
            _ => self.0.push((speaker, text.to_owned())),
        }
    }
}

/// What the model would have written.
fn answer(parts: &[AgentPart], format: CallFormat) -> String {
    let pieces = parts.iter().filter_map(|part| match part {
        AgentPart::Text { text } => Some(text.trim_end().to_owned()),
        AgentPart::Call { name, arguments, .. } => Some(call(name, arguments, format)),
        AgentPart::Reasoning { .. } => None,
    });
    pieces
        .filter(|text| !text.trim().is_empty())
        .collect::<Vec<_>>()
        .join("\n")
}

/// A call; one that could not be read as it was written.
fn call(name: &str, arguments: &str, format: CallFormat) -> String {
    let raw = arguments.trim();
    let raw = if raw.is_empty() { "{}" } else { raw };
    let is_json = serde_json::from_str::<IgnoredAny>(raw).is_ok();
    match (name.is_empty(), is_json) {
        (false, true) => written(format, name, raw),
        (true, true) if arguments.trim().is_empty() => String::new(),
        _ => arguments.trim_end().to_owned(),
    }
}

/// One result for each call, numbered and in the order of the calls.
fn results_text(parts: &[AgentPart], results: &[CallResult]) -> String {
    let calls: Vec<(&str, &str)> = parts
        .iter()
        .filter_map(|part| match part {
            AgentPart::Call { id, name, .. } => Some((id.as_str(), name.as_str())),
            _ => None,
        })
        .collect();
    let ids: Vec<&str> = calls.iter().map(|(id, _)| *id).collect();
    let mut texts = Vec::with_capacity(calls.len());
    for (number, ((_, name), result)) in calls.iter().zip(results_of(&ids, results)).enumerate() {
        let text = result_text(result).trim_end();
        let outcome = match result {
            Some(result) if result.ok => "ok",
            Some(_) => "failed",
            None => "unknown",
        };
        let tool = if name.is_empty() { "unreadable call" } else { name };
        let fence = fence(text);
        texts.push(format!(
            "{RESULT_MARK} call {} of {}, {tool}, {outcome}\n{fence}\n{text}\n{fence}",
            number + 1,
            calls.len()
        ));
    }
    texts.join("\n\n")
}

/// A fence that the text cannot close.
fn fence(text: &str) -> String {
    let mut longest = 0;
    let mut run = 0;
    for c in text.chars() {
        run = if c == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    "`".repeat(3.max(longest + 1))
}
