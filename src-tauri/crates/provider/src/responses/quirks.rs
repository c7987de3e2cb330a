//! What a model does not accept, learnt from its server's refusals and remembered as long as the provider lives.

use super::parameters::EFFORTS;
use crate::dialect::Constraint;
use crate::{BaseUrl, minimal_effort_word};
use std::collections::{BTreeSet, HashSet};

/// Hosts that are known to make use of a key for the prompt cache.
const CACHING_HOSTS: [&str; 2] = ["openai.com", "openai.azure.com"];
/// Words of which one stands in every refusal of a parameter.
const REFUSED: [&str; 10] = [
    "unsupported",
    "not supported",
    "does not support",
    "unrecognized",
    "unknown",
    "not permitted",
    "not allowed",
    "unexpected",
    "invalid",
    "should be",
];

/// Words for the schema that an answer has to fit.
const CONSTRAINT: [&str; 7] = [
    "text.format",
    "response_format",
    "json_schema",
    "json schema",
    "grammar",
    "structured output",
    "invalid schema",
];

/// What was in a request that may be refused.
#[derive(Clone, Debug, Default)]
pub(super) struct Sent {
    pub effort: Option<&'static str>,
    /// Fingerprints of sealed reasoning.
    pub sealed: Vec<u64>,
    /// Fingerprints of images.
    pub images: Vec<u64>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Quirks {
    /// A key for the prompt cache is sent.
    pub cache_key: bool,
    /// Neither effort nor summary is accepted.
    pub no_reasoning: bool,
    pub no_summary: bool,
    /// Reasoning is not sealed for clients.
    pub no_sealed: bool,
    pub no_store: bool,
    pub no_parallel: bool,
    /// Tools have no field `strict`.
    pub no_strict: bool,
    /// The answer has no upper bound.
    pub no_limit: bool,
    /// The highest bound that is accepted.
    pub output_limit: Option<u32>,
    /// Words that are no effort of this model.
    pub refused_efforts: BTreeSet<&'static str>,
    /// `pattern` and `format` in schemas are refused.
    pub plain_schemas: bool,
    /// Earlier answers are sent as plain text.
    pub plain_answers: bool,
    /// A message of the user may not follow results of tools.
    pub strict_alternation: bool,
    /// Items of reasoning have no field `status`.
    pub no_item_status: bool,
    pub no_images: bool,
    /// How narrow a schema for calls in a text may be.
    pub constraint: Constraint,
    /// Fingerprints of sealed reasoning and of images that were refused.
    pub refused: HashSet<u64>,
}

impl Quirks {
    /// What is known of a model before it is asked.
    pub fn of(base_url: &BaseUrl, model: &str) -> Self {
        let host = base_url.host();
        let other = match minimal_effort_word(&host, model) {
            Some("minimal") => Some("none"),
            Some("none") => Some("minimal"),
            _ => None,
        };
        let is_below = |domain: &str| host.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.'));
        Self {
            cache_key: CACHING_HOSTS.into_iter().any(is_below),
            refused_efforts: other.into_iter().collect(),
            ..Self::default()
        }
    }

    /// Learns from a refusal of what was sent. True when something is new, so that asking once more makes sense.
    pub fn learn(&mut self, status: u16, body: &str, sent: &Sent) -> bool {
        if !matches!(status, 400 | 404 | 422 | 500) {
            return false;
        }
        let before = self.clone();
        let text = body.to_lowercase();
        let is_refused = REFUSED.iter().any(|word| text.contains(word));
        if is_about_sealed(&text) && !sent.sealed.is_empty() {
            self.refused.extend(&sent.sealed);
        } else if status == 404 {
            return false;
        } else if text.contains(".status") && text.contains("input[") {
            self.no_item_status = true;
        } else if is_refused {
            self.learn_parameter(&text, sent);
        }
        if CONSTRAINT.iter().any(|words| text.contains(words)) {
            self.constraint = self.constraint.wider();
        }
        self.learn_history(&text, is_refused, sent);
        *self != before
    }

    fn learn_parameter(&mut self, text: &str, sent: &Sent) {
        if let Some(effort) = sent.effort.filter(|_| text.contains("effort")) {
            self.learn_effort(text, effort);
        } else if text.contains("reasoning.summary") || text.contains("reasoning summar") {
            self.no_summary = true;
        } else if ["encrypted_content", "encrypted content"]
            .iter()
            .any(|word| text.contains(word))
            || names(text, "include")
        {
            self.no_sealed = true;
        } else if names(text, "reasoning") {
            self.no_reasoning = true;
        }
        if text.contains("max_output_tokens") {
            match largest_number(text) {
                Some(limit) => self.output_limit = Some(limit),
                None => self.no_limit = true,
            }
        }
        self.no_parallel |= text.contains("parallel_tool_calls");
        self.cache_key &= !text.contains("prompt_cache_key");
        self.no_store |= names(text, "store");
        self.no_strict |= names(text, "strict");
    }

