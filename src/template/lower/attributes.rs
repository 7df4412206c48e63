//! Checks attributes against the element table.

use super::children::is_blank;
use super::state::Lower;
use crate::base::span::{Span, Spanned};
use crate::base::suggest;
use crate::kernel::sampling::Parameter;
use crate::syntax::tree::{Attribute, Element};
use crate::template::elements::{Attr, AttrValues, ElementKind};
use crate::template::fault::TemplateFaultKind;
use crate::template::parts::Str;
use crate::template::setting::Word;
use std::borrow::Cow;

/// Elements that have no effect if they are empty and no attribute gives them a value.
const NO_EFFECT_IF_EMPTY: [ElementKind; 13] = [
    ElementKind::Instructions,
    ElementKind::System,
    ElementKind::Criteria,
    ElementKind::Constraints,
    ElementKind::Constraint,
    ElementKind::ContextRelevance,
    ElementKind::FilesDescription,
    ElementKind::OutputFormat,
    ElementKind::Sampling,
    ElementKind::Examples,
    ElementKind::ExampleInput,
    ElementKind::ExampleOutput,
    ElementKind::Env,
];

impl<'a> Lower<'a> {
    /// Passes each known attribute with a valid value to `take`; reports other attributes, and
    /// missing ones.
    pub(super) fn lower_attributes(
        &mut self,
        kind: ElementKind,
        element: Element<'a>,
        mut take: impl FnMut(&mut Self, &'static str, Str<'a>),
    ) {
        let mut seen = 0_u32;
        for attribute in element.attributes() {
            let name = attribute.name();
            // An undeclared prefix has been reported; a prefixed attribute is foreign in any case.
            if attribute.namespace().is_some() || name == "xmlns" || name.contains(':') {
                continue;
            }
            let Some((at, known)) = kind
                .attributes()
                .enumerate()
                .find(|(_, known)| known.name == name)
            else {
                // A duplicate attribute has been reported as such.
                if element
                    .attribute(name)
                    .is_some_and(|first| first.name_span() != attribute.name_span())
                {
                    continue;
                }
                let meant = intended_attribute(kind, element, name, seen);
                let known = meant.map(|(_, known)| known.name);
                self.report_tag_fault(
                    element,
                    attribute.name_span(),
                    TemplateFaultKind::UnknownAttribute {
                        kind,
                        attribute,
                        meant: known,
                    },
                );
                // Read as the intended attribute. A reference is excluded: it would turn the
                // element into another one.
                if let Some((at, known)) = meant.filter(|(_, known)| known.name != "ref") {
                    seen |= 1 << at;
                    if let Some(value) = self.attribute_value(element, known, attribute) {
                        take(self, known.name, value);
                    }
                }
                continue;
            };
            // Duplicates have been reported by the parser; the first one counts.
            if seen & (1 << at) != 0 {
                continue;
            }
            seen |= 1 << at;
            if let Some(value) = self.attribute_value(element, known, attribute) {
                if known.name == "as" || (kind, known.name) == (ElementKind::Input, "name") {
                    self.check_reachable_name(element, known.name, &value);
                    self.check_not_literal(element, known.name, &value);
                }
                take(self, known.name, value);
            }
        }
        // In a text element, `syntax`, `verbatim` and `trust` do not count. An unknown attribute
        // counts: it may be a misspelled `src`.
        let says_something = |attribute: Attribute<'_>| {
            !kind.is_text() || !["syntax", "verbatim", "trust"].contains(&attribute.name())
        };
        if NO_EFFECT_IF_EMPTY.contains(&kind)
            && is_blank(element)
            && !element.attributes().any(says_something)
        {
            self.report_fault(
                element,
                element.span(),
                TemplateFaultKind::ElementWithoutEffect { kind },
            );
        }
        for (at, Attr { name, required, .. }) in kind.spec().attributes.iter().enumerate() {
            if *required && seen & (1 << at) == 0 {
                self.report_fault(
                    element,
                    element.name_span(),
                    TemplateFaultKind::MissingAttribute { kind, name },
                );
            }
        }
    }

    fn attribute_value(
        &mut self,
        element: Element<'a>,
        known: &'static Attr,
        attribute: Attribute<'a>,
    ) -> Option<Str<'a>> {
        let raw = attribute.value();
        // Blanks are significant in a stop text.
        if known.values == AttrValues::Any
            || (known.values == AttrValues::Sampling(Parameter::Stop) && !raw.is_empty())
        {
            return Some(Spanned::new(raw, attribute.value_span()));
        }
        let value = trim_value(raw, attribute.value_span());
        match known.values {
            AttrValues::Name if value.value.is_empty() => {
                self.report_tag_fault(
                    element,
                    attribute.span(),
                    TemplateFaultKind::Empty { name: known.name },
                );
                return None;
            }
            AttrValues::Any | AttrValues::Name => {}
            AttrValues::Count => {
                if value.value.parse::<std::num::NonZeroU32>().is_err() {
                    let found = value.value.into_owned();
                    let expected = "a whole number from 1";
                    self.report_tag_fault(
                        element,
                        value.span,
                        TemplateFaultKind::BadNumber {
                            name: known.name,
                            found,
                            expected,
                        },
                    );
                    return None;
                }
            }
            AttrValues::Sampling(parameter) => {
                if parameter.parse_value(&value.value).is_none() {
                    let found = value.value.into_owned();
                    let expected = parameter.expected_value();
                    self.report_tag_fault(
                        element,
                        value.span,
                        TemplateFaultKind::BadNumber {
                            name: known.name,
                            found,
                            expected,
                        },
                    );
                    return None;
                }
            }
            AttrValues::Bool => {
                if let Err(kind) = parse_boolean(known.name, &value) {
                    let word = if let TemplateFaultKind::BadBoolean { meant, .. } = kind {
                        Some(meant.word())
                    } else {
                        None
                    };
                    self.report_tag_fault(element, value.span, kind);
                    return word.map(|word| Spanned::new(Cow::Borrowed(word), value.span));
                }
            }
            AttrValues::OneOf(allowed) => {
                if !allowed.contains(&&*value.value) {
                    let found = value.value.into_owned();
                    // Read as the intended word: otherwise a text of the wrong kind would lead to
                    // misleading fixes.
                    let word = suggest::likeliest_candidate(&found, allowed.iter().copied());
                    self.report_tag_fault(
                        element,
                        value.span,
                        TemplateFaultKind::BadValue {
                            name: known.name,
                            found,
                            allowed,
                        },
                    );
                    return word.map(|word| Spanned::new(Cow::Borrowed(word), value.span));
                }
            }
        }
        Some(value)
    }
}

