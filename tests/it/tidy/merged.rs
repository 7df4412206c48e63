//! No file contains an unfinished merge: inside a text its marks compile, and users read them.

use super::source::{self, Source};
use pretty_assertions::assert_eq;

/// The marks that git writes around the two sides. Split, so that this file does not contain them.
const MARKS: &[&str] = &[concat!("<<<<", "<<< "), concat!(">>>>", ">>> ")];

/// Pages that show the marks, as the finding of a rule.
const SHOW_THEM: &[&str] = &[
    "docs/rules/merge-conflict.md",
    "tests/cases/merge-conflict.md",
];

fn faults(sources: &[Source]) -> Vec<String> {
    let mut faults = Vec::new();
    for source in sources
        .iter()
        .filter(|source| !SHOW_THEM.contains(&source.path.as_str()))
    {
        for (number, line) in source.text.lines().enumerate() {
            if MARKS.iter().any(|mark| line.starts_with(mark)) {
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
    assert_eq!(faults(&source::all()), Vec::<String>::new());
}

#[test]
fn an_unfinished_merge_is_found() {
    let text = format!(
        "a\n{}HEAD\nb\n=======\nc\n{}c3b235ca (Say)\n",
        MARKS[0], MARKS[1]
    );
    let found = [
        "README.md:2: an unfinished merge",
        "README.md:6: an unfinished merge",
    ];
    assert_eq!(faults(&[Source::new("README.md", &text)]), found);
}
