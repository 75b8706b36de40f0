//! Runs the rules for commands over the lines of a file.

use std::{borrow::Cow, sync::LazyLock};

use aho_corasick::AhoCorasick;
use regex::Regex;

use super::{
    Category, File, Finding, Report, Severity,
    carry::Carry,
    catalogue::Catalogue,
    errand::Errand,
    expression,
    flow::Flow,
    language::Language,
    lines,
    room::Room,
    rules::{self, Rule, Spared},
    subject::Subject,
    values::{Folded, Values},
    words::Words,
};

/// How many rules there may be.
const RULES_MAX: usize = 192;

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
        each: list.iter().map(|rule| expression::compile(rule.pattern)).collect(),
        list,
    }
});

/// Returns the numbers of the rules that a line has a word of, in order.
fn candidates(text: &str) -> impl Iterator<Item = usize> {
    let Compiled { words, rules, list, .. } = &*COMPILED;
    let mut found = [false; RULES_MAX];
    let mut is_any = false;
    for word in words.iter().flat_map(|words| words.find_overlapping_iter(text)) {
        let rule = rules.get(word.pattern().as_usize());
        if let Some(is_found) = rule.and_then(|&rule| found.get_mut(rule)) {
            *is_found = true;
            is_any = true;
        }
    }
    let rules = if is_any { list.len() } else { 0 };
    (0..rules).filter(move |&rule| found.get(rule) == Some(&true))
}

/// Returns the commands in a file that do harm.
///
/// What names stand for takes from `room`, which is that of the folder.
pub(super) fn find(file: &File<'_>, subject: &Subject, room: &mut Room) -> Vec<Finding> {
    let mut program = Program::default();
    let mut document = Document::default();
    let mut findings = Vec::new();
    let mut is_told = false;
    for line in &lines::join(file.text, file.language) {
        let text = line.text.as_ref();
        let mut found: Vec<Finding> = of_line(file, line.number, text, subject).collect();
        if !file.language.runs() && text.trim_start().starts_with("```") {
            program.is_block = !program.is_block;
            findings.append(&mut found);
            findings.extend(program.end(file));
            continue;
        }
        let runs = file.language.runs() || program.is_block;
        let whole = if runs { program.words.whole(text, file.language) } else { None };
        if let Some(whole) = &whole {
            program.see(line.number, text);
            found.extend(of_line(file, line.number, whole, subject));
        }
        let shown = whole.as_deref().unwrap_or(text);
        if let Some(text) = if runs { Some(Cow::Borrowed(shown)) } else { step(shown) } {
            let read = program.read((line.number, &text), runs, room);
            if room.was_exceeded() && !std::mem::replace(&mut is_told, true) {
                found.push(not_followed(file, line.number));
            }
            if let Some(read) = read {
                found.extend(of_line(file, line.number, &read, subject));
            }
        }
        if !runs && document.catalogue.lists(text) {
            for finding in &mut found {
                finding.severity = finding.severity.lowered();
            }
        }
        if file.language == Language::Prose && !runs {
            found.extend(document.errand.see((line.number, text), (file, subject)));
        }
        findings.append(&mut found);
    }
    findings.extend(program.end(file));
    findings
}

/// Returns what is found where names stand for more than can be followed.
fn not_followed(file: &File<'_>, line: usize) -> Finding {
    Finding {
        file: file.path.to_owned(),
        line,
        id: "names_not_followed".into(),
        category: Category::Obfuscation,
        severity: Severity::High,
        reason: "has names stand for more than can be followed".into(),
        excerpt: String::new(),
    }
}

/// What is known of a document after some of its lines.
#[derive(Debug, Default)]
struct Document {
    catalogue: Catalogue,
    errand: Errand,
}

/// What is known of a program after some of its lines: of a file that runs, or of a block in a
/// document.
#[derive(Debug, Default)]
struct Program {
    values: Values,
    words: Words,
    flow: Flow,
    carry: Carry,
    is_block: bool,
}

impl Program {
    /// Returns `line` with names replaced by what they stand for, if it has any. Only a line that
    /// `runs` is a step of what the program does.
    fn read(
        &mut self,
        (number, line): (usize, &str),
        runs: bool,
        room: &mut Room,
    ) -> Option<String> {
        room.read(line.len());
        let folded = Folded::new(line);
        if let Some(folded) = folded.as_ref().filter(|_| line.contains("; do")) {
            self.values.learn(folded, None);
        }
        let expanded = folded.as_ref().and_then(|folded| self.values.expand(folded, room));
        if runs {
            self.see(number, expanded.as_deref().unwrap_or(line));
        }
        if let Some(folded) = &folded {
            self.values.learn(folded, expanded.as_deref());
        }
        expanded
    }

