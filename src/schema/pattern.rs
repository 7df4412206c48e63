//! RELAX NG patterns as data, as far as the language requires them. Never text; [`super::rng`]
//! writes it.

use crate::template::elements::{Attr, AttrValues, ElementKind};

/// A pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RngPattern {
    /// A definition by its name.
    Ref(String),
    /// An element without a namespace, with its content in this order.
    Element(&'static str, Vec<RngPattern>),
    /// An attribute without a namespace.
    Attribute(&'static str, Box<RngPattern>),
    /// Any attributes of other namespaces.
    ForeignAttributes,
    /// Any elements of other namespaces.
    ForeignElements,
    /// Anything at all.
    Anything,
    /// Any text.
    Text,
    /// Nothing.
    Empty,
    /// A word, ignoring white space around it.
    Word(&'static str),
    /// A word that is not empty.
    Name,
    /// A whole number from 1 that fits 32 bits.
    Number,
    /// One of these.
    Choice(Vec<RngPattern>),
    /// These, in this order.
    Group(Vec<RngPattern>),
    /// These, in any order.
    Interleave(Vec<RngPattern>),
    /// This or nothing.
    Optional(Box<RngPattern>),
    /// Any number of these, including none.
    ZeroOrMore(Box<RngPattern>),
    /// At least one of these.
    OneOrMore(Box<RngPattern>),
}

/// A named pattern.
#[derive(Clone, Debug)]
pub(super) struct Define {
    pub(super) name: String,
    /// A description; may be empty.
    pub(super) doc: String,
    pub(super) pattern: RngPattern,
}

/// A whole schema.
#[derive(Clone, Debug)]
pub(super) struct Grammar {
    pub(super) doc: String,
    pub(super) start: RngPattern,
    pub(super) defines: Vec<Define>,
}

/// The largest number that an element may contain.
pub(super) const MAX_NUMBER: u32 = u32::MAX;

/// A reference to the definition of a kind of element.
pub(super) fn kind_reference(kind: ElementKind) -> RngPattern {
    RngPattern::Ref(definition_name(kind))
}

/// The name of a kind's definition. It is not the tag, because one tag can be two kinds.
pub(super) fn definition_name(kind: ElementKind) -> String {
    format!("{kind:?}")
}

/// A choice of words.
pub(super) fn word_choice(words: &[&'static str]) -> RngPattern {
    choice(words.iter().map(|word| RngPattern::Word(word)).collect())
}

/// A choice, or the pattern itself if there is only one.
pub(super) fn choice(mut of: Vec<RngPattern>) -> RngPattern {
    match (of.len(), of.pop()) {
        (1, Some(only)) => only,
        (_, Some(last)) => {
            of.push(last);
            RngPattern::Choice(of)
        }
        (_, None) => RngPattern::Empty,
    }
}

pub(super) fn optional(pattern: RngPattern) -> RngPattern {
    RngPattern::Optional(Box::new(pattern))
}

pub(super) fn attribute(name: &'static str, value: RngPattern) -> RngPattern {
    RngPattern::Attribute(name, Box::new(value))
}

pub(super) fn element(tag: &'static str, content: Vec<RngPattern>) -> RngPattern {
    RngPattern::Element(tag, content)
}

/// The pattern of the values that an attribute accepts.
pub(super) fn value_pattern(values: AttrValues) -> RngPattern {
    match values {
        AttrValues::Name | AttrValues::Sampling(_) => RngPattern::Name,
        AttrValues::Any => RngPattern::Text,
        AttrValues::Count => RngPattern::Number,
        AttrValues::Bool => word_choice(&["true", "false"]),
        AttrValues::OneOf(allowed) => word_choice(allowed),
    }
}

/// The patterns of the attributes of an element, and of foreign ones.
pub(super) fn attribute_patterns(kind: ElementKind) -> Vec<RngPattern> {
    let own = kind.attributes().map(
        |Attr {
             name,
             values: value,
             required,
             ..
         }| {
            let pattern = attribute(name, value_pattern(*value));
            if *required {
                pattern
            } else {
                optional(pattern)
            }
        },
    );
    own.chain([RngPattern::ForeignAttributes]).collect()
}
