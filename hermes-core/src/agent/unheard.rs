//! Warnings that came up where nobody listens, such as in a review, until a turn that is heard tells
//! them.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use super::Events;
use crate::store::SessionId;

/// What nobody has heard yet of the conversations of one agent, by their ids, so that a conversation
/// that is opened again for every request hears what came up after its last one. A clone shares it.
///
/// It is kept in memory: for 256 conversations at most, beyond which the ones that have waited longest
/// are forgotten, and at most 64 warnings of each.
#[derive(Clone, Debug, Default)]
pub(crate) struct Waiting(Arc<Mutex<Queue>>);

/// Whoever has waited longest comes first.
type Queue = VecDeque<(Whose, Vec<String>)>;

/// Whose warnings they are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Whose {
    /// Nobody's in particular.
    #[default]
    Agent,
    /// A conversation's that can be opened again.
    Session(SessionId),
}

impl Waiting {
    /// The most conversations that warnings are kept of.
    const MAX: usize = 256;

    /// Returns what nobody has heard yet of the conversation called `id`.
    pub(crate) fn of(&self, id: SessionId) -> Unheard {
        Unheard { waiting: self.clone(), whose: Whose::Session(id) }
    }

    /// Forgets what is kept of a conversation called `id`, of which there is none any more.
    pub(crate) fn forget(&self, id: &SessionId) {
        self.of(id.clone()).take();
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Warnings that nobody has heard yet. A clone shares them; a default shares them with no other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Unheard {
    waiting: Waiting,
    whose: Whose,
}

impl Unheard {
    /// The most warnings that are kept.
    const MAX: usize = 64;

    /// Tells the host of `warning`: by `events` if anybody listens, otherwise later.
    pub(crate) fn warn(&self, events: &Events, warning: String) {
        if let Err(warning) = events.warn(warning) {
            self.keep(warning);
        }
    }

    /// Keeps `warning` for later.
    pub(crate) fn keep(&self, warning: String) {
        let mut waiting = self.waiting.lock();
        let Some((_, unheard)) = waiting.iter_mut().find(|(whose, _)| *whose == self.whose) else {
            if Waiting::MAX <= waiting.len() {
                waiting.pop_front();
            }
            waiting.push_back((self.whose.clone(), vec![warning]));
            return;
        };
        if unheard.len() < Self::MAX && !unheard.contains(&warning) {
            unheard.push(warning);
        }
    }

    /// As [`warn`](Self::warn), for several.
    pub(crate) fn warn_all(&self, events: &Events, warnings: Vec<String>) {
        for warning in warnings {
            self.warn(events, warning);
        }
    }

    /// Tells the host what nobody has heard yet, if anybody listens now.
    pub(crate) fn tell(&self, events: &Events) {
        if !events.are_heard() {
            return;
        }
        self.warn_all(events, self.take());
    }

    fn take(&self) -> Vec<String> {
        let mut waiting = self.waiting.lock();
        let at = waiting.iter().position(|(whose, _)| *whose == self.whose);
        at.and_then(|at| waiting.remove(at)).map(|(_, unheard)| unheard).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_waited_longest_is_forgotten() {
        let waiting = Waiting::default();
        let of = |at: usize| waiting.of(SessionId::new(format!("s{at}")));
        for at in 0..=Waiting::MAX {
            for count in 0..100 {
                of(at).warn(&Events::default(), format!("{at}: {count}"));
            }
        }

        assert_eq!(of(0).take(), [""; 0]);
        for at in [1, Waiting::MAX] {
            let unheard = of(at).take();
            assert_eq!((unheard.len(), &*unheard[0]), (Unheard::MAX, &*format!("{at}: 0")));
            assert_eq!(of(at).take(), [""; 0]);
        }
    }
}
