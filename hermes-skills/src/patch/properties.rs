//! What holds for every text.

use proptest::prelude::*;
use proptest::strategy::Strategy;

use super::canon::{Canon, canonical};
use super::{PatchOptions, Strategy as Found, replace};

/// Text of the pieces that the engine treats specially, so that they meet each other.
fn text() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "a", "b", "word", "wrod", "7", "42", " ", "  ", "\t", "\n", "\n\n", "\r\n", "\r", "-", "—",
        "--", "…", "...", "“", "\"", "'", "’", "\\n", "\\t", "\\\"", "\\\\", "\\", "\u{200b}",
        "\u{feff}", "\u{a0}", "\u{3000}", "日", "本", "é", "🙂", "\u{fe0f}", "\u{ad}", "\0", "{",
        "}", "if x:", "_", "/", ".",
    ]);
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn nothing_panics_and_nothing_outside_the_spans_changes(
        (text, old, new, every) in (text(), text(), text(), any::<bool>())
    ) {
        outside_is_unchanged(&text, &old, &new, every)?;
    }

    #[test]
    fn quoting_a_part_in_other_words_changes_nothing_outside(
        (head, part, tail, new, every) in (text(), text(), text(), text(), any::<bool>())
    ) {
        let whole = format!("{head}{part}{tail}");
        let sloppy = part.lines().map(|line| format!("  {}", line.trim())).collect::<Vec<_>>().join("\n");

        outside_is_unchanged(&whole, &sloppy, &new, every)?;
        outside_is_unchanged(&whole, &canonical(&part), &new, every)?;
        outside_is_unchanged(&whole, &part.replace('\n', "\\n"), &new, every)?;
    }

    #[test]
    fn an_exact_edit_is_undone_by_its_inverse(
        (head, old, new, tail) in (text(), "[a-z]{3,9}", "[A-Z]{3,9}", text())
    ) {
        let whole = format!("{head}{old}{tail}");
        let Ok(there) = replace(&whole, &old, &new, &PatchOptions::default()) else { return Ok(()) };
        prop_assume!(there.strategy == Found::Exact && !whole.contains(&new));

        let back = replace(&there.text, &new, &old, &PatchOptions::default());

        prop_assert_eq!(back.map(|back| back.text), Ok(whole));
    }

    #[test]
    fn the_canonical_form_is_canonical_and_maps_back(text in text()) {
        let canon = Canon::new(&text);
        prop_assert_eq!(canonical(canon.as_str()), canon.as_str());
        for (at, c) in canon.as_str().char_indices() {
            if let Some(range) = canon.source_range(&(at..at + c.len_utf8())) {
                let source = text.get(range.clone());
                prop_assert!(source.is_some(), "{range:?} cuts a character");
                let stands_for = canonical(&format!("x{}x", source.unwrap_or_default()));
                prop_assert_eq!(stands_for, format!("x{c}x"));
            }
        }
    }
}

/// Cuts the reported spans out of the text and asserts that what is left frames the new text.
fn outside_is_unchanged(
    text: &str,
    old: &str,
    new: &str,
    every: bool,
) -> Result<(), TestCaseError> {
    let Ok(patched) = replace(text, old, new, &PatchOptions::default().replace_all(every)) else {
        return Ok(());
    };
    let mut rest = patched.text.as_str();
    let mut at = 0;
    for edit in &patched.edits {
        let kept = text.get(at..edit.span.start).unwrap_or_default();
        let found = rest.find(kept);
        prop_assert!(found.is_some(), "{kept:?} is gone from {rest:?}");
        prop_assert!(at != 0 || found == Some(0), "the head has changed");
        rest = rest.get(found.unwrap_or(0) + kept.len()..).unwrap_or_default();
        at = edit.span.end;
    }
    prop_assert!(rest.ends_with(text.get(at..).unwrap_or_default()), "the tail has changed");
    prop_assert!(every || patched.edits.len() < 2);
    Ok(())
}
