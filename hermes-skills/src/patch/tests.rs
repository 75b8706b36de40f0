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
    assert!(refusal.to_string().contains("4| - x"));
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
fn the_note_speaks_of_one_line_or_of_several() {
    let note = |text: &str, all: bool| {
        let options = PatchOptions::default().replace_all(all);
        let patched = replace(text, "x = \"1\"", "x = \"2\"", &options).expect("it is there");
        patched.note().expect("the quotes differ")
    };

    assert!(note("a\nx = “1”\n", false).contains("; line 2 was edited"));
    assert!(note("x = “1”\na\nx = “1”\n", true).contains("; lines 1, 3 were edited"));
}

#[test]
fn what_came_of_it_can_be_shown_as_json() {
    let patched = replace("a\nx = “1”\n", "x = \"1\"", "x = \"2\"", &PatchOptions::default());

    let shown = serde_json::to_value(patched.expect("it is there")).expect("it is plain data");

    assert_eq!(shown["strategy"], Strategy::Typography.to_string());
    assert_eq!(shown["edits"][0]["lines"], serde_json::json!([2, 2]));
}

#[test]
fn lines_that_are_not_adjacent_do_not_match() {
    let text = "begin:\n  a\n  b\nfinish\nbegin:\n  c\nfinish\n";

    refuse(text, "begin:\nfinish\n", "begin:\n  z\nfinish\n");
}

#[test]
fn the_end_of_the_text_does_not_make_one_of_two_places_the_better_one() {
    refuse("  a\n  b\nx\n  a\n  b\n", "a\nb\n", "c\n");
}

#[test]
fn escapes_are_decoded_in_both_texts_or_in_neither() {
    check(Strategy::Escapes, "one\ntwo\nthree\n", "one\\ntwo", "one\\nTWO", "one\nTWO\nthree\n");
    check(Strategy::Escapes, "a(\"x\")\n", "a(\\\"x\\\")", "b(\\\"x\\\")", "b(\"x\")\n");
    check(Strategy::Exact, "a(\\\"x\\\")\n", "a(\\\"x\\\")", "a(\\\"y\\\")", "a(\\\"y\\\")\n");
}

#[test]
fn an_escape_that_the_file_has_itself_is_kept() {
    check(
        Strategy::Escapes,
        "print('a\\n')\nend()\n",
        "print('a\\n')\\nend()",
        "print('b\\n')\\nend()",
        "print('b\\n')\nend()\n",
    );
}

#[test]
fn a_quotation_escaped_throughout_is_decoded_throughout() {
    check(
        Strategy::Escapes,
        "say(\"a\\n\")\nend\n",
        r#"say(\"a\\n\")\nend"#,
        r#"say(\"b\\n\")\nend"#,
        "say(\"b\\n\")\nend\n",
    );
}

#[test]
fn a_literal_tab_escape_in_new_code_stays_an_escape() {
    check(
        Strategy::Escapes,
        "\tif x:\n\t\tpass\n",
        "\\tif x:\n\\t\\tpass",
        "\\tif x:\n\\t\\tsep = '\\t'",
        "\tif x:\n\t\tsep = '\\t'\n",
    );
}

#[test]
fn blank_lines_between_need_not_be_quoted() {
    check(Strategy::BlankLines, "a x\n\nb y\nc\n", "a x\nb y", "a x\nb z", "a x\n\nb z\nc\n");
    check(Strategy::BlankLines, "a x\nb y\nc\n", "a x\n\nb y", "a x\n\nb z", "a x\nb z\nc\n");
}

#[test]
fn a_slip_is_forgiven_if_the_new_text_has_the_files_spelling() {
    check(
        Strategy::Slips,
        "one\nread the fiel here\nquantizer = build(d)\nend\n",
        "one\nread the fiel here\nqantizer = build(d)",
        "one\nread the file here\nquantizer = build(d, 2)",
        "one\nread the file here\nquantizer = build(d, 2)\nend\n",
    );
}

#[test]
fn a_misspelt_word_of_prose_is_forgiven() {
    check(
        Strategy::Slips,
        "## Steps\nPull the current image first.\nThen wait.\n",
        "## Steps\nPull the curent image first.\nThen wait.",
        "## Steps\nPull the curent image first.\nThen run.",
        "## Steps\nPull the current image first.\nThen run.\n",
    );
}

