//! Runs the reported failures: small inputs with the right outcome, one JSON file each.
//!
//! The files are those of the folder `HERMES_CASES` names, or the copies in `data/`. One line per
//! area says how many hold; the ids that do not follow with the reason. Words on the command line
//! select areas. A case may be listed in `expected_failures.toml` until its issue is resolved; one
//! that is listed and holds is a failure of the list. `HERMES_CASES_NEGATE=1` inverts every
//! expectation, so that a case which cannot fail shows itself.
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a test harness")]
#![expect(
    clippy::disallowed_methods,
    reason = "a test harness sets files up and is configured by its environment"
)]

mod anthropic_wire;
mod check;
mod expected;
mod home;
mod model;
mod read;
mod serve;

mod compress;
mod frontmatter;
mod fuzzy;
mod memory;
mod nudge;
mod provider_wire;
mod review;
mod scan;
mod session_search;
mod skills_manage;

use std::{
    collections::BTreeMap,
    panic::AssertUnwindSafe,
    path::{Path, PathBuf},
    process::ExitCode,
};

use futures::FutureExt;
use serde_json::Value;

use self::{check::Checks, expected::Expected, read::Node};

/// All areas, in the order of the report.
const AREAS: [&str; 10] = [
    "memory",
    "skills-frontmatter",
    "skills-manage",
    "scan",
    "fuzzy",
    "nudge",
    "review",
    "session-search",
    "compress",
    "provider-wire",
];

/// One case as it was read.
struct Case {
    id: String,
    area: String,
    is_must: bool,
    value: Value,
}

fn main() -> ExitCode {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|it| !it.starts_with("--")).collect();
    let areas: Vec<&str> = AREAS
        .into_iter()
        .filter(|area| wanted.is_empty() || wanted.iter().any(|it| it == area))
        .collect();
    let negate = std::env::var("HERMES_CASES_NEGATE").is_ok_and(|it| it == "1");
    let cases = match read_cases() {
        Ok(cases) => cases,
        Err(reason) => {
            println!("cases: {reason}");
            return ExitCode::FAILURE;
        }
    };
    let expected = Expected::read();
    // A panic is an outcome here; its message goes into the report instead of the log.
    std::panic::set_hook(Box::new(|_| {}));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let report = runtime.block_on(run_all(&cases, &areas, negate));
    finish(&report, &areas, &expected, negate)
}

fn read_cases() -> Result<Vec<Case>, String> {
    let folder = match std::env::var_os("HERMES_CASES") {
        Some(folder) if Path::new(&folder).is_absolute() => PathBuf::from(folder),
        Some(folder) => return Err(format!("HERMES_CASES={} is not absolute", folder.display())),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/data"),
    };
    let entries = std::fs::read_dir(&folder)
        .map_err(|err| format!("{} cannot be read: {err}", folder.display()))?;
    let mut paths: Vec<PathBuf> = entries.filter_map(|it| it.ok().map(|it| it.path())).collect();
    paths.retain(|path| path.extension().is_some_and(|it| it == "json"));
    paths.sort();
    if paths.is_empty() {
        return Err(format!("{} has no cases", folder.display()));
    }
    paths.iter().map(|path| read_case(path)).collect()
}

fn read_case(path: &Path) -> Result<Case, String> {
    let fail = |what: String| format!("{}: {what}", path.display());
    let text = std::fs::read_to_string(path).map_err(|err| fail(err.to_string()))?;
    let value: Value = serde_json::from_str(&text).map_err(|err| fail(err.to_string()))?;
    let field = |name: &str| {
        let text = value.get(name).and_then(Value::as_str).map(str::to_owned);
        text.ok_or_else(|| fail(format!("no {name}")))
    };
    let (id, area, level) = (field("id")?, field("area")?, field("level")?);
    if !AREAS.contains(&area.as_str()) {
        return Err(fail(format!("unknown area {area}")));
    }
    Ok(Case { id, area, is_must: level == "must", value })
}

/// What came of a case: nothing to say, or the reasons why it does not hold.
struct Outcome<'a> {
    case: &'a Case,
    failures: Vec<String>,
}

