//! How long an endpoint asks to wait.

use std::{
    ops::RangeInclusive,
    time::{Duration, SystemTime},
};

use reqwest::header::{DATE, HeaderMap, RETRY_AFTER};

/// Returns the pause that headers or body ask for, at most a day.
pub(super) fn asked_for(headers: &HeaderMap, body: &str, now: SystemTime) -> Option<Duration> {
    let header = |name: &str| headers.get(name).and_then(|it| it.to_str().ok()).map(str::trim);
    let millis = || seconds(header("retry-after-ms")?).map(|it| it / 1000);
    let plain = || {
        let value = header(RETRY_AFTER.as_str())?;
        seconds(value).or_else(|| {
            let now = header(DATE.as_str()).and_then(http_date).unwrap_or(now);
            Some(http_date(value)?.duration_since(now).unwrap_or_default())
        })
    };
    let said = || {
        ["try again in ", "retry in ", "retry after ", "wait "]
            .iter()
            .find_map(|mark| spoken(body, mark))
    };
    millis().or_else(plain).or_else(said).map(|pause| pause.min(LONGEST))
}

const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

fn seconds(text: &str) -> Option<Duration> {
    let seconds: f64 = text.parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}

/// Reads a pause such as `1m30.5s`, `20s`, `820ms` or `7 seconds` that stands behind `mark`.
fn spoken(text: &str, mark: &str) -> Option<Duration> {
    let mut rest = text.get(text.find(mark)? + mark.len()..)?;
    let mut total = None;
    loop {
        let is_other = |char: char| !char.is_ascii_digit() && char != '.';
        let end = rest.find(is_other).unwrap_or(rest.len());
        let Ok(number) = rest.get(..end)?.parse::<f64>() else { return total };
        rest = rest.get(end..)?.trim_start();
        let letters = rest.find(|char: char| !char.is_ascii_alphabetic()).unwrap_or(rest.len());
        let unit = match rest.get(..letters)? {
            "ms" | "milliseconds" => 0.001,
            "s" | "sec" | "second" | "seconds" => 1.0,
            "m" | "min" | "minute" | "minutes" => 60.0,
            "h" | "hour" | "hours" => 3600.0,
            _ => return total,
        };
        let piece = Duration::try_from_secs_f64(number * unit).ok()?;
        total = Some(total.unwrap_or(Duration::ZERO).saturating_add(piece));
        rest = rest.get(letters..)?;
        if rest.is_empty() {
            return total;
        }
    }
}

/// Reads a date such as `Wed, 21 Oct 2015 07:28:00 GMT`.
fn http_date(text: &str) -> Option<SystemTime> {
    let mut words = text.split_once(", ")?.1.split(' ');
    let day = number(words.next()?, 1..=31)?;
    let name = words.next()?;
    let month = MONTHS.iter().position(|it| *it == name)?;
    let year = number(words.next()?, 1970..=9999)?;
    let mut clock = words.next()?.splitn(3, ':');
    let (hour, minute) = (number(clock.next()?, 0..=23)?, number(clock.next()?, 0..=59)?);
    // One second is put in now and then.
    let second = number(clock.next()?, 0..=60)?;
    let days = days_since_epoch(year, u64::try_from(month).ok()? + 1, day);
    // All are in their ranges, so that the sum is far from its limit.
    let seconds = ((days * 24 + hour) * 60 + minute) * 60 + second;
    SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds))
}