#[test]
fn differences_that_matter_are_no_slips() {
    for (file, old) in [
        ("timeout = 30", "timeout = 90"),
        ("kubectl delete pod_a now", "kubectl delete pod_b now"),
        ("do not restart the worker", "do now restart the worker"),
        ("the key is able to sign", "the key is unable to sign"),
        ("run it with --force please", "run it with --farce please"),
        ("see the host/a.txt file", "see the hosts/a.txt file"),
        ("hosts are listed here", "host are listed here"),
        ("das ist kein gutes Zeichen", "das ist ein gutes Zeichen"),
        ("either of them may run", "neither of them may run"),
        ("bring up zeta first", "bring up beta first"),
        ("bring up marked ones first", "bring up market ones first"),
    ] {
        let refusal = refuse(&format!("head\n{file}\ntail\n"), &format!("head\n{old}\ntail"), "x");

        assert!(matches!(refusal, PatchError::NotFound { .. }), "{old}");
        assert!(refusal.to_string().contains(file), "{refusal}");
    }
}

#[test]
fn refusals_say_what_to_do_next() {
    let text = "a = 1\nb = 2\nc = 3\nd = 4\n";

    let elided = refuse(text, "a = 1\n...\nd = 4", "x").to_string();
    assert!(elided.contains("quote every line in full"), "{elided}");
    let already = refuse(text, "b = 7", "b = 2").to_string();
    assert!(already.contains("already there at line 2"), "{already}");
    let nothing = refuse(text, "completely unrelated words", "x").to_string();
    assert!(nothing.contains("view the file"), "{nothing}");
}

/// Returns a text of many lines, all different and none like the passages of these tests.
fn long() -> String {
    (0..9_000).fold(String::new(), |text, at| {
        text + &format!("## Part {at}\nif part_{at}:\n    return step({at})\n\n")
    })
}

#[test]
fn a_slip_is_found_at_the_end_of_a_long_text() {
    let text = long() + "if found:\n    quantizer = build(d)\n    return step(quantizer)\n";

    check(
        Strategy::Slips,
        &text,
        "if found:\n    quantiser = build(d)\n    return step(quantizer)",
        "if found:\n    quantizer = build(d, 2)\n    return step(quantizer)",
        &text.replace("build(d)", "build(d, 2)"),
    );
}

#[test]
fn a_long_text_is_quoted_where_it_comes_closest() {
    let text = long() + "if found:\n    return step(last)\n";

    let PatchError::NotFound { closest, .. } =
        refuse(&text, "if found:\n    return step(first)", "x")
    else {
        panic!("it is not found")
    };
    assert_eq!(closest.first().map(|passage| passage.line), Some(36_001), "{closest:?}");
}

#[test]
fn a_long_text_of_nothing_but_common_lines_is_quoted_all_the_same() {
    let text = "if x:\n    return y\nelse:\n    return z\n".repeat(5_000);

    let old = "if x:\n    return y\nelse:\n    rewind(tape)";
    let PatchError::NotFound { closest, .. } = refuse(&text, old, "x") else {
        panic!("it is not found")
    };
    assert_eq!(closest.first().map(|passage| passage.line), Some(1), "{closest:?}");
}

#[test]
fn places_are_counted_and_edited_up_to_a_limit() {
    let all = PatchOptions::default().replace_all(true);
    let text = "a".repeat(PLACES_LIMIT + 1);

    assert!(matches!(refuse(&text, "a", "b"), PatchError::Ambiguous { places, total, .. }
        if places.len() == 5 && total == PLACES_LIMIT + 1));
    assert_eq!(replace(&text, "a", "b", &all), Err(PatchError::TooMany));
    let patched = replace(&"a".repeat(PLACES_LIMIT), "a", "b", &all).expect("as many as allowed");
    assert_eq!((patched.replacements, patched.text), (PLACES_LIMIT, "b".repeat(PLACES_LIMIT)));
}

#[test]
fn inexact_places_past_the_limit_are_never_called_the_only_one() {
    let text = "-  \u{2019} ".repeat(PLACES_LIMIT) + "\n-  '\n";

    let refused = replace(&text, "- '", "x", &PatchOptions::default()).err();

    assert!(matches!(refused, Some(PatchError::Ambiguous { .. })), "{refused:?}");
}

#[test]
fn more_than_one_misspelt_word_is_no_slip() {
    let text = "Pull the current image.\nThen restart the worker.\nThen wait.\nDone.\n";
    let old = "Pull the curent image.\nThen restart the wroker.\nThen wait.\nDone.";

    refuse(text, old, &old.replace("wait", "run"));
}

#[test]
fn escapes_are_decoded_where_the_text_has_others() {
    check(
        Strategy::Escapes,
        "say(\"a\\tb\")\nend()\nlast\n",
        "say(\\\"a\\tb\\\")\\nend()",
        "say(\\\"a\\tc\\\")\\nend()",
        "say(\"a\\tc\")\nend()\nlast\n",
    );
}

#[test]
fn escaped_line_ends_are_written_as_the_file_has_them() {
    let (old, new) = ("one\\r\\ntwo", "one\\r\\nNEW\\r\\ntwo");

    check(Strategy::Escapes, "one\ntwo\n", old, new, "one\nNEW\ntwo\n");
    check(Strategy::Escapes, "one\r\ntwo\r\n", old, new, "one\r\nNEW\r\ntwo\r\n");
}

