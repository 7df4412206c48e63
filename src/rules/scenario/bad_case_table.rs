//! CTX621: a table of cases that cannot be read.

use super::cx::ScenarioCx;
use super::words::files;
use crate::rules::prelude::*;
use crate::scenario::{Fault, FaultKind};

/// Its cases are not run.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::error(621, "bad-case-table", "a table of cases that cannot be read", PAGE).examples(BAD, GOOD),
    check: Check::Scenario(word),
};

const PAGE: &str = "\
`cases_from` names a table beside the suite: CSV as RFC 4180 says, with the names of the columns in its first line, or JSONL, an object a line. In
CSV the columns `id`, `role`, `task`, `node`, `tags`, `runs`, `pass_threshold`, `reviewed`, `objective`, `task_id`, `risk_level`, `contains`, `absent` and `exact` are what they say, and
every other column is an input of the task. An object of JSONL has the keys of a case.";

const BAD: &[Example] = &[files(
    "\
# file: scenarios/refund.yaml
id: refunds
cases_from: refunds.csv
",
)];

const GOOD: &[Example] = &[files(
    "\
# file: scenarios/refunds.yaml
id: refunds
defaults: {task: triage, context: {objective: sort}, expect_context: [{nothing_cut: true}]}
cases_from: refunds.csv
# file: scenarios/refunds.csv
id,ticket
1,late
",
)];

fn word(cx: &ScenarioCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    let FaultKind::Table { path, reason } = &fault.kind else { return None };
    Some(cx.finding(&RULE.meta, fault, format!("the cases of `{path}` cannot be read: {reason}")))
}
