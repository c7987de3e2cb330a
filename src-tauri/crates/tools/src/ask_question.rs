//! The agent asks the person. Ends the iteration; the answer continues the same turn.

use crate::typed::{TypedTool, breaking};
use crate::{CallContext, Flow, Prepared, ToolError, ToolKind};
use paddock_protocol::Verb;
use schemars::JsonSchema;
use serde::Deserialize;

/// More answers are no help to a person.
const MAX_OPTIONS: usize = 8;

pub(crate) struct AskQuestion;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    question: String,
    /// Up to 8 short answers
    options: Option<Vec<String>>,
}

impl TypedTool for AskQuestion {
    type Input = Input;
    const NAME: &'static str = "ask_question";
    const DESCRIPTION: &'static str = include_str!("ask_question.md").trim_ascii();
    const KIND: ToolKind = ToolKind::Breaking;

    fn prepare(input: Input, _: &CallContext) -> Result<Prepared, ToolError> {
        let question = required("question", &input.question)?;
        let mut options: Vec<String> = Vec::new();
        for option in input.options.unwrap_or_default() {
            let option = option.trim();
            if !option.is_empty() && !options.iter().any(|known| known == option) {
                options.push(option.to_owned());
            }
        }
        if options.len() > MAX_OPTIONS {
            return Err(ToolError::Arguments(format!(
                "`options` has {} answers; offer at most {MAX_OPTIONS}",
                options.len()
            )));
        }
        Ok(breaking(
            Verb::Ask,
            &question,
            Flow::Ask {
                question: question.clone(),
                options,
            },
        ))
    }
}

/// A text that says something.
pub(crate) fn required(name: &str, text: &str) -> Result<String, ToolError> {
    let text = text.trim();
    if text.is_empty() {
        Err(ToolError::Arguments(format!("`{name}` is empty")))
    } else {
        Ok(text.to_owned())
    }
}
