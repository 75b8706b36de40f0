//! The `frontmatter` family: reading and checking the head of a `SKILL.md`.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a vector that is not as described is a defect"
)]

use std::{collections::HashMap, fmt::Write as _, fs, path::Path};

use hermes_core::skill::{Category, SkillFile, SkillName};
use hermes_skills::frontmatter::{SkillDoc, SkillDocError};
use serde_json::{Map, Value};

/// Compares every vector of `dir/frontmatter.jsonl` and returns the line of figures, after up to
/// `show` differing vectors.
pub(crate) fn run(dir: &Path, show: usize) -> String {
    let path = dir.join("frontmatter.jsonl");
    let Ok(text) = fs::read_to_string(&path) else {
        return format!("oracle frontmatter absent ({})", path.display());
    };
    let mut score = Score { show, ..Score::default() };
    for line in text.lines() {
        let vector: Value = serde_json::from_str(line).expect("a line of JSON");
        score.count(&vector, &compare(&vector));
    }
    score.line()
}

#[derive(Default)]
struct Score {
    equal: usize,
    excepted: usize,
    different: usize,
    show: usize,
    shown: String,
}

impl Score {
    fn count(&mut self, vector: &Value, differences: &[Difference]) {
        let id = vector["id"].as_str().unwrap_or_default();
        let open: Vec<&Difference> =
            differences.iter().filter(|difference| reason(id, difference).is_none()).collect();
        if differences.is_empty() {
            self.equal += 1;
        } else if open.is_empty() {
            self.excepted += 1;
        } else {
            self.different += 1;
            if self.different <= self.show {
                for Difference { rule, ours, theirs } in open {
                    let _ = writeln!(self.shown, "{id} {rule}\n  ours   {ours}\n  theirs {theirs}");
                }
            }
        }
    }

    fn line(self) -> String {
        let Self { equal, excepted, different, shown, .. } = self;
        let total = equal + excepted + different;
        format!(
            "{shown}oracle frontmatter equal={equal} excepted={excepted} different={different} \
             total={total}"
        )
    }
}

/// One way in which a vector differs, named by the rule that would have to allow it.
struct Difference {
    rule: String,
    ours: String,
    theirs: String,
}

fn compare(vector: &Value) -> Vec<Difference> {
    match vector["validator"].as_str() {
        Some(validator) => compare_validator(validator, vector),
        None => compare_document(vector),
    }
}

fn compare_document(vector: &Value) -> Vec<Difference> {
    let raw = vector["raw"].as_str().expect("raw text");
    let theirs = &vector["parse"];
    let doc = SkillDoc::parse(raw);
    let mut found = Vec::new();
    let mut note = |rule: &str, ours: String, theirs: String| {
        if ours != theirs {
            found.push(Difference { rule: rule.to_owned(), ours, theirs });
        }
    };
    note("body", doc.body.clone(), theirs["body"].as_str().unwrap_or_default().to_owned());
    let ours_failed = doc.used_fallback();
    let theirs_failed = theirs["used_fallback_line_parser"].as_bool().unwrap_or_default();
    note("fallback", ours_failed.to_string(), theirs_failed.to_string());
    let rule = field_rule(&doc, &theirs["frontmatter"]);
    note(rule, Value::Object(doc.metadata.clone()).to_string(), theirs["frontmatter"].to_string());
    let kind = kind(raw, &doc);
    let theirs = vector["validate"]["kind"].as_str().unwrap_or_default().to_owned();
    let tab = if kind == "valid" && raw.contains('\t') { " tab" } else { "" };
    note(&format!("kind {theirs}->{kind}{tab}"), kind.to_owned(), theirs);
    found
}

/// What writing the text gives, in the words of the vectors.
fn kind(raw: &str, doc: &SkillDoc) -> &'static str {
    let dir_name = doc.name.as_deref().unwrap_or("demo");
    match SkillDoc::validate(raw, dir_name) {
        Ok(_) => "valid",
        Err(SkillDocError::Empty) => "empty",
        Err(SkillDocError::TooLong { .. }) => "too_long",
        Err(SkillDocError::NoHead) => "no_open_fence",
        Err(SkillDocError::Unclosed) => "not_closed",
        Err(SkillDocError::Malformed { .. }) => "yaml_error",
        Err(SkillDocError::NotMapping) => "not_mapping",
        Err(SkillDocError::MissingName { .. }) => "missing_name",
        Err(SkillDocError::WrongName { .. }) => "wrong_name",
        Err(SkillDocError::MissingDescription) => "missing_description",
        Err(SkillDocError::DescriptionTooLong { .. }) => "description_too_long",
        Err(SkillDocError::NotText { .. }) => "not_text",
        Err(SkillDocError::BlankBody) => "empty_body",
        Err(_) => "unknown",
    }
}

