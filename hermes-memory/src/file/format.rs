//! The text of a memory file: entries separated by a line that holds only `§`.

use std::{borrow::Cow, collections::HashSet};

/// What stands between two entries.
pub(crate) const DELIMITER: &str = "\n§\n";

/// A memory file as it was read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Parsed {
    /// The entries, oldest first, each once.
    pub(crate) entries: Vec<String>,
    /// Whether writing the entries back would lose nothing.
    pub(crate) fidelity: Fidelity,
}

/// What writing the entries of a file back would do to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fidelity {
    /// It would change at most outer white space, line ends and duplicates.
    Faithful,
    /// It would lose text that somebody put there by hand.
    Lossy,
    /// The file is not UTF-8; the entries are what could be decoded.
    NotUtf8,
}

/// Reads the bytes of a memory file: a byte order mark and any line ends are tolerated.
pub(crate) fn parse(bytes: &[u8]) -> Parsed {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = String::from_utf8_lossy(bytes);
    let is_utf8 = matches!(text, Cow::Borrowed(_));
    let text = unix_lines(&text);
    let pieces: Vec<&str> =
        text.split(DELIMITER).map(strip).filter(|piece| !piece.is_empty()).collect();
    let fidelity = match is_utf8 {
        false => Fidelity::NotUtf8,
        true if strip(&text) == pieces.join(DELIMITER) => Fidelity::Faithful,
        true => Fidelity::Lossy,
    };
    let mut known = HashSet::with_capacity(pieces.len());
    let new = pieces.into_iter().filter(|piece| known.insert(*piece));
    let entries = new.map(str::to_owned).collect();
    Parsed { entries, fidelity }
}

/// Appends `entry` unless it is there already.
pub(crate) fn push_new(entries: &mut Vec<String>, entry: &str) {
    if !entries.iter().any(|it| it == entry) {
        entries.push(entry.to_owned());
    }
}

/// Returns the text of a file with `entries`.
pub(crate) fn join(entries: &[String]) -> String {
    entries.join(DELIMITER)
}

/// Returns `content` as it can be stored: line ends of Unix, no white space around it.
pub(crate) fn tidy(content: &str) -> String {
    strip(&unix_lines(content)).to_owned()
}

/// Returns whether a tidy `entry` would come back in pieces, or break the one after it.
pub(crate) fn falls_apart(entry: &str) -> bool {
    entry.contains(DELIMITER) || entry.ends_with("\n§")
}

/// Removes white space around `text`, as hermes-agent does: Unicode white space and the four
/// information separators of ASCII.
fn strip(text: &str) -> &str {
    text.trim_matches(|it: char| it.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&it))
}

fn unix_lines(text: &str) -> Cow<'_, str> {
    if text.contains('\r') {
        Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n"))
    } else {
        Cow::Borrowed(text)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(bytes: impl AsRef<[u8]>, entries: &[&str], fidelity: Fidelity) {
        let entries = entries.iter().map(|&it| it.to_owned()).collect();
        assert_eq!(parse(bytes.as_ref()), Parsed { entries, fidelity });
    }

    #[test]
    fn entries_are_split_at_lines_of_a_single_section_sign() {
        check("a § b\n§\nc\nd", &["a § b", "c\nd"], Fidelity::Faithful);
    }

    #[test]
    fn a_section_sign_at_the_edge_of_the_file_is_content() {
        check("§ first", &["§ first"], Fidelity::Faithful);
        check("§\nfoo\n§", &["§\nfoo\n§"], Fidelity::Faithful);
    }

    #[test]
    fn line_ends_and_a_mark_of_other_systems_are_tolerated() {
        check("\u{feff}a\r\n§\r\nb\r\n", &["a", "b"], Fidelity::Faithful);
        check("a\r§\rb", &["a", "b"], Fidelity::Faithful);
    }

    #[test]
    fn duplicates_are_folded_and_no_loss() {
        check("a\n§\nb\n§\na\n", &["a", "b"], Fidelity::Faithful);
    }

    #[test]
    fn white_space_at_a_delimiter_is_a_loss() {
        check("a \n§\nb", &["a", "b"], Fidelity::Lossy);
        check("a\n§\n\n§\nb", &["a", "b"], Fidelity::Lossy);
    }

    #[test]
    fn what_is_not_utf8_is_kept_as_far_as_it_decodes() {
        check(b"na\xefve\n\xc2\xa7\nok", &["na\u{fffd}ve", "ok"], Fidelity::NotUtf8);
    }

    #[test]
    fn nothing_is_no_entry() {
        check("", &[], Fidelity::Faithful);
        check(" \n", &[], Fidelity::Faithful);
    }

    proptest! {
        #[test]
        fn any_bytes_can_be_read(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            parse(&bytes);
        }

        #[test]
        fn what_does_not_fall_apart_comes_back(
            contents in proptest::collection::vec("[ a-c§\n\r\u{1c}]{0,8}", 0..6),
        ) {
            let mut entries = Vec::new();
            for entry in contents.iter().map(|it| tidy(it)) {
                if !entry.is_empty() && !falls_apart(&entry) {
                    push_new(&mut entries, &entry);
                }
            }

            let parsed = parse(join(&entries).as_bytes());

            prop_assert_eq!(parsed, Parsed { entries, fidelity: Fidelity::Faithful });
        }
    }
}
