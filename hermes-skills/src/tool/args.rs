//! Reading what a model passes, whatever it is.

use hermes_core::serde_json::{Map, Value};

use super::refusal::Refusal;

/// The arguments of a call, with other names that models give them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Args<'a>(&'a Map<String, Value>);

impl<'a> Args<'a> {
    pub(super) fn of(arguments: &'a Value) -> Result<Self, Refusal> {
        let fields = arguments.as_object();
        fields.map(Self).ok_or_else(|| Refusal::rejected("the arguments must be a JSON object"))
    }

    /// Returns the text under the first of `names` that is there and not null.
    pub(super) fn text(self, names: &[&str]) -> Result<Option<&'a str>, Refusal> {
        match self.value(names) {
            None => Ok(None),
            Some((_, Value::String(text))) => Ok(Some(text)),
            Some((name, _)) => Err(Refusal::rejected(format!("{name} must be text"))),
        }
    }

    /// As [`text`](Self::text), but blank text counts as none.
    pub(super) fn word(self, names: &[&str]) -> Result<Option<&'a str>, Refusal> {
        Ok(self.text(names)?.map(str::trim).filter(|it| !it.is_empty()))
    }

    /// Returns whether the first of `names` that is there says yes.
    pub(super) fn flag(self, names: &[&str]) -> Result<bool, Refusal> {
        match self.value(names) {
            None => Ok(false),
            Some((_, Value::Bool(flag))) => Ok(*flag),
            Some((name, value)) => match value.to_string().trim_matches('"') {
                "true" | "True" | "1" => Ok(true),
                "false" | "False" | "0" | "" => Ok(false),
                _ => Err(Refusal::rejected(format!("{name} must be true or false"))),
            },
        }
    }

    fn value(self, names: &[&str]) -> Option<(&'a str, &'a Value)> {
        let there =
            names.iter().find_map(|name| self.0.get_key_value(*name).filter(|it| !it.1.is_null()));
        there.map(|(name, value)| (name.as_str(), value))
    }
}
