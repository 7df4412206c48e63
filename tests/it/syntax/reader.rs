//! One fault for one damaged region, at the right place, and a tree that keeps the undamaged rest.

use ctxc::internals::syntax::fault::XmlFaultKind;
use ctxc::internals::syntax::{XmlLimits, XmlReader};
use pretty_assertions::assert_eq;
use std::fmt::Write as _;

/// The faults of a text: kind and the text under the span.
pub(super) fn faults(text: &str) -> Vec<(XmlFaultKind, &str)> {
    let mut reader = XmlReader::new();
    reader.read(text, &XmlLimits::default());
    reader
        .faults()
        .iter()
        .map(|fault| (fault.kind, fault.span.slice(text)))
        .collect()
}

/// The tree in brackets: `task(description('text') steps())`.
pub(super) fn outline(text: &str) -> String {
    fn append(out: &mut String, element: ctxc::internals::syntax::tree::Element<'_>) {
        out.push_str(element.name());
        for attribute in element.attributes() {
            let _ = write!(out, "[{}={}]", attribute.name(), attribute.value());
        }
        out.push('(');
        let mut first = true;
        for node in element.children() {
            if node.is_blank() {
                continue;
            }
            if !std::mem::replace(&mut first, false) {
                out.push(' ');
            }
            match node.as_element() {
                Some(child) => append(out, child),
                None => drop(write!(out, "{:?}", node.text().trim())),
            }
        }
        out.push(')');
    }
    let mut reader = XmlReader::new();
    reader.read(text, &XmlLimits::default());
    let mut out = String::new();
    for node in reader.document(text).nodes() {
        if let Some(root) = node.as_element() {
            append(&mut out, root);
        }
    }
    out
}

