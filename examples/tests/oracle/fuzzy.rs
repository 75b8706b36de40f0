//! The family `fuzzy`: passages quoted more or less faithfully, to be replaced or refused.

use std::fmt::Write as _;
use std::path::Path;

use hermes_skills::patch::{self, PatchOptions};
use serde_json::Value;

/// What is counted over the vectors.
#[derive(Debug, Default)]
struct Score {
    apply_right: usize,
    apply_total: usize,
    refuse_edits: usize,
    refuse_total: usize,
    either_right: usize,
    either_wrong: usize,
    either_total: usize,
}

/// How an outcome compares with the truth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    /// The text is as it should be.
    Right,
    /// The text is another one than it should be.
    Wrong,
    /// Nothing was changed.
    Unchanged,
}

/// Replays the vectors at `path`; as [`scored`].
pub(crate) fn run(path: &Path, show: usize) -> String {
    match std::fs::read_to_string(path) {
        Ok(vectors) => scored("fuzzy", &vectors, show),
        Err(err) => format!("oracle fuzzy: {}: {err}", path.display()),
    }
}

/// Replays vectors and returns the line of figures, preceded by up to `show` vectors of each kind that
/// went wrong.
pub(crate) fn scored(family: &str, vectors: &str, show: usize) -> String {
    let mut score = Score::default();
    let mut shown = std::collections::HashMap::<String, usize>::new();
    let mut report = String::new();
    for line in vectors.lines().filter(|line| !line.trim().is_empty()) {
        let vector: Value = serde_json::from_str(line).unwrap_or_default();
        let (ours, verdict) = judge(&vector);
        if score.count(text(&vector, "truth_action"), verdict) {
            continue;
        }
        let kind = format!("{} {verdict:?}", text(&vector, "truth_action"));
        let seen = shown.entry(kind.clone()).or_default();
        *seen += 1;
        if *seen <= show {
            let truth = truth(&vector);
            let _ = writeln!(
                report,
                "{} {kind}\n  ours  {ours:?}\n  truth {truth:?}",
                text(&vector, "id")
            );
            let _ = writeln!(
                report,
                "  old   {:?}\n  new   {:?}",
                text(&vector, "old"),
                text(&vector, "new")
            );
        }
    }
    report + &score.line(family)
}

fn text<'a>(vector: &'a Value, key: &str) -> &'a str {
    vector.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Returns the text that a vector has to give: in full, or as `truth_text` between as many first and last
/// characters of the content as `truth_edit` says.
fn truth(vector: &Value) -> Option<String> {
    if let Some(truth) = vector.get("truth").and_then(Value::as_str) {
        return Some(truth.to_owned());
    }
    let bound = |index: usize| {
        let bound = vector.get("truth_edit").and_then(|edit| edit.get(index))?;
        usize::try_from(bound.as_u64()?).ok()
    };
    let content: Vec<char> = text(vector, "content").chars().collect();
    let (head, tail) = (content.get(..bound(0)?)?, content.len().checked_sub(bound(1)?)?);
    let (head, tail) = (String::from_iter(head), String::from_iter(content.get(tail..)?));
    Some(head + text(vector, "truth_text") + &tail)
}

/// Returns our text or refusal, and what is to be said of it.
fn judge(vector: &Value) -> (Result<String, String>, Verdict) {
    let content = text(vector, "content");
    let every = vector.get("replace_all").and_then(Value::as_bool).unwrap_or_default();
    let options = PatchOptions::default().replace_all(every);
    let outcome = patch::replace(content, text(vector, "old"), text(vector, "new"), &options);
    let patched = match outcome {
        Ok(patched) => patched.text,
        Err(refusal) => return (Err(refusal.to_string()), Verdict::Unchanged),
    };
    let right = truth(vector).is_some_and(|truth| {
        patched == truth
            || (text(vector, "truth_kind") == "region" && region_fits(vector, &patched, &truth))
    });
    let verdict = match right {
        true if patched == content && text(vector, "truth_action") == "refuse" => {
            Verdict::Unchanged
        }
        true => Verdict::Right,
        false if patched == content => Verdict::Unchanged,
        false => Verdict::Wrong,
    };
    (Ok(patched), verdict)
}

/// Returns whether `patched` is the truth outside the region, and the truth but for white space, quotes,
/// dashes and blank lines inside.
fn region_fits(vector: &Value, patched: &str, truth: &str) -> bool {
    let content: Vec<char> = text(vector, "content").chars().collect();
    let bound = |index| {
        vector.get("truth_region").and_then(|region| region.get(index)).and_then(Value::as_u64)
    };
    let (Some(start), Some(end)) = (bound(0), bound(1)) else {
        return loosely(patched) == loosely(truth);
    };
    let (start, end) = (usize::try_from(start).unwrap_or(0), usize::try_from(end).unwrap_or(0));
    let head: String = content.iter().take(start).collect();
    let tail: String = content.iter().skip(end).collect();
    let inside = |whole: &str| {
        let rest = whole.strip_prefix(head.as_str())?.strip_suffix(tail.as_str())?;
        Some(loosely(rest))
    };
    inside(patched).is_some() && inside(patched) == inside(truth)
}

/// Reduces a text to its visible characters, with plain quotes and dashes.
fn loosely(text: &str) -> String {
    let mut loose = String::with_capacity(text.len());
    for c in text.chars().filter(|c| !c.is_whitespace()) {
        match c {
            '\u{201c}' | '\u{201d}' => loose.push('"'),
            '\u{2018}' | '\u{2019}' => loose.push('\''),
            '\u{2014}' => loose.push_str("--"),
            '\u{2013}' => loose.push('-'),
            '\u{2026}' => loose.push_str("..."),
            _ => loose.push(c),
        }
    }
    loose
}

impl Score {
    /// Counts one verdict; returns whether it is as good as can be.
    fn count(&mut self, action: &str, verdict: Verdict) -> bool {
        match action {
            "apply" => {
                self.apply_total += 1;
                self.apply_right += usize::from(verdict == Verdict::Right);
                verdict == Verdict::Right
            }
            "refuse" => {
                self.refuse_total += 1;
                self.refuse_edits += usize::from(verdict != Verdict::Unchanged);
                verdict == Verdict::Unchanged
            }
            _ => {
                self.either_total += 1;
                self.either_right += usize::from(verdict == Verdict::Right);
                self.either_wrong += usize::from(verdict == Verdict::Wrong);
                verdict == Verdict::Right
            }
        }
    }

    fn line(&self, family: &str) -> String {
        format!(
            "oracle {family} apply_right={} apply_total={} refuse_edits={} refuse_total={} \
             either_right={} either_wrong={} either_total={}",
            self.apply_right,
            self.apply_total,
            self.refuse_edits,
            self.refuse_total,
            self.either_right,
            self.either_wrong,
            self.either_total
        )
    }
}