    /// Which words are efforts is often told with the refusal; otherwise it is only not this one.
    fn learn_effort(&mut self, text: &str, sent: &'static str) {
        let is_listed = |word: &str| names(text, word);
        let lists = ["supported values", "should be", "one of"]
            .iter()
            .any(|words| text.contains(words));
        let lists = lists && EFFORTS.iter().any(|word| *word != sent && is_listed(word));
        if text.contains("parameter") && !text.contains("value") && !lists {
            self.no_reasoning = true;
            return;
        }
        self.refused_efforts.insert(sent);
        if lists {
            let others = EFFORTS.iter().filter(|word| !is_listed(word));
            self.refused_efforts.extend(others);
        }
    }

    fn learn_history(&mut self, text: &str, is_refused: bool, sent: &Sent) {
        if ["output_text", "outputmessage", "annotations"]
            .iter()
            .any(|word| text.contains(word))
        {
            self.plain_answers = true;
        }
        if text.contains("role") && text.contains("alternate") {
            self.strict_alternation = true;
        }
        if text.contains("unable to generate parser") || text.contains("failed to parse grammar") {
            self.plain_schemas = true;
        }
        if !sent.images.is_empty() && text.contains("image") {
            let is_broken = [
                "valid image",
                "invalid_image",
                "image_parse",
                "image data",
                "invalid image",
            ];
            let is_blind = ["vision", "multimodal", "mmproj", "image input"];
            if is_broken.iter().any(|words| text.contains(words)) {
                self.refused.extend(&sent.images);
            } else if is_refused || is_blind.iter().any(|words| text.contains(words)) {
                self.no_images = true;
            }
        }
    }
}

/// Whether a refusal is about reasoning that was sent back.
fn is_about_sealed(text: &str) -> bool {
    let words = [
        "invalid_encrypted_content",
        "could not be verified",
        "could not be decrypted",
        "without its required",
        "of type 'reasoning'",
        "item['content']",
        "not persisted",
    ];
    words.iter().any(|words| text.contains(words))
}

/// Whether a field is named, in quotes.
fn names(text: &str, field: &str) -> bool {
    ["'", "\"", "`", "\\\""]
        .iter()
        .any(|quote| text.contains(&format!("{quote}{field}{quote}")))
}

/// The bound that a text tells after words like "at most".
fn largest_number(text: &str) -> Option<u32> {
    let after = ["at most", "<=", "less than or equal to", "maximum value of"]
        .iter()
        .find_map(|words| text.find(words).map(|at| &text[at + words.len()..]))?;
    let digits = after.trim_start_matches(|c: char| !c.is_ascii_digit());
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    digits[..end].parse().ok().filter(|limit| *limit > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent() -> Sent {
        Sent {
            effort: Some("none"),
            sealed: vec![1, 2],
            images: vec![3],
        }
    }

    fn learnt(status: u16, body: &str) -> Quirks {
        let mut quirks = Quirks::default();
        if quirks.learn(status, body, &sent()) {
            assert!(!quirks.learn(status, body, &sent()), "learnt twice: {body}");
        }
        quirks
    }

    #[test]
    #[expect(clippy::too_many_lines, reason = "one table")]
    fn each_refusal_teaches_one_thing_once() {
        type Expected = fn(&mut Quirks);
        let table: [(u16, &str, Expected); 22] = [
            (
                400,
                r#"{"error":{"message":"Unsupported parameter: 'reasoning.effort' is not supported with this model.","param":"reasoning.effort","code":"unsupported_parameter"}}"#,
                |q| q.no_reasoning = true,
            ),
            (
                400,
                r#"{"error":{"message":"Unsupported value: 'none' is not supported with the 'gpt-5' model. Supported values are: 'minimal', 'low', 'medium', and 'high'.","param":"reasoning.effort","code":"unsupported_value"}}"#,
                |q| q.refused_efforts = ["none"].into(),
            ),
            (
                400,
                r#"{"error":{"message":"Unsupported value: 'none' is not supported with the 'gpt-5-pro' model. Supported values are: 'high'.","param":"reasoning.effort"}}"#,
                |q| q.refused_efforts = ["none", "minimal", "low", "medium"].into(),
            ),
            (
                422,
                r#"{"detail":[{"loc":["body","reasoning","effort"],"msg":"Input should be 'low', 'medium' or 'high'"}]}"#,
                |q| q.refused_efforts = ["none", "minimal"].into(),
            ),
            (400, "Invalid reasoning effort", |q| {
                q.refused_efforts = ["none"].into()
            }),
            (
                400,
                r#"{"error":{"message":"Your organization must be verified to generate reasoning summaries.","param":"reasoning.summary","code":"unsupported_value"}}"#,
                |q| q.no_summary = true,
            ),
            (
                400,
                r#"{"error":{"message":"Encrypted content is not supported with this model.","param":"include"}}"#,
                |q| q.no_sealed = true,
            ),
            (400, "unknown field `include`", |q| q.no_sealed = true),
            (
                400,
                r#"{"error":{"message":"Unrecognized request argument supplied: reasoning","param":"reasoning"}}"#,
                |q| q.no_reasoning = true,
            ),
            (
                400,
                r#"{"error":{"message":"The encrypted content gAAA...xA== could not be verified. Reason: Encrypted content could not be decrypted or parsed.","code":"invalid_encrypted_content"}}"#,
                |q| q.refused = [1, 2].into(),
            ),
            (
                404,
                "Item with id 'rs_1' not found. Items are not persisted when `store` is set to false.",
                |q| q.refused = [1, 2].into(),
            ),
            (
                400,
                "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
                |q| q.refused = [1, 2].into(),
            ),
            (
                400,
                r#"{"error":{"message":"Unknown parameter: 'input[2].status'."}}"#,
                |q| q.no_item_status = true,
            ),
            (
                400,
                "Invalid 'max_output_tokens': integer above maximum value. Expected a value <= 16384, but got 64000 instead.",
                |q| q.output_limit = Some(16_384),
            ),
            (400, "Unsupported parameter: max_output_tokens", |q| {
                q.no_limit = true
            }),
            (400, "Unknown parameter: 'parallel_tool_calls'", |q| {
                q.no_parallel = true
            }),
            (422, "Extra inputs are not permitted: 'store'", |q| {
                q.no_store = true
            }),
            (
                400,
                "Unknown parameter: 'tools[0].strict', \"param\": \"strict\"",
                |q| q.no_strict = true,
            ),
            (
                400,
                "1 validation error: input.list.1.ResponseOutputMessageParam.id Field required",
                |q| q.plain_answers = true,
            ),
            (
                500,
                "Jinja Exception: Conversation roles must alternate user/assistant/user",
                |q| q.strict_alternation = true,
            ),
            (400, "Unable to generate parser for this template", |q| {
                q.plain_schemas = true
            }),
            (400, "This model does not support image input.", |q| {
                q.no_images = true
            }),
        ];
        for (status, body, expected) in table {
            let mut quirks = Quirks::default();
            expected(&mut quirks);
            assert_eq!(learnt(status, body), quirks, "{body}");
        }
        let broken = "The image data you provided does not represent a valid image.";
        assert_eq!(learnt(400, broken).refused, [3].into());
        let mut caching = Quirks {
            cache_key: true,
            ..Quirks::default()
        };
        assert!(caching.learn(400, "Unknown parameter: 'prompt_cache_key'.", &sent()));
        assert_eq!(caching, Quirks::default());
    }

    #[test]
    fn what_is_no_refusal_of_a_parameter_teaches_nothing() {
        for (status, body) in [
            (401, "unknown parameter max_output_tokens"),
            (404, "The model `m` does not exist"),
            (400, "Your input exceeds the context window of this model."),
            (400, "The model must be in store for reasoning about an image"),
            (429, "Unsupported value"),
        ] {
            assert_eq!(learnt(status, body), Quirks::default(), "{status} {body}");
        }
        let mut quirks = Quirks::default();
        assert!(!quirks.learn(400, "This model does not support image input.", &Sent::default()));
        assert!(!quirks.learn(404, "Items are not persisted", &Sent::default()));
    }

    #[test]
    fn the_word_for_the_least_effort_is_known_of_known_models() {
        let openai = BaseUrl::parse("https://api.openai.com/v1").unwrap();
        let refused = |model| Quirks::of(&openai, model).refused_efforts;
        assert_eq!(refused("gpt-5"), ["none"].into());
        assert_eq!(refused("gpt-5.1"), ["minimal"].into());
        assert_eq!(refused("never-heard-of"), [].into());
    }

    #[test]
    fn a_cache_key_goes_where_it_is_known() {
        let keyed = |url| Quirks::of(&BaseUrl::parse(url).unwrap(), "m").cache_key;
        assert!(keyed("https://api.openai.com/v1") && keyed("https://me.openai.azure.com/openai/v1"));
        assert!(!keyed("http://127.0.0.1:8080/v1") && !keyed("https://notopenai.com/v1"));
    }
}
