//! CTX621: a table of cases that cannot be read.

use super::cx::ScenarioCx;
use super::words::TASK;
use crate::base::diagnostic::Diagnostic;
use crate::base::rule_meta::{Code, Example, Fixable, RuleMeta, Severity};
use crate::rules::rule::{Check, Rule};
use crate::scenario::{Fault, FaultKind};

/// Its cases are not run.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta {
        code: Code(621),
        name: "bad-case-table",
        renamed_from: &[],
        severity: Some(Severity::Error),
        when_enabled: Severity::Error,
        locked: false,
        fix: Fixable::None,
        summary: "a table of cases that cannot be read",
        page: "\
`cases_from` names a table beside the suite: CSV as RFC 4180 says, with the names of the columns in its first line, or JSONL, an object a line. In
CSV the columns `id`, `role`, `task`, `node`, `tags`, `runs`, `pass_threshold`, `reviewed`, `objective`, `task_id`, `risk_level`, `contains`, `absent` and `exact` are what they say, and
every other column is an input of the task. An object of JSONL has the keys of a case.",
        bad: &[Example { template: TASK, project: "\
# file: scenarios/refund.yaml
id: refunds
cases_from: refunds.csv
" }],
        good: &[Example { template: TASK, project: "\
# file: scenarios/refunds.yaml
id: refunds
defaults: {task: triage, context: {objective: sort}, expect_context: [{nothing_cut: true}]}
cases_from: refunds.csv
# file: scenarios/refunds.csv
id,ticket
1,late
" }],
    },
    check: Check::Scenario(word),
};

fn word(cx: &ScenarioCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    let FaultKind::Table { path, reason } = &fault.kind else { return None };
    Some(cx.finding(&RULE.meta, fault, format!("the cases of `{path}` cannot be read: {reason}")))
}
