//! Values of any type where a wire promises one, so that a surprise in one field never costs an
//! answer.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor, value},
};
use serde_json::{Value, value::RawValue};

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

impl<'a> Loose<'a> {
    /// Takes the text out, empty if it is none.
    #[inline]
    pub(crate) fn take_text(&mut self) -> Cow<'a, str> {
        match std::mem::take(self) {
            Self::Text(text) => text,
            other => {
                *self = other;
                Cow::Borrowed("")
            }
        }
    }
}

impl Loose<'_> {
    #[inline]
    pub(crate) fn as_str(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the text, if there is any.
    #[inline]
    pub(crate) fn text(&self) -> Option<&str> {
        self.as_str().filter(|text| !text.is_empty())
    }

    /// Returns text or a number as text, if there is any.
    #[inline]
    pub(crate) fn to_word(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Text(text) if !text.is_empty() => Some(Cow::Borrowed(text)),
            Self::Number(number) => Some(Cow::Owned(number.to_string())),
            _ => None,
        }
    }

    #[inline]
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
    #[inline]
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

/// Reads a value of any type to its place.
struct LooseVisitor<'p, 'a>(&'p mut Loose<'a>);

impl<'de> Visitor<'de> for LooseVisitor<'_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        *self.0 = Loose::Null;
        Ok(())
    }

    fn visit_bool<E>(self, value: bool) -> Result<(), E> {
        *self.0 = Loose::Bool(value);
        Ok(())
    }

    fn visit_u64<E>(self, value: u64) -> Result<(), E> {
        *self.0 = Loose::Number(value.into());
        Ok(())
    }

    fn visit_i64<E>(self, value: i64) -> Result<(), E> {
        *self.0 = Loose::Number(value.into());
        Ok(())
    }

    fn visit_f64<E>(self, value: f64) -> Result<(), E> {
        *self.0 = serde_json::Number::from_f64(value).map_or(Loose::Null, Loose::Number);
        Ok(())
    }

    fn visit_borrowed_str<E>(self, value: &'de str) -> Result<(), E> {
        *self.0 = Loose::Text(Cow::Borrowed(value));
        Ok(())
    }

    fn visit_str<E>(self, value: &str) -> Result<(), E> {
        *self.0 = Loose::Text(Cow::Owned(value.to_owned()));
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<(), A::Error> {
        *self.0 = Loose::Tree(Box::deserialize(value::SeqAccessDeserializer::new(seq))?);
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        *self.0 = Loose::Tree(Box::deserialize(value::MapAccessDeserializer::new(map))?);
        Ok(())
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

/// An array of objects, empty where another type stands.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct List<T>(pub(crate) Vec<T>);

impl<T> Default for List<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

/// What is read where it stands, because a record is large and most of it is empty: moving it costs
/// more than reading it.
pub(crate) trait Fill<'de>: Sized {
    fn fill<D: Deserializer<'de>>(&mut self, deserializer: D) -> Result<(), D::Error>;
}

impl<'de> Fill<'de> for Loose<'de> {
    fn fill<D: Deserializer<'de>>(&mut self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(LooseVisitor(self))
    }
}

impl<'de> Fill<'de> for Option<&'de RawValue> {
    fn fill<D: Deserializer<'de>>(&mut self, deserializer: D) -> Result<(), D::Error> {
        *self = Self::deserialize(deserializer)?;
        Ok(())
    }
}

impl<'de, T: Record<'de>> Fill<'de> for Object<T> {
    fn fill<D: Deserializer<'de>>(&mut self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(ShapeVisitor(self))
    }
}

impl<'de, T: Record<'de>> Fill<'de> for List<T> {
    fn fill<D: Deserializer<'de>>(&mut self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(ShapeVisitor(self))
    }
}

/// Where a value is to be read to.
pub(crate) struct Place<'p, T>(pub(crate) &'p mut T);

impl<'de, T: Fill<'de>> DeserializeSeed<'de> for Place<'_, T> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        self.0.fill(deserializer)
    }
}

/// What is read of an object; see [`record`].
pub(crate) trait Record<'de>: Default {
    /// Reads the value of `key`. Of a key that is there twice, the last value counts.
    fn field<A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error>;

    fn fields<A: MapAccess<'de>>(&mut self, mut map: A) -> Result<(), A::Error> {
        while let Some(Key(key)) = map.next_key()? {
            self.field(&key, &mut map)?;
        }
        Ok(())
    }
}

impl<'de, T: Record<'de>> Record<'de> for Box<T> {
    fn field<A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        (**self).field(key, map)
    }
}

/// Declares what is read of an object: its fields, each after the keys that it has on the wire. Fields
/// that are missing, and those of another type than expected, are empty; others are skipped.
macro_rules! record {
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident<'a> {
            $($(#[$doc:meta])* $($key:literal)|+ => $field_vis:vis $field:ident: $type:ty,)*
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Default)]
        $vis struct $name<'a> {
            $($(#[$doc])* $field_vis $field: $type,)*
        }

        impl<'a> $crate::http::loose::Record<'a> for $name<'a> {
            fn field<A: serde::de::MapAccess<'a>>(
                &mut self,
                key: &str,
                map: &mut A,
            ) -> Result<(), A::Error> {
                match key {
                    $($($key)|+ => map.next_value_seed($crate::http::loose::Place(&mut self.$field)),)*
                    _ => map.next_value::<serde::de::IgnoredAny>().map(drop),
                }
            }
        }
    };
}

