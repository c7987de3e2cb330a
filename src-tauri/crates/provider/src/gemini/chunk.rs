//! One chunk of a Gemini stream, read tolerantly: every field may be missing, null or of an unknown kind.

use crate::reading::DecodeFailure;
use paddock_protocol::{FinishReason, Usage};
use serde_json::{Value, json};

/// The end of an answer whose history lacks a signature.
pub(super) const MISSING_SIGNATURE: &str = "MISSING_THOUGHT_SIGNATURE";
/// Characters of the server's own words about an end.
const WORDS_LIMIT: usize = 2_000;

/// The error that a chunk carries, if any: the value to be classified.
pub(super) fn error_of(value: &Value) -> Option<&Value> {
    match value.get("error")? {
        Value::Object(map) => !map.is_empty(),
        Value::String(text) => !text.is_empty(),
        _ => false,
    }
    .then_some(value)
}

/// The failure of a prompt that was blocked.
pub(super) fn block_of(value: &Value) -> Option<DecodeFailure> {
    let feedback = value.get("promptFeedback")?;
    let reason = feedback.get("blockReason").and_then(Value::as_str)?;
    if reason.is_empty() || reason.ends_with("UNSPECIFIED") {
        return None;
    }
    let said = feedback.get("blockReasonMessage").and_then(Value::as_str);
    Some(blocked(reason, said.unwrap_or_default()))
}

/// The provider refused the content.
pub(super) fn blocked(reason: &str, said: &str) -> DecodeFailure {
    let message = format!("{reason} {said}");
    DecodeFailure::Server(json!({"error": {"code": "content_filter", "message": message.trim()}}))
}

/// Why an answer ended.
pub(super) enum End {
    Finished(FinishReason),
    /// What the model wrote is of no use, and why.
    Unusable(DecodeFailure),
}

/// The reason for which the answer ended; `None` while it goes on.
pub(super) fn end_of(candidate: &Value) -> Option<End> {
    let reason = candidate.get("finishReason")?.as_str()?.to_ascii_uppercase();
    let why = match reason.as_str() {
        "" | "FINISH_REASON_UNSPECIFIED" => return None,
        "STOP" => return Some(End::Finished(FinishReason::Stop)),
        "FUNCTION_CALL" | "TOOL_CALLS" => return Some(End::Finished(FinishReason::Calls)),
        "MAX_TOKENS" | "LENGTH" => return Some(End::Finished(FinishReason::Length)),
        "SAFETY" | "RECITATION" | "LANGUAGE" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII"
        | "MODEL_ARMOR" | "CONTENT_FILTER" => return Some(End::Finished(FinishReason::Blocked)),
        other if other.starts_with("IMAGE_") => return Some(End::Finished(FinishReason::Blocked)),
        "MALFORMED_FUNCTION_CALL" => "The model wrote a call that its server could not read",
        "UNEXPECTED_TOOL_CALL" => "The model called a tool that was not offered",
        "TOO_MANY_TOOL_CALLS" => "The model called too many tools in a row",
        MISSING_SIGNATURE => "The server misses a signature of the model on an earlier call",
        "MALFORMED_RESPONSE" => "The model wrote an answer that its server could not read",
        _ => return Some(End::Finished(FinishReason::Other)),
    };
    let said = said_of(candidate).chars().take(WORDS_LIMIT).collect();
    Some(End::Unusable(DecodeFailure::Unusable {
        why: format!("{why} ({reason})."),
        raw: said,
    }))
}

/// The server's own words about the end.
pub(super) fn said_of(candidate: &Value) -> &str {
    candidate
        .get("finishMessage")
        .and_then(Value::as_str)
        .unwrap_or_default()
}

/// Token counts as the server sends them, each a total so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    prompt: Option<u64>,
    cached: Option<u64>,
    tool_prompt: Option<u64>,
    candidates: Option<u64>,
    thoughts: Option<u64>,
    total: Option<u64>,
}

