//! Reads the arguments of a call, however a model spells them.

use hermes_core::{
    memory::{MemoryEdit, Target},
    serde_json::{Map, Value},
};

use crate::extension::Targets;

/// What a call asks for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) target: Target,
    pub(crate) edits: Vec<MemoryEdit>,
    pub(crate) form: Form,
}

/// Whether the edits came one by one or as a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Single,
    Batch,
}

/// Why a call cannot be read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Mistake {
    /// The list it is about, as far as that can be told.
    pub(super) target: Option<Target>,
    pub(super) form: Form,
    pub(super) kind: MistakeKind,
    /// What to put right, for the model.
    pub(crate) message: String,
}

/// What a mistake is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MistakeKind {
    Target,
    Action,
    Operations,
    Content,
    /// The passage is not given.
    NoOldText,
    /// The passage is not text, or blank.
    OldText,
}

impl MistakeKind {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Target => "invalid_target",
            Self::Action => "invalid_action",
            Self::Operations => "invalid_operations",
            Self::Content => "invalid_content",
            Self::NoOldText => "missing_old_text",
            Self::OldText => "invalid_old_text",
        }
    }
}

type Object = Map<String, Value>;
type Wrong = (MistakeKind, String);

/// The names under which models pass the two texts, ours first.
const CONTENT: [&str; 6] = ["content", "new_text", "new_string", "new_content", "text", "entry"];
const OLD_TEXT: [&str; 4] = ["old_text", "old_string", "old_content", "match"];

/// Reads `arguments`. Null stands for an argument that is not given.
pub(crate) fn read(arguments: &Value, targets: Targets) -> Result<Request, Mistake> {
    let none = Object::new();
    let arguments = arguments.as_object().unwrap_or(&none);
    let mistake =
        |target, form| move |(kind, message): Wrong| Mistake { target, form, kind, message };
    let target = target(arguments, targets).map_err(mistake(None, Form::Single))?;
    let found = Some(target);
    let (form, edits) = match operations(arguments).map_err(mistake(None, Form::Batch))? {
        None => (Form::Single, vec![edit(arguments).map_err(mistake(found, Form::Single))?]),
        Some(list) => (Form::Batch, batch(list).map_err(mistake(found, Form::Batch))?),
    };
    Ok(Request { target, edits, form })
}

fn target(arguments: &Object, targets: Targets) -> Result<Target, Wrong> {
    let allowed: Vec<String> = targets.iter().map(|it| format!("{:?}", it.as_str())).collect();
    let wrong = |value: &Value| {
        let message = format!("target is {}; use {}.", show(value), allowed.join(" or "));
        (MistakeKind::Target, message)
    };
    match present(arguments, &["target"]) {
        None => targets.iter().next().ok_or_else(|| wrong(&Value::Null)),
        Some(value) => targets
            .iter()
            .find(|target| value.as_str() == Some(target.as_str()))
            .ok_or_else(|| wrong(value)),
    }
}

/// Returns the list of operations if there is one with something in it.
fn operations(arguments: &Object) -> Result<Option<&[Value]>, Wrong> {
    match present(arguments, &["operations"]) {
        None => Ok(None),
        Some(Value::Array(list)) => Ok(Some(list).filter(|it| !it.is_empty()).map(Vec::as_slice)),
        Some(value) => {
            let message = format!(
                "operations is {}; it must be a list of {{action, content?, old_text?}} objects.",
                show(value)
            );
            Err((MistakeKind::Operations, message))
        }
    }
}

fn batch(list: &[Value]) -> Result<Vec<MemoryEdit>, Wrong> {
    let read = |(number, operation): (usize, &Value)| {
        let number = number.saturating_add(1);
        let Some(fields) = operation.as_object() else {
            let message = format!(
                "Operation {number} is {}; each of the operations must be an object \
                 {{action, content?, old_text?}}.",
                show(operation)
            );
            return Err((MistakeKind::Operations, message));
        };
        edit(fields).map_err(|(kind, message)| (kind, format!("Operation {number}: {message}")))
    };
    list.iter().enumerate().map(read).collect()
}

fn edit(arguments: &Object) -> Result<MemoryEdit, Wrong> {
    let value = arguments.get("action").unwrap_or(&Value::Null);
    match value.as_str() {
        Some("add") => Ok(MemoryEdit::Add { content: content(arguments, "add")? }),
        Some("replace") => Ok(MemoryEdit::Replace {
            old_text: old_text(arguments, "replace")?,
            content: content(arguments, "replace")?,
        }),
        Some("remove") => Ok(MemoryEdit::Remove { old_text: old_text(arguments, "remove")? }),
        _ => {
            let message =
                format!("action is {}; use \"add\", \"replace\" or \"remove\".", show(value));
            Err((MistakeKind::Action, message))
        }
    }
}

