//! What a model does not accept, learnt from refusals and remembered as long as the provider lives.

use paddock_protocol::Effort;

/// How a model is told how long to reason. A refusal leads to the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ThinkingForm {
    /// By a level.
    #[default]
    Level,
    /// By a number of tokens.
    Budget,
    /// It cannot be told; it sends summaries of its reasoning.
    Plain,
    /// Nothing about reasoning is accepted.
    None,
}

/// How an answer whose calls are JSON is held to its form. A refusal leads to the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum AnswerForm {
    #[default]
    JsonSchema,
    /// By a schema of the server's own kind.
    OwnSchema,
    Free,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Quirks {
    pub thinking: ThinkingForm,
    pub refused_levels: Vec<Effort>,
    /// It cannot do without reasoning.
    pub no_zero_budget: bool,
    pub no_summaries: bool,
    /// Calls and results have no ids.
    pub no_ids: bool,
    /// Calls without a signature are refused.
    pub stand_ins: bool,
    /// Signatures are refused.
    pub no_signatures: bool,
    /// The system text goes into the first message of the user.
    pub no_system: bool,
    pub no_images: bool,
    /// One of the images cannot be read.
    pub broken_image: bool,
    pub no_max_output: bool,
    pub no_stop: bool,
    /// Schemas have nothing but types, names and descriptions.
    pub plain_schemas: bool,
    pub answer_form: AnswerForm,
}

impl Quirks {
    /// What holds for the next request too; the rest was about this one.
    pub fn lasting(&self) -> Self {
        Self {
            broken_image: false,
            no_signatures: false,
            ..self.clone()
        }
    }

    /// Learns from a refusal. True when something is new, so that asking once more makes sense.
    pub fn learn(&mut self, status: u16, body: &str) -> bool {
        if !matches!(status, 400 | 422) {
            return false;
        }
        let before = self.clone();
        // Bodies are often quoted within bodies.
        let text = body.to_lowercase().replace('\\', "");
        let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
        if has(&["thought_signature", "thoughtsignature", "thought signature"]) {
            self.learn_signatures(&text);
        } else if has(&[
            "response_json_schema",
            "responsejsonschema",
            "response_schema",
            "responseschema",
            "response schema",
            "response_mime_type",
            "responsemimetype",
            "json mode",
        ]) {
            self.answer_form = match self.answer_form {
                AnswerForm::JsonSchema if !has(&["json mode", "mime"]) => AnswerForm::OwnSchema,
                _ => AnswerForm::Free,
            };
        } else if has(&["unknown name \"id\""]) {
            self.no_ids = true;
        } else if has(&[
            "developer instruction",
            "system_instruction",
            "systeminstruction",
            "system instruction",
        ]) {
            self.no_system = true;
        } else if has(&["include_thoughts", "includethoughts"]) {
            self.no_summaries = true;
        } else if has(&["thinking"]) || is_budget(&text) {
            self.learn_thinking(&text);
        } else if has(&[
            "function_declarations",
            "functiondeclaration",
            "function declaration",
        ]) {
            self.plain_schemas = true;
        } else if has(&["max_output_tokens", "maxoutputtokens"]) {
            self.no_max_output = true;
        } else if has(&["stop_sequences", "stopsequences", "stop sequence"]) {
            self.no_stop = true;
        } else if has(&["unable to process input image"]) {
            self.broken_image = true;
        } else if has(&[
            "image input",
            "input image",
            "images",
            "type: image/",
            "inline_data",
            "inlinedata",
        ]) && has(&[
            "not enabled",
            "not support",
            "unsupported",
            "invalid",
            "not valid",
        ]) {
            self.no_images = true;
        } else if has(&["request contains an invalid argument"]) {
            // The one thing that it never says by name.
            self.thinking = ThinkingForm::None;
        }
        *self != before
    }

    fn learn_signatures(&mut self, text: &str) {
        self.no_signatures |= !text.contains("missing");
        self.stand_ins = true;
    }

    fn learn_thinking(&mut self, text: &str) {
        let levels = [
            (Effort::Minimal, "minimal"),
            (Effort::Low, "low"),
            (Effort::Medium, "medium"),
            (Effort::High, "high"),
        ];
        let level = |name: &&str| {
            ["thinking level ", "thinking_level ", "thinkinglevel "]
                .iter()
                .any(|start| text.contains(&format!("{start}{name}")))
        };
        if let Some((refused, _)) = levels.iter().find(|(_, name)| level(name)) {
            if !self.refused_levels.contains(refused) {
                self.refused_levels.push(*refused);
            }
        } else if ["thinking level", "thinking_level", "thinkinglevel"]
            .iter()
            .any(|words| text.contains(words))
        {
            self.thinking = self.thinking.max(ThinkingForm::Budget);
        } else if !self.no_zero_budget
            && [
                "budget 0",
                "budget to 0",
                "budget (0)",
                "only works in thinking mode",
            ]
            .iter()
            .any(|words| text.contains(words))
        {
            self.no_zero_budget = true;
        } else if is_budget(text) {
            self.thinking = self.thinking.max(ThinkingForm::Plain);
        } else {
            self.thinking = ThinkingForm::None;
        }
    }
}

