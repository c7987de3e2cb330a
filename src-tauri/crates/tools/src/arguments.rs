//! Arguments of a call against the schema of its tool, before anything else happens. The schemas here are flat objects of
//! texts, whole numbers, switches and lists of texts or of such objects, so the check is a page and can name the field, what was expected and
//! what the field means; a general validator would know more and say less. Forgiving where the meaning is beyond doubt:
//! `null` for something optional, a list or a whole argument object inside of a string, a number written as text.

use crate::ToolError;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// The JSON schema of an input type with nothing a model has no use for.
pub(crate) fn schema_of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft07().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let schema: Schema = settings.into_generator().into_root_schema_for::<T>();
    let mut value = Value::from(schema);
    if let Value::Object(root) = &mut value {
        root.remove("description");
        root.entry("properties")
            .or_insert_with(|| Value::Object(Map::new()));
        if root
            .get("required")
            .is_some_and(|required| *required == Value::Array(Vec::new()))
        {
            root.remove("required");
        }
    }
    strip(&mut value);
    value
}

/// Removes noise at every level; an optional field is one that is not required, not one that may be null.
fn strip(value: &mut Value) {
    let Value::Object(object) = value else { return };
    for key in [
        "$schema",
        "title",
        "format",
        "minimum",
        "maximum",
        "default",
        "additionalProperties",
    ] {
        object.remove(key);
    }
    if let Some(Value::Array(types)) = object.get("type")
        && let Some(only) = types.iter().find(|name| *name != "null").cloned()
    {
        object.insert("type".to_owned(), only);
    }
    if let Some(Value::Object(properties)) = object.get_mut("properties") {
        properties.values_mut().for_each(strip);
    }
    if let Some(items) = object.get_mut("items") {
        strip(items);
    }
}

/// Reads raw JSON text of arguments as the input of a tool with this schema.
pub(crate) fn read<T: DeserializeOwned>(raw: &str, schema: &Value) -> Result<T, ToolError> {
    let mut given = object_of(raw)?;
    let mut problems = Vec::new();
    check_object("", &mut given, schema, &mut problems);
    if !problems.is_empty() {
        return Err(ToolError::Arguments(problems.join("\n")));
    }
    serde_json::from_value(Value::Object(given)).map_err(|error| ToolError::Arguments(error.to_string()))
}

/// Checks an object and everything in it; `place` goes before the names of its fields.
fn check_object(place: &str, given: &mut Map<String, Value>, schema: &Value, problems: &mut Vec<String>) {
    let none = Map::new();
    let properties = schema.get("properties").and_then(Value::as_object);
    let properties = properties.unwrap_or(&none);
    given.retain(|_, value| !value.is_null());
    for name in given.keys().filter(|name| !properties.contains_key(*name)) {
        let known: Vec<String> = properties.keys().map(|known| format!("`{known}`")).collect();
        problems.push(format!(
            "`{place}{}` is not known here; known: {}",
            shown(name),
            known.join(", ")
        ));
    }
    for (name, property) in properties {
        let meaning = property.get("description").and_then(Value::as_str);
        let meaning = meaning.map_or(String::new(), |meaning| format!(": {}", lower(meaning)));
        let place = format!("{place}{name}");
        match given.get_mut(name) {
            Some(value) => match fit(value, property) {
                Ok(()) => check_items(&place, value, property, problems),
                Err(expected) => {
                    let got = kind_of(value);
                    problems.push(format!("`{place}` must be {expected}, not {got}{meaning}"));
                }
            },
            None if is_required(schema, name) => {
                problems.push(format!("`{place}` is missing{meaning}"));
            }
            None => {}
        }
    }
}

/// Checks the objects of a list.
fn check_items(place: &str, value: &mut Value, property: &Value, problems: &mut Vec<String>) {
    let Some(schema) = property.get("items").filter(|items| is_type(items, "object")) else {
        return;
    };
    for (index, item) in value.as_array_mut().into_iter().flatten().enumerate() {
        if let Value::Object(item) = item {
            check_object(&format!("{place}[{index}]."), item, schema, problems);
        }
    }
}

fn is_type(schema: &Value, name: &str) -> bool {
    schema.get("type").and_then(Value::as_str) == Some(name)
}

fn object_of(raw: &str) -> Result<Map<String, Value>, ToolError> {
    let raw = raw.trim();
    if raw.is_empty() || raw == "null" {
        return Ok(Map::new());
    }
    let parse = |text: &str| {
        serde_json::from_str::<Value>(text).map_err(|error| {
            ToolError::Arguments(format!(
                "the arguments are not valid JSON ({error}); nothing was run"
            ))
        })
    };
    let mut value = parse(raw)?;
    if let Value::String(inner) = &value {
        value = parse(inner)?;
    }
    match value {
        Value::Object(object) => Ok(object),
        other => Err(ToolError::Arguments(format!(
            "the arguments must be a JSON object, not {}",
            kind_of(&other)
        ))),
    }
}

/// Makes a value fit its property where the meaning is clear; otherwise says what is expected.
fn fit(value: &mut Value, property: &Value) -> Result<(), String> {
    if let Some(Value::Array(choices)) = property.get("enum") {
        let names: Vec<String> = choices
            .iter()
            .filter_map(Value::as_str)
            .map(|name| format!("`{name}`"))
            .collect();
        let is_one = choices.contains(value);
        return is_one
            .then_some(())
            .ok_or_else(|| format!("one of {}", names.join(", ")));
    }
    fit_type(value, property).map_err(str::to_owned)
}