impl Counts {
    /// Takes the counts of a chunk; what it does not say stays.
    pub fn update(&mut self, value: &Value) {
        let Some(usage) = value.get("usageMetadata") else {
            return;
        };
        let count = |field: &str, so_far: Option<u64>| {
            let said = usage.get(field);
            let number = said.and_then(|n| n.as_u64().or_else(|| n.as_f64().map(|n| n as u64)));
            number.or(so_far)
        };
        *self = Self {
            prompt: count("promptTokenCount", self.prompt),
            cached: count("cachedContentTokenCount", self.cached),
            tool_prompt: count("toolUsePromptTokenCount", self.tool_prompt),
            candidates: count("candidatesTokenCount", self.candidates),
            thoughts: count("thoughtsTokenCount", self.thoughts),
            total: count("totalTokenCount", self.total),
        };
    }

    /// In parts that do not overlap. Cached tokens are part of the prompt, thoughts stand beside the answer; some proxies count them
    /// inside of it, which the total shows. `None` while nothing was counted.
    pub fn usage(&self) -> Option<Usage> {
        let prompt = self.prompt?;
        let thoughts = self.thoughts.unwrap_or(0);
        let tool_prompt = self.tool_prompt.unwrap_or(0);
        let candidates = match (self.candidates, self.total) {
            (Some(candidates), _) => candidates,
            // Left out when nothing but thoughts was written so far.
            (None, Some(total)) => total.saturating_sub(prompt + tool_prompt + thoughts),
            (None, None) => 0,
        };
        if prompt == 0 && candidates == 0 {
            return None;
        }
        let within =
            thoughts > 0 && thoughts <= candidates && self.total == Some(prompt + tool_prompt + candidates);
        let output = if within { candidates - thoughts } else { candidates };
        let cached = self.cached.unwrap_or(0).min(prompt);
        let number = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
        Some(Usage {
            input: number(prompt - cached + tool_prompt),
            cached: number(cached),
            output: number(output),
            reasoning: number(thoughts),
            estimated: false,
            ..Usage::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_never_overlap() {
        for (counts, parts) in [
            (
                json!({"promptTokenCount": 100, "candidatesTokenCount": 20, "totalTokenCount": 120}),
                (100, 0, 20, 0),
            ),
            (
                json!({"promptTokenCount": 100, "cachedContentTokenCount": 60, "candidatesTokenCount": 20,
                    "thoughtsTokenCount": 15, "toolUsePromptTokenCount": 7, "totalTokenCount": 142}),
                (47, 60, 20, 15),
            ),
            (
                json!({"promptTokenCount": 100, "candidatesTokenCount": 35, "thoughtsTokenCount": 15, "totalTokenCount": 135}),
                (100, 0, 20, 15),
            ),
            (
                json!({"promptTokenCount": 9, "thoughtsTokenCount": 5, "totalTokenCount": 14}),
                (9, 0, 0, 5),
            ),
            (
                json!({"promptTokenCount": 9.0, "candidatesTokenCount": null}),
                (9, 0, 0, 0),
            ),
        ] {
            let mut found = Counts::default();
            found.update(&json!({ "usageMetadata": counts }));
            let found = found.usage().unwrap();
            assert_eq!(
                (found.input, found.cached, found.output, found.reasoning),
                parts,
                "{counts}"
            );
        }
        let mut nothing = Counts::default();
        nothing.update(&json!({"usageMetadata": {"trafficType": "ON_DEMAND"}}));
        assert_eq!(nothing.usage(), None);
    }

    #[test]
    fn later_counts_replace_earlier_ones() {
        let mut counts = Counts::default();
        counts.update(&json!({"usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 3}}));
        counts.update(&json!({"usageMetadata": {"candidatesTokenCount": 8}}));
        counts.update(&json!({"candidates": []}));
        let usage = counts.usage().unwrap();
        assert_eq!((usage.input, usage.output), (10, 8));
    }
}
