//! The lines of a canonical text that have something on them.

use std::ops::Range;

use memchr::{memchr_iter, memmem};

/// A canonical text without its blank lines.
#[derive(Debug)]
pub(super) struct Dense {
    /// The lines, with a line feed before the first and after each.
    text: String,
    lines: Vec<Line>,
}

/// Where a line starts here and in the canonical text.
#[derive(Debug, Clone, Copy)]
struct Line {
    start: u32,
    canon: u32,
}

impl Dense {
    #[expect(clippy::cast_possible_truncation, reason = "inexact search is limited to 32 MiB")]
    pub(super) fn new(canon: &str) -> Self {
        let mut dense = Self { text: String::with_capacity(canon.len() + 2), lines: Vec::new() };
        dense.text.push('\n');
        let mut start = 0;
        for end in memchr_iter(b'\n', canon.as_bytes()).chain([canon.len()]) {
            if start < end {
                dense.lines.push(Line { start: dense.text.len() as u32, canon: start as u32 });
                dense.text.push_str(canon.get(start..end).unwrap_or_default());
                dense.text.push('\n');
            }
            start = end + 1;
        }
        dense
    }

    /// Returns how many lines there are.
    pub(super) fn len(&self) -> usize {
        self.lines.len()
    }

    /// Returns all lines, with a line feed before the first and after each.
    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns a line, or nothing past the end.
    pub(super) fn line(&self, index: usize) -> &str {
        self.range(index).and_then(|range| self.text.get(range)).unwrap_or_default()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).map(|index| self.line(index))
    }

    /// Returns the bytes of a line, its line feed not included.
    pub(super) fn range(&self, index: usize) -> Option<Range<usize>> {
        let start = self.lines.get(index)?.start as usize;
        let next = self.lines.get(index + 1).map_or(self.text.len(), |next| next.start as usize);
        Some(start..next - 1)
    }

    /// Returns the line that a position belongs to.
    pub(super) fn line_at(&self, at: usize) -> usize {
        self.lines.partition_point(|line| line.start as usize <= at).saturating_sub(1)
    }

    /// Returns the canonical range from the first of `lines` to the end of the last.
    pub(super) fn canon_range(&self, lines: &Range<usize>) -> Option<Range<usize>> {
        let start = self.lines.get(lines.start)?.canon as usize;
        let last = lines.end.checked_sub(1)?;
        let last_start = self.lines.get(last)?.canon as usize;
        Some(start..last_start + self.range(last)?.len())
    }

    /// Yields the runs of whole lines that are equal to all lines of `pattern`, without overlaps.
    ///
    /// With the line feed before it the pattern fits at the start of a line only, so that no match has
    /// to be rejected.
    pub(super) fn find_all<'a>(
        &'a self,
        pattern: &'a Self,
    ) -> impl Iterator<Item = Range<usize>> + 'a {
        let finder = memmem::Finder::new(pattern.text.as_bytes());
        let mut from = 0;
        std::iter::from_fn(move || {
            let at = from + finder.find(self.text.as_bytes().get(from..)?)?;
            from = at + pattern.text.len() - 1;
            let first = self.line_at(at + 1);
            Some(first..first + pattern.len())
        })
    }
}
