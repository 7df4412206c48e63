//! Tests of the private items of `src/cli/watch/show.rs`.

use super::{changed_names, screen_reason, time_of_day, write_last_line};
use crate::base::hash::Hash;
use crate::cli::render::screen::Screen;
use std::collections::{BTreeMap, BTreeSet};

#[test]
fn the_last_line_says_when_and_how_many() {
    assert_eq!(time_of_day(0), "00:00:00");
    assert_eq!(
        time_of_day((86_400 + 3 * 3600 + 25 * 60 + 45) * 1_000_000_000 + 999_999_999),
        "03:25:45"
    );
    let names = |count: usize| {
        (0..count)
            .map(|at| format!("{at}.xml"))
            .collect::<BTreeSet<_>>()
    };
    assert_eq!(screen_reason(0, &names(0)), "no template yet");
    assert_eq!(screen_reason(1, &names(0)), "1 template");
    assert_eq!(
        screen_reason(2, &names(3)),
        "2 templates; changed: 0.xml, 1.xml, 2.xml"
    );
    assert_eq!(
        screen_reason(9, &names(5)),
        "9 templates; changed: 0.xml, 1.xml, 2.xml, 2 more files"
    );
    let mut out = Vec::new();
    write_last_line(&mut out, Screen::PLAIN, "a\u{1b}[2Jb").unwrap();
    let text = String::from_utf8(out).unwrap();
    assert!(
        !text.contains('\u{1b}') && text.ends_with("Ctrl-C ends it\n"),
        "{text}"
    );
}

#[test]
fn a_project_file_that_came_went_or_changed_is_named() {
    let files = |all: &[(&str, &str)]| -> BTreeMap<String, Hash> {
        all.iter()
            .map(|(name, text)| ((*name).to_owned(), Hash::digest(text.as_bytes())))
            .collect()
    };
    let before = files(&[("a", "1"), ("b", "1"), ("c", "1")]);
    let after = files(&[("b", "2"), ("c", "1"), ("d", "1")]);
    assert_eq!(changed_names(&before, &after), ["a", "b", "d"]);
}
