//! The wire form of messages, made once each.

use std::{
    collections::HashMap,
    fmt,
    hash::{BuildHasherDefault, Hasher},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use hermes_core::message::{Message, MessageBody, Part};

use super::{pairing::Outgoing, target::Target};

/// Keeps what messages look like on a wire.
///
/// A fragment belongs to a message by its address, and the cache holds on to the message, so that
/// the address cannot come to mean another one while the fragment is kept. Two sessions can thus
/// share a cache and never each other's text.
///
/// The oldest half is dropped when the newer half is full.
#[derive(Default)]
pub(crate) struct Fragments {
    halves: Mutex<Halves>,
}

#[derive(Default)]
pub(crate) struct Halves {
    new: HashMap<usize, Kept, BuildHasherDefault<AddressHasher>>,
    old: HashMap<usize, Kept, BuildHasherDefault<AddressHasher>>,
    bytes: usize,
}

#[derive(Clone)]
struct Kept {
    /// Held so that its address stays taken.
    _message: Message,
    fragment: Arc<[u8]>,
}

impl Fragments {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Halves> {
        self.halves.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Halves {
    /// The most bytes of fragments in one half.
    const LIMIT: usize = 32 * 1024 * 1024;

    /// Returns the fragment of what goes out to `target`, made by `make` unless it is there.
    ///
    /// What is made for a target that takes no reasoning stays, so that what was refused once does not
    /// go out again.
    pub(crate) fn of(
        &mut self,
        outgoing: &Outgoing<'_>,
        target: Target<'_>,
        make: impl FnOnce(&Message) -> Vec<u8>,
    ) -> Arc<[u8]> {
        let Outgoing::Kept(message) = outgoing else { return make(outgoing.message()).into() };
        if target.decides(message) {
            return make(message).into();
        }
        let has_thought = || message.parts.iter().any(|it| matches!(it, Part::Reasoning(_)));
        if !target.takes_reasoning() && has_thought() {
            self.forget(message);
        }
        self.get(message, || make(message))
    }

    fn forget(&mut self, message: &Message) {
        let body: &MessageBody = message;
        let address = std::ptr::from_ref(body).addr();
        self.new.remove(&address);
        self.old.remove(&address);
    }

    /// Returns the fragment of `message`, made by `make` unless it is there.
    fn get(&mut self, message: &Message, make: impl FnOnce() -> Vec<u8>) -> Arc<[u8]> {
        let body: &MessageBody = message;
        let address = std::ptr::from_ref(body).addr();
        if let Some(kept) = self.new.get(&address) {
            return Arc::clone(&kept.fragment);
        }
        let kept = self
            .old
            .remove(&address)
            .unwrap_or_else(|| Kept { _message: message.clone(), fragment: make().into() });
        let fragment = Arc::clone(&kept.fragment);
        self.bytes += fragment.len();
        self.new.insert(address, kept);
        if Self::LIMIT < self.bytes {
            self.old = std::mem::take(&mut self.new);
            self.bytes = 0;
        }
        fragment
    }
}

/// Spreads addresses, which nobody else chooses, with less work than it takes to be safe from those who
/// choose.
#[derive(Debug, Default)]
pub(crate) struct AddressHasher(u64);

impl Hasher for AddressHasher {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, word: u64) {
        let spread = (self.0 ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        // The low bits of an address are those of its alignment.
        self.0 = spread ^ (spread >> 32);
    }

    fn write_usize(&mut self, address: usize) {
        self.write_u64(u64::try_from(address).unwrap_or_default());
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

impl fmt::Debug for Fragments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let halves = self.lock();
        f.debug_struct("Fragments")
            .field("messages", &(halves.new.len() + halves.old.len()))
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fragment_is_made_once() {
        let fragments = Fragments::default();
        let message = Message::user("a");

        let first = fragments.lock().get(&message, || b"x".to_vec());
        let second = fragments.lock().get(&message.clone(), || b"y".to_vec());

        assert_eq!((&*first, &*second), (&b"x"[..], &b"x"[..]));
    }

    #[test]
    fn messages_that_look_alike_are_not_mixed_up() {
        let fragments = Fragments::default();

        for round in 0..100_u8 {
            let message = Message::user("a");
            let fragment = fragments.lock().get(&message, || vec![round]);
            assert_eq!(&*fragment, &[round]);
        }
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let fragments = Fragments::default();
        let message = Message::user("kept");

        for _ in 0..10 {
            let mut halves = fragments.lock();
            halves.get(&message, || b"kept".to_vec());
            halves.get(&Message::user("big"), || vec![0; Halves::LIMIT / 2]);
        }

        let halves = fragments.lock();
        assert!(halves.new.len() + halves.old.len() <= 6);
        assert!(halves.bytes <= Halves::LIMIT);
    }
}
