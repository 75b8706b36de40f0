//! Tool names as the wire allows them, and back.

use std::{borrow::Cow, collections::BTreeMap, sync::Arc};

use hermes_core::{tool::ToolSpec, version::Version};

/// The most characters a name, or an id where it is limited, may have on the wire.
const LIMIT: usize = 64;
/// What stands for a name that is blank.
const BLANK: &str = "invalid_tool_call";

/// Returns `name` with only letters, digits, `_` and `-`, at most 64 of them.
pub(crate) fn wire_name(name: &str) -> Cow<'_, str> {
    if name.trim().is_empty() {
        return Cow::Borrowed(BLANK);
    }
    if name.len() <= LIMIT && name.chars().all(is_plain) {
        return Cow::Borrowed(name);
    }
    Cow::Owned(name.trim().chars().map(plain).take(LIMIT).collect())
}

/// Returns an id with only letters, digits, `_` and `-`. It depends on the id alone, so that a call
/// and its result stay together.
pub(crate) fn wire_id(id: &str) -> Cow<'_, str> {
    if id.chars().all(is_plain) {
        return Cow::Borrowed(id);
    }
    Cow::Owned(id.chars().map(plain).collect())
}

/// Returns a plain id of at most 64 characters. What is longer ends in a hash of all of it.
pub(crate) fn short_id(id: &str) -> Cow<'_, str> {
    const KEPT: usize = 31;
    let plain = wire_id(id);
    if plain.len() <= LIMIT {
        return plain;
    }
    let start: String = plain.chars().take(KEPT).collect();
    let hash: String = Version::of(id).to_string().chars().take(LIMIT - KEPT - 1).collect();
    Cow::Owned(format!("{start}_{hash}"))
}

fn is_plain(char: char) -> bool {
    char.is_ascii_alphanumeric() || matches!(char, '_' | '-')
}

fn plain(char: char) -> char {
    if is_plain(char) { char } else { '_' }
}

/// The tools of a request whose names had to change for the wire.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    originals: BTreeMap<String, Arc<str>>,
}

impl Names {
    pub(crate) fn of(tools: &[ToolSpec]) -> Self {
        let changed = tools.iter().filter_map(|tool| match wire_name(&tool.name) {
            Cow::Owned(name) => Some((name, Arc::clone(&tool.name))),
            Cow::Borrowed(_) => None,
        });
        Self { originals: changed.collect() }
    }

    /// Returns the name of the tool that the model calls `name`.
    pub(crate) fn original<'a>(&'a self, name: &'a str) -> Cow<'a, str> {
        Cow::Borrowed(self.originals.get(name).map_or(name, |it| &**it))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_go_out_plain_and_come_back_whole() {
        let names = Names::of(&[ToolSpec::new("mcp.read file", ""), ToolSpec::new("ping", "")]);

        assert_eq!(wire_name("mcp.read file"), "mcp_read_file");
        assert_eq!(names.original("mcp_read_file"), "mcp.read file");
        assert_eq!(names.original("ping"), "ping");
    }

    #[test]
    fn long_ids_become_short_and_stay_apart() {
        let (one, two) = (format!("{}1", "x".repeat(99)), format!("{}2", "x".repeat(99)));

        assert_eq!(short_id("call_1"), "call_1");
        assert_eq!(short_id("a|b"), "a_b");
        assert_eq!(short_id(&one).len(), 64);
        assert_eq!(short_id(&one), short_id(&one));
        assert_ne!(short_id(&one), short_id(&two));
    }

    #[test]
    fn no_name_is_blank_or_too_long() {
        assert_eq!(wire_name(" "), "invalid_tool_call");
        assert_eq!(wire_name(&"é".repeat(99)), "_".repeat(64));
    }
}
