//! Server-sent events, decoded from bytes as they come. Pure: no input or output of its own.

use std::borrow::Cow;

use serde::de::IgnoredAny;
use serde_json::Value;

/// Turns bytes into the data of events, whatever the pieces they come in.
///
/// It takes line ends of all three kinds, skips comments, replaces broken UTF-8, and gives out a
/// last event that lacks its empty line. An `error:` field, which older llama.cpp servers send, comes
/// out as `{"error": …}`. Lines that are of no field at all are kept apart, up to a limit.
#[derive(Debug, Default)]
pub(crate) struct SseDecoder {
    line: Vec<u8>,
    data: String,
    has_data: bool,
    ends_with_cr: bool,
    has_begun: bool,
    /// The lines that are of no field, as of a text that is no stream.
    stray: String,
}

impl SseDecoder {
    /// The most bytes of one event, whatever lines it has; what is longer is none of a model.
    pub(crate) const EVENT_LIMIT: usize = 64 * 1024 * 1024;

    /// The most bytes that are kept of lines that are of no field.
    const STRAY_LIMIT: usize = 4096;
    /// The fields of an event, beside that of an error.
    const FIELDS: [&'static str; 4] = ["data", "event", "id", "retry"];

    /// Takes `bytes` and hands the data of each event they complete to `emit`, until it says stop.
    ///
    /// # Errors
    ///
    /// The error of `emit`.
    pub(crate) fn push<E>(
        &mut self,
        bytes: &[u8],
        mut emit: impl FnMut(&str) -> Result<(), E>,
    ) -> Result<(), E> {
        // Checked once for all lines, unless a character is cut.
        let checked = str::from_utf8(bytes).ok();
        let mut rest = bytes;
        while let Some(at) = memchr::memchr2(b'\n', b'\r', rest) {
            let (head, tail) = rest.split_at(at);
            let is_second_half = head.is_empty() && self.line.is_empty() && self.ends_with_cr;
            let end = tail.first().copied().unwrap_or_default();
            rest = tail.get(1..).unwrap_or_default();
            self.ends_with_cr = end == b'\r';
            if is_second_half && end == b'\n' {
                continue;
            }
            if let Some((data, after)) = self.whole_event(head, rest) {
                let line_end = bytes.len() - tail.len();
                rest = after;
                self.has_begun = true;
                match checked.and_then(|it| it.get(line_end - data.len()..line_end)) {
                    Some(data) => emit(data)?,
                    None => emit(&text(data))?,
                }
            } else if self.line.is_empty() {
                self.end_line(head, &mut emit)?;
            } else {
                let mut line = std::mem::take(&mut self.line);
                line.extend_from_slice(head);
                self.end_line(&line, &mut emit)?;
                line.clear();
                self.line = line;
            }
        }
        if !rest.is_empty() {
            self.ends_with_cr = false;
            self.line.extend_from_slice(rest);
        }
        Ok(())
    }

    /// Ends the input and hands out what is left of an event.
    ///
    /// # Errors
    ///
    /// The error of `emit`.
    pub(crate) fn finish<E>(
        &mut self,
        mut emit: impl FnMut(&str) -> Result<(), E>,
    ) -> Result<(), E> {
        let line = std::mem::take(&mut self.line);
        if !line.is_empty() {
            self.end_line(&line, &mut emit)?;
        }
        self.end_line(b"", &mut emit)
    }

    /// Returns whether an unfinished event is longer than any of a model.
    pub(crate) fn is_over_limit(&self) -> bool {
        Self::EVENT_LIMIT < self.line.len().saturating_add(self.data.len())
    }

    /// Returns the beginning of what came beside all events, if that is a text and no field or half of
    /// one.
    pub(crate) fn stray(&self) -> Option<&str> {
        let text = self.stray.trim();
        (!text.is_empty()).then_some(text)
    }

    /// Returns the data of an event that is all in `line`, and what comes after its empty line. That is
    /// how most events come, and it saves a copy.
    #[inline]
    fn whole_event<'a>(&self, line: &'a [u8], rest: &'a [u8]) -> Option<(&'a [u8], &'a [u8])> {
        if self.has_data || !self.line.is_empty() || self.ends_with_cr {
            return None;
        }
        let data = line.strip_prefix(b"data:")?;
        Some((data.strip_prefix(b" ").unwrap_or(data), rest.strip_prefix(b"\n")?))
    }

    fn end_line<E>(
        &mut self,
        line: &[u8],
        emit: &mut impl FnMut(&str) -> Result<(), E>,
    ) -> Result<(), E> {
        let line = match line.strip_prefix(b"\xEF\xBB\xBF") {
            Some(line) if !self.has_begun => line,
            _ => line,
        };
        self.has_begun = true;
        if line.is_empty() {
            let outcome =
                if std::mem::take(&mut self.has_data) { emit(&self.data) } else { Ok(()) };
            self.data.clear();
            return outcome;
        }
        if let Some(value) = value_of(b"data", line) {
            if self.has_data {
                self.data.push('\n');
            }
            self.data.push_str(&text(value));
            self.has_data = true;
        } else if let Some(value) = value_of(b"error", line) {
            self.data.clear();
            self.data.push_str("{\"error\":");
            self.data.push_str(&as_json(&text(value)));
            self.data.push('}');
            self.has_data = true;
        } else {
            self.note(line);
        }
        Ok(())
    }

