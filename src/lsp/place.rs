//! What stands at an offset of a template: the tree around it, and the kind that the element table gives each element.

use crate::project::config::Config;
use crate::settings::bodies::Bodies;
use crate::syntax::limits::Limits;
use crate::syntax::reader::Reader;
use crate::syntax::tree::{Attribute, Document, Element};
use crate::template::elements::Kind;
use crate::template::model::File;
use crate::template::{self};

/// Reads a text and hands its tree on.
pub(super) fn with<T>(text: &str, limits: &Limits, look: impl FnOnce(Document<'_>) -> T) -> T {
    let mut reader = Reader::new();
    reader.read(text, limits);
    look(reader.document(text))
}

/// Reads a text and hands on its tree, its definitions and the settings of their bodies as they resolve.
pub(super) fn resolved<T>(text: &str, config: &Config, look: impl FnOnce(&File<'_>, &Bodies) -> T) -> T {
    with(text, &config.limits, |document| look_resolved(document, config, look))
}

/// The same for a tree that was read.
pub(super) fn look_resolved<T>(document: Document<'_>, config: &Config, look: impl FnOnce(&File<'_>, &Bodies) -> T) -> T {
    let file = template::lower(document);
    let mut bodies = Bodies::default();
    bodies.resolve(&file, &config.layers);
    look(&file, &bodies)
}

/// Whether the root of a text is one of the language's, or was meant so.
pub(super) fn is_template(text: &str, limits: &Limits) -> bool {
    with(text, limits, |document| document.root().is_some_and(|root| template::root_kind(root).is_some()))
}

/// An element and those around it, the innermost first.
pub(super) fn around<'a>(element: impl Into<Option<Element<'a>>>) -> impl Iterator<Item = Element<'a>> {
    std::iter::successors(element.into(), |element| element.parent())
}

/// What the element table calls an element; `None` where it knows none in that place.
pub(super) fn kind(element: Element<'_>) -> Option<Kind> {
    let mut chain: Vec<Element<'_>> = around(element).collect();
    let root = chain.pop()?;
    let mut kind = match root.name() {
        "task" => Kind::Task,
        "template" => Kind::Template,
        "library" => Kind::Library,
        _ => return None,
    };
    for element in chain.into_iter().rev() {
        if element.namespace().is_some() {
            return None;
        }
        kind = kind.child(element.name())?.kind;
    }
    Some(kind)
}

/// The type of the task that an element is.
pub(super) fn operator(element: Element<'_>) -> Option<String> {
    match element.name() {
        "task" => element.attribute("type").map(|attribute| attribute.value().trim().to_owned()),
        _ => None,
    }
}

/// Where in an element an offset is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Spot<'a> {
    /// In the name of a start or end tag.
    Name,
    /// In the name of an attribute.
    AttributeName(Attribute<'a>),
    /// In the value of an attribute.
    Value(Attribute<'a>),
    /// Elsewhere in a tag.
    Tag,
    /// Between the tags.
    Inside,
}

/// The element at an offset, and where in it.
pub(super) fn spot(document: Document<'_>, offset: u32) -> Option<(Element<'_>, Spot<'_>)> {
    let element = document.element_at(offset)?;
    if element.name_span().touches(offset) || element.end_tag().is_some_and(|tag| tag.contains(offset)) {
        return Some((element, Spot::Name));
    }
    for attribute in element.attributes() {
        if attribute.name_span().touches(offset) {
            return Some((element, Spot::AttributeName(attribute)));
        }
        if attribute.value_span().touches(offset) {
            return Some((element, Spot::Value(attribute)));
        }
    }
    let in_tag = element.start_tag().contains(offset);
    Some((element, if in_tag { Spot::Tag } else { Spot::Inside }))
}
