//! Scores the scanners on sentences and skills written afresh, from the descriptions of the
//! categories and without a look at the vectors; and the patch engine on quotations gone wrong in 151
//! ways, made by somebody who had not seen it.
//!
//! They are part of the repository, so that they are scored where the vectors are not there. Each
//! line of `held_out/threat.jsonl` holds a `text`, each of `held_out/guard.jsonl` the `files` of a
//! skill (text, or bytes as `b64`) beside what is `bad` about it, its `kind`, and an `id` whose first letters name the set:
//! later sets were written after the rules had been changed for the earlier ones.
//!
//! No rule has been written with a look at `unseen_*.jsonl`: their score is the honest guess of what is
//! found of attacks that nobody here has seen. Whoever tunes to them moves them to the other sets and has
//! new ones written.

use std::fmt::Write as _;

use hermes_core::threat::{self, Scope};
use hermes_skills::guard::{self, Folder, Verdict};
use serde_json::Value;

const THREAT: &str = include_str!("held_out/threat.jsonl");
const GUARD: &str = include_str!("held_out/guard.jsonl");
const FUZZY: &str = include_str!("held_out/fuzzy.jsonl");
const UNSEEN_THREAT: &str = include_str!("held_out/unseen_threat.jsonl");
const UNSEEN_GUARD: &str = include_str!("held_out/unseen_guard.jsonl");

/// Scores the sets that rules were tuned to; as [`scored`].
pub(crate) fn run(show: usize) -> String {
    scored("held_out", (THREAT, GUARD), show)
}

/// Scores the quotations. Their files are real ones, with all but a few words made illegible; what is
/// right is told as an edit of the content.
pub(crate) fn fuzzy(show: usize) -> String {
    crate::fuzzy::scored("held_out_fuzzy", FUZZY, show)
}

/// Scores the sets that no rule was tuned to; as [`scored`].
pub(crate) fn unseen() -> String {
    // What is misjudged is not shown, so that nobody tunes to it by accident.
    scored("unseen", (UNSEEN_THREAT, UNSEEN_GUARD), 0)
}

/// Scores both sets and returns the line of the family; the first `show` misjudged come before it.
fn scored(family: &str, (threat, guard): (&str, &str), show: usize) -> String {
    let mut out = String::new();
    let threat = score(threat, show, &mut out, |vector| {
        let text = vector["text"].as_str().unwrap_or_default();
        threat::first_block(text, Scope::Strict).is_some()
    });
    let guard = score(guard, show, &mut out, |vector| {
        let files = vector["files"].as_object().into_iter().flatten();
        let folder = files.fold(Folder::new(), |folder, (path, file)| {
            let bytes = match file.as_str() {
                Some(text) => text.as_bytes().to_vec(),
                None => crate::guard::decode(file["b64"].as_str().unwrap_or_default()),
            };
            folder.file(path.clone(), bytes)
        });
        guard::scan(&folder).verdict != Verdict::Safe
    });
    let _ = write!(
        out,
        "oracle {family} threat_found={} threat_malicious={} threat_flagged={} threat_harmless={} \
         guard_found={} guard_malicious={} guard_flagged={} guard_harmless={}",
        threat.found,
        threat.malicious,
        threat.flagged,
        threat.harmless,
        guard.found,
        guard.malicious,
        guard.flagged,
        guard.harmless,
    );
    out
}

#[derive(Default)]
struct Score {
    found: usize,
    malicious: usize,
    flagged: usize,
    harmless: usize,
}

fn score(lines: &str, show: usize, out: &mut String, judge: impl Fn(&Value) -> bool) -> Score {
    let mut score = Score::default();
    let mut shown = 0;
    for vector in lines.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        let (bad, flagged) =
            (vector.get("bad").and_then(Value::as_bool) == Some(true), judge(&vector));
        let (total, hits) = if bad {
            (&mut score.malicious, &mut score.found)
        } else {
            (&mut score.harmless, &mut score.flagged)
        };
        *total += 1;
        *hits += usize::from(flagged);
        if bad != flagged && shown < show {
            shown += 1;
            let _ = writeln!(out, "{}: {vector}", if bad { "missed" } else { "flagged" });
        }
    }
    score
}
