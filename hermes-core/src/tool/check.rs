//! Checks arguments against a schema: missing, unknown and mistyped properties, all at once.
//!
//! This is not a JSON schema validator. It knows what tool schemas use, at every level: `type`,
//! `properties`, `required`, `additionalProperties`, `items`, `enum`, `const`, `nullable`, alternatives
//! and references within the schema. What it does not know it lets through, for the tool to judge, such
//! as which keys the patterns of `patternProperties` match.

use std::collections::HashSet;

use serde_json::{Map, Value};

/// The most faults that are listed.
const MAX_FAULTS: usize = 20;
/// How deep values are looked into.
const MAX_DEPTH: usize = 16;
/// How many alternatives within alternatives are followed for one value.
const MAX_NESTED: usize = 8;
/// How many values are looked at, those of alternatives each time; the rest is let through.
const MAX_VALUES: usize = 50_000;
/// How many of the keys that were passed are compared with one that is missing.
const MAX_COMPARED: usize = 64;

/// Returns everything that is wrong with `arguments`, as sentences for the model: the first 20 faults,
/// in values down to 16 levels.
pub(super) fn arguments(schema: &Value, arguments: &Value) -> Vec<String> {
    if !arguments.is_object() {
        return vec![format!("The arguments must be a JSON object, not {}.", kind(arguments))];
    }
    let mut check = Check { root: schema, left: MAX_VALUES };
    let mut faults = Vec::new();
    check.value(&Place::root(), (schema, arguments), &mut faults);
    // The parts of a schema that refer to each other find the same more than once.
    let mut known = HashSet::new();
    faults.retain(|it| known.insert(it.clone()));
    if MAX_FAULTS < faults.len() {
        faults.truncate(MAX_FAULTS);
        faults.push("There is more that is wrong.".to_owned());
    }
    faults
}

/// One pass over a value.
struct Check<'a> {
    root: &'a Value,
    /// How many values may still be looked at.
    left: usize,
}

/// Where a value stands in the arguments.
#[derive(Clone, Debug)]
struct Place {
    /// Such as `edits[2].old`; empty for all of them.
    path: String,
    depth: usize,
    /// Within how many alternatives its schema stands, counted from the schema of this place.
    nested: usize,
}

impl Place {
    fn root() -> Self {
        Self { path: String::new(), depth: 0, nested: 0 }
    }

    fn is_too_deep(&self) -> bool {
        MAX_DEPTH < self.depth || MAX_NESTED < self.nested
    }

    fn key(&self, name: &str) -> Self {
        let name = shown(name.to_owned());
        let path = if self.depth == 0 { name } else { format!("{}.{name}", self.path) };
        Self { path, depth: self.depth.saturating_add(1), nested: 0 }
    }

    fn item(&self, at: usize) -> Self {
        let path = format!("{}[{at}]", self.path);
        Self { path, depth: self.depth.saturating_add(1), nested: 0 }
    }

    /// Returns the same place as an alternative of its schema sees it.
    fn alternative(&self) -> Self {
        Self { nested: self.nested.saturating_add(1), ..self.clone() }
    }

    /// Returns whether `value`, which is here, is of the type `wanted`. Below the arguments themselves
    /// `5.0` is an integer too: whether the tool takes it is for the tool to say.
    fn is_a(&self, value: &Value, wanted: &str) -> bool {
        let is_whole = || value.as_f64().is_some_and(|it| it.fract() == 0.0);
        is_a(value, wanted) || (1 < self.depth && wanted == "integer" && is_whole())
    }
}

