//! The operators and their defaults: one screen of data, the source of every schema, page and
//! hover.
//!
//! `None` in the two accumulation columns is N/A: the operator has no steps to accumulate. That is
//! a value of its own, not `false`.

use crate::base::words::words;
use crate::template::elements::ElementKind as Element;
use crate::template::setting::Format::{self, NotesOnly};
use crate::template::setting::Fresh::{self, Disabled, Enabled};
use crate::template::setting::Inherit;
use Operator::{Atomic, DirectorEvaluatorLoop as Loop, Reduce, Script, Sequential};
use RowKind::{Operator as Op, Part, Subtype};

/// The defaults of one operator, subtype or part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Defaults {
    /// The operator that the row belongs to.
    pub operator: Operator,
    /// The subtypes or parts; for [`RowKind::Operator`], the first is the name of the operator itself.
    pub names: &'static [&'static str],
    /// The kind of the names.
    pub kind: RowKind,
    /// `inherit_context`.
    pub inherit_context: Inherit,
    /// `accumulate_data`; `None` is N/A.
    pub accumulate_data: Option<bool>,
    /// `accumulation_format`; `None` is N/A.
    pub accumulation_format: Option<Format>,
    /// `fresh_context`.
    pub fresh_context: Fresh,
}

/// The kind of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RowKind {
    /// An operator without (or with its standard) subtype.
    Operator,
    /// A refinement, on top of its operator's row.
    Subtype,
    /// A body in place inside an operator; a row of its own with nothing beneath.
    Part,
}

const FULL: Inherit = Inherit::Full;
const NONE: Inherit = Inherit::None;
const NA: Option<bool> = None;
const NO: Option<Format> = None;

/// The operator table of the language.
#[rustfmt::skip]
pub static DEFAULTS: [Defaults; 9] = [
    //  operator    subtype or part             kind     inherit accumulate  format           fresh
    defaults_row(Atomic,     &["standard"],              Op,      FULL,   NA,         NO,              Disabled),
    defaults_row(Atomic,     &["subtask"],               Subtype, NONE,   NA,         NO,              Enabled),
    defaults_row(Sequential, &[],                        Op,      FULL,   Some(true), Some(NotesOnly), Disabled),
    defaults_row(Reduce,     &[],                        Op,      NONE,   NA,         NO,              Enabled),
    defaults_row(Reduce,     &["inner_task"],            Part,    FULL,   NA,         NO,              Disabled),
    defaults_row(Reduce,     &["reduction_task"],        Part,    FULL,   NA,         NO,              Disabled),
    defaults_row(Script,     &[],                        Op,      FULL,   NA,         NO,              Disabled),
    defaults_row(Loop,       &[],                        Op,      NONE,   Some(true), Some(NotesOnly), Enabled),
    defaults_row(Loop,       &["director", "evaluator"], Part,    FULL,   NA,         NO,              Disabled),
];

/// Known subtypes without a row of their own: they have their operator's settings. `subtask` is a
/// subtype of every operator, because a continuation assigns it to the task that it starts.
#[rustfmt::skip]
pub static SUBTYPES_WITHOUT_ROW: [(Operator, &str); 6] = [
    (Atomic, "director"), (Atomic, "evaluator"),
    (Sequential, "subtask"), (Reduce, "subtask"), (Script, "subtask"), (Loop, "subtask"),
];

/// Types of older dialects: the type as written, the operator that it is read as, the subtype that
/// is set with it.
#[rustfmt::skip]
pub static TYPE_ALIASES: [(&str, Operator, Option<&str>); 3] = [
    ("map", Sequential, None),
    ("director", Atomic, Some("director")),
    ("evaluator", Atomic, Some("evaluator")),
];

const fn defaults_row(
    operator: Operator,
    names: &'static [&'static str],
    kind: RowKind,
    inherit_context: Inherit,
    accumulate_data: Option<bool>,
    accumulation_format: Option<Format>,
    fresh_context: Fresh,
) -> Defaults {
    Defaults {
        operator,
        names,
        kind,
        inherit_context,
        accumulate_data,
        accumulation_format,
        fresh_context,
    }
}

words! {
    /// An operator of the language. An operator declared by a project is built on one of these,
    /// which determines its children and whether it has steps to accumulate.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Operator {
        /// One request.
        Atomic = "atomic",
        /// Steps, one after the other.
        Sequential = "sequential",
        /// One inner task for each input, folded by a reduction task.
        Reduce = "reduce",
        /// A command.
        Script = "script",
        /// A director and an evaluator in turns.
        DirectorEvaluatorLoop = "director_evaluator_loop",
    }
}

impl Operator {
    /// A short description for pages and hovers.
    pub const fn doc(self) -> &'static str {
        match self {
            Atomic => "one call of a model",
            Sequential => "steps, one after the other",
            Reduce => "the same work on each input, results merged one by one",
            Script => "a command, no model",
            Loop => "one task proposes, another judges, until it is good",
        }
    }

    /// True if it has steps whose results can be carried.
    pub const fn accumulates(self) -> bool {
        matches!(self, Sequential | Loop)
    }

    /// The children that a task of this type requires, besides its description.
    pub const fn required_children(self) -> &'static [Element] {
        match self {
            Atomic => &[],
            Sequential => &[Element::Steps],
            Reduce => &[Element::Inputs, Element::InnerTask, Element::ReductionTask],
            Script => &[Element::Command],
            Loop => &[Element::Director, Element::Evaluator],
        }
    }

    /// The bodies that it contains in place.
    pub const fn body_parts(self) -> &'static [BodyPart] {
        match self {
            Reduce => &[BodyPart::InnerTask, BodyPart::ReductionTask],
            Loop => &[BodyPart::Director, BodyPart::Evaluator],
            Atomic | Sequential | Script => &[],
        }
    }
}

words! {
    /// A body in place inside an operator.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum BodyPart {
        /// `reduce/inner_task`.
        InnerTask = "inner_task",
        /// `reduce/reduction_task`.
        ReductionTask = "reduction_task",
        /// `director_evaluator_loop/director`.
        Director = "director",
        /// `director_evaluator_loop/evaluator`.
        Evaluator = "evaluator",
    }
}
