//! What a server does not accept of a model's requests, learnt from its refusals and remembered as long as the provider lives.

use super::parameters::{Manner, Parameters, Thinking};
use super::sealed::fingerprint;
use crate::failure::ServerWords;
use crate::{AgentPart, Message, ModelRequest};
use std::collections::BTreeSet;

/// Smallest answer that is worth asking for when the conversation leaves little room.
const WORTH_ASKING: u32 = 1_024;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Quirks {
    /// How reasoning is asked for, when it is not as the model's name says.
    pub manner: Option<Manner>,
    /// Whether the text of reasoning may be asked for is unknown to the server.
    pub no_display: bool,
    pub no_effort: bool,
    /// Reasoning cannot be switched off.
    pub no_disabled: bool,
    pub no_cache: bool,
    pub no_images: bool,
    pub no_stop: bool,
    /// The choice among tools is not known.
    pub no_choice: bool,
    /// The conversation must end with the user.
    pub user_last: bool,
    /// Reasoning without a signature must be sent back all the same.
    pub unsigned: bool,
    /// Only the plainest rules of schemas are understood.
    pub plain_schemas: bool,
    /// Largest answer in tokens.
    pub most_output: Option<u32>,
    /// Blocks of reasoning that were refused.
    pub refused: BTreeSet<u64>,
    /// Of this request only.
    pub once: Once,
}

/// What holds for one request and not for those after it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Once {
    pub thinking_off: bool,
    pub no_images: bool,
    /// Room that the conversation leaves, in tokens.
    pub most_output: Option<u32>,
}

impl Quirks {
    /// Learns from a refusal of a request that was `sent` with these parameters. True when something is new, so that asking once
    /// more makes sense.
    pub fn learn(&mut self, status: u16, body: &str, request: &ModelRequest, sent: &Parameters) -> bool {
        if !matches!(status, 400 | 422 | 500) {
            return false;
        }
        let before = self.clone();
        let text = ServerWords::read(body).message.to_lowercase();
        let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
        if has(&["context"]) && has(&["max_tokens", "completion"]) {
            self.once.most_output = room(&text, sent.max_tokens);
        } else if has(&["max_tokens"]) && has(&["maximum", "at most", "range", "less than"]) {
            self.most_output = bound(&text, sent.max_tokens).or(self.most_output);
        } else if has(&["thinking"]) && has(&["cannot be modified", "signature", "different conversation"]) {
            self.refused.extend(blocks(request));
        } else if has(&["expected `thinking`", "start with a thinking block"]) {
            self.once.thinking_off = true;
        } else if has(&["reasoning_content", "thinking"])
            && has(&["missing", "must be passed", "passed back"])
        {
            self.unsigned = true;
        } else if has(&["image"]) {
            self.images(&text);
        } else if has(&["prefill", "end with a user message"]) {
            self.user_last = true;
        } else if has(REFUSALS) {
            self.parameter(&text, sent);
        }
        *self != before
    }

    /// One image that cannot be read is no reason to send none ever after.
    fn images(&mut self, text: &str) {
        let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
        if has(&[
            "media_type",
            "media type",
            "process image",
            "exceed",
            "dimension",
            "size",
            "base64",
        ]) {
            self.once.no_images = true;
        } else if has(&["support", "not allowed", "not permitted", "unknown", "unexpected"]) {
            self.no_images = true;
        }
    }

    fn parameter(&mut self, text: &str, sent: &Parameters) {
        let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
        if has(&["cache_control"]) || (has(&["system"]) && has(&["valid string", "be a string"])) {
            self.no_cache = true;
        } else if has(&["stop_sequences"]) {
            self.no_stop = true;
        } else if has(&["tool_choice"]) {
            self.no_choice = true;
        } else if has(&["input_schema", "json schema"]) {
            self.plain_schemas = true;
        } else if sent.output_config.is_some() && has(&["output_config", "effort"]) {
            self.no_effort = true;
        } else if has(&["thinking", "adaptive"]) {
            self.thinking(text, sent);
        }
    }

    fn thinking(&mut self, text: &str, sent: &Parameters) {
        match sent.thinking {
            None => {}
            Some(Thinking::Disabled) => self.no_disabled = true,
            Some(Thinking::Adaptive { display: Some(_) }) if text.contains("display") => {
                self.no_display = true;
            }
            // The other manner is tried once.
            Some(_) if self.manner.is_some() => self.manner = Some(Manner::None),
            Some(Thinking::Adaptive { .. }) => self.manner = Some(Manner::Budget),
            Some(Thinking::Enabled { .. }) if text.contains("adaptive") => {
                self.manner = Some(Manner::Adaptive)
            }
            Some(Thinking::Enabled { .. }) => self.manner = Some(Manner::None),
        }
    }
}

