//! Dangerous commands and harmless ones, as one list each, and what holds of any text.

use proptest::prelude::*;

use super::*;

fn lines(list: &str) -> impl Iterator<Item = String> {
    let lines = list.lines().map(str::trim_end).filter(|it| !it.is_empty());
    lines.map(|it| it.replace("⏎", "\n"))
}

/// Panics with every line of `list` that is not found, or found as something else. A line has the id
/// that is expected, and a command in which `⏎` stands for a line end.
#[track_caller]
fn check_dangerous(list: &str) {
    let mut wrong = Vec::new();
    let mut count = 0;
    for line in lines(list) {
        count += 1;
        let (id, command) = line.split_once(' ').unwrap();
        let found: Vec<&str> = dangerous(command.trim_start()).iter().map(Danger::id).collect();
        if !found.contains(&id) {
            wrong.push(format!("{command} -> {found:?}, not {id}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
}

#[track_caller]
fn check_harmless(list: &str) {
    let mut wrong = Vec::new();
    let mut count = 0;
    for command in lines(list) {
        count += 1;
        let found: Vec<&str> = dangerous(&command).iter().map(Danger::id).collect();
        if !found.is_empty() {
            wrong.push(format!("{command} -> {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn dangerous_commands_are_found() {
    check_dangerous(include_str!("tests/dangerous.txt"));
}

#[test]
fn harmless_commands_are_left_alone() {
    check_harmless(include_str!("tests/harmless.txt"));
}

#[test]
fn fresh_dangerous_commands_are_found() {
    check_dangerous(include_str!("tests/fresh_dangerous.txt"));
}

#[test]
fn fresh_harmless_commands_are_left_alone() {
    check_harmless(include_str!("tests/fresh_harmless.txt"));
}

#[test]
fn the_range_is_that_of_the_command() {
    let command = "echo x; sudo rm -rf build && echo y";

    let found = dangerous(command);

    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(command.get(found[0].range.clone()), Some("rm -rf build"));
}

#[test]
fn what_is_too_long_is_not_judged_harmless() {
    let command = "a".repeat(MAX_LEN + 1);

    assert_eq!(dangerous(&command)[0].class, DangerClass::Unreadable);
}

#[test]
fn what_is_too_deep_is_not_judged_harmless() {
    let deep = [
        "sudo ".repeat(5_000) + "ls",
        "$(".repeat(5_000),
        "(".repeat(5_000) + "ls",
        "{ ".repeat(5_000) + "ls",
        "${a:-".repeat(5_000),
        "a=xxxxxxxxxxxxxxxx;".to_owned() + &"a=$a$a$a$a;".repeat(50) + "echo $a",
        "f(){ f; f; }; f".to_owned(),
    ];

    for command in deep {
        let found = dangerous(&command);
        assert!(
            found.iter().any(|it| it.class == DangerClass::Unreadable),
            "{}",
            command.get(..20).unwrap()
        );
    }
}

#[test]
fn time_is_in_proportion_to_the_length() {
    let units = [
        "rm ",
        "'",
        "\"",
        "`",
        "$(",
        "<<A\n",
        "a=b;",
        "{a,b}",
        "done\n",
        "|",
        "(",
        "x|sh;",
        "${x}",
        "\\",
        "echo $x;",
        "x<<<y ",
        "case a in b) c;; esac;",
        "/*",
        "[",
        "?*",
        "* ",
        "f(){ f;};",
        "a=$a$a;",
        "find -exec a \\; ",
        "delete from x;",
        "delete from ",
        "python -c '1' ",
        "xargs ",
        "bash -c ",
        "\u{202e}",
        "мα",
        "# ",
        "-",
        "/b*/r?[a-z]* ",
        "alias a=b;a;",
        "--",
        "x=${x/a/aa};",
        "printf %s%s ",
    ];
    let mut slow = Vec::new();
    for unit in units {
        let command: String = unit.repeat(40_000 / unit.len());
        let start = std::time::Instant::now();
        let _ = dangerous(&command);
        let took = start.elapsed();
        if std::time::Duration::from_secs(5) < took {
            slow.push((unit, took));
        }
    }
    assert!(slow.is_empty(), "{slow:?}");
}

fn piece() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        Just("rm"),
        Just("-rf"),
        Just("/"),
        Just("sudo"),
        Just("bash"),
        Just("-c"),
        Just("$a"),
        Just("a="),
        Just("${a:-"),
        Just("$("),
        Just("`"),
        Just("'"),
        Just("\""),
        Just("\\"),
        Just("|"),
        Just(";"),
        Just("&&"),
        Just("<<E\n"),
        Just("\nE\n"),
        Just("("),
        Just(")"),
        Just("{"),
        Just("}"),
        Just("case"),
        Just(" in "),
        Just("esac"),
        Just("for"),
        Just("done"),
        Just("[["),
        Just("xargs"),
        Just("find"),
        Just("-exec"),
        Just(">"),
        Just("<("),
        Just("eval"),
        Just("f()"),
        Just("é"),
        Just("\u{200b}"),
        Just("base64 -d"),
        Just("echo"),
        Just("printf"),
        Just("%s"),
        Just("{a,b}"),
        Just("python -c"),
    ];
    prop_oneof![4 => word.prop_map(str::to_owned), 1 => "\\PC{0,4}"]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_judged_and_every_range_is_in_it(pieces in prop::collection::vec(piece(), 0..24), blank in any::<bool>()) {
        let command = pieces.join(if blank { " " } else { "" });
        for danger in dangerous(&command) {
            prop_assert!(command.get(danger.range.clone()).is_some(), "{danger:?} in {command:?}");
        }
    }
}
