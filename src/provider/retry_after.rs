//! The header `Retry-After`: seconds, or an HTTP date.

use std::time::Duration;

/// Returns the requested wait at a time in seconds since 1970. A date in the past means no wait.
pub fn parse_retry_after(value: &str, now: u64) -> Option<Duration> {
    let value = value.trim();
    if let Ok(seconds) = value.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    parse_http_date(value).map(|then| Duration::from_secs(then.saturating_sub(now)))
}

const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

/// Returns the seconds since 1970 of a date such as `Wed, 21 Oct 2015 07:28:00 GMT`, the only
/// format still in use.
fn parse_http_date(text: &str) -> Option<u64> {
    let (_, rest) = text.split_once(", ")?;
    let [day, month, year, time, "GMT"] = rest.split(' ').collect::<Vec<_>>()[..] else {
        return None;
    };
    let month = MONTHS.iter().position(|name| *name == month)? as u64 + 1;
    let (day, year): (u64, u64) = (day.parse().ok()?, year.parse().ok()?);
    let [hour, minute, second] = time
        .split(':')
        .map(|part| part.parse().ok())
        .collect::<Option<Vec<u64>>>()?[..]
    else {
        return None;
    };
    if !(1..=31).contains(&day)
        || !(1970..=9999).contains(&year)
        || hour > 23
        || minute > 59
        || second > 60
    {
        return None;
    }
    // Years that begin in March have their leap day at the end.
    let year = if month < 3 { year - 1 } else { year };
    let days =
        year * 365 + year / 4 - year / 100 + year / 400 + ((month + 9) % 12 * 153 + 2) / 5 + day
            - 1;
    // The days from the first of March of the year 0 to the first day of 1970.
    days.checked_sub(719_468)
        .map(|days| days * 86_400 + hour * 3_600 + minute * 60 + second)
}
