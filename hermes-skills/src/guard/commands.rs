//! Runs the rules for commands over the lines of a file.

use std::{collections::BTreeSet, sync::LazyLock};

use aho_corasick::AhoCorasick;
use regex::Regex;

use super::{
    File, Finding, Report, Severity,
    language::Language,
    lines::{self, Line},
    rules::{self, Rule, Spared},
    subject::Subject,
    values::Values,
};

/// The expression of every rule, and the words that tell which rules to try on a line.
struct Compiled {
    list: Vec<&'static Rule>,
    words: Option<AhoCorasick>,
    /// The rule that each word belongs to.
    rules: Vec<usize>,
    each: Vec<Option<Regex>>,
}

static COMPILED: LazyLock<Compiled> = LazyLock::new(|| {
    let list: Vec<&Rule> = rules::rules().collect();
    let words = list
        .iter()
        .enumerate()
        .flat_map(|(index, rule)| rule.words.split_whitespace().map(move |word| (index, word)));
    let (rules, words): (Vec<usize>, Vec<&str>) = words.unzip();
    Compiled {
        words: AhoCorasick::builder().ascii_case_insensitive(true).build(words).ok(),
        rules,
        each: list.iter().map(|rule| Regex::new(rule.pattern).ok()).collect(),
        list,
    }
});

/// Returns the numbers of the rules that a line has a word of.
fn candidates(text: &str) -> BTreeSet<usize> {
    let Compiled { words, rules, .. } = &*COMPILED;
    words
        .iter()
        .flat_map(|words| words.find_overlapping_iter(text))
        .filter_map(|found| rules.get(found.pattern().as_usize()).copied())
        .collect()
}

/// Returns the commands in a file that do harm.
pub(super) fn find(file: &File<'_>, subject: &Subject) -> Vec<Finding> {
    let lines = lines::join(file.text, file.language);
    let mut values = Values::default();
    let mut findings = Vec::new();
    for line in &lines {
        findings.extend(of_line(file, line, line.text.as_ref(), subject));
        if file.language.runs() {
            let expanded = values.expand(&line.text);
            if let Some(expanded) = &expanded {
                findings.extend(of_line(file, line, expanded, subject));
            }
            values.learn(&line.text, expanded.as_deref());
        }
    }
    findings
}

/// Returns what the rules find in `text`, which is the line as it stands or with values filled in.
fn of_line(file: &File<'_>, line: &Line<'_>, text: &str, subject: &Subject) -> Vec<Finding> {
    candidates(text)
        .into_iter()
        .filter_map(|index| {
            let rule = COMPILED.list.get(index)?;
            let found = COMPILED.each.get(index)?.as_ref()?.find(text)?;
            Some(Finding {
                file: file.path.to_owned(),
                line: line.number,
                id: rule.id.into(),
                category: rule.category,
                severity: severity(rule, text, found.as_str(), (file.language, subject)),
                reason: rule.reason.into(),
                excerpt: found.as_str().chars().take(Report::EXCERPT_MAX).collect(),
            })
        })
        .collect()
}

/// What runs is as bad as the rule says; documentation less so, and a warning less again.
fn severity(
    rule: &Rule,
    line: &str,
    found: &str,
    (language, subject): (Language, &Subject),
) -> Severity {
    let severity = if language.runs() { rule.script } else { rule.document };
    let spared = rule.spared.filter(|&spared| rules::spares(spared, found, subject));
    if matches!(spared, Some(Spared::LocalPort | Spared::Placeholder)) {
        return Severity::Low;
    }
    let lowered = spared.is_some() || !language.runs() && warns(line);
    if lowered { severity.lowered() } else { severity }
}

/// Returns whether a line of documentation speaks against the command it names.
fn warns(line: &str) -> bool {
    static WARNING: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r"(?i)\b(never|do not|don't|avoid|dangerous|blocked?|denied|deny|forbidden|warning|instead of|rather than|detects?|prevents?|refuses?|rejects?|malicious|unsafe)\b|\x{274c}",
        )
        .ok()
    });
    WARNING.as_ref().is_some_and(|warning| warning.is_match(line))
}
