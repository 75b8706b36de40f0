//! Takes a script apart into commands, in one pass.
//!
//! The parser is lenient: what a shell would refuse is read in the way in which most of it would run.

use super::{
    fold::Glyph,
    redirect::Pending,
    tree::{Assign, Parsed, Pipeline, Script, Simple, Stage},
    word::{self, Word, literal},
};

/// Parses `text`. A quote without its end counts as an ordinary character. The bodies of
/// here-documents are numbered from `base`.
pub(super) fn parse(text: &[Glyph], base: usize) -> Parsed {
    let mut plain = Vec::new();
    for _ in 0..=Parser::MAX_UNCLOSED {
        let mut parser = Parser::new(text, plain.clone(), base);
        let script = parser.list(End::Text);
        let is_cut = parser.is_cut || plain.len() == Parser::MAX_UNCLOSED;
        match parser.unclosed {
            Some(at) if plain.len() < Parser::MAX_UNCLOSED => plain.push(at),
            _ => return Parsed { script, bodies: parser.bodies, is_cut },
        }
    }
    Parsed { is_cut: true, ..Parsed::default() }
}

/// What ends a list of commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Text,
    Paren,
    Brace,
    Case,
}

#[derive(Debug)]
pub(super) struct Parser<'t> {
    pub(super) text: &'t [Glyph],
    pub(super) at: usize,
    pub(super) base: usize,
    pub(super) bodies: Vec<Word>,
    pub(super) depth: u32,
    pub(super) is_cut: bool,
    /// Where a quote begins that has no end.
    pub(super) unclosed: Option<usize>,
    /// Where quotes begin that count as ordinary characters.
    pub(super) plain: Vec<usize>,
    pub(super) pending: Vec<Pending>,
    /// How many characters may still be looked at in search of the ends of here-documents.
    pub(super) search: usize,
}

const SKIPPED: [&str; 10] =
    ["if", "then", "elif", "else", "while", "until", "do", "!", "coproc", "in"];

impl<'t> Parser<'t> {
    const MAX_DEPTH: u32 = 32;
    const MAX_UNCLOSED: usize = 4;

    fn new(text: &'t [Glyph], plain: Vec<usize>, base: usize) -> Self {
        Self {
            text,
            at: 0,
            base,
            bodies: Vec::new(),
            depth: 0,
            is_cut: false,
            unclosed: None,
            plain,
            pending: Vec::new(),
            search: text.len().saturating_mul(8).saturating_add(1_000),
        }
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.ahead(0)
    }

    pub(super) fn ahead(&self, by: usize) -> Option<char> {
        self.text.get(self.at.saturating_add(by)).map(|glyph| glyph.ch)
    }

    pub(super) fn next(&mut self) -> Option<Glyph> {
        let glyph = self.text.get(self.at).copied()?;
        self.at = self.at.saturating_add(1);
        Some(glyph)
    }

    /// Goes over `signs` if they come next.
    pub(super) fn take(&mut self, signs: &str) -> bool {
        let comes = signs.chars().enumerate().all(|(by, ch)| self.ahead(by) == Some(ch));
        if comes {
            self.at = self.at.saturating_add(signs.chars().count());
        }
        comes
    }

    /// Parses `text` as a script of its own within this one.
    pub(super) fn inner(&mut self, text: &[Glyph]) -> Script {
        self.within(text, |parser| parser.list(End::Text))
    }

    /// Reads `text` as what stands between double quotes.
    pub(super) fn inner_text(&mut self, text: &[Glyph]) -> Word {
        self.within(text, word::text)
    }