pub(crate) use record;

/// Reads an object from JSON text; nothing where another type stands.
#[cfg(feature = "responses")]
pub(crate) fn object<'a, T: Record<'a>>(json: &'a str) -> serde_json::Result<Object<T>> {
    let mut object = Object::default();
    read(json, &mut object)?;
    Ok(object)
}

/// Reads JSON text to where it is wanted.
pub(crate) fn read<'a>(json: &'a str, place: &mut impl Fill<'a>) -> serde_json::Result<()> {
    let mut deserializer = serde_json::Deserializer::from_str(json);
    place.fill(&mut deserializer)?;
    deserializer.end()
}

struct Key<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(KeyVisitor)
    }
}

struct KeyVisitor;

impl<'de> Visitor<'de> for KeyVisitor {
    type Value = Key<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_borrowed_str<E>(self, key: &'de str) -> Result<Self::Value, E> {
        Ok(Key(Cow::Borrowed(key)))
    }

    fn visit_str<E>(self, key: &str) -> Result<Self::Value, E> {
        Ok(Key(Cow::Owned(key.to_owned())))
    }
}

/// Reads one of the two kinds of tree to its place; all else leaves it empty.
struct ShapeVisitor<'p, S>(&'p mut S);

/// What a [`ShapeVisitor`] makes of the two kinds of tree.
trait Shape<'de> {
    fn take_map<A: MapAccess<'de>>(&mut self, map: A) -> Result<(), A::Error>;
    fn take_seq<A: SeqAccess<'de>>(&mut self, seq: A) -> Result<(), A::Error>;
}

impl<'de, T: Record<'de>> Shape<'de> for Object<T> {
    fn take_map<A: MapAccess<'de>>(&mut self, map: A) -> Result<(), A::Error> {
        self.0.insert(T::default()).fields(map)
    }

    fn take_seq<A: SeqAccess<'de>>(&mut self, mut seq: A) -> Result<(), A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }
}

impl<'de, T: Record<'de>> Shape<'de> for List<T> {
    fn take_map<A: MapAccess<'de>>(&mut self, mut map: A) -> Result<(), A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(())
    }

    fn take_seq<A: SeqAccess<'de>>(&mut self, mut seq: A) -> Result<(), A::Error> {
        while seq.next_element_seed(Item(&mut self.0))?.is_some() {}
        Ok(())
    }
}

/// Reads one more item of a list, if it is an object.
struct Item<'p, T>(&'p mut Vec<T>);

impl<'de, T: Record<'de>> DeserializeSeed<'de> for Item<'_, T> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(ShapeVisitor(&mut Item(self.0)))
    }
}

impl<'de, T: Record<'de>> Shape<'de> for Item<'_, T> {
    fn take_map<A: MapAccess<'de>>(&mut self, map: A) -> Result<(), A::Error> {
        if self.0.is_empty() {
            // One item is what most lists have, and a record is large.
            self.0.reserve_exact(1);
        }
        self.0.push(T::default());
        self.0.last_mut().map_or(Ok(()), |last| last.fields(map))
    }

    fn take_seq<A: SeqAccess<'de>>(&mut self, mut seq: A) -> Result<(), A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }
}

impl<'de, S: Shape<'de>> Visitor<'de> for ShapeVisitor<'_, S> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<(), A::Error> {
        self.0.take_seq(seq)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        self.0.take_map(map)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    record! {
        struct Sample<'a> {
            "text" | "words" => text: Loose<'a>,
            "inner" => inner: Object<Inner<'a>>,
            "list" => list: List<Inner<'a>>,
        }
    }

    record! {
        struct Inner<'a> {
            "id" => id: Loose<'a>,
        }
    }

    fn sample(json: &str) -> Sample<'_> {
        object(json).unwrap().0.unwrap()
    }

    #[test]
    fn plain_text_is_borrowed() {
        let sample = sample(r#"{"text":"plain"}"#);

        assert!(matches!(sample.text, Loose::Text(Cow::Borrowed("plain"))));
    }

    #[test]
    fn surprising_types_are_no_errors() {
        for value in ["null", "1", "-1", "1.5", "true", "\"x\"", "[1,{}]", "{\"a\":[]}"] {
            let json =
                format!(r#"{{"text":{value},"inner":{value},"list":{value},"new":{value}}}"#);
            sample(&json);
            assert_eq!(object::<Sample<'_>>(value).unwrap().0.is_some(), value.starts_with('{'));
        }
    }

    #[test]
    fn what_fits_is_read() {
        let json = r#"{"inner":{"id":7},"list":[null,{"id":"a"},3]}"#;

        let sample = sample(json);

        assert_eq!(sample.inner.0.unwrap().id.to_word().unwrap(), "7");
        assert_eq!(sample.list.0.len(), 1);
        assert_eq!(sample.list.0[0].id.text(), Some("a"));
    }

    #[test]
    fn a_key_may_have_two_names_or_escapes_and_come_twice() {
        let sample = sample(r#"{"text":"a","w\u006frds":"b","inner":{"id":1},"inner":{}}"#);

        assert_eq!(sample.text.text(), Some("b"));
        assert_eq!(sample.inner.0.unwrap().id, Loose::Null);
    }

    #[test]
    fn what_is_no_json_is_refused() {
        for json in ["", "{", "{\"text\":}", "{} {}", "{\"list\":[}"] {
            assert!(object::<Sample<'_>>(json).is_err(), "{json}");
        }
    }
}
