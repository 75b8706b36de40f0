//! What commands write, as far as it can be told without running them.

use super::{
    expand::Arg,
    fold::{Glyph, Text, placed, span, string},
    follow::option,
    place::{self, Place},
    rule::{has_flag, lists},
    table::{DECODES, FETCHES},
    walk::{Data, Taint, Walk, joined},
    word::escape,
};

impl Walk {
    /// Returns what the program called `name` writes, and remembers the files that it fetches.
    pub(super) fn output(&mut self, name: &str, args: &[Arg], input: Data) -> Data {
        match name {
            "echo" => return echo(args),
            "printf" => return self.printf(args),
            "cat" | "tac" | "nl" | "head" | "tail" | "bat" => return self.cat(name, args, input),
            "tee" => {
                for arg in args {
                    self.keep(arg, input.clone());
                }
                return input;
            }
            "env" | "printenv" if args.iter().all(|arg| arg.word.starts_with('-')) => {
                return Data::tainted(Taint { is_secret: true, ..Taint::default() });
            }
            "which" | "type" | "basename" => {
                return args.last().map(|arg| Data::of(arg.text.clone())).unwrap_or_default();
            }
            "rev" => {
                let text = input.text.map(|mut text| {
                    text.reverse();
                    text
                });
                return decoded(text, input.taint);
            }
            "tr" => return decoded(translate(args, input.text), input.taint),
            "true" | ":" | "mkdir" | "touch" | "rm" => return Data::of(Text::new()),
            _ => {}
        }
        if lists(FETCHES, name) {
            return self.fetch(name, args, input.taint);
        }
        let mut taint = args.iter().fold(input.taint, |taint, arg| {
            let content = self.content(arg);
            taint.with(arg.taint).with(content.taint)
        });
        taint.is_secret |=
            args.iter().any(|arg| place::is(arg, Place::Secret, self.folder.as_deref()));
        let decodes = DECODES.iter().any(|(names, flags)| {
            lists(names, name) && (flags.is_empty() || has_flag(args, flags))
        });
        if decodes {
            let source = args.iter().map(|arg| self.content(arg)).find(|it| it.text.is_some());
            let text = source.and_then(|it| it.text).or(input.text);
            let plain = text.and_then(|text| match name {
                "xxd" => from_hex(&text),
                _ if name.contains("base64") || name == "openssl" => decode(&text),
                _ => None,
            });
            return decoded(plain, taint);
        }
        Data::tainted(taint)
    }

    fn printf(&mut self, args: &[Arg]) -> Data {
        let [format, rest @ ..] = args else { return Data::default() };
        if format.word == "-v" {
            if let [name, rest @ ..] = rest {
                let text = formatted(rest);
                self.variables.insert(name.word.clone(), text);
            }
            return Data::of(Text::new());
        }
        formatted(args)
    }

    fn cat(&mut self, name: &str, args: &[Arg], input: Data) -> Data {
        let files: Vec<&Arg> = args.iter().filter(|arg| !arg.word.starts_with('-')).collect();
        let is_cut = name != "cat" && name != "bat";
        let mut data = if files.is_empty() { input } else { Data::of(Text::new()) };
        for file in files {
            let content = self.content(file);
            data.taint = data.taint.with(content.taint);
            data.text = data.text.zip(content.text).map(|(mut before, text)| {
                before.extend(text);
                before
            });
        }
        if is_cut && data.text.as_ref().is_some_and(Vec::is_empty) {
            data.text = None;
        }
        data
    }

    fn fetch(&mut self, name: &str, args: &[Arg], taint: Taint) -> Data {
        let remote = Data::tainted(Taint { is_remote: true, ..taint });
        if let Some(file) = option(args, "-o --output -O --output-document -OutFile -outfile")
            .and_then(|it| it.text)
            .filter(|it| !string(it).contains("://"))
        {
            self.write(&[Arg::of(file)], &remote);
        }
        if name == "wget" || has_flag(args, "-O --remote-name") {
            let address = args.iter().map(|arg| arg.word.as_str()).find(|it| it.contains('/'));
            let file = address.and_then(|it| it.rsplit('/').next()).unwrap_or_default();
            let file = file.split(['?', '#']).next().unwrap_or_default();
            self.keep(&Arg::of(placed(file, (0, 0))), remote.clone());
        }
        remote
    }
}

fn decoded(text: Option<Text>, taint: Taint) -> Data {
    Data { text, taint: Taint { is_decoded: true, ..taint } }
}

fn echo(args: &[Arg]) -> Data {
    let is_option = |arg: &&Arg| matches!(arg.word.as_str(), "-n" | "-e" | "-E" | "-ne" | "-en");
    let count = args.iter().take_while(is_option).count();
    let has_escapes = args.iter().take(count).any(|arg| arg.word.contains('e'));
    let mut data = joined(args.get(count..).unwrap_or_default());
    if has_escapes {
        data.text = data.text.map(|text| unescaped(&text));
    }
    data
}

