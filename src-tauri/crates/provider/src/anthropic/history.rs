//! The conversation as Messages accepts it.
//!
//! The API refuses calls without results right after them, neighbours of one role, empty texts, changed reasoning and odd ids. The
//! history is made legal here, before every request, without changing what was said: always in the same way, so that the beginning
//! of the request stays the same from one iteration to the next and the server's cache stays warm.

use super::quirks::Quirks;
use super::sealed::{Sealed, fingerprint};
use super::wire::{Block, CacheMark, ResultContent, Role, Source, WireMessage};
use crate::dialect::{Speaker, conversation};
use crate::reading::ToolNames;
use crate::writing::{CallIds, image_placeholder, legal_arguments, result_text, results_of};
use crate::{AgentPart, CallResult, Image, Message, ModelRequest};
use paddock_protocol::{CallFormat, ProviderId};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// Stands where the API wants words of the user and there are none.
const FILLER: &str = "Go on.";

pub(crate) struct HistoryWriter<'a> {
    pub provider: &'a ProviderId,
    pub names: &'a ToolNames,
    pub quirks: &'a Quirks,
    /// The conversation must end with the user.
    pub user_last: bool,
}

impl HistoryWriter<'_> {
    /// All messages of a request, the user's first, the roles in turn.
    pub fn messages<'a>(&self, request: &'a ModelRequest) -> Vec<WireMessage<'a>> {
        let mut out = Vec::with_capacity(request.messages.len());
        match request.format {
            CallFormat::Native => self.native(request, &mut out),
            CallFormat::Json | CallFormat::Xml => self.in_text(request, &mut out),
        }
        if out.first().is_none_or(|message| message.role != Role::User) {
            let filler = vec![Block::text(FILLER)];
            out.insert(
                0,
                WireMessage {
                    role: Role::User,
                    content: filler,
                },
            );
        }
        if self.user_last {
            push_unless_last(&mut out);
        }
        out
    }

    /// Calls and results as the protocol has them.
    fn native<'a>(&self, request: &'a ModelRequest, out: &mut Vec<WireMessage<'a>>) {
        let may_think = self.sendable(request);
        let mut ids = CallIds::new(false);
        let mut messages = request.messages.iter().zip(may_think).peekable();
        while let Some((message, may_think)) = messages.next() {
            match message {
                Message::User { text, images } => {
                    let mut content = self.images(images, request);
                    if !text.trim().is_empty() {
                        content.push(Block::text(text));
                    }
                    push(out, Role::User, content);
                }
                Message::Agent { parts } => {
                    let results = match messages.peek() {
                        Some((Message::Results { results }, _)) => results.as_slice(),
                        _ => &[],
                    };
                    let mut asked = Vec::new();
                    push(
                        out,
                        Role::Assistant,
                        self.answer(parts, may_think, &mut ids, &mut asked),
                    );
                    push(out, Role::User, self.results(&asked, results, request));
                }
                // Taken with the calls that they answer; without calls they are orphans.
                Message::Results { .. } => {}
            }
        }
    }

    /// Calls and results as text; images stand behind the text that they belong to.
    fn in_text<'a>(&self, request: &'a ModelRequest, out: &mut Vec<WireMessage<'a>>) {
        let mut rest = request.messages.as_slice();
        while !rest.is_empty() {
            let length = match rest {
                [Message::Agent { .. }, Message::Results { .. }, ..] => 2,
                _ => 1,
            };
            let (now, later) = rest.split_at(length);
            for (speaker, text) in conversation(now, request.format) {
                match speaker {
                    Speaker::User => join(out, Role::User, text),
                    Speaker::Agent => join(out, Role::Assistant, text),
                }
            }
            match now {
                [Message::User { images, .. }] => push(out, Role::User, self.images(images, request)),
                [Message::Agent { parts }, Message::Results { results }] => {
                    let calls = parts.iter().filter_map(|part| match part {
                        AgentPart::Call { id, .. } => Some(id.as_str()),
                        AgentPart::Text { .. } | AgentPart::Reasoning { .. } => None,
                    });
                    let calls: Vec<&str> = calls.collect();
                    for result in results_of(&calls, results).into_iter().flatten() {
                        push(out, Role::User, self.images(&result.images, request));
                    }
                }
                _ => {}
            }
            rest = later;
        }
    }

    fn answer<'a>(
        &self,
        parts: &'a [AgentPart],
        may_think: bool,
        ids: &mut CallIds,
        asked: &mut Vec<(&'a str, String)>,
    ) -> Vec<Block<'a>> {
        let block = |part: &'a AgentPart| match part {
            AgentPart::Text { text } => {
                let text = text.trim_end();
                (!text.is_empty()).then(|| Block::text(text))
            }
            AgentPart::Reasoning { text, opaque } => {
                let sealed = opaque.as_ref().filter(|_| may_think).and_then(Sealed::read)?;
                Some(match sealed {
                    Sealed::Thinking { signature } => Block::Thinking {
                        thinking: text,
                        signature,
                    },
                    Sealed::RedactedThinking { data } => Block::RedactedThinking { data },
                })
            }
            AgentPart::Call { id, name, arguments } => {
                let wire_id = ids.next(&legal_id(id));
                asked.push((id, wire_id.clone()));
                Some(Block::ToolUse {
                    id: wire_id,
                    name: self.names.to_wire(name),
                    input: input(arguments),
                })
            }
        };
        parts.iter().filter_map(block).collect()
    }

    /// One result for each call, in the order of the calls.
    fn results<'a>(
        &self,
        asked: &[(&str, String)],
        results: &'a [CallResult],
        request: &ModelRequest,
    ) -> Vec<Block<'a>> {
        let ids: Vec<&str> = asked.iter().map(|(id, _)| *id).collect();
        let block = |((_, wire_id), result): (&(&str, String), Option<&'a CallResult>)| {
            let images = result.map_or(&[][..], |result| result.images.as_slice());
            let content = match images {
                [] => ResultContent::Text(result_text(result)),
                images => {
                    let mut content = vec![Block::text(result_text(result))];
                    content.extend(self.images(images, request));
                    ResultContent::Blocks(content)
                }
            };
            Block::ToolResult {
                tool_use_id: wire_id.clone(),
                content,
                is_error: result.is_none_or(|result| !result.ok),
                cache_control: None,
            }
        };
        asked.iter().zip(results_of(&ids, results)).map(block).collect()
    }

    fn images<'a>(&self, images: &'a [Image], request: &ModelRequest) -> Vec<Block<'a>> {
        let blind =
            request.facts.images == Some(false) || self.quirks.no_images || self.quirks.once.no_images;
        let block = |image: &'a Image| match blind || image.data.is_empty() {
            true => Block::text(image_placeholder(image)),
            false => Block::Image {
                source: Source::Base64 {
                    media_type: &image.media_type,
                    data: &image.data,
                },
                cache_control: None,
            },
        };
        images.iter().map(block).collect()
    }

    /// For each message whether its reasoning may be sent. What one answer holds, from the words of the user to the next, goes
    /// whole or not at all: a part of it is refused.
    fn sendable(&self, request: &ModelRequest) -> Vec<bool> {
        let mut sendable = vec![true; request.messages.len()];
        let mut begin = 0;
        let mut whole = true;
        for (at, message) in request.messages.iter().enumerate() {
            match message {
                Message::User { text, images } if text.trim().is_empty() && images.is_empty() => {}
                Message::User { .. } => (begin, whole) = (at + 1, true),
                Message::Agent { parts } => {
                    whole &= self.is_sendable(parts, &request.model);
                    sendable[at] = true;
                }
                Message::Results { .. } => {}
            }
            if !whole {
                sendable[begin..=at].fill(false);
            }
        }
        sendable
    }

    /// Whether all reasoning of an answer came from this model, as it stands there, and something follows it.
    fn is_sendable(&self, parts: &[AgentPart], model: &str) -> bool {
        let mut follows = true;
        for part in parts {
            match part {
                AgentPart::Text { text } => follows |= !text.trim().is_empty(),
                AgentPart::Call { .. } => follows = true,
                AgentPart::Reasoning { text, opaque: None } if text.is_empty() => {}
                AgentPart::Reasoning { opaque: None, .. } => return false,
                AgentPart::Reasoning {
                    opaque: Some(opaque), ..
                } => {
                    let own = opaque.provider == *self.provider && opaque.model == model;
                    let fits = match Sealed::read(opaque) {
                        Some(Sealed::Thinking { signature }) => !signature.is_empty() || self.quirks.unsigned,
                        Some(Sealed::RedactedThinking { .. }) => true,
                        None => false,
                    };
                    if !own || !fits || self.quirks.refused.contains(&fingerprint(opaque)) {
                        return false;
                    }
                    follows = false;
                }
            }
        }
        follows
    }
}