async fn run_all<'a>(cases: &'a [Case], areas: &[&str], negate: bool) -> Vec<Outcome<'a>> {
    let mut outcomes = Vec::new();
    for case in cases.iter().filter(|case| areas.contains(&case.area.as_str())) {
        let failures = run_case(case, negate).await;
        outcomes.push(Outcome { case, failures });
    }
    outcomes
}

async fn run_case(case: &Case, negate: bool) -> Vec<String> {
    let root = Node::root(&case.value);
    let mut checks = Checks::new(negate);
    let ran = AssertUnwindSafe(run_area(&case.area, &root, &mut checks)).catch_unwind().await;
    let expects_no_panic =
        root.opt("expect").and_then(|it| it.opt("no_panic")).is_some_and(|it| it.bool());
    match ran {
        Ok(Ok(())) if expects_no_panic => checks.that(true, "no panic"),
        Ok(Ok(())) => {}
        Ok(Err(reason)) => checks.broken(reason),
        Err(panic) => {
            let text = panic
                .downcast_ref::<String>()
                .cloned()
                .or_else(|| panic.downcast_ref::<&str>().map(|it| (*it).to_owned()))
                .unwrap_or_default();
            checks.broken(format!("panic: {text}"));
        }
    }
    for key in root.unread(&["setup", "input", "expect"]) {
        checks.broken(format!("unread key: {key}"));
    }
    if checks.count() == 0 {
        checks.broken("nothing was checked".to_owned());
    }
    checks.into_failures()
}

async fn run_area(area: &str, case: &Node<'_>, checks: &mut Checks) -> Result<(), String> {
    match area {
        "memory" => memory::run(case, checks).await,
        "skills-frontmatter" => frontmatter::run(case, checks).await,
        "skills-manage" => skills_manage::run(case, checks).await,
        "scan" => scan::run(case, checks).await,
        "fuzzy" => fuzzy::run(case, checks),
        "nudge" => nudge::run(case, checks).await,
        "review" => review::run(case, checks).await,
        "session-search" => session_search::run(case, checks).await,
        "compress" => compress::run(case, checks).await,
        "provider-wire" => provider_wire::run(case, checks).await,
        other => Err(format!("unknown area {other}")),
    }
}

fn finish(report: &[Outcome<'_>], areas: &[&str], expected: &Expected, negate: bool) -> ExitCode {
    let mut by_area: BTreeMap<&str, Vec<&Outcome<'_>>> = BTreeMap::new();
    for outcome in report {
        by_area.entry(&outcome.case.area).or_default().push(outcome);
    }
    let mut problems = 0_u32;
    for area in areas {
        let outcomes = by_area.remove(area).unwrap_or_default();
        let passed = outcomes.iter().filter(|it| it.failures.is_empty()).count();
        println!("cases {area} {passed}/{}", outcomes.len());
        for outcome in outcomes {
            problems += u32::from(print_outcome(outcome, expected, negate));
        }
    }
    let failed = report.iter().filter(|it| !it.failures.is_empty()).count();
    println!("{} passed, {failed} failed", report.len() - failed);
    if problems == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Prints what is to be said of a case, and returns whether it is a problem.
fn print_outcome(outcome: &Outcome<'_>, expected: &Expected, negate: bool) -> bool {
    let id = &outcome.case.id;
    let listed = expected.reason(id);
    let reasons = outcome.failures.join("; ");
    let holds = outcome.failures.is_empty();
    if negate {
        if holds {
            println!("  {id}: holds although every expectation is inverted");
        }
        return holds;
    }
    match (holds, listed) {
        (true, None) => false,
        (true, Some(_)) => {
            println!("  {id}: holds, but is listed in expected_failures.toml");
            true
        }
        (false, Some(why)) => {
            println!("  {id}: expected to fail ({why}): {reasons}");
            false
        }
        (false, None) => {
            let level = if outcome.case.is_must { "must" } else { "should" };
            println!("  {id} ({level}): {reasons}");
            outcome.case.is_must
        }
    }
}