    /// Looks at what a line does.
    fn see(&mut self, number: usize, line: &str) {
        self.flow.see(number, line);
        self.carry.see(number, line);
    }

    /// Returns what the steps up to here amount to, and begins anew.
    fn end(&mut self, file: &File<'_>) -> Vec<Finding> {
        let flow = std::mem::take(&mut self.flow).finish(file);
        flow.chain(std::mem::take(&mut self.carry).finish(file)).collect()
    }
}

/// Returns the command in a line of a document that tells what to run, without its marks.
fn step(line: &str) -> Option<Cow<'_, str>> {
    let (_, command) = line.split_once('`')?;
    Some(Cow::Owned(command.replace('`', " ")))
}

/// Returns what the rules find in `text`, which is the line as it stands or with values filled in.
fn of_line<'t>(
    file: &'t File<'_>,
    number: usize,
    text: &'t str,
    subject: &'t Subject,
) -> impl Iterator<Item = Finding> + 't {
    candidates(text).filter_map(move |index| {
        let rule = COMPILED.list.get(index)?;
        let found = COMPILED.each.get(index)?.as_ref()?.find(text)?;
        Some(Finding {
            file: file.path.to_owned(),
            line: number,
            id: rule.id.into(),
            category: rule.category,
            severity: severity(rule, text, found.as_str(), (file.language, subject)),
            reason: rule.reason.into(),
            excerpt: found.as_str().chars().take(Report::EXCERPT_MAX).collect(),
        })
    })
}

/// What runs is as bad as the rule says; documentation less so, and a warning less again.
fn severity(
    rule: &Rule,
    line: &str,
    found: &str,
    (language, subject): (Language, &Subject),
) -> Severity {
    let is_script = language.runs() && language != Language::Workflow;
    let severity = if is_script { rule.script } else { rule.document };
    let spared = rule.spared.filter(|&spared| rules::spares(spared, (line, found), subject));
    if matches!(
        spared,
        Some(Spared::LocalPort | Spared::Placeholder | Spared::OwnService | Spared::NoSecret)
    ) {
        return Severity::Low;
    }
    if spared == Some(Spared::Entry) && language.runs() {
        return severity;
    }
    let warned = !language.runs() && warns(&line.replacen(found, " ", 1));
    let severity = if warned && teaches(line) { severity.lowered() } else { severity };
    if warned || spared.is_some() { severity.lowered() } else { severity }
}

/// Returns whether a line of documentation only tells what a harmful command looks like.
pub(super) fn is_lesson(line: &str) -> bool {
    warns(line) && teaches(line)
}

/// Returns whether a line of documentation teaches to notice what it names.
fn teaches(line: &str) -> bool {
    static TEACHING: LazyLock<Option<Regex>> = LazyLock::new(|| {
        expression::compile(
            r"(?i)\b(?:detect(?:s|ion)?|recogni[sz]e|indicators?|attackers?|suspicious|compromised|on-call|shows?|red flags?|exercise|training|forensics?|incident|signatures?|in the logs|reviewers?)\b",
        )
    });
    TEACHING.as_ref().is_some_and(|teaching| 1 < teaching.find_iter(line).count())
}

/// Returns whether a line of documentation speaks against the command it names.
fn warns(line: &str) -> bool {
    static WARNING: LazyLock<Option<Regex>> = LazyLock::new(|| {
        expression::compile(
            r"(?i)\b(never|do not|don't|avoid|dangerous|blocked?|denied|deny|forbidden|warn(?:s|ing)?|suspicious|beware|instead of|rather than|detects?|prevents?|refuse[sd]?|rejects?|rejected|compromised|malicious|unsafe|fork bombs?)\b|\x{274c}",
        )
    });
    // What is never asked or never found again is no warning.
    static PROMISE: LazyLock<Option<Regex>> = LazyLock::new(|| {
        expression::compile(
            r"(?i)\b(?:never|do not|don't|avoid)\s+(?:\w+\s+)?(?:ask|prompt|confirm|remove|recover|notic|question|stop|pause|wait)\w*",
        )
    });
    let rest = PROMISE.as_ref().map(|promise| promise.replace_all(line, " "));
    let rest = rest.as_deref().unwrap_or(line);
    WARNING.as_ref().is_some_and(|warning| warning.is_match(rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_rule_is_left_out() {
        assert!(COMPILED.list.len() <= RULES_MAX);
        assert!(COMPILED.each.iter().all(Option::is_some));
        assert!(COMPILED.words.is_some());
    }
}
