//! How much longer names may make the lines of a folder.

/// How much longer the lines of a folder may still become when names are replaced by what they
/// stand for.
///
/// Without a bound, a few bytes that name a long value many times over would cost as much as
/// kilobytes do.
#[derive(Debug)]
pub(super) struct Room {
    left: usize,
    /// The line that is read.
    line: usize,
    /// The first line for which there was too little.
    exceeded: Option<usize>,
    /// The first line that was too long.
    passed_over: Option<usize>,
}

impl Room {
    /// How much longer they may become in any case, in bytes.
    const START: usize = 64 * 1024;
    /// How much longer they may become for each byte that is read.
    const PER_BYTE: usize = 1;

    /// Creates the room of a folder.
    pub(super) fn new() -> Self {
        Self { left: Self::START, line: 0, exceeded: None, passed_over: None }
    }

    /// Makes room for a line of `bytes`.
    pub(super) fn read(&mut self, line: usize, bytes: usize) {
        self.line = line;
        self.left = self.left.saturating_add(bytes.saturating_mul(Self::PER_BYTE));
    }

    /// Takes room for `bytes`, and returns whether there was enough.
    pub(super) fn take(&mut self, bytes: usize) -> bool {
        let Some(left) = self.left.checked_sub(bytes) else {
            self.exceed();
            return false;
        };
        self.left = left;
        true
    }

    /// Notes that more stands in the line that is read than can be followed.
    pub(super) fn exceed(&mut self) {
        self.exceeded.get_or_insert(self.line);
    }

    /// Notes that what stands in the line that is read is too long to be followed.
    pub(super) fn pass_over(&mut self) {
        self.passed_over.get_or_insert(self.line);
    }

    /// Returns where there was too little since this was last asked.
    pub(super) fn was_exceeded(&mut self) -> Option<usize> {
        self.exceeded.take()
    }

    /// Returns where a line was too long since this was last asked.
    pub(super) fn was_passed_over(&mut self) -> Option<usize> {
        self.passed_over.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_makes_room() {
        let mut room = Room::new();

        assert!(room.take(Room::START));
        assert!(!room.take(1));
        assert_eq!(room.was_exceeded(), Some(0));
        room.read(3, 1);
        assert!(room.take(1));
        assert_eq!(room.was_exceeded(), None);
    }
}
