//! A Responses stream, or a whole response, decoded into the neutral answer.
//!
//! Output items stream in pieces and are told whole in the end; what is told in the end counts. Pieces are put to their item by its
//! id, else by its number, because servers leave out or change one or the other.

use super::item::{self, Kind, has_error, piece, text};
use super::items::Items;
use super::sealed::can_go_back;
use crate::reading::{Assembly, CallPiece, DecodeFailure, Decoder, ToolNames, push_piece, usage_of};
use crate::sse::SseEvent;
use crate::{Answer, ModelEvent, ToolSpec};
use paddock_protocol::{CallFormat, FinishReason, ProviderId, Usage};
use serde_json::{Value, json};

/// Between parts of one item of reasoning.
const PARAGRAPH: &str = "\n\n";

type Events<'e> = &'e mut dyn FnMut(ModelEvent);

/// Accumulates one attempt.
pub(crate) struct ResponsesDecoder<'a> {
    assembly: Assembly<'a>,
    items: Items,
    /// The server said that nothing follows, without saying how the answer ended.
    closed: bool,
}

impl<'a> ResponsesDecoder<'a> {
    pub fn new(tools: &'a [ToolSpec], names: &'a ToolNames, format: CallFormat) -> Self {
        Self {
            assembly: Assembly::new(tools, names, format),
            items: Items::default(),
            closed: false,
        }
    }

    fn value(&mut self, value: &Value, name: &str, events: Events) -> Result<(), DecodeFailure> {
        let kind = match text(value, "type") {
            "" => name,
            kind => kind,
        };
        match kind {
            "response.output_item.added" => self.item(value, false, events),
            "response.output_item.done" => self.item(value, true, events),
            "response.content_part.added" | "response.content_part.done" => {
                let Some(part) = value.get("part") else {
                    return Ok(());
                };
                match item::message_part(part) {
                    Some((refusal, text)) => self.message_text(value, refusal, text, true, events),
                    None => Ok(()),
                }
            }
            "response.output_text.delta" => {
                self.message_text(value, false, piece(value, "delta"), false, events)
            }
            "response.output_text.done" => self.message_text(value, false, text(value, "text"), true, events),
            "response.refusal.delta" => self.message_text(value, true, piece(value, "delta"), false, events),
            "response.refusal.done" => self.message_text(value, true, text(value, "refusal"), true, events),
            "response.function_call_arguments.delta" => self.call_piece(value, piece(value, "delta"), events),
            "response.function_call_arguments.done" => {
                let at = self.items.find(Kind::Call, value, false)?;
                self.call_whole(at, value, events)
            }
            "response.completed"
            | "response.incomplete"
            | "response.failed"
            | "response.cancelled"
            | "response.done" => {
                let response = value.get("response").filter(|response| response.is_object());
                self.response(response.unwrap_or(value), kind, events)
            }
            "error" | "response.error" => Err(DecodeFailure::Server(value.clone())),
            _ if kind.starts_with("response.reasoning") => self.reasoning_event(value, kind, events),
            _ if has_error(value) => Err(DecodeFailure::Server(value.clone())),
            _ => Ok(()),
        }
    }

    /// An item is announced, or told whole.
    fn item(&mut self, event: &Value, whole: bool, events: Events) -> Result<(), DecodeFailure> {
        let Some(told) = event.get("item") else {
            return Ok(());
        };
        let Some(kind) = item::kind_of(told) else {
            return Ok(());
        };
        let at = self.items.find(kind, event, !whole)?;
        self.items.0[at].done |= whole;
        match kind {
            Kind::Message => {
                for (number, refusal, text) in self.parts_told(at, told) {
                    self.settle_text(at, (number, refusal), text, events)?;
                }
                Ok(())
            }
            Kind::Reasoning => self.reasoning_whole(at, told, events),
            Kind::Call => self.call_whole(at, told, events),
        }
    }