/// Words of servers that do not know a parameter or a value.
const REFUSALS: &[&str] = &[
    "unsupported",
    "not support",
    "unrecognized",
    "unknown",
    "not permitted",
    "not allowed",
    "not available",
    "unexpected",
    "invalid",
    "does not match",
    "should be",
    "valid string",
];

/// What the window leaves for an answer, of words like "174167 + 64000 > 200000": the window is named as such or is the largest number, the
/// conversation the smallest one that was not asked for.
fn room(text: &str, asked: u32) -> Option<u32> {
    let numbers: Vec<u32> = numbers_in(text).filter(|number| *number != asked).collect();
    let told = text
        .split_once("context length is")
        .and_then(|(_, after)| numbers_in(after).next());
    let window = told.or_else(|| numbers.iter().copied().max())?;
    let input = numbers.iter().copied().min()?;
    let room = window.checked_sub(input).filter(|_| window != input)?;
    (WORTH_ASKING..asked).contains(&room).then_some(room)
}

/// The largest number named that is smaller than what was asked for.
fn bound(text: &str, asked: u32) -> Option<u32> {
    let below = |number: &u32| *number < asked && *number >= WORTH_ASKING;
    numbers_in(text).filter(below).max()
}

fn numbers_in(text: &str) -> impl Iterator<Item = u32> {
    let words = text.split(|c: char| !c.is_ascii_digit() && c != ',');
    words.filter_map(|word| word.replace(',', "").parse().ok())
}