    /// Keeps a line that is of no field.
    fn note(&mut self, line: &[u8]) {
        let name = line.split(|byte| *byte == b':').next().unwrap_or_default();
        let is_of_field = |field: &&str| {
            // A stream that was cut may end in half a field.
            field.as_bytes() == name || (name == line && field.as_bytes().starts_with(line))
        };
        if name.is_empty() || Self::FIELDS.iter().any(is_of_field) {
            return;
        }
        let room = Self::STRAY_LIMIT.saturating_sub(self.stray.len());
        if 0 < room {
            self.stray.push_str(&text(line.get(..room).unwrap_or(line)));
            self.stray.push('\n');
        }
    }
}

/// Returns JSON as it is, and any other text as a JSON string.
fn as_json(text: &str) -> Cow<'_, str> {
    match serde_json::from_str::<IgnoredAny>(text) {
        Ok(_) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(Value::from(text).to_string()),
    }
}

/// Returns the value of a line that is the field `name`.
#[inline]
fn value_of<'a>(name: &[u8], line: &'a [u8]) -> Option<&'a [u8]> {
    let rest = line.strip_prefix(name)?;
    if rest.is_empty() {
        return Some(rest);
    }
    let value = rest.strip_prefix(b":")?;
    Some(value.strip_prefix(b" ").unwrap_or(value))
}

/// Returns `bytes` as text, with what is broken replaced. Checking first is many times faster than
/// looking for what to replace.
#[inline]
fn text(bytes: &[u8]) -> Cow<'_, str> {
    str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    fn decode<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<String> {
        let mut decoder = SseDecoder::default();
        let mut events = Vec::new();
        let mut emit = |data: &str| {
            events.push(data.to_owned());
            Ok::<(), Infallible>(())
        };
        for piece in pieces {
            decoder.push(piece, &mut emit).unwrap();
        }
        decoder.finish(&mut emit).unwrap();
        events
    }

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        assert_eq!(decode([text.as_bytes()]), expected);
        for at in 0..text.len() {
            let (head, tail) = text.as_bytes().split_at(at);
            assert_eq!(decode([head, tail]), expected, "split at {at}");
        }
        assert_eq!(decode(text.as_bytes().chunks(1)), expected);
    }

    #[test]
    fn line_ends_may_be_of_any_kind() {
        check("data: a\n\ndata: b\r\n\r\ndata: c\r\rdata: d", &["a", "b", "c", "d"]);
    }

    #[test]
    fn comments_and_other_fields_are_skipped() {
        check(": keep-alive\n\nevent: x\nid: 1\ndata:a\n\n\n: more\n", &["a"]);
    }

    #[test]
    fn several_data_lines_are_one_event() {
        check("data: a\r\ndata: b\r\n\r\n", &["a\nb"]);
    }

    #[test]
    fn characters_may_be_split() {
        check("\u{feff}data: 東京 🚀\n\n", &["東京 🚀"]);
    }

    #[test]
    fn an_error_field_becomes_an_error_object() {
        check("error: {\"code\":500}\n\n", &["{\"error\":{\"code\":500}}"]);
        check("error: it \"broke\"\n\n", &["{\"error\":\"it \\\"broke\\\"\"}"]);
    }

    #[track_caller]
    fn check_stray(text: &str, expected: Option<&str>) {
        for pieces in [text.len().max(1), 1] {
            let mut decoder = SseDecoder::default();
            let mut ignore = |_: &str| Ok::<(), Infallible>(());
            for piece in text.as_bytes().chunks(pieces) {
                decoder.push(piece, &mut ignore).unwrap();
            }
            decoder.finish(&mut ignore).unwrap();
            assert_eq!(decoder.stray(), expected, "{text:?}");
        }
    }

    #[test]
    fn what_is_of_no_field_is_kept_apart() {
        check_stray("upstream timed out", Some("upstream timed out"));
        check_stray(": hi\n\nBad: é\r\nway\n", Some("Bad: é\nway"));
        check_stray("data: {}\n\nevent: x\nid\nretry:1\n\n: bye\n\ndat", None);
        check_stray("date of today", Some("date of today"));
        check_stray("", None);
    }

    #[test]
    fn little_is_kept_of_what_is_of_no_field() {
        let mut decoder = SseDecoder::default();
        let text = "so many words\n".repeat(10_000);

        decoder.push(text.as_bytes(), |_| Ok::<(), Infallible>(())).unwrap();

        assert!(decoder.stray().unwrap().len() <= SseDecoder::STRAY_LIMIT + 1);
    }

    #[test]
    fn broken_characters_are_replaced() {
        assert_eq!(decode([&b"data: a\xff\n\n"[..]]), ["a\u{fffd}"]);
    }
}
