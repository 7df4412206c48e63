//! RELAX NG patterns as data, as far as the language requires them. Never text; [`super::rng`]
//! writes it.

use crate::template::elements::{Attr, Kind, Values};

/// A pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Pattern {
    /// A definition by its name.
    Ref(String),
    /// An element without a namespace, with its content in this order.
    Element(&'static str, Vec<Pattern>),
    /// An attribute without a namespace.
    Attribute(&'static str, Box<Pattern>),
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
    Choice(Vec<Pattern>),
    /// These, in this order.
    Group(Vec<Pattern>),
    /// These, in any order.
    Interleave(Vec<Pattern>),
    /// This or nothing.
    Optional(Box<Pattern>),
    /// Any number of these, including none.
    ZeroOrMore(Box<Pattern>),
    /// At least one of these.
    OneOrMore(Box<Pattern>),
}

/// A named pattern.
#[derive(Clone, Debug)]
pub(super) struct Define {
    pub(super) name: String,
    /// A description; may be empty.
    pub(super) doc: String,
    pub(super) pattern: Pattern,
}

/// A whole schema.
#[derive(Clone, Debug)]
pub(super) struct Grammar {
    pub(super) doc: String,
    pub(super) start: Pattern,
    pub(super) defines: Vec<Define>,
}

/// The largest number that an element may contain.
pub(super) const MOST: u32 = u32::MAX;

/// A reference to the definition of a kind of element.
pub(super) fn kind(kind: Kind) -> Pattern {
    Pattern::Ref(name_of(kind))
}

/// The name of a kind's definition. It is not the tag, because one tag can be two kinds.
pub(super) fn name_of(kind: Kind) -> String {
    format!("{kind:?}")
}

/// A choice of words.
pub(super) fn words(words: &[&'static str]) -> Pattern {
    choice(words.iter().map(|word| Pattern::Word(word)).collect())
}

/// A choice, or the pattern itself if there is only one.
pub(super) fn choice(mut of: Vec<Pattern>) -> Pattern {
    match (of.len(), of.pop()) {
        (1, Some(only)) => only,
        (_, Some(last)) => {
            of.push(last);
            Pattern::Choice(of)
        }
        (_, None) => Pattern::Empty,
    }
}

pub(super) fn optional(pattern: Pattern) -> Pattern {
    Pattern::Optional(Box::new(pattern))
}

pub(super) fn attribute(name: &'static str, value: Pattern) -> Pattern {
    Pattern::Attribute(name, Box::new(value))
}

pub(super) fn element(tag: &'static str, content: Vec<Pattern>) -> Pattern {
    Pattern::Element(tag, content)
}

/// The pattern of the values that an attribute accepts.
pub(super) fn values(values: Values) -> Pattern {
    match values {
        Values::Name | Values::Sampling(_) => Pattern::Name,
        Values::Any => Pattern::Text,
        Values::Count => Pattern::Number,
        Values::Bool => words(&["true", "false"]),
        Values::OneOf(allowed) => words(allowed),
    }
}

/// The patterns of the attributes of an element, and of foreign ones.
pub(super) fn attributes(kind: Kind) -> Vec<Pattern> {
    let own = kind.attributes().map(
        |Attr {
             name,
             values: value,
             required,
             ..
         }| {
            let pattern = attribute(name, values(*value));
            if *required {
                pattern
            } else {
                optional(pattern)
            }
        },
    );
    own.chain([Pattern::ForeignAttributes]).collect()
}
