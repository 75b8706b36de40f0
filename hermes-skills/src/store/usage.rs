//! `.usage.json`: what is known of each skill's use, in the shape of hermes-agent 0.19.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

use hermes_core::{
    durable::{self, FileLock},
    skill::SkillRecord,
};
use serde_json::{Map, Value, json};

/// The most bytes of the file that are read.
const MAX_BYTES: u64 = 1 << 26;

/// The usage records of a skills folder.
///
/// Records and fields that this version does not know are kept. Every write holds the lock that
/// hermes-agent takes, too.
#[derive(Debug)]
pub(super) struct Usage {
    path: PathBuf,
    patience: Duration,
}

type Records = BTreeMap<String, Value>;

impl Usage {
    pub(super) fn of(root: &Path, patience: Duration) -> Self {
        Self { path: root.join(".usage.json"), patience }
    }

    /// Returns the record of `name`, if there is one.
    ///
    /// Fails if the file is no JSON object: then nobody knows whose a skill is.
    pub(super) fn record(&self, name: &str) -> io::Result<Option<SkillRecord>> {
        Ok(self.read()?.get(name).and_then(Value::as_object).map(tolerant))
    }

    /// Returns the record of `name` as it is in the file; `None` also if the file cannot be read.
    pub(super) fn raw(&self, name: &str) -> Option<Value> {
        self.read().ok()?.remove(name)
    }

    /// Changes the record of `name`, which is begun at `now` if there is none.
    pub(super) fn change(
        &self,
        name: &str,
        now: &str,
        edit: impl FnOnce(&mut Map<String, Value>),
    ) -> io::Result<()> {
        self.update(now, |records| {
            let mut record = match records.remove(name) {
                Some(Value::Object(record)) => record,
                _ => Map::new(),
            };
            fill(&mut record, now);
            edit(&mut record);
            records.insert(name.to_owned(), Value::Object(record));
        })
    }

    /// Counts one more of `counter` in the record of `name`, and when.
    pub(super) fn count(&self, name: &str, now: &str, counters: &[(&str, &str)]) -> io::Result<()> {
        self.change(name, now, |record| {
            for (counter, at) in counters {
                let count = record.get(*counter).and_then(Value::as_u64).unwrap_or(0);
                record.insert((*counter).to_owned(), count.saturating_add(1).into());
                record.insert((*at).to_owned(), now.into());
            }
        })
    }

    /// Forgets the record of `name`.
    pub(super) fn drop_record(&self, name: &str, now: &str) -> io::Result<()> {
        if self.read().is_ok_and(|records| !records.contains_key(name)) {
            return Ok(());
        }
        self.update(now, |records| {
            records.remove(name);
        })
    }

    fn read(&self) -> io::Result<Records> {
        match durable::read(&self.path, MAX_BYTES) {
            Ok(bytes) if bytes.iter().all(u8::is_ascii_whitespace) => Ok(Records::new()),
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(io::Error::from),
            Err(err) if err.kind() == io::ErrorKind::NotFound => Ok(Records::new()),
            Err(err) => Err(err),
        }
    }

    fn update(&self, now: &str, edit: impl FnOnce(&mut Records)) -> io::Result<()> {
        let lock = self.path.with_file_name(".usage.json.lock");
        let _lock = FileLock::acquire(&lock, self.patience)?;
        let mut records = match self.read() {
            Ok(records) => records,
            Err(err) if is_unreadable(&err) => {
                self.set_aside(now)?;
                Records::new()
            }
            Err(err) => return Err(err),
        };
        edit(&mut records);
        let records = records.into_iter().map(|(name, record)| (name, sorted(record)));
        let records = Value::Object(records.collect());
        let text = serde_json::to_string_pretty(&records)?;
        durable::replace(&self.path, text.as_bytes())
    }

    /// Keeps a copy of a file that cannot be read, before it is written anew.
    fn set_aside(&self, now: &str) -> io::Result<()> {
        let stamp: String = now.chars().filter(char::is_ascii_digit).collect();
        let copy = self.path.with_file_name(format!(".usage.json.unreadable-{stamp}"));
        fs::copy(&self.path, copy).map(drop)
    }
}

