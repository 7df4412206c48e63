//! The steps whose results the agents of a sequence are shown: made once for all of them, with the tokens of their headings as a running sum.

use crate::kernel::context::Trust;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

/// The steps of a node in their order.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::context) struct SequenceSteps {
    /// The steps.
    pub(in crate::context) steps: Vec<SequenceStep>,
    /// Tokens of the headings of all steps before each, by the form of a heading.
    sums: RefCell<BTreeMap<String, Vec<usize>>>,
}

/// A step whose result is carried along.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::context) struct SequenceStep {
    /// Its name, where it has one.
    pub(in crate::context) name: Option<String>,
    /// Its path in the definition.
    pub(in crate::context) node: String,
    /// Whether what it left may give orders.
    pub(in crate::context) trust: Trust,
}

/// Steps that are told as one, each with a heading of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::context) struct StepRun {
    /// The steps of the sequence.
    pub(in crate::context) of: Rc<SequenceSteps>,
    /// Which of them.
    pub(in crate::context) range: Range<usize>,
}

impl SequenceSteps {
    /// These steps.
    pub(in crate::context) const fn new(steps: Vec<SequenceStep>) -> Self {
        Self { steps, sums: RefCell::new(BTreeMap::new()) }
    }
}

impl SequenceStep {
    /// What it is called.
    pub(in crate::context) fn word(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.node)
    }
}

impl StepRun {
    /// Tokens of their headings in a form, where `tokens` counts one that has this title.
    pub(in crate::context) fn tokens(&self, form: String, mut tokens: impl FnMut(&str) -> usize) -> usize {
        let mut sums = self.of.sums.borrow_mut();
        let sums = sums.entry(form).or_insert_with(|| vec![0]);
        for step in self.of.steps.iter().take(self.range.end).skip(sums.len() - 1) {
            sums.push(sums.last().copied().unwrap_or(0) + tokens(step.word()));
        }
        let upto = |end: usize| sums.get(end).copied().unwrap_or(0);
        upto(self.range.end) - upto(self.range.start)
    }
}
