//! Text, reasoning and calls of one attempt, put together in the order in which they began.

use super::DecodeFailure;
use super::calls::{CallPiece, Calls};
use super::halves::{self, Seam};
use super::json::parse;
use super::names::ToolNames;
use super::text_answer::{CUT_AT_LIMIT, CUT_BY_PROVIDER, TextAnswer, calls_in_text};
use super::think::{Sorted, ThinkSplitter, split_lone_close};
use crate::runaway::RunawayGuard;
use crate::{Answer, AnswerPart, Finish, ModelEvent, ToolSpec};
use paddock_protocol::{CallFormat, FinishReason, Opaque, ProviderId, Usage};
use serde_json::Value;
use std::collections::BTreeMap;

/// `key` names the block of the stream that a part belongs to; without one a part goes on where the last one ended.
#[derive(Debug)]
enum Segment {
    Text {
        key: Option<u64>,
        text: String,
    },
    Reasoning {
        key: Option<u64>,
        text: String,
        opaque: Option<String>,
    },
    /// Number of a slot of [`Calls`].
    Call(usize),
}

pub(crate) struct Assembly<'a> {
    tools: &'a [ToolSpec],
    names: &'a ToolNames,
    segments: Vec<Segment>,
    calls: Calls,
    /// The text, where calls are written in it.
    dialect: Option<TextAnswer<'a>>,
    /// Ends of the texts and of the reasoning that stream, by their blocks.
    text_seams: BTreeMap<Option<u64>, Seam>,
    reasoning_seams: BTreeMap<Option<u64>, Seam>,
    /// The event at hand holds halves of characters.
    halved: bool,
    think: ThinkSplitter,
    text_guard: RunawayGuard,
    reasoning_guard: RunawayGuard,
    /// Reasoning came apart from the text.
    reasoning_apart: bool,
    think_tags: bool,
    /// As the server counted, when it did.
    pub usage: Option<Usage>,
    /// Why the model stopped, once it has.
    pub finish: Option<FinishReason>,
    /// The server said that nothing follows.
    pub done: bool,
}

impl<'a> Assembly<'a> {
    pub fn new(tools: &'a [ToolSpec], names: &'a ToolNames, format: CallFormat) -> Self {
        let dialect = TextAnswer::new(format, names);
        Self {
            tools,
            names,
            segments: Vec::new(),
            calls: Calls::default(),
            text_seams: BTreeMap::new(),
            reasoning_seams: BTreeMap::new(),
            halved: false,
            think: ThinkSplitter::default(),
            // Calls in the text hold files.
            text_guard: match dialect {
                Some(_) => RunawayGuard::arguments(),
                None => RunawayGuard::text(),
            },
            dialect,
            reasoning_guard: RunawayGuard::text(),
            reasoning_apart: false,
            think_tags: false,
            usage: None,
            finish: None,
            done: false,
        }
    }

    /// Reads the JSON of an event. What is put into the answer until the next one is a part of it.
    pub fn parse(&mut self, data: &str) -> Result<Value, DecodeFailure> {
        let (value, halved) = parse(data).map_err(|error| DecodeFailure::unreadable(error, data))?;
        self.halved = halved;
        Ok(value)
    }

    /// The event at hand holds halves of characters, whose other halves came or come in others, or never.
    pub fn is_halved(&self) -> bool {
        self.halved
    }

    /// A character of the reasoning `key` was lost.
    pub fn is_reasoning_damaged(&self, key: Option<u64>) -> bool {
        self.reasoning_seams.get(&key).is_some_and(Seam::is_damaged)
    }

    /// Every character of the reasoning `key` came whole.
    pub fn is_reasoning_whole(&self, key: Option<u64>) -> bool {
        self.reasoning_seams.get(&key).is_none_or(Seam::is_whole)
    }

    /// Whether reasoning came apart from the text.
    pub fn has_reasoning_apart(&self) -> bool {
        self.reasoning_apart
    }

    /// More text of the block `key`. Reasoning between think tags at its start is told apart.
    pub fn text(
        &mut self,
        key: Option<u64>,
        text: &str,
        events: &mut dyn FnMut(ModelEvent),
    ) -> Result<(), DecodeFailure> {
        let text = self.text_seams.entry(key).or_default().join(text, self.halved);
        if let Some(why) = self.text_guard.push(&text) {
            return Err(DecodeFailure::Runaway(why));
        }
        let mut sorted = Vec::new();
        self.think.push(&text, &mut sorted);
        self.sorted(key, sorted, events)
    }

