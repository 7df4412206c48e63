//! The grammar of comments and names (`docs/STYLE.md`). No comment sentence begins with What,
//! Whether, Who or Where. No comment refers to people by an indefinite pronoun, or to code with a
//! verb of speech. A type name stands in at most two rooms. `language.txt` lists the files that
//! still break a rule with their number of places; the list only shrinks.

use super::source::{self, SourceText};
use pretty_assertions::assert_eq;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

const EXCEPTIONS: &str = "tests/it/tidy/language.txt";
const BEGINNINGS: &[&str] = &["What", "Whatever", "Whether", "Who", "Whose", "Where"];
const SPEECH: &[&str] = &[
    "nobody", "whoever", "somebody", "tell", "tells", "told", "telling", "say", "says", "said",
    "saying",
];
/// The number of rooms in which a type name may stand.
const MAX_ROOMS: usize = 2;

/// The text of a comment line, without its signs; `None` for a line of code.
fn comment(line: &str) -> Option<&str> {
    let text = line.trim_start().strip_prefix("//")?;
    Some(text.trim_start_matches(['/', '!']).trim())
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|sign: char| !sign.is_alphanumeric())
        .filter(|word| !word.is_empty())
}

/// The number of sentences of a comment line that begin with a question word and are no questions.
fn question_words(text: &str) -> usize {
    let mut rest = text;
    let mut count = 0;
    loop {
        let first = rest
            .split(|sign: char| !sign.is_alphabetic())
            .next()
            .unwrap_or_default();
        let sentence = rest
            .split_inclusive(['.', '!', '?'])
            .next()
            .unwrap_or_default();
        count += usize::from(BEGINNINGS.contains(&first) && !sentence.ends_with('?'));
        let next = [". ", ": ", "; "]
            .iter()
            .filter_map(|end| rest.find(end))
            .min();
        let Some(next) = next else { return count };
        rest = &rest[next + 2..];
    }
}

/// The number of places of a file that break the grammar of comments.
fn faults(source: &SourceText) -> usize {
    let comments = source.text.lines().filter_map(comment);
    comments
        .map(|text| {
            let speech = words(text)
                .filter(|word| SPEECH.contains(&word.to_lowercase().as_str()))
                .count();
            speech + question_words(text)
        })
        .sum()
}

/// The files with faults, a line each: `PATH COUNT`.
fn listing(sources: &[SourceText]) -> String {
    let mut out = String::new();
    for source in sources {
        let count = faults(source);
        if count > 0 {
            let _ = writeln!(out, "{} {count}", source.path);
        }
    }
    out
}

/// The name of the type that a line at the top of a file defines.
fn type_name(line: &str) -> Option<&str> {
    let visible = line.strip_prefix("pub").unwrap_or(line);
    let bare = if visible.starts_with('(') {
        visible.split_once(')')?.1
    } else {
        visible
    };
    let mut words = bare
        .trim_start()
        .split(|sign: char| !sign.is_alphanumeric());
    let is_top = !line.starts_with(' ');
    let keyword = words.next()?;
    let is_type = is_top && matches!(keyword, "struct" | "enum" | "trait" | "type");
    words.next().filter(|name| is_type && !name.is_empty())
}

/// The type names that stand in more rooms of `src/` than may be, with the rooms.
fn scattered_types(sources: &[SourceText]) -> BTreeMap<String, BTreeSet<String>> {
    let mut rooms: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for source in sources {
        let room = source
            .module_path()
            .first()
            .copied()
            .unwrap_or_default()
            .to_owned();
        for line in source.text.lines() {
            if let Some(name) = type_name(line) {
                rooms
                    .entry(name.to_owned())
                    .or_default()
                    .insert(room.clone());
            }
        }
    }
    rooms.retain(|_, rooms| rooms.len() > MAX_ROOMS);
    rooms
}

#[test]
fn comments_are_noun_phrases_and_verbs_in_the_third_person() {
    let found = listing(&source::rust_sources(&["src/"]));
    if std::env::var_os("CTXC_UPDATE").is_some() {
        let recorded = std::fs::read_to_string(EXCEPTIONS).unwrap_or_default();
        let total = |text: &str| {
            text.lines()
                .filter_map(|line| line.rsplit(' ').next()?.parse::<usize>().ok())
                .sum::<usize>()
        };
        assert!(
            recorded.is_empty() || total(&found) <= total(&recorded),
            "the list of exceptions only shrinks"
        );
        std::fs::write(EXCEPTIONS, &found).unwrap();
    }
    assert_eq!(
        found,
        std::fs::read_to_string(EXCEPTIONS).unwrap_or_default()
    );
}

#[test]
fn a_type_name_stands_in_few_rooms() {
    let found = scattered_types(&source::rust_sources(&["src/"]));
    let names: Vec<&str> = found.keys().map(String::as_str).collect();
    assert_eq!(names, SCATTERED, "{found:#?}");
}

/// Type names that stand in three rooms or more. The list only shrinks.
const SCATTERED: &[&str] = &[];

#[test]
fn a_comment_in_dialect_is_found() {
    let count = |text: &str| faults(&SourceText::new("src/a.rs", text));
    assert_eq!(count("/// Whether it is open."), 1);
    assert_eq!(
        count("/// A name: what it stands for.\n/// Read once. What is left is dropped."),
        1
    );
    assert_eq!(count("//! Nobody looks; code says so."), 2);
    assert_eq!(
        count("/// What is it? Returns the name, whether open or not.\nlet what = said;"),
        0
    );
}

#[test]
fn a_type_name_in_three_rooms_is_found() {
    let source = |room: &str| {
        SourceText::new(
            &format!("src/{room}/x.rs"),
            &format!("//! X.\npub(in crate::{room}) struct Found {{\n}}\n"),
        )
    };
    assert!(scattered_types(&["a", "b"].map(source)).is_empty());
    assert_eq!(scattered_types(&["a", "b", "c"].map(source)).len(), 1);
}
