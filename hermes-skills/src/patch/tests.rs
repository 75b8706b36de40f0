use super::*;

/// Asserts what replacing `old` by `new` in `text` gives, and by which strategy.
#[track_caller]
fn check(strategy: Strategy, text: &str, old: &str, new: &str, expected: &str) {
    let patched = replace(text, old, new, &PatchOptions::default()).expect("the passage is found");

    assert_eq!((patched.text.as_str(), patched.strategy), (expected, strategy));
    assert_eq!(patched.note().is_none(), strategy == Strategy::Exact);
    assert_eq!(patched.confidence < 1.0, strategy != Strategy::Exact);
}

/// Asserts that replacing `old` by `new` in `text` is refused, and returns why.
#[track_caller]
fn refuse(text: &str, old: &str, new: &str) -> PatchError {
    replace(text, old, new, &PatchOptions::default()).expect_err("the passage is not to be found")
}

#[test]
fn an_exact_match_is_spliced_byte_for_byte() {
    check(Strategy::Exact, "say(x);\n", "say(x);", "say(\"$& ${1}\");", "say(\"$& ${1}\");\n");
}

#[test]
fn a_match_may_end_inside_a_line() {
    let text = "  speed = cfg.limit;\n}\n// Draw legend in compact mode\n";

    check(
        Strategy::Exact,
        text,
        "  speed = cfg.limit;\n}\n// Draw legend",
        "  speed = cfg.cap;\n}\n// Draw legend",
        "  speed = cfg.cap;\n}\n// Draw legend in compact mode\n",
    );
}

#[test]
fn context_lines_keep_the_indentation_of_the_file() {
    check(
        Strategy::Indentation,
        "def f():\n    keep()\n    old()\n",
        "   keep()\n   old()",
        "   keep()\n   new()",
        "def f():\n    keep()\n    new()\n",
    );
}

#[test]
fn wrapping_lines_in_a_block_survives_the_mapping_of_columns() {
    check(
        Strategy::Indentation,
        "def f():\n    run()\n    stop()\n",
        "  run()\n  stop()",
        "  if ready:\n    run()\n  stop()",
        "def f():\n    if ready:\n        run()\n    stop()\n",
    );
}

#[test]
fn line_ends_are_those_of_the_file() {
    check(Strategy::Exact, "a\r\nb\r\nc\r\n", "a\nb", "a\nx\ny", "a\r\nx\r\ny\r\nc\r\n");
    check(Strategy::Exact, "a\nb\nc\n", "a\r\nb", "x\r\nb", "x\nb\nc\n");
    check(Strategy::Exact, "a\r\nb\nc\r\n", "a\nb\nc", "a\nb\nd", "a\r\nb\nd\r\n");
}

#[test]
fn inner_spacing_of_what_did_not_change_stays() {
    check(
        Strategy::Whitespace,
        "name:   値  です。\n🙂 後\n",
        "name: 値 です。",
        "name: 別 です。",
        "name:   別  です。\n🙂 後\n",
    );
}

#[test]
fn quotes_and_dashes_of_what_did_not_change_stay() {
    check(
        Strategy::Typography,
        "say “hi” — ok…\n",
        "say \"hi\" -- ok...",
        "say \"bye\" -- ok...",
        "say “bye” — ok…\n",
    );
}

#[test]
fn a_match_never_cuts_an_expanded_character() {
    refuse("please wait… then\n", "please  wait..", "x");
}

#[test]
fn a_number_is_never_cut_by_an_inexact_match() {
    refuse("port = 8080\n", "port =  80", "port = 90");
    refuse("at 10.0.0.61 now\n", "at  10.0.0.6", "x");
}

#[test]
fn two_places_are_refused_and_counted() {
    let refusal = refuse("## A\n- x\n## B\n- x\n", "- x", "- y");

    assert!(matches!(&refusal, PatchError::Ambiguous { total: 2, .. }));
    assert!(refusal.to_string().contains("line 4"));
}

#[test]
fn all_matches_are_taken_leftmost_without_overlap() {
    let all = PatchOptions::default().replace_all(true);

    assert_eq!(replace("=====\n", "==", "-", &all).expect("found").text, "--=\n");
    assert_eq!(replace("p)\n p)\n p)\n", "p)\np)", "q", &all).expect("found").text, "q\n p)\n");
}

#[test]
fn blank_old_text_is_refused_with_the_way_out() {
    for old in ["", " ", "\n\n", "\t", "\r", "\u{200b}"] {
        assert!(refuse("a b\n", old, "x").to_string().contains("quote the existing text"));
    }
}

#[test]
fn asking_for_what_is_there_changes_nothing() {
    let patched = replace("a\nb\na\n", "a", "a", &PatchOptions::default()).expect("nothing to do");

    assert!(patched.is_unchanged());
    assert_eq!(patched.text, "a\nb\na\n");
    assert!(patched.note().is_some());
}

#[test]
fn lines_that_are_not_adjacent_do_not_match() {
    let text = "begin:\n  a\n  b\nfinish\nbegin:\n  c\nfinish\n";

    refuse(text, "begin:\nfinish\n", "begin:\n  z\nfinish\n");
}
