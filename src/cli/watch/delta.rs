//! The difference between the findings of two checks. Each later finding is unchanged, new or
//! moved; each earlier one is unchanged, moved or gone.

use crate::base::diagnostic::Diagnostic;
use std::collections::{BTreeMap, VecDeque};

/// The difference between two lists of findings.
#[derive(Debug, Default)]
pub(crate) struct FindingsDelta<'n> {
    /// Findings that are new.
    pub(crate) new: Vec<&'n Diagnostic>,
    /// Findings whose place or message changed: before and after.
    pub(crate) moved: Vec<(&'n Diagnostic, &'n Diagnostic)>,
    /// Findings that no longer exist.
    pub(crate) gone: Vec<&'n Diagnostic>,
}

impl<'n> FindingsDelta<'n> {
    /// Compares two lists. Findings correspond by file, rule and fingerprint; of several with the
    /// same, equal ones are paired first, the others in order.
    pub(crate) fn compare(before: &'n [Diagnostic], after: &'n [Diagnostic]) -> Self {
        let mut equal: BTreeMap<_, VecDeque<usize>> = BTreeMap::new();
        for (at, finding) in before.iter().enumerate() {
            equal
                .entry((finding_key(finding), finding.span.start))
                .or_default()
                .push_back(at);
        }
        let mut is_left = vec![true; before.len()];
        let mut rest = Vec::new();
        for finding in after {
            let twins = equal.get_mut(&(finding_key(finding), finding.span.start));
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
        let left = before
            .iter()
            .zip(is_left)
            .filter_map(|(finding, is_left)| is_left.then_some(finding));
        let mut old: BTreeMap<_, VecDeque<(usize, &Diagnostic)>> = BTreeMap::new();
        for (at, finding) in left.enumerate() {
            old.entry(finding_key(finding))
                .or_default()
                .push_back((at, finding));
        }
        let mut delta = Self::default();
        for finding in rest {
            match old
                .get_mut(&finding_key(finding))
                .and_then(VecDeque::pop_front)
            {
                Some((_, was)) => delta.moved.push((was, finding)),
                None => delta.new.push(finding),
            }
        }
        let mut gone: Vec<(usize, &Diagnostic)> = old.into_values().flatten().collect();
        gone.sort_by_key(|(at, _)| *at);
        delta.gone = gone.into_iter().map(|(_, finding)| finding).collect();
        delta
    }

    /// Returns true if nothing differs.
    pub(crate) fn is_empty(&self) -> bool {
        self.new.is_empty() && self.moved.is_empty() && self.gone.is_empty()
    }
}

fn finding_key(finding: &Diagnostic) -> (&str, u16, &str) {
    (&finding.path, finding.rule.code.0, &finding.fingerprint)
}

#[cfg(test)]
#[path = "../../../tests/unit/cli/watch/delta.rs"]
mod tests;
