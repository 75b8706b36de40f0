//! Values of any type where a wire promises one, so that a surprise in one field never costs an
//! answer.

use std::{borrow::Cow, fmt, marker::PhantomData};

use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, MapAccess, SeqAccess, Visitor, value},
};
use serde_json::Value;

/// A field of any type. Text is borrowed where it can be.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum Loose<'a> {
    /// Absent, or `null`.
    #[default]
    Null,
    Bool(bool),
    Number(serde_json::Number),
    Text(Cow<'a, str>),
    /// An array or an object. Boxed, because it is rare and would make every other field larger.
    Tree(Box<Value>),
}

impl Loose<'_> {
    pub(crate) fn as_str(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the text, if there is any.
    pub(crate) fn text(&self) -> Option<&str> {
        self.as_str().filter(|text| !text.is_empty())
    }

    /// Returns text or a number as text, if there is any.
    pub(crate) fn to_word(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Text(text) if !text.is_empty() => Some(Cow::Borrowed(text)),
            Self::Number(number) => Some(Cow::Owned(number.to_string())),
            _ => None,
        }
    }

    pub(crate) fn as_u64(&self) -> Option<u64> {
        match self {
            Self::Number(number) => number.as_u64(),
            _ => None,
        }
    }

    #[cfg(feature = "openai")]
    pub(crate) fn tree(&self) -> Option<&Value> {
        match self {
            Self::Tree(tree) => Some(tree),
            _ => None,
        }
    }

    /// Returns whether the field says nothing: absent, `null` or `false`.
    pub(crate) fn is_nothing(&self) -> bool {
        matches!(self, Self::Null | Self::Bool(false))
    }

    #[cfg(feature = "openai")]
    pub(crate) fn into_value(self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Bool(bool) => Value::Bool(bool),
            Self::Number(number) => Value::Number(number),
            Self::Text(text) => Value::String(text.into_owned()),
            Self::Tree(tree) => *tree,
        }
    }
}

struct LooseVisitor;

impl<'de> Visitor<'de> for LooseVisitor {
    type Value = Loose<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Loose::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Self::Value, E> {
        Ok(Loose::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Self::Value, E> {
        Ok(Loose::Number(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Self::Value, E> {
        Ok(Loose::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Self::Value, E> {
        Ok(serde_json::Number::from_f64(value).map_or(Loose::Null, Loose::Number))
    }

    fn visit_borrowed_str<E>(self, value: &'de str) -> Result<Self::Value, E> {
        Ok(Loose::Text(Cow::Borrowed(value)))
    }

    fn visit_str<E>(self, value: &str) -> Result<Self::Value, E> {
        Ok(Loose::Text(Cow::Owned(value.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Self::Value, A::Error> {
        Box::deserialize(value::SeqAccessDeserializer::new(seq)).map(Loose::Tree)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        Box::deserialize(value::MapAccessDeserializer::new(map)).map(Loose::Tree)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Loose<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LooseVisitor)
    }
}

/// An object, or nothing where another type stands.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Object<T>(pub(crate) Option<T>);

impl<T> Default for Object<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T> From<Option<T>> for Object<T> {
    fn from(value: Option<T>) -> Self {
        Self(value)
    }
}

/// An array, empty where another type stands.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct List<T>(pub(crate) Vec<T>);

impl<T> Default for List<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

struct ShapeVisitor<S>(PhantomData<S>);

/// What a [`ShapeVisitor`] makes of the two kinds of tree; all else is the default.
trait Shape<'de>: Default {
    fn from_map<A: MapAccess<'de>>(map: A) -> Result<Self, A::Error>;
    fn from_seq<A: SeqAccess<'de>>(seq: A) -> Result<Self, A::Error>;
}

impl<'de, T: Deserialize<'de>> Shape<'de> for Object<T> {
    fn from_map<A: MapAccess<'de>>(map: A) -> Result<Self, A::Error> {
        T::deserialize(value::MapAccessDeserializer::new(map)).map(|it| Self(Some(it)))
    }

    fn from_seq<A: SeqAccess<'de>>(mut seq: A) -> Result<Self, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Self::default())
    }
}

impl<'de, T: Deserialize<'de>> Shape<'de> for List<T> {
    fn from_map<A: MapAccess<'de>>(mut map: A) -> Result<Self, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Self::default())
    }

    fn from_seq<A: SeqAccess<'de>>(mut seq: A) -> Result<Self, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element::<Object<T>>()? {
            items.extend(item.0);
        }
        Ok(Self(items))
    }
}

impl<'de, S: Shape<'de>> Visitor<'de> for ShapeVisitor<S> {
    type Value = S;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_unit<E>(self) -> Result<S, E> {
        Ok(S::default())
    }

    fn visit_bool<E>(self, _: bool) -> Result<S, E> {
        Ok(S::default())
    }

    fn visit_u64<E>(self, _: u64) -> Result<S, E> {
        Ok(S::default())
    }

    fn visit_i64<E>(self, _: i64) -> Result<S, E> {
        Ok(S::default())
    }

    fn visit_f64<E>(self, _: f64) -> Result<S, E> {
        Ok(S::default())
    }

    fn visit_str<E>(self, _: &str) -> Result<S, E> {
        Ok(S::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<S, A::Error> {
        S::from_seq(seq)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<S, A::Error> {
        S::from_map(map)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ShapeVisitor(PhantomData))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for List<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ShapeVisitor(PhantomData))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Default, PartialEq, Deserialize)]
    #[serde(default)]
    struct Sample<'a> {
        #[serde(borrow)]
        text: Loose<'a>,
        #[serde(borrow)]
        inner: Object<Inner<'a>>,
        list: List<Inner<'a>>,
    }

    #[derive(Debug, Default, PartialEq, Deserialize)]
    #[serde(default)]
    struct Inner<'a> {
        #[serde(borrow)]
        id: Loose<'a>,
    }

    #[test]
    fn plain_text_is_borrowed() {
        let sample: Sample<'_> = serde_json::from_str(r#"{"text":"plain"}"#).unwrap();

        assert!(matches!(sample.text, Loose::Text(Cow::Borrowed("plain"))));
    }

    #[test]
    fn surprising_types_are_no_errors() {
        for value in ["null", "1", "-1", "1.5", "true", "\"x\"", "[1,{}]", "{\"a\":[]}"] {
            let json =
                format!(r#"{{"text":{value},"inner":{value},"list":{value},"new":{value}}}"#);
            serde_json::from_str::<Sample<'_>>(&json).unwrap();
        }
    }

    #[test]
    fn what_fits_is_read() {
        let json = r#"{"inner":{"id":7},"list":[null,{"id":"a"},3]}"#;

        let sample: Sample<'_> = serde_json::from_str(json).unwrap();

        assert_eq!(sample.inner.0.unwrap().id.to_word().unwrap(), "7");
        assert_eq!(sample.list.0.len(), 1);
        assert_eq!(sample.list.0[0].id.text(), Some("a"));
    }
}
