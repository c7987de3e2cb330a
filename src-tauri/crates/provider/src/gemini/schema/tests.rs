//! What comes out of all the ways in which schemas are written, and that it never holds a word that is not known.

use super::parameters;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// The schema of one property.
fn property(schema: Value) -> Value {
    let whole = json!({"type": "object", "properties": {"p": schema}});
    parameters(&whole, false).unwrap()["properties"]["p"].take()
}

#[test]
fn properties_become_what_the_server_knows() {
    for (schema, expected) in [
        (
            json!({"type": "string", "description": " A path. ", "default": "x", "title": "Path", "pattern": "^/"}),
            json!({"type": "string", "description": "A path."}),
        ),
        (
            json!({"type": "string", "format": "uri"}),
            json!({"type": "string"}),
        ),
        (
            json!({"type": "string", "format": "date-time"}),
            json!({"type": "string", "format": "date-time"}),
        ),
        (
            json!({"type": ["string", "null"], "description": "D"}),
            json!({"type": "string", "nullable": true, "description": "D"}),
        ),
        (
            json!({"type": ["string", "integer"]}),
            json!({"anyOf": [{"type": "string"}, {"type": "integer"}]}),
        ),
        (
            json!({"type": "integer", "exclusiveMinimum": 0, "maximum": 9, "format": "uint32"}),
            json!({"type": "integer", "minimum": 1, "maximum": 9}),
        ),
        (
            json!({"type": "number", "exclusiveMaximum": 1.5}),
            json!({"type": "number", "maximum": 1.5}),
        ),
        (
            json!({"const": "insert"}),
            json!({"type": "string", "enum": ["insert"]}),
        ),
        (
            json!({"enum": ["a", "b", null]}),
            json!({"type": "string", "enum": ["a", "b"], "nullable": true}),
        ),
        (
            json!({"enum": [1, 2], "description": "How far."}),
            json!({"type": "integer", "description": "How far. One of: 1, 2."}),
        ),
        (
            json!({"const": true}),
            json!({"type": "boolean", "description": "One of: true."}),
        ),
        (
            json!({"type": "string", "enum": ["", "a"]}),
            json!({"type": "string"}),
        ),
        (
            json!({"anyOf": [{"const": "a"}, {"const": "b"}, {"type": "null"}], "description": "D"}),
            json!({"type": "string", "enum": ["a", "b"], "nullable": true, "description": "D"}),
        ),
        (
            json!({"oneOf": [{"type": "string"}, {"type": "array"}], "description": "Text or lines."}),
            json!({"anyOf": [{"type": "string", "description": "Text or lines."}, {"type": "array", "items": {"type": "string"}}]}),
        ),
        (
            json!({"type": "array", "items": {"type": "object", "required": ["gone"]}, "minItems": 1, "uniqueItems": true}),
            json!({"type": "array", "items": {"type": "object"}, "minItems": 1}),
        ),
        (
            json!({"prefixItems": [{"type": "string"}, {"type": "string"}]}),
            json!({"type": "array", "items": {"type": "string"}}),
        ),
        (
            json!({"type": "object", "additionalProperties": {"type": "string"}}),
            json!({"type": "object"}),
        ),
        (
            json!({"properties": {"a": {"type": "string"}}, "required": ["a", "a", "b"], "additionalProperties": false}),
            json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}),
        ),
        (
            json!({"type": "object", "properties": {"a": {"type": "string"}}, "anyOf": [{"required": ["a"]}, {"properties": {"b": {"type": "boolean"}}}]}),
            json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "boolean"}}}),
        ),
        (
            json!({"type": "null"}),
            json!({"type": "string", "nullable": true}),
        ),
        (
            json!({"allOf": [{"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}, {"properties": {"b": {"type": "integer"}}, "required": ["b"]}]}),
            json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "integer"}}, "required": ["a", "b"]}),
        ),
        (
            json!({"description": "Anything."}),
            json!({"anyOf": [{"type": "string", "description": "Anything."}, {"type": "number"}, {"type": "boolean"}, {"type": "object"}]}),
        ),
    ] {
        assert_eq!(property(schema.clone()), expected, "{schema}");
    }
}

#[test]
fn references_are_written_out_and_end_where_they_begin_again() {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "Edit": {"type": "object", "properties": {"text": {"type": "string"}, "next": {"$ref": "#/$defs/Edit"}}},
            "Path": {"type": "string", "description": "A path."},
        },
        "properties": {
            "path": {"$ref": "#/$defs/Path", "description": "Where."},
            "edits": {"type": "array", "items": {"$ref": "#/$defs/Edit"}},
            "again": {"$ref": "#/$defs/Edit"},
            "lost": {"$ref": "#/$defs/Nowhere"},
        },
        "required": ["path"],
    });
    let edit =
        json!({"type": "object", "properties": {"text": {"type": "string"}, "next": {"type": "object"}}});
    assert_eq!(
        parameters(&schema, false).unwrap(),
        json!({
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "Where."},
                "edits": {"type": "array", "items": edit},
                "again": edit,
                "lost": {"type": "object"},
            },
            "required": ["path"],
        })
    );
}

#[test]
fn a_tool_without_parameters_has_none() {
    for schema in [
        json!({"type": "object", "properties": {}}),
        json!({"type": "object"}),
        json!({}),
        json!(true),
        Value::Null,
        json!({"$ref": "#"}),
    ] {
        assert_eq!(parameters(&schema, false), None, "{schema}");
    }
}

