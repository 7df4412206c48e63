//! Tests of the private items of `src/scenario/date.rs`.

use super::{day_number, format_time, parse_date, parse_time};

#[test]
fn a_time_has_the_day_of_its_number() {
    assert_eq!(format_time(0), "1970-01-01T00:00:00Z");
    assert_eq!(format_time(1_795_250_709), "2026-11-21T08:45:09Z");
    for day in (-200_000..200_000).step_by(17) {
        let text = format_time(day * 86_400 + 3_661);
        let (date, rest) = text.split_once('T').unwrap();
        assert_eq!(
            (parse_date(date).map(day_number), rest),
            (Some(day), "01:01:01Z"),
            "{text}"
        );
        assert_eq!(parse_time(&text), Some(day * 86_400 + 3_661));
    }
}

#[test]
fn a_time_that_does_not_exist_is_none() {
    for text in [
        "",
        "2026-11-21",
        "2026-02-30T08:30:00Z",
        "2026-11-21T24:00:00Z",
        "2026-11-21T08:30:00",
        "2026-11-21T8:30:00Z",
        "2026-11-21T08:30:00.5Z",
    ] {
        assert_eq!(parse_time(text), None, "{text}");
    }
}
