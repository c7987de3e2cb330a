//! Schemas of tools as servers take them.

use serde_json::{Value, json};

/// The schema of an object with `properties`, also when there are none.
pub(crate) fn object_schema(parameters: &Value) -> Value {
    let mut schema = match parameters {
        Value::Object(_) => parameters.clone(),
        _ => json!({}),
    };
    if let Some(map) = schema.as_object_mut() {
        map.entry("type").or_insert_with(|| json!("object"));
        map.entry("properties").or_insert_with(|| json!({}));
        map.shift_remove("$schema");
    }
    schema
}

/// Removes `pattern` and `format` where they are rules, not where they are names of properties.
pub(crate) fn drop_patterns(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            for rule in ["pattern", "format"] {
                if map.get(rule).is_some_and(Value::is_string) {
                    map.shift_remove(rule);
                }
            }
            map.values_mut().for_each(drop_patterns);
        }
        Value::Array(list) => list.iter_mut().for_each(drop_patterns),
        _ => {}
    }
}
