//! Characters that nobody sees, and the places where they belong.

use std::{borrow::Cow, ops::Range, sync::LazyLock};

use unicode_normalization::char::is_combining_mark;

use super::{Finding, Severity, normalize::ascii_length};

/// Returns whether `ch` is not seen but may split a word, reorder a line or carry a message.
pub(super) fn is_invisible(ch: char) -> bool {
    matches!(u32::from(ch),
        0xad | 0x34f | 0x61c | 0x115f | 0x1160 | 0x17b4 | 0x17b5 | 0x180b..=0x180f
        | 0x200b..=0x200f | 0x202a..=0x202e | 0x2060..=0x206f | 0x3164 | 0xfe00..=0xfe0f
        | 0xfeff | 0xffa0 | 0xfff9..=0xfffb | 0x1bca0..=0x1bca3 | 0x1d173..=0x1d17a
        | 0xe0000..=0xe0fff)
}

/// Returns a finding for every invisible character that has no business where it stands.
///
/// Joiners between emoji and in scripts that need them, variation selectors, marks of direction
/// beside right-to-left text, flags made of tags and a byte order mark at the start are ordinary.
/// A run of the same character is one finding.
pub(super) fn find(text: &str) -> Vec<Finding> {
    let mut findings: Vec<(char, Finding)> = Vec::new();
    let mut place = Place::default();
    let mut at = 0;
    while let Some((start, ch)) = beyond_ascii(text, at) {
        place.skip(text.get(at..start).unwrap_or_default());
        let end = start + ch.len_utf8();
        at = end;
        if !is_invisible(ch) {
            place.advance(ch);
            continue;
        }
        let next = text.get(end..).and_then(|rest| rest.chars().next());
        let Some(severity) = place.judge(ch, start, next) else { continue };
        match findings.last_mut() {
            Some((last, finding)) if *last == ch && finding.range.end == start => {
                finding.range.end = end;
            }
            _ => findings.push((ch, finding(ch, severity, start..end))),
        }
    }
    findings.into_iter().map(|(_, finding)| finding).collect()
}

/// Returns the first character beyond ASCII from `at` on, and where it is.
fn beyond_ascii(text: &str, at: usize) -> Option<(usize, char)> {
    let rest = text.get(at..)?;
    let start = ascii_length(rest);
    Some((at + start, rest.get(start..)?.chars().next()?))
}

fn finding(ch: char, severity: Severity, range: Range<usize>) -> Finding {
    let reason = match u32::from(ch) {
        0x202a..=0x202e | 0x2066..=0x2069 => "changes the direction of text where none is needed",
        0xe0000..=0xe007f => "carries letters that nobody sees",
        _ => "holds a character that nobody sees",
    };
    Finding::new(id(ch), severity, range, reason)
}

fn id(ch: char) -> Cow<'static, str> {
    let code = u32::from(ch);
    let base = ID_RANGES.iter().position(|range| range.contains(&code));
    let before =
        |index| ID_RANGES.iter().take(index).map(|it: &Range<u32>| it.len()).sum::<usize>();
    base.and_then(|index| {
        let start = ID_RANGES.get(index)?.start;
        IDS.get(before(index) + (code - start) as usize)
    })
    .map_or_else(|| Cow::Owned(format_id(code)), |id| Cow::Borrowed(id.as_str()))
}

fn format_id(code: u32) -> String {
    format!("invisible_unicode_U+{code:04X}")
}

/// The invisible characters that come in large numbers, and their ids, made once.
const ID_RANGES: [Range<u32>; 4] = [0xad..0xae, 0x200b..0x2070, 0xfeff..0xff00, 0xe0000..0xe0080];
static IDS: LazyLock<Vec<String>> =
    LazyLock::new(|| ID_RANGES.into_iter().flatten().map(format_id).collect());

/// What stands before the character that is looked at.
#[derive(Default)]
struct Place {
    /// The last character that is seen.
    seen: Option<char>,
    /// Whether a letter written from right to left has been on this line.
    right_to_left: bool,
    /// Whether a flag made of tag characters has begun.
    flag: bool,
}

impl Place {
    /// Passes over ASCII.
    fn skip(&mut self, ascii: &str) {
        let Some(last) = ascii.chars().next_back() else { return };
        self.right_to_left &= !ascii.contains('\n');
        self.flag = false;
        self.seen = Some(last);
    }

    fn advance(&mut self, ch: char) {
        self.right_to_left |= is_right_to_left(ch);
        self.flag = ch == '\u{1f3f4}';
        self.seen = Some(ch);
    }