/// Adds blocks to the last message when it is of the same role.
fn push<'a>(out: &mut Vec<WireMessage<'a>>, role: Role, content: Vec<Block<'a>>) {
    if content.is_empty() {
        return;
    }
    match out.last_mut() {
        Some(last) if last.role == role => last.content.extend(content),
        _ => out.push(WireMessage { role, content }),
    }
}

/// Adds text to the last text when it is of the same role.
fn join(out: &mut Vec<WireMessage<'_>>, role: Role, more: String) {
    let last = out.last_mut().filter(|last| last.role == role);
    match last.and_then(|last| last.content.last_mut()) {
        Some(Block::Text { text, .. }) => {
            let text = text.to_mut();
            text.push_str("\n\n");
            text.push_str(&more);
        }
        _ => push(out, role, vec![Block::text(more)]),
    }
}

fn push_unless_last(out: &mut Vec<WireMessage<'_>>) {
    if out.last().is_some_and(|message| message.role == Role::Assistant) {
        push(out, Role::User, vec![Block::text(FILLER)]);
    }
}

/// The id in the characters that ids may have.
fn legal_id(id: &str) -> String {
    let legal = |c: char| {
        if c.is_ascii_alphanumeric() || c == '-' {
            c
        } else {
            '_'
        }
    };
    id.chars().map(legal).collect()
}

