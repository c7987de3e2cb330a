//! A tool's schema as text, in the lengths that a prompt has room for.

use serde_json::{Map, Value, json};

/// The schema in one line of JSON; no character of it can end an element of XML.
pub(super) fn whole(schema: &Value) -> String {
    let mut schema = match schema {
        Value::Object(map) => map.clone(),
        _ => Map::new(),
    };
    schema.retain(|key, _| key != "$schema");
    line(&Value::Object(schema))
}

/// Without the descriptions of the parameters.
pub(super) fn without_descriptions(schema: &Value) -> String {
    let mut schema = schema.clone();
    drop_descriptions(&mut schema);
    whole(&schema)
}

/// Names and types only: `{"path": "string", "limit?": "integer"}`.
pub(super) fn names_and_types(schema: &Value) -> String {
    let required: Vec<&str> = schema["required"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let properties = schema["properties"].as_object();
    let short: Map<String, Value> = properties
        .into_iter()
        .flatten()
        .map(|(name, property)| {
            let mark = if required.contains(&name.as_str()) {
                ""
            } else {
                "?"
            };
            (format!("{name}{mark}"), json!(type_of(property)))
        })
        .collect();
    line(&Value::Object(short))
}

/// Names and types of what a call needs, and its switches: a small model fills in whatever it is told of. All, where nothing is needed.
pub(super) fn needed(schema: &Value) -> String {
    let required = schema["required"].as_array().cloned();
    let Some(required) = required.filter(|names| !names.is_empty()) else {
        return names_and_types(schema);
    };
    let mut schema = schema.clone();
    if let Some(properties) = schema["properties"].as_object_mut() {
        properties.retain(|name, property| {
            required.iter().any(|needed| needed == name) || property["type"] == "boolean"
        });
    }
    names_and_types(&schema)
}

/// The type of a property in a word.
pub(super) fn type_of(property: &Value) -> String {
    let kind = match &property["type"] {
        Value::String(kind) => kind.clone(),
        Value::Array(kinds) => {
            let kinds: Vec<&str> = kinds.iter().filter_map(Value::as_str).collect();
            kinds.join("|")
        }
        _ if property["enum"].is_array() => "string".to_owned(),
        _ => "any".to_owned(),
    };
    match kind.as_str() {
        "array" if property["items"].is_object() => format!("array of {}", type_of(&property["items"])),
        _ => kind,
    }
}

fn line(value: &Value) -> String {
    value.to_string().replace('<', "\\u003c")
}

/// Removes `description` where it is one, not where it is the name of a property.
fn drop_descriptions(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            map.retain(|key, value| key != "description" || !value.is_string());
            map.values_mut().for_each(drop_descriptions);
        }
        Value::Array(list) => list.iter_mut().for_each(drop_descriptions),
        _ => {}
    }
}