#[test]
fn well_formed_text_has_no_faults() {
    let text = "<?xml version=\"1.0\" encoding='UTF-8'?>\n<!-- c --><task a=\"1\" b='&lt;2'>\n x &amp; &#x41;<b/><![CDATA[<]]><?p i?></task>\n";
    assert_eq!(faults(text), []);
    assert_eq!(outline(text), r#"task[a=1][b=<2]("x & A" b() "<" "p i")"#);
}

#[test]
fn nothing_is_a_missing_root() {
    for text in ["", " \n", "hello", "<!-- only -->"] {
        assert_eq!(
            faults(text).iter().map(|fault| fault.0).collect::<Vec<_>>(),
            [XmlFaultKind::NoRoot],
            "{text}"
        );
    }
}

#[test]
fn a_missing_end_tag_moves_nothing_else() {
    let text = "<task>\n  <steps>\n    <task>\n      <description>a</description>\n    <task>\n      <description>b</description>\n    </task>\n  </steps>\n</task>\n";
    assert_eq!(faults(text), [(XmlFaultKind::MissingEnd, "task")]);
    assert_eq!(
        outline(text),
        r#"task(steps(task(description("a")) task(description("b"))))"#
    );
}

#[test]
fn a_typo_in_an_end_tag_is_one_fault() {
    let text = "<task>\n  <description>a</descripton>\n  <steps><task/></steps>\n</task>";
    assert_eq!(faults(text), [(XmlFaultKind::MismatchedEnd, "descripton")]);
    assert_eq!(outline(text), r#"task(description("a") steps(task()))"#);
}

#[test]
fn an_end_tag_without_slash_or_bracket_ends_its_element() {
    let text = "<task>\n  <a>x<a>\n  <b/>\n</task>";
    assert_eq!(faults(text), [(XmlFaultKind::EndWithoutSlash, "<a>")]);
    assert_eq!(outline(text), r#"task(a("x") b())"#);
    let text = "<task>\n  <a>x/a>\n  <b/>\n</task>";
    assert_eq!(faults(text), [(XmlFaultKind::EndWithoutBracket, "/a>")]);
    assert_eq!(outline(text), r#"task(a("x") b())"#);
}

#[test]
fn an_empty_element_that_lost_its_slash_takes_nothing_in() {
    let text = "<inputs>\n  <input name=\"a\">\n  <input name=\"b\"/>\n  <input name=\"c\">\n  <input name=\"d\"/>\n</inputs>";
    assert_eq!(
        faults(text),
        [
            (XmlFaultKind::MissingEnd, "input"),
            (XmlFaultKind::MissingEnd, "input")
        ]
    );
    assert_eq!(
        outline(text),
        "inputs(input[name=a]() input[name=b]() input[name=c]() input[name=d]())"
    );
}

#[test]
fn a_value_without_its_quote_ends_where_a_person_would_end_it() {
    for (text, tree) in [
        ("<a><b c=\"d>\n<e f=\"g\"/></b></a>", "a(b[c=d](e[f=g]()))"),
        ("<a><b c=\"d/>\n<e f=\"g\"/></a>", "a(b[c=d]() e[f=g]())"),
        ("<a><b c=\"d e=\"f\"/></a>", "a(b[c=d][e=f]())"),
        (
            "<a><b c=\"d>text \"quoted\" more</b></a>",
            "a(b[c=d](\"text \\\"quoted\\\" more\"))",
        ),
    ] {
        assert_eq!(
            faults(text).iter().map(|fault| fault.0).collect::<Vec<_>>(),
            [XmlFaultKind::UnclosedValue],
            "{text}"
        );
        assert_eq!(outline(text), tree, "{text}");
    }
    assert_eq!(
        faults("<a b=c\" d=\"e\"/>"),
        [(XmlFaultKind::UnquotedValue, "c")]
    );
    assert_eq!(outline("<a b=c\" d=\"e\"/>"), "a[b=c][d=e]()");
}

#[test]
fn a_tag_without_bracket_leaves_its_text_text() {
    assert_eq!(
        faults("<a><b Write a thing.</b><c/></a>"),
        [(XmlFaultKind::UnclosedStart, "b")]
    );
    assert_eq!(
        outline("<a><b Write a thing.</b><c/></a>"),
        r#"a(b("Write a thing.") c())"#
    );
    assert_eq!(
        faults("<a><b c=\"d\"\n  <e/></b></a>"),
        [(XmlFaultKind::UnclosedStart, "b")]
    );
    assert_eq!(outline("<a><b c=\"d\"\n  <e/></b></a>"), "a(b[c=d](e()))");
}

#[test]
fn signs_in_text_and_values() {
    assert_eq!(
        faults("<a>x && y < 3 &nbsp; &lt</a>"),
        [
            (XmlFaultKind::BareAmpersand, "&&"),
            (XmlFaultKind::LessInText, "<"),
            (XmlFaultKind::UnknownEntity, "&nbsp;"),
            (XmlFaultKind::UnclosedReference, "&lt"),
        ]
    );
    assert_eq!(
        faults("<a b=\"x < y\" c=\"d\"/>"),
        [(XmlFaultKind::LessInValue, "<")]
    );
    assert_eq!(faults("<a b=\"&#0; &#x110000;\">]]></a>").len(), 3);
}

#[test]
fn a_merge_conflict_is_one_fault() {
    let text = "<task>\n<<<<<<< HEAD\n  <a>1</a>\n=======\n  <a>2</b>\n  <c>\n>>>>>>> other\n  <d/>\n</task>\n";
    assert_eq!(
        faults(text).iter().map(|fault| fault.0).collect::<Vec<_>>(),
        [XmlFaultKind::MergeConflict]
    );
    assert_eq!(outline(text), r#"task(a("1") d())"#);
}

#[test]
fn a_document_type_hides_nothing_but_its_entities() {
    let text = "<!DOCTYPE task [ <!ENTITY x \"]>\"> ]><task>&x; & </tas>";
    assert_eq!(
        faults(text),
        [
            (
                XmlFaultKind::Doctype,
                "<!DOCTYPE task [ <!ENTITY x \"]>\"> ]>"
            ),
            (XmlFaultKind::BareAmpersand, "&"),
            (XmlFaultKind::MismatchedEnd, "tas"),
        ]
    );
}

#[test]
fn namespaces() {
    assert_eq!(faults("<a:b/>"), [(XmlFaultKind::UndeclaredPrefix, "a:b")]);
    assert_eq!(
        faults("<a xmlns:p='u' xmlns:q='u' p:x='' q:x=''/>"),
        [(XmlFaultKind::DuplicateAttribute, "q:x")]
    );
    assert_eq!(
        faults("<a xmlns:p=''/>"),
        [(XmlFaultKind::EmptyPrefix, "xmlns:p")]
    );
    assert_eq!(
        faults("<a xmlns:xml='u'/>"),
        [(XmlFaultKind::ReservedPrefix, "xmlns:xml")]
    );
    assert_eq!(
        faults("<a:b:c/>").first().map(|fault| fault.0),
        Some(XmlFaultKind::BadColon)
    );
}
