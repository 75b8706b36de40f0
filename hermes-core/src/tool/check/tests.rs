use serde_json::json;

use super::*;

#[track_caller]
fn check(given: &Value, expected: &[&str]) {
    let schema = json!({
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "limit": {"type": ["integer", "null"]},
            "mode": {"type": "string", "enum": ["fast", "slow"]},
        },
        "required": ["path"],
        "additionalProperties": false,
    });
    assert_eq!(arguments(&schema, given), expected);
}

#[test]
fn right_arguments_pass() {
    check(&json!({"path": "a", "limit": null, "mode": "fast"}), &[]);
}

#[test]
fn everything_wrong_is_listed() {
    check(
        &json!({"limit": "3", "mode": "quick", "paht": "a"}),
        &[
            "\"path\" is required. You passed \"paht\"; did you mean \"path\"?",
            "\"limit\" must be integer or null, not string.",
            "\"mode\" must be one of \"fast\", \"slow\", not \"quick\".",
            "\"paht\" is not an argument. Did you mean \"path\"? The arguments are: limit, mode, path.",
        ],
    );
}

#[test]
fn what_the_model_wrote_is_shown_in_part() {
    let long = "x".repeat(100_000);

    let wrong = arguments(
        &json!({"properties": {"mode": {"enum": [1]}}, "additionalProperties": false}),
        &json!({"mode": long, long.clone(): 1}),
    );

    assert_eq!(wrong.len(), 2);
    assert!(wrong.iter().all(|it| it.len() < 300), "{wrong:?}");
    assert_eq!(closest(&long, ["x"].into_iter()), None);
}

#[test]
fn arguments_must_be_an_object() {
    check(&json!([1]), &["The arguments must be a JSON object, not array."]);
}

/// A schema as it is made of nested types.
fn edits() -> Value {
    json!({
        "type": "object",
        "properties": {
            "edits": {"type": "array", "items": {"$ref": "#/$defs/Edit"}},
            "note": {"anyOf": [{"$ref": "#/$defs/Note"}, {"type": "null"}]},
        },
        "required": ["edits"],
        "$defs": {
            "Edit": {
                "type": "object",
                "properties": {
                    "old": {"type": "string"},
                    "new": {"type": "string"},
                    "line": {"type": ["integer", "null"]},
                    "how": {"oneOf": [{"const": "first"}, {"const": "every"}]},
                    "then": {"type": "array", "items": {"$ref": "#/$defs/Edit"}},
                },
                "required": ["old", "new"],
                "additionalProperties": false,
            },
            "Note": {
                "oneOf": [
                    {
                        "type": "object",
                        "properties": {"kind": {"const": "text"}, "text": {"type": "string"}},
                        "required": ["kind", "text"],
                    },
                    {
                        "type": "object",
                        "properties": {"kind": {"const": "page"}, "page": {"type": "integer"}},
                        "required": ["kind", "page"],
                    },
                ],
            },
        },
    })
}

#[test]
fn everything_wrong_at_every_level_is_listed_with_its_place() {
    let given = json!({
        "edits": [
            {"old": "a", "new": "b", "how": "every", "line": null, "then": []},
            {"oldd": "a", "new": 1, "line": "2", "how": "evry"},
            7,
            {"old": "a", "new": "b", "then": [{"old": "a", "new": "b"}, {"old": ["a"]}]},
        ],
        "note": {"kind": "page", "page": "3"},
    });

    assert_eq!(
        arguments(&edits(), &given),
        [
            "\"edits[1].old\" is required. You passed \"oldd\"; did you mean \"old\"?",
            "\"edits[1].how\" must be one of \"first\", \"every\", not \"evry\". Did you mean \"every\"?",
            "\"edits[1].line\" must be integer or null, not string.",
            "\"edits[1].new\" must be string, not number.",
            "\"edits[1].oldd\" is not known. Did you mean \"old\"? Known there are: how, line, new, old, then.",
            "\"edits[2]\" must be object, not number.",
            "\"edits[3].then[1].new\" is required.",
            "\"edits[3].then[1].old\" must be string, not array.",
            "\"note.page\" must be integer, not string.",
        ]
    );
    let note = json!({"edits": [], "note": "a"});
    assert_eq!(arguments(&edits(), &note), ["\"note\" must be object, not string."]);
}

#[test]
fn what_fits_at_every_level_passes() {
    let edit = json!({"old": "a", "new": "b", "line": 1, "how": "first", "then": null});
    for note in
        [json!(null), json!({"kind": "text", "text": "x"}), json!({"kind": "page", "page": 1})]
    {
        let given = json!({"edits": [edit], "note": note});
        assert_eq!(arguments(&edits(), &given), [""; 0], "{given}");
    }
}

