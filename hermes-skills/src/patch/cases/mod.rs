//! Edits in many languages and file formats, each with the text that it has to give.
//!
//! A case is `=== name` and the sections `file`, `old`, `new` and `want`. What could not be seen is
//! written as `→` (tab), `␠` (a blank at the end of a line), `⍽` (no-break space) and `␍`; `file` and
//! `want` end in a line feed unless `∎` says otherwise.

use super::{PatchOptions, replace};

struct Case {
    name: &'static str,
    file: String,
    old: String,
    new: String,
    want: String,
}

#[test]
fn edits_that_are_clear_are_made_in_the_style_of_the_file() {
    check(include_str!("apply.txt"), |case, text| text.as_deref() == Some(&case.want));
}

#[test]
fn edits_of_something_else_are_refused() {
    check(include_str!("refuse.txt"), |case, text| text.is_none_or(|text| text == case.file));
}

#[test]
fn doubtful_edits_are_refused_or_right() {
    let mut right = 0;
    check(include_str!("either.txt"), |case, text| {
        right += usize::from(text.as_ref() == Some(&case.want));
        text.is_none_or(|text| text == case.want)
    });

    assert!(EITHER_RIGHT <= right, "only {right} of the doubtful edits are made");
}

/// How many of the doubtful edits are made, at least.
const EITHER_RIGHT: usize = 9;

/// Asserts that the text that each case gives, or that it gives none, is `right`.
#[track_caller]
fn check(cases: &'static str, mut right: impl FnMut(&Case, Option<String>) -> bool) {
    let mut wrong = String::new();
    for case in parse(cases) {
        let given = replace(&case.file, &case.old, &case.new, &PatchOptions::default());
        let text = given.as_ref().ok().map(|patched| patched.text.clone());
        if !right(&case, text) {
            let given = given.map_or_else(|err| err.to_string(), |patched| patched.text);
            wrong.extend(["\n=== ", case.name, "\n", &given]);
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

fn parse(cases: &'static str) -> impl Iterator<Item = Case> {
    cases.split("\n=== ").skip(1).map(|case| {
        let (name, sections) = case.split_once('\n').unwrap_or((case, ""));
        let section = |name: &str| -> String {
            let named = sections.split("<<< ").find_map(|section| section.strip_prefix(name));
            named.and_then(|section| section.strip_prefix('\n')).map(decoded).unwrap_or_default()
        };
        let whole = |name: &str| (section(name) + "\n").replace("∎\n", "");
        let (file, want) = (whole("file"), whole("want"));
        Case { name, file, old: section("old"), new: section("new"), want }
    })
}

fn decoded(section: &str) -> String {
    let section = section.strip_suffix('\n').unwrap_or(section);
    section.replace('→', "\t").replace('␠', " ").replace('⍽', "\u{a0}").replace('␍', "\r")
}
