//! CTX511: one rule under two names in `[lints]`.

use super::words::TASK;
use super::words::line;
use crate::base::diagnostic::Diagnostic;
use crate::base::fix::{Edit, Fix};
use crate::base::rule_meta::{Code, Example, Fixable, RuleMeta, Severity};
use crate::project::fault::{Fault, FaultKind};
use crate::rules::rule::{Check, ConfigCx, Rule};

/// Two levels for one rule: the first holds.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta {
        code: Code(511),
        name: "repeated-lint",
        renamed_from: &[],
        severity: Some(Severity::Error),
        when_enabled: Severity::Error,
        locked: false,
        fix: Fixable::Suggested,
        summary: "`[lints]` sets one rule twice",
        page: "\
A rule has a name and a code, and perhaps a former name; `[lints]` takes any of them. Two lines about the same rule are a contradiction
waiting to happen: the first holds, the second does nothing.",
        bad: &[Example { template: TASK, project: "[lints]\nno-context = \"error\"\nCTX203 = \"off\"\n" }],
        good: &[Example { template: TASK, project: "[lints]\nno-context = \"error\"\ncontext = \"warning\"\n" }],
    },
    check: Check::Config(word),
};

fn word(cx: &ConfigCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    let FaultKind::RepeatedRule { rule, first } = &fault.kind else { return None };
    let message = format!("sets `{rule}` a second time; the first line holds");
    let finding = Diagnostic::new(&RULE.meta, &cx.path(fault.file), fault.span, message);
    let fix = Fix::suggested("remove the second line", vec![Edit::delete(line(cx, fault))]);
    Some(cx.label(finding, fault.file, *first, "set here").fix(fix))
}
