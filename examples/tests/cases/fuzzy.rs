//! The area `fuzzy`: one replacement, through the patch engine alone.

use std::time::Instant;

use hermes_skills::patch::{self, PatchError, PatchOptions, Patched, Strategy};

use crate::{
    check::{Checks, contains_any},
    read::{Node, text},
};

/// Runs one case.
pub(crate) fn run(case: &Node<'_>, checks: &mut Checks) -> Result<(), String> {
    let input = case.get("input")?;
    if input.get("op")?.str() != "fuzzy_replace" {
        return Err(format!("unknown op {}", input.get("op")?.str()));
    }
    let content = text(&input, "content").ok_or("no content")?;
    let old = text(&input, "old").unwrap_or_default();
    let new = text(&input, "new").unwrap_or_default();
    let all = input.opt("replace_all").is_some_and(|it| it.bool());
    let limit = input.opt("timeout_ms").map(|it| it.usize());

    let start = Instant::now();
    let outcome = patch::replace(&content, &old, &new, &PatchOptions::default().replace_all(all));
    let took = start.elapsed().as_millis();

    if let Some(limit) = limit {
        checks.that(took <= patience(limit), format!("took {took} ms"));
    }
    let expect = case.get("expect")?;
    let run = Run { content: &content, outcome, took };
    run.check(&expect, checks);
    checks.any_of(&expect, |alternative, checks| run.check(alternative, checks));
    Ok(())
}

/// A debug build may take ten times as long.
fn patience(milliseconds: usize) -> u128 {
    let factor = if cfg!(debug_assertions) { 10 } else { 1 };
    u128::try_from(milliseconds).unwrap() * factor
}

struct Run<'a> {
    content: &'a str,
    outcome: Result<Patched, PatchError>,
    took: u128,
}

impl Run<'_> {
    fn check(&self, expect: &Node<'_>, checks: &mut Checks) {
        let after = self.outcome.as_ref().map_or(self.content, |it| it.text.as_str());
        if let Some(ok) = expect.opt("ok") {
            checks.that(
                self.outcome.is_ok() == ok.bool(),
                format!("ok is {:?}", self.outcome.is_ok()),
            );
        }
        if let Some(content) = text(expect, "content") {
            checks.that(after == content, format!("content is {after:?}"));
        }
        if let Some(unchanged) = expect.opt("content_unchanged") {
            checks.that((after == self.content) == unchanged.bool(), "content_unchanged");
        }
        if let Some(count) = expect.opt("count") {
            let actual = self.outcome.as_ref().map_or(0, |it| it.replacements);
            checks.that(actual == count.usize(), format!("count is {actual}"));
        }
        if let Some(words) = expect.opt("error_contains_any") {
            let error = self.outcome.as_ref().err().map(ToString::to_string).unwrap_or_default();
            checks.that(contains_any(&error, &words.strings()), format!("error is {error:?}"));
        }
        if let Some(inexact) = expect.opt("inexact_reported") {
            let reported = self.outcome.as_ref().is_ok_and(|patched| {
                let is_typed = patched.strategy != Strategy::Exact || patched.confidence < 1.0;
                is_typed && patched.note().is_some_and(|note| !note.is_empty())
            });
            checks.that(reported == inexact.bool(), "inexact_reported");
        }
        if let Some(limit) = expect.opt("max_ms") {
            checks.that(self.took <= patience(limit.usize()), format!("took {} ms", self.took));
        }
    }
}
