//! Calls that a model writes as text: `{"tool": …, "parameters": …}` alone or inside of `<tool>…</tool>`.
//!
//! A pure function from text to calls. Its first rule: when in doubt, it is text and not a call. Quoted examples, other languages'
//! code and half objects never become calls; nothing is completed.

use crate::chat::split_lone_close;
use crate::loose_json::{LooseError, read_value};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// One call found in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextCall {
    pub name: String,
    /// JSON text of an object.
    pub arguments: String,
    /// What the model said about the turn ending after this call.
    pub terminate: Option<bool>,
}

/// What a text holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextCalls {
    /// In the order of the text.
    pub calls: Vec<TextCall>,
    /// Whether there is text besides the calls.
    pub has_prose: bool,
    /// Why reading stopped before the end.
    pub problem: Option<TextCallProblem>,
}

/// Something that was meant as a call and cannot be run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TextCallProblem {
    #[error("there is only reasoning, no answer and no call after it")]
    OnlyReasoning,
    #[error("the call ends in the middle of its object")]
    Truncated,
    #[error("there is no tool named {0}")]
    UnknownTool(String),
    #[error("{0}")]
    Invalid(String),
}

/// Reads the calls of a text. `tools` are the names that may be called.
pub fn read_text_calls(text: &str, tools: &[&str]) -> TextCalls {
    let mut reader = Reader {
        tools,
        found: TextCalls::default(),
    };
    match without_reasoning(text) {
        Some(answer) => reader.read(answer),
        None => reader.found.problem = Some(TextCallProblem::OnlyReasoning),
    }
    reader.found
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

struct Reader<'a> {
    tools: &'a [&'a str],
    found: TextCalls,
}

/// Beginnings of results that a model invents after its own call.
const INVENTED: [&str; 5] = [
    "tool result:",
    "<tool_result>",
    "<tool_response>",
    "observation:",
    "result:",
];
/// Tags of fences whose content may be a call.
const CALL_FENCES: [&str; 5] = ["", "json", "tool", "tool_call", "xml"];
const XML_TAGS: [(&str, &str); 2] = [("<tool>", "</tool>"), ("<tool_call>", "</tool_call>")];

