//! Checks arguments against a schema: missing, unknown and mistyped properties, all at once.
//!
//! This is not a JSON schema validator. It knows what tool schemas use, at every level: `type`,
//! `properties`, `required`, `additionalProperties`, `items`, `enum`, `const`, `nullable`, alternatives
//! and references within the schema. What it does not know it lets through, for the tool to judge, such
//! as which keys the patterns of `patternProperties` match.

#[cfg(test)]
mod tests;

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
/// How much work hints are worth: comparing two keys takes the product of their lengths.
const MAX_COMPARING: usize = 4_000_000;

/// Returns everything that is wrong with `arguments`, as sentences for the model: the first 20 faults,
/// in values down to 16 levels.
pub(super) fn arguments(schema: &Value, arguments: &Value) -> Vec<String> {
    if !arguments.is_object() {
        return vec![format!("The arguments must be a JSON object, not {}.", kind(arguments))];
    }
    let mut check = Check { root: schema, left: MAX_VALUES, comparing: MAX_COMPARING };
    let mut faults = Vec::new();
    check.value(&Place::root(), (schema, arguments), &mut faults);
    // The parts of a schema that refer to each other find the same more than once.
    let mut known = HashSet::new();
    let mut faults: Vec<String> = faults.into_iter().map(|it| it.text).collect();
    faults.retain(|it| known.insert(it.clone()));
    if MAX_FAULTS < faults.len() {
        faults.truncate(MAX_FAULTS);
        faults.push("There is more that is wrong.".to_owned());
    }
    faults
}

/// Something that is wrong.
#[derive(Debug)]
struct Fault {
    /// A sentence for the model.
    text: String,
    /// Whether a value is not the only one that its schema allows, by which alternatives are told apart.
    is_tag: bool,
}

impl From<String> for Fault {
    fn from(text: String) -> Self {
        Self { text, is_tag: false }
    }
}

/// One pass over a value.
struct Check<'a> {
    root: &'a Value,
    /// How many values may still be looked at.
    left: usize,
    /// How much may still be compared.
    comparing: usize,
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
    /// `5.0` is an integer too, and everywhere one that is too great to be read as such: whether the tool
    /// takes it is for the tool to say.
    fn is_a(&self, value: &Value, wanted: &str) -> bool {
        /// What no integer that is read as one exceeds.
        const GREAT: f64 = 18_446_744_073_709_551_615.0;
        let is_whole = |it: f64| it.fract() == 0.0 && (1 < self.depth || GREAT <= it.abs());
        is_a(value, wanted) || (wanted == "integer" && value.as_f64().is_some_and(is_whole))
    }
}

