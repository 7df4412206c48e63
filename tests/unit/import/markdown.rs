//! Tests of the private items of `src/import/markdown.rs`.

use super::{Placeholders, detect_placeholders};
use pretty_assertions::assert_eq;

#[test]
fn what_stands_for_values_is_distinguished_from_the_text() {
    for (text, expected) in [
        ("Answer {question}.", Placeholders::Single),
        (
            "Answer {question} as {{\"answer\": \"…\"}}.",
            Placeholders::Single,
        ),
        (
            "Answer {{question}} for {{ user.name }}.",
            Placeholders::Double,
        ),
        (
            "Answer {{question}} as {\"answer\": 1}.",
            Placeholders::Double,
        ),
        (
            "Answer {question} as { \"answer\": 1 }.",
            Placeholders::Replaced,
        ),
        ("{% if x %}y{% endif %}", Placeholders::Jinja),
        ("{{ x | upper }}", Placeholders::Jinja),
        ("Answer as {\"answer\": 1}.", Placeholders::None),
        ("", Placeholders::None),
    ] {
        assert_eq!(detect_placeholders(text), expected, "{text}");
    }
}
