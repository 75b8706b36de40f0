//! Undoes the ways in which a text is written so that nobody reads it by accident.

use super::dictionary::rotate;
use super::token::Hiding;

/// Returns what `text` hides, or `None` if it hides no text.
pub(super) fn decode(kind: Hiding, text: &str) -> Option<String> {
    match kind {
        Hiding::Encoded => hexadecimal(text).or_else(|| base64(text)),
        Hiding::Escaped => escapes(text),
        Hiding::Reversed => Some(text.chars().rev().collect()),
        Hiding::Rotated => Some(text.chars().map(rotate).collect()),
    }
}

/// Encoded text shorter than this says nothing.
const DECODED_MIN: usize = 8;

fn readable(bytes: Vec<u8>) -> Option<String> {
    let text = String::from_utf8(bytes).ok()?;
    let strange = text.chars().filter(|ch| ch.is_control() && !ch.is_whitespace()).count();
    (DECODED_MIN <= text.len() && strange == 0).then_some(text)
}

fn hexadecimal(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len() / 2);
    let mut high = None;
    for ch in text.chars().filter(|ch| !ch.is_whitespace()) {
        let digit = u8::try_from(ch.to_digit(16)?).ok()?;
        match high.take() {
            None => high = Some(digit),
            Some(high) => bytes.push(high << 4 | digit),
        }
    }
    if high.is_none() { readable(bytes) } else { None }
}

/// Decodes base64 of either alphabet; what follows the last whole byte is left out.
fn base64(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut width) = (0_u32, 0_u32);
    let mut wide = Wide::default();
    for byte in text.bytes() {
        let digit = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            b'=' | b'\n' | b'\r' => continue,
            _ => return None,
        };
        bits = bits << 6 | u32::from(digit);
        width += 6;
        if 8 <= width {
            width -= 8;
            let byte = u8::try_from(bits >> width & 0xff).ok()?;
            if wide.is_upper_half(byte) {
                continue;
            }
            if byte < 9 || byte == 0x7f || 0xf8 <= byte {
                return None;
            }
            bytes.push(byte);
        }
    }
    readable(bytes)
}

/// Tells the upper halves of UTF-16, in which `PowerShell` takes encoded commands, from other bytes.
#[derive(Debug, Default)]
struct Wide {
    count: usize,
    is_wide: bool,
}

impl Wide {
    /// Returns whether `byte`, which is the next one, is a zero that only widens the one before.
    fn is_upper_half(&mut self, byte: u8) -> bool {
        self.count += 1;
        self.is_wide |= self.count == 2 && byte == 0;
        self.is_wide && self.count.is_multiple_of(2) && byte == 0
    }
}

/// Decodes percent, entity and backslash escapes; `None` if there are none.
fn escapes(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    let mut changed = false;
    while let Some(first) = rest.bytes().next() {
        if let Some((ch, length)) = escape(first, rest) {
            changed = true;
            match ch {
                Escape::Byte(byte) => bytes.push(byte),
                Escape::Char(ch) => bytes.extend(ch.encode_utf8(&mut [0; 4]).bytes()),
            }
            rest = rest.get(length..).unwrap_or_default();
        } else {
            let width = rest.chars().next().map_or(1, char::len_utf8);
            let (head, tail) = rest.split_at_checked(width).unwrap_or_default();
            bytes.extend(head.bytes());
            rest = tail;
        }
    }
    changed.then(|| String::from_utf8_lossy(&bytes).into_owned())
}

enum Escape {
    Byte(u8),
    Char(char),
}

fn escape(first: u8, rest: &str) -> Option<(Escape, usize)> {
    let hex = |from: usize, to: usize| u32::from_str_radix(rest.get(from..to)?, 16).ok();
    let byte = |code: u32| u8::try_from(code).ok().map(Escape::Byte);
    match first {
        b'%' => Some((byte(hex(1, 3)?)?, 3)),
        b'\\' if rest.get(1..2) == Some("x") => Some((byte(hex(2, 4)?)?, 4)),
        b'\\' if rest.get(1..2) == Some("u") => {
            Some((Escape::Char(char::from_u32(hex(2, 6)?)?), 6))
        }
        b'\\' => {
            let code = u32::from_str_radix(rest.get(1..4)?, 8).ok()?;
            Some((byte(code)?, 4))
        }
        b'&' => entity(rest),
        _ => None,
    }
}

fn entity(rest: &str) -> Option<(Escape, usize)> {
    let digits = rest.strip_prefix("&#")?;
    let end = digits.bytes().take(8).position(|byte| byte == b';')?;
    let digits = digits.get(..end)?;
    let code = match digits.strip_prefix(['x', 'X']) {
        Some(hex) => u32::from_str_radix(hex, 16).ok()?,
        None => digits.parse().ok()?,
    };
    Some((Escape::Char(char::from_u32(code)?), end + 3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(kind: Hiding, text: &str, expected: Option<&str>) {
        assert_eq!(decode(kind, text).as_deref(), expected);
    }

    #[test]
    fn base64_of_either_alphabet_is_read() {
        check(Hiding::Encoded, "aGVsbG8gd29ybGQ=", Some("hello world"));
        check(Hiding::Encoded, "aGVsbG8gd29y\nbGQ", Some("hello world"));
    }

    #[test]
    fn commands_encoded_in_utf_16_are_read() {
        check(Hiding::Encoded, "aABlAGwAbABvACAAdwBvAHIAbABkAA==", Some("hello world"));
        check(Hiding::Encoded, "aABlAGxsAG8AIAB3AG8A", None);
    }

    #[test]
    fn hexadecimal_is_read() {
        check(Hiding::Encoded, "68656c6c6f20776f726c64", Some("hello world"));
    }

    #[test]
    fn what_is_no_text_is_left_alone() {
        check(Hiding::Encoded, "AAAAAAAAAAAAAAAAAAAA", None);
        check(Hiding::Escaped, "100 % of it", None);
    }

    #[test]
    fn escapes_of_all_kinds_are_read() {
        check(Hiding::Escaped, "%68i &#104;&#x69; \\x68\\u0069 \\150i", Some("hi hi hi hi"));
    }

    #[test]
    fn a_line_is_read_backwards() {
        check(Hiding::Reversed, "olleh", Some("hello"));
        check(Hiding::Rotated, "uryyb", Some("hello"));
    }
}