impl<'a> Check<'a> {
    /// Adds what is wrong with `value`, which is at `place`, to `faults`.
    fn value(
        &mut self,
        place: &Place,
        (schema, value): (&'a Value, &Value),
        faults: &mut Vec<Fault>,
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
            && let Some(fault) = self.mistyped(place, schema, value)
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
        faults: &mut Vec<Fault>,
    ) {
        let properties = schema.get("properties").and_then(Value::as_object);
        let known = |name: &str| properties.and_then(|it| it.get(name));
        let others = Others::of(schema);
        for name in required(schema).filter(|name| !given.contains_key(*name)) {
            if MAX_FAULTS < faults.len() {
                return;
            }
            let passed = given.keys().map(String::as_str).filter(|it| known(it).is_none());
            let hint = self
                .closest(name, passed.take(MAX_COMPARED))
                .map(|close| format!(" You passed {close:?}; did you mean {name:?}?"))
                .unwrap_or_default();
            faults.push(format!("{:?} is required.{hint}", place.key(name).path).into());
        }
        for (name, value) in given {
            if MAX_FAULTS < faults.len() || self.left == 0 {
                return;
            }
            self.left = self.left.saturating_sub(usize::from(0 < place.nested));
            // Some models pass null for what they leave out.
            let is_left_out =
                0 < place.depth && value.is_null() && !required(schema).any(|it| it == name);
            match (known(name), others) {
                (Some(_), _) if is_left_out => {}
                (Some(property), _) => self.value(&place.key(name), (property, value), faults),
                (None, Others::Unknown) => {
                    faults.push(self.unknown(place, name, properties).into());
                }
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
        faults: &mut Vec<Fault>,
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

    /// Adds what is wrong with the alternative that `value` comes closest to, if it is none of them: one of
    /// its own type, then one whose tags it has, then the one with the fewest faults.
    fn alternatives(
        &mut self,
        place: &Place,
        (schemas, value): (&[&'a Value], &Value),
        faults: &mut Vec<Fault>,
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
            faults.push(must_be(&place.path, &wanted, value).into());
            return;
        }
        let fitting: Vec<bool> = schemas.iter().map(is_of_type).collect();
        let mut closest: Option<(usize, Vec<Fault>)> = None;
        for (schema, fits) in schemas.iter().zip(fitting) {
            if 0 < place.depth && !fits {
                continue;
            }
            let mut own = Vec::new();
            self.value(place, (schema, value), &mut own);
            if own.is_empty() {
                return;
            }
            let tags = own.iter().filter(|it| it.is_tag).count();
            if closest.as_ref().is_none_or(|(most, it)| (tags, own.len()) < (*most, it.len())) {
                closest = Some((tags, own));
            }
        }
        faults.extend(closest.into_iter().flat_map(|(_, own)| own));
    }

    /// Returns the candidate closest to `name`, if one is and so many may still be compared.
    fn closest<'b>(
        &mut self,
        name: &str,
        candidates: impl Iterator<Item = &'b str>,
    ) -> Option<&'b str> {
        let counted = candidates.map_while(|it| {
            let work = name.len().saturating_mul(it.len());
            self.comparing = self.comparing.checked_sub(work)?;
            Some(it)
        });
        closest(name, counted)
    }

    fn mistyped(&mut self, place: &Place, schema: &Value, value: &Value) -> Option<Fault> {
        let (path, wanted) = (&place.path, types(schema));
        if !wanted.is_empty() && !wanted.iter().any(|it| place.is_a(value, it)) {
            return Some(must_be(path, &wanted, value).into());
        }
        let allowed = allowed(schema, value)?;
        let is_allowed = allowed.iter().any(|it| is_same(it, value))
            || (value.is_null() && wanted.contains(&"null"));
        (!is_allowed).then(|| {
            let names = allowed.iter().filter_map(|it| it.as_str());
            let hint = value.as_str().and_then(|value| self.closest(value, names));
            let hint = hint.map(|close| format!(" Did you mean {close:?}?")).unwrap_or_default();
            let is_tag = allowed.len() == 1;
            let allowed: Vec<String> = allowed.iter().map(ToString::to_string).collect();
            let value = shown(value.to_string());
            let text =
                format!("{path:?} must be one of {}, not {value}.{hint}", allowed.join(", "));
            Fault { text, is_tag }
        })
    }

    fn unknown(
        &mut self,
        place: &Place,
        name: &str,
        properties: Option<&Map<String, Value>>,
    ) -> String {
        let known = || properties.into_iter().flat_map(Map::keys).map(String::as_str);
        let hint = self.closest(name, known());
        let hint = hint.map(|close| format!(" Did you mean {close:?}?")).unwrap_or_default();
        let known = known().collect::<Vec<_>>().join(", ");
        let path = place.key(name).path;
        if place.depth == 0 {
            return format!("{path:?} is not an argument.{hint} The arguments are: {known}.");
        }
        format!("{path:?} is not known.{hint} Known there are: {known}.")
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

/// Returns whether two values are the same, numbers however they are written.
fn is_same(one: &Value, other: &Value) -> bool {
    let is_float = one.is_f64() || other.is_f64();
    one == other || (is_float && one.is_number() && one.as_f64() == other.as_f64())
}

fn must_be(path: &str, wanted: &[&str], value: &Value) -> String {
    format!("{path:?} must be {}, not {}.", wanted.join(" or "), kind(value))
}

/// Returns the values that `schema` lists, if it lists them, itself or as alternatives, and `value` is not
/// null where an alternative allows that.
fn allowed<'a>(schema: &'a Value, value: &Value) -> Option<Vec<&'a Value>> {
    if value.is_null() && schema.get("nullable") == Some(&Value::Bool(true)) {
        return None;
    }
    if let Some(one) = schema.get("const") {
        return Some(vec![one]);
    }
    if let Some(listed) = schema.get("enum").and_then(Value::as_array) {
        return Some(listed.iter().collect());
    }
    let one_of = list(schema, "oneOf").chain(list(schema, "anyOf"));
    let each: Option<Vec<Vec<&Value>>> = one_of.map(|it| allowed(it, value)).collect();
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
