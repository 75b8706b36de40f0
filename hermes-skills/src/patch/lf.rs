//! The text with its line ends reduced to LF, and the way back to the original.

use std::borrow::Cow;
use std::ops::Range;

use memchr::{memchr, memrchr};

use super::find::Wording;

/// A text in LF, borrowed if it was so all along.
///
/// CR LF pairs are reduced. A CR by itself is an ordinary blank character, unless the text has no line
/// feed at all: then its lines end in CR.
#[derive(Debug)]
pub(super) struct LfText<'a> {
    source: &'a str,
    text: Cow<'a, str>,
    /// Positions in `text` of the line feeds that had a carriage return before them.
    paired: Vec<usize>,
    /// Whether the lines end in CR alone.
    bare: bool,
}

impl<'a> LfText<'a> {
    pub(super) fn new(source: &'a str) -> Self {
        if memchr(b'\r', source.as_bytes()).is_none() {
            return Self { source, text: Cow::Borrowed(source), paired: Vec::new(), bare: false };
        }
        if memchr(b'\n', source.as_bytes()).is_none() {
            let text = Cow::Owned(source.replace('\r', "\n"));
            return Self { source, text, paired: Vec::new(), bare: true };
        }
        let (text, paired) = reduce(source);
        Self { source, text: Cow::Owned(text), paired, bare: false }
    }

    /// Returns the text in LF.
    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the original text.
    pub(super) fn source(&self) -> &'a str {
        self.source
    }

    /// Reads two arguments as the text is read.
    pub(super) fn wording(&self, old: &str, new: &str) -> Wording {
        let mut wording = Wording::new(old, new);
        if self.bare {
            wording.old = wording.old.replace('\r', "\n");
            wording.new = wording.new.replace('\r', "\n");
        }
        wording
    }

    /// Returns whether all lines end in LF.
    pub(super) fn is_plain(&self) -> bool {
        self.paired.is_empty() && !self.bare
    }

    /// Returns where a range of the LF text lies in the original.
    ///
    /// Before a line feed means before its carriage return, too.
    pub(super) fn source_range(&self, span: &Range<usize>) -> Range<usize> {
        self.source_offset(span.start)..self.source_offset(span.end)
    }

    /// Returns the line end in use at a position: that of the line it is on, else of the line before; and
    /// up to where that is so.
    pub(super) fn line_end(&self, at: usize) -> (usize, &'static str) {
        let bytes = self.text.as_bytes();
        let next = bytes.get(at..).and_then(|rest| memchr(b'\n', rest)).map(|feed| at + feed);
        let end = match next.or_else(|| memrchr(b'\n', bytes)) {
            _ if self.bare => "\r",
            Some(feed) if self.paired.binary_search(&feed).is_ok() => "\r\n",
            _ => "\n",
        };
        (next.unwrap_or(bytes.len()), end)
    }

    fn source_offset(&self, at: usize) -> usize {
        at + self.paired.partition_point(|&feed| feed < at)
    }
}

/// Reduces the CR LF pairs of an argument.
pub(super) fn to_lf(text: &str) -> Cow<'_, str> {
    if memchr(b'\r', text.as_bytes()).is_none() {
        return Cow::Borrowed(text);
    }
    Cow::Owned(reduce(text).0)
}

fn reduce(source: &str) -> (String, Vec<usize>) {
    let mut text = String::with_capacity(source.len());
    let mut paired = Vec::new();
    let mut parts = source.split("\r\n");
    text.push_str(parts.next().unwrap_or_default());
    for part in parts {
        paired.push(text.len());
        text.push('\n');
        text.push_str(part);
    }
    (text, paired)
}