/// Reads a number of digits alone that is in `range`.
fn number(text: &str, range: RangeInclusive<u64>) -> Option<u64> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|it| is_plain && range.contains(it))
}

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Counts days by the Gregorian calendar, with years that begin in March. `year` has four digits.
fn days_since_epoch(year: u64, month: u64, day: u64) -> u64 {
    let (year, month) = if month <= 2 { (year - 1, month + 9) } else { (year, month - 3) };
    let leap_days = year / 4 - year / 100 + year / 400;
    let days = 365 * year + leap_days + (153 * month + 2) / 5 + day.max(1) - 1;
    days.saturating_sub(719_468)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NOW: u64 = 1_445_412_470;

    #[track_caller]
    fn check(headers: &[(&'static str, &'static str)], body: &str, expected: Option<f64>) {
        let headers = headers.iter().map(|(name, value)| {
            (name.parse().unwrap(), reqwest::header::HeaderValue::from_static(value))
        });
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(NOW);
        let pause = asked_for(&headers.collect(), body, now);
        assert_eq!(pause.map(|it| it.as_secs_f64()), expected);
    }

    #[test]
    fn seconds_are_read() {
        check(&[("retry-after", "7")], "", Some(7.0));
        check(&[("retry-after", "1.5")], "", Some(1.5));
        check(&[("retry-after", "-1")], "", None);
        check(&[("retry-after-ms", "250"), ("retry-after", "9")], "", Some(0.25));
    }

    #[test]
    fn dates_are_read() {
        check(&[("retry-after", "Wed, 21 Oct 2015 07:28:00 GMT")], "", Some(10.0));
        check(&[("retry-after", "Wed, 21 Oct 2015 07:27:00 GMT")], "", Some(0.0));
        check(
            &[
                ("retry-after", "Thu, 29 Feb 2024 00:00:30 GMT"),
                ("date", "Wed, 28 Feb 2024 23:59:59 GMT"),
            ],
            "",
            Some(31.0),
        );
        check(&[("retry-after", "soon")], "", None);
    }

    #[test]
    fn dates_that_are_none_ask_for_nothing() {
        for date in [
            "Wed, 18446744073709551615 Oct 2015 07:28:00 GMT",
            "Wed, 32 Oct 2015 07:28:00 GMT",
            "Wed, 0 Oct 2015 07:28:00 GMT",
            "Wed, +1 Oct 2015 07:28:00 GMT",
            "Wed, 21 Okt 2015 07:28:00 GMT",
            "Wed, 21 Oct 10000 07:28:00 GMT",
            "Wed, 21 Oct 2015 18446744073709551615:28:00 GMT",
            "Wed, 21 Oct 2015 07:18446744073709551615:00 GMT",
            "Wed, 21 Oct 2015 07:28:18446744073709551615 GMT",
            "Wed, 21 Oct 2015 24:00:00 GMT",
            "Wed, 21 Oct 2015 07:28 GMT",
        ] {
            check(&[("retry-after", date)], "", None);
            // A broken `Date` gives way to our own clock.
            check(
                &[("retry-after", "Wed, 21 Oct 2015 07:28:00 GMT"), ("date", date)],
                "",
                Some(10.0),
            );
        }
        check(&[("retry-after", "Fri, 31 Dec 9999 23:59:60 GMT")], "", Some(86400.0));
    }

    #[test]
    fn words_are_read() {
        check(&[], "please try again in 1m30.5s.", Some(90.5));
        check(&[], "try again in 820ms, thanks", Some(0.82));
        check(&[], "please retry in 17 seconds", Some(17.0));
        check(&[], "try again in a while", None);
        check(&[], "try again in 3", None);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

        #[test]
        fn no_header_and_no_body_breaks_it(
            text in prop_oneof![
                ".{0,60}",
                "[A-Z][a-z]{2}, [0-9]{1,20} (Jan|Feb|Dec) [0-9]{1,20} [0-9]{1,20}:[0-9]{1,20}:[0-9]{1,20} GMT",
                "(try again in|retry in|wait) [0-9.]{0,40} ?(ms|s|m|h|hours)?[0-9.]{0,40}(s|h)?",
                "-?[0-9.e+]{0,400}",
            ],
            seconds in any::<u32>(),
        ) {
            let now = SystemTime::UNIX_EPOCH + Duration::from_secs(u64::from(seconds));
            let mut headers = HeaderMap::new();
            if let Ok(value) = reqwest::header::HeaderValue::from_str(&text) {
                headers.insert(RETRY_AFTER, value.clone());
                headers.insert("retry-after-ms", value.clone());
                headers.insert(DATE, value);
            }

            let pause = asked_for(&headers, &text, now);
            let err = crate::classify(429, &headers, text.as_bytes(), now);

            prop_assert!(pause.is_none_or(|it| it <= LONGEST));
            prop_assert_eq!(err.retry_after().is_some(), pause.is_some());
        }
    }

    #[test]
    fn no_pause_is_longer_than_a_day() {
        check(&[("retry-after", "999999999999")], "", Some(86400.0));
    }
}