    /// Words with which the model or its provider refuses: text, whatever stands in them.
    pub fn refusal(
        &mut self,
        key: Option<u64>,
        text: &str,
        events: &mut dyn FnMut(ModelEvent),
    ) -> Result<(), DecodeFailure> {
        let text = self.text_seams.entry(key).or_default().join(text, self.halved);
        self.sorted(key, vec![Sorted::Text(text.into_owned())], events)
    }

    fn sorted(
        &mut self,
        key: Option<u64>,
        sorted: Vec<Sorted>,
        events: &mut dyn FnMut(ModelEvent),
    ) -> Result<(), DecodeFailure> {
        for piece in sorted {
            match piece {
                Sorted::Reasoning(text) => {
                    self.think_tags = true;
                    self.add_reasoning(None, text, events)?;
                }
                Sorted::Text(text) => {
                    if let Some(dialect) = &mut self.dialect {
                        dialect.push(&text, events);
                        continue;
                    }
                    match self.text_of(key) {
                        Some(all) => all.push_str(&text),
                        None => self.segments.push(Segment::Text {
                            key,
                            text: text.clone(),
                        }),
                    }
                    events(ModelEvent::Text(text));
                }
            }
        }
        Ok(())
    }

    fn text_of(&mut self, of: Option<u64>) -> Option<&mut String> {
        let found = match of {
            None => self.segments.last_mut(),
            Some(_) => self
                .segments
                .iter_mut()
                .find(|segment| matches!(segment, Segment::Text { key, .. } if *key == of)),
        };
        match found {
            Some(Segment::Text { text, .. }) => Some(text),
            _ => None,
        }
    }

    /// More reasoning of the block `key`.
    pub fn reasoning(
        &mut self,
        key: Option<u64>,
        text: &str,
        events: &mut dyn FnMut(ModelEvent),
    ) -> Result<(), DecodeFailure> {
        self.reasoning_apart |= !text.is_empty();
        let seam = self.reasoning_seams.entry(key).or_default();
        let text = seam.join(text, self.halved).into_owned();
        self.add_reasoning(key, text, events)
    }

    fn add_reasoning(
        &mut self,
        key: Option<u64>,
        text: String,
        events: &mut dyn FnMut(ModelEvent),
    ) -> Result<(), DecodeFailure> {
        if text.is_empty() {
            return Ok(());
        }
        if let Some(why) = self.reasoning_guard.push(&text) {
            return Err(DecodeFailure::Runaway(why));
        }
        match self.reasoning_of(key) {
            Some((all, _)) => all.push_str(&text),
            None => self.segments.push(Segment::Reasoning {
                key,
                text: text.clone(),
                opaque: None,
            }),
        }
        events(ModelEvent::Reasoning(text));
        Ok(())
    }

    fn reasoning_of(&mut self, of: Option<u64>) -> Option<(&mut String, &mut Option<String>)> {
        let found = match of {
            None => self.segments.last_mut(),
            Some(_) => self
                .segments
                .iter_mut()
                .find(|segment| matches!(segment, Segment::Reasoning { key, .. } if *key == of)),
        };
        match found {
            Some(Segment::Reasoning { text, opaque, .. }) => Some((text, opaque)),
            _ => None,
        }
    }

    /// The provider's own block of the reasoning `key`, as JSON text; replaces an earlier one. Without such reasoning it stands
    /// by itself at this place, and belongs to the part after it.
    pub fn seal(&mut self, key: Option<u64>, data: String) {
        match self.reasoning_of(key) {
            Some((_, opaque)) => *opaque = Some(data),
            None => self.segments.push(Segment::Reasoning {
                key,
                text: String::new(),
                opaque: Some(data),
            }),
        }
    }

    /// Like [`Self::seal`], for the first reasoning of the answer, or its beginning.
    pub fn seal_first(&mut self, data: String) {
        let first = self.segments.iter_mut().find_map(|segment| match segment {
            Segment::Reasoning { opaque, .. } => Some(opaque),
            _ => None,
        });
        match first {
            Some(opaque) => *opaque = Some(data),
            None => self.segments.insert(
                0,
                Segment::Reasoning {
                    key: None,
                    text: String::new(),
                    opaque: Some(data),
                },
            ),
        }
    }