#[test]
fn faults_are_listed_up_to_a_limit() {
    let given = json!({"edits": vec![json!({"x": 1}); 30_000]});
    let keys: Map<String, Value> = (0..30_000).map(|at| (format!("key{at}"), json!(at))).collect();
    let many = json!({"edits": [Value::Object(keys)]});

    for given in [given, many] {
        let faults = arguments(&edits(), &given);

        assert_eq!(faults.len(), 21);
        assert_eq!(faults[20], "There is more that is wrong.");
    }
}

#[test]
fn no_schema_and_no_value_takes_for_ever() {
    let turn = json!({"anyOf": [{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/B"}]});
    let each = |name: &str| {
        json!({
            "type": "object",
            "properties": {"x": turn, name: {"type": "integer"}},
            "required": [name],
        })
    };
    let schema = json!({
        "properties": {"x": turn, "loop": {"$ref": "#/properties/loop"}},
        "$defs": {"A": each("a"), "B": each("b")},
    });
    let mut deep = json!({"c": 1});
    for _ in 0..100 {
        deep = json!({"x": deep});
    }

    assert!(arguments(&schema, &json!({"x": deep, "loop": 1})).len() <= 21);
}

#[test]
fn a_schema_that_is_part_of_itself_ends() {
    let of_itself = json!({
        "allOf": [{"$ref": "#"}],
        "properties": {"a": {"type": "string"}},
        "required": ["b"],
    });
    let either = json!({
        "properties": {"a": {"$ref": "#/$defs/A"}},
        "$defs": {"A": {"anyOf": [{"$ref": "#/$defs/A"}, {"type": "string"}]}},
    });
    let deep: Map<String, Value> = (0..10_000)
        .map(|at| (format!("D{at}"), json!({"allOf": [{"$ref": format!("#/$defs/D{}", at + 1)}]})))
        .collect();
    let deep = json!({"$ref": "#/$defs/D0", "$defs": deep});

    assert_eq!(
        arguments(&of_itself, &json!({"a": 1})),
        ["\"b\" is required.", "\"a\" must be string, not number."]
    );
    for value in [json!("a"), json!(1), json!({"a": {"a": [1]}})] {
        assert_eq!(arguments(&either, &json!({"a": value})), [""; 0]);
    }
    assert_eq!(arguments(&deep, &json!({"a": 1})), [""; 0]);
}

#[test]
fn keys_that_a_pattern_may_match_are_let_through_and_their_values_checked() {
    let schema = json!({
        "properties": {
            "one": {
                "type": "object",
                "properties": {"named": {"type": "boolean"}},
                "patternProperties": {"^\\d+$": {"type": "string"}},
                "additionalProperties": false,
            },
            "many": {
                "patternProperties": {"^a": {"type": "string"}, "^b": {"type": "integer"}},
                "additionalProperties": false,
            },
            "open": {
                "patternProperties": {"^a": {"type": "string"}},
                "additionalProperties": {"type": "integer"},
            },
            "none": {"patternProperties": {}, "additionalProperties": false},
        },
    });
    let right = json!({
        "one": {"1": "a", "named": true}, "many": {"a": "a", "b": 1}, "open": {"a": "a", "c": 1},
    });
    let wrong = json!({"one": {"1": 1, "named": 1}, "none": {"a": 1}});

    assert_eq!(arguments(&schema, &right), [""; 0]);
    assert_eq!(
        arguments(&schema, &wrong),
        [
            "\"none.a\" is not known. Known there are: .",
            "\"one.1\" must be string, not number.",
            "\"one.named\" must be boolean, not number.",
        ]
    );
}

#[test]
fn null_is_let_through_where_it_is_allowed() {
    let schema = json!({
        "properties": {
            "plain": {"items": {"type": "string"}},
            "lines": {"items": {"type": "string", "nullable": true}},
            "modes": {"items": {"$ref": "#/$defs/Mode", "nullable": true}},
            "other": {"items": {"anyOf": [{"type": "string", "nullable": true}]}},
            "whole": {"items": {"nullable": true, "allOf": [{"$ref": "#/$defs/Mode"}]}},
        },
        "$defs": {"Mode": {"type": "string", "enum": ["fast"]}},
    });
    for key in ["lines", "modes", "other", "whole"] {
        assert_eq!(arguments(&schema, &json!({key: ["fast", null]})), [""; 0], "{key}");
        assert_eq!(arguments(&schema, &json!({key: [1]})).len(), 1, "{key}");
    }
    assert_eq!(
        arguments(&schema, &json!({"plain": [null]})),
        ["\"plain[0]\" must be string, not null."]
    );
}

#[test]
fn a_nested_whole_number_is_an_integer_however_it_is_written() {
    let schema = json!({
        "properties": {
            "lines": {"items": {"type": "integer"}},
            "maybe": {"items": {"anyOf": [{"type": "integer"}, {"type": "null"}]}},
            "line": {"type": "integer"},
        },
    });

    assert_eq!(arguments(&schema, &json!({"lines": [5, 5.0, -1e3], "maybe": [5.0]})), [""; 0]);
    assert_eq!(
        arguments(&schema, &json!({"lines": [5.5], "maybe": [5.5], "line": 5.0})),
        [
            "\"line\" must be integer, not number.",
            "\"lines[0]\" must be integer, not number.",
            "\"maybe[0]\" must be integer or null, not number.",
        ]
    );
}

#[test]
fn of_alternatives_the_one_that_is_meant_is_told() {
    let model = json!({
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
        "required": ["a", "b"],
    });
    let none = json!({"type": "null"});
    let wanted = ["\"note.a\" is required.", "\"note.b\" is required."];
    for either in [json!([model, none]), json!([none, model])] {
        for keyword in ["anyOf", "oneOf"] {
            let schema = json!({"properties": {"note": {keyword: either}}, "required": ["note"]});
            assert_eq!(arguments(&schema, &json!({"note": {}})), wanted, "{schema}");
        }
    }
}

#[test]
fn of_tagged_alternatives_the_one_with_the_tag_is_told() {
    for small in [json!({"const": "none"}), json!({"enum": ["none"]})] {
        let schema = json!({"properties": {"x": {"oneOf": [
            {"type": "object", "properties": {"kind": small}, "required": ["kind"]},
            {
                "type": "object",
                "properties": {"kind": {"const": "page"}, "page": {}, "title": {}},
                "required": ["kind", "page", "title"],
            },
        ]}}});

        assert_eq!(
            arguments(&schema, &json!({"x": {"kind": "page", "pagee": 1}})),
            [
                "\"x.page\" is required. You passed \"pagee\"; did you mean \"page\"?",
                "\"x.title\" is required."
            ]
        );
    }
}

#[test]
fn numbers_are_the_same_however_they_are_written() {
    let schema = json!({"properties": {
        "half": {"type": "number", "enum": [0.5, 1, 2]},
        "whole": {"enum": [1.0, 2.0]},
        "list": {"items": {"type": "integer", "enum": [1, 2]}},
    }});

    assert_eq!(arguments(&schema, &json!({"half": 1.0, "whole": 1, "list": [2.0]})), [""; 0]);
    assert_eq!(arguments(&schema, &json!({"half": 1.5, "whole": 3, "list": [3.0]})).len(), 3);
    let exact = json!({"properties": {"id": {"enum": [9_007_199_254_740_992_u64]}}});
    assert_eq!(arguments(&exact, &json!({"id": 9_007_199_254_740_993_u64})).len(), 1);
}

#[test]
fn null_is_let_through_where_one_of_several_lists_allows_it() {
    let either = json!([{"type": "string", "enum": ["a"], "nullable": true}, {"const": "b"}]);
    let schema = json!({"properties": {"modes": {"items": {"oneOf": either}}}});

    assert_eq!(arguments(&schema, &json!({"modes": ["a", "b", null]})), [""; 0]);
    assert_eq!(
        arguments(&schema, &json!({"modes": ["c"]})),
        ["\"modes[0]\" must be one of \"a\", \"b\", not \"c\"."]
    );
}

#[test]
fn an_integer_that_is_too_great_to_be_read_as_one_is_let_through() {
    let schema = json!({"properties": {"id": {"type": "integer"}}});
    let great: Value = serde_json::from_str(r#"{"id": 18446744073709551616}"#).unwrap();

    assert_eq!(arguments(&schema, &great), [""; 0]);
}

#[test]
fn hints_take_no_longer_than_values() {
    let required = ["aa", "bb", "cc"].map(|it| it.repeat(60));
    let variant = json!({"type": "object", "required": required});
    let mut any: Vec<Value> = vec![variant; 20];
    any.push(json!({"type": "object"}));
    let schema = json!({"properties": {"all": {"items": {"anyOf": any}}}});
    let keys: Map<String, Value> = (0..64).map(|at| (format!("{at:0>120}"), json!(1))).collect();
    let start = std::time::Instant::now();

    assert_eq!(arguments(&schema, &json!({"all": vec![keys; 100]})), [""; 0]);

    assert!(start.elapsed().as_secs() < 2, "{:?}", start.elapsed());
}
