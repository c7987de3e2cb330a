//! A tool's schema as Gemini takes it: a small part of OpenAPI, where one unknown word refuses the whole request.
//!
//! Only what is known to be accepted goes out. What is dropped here still holds: arguments are checked against the tool's own schema
//! before anything runs.

use serde_json::{Map, Number, Value, json};

#[cfg(test)]
mod tests;

/// Schemas within schemas.
const DEPTH_LIMIT: usize = 16;
/// Schemas of one tool, references written out.
const SIZE_LIMIT: usize = 2_000;

/// The schema of a tool's parameters; `None` when it has none. `plain`: nothing but types, names and descriptions.
pub(super) fn parameters(schema: &Value, plain: bool) -> Option<Value> {
    let mut converter = Converter {
        root: schema,
        plain,
        count: 0,
        open: Vec::new(),
    };
    let map = converter.flat(schema.as_object()?, 0)?;
    let whole = converter.object(&map, 0);
    whole.contains_key("properties").then_some(Value::Object(whole))
}

/// The schema of a whole answer; `None` where it cannot be said.
pub(super) fn answer(schema: &Value) -> Option<Value> {
    let mut converter = Converter {
        root: schema,
        plain: false,
        count: 0,
        open: Vec::new(),
    };
    let converted = converter.convert(schema, 0);
    (converter.count < SIZE_LIMIT).then_some(converted)
}

struct Converter<'a> {
    root: &'a Value,
    plain: bool,
    count: usize,
    /// References that are being written out: one within itself ends there.
    open: Vec<String>,
}

