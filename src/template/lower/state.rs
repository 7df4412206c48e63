//! What one traversal of a document has found so far.

use crate::base::span::Span;
use crate::syntax::tree::Element;
use crate::template::cursor::Cursor;
use crate::template::elements::{Child, Kind};
use crate::template::fault::{Fault, FaultKind};
use crate::template::model::MOST_FAULTS;
use crate::template::parts::Str;

/// An element that the table does not know: what it stands in, its name, which children are taken, and which it was taken for.
type Slip<'a> = (Kind, &'a str, u64, Option<(usize, &'static Child)>);

/// The state of one traversal.
#[derive(Default)]
pub(super) struct Lower<'a> {
    pub(super) faults: Vec<Fault<'a>>,
    /// Faults so far: those on which settings hang, other errors, and older forms that are read as what they meant.
    counts: [u32; 3],
    /// Bodies numbered so far.
    pub(super) bodies: u32,
    /// What an element without others in it was taken for that the table does not know: its like comes in crowds.
    pub(super) last_slip: Option<Slip<'a>>,
    /// Foreign elements of the body that is being read.
    pub(super) foreign: Vec<Element<'a>>,
}

impl<'a> Lower<'a> {
    /// Reports a fault of what an element holds, unless a structural error has been reported in or around it.
    pub(super) fn fault(&mut self, element: Element<'a>, span: Span, kind: FaultKind<'a>) {
        if !element.is_damaged() {
            self.report(element, span, kind);
        }
    }

    /// Reports a fault of a start tag, unless a structural error has been reported for the tag: damage elsewhere does not
    /// make its words other ones.
    pub(super) fn fault_of_tag(&mut self, element: Element<'a>, span: Span, kind: FaultKind<'a>) {
        if !element.has_damaged_tag() {
            self.report(element, span, kind);
        }
    }

    /// Reports a word that is none of those that may stand there.
    pub(super) fn unfit(&mut self, element: Element<'a>, name: &'static str, word: &Str<'a>, expected: &'static str) {
        let found = word.value.to_string();
        self.fault_of_tag(element, word.span, FaultKind::Unfit { name, found, expected });
    }

    /// Reports a name that no expression can read, of what is shown all the same.
    pub(super) fn sayable(&mut self, element: Element<'a>, name: &'static str, word: &Str<'a>) {
        if !is_name(&word.value) {
            let found = word.value.to_string();
            self.fault_of_tag(element, word.span, FaultKind::Unsayable { name, found });
        }
    }

    /// Reports what is said of a result where no step follows that could use it.
    pub(super) fn unused_result(&mut self, element: Element<'a>) {
        let around = element.parent().map(Element::name);
        if matches!(around, None | Some("library" | "template" | "case" | "input" | "arg")) {
            self.idle(element, "as", "only a step leaves its result to others under a name");
        }
        // A case hands on what its task answers.
        if matches!(around, None | Some("library" | "template" | "input" | "arg")) {
            self.idle(element, "trust", "only a step hands its result on");
        }
    }

    /// Reports an attribute that has no effect, where it is there.
    pub(super) fn idle(&mut self, element: Element<'a>, name: &str, why: &'static str) {
        if let Some(attribute) = element.attribute(name) {
            self.fault_of_tag(element, attribute.span(), FaultKind::Idle { attribute, why });
        }
    }

    fn report(&mut self, element: Element<'a>, span: Span, kind: FaultKind<'a>) {
        let loses_something = kind.loses_something(element);
        let [losing, errors, accepted] = &mut self.counts;
        let count = if loses_something {
            losing
        } else if kind.is_accepted() {
            accepted
        } else {
            errors
        };
        *count += 1;
        if *count <= MOST_FAULTS {
            self.faults.push(Fault { kind, span, element, loses_something });
        }
    }

    /// How many faults were counted and not kept.
    pub(super) fn left_out(&self) -> u32 {
        self.counts.iter().map(|count| count.saturating_sub(MOST_FAULTS)).sum()
    }
}

/// Whether an expression can read a name.
pub(super) fn is_name(name: &str) -> bool {
    let mut cursor = Cursor::new(name, 0);
    cursor.name();
    cursor.rest().is_empty()
}
