//! Blocks of code in a document.

/// Where a document is, as far as blocks of code are concerned.
#[derive(Debug, Default)]
pub(super) struct Fence {
    /// The mark that the block began with, and how many there were.
    open: Option<(char, usize)>,
}

impl Fence {
    /// Looks at the next line; returns whether it begins or ends a block.
    pub(super) fn see(&mut self, line: &str) -> bool {
        let line = line.trim();
        let Some(mark) = line.chars().next().filter(|ch| matches!(ch, '`' | '~')) else {
            return false;
        };
        let rest = line.trim_start_matches(mark);
        let count = line.len() - rest.len();
        match self.open {
            Some((opened, least)) => {
                let ends = opened == mark && least <= count && rest.is_empty();
                if ends {
                    self.open = None;
                }
                ends
            }
            // What ends on the line it begins on is a text in a line.
            None if count < 3 || mark == '`' && rest.contains('`') => false,
            None => {
                self.open = Some((mark, count));
                true
            }
        }
    }

    /// Returns whether the next line is code.
    pub(super) fn is_open(&self) -> bool {
        self.open.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(lines: &[&str], expected: bool) {
        let mut fence = Fence::default();
        for line in lines {
            fence.see(line);
        }
        assert_eq!(fence.is_open(), expected);
    }

    #[test]
    fn a_block_ends_with_the_mark_that_it_began_with() {
        check(&["```sh"], true);
        check(&["~~~", "```", "a"], true);
        check(&["````", "```"], true);
        check(&["````", "`````"], false);
        check(&["```sh", "```"], false);
        check(&["```a```"], false);
        check(&["``"], false);
    }
}