impl Converter<'_> {
    fn convert(&mut self, schema: &Value, depth: usize) -> Value {
        self.count += 1;
        let Some(map) = schema.as_object() else {
            return self.anything(&Map::new());
        };
        let open = self.open.len();
        let flat = match depth < DEPTH_LIMIT && self.count < SIZE_LIMIT {
            true => self.flat(map, depth),
            false => None,
        };
        let converted = match flat {
            Some(flat) => self.typed(&flat, depth),
            None => cut(map),
        };
        self.open.truncate(open);
        converted
    }

    /// With references and `allOf` written out; `None` for a reference within itself, or to nowhere.
    fn flat(&mut self, map: &Map<String, Value>, depth: usize) -> Option<Map<String, Value>> {
        let mut flat = map.clone();
        if let Some(reference) = flat.remove("$ref") {
            let reference = reference.as_str()?;
            if self.open.iter().any(|open| open == reference) || depth > DEPTH_LIMIT {
                return None;
            }
            let target = self.root.pointer(reference.strip_prefix('#')?)?.as_object()?;
            self.open.push(reference.to_owned());
            let target = self.flat(&target.clone(), depth + 1)?;
            merge(&mut flat, target);
        }
        if let Some(Value::Array(all)) = flat.remove("allOf") {
            for part in all.iter().filter_map(Value::as_object) {
                if let Some(part) = self.flat(part, depth + 1) {
                    merge(&mut flat, part);
                }
            }
        }
        Some(flat)
    }

    fn typed(&mut self, map: &Map<String, Value>, depth: usize) -> Value {
        if map.get("properties").is_some_and(Value::is_object) {
            let mut out = self.object(map, depth);
            let kinds = map.get("type").and_then(Value::as_array);
            if kinds.is_some_and(|kinds| kinds.contains(&json!("null"))) {
                self.nullable(&mut out);
            }
            return Value::Object(out);
        }
        if let Some(branches) = branches(map) {
            return self.union(map, &branches, depth);
        }
        let values = match (map.get("enum"), map.get("const")) {
            (Some(Value::Array(values)), _) => values.clone(),
            (_, Some(value)) => vec![value.clone()],
            _ => Vec::new(),
        };
        if !values.is_empty() {
            return self.choice(map, &values);
        }
        let kind = match map.get("type") {
            Some(Value::String(kind)) => kind.to_ascii_lowercase(),
            _ if map.contains_key("items") || map.contains_key("prefixItems") => "array".to_owned(),
            _ if map.contains_key("required") || map.contains_key("additionalProperties") => {
                "object".to_owned()
            }
            _ => return self.anything(map),
        };
        let mut out = match kind.as_str() {
            "object" => self.object(map, depth),
            "array" => self.array(map, depth),
            "string" => self.with_format(start("string", map), map, &["date-time"]),
            "integer" => {
                let out = self.with_format(start("integer", map), map, &["int32", "int64"]);
                self.with_bounds(out, map, true)
            }
            "number" => {
                let out = self.with_format(start("number", map), map, &["float", "double"]);
                self.with_bounds(out, map, false)
            }
            "boolean" => start("boolean", map),
            "null" => {
                let mut out = start("string", map);
                self.nullable(&mut out);
                out
            }
            _ => return self.anything(map),
        };
        if map.get("nullable") == Some(&Value::Bool(true)) {
            self.nullable(&mut out);
        }
        Value::Object(out)
    }

    /// An object; branches of a union beside its properties only add properties.
    fn object(&mut self, map: &Map<String, Value>, depth: usize) -> Map<String, Value> {
        let mut all = map.clone();
        for branch in branches(map).unwrap_or_default() {
            let open = self.open.len();
            let flat = branch.as_object().and_then(|branch| self.flat(branch, depth + 1));
            let mut flat = flat.unwrap_or_default();
            flat.retain(|key, _| key == "properties");
            merge(&mut all, flat);
            self.open.truncate(open);
        }
        let mut out = start("object", map);
        let mut properties = Map::new();
        for (name, property) in all
            .get("properties")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
        {
            properties.insert(name.clone(), self.convert(property, depth + 1));
        }
        let mut required: Vec<&str> = Vec::new();
        for name in map
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            let name = name.as_str().filter(|name| properties.contains_key(*name));
            required.extend(name.filter(|name| !required.contains(name)));
        }
        let required = json!(required);
        if !properties.is_empty() {
            out.insert("properties".to_owned(), Value::Object(properties));
        }
        if required != json!([]) {
            out.insert("required".to_owned(), required);
        }
        out
    }

    fn array(&mut self, map: &Map<String, Value>, depth: usize) -> Map<String, Value> {
        let mut out = start("array", map);
        let tuple = [map.get("prefixItems"), map.get("items")]
            .into_iter()
            .flatten()
            .find_map(Value::as_array);
        let items = match (tuple, map.get("items")) {
            (Some(tuple), _) => {
                let converted = tuple.iter().map(|item| self.convert(item, depth + 1)).collect();
                self.any_of(converted, None)
            }
            (None, Some(items)) => self.convert(items, depth + 1),
            (None, None) => json!({"type": "string"}),
        };
        out.insert("items".to_owned(), items);
        for bound in ["minItems", "maxItems"] {
            if let Some(count) = map.get(bound).filter(|count| count.is_u64() && !self.plain) {
                out.insert(bound.to_owned(), count.clone());
            }
        }
        out
    }

    /// One of some values: only texts can be listed, other values are told in words.
    fn choice(&self, map: &Map<String, Value>, values: &[Value]) -> Value {
        let said: Vec<&Value> = values.iter().filter(|value| !value.is_null()).collect();
        let texts: Vec<&str> = said.iter().filter_map(|value| value.as_str()).collect();
        let mut out = if texts.len() == said.len() {
            let mut out = start("string", map);
            let listed: Vec<&&str> = texts.iter().filter(|text| !text.is_empty()).collect();
            if !listed.is_empty() && listed.len() == texts.len() {
                out.insert("enum".to_owned(), json!(listed));
            }
            out
        } else {
            let kind = if said.iter().all(|value| value.is_i64() || value.is_u64()) {
                "integer"
            } else if said.iter().all(|value| value.is_number()) {
                "number"
            } else if said.iter().all(|value| value.is_boolean()) {
                "boolean"
            } else {
                "string"
            };
            let mut out = start(kind, map);
            let list: Vec<String> = said.iter().map(|value| value.to_string()).collect();
            let list = format!("One of: {}.", list.join(", "));
            let description = match out.get("description").and_then(Value::as_str) {
                Some(description) => format!("{description} {list}"),
                None => list,
            };
            out.insert("description".to_owned(), Value::String(description));
            out
        };
        if values.iter().any(Value::is_null) || map.get("nullable") == Some(&Value::Bool(true)) {
            self.nullable(&mut out);
        }
        Value::Object(out)
    }

    fn union(&mut self, map: &Map<String, Value>, branches: &[Value], depth: usize) -> Value {
        let is_null = |branch: &Value| branch["type"] == "null" || branch.get("const") == Some(&Value::Null);
        let (nulls, rest): (Vec<&Value>, Vec<&Value>) = branches.iter().partition(|branch| is_null(branch));
        let mut converted: Vec<Value> = rest
            .into_iter()
            .map(|branch| self.convert(branch, depth + 1))
            .collect();
        if !nulls.is_empty() || map.get("nullable") == Some(&Value::Bool(true)) {
            converted
                .iter_mut()
                .for_each(|branch| self.nullable_branch(branch));
        }
        self.any_of(converted, description(map))
    }

    /// One schema of several. A union stands alone in its schema, so that a description goes into its first branch.
    fn any_of(&self, branches: Vec<Value>, description: Option<&str>) -> Value {
        let mut distinct: Vec<Value> = Vec::new();
        for branch in branches {
            let inner = match branch {
                Value::Object(mut map) => match map.remove("anyOf") {
                    Some(Value::Array(inner)) => inner,
                    _ => vec![Value::Object(map)],
                },
                other => vec![other],
            };
            distinct.extend(
                inner
                    .into_iter()
                    .filter(|branch| !distinct.contains(branch))
                    .collect::<Vec<_>>(),
            );
        }
        if let Some(all) = one_list(&distinct) {
            distinct = vec![all];
        }
        if self.plain {
            distinct.truncate(1);
        }
        if let (Some(description), Some(Value::Object(first))) = (description, distinct.first_mut()) {
            let own = first.get("description").and_then(Value::as_str);
            let text = match own {
                Some(own) if own != description => format!("{description} {own}"),
                _ => description.to_owned(),
            };
            first.insert("description".to_owned(), Value::String(text));
        }
        match distinct.len() {
            0 => json!({"type": "string"}),
            1 => distinct.remove(0),
            _ => json!({ "anyOf": distinct }),
        }
    }

    /// A value of any type.
    fn anything(&self, map: &Map<String, Value>) -> Value {
        let types = ["string", "number", "boolean", "object"];
        let branches = types.iter().map(|kind| json!({ "type": kind })).collect();
        self.any_of(branches, description(map))
    }

    fn nullable(&self, out: &mut Map<String, Value>) {
        if !self.plain {
            out.insert("nullable".to_owned(), Value::Bool(true));
        }
    }

    /// A union within takes the mark into its branches.
    fn nullable_branch(&self, branch: &mut Value) {
        match branch.get_mut("anyOf") {
            Some(Value::Array(inner)) => inner.iter_mut().for_each(|branch| self.nullable_branch(branch)),
            _ => {
                if let Value::Object(map) = branch {
                    self.nullable(map);
                }
            }
        }
    }

    fn with_format(
        &self,
        mut out: Map<String, Value>,
        map: &Map<String, Value>,
        known: &[&str],
    ) -> Map<String, Value> {
        let format = map.get("format").and_then(Value::as_str);
        if let Some(format) = format.filter(|format| known.contains(format) && !self.plain) {
            out.insert("format".to_owned(), json!(format));
        }
        out
    }

    /// Bounds; one that is itself excluded moves by one, where that is exact.
    fn with_bounds(
        &self,
        mut out: Map<String, Value>,
        map: &Map<String, Value>,
        whole: bool,
    ) -> Map<String, Value> {
        if self.plain {
            return out;
        }
        for (bound, excluded, step) in [
            ("minimum", "exclusiveMinimum", 1),
            ("maximum", "exclusiveMaximum", -1),
        ] {
            let next = |value: &Value| match (whole, value.as_i64()) {
                (true, Some(value)) => value.checked_add(step).map(Number::from),
                (true, None) => None,
                (false, _) => value.as_number().cloned(),
            };
            let number = match map.get(bound) {
                Some(Value::Number(number)) => Some(number.clone()),
                _ => map.get(excluded).and_then(next),
            };
            if let Some(number) = number {
                out.insert(bound.to_owned(), Value::Number(number));
            }
        }
        out
    }
}

