//! CTX513: a policy about an agent role that does not exist.

use super::words::{Form, meant};
use crate::project::fault::{Fault, FaultKind};
use crate::rules::prelude::*;

/// A policy about nobody is kept by everyone.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::error(513, "unknown-role", "a `[[require]]` names an agent role that the project does not have", PAGE)
        .fixed(Fixable::Suggested)
        .examples(BAD, GOOD),
    check: Check::Config(word),
};

const PAGE: &str = "\
`role = \"NAME\"` in a `[[require]]` selects the tasks that the agent role `[roles.NAME]` plays. A role that the project does not define
selects no task, so the policy would hold without ever being looked at.";

const BAD: &[Example] =
    &[project("[[require]]\nrole = \"planer\"\nmust = \"has description\"\n\n[roles.planner]\ntemplate = \"triage\"\n")];

const GOOD: &[Example] =
    &[project("[[require]]\nrole = \"planner\"\nmust = \"has description\"\n\n[roles.planner]\ntemplate = \"triage\"\n")];

fn word(cx: &ConfigCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    let FaultKind::UnknownRole { found, near } = &fault.kind else { return None };
    let message = format!("the project has no agent role `{found}`");
    let finding = cx.finding(&RULE, fault, message);
    let finding = if near.is_none() { finding.help(format!("define it under `[roles.{found}]`")) } else { finding };
    Some(meant(finding, fault.span, near.as_deref(), Form::Text))
}
