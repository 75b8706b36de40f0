//! What the model reads: JSON with the keys of hermes-agent, and `kind` for programs.

use hermes_core::{
    memory::{Fill, MemoryCommit, MemoryError, Target},
    pending::{self, HeldWrite, PendingError},
    serde_json::{Map, Value},
    tool::ToolOutput,
    version::Versioned,
};

use super::args::{Form, Mistake, MistakeKind, Request};
use crate::file::file_name;

type Object = Map<String, Value>;

/// A list as it is now, for a model that has to correct itself.
#[derive(Debug)]
pub(super) struct Live {
    /// The entries, with a mark in the place of each that is withheld.
    pub(super) entries: Vec<String>,
    pub(super) fill: Fill,
    /// What there is to know of those that are withheld.
    pub(super) note: Option<&'static str>,
}

/// The answer to a call that went wrong.
#[derive(Debug)]
pub(super) struct Refusal {
    keys: Object,
    /// Which keys about the list belong to it.
    shows: Shows,
    pub(super) counts: Counts,
    is_broken: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shows {
    Nothing,
    Entries,
    EntriesAndUsage,
}

/// Whether a refusal is one of those that end a model's attempts when they come too often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Counts {
    Yes,
    No,
}

impl Refusal {
    /// Describes a call that could not be read.
    pub(super) fn of_mistake(mistake: &Mistake) -> Self {
        let shows = match (mistake.kind, mistake.form) {
            (MistakeKind::NoOldText, _) | (_, Form::Batch) => Shows::EntriesAndUsage,
            (MistakeKind::OldText, Form::Single) => Shows::Entries,
            _ => Shows::Nothing,
        };
        let shows = if mistake.target.is_none() { Shows::Nothing } else { shows };
        let counts = if shows != Shows::Nothing && mistake.form == Form::Batch {
            Counts::Yes
        } else {
            Counts::No
        };
        Self::new(mistake.kind.as_str(), mistake.message.clone(), shows, counts)
    }

    /// Describes a commit that failed.
    pub(super) fn of_error(err: MemoryError, request: &Request) -> Self {
        let place = file_name(request.target);
        match err {
            MemoryError::Full { needed, fill, .. } => {
                Self::new("full", full(request, needed, fill), Shows::EntriesAndUsage, Counts::Yes)
            }
            MemoryError::NoMatch { edit, old_text, .. } => {
                let message = format!(
                    "No entry contains {old_text:?}. Repeat the call with a passage of one of \
                     current_entries, letter for letter."
                );
                let shows = match request.form {
                    Form::Single => Shows::Entries,
                    Form::Batch => Shows::EntriesAndUsage,
                };
                Self::new("no_match", numbered(request, edit, message), shows, Counts::Yes)
            }
            MemoryError::Ambiguous { edit, old_text, matches } => {
                ambiguous(request, edit, &old_text, &matches)
            }
            MemoryError::Invalid { edit, reason } => {
                let message = numbered(request, edit, format!("{reason}."));
                Self::new("invalid_content", message, Shows::Nothing, Counts::No)
            }
            MemoryError::Blocked { edit, findings } => {
                let ids: Vec<&str> = findings.iter().map(|it| &*it.id).collect();
                let message = format!(
                    "Blocked ({}): the content would stand in the prompt of every conversation, and \
                     it reads like an attack. If it states a harmless fact, put it in other words.",
                    ids.join(", ")
                );
                Self::new("blocked", numbered(request, edit, message), Shows::Nothing, Counts::No)
            }
            MemoryError::Conflict { .. } => Self::conflict(),
            MemoryError::Drift { backup, .. } => drift(place, &backup),
            MemoryError::Unreadable { source, .. } => {
                let message = format!(
                    "{place} cannot be read ({source}), so nothing was written. Tell the user; only \
                     they can repair it."
                );
                Self::broken(message)
            }
            err => {
                let cause = std::error::Error::source(&err).map(|it| format!(": {it}"));
                let cause = cause.unwrap_or_default();
                Self::broken(format!("{err}{cause}. Nothing was written."))
            }
        }
    }