impl Reader<'_> {
    /// Goes from line to line; a call begins a line.
    fn read(&mut self, text: &str) {
        let mut at = 0;
        while at < text.len() && self.found.problem.is_none() {
            let rest = &text[at..];
            let line = rest.lines().next().unwrap_or_default();
            let begun = line.trim_start_matches(['\u{feff}', ' ', '\t']);
            let here = at + (line.len() - begun.len());
            let next_line = at + rest.find('\n').map_or(rest.len(), |end| end + 1);
            let lower = begun.to_lowercase();
            if !self.found.calls.is_empty() && INVENTED.iter().any(|start| lower.starts_with(start)) {
                return;
            }
            at = if begun.is_empty() {
                next_line
            } else if let Some(fence) = Fence::open(begun) {
                self.fence(text, here, next_line, &fence)
            } else if begun.starts_with(['{', '['])
                || XML_TAGS.iter().any(|(open, _)| begun.starts_with(open))
            {
                match self.call(&text[here..]) {
                    Some(taken) => here + taken,
                    None => {
                        self.found.has_prose = true;
                        next_line
                    }
                }
            } else {
                self.found.has_prose = true;
                next_line
            };
        }
    }

    /// A fence that opens at `here`; its content begins at `content`. Returns where to go on.
    fn fence(&mut self, text: &str, here: usize, content: usize, fence: &Fence<'_>) -> usize {
        let close = fence.close(&text[content..]);
        let end = close.map_or(text.len(), |(_, after)| content + after);
        let body = text[content..].trim_start();
        let start = text.len() - body.len();
        let is_xml = XML_TAGS.iter().any(|(open, _)| body.starts_with(open));
        let alone = text[..here].trim().is_empty() && text[end..].trim().is_empty();
        let may_call = CALL_FENCES.contains(&fence.tag.as_str())
            && start < end
            && if is_xml {
                alone
            } else {
                body.starts_with(['{', '[']) && fence.tag != "xml"
            };
        if !may_call {
            self.found.has_prose = true;
            return end;
        }
        let mut at = start;
        loop {
            match self.call(&text[at..]) {
                Some(taken) => at += taken,
                None => {
                    self.found.has_prose = true;
                    return end.max(at);
                }
            }
            if self.found.problem.is_some() {
                return text.len();
            }
            let rest = text[at..].trim_start();
            at = text.len() - rest.len();
            if rest.starts_with(['{', '[']) || (is_xml && rest.starts_with('<')) {
                continue;
            }
            // The closing fence may be missing; what was inside of strings is behind us.
            return match Fence::open(rest).filter(|closing| closing.closes(fence)) {
                Some(closing) => at + closing.length,
                None => at,
            };
        }
    }

    /// A call at the start of `text`. Returns how much it took; `None` when it is ordinary text.
    fn call(&mut self, text: &str) -> Option<usize> {
        let (open, close) = XML_TAGS
            .iter()
            .find(|(open, _)| text.starts_with(open))
            .copied()
            .unwrap_or(("", ""));
        let inside = text[open.len()..].trim_start();
        let cdata = inside.strip_prefix("<![CDATA[");
        let body = cdata.unwrap_or(inside).trim_start();
        let start = text.len() - body.len();
        if !body.starts_with(['{', '[']) {
            return None;
        }
        let mut read = read_value(body).map(|(value, taken)| (value, start + taken));
        if read.is_err() && !open.is_empty() && cdata.is_none() {
            let end = body.find(close).unwrap_or(body.len());
            if let Cow::Owned(decoded) = decode_entities(&body[..end])
                && let Ok((value, _)) = read_value(&decoded)
            {
                read = Ok((value, start + end));
            }
        }
        match read {
            Ok((value, mut end)) => {
                if !self.object_or_list(&value) {
                    // Some object: what is inside of it is no call either.
                    self.found.has_prose = true;
                    return Some(end);
                }
                for ending in ["]]>", close] {
                    let rest = text[end..].trim_start();
                    if !ending.is_empty() && rest.starts_with(ending) {
                        end = text.len() - rest.len() + ending.len();
                    }
                }
                let rest = &text[end..];
                let comma = rest.trim_start_matches([' ', '\t']);
                if let Some(after) = comma.strip_prefix(',') {
                    end = text.len() - after.len();
                }
                Some(end)
            }
            Err(error) if !open.is_empty() || looks_like_a_call(body) => {
                self.found.problem = Some(match error {
                    LooseError::Truncated => TextCallProblem::Truncated,
                    error @ LooseError::Invalid { .. } => TextCallProblem::Invalid(error.to_string()),
                });
                Some(text.len())
            }
            Err(_) => None,
        }
    }

    /// Takes the calls of an object or a list of objects. False = it is no call.
    fn object_or_list(&mut self, value: &str) -> bool {
        let objects: Vec<&RawValue> = match value.starts_with('[') {
            true => serde_json::from_str(value).unwrap_or_default(),
            false => serde_json::from_str(value).into_iter().collect(),
        };
        let mut calls = Vec::new();
        for object in objects {
            match self.object(object.get()) {
                Meaning::Call(call) => calls.push(call),
                Meaning::Unknown(name) => {
                    self.found.problem = Some(TextCallProblem::UnknownTool(name));
                    return true;
                }
                Meaning::Invalid(reason) => {
                    self.found.problem = Some(TextCallProblem::Invalid(reason));
                    return true;
                }
                Meaning::Text => return false,
            }
        }
        let any = !calls.is_empty();
        self.found.calls.extend(calls);
        any
    }

    fn object(&self, text: &str) -> Meaning {
        let Ok(fields) = serde_json::from_str::<BTreeMap<String, &RawValue>>(text) else {
            return Meaning::Text;
        };
        if let Some(function) = fields
            .get("function")
            .filter(|function| function.get().starts_with('{'))
        {
            return self.object(function.get());
        }
        let string = |name: &str| -> Option<String> { serde_json::from_str(fields.get(name)?.get()).ok() };
        let parameters = ["parameters", "arguments", "input"]
            .iter()
            .find_map(|name| fields.get(*name));
        let marked = string("tool").or_else(|| string("tool_name"));
        let is_known = |name: &str| self.tools.contains(&name);
        let name = match marked {
            Some(name) if is_known(&name) => name,
            Some(name) => return Meaning::Unknown(name),
            // Small models write this form; without a known name it is some object.
            None => match string("name").filter(|name| parameters.is_some() && is_known(name)) {
                Some(name) => name,
                None => return Meaning::Text,
            },
        };
        let arguments = match parameters.map(|raw| raw.get()) {
            None | Some("null") => "{}".to_string(),
            Some(object) if object.starts_with('{') => object.to_string(),
            Some(other) => match serde_json::from_str::<String>(other) {
                Ok(inner) if inner.trim().is_empty() => "{}".to_string(),
                Ok(inner) if crate::arguments::is_complete_object(&inner) => inner,
                _ => return Meaning::Invalid(format!("the parameters of {name} are not an object")),
            },
        };
        Meaning::Call(TextCall {
            name,
            arguments,
            terminate: fields
                .get("terminate")
                .and_then(|raw| serde_json::from_str(raw.get()).ok()),
        })
    }
}