fn is_budget(text: &str) -> bool {
    [
        "thinking budget",
        "thinking_budget",
        "thinkingbudget",
        "budget 0 is invalid",
    ]
    .iter()
    .any(|words| text.contains(words))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn learnt(bodies: &[&str]) -> Quirks {
        let mut quirks = Quirks::default();
        for body in bodies {
            assert!(quirks.learn(400, body), "{body}");
            assert!(!quirks.clone().learn(403, body));
        }
        quirks
    }

    #[test]
    fn each_refusal_teaches_one_thing() {
        type Change = fn(&mut Quirks);
        let table: [(&str, Change); 15] = [
            ("Thinking level is not supported for this model.", |q| {
                q.thinking = ThinkingForm::Budget;
            }),
            (
                "Thinking level MINIMAL is not supported for this model. Please retry with other thinking level.",
                |q| q.refused_levels = vec![Effort::Minimal],
            ),
            ("The thinking budget (24576) is invalid.", |q| {
                q.thinking = ThinkingForm::Plain
            }),
            (
                "Budget 0 is invalid. This model only works in thinking mode.",
                |q| q.no_zero_budget = true,
            ),
            (
                "Unable to submit request because The model does not support setting thinking_budget to 0",
                |q| q.no_zero_budget = true,
            ),
            (
                "Unable to submit request because thinking is not supported by this model.",
                |q| {
                    q.thinking = ThinkingForm::None;
                },
            ),
            ("include_thoughts is only enabled when thinking is enabled", |q| {
                q.no_summaries = true
            }),
            (
                r#"{"error":{"message":"Invalid JSON payload received. Unknown name \"id\" at 'contents[1].parts[0].function_call': Cannot find field."}}"#,
                |q| q.no_ids = true,
            ),
            (
                "Function call is missing a thought_signature in functionCall parts.",
                |q| q.stand_ins = true,
            ),
            (
                "Developer instruction is not enabled for models/gemma-3-1b-it",
                |q| q.no_system = true,
            ),
            (
                "Image input modality is not enabled for models/gemma-3-1b-it",
                |q| q.no_images = true,
            ),
            ("Unable to process input image", |q| q.broken_image = true),
            (
                "it has a maxOutputTokens value of 100000 but the supported range is from 1 to 65537",
                |q| q.no_max_output = true,
            ),
            (
                "Invalid value at 'tools[0].function_declarations[7].parameters.properties[1].value.enum[0]' (TYPE_STRING), 0",
                |q| q.plain_schemas = true,
            ),
            ("Request contains an invalid argument.", |q| {
                q.thinking = ThinkingForm::None
            }),
        ];
        for (body, change) in table {
            let mut expected = Quirks::default();
            change(&mut expected);
            assert_eq!(learnt(&[body]), expected, "{body}");
            assert!((0..3).any(|_| !expected.learn(400, body)), "without end: {body}");
        }
    }

    #[test]
    fn a_second_refusal_goes_further() {
        let signatures = learnt(&["missing a thought_signature", "Corrupted thought signature."]);
        assert!(signatures.stand_ins && signatures.no_signatures);
        assert!(signatures.lasting().stand_ins && !signatures.lasting().no_signatures);
        let thinking = learnt(&[
            "Thinking level is not supported",
            "Budget 0 is invalid. This model only works in thinking mode.",
            "The thinking budget (128) is invalid.",
            "thinking is not supported",
        ]);
        assert_eq!(thinking.thinking, ThinkingForm::None);
    }

    #[test]
    fn what_no_parameter_can_mend_teaches_nothing() {
        let mut quirks = Quirks::default();
        for body in [
            "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
            "API key not valid. Please pass a valid API key.",
            "User location is not supported for the API use.",
            "Function calling is not enabled for models/gemma-3-1b-it",
            "Function calling is not enabled for models/gemini-2.5-flash-image",
            "Please ensure that function call turn comes immediately after a user turn",
        ] {
            assert!(!quirks.learn(400, body), "{body}");
        }
        assert!(!quirks.learn(429, "thinking"));
    }
}
