//! Tool schemas with only what endpoints take.

use serde_json::{Map, Value, json};

/// Returns `schema` as an object schema that endpoints take.
///
/// `null` among several types becomes `nullable`, combinators at the top go, `required` names only
/// properties that exist, and what is no object schema becomes one without properties.
pub(crate) fn accepted(schema: &Value) -> Value {
    let Value::Object(schema) = schema else { return json!({"type": "object", "properties": {}}) };
    let mut schema = schema.clone();
    for key in ["$schema", "title", "anyOf", "oneOf", "allOf", "enum", "not"] {
        schema.remove(key);
    }
    schema.insert("type".to_owned(), Value::from("object"));
    clean(&mut schema);
    Value::Object(schema)
}

fn clean(schema: &mut Map<String, Value>) {
    single_type(schema);
    collapse(schema, "anyOf");
    collapse(schema, "oneOf");
    if schema.get("type").and_then(Value::as_str) == Some("object") {
        let properties = schema.entry("properties").or_insert_with(|| json!({}));
        if !properties.is_object() {
            *properties = json!({});
        }
        prune_required(schema);
    }
    for (key, value) in schema.iter_mut() {
        match (key.as_str(), value) {
            ("properties" | "$defs" | "definitions" | "patternProperties", Value::Object(all)) => {
                all.values_mut().for_each(clean_value);
            }
            (
                "items" | "additionalProperties" | "anyOf" | "oneOf" | "allOf" | "prefixItems",
                value,
            ) => {
                clean_value(value);
            }
            _ => {}
        }
    }
}

fn clean_value(value: &mut Value) {
    match value {
        Value::Object(schema) => clean(schema),
        Value::Array(schemas) => schemas.iter_mut().for_each(clean_value),
        Value::String(name) if is_type(name) => *value = json!({ "type": name }),
        _ => {}
    }
}

fn is_type(name: &str) -> bool {
    matches!(name, "object" | "array" | "string" | "number" | "integer" | "boolean" | "null")
}

/// Makes `"type": ["string", "null"]` into `"type": "string", "nullable": true`.
fn single_type(schema: &mut Map<String, Value>) {
    let Some(Value::Array(types)) = schema.get("type") else { return };
    let others: Vec<Value> = types.iter().filter(|it| *it != "null").cloned().collect();
    if let [one] = others.as_slice() {
        let is_nullable = others.len() < types.len();
        schema.insert("type".to_owned(), one.clone());
        if is_nullable {
            schema.insert("nullable".to_owned(), Value::Bool(true));
        }
    }
}

/// Makes a choice between one schema and `null` into that schema, nullable.
fn collapse(schema: &mut Map<String, Value>, key: &str) {
    let Some(Value::Array(choices)) = schema.get(key) else { return };
    let is_null = |it: &&Value| it.get("type").and_then(Value::as_str) == Some("null");
    let others: Vec<Value> = choices.iter().filter(|it| !is_null(it)).cloned().collect();
    let has_null = others.len() < choices.len();
    let [Value::Object(only)] = others.as_slice() else { return };
    if !has_null || only.contains_key("$ref") {
        return;
    }
    schema.remove(key);
    for (name, value) in only {
        schema.entry(name.clone()).or_insert_with(|| value.clone());
    }
    schema.insert("nullable".to_owned(), Value::Bool(true));
}

fn prune_required(schema: &mut Map<String, Value>) {
    let properties = schema.get("properties").and_then(Value::as_object);
    let names: Vec<String> = properties.map(|it| it.keys().cloned().collect()).unwrap_or_default();
    let Some(Value::Array(required)) = schema.get_mut("required") else { return };
    required.retain(|it| it.as_str().is_some_and(|it| names.iter().any(|name| name == it)));
    if required.is_empty() {
        schema.remove("required");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn null_becomes_nullable() {
        let schema = json!({
            "type": "object",
            "properties": {
                "a": {"type": ["string", "null"]},
                "b": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": null},
                "c": {"type": "object"}
            },
            "required": ["a", "zz"]
        });

        assert_eq!(
            accepted(&schema),
            json!({
                "type": "object",
                "properties": {
                    "a": {"type": "string", "nullable": true},
                    "b": {"type": "integer", "nullable": true, "default": null},
                    "c": {"type": "object", "properties": {}}
                },
                "required": ["a"]
            })
        );
    }

    #[test]
    fn what_is_no_object_becomes_one() {
        let empty = json!({"type": "object", "properties": {}});

        assert_eq!(accepted(&json!("object")), empty);
        assert_eq!(accepted(&json!({"anyOf": [{"type": "string"}]})), empty);
        assert_eq!(accepted(&json!({"type": "object", "properties": null})), empty);
    }

    #[test]
    fn a_property_may_be_called_like_a_keyword() {
        let schema = json!({
            "type": "object",
            "properties": {"title": {"type": "string"}, "enum": {"type": "array", "items": "string"}}
        });

        let accepted = accepted(&schema);

        assert_eq!(accepted["properties"]["title"], json!({"type": "string"}));
        assert_eq!(accepted["properties"]["enum"]["items"], json!({"type": "string"}));
    }
}