fn blocks(request: &ModelRequest) -> impl Iterator<Item = u64> {
    let parts = request.messages.iter().flat_map(|message| match message {
        Message::Agent { parts } => parts.as_slice(),
        Message::User { .. } | Message::Results { .. } => &[],
    });
    parts.filter_map(|part| match part {
        AgentPart::Reasoning { opaque, .. } => opaque.as_ref().map(fingerprint),
        AgentPart::Text { .. } | AgentPart::Call { .. } => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use paddock_protocol::{CallFormat, Millis, ModelFacts, Opaque, ProviderId};
    use serde_json::json;

    fn request() -> ModelRequest {
        let opaque = Opaque {
            provider: ProviderId::new("p"),
            model: "m".into(),
            data: "{}".into(),
        };
        let reasoning = AgentPart::Reasoning {
            text: "Hm".into(),
            opaque: Some(opaque),
        };
        ModelRequest {
            model: "m".into(),
            system: "".into(),
            messages: vec![Message::Agent {
                parts: vec![reasoning],
            }],
            tools: Vec::new().into(),
            format: CallFormat::Native,
            facts: ModelFacts::default().into(),
            effort: None,
            max_output: None,
            silence: Millis::seconds(1),
            record: None,
            asked: None,
        }
    }

    fn sent(thinking: Option<Thinking>, effort: bool) -> Parameters {
        Parameters {
            max_tokens: 64_000,
            thinking,
            output_config: effort.then_some(super::super::parameters::OutputConfig { effort: "low" }),
        }
    }

    /// What is learnt from one message, and that it is learnt once.
    fn learnt(message: &str, sent: &Parameters) -> Quirks {
        let body = json!({"type": "error", "error": {"type": "invalid_request_error", "message": message}})
            .to_string();
        let mut quirks = Quirks::default();
        assert!(quirks.learn(400, &body, &request(), sent), "{message}");
        let thinks_still = matches!(quirks.manner, Some(Manner::Budget | Manner::Adaptive));
        assert!(
            thinks_still || !quirks.learn(400, &body, &request(), sent),
            "{message}"
        );
        quirks
    }

    #[test]
    fn refused_parameters_are_known_by_their_names() {
        let plain = sent(None, false);
        for (message, expected) in [
            (
                "tools.0.cache_control: Extra inputs are not permitted",
                Quirks {
                    no_cache: true,
                    ..Quirks::default()
                },
            ),
            (
                "system: Input should be a valid string",
                Quirks {
                    no_cache: true,
                    ..Quirks::default()
                },
            ),
            (
                "tool_choice.type: Input should be 'auto', 'any' or 'tool'",
                Quirks {
                    no_choice: true,
                    ..Quirks::default()
                },
            ),
            (
                "stop_sequences: Extra inputs are not permitted",
                Quirks {
                    no_stop: true,
                    ..Quirks::default()
                },
            ),
            (
                "tools.3.custom.input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12",
                Quirks {
                    plain_schemas: true,
                    ..Quirks::default()
                },
            ),
            (
                "This model does not support assistant message prefill. The conversation must end with a user message.",
                Quirks {
                    user_last: true,
                    ..Quirks::default()
                },
            ),
            (
                "thinking is enabled but reasoning_content is missing in assistant tool call message at index 2",
                Quirks {
                    unsigned: true,
                    ..Quirks::default()
                },
            ),
            (
                "This model does not support image input",
                Quirks {
                    no_images: true,
                    ..Quirks::default()
                },
            ),
            (
                "max_tokens: 64000 > 32000, which is the maximum allowed number of output tokens for claude-opus-4",
                Quirks {
                    most_output: Some(32_000),
                    ..Quirks::default()
                },
            ),
            (
                "Invalid max_tokens value, the valid range of max_tokens is [1, 8192]",
                Quirks {
                    most_output: Some(8_192),
                    ..Quirks::default()
                },
            ),
        ] {
            assert_eq!(learnt(message, &plain), expected, "{message}");
        }
    }

    #[test]
    fn what_concerns_one_conversation_is_not_kept_for_all() {
        let plain = sent(None, false);
        let once = |once| Quirks {
            once,
            ..Quirks::default()
        };
        for (message, expected) in [
            (
                "messages.5.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block",
                once(Once {
                    thinking_off: true,
                    ..Once::default()
                }),
            ),
            (
                "messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 6 MB > 5 MB",
                once(Once {
                    no_images: true,
                    ..Once::default()
                }),
            ),
            (
                "Could not process image",
                once(Once {
                    no_images: true,
                    ..Once::default()
                }),
            ),
            (
                "input length and `max_tokens` exceed context limit: 174167 + 64000 > 200000, decrease input length or `max_tokens` and try again",
                once(Once {
                    most_output: Some(25_833),
                    ..Once::default()
                }),
            ),
        ] {
            assert_eq!(learnt(message, &plain), expected, "{message}");
        }
        for message in [
            "'max_tokens' is too large: 64000. This model's maximum context length is 65536 tokens and your request has 39703 input tokens (64000 > 65536 - 39703).",
            "This model's maximum context length is 65536 tokens. However, you requested 103703 tokens (39703 in the messages, 64000 in the completion).",
        ] {
            assert_eq!(
                learnt(message, &plain).once.most_output,
                Some(25_833),
                "{message}"
            );
        }
        for message in [
            "messages.1.content.4: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified.",
            "messages.1.content.0: Invalid `signature` in `thinking` block",
            "messages.1.content.0.thinking.signature: Field required",
            "Invalid `signature` in `thinking` block. The block is bound to a different conversation.",
        ] {
            assert_eq!(learnt(message, &plain).refused.len(), 1, "{message}");
        }
    }

    #[test]
    fn the_other_manner_of_reasoning_is_tried_once() {
        let budget = sent(Some(Thinking::Enabled { budget_tokens: 2_048 }), false);
        let shown = sent(
            Some(Thinking::Adaptive {
                display: Some("summarized"),
            }),
            true,
        );
        let adaptive = sent(Some(Thinking::Adaptive { display: None }), false);
        let disabled = sent(Some(Thinking::Disabled), true);
        let old = r#""thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior."#;
        assert_eq!(learnt(old, &budget).manner, Some(Manner::Adaptive));
        let new = "thinking: Input tag 'adaptive' found using 'type' does not match any of the expected tags: 'disabled', 'enabled'";
        assert_eq!(learnt(new, &adaptive).manner, Some(Manner::Budget));
        let mut quirks = learnt(new, &adaptive);
        assert!(quirks.learn(400, old, &request(), &budget));
        assert_eq!(quirks.manner, Some(Manner::None));
        assert_eq!(
            learnt("thinking is not supported by this model", &budget).manner,
            Some(Manner::None)
        );
        assert!(
            learnt(
                "thinking.adaptive.display: Extra inputs are not permitted",
                &shown
            )
            .no_display
        );
        assert!(learnt("output_config: Extra inputs are not permitted", &shown).no_effort);
        let always = r#""thinking.type.disabled" is not supported for this model. Thinking defaults to adaptive mode when not specified; use "thinking.type.enabled" with "budget_tokens" for extended thinking."#;
        assert!(learnt(always, &disabled).no_disabled);
    }

    #[test]
    fn other_refusals_teach_nothing() {
        let plain = sent(None, false);
        for (status, message) in [
            (400, "prompt is too long: 208310 tokens > 200000 maximum"),
            (
                400,
                "input length and `max_tokens` exceed context limit: 199900 + 64000 > 200000",
            ),
            (401, "cache_control: Extra inputs are not permitted"),
            (400, "messages: at least one message is required"),
            (400, "invalid model"),
            (500, ""),
        ] {
            let mut quirks = Quirks::default();
            assert!(
                !quirks.learn(status, message, &request(), &plain),
                "{message}: {quirks:?}"
            );
        }
    }
}