fn fit_type(value: &mut Value, property: &Value) -> Result<(), &'static str> {
    match property.get("type").and_then(Value::as_str) {
        Some("string") => value.is_string().then_some(()).ok_or("text"),
        Some("boolean") => {
            match value.as_str() {
                Some("true") => *value = Value::Bool(true),
                Some("false") => *value = Value::Bool(false),
                _ => {}
            }
            value.is_boolean().then_some(()).ok_or("true or false")
        }
        Some("integer") => {
            let number = match &*value {
                Value::String(text) => text.trim().parse::<u32>().ok(),
                Value::Number(number) => number
                    .as_u64()
                    .or_else(|| {
                        number
                            .as_f64()
                            .filter(|n| n.fract() == 0.0 && *n >= 0.0)
                            .map(|n| n as u64)
                    })
                    .and_then(|number| u32::try_from(number).ok()),
                _ => None,
            };
            *value = Value::from(number.ok_or("a whole number")?);
            Ok(())
        }
        Some("array") => {
            if let Some(inner) = value
                .as_str()
                .and_then(|text| serde_json::from_str::<Value>(text).ok())
                && inner.is_array()
            {
                *value = inner;
            }
            let objects = property
                .get("items")
                .is_some_and(|items| is_type(items, "object"));
            let all = |test: fn(&Value) -> bool| value.as_array().is_some_and(|items| items.iter().all(test));
            if objects {
                all(Value::is_object).then_some(()).ok_or("a list of objects")
            } else {
                all(Value::is_string).then_some(()).ok_or("a list of texts")
            }
        }
        _ => Err("of a type that is known"),
    }
}

fn is_required(schema: &Value, name: &str) -> bool {
    let required = schema.get("required").and_then(Value::as_array);
    required.is_some_and(|required| required.iter().any(|item| item == name))
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

fn lower(meaning: &str) -> String {
    let mut letters = meaning.chars();
    letters.next().map_or(String::new(), |first| {
        first.to_lowercase().chain(letters).collect()
    })
}

fn shown(name: &str) -> String {
    name.chars().take(60).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;
    use serde_json::json;

    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Sample {
        /// A path relative to the project.
        path: String,
        /// How deep.
        depth: Option<u32>,
        #[serde(default)]
        all: bool,
        options: Option<Vec<String>>,
    }

    fn sample(raw: &str) -> Result<Sample, String> {
        read(raw, &schema_of::<Sample>()).map_err(|error| error.to_string())
    }

    #[test]
    fn schemas_are_small() {
        assert_eq!(
            schema_of::<Sample>(),
            json!({
                "type": "object",
                "properties": {
                    "path": {"type": "string", "description": "A path relative to the project."},
                    "depth": {"type": "integer", "description": "How deep."},
                    "all": {"type": "boolean"},
                    "options": {"type": "array", "items": {"type": "string"}},
                },
                "required": ["path"],
            })
        );
    }

    #[test]
    fn what_is_meant_is_taken() {
        let full = Sample {
            path: "a".into(),
            depth: Some(2),
            all: true,
            options: Some(vec!["x".into(), "y".into()]),
        };
        for raw in [
            r#"{"path":"a","depth":2,"all":true,"options":["x","y"]}"#,
            r#" {"path":"a","depth":"2","all":"true","options":"[\"x\",\"y\"]"} "#,
            r#""{\"path\":\"a\",\"depth\":2.0,\"all\":true,\"options\":[\"x\",\"y\"]}""#,
        ] {
            assert_eq!(sample(raw).unwrap(), full, "{raw}");
        }
        let least = Sample {
            path: "a".into(),
            depth: None,
            all: false,
            options: None,
        };
        assert_eq!(
            sample(r#"{"path":"a","depth":null,"all":null,"other":null}"#).unwrap(),
            least
        );
    }

    #[test]
    fn an_error_names_the_field_and_the_expectation() {
        for (raw, expected) in [
            ("", "`path` is missing: a path relative to the project."),
            ("null", "`path` is missing: a path relative to the project."),
            (
                r#"{"path":3}"#,
                "`path` must be text, not a number: a path relative to the project.",
            ),
            (
                r#"{"path":{"a":1}}"#,
                "`path` must be text, not an object: a path relative to the project.",
            ),
            (
                r#"{"path":"a","depth":-1}"#,
                "`depth` must be a whole number, not a number: how deep.",
            ),
            (
                r#"{"path":"a","depth":1.5}"#,
                "`depth` must be a whole number, not a number: how deep.",
            ),
            (
                r#"{"path":"a","depth":"x"}"#,
                "`depth` must be a whole number, not text: how deep.",
            ),
            (
                r#"{"path":"a","depth":99999999999}"#,
                "`depth` must be a whole number, not a number: how deep.",
            ),
            (
                r#"{"path":"a","options":"x"}"#,
                "`options` must be a list of texts, not text",
            ),
            (
                r#"{"path":"a","options":[1]}"#,
                "`options` must be a list of texts, not a list",
            ),
            (
                r#"{"path":"a","file":"b"}"#,
                "`file` is not known here; known: `path`, `depth`, `all`, `options`",
            ),
            ("[]", "the arguments must be a JSON object, not a list"),
        ] {
            assert_eq!(sample(raw).unwrap_err(), expected, "{raw}");
        }
        let cut = sample(r#"{"path": "a"#).unwrap_err();
        assert!(
            cut.starts_with("the arguments are not valid JSON (EOF") && cut.ends_with("nothing was run"),
            "{cut}"
        );
        assert!(sample(r#"{"path":"a"} and then"#).is_err());
        assert_eq!(sample(r#"{"depth":"x","b":1}"#).unwrap_err().lines().count(), 3);
    }
}