    /// Describes a change that is not based on the list as it is.
    pub(super) fn conflict() -> Self {
        let message = "The list is not as you have seen it: it was changed in the meantime. Look at \
                       current_entries and, if the change still makes sense, repeat the call.";
        Self::new("conflict", message.to_owned(), Shows::EntriesAndUsage, Counts::No)
    }

    /// Describes a change that was turned down.
    pub(super) fn turned_down(reason: &str) -> Self {
        Self::new("rejected", reason.to_owned(), Shows::Nothing, Counts::No)
    }

    /// Describes a change that was to wait for a person and could not be kept.
    pub(super) fn of_pending(err: &PendingError) -> Self {
        match err {
            PendingError::Full { .. } | PendingError::TooLarge { .. } => {
                Self::turned_down(&format!("Nothing was saved: {err}. Tell the user."))
            }
            err => {
                let cause = std::error::Error::source(err).map(|it| format!(": {it}"));
                let cause = cause.unwrap_or_default();
                Self::broken(format!("{err}{cause}. Nothing was saved."))
            }
        }
    }

    fn broken(message: String) -> Self {
        let mut refusal = Self::new("failed", message, Shows::Nothing, Counts::No);
        refusal.is_broken = true;
        refusal
    }

    fn new(kind: &str, error: String, shows: Shows, counts: Counts) -> Self {
        let mut keys = Object::new();
        keys.insert("success".to_owned(), Value::Bool(false));
        keys.insert("kind".to_owned(), kind.into());
        keys.insert("error".to_owned(), error.into());
        Self { keys, shows, counts, is_broken: false }
    }

    fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.keys.insert(key.to_owned(), value.into());
        self
    }

    /// Returns whether the list is needed for [`output`](Self::output).
    pub(super) fn wants_list(&self) -> bool {
        self.shows != Shows::Nothing
    }

    pub(super) fn output(mut self, live: Option<Live>) -> ToolOutput {
        if let Some(live) = live.filter(|_| self.wants_list()) {
            if self.shows == Shows::EntriesAndUsage {
                let usage = format!("{}/{}", thousands(live.fill.used), thousands(live.fill.limit));
                self.keys.insert("usage".to_owned(), usage.into());
            }
            self.keys.insert("current_entries".to_owned(), live.entries.into());
            if let Some(note) = live.note {
                self.keys.insert("note".to_owned(), note.into());
            }
        }
        let text = Value::Object(self.keys).to_string();
        if self.is_broken { ToolOutput::failed(text) } else { ToolOutput::rejected(text) }
    }
}

fn full(request: &Request, needed: usize, fill: Fill) -> String {
    let (used, limit) = (thousands(fill.used), thousands(fill.limit));
    let what = match request.form {
        Form::Single => "This entry".to_owned(),
        Form::Batch => format!("All {} operations", request.edits.len()),
    };
    format!(
        "{what} would bring the list from {used} to {} characters; the limit is {limit}. Nothing was \
         written, and the same call will fail again. Make room and save in one call: pass operations \
         that remove or shorten what matters least in current_entries and then add; the limit is \
         judged at the end.",
        thousands(needed)
    )
}

fn ambiguous(request: &Request, edit: usize, old_text: &str, matches: &[String]) -> Refusal {
    const PREVIEW: usize = 80;
    let message = format!("Several entries contain {old_text:?}; name a passage that is in one.");
    let message = numbered(request, edit, message);
    if request.form == Form::Batch {
        return Refusal::new("ambiguous", message, Shows::EntriesAndUsage, Counts::Yes);
    }
    let previews: Vec<String> = matches
        .iter()
        .map(|entry| match entry.char_indices().nth(PREVIEW) {
            Some((end, _)) => format!("{}...", entry.get(..end).unwrap_or_default()),
            None => entry.clone(),
        })
        .collect();
    Refusal::new("ambiguous", message, Shows::Nothing, Counts::No).with("matches", previews)
}

