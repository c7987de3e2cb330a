//! Schemas of tools as Messages takes them: an object on top, without alternatives there.

use crate::writing::{drop_patterns, object_schema};
use serde_json::{Map, Value, json};

/// Combinations of schemas, which are refused at the top.
const COMBINATIONS: [&str; 3] = ["allOf", "anyOf", "oneOf"];
/// Rules that every server understands.
const PLAIN: [&str; 9] = [
    "type",
    "description",
    "properties",
    "required",
    "items",
    "enum",
    "default",
    "additionalProperties",
    "anyOf",
];

/// The schema of a tool. `plain`: only the rules that every server understands.
pub(crate) fn input_schema(parameters: &Value, plain: bool) -> Value {
    let mut schema = object_schema(parameters);
    if let Some(map) = schema.as_object_mut() {
        flatten(map);
        map.insert("type".to_owned(), json!("object"));
        if !map.get("properties").is_some_and(Value::is_object) {
            map.insert("properties".to_owned(), json!({}));
        }
    }
    if plain {
        drop_patterns(&mut schema);
        simplify(&mut schema);
    }
    schema
}

/// Properties of alternatives at the top become properties of the whole; which go together is left to the tool, which checks.
fn flatten(map: &mut Map<String, Value>) {
    for combination in COMBINATIONS {
        let Some(Value::Array(alternatives)) = map.shift_remove(combination) else {
            continue;
        };
        for alternative in alternatives {
            let Value::Object(mut alternative) = alternative else {
                continue;
            };
            flatten(&mut alternative);
            if let Some(Value::Object(more)) = alternative.shift_remove("properties")
                && let Some(Value::Object(properties)) = map.get_mut("properties")
            {
                for (name, schema) in more {
                    properties.entry(name).or_insert(schema);
                }
            }
            if combination == "allOf"
                && let Some(Value::Array(more)) = alternative.shift_remove("required")
                && let Value::Array(required) = map.entry("required").or_insert_with(|| json!([]))
            {
                required.extend(more);
            }
        }
    }
}

/// Removes every rule but the plain ones; names of properties are no rules.
fn simplify(schema: &mut Value) {
    let Value::Object(map) = schema else { return };
    map.retain(|rule, _| PLAIN.contains(&rule.as_str()));
    for (rule, value) in map {
        match (rule.as_str(), value) {
            ("properties", Value::Object(properties)) => properties.values_mut().for_each(simplify),
            ("anyOf", Value::Array(alternatives)) => alternatives.iter_mut().for_each(simplify),
            ("items", Value::Array(list)) => {
                list.truncate(1);
                list.iter_mut().for_each(simplify);
            }
            ("items" | "additionalProperties", inner) => simplify(inner),
            _ => {}
        }
    }
    if let Some(items) = schema.get_mut("items")
        && let Value::Array(list) = items
    {
        *items = list.pop().unwrap_or_else(|| json!({}));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_top_is_an_object_without_alternatives() {
        for (given, expected) in [
            (Value::Null, json!({"type": "object", "properties": {}})),
            (
                json!({"$schema": "x", "type": ["object", "null"], "properties": {"a": {"oneOf": [{"type": "string"}]}}}),
                json!({"type": "object", "properties": {"a": {"oneOf": [{"type": "string"}]}}}),
            ),
            (
                json!({"type": "object", "oneOf": [{"properties": {"a": {"type": "string"}}, "required": ["a"]}, {"properties": {"b": {}}}]}),
                json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {}}}),
            ),
            (
                json!({"allOf": [{"properties": {"a": {}}, "required": ["a"]}, {"anyOf": [{"properties": {"b": {}}}]}], "properties": {"a": {"type": "string"}}}),
                json!({"properties": {"a": {"type": "string"}}, "type": "object", "required": ["a"]}),
            ),
        ] {
            let found = input_schema(&given, false);
            assert_eq!(found, expected, "{given}");
        }
    }

    #[test]
    fn plain_schemas_keep_names_and_lose_rules() {
        let schema = json!({"type": "object", "properties": {
            "pattern": {"type": "string", "pattern": "^a$", "minLength": 1},
            "pair": {"type": "array", "items": [{"type": "number", "exclusiveMinimum": true}, {}]},
            "const": {"const": 1, "description": "One"}}, "definitions": {}});
        assert_eq!(
            input_schema(&schema, true),
            json!({"type": "object", "properties": {
                "pattern": {"type": "string"},
                "pair": {"type": "array", "items": {"type": "number"}},
                "const": {"description": "One"}}})
        );
    }
}
