//! A Messages stream, or a whole answer, decoded into the neutral answer.

use super::sealed::Sealed;
use super::usage::Counts;
use crate::reading::{Assembly, CallPiece, DecodeFailure, Decoder, ToolNames, tokens};
use crate::sse::SseEvent;
use crate::{Answer, ModelEvent, ToolSpec};
use paddock_protocol::{CallFormat, FinishReason, ProviderId, Usage};
use serde_json::{Value, json};
use std::borrow::Cow;

/// Blocks of one answer.
const BLOCK_LIMIT: usize = 1_000;

/// Accumulates one attempt.
pub(crate) struct MessagesDecoder<'a> {
    assembly: Assembly<'a>,
    /// Every block that began; its place here is its key, because servers use their numbers again.
    blocks: Vec<Block>,
    counts: Counts,
}

#[derive(Debug, Default)]
struct Block {
    /// The server's number.
    index: Option<u64>,
    /// Of a kind that is not for this program.
    foreign: bool,
    /// The provider's own part is kept already.
    sealed: bool,
    /// Arguments that came with the beginning of a call; they count when no others follow.
    input: Option<String>,
}

impl<'a> MessagesDecoder<'a> {
    pub fn new(tools: &'a [ToolSpec], names: &'a ToolNames, format: CallFormat) -> Self {
        Self {
            assembly: Assembly::new(tools, names, format),
            blocks: Vec::new(),
            counts: Counts::default(),
        }
    }

    fn value(
        &mut self,
        name: &str,
        value: &Value,
        events: &mut dyn FnMut(ModelEvent),
    ) -> Result<(), DecodeFailure> {
        let kind = text_of(value, "type");
        let kind = if kind.is_empty() { name } else { kind };
        if kind == "error" || carries_error(value) {
            return Err(DecodeFailure::Server(value.clone()));
        }
        match kind {
            "message_start" => {
                let message = value.get("message").unwrap_or(&Value::Null);
                self.count(message, false);
                Ok(())
            }
            "content_block_start" => {
                let block = value.get("content_block").unwrap_or(&Value::Null);
                self.begin(index_of(value), block, events)
            }
            "content_block_delta" => {
                let delta = value.get("delta").unwrap_or(&Value::Null);
                self.delta(index_of(value), delta, events)
            }
            "content_block_stop" => match self.find(index_of(value)) {
                Some(key) => self.end(key, events),
                None => Ok(()),
            },
            "message_delta" => {
                self.count(value, true);
                self.stop(value.get("delta").unwrap_or(&Value::Null), events)
            }
            "message_stop" => {
                self.assembly.done = true;
                Ok(())
            }
            "message" => self.message(value, events),
            _ => Ok(()),
        }
    }

    fn count(&mut self, value: &Value, last: bool) {
        let usage = value.get("usage").or_else(|| value.pointer("/delta/usage"));
        if let Some(usage) = usage {
            self.counts.take(usage, last);
            self.assembly.usage = self.counts.usage();
        }
    }

    /// The block of a number: the latest with it; without one the latest of all.
    fn find(&self, index: Option<u64>) -> Option<usize> {
        match index {
            None => self.blocks.len().checked_sub(1),
            Some(_) => self.blocks.iter().rposition(|block| block.index == index),
        }
    }

    fn open(&mut self, index: Option<u64>) -> Result<usize, DecodeFailure> {
        if self.blocks.len() == BLOCK_LIMIT {
            return Err(DecodeFailure::Runaway(
                "The model's answer fell into more than 1,000 pieces and was stopped.",
            ));
        }
        self.blocks.push(Block {
            index,
            ..Block::default()
        });
        Ok(self.blocks.len() - 1)
    }