fn content(arguments: &Object, action: &str) -> Result<String, Wrong> {
    let message = match present(arguments, &CONTENT) {
        Some(Value::String(text)) if !text.trim().is_empty() => return Ok(text.clone()),
        None => format!("{action} needs content, the text of the entry as a string."),
        Some(Value::String(_)) if action == "replace" => {
            "content is blank; to take an entry out, use \"remove\".".to_owned()
        }
        Some(Value::String(_)) => "content is blank; an entry needs text.".to_owned(),
        Some(value) => format!("content is {}; it must be a string.", show(value)),
    };
    Err((MistakeKind::Content, message))
}

fn old_text(arguments: &Object, action: &str) -> Result<String, Wrong> {
    match present(arguments, &OLD_TEXT) {
        Some(Value::String(text)) if !text.trim().is_empty() => Ok(text.clone()),
        Some(Value::String(text)) if !text.is_empty() => {
            Err((MistakeKind::OldText, format!("{action} needs old_text, which is blank.")))
        }
        None | Some(Value::String(_)) => {
            let message = format!(
                "{action} needs old_text: a short passage of the entry, letter for letter, that is \
                 in no other. Repeat the call with a part of one of current_entries."
            );
            Err((MistakeKind::NoOldText, message))
        }
        Some(value) => Err((
            MistakeKind::OldText,
            format!("old_text is {}; it must be a string.", show(value)),
        )),
    }
}

/// Returns the value under the first of `names` that is given and not null.
fn present<'a>(arguments: &'a Object, names: &[&str]) -> Option<&'a Value> {
    names.iter().filter_map(|name| arguments.get(*name)).find(|value| !value.is_null())
}

/// Names `value` for a message, cut where it is long.
fn show(value: &Value) -> String {
    const SHOWN: usize = 40;
    let kind = match value {
        Value::Null => return "missing or null".to_owned(),
        Value::Bool(_) => "the boolean",
        Value::Number(_) => "the number",
        Value::String(_) => "the string",
        Value::Array(_) => "the list",
        Value::Object(_) => "the object",
    };
    let text = value.to_string();
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{kind} {}…", text.get(..end).unwrap_or_default()),
        None => format!("{kind} {text}"),
    }
}

#[cfg(test)]
mod tests {
    use hermes_core::serde_json::json;

    use super::*;

    #[track_caller]
    fn reads(arguments: &Value, edits: &[MemoryEdit], form: Form) {
        let expected = Request { target: Target::Memory, edits: edits.to_vec(), form };
        assert_eq!(read(arguments, Targets::default()), Ok(expected));
    }

    #[track_caller]
    fn refuses(arguments: &Value, kind: MistakeKind, words: &[&str]) {
        let mistake = read(arguments, Targets::default()).unwrap_err();
        assert_eq!(mistake.kind, kind, "{mistake:?}");
        for word in words {
            assert!(mistake.message.contains(word), "{word} is not in {mistake:?}");
        }
    }

    fn swap() -> MemoryEdit {
        MemoryEdit::Replace { old_text: "a".to_owned(), content: "b".to_owned() }
    }

    #[test]
    fn null_is_not_given() {
        let null = json!({"action": "remove", "target": null, "content": null, "old_text": "a",
            "operations": null});
        reads(&null, &[MemoryEdit::Remove { old_text: "a".to_owned() }], Form::Single);
    }

    #[test]
    fn other_names_for_the_texts_are_understood() {
        let given = json!({"action": "replace", "old_string": "a", "new_string": "b"});
        reads(&given, &[swap()], Form::Single);
        let given =
            json!({"operations": [{"action": "replace", "old_text": "a", "new_text": "b"}]});
        reads(&given, &[swap()], Form::Batch);
    }

    #[test]
    fn operations_count_when_there_are_any() {
        let given = json!({"action": "replace", "old_text": "a", "content": "b", "operations": []});
        reads(&given, &[swap()], Form::Single);
        let operations = json!([{"action": "replace", "old_text": "a", "content": "b"}]);
        reads(&json!({"action": "bogus", "operations": operations}), &[swap()], Form::Batch);
    }

    #[test]
    fn what_is_wrong_is_named_with_what_is_allowed() {
        refuses(&json!({"action": "list"}), MistakeKind::Action, &["list", "\"add\"", "remove"]);
        refuses(&json!({"content": "x"}), MistakeKind::Action, &["missing or null", "add"]);
        refuses(&json!({"target": 42}), MistakeKind::Target, &["42", "\"memory\" or \"user\""]);
        refuses(&json!({"action": "add"}), MistakeKind::Content, &["add needs content"]);
        let number = json!({"action": "add", "content": 123});
        refuses(&number, MistakeKind::Content, &["the number 123", "string"]);
        let text = json!({"operations": [{"action": "add", "content": "x"}, "text"]});
        refuses(&text, MistakeKind::Operations, &["Operation 2", "\"text\"", "object"]);
        let within = json!({"operations": [{"action": "add"}]});
        refuses(&within, MistakeKind::Content, &["Operation 1", "content"]);
        refuses(&json!({"action": "remove"}), MistakeKind::NoOldText, &["old_text"]);
        refuses(&json!("add x"), MistakeKind::Action, &["action"]);
    }
}
