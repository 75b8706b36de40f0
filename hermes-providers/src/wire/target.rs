//! Where a request goes, as far as that decides what messages look like.

use hermes_core::message::{MessageBody, Opaque, Part, Reasoning};
use serde_json::Value;

use super::names::Names;

/// The key in the opaque part of reasoning for the model that thought it.
const MODEL: &str = "model";

/// The provider and the model that read a request, and what its tools are called.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target<'a> {
    /// Whose reasoning goes back, `None` if nobody's does.
    provider: Option<&'a str>,
    model: &'a str,
    pub(crate) names: &'a Names,
}

impl<'a> Target<'a> {
    pub(crate) fn new(provider: &'a str, model: &'a str, names: &'a Names) -> Self {
        Self { provider: Some(provider), model, names }
    }

    /// Returns the same target, to which no reasoning goes back.
    pub(crate) fn without_reasoning(self) -> Self {
        Self { provider: None, ..self }
    }

    pub(crate) fn takes_reasoning(self) -> bool {
        self.provider.is_some()
    }

    /// Returns whether this provider thought it, with whatever model.
    pub(crate) fn is_home_of(self, reasoning: &Reasoning) -> bool {
        reasoning.opaque.as_ref().is_some_and(|it| self.is_owner(it))
    }

    /// Returns what is opaque in `reasoning`, if this provider thought it with this model. No other model
    /// is sure to read it. What does not say which model it was is taken for this one's.
    pub(crate) fn opaque(self, reasoning: &Reasoning) -> Option<&Value> {
        let opaque = reasoning.opaque.as_ref().filter(|it| self.is_owner(it))?;
        let model = opaque.value.get(MODEL).and_then(Value::as_str);
        model.is_none_or(|it| it == self.model).then_some(&opaque.value)
    }

    /// Returns whether the wire form of `message` is another one than for other requests to this
    /// provider, so that it cannot be kept for them.
    pub(crate) fn decides(self, message: &MessageBody) -> bool {
        message.parts.iter().any(|part| match part {
            Part::Call(call) => self.names.decide(&call.name),
            Part::Reasoning(reasoning) => {
                self.is_home_of(reasoning) && self.opaque(reasoning).is_none()
            }
            _ => false,
        })
    }

    fn is_owner(self, opaque: &Opaque) -> bool {
        self.provider == Some(opaque.provider.as_str())
    }
}

/// Returns reasoning that says in its opaque part which model thought it. An empty name says nothing.
pub(crate) fn thought_by(model: &str, mut reasoning: Reasoning) -> Reasoning {
    let opaque = reasoning.opaque.as_mut().and_then(|it| it.value.as_object_mut());
    if let Some(opaque) = opaque.filter(|_| !model.is_empty()) {
        opaque.insert(MODEL.to_owned(), Value::from(model));
    }
    reasoning
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn thought(provider: &str, model: &str) -> Reasoning {
        thought_by(model, Reasoning::new("hm").with_opaque(provider, json!({"n": 1})))
    }

    #[test]
    fn reasoning_goes_back_to_the_model_that_thought_it() {
        let names = Names::default();
        let target = Target::new("h", "m", &names);

        assert!(target.opaque(&thought("h", "m")).is_some());
        assert!(target.opaque(&thought("h", "")).is_some());
        assert!(target.opaque(&thought("h", "n")).is_none());
        assert!(target.opaque(&thought("i", "m")).is_none());
        assert!(target.opaque(&Reasoning::new("hm")).is_none());
        assert!(target.without_reasoning().opaque(&thought("h", "m")).is_none());
        assert!(target.is_home_of(&thought("h", "n")));
        assert!(!target.is_home_of(&thought("i", "m")));
    }
}
