//! The record of a held write as hermes-agent has it, with keys of ours that it passes over.

use std::time::{Duration, SystemTime};

use serde::Serialize;
use serde_json::{Map, Value};

use super::{Draft, HeldWrite, PendingId, Subsystem};
use crate::{
    origin::{Origin, OriginKind},
    version::{Expected, Version},
};

/// Where hermes-agent has the origin in one word, this has all of it.
const ORIGIN: &str = "origin_detail";
/// The version the write goes by, null if it goes by there being nothing.
const BASE: &str = "base_hash";

#[derive(Serialize)]
struct Record<'a> {
    id: &'a str,
    subsystem: Subsystem,
    action: &'a str,
    summary: &'a str,
    origin: &'static str,
    /// Seconds since 1970.
    created_at: f64,
    payload: &'a Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    base_hash: Option<Value>,
    origin_detail: &'a Origin,
}

/// Returns the bytes of the record of `held`.
pub(super) fn write(held: &HeldWrite) -> serde_json::Result<Vec<u8>> {
    let Draft { subsystem, action, summary, origin, base, payload } = &held.draft;
    let since = held.created_at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let record = Record {
        id: held.id.as_str(),
        subsystem: *subsystem,
        action,
        summary,
        origin: word(origin),
        created_at: since.as_secs_f64(),
        payload,
        base_hash: match base {
            Expected::Any => None,
            Expected::Absent => Some(Value::Null),
            Expected::Is(version) => Some(version.to_string().into()),
        },
        origin_detail: origin,
    };
    serde_json::to_vec_pretty(&record)
}

/// Reads the record of `id` in `subsystem`, or says what is wrong with it.
pub(super) fn read(
    bytes: &[u8],
    subsystem: Subsystem,
    id: &PendingId,
) -> Result<HeldWrite, String> {
    let record: Map<String, Value> =
        serde_json::from_slice(bytes).map_err(|err| format!("not a JSON object: {err}"))?;
    let text = |key: &str| record.get(key).and_then(Value::as_str);
    if text("id") != Some(id.as_str()) {
        return Err("its id is not the name of its file".to_owned());
    }
    if text("subsystem").is_some_and(|it| it != subsystem.as_str()) {
        return Err(format!("it is not one of {}", subsystem.as_str()));
    }
    let payload = record.get("payload").and_then(Value::as_object).ok_or("it has no payload")?;
    let mut draft = Draft::new(subsystem, origin(&record)?, payload.clone());
    if let Some(action) = text("action") {
        action.clone_into(&mut draft.action);
    }
    let summary = text("summary").unwrap_or_default();
    let draft = draft.on(base(&record)?).summarised(summary);
    Ok(HeldWrite::new(id.clone(), created_at(&record), draft))
}

fn base(record: &Map<String, Value>) -> Result<Expected, String> {
    match record.get(BASE) {
        None => Ok(Expected::Any),
        Some(Value::Null) => Ok(Expected::Absent),
        Some(Value::String(text)) => {
            let version: Version = text.parse().map_err(|err| format!("{BASE}: {err}"))?;
            Ok(Expected::Is(version))
        }
        Some(_) => Err(format!("{BASE} is not a text")),
    }
}

/// Returns who asked: what the record says in full, unless its one word is the stricter.
fn origin(record: &Map<String, Value>) -> Result<Origin, String> {
    let is_automatic = record.get("origin").and_then(Value::as_str) == Some(BACKGROUND);
    let Some(detail) = record.get(ORIGIN) else {
        let kind = if is_automatic { OriginKind::Review } else { OriginKind::User };
        return Ok(Origin::new(kind));
    };
    let origin: Origin =
        serde_json::from_value(detail.clone()).map_err(|err| format!("{ORIGIN}: {err}"))?;
    if is_automatic && !origin.is_automatic() {
        return Ok(Origin::new(OriginKind::Review));
    }
    Ok(origin)
}

