//! Faults that lowering finds, as data. Their messages are written by the rules of families 1xx and
//! 4xx, nowhere else.

use super::elements::{ElementKind, OwnerType};
use super::setting::{SettingName, Word};
use crate::base::span::Span;
use crate::base::suggest::nearest_candidate;
use crate::syntax::tree::{Attribute, Element};

/// A fault of an element.
#[derive(Clone, Debug)]
pub struct TemplateFault<'a> {
    /// The kind of fault.
    pub kind: TemplateFaultKind<'a>,
    /// The span that the finding points at.
    pub span: Span,
    /// The element concerned: the unknown one, the one with the bad attribute, the one that lacks a
    /// child.
    pub element: Element<'a>,
    /// True if the fault decides a setting, a type or a subtype, or removes a text or value. If
    /// such a fault is ignored, the agent does not receive everything that its author wrote.
    pub loses_something: bool,
}

/// The kinds of faults of an element.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum TemplateFaultKind<'a> {
    /// The root is not `task`, `template` or `library`.
    WrongRoot,
    /// An element that is not allowed here: its name is unknown, or known only under other parents.
    UnknownElement {
        /// The kind of its parent.
        parent: ElementKind,
        /// True if the name is known under other parents: a misplacement, not a typo.
        known_elsewhere: bool,
        /// The kind that the misspelled name is read as.
        meant: Option<ElementKind>,
    },
    /// One of the four settings outside `context_management`.
    MisplacedSetting {
        /// The setting.
        setting: SettingName,
        /// The `context_management` of the task, if present.
        block: Option<Element<'a>>,
        /// The task that contains it.
        task: Element<'a>,
    },
    /// A child that belongs to another type of task.
    WrongType {
        /// The child.
        kind: ElementKind,
        /// The type that the child belongs to.
        of: OwnerType,
        /// The type of the task: `None` if absent, empty if it is not a type of the language.
        found: Option<&'a str>,
    },
    /// A second element where only one is allowed.
    Repeated {
        /// The kind of the element.
        kind: ElementKind,
        /// The span of the first element's name.
        first: Span,
    },
    /// An unknown attribute.
    UnknownAttribute {
        /// The element's kind.
        kind: ElementKind,
        /// The attribute.
        attribute: Attribute<'a>,
        /// The attribute that it is read as.
        meant: Option<&'static str>,
    },
    /// An attribute without effect where its element stands.
    AttributeWithoutEffect {
        /// The attribute.
        attribute: Attribute<'a>,
        /// The reason why it has no effect.
        why: &'static str,
    },
    /// A missing attribute.
    MissingAttribute {
        /// The element's kind.
        kind: ElementKind,
        /// The attribute's name.
        name: &'static str,
    },
    /// A missing child.
    MissingChild {
        /// The parent's kind.
        kind: ElementKind,
        /// The child.
        child: ElementKind,
    },
    /// A word outside the allowed set, in an attribute or a setting.
    BadValue {
        /// The attribute's or element's name.
        name: &'static str,
        /// The actual text, trimmed.
        found: String,
        /// The allowed words.
        allowed: &'static [&'static str],
    },
    /// A text that is not an allowed one.
    BadText {
        /// The attribute's or element's name.
        name: &'static str,
        /// The actual text.
        found: String,
        /// The expected text.
        expected: &'static str,
    },
    /// `yes`, `no`, `1`, `0`, `True` … in place of `true` or `false`.
    BadBoolean {
        /// The attribute's or element's name.
        name: &'static str,
        /// The actual text, trimmed.
        found: String,
        /// Its meaning.
        meant: bool,
    },
    /// A text that is not a number in range.
    BadNumber {
        /// The element's name.
        name: &'static str,
        /// The actual text, trimmed.
        found: String,
        /// The expected text.
        expected: &'static str,
    },
    /// An empty value where one is required.
    Empty {
        /// The element's or attribute's name.
        name: &'static str,
    },
    /// An element without content: it has no effect.
    ElementWithoutEffect {
        /// The kind of the element.
        kind: ElementKind,
    },
    /// A name that no expression can refer to; its value is rendered all the same.
    UnreachableName {
        /// The attribute's name.
        name: &'static str,
        /// The actual text.
        found: String,
    },
    /// Text where only elements are allowed.
    MisplacedText {
        /// The kind of its parent.
        parent: ElementKind,
    },
    /// An element inside a single word.
    MisplacedElement {
        /// The kind of the element that holds the word.
        parent: ElementKind,
    },
    /// Two contents that exclude each other: `from` and text, text and a nested task.
    TwoContents {
        /// The element's kind.
        kind: ElementKind,
    },
    /// No content where one is required.
    NoContent {
        /// The element's kind.
        kind: ElementKind,
    },
    /// A second entry with the same name in a list of inputs or parameters.
    RepeatedName {
        /// The entry's kind.
        kind: ElementKind,
        /// The name.
        name: String,
        /// The span of the first entry's name.
        first: Span,
    },
    /// A body in place that is wrapped in a task of its own.
    NestedBody {
        /// The part, such as `inner_task`.
        part: ElementKind,
    },
    /// A value of an older dialect, read as its modern equivalent.
    LegacyValue {
        /// The element's or attribute's name.
        name: &'static str,
        /// The actual value.
        found: &'static str,
        /// The modern value.
        modern: &'static str,
    },
    /// A type of an older dialect, read as its modern equivalent.
    LegacyType {
        /// The actual type.
        found: &'static str,
        /// The modern type.
        modern: &'static str,
        /// The subtype that is set with it.
        subtype: Option<&'static str>,
    },
    /// An element of an older dialect: recorded, without effect.
    Deprecated {
        /// The kind of the element.
        kind: ElementKind,
    },
    /// A task with `ref` and a body.
    RefWithBody {
        /// The first child that conflicts with `ref`.
        child: Element<'a>,
    },
}

