//! Runs the rules for commands over the lines of a file.

use std::{borrow::Cow, collections::BTreeSet, sync::LazyLock};

use aho_corasick::AhoCorasick;
use regex::Regex;

use super::{
    File, Finding, Report, Severity,
    flow::Flow,
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
    let mut program = Program::default();
    let mut findings = Vec::new();
    for line in &lines::join(file.text, file.language) {
        findings.extend(of_line(file, line, line.text.as_ref(), subject));
        let text = line.text.as_ref();
        if !file.language.runs() && text.trim_start().starts_with("```") {
            program.is_block = !program.is_block;
            findings.extend(std::mem::take(&mut program.flow).finish(file));
            continue;
        }
        let runs = file.language.runs() || program.is_block;
        if let Some(text) = if runs { Some(Cow::Borrowed(text)) } else { step(text) } {
            let read = program.read((line.number, &text), runs);
            findings.extend(read.into_iter().flat_map(|it| of_line(file, line, &it, subject)));
        }
    }
    findings.extend(program.flow.finish(file));
    findings
}

/// What is known of a program after some of its lines: of a file that runs, or of a block in a
/// document.
#[derive(Debug, Default)]
struct Program {
    values: Values,
    flow: Flow,
    is_block: bool,
}

impl Program {
    /// Returns `line` with names replaced by what they stand for, if it has any. Only a line that
    /// `runs` is a step of what the program does.
    fn read(&mut self, (number, line): (usize, &str), runs: bool) -> Option<String> {
        if line.contains("; do") {
            self.values.learn(line, None);
        }
        let expanded = self.values.expand(line).map(Cow::into_owned);
        if runs {
            self.flow.see(number, expanded.as_deref().unwrap_or(line));
        }
        self.values.learn(line, expanded.as_deref());
        expanded
    }
}

/// Returns the command in a line of a document that tells what to run, without its marks.
fn step(line: &str) -> Option<Cow<'_, str>> {
    let (_, command) = line.split_once('`')?;
    Some(Cow::Owned(command.replace('`', " ")))
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
    let spared = rule.spared.filter(|&spared| rules::spares(spared, (line, found), subject));
    if matches!(spared, Some(Spared::LocalPort | Spared::Placeholder)) {
        return Severity::Low;
    }
    if spared == Some(Spared::Entry) && language.runs() {
        return severity;
    }
    let warned = !language.runs() && warns(line);
    let severity = if warned && teaches(line) { severity.lowered() } else { severity };
    if warned || spared.is_some() { severity.lowered() } else { severity }
}

/// Returns whether a line of documentation teaches to notice what it names.
fn teaches(line: &str) -> bool {
    static TEACHING: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r"(?i)\b(?:detect(?:s|ion)?|recogni[sz]e|indicators?|attackers?|suspicious|red flags?|exercise|training|forensics?|incident|signatures?|in the logs|reviewers?)\b",
        )
        .ok()
    });
    TEACHING.as_ref().is_some_and(|teaching| 1 < teaching.find_iter(line).count())
}

/// Returns whether a line of documentation speaks against the command it names.
fn warns(line: &str) -> bool {
    static WARNING: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r"(?i)\b(never|do not|don't|avoid|dangerous|blocked?|denied|deny|forbidden|warn(?:s|ing)?|suspicious|beware|instead of|rather than|detects?|prevents?|refuses?|rejects?|malicious|unsafe)\b|\x{274c}",
        )
        .ok()
    });
    WARNING.as_ref().is_some_and(|warning| warning.is_match(line))
}
