//! CTX526: a model that no role can get.

use super::words::TASK;
use crate::base::diagnostic::Diagnostic;
use crate::base::rule_meta::{Code, Example, Fixable, RuleMeta, Severity};
use crate::project::fault::{Fault, FaultKind};
use crate::rules::rule::{Check, ConfigCx, Rule};

/// It is kept up to date for nobody.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta {
        code: Code(526),
        name: "unused-model",
        renamed_from: &[],
        severity: Some(Severity::Info),
        when_enabled: Severity::Info,
        locked: false,
        fix: Fixable::None,
        summary: "a model that no role can get",
        page: "\
No role names this model, and for none that asks for a tier or capabilities does it qualify, not even as one to fall back to. Only a task that
names it with `<model>` could get it. Mostly a role's demands moved and the model was left behind, or its tier or capabilities are incomplete.

It is looked for where every role says which model it wants.",
        bad: &[Example {
            template: TASK,
            project: "[roles.triage]\nmodel = \"small\"\n\n[models.small]\nprovider = \"openai\"\ntier = \"economy\"\ncontext_window = 128000\n\n[models.large]\nprovider = \"openai\"\ntier = \"premium\"\ncontext_window = 200000\n",
        }],
        good: &[Example {
            template: TASK,
            project: "[roles.triage]\nmodel = [\"small\", \"large\"]\n\n[models.small]\nprovider = \"openai\"\ntier = \"economy\"\ncontext_window = 128000\n\n[models.large]\nprovider = \"openai\"\ntier = \"premium\"\ncontext_window = 200000\n",
        }],
    },
    check: Check::Config(word),
};

fn word(cx: &ConfigCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    let FaultKind::UnusedModel { model } = &fault.kind else { return None };
    let message = format!("no role of the project can get the model `{model}`");
    let finding = Diagnostic::new(&RULE.meta, &cx.path(fault.file), fault.span, message);
    Some(finding.help("remove it, or check its tier and capabilities against what the roles ask for"))
}
