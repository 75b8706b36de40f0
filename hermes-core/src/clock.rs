//! Time, as a value that the host hands in.

use std::{
    fmt,
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

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

/// Returns `at` in ISO 8601, in UTC, with six digits after the second.
///
/// That is how hermes-agent's records have their times. Times before 1970 count as its beginning.
///
/// # Examples
///
/// ```
/// use std::time::{Duration, UNIX_EPOCH};
/// use hermes_core::clock::iso_8601;
///
/// let at = UNIX_EPOCH + Duration::from_micros(951_782_400_000_007);
///
/// assert_eq!(iso_8601(at), "2000-02-29T00:00:00.000007+00:00");
/// ```
pub fn iso_8601(at: SystemTime) -> String {
    let since = at.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    let (seconds, micros) = (since.as_secs(), since.subsec_micros());
    let (year, month, day) = date(seconds / 86_400);
    let (hour, minute, second) = (seconds / 3_600 % 24, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{micros:06}+00:00")
}

/// Returns year, month and day of the `days`th day after the beginning of 1970.
///
/// It counts from March 1 of the year 0, so that a leap day is the last of its year, and in eras of
/// 400 years, which all have the same number of days.
fn date(days: u64) -> (u64, u64, u64) {
    const DAYS_TO_1970: u64 = 719_468;
    const DAYS_OF_ERA: u64 = 146_097;
    let days = days.saturating_add(DAYS_TO_1970);
    let (era, day_of_era) = (days / DAYS_OF_ERA, days % DAYS_OF_ERA);
    let leap_days = day_of_era / 1_460 + day_of_era / 146_096 - day_of_era / 36_524;
    let year_of_era = (day_of_era - leap_days) / 365;
    let day_of_year = day_of_era + year_of_era / 100 - year_of_era * 365 - year_of_era / 4;
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = (month_from_march + 2) % 12 + 1;
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(seconds: u64, expected: &str) {
        assert_eq!(iso_8601(UNIX_EPOCH + Duration::from_secs(seconds)), expected);
    }

    #[test]
    fn dates_follow_the_calendar() {
        check(0, "1970-01-01T00:00:00.000000+00:00");
        check(68_169_599, "1972-02-28T23:59:59.000000+00:00");
        check(68_169_600, "1972-02-29T00:00:00.000000+00:00");
        check(1_767_225_599, "2025-12-31T23:59:59.000000+00:00");
        check(1_767_225_600, "2026-01-01T00:00:00.000000+00:00");
        check(4_107_542_399, "2100-02-28T23:59:59.000000+00:00");
        check(4_107_542_400, "2100-03-01T00:00:00.000000+00:00");
    }

    #[test]
    fn a_time_before_1970_is_its_beginning() {
        assert_eq!(iso_8601(UNIX_EPOCH - Duration::from_secs(9)), iso_8601(UNIX_EPOCH));
    }
}
