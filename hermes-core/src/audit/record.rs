//! What is recorded.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::redact::{redact, redact_value};
use crate::{
    approval::Grant,
    change::{Change, ChangeAction, ChangeTarget, Fate},
    message::{Arguments, Call, CallId, CallStatus},
    origin::Origin,
    pending::{HeldWrite, PendingId, Subsystem},
    review::{ReviewOutcome, ReviewReport, ReviewScope},
    store::SessionId,
    version::Version,
};

/// One thing that an agent did.
///
/// Every text in it has a limit, so that a record never has more than about 100,000 bytes: ids and names
/// of 128 characters, those of longer ones ending in a hash of the whole; arguments of 2,000 characters, other texts of 400,
/// and 16 reasons and grants.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AuditRecord {
    /// When it was recorded, in ISO 8601 and UTC, by the agent's clock.
    pub at: String,
    /// The conversation; for a fork, the one it comes from.
    pub session: SessionId,
    /// The turn, counted from 1 within the session.
    pub turn: u64,
    /// On whose account it was done.
    pub origin: Origin,
    /// What was done.
    pub event: AuditEvent,
}

impl AuditRecord {
    /// Joins the parts of a record.
    pub fn new(
        at: impl Into<String>,
        session: SessionId,
        turn: u64,
        origin: Origin,
        event: AuditEvent,
    ) -> Self {
        let origin = Origin {
            by: origin.by.map(named),
            review: origin.review.map(named),
            task: origin.task.map(named),
            ..origin
        };
        Self { at: cut(&at.into(), MAX_NAME), session, turn, origin, event }
    }
}

/// What was done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AuditEvent {
    /// A call got its result, also one that was refused and did not run.
    Call {
        /// The call.
        id: CallId,
        /// The tool, as the model named it.
        tool: Arc<str>,
        /// How the call ended.
        status: CallStatus,
        /// The SHA-256 of the arguments as the model wrote them.
        digest: Version,
        /// The arguments, redacted and cut to 2,000 characters.
        arguments: String,
        /// Whether the call was under way, or about to run, when its process or turn was lost: it has
        /// no result, and may have had an effect.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_interrupted: bool,
    },
    /// A [`Hook`](crate::agent::hook::Hook) gave a call other arguments, with which it is about to
    /// run.
    Replaced {
        /// The call.
        id: CallId,
        /// The tool.
        tool: Arc<str>,
        /// The SHA-256 of the new arguments.
        digest: Version,
        /// The new arguments, redacted and cut to 2,000 characters.
        arguments: String,
    },
    /// A call that needed approval was decided on, or is about to run because what it needs was allowed
    /// for the session.
    Approval {
        /// The call.
        id: CallId,
        /// The tool.
        tool: Arc<str>,
        /// The decision: `allowed`, `allowed_for_session`, `denied` or `held`; `granted` where nobody was
        /// asked because of an earlier `allowed_for_session`.
        decision: String,
        /// Why it needed approval, and the reason if it was denied.
        reasons: Vec<String>,
        /// Who decided, as the [approver](crate::approval::Approver) says: `host` if it does not. Without
        /// an answer it is `policy`, or the `session grant`. `None` in logs of earlier versions.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
        /// What was allowed for the session: now, by `allowed_for_session`, or earlier, where it is what
        /// `granted` goes by.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        grants: Vec<Grant>,
    },
    /// Memory or a skill was changed, or a change was held for a person.
    Write {
        /// The call that wrote.
        id: CallId,
        /// What was written.
        target: ChangeTarget,
        /// What was done to it.
        action: ChangeAction,
        /// The hash of what was there before, `None` for nothing.
        before: Option<Version>,
        /// The hash of what is there now, `None` for nothing.
        after: Option<Version>,
        /// Whether it is in the store.
        fate: Fate,
    },
    /// A review is over.
    Review {
        /// Its id, which is in the origin of its calls and writes.
        id: String,
        /// What it looked for.
        scope: ReviewScope,
        /// How it ended.
        outcome: ReviewOutcome,
        /// How many changes it made or proposed.
        changes: u64,
        /// The model requests it made.
        requests: u32,
    },
    /// A person decided on a held write, outside any conversation: the record's session is `held`, its
    /// turn 0, its origin that of the write. If it was approved, a [`Write`](Self::Write) follows, whose
    /// call is the id of the held write.
    Decided {
        /// The held write.
        id: PendingId,
        /// What it was to change.
        subsystem: Subsystem,
        /// The decision: `approved` or `rejected`.
        decision: String,
        /// Who decided; `host` unless the host [says](crate::pending::HeldWrites::decided_by) who. `None` in
        /// logs of earlier versions.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
        /// What was changed; `None` if the write was rejected.
        target: Option<ChangeTarget>,
        /// The hash of what was there before, `None` for nothing.
        before: Option<Version>,
        /// The hash of what is there now, `None` for nothing.
        after: Option<Version>,
    },
    /// A log was found with half a line at its end, left by a process that was killed, and the half
    /// line was removed.
    Recovered {
        /// How many bytes were removed.
        bytes: u64,
        /// Their SHA-256.
        digest: Version,
    },
}

