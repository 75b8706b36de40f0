//! How full a list is, in characters.

use hermes_core::memory::{Fill, MemoryError};

use super::format::DELIMITER;

/// Returns the characters of `entries` and the delimiters between them.
pub(crate) fn used(entries: &[String]) -> usize {
    let delimiters = entries.len().saturating_sub(1) * DELIMITER.chars().count();
    entries.iter().map(|entry| entry.chars().count()).sum::<usize>() + delimiters
}

/// Returns how full a list of `entries` is that may have `limit` characters: those of the entries,
/// and three for each delimiter between two.
///
/// # Examples
///
/// ```
/// let entries = ["one", "two"].map(str::to_owned);
///
/// assert_eq!(hermes_memory::fill(&entries, 100).used, 9);
/// ```
pub fn fill(entries: &[String], limit: usize) -> Fill {
    Fill::new(used(entries), limit)
}

/// Checks that a list may go from `before` to `after`: it fits, or it was too long and gets shorter.
pub(crate) fn check(
    before: &[String],
    after: &[String],
    limit: usize,
) -> Result<Fill, MemoryError> {
    let (was, is) = (fill(before, limit), fill(after, limit));
    if is.used <= limit || is.used < was.used {
        Ok(is)
    } else {
        Err(MemoryError::Full { needed: is.used, fill: was, entries: before.to_vec() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn checked(before: &[&str], after: &[&str], limit: usize, fits: bool) {
        let own = |entries: &[&str]| entries.iter().map(|&it| it.to_owned()).collect::<Vec<_>>();
        assert_eq!(check(&own(before), &own(after), limit).is_ok(), fits);
    }

    #[test]
    fn characters_are_counted_not_bytes() {
        assert_eq!(used(&["漢字".to_owned(), "🦀".to_owned()]), 2 + 3 + 1);
        assert_eq!(used(&[]), 0);
    }

    #[test]
    fn the_limit_itself_fits() {
        checked(&[], &["aaa", "bbb"], 9, true);
        checked(&[], &["aaa", "bbbb"], 9, false);
    }

    #[test]
    fn what_is_too_long_may_shrink_and_not_grow() {
        checked(&["aaaa", "bbbb"], &["aaaa"], 3, true);
        checked(&["aaaa"], &["aaab"], 3, false);
    }
}
