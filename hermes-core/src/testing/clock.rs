//! A clock that stands still until a test moves it.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, SystemTime},
};

use crate::clock::Clock;

/// A clock that stands still until it is moved. A clone is the same clock.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use hermes_core::{clock::Clock, testing::ManualClock};
///
/// let clock = ManualClock::default();
/// let before = clock.now();
///
/// clock.advance(Duration::from_secs(60));
///
/// assert_eq!(clock.now().duration_since(before)?, Duration::from_secs(60));
/// # Ok::<(), std::time::SystemTimeError>(())
/// ```
#[derive(Clone, Debug)]
pub struct ManualClock(Arc<Mutex<SystemTime>>);

impl ManualClock {
    /// Creates a clock that shows `at`.
    pub fn new(at: SystemTime) -> Self {
        Self(Arc::new(Mutex::new(at)))
    }

    /// Creates a clock that shows `seconds` after the beginning of 1970, in UTC.
    pub fn at_unix(seconds: u64) -> Self {
        Self::new(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds))
    }

    /// Moves the clock forward by `duration`. At the end of time it stops.
    pub fn advance(&self, duration: Duration) {
        let mut now = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *now = now.checked_add(duration).unwrap_or(*now);
    }

    /// Sets the clock to `at`, which may be earlier.
    pub fn set(&self, at: SystemTime) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = at;
    }
}

impl Default for ManualClock {
    /// Creates a clock that shows the beginning of 2026 in UTC.
    fn default() -> Self {
        Self::at_unix(1_767_225_600)
    }
}

impl Clock for ManualClock {
    fn now(&self) -> SystemTime {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
