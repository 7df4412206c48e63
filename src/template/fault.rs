//! What lowering found wrong or old, as data. Worded by the rules of families 1xx and 4xx, nowhere else.

use super::elements::{Kind, Of};
use super::setting::{SettingName, Word};
use crate::base::span::Span;
use crate::base::suggest::nearest;
use crate::syntax::tree::{Attribute, Element};

/// One fault, at an element.
#[derive(Clone, Debug)]
pub struct Fault<'a> {
    /// What is wrong.
    pub kind: FaultKind<'a>,
    /// The place to look at.
    pub span: Span,
    /// The element it is about: the unknown one, the one with the bad attribute, the one that lacks a child.
    pub element: Element<'a>,
    /// A setting, a type or a subtype hangs on it, or a text or value is left out by it: passed over, an agent would go without what
    /// its author wrote.
    pub loses_something: bool,
}

/// The kinds of faults.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum FaultKind<'a> {
    /// The root is none of `task`, `template`, `library`.
    WrongRoot,
    /// No such element stands here, and none of that name anywhere or somewhere else.
    UnknownElement {
        /// What it stands in.
        parent: Kind,
        /// The fault of a name that is known under other parents is a misplacement, not a typo.
        known_elsewhere: bool,
        /// What its name is a slip of, and what it is read as.
        meant: Option<Kind>,
    },
    /// One of the four settings outside `context_management`.
    MisplacedSetting {
        /// Which.
        setting: SettingName,
        /// The task's `context_management`, if it has one.
        block: Option<Element<'a>>,
        /// The task that it stands in.
        task: Element<'a>,
    },
    /// A child that belongs to another type of task.
    WrongType {
        /// The child.
        kind: Kind,
        /// The type it belongs to.
        of: Of,
        /// The type that the task has: `None` for absent, empty for one that is none of the language.
        found: Option<&'a str>,
    },
    /// A second element where one may stand.
    Repeated {
        /// Which.
        kind: Kind,
        /// The name of the first one.
        first: Span,
    },
    /// An attribute that its element does not have.
    UnknownAttribute {
        /// The element's kind.
        kind: Kind,
        /// The attribute.
        attribute: Attribute<'a>,
        /// The one that it was meant to be, and is read as.
        meant: Option<&'static str>,
    },
    /// An attribute that says nothing where its element stands.
    Idle {
        /// The attribute.
        attribute: Attribute<'a>,
        /// Why.
        why: &'static str,
    },
    /// A missing attribute.
    MissingAttribute {
        /// The element's kind.
        kind: Kind,
        /// The attribute's name.
        name: &'static str,
    },
    /// A missing child.
    MissingChild {
        /// The parent's kind.
        kind: Kind,
        /// The child.
        child: Kind,
    },
    /// A word outside its set, in an attribute or a setting.
    BadValue {
        /// The attribute's or element's name.
        name: &'static str,
        /// What stands there, trimmed.
        found: String,
        /// What may stand there.
        allowed: &'static [&'static str],
    },
    /// A text that is none of those that may stand there.
    Unfit {
        /// The attribute's or element's name.
        name: &'static str,
        /// What stands there.
        found: String,
        /// What must stand there.
        expected: &'static str,
    },
    /// `yes`, `no`, `1`, `0`, `True` … where `true` or `false` must stand.
    BadBoolean {
        /// The attribute's or element's name.
        name: &'static str,
        /// What stands there, trimmed.
        found: String,
        /// What it means.
        meant: bool,
    },
    /// Not a number in range.
    BadNumber {
        /// The element's name.
        name: &'static str,
        /// What stands there, trimmed.
        found: String,
        /// What must stand there.
        expected: &'static str,
    },
    /// Nothing where something must stand.
    Empty {
        /// The element's or attribute's name.
        name: &'static str,
    },
    /// An element that is there and says nothing: as if it were not.
    Silent {
        /// Which.
        kind: Kind,
    },
    /// A name that no expression can read, of something that is shown all the same.
    Unsayable {
        /// The attribute's name.
        name: &'static str,
        /// What stands there.
        found: String,
    },
    /// Text where only elements may stand.
    MisplacedText {
        /// What it stands in.
        parent: Kind,
    },
    /// An element inside a word.
    MisplacedElement {
        /// The element with the word.
        parent: Kind,
    },
    /// Two contents of which only one may be there: `from` and text, text and a nested task.
    TwoContents {
        /// The element's kind.
        kind: Kind,
    },
    /// None of the contents of which one must be there.
    NoContent {
        /// The element's kind.
        kind: Kind,
    },
    /// A second entry of one name in a list: inputs, parameters.
    RepeatedName {
        /// The entry's kind.
        kind: Kind,
        /// The name.
        name: String,
        /// The first one's name.
        first: Span,
    },
    /// A body in place that is wrapped in a task of its own.
    NestedBody {
        /// The part: `inner_task`.
        part: Kind,
    },
    /// A value of an older dialect, read as its modern one.
    LegacyValue {
        /// The element's or attribute's name.
        name: &'static str,
        /// What stands there.
        found: &'static str,
        /// What it reads as.
        modern: &'static str,
    },
    /// A type of an older dialect, read as its modern one.
    LegacyType {
        /// What stands there.
        found: &'static str,
        /// What it reads as.
        modern: &'static str,
        /// The subtype that comes with it.
        subtype: Option<&'static str>,
    },
    /// An element of an older dialect: recorded, without effect.
    Deprecated {
        /// Which.
        kind: Kind,
    },
    /// A task with `ref` and a body.
    RefWithBody {
        /// The first child that stands in its way.
        child: Element<'a>,
    },
}