#[test]
fn a_byte_order_mark_stays_where_it_is_and_alone() {
    let text = "\u{feff}title:  x\nend\n";

    let check = |old, new, expected| check(Strategy::Whitespace, text, old, new, expected);
    check("title: x", "title: x\nauthor: y", "\u{feff}title:  x\nauthor: y\nend\n");
    check("title: x\nend", "a: y\ntitle: x\nend", "\u{feff}a: y\ntitle:  x\nend\n");
    check("  title: x\n  end", "  title: x\n  b: z\n  end", "\u{feff}title:  x\nb: z\nend\n");
}

#[test]
fn what_is_invisible_before_a_line_stays_with_it() {
    check(
        Strategy::Typography,
        "a\n\u{200b}b  c\nd\n",
        "b c\nd",
        "b c\nx\nd",
        "a\n\u{200b}b  c\nx\nd\n",
    );
}

#[test]
fn a_modifier_apostrophe_reads_as_an_apostrophe() {
    check(Strategy::Typography, "it\u{2bc}s so\n", "it's so", "it's not", "it\u{2bc}s not\n");
}

#[test]
fn a_refusal_calls_new_text_present_only_where_it_stands_by_itself() {
    for (text, old, new) in [("f() {\n  x = 1;\n}\n", "y = 2;\n}", "}"), ("a = 12\n", "a = 3", "1")]
    {
        let refusal = refuse(text, old, new).to_string();

        assert!(!refusal.contains("already there"), "{refusal}");
    }
}

#[test]
fn edits_of_one_call_never_overlap() {
    let all = PatchOptions::default().replace_all(true);

    let patched = replace("a\n- x\n  \n- x\nb\n", "\n-  x\n", "\n- y\n", &all).expect("two places");

    assert_eq!(patched.replacements, 2);
    assert!(
        patched.edits.windows(2).all(|pair| pair[0].span.end <= pair[1].span.start),
        "{patched:?}"
    );
    assert_eq!(patched.text.matches("  \n").count(), 1, "{patched:?}");
}

#[test]
fn an_inexact_match_cuts_no_sign_and_no_mark_off() {
    for (text, old) in [
        ("x = -5  px\n", "5 px"),
        ("cd $HOME/x  now\n", "HOME/x now"),
        ("cat /etc/x  now\n", "etc/x now"),
        ("run -v  now\n", "v now"),
        ("cd ~/x  now\n", "/x now"),
        ("a .5  px\n", "5 px"),
        ("see  cafe\u{301} now\n", "see cafe"),
    ] {
        refuse(text, old, "x");
    }
    check(Strategy::Whitespace, "- a  b\n", "a b", "c b", "- c  b\n");
    check(Strategy::Whitespace, "## a  b\n", "a b", "c b", "## c  b\n");
    check(Strategy::Whitespace, "see: a  b\n", "a b", "c b", "see: c  b\n");
}

#[test]
fn places_that_differ_in_kind_are_all_candidates() {
    let refusal = refuse("say “x”  now\n\nsay \"x\"\u{a0}now\n", "say  \"x\" now", "say \"y\" now");

    assert!(matches!(refusal, PatchError::Ambiguous { total: 2, .. }), "{refusal}");
}

#[test]
fn places_that_differ_in_kind_are_all_replaced() {
    let all = PatchOptions::default().replace_all(true);

    let patched =
        replace("say ‘x’ now\nsay  'x' now\n", "say 'x'\u{a0}now", "say 'y'\u{a0}now", &all);

    let patched = patched.expect("there are two");
    assert_eq!(patched.text, "say ‘y’ now\nsay  'y' now\n");
    assert_eq!(patched.strategy, Strategy::Typography);
}

#[test]
fn a_slip_that_may_be_of_either_of_two_names_is_refused() {
    let text = "left:\n  image: left\n  port: on\n\nlift:\n  image: lift\n  port: on\n";

    refuse(text, "lxft:\n  image: lxft\n  port: on", "left:\n  image: left\n  port: off");
}

#[test]
fn lines_that_end_in_carriage_returns_alone_are_lines() {
    check(Strategy::Exact, "a\rb\rc\r", "a\nb", "a\nx\ny", "a\rx\ry\rc\r");
    check(Strategy::Indentation, "a\r  b\rc\r", "a\nb", "a\nx\nb", "a\rx\r  b\rc\r");
}