    /// The parts of a message told whole. A single one is the one that streamed, however it was numbered.
    fn parts_told<'v>(&self, at: usize, told: &'v Value) -> Vec<(u64, bool, &'v str)> {
        let mut parts = item::message_parts(told);
        let streamed = &self.items.0[at].texts;
        if let ([(number, refusal, _)], Some((key, _))) = (parts.as_mut_slice(), streamed.first_key_value())
            && streamed.len() == 1
            && key.1 == *refusal
        {
            *number = key.0;
        }
        parts
    }

    /// Text of a message; `whole`: all of the part, otherwise more of it.
    fn message_text(
        &mut self,
        event: &Value,
        refusal: bool,
        text: &str,
        whole: bool,
        events: Events,
    ) -> Result<(), DecodeFailure> {
        if text.is_empty() {
            return Ok(());
        }
        let at = self.items.find(Kind::Message, event, false)?;
        let number = event.get("content_index").and_then(Value::as_u64).unwrap_or(0);
        match whole {
            true => self.settle_text(at, (number, refusal), text, events),
            false => self.push_text(at, (number, refusal), text, events),
        }
    }

    fn push_text(
        &mut self,
        at: usize,
        part: (u64, bool),
        text: &str,
        events: Events,
    ) -> Result<(), DecodeFailure> {
        let streamed = self.items.0[at].texts.entry(part).or_default();
        push_piece(streamed, text);
        let key = Some(text_key(at, part));
        match part.1 {
            true => self.assembly.refusal(key, text, events),
            false => self.assembly.text(key, text, events),
        }
    }

    /// The whole text of a part: what has not streamed is added; where it is another text, it counts.
    fn settle_text(
        &mut self,
        at: usize,
        part: (u64, bool),
        text: &str,
        events: Events,
    ) -> Result<(), DecodeFailure> {
        let streamed = self.items.0[at].texts.get(&part).map_or("", String::as_str);
        if let Some(rest) = text.strip_prefix(streamed) {
            return match rest {
                "" => Ok(()),
                rest => self.push_text(at, part, rest, events),
            };
        }
        if !text.is_empty() {
            self.assembly.settle_text(text_key(at, part), text);
            self.items.0[at].texts.insert(part, text.to_owned());
        }
        Ok(())
    }

    fn call_piece(&mut self, event: &Value, delta: &str, events: Events) -> Result<(), DecodeFailure> {
        let at = self.items.find(Kind::Call, event, false)?;
        push_piece(&mut self.items.0[at].streamed, delta);
        self.push_call(at, "", "", delta, events)
    }

    fn push_call(
        &mut self,
        at: usize,
        id: &str,
        name: &str,
        arguments: &str,
        events: Events,
    ) -> Result<(), DecodeFailure> {
        let piece = CallPiece {
            index: Some(at as u64),
            id,
            name,
            arguments: arguments.into(),
        };
        self.assembly.call(&piece, events)
    }

    /// Id, name and arguments of a call as an event tells them; id and name count where they are told first.
    fn call_whole(&mut self, at: usize, told: &Value, events: Events) -> Result<(), DecodeFailure> {
        let first = |known: &mut String, told: &str| match known.is_empty() {
            true => {
                told.clone_into(known);
                told.to_owned()
            }
            false => String::new(),
        };
        let item = &mut self.items.0[at];
        let call_id = first(&mut item.call_id, text(told, "call_id"));
        let name = first(&mut item.name, text(told, "name"));
        let arguments = item::arguments(told);
        let rest = arguments.strip_prefix(&item.streamed).map(str::to_owned);
        let is_other = rest.is_none() && !arguments.is_empty() && !is_same_json(&arguments, &item.streamed);
        item.streamed.push_str(rest.as_deref().unwrap_or_default());
        self.push_call(at, &call_id, &name, rest.as_deref().unwrap_or_default(), events)?;
        if is_other {
            self.assembly.settle_call(at as u64, &arguments);
            self.items.0[at].streamed = arguments;
        }
        Ok(())
    }

    fn reasoning_event(&mut self, event: &Value, kind: &str, events: Events) -> Result<(), DecodeFailure> {
        let open = !kind.contains("summary");
        let field = if open { "content_index" } else { "summary_index" };
        let number = event.get(field).and_then(Value::as_u64).unwrap_or(0);
        let (is_delta, words) = match kind.ends_with(".delta") {
            true => (true, piece(event, "delta")),
            false if kind.ends_with(".done") => (false, text(event, "text")),
            false => return Ok(()),
        };
        if words.is_empty() {
            return Ok(());
        }
        let at = self.items.find(Kind::Reasoning, event, false)?;
        let sections = &self.items.0[at].sections;
        // The same thoughts often come twice, whole and as a summary.
        let is_double = sections.first().is_some_and(|(first, _)| *first != open);
        let has_streamed = sections.contains(&(open, number));
        if is_double || (!is_delta && has_streamed) {
            return Ok(());
        }
        self.push_reasoning(at, (open, number), words, events)
    }

    fn push_reasoning(
        &mut self,
        at: usize,
        section: (bool, u64),
        words: &str,
        events: Events,
    ) -> Result<(), DecodeFailure> {
        let item = &mut self.items.0[at];
        let mut words = words.to_owned();
        if item.sections.last() != Some(&section) {
            if !item.sections.is_empty() {
                words.insert_str(0, PARAGRAPH);
            }
            item.sections.push(section);
        }
        push_piece(&mut item.streamed, &words);
        self.assembly.reasoning(Some(at as u64), &words, events)
    }

    /// An item of reasoning told whole: what has not streamed of it, and the item itself where it can be sent back.
    fn reasoning_whole(&mut self, at: usize, told: &Value, events: Events) -> Result<(), DecodeFailure> {
        let summary = item::reasoning_texts(told, false);
        let sections = &self.items.0[at].sections;
        let open = sections.first().map_or(summary.is_empty(), |(open, _)| *open);
        let whole = match open {
            true => item::reasoning_texts(told, true),
            false => summary,
        };
        let whole = whole.join(PARAGRAPH);
        let item = &mut self.items.0[at];
        if let Some(rest) = whole.strip_prefix(&item.streamed).filter(|rest| !rest.is_empty()) {
            let rest = rest.to_owned();
            if item.sections.is_empty() {
                item.sections.push((open, 0));
            }
            item.streamed.push_str(&rest);
            self.assembly.reasoning(Some(at as u64), &rest, events)?;
        }
        if can_go_back(told) {
            self.assembly.seal(Some(at as u64), told.to_string());
        }
        Ok(())
    }

    /// The response as a whole: how it ended, counts, and what did not stream.
    fn response(&mut self, response: &Value, kind: &str, events: Events) -> Result<(), DecodeFailure> {
        if has_error(response) {
            return Err(DecodeFailure::Server(response.clone()));
        }
        let status = match (text(response, "status"), kind) {
            (status @ ("incomplete" | "failed" | "cancelled" | "canceled"), _) => status,
            ("queued" | "in_progress", "") => return Ok(()),
            (_, "response.incomplete") => "incomplete",
            (_, "response.failed") => "failed",
            (_, "response.cancelled") => "cancelled",
            _ => "completed",
        };
        let finish = match status {
            "completed" => FinishReason::Stop,
            "incomplete" => item::incomplete_reason(response),
            _ => {
                let message = format!("The answer ended as {status}, without a reason.");
                return Err(DecodeFailure::Server(json!({"error": {"message": message}})));
            }
        };
        self.assembly.usage = usage_of(response).or(self.assembly.usage);
        self.output(response, events)?;
        self.assembly.finish = Some(finish);
        self.assembly.done = true;
        Ok(())
    }

    /// The items that a response repeats. Only kinds of which nothing came before count: ids and numbers may have changed.
    fn output(&mut self, response: &Value, events: Events) -> Result<(), DecodeFailure> {
        let came = |kind| self.items.0.iter().any(|item| item.kind == kind);
        let came = [Kind::Message, Kind::Reasoning, Kind::Call].map(|kind| (kind, came(kind)));
        let output = response.get("output").and_then(Value::as_array);
        for (number, told) in output.into_iter().flatten().enumerate() {
            let Some(kind) = item::kind_of(told) else { continue };
            if !came.contains(&(kind, true)) {
                let event = json!({"output_index": number, "item": told});
                self.item(&event, true, events)?;
            }
        }
        Ok(())
    }
}