/// Names the rule by which the fields may differ, or `fields` if there is none.
fn field_rule(doc: &SkillDoc, theirs: &Value) -> &'static str {
    let ours = Value::Object(doc.metadata.clone());
    if without_final_breaks(&ours) == without_final_breaks(theirs) {
        "fields final-break"
    } else if differs_by_version_only(&ours, theirs) {
        "fields yaml-version"
    } else if doc.used_fallback() && keeps_every_word(&ours, theirs) {
        "fields repaired"
    } else {
        "fields"
    }
}

/// Returns the value without line breaks at the ends of texts.
fn without_final_breaks(value: &Value) -> Value {
    match value {
        Value::String(text) => text.trim_end_matches('\n').into(),
        Value::Array(items) => items.iter().map(without_final_breaks).collect(),
        Value::Object(fields) => {
            fields.iter().map(|(key, value)| (key.clone(), without_final_breaks(value))).collect()
        }
        other => other.clone(),
    }
}

/// Whether all differences are scalars that versions of YAML type differently, or keys that are
/// not text in the older one.
fn differs_by_version_only(ours: &Value, theirs: &Value) -> bool {
    if ours == theirs {
        return true;
    }
    match (ours, theirs) {
        (Value::Object(ours), Value::Object(theirs)) => match theirs.get("__map__") {
            Some(Value::Array(pairs)) => same_pairs(ours, pairs),
            _ if is_wrapped(theirs) => false,
            _ => same_fields(ours, theirs),
        },
        (Value::Array(ours), Value::Array(theirs)) => {
            ours.len() == theirs.len()
                && ours
                    .iter()
                    .zip(theirs)
                    .all(|(ours, theirs)| differs_by_version_only(ours, theirs))
        }
        (Value::String(_), Value::Bool(_) | Value::Number(_)) => true,
        (Value::String(_), Value::Object(theirs)) => is_wrapped(theirs),
        (Value::Number(ours), Value::String(theirs)) => {
            theirs.starts_with("0o") || ours.as_f64() == theirs.parse().ok()
        }
        (Value::Number(ours), Value::Number(theirs)) => ours.as_f64() == theirs.as_f64(),
        _ => false,
    }
}

fn same_fields(ours: &Map<String, Value>, theirs: &Map<String, Value>) -> bool {
    ours.len() == theirs.len()
        && ours.iter().all(|(key, ours)| {
            theirs.get(key).is_some_and(|theirs| differs_by_version_only(ours, theirs))
        })
}

/// Compares fields with pairs whose keys need not be text; only the number of such is compared.
fn same_pairs(ours: &Map<String, Value>, theirs: &[Value]) -> bool {
    let texts = theirs.iter().filter_map(|pair| Some((pair[0].as_str()?.to_owned(), &pair[1])));
    ours.len() == theirs.len()
        && texts.into_iter().all(|(key, theirs)| {
            ours.get(&key).is_some_and(|ours| differs_by_version_only(ours, theirs))
        })
}

fn is_wrapped(value: &Map<String, Value>) -> bool {
    ["__date__", "__datetime__", "__int__", "__float__"].iter().any(|key| value.contains_key(*key))
}

/// Whether every word of theirs is among ours: we keep types and nesting where they keep lines.
fn keeps_every_word(ours: &Value, theirs: &Value) -> bool {
    let mut ours = words(ours);
    let theirs = words(theirs);
    theirs.into_iter().all(|(word, count)| count <= ours.remove(&word).unwrap_or_default())
}

fn words(value: &Value) -> HashMap<String, usize> {
    let mut counts = HashMap::new();
    push_words(value, &mut counts);
    counts
}

