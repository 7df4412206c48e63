//! Writes XML Schema 1.0: structure and enumerations. Rules that this language cannot express are
//! described in its documentation.

use super::grammar::{is_number, needed, needs_any};
use super::pattern::{MOST, name_of};
use crate::settings::operators::{ALIASES, DEFAULTS, Operator, ROWLESS};
use crate::syntax::write::TemplateWriter;
use crate::template::element_specs::all;
use crate::template::elements::{Attr, Content, Kind, Spec, Values};
use crate::template::setting::{LEGACY, SettingName, Word};

const DOC: &str = "\
Task templates of ctxc, edition 2026. Generated from the tables of the compiler, for tools that read XML Schema 1.0 and nothing else.

It says which elements and attributes there are, and which words they take. It cannot say: which settings agree with each other or \
with the defaults of a task's type, which children belong to which type of task, what depends on an attribute (a list of files by its \
source, a task by reference), that an element is left out because another one is there, or that elements of other namespaces may stand \
anywhere. It takes words in place of types and subtypes that a project declares. schema/ctxc.rng says most of this; the compiler says \
all of it.";

/// The words of an enumerated type, with its name.
type Enumeration = (&'static str, Vec<&'static str>);

/// Writes the schema.
pub(super) fn write() -> String {
    let mut xml = TemplateWriter::new();
    xml.declaration().open(
        "xs:schema",
        &[("xmlns:xs", "http://www.w3.org/2001/XMLSchema")],
    );
    documentation(&mut xml, DOC);
    for kind in [Kind::Task, Kind::Template, Kind::Library] {
        xml.empty(
            "xs:element",
            &[("name", kind.tag()), ("type", &name_of(kind))],
        );
    }
    for spec in all() {
        complex(&mut xml, spec);
    }
    let (types, subtypes) = heads();
    open_list(&mut xml, &types);
    open_list(&mut xml, &subtypes);
    xml.open("xs:simpleType", &[("name", "name")])
        .open("xs:restriction", &[("base", "xs:token")]);
    xml.empty("xs:minLength", &[("value", "1")]).close().close();
    xml.open("xs:simpleType", &[("name", "number")])
        .open("xs:restriction", &[("base", "xs:positiveInteger")]);
    xml.empty("xs:maxInclusive", &[("value", &MOST.to_string())])
        .close()
        .close();
    for name in SettingName::ALL {
        let old = LEGACY
            .iter()
            .filter(|(of, ..)| of == name)
            .map(|(_, old, _)| *old);
        let words: Vec<&str> = name.words().iter().copied().chain(old).collect();
        xml.open("xs:simpleType", &[("name", name.word())]);
        restriction(&mut xml, &words);
        xml.close();
    }
    xml.finish()
}

fn heads() -> (Enumeration, Enumeration) {
    let types = Operator::ALL
        .iter()
        .map(|operator| operator.word())
        .chain(ALIASES.iter().map(|(word, ..)| *word));
    let named = DEFAULTS
        .iter()
        .filter(|row| row.kind != crate::settings::operators::Kind::Part);
    let mut subtypes: Vec<&str> = named
        .flat_map(|row| row.names)
        .chain(ROWLESS.iter().map(|(_, name)| name))
        .copied()
        .collect();
    subtypes.sort_unstable();
    subtypes.dedup();
    (("type", types.collect()), ("subtype", subtypes))
}

fn documentation(xml: &mut TemplateWriter, text: &str) {
    xml.open("xs:annotation", &[])
        .leaf("xs:documentation", &[], text)
        .close();
}

/// Writes a type with the words of the language, which also accepts any other word that a project
/// may declare.
fn open_list(xml: &mut TemplateWriter, (name, words): &Enumeration) {
    xml.open("xs:simpleType", &[("name", name)])
        .open("xs:union", &[("memberTypes", "name")])
        .open("xs:simpleType", &[]);
    restriction(xml, words);
    xml.close().close().close();
}

fn restriction(xml: &mut TemplateWriter, words: &[&str]) {
    xml.open("xs:restriction", &[("base", "xs:token")]);
    for word in words {
        xml.empty("xs:enumeration", &[("value", word)]);
    }
    xml.close();
}

fn complex(xml: &mut TemplateWriter, spec: &Spec) {
    let mixed = matches!(
        spec.content,
        Content::Text | Content::TextOrElements | Content::Opaque
    );
    let name = name_of(spec.kind);
    let named = [("name", name.as_str()), ("mixed", "true")];
    xml.open(
        "xs:complexType",
        if mixed {
            &named
        } else {
            named.get(..1).unwrap_or(&[])
        },
    );
    documentation(xml, spec.doc);
    if spec.content == Content::Word {
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
        attributes(xml, spec.kind);
        xml.close().close().close();
        return;
    }
    if spec.content == Content::Opaque {
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
    children(xml, spec);
    attributes(xml, spec.kind);
    xml.close();
}

/// Writes children. If none can be repeated, they are a set; otherwise they are a repeatable
/// choice.
fn children(xml: &mut TemplateWriter, spec: &Spec) {
    if spec.children.is_empty() {
        return;
    }
    if spec.children.iter().any(|child| child.many) {
        let least = if needs_any(spec.kind) { "1" } else { "0" };
        xml.open(
            "xs:choice",
            &[("minOccurs", least), ("maxOccurs", "unbounded")],
        );
    } else {
        xml.open("xs:all", &[]);
    }
    for child in spec.children {
        let tag = child.kind.tag();
        let of = name_of(child.kind);
        let named = [("name", tag), ("type", of.as_str()), ("minOccurs", "0")];
        let in_choice = spec.children.iter().any(|child| child.many);
        let attributes = if in_choice || needed(spec.kind, child.kind) {
            named.get(..2)
        } else {
            Some(&named[..])
        };
        xml.empty("xs:element", attributes.unwrap_or(&[]));
    }
    xml.close();
}

fn attributes(xml: &mut TemplateWriter, kind: Kind) {
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
            Values::Bool => Some(&["true", "false"][..]),
            Values::OneOf(words) => Some(*words),
            Values::Any | Values::Name | Values::Count | Values::Sampling(_) => None,
        };
        let own = kind == Kind::Task && matches!(*name, "type" | "subtype");
        match values {
            Values::Any | Values::Sampling(_) => written.push(("type", "xs:string")),
            Values::Count => written.push(("type", "number")),
            Values::Name => written.push(("type", if own { name } else { "name" })),
            Values::Bool | Values::OneOf(_) => {}
        }
        if *required {
            written.push(("use", "required"));
        }
        xml.open("xs:attribute", &written);
        documentation(xml, doc);
        if let Some(words) = list {
            xml.open("xs:simpleType", &[]);
            restriction(xml, words);
            xml.close();
        }
        xml.close();
    }
    xml.empty(
        "xs:anyAttribute",
        &[("namespace", "##other"), ("processContents", "lax")],
    );
}