/// Returns the absent attribute that a name stands for: one with a similar name or with this alias.
fn intended_attribute(
    kind: ElementKind,
    element: Element<'_>,
    name: &str,
    seen: u32,
) -> Option<(usize, &'static Attr)> {
    let free = || {
        let known = kind.attributes().enumerate();
        known.filter(move |(at, known)| {
            seen & (1 << at) == 0 && element.attribute(known.name).is_none()
        })
    };
    let near = suggest::nearest_candidate(name, free().map(|(_, known)| known.name));
    near.and_then(|near| free().find(|(_, known)| known.name == near))
        .or_else(|| free().find(|(_, known)| known.aliases.contains(&name)))
}

/// Parses `true` or `false`.
pub(super) fn parse_boolean<'a>(
    name: &'static str,
    value: &Str<'a>,
) -> Result<bool, TemplateFaultKind<'a>> {
    let Some(read) = bool::parse(&value.value) else {
        let found = value.value.to_string();
        return Err(match parse_truth_word(&found) {
            Some(meant) => TemplateFaultKind::BadBoolean { name, found, meant },
            None if found.is_empty() => TemplateFaultKind::Empty { name },
            None => TemplateFaultKind::BadValue {
                name,
                found,
                allowed: &["true", "false"],
            },
        });
    };
    Ok(read)
}

/// Parses common words for true and false.
fn parse_truth_word(found: &str) -> Option<bool> {
    let is = |words: &[&str]| words.iter().any(|word| word.eq_ignore_ascii_case(found));
    if is(&["yes", "y", "1", "on", "true"]) {
        Some(true)
    } else if is(&["no", "n", "0", "off", "false"]) {
        Some(false)
    } else {
        None
    }
}

/// Removes surrounding white space; the span shrinks if its bytes are those of the source.
pub(super) fn trim_value(value: Cow<'_, str>, span: Span) -> Str<'_> {
    match value {
        // Fast path: nearly every value begins and ends with a visible character.
        Cow::Borrowed(text)
            if [text.as_bytes().first(), text.as_bytes().last()]
                .iter()
                .all(|end| end.is_some_and(u8::is_ascii_graphic)) =>
        {
            Spanned::new(Cow::Borrowed(text), span)
        }
        Cow::Borrowed(text) => {
            let start = text.len() - text.trim_start().len();
            let kept = text.trim();
            let from = span.start + start as u32;
            let span = if span.len() as usize == text.len() {
                Span::new(from, from + kept.len() as u32)
            } else {
                span
            };
            Spanned::new(Cow::Borrowed(kept), span)
        }
        Cow::Owned(text) => Spanned::new(Cow::Owned(text.trim().to_owned()), span),
    }
}