/// Arguments as they were written, where they are an object.
fn input(arguments: &str) -> Cow<'_, RawValue> {
    let raw = match legal_arguments(arguments) {
        Cow::Borrowed(text) => serde_json::from_str(text).map(Cow::Borrowed),
        Cow::Owned(text) => RawValue::from_string(text).map(Cow::Owned),
    };
    // What is legal can be read.
    raw.unwrap_or(Cow::Borrowed(RawValue::NULL))
}

/// Marks the ends of the last two messages of the user: what the next request begins with is then in the server's cache.
pub(crate) fn mark(messages: &mut [WireMessage<'_>]) {
    let users = messages
        .iter_mut()
        .rev()
        .filter(|message| message.role == Role::User);
    for message in users.take(2) {
        if let Some(
            Block::Text { cache_control, .. }
            | Block::Image { cache_control, .. }
            | Block::ToolResult { cache_control, .. },
        ) = message.content.last_mut()
        {
            *cache_control = Some(CacheMark::EPHEMERAL);
        }
    }
}

/// Whether the answer that goes on after the last results began with reasoning; true when a new one begins.
pub(crate) fn begun_with_reasoning(messages: &[WireMessage<'_>]) -> bool {
    let goes_on = |message: &WireMessage<'_>| {
        message.role == Role::Assistant
            || message
                .content
                .iter()
                .any(|block| matches!(block, Block::ToolResult { .. }))
    };
    let answer = messages.iter().rev().take_while(|message| goes_on(message));
    let first = answer.filter(|message| message.role == Role::Assistant).last();
    first.is_none_or(|message| {
        matches!(
            message.content.first(),
            Some(Block::Thinking { .. } | Block::RedactedThinking { .. })
        )
    })
}
