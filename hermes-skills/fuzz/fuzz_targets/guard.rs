//! Any files as a skill folder: the guard does not panic, and points into the files it was given.
//!
//! The input is a list of files, each `path LF content`, with NUL bytes between them.

#![no_main]

use hermes_skills::guard::{self, Content, Folder, Trust};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let files = input.split(|byte| *byte == 0).map(|file| {
        let path = file.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let content = file.get(path.len() + 1..).unwrap_or_default();
        (String::from_utf8_lossy(path).into_owned(), content.to_owned())
    });
    let folder = files.take(4).fold(Folder::new(), |folder, (path, bytes)| {
        if path.ends_with('!') { folder.executable(path, bytes) } else { folder.file(path, bytes) }
    });

    let report = guard::scan(&folder);

    for finding in &report.findings {
        // Several files may have been given one path.
        let files = folder.entries().iter().filter(|entry| entry.path == finding.file);
        let lines = files.filter_map(|entry| match &entry.content {
            Content::Bytes(bytes) => Some(1 + bytes.iter().filter(|it| **it == b'\n').count()),
            _ => None,
        });
        if let Some(lines) = lines.max() {
            assert!(finding.line <= lines, "line {} of {lines}", finding.line);
        }
    }
    assert_eq!(report, guard::scan(&folder), "a second look gives another report");
    assert!(report.verdict == guard::Verdict::Safe || !report.for_model().is_empty());
    let _ = guard::decide(Trust::of_source("someone/skills"), report.verdict);
});
