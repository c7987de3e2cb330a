//! A call as it is written in a dialect, and the example that a model is shown.

use crate::ToolSpec;
use paddock_protocol::CallFormat;
use serde_json::{Map, Value, json};

/// A call as the model is asked to write it. `arguments` is JSON text.
pub(super) fn written(format: CallFormat, name: &str, arguments: &str) -> String {
    let name = json!(name);
    match format {
        CallFormat::Xml => {
            // The tag's end may be a stop sequence, also inside of a string.
            let arguments = arguments.replace("</tool>", r"<\/tool>");
            format!(
                r#"<tool>{{"server_name": "local", "tool_name": {name}, "arguments": {arguments}}}</tool>"#
            )
        }
        CallFormat::Native | CallFormat::Json => {
            format!(r#"{{"tool": {name}, "parameters": {arguments}, "terminate": false}}"#)
        }
    }
}

/// An answer with a call: a file is read, or what the first tool does.
pub(super) fn example(format: CallFormat, tools: &[&ToolSpec]) -> String {
    let reads = tools.iter().find(|tool| tool.name == "read_file");
    let Some(tool) = reads.or(tools.first()) else {
        return written(format, "name", "{}");
    };
    let properties = &tool.parameters["properties"];
    let arguments: Map<String, Value> = tool.parameters["required"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(|name| (name.to_owned(), sample(name, &properties[name])))
        .collect();
    let arguments = Value::Object(arguments).to_string();
    let call = written(format, &tool.name, &arguments);
    match (reads, format) {
        (Some(_), CallFormat::Xml) => format!("I read the file first.\n{call}"),
        _ => call,
    }
}

fn sample(name: &str, property: &Value) -> Value {
    if let Some(first) = property["enum"].get(0) {
        return first.clone();
    }
    match property["type"].as_str() {
        Some("integer" | "number") => json!(1),
        Some("boolean") => json!(true),
        Some("array") => json!([]),
        Some("object") => json!({}),
        _ if name == "path" => json!("README.md"),
        _ => json!("text"),
    }
}
