//! CTX509: a name in `[lints]` that no rule has.

use super::words::TASK;
use super::words::{Form, meant};
use crate::base::diagnostic::Diagnostic;
use crate::base::rule_meta::{Code, Example, Fixable, RuleMeta, Severity};
use crate::project::fault::{Fault, FaultKind};
use crate::rules::rule::{Check, ConfigCx, Rule};

/// A level for a rule that does not exist weighs nothing.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta {
        code: Code(509),
        name: "unknown-lint",
        renamed_from: &[],
        severity: Some(Severity::Error),
        when_enabled: Severity::Error,
        locked: false,
        fix: Fixable::Suggested,
        summary: "`[lints]` names no rule",
        page: "\
`[lints]` takes the name of a rule (`no-context`), its code (`CTX203`), a family by name or code (`migration`, `CTX4xx`), or `all`. A
line about one rule beats one about its family, and that one beats `all`. `ctxc rules` lists all names.",
        bad: &[Example { template: TASK, project: "[lints]\nno-contxt = \"error\"\n" }],
        good: &[Example { template: TASK, project: "[lints]\nno-context = \"error\"\nmigration = \"hint\"\nCTX3xx = \"error\"\n" }],
    },
    check: Check::Config(word),
};

fn word(cx: &ConfigCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    let FaultKind::UnknownRule { found, near } = &fault.kind else { return None };
    let message = format!("no rule, code or family is called `{found}`");
    let finding = Diagnostic::new(&RULE.meta, &cx.path(fault.file), fault.span, message);
    let finding = if near.is_none() { finding.help("`ctxc rules` lists the names of all rules") } else { finding };
    Some(meant(finding, fault.span, near.as_deref(), Form::Bare))
}
