//! Token counts as OpenAI and its imitators report them.

use paddock_protocol::Usage;
use serde_json::Value;

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
}
