//! The parameters of a request that its model accepts.
//!
//! Models differ in how reasoning is asked for: with a budget of tokens, by an effort alone, or not at all; the newest reason without
//! being asked. The wall stands here so that one function decides, from the model's name, its facts and what refusals have taught.

use super::quirks::Quirks;
use crate::ModelRequest;
use paddock_protocol::{Effort, ModelFacts};
use serde::Serialize;

/// Upper bound of an answer whose model is not known.
const ANSWER: u32 = 8_192;
/// Largest bound that is asked for without need: a larger one takes room from the conversation.
const SENSIBLE_ANSWER: u32 = 32_000;
/// Smallest budget that servers accept.
const SMALLEST_BUDGET: u32 = 1_024;

/// How a model is asked to reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manner {
    /// It does not reason, or cannot be asked to.
    None,
    /// With a number of tokens.
    Budget,
    /// By effort; it decides itself how long.
    Adaptive,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Thinking {
    Enabled {
        budget_tokens: u32,
    },
    Adaptive {
        #[serde(skip_serializing_if = "Option::is_none")]
        display: Option<&'static str>,
    },
    Disabled,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct OutputConfig {
    pub effort: &'static str,
}

/// A set that goes together. A temperature is never among it: reasoning models refuse one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Parameters {
    pub max_tokens: u32,
    pub thinking: Option<Thinking>,
    pub output_config: Option<OutputConfig>,
}

/// What is known of a model by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Breed {
    pub manner: Manner,
    /// It reasons unless told otherwise.
    by_itself: bool,
    /// It cannot be told otherwise.
    always: bool,
    /// The conversation must end with the user.
    pub user_last: bool,
}

impl Breed {
    /// Reads the version out of names like `claude-opus-4-6`, `anthropic/claude-sonnet-4.5`, `claude-3-7-sonnet-20250219`.
    pub fn of(model: &str, facts: &ModelFacts, quirks: &Quirks) -> Self {
        let name = model.to_ascii_lowercase();
        let mut breed = match name.split_once("claude") {
            // Others imitate the protocol as it was when it became known.
            None => Self::new(Manner::Budget, false),
            Some((_, rest)) => match version(rest) {
                Some(version) if version < (3, 7) => Self::new(Manner::None, false),
                Some(version) if version < (4, 6) => Self::new(Manner::Budget, false),
                Some(version) => Self::new(Manner::Adaptive, version >= (5, 0)),
                None => Self::new(Manner::Adaptive, true),
            },
        };
        breed.always = breed.by_itself && (name.contains("mythos") || name.contains("fable"));
        if facts.reasoning == Some(false) {
            breed.manner = Manner::None;
        }
        if let Some(learnt) = quirks.manner {
            breed.manner = learnt;
        }
        breed.user_last |= quirks.user_last;
        breed
    }

    fn new(manner: Manner, by_itself: bool) -> Self {
        Self {
            manner,
            by_itself,
            always: false,
            user_last: manner == Manner::Adaptive,
        }
    }
}

/// The first number of one or two digits, and the one right after it.
fn version(rest: &str) -> Option<(u32, u32)> {
    let number = |word: &str| match word.len() {
        1 | 2 => word.parse::<u32>().ok(),
        _ => None,
    };
    let mut words = rest.split(|c: char| !c.is_ascii_alphanumeric());
    let major = words.find_map(number)?;
    Some((major, words.next().and_then(number).unwrap_or(0)))
}