    /// A piece of a call.
    pub fn call(
        &mut self,
        piece: &CallPiece<'_>,
        events: &mut dyn FnMut(ModelEvent),
    ) -> Result<(), DecodeFailure> {
        // Beside calls in the text they were not asked for; whether they count is decided at the end.
        let mut silent = |_: ModelEvent| ();
        let events: &mut dyn FnMut(ModelEvent) = match self.dialect {
            Some(_) => &mut silent,
            None => events,
        };
        let (slot, new) = self
            .calls
            .push(piece, self.halved, self.names, events)
            .map_err(DecodeFailure::Runaway)?;
        if new {
            self.segments.push(Segment::Call(slot));
        }
        Ok(())
    }

    /// What the server says of the arguments of the call `index` in the end counts, whatever its pieces came to.
    pub fn settle_call(&mut self, index: u64, arguments: &str) {
        self.calls.settle(index, arguments, self.halved);
    }

    /// What the server says of the text of the block `key` in the end counts, whatever its pieces came to. Not where reasoning
    /// or calls are told by the text itself.
    pub fn settle_text(&mut self, key: u64, text: &str) {
        if self.dialect.is_none()
            && !self.think_tags
            && let Some(seam) = self.text_seams.get_mut(&Some(key))
        {
            *seam = Seam::default();
            let whole = halves::closed(text, self.halved);
            if let Some(all) = self.text_of(Some(key)) {
                *all = whole;
            }
        }
    }

    /// Whether anything came that could be an answer.
    fn is_empty(&self) -> bool {
        let in_text = self.dialect.as_ref().map_or(0, TextAnswer::size);
        self.segments.is_empty() && in_text == 0
    }

    /// The answer, when the stream came to a proper end: the model said why it stopped, or the server that nothing follows.
    pub fn finish(
        mut self,
        provider: &ProviderId,
        model: &str,
        request_bytes: usize,
        events: &mut dyn FnMut(ModelEvent),
    ) -> Option<Answer> {
        // Guards cannot fire on so little; a failure here would be the same as before.
        let _ = self.close(events);
        let finish = match self.finish {
            Some(finish) => finish,
            None if self.done && !self.is_empty() => FinishReason::Stop,
            None => return None,
        };
        let usage = self.usage.unwrap_or_else(|| self.estimate(request_bytes));
        let cut = match finish {
            FinishReason::Length => Some(CUT_AT_LIMIT),
            FinishReason::Blocked => Some(CUT_BY_PROVIDER),
            _ => None,
        };
        let native = !self.calls.is_empty();
        let mut calls = std::mem::take(&mut self.calls).finish(cut, self.names, self.tools, events);
        let mut parts = Vec::new();
        for segment in std::mem::take(&mut self.segments) {
            match segment {
                Segment::Text { text, .. } if text.trim().is_empty() => {}
                Segment::Text { text, .. } => self.text_parts(text, &mut parts),
                Segment::Reasoning { text, opaque, .. } => parts.push(AnswerPart::Reasoning {
                    text,
                    opaque: opaque.map(|data| Opaque {
                        provider: provider.clone(),
                        model: model.to_owned(),
                        data,
                    }),
                }),
                Segment::Call(slot) => {
                    parts.extend(std::mem::take(&mut calls[slot]).into_iter().map(AnswerPart::Call));
                }
            }
        }
        match self.dialect.take() {
            Some(dialect) if !native || dialect.size() > 0 => {
                let own: Vec<AnswerPart> = parts
                    .extract_if(.., |part| matches!(part, AnswerPart::Call(_)))
                    .collect();
                let thought = parts
                    .iter()
                    .any(|part| matches!(part, AnswerPart::Reasoning { .. }))
                    && own.is_empty();
                let text = dialect.finish(finish, thought, self.names, self.tools, events);
                let has_calls = text.iter().any(|part| matches!(part, AnswerPart::Call(_)));
                parts.extend(text);
                parts.extend(own.into_iter().filter(|_| !has_calls));
            }
            None if !native && cut.is_none() => self.text_calls(&mut parts),
            _ => {}
        }
        let has_calls = parts.iter().any(|part| matches!(part, AnswerPart::Call(_)));
        let finish = match finish {
            FinishReason::Stop | FinishReason::Calls | FinishReason::Other if has_calls => {
                FinishReason::Calls
            }
            FinishReason::Calls => FinishReason::Stop,
            other => other,
        };
        Some(Answer {
            parts,
            usage,
            finish: Finish(finish),
        })
    }

