//! Writes RELAX NG in its XML syntax.

use super::pattern::{Define, Grammar, MAX_NUMBER, RngPattern};
use crate::syntax::write::TemplateWriter;

/// Writes a grammar.
pub(super) fn write_grammar(grammar: &Grammar) -> String {
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
    write_pattern(&mut xml, &grammar.start);
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
        write_pattern(&mut xml, inside);
        xml.close();
    }
    xml.open("define", &[("name", "Foreign")]);
    open_foreign(&mut xml, "element");
    xml.empty("ref", &[("name", "Anything")]).close().close();
    write_anything(&mut xml);
    xml.finish()
}

/// Opens a pattern, `element` or `attribute`, of any other namespace.
fn open_foreign(xml: &mut TemplateWriter, pattern: &str) {
    xml.open(pattern, &[])
        .open("anyName", &[])
        .open("except", &[])
        .empty("nsName", &[("ns", "")])
        .close()
        .close();
}

fn write_anything(xml: &mut TemplateWriter) {
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

fn write_pattern(xml: &mut TemplateWriter, of: &RngPattern) {
    match of {
        RngPattern::Ref(name) => {
            xml.empty("ref", &[("name", name)]);
        }
        RngPattern::Element(tag, inside) => {
            xml.open("element", &[("name", tag)]);
            write_patterns(xml, inside);
            xml.close();
        }
        RngPattern::Attribute(name, inside) => {
            xml.open("attribute", &[("name", name)]);
            write_pattern(xml, inside);
            xml.close();
        }
        RngPattern::ForeignAttributes => {
            xml.open("zeroOrMore", &[]);
            open_foreign(xml, "attribute");
            xml.empty("text", &[]).close().close();
        }
        RngPattern::ForeignElements => {
            xml.open("zeroOrMore", &[])
                .empty("ref", &[("name", "Foreign")])
                .close();
        }
        RngPattern::Anything => {
            xml.empty("ref", &[("name", "Anything")]);
        }
        RngPattern::Text => {
            xml.empty("text", &[]);
        }
        RngPattern::Empty => {
            xml.empty("empty", &[]);
        }
        RngPattern::Word(word) => {
            xml.leaf("value", &[("type", "token")], word);
        }
        RngPattern::Name => {
            xml.open("data", &[("type", "token")])
                .leaf("param", &[("name", "minLength")], "1")
                .close();
        }
        RngPattern::Number => {
            xml.open("data", &[("type", "positiveInteger")]);
            xml.leaf(
                "param",
                &[("name", "maxInclusive")],
                &MAX_NUMBER.to_string(),
            )
            .close();
        }
        RngPattern::Choice(list) => write_wrapped(xml, "choice", list),
        RngPattern::Group(list) => write_wrapped(xml, "group", list),
        RngPattern::Interleave(list) => write_wrapped(xml, "interleave", list),
        RngPattern::Optional(inside) => {
            write_wrapped(xml, "optional", std::slice::from_ref(inside));
        }
        RngPattern::ZeroOrMore(inside) => {
            write_wrapped(xml, "zeroOrMore", std::slice::from_ref(inside));
        }
        RngPattern::OneOrMore(inside) => {
            write_wrapped(xml, "oneOrMore", std::slice::from_ref(inside));
        }
    }
}

fn write_wrapped(
    xml: &mut TemplateWriter,
    tag: &str,
    list: &[impl std::borrow::Borrow<RngPattern>],
) {
    xml.open(tag, &[]);
    write_patterns(xml, list);
    xml.close();
}

fn write_patterns(xml: &mut TemplateWriter, list: &[impl std::borrow::Borrow<RngPattern>]) {
    for each in list {
        write_pattern(xml, each.borrow());
    }
}
