//! Conversations in the shape of chat completions, read into messages.

use std::collections::BTreeMap;

use hermes_core::message::{
    Arguments, Call, CallResult, CallStatus, Image, Message, Part, Reasoning, Role,
};
use serde_json::Value;

/// A conversation that was read, with its system prompt apart.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Imported {
    /// All system and developer messages, with an empty line between them.
    pub system: String,
    /// The other messages, oldest first, not yet numbered.
    pub messages: Vec<Message>,
}

/// Reads messages in the shape of chat completions.
///
/// It takes what is there: results without calls, empty arrays, arguments as text or as objects.
/// Messages of unknown roles are left out. Neighbouring tool messages become one message of results. It
/// is not known who thought what is read as reasoning, so that it goes out to nobody.
///
/// # Examples
///
/// ```
/// use hermes_providers::openai::import;
/// use serde_json::json;
///
/// let imported = import(&[
///     json!({"role": "system", "content": "be brief"}),
///     json!({"role": "user", "content": "hello"}),
/// ]);
///
/// assert_eq!(imported.system, "be brief");
/// assert_eq!(imported.messages[0].text(), "hello");
/// ```
pub fn import(messages: &[Value]) -> Imported {
    let mut imported = Imported::default();
    let aliases = aliases(messages);
    let mut results: Vec<CallResult> = Vec::new();
    for message in messages {
        let role = message.get("role").and_then(Value::as_str).unwrap_or_default();
        if matches!(role, "tool" | "function") {
            results.push(result(message, &aliases));
            continue;
        }
        imported.push_results(&mut results);
        let mut parts = content(message);
        match role {
            "system" | "developer" => imported.push_system(&parts),
            "user" => imported.messages.push(Message::new(Role::User, parts)),
            "assistant" => {
                let reasoning = ["reasoning_content", "reasoning"].iter();
                let mut reasoning = reasoning.filter_map(|key| message.get(*key)?.as_str());
                if let Some(text) = reasoning.find(|it| !it.is_empty()) {
                    parts.insert(0, Part::Reasoning(Reasoning::new(text)));
                }
                parts.extend(calls(message).map(Part::Call));
                imported.messages.push(Message::new(Role::Assistant, parts));
            }
            _ => {}
        }
    }
    imported.push_results(&mut results);
    imported
}

impl Imported {
    fn push_results(&mut self, results: &mut Vec<CallResult>) {
        if !results.is_empty() {
            self.messages.push(Message::results(results.drain(..)));
        }
    }

    fn push_system(&mut self, parts: &[Part]) {
        for text in parts.iter().filter_map(Part::as_text) {
            if !self.system.is_empty() {
                self.system.push_str("\n\n");
            }
            self.system.push_str(text);
        }
    }
}

fn content(message: &Value) -> Vec<Part> {
    match message.get("content") {
        Some(Value::String(text)) if text.is_empty() => Vec::new(),
        Some(Value::String(text)) => vec![Part::Text(text.clone())],
        Some(Value::Array(parts)) => parts.iter().filter_map(part).collect(),
        _ => Vec::new(),
    }
}

fn part(part: &Value) -> Option<Part> {
    if let Some(text) = part.as_str().or_else(|| part.get("text")?.as_str()) {
        return Some(Part::Text(text.to_owned()));
    }
    let image = part.get("image_url")?;
    let url = image.as_str().or_else(|| image.get("url")?.as_str())?;
    Some(Part::Image(Image::new(url)))
}

fn calls(message: &Value) -> impl Iterator<Item = Call> {
    let calls = message.get("tool_calls").and_then(Value::as_array);
    calls.into_iter().flatten().map(|call| {
        let function = call.get("function").unwrap_or(call);
        let name = function.get("name").and_then(Value::as_str).unwrap_or_default();
        let arguments = match function.get("arguments") {
            None | Some(Value::Null) => Arguments::from(""),
            Some(Value::String(text)) => Arguments::from(text.as_str()),
            Some(value) => Arguments::from(value.clone()),
        };
        Call::new(word(call.get("id")).as_str(), name, arguments)
    })
}

/// Returns the ids of calls by the other ids that they go by on some wires.
fn aliases(messages: &[Value]) -> BTreeMap<String, String> {
    let calls = messages.iter().filter_map(|it| it.get("tool_calls")?.as_array()).flatten();
    let mut aliases = BTreeMap::new();
    for call in calls {
        let id = word(call.get("id"));
        let others = [word(call.get("call_id")), word(call.get("response_item_id"))];
        for other in others.into_iter().filter(|it| !it.is_empty()) {
            aliases.entry(other).or_insert_with(|| id.clone());
        }
        for half in id.split('|').filter(|half| *half != id) {
            aliases.entry(half.to_owned()).or_insert_with(|| id.clone());
        }
    }
    // An id that is a call's own means that call.
    let calls = messages.iter().filter_map(|it| it.get("tool_calls")?.as_array()).flatten();
    for call in calls {
        aliases.remove(&word(call.get("id")));
    }
    aliases
}

fn result(message: &Value, aliases: &BTreeMap<String, String>) -> CallResult {
    let texts: Vec<String> =
        content(message).into_iter().filter_map(|part| part.as_text().map(str::to_owned)).collect();
    let id = word(message.get("tool_call_id").or_else(|| message.get("call_id")));
    let id = aliases.get(&id).unwrap_or(&id).as_str();
    CallResult::new(id.into(), CallStatus::Done, texts.join("\n"))
}

fn word(id: Option<&Value>) -> String {
    match id {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => number.to_string(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn calls_and_results_are_read() {
        let imported = import(&[
            json!({"role": "assistant", "content": null, "reasoning_content": "hm", "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "x", "arguments": {"n": 1}}},
                {"id": 7, "function": {"name": "y", "arguments": null}},
            ]}),
            json!({"role": "tool", "tool_call_id": "a", "content": "r1"}),
            json!({"role": "tool", "tool_call_id": 7, "content": [{"type": "text", "text": "r2"}]}),
            json!({"role": "critic", "content": "?"}),
        ]);

        let calls: Vec<_> = imported.messages[0]
            .calls()
            .map(|it| (it.id.as_str(), &*it.name, it.arguments.as_str()))
            .collect();
        let results: Vec<_> = imported.messages[1]
            .call_results()
            .map(|it| (it.call.as_str(), it.content.as_str()))
            .collect();
        assert_eq!(calls, [("a", "x", "{\"n\":1}"), ("7", "y", "")]);
        assert_eq!(results, [("a", "r1"), ("7", "r2")]);
        assert_eq!(imported.messages.len(), 2);
    }

    #[test]
    fn results_find_calls_by_their_other_id() {
        let imported = import(&[
            json!({"role": "assistant", "tool_calls": [
                {"id": "fc_1", "call_id": "call_1", "function": {"name": "x"}},
                {"id": "call_2|fc_2", "function": {"name": "y"}}]}),
            json!({"role": "tool", "tool_call_id": "call_1", "content": "1"}),
            json!({"role": "tool", "tool_call_id": "call_2", "content": "2"}),
        ]);

        let ids: Vec<_> = imported.messages[1].call_results().map(|it| it.call.as_str()).collect();
        assert_eq!(ids, ["fc_1", "call_2|fc_2"]);
    }

    #[test]
    fn an_empty_array_of_calls_is_no_call() {
        let imported = import(&[json!({"role": "assistant", "content": "b", "tool_calls": []})]);

        assert_eq!(imported.messages, [Message::assistant("b")]);
    }
}
