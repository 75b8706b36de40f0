//! Lines as an interpreter reads them: continuations joined, comments apart.

use std::borrow::Cow;

use super::{
    comment::{Comments, Divided},
    language::Language,
};

/// The lines of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Lines<'t> {
    pub(super) code: Vec<Line<'t>>,
    /// The comments, with the numbers of their lines.
    pub(super) comments: Vec<(usize, &'t str)>,
}

/// A line of code, or several that continue one another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line<'t> {
    /// The number of the first line, from 1.
    pub(super) number: usize,
    pub(super) text: Cow<'t, str>,
}

/// The longest line to which one more is joined without a backslash, in bytes.
const JOINED_MAX: usize = 2_048;

/// The longest line whose names and words are followed in one, in bytes.
pub(super) const FOLLOWED_MAX: usize = 16_384;

/// Returns the lines of `text` that are not blank. A lone carriage return ends a line as well, and
/// so does what JavaScript takes for the end of one.
///
/// In a program, the arguments of a call and the calls chained to one belong to its line.
pub(super) fn join(text: &str, language: Language) -> Lines<'_> {
    let mut lines: Vec<Line<'_>> = Vec::new();
    let mut comments = Vec::new();
    let divider = Comments::new(language, text);
    let mut open = false;
    let mut depth = 0;
    for (number, chunk) in (1..).zip(text.split('\n')) {
        for line in chunk.trim_end_matches('\r').split(['\r', '\u{2028}', '\u{2029}']) {
            let Divided { mut code, comment } = divider.divide(line);
            if !comment.is_empty() {
                comments.push((number, comment));
            }
            let joins = ends_joined(&mut code, language.continuation());
            let belongs = language.runs() && (0 < depth || is_chained(&code));
            match lines.last_mut() {
                Some(last) if open || belongs && last.text.len() < JOINED_MAX => {
                    last.text.to_mut().push_str(&code);
                    depth = depth_after(depth, &code, language);
                }
                _ if code.trim().is_empty() => continue,
                _ => {
                    depth = depth_after(0, &code, language);
                    lines.push(Line { number, text: code });
                }
            }
            open = joins && !lines.is_empty();
        }
    }
    Lines { code: lines, comments }
}

/// Returns whether the next line belongs to `code`, and takes the mark that says so away.
fn ends_joined(code: &mut Cow<'_, str>, mark: char) -> bool {
    let Some(length) = code.strip_suffix(mark).map(str::len) else { return ends_open(code) };
    match code {
        Cow::Borrowed(code) => *code = code.get(..length).unwrap_or_default(),
        Cow::Owned(code) => code.truncate(length),
    }
    true
}

/// Returns the pieces of a line that are short enough to be followed: commands that stand one after
/// another, as many at a time as fit. Of blanks, one counts.
pub(super) fn pieces(line: &str) -> Vec<Cow<'_, str>> {
    if line.len() <= FOLLOWED_MAX {
        return vec![Cow::Borrowed(line)];
    }
    let mut pieces = Vec::new();
    let mut piece = String::new();
    for command in line.split_inclusive([';', '&', '{', '}']) {
        if !piece.is_empty() && FOLLOWED_MAX < piece.len() + command.len() {
            pieces.push(Cow::Owned(std::mem::take(&mut piece)));
        }
        let mut is_blank = false;
        piece.extend(command.chars().filter(|ch| {
            let was_blank = std::mem::replace(&mut is_blank, ch.is_whitespace());
            !(was_blank && is_blank)
        }));
    }
    pieces.push(Cow::Owned(piece));
    pieces
}

/// Returns whether a line goes on with a method of what stands in the line before.
fn is_chained(code: &str) -> bool {
    let Some(rest) = code.trim_start().strip_prefix('.') else { return false };
    let name = rest.trim_start_matches(|ch: char| ch.is_alphanumeric() || ch == '_');
    name.len() < rest.len() && name.starts_with('(')
}

/// Returns how many brackets of a call are open after `code`, of which `depth` were before. A body
/// that begins within a call is read line by line.
fn depth_after(depth: usize, code: &str, language: Language) -> usize {
    if !language.runs() || code.trim_end().ends_with(['{', ';']) || code.trim_end().ends_with("=>")
    {
        return 0;
    }
    let mut depth = depth;
    let mut quote = None;
    for byte in code.bytes() {
        match (quote, byte) {
            (None, b'"' | b'\'' | b'`') => quote = Some(byte),
            (Some(open), _) if open == byte => quote = None,
            (None, b'(' | b'[') => depth += 1,
            (None, b')' | b']') => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    depth
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
        let lines = join(text, Language::Hash).code;
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
    fn a_call_goes_on_until_its_brackets_close() {
        check("f(a,\n  b,\n)\nc", &[(1, "f(a,  b,)"), (4, "c")]);
        check("f(a)\n  .g(b)\n.venv/bin/h", &[(1, "f(a)  .g(b)"), (3, ".venv/bin/h")]);
        check("f(() => {\n  g()\n})", &[(1, "f(() => {"), (2, "  g()"), (3, "})")]);
    }

    #[test]
    fn a_lone_carriage_return_ends_a_line() {
        check("a\rb\r\nc", &[(1, "a"), (1, "b"), (2, "c")]);
    }

    #[test]
    fn comments_are_no_code() {
        check("# a\nb # c", &[(2, "b ")]);
        assert_eq!(join("# a\nb # c", Language::Hash).comments, [(1, "# a"), (2, "# c")]);
    }

    #[test]
    fn a_long_line_is_cut_between_commands() {
        let long = format!("a {}b; {};c", " ".repeat(FOLLOWED_MAX), "d".repeat(FOLLOWED_MAX));

        let pieces: Vec<_> = pieces(&long).into_iter().map(|it| it.len()).collect();

        assert_eq!(pieces, [4, FOLLOWED_MAX + 2, 1]);
    }
}
