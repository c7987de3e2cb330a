//! What a model does not accept, learnt from its server's refusals and remembered as long as the provider lives.

use crate::BaseUrl;
use crate::dialect::Constraint;

/// The field that carries the upper bound of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum TokenField {
    #[default]
    MaxTokens,
    MaxCompletionTokens,
    /// Neither is accepted.
    None,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Quirks {
    pub token_field: TokenField,
    pub(super) token_field_switched: bool,
    pub no_stream_options: bool,
    /// Ids of calls must be nine letters or digits.
    pub short_ids: bool,
    /// A message of the user may not follow results of tools.
    pub strict_alternation: bool,
    /// There is no system role: its text goes into the first message of the user.
    pub no_system_role: bool,
    /// `pattern` and `format` in schemas are refused.
    pub plain_schemas: bool,
    /// Reasoning must be sent back with the calls that it led to.
    pub echo_reasoning: bool,
    /// Images are refused.
    pub no_images: bool,
    /// How long to reason cannot be said.
    pub no_effort: bool,
    /// Stop sequences are refused.
    pub no_stop: bool,
    /// A temperature is refused.
    pub no_temperature: bool,
    /// How narrow a schema for calls in a text may be.
    pub constraint: Constraint,
}

impl Quirks {
    pub fn of(base_url: &BaseUrl) -> Self {
        let host = base_url.host();
        Self {
            token_field: if host == "api.openai.com" {
                TokenField::MaxCompletionTokens
            } else {
                TokenField::MaxTokens
            },
            short_ids: host.ends_with("mistral.ai"),
            // Its reasoning models refuse them.
            no_stop: host == "api.openai.com",
            ..Self::default()
        }
    }

    /// With what holds for every model of a server, learnt of others: whether it counts tokens in a stream is its own affair.
    pub fn beside<'q>(mut self, mut others: impl Iterator<Item = &'q Self>) -> Self {
        self.no_stream_options = others.any(|other| other.no_stream_options);
        self
    }

    /// Learns from a refusal. True when something is new, so that asking once more makes sense.
    pub fn learn(&mut self, status: u16, body: &str) -> bool {
        if !matches!(status, 400 | 422 | 500) {
            return false;
        }
        let before = self.clone();
        let text = body.to_lowercase();
        let refused = [
            "unsupported",
            "not supported",
            "unrecognized",
            "unknown",
            "not permitted",
            "not allowed",
            "unexpected",
            "invalid",
        ]
        .iter()
        .any(|word| text.contains(word));
        if refused && (text.contains("stream_options") || text.contains("include_usage")) {
            self.no_stream_options = true;
        }
        if refused && (text.contains("max_tokens") || text.contains("max_completion_tokens")) {
            self.switch_token_field(&text);
        }
        if refused && (text.contains("image_url") || text.contains("image input")) {
            self.no_images = true;
        }
        if refused && text.contains("reasoning_effort") {
            self.no_effort = true;
        }
        let names_stop = [
            "'stop'",
            "\"stop\"",
            "`stop`",
            "parameter: stop",
            "field stop",
            "argument stop",
        ];
        if refused && names_stop.iter().any(|name| text.contains(name)) {
            self.no_stop = true;
        }
        if refused && text.contains("temperature") {
            self.no_temperature = true;
        }
        let names_constraint = [
            "response_format",
            "json_schema",
            "json schema",
            "grammar",
            "structured output",
        ];
        if names_constraint.iter().any(|name| text.contains(name)) {
            self.constraint = self.constraint.wider();
        }
        if text.contains("length of 9") || text.contains("exactly 9") {
            self.short_ids = true;
        }
        if text.contains("role") && text.contains("alternate") {
            self.strict_alternation = true;
        }
        if text.contains("system role not supported") || text.contains("system role is not supported") {
            self.no_system_role = true;
        }
        if text.contains("unable to generate parser") || text.contains("failed to parse grammar") {
            self.plain_schemas = true;
        }
        if text.contains("reasoning_content") && (text.contains("must be passed") || text.contains("missing"))
        {
            self.echo_reasoning = true;
        }
        *self != before
    }

    fn switch_token_field(&mut self, text: &str) {
        self.token_field = match self.token_field {
            TokenField::MaxTokens if text.contains("max_tokens") && !self.token_field_switched => {
                TokenField::MaxCompletionTokens
            }
            TokenField::MaxCompletionTokens
                if text.contains("max_completion_tokens") && !self.token_field_switched =>
            {
                TokenField::MaxTokens
            }
            _ => TokenField::None,
        };
        self.token_field_switched = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_refusal_teaches_one_thing_once() {
        let mut quirks = Quirks::of(&BaseUrl::parse("http://localhost:1/v1").unwrap());
        assert!(quirks.learn(400, r#"{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."}}"#));
        assert_eq!(quirks.token_field, TokenField::MaxCompletionTokens);
        assert!(quirks.learn(400, "unknown field max_completion_tokens"));
        assert_eq!(quirks.token_field, TokenField::None);
        assert!(quirks.learn(422, "Extra inputs are not permitted: stream_options"));
        assert!(!quirks.learn(422, "Extra inputs are not permitted: stream_options"));
        assert!(quirks.learn(
            500,
            "Jinja Exception: Conversation roles must alternate user/assistant"
        ));
        assert!(quirks.strict_alternation);
        assert!(quirks.learn(
            400,
            "Unsupported parameter: 'stop' is not supported with this model."
        ));
        assert!(quirks.no_stop);
        assert!(!quirks.learn(400, "unexpected end: the model did not stop"));
        assert!(!quirks.learn(401, "unknown field max_tokens"));
        assert!(!quirks.learn(400, "max_tokens is too large: 900000"));
    }

    #[test]
    fn known_servers_need_no_refusal() {
        let quirks = |url| Quirks::of(&BaseUrl::parse(url).unwrap());
        assert_eq!(
            quirks("https://api.openai.com/v1").token_field,
            TokenField::MaxCompletionTokens
        );
        assert!(quirks("https://api.mistral.ai/v1").short_ids);
        assert!(quirks("https://api.openai.com/v1").no_stop);
        let local = quirks("http://127.0.0.1:8080/v1");
        assert!(!local.short_ids && !local.no_stop);
    }
}
