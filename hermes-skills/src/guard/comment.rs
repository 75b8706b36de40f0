//! Comments, as far as they are any: what an interpreter does not take for one is code.
//!
//! To tell for certain where a comment begins takes the grammar of every language. Instead, a
//! comment is doubted where something in it may close what is still open in front of it: a text
//! over several lines, an expression, a pattern. What follows the closing mark is read as code.

use std::{borrow::Cow, cell::OnceCell, sync::LazyLock};

use regex::Regex;

use super::{expression, language::Language};

/// Tells the comments of a file from its code.
#[derive(Debug)]
pub(super) struct Comments<'t> {
    language: Language,
    text: &'t str,
    open: OnceCell<Open>,
}

/// A line, divided.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Divided<'l> {
    /// What runs.
    pub(super) code: Cow<'l, str>,
    /// The comment, if there is one.
    pub(super) comment: &'l str,
}

/// What a file has that goes over several lines, so that a line in it may only look like a comment.
#[expect(clippy::struct_excessive_bools, reason = "each may be open whatever the others are")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Open {
    single: bool,
    double: bool,
    tick: bool,
    here: bool,
    pattern: bool,
    /// The comments are read and run.
    read: bool,
}

/// What opens a text or a pattern with a mark of its own choice, and what makes comments code.
struct Forms {
    opener: Regex,
    read: Regex,
    run: Regex,
    coding: Regex,
}

static FORMS: LazyLock<Option<Forms>> = LazyLock::new(|| {
    let regex = expression::compile;
    Some(Forms {
        opener: regex(
            r"(?:(?:^|[\s(=,;~!&|])(?:q[qwrx]?|m|s|y|tr|split)|%[qQwWiIrsx]?|[=!]~|[(,=])\s*([/{(\[<!|,#~@^%])",
        )?,
        read: regex(
            r"(?i)\b(?:sed|awk|grep|cut|tr|tail|head|cat|perl|open|read\w*|get-content|gc)\b[^\n]*(?:\$\{?0\b|BASH_SOURCE|__file__|__filename|PSCommandPath|%~f?0)",
        )?,
        run: regex(
            r"(?i)\|\s*(?:sudo\s+)?(?:/\S*/)?(?:ba|z|da|k)?sh\b|\b(?:exec|eval|iex|invoke-expression|system|source|popen)\b|<\(|\|\s*(?:python[\d.]*|perl|node|ruby)\b",
        )?,
        coding: regex(
            r"(?i)\bcoding[:=]\s*(?:raw.)?(?:unicode.escape|utf.?7|rot.?13|punycode|base64|hex|bz2|zlib)",
        )?,
    })
});

/// What ends a comment whatever stands before it.
const ENDS: &[&str] = &["$(shell ", "\\u000a", "\\u000d", "\\u000A", "\\u000D", "]]", "]=]"];
/// What ends a comment that begins with `#`.
const HASH_ENDS: &[&str] = &["#>", "=#"];
/// What ends a comment that begins with `//` or `--`: a shell that is given the file goes on there.
const LINE_ENDS: &[&str] = &["*/", "?>", "</script", "; ", "&& "];

impl<'t> Comments<'t> {
    /// Begins a file.
    pub(super) fn new(language: Language, text: &'t str) -> Self {
        Self { language, text, open: OnceCell::new() }
    }

    /// Divides a line of the file.
    pub(super) fn divide<'l>(&self, line: &'l str) -> Divided<'l> {
        let (Some(at), _) = self.language.comment(line) else {
            return Divided { code: Cow::Borrowed(line), comment: "" };
        };
        let (code, comment) = line.split_at(at);
        let code = match self.doubted(code, comment) {
            Some(rest) => Cow::Owned(format!("{code} ; {rest}")),
            None => Cow::Borrowed(code),
        };
        Divided { code, comment }
    }

    /// Returns the part of `comment` that may be code after all.
    fn doubted<'l>(&self, code: &str, comment: &'l str) -> Option<&'l str> {
        let inner = comment.get(self.language.mark().len()..)?;
        if inner.trim().is_empty() {
            return None;
        }
        let open = *self.open();
        let mark = FORMS.as_ref().and_then(|forms| opened(&forms.opener, code));
        // The mark of the comment may itself close what is open.
        if open.read || mark.is_some_and(|mark| self.language.mark().starts_with(mark)) {
            return Some(inner);
        }
        let mut closers = Closers::new(open, mark, code);
        for (at, ch) in inner.char_indices() {
            let rest = inner.get(at..).unwrap_or_default();
            let ends = ENDS.iter().chain(self.ends()).find(|end| rest.starts_with(**end));
            if let Some(end) = ends {
                return rest.get(end.len()..);
            }
            if let Some(rest) = closers.close(ch, rest) {
                return Some(rest);
            }
        }
        None
    }

    fn ends(&self) -> &'static [&'static str] {
        match self.language {
            Language::Hash | Language::Workflow => HASH_ENDS,
            Language::Slash | Language::Dash => LINE_ENDS,
            Language::Batch => &["&"],
            Language::Prose | Language::Data | Language::Other => &[],
        }
    }

    fn open(&self) -> &Open {
        self.open.get_or_init(|| Open::of(self.text, self.language))
    }
}

