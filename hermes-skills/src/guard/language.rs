//! What a file is written in, as far as it matters: where comments are and whether it runs.

/// The language of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    /// Documentation; commands in it are instructions.
    Prose,
    /// Configuration and data.
    Data,
    /// Shell, Python and others with `#` comments.
    Hash,
    /// JavaScript and others with `//` comments.
    Slash,
    /// Batch files, with `rem` and `::` comments.
    Batch,
    /// What a service runs elsewhere, with `#` comments.
    Workflow,
    /// SQL, Lua and others with `--` comments.
    Dash,
    /// A program without a known way of writing comments.
    Other,
}

impl Language {
    /// Tells the language by the first line, then by the name of the file.
    pub(super) fn of(path: &str, text: &str) -> Self {
        let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
        let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
        if is_workflow(path) {
            return Self::Workflow;
        }
        if let Some(language) = interpreted(text) {
            return language;
        }
        match extension {
            "md" | "mdx" | "txt" | "rst" | "adoc" | "html" | "htm" | "tex" | "org" | "markdown" => {
                Self::Prose
            }
            "json" | "yaml" | "yml" | "toml" | "csv" | "tsv" | "xml" | "svg" | "css" | "ini"
            | "cfg" | "lock" | "jsonl" => Self::Data,
            "sh" | "bash" | "zsh" | "fish" | "ksh" | "py" | "rb" | "pl" | "r" | "ps1" | "psm1"
            | "mk" | "jl" | "ex" | "exs" | "awk" => Self::Hash,
            "bat" | "cmd" => Self::Batch,
            "sql" | "lua" | "hs" | "applescript" => Self::Dash,
            "js" | "ts" | "mjs" | "cjs" | "jsx" | "tsx" | "go" | "rs" | "java" | "c" | "h"
            | "cpp" | "cs" | "kt" | "swift" | "php" | "scala" | "dart" => Self::Slash,
            _ if name == "makefile" || name == "dockerfile" => Self::Hash,
            "" if is_document(&name) => Self::Prose,
            _ => Self::Other,
        }
    }

    /// Returns the language of such a file when an interpreter is given it.
    pub(super) fn run(self) -> Self {
        if self.runs() { self } else { Self::Other }
    }

    /// Returns whether what stands in such a file runs.
    pub(super) fn runs(self) -> bool {
        !matches!(self, Self::Prose | Self::Data)
    }

    /// Returns whether a file is known for a program by its name alone.
    pub(super) fn is_program_by_name(self) -> bool {
        self.runs() && self != Self::Other
    }

    /// Returns what a line ends in that goes on in the next.
    pub(super) fn continuation(self) -> char {
        if self == Self::Batch { '^' } else { '\\' }
    }

    /// Returns what a comment begins with, if it is always the same.
    pub(super) fn mark(self) -> &'static str {
        match self {
            Self::Hash | Self::Workflow => "#",
            Self::Slash => "//",
            Self::Dash => "--",
            Self::Batch | Self::Prose | Self::Data | Self::Other => "",
        }
    }

    /// Returns where what looks like a comment begins in a line, and the quote that is open at the
    /// end of the code.
    pub(super) fn comment(self, line: &str) -> (Option<usize>, Option<u8>) {
        let mark = self.mark();
        if mark.is_empty() {
            return ((self == Self::Batch && is_remark(line)).then_some(0), None);
        }
        let is_mark = |at: usize| {
            let rest = line.get(at..).unwrap_or_default();
            rest.starts_with(mark) && !rest.starts_with("#{")
        };
        let indent = line.len() - line.trim_start().len();
        if is_mark(indent) && !line.starts_with("#!") {
            return (Some(indent), None);
        }
        let mut quote = None;
        let mut before = [b' '; 2];
        for (at, byte) in line.bytes().enumerate() {
            match (quote, byte) {
                (None, b'"' | b'\'' | b'`') => quote = Some(byte),
                (Some(open), _) if open == byte && before[1] != b'\\' => quote = None,
                (None, _)
                    if before[1].is_ascii_whitespace() && before[0] != b'\\' && is_mark(at) =>
                {
                    return (Some(at), None);
                }
                _ => {}
            }
            before = [before[1], byte];
        }
        (None, quote)
    }
}

/// Returns the language of the interpreter that the first line names.
fn interpreted(text: &str) -> Option<Language> {
    let rest = text.trim_start_matches('\u{feff}').strip_prefix("#!")?.trim_start_matches(' ');
    let line = rest.starts_with('/').then(|| rest.lines().next().unwrap_or_default())?;
    let names = |words: &[&str]| {
        line.split(['/', ' ']).any(|part| words.contains(&part.trim_end_matches(char::is_numeric)))
    };
    Some(match () {
        () if names(&["node", "deno", "bun", "ts-node", "tsx", "php"]) => Language::Slash,
        () if names(&["lua", "osascript", "runhaskell"]) => Language::Dash,
        () => Language::Hash,
    })
}

/// Returns whether a line of a batch file is a comment.
fn is_remark(line: &str) -> bool {
    let line = line.trim_start().trim_start_matches('@');
    line.starts_with("::")
        || line.get(..4).is_some_and(|start| start.trim_end().eq_ignore_ascii_case("rem"))
}

/// Returns whether a file tells a service what to run.
fn is_workflow(path: &str) -> bool {
    let path = path.to_ascii_lowercase();
    let extension = path.rsplit('.').next();
    matches!(extension, Some("yml" | "yaml"))
        && (path.contains(".github/workflows/") || path.contains(".gitlab-ci."))
}

fn is_document(name: &str) -> bool {
    matches!(name, "license" | "readme" | "changelog" | "notice" | "authors" | "version")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_first_line_tells_a_script_without_extension() {
        assert!(Language::of("scripts/run", "#!/bin/sh\n").runs());
        assert_eq!(Language::of("README", "text"), Language::Prose);
        assert!(Language::of(".github/workflows/a.yml", "on: push").runs());
        assert!(!Language::of("assets/a.yml", "on: push").runs());
    }

    #[test]
    fn the_first_line_goes_before_the_name() {
        assert_eq!(Language::of("a.txt", "#!/usr/bin/env bash\n"), Language::Hash);
        assert_eq!(Language::of("a.py", "#!/usr/bin/env node\n"), Language::Slash);
        assert_eq!(Language::of("a.rs", "#![allow(dead_code)]\n"), Language::Slash);
    }

    #[test]
    fn comments_begin_where_quotes_say_so() {
        let comment = |language: Language, line| language.comment(line).0;
        assert_eq!(comment(Language::Hash, "echo '# no' # yes"), Some(12));
        assert_eq!(comment(Language::Hash, "echo \\ # no"), None);
        assert_eq!(comment(Language::Hash, "#{no}"), None);
        assert_eq!(comment(Language::Slash, "// all of it"), Some(0));
        assert_eq!(comment(Language::Batch, "@REM all of it"), Some(0));
        assert_eq!(comment(Language::Batch, "echo rem"), None);
        assert_eq!(comment(Language::Dash, "drop -- a"), Some(5));
        assert_eq!(comment(Language::Slash, "let u = \"https://x\"; // c"), Some(21));
    }
}