fn created_at(record: &Map<String, Value>) -> SystemTime {
    let seconds = record.get("created_at").and_then(Value::as_f64).unwrap_or(0.0);
    let since = whole_micros(Duration::try_from_secs_f64(seconds).unwrap_or_default());
    SystemTime::UNIX_EPOCH.checked_add(since).unwrap_or(SystemTime::UNIX_EPOCH)
}

/// Returns `since` rounded to microseconds, which is as much as a floating-point number of seconds
/// brings back.
fn whole_micros(since: Duration) -> Duration {
    let rounded = since.saturating_add(Duration::from_nanos(500));
    let rest = u64::from(rounded.subsec_nanos() % 1_000);
    rounded.saturating_sub(Duration::from_nanos(rest))
}

/// Returns the time at which a write is held `now`, as its record will have it.
pub(super) fn dated(now: SystemTime) -> SystemTime {
    let since = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    SystemTime::UNIX_EPOCH.checked_add(whole_micros(since)).unwrap_or(now)
}

/// hermes-agent's word for a write that nobody asked for.
const BACKGROUND: &str = "background_review";

fn word(origin: &Origin) -> &'static str {
    if origin.is_automatic() { BACKGROUND } else { "foreground" }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn id() -> PendingId {
        "0a1b2c3d".parse().unwrap()
    }

    fn read_json(record: &Value) -> Result<HeldWrite, String> {
        read(record.to_string().as_bytes(), Subsystem::Memory, &id())
    }

    #[test]
    fn a_record_of_hermes_agent_is_read() {
        let record = json!({
            "id": "0a1b2c3d", "subsystem": "memory", "action": "add", "summary": "add to memory",
            "origin": "background_review", "created_at": 1_700_000_000.25,
            "payload": {"action": "add", "target": "memory", "content": "x", "old_text": null},
        });

        let held = read_json(&record).unwrap();

        assert_eq!(held.draft.base, Expected::Any);
        assert_eq!(held.draft.origin, Origin::new(OriginKind::Review));
        let since = held.created_at.duration_since(SystemTime::UNIX_EPOCH).unwrap();
        assert_eq!(since, Duration::from_millis(1_700_000_000_250));
    }

    #[test]
    fn a_record_comes_back_as_it_was_written() {
        let payload = json!({"action": "add", "content": "日本語"}).as_object().unwrap().clone();
        let origin = Origin::review("review-7").on_behalf_of("sam");
        for base in [Expected::Any, Expected::Absent, Expected::Is(Version::of("x"))] {
            let draft = Draft::new(Subsystem::Memory, origin.clone(), payload.clone());
            let at = SystemTime::UNIX_EPOCH + Duration::from_millis(1_500);
            let held = HeldWrite::new(id(), at, draft.on(base).summarised("adds"));

            let bytes = write(&held).unwrap();

            assert_eq!(read(&bytes, Subsystem::Memory, &id()), Ok(held));
            let text: Value = serde_json::from_slice(&bytes).unwrap();
            assert_eq!(text["origin"], "background_review");
        }
    }

    #[test]
    fn what_is_damaged_is_named() {
        let good = json!({"id": "0a1b2c3d", "payload": {}});
        assert!(read_json(&good).is_ok());
        let check = |key: &str, value: Value, word: &str| {
            let mut record = good.clone();
            record[key] = value;
            let reason = read_json(&record).unwrap_err();
            assert!(reason.contains(word), "{reason}");
        };

        check("id", json!("ffffffff"), "name of its file");
        check("subsystem", json!("skills"), "memory");
        check("payload", json!("x"), "payload");
        check(BASE, json!("12"), "version");
        check(BASE, json!(12), "text");
        check(ORIGIN, json!({"kind": "king"}), ORIGIN);
        assert!(read(b"{\"id\": \"0a1b", Subsystem::Memory, &id()).unwrap_err().contains("JSON"));
    }

    #[test]
    fn of_two_origins_the_stricter_counts() {
        let record = json!({"id": "0a1b2c3d", "payload": {}, "origin": "background_review",
            "origin_detail": {"kind": "user"}});

        assert!(read_json(&record).unwrap().draft.origin.is_automatic());
    }
}