/// The legal set for a request. `begun`: whether the answer that goes on began with reasoning, as a budget demands.
pub(crate) fn parameters(request: &ModelRequest, quirks: &Quirks, begun: bool) -> Parameters {
    let breed = Breed::of(&request.model, &request.facts, quirks);
    let effort = request.effort;
    let wants = match effort {
        // A short answer has no room for reasoning that nobody asked for.
        None => breed.by_itself && request.max_output.is_none_or(|most| most >= 2 * SMALLEST_BUDGET),
        Some(Effort::Minimal) => breed.always,
        Some(_) => true,
    };
    let wants = wants && breed.manner != Manner::None && !quirks.once.thinking_off;
    let max_tokens = max_tokens(request, quirks, wants);
    let budget = budget(effort).min(max_tokens - max_tokens / 3);
    let thinking = match breed.manner {
        Manner::None => None,
        Manner::Adaptive if wants => Some(Thinking::Adaptive {
            // The newest leave the text out unless asked for it.
            display: (!quirks.no_display).then_some("summarized"),
        }),
        Manner::Adaptive => (breed.by_itself && !breed.always).then_some(Thinking::Disabled),
        Manner::Budget if wants && begun && budget >= SMALLEST_BUDGET => Some(Thinking::Enabled {
            budget_tokens: budget,
        }),
        // Some imitators reason unless told otherwise.
        Manner::Budget => (effort == Some(Effort::Minimal)).then_some(Thinking::Disabled),
    };
    let effort = match (breed.manner, effort) {
        (Manner::Adaptive, Some(Effort::Minimal | Effort::Low)) => Some("low"),
        (Manner::Adaptive, Some(Effort::Medium)) => Some("medium"),
        (Manner::Adaptive, Some(Effort::High)) => Some("high"),
        _ => None,
    };
    Parameters {
        max_tokens,
        thinking: thinking.filter(|thinking| *thinking != Thinking::Disabled || !quirks.no_disabled),
        output_config: effort
            .filter(|_| !quirks.no_effort)
            .map(|effort| OutputConfig { effort }),
    }
}

/// The bound of the answer, reasoning included. The protocol demands one.
fn max_tokens(request: &ModelRequest, quirks: &Quirks, thinks: bool) -> u32 {
    let facts = &request.facts;
    let most = [facts.output, quirks.most_output, quirks.once.most_output];
    let most = most.into_iter().flatten().min();
    let half_window = facts.window.map(|window| window / 2);
    let wanted = match (request.max_output, facts.output) {
        (Some(wanted), _) => wanted,
        (None, Some(output)) => output.min(SENSIBLE_ANSWER),
        (None, None) if thinks => ANSWER + budget(request.effort),
        (None, None) => ANSWER,
    };
    let bounds = [most, half_window];
    bounds.into_iter().flatten().fold(wanted, u32::min).max(1)
}

