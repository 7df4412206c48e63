//! The static analysis of each output of a Jinja text: the fence that it needs, the name whose
//! value it writes, its line.
//!
//! Filters, tests and comparisons receive the bare value; an output that an untrusted value can
//! reach is fenced as a whole.

use super::flow::{Flow, Names, bit};
use crate::base::source::LineIndex;
use std::collections::BTreeSet;

/// The analysis of one output.
#[derive(Debug)]
pub(super) struct Output {
    /// The untrusted names that reach it, if it needs a fence.
    pub(super) fenced: Option<String>,
    /// The name whose value, or a part of it, is written. `None` for text that the template
    /// composes itself.
    pub(super) name: Option<String>,
    /// The number of lines above it in the text.
    pub(super) line: u32,
}

/// All outputs of a text, in the order of compilation.
pub(super) fn outputs(
    text: &str,
    flow: &Flow<'_>,
    names: &BTreeSet<String>,
    untrusted: &BTreeSet<String>,
) -> Vec<Output> {
    // Names that need fences come first: names without a bit of their own share the last one, and
    // are fenced together.
    let others = names.iter().filter(|name| !untrusted.contains(*name));
    let names: Vec<&str> = untrusted.iter().chain(others).map(String::as_str).collect();
    let unsafe_names = (0..untrusted.len()).map(bit).fold(0, |all, bit| all | bit);
    let reached = flow.reached(&names);
    let lines = LineIndex::new(text);
    let output = |output: &super::flow::Output<'_>| {
        let by = reached.get(output.node).copied().unwrap_or(0);
        let fenced = by & unsafe_names;
        let is_one = by.is_power_of_two() && by != bit(Names::BITS as usize);
        let is_part = output
            .part_of
            .is_some_and(|root| names.contains(&root) || flow.items.contains(root));
        Output {
            fenced: (fenced != 0).then(|| listed(&names, fenced)),
            name: (is_one && is_part).then(|| listed(&names, by)),
            line: lines.line(output.start as u32) - 1,
        }
    };
    flow.outputs.iter().map(output).collect()
}

fn listed(all: &[&str], chosen: Names) -> String {
    let named = all
        .iter()
        .enumerate()
        .filter(|(at, _)| chosen & bit(*at) != 0);
    named.map(|(_, name)| *name).collect::<Vec<_>>().join(", ")
}
