//! The steps whose results the agents of a sequence receive: built once for all agents, with the
//! tokens of their headings as a running sum.

use crate::kernel::context::Trust;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

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
