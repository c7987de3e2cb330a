//! The body of a request to `/chat/completions`.

use super::history::{HistoryWriter, WireMessage};
use super::names::ToolNames;
use super::quirks::{Quirks, TokenField};
use crate::{ModelRequest, ToolSpec};
use bytes::Bytes;
use paddock_protocol::ProviderId;
use serde::Serialize;
use serde_json::{Value, json};

#[derive(Serialize)]
struct WireRequest<'a> {
    model: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<WireTool<'a>>,
    messages: Vec<WireMessage<'a>>,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<StreamOptions>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Serialize)]
struct WireTool<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    function: WireFunction<'a>,
}

#[derive(Serialize)]
struct WireFunction<'a> {
    name: String,
    description: &'a str,
    parameters: Value,
}

/// Writes the body. The same request always gives the same bytes.
pub(crate) fn body(
    provider: &ProviderId,
    request: &ModelRequest,
    names: &ToolNames,
    quirks: &Quirks,
) -> Result<Bytes, serde_json::Error> {
    let writer = HistoryWriter {
        provider,
        names,
        quirks,
    };
    let wire = WireRequest {
        model: &request.model,
        tools: request
            .tools
            .iter()
            .map(|tool| WireTool {
                kind: "function",
                function: WireFunction {
                    name: names.to_wire(&tool.name),
                    description: &tool.description,
                    parameters: schema(tool, quirks),
                },
            })
            .collect(),
        messages: writer.messages(request),
        stream: true,
        stream_options: (!quirks.no_stream_options).then_some(StreamOptions { include_usage: true }),
        max_tokens: request
            .max_output
            .filter(|_| quirks.token_field == TokenField::MaxTokens),
        max_completion_tokens: request
            .max_output
            .filter(|_| quirks.token_field == TokenField::MaxCompletionTokens),
    };
    Ok(serde_json::to_vec(&wire)?.into())
}

/// The schema as all servers take it: an object with `properties`, also when there are none.
fn schema(tool: &ToolSpec, quirks: &Quirks) -> Value {
    let mut schema = match &tool.parameters {
        Value::Object(_) => tool.parameters.clone(),
        _ => json!({}),
    };
    if let Some(map) = schema.as_object_mut() {
        map.entry("type").or_insert_with(|| json!("object"));
        map.entry("properties").or_insert_with(|| json!({}));
        map.remove("$schema");
    }
    if quirks.plain_schemas {
        drop_patterns(&mut schema);
    }
    schema
}

/// Removes `pattern` and `format` where they are rules, not where they are names of properties.
fn drop_patterns(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            if map.get("pattern").is_some_and(Value::is_string) {
                map.remove("pattern");
            }
            if map.get("format").is_some_and(Value::is_string) {
                map.remove("format");
            }
            map.values_mut().for_each(drop_patterns);
        }
        Value::Array(list) => list.iter_mut().for_each(drop_patterns),
        _ => {}
    }
}
