//! The schema that an answer in the JSON dialect has to fit, for servers that hold a model to one. Small models write far fewer
//! broken calls under it; whether a call may run is still decided by reading what came.

use super::offer::{END, offered};
use super::told::Room;
use crate::{ModelRequest, ToolSpec};
use paddock_protocol::CallFormat;
use serde_json::{Map, Value, json};

/// How narrow the schema is. A server that refuses one is asked with the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Constraint {
    /// The parameters are those of the tool.
    #[default]
    EachTool,
    /// The name is that of a tool, the parameters are an object.
    AnyTool,
    None,
}

impl Constraint {
    /// What to try after a refusal.
    pub fn wider(self) -> Self {
        match self {
            Self::EachTool => Self::AnyTool,
            Self::AnyTool | Self::None => Self::None,
        }
    }
}

/// The field `response_format` of a request, where one makes sense: a model that reasons has to be free to.
pub(crate) fn response_format(request: &ModelRequest, constraint: Constraint) -> Option<Value> {
    let reasons = request.facts.reasoning == Some(true);
    if request.format != CallFormat::Json || request.tools.is_empty() || reasons {
        return None;
    }
    let tools = offered(request);
    let schema = match constraint {
        Constraint::EachTool => {
            let room = Room::in_request(request);
            let calls = tools.iter().map(|tool| {
                let name = json!({ "const": tool.name });
                call(&name, &parameters(tool), &terminate(tool, room))
            });
            json!({ "anyOf": calls.collect::<Vec<_>>() })
        }
        Constraint::AnyTool => {
            let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
            let name = json!({ "type": "string", "enum": names });
            call(&name, &json!({ "type": "object" }), &json!({ "type": "boolean" }))
        }
        Constraint::None => return None,
    };
    Some(json!({ "type": "json_schema", "json_schema": { "name": "call", "schema": schema } }))
}

/// Small models end a turn with a look whose result they then never see; there only the call that says so ends it.
fn terminate(tool: &ToolSpec, room: Room) -> Value {
    match room {
        Room::Small => json!({ "const": tool.name == END }),
        Room::Large => json!({ "type": "boolean" }),
    }
}

fn call(tool: &Value, parameters: &Value, terminate: &Value) -> Value {
    json!({
        "type": "object",
        "properties": { "tool": tool, "parameters": parameters, "terminate": terminate },
        "required": ["tool", "parameters", "terminate"],
        "additionalProperties": false,
    })
}

/// The schema of a tool's parameters without what grammars are known to stumble over.
fn parameters(tool: &ToolSpec) -> Value {
    let mut schema = match &tool.parameters {
        Value::Object(map) => map.clone(),
        _ => Map::new(),
    };
    schema.entry("type").or_insert_with(|| json!("object"));
    schema.entry("properties").or_insert_with(|| json!({}));
    schema.insert("additionalProperties".to_owned(), json!(false));
    let mut schema = Value::Object(schema);
    strip(&mut schema);
    schema
}

/// Removes keywords that do not narrow the form of a value, or that not every server understands; a property of such a name stays.
fn strip(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            map.retain(|key, value| {
                let is_rule = !value.is_object()
                    && ["$schema", "description", "title", "default", "pattern", "format"]
                        .contains(&key.as_str());
                !is_rule
            });
            map.values_mut().for_each(strip);
        }
        Value::Array(list) => list.iter_mut().for_each(strip),
        _ => {}
    }
}
