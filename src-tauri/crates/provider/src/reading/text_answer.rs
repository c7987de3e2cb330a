//! An answer whose calls are text: shown as it streams, read when it is complete.

use super::calls::asked_call;
use super::names::ToolNames;
use super::think::split_lone_close;
use crate::dialect::{
    BrokenCall, LiveText, TextCall, TextCallProblem, TextPart, read_answer, read_text_calls,
};
use crate::{AnswerPart, AskedCall, CallArguments, ModelEvent, ToolSpec};
use paddock_protocol::{CallFormat, FinishReason};

pub(super) const CUT_AT_LIMIT: &str =
    "the answer was cut at the output limit, so this call is not complete; write in smaller parts";
pub(super) const CUT_BY_PROVIDER: &str = "the provider stopped the answer, so this call may not be complete";
/// Added where a stop sequence may have cut a string.
const STOPPED_AT_TAG: &str =
    r#"; inside of a string write </tool> as <\/tool>, and "Tool result:" as "Tool result\u003a""#;
const STOPPED_AT_RESULT: &str = r#"; inside of a string write "Tool result:" as "Tool result\u003a""#;
/// Tools that are named to a model which asked for another.
const NAMED_TOOLS: usize = 40;

/// Gathers the text of one answer.
pub(super) struct TextAnswer<'a> {
    format: CallFormat,
    live: LiveText<'a>,
    text: String,
}

impl<'a> TextAnswer<'a> {
    /// `None` where calls are the provider's own.
    pub fn new(format: CallFormat, names: &'a ToolNames) -> Option<Self> {
        (format != CallFormat::Native).then(|| Self {
            format,
            live: LiveText::new(names.all()),
            text: String::new(),
        })
    }

    pub fn push(&mut self, text: &str, events: &mut dyn FnMut(ModelEvent)) {
        self.text.push_str(text);
        self.live.push(text, false, events);
    }

    /// Bytes so far.
    pub fn size(&self) -> usize {
        self.text.len()
    }

    /// The parts of the complete answer. `has_reasoning` = reasoning came before.
    pub fn finish(
        mut self,
        finish: FinishReason,
        has_reasoning: bool,
        names: &ToolNames,
        tools: &[ToolSpec],
        events: &mut dyn FnMut(ModelEvent),
    ) -> Vec<AnswerPart> {
        self.live.push("", true, events);
        let mut parts = Vec::new();
        let (reasoning, answer) = split_lone_close(&self.text).unwrap_or(("", &self.text));
        if !reasoning.trim().is_empty() {
            parts.push(AnswerPart::Reasoning {
                text: reasoning.to_owned(),
                opaque: None,
            });
        }
        if answer.trim().is_empty() && (has_reasoning || !parts.is_empty()) {
            parts.push(AnswerPart::Call(malformed(
                "",
                TextCallProblem::OnlyReasoning.to_string(),
                "",
            )));
            return parts;
        }
        let found = read_answer(answer, &names.all());
        parts.extend(found.into_iter().map(|part| match part {
            TextPart::Prose(text) => AnswerPart::Text(text),
            TextPart::Call(call) if finish == FinishReason::Blocked => {
                AnswerPart::Call(malformed(&call.name, CUT_BY_PROVIDER.to_owned(), &call.arguments))
            }
            TextPart::Call(call) => AnswerPart::Call(text_call(&call, names, tools)),
            TextPart::Broken(broken) => {
                let reason = self.reason(&broken, finish, names);
                AnswerPart::Call(malformed(&broken.name, reason, &broken.raw))
            }
        }));
        parts
    }

    fn reason(&self, broken: &BrokenCall, finish: FinishReason, names: &ToolNames) -> String {
        match (&broken.problem, finish) {
            (TextCallProblem::Truncated, FinishReason::Length) => CUT_AT_LIMIT.to_owned(),
            (_, FinishReason::Blocked) => CUT_BY_PROVIDER.to_owned(),
            (TextCallProblem::Truncated, _) => {
                let hint = match self.format {
                    CallFormat::Xml => STOPPED_AT_TAG,
                    CallFormat::Native | CallFormat::Json => STOPPED_AT_RESULT,
                };
                format!("{}{hint}", broken.reason())
            }
            (TextCallProblem::UnknownTool(_), _) => {
                let own = names.own();
                let some: Vec<&str> = own.iter().take(NAMED_TOOLS).copied().collect();
                let more = if some.len() < own.len() { " and others" } else { "" };
                format!("{}; the tools are {}{more}", broken.reason(), some.join(", "))
            }
            _ => broken.reason(),
        }
    }
}

fn malformed(name: &str, reason: String, raw: &str) -> AskedCall {
    AskedCall {
        server_id: String::new(),
        name: name.to_owned(),
        arguments: CallArguments::Malformed {
            reason,
            raw: raw.to_owned(),
        },
        terminate: false,
    }
}

fn text_call(call: &TextCall, names: &ToolNames, tools: &[ToolSpec]) -> AskedCall {
    let mut asked = asked_call(String::new(), &call.name, &call.arguments, names, tools);
    asked.terminate = call.terminate.unwrap_or(false);
    asked
}

/// Calls of offered tools, when a text consists of nothing else: some models write them so although they have native calls.
pub(crate) fn calls_in_text(text: &str, names: &ToolNames, tools: &[ToolSpec]) -> Vec<AskedCall> {
    let found = read_text_calls(text, &names.all());
    if found.problem.is_some() || found.has_prose {
        return Vec::new();
    }
    let calls = found.calls.iter();
    calls.map(|call| text_call(call, names, tools)).collect()
}
