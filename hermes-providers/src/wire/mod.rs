//! What all wires have to do: pair calls with results, name tools, write each message once, and put
//! together what comes back.

pub(crate) mod link;

pub(crate) mod body;
pub(crate) mod fragments;
pub(crate) mod names;
pub(crate) mod order;
pub(crate) mod pairing;
pub(crate) mod schema;
pub(crate) mod target;

pub(crate) mod calls;
pub(crate) mod decoder;
mod surrogates;
pub(crate) mod usage;

#[cfg(test)]
pub(crate) mod testing;

use std::borrow::Cow;

use hermes_core::message::{Call, CallResult};
use serde_json::{Map, Value, json};

use crate::http::loose::Loose;

/// What stands where a user said nothing.
pub(crate) const NOTHING_SAID: &str = "(empty message)";
/// What stands where a tool returned nothing.
const NO_OUTPUT: &str = "(no output)";
/// The most characters that are sent of arguments that are no JSON object.
const BROKEN_LIMIT: usize = 500;

/// Returns the arguments of a call as the text of a JSON object, which is what strict servers parse.
pub(crate) fn object_text(call: &Call) -> Cow<'_, str> {
    let raw = call.arguments.as_str();
    match call.arguments.parse() {
        Ok(Value::Object(_)) if raw.trim().is_empty() => Cow::Borrowed("{}"),
        Ok(Value::Object(_)) => Cow::Borrowed(raw.trim()),
        Ok(Value::Null) => Cow::Borrowed("{}"),
        _ => {
            let shown: String = raw.chars().take(BROKEN_LIMIT).collect();
            Cow::Owned(json!({ "invalid_arguments": shown }).to_string())
        }
    }
}

/// Returns what a model reads of a result.
pub(crate) fn output_text(result: &CallResult) -> &str {
    if result.content.trim().is_empty() { NO_OUTPUT } else { &result.content }
}

/// Returns the text of arguments that came as any type. An empty object is no text yet, because text
/// may follow it.
pub(crate) fn arguments_text<'a>(arguments: &'a Loose<'_>) -> Cow<'a, str> {
    match arguments {
        Loose::Text(text) => Cow::Borrowed(text),
        Loose::Tree(tree) if tree.as_object().is_some_and(Map::is_empty) => Cow::Borrowed(""),
        Loose::Tree(tree) => Cow::Owned(tree.to_string()),
        Loose::Null => Cow::Borrowed(""),
        Loose::Bool(bool) => Cow::Owned(bool.to_string()),
        Loose::Number(number) => Cow::Owned(number.to_string()),
    }
}