/// Replaces escapes such as `\n` and `\x72`.
fn unescaped(text: &[Glyph]) -> Text {
    let mut plain = Text::new();
    let mut at = 0_usize;
    while let Some(glyph) = text.get(at).copied() {
        at = at.saturating_add(1);
        if glyph.ch == '\\' {
            let rest: String = text.iter().skip(at).take(9).map(|it| it.ch).collect();
            if let Some((ch, length)) = escape(&rest) {
                at = at.saturating_add(length);
                plain.push(Glyph { ch, ..glyph });
                continue;
            }
        }
        plain.push(glyph);
    }
    plain
}

/// Fills the places of a format, each of which takes one argument. The format is used again while
/// there are arguments.
fn formatted(args: &[Arg]) -> Data {
    let [format, rest @ ..] = args else { return Data::default() };
    let format_text = unescaped(&format.text);
    let mut rest = rest.iter();
    let mut data = Data::of(Text::new());
    data.taint = args.iter().fold(Taint::default(), |taint, arg| taint.with(arg.taint));
    loop {
        let before = rest.len();
        let mut text = data.text.take().unwrap_or_default();
        let mut glyphs = format_text.iter().copied();
        while let Some(glyph) = glyphs.next() {
            if glyph.ch != '%' {
                text.push(glyph);
                continue;
            }
            let kind = glyphs.by_ref().find(|it| it.ch.is_ascii_alphabetic() || it.ch == '%');
            match kind.map(|it| it.ch) {
                Some('%') => text.push(glyph),
                Some('b') => {
                    text.extend(rest.next().map(|arg| unescaped(&arg.text)).unwrap_or_default());
                }
                _ => text.extend(rest.next().map(|arg| arg.text.clone()).unwrap_or_default()),
            }
        }
        data.text = Some(text);
        if rest.len() == 0 || rest.len() == before {
            return data;
        }
    }
}

/// Replaces characters as `tr` does with two sets.
fn translate(args: &[Arg], input: Option<Text>) -> Option<Text> {
    let text = input?;
    let sets: Vec<String> =
        args.iter().filter(|arg| !arg.word.starts_with('-')).map(|arg| set(&arg.word)).collect();
    if has_flag(args, "-d --delete") {
        let gone = sets.first()?;
        return Some(text.into_iter().filter(|glyph| !gone.contains(glyph.ch)).collect());
    }
    let [from, to] = sets.as_slice() else { return None };
    let to: Vec<char> = to.chars().collect();
    let last = to.last().copied()?;
    let map = |ch: char| match from.chars().position(|it| it == ch) {
        Some(at) => to.get(at).copied().unwrap_or(last),
        None => ch,
    };
    Some(text.into_iter().map(|glyph| Glyph { ch: map(glyph.ch), ..glyph }).collect())
}

/// Writes out the ranges of a set.
fn set(text: &str) -> String {
    let plain = text.replace("[:upper:]", "A-Z").replace("[:lower:]", "a-z");
    let chars: Vec<char> = plain.chars().take(256).collect();
    let mut all = String::new();
    let mut at = 0_usize;
    while let Some(first) = chars.get(at).copied() {
        let last = chars.get(at.saturating_add(2)).copied();
        match (chars.get(at.saturating_add(1)), last) {
            (Some('-'), Some(last)) if first.is_ascii() && last.is_ascii() => {
                all.extend(first..=last);
                at = at.saturating_add(3);
            }
            _ => {
                all.push(first);
                at = at.saturating_add(1);
            }
        }
    }
    all
}

/// Decodes Base64, `None` if it is none.
pub(super) fn decode(text: &[Glyph]) -> Option<Text> {
    let (mut bits, mut count, mut bytes) = (0_u32, 0_u32, Vec::new());
    for glyph in text.iter().filter(|it| !it.ch.is_whitespace() && it.ch != '=') {
        let value = match glyph.ch {
            'A'..='Z' => u32::from(glyph.ch).saturating_sub(u32::from('A')),
            'a'..='z' => u32::from(glyph.ch).saturating_sub(u32::from('a')).saturating_add(26),
            '0'..='9' => u32::from(glyph.ch).saturating_sub(u32::from('0')).saturating_add(52),
            '+' | '-' => 62,
            '/' | '_' => 63,
            _ => return None,
        };
        bits = ((bits << 6) | value) & 0xff_ffff;
        count = count.saturating_add(6);
        if 8 <= count {
            count = count.saturating_sub(8);
            bytes.push(u8::try_from((bits >> count) & 0xff).unwrap_or_default());
        }
    }
    readable(text, &bytes)
}

fn from_hex(text: &[Glyph]) -> Option<Text> {
    let digits: Vec<u32> = text.iter().filter_map(|glyph| glyph.ch.to_digit(16)).collect();
    let pairs = digits.chunks_exact(2);
    let bytes: Vec<u8> = pairs
        .filter_map(|pair| match pair {
            [high, low] => u8::try_from((high << 4) | low).ok(),
            _ => None,
        })
        .collect();
    readable(text, &bytes)
}

fn readable(source: &[Glyph], bytes: &[u8]) -> Option<Text> {
    let place = span(source)?;
    Some(placed(&String::from_utf8_lossy(bytes), place))
}
