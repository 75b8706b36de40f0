//! The one place that knows which YAML library is used, and with which limits.
//!
//! The dialect is the core schema of YAML 1.2 with spellings kept where the versions disagree:
//! `yes`, `0755`, `1_000`, `1:30` and `2024-01-02` are text. Of two equal keys the later wins, as
//! in the original program. A tag of the author's own is an error, since `!important` at the start
//! of a description is more likely meant as text.

use serde_json::Value;
use serde_saphyr::{DuplicateKeyPolicy, NonFiniteFloatPolicy, Options};

/// How many aliases a document may have.
const MAX_ALIASES: usize = 256;

/// Parses one YAML document, or says in a line what is wrong with it.
///
/// Costs are bounded whatever the text: 64 levels, 20,000 nodes, 256 aliases that may add another
/// 20,000 events.
pub(super) fn parse(text: &str) -> Result<Value, String> {
    parse_with(text, MAX_ALIASES)
}

/// Like [`parse`] for one of many parts, without aliases, so that the parts together cost no more
/// than their length allows.
pub(super) fn parse_part(text: &str) -> Result<Value, String> {
    parse_with(text, 0)
}

fn parse_with(text: &str, aliases: usize) -> Result<Value, String> {
    if let Some((line, letter)) = find_unprintable(text) {
        return Err(format!("control character U+{:04X} at line {line}", u32::from(letter)));
    }
    serde_saphyr::from_str_with_options(text, options(text, aliases)).map_err(|err| err.to_string())
}

fn options(text: &str, aliases: usize) -> Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_events: 50_000,
            max_aliases: aliases,
            max_anchors: 256,
            max_recorded_anchor_events: 20_000,
            max_recorded_anchor_bytes: 256 * 1024,
            max_depth: 64,
            max_documents: 2,
            max_nodes: 20_000,
            max_total_scalar_bytes: 1024 * 1024,
            max_merge_keys: 256,
        },
        alias_limits: serde_saphyr::alias_limits! {
            max_total_replayed_events: 20_000,
            max_replay_stack_depth: 16,
        },
        duplicate_keys: DuplicateKeyPolicy::PassThrough,
        non_finite_float_policy: NonFiniteFloatPolicy::AsString,
        strict_booleans: true,
        leading_zero_numbers_as_strings: true,
        underscored_numbers_as_strings: true,
        bom_inside_document_as_content: true,
        reject_unsupported_tags: !text.contains("!!"),
        with_snippet: false,
    }
}

/// Returns the first character that no YAML text may contain, and its line.
///
/// The separators U+0085, U+2028 and U+2029 count, though newer YAML allows them: the original
/// program breaks lines there and would see another text.
fn find_unprintable(text: &str) -> Option<(usize, char)> {
    let (at, letter) = text.char_indices().find(|(_, letter)| !is_printable(*letter))?;
    let line = text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1;
    Some((line, letter))
}

fn is_printable(letter: char) -> bool {
    match letter {
        '\t' | '\n' | '\r' | ' '..='~' => true,
        '\u{2028}' | '\u{2029}' | '\u{fffe}' | '\u{ffff}' => false,
        other => '\u{a0}' <= other,
    }
}