impl Open {
    fn of(text: &str, language: Language) -> Self {
        let mut open = Self::default();
        let Some(forms) = &*FORMS else { return open };
        let head = text.len().min(256);
        let head = text.get(..head).unwrap_or_default();
        open.read = forms.coding.is_match(head)
            || text.lines().any(|line| forms.read.is_match(line)) && forms.run.is_match(text);
        for line in text.lines() {
            let (at, quote) = language.comment(line);
            let code = at.and_then(|at| line.get(..at)).unwrap_or(line);
            open.single |= quote == Some(b'\'') || code.contains("'''");
            open.double |= quote == Some(b'"') || code.contains("\"\"\"");
            open.tick |= quote == Some(b'`');
            open.here |= code.contains("<<");
            open.pattern =
                open.pattern || language == Language::Hash && opened(&forms.opener, code).is_some();
        }
        open
    }
}

/// Returns the mark of the last text or pattern in `code` that is not closed there.
fn opened(opener: &Regex, code: &str) -> Option<char> {
    let found = opener.captures_iter(code).last()?.get(1)?;
    let mark = found.as_str().chars().next()?;
    let rest = code.get(found.end()..)?;
    (!rest.contains(closing(mark))).then_some(mark)
}

fn closing(mark: char) -> char {
    match mark {
        '(' => ')',
        '[' => ']',
        '{' => '}',
        '<' => '>',
        mark => mark,
    }
}

/// Looks in a comment for what closes something in front of it.
struct Closers {
    open: Open,
    mark: Option<char>,
    /// Whether a bracket stands in front of the comment.
    has_bracket: bool,
    /// Whether a pattern between `/` may be open there.
    is_in_pattern: bool,
    /// How many brackets of each kind the comment itself has open.
    depth: [usize; 3],
}

impl Closers {
    /// Looks at `code`, which stands in front of the comment.
    fn new(mut open: Open, mark: Option<char>, code: &str) -> Self {
        open.single |= code.contains("'''");
        open.double |= code.contains("\"\"\"");
        let is_in_pattern = mark == Some('/') || code.trim_start().starts_with('/');
        Self { open, mark, has_bracket: code.contains('['), is_in_pattern, depth: [0; 3] }
    }

    /// Returns what follows `ch`, with which `rest` begins, if it closes something.
    fn close<'l>(&mut self, ch: char, rest: &'l str) -> Option<&'l str> {
        let after = rest.get(ch.len_utf8()..)?;
        let Open { single, double, tick, here, pattern, .. } = self.open;
        let is_closed = match ch {
            '\'' if single => return after_quote(after, ch),
            '"' if double => return after_quote(after, ch),
            '`' if double || here || tick => return Some(after),
            '$' | '#' | '@' if after.starts_with(['(', '{']) && (double || here || tick) => {
                return after.get(1..);
            }
            '(' | '[' | '{' => {
                self.deepen(ch);
                false
            }
            ')' => self.rise(0) && (pattern || self.mark == Some('(')),
            ']' => self.rise(1) && (pattern || self.has_bracket),
            '}' => self.rise(2),
            '/' => pattern || self.is_in_pattern,
            ch => self.mark.is_some_and(|mark| closing(mark) == ch),
        };
        is_closed.then_some(after)
    }

    fn deepen(&mut self, ch: char) {
        let kind = usize::from(ch != '(') + usize::from(ch == '{');
        if let Some(depth) = self.depth.get_mut(kind) {
            *depth += 1;
        }
    }

    /// Returns whether a bracket closes none of the comment.
    fn rise(&mut self, kind: usize) -> bool {
        let Some(depth) = self.depth.get_mut(kind) else { return false };
        let is_free = *depth == 0;
        *depth = depth.saturating_sub(1);
        is_free
    }
}

/// Returns what runs after a quote that closes a text: after what is joined to the text, if it is.
fn after_quote(rest: &str, quote: char) -> Option<&str> {
    let rest = rest.trim_start_matches(quote);
    if !rest.starts_with(|ch: char| ch.is_alphanumeric()) {
        return Some(rest);
    }
    rest.find([';', '&', '|', ')', ',', '+', quote]).and_then(|at| rest.get(at + 1..))
}