    fn within<R>(&mut self, text: &[Glyph], read: impl FnOnce(&mut Parser<'_>) -> R) -> R {
        let mut parser = Parser::new(text, std::mem::take(&mut self.plain), self.base);
        parser.bodies = std::mem::take(&mut self.bodies);
        parser.depth = self.depth;
        let result = read(&mut parser);
        self.is_cut |= parser.is_cut;
        self.unclosed = self.unclosed.or(parser.unclosed);
        self.plain = parser.plain;
        self.bodies = parser.bodies;
        result
    }

    /// Reads commands up to `end`, and goes over it.
    pub(super) fn list(&mut self, end: End) -> Script {
        let mut script = Script::default();
        let mut pipeline = Pipeline::default();
        self.depth = self.depth.saturating_add(1);
        if Self::MAX_DEPTH < self.depth {
            self.is_cut = true;
            self.at = self.text.len();
        }
        while let Some(ch) = self.peek() {
            if self.is_at(end) {
                break;
            }
            match ch {
                ' ' | '\t' => self.at = self.at.saturating_add(1),
                '\\' if self.ahead(1) == Some('\n') => self.at = self.at.saturating_add(2),
                '#' => self.comment(),
                '\n' | ';' | '|' | '&' | ')' => self.separator(&mut script, &mut pipeline),
                _ if self.is_word("done") || self.is_word("fi") => {
                    self.close(&mut script, &mut pipeline);
                }
                _ => self.stage(&mut pipeline),
            }
        }
        flush(&mut script, &mut pipeline);
        self.depth = self.depth.saturating_sub(1);
        script
    }

    /// Returns whether the list ends here; goes over the end.
    fn is_at(&mut self, end: End) -> bool {
        match end {
            End::Text => false,
            End::Paren => self.take(")"),
            End::Brace => self.is_word("}") && self.take("}"),
            End::Case => self.take(";;") || self.is_word("esac"),
        }
    }

    /// Returns whether the word that begins here is `expected`.
    fn is_word(&self, expected: &str) -> bool {
        let length = expected.chars().count();
        expected.chars().enumerate().all(|(by, ch)| self.ahead(by) == Some(ch))
            && self.ahead(length).is_none_or(|it| it.is_whitespace() || ";|&()".contains(it))
    }

    /// Goes over the end of a loop, whose last command may feed what follows.
    fn close(&mut self, script: &mut Script, pipeline: &mut Pipeline) {
        let _ = self.take("done") || self.take("fi");
        flush(script, pipeline);
        self.blanks();
        if self.peek() == Some('|') && self.ahead(1) != Some('|') {
            *pipeline = script.pipelines.pop().unwrap_or_default();
        }
    }

    fn separator(&mut self, script: &mut Script, pipeline: &mut Pipeline) {
        if self.take("&>") {
            self.at = self.at.saturating_sub(2);
            self.stage(pipeline);
        } else if self.take("||") || self.take("&&") {
            flush(script, pipeline);
        } else if self.take("|") {
            let _ = self.take("&");
        } else if self.take("&") {
            pipeline.is_background = true;
            flush(script, pipeline);
        } else if self.peek() == Some('\n') {
            flush(script, pipeline);
            self.newline();
        } else {
            self.at = self.at.saturating_add(1);
            flush(script, pipeline);
        }
    }

    fn comment(&mut self) {
        while self.peek().is_some_and(|it| it != '\n') {
            self.at = self.at.saturating_add(1);
        }
    }

    /// Goes over blanks, and over line ends too if a command goes on after them.
    pub(super) fn blanks(&mut self) {
        while matches!(self.peek(), Some(' ' | '\t')) || self.take("\\\n") {
            if matches!(self.peek(), Some(' ' | '\t')) {
                self.at = self.at.saturating_add(1);
            }
        }
    }

    fn gap(&mut self) {
        self.blanks();
        while self.peek() == Some('\n') {
            self.newline();
            self.blanks();
        }
    }

    /// Reads one command, or goes over a word that only gives structure.
    fn stage(&mut self, pipeline: &mut Pipeline) {
        let before = self.at;
        if self.take("(") {
            let script = self.list(End::Paren);
            let redirects = self.redirects();
            pipeline.stages.push(Stage::Group(script, redirects));
        } else if self.is_word("{") {
            self.at = self.at.saturating_add(1);
            let script = self.list(End::Brace);
            let redirects = self.redirects();
            pipeline.stages.push(Stage::Group(script, redirects));
        } else if let Some(word) = SKIPPED.iter().find(|it| self.is_word(it)) {
            self.at = self.at.saturating_add(word.len());
        } else if self.is_word("function") {
            self.at = self.at.saturating_add("function".len());
            self.blanks();
            let name = literal(&word::word(self)).unwrap_or_default();
            self.blanks();
            let _ = self.take("()");
            self.body(name, pipeline);
        } else if self.is_word("case") {
            self.case(pipeline);
        } else if self.is_word("for") || self.is_word("select") {
            self.each(pipeline);
        } else if self.is_word("[[") {
            self.test();
        } else {
            self.simple(pipeline);
        }
        if self.at == before {
            self.at = self.at.saturating_add(1);
        }
    }

    fn case(&mut self, pipeline: &mut Pipeline) {
        self.at = self.at.saturating_add(4);
        self.blanks();
        let subject = word::word(self);
        pipeline.stages.push(Stage::For(String::new(), vec![subject]));
        self.gap();
        let _ = self.take("in");
        loop {
            self.gap();
            if self.peek().is_none() || (self.is_word("esac") && self.take("esac")) {
                return;
            }
            while self.peek().is_some_and(|it| it != ')') {
                let before = self.at;
                let _ = word::word(self);
                if self.at == before {
                    self.at = self.at.saturating_add(1);
                }
            }
            let _ = self.take(")");
            let script = self.list(End::Case);
            pipeline.stages.push(Stage::Group(script, Vec::new()));
        }
    }

    fn each(&mut self, pipeline: &mut Pipeline) {
        let _ = word::word(self);
        self.blanks();
        let name = literal(&word::word(self)).unwrap_or_default();
        self.gap();
        let mut words = Vec::new();
        if self.is_word("in") && self.take("in") {
            self.blanks();
            while self.peek().is_some_and(|it| !matches!(it, '\n' | ';' | '&' | '|' | '(' | ')')) {
                let before = self.at;
                words.push(word::word(self));
                self.blanks();
                if self.at == before {
                    self.at = self.at.saturating_add(1);
                }
            }
        }
        pipeline.stages.push(Stage::For(name, words));
    }

    /// Goes over `[[ … ]]`, in which operators mean something else.
    fn test(&mut self) {
        while self.peek().is_some_and(|it| it != '\n') {
            if self.is_word("]]") && self.take("]]") {
                return;
            }
            let before = self.at;
            let _ = word::word(self);
            if self.at == before {
                self.at = self.at.saturating_add(1);
            }
        }
    }

    fn simple(&mut self, pipeline: &mut Pipeline) {
        let mut simple = Simple::default();
        loop {
            self.blanks();
            match self.peek() {
                None | Some('\n' | ';' | '|' | ')') => break,
                Some('&') if self.ahead(1) != Some('>') => break,
                Some('#') => {
                    self.comment();
                    break;
                }
                Some('(') => {
                    if self.function(&simple, pipeline) {
                        return;
                    }
                    let before = self.at.checked_sub(1).and_then(|at| self.text.get(at));
                    let is_apart = before.is_some_and(|it| it.ch.is_whitespace());
                    if simple.words.is_empty() || !is_apart {
                        break;
                    }
                    simple.words.push(word::brackets(self));
                    continue;
                }
                _ => {}
            }
            if let Some(redirect) = self.redirect() {
                simple.redirects.extend(redirect);
            } else if let Some(assign) = self.assign(simple.words.is_empty()) {
                simple.assigns.push(assign);
            } else {
                let before = self.at;
                simple.words.push(word::word(self));
                if self.at == before {
                    self.at = self.at.saturating_add(1);
                }
            }
        }
        pipeline.stages.push(Stage::Simple(simple));
    }

    /// Reads the definition of a function whose name has been read.
    fn function(&mut self, simple: &Simple, pipeline: &mut Pipeline) -> bool {
        let Some(name) = simple.words.last().and_then(|word| literal(word)) else { return false };
        let start = self.at;
        let _ = self.take("(");
        self.blanks();
        if !self.take(")") {
            self.at = start;
            return false;
        }
        self.body(name, pipeline);
        true
    }

    /// Reads the body of a function.
    fn body(&mut self, name: String, pipeline: &mut Pipeline) {
        self.gap();
        let script = if self.take("{") {
            self.list(End::Brace)
        } else if self.take("(") {
            self.list(End::Paren)
        } else {
            Script::default()
        };
        pipeline.stages.push(Stage::Function(name, script));
    }

    /// Reads `name=value` or `name=(values)`, where a command may begin with one.
    fn assign(&mut self, may_begin: bool) -> Option<Assign> {
        let start = self.at;
        let mut name = String::new();
        while let Some(ch) = self.peek().filter(|it| it.is_ascii_alphanumeric() || *it == '_') {
            name.push(ch);
            self.at = self.at.saturating_add(1);
        }
        let appends = self.take("+=");
        let is_name = name.starts_with(|it: char| it.is_ascii_alphabetic() || it == '_');
        if !(may_begin && is_name && (appends || self.take("="))) {
            self.at = start;
            return None;
        }
        let mut values = Vec::new();
        if self.take("(") {
            self.gap();
            while self.peek().is_some_and(|it| !matches!(it, ')' | ';' | '|')) {
                let before = self.at;
                values.push(word::word(self));
                self.gap();
                if self.at == before {
                    self.at = self.at.saturating_add(1);
                }
            }
            let _ = self.take(")");
        } else if self.peek().is_some_and(|it| !it.is_whitespace()) {
            values.push(word::word(self));
        }
        Some(Assign { name, appends, values })
    }
}

fn flush(script: &mut Script, pipeline: &mut Pipeline) {
    let done = std::mem::take(pipeline);
    if !done.stages.is_empty() {
        script.pipelines.push(done);
    }
}
