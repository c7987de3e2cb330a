//! One value at the beginning of a line: is it a call, was it meant as one, or is it ordinary text?

use super::scan::CallScanner;
use super::{BrokenCall, TextCall, TextCallProblem};
use crate::loose_json::{LooseError, read_value};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::BTreeMap;

pub(super) const XML_TAGS: [(&str, &str); 2] = [("<tool>", "</tool>"), ("<tool_call>", "</tool_call>")];
const CDATA: &str = "<![CDATA[";
/// Characters at the start of a broken object in which a key must say that it was meant as a call.
const LOOK_LIMIT: usize = 200;
/// Between the name of a server and that of its tool.
const SERVER_MARKS: [&str; 5] = ["__", ".", "/", ":", "_"];

/// What stands at the beginning of a line.
pub(super) enum Taken {
    /// More of the text may decide.
    Wait,
    /// The line is ordinary text.
    Text,
    /// A complete value that is no call; it ends here.
    Value { end: usize },
    /// Calls, good ones and bad ones; they end here.
    Calls {
        found: Vec<Result<TextCall, BrokenCall>>,
        end: usize,
    },
    /// Meant as a call; where it ends nobody knows.
    Broken(BrokenCall),
}

/// The tags around a value.
pub(super) struct Frame {
    open: &'static str,
    close: &'static str,
    in_cdata: bool,
    /// Where the value begins.
    pub start: usize,
}

impl Frame {
    /// `Err(true)` = more of the text may decide, `Err(false)` = there is no value.
    pub fn of(text: &str, ended: bool) -> Result<Self, bool> {
        let tags = XML_TAGS.iter().find(|(open, _)| text.starts_with(open));
        let (open, close) = tags.copied().unwrap_or(("", ""));
        let inside = text[open.len()..].trim_start();
        if !ended && !open.is_empty() && CDATA.starts_with(inside) {
            return Err(true);
        }
        let cdata = inside.strip_prefix(CDATA);
        let body = cdata.unwrap_or(inside).trim_start();
        if body.is_empty() && !ended {
            return Err(true);
        }
        match body.starts_with(['{', '[']) {
            true => Ok(Self {
                open,
                close,
                in_cdata: cdata.is_some(),
                start: text.len() - body.len(),
            }),
            false => Err(false),
        }
    }

    fn is_tagged(&self) -> bool {
        !self.open.is_empty()
    }
}

/// Looks at what stands at the start of `text`. Without `ended`, more text may follow.
pub(super) fn take(text: &str, tools: &[&str], ended: bool) -> Taken {
    let frame = match Frame::of(text, ended) {
        Ok(frame) => frame,
        Err(true) => return Taken::Wait,
        Err(false) => return Taken::Text,
    };
    let body = &text[frame.start..];
    let mut read = read_value(body).map(|(value, taken)| (value, frame.start + taken));
    if matches!(read, Err(LooseError::Truncated)) && !ended {
        return Taken::Wait;
    }
    let at_entity = match &read {
        Err(LooseError::Invalid { at, .. }) => body[*at..].starts_with('&'),
        _ => false,
    };
    if at_entity && frame.is_tagged() && !frame.in_cdata {
        let close = body.find(frame.close);
        if close.is_none() && !ended {
            return Taken::Wait;
        }
        let end = close.unwrap_or(body.len());
        if let Cow::Owned(decoded) = decode_entities(&body[..end])
            && let Ok((value, _)) = read_value(&decoded)
        {
            read = Ok((value, frame.start + end));
        }
    }
    match read {
        Ok((value, end)) => complete(text, &frame, &value, end, tools, ended),
        Err(error) if frame.is_tagged() || looks_like_a_call(body) => {
            Taken::Broken(broken(text, &frame, &error, tools))
        }
        Err(_) if !ended && may_look_like_a_call(body) => Taken::Wait,
        Err(_) => Taken::Text,
    }
}

/// A value that reads well and ends at `end`.
fn complete(text: &str, frame: &Frame, value: &str, end: usize, tools: &[&str], ended: bool) -> Taken {
    let found = calls_of(value, tools, frame.is_tagged());
    if found.is_empty() && !frame.is_tagged() {
        return Taken::Value { end };
    }
    let mut end = end;
    for ending in [if frame.in_cdata { "]]>" } else { "" }, frame.close] {
        let rest = text[end..].trim_start();
        if ending.is_empty() {
            continue;
        }
        if rest.starts_with(ending) {
            end = text.len() - rest.len() + ending.len();
        } else if !ended && ending.starts_with(rest) {
            return Taken::Wait;
        }
    }
    if found.is_empty() {
        let reason = "the object between the tags names no tool".to_owned();
        return Taken::Calls {
            found: vec![Err(BrokenCall {
                name: String::new(),
                problem: TextCallProblem::Invalid(reason),
                raw: text[..end].to_owned(),
            })],
            end,
        };
    }
    Taken::Calls { found, end }
}

