//! The tree around an offset of a template, and the kind of each element by the element table.

use crate::project::config::Config;
use crate::settings::bodies::ResolvedBodies;
use crate::syntax::limits::XmlLimits;
use crate::syntax::reader::XmlReader;
use crate::syntax::tree::{Attribute, Element, XmlDocument};
use crate::template::elements::ElementKind;
use crate::template::model::TemplateFile;
use crate::template::{self};

/// Parses a text and passes its tree to `look`.
pub(super) fn with_document<T>(
    text: &str,
    limits: &XmlLimits,
    look: impl FnOnce(XmlDocument<'_>) -> T,
) -> T {
    let mut reader = XmlReader::new();
    reader.read(text, limits);
    look(reader.document(text))
}

/// Parses a text and passes its definitions and their resolved settings to `look`.
pub(super) fn with_resolved<T>(
    text: &str,
    config: &Config,
    look: impl FnOnce(&TemplateFile<'_>, &ResolvedBodies) -> T,
) -> T {
    with_document(text, &config.limits, |document| {
        with_resolved_document(document, config, look)
    })
}

/// Like [`with_resolved`], for a parsed tree.
pub(super) fn with_resolved_document<T>(
    document: XmlDocument<'_>,
    config: &Config,
    look: impl FnOnce(&TemplateFile<'_>, &ResolvedBodies) -> T,
) -> T {
    let file = template::lower_document(document);
    let mut bodies = ResolvedBodies::default();
    bodies.resolve(&file, &config.layers);
    look(&file, &bodies)
}

/// Returns true if the root of a text is an element of the language, or is likely meant as one.
pub(super) fn is_template(text: &str, limits: &XmlLimits) -> bool {
    with_document(text, limits, |document| {
        document
            .root()
            .is_some_and(|root| template::root_kind(root).is_some())
    })
}

/// Iterates over an element and its ancestors, the innermost first.
pub(super) fn ancestors<'a>(
    element: impl Into<Option<Element<'a>>>,
) -> impl Iterator<Item = Element<'a>> {
    std::iter::successors(element.into(), |element| element.parent())
}

/// Returns the kind of an element by the element table; `None` if it is not valid at its place.
pub(super) fn element_kind(element: Element<'_>) -> Option<ElementKind> {
    let mut chain: Vec<Element<'_>> = ancestors(element).collect();
    let root = chain.pop()?;
    let mut kind = match root.name() {
        "task" => ElementKind::Task,
        "template" => ElementKind::Template,
        "library" => ElementKind::Library,
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

/// Returns the type of a task element.
pub(super) fn task_operator(element: Element<'_>) -> Option<String> {
    match element.name() {
        "task" => element
            .attribute("type")
            .map(|attribute| attribute.value().trim().to_owned()),
        _ => None,
    }
}

/// The part of an element at an offset.
#[derive(Clone, Copy, Debug)]
pub(super) enum ElementPart<'a> {
    /// The name in a start or end tag.
    Name,
    /// The name of an attribute.
    AttributeName(Attribute<'a>),
    /// The value of an attribute.
    Value(Attribute<'a>),
    /// Another part of a tag.
    Tag,
    /// The content between the tags.
    Inside,
}

/// Returns the element at an offset and its part there.
pub(super) fn element_part(
    document: XmlDocument<'_>,
    offset: u32,
) -> Option<(Element<'_>, ElementPart<'_>)> {
    let element = document.element_at(offset)?;
    if element.name_span().touches(offset)
        || element.end_tag().is_some_and(|tag| tag.contains(offset))
    {
        return Some((element, ElementPart::Name));
    }
    for attribute in element.attributes() {
        if attribute.name_span().touches(offset) {
            return Some((element, ElementPart::AttributeName(attribute)));
        }
        if attribute.value_span().touches(offset) {
            return Some((element, ElementPart::Value(attribute)));
        }
    }
    let in_tag = element.start_tag().contains(offset);
    Some((
        element,
        if in_tag {
            ElementPart::Tag
        } else {
            ElementPart::Inside
        },
    ))
}
