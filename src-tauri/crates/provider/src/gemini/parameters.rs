//! The set of parameters that a model accepts: one function from what is known of it and was learnt from its refusals.

use super::quirks::{Quirks, ThinkingForm};
use crate::{ModelRequest, ToolSpec};
use paddock_protocol::{CallFormat, Effort, ModelFacts};
use serde::Serialize;

/// Tokens of reasoning for an effort, where the model counts them.
const BUDGETS: [(Effort, u32); 3] = [
    (Effort::Low, 1_024),
    (Effort::Medium, 8_192),
    (Effort::High, 24_576),
];
const EFFORTS: [Effort; 4] = [Effort::Minimal, Effort::Low, Effort::Medium, Effort::High];

/// Reasoning counts towards the limit of an answer: below this many tokens there is room for little of it.
const SHORT_ANSWER: u32 = 2_000;

/// How a model is asked to reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ThinkingConfig {
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub include_thoughts: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking_level: Option<Effort>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking_budget: Option<u32>,
}

/// What of a request depends on the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Parameters {
    pub thinking: Option<ThinkingConfig>,
    pub max_output: Option<u32>,
    /// Ids of calls and results go along.
    pub ids: bool,
    /// Calls without a signature of this model get a stand-in.
    pub stand_ins: bool,
    pub images: bool,
}

impl Parameters {
    pub fn of(request: &ModelRequest, quirks: &Quirks) -> Self {
        let version = version(&request.model);
        let facts = &request.facts;
        let max_output = request.max_output.filter(|_| !quirks.no_max_output);
        Self {
            thinking: thinking(request, quirks),
            max_output: max_output.map(|wanted| wanted.min(facts.output.unwrap_or(u32::MAX))),
            // Models before the third neither name their calls nor expect it.
            ids: !quirks.no_ids && version.is_none_or(|version| version >= (3, 0)),
            stand_ins: quirks.stand_ins || version.is_some_and(|version| version >= (3, 0)),
            images: facts.images != Some(false) && !quirks.no_images && !quirks.broken_image,
        }
    }
}

/// The tools of the field `tools`; in a dialect they are told in the system prompt.
pub(super) fn native_tools(request: &ModelRequest) -> &[ToolSpec] {
    match request.format {
        CallFormat::Native => &request.tools,
        CallFormat::Json | CallFormat::Xml => &[],
    }
}

fn thinking(request: &ModelRequest, quirks: &Quirks) -> Option<ThinkingConfig> {
    let facts = &request.facts;
    let by_name = form_by_name(&request.model, facts);
    let form = by_name.or_else(|| request.effort.map(|_| ThinkingForm::Level))?;
    if facts.reasoning == Some(false) {
        return None;
    }
    let is_short = request.max_output.is_some_and(|limit| limit < SHORT_ANSWER);
    let effort = request.effort.or(is_short.then_some(Effort::Minimal));
    let mut config = ThinkingConfig {
        include_thoughts: !quirks.no_summaries,
        ..ThinkingConfig::default()
    };
    match quirks.thinking.max(form) {
        ThinkingForm::Level => {
            let known = |effort| nearest_level(effort, &request.model, facts, quirks);
            config.thinking_level = effort.and_then(known);
        }
        ThinkingForm::Budget => {
            config.thinking_budget = effort.map(|effort| budget(effort, request, quirks));
        }
        ThinkingForm::Plain => {}
        ThinkingForm::None => return None,
    }
    // Without reasoning there is nothing to tell of.
    config.include_thoughts &= config.thinking_budget != Some(0);
    (config != ThinkingConfig::default()).then_some(config)
}

/// How a model is told how long to reason, as far as that is known.
fn form_by_name(model: &str, facts: &ModelFacts) -> Option<ThinkingForm> {
    match version(model) {
        Some((3.., _)) => Some(ThinkingForm::Level),
        Some((2, 5..)) => Some(ThinkingForm::Budget),
        Some(_) => Some(ThinkingForm::None),
        // `gemini-flash-latest`: always a new one.
        None if model.contains("gemini-") && model.ends_with("-latest") => Some(ThinkingForm::Level),
        None => (facts.reasoning == Some(true)).then_some(ThinkingForm::Level),
    }
}

/// The level that the model knows and that is nearest to the wanted one; rather more than less.
fn nearest_level(effort: Effort, model: &str, facts: &ModelFacts, quirks: &Quirks) -> Option<Effort> {
    let known = |level: &Effort| match facts.efforts.is_empty() {
        true => *level != Effort::Minimal || !is_pro(model),
        false => facts.efforts.contains(level),
    };
    let usable: Vec<Effort> = EFFORTS
        .into_iter()
        .filter(|level| known(level) && !quirks.refused_levels.contains(level))
        .collect();
    let above = usable.iter().find(|level| **level >= effort);
    above.or(usable.last()).copied()
}

/// Tokens of reasoning; at most half of the answer, because they count towards its limit.
fn budget(effort: Effort, request: &ModelRequest, quirks: &Quirks) -> u32 {
    let least = if request.model.contains("lite") { 512 } else { 128 };
    match BUDGETS.iter().find(|(known, _)| *known == effort) {
        None if is_pro(&request.model) || quirks.no_zero_budget => least,
        None => 0,
        Some((_, wanted)) => {
            let half = request.max_output.map_or(u32::MAX, |limit| limit / 2);
            (*wanted).min(half).max(least)
        }
    }
}

