//! Tests of the private items of `src/lsp/features/completion_context.rs`.

use super::{
    CompletionContext, ExpressionSlot, OpenConstruct, completion_context, expression_slot,
};
use crate::base::span::Span;
use pretty_assertions::assert_eq;

/// The context at the mark `|`, and the word that would be replaced.
fn at(text: &str) -> (String, String) {
    let offset = text.find('¦').unwrap();
    let text = text.replace('¦', "");
    let CompletionContext {
        construct: begun,
        word,
    } = completion_context(&text, offset);
    assert!(word.start as usize <= offset && offset <= word.end as usize);
    (format!("{begun:?}"), Span::slice(word, &text).to_owned())
}

#[test]
fn what_was_begun_is_seen_from_its_place() {
    let see = |text: &str, begun: OpenConstruct<'_>, word: &str| {
        assert_eq!(at(text), (format!("{begun:?}"), word.to_owned()), "{text}");
    };
    see("<task><de¦", OpenConstruct::Element { open: 6 }, "de");
    see(
        "<task><de¦scr>",
        OpenConstruct::Element { open: 6 },
        "descr",
    );
    see("<task></¦task>", OpenConstruct::End { open: 6 }, "task");
    see(
        "<task na¦me=\"x\"",
        OpenConstruct::Attribute { open: 0 },
        "name",
    );
    see(
        "<task ¦name=\"x\"",
        OpenConstruct::Attribute { open: 0 },
        "",
    );
    see("<task a=\">\"¦", OpenConstruct::Attribute { open: 0 }, "");
    see("<task a=¦", OpenConstruct::Other, "");
    see(
        "<task type = \"at¦om\">",
        OpenConstruct::Value {
            open: 0,
            name: "type",
            typed: "at",
        },
        "atom",
    );
    see(
        "<task type=\"at¦om>\n\"",
        OpenConstruct::Value {
            open: 0,
            name: "type",
            typed: "at",
        },
        "atom",
    );
    see(
        "<a b=\"{{ x.y¦z }}",
        OpenConstruct::Expression { before: "{{ x." },
        "yz",
    );
    see(
        "<a>{{x}} {{ cu¦",
        OpenConstruct::Expression { before: "{{ " },
        "cu",
    );
    see(
        "<a>{{x}} {% if ¦",
        OpenConstruct::Expression { before: "{% if " },
        "",
    );
    see(
        "<a>{{x}} wo¦rd",
        OpenConstruct::Text { before: "{{x}} " },
        "word",
    );
    see("<?ctxc allow ¦", OpenConstruct::Allow, "");
    see("<?ctxc allow a reason=\"¦", OpenConstruct::Other, "");
    see("¦", OpenConstruct::Text { before: "" }, "");
}

#[test]
fn a_place_in_an_expression_is_known_by_what_stands_before_it() {
    let cases = [
        ("{{", ExpressionSlot::Name),
        ("{{ a.b.", ExpressionSlot::Field("a.b")),
        ("{{ a | ", ExpressionSlot::Filter),
        ("a.b == '", ExpressionSlot::Word("a.b")),
        ("{%- ", ExpressionSlot::Tag),
        ("{% if a is ", ExpressionSlot::Test),
        ("{% if a and ", ExpressionSlot::Name),
    ];
    for (before, expected) in cases {
        assert_eq!(expression_slot(before), expected, "{before}");
    }
}
