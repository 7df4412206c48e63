//! A segment before it is fitted and rendered, with the facts known before a run, and the earlier
//! steps that it waits for.

use crate::context::fill::Faults;
use crate::kernel::assembler::Deferred;
use crate::kernel::context::{FIRST_EXPENDABLE, Kind, Segment, Stability, TracedText, Trust};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::rc::Rc;

/// A segment with the facts known before a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::context) struct DraftSegment {
    /// The segment; if `unknown` is not empty, its text is incomplete.
    pub(in crate::context) segment: Segment,
    /// The source of the parts that are still missing from its text, in a dry run.
    pub(in crate::context) latent: TracedText,
    /// Variables that it waits for, in a dry run.
    pub(in crate::context) unknown: BTreeSet<String>,
    /// The condition on which it is present, in a dry run; `None` if its presence is certain.
    pub(in crate::context) condition: Option<&'static str>,
    /// True in a dry run if another text may turn out to be identical, so that this segment is
    /// omitted.
    pub(in crate::context) is_doubtful: bool,
    /// The steps merged into this segment in a dry run: their segments differ from it only by
    /// title.
    pub(in crate::context) merged: Option<StepRun>,
    /// Its faults. They count only if the agent receives the segment.
    pub(in crate::context) faults: Faults,
    /// The inputs that it needs and that are not available before the agent of this context has
    /// run; if there are any, the agent does not receive the segment.
    pub(in crate::context) deferred: BTreeSet<String>,
}

impl DraftSegment {
    /// Creates a segment that is completely known.
    pub(in crate::context) fn known(segment: Segment) -> Self {
        let (latent, unknown, late, faults) = (
            TracedText::default(),
            BTreeSet::new(),
            BTreeSet::new(),
            Vec::new(),
        );
        Self {
            segment,
            latent,
            unknown,
            condition: None,
            is_doubtful: false,
            merged: None,
            faults,
            deferred: late,
        }
    }

    /// Creates a segment whose text cannot be known before the agent of this context has run.
    pub(in crate::context) fn defer(kind: Kind, why: &str, late: BTreeSet<String>) -> Self {
        let segment =
            Segment::from_template(kind, TracedText::default(), why).stable(Stability::Call);
        Self {
            deferred: late,
            ..Self::known(segment)
        }
    }

    /// Creates the segment of an input whose value cannot be known before the agent of this context
    /// has run.
    pub(in crate::context) fn defer_input(name: &str, late: BTreeSet<String>) -> Self {
        let mut drafted = Self::defer(Kind::Input, "<inputs>", late);
        drafted.segment = drafted.segment.named(format!("input:{name}"), name);
        drafted
    }

    /// True for a segment without any untrusted text.
    pub(in crate::context) fn is_trusted(&self) -> bool {
        self.segment.overall_trust() == Trust::Trusted && self.segment.text.untrusted().is_empty()
    }

    /// True for a text of a task that is empty in this request but may contain untrusted text in
    /// another.
    pub(in crate::context) fn is_blank(&self) -> bool {
        let Self {
            segment,
            unknown,
            deferred: late,
            faults,
            ..
        } = self;
        let is_own_text = segment.priority() < FIRST_EXPENDABLE && !segment.is_turn();
        is_own_text
            && segment.text.is_empty()
            && segment.has_untrusted_values
            && [unknown, late].iter().all(|names| names.is_empty())
            && faults.is_empty()
    }

    /// Converts a deferred segment to its entry in the report.
    pub(in crate::context) fn into_deferred(self) -> Deferred {
        Deferred {
            id: self.segment.id,
            needs: self.deferred.into_iter().collect(),
        }
    }

    /// Splits it into the segment and the facts for a dry run.
    pub(in crate::context) fn into_parts(self) -> (Segment, WaitingFacts) {
        let Self {
            segment,
            latent,
            unknown,
            condition,
            is_doubtful,
            merged: _,
            faults: _,
            deferred: _,
        } = self;
        (
            segment,
            WaitingFacts {
                unknown,
                condition,
                is_doubtful,
                latent,
            },
        )
    }
}

/// The facts about a segment of a dry run beside its text.
pub(in crate::context) struct WaitingFacts {
    /// The variables that it waits for.
    pub(in crate::context) unknown: BTreeSet<String>,
    /// The condition on which it is present.
    pub(in crate::context) condition: Option<&'static str>,
    /// True if another text may turn out to be identical, so that this segment is omitted.
    pub(in crate::context) is_doubtful: bool,
    /// The source of the parts that are still missing from its text.
    pub(in crate::context) latent: TracedText,
}

/// The steps of a node in order.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::context) struct SequenceSteps {
    /// The steps.
    pub(in crate::context) steps: Vec<SequenceStep>,
    /// Tokens of the headings of all steps before each one, by the format of the heading.
    sums: RefCell<BTreeMap<String, Vec<usize>>>,
}

/// A step whose result later steps receive.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::context) struct SequenceStep {
    /// Its name, if it has one.
    pub(in crate::context) name: Option<String>,
    /// Its path in the definition.
    pub(in crate::context) node: String,
    /// The trust of its result.
    pub(in crate::context) trust: Trust,
}

/// Consecutive steps that are merged into one segment; each keeps its own heading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::context) struct StepRun {
    /// The steps of the sequence.
    pub(in crate::context) sequence: Rc<SequenceSteps>,
    /// The indices of the merged steps.
    pub(in crate::context) range: Range<usize>,
}

impl SequenceSteps {
    /// Creates the list from its steps.
    pub(in crate::context) const fn new(steps: Vec<SequenceStep>) -> Self {
        Self {
            steps,
            sums: RefCell::new(BTreeMap::new()),
        }
    }
}

impl SequenceStep {
    /// Returns its name, otherwise its path.
    pub(in crate::context) fn title(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.node)
    }
}

impl StepRun {
    /// Returns the tokens of their headings in a format; `tokens` counts the heading with a title.
    pub(in crate::context) fn heading_tokens(
        &self,
        form: String,
        mut tokens: impl FnMut(&str) -> usize,
    ) -> usize {
        let mut sums = self.sequence.sums.borrow_mut();
        let sums = sums.entry(form).or_insert_with(|| vec![0]);
        for step in self
            .sequence
            .steps
            .iter()
            .take(self.range.end)
            .skip(sums.len() - 1)
        {
            sums.push(sums.last().copied().unwrap_or(0) + tokens(step.title()));
        }
        let upto = |end: usize| sums.get(end).copied().unwrap_or(0);
        upto(self.range.end) - upto(self.range.start)
    }
}
