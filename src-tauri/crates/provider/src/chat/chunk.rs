//! One chunk of a Chat Completions stream, read tolerantly: every field may be missing, null or of an unknown kind.

use paddock_protocol::{FinishReason, Usage};
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
                            text.push_str(more);
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

/// Token counts in parts that do not overlap. Servers count cached and reasoning tokens inside of the totals, some count
/// reasoning beside the output.
pub(crate) fn usage_of(value: &Value) -> Option<Usage> {
    let choice = value.get("choices").and_then(|choices| choices.get(0));
    let usage = [
        value.get("usage"),
        value.get("x_groq").and_then(|groq| groq.get("usage")),
        choice.and_then(|choice| choice.get("usage")),
    ]
    .into_iter()
    .flatten()
    .find(|usage| usage.is_object())?;
    let count = |paths: &[&str]| -> Option<u64> {
        paths.iter().find_map(|path| {
            usage
                .pointer(path)
                .and_then(|n| n.as_u64().or_else(|| n.as_f64().map(|n| n as u64)))
        })
    };
    let prompt = count(&["/prompt_tokens", "/input_tokens"])?;
    let completion = count(&["/completion_tokens", "/output_tokens"]).unwrap_or(0);
    if prompt == 0 && completion == 0 {
        return None;
    }
    let cached = count(&[
        "/prompt_tokens_details/cached_tokens",
        "/input_tokens_details/cached_tokens",
        "/prompt_cache_hit_tokens",
        "/cached_tokens",
    ])
    .unwrap_or(0)
    .min(prompt);
    let reasoning = count(&[
        "/completion_tokens_details/reasoning_tokens",
        "/output_tokens_details/reasoning_tokens",
        "/reasoning_tokens",
    ])
    .unwrap_or(0);
    let total = count(&["/total_tokens"]);
    let beside = reasoning > completion || (reasoning > 0 && total == Some(prompt + completion + reasoning));
    let output = if beside {
        completion
    } else {
        completion - reasoning
    };
    let number = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
    Some(Usage {
        input: number(prompt - cached),
        cached: number(cached),
        output: number(output),
        reasoning: number(reasoning),
        estimated: false,
        ..Usage::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn usage_never_overlaps() {
        for (usage, parts) in [
            (
                json!({"prompt_tokens": 100, "completion_tokens": 20}),
                (100, 0, 20, 0),
            ),
            (
                json!({"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120,
                    "prompt_tokens_details": {"cached_tokens": 60}, "completion_tokens_details": {"reasoning_tokens": 15}}),
                (40, 60, 5, 15),
            ),
            (
                json!({"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 135,
                    "completion_tokens_details": {"reasoning_tokens": 15}}),
                (100, 0, 20, 15),
            ),
            (
                json!({"prompt_tokens": 9, "completion_tokens": 1, "prompt_cache_hit_tokens": 8}),
                (1, 8, 1, 0),
            ),
        ] {
            let found = usage_of(&json!({ "usage": usage })).unwrap();
            assert_eq!(
                (found.input, found.cached, found.output, found.reasoning),
                parts,
                "{usage}"
            );
        }
        assert_eq!(usage_of(&json!({"usage": null})), None);
        assert_eq!(
            usage_of(&json!({"usage": {"prompt_tokens": 0, "completion_tokens": 0}})),
            None
        );
    }

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
