//! Arguments of a call: one complete JSON object, or not to be run.
//!
//! Nothing is completed or guessed here. The only freedoms: nothing at all means no arguments, an object that was encoded twice is
//! decoded, and prose after a complete object is left out.

use crate::CallArguments;
use serde_json::Value;

/// Reads what a model wrote. `schema` is the tool's, when the tool is known.
pub(crate) fn read_arguments(raw: &str, schema: Option<&Value>) -> CallArguments {
    let text = raw.trim();
    if text.is_empty() || text == "null" {
        return CallArguments::Complete("{}".into());
    }
    let malformed = |reason: String| CallArguments::Malformed {
        reason,
        raw: raw.to_string(),
    };
    match serde_json::from_str::<Value>(text) {
        Ok(Value::Object(mut map)) => {
            let decoded = schema.is_some_and(|schema| decode_nested(&mut map, schema));
            CallArguments::Complete(if decoded {
                Value::Object(map).to_string()
            } else {
                text.to_string()
            })
        }
        Ok(Value::String(inner))
            if serde_json::from_str::<Value>(&inner).is_ok_and(|value| value.is_object()) =>
        {
            CallArguments::Complete(inner)
        }
        Ok(_) => malformed("the arguments are not a JSON object".into()),
        Err(error) if error.is_eof() => {
            malformed(format!("the arguments do not end, they were cut ({error})"))
        }
        Err(error) => match first_object(text) {
            Some((object, rest)) if !rest.contains('{') => {
                tracing::debug!(
                    dropped = rest.len(),
                    "text after the arguments of a call was dropped"
                );
                CallArguments::Complete(object.to_string())
            }
            _ => malformed(format!("the arguments were not valid JSON: {error}")),
        },
    }
}

/// Whether the text is one complete JSON object.
pub(crate) fn is_complete_object(text: &str) -> bool {
    text.trim_start().starts_with('{') && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

/// Several complete objects one after the other, when there are at least two and nothing else.
pub(crate) fn several_objects(text: &str) -> Option<Vec<&str>> {
    let mut objects = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (object, after) = first_object(rest)?;
        objects.push(object);
        rest = after.trim_start();
    }
    (objects.len() > 1).then_some(objects)
}

fn first_object(text: &str) -> Option<(&str, &str)> {
    if !text.starts_with('{') {
        return None;
    }
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<serde::de::IgnoredAny>();
    values.next()?.ok()?;
    Some(text.split_at(values.byte_offset()))
}

/// Decodes properties that should be an object or array and came as a string of one. True when any was.
fn decode_nested(map: &mut serde_json::Map<String, Value>, schema: &Value) -> bool {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return false;
    };
    let mut decoded = false;
    for (name, value) in map.iter_mut() {
        let (Value::String(text), Some(wanted)) = (&*value, properties.get(name).and_then(|p| p.get("type")))
        else {
            continue;
        };
        let inner = match serde_json::from_str::<Value>(text) {
            Ok(inner) if inner.is_array() && wanted == "array" => inner,
            Ok(inner) if inner.is_object() && wanted == "object" => inner,
            _ => continue,
        };
        *value = inner;
        decoded = true;
    }
    decoded
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn complete(raw: &str) -> Option<String> {
        match read_arguments(raw, None) {
            CallArguments::Complete(text) => Some(text),
            CallArguments::Malformed { .. } => None,
        }
    }

    #[test]
    fn complete_objects_pass_unchanged() {
        for raw in [
            r#"{"a": 1, "b":"\u00e9"}"#,
            r#"{"id":12345678901234567890123}"#,
            "{}",
        ] {
            assert_eq!(complete(raw).as_deref(), Some(raw));
        }
        assert_eq!(complete("").as_deref(), Some("{}"));
        assert_eq!(complete(" null ").as_deref(), Some("{}"));
        assert_eq!(complete(r#""{\"a\":1}""#).as_deref(), Some(r#"{"a":1}"#));
        assert_eq!(
            complete("{\"a\":1}\nI will now wait.").as_deref(),
            Some("{\"a\":1}")
        );
    }

    #[test]
    fn everything_else_is_not_to_be_run() {
        for (raw, reason) in [
            (r#"{"path":"a.rs","content":"fn ma"#, "cut"),
            (r#"{"path":}"#, "line 1 column 9"),
            ("[1]", "not a JSON object"),
            ("read the file", "not valid JSON"),
            (r#"{"a":1} {"b":2}"#, "not valid JSON"),
            (r#"{'a':1}"#, "not valid JSON"),
        ] {
            match read_arguments(raw, None) {
                CallArguments::Malformed {
                    reason: found,
                    raw: kept,
                } => {
                    assert!(found.contains(reason), "{raw}: {found}");
                    assert_eq!(kept, raw);
                }
                CallArguments::Complete(text) => panic!("{raw} was read as {text}"),
            }
        }
    }

    #[test]
    fn nested_values_are_decoded_only_where_the_schema_wants_them() {
        let schema = json!({"properties": {"edits": {"type": "array"}, "text": {"type": "string"}}});
        assert_eq!(
            read_arguments(r#"{"edits":"[{\"a\":1}]","text":"[1]"}"#, Some(&schema)),
            CallArguments::Complete(r#"{"edits":[{"a":1}],"text":"[1]"}"#.into())
        );
    }
}