/// A schema that is not written out further: a type, and nothing of what is within.
fn cut(map: &Map<String, Value>) -> Value {
    let known = ["string", "integer", "number", "boolean", "array"];
    let kind = map.get("type").and_then(Value::as_str);
    let kind = kind.filter(|kind| known.contains(kind)).unwrap_or("object");
    let mut out = start(kind, map);
    if kind == "array" {
        out.insert("items".to_owned(), json!({"type": "string"}));
    }
    Value::Object(out)
}

/// Type and description, with which every schema begins.
fn start(kind: &str, map: &Map<String, Value>) -> Map<String, Value> {
    let mut out = Map::new();
    out.insert("type".to_owned(), json!(kind));
    if let Some(description) = description(map) {
        out.insert("description".to_owned(), json!(description));
    }
    out
}

fn description(map: &Map<String, Value>) -> Option<&str> {
    let description = map.get("description").and_then(Value::as_str)?.trim();
    (!description.is_empty()).then_some(description)
}

/// The branches of a union, of several types too.
fn branches(map: &Map<String, Value>) -> Option<Vec<Value>> {
    for key in ["anyOf", "oneOf"] {
        if let Some(Value::Array(branches)) = map.get(key).filter(|branches| *branches != &json!([])) {
            return Some(branches.clone());
        }
    }
    let Some(Value::Array(kinds)) = map.get("type") else {
        return None;
    };
    let branch = |kind: &Value| {
        let mut branch = map.clone();
        branch.retain(|key, _| key != "description");
        branch.insert("type".to_owned(), kind.clone());
        Value::Object(branch)
    };
    Some(kinds.iter().map(branch).collect())
}

