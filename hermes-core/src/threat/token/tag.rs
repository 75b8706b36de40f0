//! Tags inside of words, which a page shows as if they were not there.

/// How many tags may stand together.
const TAGS_MAX: usize = 4;
/// How long one of them may be, in bytes.
const TAG_MAX: usize = 40;
/// Elements that leave no gap between what stands before and behind them.
const INLINE: [&[u8]; 14] = [
    b"a", b"b", b"i", b"s", b"u", b"em", b"wbr", b"ins", b"del", b"bdi", b"span", b"font", b"mark",
    b"strong",
];

/// Returns the length of the tags at `at`, if a word goes on behind them: `ig<b></b>nore`,
/// `ig<!-- -->nore`.
pub(super) fn inside_word(bytes: &[u8], at: usize) -> Option<usize> {
    let mut rest = bytes.get(at..)?;
    let mut length = 0;
    for _ in 0..TAGS_MAX {
        if rest.first() != Some(&b'<') {
            break;
        }
        let tag = tag_length(rest)?;
        length += tag;
        rest = rest.get(tag..)?;
    }
    rest.first().is_some_and(u8::is_ascii_alphabetic).then_some(length)
}

/// Returns the length of the tag that `rest` begins with, if it leaves no gap.
fn tag_length(rest: &[u8]) -> Option<usize> {
    let end = rest.iter().take(TAG_MAX).position(|&byte| byte == b'>')?;
    let inside = rest.get(1..end)?;
    if inside.starts_with(b"!--") {
        return inside.ends_with(b"--").then_some(end + 1);
    }
    let inside = inside.strip_prefix(b"/").unwrap_or(inside);
    let name = inside.split(|byte| !byte.is_ascii_alphabetic()).next()?;
    INLINE.iter().any(|it| it.eq_ignore_ascii_case(name)).then_some(end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_goes_on_behind_tags_that_show_nothing() {
        let length = |text: &str| inside_word(text.as_bytes(), 0);
        assert_eq!(length("<b></b>nore"), Some(7));
        assert_eq!(length("<!-- x -->nore"), Some(10));
        assert_eq!(length("<SPAN id=a>nore"), Some(11));
        assert_eq!(length("<br>nore"), None, "a line break is a gap");
        assert_eq!(length("<li>nore"), None);
        assert_eq!(length("<b> nore"), None, "so is a blank");
        assert_eq!(length("<T>nore"), None, "a parameter of a type is no tag");
        assert_eq!(length("<!-- nore"), None);
        assert_eq!(length("<b></b><b></b><b>x"), None);
    }
}
