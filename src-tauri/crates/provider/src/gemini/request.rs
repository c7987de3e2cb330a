//! The body of a request for an answer. What grows or changes from one iteration to the next stands last.

use super::history::{Content, HistoryWriter};
use super::parameters::{Parameters, ThinkingConfig, native_tools};
use super::quirks::{AnswerForm, Quirks};
use super::schema;
use crate::ModelRequest;
use crate::dialect::{Constraint, stop_sequences};
use crate::reading::ToolNames;
use crate::writing::answer_schema;
use bytes::Bytes;
use paddock_protocol::ProviderId;
use serde::Serialize;
use serde_json::Value;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WireRequest<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    system_instruction: Option<SystemInstruction<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<WireTools<'a>>,
    contents: Vec<Content<'a>>,
    /// The form of an answer may change from one iteration to the next.
    #[serde(skip_serializing_if = "GenerationConfig::is_empty")]
    generation_config: GenerationConfig,
}

#[derive(Serialize)]
struct SystemInstruction<'a> {
    parts: [SystemText<'a>; 1],
}

#[derive(Serialize)]
struct SystemText<'a> {
    text: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WireTools<'a> {
    function_declarations: Vec<FunctionDeclaration<'a>>,
}

#[derive(Serialize)]
struct FunctionDeclaration<'a> {
    name: String,
    description: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    parameters: Option<Value>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GenerationConfig {
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u32>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    stop_sequences: &'static [&'static str],
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_config: Option<ThinkingConfig>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_mime_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_json_schema: Option<Value>,
    /// The same for servers that know only their own kind of schemas.
    #[serde(skip_serializing_if = "Option::is_none")]
    response_schema: Option<Value>,
}

impl GenerationConfig {
    fn is_empty(&self) -> bool {
        self.max_output_tokens.is_none()
            && self.stop_sequences.is_empty()
            && self.thinking_config.is_none()
            && self.response_mime_type.is_none()
    }
}

/// Writes the body; `system` is the system prompt as this request's format wants it. The same request always gives the same bytes.
pub(super) fn body(
    provider: &ProviderId,
    request: &ModelRequest,
    system: &str,
    names: &ToolNames,
    quirks: &Quirks,
) -> Result<Bytes, serde_json::Error> {
    let parameters = Parameters::of(request, quirks);
    let writer = HistoryWriter {
        provider,
        names,
        parameters,
        signatures: !quirks.no_signatures,
    };
    let system = Some(system.trim_end()).filter(|system| !system.is_empty());
    let (apart, within) = match quirks.no_system {
        true => (None, system),
        false => (system, None),
    };
    let declarations: Vec<FunctionDeclaration<'_>> = native_tools(request)
        .iter()
        .map(|tool| FunctionDeclaration {
            name: names.to_wire(&tool.name),
            description: &tool.description,
            parameters: schema::parameters(&tool.parameters, quirks.plain_schemas),
        })
        .collect();
    let (json_schema, own_schema) = answer_form(request, quirks);
    let wire = WireRequest {
        system_instruction: apart.map(|text| SystemInstruction {
            parts: [SystemText { text }],
        }),
        tools: match declarations.is_empty() {
            true => Vec::new(),
            false => vec![WireTools {
                function_declarations: declarations,
            }],
        },
        generation_config: GenerationConfig {
            max_output_tokens: parameters.max_output,
            stop_sequences: match quirks.no_stop {
                true => &[],
                false => stop_sequences(request.format),
            },
            thinking_config: parameters.thinking,
            response_mime_type: (json_schema.is_some() || own_schema.is_some()).then_some("application/json"),
            response_json_schema: json_schema,
            response_schema: own_schema,
        },
        contents: writer.contents(request, within),
    };
    Ok(serde_json::to_vec(&wire)?.into())
}

/// The schema that calls in the text have to fit, as JSON Schema or in the server's own kind. The parameters of each tool are always
/// told: an object without fields would stay empty.
fn answer_form(request: &ModelRequest, quirks: &Quirks) -> (Option<Value>, Option<Value>) {
    let schema = answer_schema(request, Constraint::EachTool);
    match quirks.answer_form {
        AnswerForm::JsonSchema => (schema, None),
        AnswerForm::OwnSchema => (None, schema.and_then(|schema| schema::answer(&schema))),
        AnswerForm::Free => (None, None),
    }
}
