//! Writes RELAX NG in its XML syntax.

use super::pattern::{Define, Grammar, MOST, Pattern};
use crate::syntax::write::TemplateWriter;

/// Writes a grammar.
pub(super) fn write(grammar: &Grammar) -> String {
    let mut xml = TemplateWriter::new();
    xml.declaration().open(
        "grammar",
        &[
            ("xmlns", "http://relaxng.org/ns/structure/1.0"),
            (
                "xmlns:a",
                "http://relaxng.org/ns/compatibility/annotations/1.0",
            ),
            ("ns", ""),
            (
                "datatypeLibrary",
                "http://www.w3.org/2001/XMLSchema-datatypes",
            ),
        ],
    );
    xml.leaf("a:documentation", &[], &grammar.doc);
    xml.open("start", &[]);
    pattern(&mut xml, &grammar.start);
    xml.close();
    for Define {
        name,
        doc,
        pattern: inside,
    } in &grammar.defines
    {
        xml.open("define", &[("name", name)]);
        if !doc.is_empty() {
            xml.leaf("a:documentation", &[], doc);
        }
        pattern(&mut xml, inside);
        xml.close();
    }
    xml.open("define", &[("name", "Foreign")]);
    foreign(&mut xml, "element");
    xml.empty("ref", &[("name", "Anything")]).close().close();
    anything(&mut xml);
    xml.finish()
}

/// Opens an element or attribute of any other namespace.
fn foreign(xml: &mut TemplateWriter, of: &str) {
    xml.open(of, &[])
        .open("anyName", &[])
        .open("except", &[])
        .empty("nsName", &[("ns", "")])
        .close()
        .close();
}

fn anything(xml: &mut TemplateWriter) {
    xml.open("define", &[("name", "Anything")])
        .open("zeroOrMore", &[])
        .open("choice", &[]);
    xml.open("attribute", &[])
        .empty("anyName", &[])
        .empty("text", &[])
        .close();
    xml.empty("text", &[]);
    xml.open("element", &[])
        .empty("anyName", &[])
        .empty("ref", &[("name", "Anything")])
        .close();
    xml.close().close().close();
}

fn pattern(xml: &mut TemplateWriter, of: &Pattern) {
    match of {
        Pattern::Ref(name) => {
            xml.empty("ref", &[("name", name)]);
        }
        Pattern::Element(tag, inside) => {
            xml.open("element", &[("name", tag)]);
            all(xml, inside);
            xml.close();
        }
        Pattern::Attribute(name, inside) => {
            xml.open("attribute", &[("name", name)]);
            pattern(xml, inside);
            xml.close();
        }
        Pattern::ForeignAttributes => {
            xml.open("zeroOrMore", &[]);
            foreign(xml, "attribute");
            xml.empty("text", &[]).close().close();
        }
        Pattern::ForeignElements => {
            xml.open("zeroOrMore", &[])
                .empty("ref", &[("name", "Foreign")])
                .close();
        }
        Pattern::Anything => {
            xml.empty("ref", &[("name", "Anything")]);
        }
        Pattern::Text => {
            xml.empty("text", &[]);
        }
        Pattern::Empty => {
            xml.empty("empty", &[]);
        }
        Pattern::Word(word) => {
            xml.leaf("value", &[("type", "token")], word);
        }
        Pattern::Name => {
            xml.open("data", &[("type", "token")])
                .leaf("param", &[("name", "minLength")], "1")
                .close();
        }
        Pattern::Number => {
            xml.open("data", &[("type", "positiveInteger")]);
            xml.leaf("param", &[("name", "maxInclusive")], &MOST.to_string())
                .close();
        }
        Pattern::Choice(list) => wrapped(xml, "choice", list),
        Pattern::Group(list) => wrapped(xml, "group", list),
        Pattern::Interleave(list) => wrapped(xml, "interleave", list),
        Pattern::Optional(inside) => wrapped(xml, "optional", std::slice::from_ref(inside)),
        Pattern::ZeroOrMore(inside) => wrapped(xml, "zeroOrMore", std::slice::from_ref(inside)),
        Pattern::OneOrMore(inside) => wrapped(xml, "oneOrMore", std::slice::from_ref(inside)),
    }
}

fn wrapped(xml: &mut TemplateWriter, tag: &str, list: &[impl std::borrow::Borrow<Pattern>]) {
    xml.open(tag, &[]);
    all(xml, list);
    xml.close();
}

fn all(xml: &mut TemplateWriter, list: &[impl std::borrow::Borrow<Pattern>]) {
    for each in list {
        pattern(xml, each.borrow());
    }
}
