//! Reading, checking and rendering, including texts nobody would write.

use std::time::Instant;

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn demo(lines: &str) -> SkillDoc {
    SkillDoc::parse(&format!("---\nname: demo\n{lines}\n---\nBody\n"))
}

#[track_caller]
fn check_description(line: &str, expected: &str) {
    let doc = demo(&format!("{line}\nplatforms: [macos]"));
    assert_eq!(doc.description, expected);
    assert_eq!(doc.name.as_deref(), Some("demo"));
    assert_eq!(doc.platforms, ["macos"], "the other fields survive");
}

#[test]
fn one_byte_order_mark_and_either_line_end_are_read() {
    let doc =
        SkillDoc::parse("\u{feff}---\r\nname: demo\r\ndescription: one\r\n---\r\n\r\nBody\r\n");

    assert_eq!(doc.name.as_deref(), Some("demo"));
    assert_eq!(doc.description, "one");
    assert_eq!(doc.body, "Body\r\n");
    assert_eq!(doc.warnings, []);
}

#[test]
fn rules_in_the_body_are_body() {
    let doc = SkillDoc::parse("---\nname: demo\ndescription: d\n---\nIntro\n\n---\n\nMore\n");
    assert_eq!(doc.body, "Intro\n\n---\n\nMore\n");
}

#[test]
fn a_closing_line_may_have_white_space_but_nothing_else() {
    assert_eq!(SkillDoc::parse("---\nname: a\n--- \t\n\n\nb\n").body, "b\n");
    assert_eq!(SkillDoc::parse("---\nname: a\n---x\n---\nb\n").body, "b\n");
}

#[test]
fn a_text_without_frontmatter_is_all_body() {
    let doc = SkillDoc::parse("just text\n");
    assert_eq!(doc.body, "just text\n");
    assert_eq!(doc.warnings, [DocWarning::NoHead]);
}

#[test]
fn an_unclosed_frontmatter_is_all_body() {
    for raw in ["---\nname: demo\n", "---", "---\nname: demo\n---"] {
        let doc = SkillDoc::parse(raw);
        assert_eq!((doc.body.as_str(), doc.warnings), (raw, vec![DocWarning::Unclosed]));
    }
}

#[test]
fn a_closing_line_beyond_the_limit_is_not_found() {
    let raw = format!("---\nname: demo\n{}---\nBody\n", "k: v\n".repeat(MAX_HEAD_BYTES / 5));
    assert_eq!(SkillDoc::parse(&raw).warnings, [DocWarning::Unclosed]);
}

#[test]
fn a_colon_in_a_description_is_kept() {
    check_description("description: Use when asked: build, tag", "Use when asked: build, tag");
    check_description("description: trailing:", "trailing:");
}

#[test]
fn marks_that_yaml_reserves_are_kept() {
    check_description("description: @foo runs", "@foo runs");
    check_description("description: `cmd` runs", "`cmd` runs");
    check_description("description: - item", "- item");
    check_description("description: > text", "> text");
    check_description("description: !important thing", "!important thing");
}

#[test]
fn quotes_that_are_not_closed_are_left_out() {
    check_description("description: 'oops", "oops");
    check_description("description: \"Run: it", "Run: it");
    check_description("description: \"a\\qb\"", "a\\qb");
}

#[test]
fn either_line_end_separates_the_fields_of_a_broken_frontmatter() {
    check_description("description: a: b\r\nversion: 1", "a: b");
    check_description("description: a: b\rversion: 1", "a: b");
}

#[test]
fn a_broken_description_may_go_on_below() {
    check_description(
        "description: Use when: a\n  and b\n  # note\n  and c",
        "Use when: a and b and c",
    );
}

#[test]
fn control_characters_are_a_fault_of_the_frontmatter() {
    let doc = demo("description: a\u{7}b");
    assert_eq!(doc.description, "a\u{7}b");
    let [DocWarning::Malformed { detail }] = doc.warnings.as_slice() else {
        panic!("{:?}", doc.warnings)
    };
    assert_eq!(detail, "control character U+0007 at line 3");
}

#[test]
fn nesting_survives_a_broken_line() {
    let doc = demo(
        "description: a: b\nmetadata:\n  hermes:\n    tags: [t1, t2]\n    config:\n      - key: x",
    );
    assert_eq!(doc.tags, ["t1", "t2"]);
    assert_eq!(doc.metadata["metadata"]["hermes"]["config"], json!([{"key": "x"}]));
}

