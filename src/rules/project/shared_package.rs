//! CTX518: `extends` of a package.

use super::words::TASK;
use crate::base::diagnostic::Diagnostic;
use crate::base::rule_meta::{Code, Example, Fixable, RuleMeta, Severity};
use crate::project::fault::{Fault, FaultKind};
use crate::rules::rule::{Check, ConfigCx, Rule};

/// Packages come with a later release.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta {
        code: Code(518),
        name: "package-not-available",
        renamed_from: &[],
        severity: Some(Severity::Error),
        when_enabled: Severity::Error,
        locked: true,
        fix: Fixable::None,
        summary: "`extends` names a package, and there are none yet",
        page: "\
A later release shares policies as packages. This one takes them from a file: `extends = { path = \"…\", hash = \"b3:…\" }`.",
        bad: &[Example { template: TASK, project: "extends = \"package:acme/strict\"\n" }],
        good: &[Example { template: TASK, project: "" }],
    },
    check: Check::Config(word),
};

fn word(cx: &ConfigCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    let FaultKind::SharedPackage { name } = &fault.kind else { return None };
    let message = format!("cannot extend package `{name}`: packages are not available in this release");
    let finding = Diagnostic::new(&RULE.meta, &cx.path(fault.file), fault.span, message);
    Some(finding.help("copy its file beside the project and extend that: `extends = \"policies/strict.toml\"`"))
}
