//! Tests of the private items of `src/import/mustache.rs`.

use super::{TagMark, split_tags};
use pretty_assertions::assert_eq;

#[test]
fn a_text_is_split_into_tags_and_words_without_the_lines_that_tags_have_for_themselves() {
    let text =
        "a {{x}} {{{y}}}{{~z~}}  b\n  {{#if q}}  \nc\n{{!-- }} no --}}\n{{/if}}\n{{{~w}}} {{open";
    let found: Vec<(TagMark, &str)> = split_tags(text)
        .iter()
        .map(|tag| (tag.mark, tag.text(text)))
        .collect();
    let expected = [
        (TagMark::Words, "a "),
        (TagMark::Value, "x"),
        (TagMark::Words, " "),
        (TagMark::Raw, "y"),
        (TagMark::Value, "z"),
        (TagMark::Words, "b\n"),
        (TagMark::Open, "if q"),
        (TagMark::Words, "c\n"),
        (TagMark::Comment, "}} no"),
        (TagMark::Words, ""),
        (TagMark::Close, "if"),
        (TagMark::Words, ""),
        (TagMark::Raw, "~w"),
        (TagMark::Words, " {{open"),
    ];
    assert_eq!(found, expected);
}