    /// Returns how bad `ch` is here, or `None` if it belongs here.
    fn judge(&mut self, ch: char, start: usize, next: Option<char>) -> Option<Severity> {
        let beside_foreign = [self.seen, next].into_iter().flatten().any(needs_joiners);
        match u32::from(ch) {
            0xe0020..=0xe007f if self.flag => None,
            0xfeff if start == 0 => None,
            0xfe00..=0xfe0f if self.seen.is_some_and(takes_variation) => None,
            0xe0100..=0xe01ef if self.seen.is_some_and(is_ideograph) => {
                self.seen = None;
                None
            }
            0x200e | 0x200f | 0x61c | 0xfe00..=0xfe0f if self.splits_a_word(next) => {
                Some(Severity::Block)
            }
            0xad | 0x200e | 0x200f | 0x61c | 0xfe00..=0xfe0f => {
                (!beside_foreign).then_some(Severity::Warn)
            }
            0x200b..=0x200d
            | 0x34f
            | 0x2060
            | 0x180b..=0x180f
            | 0x115f
            | 0x1160
            | 0x3164
            | 0xffa0
                if beside_foreign =>
            {
                None
            }
            0x200d if self.seen.is_some_and(is_pictograph) => None,
            0x202a..=0x202c | 0x2066..=0x2069
                if self.right_to_left || next.is_some_and(is_right_to_left) =>
            {
                Some(Severity::Warn)
            }
            _ => Some(Severity::Block),
        }
    }

    /// Returns whether Latin letters stand on both sides.
    fn splits_a_word(&self, next: Option<char>) -> bool {
        let is_letter = |ch: Option<char>| ch.is_some_and(|ch| ch.is_ascii_alphabetic());
        is_letter(self.seen) && is_letter(next)
    }
}

/// Scripts in which joiners, word separators and fillers are part of the spelling.
fn needs_joiners(ch: char) -> bool {
    matches!(u32::from(ch), 0x590..=0x8ff | 0x900..=0xdff | 0xe00..=0x109f | 0x1100..=0x11ff
        | 0x1780..=0x18af | 0x1900..=0x1cff | 0xa840..=0xabff | 0xac00..=0xd7ff | 0xfb1d..=0xfdff
        | 0xfe70..=0xfefc | 0x10a00..=0x10fff | 0x11000..=0x11fff | 0x1e900..=0x1e95f)
}

fn is_right_to_left(ch: char) -> bool {
    matches!(u32::from(ch), 0x590..=0x8ff | 0xfb1d..=0xfdff | 0xfe70..=0xfefc | 0x10800..=0x10fff
        | 0x1e800..=0x1efff)
}

fn is_pictograph(ch: char) -> bool {
    matches!(u32::from(ch), 0x200d | 0x2190..=0x2bff | 0x3030 | 0x303d | 0x3297 | 0x3299
        | 0x1f000..=0x1faff)
}

/// Ideographs of names are told apart by a variation selector, which is one character.
fn is_ideograph(ch: char) -> bool {
    matches!(u32::from(ch), 0x3400..=0x4dbf | 0x4e00..=0x9fff | 0xf900..=0xfaff | 0x20000..=0x323af)
}

/// A variation selector follows a symbol, an ideograph, a mathematical sign or a mark.
fn takes_variation(ch: char) -> bool {
    !ch.is_ascii_alphabetic() && (!ch.is_alphabetic() || u32::from(ch) > 0x2e7f)
        || is_combining_mark(ch)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[(&str, Severity)]) {
        let findings = find(text);
        let found: Vec<_> = findings.iter().map(|it| (it.id.as_ref(), it.severity)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_zero_width_character_inside_a_word_blocks() {
        check("vis\u{200b}ible", &[("invisible_unicode_U+200B", Severity::Block)]);
    }

    #[test]
    fn joiners_between_emoji_are_ordinary() {
        check("\u{1f469}\u{200d}\u{1f680} \u{1f3f3}\u{fe0f}\u{200d}\u{1f308}", &[]);
    }

    #[test]
    fn joiners_in_persian_and_hindi_are_ordinary() {
        check(
            "\u{645}\u{6cc}\u{200c}\u{62e}\u{648}\u{627}\u{647}\u{645} \u{915}\u{94d}\u{200d}\u{937}",
            &[],
        );
    }

    #[test]
    fn a_byte_order_mark_is_ordinary_at_the_start_only() {
        check("\u{feff}text", &[]);
        check("te\u{feff}xt", &[("invisible_unicode_U+FEFF", Severity::Block)]);
    }

    #[test]
    fn an_ideograph_takes_one_variation_selector() {
        check("\u{845b}\u{e0100}\u{98fe}\u{e0101}", &[]);
        check("\u{845b}\u{e0100}\u{e0101}", &[("invisible_unicode_U+E0101", Severity::Block)]);
        check("a\u{e0100}", &[("invisible_unicode_U+E0100", Severity::Block)]);
    }

    #[test]
    fn a_soft_hyphen_warns() {
        check("vis\u{ad}ible", &[("invisible_unicode_U+00AD", Severity::Warn)]);
    }

    #[test]
    fn a_mark_of_direction_warns_between_words_and_blocks_inside_one() {
        check("left \u{200e}right", &[("invisible_unicode_U+200E", Severity::Warn)]);
        check("rea\u{200e}dable", &[("invisible_unicode_U+200E", Severity::Block)]);
    }

    #[test]
    fn the_flag_of_wales_is_ordinary_and_bare_tags_block() {
        check("\u{1f3f4}\u{e0067}\u{e0062}\u{e0077}\u{e007f}", &[]);
        check("ok\u{e0069}", &[("invisible_unicode_U+E0069", Severity::Block)]);
    }

    #[test]
    fn a_run_of_one_character_is_one_finding() {
        check("a\u{200b}\u{200b}\u{200b}b", &[("invisible_unicode_U+200B", Severity::Block)]);
    }
}
