//! Tests of the private items of `src/import/jinja/pieces.rs`.

use super::{PieceKind, WhitespaceTrim, split_pieces};
use pretty_assertions::assert_eq;

#[test]
fn a_text_is_split_as_jinja_does() {
    let text = "a {%- if x == '%}' -%} {{ {'a': {}}['}}'] }}{# {{ no }} #}{% raw %}{{ x }}{% endraw -%} z {% endif %}";
    let all = split_pieces(text);
    let name = |kind: &PieceKind<'_>| match kind {
        PieceKind::Data => "data",
        PieceKind::Tag(tag) if tag.is_block => "statement",
        PieceKind::Tag(_) => "output",
        PieceKind::Comment => "comment",
        PieceKind::Raw => "raw",
        PieceKind::EndRaw => "endraw",
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
        (
            WhitespaceTrim::All,
            WhitespaceTrim::All,
            WhitespaceTrim::All
        )
    );
}
