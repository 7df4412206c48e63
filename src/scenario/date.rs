//! Days of the calendar, and how many lie between them. Knows no clock.

/// Reads `2026-11-21`: a day that exists.
pub fn parse(text: &str) -> Option<(i32, u8, u8)> {
    let mut parts = text.split('-');
    let mut part = |digits: usize| {
        let part = parts.next().filter(|part| part.len() == digits && part.bytes().all(|c| c.is_ascii_digit()))?;
        part.parse::<u16>().ok()
    };
    let year = i32::from(part(4)?);
    let month = part(2)? as u8;
    let day = part(2)? as u8;
    (parts.next().is_none() && (1..=12).contains(&month) && (1..=length(year, month)).contains(&day))
        .then_some((year, month, day))
}

const fn length(year: i32, month: u8) -> u8 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 31,
    }
}

/// Days since the first of January 1970.
pub fn number((year, month, day): (i32, u8, u8)) -> i64 {
    // March comes first, so that the day that some years have is the last of one.
    let (year, month) =
        if month > 2 { (i64::from(year), i64::from(month) - 3) } else { (i64::from(year) - 1, i64::from(month) + 9) };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * month + 2) / 5 + i64::from(day) - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}
