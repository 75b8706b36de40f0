//! Entries that read like an attack: what an answer shows in their place, and how the model names
//! them all the same.

use hermes_core::{
    memory::{MemoryEdit, MemoryError, Target},
    origin::Origin,
    threat::Scanner,
    version::Version,
};

use crate::{edit, file::file_name};

/// What an answer says beside such an entry.
const NOTE: &str = "An entry that reads like an attack is withheld. If the user wants it gone, \
                    remove it with its handle, blocked:..., as old_text.";

/// What an automatic change is told instead.
const NOTE_AUTOMATIC: &str = "An entry that reads like an attack is withheld, so you have not seen \
                              the whole list: you may add, but only a change that the user asks \
                              for may replace or remove while it is there.";

/// The beginning of a handle.
const HANDLE: &str = "blocked:";

/// How many digits of the hash of an entry its handle has.
const DIGITS: usize = 12;

/// Returns what stands for `entry` in an answer, or `None` if nothing blocks it.
pub(super) fn of(entry: &str, target: Target, scanner: &dyn Scanner) -> Option<String> {
    let findings = edit::blocking(entry, scanner);
    if findings.is_empty() {
        return None;
    }
    let ids = edit::ids(&findings);
    let (handle, place) = (handle(entry), file_name(target));
    Some(format!("[{handle}: an entry of {place} was withheld: {ids}]"))
}

/// Returns what a change of `origin` is told beside a mark.
pub(super) fn note(origin: &Origin) -> &'static str {
    if origin.is_automatic() { NOTE_AUTOMATIC } else { NOTE }
}

/// Puts marks in the place of entries that an error repeats.
pub(super) fn in_error(mut err: MemoryError, target: Target, scanner: &dyn Scanner) -> MemoryError {
    if let MemoryError::Ambiguous { matches, .. } = &mut err {
        for entry in matches {
            if let Some(mark) = of(entry, target, scanner) {
                *entry = mark;
            }
        }
    }
    err
}

/// Returns whether a passage may name an entry by its handle.
pub(super) fn names_one(edit: &MemoryEdit) -> bool {
    passage(edit).is_some_and(|it| it.contains(HANDLE))
}

/// Puts the whole entry in the place of its handle, where `edit` names one of `entries` by it. A
/// passage that an entry has letter for letter stays.
pub(super) fn resolve(edit: &mut MemoryEdit, entries: &[String]) {
    let (MemoryEdit::Replace { old_text, .. } | MemoryEdit::Remove { old_text }) = edit else {
        return;
    };
    if entries.iter().any(|entry| entry.contains(old_text.as_str())) {
        return;
    }
    if let Some(entry) = entries.iter().find(|entry| old_text.contains(&handle(entry))) {
        old_text.clone_from(entry);
    }
}

fn passage(edit: &MemoryEdit) -> Option<&str> {
    match edit {
        MemoryEdit::Replace { old_text, .. } | MemoryEdit::Remove { old_text } => Some(old_text),
        _ => None,
    }
}

fn handle(entry: &str) -> String {
    let digits: String = Version::of(entry).to_string().chars().take(DIGITS).collect();
    format!("{HANDLE}{digits}")
}
