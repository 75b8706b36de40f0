//! Time, as a value that the host hands in.

use std::{fmt, sync::Arc, time::SystemTime};

/// Tells the time. Everything in these crates that needs a date asks one, so that tests own it.
///
/// Waiting is not part of it: that is `tokio::time`, which tests can pause.
pub trait Clock: fmt::Debug + Send + Sync {
    /// Returns the current time.
    fn now(&self) -> SystemTime;
}

/// The machine's own clock, the default.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the one place that asks the machine")]
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }
}

#[deny(clippy::missing_trait_methods, reason = "a handle forwards everything")]
impl<C: Clock + ?Sized> Clock for Arc<C> {
    fn now(&self) -> SystemTime {
        (**self).now()
    }
}
