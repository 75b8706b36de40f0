//! Warnings that came up where nobody listens, such as in a review, until a turn that is heard tells
//! them.

use std::sync::{Arc, Mutex, PoisonError};

use super::{AgentEvent, Events};

/// Warnings that nobody has heard yet. A clone shares them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Unheard(Arc<Mutex<Vec<String>>>);

impl Unheard {
    /// The most warnings that are kept.
    const MAX: usize = 64;

    /// Tells the host of `warning`: by `events` if anybody listens, otherwise later.
    pub(crate) fn warn(&self, events: &Events, warning: String) {
        if events.are_heard() {
            events.send(|| AgentEvent::Warning(warning));
            return;
        }
        let mut unheard = self.lock();
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
        for warning in std::mem::take(&mut *self.lock()) {
            events.send(|| AgentEvent::Warning(warning));
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