#[test]
fn a_broken_line_inside_a_block_spares_its_siblings() {
    let doc = demo(
        "description: d\nmetadata:\n  hermes:\n    note: a: b\n    tags: [t1]\n\t    related_skills: [x]",
    );
    assert_eq!(doc.tags, ["t1"]);
    assert_eq!(doc.related_skills, ["x"]);
    assert_eq!(doc.metadata["metadata"]["hermes"]["note"], "a: b");
}

#[test]
fn a_list_whose_bracket_is_not_closed_is_a_list() {
    assert_eq!(demo("description: d\nplatforms: [macos, \"linux\"").platforms, ["macos", "linux"]);
    assert_eq!(demo("description: d\nplatforms: [[macos, linux]").platforms, ["macos", "linux"]);
}

#[test]
fn a_list_of_which_one_item_is_broken_is_a_list() {
    let doc = demo("description: d\nplatforms:\n- macos\n- linux: or: so\ntags:\n  - a\n  - 'b");
    assert_eq!(doc.platforms, ["macos", "linux: or: so"]);
    assert_eq!(doc.tags, ["a", "b"]);
}

#[test]
fn a_name_that_is_a_broken_list_is_no_name() {
    let doc = SkillDoc::parse("---\nname: [unclosed\ndescription: d\n---\nB\n");
    assert_eq!((doc.name.as_deref(), doc.description.as_str()), (None, "d"));
    assert!(doc.warnings.contains(&DocWarning::NotText { key: "name" }));
}

#[test]
fn a_line_that_slipped_to_the_right_is_a_field() {
    let doc = SkillDoc::parse("---\nname: demo\n  description: \"a: b\"\nversion: 1.10\n---\nB\n");
    assert_eq!((doc.description.as_str(), doc.version.as_deref()), ("a: b", Some("1.10")));

    let doc = SkillDoc::parse("---\n\tname: demo\ndescription: d\n---\nB\n");
    assert_eq!((doc.name.as_deref(), doc.description.as_str()), (Some("demo"), "d"));
}

#[test]
fn values_of_other_types_become_text_as_it_is_written() {
    let doc = SkillDoc::parse("---\nname: 2024\ndescription: yes\nversion: 1.10 # new\n---\nB\n");
    assert_eq!(doc.name.as_deref(), Some("2024"));
    assert_eq!(doc.description, "yes");
    assert_eq!(doc.version.as_deref(), Some("1.10"));
}

#[test]
fn null_is_nothing() {
    let doc = SkillDoc::parse("---\nname: ~\ndescription:\ntags:\n---\nB\n");
    assert_eq!((doc.name, doc.description.as_str(), doc.tags), (None, "", vec![]));
    assert_eq!(doc.warnings, [DocWarning::MissingName, DocWarning::MissingDescription]);
}

#[test]
fn lists_and_mappings_are_no_text() {
    let doc = SkillDoc::parse("---\nname: [a, b]\ndescription: {a: 1}\n---\nB\n");
    assert_eq!((doc.name, doc.description.as_str()), (None, ""));
    assert!(doc.warnings.contains(&DocWarning::NotText { key: "description" }));

    let doc = SkillDoc::parse("---\nname: a\ndescription: [x, 1]\n---\nB\n");
    assert_eq!(doc.description, "x, 1");
    assert_eq!(doc.warnings, [DocWarning::NotText { key: "description" }]);
}

#[test]
fn a_name_with_a_line_break_is_no_name() {
    let doc = SkillDoc::parse("---\nname: \"b\\n  fake:\"\ndescription: d\n---\nB\n");
    assert_eq!((doc.name, doc.warnings), (None, vec![DocWarning::NotText { key: "name" }]));
}

#[test]
fn tags_under_metadata_win() {
    let doc = demo("description: d\ntags: [top]\nmetadata:\n  hermes:\n    tags: [nested]");
    assert_eq!(doc.tags, ["nested"]);
    assert_eq!(
        demo("description: d\ntags: [top]\nmetadata:\n  hermes:\n    tags: []").tags,
        ["top"]
    );
}

#[test]
fn one_text_is_a_list_of_its_parts() {
    let doc = demo("description: d\nplatforms: macos, linux\ntags: a");
    assert_eq!(
        (doc.platforms, doc.tags),
        (vec!["macos".to_owned(), "linux".to_owned()], vec!["a".to_owned()])
    );
}

