//! Reading as much as possible of a frontmatter that is not valid YAML.
//!
//! Nearly always one line is wrong: a colon in an unquoted description, a quote or bracket that is
//! not closed, a line indented with a tab. So the text is cut into entries by indentation, each is
//! parsed by itself, and only what still fails is read by hand. The other fields keep their types
//! and nesting, and a limit such as `platforms` does not fall away because the description is
//! broken.

use serde_json::{Map, Value};

use super::yaml;

/// How deep the search for the broken entry descends; what is nested deeper is read as text.
///
/// Every level parses its part of the text once more, so this also bounds the time.
const MAX_LEVELS: usize = 8;

/// Keys whose values are text.
const TEXT_KEYS: [&str; 4] = ["name", "description", "version", "license"];

/// Keys whose values are lists, so that a bracket that is not closed still gives a list.
const LIST_KEYS: [&str; 8] = [
    "platforms",
    "environments",
    "tags",
    "related_skills",
    "requires_tools",
    "requires_toolsets",
    "fallback_for_tools",
    "fallback_for_toolsets",
];

/// Returns the fields of `text` that can be made out; of two equal keys the later wins.
pub(super) fn fields(text: &str) -> Map<String, Value> {
    let text = text.replace("\r\n", "\n");
    let lines: Vec<&str> = text.split(['\n', '\r']).collect();
    let mut fields = Map::new();
    collect(&lines, MAX_LEVELS, &mut fields);
    fields
}

fn collect(lines: &[&str], levels: usize, fields: &mut Map<String, Value>) {
    let keys = lines.iter().filter(|line| key_and_value(line).is_some());
    let Some(indent) = keys.map(|line| indent_of(line)).min() else { return };
    let starts_entry = |line: &&str| indent_of(line) <= indent && key_and_value(line).is_some();
    let first = lines.iter().position(starts_entry).unwrap_or(lines.len());
    let (slipped, mut rest) = lines.split_at(first);
    if let Some(levels) = levels.checked_sub(1) {
        collect(slipped, levels, fields);
    }
    while let Some((_, tail)) = rest.split_first() {
        let length = 1 + tail.iter().position(starts_entry).unwrap_or(tail.len());
        let (entry, others) = rest.split_at(length);
        match parse_alone(entry) {
            Some(parsed) => fields.extend(parsed),
            None => collect_broken(entry, levels, fields),
        }
        rest = others;
    }
}

/// Parses one entry, its common indentation removed, as a document of its own.
fn parse_alone(entry: &[&str]) -> Option<Map<String, Value>> {
    let margin = entry.first().map(|line| indent_of(line))?;
    let text: Vec<&str> =
        entry.iter().map(|line| line.get(margin.min(indent_of(line))..).unwrap_or("")).collect();
    match yaml::parse_part(&text.join("\n")) {
        Ok(Value::Object(fields)) => Some(fields),
        _ => None,
    }
}

/// Reads an entry that no YAML parser takes: its first line by hand, the lines below it as nested
/// fields, as fields that slipped to the right, or as the continuation of a text.
fn collect_broken(entry: &[&str], levels: usize, fields: &mut Map<String, Value>) {
    let Some((first, below)) = entry.split_first() else { return };
    let Some((key, text)) = key_and_value(first) else { return };
    let margin = indent_of(first);
    let continued = below.iter().map(|line| (indent_of(line), line.trim()));
    let continued = continued
        .filter(|(indent, line)| margin < *indent || line.starts_with("- "))
        .map(|(_, line)| line)
        .filter(|line| has_text(line));
    let below_are_fields =
        continued.clone().next().is_some_and(|line| key_and_value(line).is_some());
    match levels.checked_sub(1).filter(|_| below_are_fields) {
        Some(levels) if is_empty_value(text) => {
            let mut nested = Map::new();
            collect(below, levels, &mut nested);
            fields.insert(key.to_owned(), Value::Object(nested));
        }
        Some(levels) => {
            fields.insert(key.to_owned(), plain_value(key, text));
            collect(below, levels, fields);
        }
        None if text.is_empty() && continued.clone().all(|line| line.starts_with("- ")) => {
            let items = continued.filter_map(|line| line.strip_prefix("- "));
            fields.insert(key.to_owned(), items.map(|it| super::unquote(it.trim())).collect());
        }
        None => {
            let text = continued.fold(text.to_owned(), |text, line| text + " " + line);
            fields.insert(key.to_owned(), plain_value(key, text.trim()));
        }
    }
}

/// Whether a line is more than white space, a comment or a rule.
fn has_text(line: &str) -> bool {
    line.contains(char::is_alphanumeric) && !line.starts_with('#')
}

/// Whether nothing, or nothing but a stray mark, follows the key, so that what is below belongs to it.
fn is_empty_value(text: &str) -> bool {
    text.chars().all(|letter| matches!(letter, '"' | '\'' | '[' | '{' | ':'))
        || text.starts_with(": ")
}

/// Reads a value as text, or as a list where one is due.
fn plain_value(key: &str, text: &str) -> Value {
    let is_closed_list = text.starts_with('[') && text.ends_with(']');
    if is_closed_list || LIST_KEYS.contains(&key) {
        return Value::Array(super::split_list(text).map(Value::String).collect());
    }
    Value::String(super::unquote(text).to_owned())
}

/// Splits `key: value`. A key is one word, so that a sentence with a colon is not taken for one;
/// the space after the colon may be missing after a key that is known.
fn key_and_value(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.trim().split_once(':')?;
    let key = super::unquote(key.trim_end());
    let is_word = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.');
    let is_key = !key.is_empty() && !key.starts_with('-') && key.chars().all(is_word);
    let is_apart = value.is_empty() || value.starts_with([' ', '\t', ':', '"', '\'', '[', '{']);
    let is_known = TEXT_KEYS.contains(&key) || LIST_KEYS.contains(&key);
    (is_key && (is_apart || is_known)).then(|| (key, value.trim()))
}

fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start_matches([' ', '\t']).len()
}
