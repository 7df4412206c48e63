//! Writes XML Schema 1.0: structure and enumerations. Rules that this language cannot express are
//! described in its documentation.

use super::grammar::{is_number, is_required_child, requires_any_child};
use super::pattern::{MAX_NUMBER, definition_name};
use crate::settings::operators::{DEFAULTS, Operator, SUBTYPES_WITHOUT_ROW, TYPE_ALIASES};
use crate::syntax::write::TemplateWriter;
use crate::template::element_specs::table_rows;
use crate::template::elements::{Attr, AttrValues, ElementContent, ElementKind, ElementSpec};
use crate::template::setting::{LEGACY_VALUES, SettingName, Word};

const DOC: &str = "\
Task templates of ctxc, edition 2026. Generated from the tables of the compiler, for tools that read only XML Schema 1.0.

It lists the elements and attributes, and their allowed words. It cannot express: which settings agree with each other or \
with the defaults of a task's type, which children belong to which type of task, what depends on an attribute (a list of files by its \
source, a task by reference), that an element is left out because another one is there, or that elements of other namespaces may stand \
anywhere. It takes words in place of types and subtypes that a project declares. schema/ctxc.rng checks most of this; the compiler checks \
all of it.";

/// The words of an enumerated type, with its name.
type Enumeration = (&'static str, Vec<&'static str>);

/// Writes the schema.
pub(super) fn write_schema() -> String {
    let mut xml = TemplateWriter::new();
    xml.declaration().open(
        "xs:schema",
        &[("xmlns:xs", "http://www.w3.org/2001/XMLSchema")],
    );
    write_documentation(&mut xml, DOC);
    for kind in [
        ElementKind::Task,
        ElementKind::Template,
        ElementKind::Library,
    ] {
        xml.empty(
            "xs:element",
            &[("name", kind.tag()), ("type", &definition_name(kind))],
        );
    }
    for spec in table_rows() {
        write_complex_type(&mut xml, spec);
    }
    let (types, subtypes) = type_enumerations();
    write_open_enumeration(&mut xml, &types);
    write_open_enumeration(&mut xml, &subtypes);
    xml.open("xs:simpleType", &[("name", "name")])
        .open("xs:restriction", &[("base", "xs:token")]);
    xml.empty("xs:minLength", &[("value", "1")]).close().close();
    xml.open("xs:simpleType", &[("name", "number")])
        .open("xs:restriction", &[("base", "xs:positiveInteger")]);
    xml.empty("xs:maxInclusive", &[("value", &MAX_NUMBER.to_string())])
        .close()
        .close();
    for name in SettingName::ALL {
        let old = LEGACY_VALUES
            .iter()
            .filter(|(of, ..)| of == name)
            .map(|(_, old, _)| *old);
        let words: Vec<&str> = name.allowed_words().iter().copied().chain(old).collect();
        xml.open("xs:simpleType", &[("name", name.word())]);
        write_restriction(&mut xml, &words);
        xml.close();
    }
    xml.finish()
}

fn type_enumerations() -> (Enumeration, Enumeration) {
    let types = Operator::ALL
        .iter()
        .map(|operator| operator.word())
        .chain(TYPE_ALIASES.iter().map(|(word, ..)| *word));
    let named = DEFAULTS
        .iter()
        .filter(|row| row.kind != crate::settings::operators::RowKind::Part);
    let mut subtypes: Vec<&str> = named
        .flat_map(|row| row.names)
        .chain(SUBTYPES_WITHOUT_ROW.iter().map(|(_, name)| name))
        .copied()
        .collect();
    subtypes.sort_unstable();
    subtypes.dedup();
    (("type", types.collect()), ("subtype", subtypes))
}

fn write_documentation(xml: &mut TemplateWriter, text: &str) {
    xml.open("xs:annotation", &[])
        .leaf("xs:documentation", &[], text)
        .close();
}

/// Writes a type with the words of the language, which also accepts any other word that a project
/// may declare.
fn write_open_enumeration(xml: &mut TemplateWriter, (name, words): &Enumeration) {
    xml.open("xs:simpleType", &[("name", name)])
        .open("xs:union", &[("memberTypes", "name")])
        .open("xs:simpleType", &[]);
    write_restriction(xml, words);
    xml.close().close().close();
}

