//! The text of a file, whatever its encoding.

use std::{borrow::Cow, char::REPLACEMENT_CHARACTER};

use super::structure;

/// How much of a file tells whether it is text, in bytes.
const SAMPLE: usize = 8_192;
/// Of how many characters one may be none of a text.
const STRANGE_SHARE: usize = 10;

/// What can be read of a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Readings<'b> {
    /// The text, if the file is one.
    pub(super) text: Option<Cow<'b, str>>,
    /// What an interpreter may find in the bytes beside that.
    pub(super) commands: Option<Cow<'b, str>>,
}

/// Reads `bytes`, unless they are a program of some machine.
///
/// Reads UTF-8 and UTF-16. Interpreters skip NULs, so those between the characters of a text are
/// left out, and bytes that stand for nothing are read as U+FFFD. An interpreter makes do with what
/// is no text by and large, and does not know UTF-16.
pub(super) fn read(bytes: &[u8]) -> Readings<'_> {
    let is_wide = matches!(bytes, [0xff, 0xfe, ..] | [0xfe, 0xff, ..]);
    if !is_wide && !structure::is_binary(bytes) {
        return Readings { text: Some(String::from_utf8_lossy(bytes)), commands: None };
    }
    if structure::is_program(bytes) {
        return Readings { text: None, commands: None };
    }
    let without: Vec<u8> = bytes.iter().copied().filter(|&byte| byte != 0).collect();
    let narrow = String::from_utf8_lossy(&without).into_owned();
    let wide = match bytes {
        [0xff, 0xfe, rest @ ..] => Some(wide(rest, u16::from_le_bytes)),
        [0xfe, 0xff, rest @ ..] => Some(wide(rest, u16::from_be_bytes)),
        _ => None,
    };
    let (text, commands) = match wide {
        Some(wide) => (Some(wide).filter(|it| is_text(it)), Some(narrow)),
        None if is_text(&narrow) => (Some(narrow), None),
        None => (None, Some(narrow)),
    };
    Readings { text: text.map(Cow::Owned), commands: commands.map(Cow::Owned) }
}

fn wide(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> String {
    let units = bytes.chunks_exact(2).filter_map(|pair| pair.try_into().ok().map(unit));
    char::decode_utf16(units.filter(|&unit| unit != 0))
        .map(|ch| ch.unwrap_or(REPLACEMENT_CHARACTER))
        .collect()
}

/// Returns the last place up to `at` where `text` may be cut.
pub(super) fn boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or_default()
}

/// Returns whether the beginning of `text` has hardly anything but characters.
fn is_text(text: &str) -> bool {
    let is_strange =
        |ch: &char| *ch == REPLACEMENT_CHARACTER || ch.is_control() && !ch.is_whitespace();
    let strange = text.chars().take(SAMPLE).filter(is_strange).count();
    !text.is_empty() && strange <= text.chars().take(SAMPLE).count() / STRANGE_SHARE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_characters_are_read() {
        let little: Vec<u8> = "\u{feff}é ls".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = "\u{feff}é ls".encode_utf16().flat_map(u16::to_be_bytes).collect();

        assert_eq!(read(&little).text.as_deref(), Some("é ls"));
        assert_eq!(read(&big).text.as_deref(), Some("é ls"));
        assert_eq!(read(b"l\0s\0 \0a\0").text.as_deref(), Some("ls a"));
    }

    #[test]
    fn a_few_nuls_hide_no_text() {
        assert_eq!(read(b"ls\0\0\necho a\n").text.as_deref(), Some("ls\necho a\n"));
    }

    #[test]
    fn pictures_are_no_text() {
        assert_eq!(read(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\x01\x02\x03\xff\xd8\xfe").text, None);
        assert_eq!(read(b"\x7fELF\0ls"), Readings { text: None, commands: None });
        assert_eq!(read(b"\0\0\0").text, None);
    }

    #[test]
    fn commands_are_read_in_what_is_no_text() {
        let commands = |bytes| read(bytes).commands;

        assert_eq!(commands(b"\0\x01\x02\x03\nls\n").as_deref(), Some("\x01\x02\x03\nls\n"));
        assert_eq!(commands(b"\xff\xfe\nls").as_deref(), Some("\u{fffd}\u{fffd}\nls"));
        assert_eq!(commands(b"ls"), None);
    }
}
