//! Reads what stands between words: ends of sentences and lines, pipes, variables, escapes.

use super::{Disguised, Hiding, Tokenizer};
use crate::threat::{
    dictionary::{Disguise, WordId},
    variable::{self, Variable},
};

impl Tokenizer<'_> {
    pub(super) fn sign(&mut self, byte: u8) {
        let next = self.byte(self.at + 1);
        match byte {
            b'\n' => return self.new_line(),
            b'.' | b'-' if next.is_ascii_alphanumeric() || byte == b'-' && next == b'-' => {
                let after_word = self.at.checked_sub(1).is_some_and(|at| {
                    self.byte(at).is_ascii_alphanumeric() || self.byte(at) == byte
                });
                if !after_word {
                    return self.long_word(self.at);
                }
            }
            b'.' | b'!' | b'?' | b';' if self.ends_here(self.at) => self.end_sentence(),
            b':' | b',' | b'(' | b'"' | b'`' | b'\'' | b'*' | b'[' | b'#' => self.fresh = true,
            b'|' if next != b'|' && !self.in_table() => self.push_sign(self.signs.pipe),
            b'&' if next == b'&' => self.push_sign(self.signs.then),
            b'>' if next == b'>' => self.push_sign(self.signs.append),
            b'>' => self.push_sign(self.signs.redirect),
            b'<' if next == b'<' => self.push_sign(self.signs.here),
            b'$' => return self.variable(),
            _ => {}
        }
        if matches!(byte, b'%' | b'&' | b'\\') && self.escaped_line != Some(self.row_start) {
            self.escape(byte);
        }
        self.at += 1;
    }

    /// Returns whether the row is one of a table, in which `|` parts the cells.
    fn in_table(&mut self) -> bool {
        if let Some((row, is_table)) = self.table_row
            && row == self.row_start
        {
            return is_table;
        }
        let rest = self.bytes.get(self.row_start..).unwrap_or_default();
        let length = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        let row = rest.get(..length).unwrap_or_default().trim_ascii();
        let is_table = 1 < row.len() && row.starts_with(b"|") && row.ends_with(b"|");
        self.table_row = Some((self.row_start, is_table));
        is_table
    }

    /// Returns whether the sign at `at` ends a sentence; the dots of an ellipsis do not.
    fn ends_here(&self, at: usize) -> bool {
        let in_ellipsis = at.checked_sub(1).is_some_and(|before| self.byte(before) == b'.');
        !in_ellipsis && self.blank_after(at + 1)
    }

    /// Returns whether a blank follows, closing marks apart.
    pub(super) fn blank_after(&self, at: usize) -> bool {
        let rest = self.bytes.get(at..).unwrap_or_default();
        let closing = |byte: &&u8| matches!(byte, b'*' | b'"' | b'\'' | b')' | b'`' | b'_');
        let marks = rest.iter().take(4).take_while(closing).count();
        rest.get(marks).is_none_or(u8::is_ascii_whitespace)
    }

    pub(super) fn push_sign(&mut self, id: Option<WordId>) {
        let at = self.at;
        self.push(id, at..at + 1);
        self.fresh = true;
    }

    pub(super) fn new_line(&mut self) {
        let continued = self.at.checked_sub(1).is_some_and(|at| self.byte(at) == b'\\');
        self.at += 1;
        self.row_start = self.at;
        self.fresh = true;
        if continued {
            return;
        }
        self.line += 1;
        self.line_start = self.at;
        self.hosts = None;
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let next = rest.iter().find(|byte| !matches!(byte, b' ' | b'\t')).copied();
        if next.is_none_or(|byte| matches!(byte, b'\n' | b'\r' | b'#' | b'-' | b'+' | b'|')) {
            self.end_sentence();
        }
    }

    pub(super) fn variable(&mut self) {
        let found = Variable::at(self.text, self.at);
        let Some(Variable { name, end }) = found else {
            self.at += 1;
            return;
        };
        let start = self.at;
        self.at = end;
        self.count(u64::MAX, None);
        if !variable::is_secret_name(name) {
            return;
        }
        let text = self.text;
        let (line_start, line_hosts) = (self.line_start, self.hosts.take());
        let hosts = line_hosts.unwrap_or_else(|| variable::Hosts::on_line(text, line_start));
        let sign = if variable::authenticates(text, start, name, &hosts) {
            self.signs.credential
        } else {
            self.signs.secret
        };
        self.hosts = Some(hosts);
        self.push(sign, start..end);
    }

    pub(super) fn escape(&mut self, byte: u8) {
        let next = self.byte(self.at + 1);
        let escapes = match byte {
            b'%' => next.is_ascii_hexdigit() && self.byte(self.at + 2).is_ascii_hexdigit(),
            b'&' => next == b'#',
            _ => {
                matches!(next, b'x' | b'u' | b'0' | b'1')
                    && self.byte(self.at + 2).is_ascii_alphanumeric()
            }
        };
        if escapes {
            self.escaped_line = Some(self.row_start);
            self.disguise_line(Hiding::Escaped);
        }
    }

    pub(super) fn disguise(&mut self, disguise: Disguise) {
        if self.disguised_line == Some(self.row_start) {
            return;
        }
        self.disguised_line = Some(self.row_start);
        self.disguise_line(match disguise {
            Disguise::Reversed => Hiding::Reversed,
            Disguise::Rotated => Hiding::Rotated,
        });
    }

    pub(super) fn disguise_line(&mut self, kind: Hiding) {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let length = rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
        let range = self.row_start..self.at + length;
        // One after the other they are one text, which may go on over the ends of lines.
        match self.tokens.disguised.last_mut() {
            Some(last) if last.kind == kind && last.range.end + 1 == range.start => {
                last.range.end = range.end;
            }
            _ => self.tokens.disguised.push(Disguised { kind, range }),
        }
    }
}