enum Meaning {
    Call(TextCall),
    Unknown(String),
    Invalid(String),
    Text,
}

/// Whether a broken object was meant as a call: one of its first keys says so.
fn looks_like_a_call(body: &str) -> bool {
    let start: String = body.chars().take(200).filter(|c| !c.is_whitespace()).collect();
    let key = |name: &str| {
        ['"', '\'', '”', '’']
            .iter()
            .any(|quote| start.contains(&format!("{name}{quote}:")))
    };
    key("tool") || key("tool_name") || (key("name") && (key("arguments") || key("parameters")))
}

/// The five entities of XML, once. Borrowed when there are none.
fn decode_entities(text: &str) -> Cow<'_, str> {
    if !text.contains('&') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let entities = [
            ("&quot;", '"'),
            ("&amp;", '&'),
            ("&lt;", '<'),
            ("&gt;", '>'),
            ("&apos;", '\''),
            ("&#39;", '\''),
            ("&#34;", '"'),
        ];
        match entities.iter().find(|(entity, _)| rest.starts_with(entity)) {
            Some((entity, character)) => {
                out.push(*character);
                rest = &rest[entity.len()..];
            }
            None => {
                out.push('&');
                rest = &rest[1..];
            }
        }
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// A line that opens or closes a block of code.
struct Fence<'a> {
    mark: char,
    length: usize,
    tag: String,
    after: &'a str,
}

impl<'a> Fence<'a> {
    fn open(line: &'a str) -> Option<Self> {
        let line = line.lines().next().unwrap_or_default();
        let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
        let length = line.chars().take_while(|c| *c == mark).count();
        let after = line[length..].trim();
        if length < 3 || after.contains('`') {
            return None;
        }
        let tag = after.split_whitespace().next().unwrap_or_default().to_lowercase();
        Some(Self {
            mark,
            length,
            tag,
            after,
        })
    }

    fn closes(&self, opening: &Fence<'_>) -> bool {
        self.mark == opening.mark && self.length >= opening.length && self.after.is_empty()
    }

    /// Start and end of the closing line in `text`.
    fn close(&self, text: &str) -> Option<(usize, usize)> {
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            if Fence::open(line.trim_start()).is_some_and(|fence| fence.closes(self)) {
                return Some((at, at + line.len()));
            }
            at += line.len();
        }
        None
    }
}

#[cfg(test)]
mod tests;
