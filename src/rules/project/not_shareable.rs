//! CTX519: a key that a shared file may not have.

use super::words::TASK;
use crate::base::diagnostic::Diagnostic;
use crate::base::rule_meta::{Code, Example, Fixable, RuleMeta, Severity};
use crate::project::fault::{Fault, FaultKind};
use crate::rules::rule::{Check, ConfigCx, Rule};

/// What belongs to one project is not shared.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta {
        code: Code(519),
        name: "not-shareable",
        renamed_from: &[],
        severity: Some(Severity::Error),
        when_enabled: Severity::Error,
        locked: false,
        fix: Fixable::None,
        summary: "a shared file has a key that belongs to a project",
        page: "\
A shared file holds what several projects have in common: `[lints]`, `[defaults]`, `[[require]]`, and `[allow] loosen` for what a project may
loosen. Everything else (its name, its folders, its types, its limits) belongs to each project's own file.",
        bad: &[Example { template: TASK, project: "extends = { path = \"shared.toml\", hash = \"b3:55b01ebec718e40f7d772ce26cbe74bf57150853433524a60980c97e2ec04dd1\" }\n# file: shared.toml\n[templates]\nexclude = \"drafts\"\n" }],
        good: &[Example { template: TASK, project: "extends = { path = \"shared.toml\", hash = \"b3:2e45bda259250df800058f967d10b212d2a6ee3fdfdb8d58f39a9a1b6ca307d2\" }\n# file: shared.toml\n[lints]\nno-context = \"error\"\n" }],
    },
    check: Check::Config(word),
};

fn word(cx: &ConfigCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    let FaultKind::NotShared { key } = &fault.kind else { return None };
    let message = format!("a shared file cannot have `{key}`; expected lints, defaults and requirements");
    let finding = Diagnostic::new(&RULE.meta, &cx.path(fault.file), fault.span, message);
    Some(finding.help("move it to the project's own file"))
}
