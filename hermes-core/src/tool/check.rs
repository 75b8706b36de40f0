//! Checks arguments against a schema: missing, unknown and mistyped properties, all at once.
//!
//! This is not a JSON schema validator. It knows what tool schemas use at their top level, and what
//! it does not know it lets through, for the tool to judge.

use serde_json::{Map, Value};

/// Returns everything that is wrong with `arguments`, as sentences for the model.
pub(super) fn arguments(schema: &Value, arguments: &Value) -> Vec<String> {
    let Some(given) = arguments.as_object() else {
        return vec![format!("The arguments must be a JSON object, not {}.", kind(arguments))];
    };
    let empty = Map::new();
    let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&empty);
    let missing = required(schema).filter(|name| !given.contains_key(*name)).map(|name| {
        let hint = closest(
            name,
            given.keys().map(String::as_str).filter(|it| !properties.contains_key(*it)),
        )
        .map(|close| format!(" You passed {close:?}; did you mean {name:?}?"))
        .unwrap_or_default();
        format!("{name:?} is required.{hint}")
    });
    let wrong = given.iter().filter_map(|(name, value)| match properties.get(name) {
        Some(property) => mistyped(name, property, value),
        None => unknown(name, schema, properties),
    });
    missing.chain(wrong).collect()
}

/// Returns the candidate closest to `name`, if one is close enough to be meant.
pub(crate) fn closest<'a>(
    name: &str,
    candidates: impl Iterator<Item = &'a str>,
) -> Option<&'a str> {
    const CLOSE_ENOUGH: f64 = 0.7;
    // Nobody mistypes a text that long, and comparing takes the product of the lengths.
    const MAX_LEN: usize = 128;
    if MAX_LEN < name.len() {
        return None;
    }
    let fold = |text: &str| text.to_lowercase().replace(['-', ' '], "_");
    let name = fold(name);
    candidates
        .filter(|candidate| candidate.len() <= MAX_LEN)
        .map(|candidate| {
            (strsim::normalized_damerau_levenshtein(&name, &fold(candidate)), candidate)
        })
        .filter(|(score, _)| CLOSE_ENOUGH <= *score)
        .max_by(|(left, _), (right, _)| left.total_cmp(right))
        .map(|(_, candidate)| candidate)
}

/// Returns what the model wrote in so many characters as it takes to know it again.
pub(super) fn shown(text: String) -> String {
    const MAX_CHARS: usize = 100;
    match text.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

fn required(schema: &Value) -> impl Iterator<Item = &str> {
    schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

fn unknown(name: &str, schema: &Value, properties: &Map<String, Value>) -> Option<String> {
    let is_closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
    is_closed.then(|| {
        let hint = closest(name, properties.keys().map(String::as_str))
            .map(|close| format!(" Did you mean {close:?}?"))
            .unwrap_or_default();
        let known: Vec<&str> = properties.keys().map(String::as_str).collect();
        let name = shown(format!("{name:?}"));
        format!("{name} is not an argument.{hint} The arguments are: {}.", known.join(", "))
    })
}

fn mistyped(name: &str, property: &Value, value: &Value) -> Option<String> {
    let wanted = types(property);
    if !wanted.is_empty() && !wanted.iter().any(|it| is_a(value, it)) {
        return Some(format!("{name:?} must be {}, not {}.", wanted.join(" or "), kind(value)));
    }
    let allowed = property.get("enum").and_then(Value::as_array)?;
    let is_allowed = allowed.contains(value) || (value.is_null() && wanted.contains(&"null"));
    (!is_allowed).then(|| {
        let allowed: Vec<String> = allowed.iter().map(Value::to_string).collect();
        let value = shown(value.to_string());
        format!("{name:?} must be one of {}, not {value}.", allowed.join(", "))
    })
}

fn types(property: &Value) -> Vec<&str> {
    match property.get("type") {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(many)) => many.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

fn is_a(value: &Value, wanted: &str) -> bool {
    match wanted {
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "null" => value.is_null(),
        _ => true,
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(given: &Value, expected: &[&str]) {
        let schema = json!({
            "type": "object",
            "properties": {
                "path": {"type": "string"},
                "limit": {"type": ["integer", "null"]},
                "mode": {"type": "string", "enum": ["fast", "slow"]},
            },
            "required": ["path"],
            "additionalProperties": false,
        });
        assert_eq!(arguments(&schema, given), expected);
    }

    #[test]
    fn right_arguments_pass() {
        check(&json!({"path": "a", "limit": null, "mode": "fast"}), &[]);
    }

    #[test]
    fn everything_wrong_is_listed() {
        check(
            &json!({"limit": "3", "mode": "quick", "paht": "a"}),
            &[
                "\"path\" is required. You passed \"paht\"; did you mean \"path\"?",
                "\"limit\" must be integer or null, not string.",
                "\"mode\" must be one of \"fast\", \"slow\", not \"quick\".",
                "\"paht\" is not an argument. Did you mean \"path\"? The arguments are: limit, mode, path.",
            ],
        );
    }

    #[test]
    fn what_the_model_wrote_is_shown_in_part() {
        let long = "x".repeat(100_000);

        let wrong = arguments(
            &json!({"properties": {"mode": {"enum": [1]}}, "additionalProperties": false}),
            &json!({"mode": long, long.clone(): 1}),
        );

        assert_eq!(wrong.len(), 2);
        assert!(wrong.iter().all(|it| it.len() < 300), "{wrong:?}");
        assert_eq!(closest(&long, ["x"].into_iter()), None);
    }

    #[test]
    fn arguments_must_be_an_object() {
        check(&json!([1]), &["The arguments must be a JSON object, not array."]);
    }
}
