//! CTX513: a policy about an agent role that does not exist.

use super::words::TASK;
use super::words::{Form, meant};
use crate::base::diagnostic::Diagnostic;
use crate::base::rule_meta::{Code, Example, Fixable, RuleMeta, Severity};
use crate::project::fault::{Fault, FaultKind};
use crate::rules::rule::{Check, ConfigCx, Rule};

/// A policy about nobody is kept by everyone.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta {
        code: Code(513),
        name: "unknown-role",
        renamed_from: &[],
        severity: Some(Severity::Error),
        when_enabled: Severity::Error,
        locked: false,
        fix: Fixable::Suggested,
        summary: "a `[[require]]` names an agent role that the project does not have",
        page: "\
`role = \"NAME\"` in a `[[require]]` selects the tasks that the agent role `[roles.NAME]` plays. A role that the project does not define
selects no task, so the policy would hold without ever being looked at.",
        bad: &[Example { template: TASK, project: "[[require]]\nrole = \"planer\"\nmust = \"has description\"\n\n[roles.planner]\ntemplate = \"triage\"\n" }],
        good: &[Example { template: TASK, project: "[[require]]\nrole = \"planner\"\nmust = \"has description\"\n\n[roles.planner]\ntemplate = \"triage\"\n" }],
    },
    check: Check::Config(word),
};

fn word(cx: &ConfigCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    let FaultKind::UnknownRole { found, near } = &fault.kind else { return None };
    let message = format!("the project has no agent role `{found}`");
    let finding = Diagnostic::new(&RULE.meta, &cx.path(fault.file), fault.span, message);
    let finding = if near.is_none() { finding.help(format!("define it under `[roles.{found}]`")) } else { finding };
    Some(meant(finding, fault.span, near.as_deref(), Form::Text))
}