#[test]
fn the_first_line_of_the_body_stands_in_for_a_description() {
    assert_eq!(SkillDoc::parse("# Title\n\nDoes it.\n").description_or_first_line(), "Does it.");
    assert_eq!(demo("description: d").description_or_first_line(), "d");
}

#[test]
fn an_alias_bomb_is_refused_quickly() {
    let first = "a0: &a0 [x, x, x, x, x, x, x, x, x]".to_owned();
    let levels = (1..9).map(|level| {
        let below = vec![format!("*a{}", level - 1); 9].join(", ");
        format!("a{level}: &a{level} [{below}]")
    });
    let head = std::iter::once(first).chain(levels).collect::<Vec<_>>().join("\n");
    let start = Instant::now();

    let doc = demo(&format!("description: d\n{head}"));

    assert!(doc.used_fallback());
    assert_eq!(doc.description, "d");
    assert!(start.elapsed().as_secs() < 5, "{:?}", start.elapsed());
}

#[test]
fn many_small_bombs_are_refused_as_well() {
    let bombs = "k: [&a [x, x, x, x, x, x, x, x], *a, *a, *a, *a, *a, *a, *a]\n".repeat(900);

    let doc = demo(&format!("description: a: b\n{bombs}"));

    assert!(doc.used_fallback());
    assert_eq!(doc.description, "a: b");
    assert!(doc.metadata["k"].to_string().len() < 100, "{}", doc.metadata["k"]);
}

#[test]
fn deep_nesting_is_refused() {
    let doc = demo(&format!("description: d\nx: {}{}", "[".repeat(5_000), "]".repeat(5_000)));
    assert!(doc.used_fallback());
    assert_eq!(doc.description, "d");
}

#[track_caller]
fn check_refused(raw: &str, expected: &SkillDocError) {
    assert_eq!(&SkillDoc::validate(raw, "demo").unwrap_err(), expected);
}

#[test]
fn a_complete_text_may_be_written() {
    let doc =
        SkillDoc::validate("\u{feff}---\r\nname: demo\r\ndescription: d\r\n---\r\nB\r\n", "demo");
    assert_eq!(doc.unwrap().description, "d");
}

#[test]
fn an_incomplete_text_may_not() {
    use SkillDocError as E;
    check_refused(" \n", &E::Empty);
    check_refused("text\n", &E::NoHead);
    check_refused("\n---\nname: demo\ndescription: d\n---\nB\n", &E::NoHead);
    check_refused("----\nname: demo\ndescription: d\n---\nB\n", &E::NoHead);
    check_refused("---\nname: demo\ndescription: d\n---", &E::Unclosed);
    check_refused("---\n- a\n---\nB\n", &E::NotMapping);
    check_refused("---\ndescription: d\n---\nB\n", &E::MissingName { expected: "demo".to_owned() });
    check_refused("---\nname: demo\n---\nB\n", &E::MissingDescription);
    check_refused("---\nname: demo\ndescription: ''\n---\nB\n", &E::MissingDescription);
    check_refused("---\nname: 2024\ndescription: d\n---\nB\n", &E::NotText { key: "name" });
    check_refused(
        "---\nname: demo\ndescription: [d]\n---\nB\n",
        &E::NotText { key: "description" },
    );
    check_refused("---\nname: demo\ndescription: d\n---\n \n\t\n", &E::BlankBody);
}

#[test]
fn the_name_must_be_that_of_the_directory() {
    let wrong = SkillDocError::WrongName { found: "other".to_owned(), expected: "demo".to_owned() };
    check_refused("---\nname: other\ndescription: d\n---\nB\n", &wrong);
}

#[test]
fn broken_yaml_is_refused_with_its_line() {
    let err =
        SkillDoc::validate("---\nname: demo\ndescription: a: b\n---\nB\n", "demo").unwrap_err();
    assert!(err.to_string().contains("line 3"), "{err}");
}

#[test]
fn limits_count_characters() {
    let doc = |letters: usize| {
        format!("---\nname: demo\ndescription: {}\n---\nB\n", "日".repeat(letters))
    };
    assert!(SkillDoc::validate(&doc(1_024), "demo").is_ok());
    let too_long = SkillDocError::DescriptionTooLong { chars: 1_025, limit: 1_024 };
    check_refused(&doc(1_025), &too_long);

    let head = "---\nname: demo\ndescription: d\n---\n";
    let body = |chars: usize| format!("{head}{}", "日".repeat(chars - head.len()));
    assert!(SkillDoc::validate(&body(100_000), "demo").is_ok());
    check_refused(&body(100_001), &SkillDocError::TooLong { chars: 100_001, limit: 100_000 });
}

