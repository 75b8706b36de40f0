//! Lines as an interpreter reads them: continuations joined, comments gone.

use std::borrow::Cow;

use super::language::Language;

/// A line of code, or several that continue one another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line<'t> {
    /// The number of the first line, from 1.
    pub(super) number: usize,
    pub(super) text: Cow<'t, str>,
}

/// Returns the lines of `text` that are not blank. A lone carriage return ends a line as well.
pub(super) fn join(text: &str, language: Language) -> Vec<Line<'_>> {
    let mut lines: Vec<Line<'_>> = Vec::new();
    let mut open = false;
    for (number, chunk) in (1..).zip(text.split('\n')) {
        for line in chunk.trim_end_matches('\r').split('\r') {
            let code = language.code(line);
            let (code, joins) = match code.strip_suffix('\\') {
                Some(code) => (code, true),
                None => (code, ends_open(code)),
            };
            match lines.last_mut() {
                Some(last) if open => last.text.to_mut().push_str(code),
                _ if code.trim().is_empty() => {}
                _ => lines.push(Line { number, text: Cow::Borrowed(code) }),
            }
            open = joins && !lines.is_empty();
        }
    }
    lines
}

/// Returns whether a command goes on in the next line without saying so.
fn ends_open(code: &str) -> bool {
    let code = code.trim_end();
    (code.ends_with(" |") || code.ends_with("&&")) && !code.starts_with('|')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[(usize, &str)]) {
        let lines = join(text, Language::Hash);
        let lines: Vec<_> = lines.iter().map(|it| (it.number, it.text.as_ref())).collect();
        assert_eq!(lines, expected);
    }

    #[test]
    fn a_backslash_joins_within_a_word() {
        check("a b\\\nc\nd", &[(1, "a bc"), (3, "d")]);
    }

    #[test]
    fn a_pipe_at_the_end_joins() {
        check("a |\n  b", &[(1, "a |  b")]);
    }

    #[test]
    fn a_lone_carriage_return_ends_a_line() {
        check("a\rb\r\nc", &[(1, "a"), (1, "b"), (2, "c")]);
    }

    #[test]
    fn comments_are_no_code() {
        check("# a\nb # c", &[(2, "b ")]);
    }
}
