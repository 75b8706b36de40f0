//! The passage around what was found.

use super::query::Term;

/// Characters before the first word found, and from it on.
const BEFORE: usize = 80;
const AFTER: usize = 160;

/// Returns the passage of `text` around the first of `terms` that it has, on one line.
pub(super) fn around(text: &str, terms: &[Term]) -> String {
    let text: Vec<char> = text.split_whitespace().collect::<Vec<_>>().join(" ").chars().collect();
    let folded: Vec<char> = text.iter().copied().map(fold).collect();
    let words = terms.iter().flat_map(|term| words(&term.text));
    let at = words
        .filter_map(|word| folded.windows(word.len()).position(|it| it == word.as_slice()))
        .min()
        .unwrap_or(0);
    let (start, end) = (at.saturating_sub(BEFORE), at.saturating_add(AFTER).min(text.len()));
    let passage: String = text.get(start..end).unwrap_or_default().iter().collect();
    let (left, right) =
        (if start == 0 { "" } else { "…" }, if end == text.len() { "" } else { "…" });
    format!("{left}{passage}{right}")
}

fn words(text: &str) -> impl Iterator<Item = Vec<char>> + '_ {
    let words = text.split(|ch: char| !ch.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(|word| word.chars().map(fold).collect())
}

/// Folds case one character at a time, so that positions stay.
fn fold(ch: char) -> char {
    ch.to_lowercase().next().unwrap_or(ch)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, word: &str, expected: &str) {
        let term = Term { text: word.to_owned(), is_prefix: false };
        assert_eq!(around(text, &[term]), expected);
    }

    #[test]
    fn a_short_text_is_shown_whole_on_one_line() {
        check("the  Axolotl\nlives", "axolotl", "the Axolotl lives");
    }

    #[test]
    fn a_long_text_is_cut_around_the_word() {
        let text = format!("{} needle {}", "é".repeat(300), "x".repeat(300));
        let expected = format!("…{} needle {}…", "é".repeat(79), "x".repeat(153));
        check(&text, "NEEDLE", &expected);
    }
}
