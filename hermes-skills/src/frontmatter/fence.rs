//! Finding the frontmatter between its fences.

use memchr::memmem;

use super::limits::MAX_HEAD_BYTES;

/// Where the frontmatter of a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Split<'a> {
    /// The text does not begin with three dashes: all of it is body.
    NoHead,
    /// It begins with three dashes, but no closing line comes within [`MAX_HEAD_BYTES`].
    Unclosed,
    /// What follows the opening dashes, and what follows the closing line and the blank lines
    /// after it. Line `n` of `head` is line `n` of the file.
    Closed { head: &'a str, body: &'a str },
}

/// Splits a text at its fences. The first closing line ends the frontmatter; rules further down
/// belong to the body.
pub(super) fn split(text: &str) -> Split<'_> {
    let Some(rest) = text.strip_prefix("---") else { return Split::NoHead };
    let window = rest.as_bytes().get(..MAX_HEAD_BYTES).unwrap_or(rest.as_bytes());
    for start in memmem::find_iter(window, "\n---") {
        let (head, fence) = rest.split_at(start);
        if let Some(after) = fence.get("\n---".len()..)
            && let Some(body) = after_blank_lines(after)
        {
            return Split::Closed { head, body };
        }
    }
    Split::Unclosed
}

/// Returns what follows the rest of a fence's line and the blank lines after it; `None` if the
/// line holds anything but white space, or does not end.
fn after_blank_lines(text: &str) -> Option<&str> {
    let solid = text.trim_start_matches(is_space);
    let space = text.get(..text.len() - solid.len())?;
    let last_break = space.rfind('\n')?;
    text.get(last_break + 1..)
}

/// White space as the original program's regular expressions see it, which includes the four
/// information separators.
fn is_space(letter: char) -> bool {
    letter.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&letter)
}
