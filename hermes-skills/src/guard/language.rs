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
    /// A program without a known way of writing comments.
    Other,
}

impl Language {
    /// Tells the language by the name of the file, then by its first line.
    pub(super) fn of(path: &str, text: &str) -> Self {
        let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
        let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
        match extension {
            "md" | "mdx" | "txt" | "rst" | "adoc" | "html" | "htm" | "tex" | "org" | "markdown" => {
                Self::Prose
            }
            "json" | "yaml" | "yml" | "toml" | "csv" | "tsv" | "xml" | "svg" | "css" | "ini"
            | "cfg" | "lock" | "jsonl" => Self::Data,
            "sh" | "bash" | "zsh" | "fish" | "ksh" | "py" | "rb" | "pl" | "r" | "ps1" | "psm1"
            | "mk" | "jl" | "ex" | "exs" | "tcl" | "awk" => Self::Hash,
            "js" | "ts" | "mjs" | "cjs" | "jsx" | "tsx" | "go" | "rs" | "java" | "c" | "h"
            | "cpp" | "cs" | "kt" | "swift" | "php" | "scala" | "dart" => Self::Slash,
            _ if text.starts_with("#!") || name == "makefile" || name == "dockerfile" => Self::Hash,
            "" if is_document(&name) => Self::Prose,
            _ => Self::Other,
        }
    }

    /// Returns whether what stands in such a file runs.
    pub(super) fn runs(self) -> bool {
        matches!(self, Self::Hash | Self::Slash | Self::Other)
    }

    /// Returns the part of a line before its comment.
    pub(super) fn code(self, line: &str) -> &str {
        let mark = match self {
            Self::Hash => "#",
            Self::Slash => "//",
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
    }

    #[test]
    fn comments_end_where_quotes_say_so() {
        assert_eq!(Language::Hash.code("echo '# no' # yes"), "echo '# no' ");
        assert_eq!(Language::Slash.code("// all of it"), "");
        assert_eq!(Language::Slash.code("let u = \"https://x\"; // c"), "let u = \"https://x\"; ");
    }
}
