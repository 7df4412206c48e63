//! Lowers text elements and single words.

use super::attributes::trimmed;
use super::children::{Found, is_blank, is_foreign};
use super::state::Lower;
use crate::base::span::{Span, Spanned};
use crate::syntax::tree::{Element, Kind as Node};
use crate::template::elements::{Content, Kind};
use crate::template::fault::FaultKind;
use crate::template::keywords::{TextSyntax, Trust};
use crate::template::parts::{Str, Substitution, Text};
use std::borrow::Cow;

impl<'a> Text<'a> {
    pub(super) fn new(element: Element<'a>) -> Self {
        Self {
            element,
            src: None,
            syntax: TextSyntax::Plain,
            substitution: Substitution::On,
            trust: Trust::Trusted,
        }
    }

    /// Sets one of the attributes that every text element has; ignores others.
    pub(super) fn set(&mut self, name: &str, value: Str<'a>) {
        match (name, &*value.value) {
            ("src", _) => self.src = Some(value),
            ("syntax", "jinja") => self.syntax = TextSyntax::Jinja,
            ("verbatim", "true") => self.substitution = Substitution::Off,
            ("trust", word) => self.trust = Trust::of(word).unwrap_or_default(),
            _ => {}
        }
    }
}

impl<'a> Lower<'a> {
    /// Lowers a text element.
    pub(super) fn text(&mut self, kind: Kind, element: Element<'a>) -> Text<'a> {
        let mut text = Text::new(element);
        self.attributes(kind, element, |_, name, value| text.set(name, value));
        self.text_content(kind, element, text.src.is_some());
        text
    }

    /// Checks the content of a text element: text, `use`, and no content beside a `src`.
    pub(super) fn text_content(&mut self, kind: Kind, element: Element<'a>, has_src: bool) {
        if kind.spec().content == Content::Text {
            self.children(kind, element, |lower, Found { kind, element, .. }| {
                lower.uses(kind, element);
            });
        }
        if has_src && !is_blank(element) {
            self.fault(element, element.inner(), FaultKind::TwoContents { kind });
        }
    }

    /// Checks a `<use fragment="…"/>`.
    pub(super) fn uses(&mut self, kind: Kind, element: Element<'a>) {
        self.attributes(kind, element, |_, _, _| {});
        self.children(kind, element, |_, _| {});
    }

    /// Lowers an element that contains one word or line. `None` if it is empty, which is reported.
    pub(super) fn word(&mut self, kind: Kind, element: Element<'a>) -> Option<Str<'a>> {
        self.attributes(kind, element, |_, _, _| {});
        self.word_content(kind, element)
    }

    /// Like [`Self::word`], without the attributes.
    pub(super) fn word_content(&mut self, kind: Kind, element: Element<'a>) -> Option<Str<'a>> {
        let mut holds_elements = false;
        for inside in element.elements().filter(|inside| !is_foreign(*inside)) {
            self.fault(
                inside,
                inside.name_span(),
                FaultKind::MisplacedElement { parent: kind },
            );
            holds_elements = true;
        }
        let word = word_of(element);
        if word.value.is_empty() {
            // An element in the place of a word is one fault, not two.
            if !holds_elements {
                self.fault(
                    element,
                    element.span(),
                    FaultKind::Empty { name: kind.tag() },
                );
            }
            return None;
        }
        Some(word)
    }
}

/// The trimmed text of an element with its span; the span of the whole content if comments or
/// sections split it.
pub(super) fn word_of(element: Element<'_>) -> Str<'_> {
    let mut texts = element
        .children()
        .filter(|node| matches!(node.kind(), Node::Text | Node::Cdata));
    let first = texts.next();
    let second = texts.next();
    match (first, second) {
        (None, _) => Spanned::new(Cow::Borrowed(""), element.inner()),
        (Some(node), None) => trimmed(node.text(), node.inner()),
        (Some(first), Some(_)) => {
            let last = texts
                .last()
                .or(second)
                .map_or(first.span(), crate::syntax::tree::Node::span);
            let text = element.text().trim().to_owned();
            Spanned::new(Cow::Owned(text), Span::new(first.span().start, last.end))
        }
    }
}
