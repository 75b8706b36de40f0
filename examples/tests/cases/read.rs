//! Reads a case and remembers what was read, so that a key nobody looked at fails the case.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, MutexGuard},
};

use serde_json::Value;

/// A value of a case, with its place in it.
#[derive(Clone)]
pub(crate) struct Node<'a> {
    value: &'a Value,
    path: String,
    read: Arc<Mutex<HashSet<String>>>,
}

impl<'a> Node<'a> {
    /// Returns the whole case, nothing of which has been read.
    pub(crate) fn root(value: &'a Value) -> Self {
        Self { value, path: String::new(), read: Arc::default() }
    }

    /// Returns the value of `key`, if there is one, and notes that it was looked at.
    pub(crate) fn opt(&self, key: &str) -> Option<Self> {
        let value = self.value.get(key)?;
        let path = format!("{}.{key}", self.path);
        self.seen().insert(path.clone());
        Some(Self { value, path, read: Arc::clone(&self.read) })
    }

    /// Returns the value of `key`.
    pub(crate) fn get(&self, key: &str) -> Result<Self, String> {
        self.opt(key).ok_or_else(|| format!("missing key: {}.{key}", self.path))
    }

    /// Returns the elements of a list.
    pub(crate) fn items(&self) -> Vec<Self> {
        let items = self.value.as_array().map(Vec::as_slice).unwrap_or_default();
        let node = |(at, value)| Self {
            value,
            path: format!("{}[{at}]", self.path),
            read: Arc::clone(&self.read),
        };
        items.iter().enumerate().map(node).collect()
    }

    /// Returns the keys and values of an object, all of which count as looked at.
    pub(crate) fn entries(&self) -> Vec<(&'a str, Self)> {
        let keys = self.value.as_object().into_iter().flat_map(|it| it.keys());
        keys.filter_map(|key| Some((key.as_str(), self.opt(key)?))).collect()
    }

    /// Returns the value itself and notes that all of it was read.
    pub(crate) fn whole(&self) -> &'a Value {
        self.seen().insert(format!("{}/", self.path));
        self.value
    }

    /// Returns the value as text, empty if it is none.
    pub(crate) fn str(&self) -> &'a str {
        self.value.as_str().unwrap_or_default()
    }

    /// Returns the value as text, `None` for null.
    pub(crate) fn opt_str(&self) -> Option<&'a str> {
        self.value.as_str()
    }

    /// Returns the value as true or false, false if it is neither.
    pub(crate) fn bool(&self) -> bool {
        self.value.as_bool().unwrap_or_default()
    }

    /// Returns the value as a whole number, 0 if it is none.
    pub(crate) fn usize(&self) -> usize {
        self.value.as_u64().and_then(|it| usize::try_from(it).ok()).unwrap_or_default()
    }

    /// Returns a list of texts.
    pub(crate) fn strings(&self) -> Vec<&'a str> {
        self.items().iter().map(Self::str).collect()
    }

    /// Returns the paths below the `top` keys that nobody looked at.
    pub(crate) fn unread(&self, top: &[&str]) -> Vec<String> {
        let mut unread = Vec::new();
        for key in top {
            if let Some(value) = self.value.get(key) {
                self.collect_unread(value, &format!(".{key}"), &mut unread);
            }
        }
        unread
    }

    fn seen(&self) -> MutexGuard<'_, HashSet<String>> {
        self.read.lock().unwrap()
    }

    fn collect_unread(&self, value: &Value, path: &str, unread: &mut Vec<String>) {
        let is_whole = self.seen().contains(&format!("{path}/"));
        if is_whole {
            return;
        }
        match value {
            Value::Object(object) => {
                for (key, value) in object {
                    let path = format!("{path}.{key}");
                    let is_seen = self.seen().contains(&path);
                    if is_seen {
                        self.collect_unread(value, &path, unread);
                    } else {
                        unread.push(path.trim_start_matches('.').to_owned());
                    }
                }
            }
            Value::Array(items) => {
                for (at, item) in items.iter().enumerate() {
                    self.collect_unread(item, &format!("{path}[{at}]"), unread);
                }
            }
            _ => {}
        }
    }
}

/// Returns the text of `key`, or what its `<key>_generate` describes: head, a line repeated, tail.
pub(crate) fn text(node: &Node<'_>, key: &str) -> Option<String> {
    if let Some(text) = node.opt(key).and_then(|it| it.opt_str()) {
        return Some(text.to_owned());
    }
    node.opt(&format!("{key}_generate")).map(|it| generated(&it))
}

/// Returns the text that a generator describes.
pub(crate) fn generated(node: &Node<'_>) -> String {
    let part = |key: &str| node.opt(key).map(|it| it.str()).unwrap_or_default();
    let number = |key: &str| node.opt(key).map(|it| it.usize()).unwrap_or_default();
    let (start, line) = (number("start"), part("line"));
    let mut text = part("head").to_owned();
    for at in start..start.saturating_add(number("repeat")) {
        text.push_str(&line.replace("{i}", &at.to_string()));
    }
    text.push_str(part("tail"));
    text
}
