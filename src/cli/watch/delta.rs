//! What differs between the findings of two checks. Each finding of the later one is kept, new or moved; each of the earlier
//! one is kept, moved or gone.

use crate::base::diagnostic::Diagnostic;
use std::collections::{BTreeMap, VecDeque};

/// The difference.
#[derive(Debug, Default)]
pub(crate) struct FindingsDelta<'n> {
    /// Findings that were not there.
    pub(crate) new: Vec<&'n Diagnostic>,
    /// Findings that were there, and lie somewhere else or say something else; with what they were.
    pub(crate) moved: Vec<(&'n Diagnostic, &'n Diagnostic)>,
    /// Findings that are no longer there.
    pub(crate) gone: Vec<&'n Diagnostic>,
}

impl<'n> FindingsDelta<'n> {
    /// Compares. Findings are told apart by file, rule and fingerprint; of several with the same, those that are equal
    /// belong together, and the others in their order.
    pub(crate) fn between(before: &'n [Diagnostic], after: &'n [Diagnostic]) -> Self {
        let mut equal: BTreeMap<_, VecDeque<usize>> = BTreeMap::new();
        for (at, finding) in before.iter().enumerate() {
            equal.entry((key(finding), finding.span.start)).or_default().push_back(at);
        }
        let mut is_left = vec![true; before.len()];
        let mut rest = Vec::new();
        for finding in after {
            let twins = equal.get_mut(&(key(finding), finding.span.start));
            let twin = twins.and_then(|twins| {
                let at = *twins.front()?;
                before.get(at).filter(|twin| *twin == finding)?;
                twins.pop_front()
            });
            match twin.and_then(|at| is_left.get_mut(at)) {
                Some(left) => *left = false,
                None => rest.push(finding),
            }
        }
        let left = before.iter().zip(is_left).filter_map(|(finding, is_left)| is_left.then_some(finding));
        let mut old: BTreeMap<_, VecDeque<(usize, &Diagnostic)>> = BTreeMap::new();
        for (at, finding) in left.enumerate() {
            old.entry(key(finding)).or_default().push_back((at, finding));
        }
        let mut delta = Self::default();
        for finding in rest {
            match old.get_mut(&key(finding)).and_then(VecDeque::pop_front) {
                Some((_, was)) => delta.moved.push((was, finding)),
                None => delta.new.push(finding),
            }
        }
        let mut gone: Vec<(usize, &Diagnostic)> = old.into_values().flatten().collect();
        gone.sort_by_key(|(at, _)| *at);
        delta.gone = gone.into_iter().map(|(_, finding)| finding).collect();
        delta
    }

    /// Whether nothing differs.
    pub(crate) fn is_empty(&self) -> bool {
        self.new.is_empty() && self.moved.is_empty() && self.gone.is_empty()
    }
}

fn key(finding: &Diagnostic) -> (&str, u16, &str) {
    (&finding.path, finding.rule.code.0, &finding.fingerprint)
}

#[cfg(test)]
#[path = "../../../tests/unit/cli/watch/delta.rs"]
mod tests;
