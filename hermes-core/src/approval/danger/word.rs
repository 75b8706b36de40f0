//! Takes a word apart: quotes, escapes, variables and commands within it.

use super::{
    fold::{Glyph, Text},
    parse::{End, Parser},
    tree::Script,
};

/// A word as it was written.
pub(super) type Word = Vec<Piece>;

#[derive(Clone, Debug)]
pub(super) enum Piece {
    Text {
        glyph: Glyph,
        is_quoted: bool,
    },
    /// A variable, with what follows its name between braces.
    Variable {
        name: String,
        tail: Word,
        is_quoted: bool,
        place: (usize, usize),
    },
    /// A command whose output stands here.
    Command {
        script: Script,
        is_quoted: bool,
        place: (usize, usize),
    },
    /// A command whose output is a file with its name here.
    Process {
        script: Script,
        place: (usize, usize),
    },
}

/// Returns the text of a word in which nothing has to be put in.
pub(super) fn literal(word: &[Piece]) -> Option<String> {
    word.iter()
        .map(|piece| match piece {
            Piece::Text { glyph, .. } => Some(glyph.ch),
            _ => None,
        })
        .collect()
}

/// Returns a word that is `text` and no more.
pub(super) fn quoted(text: &[Glyph]) -> Word {
    text.iter().map(|glyph| Piece::Text { glyph: *glyph, is_quoted: true }).collect()
}

/// Reads a word up to a blank or an operator.
pub(super) fn word(parser: &mut Parser<'_>) -> Word {
    let mut word = Word::new();
    while let Some(ch) = parser.peek() {
        match ch {
            '<' | '>' if parser.ahead(1) == Some('(') => process(parser, &mut word),
            ' ' | '\t' | '\n' | ';' | '|' | '&' | '(' | ')' | '<' | '>' => break,
            _ => piece(parser, &mut word),
        }
    }
    word
}

/// Reads everything as between double quotes.
pub(super) fn text(parser: &mut Parser<'_>) -> Word {
    let mut word = Word::new();
    while parser.peek().is_some() {
        quoted_piece(parser, &mut word);
    }
    word
}

fn push(word: &mut Word, glyph: Option<Glyph>, is_quoted: bool) {
    word.extend(glyph.map(|glyph| Piece::Text { glyph, is_quoted }));
}

/// Returns whether a quote begins here that has an end, and goes over its sign.
fn opens(parser: &mut Parser<'_>) -> Option<usize> {
    let start = parser.text.get(parser.at)?.start;
    if parser.plain.contains(&start) {
        return None;
    }
    parser.at = parser.at.saturating_add(1);
    Some(start)
}

fn piece(parser: &mut Parser<'_>, word: &mut Word) {
    match parser.peek() {
        Some('\\') => {
            let is_drive = ends_with_colon(word) && parser.ahead(1).is_none_or(char::is_whitespace);
            if is_drive {
                push(word, parser.next(), true);
            } else if !parser.take("\\\n") {
                let sign = parser.next();
                let next = parser.next();
                push(word, next.or(sign), true);
            }
        }
        Some('\'') => match opens(parser) {
            Some(start) => single(parser, word, start),
            None => push(word, parser.next(), false),
        },
        Some('"') => match opens(parser) {
            Some(start) => double(parser, word, start),
            None => push(word, parser.next(), false),
        },
        Some('`') => backticks(parser, word, false),
        Some('$') => dollar(parser, word, false),
        _ => push(word, parser.next(), false),
    }
}

fn quoted_piece(parser: &mut Parser<'_>, word: &mut Word) {
    match parser.peek() {
        Some('\\') => {
            if parser.take("\\\n") {
                return;
            }
            if parser.ahead(1) == Some('"') && ends_drive(parser, word) {
                push(word, parser.next(), true);
                return;
            }
            if matches!(parser.ahead(1), Some('$' | '`' | '"' | '\\')) {
                parser.at = parser.at.saturating_add(1);
            }
            push(word, parser.next(), true);
        }
        Some('`') => backticks(parser, word, true),
        Some('$') => dollar(parser, word, true),
        _ => push(word, parser.next(), true),
    }
}

/// Returns whether the backslash and quote that come next are the ends of `C:\` and of the quoted text.
fn ends_drive(parser: &Parser<'_>, word: &[Piece]) -> bool {
    ends_with_colon(word) && parser.ahead(2).is_none_or(char::is_whitespace)
}

fn ends_with_colon(word: &[Piece]) -> bool {
    matches!(word.last(), Some(Piece::Text { glyph, .. }) if glyph.ch == ':')
}

fn single(parser: &mut Parser<'_>, word: &mut Word, start: usize) {
    // An empty text still makes a word.
    while let Some(glyph) = parser.next() {
        if glyph.ch == '\'' {
            return;
        }
        word.push(Piece::Text { glyph, is_quoted: true });
    }
    parser.unclosed.get_or_insert(start);
}

fn double(parser: &mut Parser<'_>, word: &mut Word, start: usize) {
    while let Some(ch) = parser.peek() {
        if ch == '"' {
            parser.at = parser.at.saturating_add(1);
            return;
        }
        quoted_piece(parser, word);
    }
    parser.unclosed.get_or_insert(start);
}

fn backticks(parser: &mut Parser<'_>, word: &mut Word, is_quoted: bool) {
    let Some(start) = opens(parser) else {
        push(word, parser.next(), is_quoted);
        return;
    };
    let mut text = Text::new();
    loop {
        let Some(mut glyph) = parser.next() else {
            parser.unclosed.get_or_insert(start);
            return;
        };
        if glyph.ch == '`' {
            break;
        }
        if glyph.ch == '\\' && matches!(parser.peek(), Some('`' | '\\' | '$')) {
            glyph = parser.next().unwrap_or(glyph);
        }
        text.push(glyph);
    }
    let script = parser.inner(&text);
    word.push(Piece::Command { script, is_quoted, place: (start, place(parser).0) });
}