/// Returns whether an error is about what the file says, not about reading it.
fn is_unreadable(err: &io::Error) -> bool {
    matches!(err.kind(), io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof)
}

/// Adds the fields that a whole record has.
fn fill(record: &mut Map<String, Value>, now: &str) {
    let whole = json!({
        "archived_at": null, "created_at": now, "created_by": null, "last_patched_at": null,
        "last_used_at": null, "last_viewed_at": null, "patch_count": 0, "pinned": false,
        "state": "active", "use_count": 0, "view_count": 0,
    });
    if let Value::Object(whole) = whole {
        for (key, value) in whole {
            record.entry(key).or_insert(value);
        }
    }
}

/// Reads a record, leaving out fields whose type is wrong. A `pinned` that is not `false` pins.
fn tolerant(record: &Map<String, Value>) -> SkillRecord {
    let mut record = record.clone();
    if let Some(pinned) = record.get("pinned") {
        let is_pinned = !matches!(pinned, Value::Null | Value::Bool(false));
        record.insert("pinned".to_owned(), is_pinned.into());
    }
    record.retain(|key, value| {
        let alone: Map<String, Value> = [(key.clone(), value.clone())].into_iter().collect();
        serde_json::from_value::<SkillRecord>(Value::Object(alone)).is_ok()
    });
    serde_json::from_value(Value::Object(record)).unwrap_or_default()
}

/// Returns `value` with the keys of all its objects sorted, however the map keeps them.
fn sorted(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let fields: BTreeMap<String, Value> = fields.into_iter().collect();
            Value::Object(fields.into_iter().map(|(key, value)| (key, sorted(value))).collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(sorted).collect()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: &str = "2026-11-30T05:00:00.000000+00:00";

    fn usage(folder: &tempfile::TempDir) -> Usage {
        Usage::of(folder.path(), Duration::from_secs(5))
    }

    #[test]
    fn the_file_is_written_as_hermes_agent_writes_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(".usage.json");
        durable::replace(&path, b"{\"b\": {\"zeta\": [1], \"use_count\": 2}}").unwrap();

        usage(&folder).count("b", NOW, &[("use_count", "last_used_at")]).unwrap();

        let expected = format!(
            "{{\n  \"b\": {{\n    \"archived_at\": null,\n    \"created_at\": \"{NOW}\",\n    \
             \"created_by\": null,\n    \"last_patched_at\": null,\n    \"last_used_at\": \"{NOW}\",\n    \
             \"last_viewed_at\": null,\n    \"patch_count\": 0,\n    \"pinned\": false,\n    \
             \"state\": \"active\",\n    \"use_count\": 3,\n    \"view_count\": 0,\n    \"zeta\": [\n      \
             1\n    ]\n  }}\n}}"
        );
        assert_eq!(fs::read_to_string(path).unwrap(), expected);
    }

    #[test]
    fn a_file_that_cannot_be_read_is_kept_beside_the_new_one() {
        let folder = tempfile::tempdir().unwrap();
        durable::replace(&folder.path().join(".usage.json"), b"{broken").unwrap();
        let usage = usage(&folder);
        assert!(usage.record("a").is_err());

        usage.count("a", NOW, &[("use_count", "last_used_at")]).unwrap();

        assert_eq!(usage.record("a").unwrap().unwrap().use_count, 1);
        let kept = folder.path().join(".usage.json.unreadable-202611300500000000000000");
        assert_eq!(fs::read(kept).unwrap(), b"{broken");
    }

    #[test]
    fn odd_fields_do_not_hide_the_others() {
        let record =
            json!({"use_count": "many", "created_by": "agent", "pinned": "yes", "state": "gone"});

        let record = tolerant(record.as_object().unwrap());

        assert!(record.is_agent_made() && record.pinned);
        assert_eq!(record.use_count, 0);
    }
}
