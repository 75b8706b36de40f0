use hermes_core::provider::Assembly;

use super::*;

fn fragment<'a>(
    index: u64,
    id: Option<&'a str>,
    name: Option<&'a str>,
    arguments: &'a str,
) -> Fragment<'a> {
    Fragment {
        index,
        id: id.map(Cow::Borrowed),
        name: name.map(Cow::Borrowed),
        arguments: Cow::Borrowed(arguments),
    }
}

/// Compares the calls that `fragments` make up: id, name, arguments.
#[track_caller]
fn check(fragments: &[Fragment<'_>], expected: &[(&str, &str, &str)]) {
    let mut calls = Calls::default();
    let mut out = VecDeque::new();
    for fragment in fragments {
        calls.push(fragment, &mut out);
    }
    let mut assembly = Assembly::default();
    for event in out {
        assembly.push(event);
    }
    let message = assembly.into_message();
    let found: Vec<_> =
        message.calls().map(|it| (it.id.as_str(), &*it.name, it.arguments.as_str())).collect();
    assert_eq!(found, expected);
}

#[test]
fn fragments_join() {
    check(
        &[
            fragment(0, Some("a"), Some("ping"), ""),
            fragment(1, Some("b"), Some("pong"), "{\"x"),
            fragment(0, None, None, "{\"n\":"),
            fragment(1, None, None, "\":2}"),
            fragment(0, None, None, "1}"),
        ],
        &[("a", "ping", "{\"n\":1}"), ("b", "pong", "{\"x\":2}")],
    );
}

#[test]
fn a_new_id_at_a_used_index_is_a_new_call() {
    check(
        &[
            fragment(0, Some("a1"), Some("write"), "{\"p\":\"a\"}"),
            fragment(0, Some("a2"), Some("write"), "{\"p\":\"b\"}"),
        ],
        &[("a1", "write", "{\"p\":\"a\"}"), ("a2", "write", "{\"p\":\"b\"}")],
    );
}

#[test]
fn interleaved_ids_at_one_index_stay_apart() {
    check(
        &[
            fragment(0, Some("a"), Some("x"), "{\"n\":"),
            fragment(0, Some("b"), Some("x"), "{\"n\":"),
            fragment(0, Some("a"), None, "1}"),
            fragment(0, Some("b"), None, "2}"),
        ],
        &[("a", "x", "{\"n\":1}"), ("b", "x", "{\"n\":2}")],
    );
}

#[test]
fn ids_may_come_late_or_change_or_never_come() {
    check(
        &[fragment(0, None, Some("x"), "{"), fragment(0, Some("late"), None, "}")],
        &[("late", "x", "{}")],
    );
    check(
        &[fragment(0, Some("r1"), Some("x"), "{"), fragment(0, Some("r2"), None, "}")],
        &[("r1", "x", "{}")],
    );
    check(
        &[fragment(0, None, Some("x"), "{\"a\":1}"), fragment(0, None, Some("y"), "{}")],
        &[("call_0", "x", "{\"a\":1}"), ("call_1", "y", "{}")],
    );
}

#[test]
fn one_id_for_two_indexes_becomes_two() {
    check(
        &[fragment(0, Some("c"), Some("x"), "{}"), fragment(1, Some("c"), Some("x"), "{}")],
        &[("c", "x", "{}"), ("c_2", "x", "{}")],
    );
}

#[test]
fn objects_glued_together_are_taken_apart() {
    let whole = "{\"d\":1}{\"d\":\"}{\"} \n{\"d\":{\"e\":[]}}";
    let expected = [
        ("g", "cal", "{\"d\":1}"),
        ("g_2", "cal", "{\"d\":\"}{\"} \n"),
        ("g_3", "cal", "{\"d\":{\"e\":[]}}"),
    ];
    check(&[fragment(0, Some("g"), Some("cal"), whole)], &expected);
    for at in 1..whole.len() {
        let (head, tail) = whole.split_at(at);
        check(
            &[fragment(0, Some("g"), Some("cal"), head), fragment(0, None, None, tail)],
            &expected,
        );
    }
}

#[test]
fn a_number_that_is_taken_already_is_passed_over() {
    check(
        &[fragment(0, Some("g_2"), Some("x"), "{}"), fragment(1, Some("g"), Some("x"), "{}{}{}")],
        &[("g_2", "x", "{}"), ("g", "x", "{}"), ("g_3", "x", "{}"), ("g_4", "x", "{}")],
    );
}

#[test]
fn a_reply_holds_so_many_calls_and_no_more() {
    let objects = "{}".repeat(Calls::LIMIT);
    let (mut calls, mut out) = (Calls::default(), VecDeque::new());
    calls.push(&fragment(0, Some("g"), Some("x"), &objects), &mut out);
    assert!(!calls.is_over_limit());
    assert_eq!(out.len(), Calls::LIMIT);

    calls.push(&fragment(0, None, None, "{\"n\":1}"), &mut out);
    calls.push(&fragment(1, Some("h"), Some("x"), "{}"), &mut out);

    assert!(calls.is_over_limit());
    assert_eq!(out.len(), Calls::LIMIT);
}

#[test]
fn ids_are_told_apart_in_one_pass() {
    let mut ids = Ids::default();

    // Looking for a free number from the start each time would take 5,000,000,000 steps.
    let last = (0..100_000).map(|_| ids.distinct("g")).last();

    assert_eq!(last.as_deref(), Some("g_100000"));
}

#[test]
fn what_is_said_twice_counts_once() {
    check(
        &[
            fragment(0, Some("a"), Some("list"), "{\"c\":1}"),
            fragment(0, Some("a"), Some("list"), ""),
            fragment(0, Some("a"), Some("list"), "{\"c\":1}"),
        ],
        &[("a", "list", "{\"c\":1}")],
    );
}

#[test]
fn blanks_without_end_are_read_in_one_pass() {
    let (mut calls, mut out) = (Calls::default(), VecDeque::new());
    calls.push(&fragment(0, Some("a"), Some("x"), "{}"), &mut out);

    // Looking at all of them each time would take 20,000,000,000 steps.
    for _ in 0..200_000 {
        calls.push(&fragment(0, None, None, " "), &mut out);
    }

    assert_eq!(calls.slots.len(), 1);
}

#[test]
fn control_characters_in_strings_are_escaped() {
    check(
        &[fragment(0, Some("a"), Some("w"), "{\n\"t\":\"one\ntwo\\\"\u{1}\"}")],
        &[("a", "w", "{\n\"t\":\"one\\ntwo\\\"\\u0001\"}")],
    );
}

#[test]
fn what_is_no_object_is_passed_on() {
    check(&[fragment(0, Some("a"), Some("w"), "[1] {")], &[("a", "w", "[1] {")]);
    check(&[fragment(0, Some("a"), Some("w"), "{} and {}")], &[("a", "w", "{} and {}")]);
}
