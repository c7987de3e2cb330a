//! The body of a request to `/messages`.

use super::history::{HistoryWriter, begun_with_reasoning, mark};
use super::parameters::{Breed, OutputConfig, Parameters, Thinking, parameters};
use super::quirks::Quirks;
use super::schema::input_schema;
use super::wire::{Block, CacheMark, WireMessage};
use crate::ModelRequest;
use crate::dialect::stop_sequences;
use crate::reading::ToolNames;
use bytes::Bytes;
use paddock_protocol::{CallFormat, ProviderId};
use serde::Serialize;
use serde_json::{Value, json};

#[derive(Serialize)]
struct WireRequest<'a> {
    model: &'a str,
    max_tokens: u32,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<WireTool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system: Option<System<'a>>,
    messages: Vec<WireMessage<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<Thinking>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_config: Option<OutputConfig>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    stop_sequences: &'static [&'static str],
    stream: bool,
}

#[derive(Serialize)]
#[serde(untagged)]
enum System<'a> {
    Text(&'a str),
    Marked([Block<'a>; 1]),
}

#[derive(Serialize)]
struct WireTool<'a> {
    name: String,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'a str,
    input_schema: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<CacheMark>,
}

/// Writes the body; `system` is the system prompt as this request's format wants it. The same request always gives the same
/// bytes. The parameters that were chosen are told too, because a refusal is about them.
pub(crate) fn body(
    provider: &ProviderId,
    request: &ModelRequest,
    system: &str,
    names: &ToolNames,
    quirks: &Quirks,
) -> Result<(Bytes, Parameters), serde_json::Error> {
    let writer = HistoryWriter {
        provider,
        names,
        quirks,
        user_last: Breed::of(&request.model, &request.facts, quirks).user_last,
    };
    let mut messages = writer.messages(request);
    let parameters = parameters(request, quirks, begun_with_reasoning(&messages));
    let system = system.trim_end();
    let (mut tools, tool_choice) = tools(request, names, quirks, &messages);
    if !quirks.no_cache {
        mark(&mut messages);
        // The tools stand before the system text: one mark is enough for both.
        match tools.last_mut() {
            Some(last) if system.is_empty() => last.cache_control = Some(CacheMark::EPHEMERAL),
            _ => {}
        }
    }
    let wire = WireRequest {
        model: &request.model,
        max_tokens: parameters.max_tokens,
        tools,
        tool_choice,
        system: match (system.is_empty(), quirks.no_cache) {
            (true, _) => None,
            (false, true) => Some(System::Text(system)),
            (false, false) => Some(System::Marked([Block::Text {
                text: system.into(),
                cache_control: Some(CacheMark::EPHEMERAL),
            }])),
        },
        messages,
        thinking: parameters.thinking,
        output_config: parameters.output_config,
        stop_sequences: match quirks.no_stop {
            true => &[],
            false => stop_sequences(request.format),
        },
        stream: true,
    };
    Ok((serde_json::to_vec(&wire)?.into(), parameters))
}

/// The tools of the field `tools`, and the choice among them; in a dialect they are told in the system prompt. A conversation with
/// calls needs tools also when none may be called any more.
fn tools<'a>(
    request: &'a ModelRequest,
    names: &ToolNames,
    quirks: &Quirks,
    messages: &[WireMessage<'_>],
) -> (Vec<WireTool<'a>>, Option<Value>) {
    if request.format != CallFormat::Native {
        return (Vec::new(), None);
    }
    if !request.tools.is_empty() {
        let tool = |tool: &'a crate::ToolSpec| WireTool {
            name: names.to_wire(&tool.name),
            description: tool.description.trim(),
            input_schema: input_schema(&tool.parameters, quirks.plain_schemas),
            cache_control: None,
        };
        return (request.tools.iter().map(tool).collect(), None);
    }
    let mut called: Vec<&str> = Vec::new();
    for block in messages.iter().flat_map(|message| &message.content) {
        if let Block::ToolUse { name, .. } = block
            && !called.contains(&name.as_str())
        {
            called.push(name);
        }
    }
    let tools: Vec<WireTool<'_>> = called
        .into_iter()
        .map(|name| WireTool {
            name: name.to_owned(),
            description: "",
            input_schema: json!({"type": "object", "properties": {}}),
            cache_control: None,
        })
        .collect();
    let choice = (!tools.is_empty() && !quirks.no_choice).then(|| json!({"type": "none"}));
    (tools, choice)
}