fn is_pro(model: &str) -> bool {
    model.split(['-', '/']).any(|word| word == "pro")
}

/// The version in the name of a Gemini model: (2, 5) of `gemini-2.5-pro`.
fn version(model: &str) -> Option<(u32, u32)> {
    let (_, rest) = model.split_once("gemini-")?;
    let number = rest.split('-').next()?;
    let (major, minor) = number.split_once('.').unwrap_or((number, "0"));
    Some((major.parse().ok()?, minor.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use paddock_protocol::Millis;

    fn request(model: &str, effort: Option<Effort>, facts: ModelFacts) -> ModelRequest {
        ModelRequest {
            model: model.into(),
            system: "".into(),
            messages: Vec::new(),
            tools: Vec::new().into(),
            format: CallFormat::Native,
            facts: facts.into(),
            effort,
            max_output: None,
            silence: Millis::seconds(1),
            record: None,
            asked: None,
        }
    }

    /// `level`, `budget` or nothing, and `+` when summaries are wanted.
    fn said(model: &str, effort: Option<Effort>, facts: ModelFacts, quirks: &Quirks) -> String {
        let parameters = Parameters::of(&request(model, effort, facts), quirks);
        let Some(thinking) = parameters.thinking else {
            return "none".into();
        };
        let level = thinking.thinking_level.map(|level| format!("{level:?}"));
        let budget = thinking.thinking_budget.map(|budget| budget.to_string());
        let mark = if thinking.include_thoughts { "+" } else { "" };
        format!("{}{mark}", level.or(budget).unwrap_or_default())
    }

    #[test]
    fn each_model_is_told_in_its_own_way() {
        use Effort::*;
        for (model, effort, expected) in [
            ("gemini-3-pro-preview", None, "+"),
            ("gemini-3-pro-preview", Some(Minimal), "Low+"),
            ("gemini-3.1-pro-preview", Some(Medium), "Medium+"),
            ("models/gemini-3.5-flash", Some(Minimal), "Minimal+"),
            ("gemini-3.5-flash", Some(High), "High+"),
            ("gemini-flash-latest", Some(Low), "Low+"),
            ("gemini-2.5-pro", Some(Minimal), "128+"),
            ("gemini-2.5-pro", Some(High), "24576+"),
            ("gemini-2.5-flash", Some(Minimal), "0"),
            ("gemini-2.5-flash-lite", Some(Low), "1024+"),
            ("gemini-2.5-flash", None, "+"),
            ("gemini-2.0-flash", None, "none"),
            ("gemini-2.0-flash", Some(High), "none"),
            ("gemma-3-27b-it", None, "none"),
            ("house-model", Some(Medium), "Medium+"),
        ] {
            let found = said(model, effort, ModelFacts::default(), &Quirks::default());
            assert_eq!(found, expected, "{model} {effort:?}");
        }
    }

    #[test]
    fn what_is_known_or_learnt_counts_more_than_the_name() {
        use Effort::*;
        let facts = |efforts: &[Effort], reasoning| ModelFacts {
            efforts: efforts.to_vec(),
            reasoning,
            ..ModelFacts::default()
        };
        let none = Quirks::default();
        assert_eq!(
            said("gemini-3-flash", Some(Low), facts(&[], Some(false)), &none),
            "none"
        );
        assert_eq!(
            said("gemini-3-pro", Some(Medium), facts(&[Low, High], None), &none),
            "High+"
        );
        assert_eq!(
            said(
                "gemma-4-31b",
                Some(Low),
                facts(&[Minimal, High], Some(true)),
                &none
            ),
            "High+"
        );
        let learnt = |thinking| Quirks {
            thinking,
            refused_levels: vec![Minimal, High],
            no_zero_budget: true,
            ..Quirks::default()
        };
        let said = |thinking, effort| {
            said(
                "gemini-3-flash",
                Some(effort),
                ModelFacts::default(),
                &learnt(thinking),
            )
        };
        assert_eq!(said(ThinkingForm::Level, Minimal), "Low+");
        assert_eq!(said(ThinkingForm::Level, High), "Medium+");
        assert_eq!(said(ThinkingForm::Budget, Minimal), "128+");
        assert_eq!(said(ThinkingForm::Plain, High), "+");
        assert_eq!(said(ThinkingForm::None, High), "none");
    }

    #[test]
    fn reasoning_leaves_room_for_the_answer() {
        let mut request = request("gemini-2.5-flash", Some(Effort::High), ModelFacts::default());
        request.max_output = Some(8_000);
        let parameters = Parameters::of(&request, &Quirks::default());
        assert_eq!(parameters.thinking.unwrap().thinking_budget, Some(4_000));
        assert_eq!(parameters.max_output, Some(8_000));
        request.effort = None;
        request.max_output = Some(600);
        let told = |request: &_| Parameters::of(request, &Quirks::default()).thinking.unwrap();
        assert_eq!(told(&request).thinking_budget, Some(0));
        request.model = "gemini-3-pro".into();
        assert_eq!(told(&request).thinking_level, Some(Effort::Low));
        request.model = "gemini-2.5-flash".into();
        request.max_output = Some(8_000);
        request.facts = ModelFacts {
            output: Some(6_000),
            ..ModelFacts::default()
        }
        .into();
        assert_eq!(
            Parameters::of(&request, &Quirks::default()).max_output,
            Some(6_000)
        );
        assert!(!Parameters::of(&request, &Quirks::default()).ids);
    }
}