#[test]
fn a_plain_schema_has_only_types_names_and_descriptions() {
    let schema = json!({"type": "object", "properties": {
        "a": {"type": ["string", "null"], "format": "date-time"},
        "b": {"type": "integer", "minimum": 1},
        "c": {"anyOf": [{"type": "number"}, {"type": "string"}], "description": "D"},
        "d": {"type": "array", "items": {}, "maxItems": 3},
    }});
    assert_eq!(
        parameters(&schema, true).unwrap()["properties"],
        json!({
            "a": {"type": "string"},
            "b": {"type": "integer"},
            "c": {"type": "number", "description": "D"},
            "d": {"type": "array", "items": {"type": "string"}},
        })
    );
}

#[test]
fn what_lies_too_deep_keeps_its_type() {
    let mut deep = json!({"type": "string", "description": "At the bottom."});
    for _ in 0..15 {
        deep = json!({"type": "array", "items": deep});
    }
    let shallow = property(deep.clone());
    assert!(shallow.to_string().contains("At the bottom."));
    let deeper = property(json!({"type": "array", "items": {"type": "array", "items": deep}}));
    assert!(
        deeper
            .to_string()
            .contains(r#"{"type":"array","items":{"type":"string"}}"#),
        "{deeper}"
    );
    assert!(!deeper.to_string().contains("object"), "{deeper}");
}

#[test]
fn references_that_multiply_stay_small() {
    let mut definitions = Map::new();
    for n in 0..30 {
        let next = format!("#/$defs/d{}", n + 1);
        definitions.insert(
            format!("d{n}"),
            json!({"type": "object", "properties": {"a": {"$ref": next}, "b": {"$ref": next}, "c": {"$ref": next}}}),
        );
    }
    let schema = json!({"type": "object", "$defs": definitions, "properties": {"p": {"$ref": "#/$defs/d0"}}});
    let size = parameters(&schema, false).unwrap().to_string().len();
    assert!(size < 1_000_000, "{size}");
}

/// Every word is known, and stands where it may.
fn check(schema: &Value) {
    let map = schema.as_object().unwrap();
    if map.contains_key("anyOf") {
        assert_eq!(map.len(), 1, "{schema}");
        let branches = map["anyOf"].as_array().unwrap();
        assert!(branches.len() > 1);
        branches.iter().for_each(check);
        return;
    }
    let kind = map["type"].as_str().unwrap();
    for (key, value) in map {
        match key.as_str() {
            "type" => assert!(["object", "array", "string", "integer", "number", "boolean"].contains(&kind)),
            "description" => assert!(!value.as_str().unwrap().is_empty()),
            "nullable" => assert_eq!(value, &Value::Bool(true)),
            "enum" => {
                assert_eq!(kind, "string");
                let values = value.as_array().unwrap();
                assert!(
                    !values.is_empty()
                        && values
                            .iter()
                            .all(|value| value.as_str().is_some_and(|text| !text.is_empty()))
                );
            }
            "format" => assert!(value.is_string()),
            "minimum" | "maximum" => assert!(value.is_number()),
            "minItems" | "maxItems" => assert_eq!(kind, "array"),
            "items" => {
                assert_eq!(kind, "array");
                check(value);
            }
            "properties" => {
                assert_eq!(kind, "object");
                assert!(!value.as_object().unwrap().is_empty());
                value.as_object().unwrap().values().for_each(check);
            }
            "required" => {
                for name in value.as_array().unwrap() {
                    assert!(
                        map["properties"].get(name.as_str().unwrap()).is_some(),
                        "{schema}"
                    );
                }
            }
            other => panic!("{other} in {schema}"),
        }
    }
    assert!(kind != "array" || map.contains_key("items"), "{schema}");
}

fn any_schema() -> impl Strategy<Value = Value> {
    let kinds = [
        "string", "integer", "number", "boolean", "null", "object", "array", "tuple",
    ];
    let leaf = prop_oneof![
        Just(json!({})),
        Just(json!(true)),
        Just(json!(null)),
        Just(json!({"$ref": "#/$defs/a"})),
        Just(json!({"$ref": "#/properties/p"})),
        Just(json!({"$ref": 3})),
        Just(json!({"const": 3})),
        Just(json!({"enum": ["a", "", null, 1.5]})),
        Just(json!({"enum": [null]})),
        Just(json!({"type": "string", "format": "uuid", "minLength": 2})),
        prop::sample::select(kinds.to_vec())
            .prop_map(|kind| json!({"type": kind, "title": "T", "exclusiveMinimum": 2})),
        prop::sample::subsequence(kinds.to_vec(), 0..4)
            .prop_map(|kinds| json!({"type": kinds, "description": ""})),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let some = prop::collection::vec(inner.clone(), 0..4);
        prop_oneof![
            (some.clone(), prop::sample::select(vec!["anyOf", "oneOf", "allOf", "prefixItems", "items"]))
                .prop_map(|(schemas, key)| json!({key: schemas, "description": "D"})),
            inner.clone().prop_map(|items| json!({"type": "array", "items": items, "maxItems": 4})),
            (prop::collection::btree_map("[a-c]", inner, 0..3), some, any::<bool>()).prop_map(|(properties, any, null)| {
                let kinds = if null { json!(["object", "null"]) } else { json!("object") };
                json!({"type": kinds, "properties": properties, "required": ["a", "z", 1], "anyOf": any, "not": {}})
            }),
        ]
    })
}

proptest! {
    #[test]
    fn no_schema_gives_an_unknown_word(first in any_schema(), second in any_schema(), plain in any::<bool>()) {
        let schema = json!({"type": "object", "$defs": {"a": second}, "properties": {"p": first}});
        check(&parameters(&schema, plain).unwrap());
        if let Some(whole) = parameters(&schema["properties"]["p"], plain) {
            check(&whole);
        }
    }
}
