//! A Gemini stream, or a whole answer in one document, decoded into the neutral answer.

use super::chunk::{self, Counts, End};
use super::signature::{Place, Signature};
use crate::reading::{Assembly, CallPiece, DecodeFailure, Decoder, ToolNames};
use crate::sse::SseEvent;
use crate::{Answer, ModelEvent, ToolSpec};
use paddock_protocol::{CallFormat, FinishReason, ProviderId, Usage};
use serde_json::Value;
use std::borrow::Cow;

/// Accumulates one attempt.
pub(crate) struct GeminiDecoder<'a> {
    assembly: Assembly<'a>,
    counts: Counts,
    /// Signatures are kept; in a text dialect they have no part to go back with.
    signed: bool,
    /// What is being written.
    kind: Kind,
    /// Number of the piece that is being written; calls of an answer are told apart by it.
    piece: u64,
    calls: u32,
    /// Text or a call came.
    has_answer: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Nothing, or something that is complete.
    Open,
    Thought,
    Text,
}

impl<'a> GeminiDecoder<'a> {
    pub fn new(tools: &'a [ToolSpec], names: &'a ToolNames, format: CallFormat) -> Self {
        Self {
            assembly: Assembly::new(tools, names, format),
            counts: Counts::default(),
            signed: format == CallFormat::Native,
            kind: Kind::Open,
            piece: 0,
            calls: 0,
            has_answer: false,
        }
    }

    /// One chunk, or several in a list.
    fn value(&mut self, value: &Value, events: &mut dyn FnMut(ModelEvent)) -> Result<(), DecodeFailure> {
        if let Value::Array(chunks) = value {
            return chunks.iter().try_for_each(|chunk| self.value(chunk, events));
        }
        // Some gateways wrap each chunk.
        let value = value
            .get("response")
            .filter(|inner| inner.is_object())
            .unwrap_or(value);
        if let Some(error) = chunk::error_of(value) {
            return Err(DecodeFailure::Server(error.clone()));
        }
        self.counts.update(value);
        self.assembly.usage = self.counts.usage();
        if let Some(failure) = chunk::block_of(value) {
            return Err(failure);
        }
        let Some(candidate) = value.get("candidates").and_then(|candidates| candidates.get(0)) else {
            return Ok(());
        };
        let parts = candidate.pointer("/content/parts").and_then(Value::as_array);
        for part in parts.into_iter().flatten() {
            self.part(part, events)?;
        }
        self.end(candidate)
    }

    fn end(&mut self, candidate: &Value) -> Result<(), DecodeFailure> {
        match chunk::end_of(candidate) {
            None => Ok(()),
            Some(End::Unusable(failure)) => Err(failure),
            Some(End::Finished(FinishReason::Blocked)) if !self.has_answer => {
                let reason = candidate.get("finishReason").and_then(Value::as_str);
                Err(chunk::blocked(
                    reason.unwrap_or_default(),
                    chunk::said_of(candidate),
                ))
            }
            Some(End::Finished(finish)) => {
                self.assembly.finish = Some(finish);
                Ok(())
            }
        }
    }

    fn part(&mut self, part: &Value, events: &mut dyn FnMut(ModelEvent)) -> Result<(), DecodeFailure> {
        let signature = ["thoughtSignature", "thought_signature"]
            .iter()
            .find_map(|field| part.get(field)?.as_str())
            .filter(|signature| !signature.is_empty() && self.signed);
        let call = part.get("functionCall").filter(|call| call.is_object());
        let text = part.get("text").and_then(Value::as_str).unwrap_or_default();
        if let Some(call) = call {
            self.call(call, signature, events)
        } else if part.get("thought") == Some(&Value::Bool(true)) {
            self.thought(text, signature, events)
        } else {
            self.text(text, signature, events)
        }
    }

    fn thought(
        &mut self,
        text: &str,
        signature: Option<&str>,
        events: &mut dyn FnMut(ModelEvent),
    ) -> Result<(), DecodeFailure> {
        self.go_on(Kind::Thought);
        self.assembly.reasoning(Some(self.piece), text, events)?;
        if let Some(signature) = signature {
            self.seal(Place::Thought, signature);
            self.kind = Kind::Open;
        }
        Ok(())
    }

    fn text(
        &mut self,
        text: &str,
        signature: Option<&str>,
        events: &mut dyn FnMut(ModelEvent),
    ) -> Result<(), DecodeFailure> {
        self.has_answer |= !text.trim().is_empty();
        let Some(signature) = signature else {
            if !text.is_empty() {
                self.go_on(Kind::Text);
                self.assembly.text(Some(self.piece), text, events)?;
            }
            return Ok(());
        };
        if text.trim().is_empty() {
            // Blanks belong to the text before; the signature stays a part of its own.
            if !text.is_empty() {
                self.assembly.text(Some(self.piece), text, events)?;
            }
            self.kind = Kind::Open;
            self.go_on(Kind::Open);
            self.seal(Place::Alone, signature);
        } else {
            self.kind = Kind::Open;
            self.go_on(Kind::Text);
            self.seal(Place::Text, signature);
            self.assembly.text(Some(self.piece), text, events)?;
        }
        self.kind = Kind::Open;
        Ok(())
    }

    /// A call comes in one piece.
    fn call(
        &mut self,
        call: &Value,
        signature: Option<&str>,
        events: &mut dyn FnMut(ModelEvent),
    ) -> Result<(), DecodeFailure> {
        self.has_answer = true;
        self.kind = Kind::Open;
        self.go_on(Kind::Open);
        if let Some(signature) = signature {
            self.seal(Place::Call(self.calls), signature);
        }
        self.calls += 1;
        let text = |field: &str| call.get(field).and_then(Value::as_str).unwrap_or_default();
        let arguments = match call.get("args").or_else(|| call.get("arguments")) {
            None | Some(Value::Null) => Cow::Borrowed(""),
            Some(Value::String(text)) => Cow::Borrowed(text.as_str()),
            Some(other) => Cow::Owned(other.to_string()),
        };
        let piece = CallPiece {
            index: Some(self.piece),
            id: text("id"),
            name: text("name"),
            arguments,
        };
        self.assembly.call(&piece, events)
    }

    /// The next part is of this kind; it continues the last one only where that was of the same kind and not signed.
    fn go_on(&mut self, kind: Kind) {
        if self.kind != kind || kind == Kind::Open {
            self.piece += 1;
            self.kind = kind;
        }
    }

    fn seal(&mut self, place: Place, value: &str) {
        let value = value.to_owned();
        let data = Signature { place, value }.data();
        self.assembly.seal(Some(self.piece), data);
    }
}

impl Decoder for GeminiDecoder<'_> {
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
        self.value(&value, events)?;
        let counted = self.assembly.usage.is_some();
        if self.assembly.finish.is_none() && !self.has_answer && !counted {
            return Err(DecodeFailure::Server(value));
        }
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
        self,
        provider: &ProviderId,
        model: &str,
        request_bytes: usize,
        events: &mut dyn FnMut(ModelEvent),
    ) -> Option<Answer> {
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
        check_streams("gemini", 22, |tools, names| {
            GeminiDecoder::new(tools, names, CallFormat::Native)
        });
    }
}
