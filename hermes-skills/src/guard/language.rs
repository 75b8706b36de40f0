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
    /// Tells the language by the name of the file, then by its first line.
    pub(super) fn of(path: &str, text: &str) -> Self {
        let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
        let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
        if is_workflow(path) {
            return Self::Workflow;
        }
        match extension {
            "md" | "mdx" | "txt" | "rst" | "adoc" | "html" | "htm" | "tex" | "org" | "markdown" => {
                Self::Prose
            }
            "json" | "yaml" | "yml" | "toml" | "csv" | "tsv" | "xml" | "svg" | "css" | "ini"
            | "cfg" | "lock" | "jsonl" => Self::Data,
            "sh" | "bash" | "zsh" | "fish" | "ksh" | "py" | "rb" | "pl" | "r" | "ps1" | "psm1"
            | "mk" | "jl" | "ex" | "exs" | "tcl" | "awk" => Self::Hash,
            "bat" | "cmd" => Self::Batch,
            "sql" | "lua" | "hs" | "applescript" => Self::Dash,
            "js" | "ts" | "mjs" | "cjs" | "jsx" | "tsx" | "go" | "rs" | "java" | "c" | "h"
            | "cpp" | "cs" | "kt" | "swift" | "php" | "scala" | "dart" => Self::Slash,
            _ if text.starts_with("#!") || name == "makefile" || name == "dockerfile" => Self::Hash,
            "" if is_document(&name) => Self::Prose,
            _ => Self::Other,
        }
    }

    /// Returns whether what stands in such a file runs.
    pub(super) fn runs(self) -> bool {
        !matches!(self, Self::Prose | Self::Data)
    }

    /// Returns what a line ends in that goes on in the next.
    pub(super) fn continuation(self) -> char {
        if self == Self::Batch { '^' } else { '\\' }
    }

    /// Returns the part of a line before its comment.
    pub(super) fn code(self, line: &str) -> &str {
        let mark = match self {
            Self::Hash | Self::Workflow => "#",
            Self::Slash => "//",
            Self::Dash => "--",
            Self::Batch => return if is_remark(line) { "" } else { line },
            Self::Prose | Self::Data | Self::Other => return line,
        };
        if line.trim_start().starts_with(mark) && !line.starts_with("#!") {
            return "";
        }
        let mut quote = None;
        let mut before = b' ';
        for (at, byte) in line.bytes().enumerate() {
            match (quote, byte) {
                (None, b'"' | b'\'' | b'`') => quote = Some(byte),
                (Some(open), _) if open == byte && before != b'\\' => quote = None,
                (None, _)
                    if before.is_ascii_whitespace()
                        && line.get(at..).is_some_and(|rest| rest.starts_with(mark)) =>
                {
                    return line.get(..at).unwrap_or_default();
                }
                _ => {}
            }
            before = byte;
        }
        line
    }
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
    fn comments_end_where_quotes_say_so() {
        assert_eq!(Language::Hash.code("echo '# no' # yes"), "echo '# no' ");
        assert_eq!(Language::Slash.code("// all of it"), "");
        assert_eq!(Language::Batch.code("@REM all of it"), "");
        assert_eq!(Language::Batch.code("echo rem"), "echo rem");
        assert_eq!(Language::Dash.code("drop -- a"), "drop ");
        assert_eq!(Language::Slash.code("let u = \"https://x\"; // c"), "let u = \"https://x\"; ");
    }
}