fn write_restriction(xml: &mut TemplateWriter, words: &[&str]) {
    xml.open("xs:restriction", &[("base", "xs:token")]);
    for word in words {
        xml.empty("xs:enumeration", &[("value", word)]);
    }
    xml.close();
}

fn write_complex_type(xml: &mut TemplateWriter, spec: &ElementSpec) {
    let mixed = matches!(
        spec.content,
        ElementContent::Text | ElementContent::TextOrElements | ElementContent::Opaque
    );
    let name = definition_name(spec.kind);
    let named = [("name", name.as_str()), ("mixed", "true")];
    xml.open(
        "xs:complexType",
        if mixed {
            &named
        } else {
            named.get(..1).unwrap_or(&[])
        },
    );
    write_documentation(xml, spec.doc);
    if spec.content == ElementContent::Word {
        let setting = SettingName::ALL
            .iter()
            .find(|name| name.word() == spec.tag)
            .map(|name| name.word());
        let base = setting.unwrap_or(if is_number(spec.kind) {
            "number"
        } else {
            "name"
        });
        xml.open("xs:simpleContent", &[])
            .open("xs:extension", &[("base", base)]);
        write_attributes(xml, spec.kind);
        xml.close().close().close();
        return;
    }
    if spec.content == ElementContent::Opaque {
        xml.open("xs:sequence", &[]);
        xml.empty(
            "xs:any",
            &[
                ("minOccurs", "0"),
                ("maxOccurs", "unbounded"),
                ("processContents", "skip"),
            ],
        )
        .close();
        xml.empty("xs:anyAttribute", &[("processContents", "skip")])
            .close();
        return;
    }
    write_children(xml, spec);
    write_attributes(xml, spec.kind);
    xml.close();
}

/// Writes children. If none can be repeated, they are a set; otherwise they are a repeatable
/// choice.
fn write_children(xml: &mut TemplateWriter, spec: &ElementSpec) {
    if spec.children.is_empty() {
        return;
    }
    if spec.children.iter().any(|child| child.is_repeatable) {
        let min = if requires_any_child(spec.kind) {
            "1"
        } else {
            "0"
        };
        xml.open(
            "xs:choice",
            &[("minOccurs", min), ("maxOccurs", "unbounded")],
        );
    } else {
        xml.open("xs:all", &[]);
    }
    for child in spec.children {
        let tag = child.kind.tag();
        let of = definition_name(child.kind);
        let named = [("name", tag), ("type", of.as_str()), ("minOccurs", "0")];
        let in_choice = spec.children.iter().any(|child| child.is_repeatable);
        let attributes = if in_choice || is_required_child(spec.kind, child.kind) {
            named.get(..2)
        } else {
            Some(&named[..])
        };
        xml.empty("xs:element", attributes.unwrap_or(&[]));
    }
    xml.close();
}

fn write_attributes(xml: &mut TemplateWriter, kind: ElementKind) {
    for Attr {
        name,
        values,
        required,
        doc,
        ..
    } in kind.attributes()
    {
        let mut written = vec![("name", *name)];
        let list = match values {
            AttrValues::Bool => Some(&["true", "false"][..]),
            AttrValues::OneOf(words) => Some(*words),
            AttrValues::Any | AttrValues::Name | AttrValues::Count | AttrValues::Sampling(_) => {
                None
            }
        };
        let own = kind == ElementKind::Task && matches!(*name, "type" | "subtype");
        match values {
            AttrValues::Any | AttrValues::Sampling(_) => written.push(("type", "xs:string")),
            AttrValues::Count => written.push(("type", "number")),
            AttrValues::Name => written.push(("type", if own { name } else { "name" })),
            AttrValues::Bool | AttrValues::OneOf(_) => {}
        }
        if *required {
            written.push(("use", "required"));
        }
        xml.open("xs:attribute", &written);
        write_documentation(xml, doc);
        if let Some(words) = list {
            xml.open("xs:simpleType", &[]);
            write_restriction(xml, words);
            xml.close();
        }
        xml.close();
    }
    xml.empty(
        "xs:anyAttribute",
        &[("namespace", "##other"), ("processContents", "lax")],
    );
}