fn broken(text: &str, frame: &Frame, error: &LooseError, tools: &[&str]) -> BrokenCall {
    let mut scanner = CallScanner::default();
    scanner.push(&text[frame.start..], tools);
    let problem = match error {
        LooseError::Truncated => TextCallProblem::Truncated,
        LooseError::Invalid { reason, at } => {
            TextCallProblem::Invalid(format!("{reason}, {}", place(text, frame.start + at)))
        }
    };
    BrokenCall {
        name: scanner.first_name().unwrap_or_default().to_owned(),
        problem,
        raw: text.trim_end().to_owned(),
    }
}

/// A place in a call, for the model.
pub(super) fn place(text: &str, at: usize) -> String {
    let before = text.get(..at).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    format!("at line {line}, column {column} of the call")
}

/// The calls of an object or a list of objects; empty when it is no call.
fn calls_of(value: &str, tools: &[&str], tagged: bool) -> Vec<Result<TextCall, BrokenCall>> {
    let objects: Vec<&RawValue> = match value.starts_with('[') {
        true => serde_json::from_str(value).unwrap_or_default(),
        false => serde_json::from_str(value).into_iter().collect(),
    };
    let meant = objects.iter().map(|object| call_of(object.get(), tools, tagged));
    // One element that is no call makes a list of data of it.
    meant.collect::<Option<Vec<_>>>().unwrap_or_default()
}

/// `None` = the object is no call.
fn call_of(text: &str, tools: &[&str], tagged: bool) -> Option<Result<TextCall, BrokenCall>> {
    let fields = serde_json::from_str::<BTreeMap<String, &RawValue>>(text).ok()?;
    if let Some(function) = fields
        .get("function")
        .filter(|function| function.get().starts_with('{'))
    {
        return call_of(function.get(), tools, tagged);
    }
    let string = |name: &str| -> Option<String> { serde_json::from_str(fields.get(name)?.get()).ok() };
    let parameters = ["parameters", "arguments", "input"]
        .iter()
        .find_map(|name| fields.get(*name));
    let raw = parameters.map_or("{}", |raw| raw.get());
    let marked = string("tool").or_else(|| string("tool_name"));
    let is_marked = marked.is_some() || tagged;
    let asked = marked.or_else(|| string("name"))?;
    let server = string("server_name").unwrap_or_default();
    let name = match known_name(&server, &asked, tools) {
        // Small models write `name`; without a tag or parameters it is some object.
        Some(_) if !is_marked && parameters.is_none() => return None,
        Some(name) => name.to_owned(),
        None if !is_marked => return None,
        None => {
            let asked = match is_local(&server) {
                true => asked,
                false => format!("{asked} on the server {server}"),
            };
            return Some(Err(BrokenCall {
                name: asked.clone(),
                problem: TextCallProblem::UnknownTool(asked),
                raw: raw.to_owned(),
            }));
        }
    };
    let Some(arguments) = object_of(raw) else {
        return Some(Err(BrokenCall {
            problem: TextCallProblem::Invalid(format!("the parameters of {name} are not an object")),
            name,
            raw: raw.to_owned(),
        }));
    };
    let terminate = fields
        .get("terminate")
        .and_then(|raw| match raw.get().trim_matches('"') {
            "true" | "True" => Some(true),
            "false" | "False" => Some(false),
            _ => None,
        });
    Some(Ok(TextCall {
        name,
        arguments,
        terminate,
    }))
}

/// Parameters in all their forms.
fn object_of(raw: &str) -> Option<String> {
    match raw {
        "null" => Some("{}".to_owned()),
        object if object.starts_with('{') => Some(object.to_owned()),
        other => match serde_json::from_str::<String>(other) {
            Ok(inner) if inner.trim().is_empty() => Some("{}".to_owned()),
            Ok(inner) if crate::arguments::is_complete_object(&inner) => Some(inner),
            _ => None,
        },
    }
}

fn is_local(server: &str) -> bool {
    matches!(server.trim(), "" | "local")
}

/// The tool that is meant. A tool of a server is never mistaken for one of the program's own.
pub(super) fn known_name<'a>(server: &str, asked: &str, tools: &[&'a str]) -> Option<&'a str> {
    let known = |name: &str| tools.iter().find(|tool| **tool == name).copied();
    if is_local(server) {
        return known(asked.trim());
    }
    SERVER_MARKS
        .iter()
        .find_map(|mark| known(&format!("{}{mark}{}", server.trim(), asked.trim())))
}

/// Whether a broken object was meant as a call: one of its first keys says so.
fn looks_like_a_call(body: &str) -> bool {
    if !body.trim_start_matches('[').trim_start().starts_with('{') {
        return false;
    }
    let start: String = body
        .chars()
        .take(LOOK_LIMIT)
        .filter(|c| !c.is_whitespace())
        .collect();
    let key = |name: &str| {
        [('"', '"'), ('\'', '\''), ('“', '”'), ('„', '”'), ('‘', '’')]
            .iter()
            .any(|(open, close)| start.contains(&format!("{open}{name}{close}:")))
    };
    key("tool") || key("tool_name") || (key("name") && (key("arguments") || key("parameters")))
}

/// Whether more text can make [`looks_like_a_call`] true.
fn may_look_like_a_call(body: &str) -> bool {
    let inside = body.trim_start_matches('[').trim_start();
    (inside.is_empty() || inside.starts_with('{')) && body.chars().take(LOOK_LIMIT).count() < LOOK_LIMIT
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
