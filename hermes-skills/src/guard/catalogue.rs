//! Lists of what is dangerous, in documents: commands that are shown as examples of what not to run.

use super::warning;

/// Where a document is, as far as lists of dangers are concerned.
#[derive(Debug, Default)]
pub(super) struct Catalogue {
    heading: bool,
    table: Option<bool>,
}

impl Catalogue {
    /// Looks at the next line of a document and returns whether it is an entry of a list of
    /// dangers: the row of a table or an item, below a head that says so.
    pub(super) fn lists(&mut self, line: &str) -> bool {
        let line = line.trim_start();
        if line.starts_with('#') {
            self.heading = warning::announces_dangers(line);
        }
        if line.starts_with('|') {
            return *self.table.get_or_insert_with(|| warning::announces_dangers(line))
                || self.heading;
        }
        self.table = None;
        let before = line.split('`').next().unwrap_or_default();
        self.heading
            && line.starts_with(['-', '*'])
            && before.len() < line.len()
            && !warning::orders(before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(lines: &[&str], expected: bool) {
        let mut catalogue = Catalogue::default();
        let last = lines.iter().map(|line| catalogue.lists(line)).last();
        assert_eq!(last, Some(expected));
    }

    #[test]
    fn rows_and_items_below_a_warning_are_listed() {
        check(&["| Call | Danger |", "|---|---|", "| `a` | b |"], true);
        check(&["## Red flags", "- `a`"], true);
    }

    #[test]
    fn other_lines_are_not() {
        check(&["| Call | Use |", "| `a` | b |"], false);
        check(&["## Red flags", "Run `a`"], false);
        check(&["## Red flags", "- Run `a`"], false);
        check(&["## Red flags", "- `a`", "## Setup", "- `a`"], false);
    }
}
