//! Calendar days and their arithmetic. Reads no clock.

/// Parses `2026-11-21`; `None` if there is no such day.
pub fn parse_date(text: &str) -> Option<(i32, u8, u8)> {
    let mut parts = text.split('-');
    let mut part = |digits: usize| {
        let part = parts
            .next()
            .filter(|part| part.len() == digits && part.bytes().all(|c| c.is_ascii_digit()))?;
        part.parse::<u16>().ok()
    };
    let year = i32::from(part(4)?);
    let month = part(2)? as u8;
    let day = part(2)? as u8;
    (parts.next().is_none()
        && (1..=12).contains(&month)
        && (1..=month_length(year, month)).contains(&day))
    .then_some((year, month, day))
}

const fn month_length(year: i32, month: u8) -> u8 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 31,
    }
}

/// Formats seconds since 1970 as `2026-11-21T08:30:00Z`.
pub fn format_time(seconds: i64) -> String {
    let (day, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    // The year begins in March, as in the function below.
    let shifted = day + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let date = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + era * 400 + i64::from(month <= 2);
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{date:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// Parses `2026-11-21T08:30:00Z` as seconds since 1970; `None` if there is no such time.
pub fn parse_time(text: &str) -> Option<i64> {
    let (date, time) = text.strip_suffix('Z')?.split_once('T')?;
    let mut parts = time
        .split(':')
        .map(|part| part.parse::<u8>().ok().map(i64::from));
    let mut part = || parts.next().flatten();
    let (hour, minute, second) = (part()?, part()?, part()?);
    let seconds = day_number(parse_date(date)?) * 86_400 + hour * 3_600 + minute * 60 + second;
    (format_time(seconds) == text).then_some(seconds)
}

/// Returns the number of days since 1 January 1970.
pub fn day_number((year, month, day): (i32, u8, u8)) -> i64 {
    // The year begins in March, so that a leap day is its last day.
    let (year, month) = if month > 2 {
        (i64::from(year), i64::from(month) - 3)
    } else {
        (i64::from(year) - 1, i64::from(month) + 9)
    };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * month + 2) / 5 + i64::from(day) - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

#[cfg(test)]
#[path = "../../tests/unit/scenario/date.rs"]
mod tests;
