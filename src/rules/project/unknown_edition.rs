//! CTX505: an edition that this release does not read.

use super::words::TASK;
use crate::base::diagnostic::Diagnostic;
use crate::base::fix::{Edit, Fix};
use crate::base::rule_meta::{Code, Example, Fixable, RuleMeta, Severity};
use crate::project::config::EDITION;
use crate::project::fault::{Fault, FaultKind};
use crate::rules::rule::{Check, ConfigCx, Rule};

/// An edition fixes what templates mean.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta {
        code: Code(505),
        name: "unknown-edition",
        renamed_from: &[],
        severity: Some(Severity::Error),
        when_enabled: Severity::Error,
        locked: false,
        fix: Fixable::Suggested,
        summary: "an edition of the language that this release does not read",
        page: "\
The edition fixes what the elements and defaults of a template mean, so that an update of ctxc does not change what agents receive.
This release reads edition `2026`, which is also what holds without a line.",
        bad: &[Example { template: TASK, project: "edition = \"2031\"\n" }],
        good: &[Example { template: TASK, project: "edition = \"2026\"\n" }],
    },
    check: Check::Config(word),
};

fn word(cx: &ConfigCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    let FaultKind::UnknownEdition { found } = &fault.kind else { return None };
    let message = format!("edition `{found}` is not known; this release reads `{EDITION}`");
    let finding = Diagnostic::new(&RULE.meta, &cx.path(fault.file), fault.span, message);
    let fix = Fix::suggested(format!("write \"{EDITION}\""), vec![Edit::replace(fault.span, format!("\"{EDITION}\""))]);
    Some(finding.help("a newer edition needs a newer ctxc").fix(fix))
}
