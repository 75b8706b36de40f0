//! What holds for every text.

use proptest::prelude::*;
use proptest::strategy::Strategy;

use super::canon::{Canon, canonical};
use super::{PatchOptions, Strategy as Found, replace};

/// Text of the pieces that the engine treats specially, so that they meet each other.
fn text() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "a",
        "b",
        "word",
        "wrod",
        "7",
        "42",
        " ",
        "  ",
        "\t",
        "\n",
        "\n\n",
        "\r\n",
        "\r",
        "-",
        "—",
        "--",
        "…",
        "...",
        "“",
        "\"",
        "'",
        "’",
        "\\n",
        "\\t",
        "\\\"",
        "\\\\",
        "\\",
        "\u{200b}",
        "\u{feff}",
        "\u{a0}",
        "\u{3000}",
        "日",
        "本",
        "é",
        "🙂",
        "\u{fe0f}",
        "e\u{301}",
        "\u{302}",
        "ᄒ\u{1161}",
        "\u{ad}",
        "\0",
        "{",
        "}",
        "if x:",
        "_",
        "/",
        ".",
    ]);
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

/// Lines in capitals, which no block holds.
fn around() -> impl Strategy<Value = String> {
    prop::collection::vec("( {0,8}[A-Z]{3,8} “[A-Z]{2,6}”)?\n", 0..4)
        .prop_map(|lines| lines.concat())
}

/// Lines with indentation, typography and a blank line now and then, without the last line end.
fn block() -> impl Strategy<Value = String> {
    prop::collection::vec("( {4}){0,2}[a-z]{3,8} “[a-z]{3,8}” — [a-z]{3,8}’s\n(\n)?", 1..5)
        .prop_map(|lines| lines.concat().trim_end().to_owned())
}

/// In how many ways a block is misquoted.
const MISQUOTED: usize = 7;

/// Quotes a block as models do who do not look.
fn misquoted(block: &str, how: usize) -> String {
    let lines =
        |map: &dyn Fn(&str) -> String| block.lines().map(map).collect::<Vec<_>>().join("\n");
    match how {
        0 => block.replace(['“', '”'], "\"").replace('’', "'").replace('—', "--"),
        1 => lines(&|line| line.trim().to_owned()),
        2 => lines(&|line| format!("  {line}")),
        3 => lines(&|line| format!("{line}  ")),
        4 => block.replace('\n', "\r\n"),
        5 => block.replace("\n\n", "\n"),
        _ => block.replace('\n', "\\n"),
    }
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
    fn whatever_is_misquoted_nothing_around_it_changes(
        (head, block, tail) in (around(), block(), around()), how in 0..MISQUOTED, crlf in any::<bool>()
    ) {
        let end = if crlf { "\r\n" } else { "\n" };
        let [head, part, tail] = [&head, &block, &tail].map(|it| it.replace('\n', end));
        let whole = format!("{head}{part}{end}{tail}");
        let old = misquoted(&block, how);
        let new = format!("{old} changed");

        let Ok(patched) = replace(&whole, &old, &new, &PatchOptions::default()) else { return Ok(()) };

        let within = patched.text.strip_prefix(&head).and_then(|rest| rest.strip_suffix(&tail));
        prop_assert!(within.is_some_and(|it| it.contains(" changed")), "{whole:?}: {patched:?}");
        prop_assert!(!crlf || patched.text.matches('\n').count() == patched.text.matches(end).count());
    }

    #[test]
    fn an_exact_edit_of_any_text_is_undone_by_its_inverse(
        (head, old, new, tail) in (text(), text(), text(), text()), crlf in any::<bool>()
    ) {
        let [head, old, new, tail] = [head, old, new, tail].map(|it| it.replace('\r', ""));
        let whole = format!("{head}{old}{tail}");
        let whole = if crlf { whole.replace('\n', "\r\n") } else { whole };
        let Ok(there) = replace(&whole, &old, &new, &PatchOptions::default()) else { return Ok(()) };
        // Where an edit takes the last line end, nothing tells which one the file had.
        if there.strategy != Found::Exact || crlf && !there.text.contains('\n') {
            return Ok(());
        }

        let Ok(back) = replace(&there.text, &new, &old, &PatchOptions::default()) else { return Ok(()) };

        prop_assert!(back.strategy != Found::Exact || back.text == whole, "{there:?} {back:?}");
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
