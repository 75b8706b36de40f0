//! The order in which the parts of an answer came, for wires that want their reasoning back in its
//! own place.
//!
//! A message holds its calls after its text. Where reasoning stood between calls, a record of the
//! order lies beside the parts, as opaque reasoning without text.

use hermes_core::message::{Part, Reasoning};
use serde_json::Value;

use super::target::Target;

/// The key of the record in the opaque value.
const KEY: &str = "order";

/// The kinds of parts whose order matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PartKind {
    Reasoning,
    Text,
    Call,
}

impl PartKind {
    fn as_str(self) -> &'static str {
        match self {
            Self::Reasoning => "reasoning",
            Self::Text => "text",
            Self::Call => "call",
        }
    }

    /// Returns the kind of a part, `None` for what no wire sends back.
    fn of(part: &Part) -> Option<Self> {
        match part {
            Part::Text(_) => Some(Self::Text),
            Part::Call(_) => Some(Self::Call),
            Part::Reasoning(_) => Some(Self::Reasoning),
            _ => None,
        }
    }
}

/// Returns a record of `order` for `provider`, with what else its wire wants to keep of the message.
pub(crate) fn record(provider: &str, order: &[PartKind], mut more: Value) -> Reasoning {
    let words: Vec<&str> = order.iter().map(|kind| kind.as_str()).collect();
    if let Some(more) = more.as_object_mut() {
        more.insert(KEY.to_owned(), Value::from(words));
    }
    Reasoning::new("").with_opaque(provider, more)
}

/// The parts of a message in an order for the wire.
#[derive(Debug)]
pub(crate) enum Ordered<'a> {
    /// Nothing was recorded, so that the parts are in order as they are.
    Unrecorded,
    /// The parts in the order in which they came, and the record.
    Recorded(Vec<&'a Part>, &'a Value),
    /// The record does not fit the parts any more.
    Changed,
}

/// Returns the parts of a message in the order in which they came from `target`, as far as it was
/// recorded.
pub(crate) fn in_order<'a>(parts: &'a [Part], target: Target<'_>) -> Ordered<'a> {
    let records = || parts.iter().filter_map(|part| record_of(part, target));
    let Some(record) = records().next() else { return Ordered::Unrecorded };
    let words = record.get(KEY).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let rest = |wanted: PartKind| {
        let is_wanted = move |part: &&'a Part| {
            PartKind::of(part) == Some(wanted) && record_of(part, target).is_none()
        };
        parts.iter().filter(is_wanted)
    };
    let (mut reasoning, mut texts, mut calls) =
        (rest(PartKind::Reasoning), rest(PartKind::Text), rest(PartKind::Call));
    let ordered: Option<Vec<&Part>> = words
        .iter()
        .map(|word| match word.as_str() {
            Some("reasoning") => reasoning.next(),
            Some("text") => texts.next(),
            _ => calls.next(),
        })
        .collect();
    let left = [reasoning.count(), texts.count(), calls.count(), records().count() - 1];
    match ordered {
        Some(ordered) if left == [0; 4] => Ordered::Recorded(ordered, record),
        _ => Ordered::Changed,
    }
}

fn record_of<'a>(part: &'a Part, target: Target<'_>) -> Option<&'a Value> {
    let Part::Reasoning(reasoning) = part else { return None };
    target.opaque(reasoning).filter(|it| it.get(KEY).is_some())
}

#[cfg(test)]
mod tests {
    use hermes_core::message::Call;
    use serde_json::json;

    use super::*;
    use crate::wire::names::Names;

    const ORDER: [PartKind; 4] =
        [PartKind::Reasoning, PartKind::Call, PartKind::Text, PartKind::Call];

    /// A message as it is put together, with the record of another order.
    fn parts() -> Vec<Part> {
        vec![
            Part::Reasoning(Reasoning::new("thought")),
            Part::Text("text".to_owned()),
            Part::Reasoning(record("mine", &ORDER, json!({"note": 1}))),
            Part::Call(Call::new("a", "x", "{}")),
            Part::Call(Call::new("b", "x", "{}")),
        ]
    }

    fn from<'a>(parts: &'a [Part], provider: &str) -> Ordered<'a> {
        in_order(parts, Target::new(provider, "m", &Names::default()))
    }

    #[test]
    fn parts_come_back_in_the_recorded_order() {
        let parts = parts();

        let Ordered::Recorded(ordered, record) = from(&parts, "mine") else { panic!() };

        assert_eq!(ordered, [&parts[0], &parts[3], &parts[1], &parts[4]]);
        assert_eq!(record["note"], 1);
    }

    #[test]
    fn the_record_of_another_provider_is_none() {
        assert!(matches!(from(&parts(), "another"), Ordered::Unrecorded));
    }

    #[test]
    fn a_record_that_does_not_fit_is_told_as_such() {
        for at in [0, 1, 3] {
            let mut fewer = parts();
            fewer.remove(at);
            assert!(matches!(from(&fewer, "mine"), Ordered::Changed), "{at}");

            let mut more = parts();
            more.push(more[at].clone());
            assert!(matches!(from(&more, "mine"), Ordered::Changed), "{at}");
        }
        let mut twice = parts();
        twice.push(twice[2].clone());
        assert!(matches!(from(&twice, "mine"), Ordered::Changed));
    }
}
