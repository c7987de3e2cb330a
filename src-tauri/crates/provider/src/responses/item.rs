//! What an output item says, read tolerantly: every field may be missing, null or of an unknown kind.

use paddock_protocol::FinishReason;
use serde_json::Value;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Message,
    Reasoning,
    Call,
}

/// The kind of an item; `None` for those that were not asked for, and for unknown ones.
pub(super) fn kind_of(item: &Value) -> Option<Kind> {
    match text(item, "type") {
        "message" => Some(Kind::Message),
        "reasoning" => Some(Kind::Reasoning),
        "function_call" => Some(Kind::Call),
        "" if item.get("role").is_some() => Some(Kind::Message),
        _ => None,
    }
}

/// A text field; empty when it is absent.
pub(super) fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value.get(field).and_then(Value::as_str).unwrap_or_default()
}

/// A piece of text: a string, or an object that holds one.
pub(super) fn piece<'a>(value: &'a Value, field: &str) -> &'a str {
    match value.get(field) {
        Some(Value::String(piece)) => piece,
        Some(object @ Value::Object(_)) => ["text", "content"]
            .iter()
            .find_map(|field| object.get(field)?.as_str())
            .unwrap_or_default(),
        _ => "",
    }
}

/// Arguments of a call as JSON text; some servers send the object itself.
pub(super) fn arguments(value: &Value) -> String {
    match value.get("arguments") {
        Some(Value::String(arguments)) => arguments.clone(),
        None | Some(Value::Null) => String::new(),
        Some(other) => other.to_string(),
    }
}

/// A part of a message: whether it is a refusal, and its text.
pub(super) fn message_part(part: &Value) -> Option<(bool, &str)> {
    match text(part, "type") {
        "refusal" => Some((true, text(part, "refusal"))),
        "output_text" | "text" | "" => Some((false, part.as_str().unwrap_or_else(|| text(part, "text")))),
        _ => None,
    }
}

/// The texts of a message, with their numbers.
pub(super) fn message_parts(item: &Value) -> Vec<(u64, bool, &str)> {
    match item.get("content") {
        Some(Value::String(text)) => vec![(0, false, text)],
        Some(Value::Array(parts)) => (0u64..)
            .zip(parts)
            .filter_map(|(number, part)| message_part(part).map(|(refusal, text)| (number, refusal, text)))
            .collect(),
        _ => Vec::new(),
    }
}

/// The texts of an item of reasoning; `open`: the reasoning itself, otherwise its summary.
pub(super) fn reasoning_texts(item: &Value, open: bool) -> Vec<&str> {
    let field = if open { "content" } else { "summary" };
    match item.get(field) {
        Some(Value::String(text)) => vec![text],
        Some(Value::Array(parts)) => parts
            .iter()
            .filter_map(|part| part.as_str().or_else(|| part.get("text")?.as_str()))
            .filter(|text| !text.is_empty())
            .collect(),
        _ => Vec::new(),
    }
}

/// Why an answer that is not complete ended. What is not known is taken for cut: its calls are not run.
pub(super) fn incomplete_reason(response: &Value) -> FinishReason {
    let reason = response
        .pointer("/incomplete_details/reason")
        .and_then(Value::as_str);
    match reason.unwrap_or_default() {
        "content_filter" | "safety" => FinishReason::Blocked,
        _ => FinishReason::Length,
    }
}

/// Whether the field `error` says something.
pub(super) fn has_error(value: &Value) -> bool {
    match value.get("error") {
        Some(Value::Object(fields)) => !fields.is_empty(),
        Some(Value::String(text)) => !text.is_empty(),
        _ => false,
    }
}