/// Returns where the parser is in the command.
fn place(parser: &Parser<'_>) -> (usize, usize) {
    let here = parser.text.get(parser.at).map(|glyph| glyph.start);
    let here = here.or_else(|| parser.text.last().map(|glyph| glyph.end)).unwrap_or_default();
    (here, here)
}

/// Reads what stands in brackets as a command whose output it is, as in PowerShell.
pub(super) fn brackets(parser: &mut Parser<'_>) -> Word {
    let start = place(parser).0;
    parser.at = parser.at.saturating_add(1);
    let script = parser.list(End::Paren);
    let place = (start, place(parser).0);
    vec![Piece::Command { script, is_quoted: false, place }]
}

fn process(parser: &mut Parser<'_>, word: &mut Word) {
    let start = place(parser).0;
    parser.at = parser.at.saturating_add(2);
    let script = parser.list(End::Paren);
    word.push(Piece::Process { script, place: (start, place(parser).0) });
}

fn dollar(parser: &mut Parser<'_>, word: &mut Word, is_quoted: bool) {
    let start = place(parser).0;
    match parser.ahead(1) {
        Some('\'') if !is_quoted => {
            parser.at = parser.at.saturating_add(2);
            escapes(parser, word, start);
        }
        Some('"') if !is_quoted => parser.at = parser.at.saturating_add(1),
        Some('(') => {
            parser.at = parser.at.saturating_add(2);
            let script = parser.list(End::Paren);
            word.push(Piece::Command { script, is_quoted, place: (start, place(parser).0) });
        }
        Some('{') => {
            parser.at = parser.at.saturating_add(2);
            braces(parser, word, is_quoted, start);
        }
        Some(ch) if ch.is_ascii_alphabetic() || ch == '_' => {
            parser.at = parser.at.saturating_add(1);
            let name = name(parser);
            word.push(variable(name, Word::new(), is_quoted, (start, place(parser).0)));
        }
        Some(ch) if ch.is_ascii_digit() || "@*#?$!-".contains(ch) => {
            parser.at = parser.at.saturating_add(2);
            word.push(variable(ch.to_string(), Word::new(), is_quoted, (start, place(parser).0)));
        }
        _ => push(word, parser.next(), is_quoted),
    }
}

fn variable(name: String, tail: Word, is_quoted: bool, place: (usize, usize)) -> Piece {
    Piece::Variable { name, tail, is_quoted, place }
}

fn name(parser: &mut Parser<'_>) -> String {
    let mut name = String::new();
    while let Some(ch) = parser.peek().filter(|it| it.is_ascii_alphanumeric() || *it == '_') {
        name.push(ch);
        parser.at = parser.at.saturating_add(1);
    }
    name
}

fn braces(parser: &mut Parser<'_>, word: &mut Word, is_quoted: bool, start: usize) {
    let prefix = parser.peek().filter(|it| "!#".contains(*it) && parser.ahead(1) != Some('}'));
    if prefix.is_some() {
        parser.at = parser.at.saturating_add(1);
    }
    let mut name = name(parser);
    if name.is_empty() && parser.peek().is_some_and(|it| "@*#?$!-".contains(it)) {
        name.extend(parser.next().map(|glyph| glyph.ch));
    }
    let mut tail = Word::new();
    parser.depth = parser.depth.saturating_add(1);
    while let Some(ch) = parser.peek() {
        if ch == '}' {
            parser.at = parser.at.saturating_add(1);
            break;
        }
        if 64 < parser.depth {
            parser.is_cut = true;
            parser.at = parser.text.len();
        }
        piece(parser, &mut tail);
    }
    parser.depth = parser.depth.saturating_sub(1);
    if let Some(prefix) = prefix {
        name.insert(0, prefix);
    }
    word.push(variable(name, tail, is_quoted, (start, place(parser).0)));
}

/// Reads `$'…'`, in which characters may be written by their numbers.
fn escapes(parser: &mut Parser<'_>, word: &mut Word, start: usize) {
    while let Some(glyph) = parser.next() {
        if glyph.ch == '\'' {
            return;
        }
        if glyph.ch != '\\' {
            word.push(Piece::Text { glyph, is_quoted: true });
            continue;
        }
        let rest: String = (0..9).map_while(|by| parser.ahead(by)).collect();
        let Some((ch, length)) = escape(&rest) else { continue };
        parser.at = parser.at.saturating_add(length);
        word.push(Piece::Text { glyph: Glyph { ch, ..glyph }, is_quoted: true });
    }
    parser.unclosed.get_or_insert(start);
}

/// Returns the character that an escape stands for, given what follows its backslash, and how many
/// characters of that belong to it.
pub(super) fn escape(rest: &str) -> Option<(char, usize)> {
    let first = rest.chars().next()?;
    let number = |skip: usize, most: usize, radix: u32| {
        let digits: String =
            rest.chars().skip(skip).take(most).take_while(|it| it.is_digit(radix)).collect();
        let ch = u32::from_str_radix(&digits, radix).ok().and_then(char::from_u32)?;
        Some((ch, skip.saturating_add(digits.len())))
    };
    match first {
        'x' => number(1, 2, 16),
        'u' => number(1, 4, 16),
        'U' => number(1, 8, 16),
        '0'..='7' => number(0, if first == '0' { 4 } else { 3 }, 8),
        'n' | 'r' => Some(('\n', 1)),
        't' => Some(('\t', 1)),
        other => Some((other, 1)),
    }
}
