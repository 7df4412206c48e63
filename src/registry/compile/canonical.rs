//! The canonical form of a text for the agent: a list of text parts, with fragments between them.
//!
//! Never substitutes a variable and never follows a `use`; rendering does both. Never reads a file:
//! the texts of `src` are passed in.

use crate::registry::artifact::ReferenceKind;
use crate::registry::body::{Text, TextPart};
use crate::syntax::tree::{Element, NodeKind};
use crate::template::parts::{self, Substitution};
use crate::template::text::{dedent, dedent_element, normalize_line_ends};
use std::borrow::Cow;

/// Marks a `use` while the indentation of a text is removed. No XML document can contain it.
const USE_MARK: char = '\u{1}';

/// The files that one template includes, by the path as written. `None` is a file that could not be
/// read, which is reported elsewhere.
pub(super) trait IncludedTexts {
    /// The decoded text of a `src`.
    fn text(&self, written: &str) -> Option<&str>;

    /// The JSON Schema of an answer, without layout.
    fn schema(&self, written: &str) -> Option<&str>;

    /// The name in the registry of a definition that the template refers to.
    fn full_name<'n>(&self, written: &'n str) -> Cow<'n, str> {
        Cow::Borrowed(written)
    }
}

/// An empty set of files.
impl IncludedTexts for () {
    fn text(&self, _: &str) -> Option<&str> {
        None
    }

    fn schema(&self, _: &str) -> Option<&str> {
        None
    }
}

/// The canonical form of a text, with its attributes. Adds the fragments that it uses to
/// `references`.
pub(super) fn canonical_text<'s>(
    text: &'s parts::TextElement<'_>,
    sources: &'s dyn IncludedTexts,
    references: &mut Vec<(ReferenceKind, String)>,
) -> Text<'s> {
    let mut out = match &text.src {
        Some(src) => {
            let words = sources.text(&src.value).unwrap_or("");
            let words = if preserves_space(text.element) {
                normalize_line_ends(words)
            } else {
                dedent(words)
            };
            Text {
                text: Some(words),
                src: Some(Cow::Borrowed(&*src.value)),
                ..Text::default()
            }
        }
        None => element_content(text.element, sources, references),
    };
    out.syntax = text.syntax;
    out.verbatim = text.substitution == Substitution::Off;
    out.trust = text.trust;
    out
}

/// The canonical content of an element.
fn element_content<'s>(
    element: Element<'s>,
    sources: &dyn IncludedTexts,
    references: &mut Vec<(ReferenceKind, String)>,
) -> Text<'s> {
    let mut uses = element
        .elements()
        .filter(|child| is_use(*child))
        .map(fragment_name)
        .peekable();
    let shown = |text: Cow<'s, str>| match text {
        text if preserves_space(element) => text,
        Cow::Borrowed(text) => dedent_element(text),
        Cow::Owned(text) => Cow::Owned(dedent_element(&text).into_owned()),
    };
    if uses.peek().is_none() {
        return Text {
            text: Some(shown(element.text())),
            ..Text::default()
        };
    }
    let mut parts = Vec::new();
    for (number, words) in shown(Cow::Owned(text_with_marks(element)))
        .split(USE_MARK)
        .enumerate()
    {
        if number > 0 {
            let name = uses.next().unwrap_or_default();
            let name = sources.full_name(&name).into_owned();
            references.push((ReferenceKind::Use, name.clone()));
            parts.push(TextPart::Use {
                name: Cow::Owned(name),
            });
        }
        if !words.is_empty() {
            parts.push(TextPart::Text {
                text: Cow::Owned(words.to_owned()),
            });
        }
    }
    Text {
        parts: Some(parts),
        ..Text::default()
    }
}

/// The text of an element with a mark for each `use`.
fn text_with_marks(element: Element<'_>) -> String {
    let mut out = String::new();
    for node in element.children() {
        match node.kind() {
            NodeKind::Text | NodeKind::Cdata => out.push_str(&node.text()),
            NodeKind::Element if node.as_element().is_some_and(is_use) => out.push(USE_MARK),
            NodeKind::Element | NodeKind::Comment | NodeKind::Instruction => {}
        }
    }
    out
}

/// Returns true if an element includes a fragment.
pub(crate) fn is_use(element: Element<'_>) -> bool {
    element.namespace().is_none() && element.name() == "use"
}

fn fragment_name(element: Element<'_>) -> String {
    element
        .attribute("fragment")
        .map_or_else(String::new, |name| name.value().trim().to_owned())
}

/// Returns true if the nearest `xml:space` is `preserve`.
pub(crate) fn preserves_space(element: Element<'_>) -> bool {
    let mut at = Some(element);
    while let Some(element) = at {
        if let Some(space) = element.attribute("xml:space") {
            return space.value() == "preserve";
        }
        at = element.parent();
    }
    false
}