/// The most characters that arguments have in a record.
const MAX_ARGUMENTS: usize = 2_000;
/// Arguments of more bytes are left out of it.
const MAX_BYTES: usize = 1 << 18;
/// The most characters of the other texts that come from a model or a tool.
const MAX_TEXT: usize = 400;
/// The most characters of ids and names.
const MAX_NAME: usize = 128;
/// The most reasons, and the most grants.
const MAX_LISTED: usize = 16;

impl AuditEvent {
    /// Records the end of `call`, redacted.
    pub fn call(call: &Call, status: CallStatus) -> Self {
        Self::Call {
            id: id(&call.id),
            tool: shown(&call.name, MAX_TEXT).into(),
            status,
            digest: Version::of(call.arguments.as_str()),
            arguments: arguments(&call.arguments),
            is_interrupted: false,
        }
    }

    /// Records that `call` was interrupted and has no result, redacted.
    pub fn interrupted(call: &Call) -> Self {
        let mut event = Self::call(call, CallStatus::Cancelled);
        if let Self::Call { is_interrupted, .. } = &mut event {
            *is_interrupted = true;
        }
        event
    }

    /// Records that `call` has got its arguments from a hook, redacted.
    pub fn replaced(call: &Call) -> Self {
        Self::Replaced {
            id: id(&call.id),
            tool: shown(&call.name, MAX_TEXT).into(),
            digest: Version::of(call.arguments.as_str()),
            arguments: arguments(&call.arguments),
        }
    }

    /// Records the decision on `call`, redacted.
    pub fn approval(
        call: &Call,
        decision: impl Into<String>,
        reasons: impl IntoIterator<Item = String>,
    ) -> Self {
        Self::Approval {
            id: id(&call.id),
            tool: shown(&call.name, MAX_TEXT).into(),
            decision: cut(&decision.into(), MAX_NAME),
            reasons: reasons.into_iter().take(MAX_LISTED).map(|it| shown(&it, MAX_TEXT)).collect(),
            by: None,
            grants: Vec::new(),
        }
    }

    /// Returns the same event with who decided, redacted; unchanged if it is no decision.
    #[must_use]
    pub fn by(mut self, who: &str) -> Self {
        if let Self::Approval { by, .. } | Self::Decided { by, .. } = &mut self {
            *by = Some(shown(who, MAX_TEXT));
        }
        self
    }

    /// Returns the same event with what was allowed for the session; unchanged if it is no approval.
    #[must_use]
    pub fn under(mut self, granted: Vec<Grant>) -> Self {
        if let Self::Approval { grants, .. } = &mut self {
            let listed = granted.into_iter().take(MAX_LISTED);
            *grants = listed
                .map(|it| Grant { tool: named(it.tool), class: it.class.map(name), ..it })
                .collect();
        }
        self
    }

    /// Records `change`, which the call `id` made.
    pub fn write(call: &CallId, change: &Change) -> Self {
        let fate = match &change.fate {
            Fate::Held(id) => Fate::Held(name(id.clone())),
            other => other.clone(),
        };
        Self::Write {
            id: id(call),
            target: target(&change.target),
            action: change.action,
            before: change.before,
            after: change.after,
            fate,
        }
    }

    /// Records the decision on `write`: approved, with what that changed, or rejected.
    pub fn decided(write: &HeldWrite, change: Option<&Change>) -> Self {
        let decision = if change.is_some() { "approved" } else { "rejected" };
        Self::Decided {
            id: write.id.clone(),
            subsystem: write.draft.subsystem,
            decision: decision.to_owned(),
            by: None,
            target: change.map(|it| target(&it.target)),
            before: change.and_then(|it| it.before),
            after: change.and_then(|it| it.after),
        }
    }

    /// Records the end of a review, redacted.
    pub fn review(report: &ReviewReport) -> Self {
        let outcome = match &report.outcome {
            ReviewOutcome::Failed(reason) => ReviewOutcome::Failed(shown(reason, MAX_TEXT)),
            other => other.clone(),
        };
        Self::Review {
            id: name(report.id.clone()),
            scope: report.scope,
            outcome,
            changes: u64::try_from(report.changes.len()).unwrap_or(u64::MAX),
            requests: report.requests,
        }
    }
}