impl FaultKind<'_> {
    /// Whether it is told of, and no error: of an older dialect and read as what it meant, or without effect.
    pub const fn is_accepted(&self) -> bool {
        matches!(
            self,
            Self::NestedBody { .. }
                | Self::LegacyValue { .. }
                | Self::LegacyType { .. }
                | Self::Deprecated { .. }
                | Self::Silent { .. }
                | Self::Unsayable { .. }
        )
    }

    /// Whether something was left unread that may use any name: its element with all that it holds, or an attribute.
    pub(super) const fn leaves_unread(&self) -> bool {
        matches!(
            self,
            Self::UnknownElement { meant: None, .. }
                | Self::UnknownAttribute { meant: None, .. }
                | Self::MisplacedElement { .. }
                | Self::Repeated { .. }
        )
    }

    /// Whether what the author wrote has no effect because of it, found at this element.
    pub(super) fn loses_something(&self, element: Element<'_>) -> bool {
        let says_something =
            || !element.text().trim().is_empty() || element.elements().next().is_some() || element.attributes().next().is_some();
        let is_left_out = self.leaves_unread() && !matches!(self, Self::UnknownAttribute { .. });
        let is_value = matches!(self, Self::BadValue { name: "trust", .. });
        let is_content = |attribute: &Attribute<'_>| Kind::homes(attribute.name()).next().is_some();
        self.decides_settings(element)
            || is_left_out && says_something()
            || is_value
            || matches!(self, Self::UnknownAttribute { meant: None, attribute, .. } if is_content(attribute))
            || matches!(
                self,
                Self::MisplacedText { .. } | Self::TwoContents { .. } | Self::BadNumber { .. } | Self::RefWithBody { .. }
            )
    }

    /// Whether a setting, a type or a subtype of a task hangs on it, found at this element.
    fn decides_settings(&self, element: Element<'_>) -> bool {
        if self.is_accepted() {
            return false;
        }
        let settings = || SettingName::ALL.iter().map(|name| name.word());
        let stands_in_settings = std::iter::successors(Some(element), |inner| inner.parent()).any(is_settings);
        stands_in_settings
            || match self {
                // What is left out takes along what it holds, and may be a setting with a slip in its name.
                Self::WrongRoot
                | Self::UnknownElement { .. }
                | Self::MisplacedElement { .. }
                | Self::Repeated { .. }
                | Self::RefWithBody { .. } => {
                    holds_settings(element)
                        || nearest(element.name(), settings().chain([Kind::ContextManagement.tag()])).is_some()
                }
                Self::UnknownAttribute { kind, attribute, .. } => {
                    kind.is_body() && nearest(attribute.name(), settings().chain(["type", "subtype"])).is_some()
                }
                Self::Empty { name } => matches!(*name, "type" | "subtype"),
                Self::MisplacedSetting { .. }
                | Self::WrongType { .. }
                | Self::MissingAttribute { .. }
                | Self::MissingChild { .. }
                | Self::BadValue { .. }
                | Self::Unfit { .. }
                | Self::Idle { .. }
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
                | Self::Silent { .. }
                | Self::Unsayable { .. } => false,
            }
    }
}

/// Whether an element is the block of settings, or one of them.
fn is_settings(element: Element<'_>) -> bool {
    let is_named = |name: &str| name == Kind::ContextManagement.tag() || SettingName::parse(name).is_some();
    element.namespace().is_none() && is_named(element.name())
}

fn holds_settings(element: Element<'_>) -> bool {
    is_settings(element) || element.elements().any(holds_settings)
}
