//! Lowers text elements and single words.

use super::attributes::trim_value;
use super::children::{KnownChild, is_blank, is_foreign};
use super::state::Lower;
use crate::base::span::{Span, Spanned};
use crate::syntax::tree::{Element, NodeKind as Node};
use crate::template::elements::{ElementContent, ElementKind};
use crate::template::fault::TemplateFaultKind;
use crate::template::keywords::{TextSyntax, Trust};
use crate::template::parts::{Str, Substitution, TextElement};
use std::borrow::Cow;

impl<'a> TextElement<'a> {
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
    pub(super) fn set_attribute(&mut self, name: &str, value: Str<'a>) {
        match (name, &*value.value) {
            ("src", _) => self.src = Some(value),
            ("syntax", "jinja") => self.syntax = TextSyntax::Jinja,
            ("verbatim", "true") => self.substitution = Substitution::Off,
            ("trust", word) => self.trust = Trust::parse(word).unwrap_or_default(),
            _ => {}
        }
    }
}

impl<'a> Lower<'a> {
    /// Lowers a text element.
    pub(super) fn lower_text(
        &mut self,
        kind: ElementKind,
        element: Element<'a>,
    ) -> TextElement<'a> {
        let mut text = TextElement::new(element);
        self.lower_attributes(kind, element, |_, name, value| {
            text.set_attribute(name, value);
        });
        text.trust = text.trust.at_most(self.trust);
        self.check_text_content(kind, element, text.src.is_some());
        text
    }

    /// Checks the content of a text element: text, `use`, and no content beside a `src`.
    pub(super) fn check_text_content(
        &mut self,
        kind: ElementKind,
        element: Element<'a>,
        has_src: bool,
    ) {
        if kind.spec().content == ElementContent::Text {
            self.lower_children(kind, element, |lower, KnownChild { kind, element, .. }| {
                lower.lower_use(kind, element);
            });
        }
        if has_src && !is_blank(element) {
            self.report_fault(
                element,
                element.inner(),
                TemplateFaultKind::TwoContents { kind },
            );
        }
    }

    /// Checks a `<use fragment="…"/>`.
    pub(super) fn lower_use(&mut self, kind: ElementKind, element: Element<'a>) {
        self.lower_attributes(kind, element, |_, _, _| {});
        self.lower_children(kind, element, |_, _| {});
    }

    /// Lowers an element that contains one word or line. `None` if it is empty, which is reported.
    pub(super) fn lower_word(
        &mut self,
        kind: ElementKind,
        element: Element<'a>,
    ) -> Option<Str<'a>> {
        self.lower_attributes(kind, element, |_, _, _| {});
        self.lower_word_content(kind, element)
    }

    /// Like [`Self::word`], without the attributes.
    pub(super) fn lower_word_content(
        &mut self,
        kind: ElementKind,
        element: Element<'a>,
    ) -> Option<Str<'a>> {
        let mut holds_elements = false;
        for inside in element.elements().filter(|inside| !is_foreign(*inside)) {
            self.report_fault(
                inside,
                inside.name_span(),
                TemplateFaultKind::MisplacedElement { parent: kind },
            );
            holds_elements = true;
        }
        let word = trimmed_text(element);
        if word.value.is_empty() {
            // An element in the place of a word is one fault, not two.
            if !holds_elements {
                self.report_fault(
                    element,
                    element.span(),
                    TemplateFaultKind::Empty { name: kind.tag() },
                );
            }
            return None;
        }
        Some(word)
    }
}

/// The trimmed text of an element with its span; the span of the whole content if comments or
/// sections split it.
pub(super) fn trimmed_text(element: Element<'_>) -> Str<'_> {
    let mut texts = element
        .children()
        .filter(|node| matches!(node.kind(), Node::Text | Node::Cdata));
    let first = texts.next();
    let second = texts.next();
    match (first, second) {
        (None, _) => Spanned::new(Cow::Borrowed(""), element.inner()),
        (Some(node), None) => trim_value(node.text(), node.inner()),
        (Some(first), Some(_)) => {
            let last = texts
                .last()
                .or(second)
                .map_or(first.span(), crate::syntax::tree::XmlNode::span);
            let text = element.text().trim().to_owned();
            Spanned::new(Cow::Owned(text), Span::new(first.span().start, last.end))
        }
    }
}