    /// Puts what was held back where it belongs.
    fn close(&mut self, events: &mut dyn FnMut(ModelEvent)) -> Result<(), DecodeFailure> {
        for (key, mut seam) in std::mem::take(&mut self.reasoning_seams) {
            let Some(lost) = seam.close() else { continue };
            let place = self.segments.iter_mut().rev().find_map(|segment| match segment {
                Segment::Reasoning { key: of, text, .. } if *of == key => Some(text),
                _ => None,
            });
            match place {
                Some(text) => {
                    text.push(lost);
                    events(ModelEvent::Reasoning(lost.to_string()));
                }
                None => self.add_reasoning(key, lost.to_string(), events)?,
            }
        }
        for (key, mut seam) in std::mem::take(&mut self.text_seams) {
            if let Some(lost) = seam.close() {
                let mut sorted = Vec::new();
                self.think.push(lost.encode_utf8(&mut [0; 4]), &mut sorted);
                self.sorted(key, sorted, events)?;
            }
        }
        let mut held = Vec::new();
        self.think.finish(&mut held);
        self.sorted(None, held, events)
    }

    /// A text, split at a closing think tag whose opening one was in the template.
    fn text_parts(&self, text: String, parts: &mut Vec<AnswerPart>) {
        let split = match self.reasoning_apart || self.think_tags || !parts.is_empty() {
            true => None,
            false => split_lone_close(&text),
        };
        match split {
            Some((reasoning, answer)) => {
                if !reasoning.is_empty() {
                    parts.push(AnswerPart::Reasoning {
                        text: reasoning.to_string(),
                        opaque: None,
                    });
                }
                if !answer.is_empty() {
                    parts.push(AnswerPart::Text(answer.to_string()));
                }
            }
            None => parts.push(AnswerPart::Text(text)),
        }
    }

    /// Some models write a call as text. It is taken for one only when the whole text is calls of offered tools.
    fn text_calls(&self, parts: &mut Vec<AnswerPart>) {
        if self.tools.is_empty() {
            return;
        }
        let text: String = parts
            .iter()
            .filter_map(|part| match part {
                AnswerPart::Text(text) => Some(text.as_str()),
                _ => None,
            })
            .collect();
        let calls = calls_in_text(&text, self.names, self.tools);
        if !calls.is_empty() {
            parts.retain(|part| !matches!(part, AnswerPart::Text(_)));
            parts.extend(calls.into_iter().map(AnswerPart::Call));
        }
    }

    /// What the attempt has used so far: as the server counted, else an estimate.
    pub fn spent(&self, request_bytes: usize) -> Usage {
        let estimate = self.estimate(request_bytes);
        match self.usage {
            Some(usage) => Usage {
                output: usage.output.max(estimate.output),
                reasoning: usage.reasoning.max(estimate.reasoning),
                estimated: true,
                ..usage
            },
            None => estimate,
        }
    }

    fn estimate(&self, request_bytes: usize) -> Usage {
        let mut output = self.dialect.as_ref().map_or(0, TextAnswer::size);
        let mut reasoning = 0;
        for segment in &self.segments {
            match segment {
                Segment::Text { text, .. } => output += text.len(),
                Segment::Reasoning { text, .. } => reasoning += text.len(),
                Segment::Call(slot) => output += self.calls.size(*slot),
            }
        }
        Usage {
            input: tokens(request_bytes),
            output: tokens(output),
            reasoning: tokens(reasoning),
            estimated: true,
            ..Usage::default()
        }
    }
}

/// An estimate: 3.6 bytes per token, rounded up.
pub(crate) fn tokens(bytes: usize) -> u32 {
    u32::try_from((bytes * 5).div_ceil(18)).unwrap_or(u32::MAX)
}
