//! Tests of what `src/lsp/features/completion_context.rs` keeps to itself.

use super::{Begun, CompletionContext, Slot, completion_context, slot};
use crate::base::span::Span;
use pretty_assertions::assert_eq;

/// What is seen at the mark `|`, and the word that would be replaced.
fn at(text: &str) -> (String, String) {
    let offset = text.find('¦').unwrap();
    let text = text.replace('¦', "");
    let CompletionContext { begun, word } = completion_context(&text, offset);
    assert!(word.start as usize <= offset && offset <= word.end as usize);
    (format!("{begun:?}"), Span::slice(word, &text).to_owned())
}

#[test]
fn what_was_begun_is_seen_from_its_place() {
    let see = |text: &str, begun: Begun<'_>, word: &str| {
        assert_eq!(at(text), (format!("{begun:?}"), word.to_owned()), "{text}");
    };
    see("<task><de¦", Begun::Element { open: 6 }, "de");
    see("<task><de¦scr>", Begun::Element { open: 6 }, "descr");
    see("<task></¦task>", Begun::End { open: 6 }, "task");
    see("<task na¦me=\"x\"", Begun::Attribute { open: 0 }, "name");
    see("<task ¦name=\"x\"", Begun::Attribute { open: 0 }, "");
    see("<task a=\">\"¦", Begun::Attribute { open: 0 }, "");
    see("<task a=¦", Begun::Other, "");
    see(
        "<task type = \"at¦om\">",
        Begun::Value {
            open: 0,
            name: "type",
            typed: "at",
        },
        "atom",
    );
    see(
        "<task type=\"at¦om>\n\"",
        Begun::Value {
            open: 0,
            name: "type",
            typed: "at",
        },
        "atom",
    );
    see(
        "<a b=\"{{ x.y¦z }}",
        Begun::Expression { before: "{{ x." },
        "yz",
    );
    see("<a>{{x}} {{ cu¦", Begun::Expression { before: "{{ " }, "cu");
    see(
        "<a>{{x}} {% if ¦",
        Begun::Expression { before: "{% if " },
        "",
    );
    see("<a>{{x}} wo¦rd", Begun::Text { before: "{{x}} " }, "word");
    see("<?ctxc allow ¦", Begun::Allow, "");
    see("<?ctxc allow a reason=\"¦", Begun::Other, "");
    see("¦", Begun::Text { before: "" }, "");
}

#[test]
fn a_place_in_an_expression_is_known_by_what_stands_before_it() {
    let cases = [
        ("{{", Slot::Name),
        ("{{ a.b.", Slot::Field("a.b")),
        ("{{ a | ", Slot::Filter),
        ("a.b == '", Slot::Word("a.b")),
        ("{%- ", Slot::Tag),
        ("{% if a is ", Slot::Test),
        ("{% if a and ", Slot::Name),
    ];
    for (before, expected) in cases {
        assert_eq!(slot(before), expected, "{before}");
    }
}
