//! CTX523: a role with a model that the project does not define.

use super::words::TASK;
use super::words::{Form, list, meant};
use crate::base::diagnostic::Diagnostic;
use crate::base::rule_meta::{Code, Example, Fixable, RuleMeta, Severity};
use crate::project::fault::{Fault, FaultKind};
use crate::rules::rule::{Check, ConfigCx, Rule};

/// A name alone says neither a window nor a price.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta {
        code: Code(523),
        name: "unknown-model",
        renamed_from: &[],
        severity: Some(Severity::Error),
        when_enabled: Severity::Error,
        locked: false,
        fix: Fixable::Suggested,
        summary: "a role names a model that the project does not define",
        page: "\
`model` of a role names one of `[models]`, or a list of them: the first is taken, the others stand behind it. What the project does not
define has no window that a context could be fitted into, no tokenizer and no price, so nothing could be said about what the role receives.

Models go by the names that the project gives them; what their provider calls them is their `id`.",
        bad: &[Example {
            template: TASK,
            project: "[roles.triage]\nmodel = \"smal\"\n\n[models.small]\nprovider = \"openai\"\ntier = \"economy\"\ncontext_window = 128000\n",
        }],
        good: &[Example {
            template: TASK,
            project: "[roles.triage]\nmodel = \"small\"\n\n[models.small]\nprovider = \"openai\"\ntier = \"economy\"\ncontext_window = 128000\n",
        }],
    },
    check: Check::Config(word),
};

fn word(cx: &ConfigCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    let FaultKind::UnknownModel { found, near, valid } = &fault.kind else { return None };
    let message = format!("the project has no model `{found}`");
    let finding = Diagnostic::new(&RULE.meta, &cx.path(fault.file), fault.span, message);
    if near.is_some() {
        return Some(meant(finding, fault.span, near.as_deref(), Form::Text));
    }
    let finding = if valid.is_empty() { finding } else { finding.note(format!("its models are {}", list(valid))) };
    Some(finding.help(format!("define it under `[models.{found}]`")))
}
