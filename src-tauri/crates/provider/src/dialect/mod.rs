//! Calls that a model writes as text, for models without function calling of their own: how they are told of the tools, how a
//! conversation looks to them, and how their answers are read.
//!
//! Two dialects, one object: `{"tool": …, "parameters": …, "terminate": …}` alone (JSON) or `{"server_name": …, "tool_name": …,
//! "arguments": …}` inside of `<tool>…</tool>` (XML); both are read whichever was asked for. Everything here is a pure function of
//! texts. The first rule: when in doubt, it is text and not a call. Quoted examples, other languages' code and half objects never
//! become calls; nothing is completed.

mod call;
mod constraint;
mod example;
mod fence;
mod fenced;
mod held;
mod history;
mod lines;
mod offer;
mod prompt;
mod question;
mod quotation;
mod read;
mod scan;
mod schema;
mod stream;
mod told;

pub(crate) use constraint::{Constraint, response_format};
pub(crate) use history::{Speaker, conversation};
pub use offer::{Reminder, reminder};
pub(crate) use prompt::PromptCache;
pub use prompt::{PROJECT_HEADING, PROMPT_LIMIT, enhanced_prompt};
pub(crate) use read::read_answer;
pub(crate) use stream::LiveText;
pub use told::Room;

use crate::reading::split_lone_close;
use paddock_protocol::CallFormat;

/// With these words a message of results begins, and a model that invents one.
pub(crate) const RESULT_MARK: &str = "Tool result:";

/// One call found in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextCall {
    pub name: String,
    /// JSON text of an object.
    pub arguments: String,
    /// What the model said about the turn ending after this call.
    pub terminate: Option<bool>,
}

/// Something that was meant as a call and cannot be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokenCall {
    /// The tool, as far as it can be told; may be empty.
    pub name: String,
    pub problem: TextCallProblem,
    /// What the model wrote.
    pub raw: String,
}

impl BrokenCall {
    /// What is wrong and where, for the model.
    pub fn reason(&self) -> String {
        match &self.problem {
            TextCallProblem::Truncated => {
                format!("{}, {}", self.problem, call::place(&self.raw, self.raw.len()))
            }
            problem => problem.to_string(),
        }
    }
}

/// A piece of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextPart {
    /// Without the blanks around it, never empty.
    Prose(String),
    Call(TextCall),
    Broken(BrokenCall),
}

/// What a text holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextCalls {
    /// In the order of the text.
    pub calls: Vec<TextCall>,
    /// Whether there is text besides the calls.
    pub has_prose: bool,
    /// The first thing that was meant as a call and cannot be run.
    pub problem: Option<TextCallProblem>,
}

/// Why something that was meant as a call cannot be run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TextCallProblem {
    #[error("there is only reasoning, no answer and no call after it")]
    OnlyReasoning,
    #[error("the call ends in the middle of its object")]
    Truncated,
    #[error("there is no tool named {0}")]
    UnknownTool(String),
    /// What is wrong, and where.
    #[error("{0}")]
    Invalid(String),
}

/// Reads the calls of a text. `tools` are the names that may be called.
pub fn read_text_calls(text: &str, tools: &[&str]) -> TextCalls {
    let mut found = TextCalls::default();
    let Some(answer) = without_reasoning(text) else {
        found.problem = Some(TextCallProblem::OnlyReasoning);
        return found;
    };
    for part in read_answer(answer, tools) {
        match part {
            TextPart::Prose(_) => found.has_prose = true,
            TextPart::Call(call) => found.calls.push(call),
            TextPart::Broken(broken) => {
                found.problem.get_or_insert(broken.problem);
            }
        }
    }
    found
}

/// The form in which a model is asked to send a call, for the sentence "Send it as …".
pub fn form(format: CallFormat) -> &'static str {
    match format {
        CallFormat::Native => "a function call with its arguments as one JSON object",
        CallFormat::Json => {
            r#"{"tool": "name", "parameters": {…}, "terminate": false}, one complete JSON object that begins a line"#
        }
        CallFormat::Xml => {
            r#"<tool>{"server_name": "local", "tool_name": "name", "arguments": {…}}</tool>, with one complete JSON object inside, at the beginning of a line"#
        }
    }
}

/// Texts at which the server may end the answer.
pub(crate) fn stop_sequences(format: CallFormat) -> &'static [&'static str] {
    match format {
        CallFormat::Native => &[],
        CallFormat::Json => &[RESULT_MARK],
        CallFormat::Xml => &["</tool>", RESULT_MARK],
    }
}

/// The text after the reasoning; `None` when the reasoning does not end.
fn without_reasoning(text: &str) -> Option<&str> {
    let start = text.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n']);
    for (open, close) in [("<think>", "</think>"), ("<thinking>", "</thinking>")] {
        if let Some(rest) = start.strip_prefix(open) {
            return rest.find(close).map(|end| &rest[end + close.len()..]);
        }
    }
    Some(split_lone_close(start).map_or(start, |(_, answer)| answer))
}

#[cfg(test)]
mod tests;
