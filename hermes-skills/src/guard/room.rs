//! How much longer names may make the lines of a folder.

/// How much longer the lines of a folder may still become when names are replaced by what they
/// stand for.
///
/// Without a bound, a few bytes that name a long value many times over would cost as much as
/// kilobytes do.
#[derive(Debug)]
pub(super) struct Room {
    left: usize,
    is_exceeded: bool,
}

impl Room {
    /// How much longer they may become in any case, in bytes.
    const START: usize = 64 * 1024;
    /// How much longer they may become for each byte that is read.
    const PER_BYTE: usize = 1;

    /// Creates the room of a folder.
    pub(super) fn new() -> Self {
        Self { left: Self::START, is_exceeded: false }
    }

    /// Makes room for a line of `bytes`.
    pub(super) fn read(&mut self, bytes: usize) {
        self.left = self.left.saturating_add(bytes.saturating_mul(Self::PER_BYTE));
    }

    /// Takes room for `bytes`, and returns whether there was enough.
    pub(super) fn take(&mut self, bytes: usize) -> bool {
        let left = self.left.checked_sub(bytes);
        self.is_exceeded |= left.is_none();
        self.left = left.unwrap_or(self.left);
        left.is_some()
    }

    /// Returns whether there was too little since this was last asked.
    pub(super) fn was_exceeded(&mut self) -> bool {
        std::mem::take(&mut self.is_exceeded)
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
        assert!(room.was_exceeded());
        room.read(1);
        assert!(room.take(1));
        assert!(!room.was_exceeded());
    }
}
