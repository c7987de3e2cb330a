//! The body of a request to `/responses`.

use super::history::{HistoryWriter, InputItem};
use super::parameters::{Parameters, Reasoning};
use super::quirks::{Quirks, Sent};
use super::sealed::fingerprint;
use crate::reading::ToolNames;
use crate::writing::{answer_schema, drop_patterns, object_schema};
use crate::{Message, ModelRequest, ToolSpec};
use bytes::Bytes;
use paddock_protocol::{CallFormat, ProviderId};
use serde::Serialize;
use serde_json::{Value, json};

/// What changes from one iteration to the next comes last.
#[derive(Serialize)]
struct WireRequest<'a> {
    model: &'a str,
    stream: bool,
    /// The server is to keep nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    store: Option<bool>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    include: &'static [&'static str],
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_cache_key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<Reasoning>,
    #[serde(skip_serializing_if = "str::is_empty")]
    instructions: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<WireTool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parallel_tool_calls: Option<bool>,
    input: Vec<InputItem<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<WireText>,
}

/// The form that the answer has to have.
#[derive(Serialize)]
struct WireText {
    format: Value,
}

#[derive(Serialize)]
struct WireTool<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    name: String,
    description: &'a str,
    parameters: Value,
    /// Strict schemas forbid optional parameters; some servers take a missing field for true.
    #[serde(skip_serializing_if = "Option::is_none")]
    strict: Option<bool>,
}

/// Writes the body; `system` is the system prompt as this request's format wants it. The same request always gives the same bytes.
/// Also tells what of it may be refused.
pub(super) fn body(
    provider: &ProviderId,
    request: &ModelRequest,
    system: &str,
    names: &ToolNames,
    quirks: &Quirks,
) -> Result<(Bytes, Sent), serde_json::Error> {
    let parameters = Parameters::of(request, quirks);
    let mut history = HistoryWriter {
        provider,
        names,
        quirks,
        parameters: &parameters,
        sent: Sent {
            effort: parameters.reasoning.and_then(|reasoning| reasoning.effort),
            ..Sent::default()
        },
    };
    let tools = native_tools(request);
    let wire = WireRequest {
        model: &request.model,
        stream: true,
        store: (!quirks.no_store).then_some(false),
        include: match parameters.sealed {
            true => &["reasoning.encrypted_content"],
            false => &[],
        },
        prompt_cache_key: quirks.cache_key.then(|| cache_key(request, system)),
        max_output_tokens: parameters.max_output,
        reasoning: parameters.reasoning,
        text: answer_schema(request, quirks.constraint).map(|schema| WireText {
            format: json!({ "type": "json_schema", "name": "call", "strict": false, "schema": schema }),
        }),
        instructions: system.trim_end(),
        tools: tools.iter().map(|tool| wire_tool(tool, names, quirks)).collect(),
        parallel_tool_calls: (!tools.is_empty() && !quirks.no_parallel).then_some(true),
        input: history.items(request),
    };
    Ok((serde_json::to_vec(&wire)?.into(), history.sent))
}

/// The tools of the field `tools`; in a dialect they are told in the system prompt.
fn native_tools(request: &ModelRequest) -> &[ToolSpec] {
    match request.format {
        CallFormat::Native => &request.tools,
        CallFormat::Json | CallFormat::Xml => &[],
    }
}

fn wire_tool<'a>(tool: &'a ToolSpec, names: &ToolNames, quirks: &Quirks) -> WireTool<'a> {
    let mut parameters = object_schema(&tool.parameters);
    if quirks.plain_schemas {
        drop_patterns(&mut parameters);
    }
    WireTool {
        kind: "function",
        name: names.to_wire(&tool.name),
        description: &tool.description,
        parameters,
        strict: (!quirks.no_strict).then_some(false),
    }
}

/// The same for all requests of a conversation, as long as it begins alike: they find the same cache.
fn cache_key(request: &ModelRequest, system: &str) -> String {
    let first = request.messages.iter().find_map(|message| match message {
        Message::User { text, .. } => Some(text.as_str()),
        _ => None,
    });
    let key = fingerprint(&format!("{system}\u{0}{}", first.unwrap_or_default()));
    format!("paddock-{key:016x}")
}