impl<'a> Check<'a> {
    /// Adds what is wrong with `value`, which is at `place`, to `faults`.
    fn value(
        &mut self,
        place: &Place,
        (schema, value): (&'a Value, &Value),
        faults: &mut Vec<String>,
    ) {
        if self.left == 0 || place.is_too_deep() || MAX_FAULTS < faults.len() {
            return;
        }
        self.left = self.left.saturating_sub(1);
        if self.takes_null(schema, value) {
            return;
        }
        let schema = self.resolved(schema);
        if 0 < place.depth
            && let Some(fault) = mistyped(place, schema, value)
        {
            faults.push(fault);
            return;
        }
        match value {
            Value::Object(given) => self.object(place, (schema, given), faults),
            Value::Array(items) => self.items(place, (schema, items), faults),
            _ => {}
        }
        let place = place.alternative();
        for part in list(schema, "allOf") {
            self.value(&place, (part, value), faults);
        }
        for keyword in ["anyOf", "oneOf"] {
            let each: Vec<&Value> = list(schema, keyword).collect();
            self.alternatives(&place, (&each, value), faults);
        }
    }

    /// Returns whether `value` is null and `schema`, or what it refers to, says that it may be.
    fn takes_null(&self, schema: &Value, value: &Value) -> bool {
        let is_nullable = |it: &Value| it.get("nullable") == Some(&Value::Bool(true));
        value.is_null() && (is_nullable(schema) || is_nullable(self.resolved(schema)))
    }

    fn object(
        &mut self,
        place: &Place,
        (schema, given): (&'a Value, &Map<String, Value>),
        faults: &mut Vec<String>,
    ) {
        let properties = schema.get("properties").and_then(Value::as_object);
        let known = |name: &str| properties.and_then(|it| it.get(name));
        let others = Others::of(schema);
        for name in required(schema).filter(|name| !given.contains_key(*name)) {
            if MAX_FAULTS < faults.len() {
                return;
            }
            let passed = given.keys().map(String::as_str).filter(|it| known(it).is_none());
            let hint = closest(name, passed.take(MAX_COMPARED))
                .map(|close| format!(" You passed {close:?}; did you mean {name:?}?"))
                .unwrap_or_default();
            faults.push(format!("{:?} is required.{hint}", place.key(name).path));
        }
        for (name, value) in given {
            if MAX_FAULTS < faults.len() || self.left == 0 {
                return;
            }
            // Some models pass null for what they leave out.
            let is_left_out =
                0 < place.depth && value.is_null() && !required(schema).any(|it| it == name);
            match (known(name), others) {
                (Some(_), _) if is_left_out => {}
                (Some(property), _) => self.value(&place.key(name), (property, value), faults),
                (None, Others::Unknown) => faults.push(unknown(place, name, properties)),
                (None, Others::Like(other)) => {
                    self.value(&place.key(name), (other, value), faults);
                }
                (None, Others::Any) => {}
            }
        }
    }

    fn items(
        &mut self,
        place: &Place,
        (schema, items): (&'a Value, &[Value]),
        faults: &mut Vec<String>,
    ) {
        let each = schema.get("items").filter(|it| it.is_object());
        let mut first = list(schema, "prefixItems");
        for (at, item) in items.iter().enumerate() {
            let Some(schema) = first.next().or(each) else { return };
            if MAX_FAULTS < faults.len() || self.left == 0 {
                return;
            }
            self.value(&place.item(at), (schema, item), faults);
        }
    }

    /// Adds what is wrong with the alternative that `value` comes closest to, if it is none of them.
    fn alternatives(
        &mut self,
        place: &Place,
        (schemas, value): (&[&'a Value], &Value),
        faults: &mut Vec<String>,
    ) {
        let is_of_type = |schema: &&Value| {
            let types = types(self.resolved(schema));
            let fits = types.is_empty() || types.iter().any(|it| place.is_a(value, it));
            fits || self.takes_null(schema, value)
        };
        if 0 < place.depth && !schemas.is_empty() && !schemas.iter().any(is_of_type) {
            let each = schemas.iter().flat_map(|it| types(self.resolved(it)));
            let mut wanted: Vec<&str> = each.collect();
            wanted.dedup();
            faults.push(must_be(&place.path, &wanted, value));
            return;
        }
        let mut closest: Option<Vec<String>> = None;
        for schema in schemas {
            let mut own = Vec::new();
            self.value(place, (schema, value), &mut own);
            if own.is_empty() {
                return;
            }
            if closest.as_ref().is_none_or(|it| own.len() < it.len()) {
                closest = Some(own);
            }
        }
        faults.extend(closest.into_iter().flatten());
    }

    /// Returns the schema that `schema` refers to, itself if it refers to none.
    fn resolved(&self, mut schema: &'a Value) -> &'a Value {
        for _ in 0..MAX_DEPTH {
            let reference = schema.get("$ref").and_then(Value::as_str);
            let Some(pointer) = reference.and_then(|it| it.strip_prefix('#')) else { break };
            let Some(target) = self.root.pointer(pointer) else { break };
            schema = target;
        }
        schema
    }
}

/// What an object's schema says of the keys that it does not name.
#[derive(Clone, Copy, Debug)]
enum Others<'a> {
    /// There are none.
    Unknown,
    /// Their values are like this.
    Like(&'a Value),
    /// Nothing, or nothing that can be told without matching patterns.
    Any,
}

impl<'a> Others<'a> {
    fn of(schema: &'a Value) -> Self {
        let patterns = schema.get("patternProperties").and_then(Value::as_object);
        let mut like = patterns.into_iter().flat_map(Map::values);
        match (schema.get("additionalProperties"), like.next(), like.next()) {
            (Some(Value::Bool(false)), None, _) => Self::Unknown,
            // Whatever the one pattern does not match would be wrong in any case.
            (Some(Value::Bool(false)), Some(only), None) => Self::Like(only),
            (Some(other), None, _) => Self::Like(other),
            _ => Self::Any,
        }
    }
}

/// Returns the schemas that `keyword` of `schema` lists.
fn list<'a>(schema: &'a Value, keyword: &str) -> impl Iterator<Item = &'a Value> + use<'a> {
    schema.get(keyword).and_then(Value::as_array).into_iter().flatten()
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
    list(schema, "required").filter_map(Value::as_str)
}

fn unknown(place: &Place, name: &str, properties: Option<&Map<String, Value>>) -> String {
    let known = || properties.into_iter().flat_map(Map::keys).map(String::as_str);
    let hint =
        closest(name, known()).map(|close| format!(" Did you mean {close:?}?")).unwrap_or_default();
    let known = known().collect::<Vec<_>>().join(", ");
    let path = place.key(name).path;
    if place.depth == 0 {
        return format!("{path:?} is not an argument.{hint} The arguments are: {known}.");
    }
    format!("{path:?} is not known.{hint} Known there are: {known}.")
}

fn mistyped(place: &Place, schema: &Value, value: &Value) -> Option<String> {
    let (path, wanted) = (&place.path, types(schema));
    if !wanted.is_empty() && !wanted.iter().any(|it| place.is_a(value, it)) {
        return Some(must_be(path, &wanted, value));
    }
    let allowed = allowed(schema)?;
    let is_allowed = allowed.contains(&value) || (value.is_null() && wanted.contains(&"null"));
    (!is_allowed).then(|| {
        let names = allowed.iter().filter_map(|it| it.as_str());
        let hint = value.as_str().and_then(|value| closest(value, names));
        let hint = hint.map(|close| format!(" Did you mean {close:?}?")).unwrap_or_default();
        let allowed: Vec<String> = allowed.iter().map(ToString::to_string).collect();
        let value = shown(value.to_string());
        format!("{path:?} must be one of {}, not {value}.{hint}", allowed.join(", "))
    })
}

fn must_be(path: &str, wanted: &[&str], value: &Value) -> String {
    format!("{path:?} must be {}, not {}.", wanted.join(" or "), kind(value))
}

/// Returns the values that `schema` lists, if it lists them: itself or as alternatives.
fn allowed(schema: &Value) -> Option<Vec<&Value>> {
    if let Some(one) = schema.get("const") {
        return Some(vec![one]);
    }
    if let Some(listed) = schema.get("enum").and_then(Value::as_array) {
        return Some(listed.iter().collect());
    }
    let one_of = list(schema, "oneOf").chain(list(schema, "anyOf"));
    let each: Option<Vec<Vec<&Value>>> = one_of.map(allowed).collect();
    each.filter(|it| !it.is_empty()).map(|it| it.into_iter().flatten().collect())
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

    /// A schema as it is made of nested types.
    fn edits() -> Value {
        json!({
            "type": "object",
            "properties": {
                "edits": {"type": "array", "items": {"$ref": "#/$defs/Edit"}},
                "note": {"anyOf": [{"$ref": "#/$defs/Note"}, {"type": "null"}]},
            },
            "required": ["edits"],
            "$defs": {
                "Edit": {
                    "type": "object",
                    "properties": {
                        "old": {"type": "string"},
                        "new": {"type": "string"},
                        "line": {"type": ["integer", "null"]},
                        "how": {"oneOf": [{"const": "first"}, {"const": "every"}]},
                        "then": {"type": "array", "items": {"$ref": "#/$defs/Edit"}},
                    },
                    "required": ["old", "new"],
                    "additionalProperties": false,
                },
                "Note": {
                    "oneOf": [
                        {
                            "type": "object",
                            "properties": {"kind": {"const": "text"}, "text": {"type": "string"}},
                            "required": ["kind", "text"],
                        },
                        {
                            "type": "object",
                            "properties": {"kind": {"const": "page"}, "page": {"type": "integer"}},
                            "required": ["kind", "page"],
                        },
                    ],
                },
            },
        })
    }

    #[test]
    fn everything_wrong_at_every_level_is_listed_with_its_place() {
        let given = json!({
            "edits": [
                {"old": "a", "new": "b", "how": "every", "line": null, "then": []},
                {"oldd": "a", "new": 1, "line": "2", "how": "evry"},
                7,
                {"old": "a", "new": "b", "then": [{"old": "a", "new": "b"}, {"old": ["a"]}]},
            ],
            "note": {"kind": "page", "page": "3"},
        });

        assert_eq!(
            arguments(&edits(), &given),
            [
                "\"edits[1].old\" is required. You passed \"oldd\"; did you mean \"old\"?",
                "\"edits[1].how\" must be one of \"first\", \"every\", not \"evry\". Did you mean \"every\"?",
                "\"edits[1].line\" must be integer or null, not string.",
                "\"edits[1].new\" must be string, not number.",
                "\"edits[1].oldd\" is not known. Did you mean \"old\"? Known there are: how, line, new, old, then.",
                "\"edits[2]\" must be object, not number.",
                "\"edits[3].then[1].new\" is required.",
                "\"edits[3].then[1].old\" must be string, not array.",
                "\"note.page\" must be integer, not string.",
            ]
        );
        let note = json!({"edits": [], "note": "a"});
        assert_eq!(arguments(&edits(), &note), ["\"note\" must be object, not string."]);
    }

    #[test]
    fn what_fits_at_every_level_passes() {
        let edit = json!({"old": "a", "new": "b", "line": 1, "how": "first", "then": null});
        for note in
            [json!(null), json!({"kind": "text", "text": "x"}), json!({"kind": "page", "page": 1})]
        {
            let given = json!({"edits": [edit], "note": note});
            assert_eq!(arguments(&edits(), &given), [""; 0], "{given}");
        }
    }

    #[test]
    fn faults_are_listed_up_to_a_limit() {
        let given = json!({"edits": vec![json!({"x": 1}); 30_000]});
        let keys: Map<String, Value> =
            (0..30_000).map(|at| (format!("key{at}"), json!(at))).collect();
        let many = json!({"edits": [Value::Object(keys)]});

        for given in [given, many] {
            let faults = arguments(&edits(), &given);

            assert_eq!(faults.len(), 21);
            assert_eq!(faults[20], "There is more that is wrong.");
        }
    }

    #[test]
    fn no_schema_and_no_value_takes_for_ever() {
        let turn = json!({"anyOf": [{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/B"}]});
        let each = |name: &str| {
            json!({
                "type": "object",
                "properties": {"x": turn, name: {"type": "integer"}},
                "required": [name],
            })
        };
        let schema = json!({
            "properties": {"x": turn, "loop": {"$ref": "#/properties/loop"}},
            "$defs": {"A": each("a"), "B": each("b")},
        });
        let mut deep = json!({"c": 1});
        for _ in 0..100 {
            deep = json!({"x": deep});
        }

        assert!(arguments(&schema, &json!({"x": deep, "loop": 1})).len() <= 21);
    }

    #[test]
    fn a_schema_that_is_part_of_itself_ends() {
        let of_itself = json!({
            "allOf": [{"$ref": "#"}],
            "properties": {"a": {"type": "string"}},
            "required": ["b"],
        });
        let either = json!({
            "properties": {"a": {"$ref": "#/$defs/A"}},
            "$defs": {"A": {"anyOf": [{"$ref": "#/$defs/A"}, {"type": "string"}]}},
        });
        let deep: Map<String, Value> = (0..10_000)
            .map(|at| {
                (format!("D{at}"), json!({"allOf": [{"$ref": format!("#/$defs/D{}", at + 1)}]}))
            })
            .collect();
        let deep = json!({"$ref": "#/$defs/D0", "$defs": deep});

        assert_eq!(
            arguments(&of_itself, &json!({"a": 1})),
            ["\"b\" is required.", "\"a\" must be string, not number."]
        );
        for value in [json!("a"), json!(1), json!({"a": {"a": [1]}})] {
            assert_eq!(arguments(&either, &json!({"a": value})), [""; 0]);
        }
        assert_eq!(arguments(&deep, &json!({"a": 1})), [""; 0]);
    }

    #[test]
    fn keys_that_a_pattern_may_match_are_let_through_and_their_values_checked() {
        let schema = json!({
            "properties": {
                "one": {
                    "type": "object",
                    "properties": {"named": {"type": "boolean"}},
                    "patternProperties": {"^\\d+$": {"type": "string"}},
                    "additionalProperties": false,
                },
                "many": {
                    "patternProperties": {"^a": {"type": "string"}, "^b": {"type": "integer"}},
                    "additionalProperties": false,
                },
                "open": {
                    "patternProperties": {"^a": {"type": "string"}},
                    "additionalProperties": {"type": "integer"},
                },
                "none": {"patternProperties": {}, "additionalProperties": false},
            },
        });
        let right = json!({
            "one": {"1": "a", "named": true}, "many": {"a": "a", "b": 1}, "open": {"a": "a", "c": 1},
        });
        let wrong = json!({"one": {"1": 1, "named": 1}, "none": {"a": 1}});

        assert_eq!(arguments(&schema, &right), [""; 0]);
        assert_eq!(
            arguments(&schema, &wrong),
            [
                "\"none.a\" is not known. Known there are: .",
                "\"one.1\" must be string, not number.",
                "\"one.named\" must be boolean, not number.",
            ]
        );
    }

    #[test]
    fn null_is_let_through_where_it_is_allowed() {
        let schema = json!({
            "properties": {
                "plain": {"items": {"type": "string"}},
                "lines": {"items": {"type": "string", "nullable": true}},
                "modes": {"items": {"$ref": "#/$defs/Mode", "nullable": true}},
                "other": {"items": {"anyOf": [{"type": "string", "nullable": true}]}},
                "whole": {"items": {"nullable": true, "allOf": [{"$ref": "#/$defs/Mode"}]}},
            },
            "$defs": {"Mode": {"type": "string", "enum": ["fast"]}},
        });
        for key in ["lines", "modes", "other", "whole"] {
            assert_eq!(arguments(&schema, &json!({key: ["fast", null]})), [""; 0], "{key}");
            assert_eq!(arguments(&schema, &json!({key: [1]})).len(), 1, "{key}");
        }
        assert_eq!(
            arguments(&schema, &json!({"plain": [null]})),
            ["\"plain[0]\" must be string, not null."]
        );
    }

    #[test]
    fn a_nested_whole_number_is_an_integer_however_it_is_written() {
        let schema = json!({
            "properties": {
                "lines": {"items": {"type": "integer"}},
                "maybe": {"items": {"anyOf": [{"type": "integer"}, {"type": "null"}]}},
                "line": {"type": "integer"},
            },
        });

        assert_eq!(arguments(&schema, &json!({"lines": [5, 5.0, -1e3], "maybe": [5.0]})), [""; 0]);
        assert_eq!(
            arguments(&schema, &json!({"lines": [5.5], "maybe": [5.5], "line": 5.0})),
            [
                "\"line\" must be integer, not number.",
                "\"lines[0]\" must be integer, not number.",
                "\"maybe[0]\" must be integer or null, not number.",
            ]
        );
    }
}
