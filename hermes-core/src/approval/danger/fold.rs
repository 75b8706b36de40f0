//! Characters as a person takes them: look-alikes folded, invisible ones left out.

use unicode_normalization::UnicodeNormalization;

/// A character and the bytes of the command that it comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Glyph {
    pub(super) ch: char,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// Text that remembers where it comes from.
pub(super) type Text = Vec<Glyph>;

/// Returns the characters of `text`.
pub(super) fn string(text: &[Glyph]) -> String {
    text.iter().map(|glyph| glyph.ch).collect()
}

/// Returns `text` as if all of it stood at the place of `at`.
pub(super) fn placed(text: &str, at: (usize, usize)) -> Text {
    text.chars().map(|ch| Glyph { ch, start: at.0, end: at.1 }).collect()
}

/// Returns the range of the bytes that `text` comes from, `None` if it is empty.
pub(super) fn span(text: &[Glyph]) -> Option<(usize, usize)> {
    let start = text.iter().map(|glyph| glyph.start).min()?;
    let end = text.iter().map(|glyph| glyph.end).max()?;
    Some((start, end))
}

/// Folds a command. Only letters, digits and the signs of words are folded: no look-alike becomes a
/// quote or an operator, because it is none to a shell.
pub(super) fn fold(command: &str) -> Text {
    let mut folded = Vec::with_capacity(command.len());
    let mut chars = command.char_indices().peekable();
    while let Some((start, ch)) = chars.next() {
        if ch == '\u{1b}' && chars.next_if(|(_, it)| *it == '[').is_some() {
            while chars.next().is_some_and(|(_, it)| !('@'..='~').contains(&it)) {}
            continue;
        }
        if let Some(ch) = fold_char(ch) {
            let end = chars.peek().map_or(command.len(), |(at, _)| *at);
            folded.push(Glyph { ch, start, end });
        }
    }
    folded
}

fn fold_char(ch: char) -> Option<char> {
    match ch {
        '\0' | '\u{1b}' => None,
        '\r' | '\u{85}' | '\u{2028}' | '\u{2029}' => Some('\n'),
        _ if ch.is_ascii() => Some(ch),
        _ if is_invisible(ch) => None,
        _ if ch.is_whitespace() => Some(' '),
        '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{fe58}' | '\u{fe63}' => Some('-'),
        '\u{2044}' | '\u{2215}' | '\u{29f8}' => Some('/'),
        _ => Some(look_alike(ch)),
    }
}

/// Returns the ASCII character that `ch` stands for or looks like, or itself.
fn look_alike(ch: char) -> char {
    let is_plain = |it: &char| it.is_ascii_alphanumeric() || "-_./~*=".contains(*it);
    if let Some(plain) = only(std::iter::once(ch).nfkc()).filter(is_plain) {
        return plain;
    }
    let text = ch.to_string();
    only(unicode_security::confusable_detection::skeleton(&text)).filter(is_plain).unwrap_or(ch)
}

fn only(mut chars: impl Iterator<Item = char>) -> Option<char> {
    let first = chars.next()?;
    chars.next().is_none().then_some(first)
}

fn is_invisible(ch: char) -> bool {
    matches!(
        ch,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
            | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}'
    )
}
