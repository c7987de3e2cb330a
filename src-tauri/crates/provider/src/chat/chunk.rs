//! One chunk of a Chat Completions stream, read tolerantly: every field may be missing, null or of an unknown kind.

use crate::reading::push_piece;
use paddock_protocol::FinishReason;
use serde_json::Value;

/// The error that a chunk carries, if any: the value to be classified.
pub(crate) fn error_of(value: &Value) -> Option<&Value> {
    let carries = |value: &Value| match value.get("error") {
        Some(Value::Object(map)) => !map.is_empty(),
        Some(Value::String(text)) => !text.is_empty(),
        _ => false,
    };
    if carries(value) || value.get("object").is_some_and(|object| object == "error") {
        return Some(value);
    }
    let choice = value.get("choices").and_then(|choices| choices.get(0))?;
    (carries(choice)
        || choice
            .get("finish_reason")
            .is_some_and(|reason| reason == "error"))
    .then_some(choice)
}

/// Text and reasoning of `content`, which is a string or a list of parts.
pub(crate) fn content_of(content: &Value) -> (String, String) {
    let mut text = String::new();
    let mut reasoning = String::new();
    match content {
        Value::String(content) => text.push_str(content),
        Value::Array(parts) => {
            for part in parts {
                let kind = part.get("type").and_then(Value::as_str).unwrap_or("text");
                if kind.contains("thinking") || kind.contains("reasoning") {
                    let inner = ["thinking", "reasoning", "text", "content"]
                        .iter()
                        .find_map(|field| part.get(field));
                    if let Some(inner) = inner {
                        let (a, b) = content_of(inner);
                        reasoning.push_str(&a);
                        reasoning.push_str(&b);
                    }
                } else if let Some(inner) = part.as_str().or_else(|| part.get("text")?.as_str()) {
                    text.push_str(inner);
                }
            }
        }
        _ => {}
    }
    (text, reasoning)
}

/// Reasoning of `reasoning_content`, `reasoning` or `reasoning_details[]`; the same text often comes in two of them.
pub(crate) fn reasoning_of(delta: &Value) -> String {
    for field in ["reasoning_content", "reasoning"] {
        match delta.get(field) {
            Some(Value::String(text)) if !text.is_empty() => return text.clone(),
            Some(object @ Value::Object(_)) => {
                if let Some(text) = object
                    .get("content")
                    .or_else(|| object.get("text"))
                    .and_then(Value::as_str)
                {
                    return text.to_string();
                }
            }
            _ => {}
        }
    }
    let details = delta.get("reasoning_details").and_then(Value::as_array);
    details
        .into_iter()
        .flatten()
        .filter_map(|detail| detail.get("text").or_else(|| detail.get("summary"))?.as_str())
        .collect()
}

/// Adds streamed `reasoning_details` to those so far: pieces of the same entry are joined, so that they can be sent back whole.
pub(crate) fn add_details(all: &mut Vec<Value>, delta: &Value) {
    let Some(details) = delta.get("reasoning_details").and_then(Value::as_array) else {
        return;
    };
    for detail in details {
        let same = |last: &&mut Value| {
            last.get("type") == detail.get("type")
                && last.get("index") == detail.get("index")
                && detail.get("index").is_some()
        };
        match (all.last_mut().filter(same), detail) {
            (Some(Value::Object(last)), Value::Object(new)) => {
                for (field, value) in new {
                    match (last.get_mut(field), value) {
                        (_, Value::Null) => {}
                        (Some(Value::String(text)), Value::String(more))
                            if matches!(field.as_str(), "text" | "summary" | "data") =>
                        {
                            push_piece(text, more);
                        }
                        _ => {
                            last.insert(field.clone(), value.clone());
                        }
                    }
                }
            }
            _ => all.push(detail.clone()),
        }
    }
}

/// The reason for which the answer ended; `None` while it goes on.
pub(crate) fn finish_of(choice: &Value) -> Option<FinishReason> {
    let reason = choice.get("finish_reason")?.as_str()?;
    Some(match reason.to_ascii_lowercase().as_str() {
        "" => return None,
        "stop" | "end_turn" | "eos" | "stop_sequence" => FinishReason::Stop,
        "tool_calls" | "function_call" | "tool_use" => FinishReason::Calls,
        "length" | "max_tokens" | "model_length" => FinishReason::Length,
        "content_filter" | "safety" | "refusal" => FinishReason::Blocked,
        _ => FinishReason::Other,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn pieces_of_reasoning_details_are_joined() {
        let mut all = Vec::new();
        add_details(
            &mut all,
            &json!({"reasoning_details": [{"type": "reasoning.text", "index": 0, "text": "a"}]}),
        );
        add_details(
            &mut all,
            &json!({"reasoning_details": [{"type": "reasoning.text", "index": 0, "text": "b", "signature": "s"}]}),
        );
        add_details(
            &mut all,
            &json!({"reasoning_details": [{"type": "reasoning.encrypted", "index": 1, "data": "d"}]}),
        );
        assert_eq!(
            all,
            [
                json!({"type": "reasoning.text", "index": 0, "text": "ab", "signature": "s"}),
                json!({"type": "reasoning.encrypted", "index": 1, "data": "d"})
            ]
        );
    }
}
