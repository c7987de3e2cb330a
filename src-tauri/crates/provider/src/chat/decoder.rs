//! A Chat Completions stream, or a whole answer, decoded into the neutral answer.

use super::chunk;
use crate::reading::{Assembly, CallPiece, DecodeFailure, Decoder, ToolNames, usage_of};
use crate::sse::SseEvent;
use crate::{Answer, ModelEvent, ToolSpec};
use paddock_protocol::{CallFormat, ProviderId, Usage};
use serde_json::Value;

/// Accumulates one attempt.
pub(crate) struct ChatDecoder<'a> {
    assembly: Assembly<'a>,
    /// Pieces of reasoning that the server may want back.
    details: Vec<Value>,
}

impl<'a> ChatDecoder<'a> {
    pub fn new(tools: &'a [ToolSpec], names: &'a ToolNames, format: CallFormat) -> Self {
        Self {
            assembly: Assembly::new(tools, names, format),
            details: Vec::new(),
        }
    }

    fn value(&mut self, value: &Value, events: &mut dyn FnMut(ModelEvent)) -> Result<(), DecodeFailure> {
        if let Some(error) = chunk::error_of(value) {
            return Err(DecodeFailure::Server(error.clone()));
        }
        // Counts are cumulative where they come more than once.
        self.assembly.usage = usage_of(value).or(self.assembly.usage);
        let Some(choice) = value.get("choices").and_then(|choices| choices.get(0)) else {
            return Ok(());
        };
        let delta = ["delta", "message"]
            .iter()
            .find_map(|field| choice.get(field).filter(|delta| delta.is_object()));
        if let Some(delta) = delta {
            self.delta(delta, events)?;
        }
        self.assembly.finish = chunk::finish_of(choice).or(self.assembly.finish);
        Ok(())
    }

    fn delta(&mut self, delta: &Value, events: &mut dyn FnMut(ModelEvent)) -> Result<(), DecodeFailure> {
        let (text, in_content) = chunk::content_of(delta.get("content").unwrap_or(&Value::Null));
        let mut reasoning = chunk::reasoning_of(delta);
        chunk::add_details(&mut self.details, delta);
        reasoning.push_str(&in_content);
        self.assembly.reasoning(None, &reasoning, events)?;
        self.assembly.text(None, &text, events)?;
        if let Some(refusal) = delta
            .get("refusal")
            .and_then(Value::as_str)
            .filter(|text| !text.is_empty())
        {
            self.assembly.refusal(None, refusal, events)?;
        }
        let calls = delta.get("tool_calls").and_then(Value::as_array);
        let legacy = delta.get("function_call").filter(|call| call.is_object());
        for call in calls
            .into_iter()
            .flatten()
            .chain(legacy)
            .filter(|call| call.is_object())
        {
            self.assembly.call(&CallPiece::of_chat(call), events)?;
        }
        Ok(())
    }
}

impl Decoder for ChatDecoder<'_> {
    fn event(&mut self, event: &SseEvent, events: &mut dyn FnMut(ModelEvent)) -> Result<(), DecodeFailure> {
        if event.data.trim() == "[DONE]" {
            self.assembly.done = true;
            return Ok(());
        }
        let value = self.assembly.parse(&event.data)?;
        self.value(&value, events)
    }

    fn whole(&mut self, body: &str, events: &mut dyn FnMut(ModelEvent)) -> Result<(), DecodeFailure> {
        let value = self.assembly.parse(body)?;
        if value.get("choices").and_then(|choices| choices.get(0)).is_none() {
            return Err(DecodeFailure::Server(value));
        }
        self.value(&value, events)?;
        self.assembly.done = true;
        Ok(())
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
        // What the server may want back goes beside the first reasoning.
        if !self.details.is_empty() {
            self.assembly.seal_first(Value::Array(self.details).to_string());
        } else if self.assembly.has_reasoning_apart() {
            self.assembly.seal_first("\"reasoning_content\"".to_owned());
        }
        self.assembly.finish(provider, model, request_bytes, events)
    }

    fn spent(&self, request_bytes: usize) -> Usage {
        self.assembly.spent(request_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::corpus::check_streams;

    #[test]
    fn every_recorded_stream_gives_the_expected_answer_however_it_is_cut() {
        check_streams("chat", 100, |tools, names| {
            ChatDecoder::new(tools, names, CallFormat::Native)
        });
    }
}
