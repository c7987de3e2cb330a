//! A Chat Completions stream, or a whole answer, decoded into the neutral answer.

use super::calls::Calls;
use super::chunk;
use super::names::ToolNames;
use super::text_answer::{CUT_AT_LIMIT, CUT_BY_PROVIDER, TextAnswer, calls_in_text};
use super::think::{Sorted, ThinkSplitter, split_lone_close};
use crate::runaway::RunawayGuard;
use crate::{Answer, AnswerPart, Finish, ModelEvent, ToolSpec};
use paddock_protocol::{CallFormat, FinishReason, Opaque, ProviderId, Usage};
use serde_json::Value;

/// Why an attempt must be given up.
#[derive(Debug)]
pub(crate) enum DecodeFailure {
    /// The server reported an error inside of the stream.
    Server(Value),
    /// A chunk was not readable.
    Unreadable { why: String, raw: String },
    /// A guard stopped the answer.
    Runaway(&'static str),
}

#[derive(Debug)]
enum Segment {
    Text(String),
    Reasoning(String),
    /// Number of a slot of [`Calls`].
    Call(usize),
}

/// Accumulates one attempt.
pub(crate) struct ChatDecoder<'a> {
    tools: &'a [ToolSpec],
    names: &'a ToolNames,
    segments: Vec<Segment>,
    calls: Calls,
    /// The text, where calls are written in it.
    dialect: Option<TextAnswer<'a>>,
    think: ThinkSplitter,
    text_guard: RunawayGuard,
    reasoning_guard: RunawayGuard,
    /// Reasoning came in a field of its own, which the server may want back.
    reasoning_field: bool,
    think_tags: bool,
    details: Vec<Value>,
    usage: Option<Usage>,
    finish: Option<FinishReason>,
    done: bool,
}

impl<'a> ChatDecoder<'a> {
    pub fn new(tools: &'a [ToolSpec], names: &'a ToolNames, format: CallFormat) -> Self {
        let dialect = TextAnswer::new(format, names);
        Self {
            tools,
            names,
            segments: Vec::new(),
            calls: Calls::default(),
            think: ThinkSplitter::default(),
            // Calls in the text hold files.
            text_guard: match dialect {
                Some(_) => RunawayGuard::arguments(),
                None => RunawayGuard::text(),
            },
            dialect,
            reasoning_guard: RunawayGuard::text(),
            reasoning_field: false,
            think_tags: false,
            details: Vec::new(),
            usage: None,
            finish: None,
            done: false,
        }
    }

    /// The server said that nothing follows.
    pub fn is_done(&self) -> bool {
        self.done
    }

    /// A finish reason came; only counts or the end of the stream are still to come.
    pub fn is_finished(&self) -> bool {
        self.finish.is_some()
    }

    /// Takes the data of one event.
    pub fn event(&mut self, data: &str, events: &mut dyn FnMut(ModelEvent)) -> Result<(), DecodeFailure> {
        if data.trim() == "[DONE]" {
            self.done = true;
            return Ok(());
        }
        let (value, damaged) = chunk::parse(data).map_err(|error| DecodeFailure::Unreadable {
            why: error.to_string(),
            raw: data.chars().take(2_000).collect(),
        })?;
        self.value(&value, damaged, events)
    }

    /// Takes a whole answer that came instead of a stream.
    pub fn whole(&mut self, body: &str, events: &mut dyn FnMut(ModelEvent)) -> Result<(), DecodeFailure> {
        let (value, damaged) = chunk::parse(body).map_err(|error| DecodeFailure::Unreadable {
            why: error.to_string(),
            raw: body.chars().take(2_000).collect(),
        })?;
        if value.get("choices").and_then(|choices| choices.get(0)).is_none() {
            return Err(DecodeFailure::Server(value));
        }
        self.value(&value, damaged, events)?;
        self.done = true;
        Ok(())
    }

    fn value(
        &mut self,
        value: &Value,
        damaged: bool,
        events: &mut dyn FnMut(ModelEvent),
    ) -> Result<(), DecodeFailure> {
        if let Some(error) = chunk::error_of(value) {
            return Err(DecodeFailure::Server(error.clone()));
        }
        // Counts are cumulative where they come more than once.
        self.usage = chunk::usage_of(value).or(self.usage);
        let Some(choice) = value.get("choices").and_then(|choices| choices.get(0)) else {
            return Ok(());
        };
        let delta = ["delta", "message"]
            .iter()
            .find_map(|field| choice.get(field).filter(|delta| delta.is_object()));
        if let Some(delta) = delta {
            self.delta(delta, damaged, events)?;
        }
        self.finish = chunk::finish_of(choice).or(self.finish);
        Ok(())
    }

