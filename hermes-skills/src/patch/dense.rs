//! The lines of a canonical text that have something on them.

use std::ops::Range;

use memchr::{memchr_iter, memmem};

/// A canonical text without its blank lines.
#[derive(Debug)]
pub(super) struct Dense {
    text: String,
    /// For every line its range here, and where it starts in the canonical text.
    lines: Vec<(Range<usize>, usize)>,
}

impl Dense {
    pub(super) fn new(canon: &str) -> Self {
        let mut dense = Self { text: String::with_capacity(canon.len()), lines: Vec::new() };
        let mut start = 0;
        for end in memchr_iter(b'\n', canon.as_bytes()).chain([canon.len()]) {
            if start < end {
                let at = dense.text.len();
                dense.text.push_str(canon.get(start..end).unwrap_or_default());
                dense.lines.push((at..dense.text.len(), start));
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

    /// Returns a line, or nothing past the end.
    pub(super) fn line(&self, index: usize) -> &str {
        self.lines
            .get(index)
            .and_then(|(range, _)| self.text.get(range.clone()))
            .unwrap_or_default()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        self.lines.iter().map(|(range, _)| self.text.get(range.clone()).unwrap_or_default())
    }

    /// Returns the canonical range from the first of `lines` to the end of the last.
    pub(super) fn canon_range(&self, lines: &Range<usize>) -> Option<Range<usize>> {
        let (_, start) = self.lines.get(lines.start)?;
        let (last, last_start) = self.lines.get(lines.end.checked_sub(1)?)?;
        Some(*start..last_start + last.len())
    }

    /// Yields the runs of whole lines that are equal to all lines of `pattern`, without overlaps.
    pub(super) fn find_all<'a>(
        &'a self,
        pattern: &'a Self,
    ) -> impl Iterator<Item = Range<usize>> + 'a {
        let finder = memmem::Finder::new(pattern.text.as_bytes());
        let mut from = 0;
        std::iter::from_fn(move || {
            loop {
                let rest = self.text.as_bytes().get(from..)?;
                let at = from + finder.find(rest)?;
                let first = self.lines.partition_point(|(range, _)| range.start < at);
                let (line, _) = self.lines.get(first)?;
                if line.start == at {
                    from = at + pattern.text.len();
                    return Some(first..first + pattern.len());
                }
                from = line.start;
            }
        })
    }
}