impl TemplateFaultKind<'_> {
    /// True if the fault is reported but is no error: the text is of an older dialect and read in
    /// its modern form, or has no effect.
    pub const fn is_accepted(&self) -> bool {
        matches!(
            self,
            Self::NestedBody { .. }
                | Self::LegacyValue { .. }
                | Self::LegacyType { .. }
                | Self::Deprecated { .. }
                | Self::ElementWithoutEffect { .. }
                | Self::UnreachableName { .. }
        )
    }

    /// True if an attribute, or an element with all its content, was not read: names may be used in
    /// it.
    pub(super) const fn leaves_unread(&self) -> bool {
        matches!(
            self,
            Self::UnknownElement { meant: None, .. }
                | Self::UnknownAttribute { meant: None, .. }
                | Self::MisplacedElement { .. }
                | Self::Repeated { .. }
        )
    }

    /// True if the fault, at this element, removes something that the author wrote.
    pub(super) fn loses_something(&self, element: Element<'_>) -> bool {
        let says_something = || {
            !element.text().trim().is_empty()
                || element.elements().next().is_some()
                || element.attributes().next().is_some()
        };
        let is_left_out = self.leaves_unread() && !matches!(self, Self::UnknownAttribute { .. });
        let is_value = matches!(self, Self::BadValue { name: "trust", .. });
        let is_content = |attribute: &Attribute<'_>| {
            ElementKind::parents_of_tag(attribute.name())
                .next()
                .is_some()
        };
        self.decides_settings(element)
            || is_left_out && says_something()
            || is_value
            || matches!(self, Self::UnknownAttribute { meant: None, attribute, .. } if is_content(attribute))
            || matches!(
                self,
                Self::MisplacedText { .. }
                    | Self::TwoContents { .. }
                    | Self::BadNumber { .. }
                    | Self::RefWithBody { .. }
            )
    }

    /// True if the fault, at this element, decides a setting, a type or a subtype of a task.
    fn decides_settings(&self, element: Element<'_>) -> bool {
        if self.is_accepted() {
            return false;
        }
        let settings = || SettingName::ALL.iter().map(|name| name.word());
        let stands_in_settings =
            std::iter::successors(Some(element), |inner| inner.parent()).any(is_settings);
        stands_in_settings
            || match self {
                // An element that is left out takes its content along, and may be a misspelled
                // setting.
                Self::WrongRoot
                | Self::UnknownElement { .. }
                | Self::MisplacedElement { .. }
                | Self::Repeated { .. }
                | Self::RefWithBody { .. } => {
                    contains_settings(element)
                        || nearest_candidate(
                            element.name(),
                            settings().chain([ElementKind::ContextManagement.tag()]),
                        )
                        .is_some()
                }
                Self::UnknownAttribute {
                    kind, attribute, ..
                } => {
                    kind.is_body()
                        && nearest_candidate(
                            attribute.name(),
                            settings().chain(["type", "subtype"]),
                        )
                        .is_some()
                }
                Self::Empty { name } => matches!(*name, "type" | "subtype"),
                Self::MisplacedSetting { .. }
                | Self::WrongType { .. }
                | Self::MissingAttribute { .. }
                | Self::MissingChild { .. }
                | Self::BadValue { .. }
                | Self::BadText { .. }
                | Self::AttributeWithoutEffect { .. }
                | Self::BadBoolean { .. }
                | Self::BadNumber { .. }
                | Self::MisplacedText { .. }
                | Self::TwoContents { .. }
                | Self::NoContent { .. }
                | Self::RepeatedName { .. }
                | Self::NestedBody { .. }
                | Self::LegacyValue { .. }
                | Self::LegacyType { .. }
                | Self::Deprecated { .. }
                | Self::ElementWithoutEffect { .. }
                | Self::UnreachableName { .. } => false,
            }
    }
}

/// True if an element is `context_management` or one of its settings.
fn is_settings(element: Element<'_>) -> bool {
    let is_named = |name: &str| {
        name == ElementKind::ContextManagement.tag() || SettingName::parse(name).is_some()
    };
    element.namespace().is_none() && is_named(element.name())
}

fn contains_settings(element: Element<'_>) -> bool {
    is_settings(element) || element.elements().any(contains_settings)
}
