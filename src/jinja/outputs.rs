//! The static analysis of each output of a Jinja text: the fence that it needs, the name whose
//! value it writes, its line.
//!
//! Filters, tests and comparisons receive the bare value; an output that an untrusted value can
//! reach is fenced as a whole.

use super::flow::{JinjaFlow, NameBits, name_bit};
use crate::base::source::LineIndex;
use std::collections::BTreeSet;

/// The analysis of one output.
#[derive(Debug)]
pub(super) struct OutputInfo {
    /// The untrusted names that reach it, if it needs a fence.
    pub(super) fenced: Option<String>,
    /// The name whose value, or a part of it, is written. `None` for text that the template
    /// composes itself.
    pub(super) name: Option<String>,
    /// The number of lines above it in the text.
    pub(super) line: u32,
}

/// All outputs of a text, in the order of compilation.
pub(super) fn analyze_outputs(
    text: &str,
    flow: &JinjaFlow<'_>,
    names: &BTreeSet<String>,
    untrusted: &BTreeSet<String>,
) -> Vec<OutputInfo> {
    // Names that need fences come first: names without a bit of their own share the last one, and
    // are fenced together.
    let others = names.iter().filter(|name| !untrusted.contains(*name));
    let names: Vec<&str> = untrusted.iter().chain(others).map(String::as_str).collect();
    let unsafe_names = (0..untrusted.len())
        .map(name_bit)
        .fold(0, |all, bit| all | bit);
    let reached = flow.reaching_names(&names);
    let lines = LineIndex::new(text);
    let output = |output: &super::flow::FlowOutput<'_>| {
        let by = reached.get(output.node).copied().unwrap_or(0);
        let fenced = by & unsafe_names;
        let is_one = by.is_power_of_two() && by != name_bit(NameBits::BITS as usize);
        let is_part = output
            .part_of
            .is_some_and(|root| names.contains(&root) || flow.items.contains(root));
        OutputInfo {
            fenced: (fenced != 0).then(|| list_names(&names, fenced)),
            name: (is_one && is_part).then(|| list_names(&names, by)),
            line: lines.line_number(output.start as u32) - 1,
        }
    };
    flow.outputs.iter().map(output).collect()
}

fn list_names(all: &[&str], chosen: NameBits) -> String {
    let named = all
        .iter()
        .enumerate()
        .filter(|(at, _)| chosen & name_bit(*at) != 0);
    named.map(|(_, name)| *name).collect::<Vec<_>>().join(", ")
}
