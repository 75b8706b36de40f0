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

/// Returns an id with only letters, digits, `_` and `-`. What has others ends in a hash of all of it, so
/// that two ids never become one. It depends on the id alone, so that a call and its result stay together.
pub(crate) fn wire_id(id: &str) -> Cow<'_, str> {
    const HASH: usize = 12;
    if id.chars().all(is_plain) {
        return Cow::Borrowed(id);
    }
    let start: String = id.chars().map(plain).take(LIMIT - HASH - 1).collect();
    let hash: String = Version::of(id).to_string().chars().take(HASH).collect();
    Cow::Owned(format!("{start}_{hash}"))
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

/// What the tools of a request are called on the wire, which takes no name twice.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    /// The tools whose names had to change, by the names on the wire.
    originals: BTreeMap<String, Arc<str>>,
    /// The names on the wire of those tools.
    changed: BTreeMap<Arc<str>, String>,
    /// The tools that keep their names.
    kept: BTreeSet<Arc<str>>,
}

impl Names {
    pub(crate) fn of(tools: &[ToolSpec]) -> Self {
        let is_kept = |name: &str| wire_name(name) == name;
        let all = tools.iter().map(|it| &it.name);
        let kept = all.clone().filter(|it| is_kept(it)).map(Arc::clone).collect();
        let mut names = Self { kept, ..Self::default() };
        let others: BTreeSet<&Arc<str>> = all.filter(|it| !is_kept(it)).collect();
        for name in others {
            let free = names.free(name);
            names.originals.insert(free.clone(), Arc::clone(name));
            names.changed.insert(Arc::clone(name), free);
        }
        names
    }

    /// Returns what the tool `name` is called on the wire, in the list of tools and in the history. A
    /// tool that is on offer no more is not called like another one that is.
    pub(crate) fn wire<'a>(&'a self, name: &'a str) -> Cow<'a, str> {
        if let Some(changed) = self.changed.get(name) {
            return Cow::Borrowed(changed);
        }
        let wanted = wire_name(name);
        let is_own = wanted == name && self.kept.contains(name);
        if is_own || !self.is_taken(&wanted) { wanted } else { Cow::Owned(self.free(name)) }
    }

    /// Returns whether what a tool is called on the wire depends on what other tools there are.
    pub(crate) fn decide(&self, name: &str) -> bool {
        // Where no tool had to change, a plain name is its own, which is quick to see.
        let may_differ = !self.originals.is_empty() || wire_name(name) != name;
        may_differ && self.wire(name) != wire_name(name)
    }

    /// Returns the name of the tool that the model calls `name`.
    pub(crate) fn original<'a>(&'a self, name: &'a str) -> Cow<'a, str> {
        Cow::Borrowed(self.originals.get(name).map_or(name, |it| &**it))
    }

    /// Returns a name for `name` that no tool on offer has.
    fn free(&self, name: &str) -> String {
        let wanted = wire_name(name);
        if !self.is_taken(&wanted) {
            return wanted.into_owned();
        }
        let mut numbered = (2_u32..).map(|number| short(format!("{wanted}_{number}"), name));
        numbered.find(|it| !self.is_taken(it)).unwrap_or_default()
    }

    fn is_taken(&self, wire: &str) -> bool {
        self.kept.contains(wire) || self.originals.contains_key(wire)
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
        assert!(short_id("a|b").starts_with("a_b_"));
        assert_eq!(short_id(&one).len(), 64);
        assert_eq!(short_id(&one), short_id(&one));
        assert_ne!(short_id(&one), short_id(&two));
    }

    #[test]
    fn ids_that_are_not_plain_stay_apart() {
        let ids = ["a.b", "a_b", "a b", "a|b", "é", "ü", &"é".repeat(99), &"é".repeat(98)];

        let wire: BTreeSet<String> = ids.iter().map(|id| wire_id(id).into_owned()).collect();

        assert_eq!(wire.len(), ids.len());
        assert!(wire.iter().all(|it| it.len() <= LIMIT && it.chars().all(is_plain)));
        assert_eq!(wire_id("a_b"), "a_b");
    }

    #[test]
    fn a_tool_that_is_gone_is_not_called_like_one_that_is_there() {
        let names = Names::of(&["fs_read", "a.b"].map(|name| ToolSpec::new(name, "")));

        assert_eq!(names.wire("fs.read"), "fs_read_2");
        assert_eq!(names.wire("a_b"), "a_b_2");
        assert_eq!(names.wire("gone.away"), "gone_away");
        assert_eq!(Names::default().wire("fs.read"), "fs_read");
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