#[test]
fn line_numbers_of_a_viewer_are_no_text() {
    let text = "fn f() {\n    run(1);\n\n    stop();\n}\n";

    for (old, new) in [
        ("2|     run(1);\n3| \n4|     stop();", "2|     run(2);\n3| \n4|     stop();"),
        ("2|    run(1);\n3|\n4|    stop();", "2|    run(2);\n3|\n4|    stop();"),
        ("  2\t    run(1);\n  3\t\n  4\t    stop();", "    run(2);\n\n    stop();"),
    ] {
        check(Strategy::Dressing, text, old, new, &text.replace('1', "2"));
    }
    refuse(text, "2|     run(1);\n3| \n4|     stop();", "2|     run(2);\n\n    stop();");
    refuse(text, "2|     run(1);\n7|     stop();", "2|     run(2);\n7|     stop();");
    refuse("7| total\n", "8| total", "8| sum");
}

#[test]
fn marks_of_a_diff_are_no_text() {
    let text = "def f():\n    a = 1\n    b = 2\n    c = 3\n";
    let wanted = "def f():\n    a = 1\n    b = 7\n    c = 3\n";

    let check = |old, new, expected| check(Strategy::Dressing, text, old, new, expected);
    check("     a = 1\n-    b = 2\n     c = 3", "     a = 1\n+    b = 7\n     c = 3", wanted);
    check("-    b = 2", "+    b = 7", wanted);
    check(
        "     a = 1\n     b = 2",
        "     a = 1\n+    x = 0\n     b = 2",
        &text.replace("    b", "    x = 0\n    b"),
    );
}

#[test]
fn marks_and_fences_around_a_quotation_are_no_text() {
    let text = "one\n  two\nthree\n";

    let check = |old, new| check(Strategy::Dressing, text, old, new, "one\n  2\nthree\n");
    check("> one\n>   two", "> one\n>   2");
    check("```py\none\n  two\n```", "```py\none\n  2\n```");
    check("```\none\n  two\n```", "one\n  2");
    refuse("```sh\nrun it\n```\n", "```bash\nrun it\n```", "```bash\nstop it\n```");
    refuse(text, "> one\n>   two", "> one\n  2");
}

#[test]
fn entities_and_code_points_that_the_file_has_decoded_are_decoded() {
    let check = |text, old, new, expected| check(Strategy::Dressing, text, old, new, expected);
    check(
        "if a < b && c:\n",
        "if a &lt; b &amp;&amp; c:",
        "if a &lt; d &amp;&amp; c:",
        "if a < d && c:\n",
    );
    check("if a < b:\n", "if a &lt; b:", "if a < d:", "if a < d:\n");
    check("wait — now\n", "wait \\u2014 now", "wait \\u2014 then", "wait — then\n");
    refuse("if a < b:\n", "if a &lt; b:", "if a &lt; b < c:");
    refuse("name: foo\n", "\"foo\"", "\"bar\"");
}

#[test]
fn letters_composed_with_their_marks_or_not_are_the_same() {
    let check = |text, old, new, expected| check(Strategy::Typography, text, old, new, expected);

    check("cafe\u{301} a\n", "café a", "café b", "cafe\u{301} b\n");
    check("café a\n", "cafe\u{301} a", "cafe\u{301} b", "café b\n");
    check("한 a\n", "\u{1112}\u{1161}\u{11ab} a", "\u{1112}\u{1161}\u{11ab} b", "한 b\n");
    refuse("cafe\u{301} a\n", "cafe a", "cafe b");
    refuse("a e\u{301}\n", "a  e", "b");
}

#[test]
fn a_blank_after_a_number_is_the_lines_where_the_file_says_so() {
    let check = |text, old, new, expected| check(Strategy::Dressing, text, old, new, expected);
    check(
        "def f():\n    x = 1\n    return x\n",
        "2|    x = 1",
        "2|    if y:\n3|        x = 1",
        "def f():\n    if y:\n        x = 1\n    return x\n",
    );
    check(
        "def f():\n    run(1)\n",
        "2|    run(1)",
        "    return None",
        "def f():\n    return None\n",
    );
    check("if a:\n    return x\n", "2|    return x", "2|return x", "if a:\nreturn x\n");
}

#[test]
fn a_blank_is_a_mark_of_a_diff_only_on_lines_of_both_sides() {
    let text = "def f():\n    b = 2\n";
    let outcome = replace(text, "-    b = 2", "    b = 7", &PatchOptions::default());
    let right = "def f():\n    b = 7\n";
    assert!(outcome.is_err() || outcome.is_ok_and(|it| it.text == right));
}

#[test]
fn half_a_character_is_not_decoded() {
    let text = "a \u{2014} b\n";
    for new in ["/[\\ud800-\\udfff]/", "x \\ud83d", "\\u+123"] {
        let outcome = replace(text, "a \\u2014 b", new, &PatchOptions::default());
        assert!(outcome.is_err() || outcome.is_ok_and(|it| it.text.contains(new)), "{new}");
    }
}