/// Adds what is not there yet; properties and required names of both count.
fn merge(into: &mut Map<String, Value>, from: Map<String, Value>) {
    for (key, value) in from {
        match (into.get_mut(&key), value) {
            (Some(Value::Object(own)), Value::Object(more)) if key == "properties" => {
                for (name, property) in more {
                    own.entry(name).or_insert(property);
                }
            }
            (Some(Value::Array(own)), Value::Array(more)) if key == "required" => own.extend(more),
            (Some(_), _) => {}
            (None, value) => {
                into.insert(key, value);
            }
        }
    }
}

/// Lists of texts as one list, when the branches are nothing else.
fn one_list(branches: &[Value]) -> Option<Value> {
    let mut all: Vec<&Value> = Vec::new();
    let mut nullable = false;
    for branch in branches {
        let map = branch
            .as_object()
            .filter(|map| !map.contains_key("description"))?;
        let values = map.get("enum")?.as_array()?;
        nullable |= map.contains_key("nullable");
        all.extend(
            values
                .iter()
                .filter(|value| !all.contains(value))
                .collect::<Vec<_>>(),
        );
    }
    if branches.len() < 2 {
        return None;
    }
    let mut one = json!({"type": "string", "enum": all});
    if nullable {
        one["nullable"] = Value::Bool(true);
    }
    Some(one)
}
