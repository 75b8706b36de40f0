//! Tasks as the model states them, and as their sub-agents are told.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::tool::closest;

/// One task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Task {
    pub(super) goal: String,
    pub(super) context: Option<String>,
    /// The tools its sub-agent may call, if not all it could have.
    pub(super) tools: Option<Vec<Arc<str>>>,
}

const KEYS: [&str; 3] = ["goal", "context", "tools"];

/// Reads the tasks of a call, of which there may be `limit` with these `tools`.
///
/// # Errors
///
/// Everything that is wrong, as sentences for the model.
pub(super) fn read(
    arguments: &Value,
    tools: &[Arc<str>],
    limit: usize,
) -> Result<Vec<Task>, Vec<String>> {
    let Some(given) = arguments.get("tasks").and_then(Value::as_array) else {
        return Err(vec!["\"tasks\" must be a list of tasks.".to_owned()]);
    };
    let mut problems = Vec::new();
    if given.is_empty() {
        problems.push("\"tasks\" is empty.".to_owned());
    }
    if limit < given.len() {
        problems.push(format!(
            "There are {} tasks, and at most {limit} in one call; send the rest in another.",
            given.len()
        ));
    }
    let mut tasks = Vec::new();
    for (at, task) in given.iter().enumerate() {
        let mut wrong = Vec::new();
        tasks.extend(one(task, tools, &mut wrong));
        let number = at.saturating_add(1);
        problems.extend(wrong.into_iter().map(|it| format!("Task {number}: {it}")));
    }
    if problems.is_empty() { Ok(tasks) } else { Err(problems) }
}

fn one(task: &Value, tools: &[Arc<str>], wrong: &mut Vec<String>) -> Option<Task> {
    let Some(given) = task.as_object() else {
        wrong.push("it must be an object with a \"goal\".".to_owned());
        return None;
    };
    unknown_keys(given, wrong);
    let goal = text(given, "goal", wrong);
    if goal.is_none() && given.get("goal").is_none_or(Value::is_null) {
        wrong.push("\"goal\" is required.".to_owned());
    }
    let context = text(given, "context", wrong);
    let tools = chosen(given, tools, wrong);
    if goal.as_ref().is_some_and(|it| it.trim().is_empty()) {
        wrong.push("\"goal\" is blank.".to_owned());
    }
    Some(Task { goal: goal?, context: context.filter(|it| !it.trim().is_empty()), tools })
}

fn unknown_keys(given: &Map<String, Value>, wrong: &mut Vec<String>) {
    for key in given.keys().filter(|key| !KEYS.contains(&key.as_str())) {
        let hint = closest(key, KEYS.into_iter());
        let hint = hint.map(|close| format!(" Did you mean {close:?}?")).unwrap_or_default();
        wrong.push(format!("{key:?} is not known.{hint}"));
    }
}

fn text(given: &Map<String, Value>, key: &str, wrong: &mut Vec<String>) -> Option<String> {
    match given.get(key)? {
        Value::String(text) => Some(text.clone()),
        Value::Null => None,
        _ => {
            wrong.push(format!("{key:?} must be a text."));
            None
        }
    }
}

/// Returns the tools that the task names, if it names some.
fn chosen(
    given: &Map<String, Value>,
    tools: &[Arc<str>],
    wrong: &mut Vec<String>,
) -> Option<Vec<Arc<str>>> {
    let names = match given.get("tools")? {
        Value::Null => return None,
        Value::Array(names) => names,
        _ => {
            wrong.push("\"tools\" must be a list of names.".to_owned());
            return None;
        }
    };
    let mut chosen: Vec<Arc<str>> = Vec::new();
    for name in names {
        let known = name.as_str().and_then(|name| tools.iter().find(|it| &***it == name));
        match known {
            Some(tool) if chosen.contains(tool) => {}
            Some(tool) => chosen.push(Arc::clone(tool)),
            None => wrong.push(no_such_tool(name, tools)),
        }
    }
    Some(chosen)
}

fn no_such_tool(name: &Value, tools: &[Arc<str>]) -> String {
    let hint = name.as_str().and_then(|name| closest(name, tools.iter().map(|it| &**it)));
    let hint = hint.map(|close| format!(" Did you mean {close:?}?")).unwrap_or_default();
    let known = if tools.is_empty() { "none".to_owned() } else { tools.join(", ") };
    format!("sub-agents have no tool {name}.{hint} They have: {known}.")
}

impl Task {
    /// Returns what its sub-agent is told, which may call `tools`.
    pub(super) fn prompt(&self, tools: &[Arc<str>]) -> String {
        let context = self.context.as_ref();
        let context =
            context.map(|it| format!("What you need to know:\n{it}\n\n")).unwrap_or_default();
        let tools = if tools.is_empty() {
            "You may call no tools here.".to_owned()
        } else {
            format!("You may call these tools, and no others: {}.", tools.join(", "))
        };
        format!(
            "You are a sub-agent: another agent has handed you the task below and sees nothing of your \
             work but your last message. Nobody can answer questions, so decide what is left open, and \
             say how you decided.\n\nTask:\n{}\n\n{context}{tools}\n\nEnd with a short report: what you \
             found or did, with the paths, names and values that matter, and what is unfinished, failed \
             or unchecked.",
            self.goal
        )
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tools() -> Vec<Arc<str>> {
        vec!["read_file".into(), "search".into()]
    }

    #[track_caller]
    fn check(tasks: &Value, problems: &[&str]) {
        let read = read(&json!({"tasks": tasks}), &tools(), 2);
        assert_eq!(read.unwrap_err(), problems);
    }

    #[test]
    fn tasks_are_read_in_order() {
        let tasks = json!([
            {"goal": "a", "context": "c", "tools": ["search", "search"]},
            {"goal": "b", "context": null, "tools": null},
        ]);

        let read = read(&json!({"tasks": tasks}), &tools(), 2).unwrap();

        let task = |goal: &str, context: Option<&str>, tools: Option<Vec<Arc<str>>>| Task {
            goal: goal.to_owned(),
            context: context.map(str::to_owned),
            tools,
        };
        assert_eq!(
            read,
            [task("a", Some("c"), Some(vec!["search".into()])), task("b", None, None)]
        );
    }

    #[test]
    fn all_that_is_wrong_is_said_at_once() {
        check(
            &json!([
                {"gaol": "a", "tools": ["serach", 7]},
                {"goal": " ", "context": 1},
                "c",
            ]),
            &[
                "There are 3 tasks, and at most 2 in one call; send the rest in another.",
                "Task 1: \"gaol\" is not known. Did you mean \"goal\"?",
                "Task 1: \"goal\" is required.",
                "Task 1: sub-agents have no tool \"serach\". Did you mean \"search\"? They have: \
                 read_file, search.",
                "Task 1: sub-agents have no tool 7. They have: read_file, search.",
                "Task 2: \"context\" must be a text.",
                "Task 2: \"goal\" is blank.",
                "Task 3: it must be an object with a \"goal\".",
            ],
        );
        check(&json!([]), &["\"tasks\" is empty."]);
        check(&json!("x"), &["\"tasks\" must be a list of tasks."]);
        check(
            &json!([{"goal": 1, "tools": "x"}]),
            &["Task 1: \"goal\" must be a text.", "Task 1: \"tools\" must be a list of names."],
        );
    }
}
