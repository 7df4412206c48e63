//! CTX609: more trials have to pass than there are.

use super::cx::{ScenarioCx, mend};
use super::words::scenario;
use crate::rules::prelude::*;
use crate::scenario::{Fault, FaultKind};

/// The case could never pass.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::error(609, "impossible-threshold", "more trials have to pass than there are", PAGE)
        .fixed(Fixable::Suggested)
        .examples(BAD, GOOD),
    check: Check::Scenario(word),
};

const PAGE: &str = "\
A case passes when `pass_threshold` of its `runs` trials do. Where a case says only one of the two, the other is that of `[eval]` in `ctxc.toml`,
else 3 runs of which 2 must pass; a threshold that nobody wrote is lowered to the number of runs.";

const BAD: &[Example] = &[scenario!(
    "\
expect_context:
  - nothing_cut: true
runs: 2
pass_threshold: 3
"
)];

const GOOD: &[Example] = &[scenario!(
    "\
expect_context:
  - nothing_cut: true
runs: 3
pass_threshold: 3
"
)];

fn word(cx: &ScenarioCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    let FaultKind::Threshold { runs, pass } = fault.kind else { return None };
    let finding = cx.finding(&RULE.meta, fault, format!("{pass} of {runs} trials would have to pass"));
    let fix = Fix::suggested(format!("write {runs}"), vec![Edit::replace(fault.span, runs.to_string())]);
    let is_threshold = fault.span.slice(cx.text) == pass.to_string();
    let finding = finding.help("raise the number of runs, or lower the threshold");
    Some(if is_threshold { mend(finding, fault, fix) } else { finding })
}
