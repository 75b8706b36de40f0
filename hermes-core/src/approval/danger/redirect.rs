//! Reads redirections, and the here-documents whose text follows their line.

use super::{
    fold::Text,
    parse::Parser,
    tree::Redirect,
    word::{self, Word, literal},
};

/// A here-document whose body has not been read yet.
#[derive(Clone, Debug)]
pub(super) struct Pending {
    body: usize,
    delimiter: String,
    is_indented: bool,
    is_literal: bool,
}

impl Parser<'_> {
    /// Reads the redirections that come next.
    pub(super) fn redirects(&mut self) -> Vec<Redirect> {
        let mut all = Vec::new();
        self.blanks();
        while let Some(redirect) = self.redirect() {
            all.extend(redirect);
            self.blanks();
        }
        all
    }

    /// Reads a redirection, if one comes next; nothing if it only joins streams.
    pub(super) fn redirect(&mut self) -> Option<Vec<Redirect>> {
        let start = self.at;
        while self.peek().is_some_and(|it| it.is_ascii_digit()) {
            self.at = self.at.saturating_add(1);
        }
        if self.ahead(1) == Some('(') && matches!(self.peek(), Some('<' | '>')) {
            self.at = start;
            return None;
        }
        let joins = self.take("&>>") || self.take("&>") || self.take(">&");
        if joins || self.take(">>") || self.take(">|") || self.take(">") || self.take("<>") {
            self.blanks();
            let target = word::word(self);
            let is_stream = literal(&target)
                .is_some_and(|it| it.chars().all(|ch| ch.is_ascii_digit() || ch == '-'));
            let joins = joins && is_stream;
            return Some(if joins { Vec::new() } else { vec![Redirect::Out(target)] });
        }
        if self.take("<<<") {
            self.blanks();
            return Some(vec![Redirect::Text(word::word(self))]);
        }
        if self.take("<<") {
            return Some(vec![self.here()]);
        }
        if self.take("<&") {
            let _ = word::word(self);
            return Some(Vec::new());
        }
        if self.take("<") {
            self.blanks();
            return Some(vec![Redirect::In(word::word(self))]);
        }
        self.at = start;
        None
    }

    /// Reads the word after `<<`; its text follows the line.
    fn here(&mut self) -> Redirect {
        let is_indented = self.take("-");
        self.blanks();
        let start = self.at;
        let word = word::word(self);
        let raw = self.text.get(start..self.at).unwrap_or_default();
        let is_literal = raw.iter().any(|glyph| matches!(glyph.ch, '\'' | '"' | '\\'));
        let delimiter = literal(&word).unwrap_or_default();
        let body = self.bodies.len();
        self.bodies.push(Word::new());
        self.pending.push(Pending { body, delimiter, is_indented, is_literal });
        Redirect::Body(self.base.saturating_add(body))
    }

    /// Goes over a line end and the here-documents that begin after it.
    pub(super) fn newline(&mut self) {
        self.at = self.at.saturating_add(1);
        for pending in std::mem::take(&mut self.pending) {
            let Some((end, next)) = self.end_of(&pending) else { continue };
            let text: Text = self.text.get(self.at..end).unwrap_or_default().to_vec();
            self.at = next;
            let word =
                if pending.is_literal { word::quoted(&text) } else { self.inner_text(&text) };
            if let Some(body) = self.bodies.get_mut(pending.body) {
                *body = word;
            }
        }
    }

    /// Returns where the body of a here-document ends and where the script goes on. Without its last
    /// line it has no body, and what would be in it is read as commands.
    fn end_of(&mut self, pending: &Pending) -> Option<(usize, usize)> {
        let mut start = self.at;
        loop {
            let rest = self.text.get(start..).filter(|it| !it.is_empty())?;
            let length = rest.iter().position(|it| it.ch == '\n').unwrap_or(rest.len());
            self.search = self.search.saturating_sub(length.saturating_add(1));
            if self.search == 0 {
                self.is_cut = true;
                return None;
            }
            let line = rest.get(..length).unwrap_or_default().iter().map(|it| it.ch);
            let mut line: String = line.collect();
            if pending.is_indented {
                line = line.trim_start_matches('\t').to_owned();
            }
            let next = start.saturating_add(length).saturating_add(1);
            if line == pending.delimiter {
                return Some((start, next.saturating_sub(1)));
            }
            start = next;
        }
    }
}
