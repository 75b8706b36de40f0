//! Runs the rules for commands over the lines of a file.

use std::{borrow::Cow, ops::Range, sync::LazyLock};

use aho_corasick::AhoCorasick;
use regex::Regex;

use super::{
    Category, File, Finding, Report, Severity,
    carry::Carry,
    catalogue::Catalogue,
    errand::Errand,
    expression,
    fence::Fence,
    flow::Flow,
    language::Language,
    lines::{self, Line},
    room::Room,
    rules::{self, Rule, Spared},
    subject::Subject,
    text,
    values::{Folded, Values},
    warning,
    words::Words,
};

/// How much of a line is looked at for a warning on either side of a command, in bytes.
const AROUND: usize = 1_000;
/// How many matches of a rule in one line are judged.
const MATCHES_MAX: usize = 16;
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
    let lines = lines::join(file.text, file.language);
    let mut reader = Reader { file, subject, program: Program::default(), room };
    let mut document = Document::default();
    let mut findings = Vec::new();
    for Line { number, text } in &lines.code {
        let mut found: Vec<Finding> = of_line(file, *number, text, subject).collect();
        if !file.language.runs() && document.fence.see(text) {
            findings.append(&mut found);
            findings.extend(reader.program.end(file));
            continue;
        }
        let runs = file.language.runs() || document.fence.is_open();
        for piece in lines::pieces(text) {
            found.extend(reader.read((*number, &piece), runs));
        }
        if !runs && document.catalogue.lists(text) {
            for finding in &mut found {
                finding.severity = finding.severity.lowered();
            }
        }
        if file.language == Language::Prose && !runs {
            found.extend(document.errand.see((*number, text), (file, subject)));
        }
        findings.append(&mut found);
    }
    findings.extend(reader.program.end(file));
    findings.extend(reader.not_followed());
    for (number, comment) in lines.comments {
        let found = of_line(file, number, comment, subject);
        let grave = found.filter(|found| Severity::Critical <= found.severity);
        findings.extend(grave.map(|found| Finding { severity: Severity::Low, ..found }));
    }
    findings
}

/// Follows names and words through a file.
struct Reader<'r, 't> {
    file: &'r File<'t>,
    subject: &'r Subject,
    program: Program,
    room: &'r mut Room,
}

impl Reader<'_, '_> {
    /// Returns what is found in a line once its words are whole and its names stand for something.
    fn read(&mut self, (number, text): (usize, &str), runs: bool) -> Vec<Finding> {
        let Self { file, subject, program, room } = self;
        if lines::FOLLOWED_MAX < text.len() {
            room.read(number, 0);
            room.pass_over();
            return Vec::new();
        }
        let mut found = Vec::new();
        let whole = if runs { program.words.whole(text, file.language) } else { None };
        if let Some(whole) = &whole {
            program.see(number, text);
            found.extend(of_line(file, number, whole, subject));
        }
        let shown = whole.as_deref().unwrap_or(text);
        if let Some(text) = if runs { Some(Cow::Borrowed(shown)) } else { step(shown) }
            && let Some(read) = program.read((number, &text), runs, room)
        {
            found.extend(of_line(file, number, &read, subject));
        }
        found
    }

    /// Returns what says where the file was not followed, if it was not.
    fn not_followed(&mut self) -> impl Iterator<Item = Finding> + use<> {
        let path = self.file.path.to_owned();
        let names = self.room.was_exceeded().map(|line| {
            (
                line,
                "names_not_followed",
                Severity::High,
                "has names stand for more than can be followed",
            )
        });
        let line = self.room.was_passed_over().map(|line| {
            (
                line,
                "line_not_followed",
                Severity::Medium,
                "has lines too long for names to be followed",
            )
        });
        names.into_iter().chain(line).map(move |(line, id, severity, reason)| Finding {
            file: path.clone(),
            line,
            id: id.into(),
            category: Category::Obfuscation,
            severity,
            reason: reason.into(),
            excerpt: String::new(),
        })
    }
}

/// What is known of a document after some of its lines.
#[derive(Debug, Default)]
struct Document {
    fence: Fence,
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
        room.read(number, line.len());
        let folded = Folded::new(line);
        if let Some(folded) = folded.as_ref().filter(|_| line.contains("; do")) {
            self.values.learn(folded, None, room);
        }
        let expanded = folded.as_ref().and_then(|folded| self.values.expand(folded, room));
        if runs {
            self.see(number, expanded.as_deref().unwrap_or(line));
        }
        if let Some(folded) = &folded {
            self.values.learn(folded, expanded.as_deref(), room);
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
        let matches = COMPILED.each.get(index)?.as_ref()?.find_iter(text);
        // What is spared in one place may stand beside what is not.
        let count = if rule.spared.is_some() { MATCHES_MAX } else { 1 };
        let judged = matches.take(count).map(|found| {
            (severity(rule, text, found.range(), (file.language, subject)), found.as_str())
        });
        let (severity, found) =
            judged.reduce(|worst, next| if worst.0 < next.0 { next } else { worst })?;
        Some(Finding {
            file: file.path.to_owned(),
            line: number,
            id: rule.id.into(),
            category: rule.category,
            severity,
            reason: rule.reason.into(),
            excerpt: found.chars().take(Report::EXCERPT_MAX).collect(),
        })
    })
}

/// What runs is as bad as the rule says; documentation less so, and a warning less again.
fn severity(
    rule: &Rule,
    line: &str,
    place: Range<usize>,
    (language, subject): (Language, &Subject),
) -> Severity {
    let is_script = language.runs() && language != Language::Workflow;
    let severity = if is_script { rule.script } else { rule.document };
    let found = line.get(place.clone()).unwrap_or_default();
    let spared = rule.spared.filter(|&spared| rules::spares(spared, (line, found), subject));
    let is_harmless = match spared {
        Some(Spared::LocalPort | Spared::Placeholder | Spared::NoSecret) => true,
        Some(Spared::OwnService) => rules::services::is_at_home(found),
        _ => false,
    };
    if is_harmless {
        return Severity::Low;
    }
    if spared == Some(Spared::Entry) && language.runs() {
        return severity;
    }
    let start = text::boundary(line, place.start.saturating_sub(AROUND));
    let before = line.get(start..place.start).unwrap_or_default();
    let end = text::boundary(line, place.end.saturating_add(AROUND));
    let after = line.get(place.end..end).unwrap_or_default();
    let warned = !language.runs() && warning::warns(before, after);
    let severity =
        if warned && warning::teaches(before, after) { severity.lowered() } else { severity };
    if warned || spared.is_some() { severity.lowered() } else { severity }
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
