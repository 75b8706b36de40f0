//! Tool names as the wire allows them, and back.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use hermes_core::{tool::ToolSpec, version::Version};

/// The most characters a name, or an id where it is limited, may have on the wire.
const LIMIT: usize = 64;
/// What stands for a name that is blank.
const BLANK: &str = "invalid_tool_call";

/// Returns `name` with only letters, digits, `_` and `-`, at most 64 of them. What is longer ends in a
/// hash of all of it, because long names often begin alike.
pub(crate) fn wire_name(name: &str) -> Cow<'_, str> {
    if name.trim().is_empty() {
        return Cow::Borrowed(BLANK);
    }
    if name.len() <= LIMIT && name.chars().all(is_plain) {
        return Cow::Borrowed(name);
    }
    Cow::Owned(short(name.trim().chars().map(plain).collect(), name))
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
    let plain = wire_id(id);
    if plain.len() <= LIMIT { plain } else { Cow::Owned(short(plain.into_owned(), id)) }
}

/// Returns a plain text of at most 64 characters, with a hash of the `original` if it was longer.
fn short(plain: String, original: &str) -> String {
    const KEPT: usize = 31;
    if plain.len() <= LIMIT {
        return plain;
    }
    let start: String = plain.chars().take(KEPT).collect();
    let hash: String = Version::of(original).to_string().chars().take(LIMIT - KEPT - 1).collect();
    format!("{start}_{hash}")
}

fn is_plain(char: char) -> bool {
    char.is_ascii_alphanumeric() || matches!(char, '_' | '-')
}

fn plain(char: char) -> char {
    if is_plain(char) { char } else { '_' }
}

/// The tools of a request whose names had to change for the wire, which takes no name twice.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    /// By the names on the wire.
    originals: BTreeMap<String, Arc<str>>,
}

impl Names {
    pub(crate) fn of(tools: &[ToolSpec]) -> Self {
        let is_kept = |name: &str| wire_name(name) == name;
        let kept: BTreeSet<&str> =
            tools.iter().map(|it| &*it.name).filter(|it| is_kept(it)).collect();
        let changed: BTreeSet<&Arc<str>> =
            tools.iter().map(|it| &it.name).filter(|it| !is_kept(it)).collect();
        let mut originals = BTreeMap::new();
        for name in changed {
            let wanted = wire_name(name);
            let is_free = |it: &String| !kept.contains(it.as_str()) && !originals.contains_key(it);
            let mut numbered = (2_u32..).map(|number| short(format!("{wanted}_{number}"), name));
            let free = Some(wanted.to_string()).filter(is_free);
            let free = free.or_else(|| numbered.find(is_free));
            originals.insert(free.unwrap_or_default(), Arc::clone(name));
        }
        Self { originals }
    }

    /// Returns what the tool `name` is called on the wire.
    pub(crate) fn wire<'a>(&'a self, name: &'a str) -> Cow<'a, str> {
        let mut changed = self.originals.iter();
        let changed = changed.find(|(_, original)| &***original == name);
        changed.map_or_else(|| wire_name(name), |(wire, _)| Cow::Borrowed(wire.as_str()))
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
        let (one, two) = (format!("{}1", "é".repeat(99)), format!("{}2", "é".repeat(99)));

        assert_eq!(wire_name(" "), "invalid_tool_call");
        assert_eq!(wire_name(&one).len(), 64);
        assert_ne!(wire_name(&one), wire_name(&two));
        assert!(wire_name(&one).chars().all(is_plain));
    }

    #[test]
    fn no_two_tools_have_one_name_on_the_wire() {
        let tools = ["read_file", "read.file", "read file", " ", "é", "invalid_tool_call"];
        let tools: Vec<ToolSpec> = tools.iter().map(|name| ToolSpec::new(*name, "")).collect();
        let reversed: Vec<ToolSpec> = tools.iter().rev().cloned().collect();
        let names = Names::of(&tools);

        let wire: Vec<Cow<'_, str>> = tools.iter().map(|it| names.wire(&it.name)).collect();

        let expected = ["read_file", "read_file_3", "read_file_2", "invalid_tool_call_2", "_"];
        assert_eq!(wire[..5], expected);
        assert_eq!(wire[5], "invalid_tool_call");
        for (tool, wire) in tools.iter().zip(&wire) {
            assert_eq!(names.original(wire), &*tool.name);
            assert_eq!(names.wire(&tool.name), Names::of(&reversed).wire(&tool.name));
        }
    }
}
