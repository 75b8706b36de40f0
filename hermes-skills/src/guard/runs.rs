//! Which files of a folder are given to an interpreter, whatever their names say.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::LazyLock,
};

use aho_corasick::{AhoCorasick, MatchKind};
use regex::Regex;

use super::{
    Category, Content, Finding, Folder, Report, Severity, archive, expression, language::Language,
};

/// How much is looked at on either side of the name of a file, in bytes.
const AROUND: usize = 120;

/// At how many places it is looked at all. A file that is named at one more counts as run.
const LOOKS_MAX: usize = 16_384;

struct Forms {
    before: Regex,
    after: Regex,
    unpacks: Regex,
    starts: Regex,
}

static FORMS: LazyLock<Option<Forms>> = LazyLock::new(|| {
    Some(Forms {
        // The interpreter, its options, and the folder of the file.
        before: expression::compile(
            r#"(?i)(?:(?:^|[\s"'`(\[|;&/])(?:(?:ba|z|da|k|fi|a)?sh|source|\.|python[\d.]*|node|deno\s+run|bun|perl|ruby|php|lua|osascript|pwsh|powershell|cmd\s+/c)(?:\.exe)?(?:["'](?:\s*,\s*["']-[\w-]+["'])*\s*,\s*["']|["']?(?:[\s"']+-[\w-]+)*[\s"'<]+)|\b(?:exec|eval|source|runpy|runfile|iex|invoke-expression)\b[\s"'$(<]*(?:(?:open|cat|get-content|gc|readfilesync|read|file_get_contents|curl|path|fs|run_path)[\s"'.(]*){0,3})["']?[\w./\\${}~-]*$"#,
        )?,
        after: expression::compile(
            r"(?i)^[^\n|`]{0,40}\|\s*(?:sudo\s+)?(?:/\S*/)?(?:(?:ba|z|da|k)?sh|python[\d.]*|node|perl|ruby|php|pwsh|powershell|iex)\b",
        )?,
        unpacks: expression::compile(
            r"(?i)\b(?:unpack|unzip|untar|extract|decompress|expand|inflate|gunzip|unxz|7z|tar|bsdtar|unrar)\b",
        )?,
        starts: expression::compile(
            r"(?i)(?:\b(?:and|then|to|&&|;)\s+|[.;&]\s*)(?:then\s+)?(?:run|execute|start|launch|call|source|invoke|bash|sh|python[\d.]*|node|chmod)\b|(?:&&|;)\s*(?:\./|/tmp/)",
        )?,
    })
});

/// Returns the paths of the files that something in `folder` has an interpreter run, of those whose
/// names are not those of programs.
pub(super) fn find(folder: &Folder) -> BTreeSet<&str> {
    let files = folder.entries().iter().filter_map(|entry| match &entry.content {
        Content::Bytes(bytes) => Some((entry.path.as_str(), bytes.as_slice())),
        _ => None,
    });
    let mut by_name: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (path, _) in files.clone() {
        if path != "SKILL.md" && !Language::of(path, "").is_program_by_name() {
            by_name.entry(path.rsplit('/').next().unwrap_or(path)).or_default().push(path);
        }
    }
    let mut run = BTreeSet::new();
    let names: Vec<&str> = by_name.keys().copied().filter(|it| !it.is_empty()).collect();
    let builder = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(&names);
    let Some(words) = builder.ok().filter(|_| !names.is_empty()) else { return run };
    let mut looks = 0;
    for (_, bytes) in files {
        for word in words.find_iter(bytes) {
            let Some(name) = names.get(word.pattern().as_usize()) else { continue };
            if run.contains(name) || !stands_alone(bytes, word.start(), word.end()) {
                continue;
            }
            looks += 1;
            if LOOKS_MAX < looks || is_run(bytes, word.start(), word.end()) {
                run.insert(*name);
            }
        }
    }
    run.into_iter().filter_map(|name| by_name.get(name)).flatten().copied().collect()
}

/// Returns what says that a document has an archive unpacked, of which not even the names can be
/// read, and what is in it run.
pub(super) fn unpacked(folder: &Folder) -> Vec<Finding> {
    let sealed: Vec<&str> = folder
        .entries()
        .iter()
        .filter(|entry| matches!(&entry.content, Content::Bytes(it) if archive::is_sealed(it)))
        .map(|entry| entry.path.rsplit('/').next().unwrap_or(&entry.path))
        .collect();
    let names = AhoCorasick::new(&sealed).ok().filter(|_| !sealed.is_empty());
    let (Some(names), Some(forms)) = (names, &*FORMS) else { return Vec::new() };
    let mut findings = Vec::new();
    for entry in folder.entries() {
        let Content::Bytes(bytes) = &entry.content else { continue };
        let Ok(text) = std::str::from_utf8(bytes) else { continue };
        for (number, line) in (1..).zip(text.lines()) {
            let Some(name) = names.find(line) else { continue };
            let (before, after) = line.split_at(name.start());
            if forms.unpacks.is_match(before) && forms.starts.is_match(after) {
                findings.push(Finding {
                    file: entry.path.clone(),
                    line: number,
                    id: "packed_program".into(),
                    category: Category::Obfuscation,
                    severity: Severity::High,
                    reason: "runs what is packed so that nobody can read it".into(),
                    excerpt: line.trim().chars().take(Report::EXCERPT_MAX).collect(),
                });
            }
        }
    }
    findings
}

/// Returns whether what stands between `start` and `end` is no part of a longer name.
fn stands_alone(bytes: &[u8], start: usize, end: usize) -> bool {
    let is_part = |byte: Option<&u8>| {
        byte.is_some_and(|it| it.is_ascii_alphanumeric() || matches!(it, b'_' | b'-' | b'.'))
    };
    !is_part(start.checked_sub(1).and_then(|at| bytes.get(at)))
        && !bytes.get(end).is_some_and(|it| it.is_ascii_alphanumeric() || *it == b'_')
}

/// Returns whether the name between `start` and `end` is that of a file that is run there.
fn is_run(bytes: &[u8], start: usize, end: usize) -> bool {
    let before = bytes.get(start.saturating_sub(AROUND)..start).unwrap_or_default();
    let after = bytes.get(end..bytes.len().min(end + AROUND)).unwrap_or_default();
    let before = String::from_utf8_lossy(before);
    let before = before.rsplit('\n').next().unwrap_or_default();
    let after = String::from_utf8_lossy(after);
    FORMS.as_ref().is_some_and(|forms| {
        forms.before.is_match(before) || before.contains(['<', ' ']) && forms.after.is_match(&after)
    })
}