/// Tokens for reasoning.
fn budget(effort: Option<Effort>) -> u32 {
    match effort {
        Some(Effort::Minimal) => SMALLEST_BUDGET,
        Some(Effort::Low) => 2_048,
        Some(Effort::Medium) | None => 8_192,
        Some(Effort::High) => 16_384,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use paddock_protocol::{CallFormat, Millis};
    use serde_json::{Value, json};

    fn request(
        model: &str,
        effort: Option<Effort>,
        max_output: Option<u32>,
        facts: ModelFacts,
    ) -> ModelRequest {
        ModelRequest {
            model: model.into(),
            system: "".into(),
            messages: Vec::new(),
            tools: Vec::new().into(),
            format: CallFormat::Native,
            facts: facts.into(),
            effort,
            max_output,
            silence: Millis::seconds(1),
            record: None,
            asked: None,
        }
    }

    fn set(parameters: Parameters) -> Value {
        json!([
            parameters.max_tokens,
            parameters.thinking,
            parameters.output_config.map(|config| config.effort)
        ])
    }

    fn of(model: &str, effort: Option<Effort>) -> Value {
        set(parameters(
            &request(model, effort, None, ModelFacts::default()),
            &Quirks::default(),
            true,
        ))
    }

    #[test]
    fn every_generation_gets_the_set_that_it_accepts() {
        let (minimal, low, high) = (Some(Effort::Minimal), Some(Effort::Low), Some(Effort::High));
        let summarized = json!({"type": "adaptive", "display": "summarized"});
        let disabled = json!({"type": "disabled"});
        let budget = |tokens: u32| json!({"type": "enabled", "budget_tokens": tokens});
        for (model, effort, expected) in [
            ("claude-3-5-haiku-20241022", high, json!([8_192, null, null])),
            ("claude-3-7-sonnet-20250219", None, json!([8_192, null, null])),
            (
                "claude-3-7-sonnet-20250219",
                low,
                json!([10_240, budget(2_048), null]),
            ),
            (
                "claude-sonnet-4-20250514",
                high,
                json!([24_576, budget(16_384), null]),
            ),
            (
                "us.anthropic.claude-sonnet-4-20250514-v1:0",
                low,
                json!([10_240, budget(2_048), null]),
            ),
            (
                "anthropic/claude-opus-4.5",
                low,
                json!([10_240, budget(2_048), null]),
            ),
            (
                "claude-haiku-4-5-20251001",
                minimal,
                json!([8_192, disabled, null]),
            ),
            ("claude-opus-4-6", None, json!([8_192, null, null])),
            ("claude-opus-4-6", minimal, json!([8_192, null, "low"])),
            (
                "claude-sonnet-4-6-20260217",
                high,
                json!([24_576, summarized, "high"]),
            ),
            ("claude-4.7-opus", low, json!([10_240, summarized, "low"])),
            ("claude-opus-5", None, json!([16_384, summarized, null])),
            ("claude-opus-5", minimal, json!([8_192, disabled, "low"])),
            ("claude-fable-5", minimal, json!([9_216, summarized, "low"])),
            ("claude-mythos-preview", low, json!([10_240, summarized, "low"])),
            ("kimi-k2-thinking", None, json!([8_192, null, null])),
            ("deepseek-chat", low, json!([10_240, budget(2_048), null])),
            ("deepseek-chat", minimal, json!([8_192, disabled, null])),
        ] {
            assert_eq!(of(model, effort), expected, "{model} {effort:?}");
        }
    }

    #[test]
    fn the_bound_is_as_large_as_sensible_and_the_budget_fits_into_it() {
        let facts = |output, window| ModelFacts {
            output,
            window,
            ..ModelFacts::default()
        };
        for (max_output, facts, bound, budget) in [
            (None, facts(Some(64_000), Some(200_000)), 32_000, Some(16_384)),
            (None, facts(Some(4_096), None), 4_096, Some(2_731)),
            (Some(5_000), facts(Some(64_000), None), 5_000, Some(3_334)),
            (Some(300), facts(Some(64_000), None), 300, None),
            (Some(90_000), facts(Some(64_000), None), 64_000, Some(16_384)),
            (None, facts(None, Some(8_192)), 4_096, Some(2_731)),
            (None, facts(None, Some(0)), 1, None),
        ] {
            let request = request("claude-sonnet-4-5", Some(Effort::High), max_output, facts);
            let found = parameters(&request, &Quirks::default(), true);
            let thinking = budget.map(|budget_tokens| Thinking::Enabled { budget_tokens });
            assert_eq!(
                (found.max_tokens, found.thinking),
                (bound, thinking),
                "{request:?}"
            );
        }
    }

    #[test]
    fn a_short_answer_is_not_spent_on_reasoning_that_nobody_asked_for() {
        for (model, expected) in [
            ("claude-opus-5", json!([60, {"type": "disabled"}, null])),
            ("claude-fable-5", json!([60, null, null])),
        ] {
            let request = request(model, None, Some(60), ModelFacts::default());
            assert_eq!(set(parameters(&request, &Quirks::default(), true)), expected);
        }
    }

    #[test]
    fn a_budget_is_not_given_in_the_middle_of_an_answer_without_reasoning() {
        let high = Some(Effort::High);
        let budget = request("claude-sonnet-4-5", high, None, ModelFacts::default());
        assert_eq!(parameters(&budget, &Quirks::default(), false).thinking, None);
        let adaptive = request("claude-opus-4-8", high, None, ModelFacts::default());
        assert!(
            parameters(&adaptive, &Quirks::default(), false)
                .thinking
                .is_some()
        );
        let facts = ModelFacts {
            reasoning: Some(false),
            ..ModelFacts::default()
        };
        let none = request("some-model", high, None, facts);
        assert_eq!(parameters(&none, &Quirks::default(), true).thinking, None);
    }
}
