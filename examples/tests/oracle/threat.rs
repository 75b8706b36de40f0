//! Scores `hermes_core::threat` on the vectors of the families `threat` and `paragraphs`.

use std::{fmt::Write as _, fs, path::Path};

use hermes_core::threat::{self, Scope};
use serde_json::Value;

/// Scores the vectors in `dir` and returns the line of the family.
///
/// The first `show` vectors that are judged wrongly are listed before it, by kind.
pub(crate) fn run(dir: &Path, show: usize) -> String {
    let mut score = Score { show, ..Score::default() };
    for vector in read(&dir.join("threat.jsonl")) {
        let class = text(&vector, "attack_class");
        match (text(&vector, "intent"), class) {
            ("malicious", _) => score.malicious.count(&vector, !flagged(&vector), show),
            ("benign", "lookalike" | "edge") => {
                score.lookalike.count(&vector, flagged(&vector), show);
            }
            _ => {}
        }
    }
    for vector in read(&dir.join("paragraphs.jsonl")) {
        score.paragraphs.count(&vector, flagged(&vector), show);
    }
    score.print()
}

#[derive(Default)]
struct Score {
    show: usize,
    malicious: Tally,
    lookalike: Tally,
    paragraphs: Tally,
}

/// How many vectors there are, and which are judged wrongly.
#[derive(Default)]
struct Tally {
    total: usize,
    wrong: usize,
    shown: String,
}

impl Tally {
    fn count(&mut self, vector: &Value, wrong: bool, show: usize) {
        self.total += 1;
        if !wrong {
            return;
        }
        self.wrong += 1;
        if self.wrong <= show {
            let excerpt: String = text(vector, "text").chars().take(160).collect();
            let ids: Vec<String> = blocking(vector).collect();
            let _ = writeln!(self.shown, "  {} {ids:?} {excerpt:?}", text(vector, "id"));
        }
    }
}

impl Score {
    fn print(&self) -> String {
        let mut out = String::new();
        if 0 < self.show {
            for (kind, tally) in [
                ("missed", &self.malicious),
                ("look-alike flagged", &self.lookalike),
                ("paragraph flagged", &self.paragraphs),
            ] {
                let _ = write!(out, "{kind}:\n{}", tally.shown);
            }
        }
        let _ = write!(
            out,
            "oracle threat found={} malicious={} lookalike_flagged={} lookalike={} \
             paragraphs_flagged={} paragraphs={}",
            self.malicious.total - self.malicious.wrong,
            self.malicious.total,
            self.lookalike.wrong,
            self.lookalike.total,
            self.paragraphs.wrong,
            self.paragraphs.total,
        );
        out
    }
}

fn read(path: &Path) -> Vec<Value> {
    let lines = fs::read_to_string(path).unwrap_or_default();
    lines.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

fn text<'v>(vector: &'v Value, key: &str) -> &'v str {
    vector.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn flagged(vector: &Value) -> bool {
    blocking(vector).next().is_some()
}

fn blocking(vector: &Value) -> impl Iterator<Item = String> {
    threat::scan(text(vector, "text"), Scope::Strict)
        .into_iter()
        .filter(threat::Finding::blocks)
        .map(|finding| finding.id.into_owned())
}
