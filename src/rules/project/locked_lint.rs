//! CTX510: a promise that `[lints]` would lower.

use super::words::TASK;
use super::words::line;
use crate::base::diagnostic::Diagnostic;
use crate::base::fix::{Edit, Fix};
use crate::base::rule_meta::{Code, Example, Fixable, RuleMeta, Severity};
use crate::project::fault::{Fault, FaultKind};
use crate::rules::rule::{Check, ConfigCx, Rule};

/// A promise that can be switched off is none.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta {
        code: Code(510),
        name: "locked-lint",
        renamed_from: &[],
        severity: Some(Severity::Error),
        when_enabled: Severity::Error,
        locked: true,
        fix: Fixable::Suggested,
        summary: "`[lints]` would silence or lower a rule that is locked",
        page: "\
Some rules are promises of the language: that XML is well-formed, that settings, types and subtypes are what was written, that what a
task inherits and what it looks up do not contradict each other, that every reference leads somewhere. A registry is only worth reading if they hold for every project, so they can be neither
silenced nor lowered. Families and `all` leave them as they are.",
        bad: &[Example { template: TASK, project: "[lints]\ncontext-conflict = \"warning\"\n" },
            Example { template: TASK, project: "[lints]\nCTX501 = \"off\"\n" }],
        good: &[Example { template: TASK, project: "[lints]\nall = \"warning\"\n" }],
    },
    check: Check::Config(word),
};

fn word(cx: &ConfigCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    let FaultKind::LockedRule { rule, level, floor } = &fault.kind else { return None };
    let message = format!("`{rule}` cannot be `{level}`: it is a promise of the language, and stays `{floor}`");
    let finding = Diagnostic::new(&RULE.meta, &cx.path(fault.file), fault.span, message);
    let fix = Fix::suggested("remove the line", vec![Edit::delete(line(cx, fault))]);
    Some(finding.help("correct what it finds instead; `--suppress-existing` sets today's findings of other rules aside").fix(fix))
}
