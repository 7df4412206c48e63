//! No file contains an unfinished merge: inside a text its marks compile, and users read them.

use super::source::{self, SourceText};
use pretty_assertions::assert_eq;

/// The marks that git writes around the two sides. Split, so that this file does not contain them.
const CONFLICT_MARKS: &[&str] = &[concat!("<<<<", "<<< "), concat!(">>>>", ">>> ")];

/// Pages that show the marks, as the finding of a rule.
const PAGES_WITH_MARKS: &[&str] = &[
    "docs/rules/merge-conflict.md",
    "tests/cases/merge-conflict.md",
];

fn find_faults(sources: &[SourceText]) -> Vec<String> {
    let mut faults = Vec::new();
    for source in sources
        .iter()
        .filter(|source| !PAGES_WITH_MARKS.contains(&source.path.as_str()))
    {
        for (number, line) in source.text.lines().enumerate() {
            if CONFLICT_MARKS.iter().any(|mark| line.starts_with(mark)) {
                faults.push(format!(
                    "{}:{}: an unfinished merge",
                    source.path,
                    number + 1
                ));
            }
        }
    }
    faults
}

#[test]
fn every_merge_is_finished() {
    assert_eq!(find_faults(&source::all_sources()), Vec::<String>::new());
}

#[test]
fn an_unfinished_merge_is_found() {
    let text = format!(
        "a\n{}HEAD\nb\n=======\nc\n{}c3b235ca (Say)\n",
        CONFLICT_MARKS[0], CONFLICT_MARKS[1]
    );
    let found = [
        "README.md:2: an unfinished merge",
        "README.md:6: an unfinished merge",
    ];
    assert_eq!(find_faults(&[SourceText::new("README.md", &text)]), found);
}