fn drift(place: &str, backup: &str) -> Refusal {
    let message = format!(
        "{place} has an external edit that was not written by this tool and would be lost, so \
         nothing was written. A copy is at {backup}."
    );
    let remediation = format!(
        "Tell the user. {place} must be a list of entries separated by lines that hold only \u{a7}, \
         without blank entries and none longer than the limit; once it is, repeat the call."
    );
    Refusal::new("drift", message, Shows::Nothing, Counts::No)
        .with("drift_backup", backup)
        .with("remediation", remediation)
}

fn numbered(request: &Request, edit: usize, message: String) -> String {
    match request.form {
        Form::Single => message,
        Form::Batch => {
            let number = edit.saturating_add(1);
            format!("Operation {number}: {message} None of the operations was applied.")
        }
    }
}

/// Returns the answer that makes a model stop trying after `failures` failed attempts.
pub(super) fn give_up(failures: u32) -> ToolOutput {
    let mut keys = Object::new();
    keys.insert("success".to_owned(), Value::Bool(false));
    keys.insert("done".to_owned(), Value::Bool(true));
    keys.insert("kind".to_owned(), "capped".into());
    let error = format!(
        "{failures} attempts to change memory have failed in this turn. Stop here: leave memory as it \
         is and answer the user. What was to be saved can be saved in a later turn."
    );
    keys.insert("error".to_owned(), error.into());
    ToolOutput::rejected(Value::Object(keys).to_string())
}

/// Returns the answer to a commit that went through.
pub(super) fn done(request: &Request, commit: &MemoryCommit) -> ToolOutput {
    let Versioned { value: entries, .. } = &commit.after;
    let is_changed = commit.before != commit.after;
    let (message, note) = match (is_changed, request.form, request.edits.as_slice()) {
        (false, _, _) => (
            "Nothing had to be written: the list already says so.".to_owned(),
            "Do not repeat this call; there is nothing left to do.",
        ),
        (true, Form::Single, [edit]) => (format!("Entry {}.", verb(edit)), SAVED),
        (true, _, edits) => (format!("{} operations applied.", edits.len()), SAVED),
    };
    let mut keys = Object::new();
    let fill = commit.fill;
    let (used, limit) = (thousands(fill.used), thousands(fill.limit));
    keys.insert("success".to_owned(), Value::Bool(true));
    keys.insert("done".to_owned(), Value::Bool(true));
    keys.insert("kind".to_owned(), if is_changed { "saved" } else { "unchanged" }.into());
    keys.insert("target".to_owned(), request.target.as_str().into());
    keys.insert("usage".to_owned(), format!("{}% — {used}/{limit} chars", fill.percent()).into());
    keys.insert("entry_count".to_owned(), entries.len().into());
    keys.insert("message".to_owned(), message.into());
    keys.insert("note".to_owned(), note.into());
    ToolOutput::done(Value::Object(keys).to_string())
}

/// Returns the answer to a change that waits for a person.
pub(super) fn held(target: Target, held: &HeldWrite) -> ToolOutput {
    let mut keys = pending::staged(held);
    keys.insert("target".to_owned(), target.as_str().into());
    ToolOutput::done(Value::Object(keys).to_string())
}

const SAVED: &str = "It is saved and complete; do not repeat this call.";

fn verb(edit: &hermes_core::memory::MemoryEdit) -> &'static str {
    use hermes_core::memory::MemoryEdit;
    match edit {
        MemoryEdit::Add { .. } => "added",
        MemoryEdit::Replace { .. } => "replaced",
        MemoryEdit::Remove { .. } => "removed",
        _ => "changed",
    }
}

/// Returns `number` with a comma at each thousand.
pub(crate) fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at != 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::thousands;

    #[test]
    fn thousands_are_set_apart() {
        assert_eq!([0, 999, 1_375, 1_234_567].map(thousands), ["0", "999", "1,375", "1,234,567"]);
    }
}
