//! Statements that remove more than rows that were asked for.

use super::DangerClass;

/// What can be dropped with everything in it.
const DROPPED: &str = "table database schema tablespace user role keyspace collection columnfamily";

/// Returns what is dangerous in the statements of `text`.
pub(super) fn judge(text: &str) -> Vec<DangerClass> {
    let mut found = Vec::new();
    for statement in statements(text) {
        let words: Vec<&str> = statement.iter().map(String::as_str).collect();
        found.extend(words.iter().enumerate().find_map(|(at, _)| {
            let rest = words.get(at..).unwrap_or_default();
            classify(rest)
        }));
    }
    found.dedup();
    found
}

fn classify(words: &[&str]) -> Option<DangerClass> {
    let is_any_row = || {
        let condition = words.iter().position(|it| *it == "where");
        condition.is_none_or(|at| {
            matches!(words.get(at.saturating_add(1)..), Some([] | ["true" | "1", ..]))
        })
    };
    match words {
        ["truncate", "table" | "only", _, ..] | ["truncate", _] => Some(DangerClass::SqlDrop),
        ["drop" | "alter", ..] => drops(words).then_some(DangerClass::SqlDrop),
        ["delete", "from", _, ..] | ["update", _, "set", ..] => {
            is_any_row().then_some(DangerClass::SqlAll)
        }
        _ => None,
    }
}

fn drops(words: &[&str]) -> bool {
    match words {
        ["drop", what, ..] => is_listed(what),
        ["alter", "table", rest @ ..] => rest.contains(&"drop"),
        _ => false,
    }
}

fn is_listed(what: &str) -> bool {
    DROPPED.split_ascii_whitespace().any(|it| it == what)
}

/// Returns the words of each statement in lower case, without texts and comments.
fn statements(text: &str) -> Vec<Vec<String>> {
    let mut all = vec![Vec::new()];
    let mut word = String::new();
    let mut chars = text.chars().peekable();
    while let Some(ch) = chars.next() {
        match ch {
            '\'' => while chars.next().is_some_and(|it| it != '\'') {},
            '-' if chars.next_if_eq(&'-').is_some() => {
                while chars.next().is_some_and(|it| it != '\n') {}
            }
            '/' if chars.next_if_eq(&'*').is_some() => {
                let mut last = ' ';
                for it in chars.by_ref() {
                    if last == '*' && it == '/' {
                        break;
                    }
                    last = it;
                }
            }
            _ if ch.is_alphanumeric() || "_.$".contains(ch) => {
                word.extend(ch.to_lowercase());
                continue;
            }
            _ => {}
        }
        if !word.is_empty()
            && let Some(statement) = all.last_mut()
        {
            statement.push(std::mem::take(&mut word));
        }
        if ch == ';' {
            all.push(Vec::new());
        }
    }
    if let Some(statement) = all.last_mut().filter(|_| !word.is_empty()) {
        statement.push(word);
    }
    all
}