/// Returns arguments as they may be kept.
fn arguments(arguments: &Arguments) -> String {
    let raw = arguments.as_str();
    if MAX_BYTES < raw.len() {
        return format!("[… {} bytes left out …]", raw.len());
    }
    let redacted = match arguments.parse() {
        Ok(value) => redact_value(value).to_string(),
        // What is not JSON may have its escapes all the same, and they must not hide where words begin.
        Err(_) => redact(&raw.replace("\\n", "\n").replace("\\t", "\t")).into_owned(),
    };
    cut(&redacted, MAX_ARGUMENTS)
}

/// Returns an id as it is recorded, the same for the same id.
fn id(id: &CallId) -> CallId {
    let kept = within(id.as_str());
    kept.map_or_else(|| id.clone(), CallId::new)
}

fn named(text: Arc<str>) -> Arc<str> {
    let kept = within(&text);
    kept.map_or(text, Arc::from)
}

fn name(text: String) -> String {
    within(&text).unwrap_or(text)
}

fn target(target: &ChangeTarget) -> ChangeTarget {
    match target {
        ChangeTarget::Skill { name: skill, file } => {
            ChangeTarget::Skill { name: name(skill.clone()), file: name(file.clone()) }
        }
        other => other.clone(),
    }
}

/// Returns the beginning of a name that is too long, with a hash of the whole.
fn within(text: &str) -> Option<String> {
    const DIGITS: usize = 16;
    text.char_indices().nth(MAX_NAME)?;
    let hash: String = Version::of(text).to_string().chars().take(DIGITS).collect();
    let kept: String = text.chars().take(MAX_NAME - DIGITS - 1).collect();
    Some(format!("{kept}-{hash}"))
}

fn shown(text: &str, limit: usize) -> String {
    cut(&redact(text), limit)
}

fn cut(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        Some((end, _)) => {
            let left_out = text.chars().count().saturating_sub(limit);
            format!("{} [… {left_out} characters left out …]", text.get(..end).unwrap_or_default())
        }
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn kept(raw: &str) -> String {
        arguments(&Arguments::new(raw))
    }

    #[test]
    fn arguments_are_redacted_before_they_are_cut() {
        let secret = "sk-abcdefghijklmnop1234";
        let long = json!({"a": "x".repeat(1_980), "b": secret}).to_string();

        let kept = kept(&long);

        assert!(!kept.contains("abcd"), "{kept}");
        assert!(kept.ends_with("characters left out …]"), "{kept}");
        assert!(kept.chars().count() < 2_050);
    }

    #[test]
    fn arguments_that_are_no_json_are_redacted_too() {
        assert_eq!(kept(r#"{"x": "a\nsk-abcdefghijklmnop1234"#), "{\"x\": \"a\n[redacted:api_key]");
    }

    #[test]
    fn no_text_makes_a_record_longer_than_a_line_may_be() {
        let long = "\u{1}".repeat(40_000);
        let call = Call::new(long.as_str(), long.as_str(), json!({"a": long}));
        let target = ChangeTarget::Skill { name: long.clone(), file: long.clone() };
        let change = Change::applied(target, ChangeAction::Create).held(long.clone());
        let grant = Grant {
            tool: long.as_str().into(),
            origin: crate::origin::OriginKind::User,
            class: Some(long.clone()),
        };
        let mut report = ReviewReport::new(long.as_str(), ReviewScope::Both);
        report.outcome = ReviewOutcome::Failed(long.clone());
        let approval = AuditEvent::approval(&call, long.as_str(), vec![long.clone(); 50]);
        let origin = Origin {
            task: Some(long.as_str().into()),
            ..Origin::review(long.as_str()).on_behalf_of(long.as_str())
        };

        for event in [
            AuditEvent::call(&call, CallStatus::Done),
            AuditEvent::interrupted(&call),
            AuditEvent::replaced(&call),
            AuditEvent::write(&call.id, &change),
            AuditEvent::review(&report),
            approval.by(&long).under(vec![grant; 50]),
        ] {
            let session = SessionId::new(&long);
            let record = AuditRecord::new(long.as_str(), session, 1, origin.clone(), event);

            let length = serde_json::to_string(&record).unwrap().len();
            assert!(length < 100_000, "{length}");
        }
    }

    #[test]
    fn long_ids_that_differ_stay_two() {
        let long = "x".repeat(200);
        let (one, other) =
            (id(&CallId::new(format!("{long}1"))), id(&CallId::new(format!("{long}2"))));

        assert_ne!(one, other);
        assert_eq!(one.as_str().chars().count(), MAX_NAME);
        assert_eq!(id(&"call_1".into()).as_str(), "call_1");
    }

    #[test]
    fn huge_arguments_are_left_out() {
        assert_eq!(kept(&"x".repeat(300_000)), "[… 300000 bytes left out …]");
    }
}