    fn begin(
        &mut self,
        index: Option<u64>,
        block: &Value,
        events: &mut dyn FnMut(ModelEvent),
    ) -> Result<(), DecodeFailure> {
        let key = self.open(index)?;
        match text_of(block, "type") {
            "text" => self
                .assembly
                .text(Some(key as u64), text_of(block, "text"), events),
            "thinking" => {
                self.reasoning(key, text_of(block, "thinking"), events)?;
                self.sign(key, text_of(block, "signature"));
                Ok(())
            }
            "redacted_thinking" => {
                let data = text_of(block, "data").to_owned();
                if !data.is_empty() && !self.assembly.is_halved() {
                    self.seal(key, &Sealed::RedactedThinking { data });
                }
                Ok(())
            }
            "tool_use" => {
                self.blocks[key].input = match block.get("input") {
                    Some(Value::Object(map)) if !map.is_empty() => {
                        Some(Value::Object(map.clone()).to_string())
                    }
                    Some(Value::String(text)) if !text.is_empty() => Some(text.clone()),
                    _ => None,
                };
                let piece = CallPiece {
                    index: Some(key as u64),
                    id: text_of(block, "id"),
                    name: text_of(block, "name"),
                    arguments: Cow::Borrowed(""),
                };
                self.assembly.call(&piece, events)
            }
            kind => {
                self.blocks[key].foreign = !kind.is_empty();
                Ok(())
            }
        }
    }

    /// What a delta is shows in its fields.
    fn delta(
        &mut self,
        index: Option<u64>,
        delta: &Value,
        events: &mut dyn FnMut(ModelEvent),
    ) -> Result<(), DecodeFailure> {
        let key = match self.find(index) {
            Some(key) => key,
            None => self.open(index)?,
        };
        if self.blocks[key].foreign {
            return Ok(());
        }
        self.assembly
            .text(Some(key as u64), text_of(delta, "text"), events)?;
        self.reasoning(key, text_of(delta, "thinking"), events)?;
        self.sign(key, text_of(delta, "signature"));
        match delta.get("partial_json") {
            Some(Value::String(text)) if !text.is_empty() => self.arguments(key, text, events),
            Some(object @ Value::Object(_)) => self.arguments(key, &object.to_string(), events),
            _ => Ok(()),
        }
    }

    fn arguments(
        &mut self,
        key: usize,
        text: &str,
        events: &mut dyn FnMut(ModelEvent),
    ) -> Result<(), DecodeFailure> {
        self.blocks[key].input = None;
        let piece = CallPiece {
            index: Some(key as u64),
            arguments: Cow::Borrowed(text),
            ..CallPiece::default()
        };
        self.assembly.call(&piece, events)
    }

    fn reasoning(
        &mut self,
        key: usize,
        text: &str,
        events: &mut dyn FnMut(ModelEvent),
    ) -> Result<(), DecodeFailure> {
        if text.is_empty() {
            return Ok(());
        }
        self.assembly.reasoning(Some(key as u64), text, events)?;
        if !self.blocks[key].sealed || self.assembly.is_reasoning_damaged(Some(key as u64)) {
            let signature = String::new();
            self.seal(key, &Sealed::Thinking { signature });
        }
        Ok(())
    }

    /// A signature of a text that did not arrive whole would be refused.
    fn sign(&mut self, key: usize, signature: &str) {
        if !signature.is_empty() && self.assembly.is_reasoning_whole(Some(key as u64)) {
            let signature = signature.to_owned();
            self.seal(key, &Sealed::Thinking { signature });
        }
    }

    fn seal(&mut self, key: usize, sealed: &Sealed) {
        self.blocks[key].sealed = true;
        self.assembly.seal(Some(key as u64), sealed.written());
    }

    fn end(&mut self, key: usize, events: &mut dyn FnMut(ModelEvent)) -> Result<(), DecodeFailure> {
        match self.blocks[key].input.take() {
            Some(input) => self.arguments(key, &input, events),
            None => Ok(()),
        }
    }

