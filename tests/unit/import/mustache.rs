//! Tests of what `src/import/mustache.rs` keeps to itself.

use super::{Mark, tags};
use pretty_assertions::assert_eq;

#[test]
fn a_text_is_split_into_tags_and_words_without_the_lines_that_tags_have_for_themselves() {
    let text =
        "a {{x}} {{{y}}}{{~z~}}  b\n  {{#if q}}  \nc\n{{!-- }} no --}}\n{{/if}}\n{{{~w}}} {{open";
    let found: Vec<(Mark, &str)> = tags(text)
        .iter()
        .map(|tag| (tag.mark, tag.text(text)))
        .collect();
    let expected = [
        (Mark::Words, "a "),
        (Mark::Value, "x"),
        (Mark::Words, " "),
        (Mark::Raw, "y"),
        (Mark::Value, "z"),
        (Mark::Words, "b\n"),
        (Mark::Open, "if q"),
        (Mark::Words, "c\n"),
        (Mark::Comment, "}} no"),
        (Mark::Words, ""),
        (Mark::Close, "if"),
        (Mark::Words, ""),
        (Mark::Raw, "~w"),
        (Mark::Words, " {{open"),
    ];
    assert_eq!(found, expected);
}
