//! CTX515: a policy over a fact that is not known yet.

use super::words::TASK;
use crate::base::diagnostic::Diagnostic;
use crate::base::rule_meta::{Code, Example, Fixable, RuleMeta, Severity};
use crate::project::fault::{Fault, FaultKind};
use crate::rules::rule::{Check, ConfigCx, Rule};

/// Never silently taken for granted.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta {
        code: Code(515),
        name: "requirement-not-checked",
        renamed_from: &[],
        severity: Some(Severity::Info),
        when_enabled: Severity::Info,
        locked: false,
        fix: Fixable::None,
        summary: "a condition that this release cannot check yet",
        page: "\
A condition may ask for something that only a later command can know: the tokens of a manifest, the scenarios of a project. Until then it
is neither kept nor broken, and this says so rather than let it pass in silence.",
        bad: &[Example { template: TASK, project: "[[require]]\nmust = \"manifest_tokens <= 4000\"\n" }],
        good: &[Example { template: TASK, project: "[[require]]\nmust = \"has description\"\n" }],
    },
    check: Check::Config(word),
};

fn word(cx: &ConfigCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    let FaultKind::NotChecked { condition, needs } = &fault.kind else { return None };
    let message = format!("not checked: `{condition}` needs {needs}, which this release does not know yet");
    let finding = Diagnostic::new(&RULE.meta, &cx.path(fault.file), fault.span, message);
    Some(finding.note("the condition is read and kept; nothing is claimed about any task"))
}