    fn delta(
        &mut self,
        delta: &Value,
        damaged: bool,
        events: &mut dyn FnMut(ModelEvent),
    ) -> Result<(), DecodeFailure> {
        let (text, in_content) = chunk::content_of(delta.get("content").unwrap_or(&Value::Null));
        let mut reasoning = chunk::reasoning_of(delta);
        chunk::add_details(&mut self.details, delta);
        if !reasoning.is_empty() {
            self.reasoning_field = true;
        }
        reasoning.push_str(&in_content);
        self.reasoning(reasoning, events)?;
        if let Some(why) = self.text_guard.push(&text) {
            return Err(DecodeFailure::Runaway(why));
        }
        let mut sorted = Vec::new();
        self.think.push(&text, &mut sorted);
        if let Some(refusal) = delta
            .get("refusal")
            .and_then(Value::as_str)
            .filter(|text| !text.is_empty())
        {
            sorted.push(Sorted::Text(refusal.to_string()));
        }
        self.sorted(sorted, events)?;
        let calls = delta.get("tool_calls").and_then(Value::as_array);
        let legacy = delta.get("function_call").filter(|call| call.is_object());
        for call in calls
            .into_iter()
            .flatten()
            .chain(legacy)
            .filter(|call| call.is_object())
        {
            // Beside calls in the text they were not asked for; whether they count is decided at the end.
            let mut silent = |_: ModelEvent| ();
            let events: &mut dyn FnMut(ModelEvent) = match self.dialect {
                Some(_) => &mut silent,
                None => events,
            };
            let (slot, new) = self
                .calls
                .push(call, damaged, self.names, events)
                .map_err(DecodeFailure::Runaway)?;
            if new {
                self.segments.push(Segment::Call(slot));
            }
        }
        Ok(())
    }

    fn sorted(
        &mut self,
        sorted: Vec<Sorted>,
        events: &mut dyn FnMut(ModelEvent),
    ) -> Result<(), DecodeFailure> {
        for piece in sorted {
            match piece {
                Sorted::Reasoning(text) => {
                    self.think_tags = true;
                    self.reasoning(text, events)?;
                }
                Sorted::Text(text) => {
                    if let Some(dialect) = &mut self.dialect {
                        dialect.push(&text, events);
                        continue;
                    }
                    match self.segments.last_mut() {
                        Some(Segment::Text(all)) => all.push_str(&text),
                        _ => self.segments.push(Segment::Text(text.clone())),
                    }
                    events(ModelEvent::Text(text));
                }
            }
        }
        Ok(())
    }

    fn reasoning(&mut self, text: String, events: &mut dyn FnMut(ModelEvent)) -> Result<(), DecodeFailure> {
        if text.is_empty() {
            return Ok(());
        }
        if let Some(why) = self.reasoning_guard.push(&text) {
            return Err(DecodeFailure::Runaway(why));
        }
        match self.segments.last_mut() {
            Some(Segment::Reasoning(all)) => all.push_str(&text),
            _ => self.segments.push(Segment::Reasoning(text.clone())),
        }
        events(ModelEvent::Reasoning(text));
        Ok(())
    }

    /// The answer, when the stream came to a proper end; `None` when it was cut. `request_bytes` is for the estimate where
    /// the server counted nothing.
    pub fn finish(
        mut self,
        provider: &ProviderId,
        model: &str,
        request_bytes: usize,
        events: &mut dyn FnMut(ModelEvent),
    ) -> Option<Answer> {
        let mut held = Vec::new();
        self.think.finish(&mut held);
        // Guards cannot fire on so little; a failure here would be the same as before.
        let _ = self.sorted(held, events);
        let in_text = self.dialect.as_ref().map_or(0, TextAnswer::size);
        let empty = self.segments.is_empty() && self.details.is_empty() && in_text == 0;
        let finish = match self.finish {
            Some(finish) => finish,
            None if self.done && !empty => FinishReason::Stop,
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
                Segment::Text(text) if text.trim().is_empty() => {}
                Segment::Text(text) => self.text_parts(text, &mut parts),
                Segment::Reasoning(text) => parts.push(AnswerPart::Reasoning { text, opaque: None }),
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
        self.attach_opaque(provider, model, &mut parts);
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

    /// A text, split at a closing think tag whose opening one was in the template.
    fn text_parts(&self, text: String, parts: &mut Vec<AnswerPart>) {
        let split = match self.reasoning_field || self.think_tags || !parts.is_empty() {
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

    /// What the server may want back goes beside the first reasoning, tagged with where it came from.
    fn attach_opaque(&mut self, provider: &ProviderId, model: &str, parts: &mut Vec<AnswerPart>) {
        let data = if !self.details.is_empty() {
            Value::Array(std::mem::take(&mut self.details)).to_string()
        } else if self.reasoning_field {
            "\"reasoning_content\"".to_string()
        } else {
            return;
        };
        let blob = Opaque {
            provider: provider.clone(),
            model: model.to_string(),
            data,
        };
        let first = parts.iter_mut().find_map(|part| match part {
            AnswerPart::Reasoning { opaque, .. } => Some(opaque),
            _ => None,
        });
        match first {
            Some(opaque) => *opaque = Some(blob),
            None => parts.insert(
                0,
                AnswerPart::Reasoning {
                    text: String::new(),
                    opaque: Some(blob),
                },
            ),
        }
    }

    fn estimate(&self, request_bytes: usize) -> Usage {
        let mut output = self.dialect.as_ref().map_or(0, TextAnswer::size);
        let mut reasoning = 0;
        for segment in &self.segments {
            match segment {
                Segment::Text(text) => output += text.len(),
                Segment::Reasoning(text) => reasoning += text.len(),
                Segment::Call(slot) => output += self.calls.size(*slot),
            }
        }
        Usage {
            input: tokens(request_bytes),
            cached: 0,
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
