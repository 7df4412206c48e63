//! From faults and models to findings: asks every rule, then applies `[lints]` and `allow`, locates and sorts.
//!
//! Rules are asked in the order of their codes; a fault is worded by the first rule that knows it.

use super::allow::{self, Instruction};
use super::engine::{locked_allow, unknown_allow, unknown_instruction, unused_allow};
use super::list;
use super::rule::{Check, ConfigCx, FileCx, LinkCx, Rule};
use crate::base::diagnostic::{self, Diagnostic};
use crate::base::source::LineIndex;
use crate::project::config::Config;
use crate::project::index::Index;
use crate::syntax::fault::Fault;

/// The findings of a project file.
pub fn config(config: &Config) -> Vec<Diagnostic> {
    let cx = ConfigCx { config };
    let mut found: Vec<Diagnostic> = Vec::new();
    for fault in &config.faults {
        let worded = list::all().find_map(|rule| match rule.check {
            Check::Config(word) => word(&cx, fault),
            Check::Syntax(_) | Check::Template(_) | Check::Node(_) | Check::File(_) | Check::Link(_) | Check::Edge => None,
        });
        let Some(mut finding) = worded else { continue };
        if let Some(file) = config.files.get(fault.file as usize) {
            finding.locate(&file.text, &file.lines);
        }
        found.extend(weigh(config, finding));
    }
    diagnostic::sort(&mut found);
    found
}

/// The findings about names and references. Not located: the texts are not at hand.
pub fn links(config: &Config, index: &Index<'_>) -> Vec<Diagnostic> {
    let (_, cycles) = index.order();
    let cx = LinkCx { index, cycles: &cycles };
    let mut found = Vec::new();
    for rule in list::all() {
        if let Check::Link(check) = rule.check {
            check(&cx, &mut found);
        }
    }
    found.into_iter().filter_map(|finding| weigh(config, finding)).collect()
}

/// Applies the project's levels.
fn weigh(config: &Config, mut finding: Diagnostic) -> Option<Diagnostic> {
    finding.severity = config.lints.apply(finding.rule, finding.severity)?;
    Some(finding)
}