fn push_words(value: &Value, counts: &mut HashMap<String, usize>) {
    let mut push = |text: &str| {
        for word in text.split(|letter: char| !letter.is_alphanumeric()) {
            if !word.is_empty() {
                *counts.entry(word.to_owned()).or_default() += 1;
            }
        }
    };
    match value {
        Value::Null => {}
        Value::Bool(_) | Value::Number(_) => push(&value.to_string()),
        // A colon of its own after a key is junk that ours leaves out.
        Value::String(text) if text.starts_with(": ") => {}
        Value::String(text) => push(text),
        Value::Array(items) => items.iter().for_each(|item| push_words(item, counts)),
        Value::Object(fields) => {
            for (key, value) in fields.iter().filter(|(key, _)| !key.starts_with('#')) {
                push_words(&Value::String(key.clone()), counts);
                push_words(value, counts);
            }
        }
    }
}

fn compare_validator(validator: &str, vector: &Value) -> Vec<Difference> {
    let input = &vector["input"];
    let text = input.as_str().unwrap_or_default();
    let ours = match validator {
        "name" => text.parse::<SkillName>().is_ok(),
        // No category at all is fine, and so is a blank one.
        "category" => text.trim().is_empty() || text.trim().parse::<Category>().is_ok(),
        "file_path" => text.parse::<SkillFile>().is_ok(),
        _ => takes_size(validator, input),
    };
    let theirs = vector["valid"].as_bool().unwrap_or_default();
    if ours == theirs {
        return Vec::new();
    }
    let rule = if text.contains(char::is_control) {
        "control character"
    } else if text.contains('\\') {
        "backslash"
    } else if text.ends_with('.') {
        "final dot"
    } else if text.ends_with("/SKILL.md") {
        "alias"
    } else {
        "itself"
    };
    let rule = format!("{validator} {theirs}->{ours} {rule}");
    vec![Difference { rule, ours: ours.to_string(), theirs: format!("{theirs} for {text:?}") }]
}

/// Whether a `SKILL.md` of so many characters may be written; the input is a number of them.
fn takes_size(validator: &str, input: &Value) -> bool {
    assert!(validator.starts_with("content_size_chars"), "unknown validator {validator}");
    let chars = input.as_u64().and_then(|chars| usize::try_from(chars).ok()).expect("a number");
    let head = "---\nname: demo\ndescription: d\n---\n";
    let raw = format!("{head}{}", "\u{65e5}".repeat(chars - head.len()));
    SkillDoc::validate(&raw, "demo").is_ok()
}

/// Returns why a difference is right, if it is.
fn reason(id: &str, difference: &Difference) -> Option<&'static str> {
    let is_listed = |(what, _): &&(&str, &str)| *what == id || *what == difference.rule;
    EXCEPTIONS.iter().find(is_listed).map(|(_, reason)| *reason)
}

/// Ids or rules, and why ours differ there.
const EXCEPTIONS: &[(&str, &str)] = &[
    (
        "fields yaml-version",
        "YAML 1.2: yes, 0755, 1:30, 1_000 and dates are text, 1e3 and 0o17 are numbers",
    ),
    ("fields final-break", "the line break before the closing fence belongs to a literal block"),
    ("fields repaired", "broken YAML keeps types and nesting of all fields that are not broken"),
    ("kind valid->missing_name", "a name that is null would make the skill vanish"),
    ("kind valid->missing_description", "without a description no model finds the skill"),
    ("kind valid->not_text", "a name that is a number, or a list as description, is no text"),
    ("kind description_too_long->not_text", "refused either way, for the earlier reason"),
    ("kind yaml_error->no_open_fence", "refused either way; the first line is what is wrong"),
    ("name true->false control character", "a name is one line, without a line break at its end"),
    ("file_path true->false control character", "a path is one line of text"),
    ("file_path true->false backslash", "a backslash separates folders on some systems"),
    ("name true->false final dot", "a folder's name cannot end in a dot on every system"),
    ("category true->false final dot", "a folder's name cannot end in a dot on every system"),
    ("file_path true->false alias", "`<name>/SKILL.md` would make a skill inside the skill"),
    ("kind valid->no_open_fence", "written files begin with a line of just three dashes"),
    ("fm-list-key", "a list as key is dropped with the field, not kept under an empty key"),
    ("fm-very-deep-nest", "500 levels are refused by a limit, not by exhausting the stack"),
    ("fm-set-tag", "a set is read as a mapping without values, as YAML defines it"),
    (
        "kind yaml_error->valid tab",
        "a tab inside a line is valid YAML; the original reads it and refuses to write it",
    ),
    ("fm-indicator-eq", "`=` and `<<` are ordinary text in YAML 1.2"),
];