/// Names the block of a part of a message.
fn text_key(at: usize, (number, refusal): (u64, bool)) -> u64 {
    (at as u64) << 17 | u64::from(refusal) << 16 | number.min(0xffff)
}

fn is_same_json(a: &str, b: &str) -> bool {
    let read = |text: &str| serde_json::from_str::<Value>(text).ok();
    read(a).is_some_and(|value| read(b) == Some(value))
}

impl Decoder for ResponsesDecoder<'_> {
    fn event(&mut self, event: &SseEvent, events: Events) -> Result<(), DecodeFailure> {
        if event.data.trim() == "[DONE]" {
            self.closed = true;
            return Ok(());
        }
        let value = self.assembly.parse(&event.data)?;
        self.value(&value, &event.name, events)
    }

    fn whole(&mut self, body: &str, events: Events) -> Result<(), DecodeFailure> {
        let value = self.assembly.parse(body)?;
        let response = value.get("response").filter(|response| response.is_object());
        let response = response.unwrap_or(&value);
        let is_response = response.get("output").is_some_and(Value::is_array)
            || response.get("object").is_some_and(|object| object == "response");
        match is_response && !has_error(response) {
            true => self.response(response, "", events),
            false => Err(DecodeFailure::Server(value)),
        }
    }

    fn is_done(&self) -> bool {
        self.assembly.done || self.closed
    }

    fn is_finished(&self) -> bool {
        self.assembly.finish.is_some()
    }

    fn finish(
        mut self,
        provider: &ProviderId,
        model: &str,
        request_bytes: usize,
        events: Events,
    ) -> Option<Answer> {
        // Without the last event an answer is whole where each of its items was told whole.
        self.assembly.done |= self.closed && self.items.0.iter().all(|item| item.done);
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
        check_streams("responses", 90, |tools, names| {
            ResponsesDecoder::new(tools, names, CallFormat::Native)
        });
    }
}
