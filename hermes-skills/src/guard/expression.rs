//! Regular expressions for lines in any script.

use regex::Regex;

/// Compiles `pattern`, or returns `None` if it is none.
///
/// A `\b` in it is a boundary between ASCII words. The engine has no fast way to tell where the
/// words of every script end: a single character that is not ASCII would make its line dozens of
/// times as dear.
pub(super) fn compile(pattern: &str) -> Option<Regex> {
    let mut source = String::with_capacity(pattern.len());
    let mut chars = pattern.chars();
    while let Some(ch) = chars.next() {
        match (ch, if ch == '\\' { chars.next() } else { None }) {
            ('\\', Some('b')) => source.push_str(r"(?-u:\b)"),
            (ch, escaped) => source.extend([ch].into_iter().chain(escaped)),
        }
    }
    Regex::new(&source).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_ends_where_another_script_begins() {
        let found = compile(r"\bcurl\b\\").map(|it| it.is_match("\u{884c}curl\\"));

        assert_eq!(found, Some(true));
    }

    #[test]
    fn what_is_no_expression_is_none() {
        assert!(compile("(").is_none());
    }
}