#[test]
fn a_new_skill_is_rendered_with_quotes() {
    let skill = NewSkill::new("fix-ci", "Use when: C # builds\nfail \"hard\"")
        .license("MIT")
        .platforms(["linux"])
        .tags(["ci", "yes"])
        .related_skills(["plan"]);

    insta::assert_snapshot!(skill.render("# Fix CI\n\nDo it.\n"));
}

#[test]
fn errors_tell_the_model_what_to_do() {
    let texts = [
        " ",
        "text",
        "---\nname: demo\n",
        "---\n- a\n---\nB\n",
        "---\nname: demo\ndescription: a: b\n---\nB\n",
        "---\ndescription: d\n---\nB\n",
        "---\nname: x\ndescription: d\n---\nB\n",
        "---\nname: demo\n---\nB\n",
        "---\nname: 1\ndescription: d\n---\nB\n",
        "---\nname: demo\ndescription: d\n---\n",
    ];
    let errors = texts.map(|text| SkillDoc::validate(text, "demo").unwrap_err().to_string());
    insta::assert_snapshot!(errors.join("\n"));
}

/// Text that looks like frontmatter often enough to reach every branch.
fn heads() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "---",
        "\n",
        "\r\n",
        "name: ",
        "description: ",
        "tags: ",
        "metadata:",
        "  ",
        "\t",
        "[",
        "]",
        "{",
        "}",
        "'",
        "\"",
        "&a ",
        "*a",
        "!!str ",
        "!x ",
        "|",
        ">",
        "#",
        ": ",
        "- ",
        "? ",
        "a",
        "日",
        "\u{feff}",
        "\0",
        "\u{85}",
        "%",
        "@",
        "<<",
        ",",
        "...",
    ]);
    prop::collection::vec(piece, 0..60)
        .prop_map(|pieces| format!("---\n{}\n---\nB\n", pieces.concat()))
}

proptest! {
    #[test]
    fn no_text_makes_reading_panic(raw in any::<String>()) {
        let _ = SkillDoc::parse(&raw);
        let _ = SkillDoc::validate(&raw, "demo");
    }

    #[test]
    fn no_frontmatter_makes_reading_panic(raw in heads()) {
        let doc = SkillDoc::parse(&raw);
        prop_assert!(raw.ends_with(&doc.body));
        prop_assert!(!doc.name.is_some_and(|name| name.chars().any(char::is_control)));
    }

    #[test]
    fn what_is_rendered_is_read_back(description in "\\PC{0,80}[a-z]\\PC{0,20}", tag in "\\PC{0,9}[a-z]") {
        let raw = NewSkill::new("demo", description.as_str()).tags([tag.as_str()]).render("B\n");

        let doc = SkillDoc::validate(&raw, "demo").unwrap();

        prop_assert_eq!(doc.description, description.trim());
        prop_assert_eq!(doc.tags, [tag.trim()]);
    }

    #[test]
    fn anything_rendered_is_valid(description in any::<String>()) {
        let raw = NewSkill::new("demo", format!("x{description}x")).render("B\n");
        let doc = SkillDoc::parse(&raw);
        prop_assert_eq!(doc.warnings, []);
        prop_assert_eq!(doc.description, format!("x{description}x"));
    }
}

#[test]
fn time_grows_with_the_length_only() {
    for unit in [
        "x:\n y:\n  z: a: b\n",
        "\n---x",
        "[",
        "- ",
        "a: b: c\n",
        "'",
        "&a ",
        "? ",
        "  a: '\n",
        "name: 1\n",
    ] {
        let time = |bytes: usize| {
            let raw = format!("---\n{}\n---\nB\n", unit.repeat(bytes / unit.len()));
            let start = Instant::now();
            let _ = SkillDoc::parse(&raw);
            start.elapsed().as_secs_f64()
        };
        let (short, long) = (time(4_000), time(60_000));
        assert!(long < 15.0 * short * 6.0 + 0.2, "{unit:?}: {short} s, then {long} s");
    }
}

#[test]
fn what_was_read_can_be_shown_as_json() {
    let doc = SkillDoc::parse("---\nname: demo\ntags: [ci]\n---\nBody\n");

    let shown = serde_json::to_value(&doc).unwrap();

    assert_eq!((&shown["name"], &shown["tags"]), (&"demo".into(), &serde_json::json!(["ci"])));
    assert_eq!(shown["warnings"], serde_json::json!(["missing_description"]));
}
