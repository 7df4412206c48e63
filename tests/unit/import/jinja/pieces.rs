//! Tests of what `src/import/jinja/pieces.rs` keeps to itself.

use super::{Kind, Trim, pieces};
use pretty_assertions::assert_eq;

#[test]
fn a_text_is_split_as_jinja_does() {
    let text = "a {%- if x == '%}' -%} {{ {'a': {}}['}}'] }}{# {{ no }} #}{% raw %}{{ x }}{% endraw -%} z {% endif %}";
    let all = pieces(text);
    let name = |kind: &Kind<'_>| match kind {
        Kind::Data => "data",
        Kind::Tag(tag) if tag.is_block => "statement",
        Kind::Tag(_) => "output",
        Kind::Comment => "comment",
        Kind::Raw => "raw",
        Kind::EndRaw => "endraw",
    };
    let found: Vec<(&str, &str)> = all
        .iter()
        .map(|piece| (name(&piece.kind), piece.slice(text)))
        .collect();
    let expected = [
        ("data", "a "),
        ("statement", "{%- if x == '%}' -%}"),
        ("data", " "),
        ("output", "{{ {'a': {}}['}}'] }}"),
        ("comment", "{# {{ no }} #}"),
        ("raw", "{% raw %}"),
        ("data", "{{ x }}"),
        ("endraw", "{% endraw -%}"),
        ("data", " z "),
        ("statement", "{% endif %}"),
    ];
    assert_eq!(found, expected);
    assert_eq!(
        (all[1].left, all[1].right, all[7].right),
        (Trim::All, Trim::All, Trim::All)
    );
}