    /// Why the answer ended, if this says so.
    fn stop(&mut self, delta: &Value, events: &mut dyn FnMut(ModelEvent)) -> Result<(), DecodeFailure> {
        let finish = match text_of(delta, "stop_reason") {
            "" => return Ok(()),
            "end_turn" | "stop_sequence" | "stop" => FinishReason::Stop,
            "tool_use" | "tool_calls" => FinishReason::Calls,
            "max_tokens" | "length" => FinishReason::Length,
            "pause_turn" => FinishReason::Unfinished,
            "refusal" | "content_filter" => FinishReason::Blocked,
            // The conversation has to become shorter: to go on as it stands would end here again.
            "model_context_window_exceeded" => {
                return Err(DecodeFailure::Server(json!({"error": {
                    "type": "model_context_window_exceeded",
                    "message": "The answer reached the end of the model's context window.",
                }})));
            }
            _ => FinishReason::Other,
        };
        for key in 0..self.blocks.len() {
            self.end(key, events)?;
        }
        self.assembly.finish = Some(finish);
        let why = delta.pointer("/stop_details/explanation").and_then(Value::as_str);
        if let Some(why) = why.filter(|why| finish == FinishReason::Blocked && !why.is_empty()) {
            let key = self.open(None)?;
            self.assembly.refusal(Some(key as u64), why, events)?;
        }
        Ok(())
    }

    /// A whole answer in one document.
    fn message(&mut self, value: &Value, events: &mut dyn FnMut(ModelEvent)) -> Result<(), DecodeFailure> {
        match value.get("content") {
            Some(Value::Array(blocks)) => {
                for block in blocks {
                    self.begin(None, block, events)?;
                    self.end(self.blocks.len() - 1, events)?;
                }
            }
            Some(Value::String(text)) => {
                let key = self.open(None)?;
                self.assembly.text(Some(key as u64), text, events)?;
            }
            _ => {}
        }
        self.count(value, true);
        self.stop(value, events)?;
        self.assembly.done = true;
        Ok(())
    }
}

fn text_of<'v>(value: &'v Value, field: &str) -> &'v str {
    value.get(field).and_then(Value::as_str).unwrap_or_default()
}

fn index_of(value: &Value) -> Option<u64> {
    value.get("index").and_then(Value::as_u64)
}

fn carries_error(value: &Value) -> bool {
    match value.get("error") {
        Some(Value::Object(map)) => !map.is_empty(),
        Some(Value::String(text)) => !text.is_empty(),
        _ => false,
    }
}

impl Decoder for MessagesDecoder<'_> {
    fn event(&mut self, event: &SseEvent, events: &mut dyn FnMut(ModelEvent)) -> Result<(), DecodeFailure> {
        if event.data.trim() == "[DONE]" {
            self.assembly.done = true;
            return Ok(());
        }
        let value = self.assembly.parse(&event.data)?;
        self.value(&event.name, &value, events)
    }

    fn whole(&mut self, body: &str, events: &mut dyn FnMut(ModelEvent)) -> Result<(), DecodeFailure> {
        let value = self.assembly.parse(body)?;
        if carries_error(&value) || value.get("content").is_none() {
            return Err(DecodeFailure::Server(value));
        }
        self.message(&value, events)
    }

    fn is_done(&self) -> bool {
        self.assembly.done
    }

    fn is_finished(&self) -> bool {
        self.assembly.finish.is_some()
    }

    fn finish(
        mut self,
        provider: &ProviderId,
        model: &str,
        request_bytes: usize,
        events: &mut dyn FnMut(ModelEvent),
    ) -> Option<Answer> {
        for key in 0..self.blocks.len() {
            self.end(key, events).ok()?;
        }
        if !self.counts.is_complete() {
            self.assembly.usage = Some(self.spent(request_bytes));
        }
        self.assembly.finish(provider, model, request_bytes, events)
    }

    fn spent(&self, request_bytes: usize) -> Usage {
        let spent = self.assembly.spent(request_bytes);
        match self.counts.has_input() {
            true => spent,
            false => Usage {
                input: tokens(request_bytes),
                estimated: true,
                ..spent
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::corpus::check_streams;

    #[test]
    fn every_recorded_stream_gives_the_expected_answer_however_it_is_cut() {
        check_streams("anthropic", 22, |tools, names| {
            MessagesDecoder::new(tools, names, CallFormat::Native)
        });
    }
}
