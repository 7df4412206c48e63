//! CTX524: a model of a provider that the project does not define.

use super::words::TASK;
use super::words::{Form, list, meant};
use crate::base::diagnostic::Diagnostic;
use crate::base::rule_meta::{Code, Example, Fixable, RuleMeta, Severity};
use crate::project::fault::{Fault, FaultKind};
use crate::rules::rule::{Check, ConfigCx, Rule};

/// Nobody could be asked.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta {
        code: Code(524),
        name: "unknown-provider",
        renamed_from: &[],
        severity: Some(Severity::Error),
        when_enabled: Severity::Error,
        locked: false,
        fix: Fixable::Suggested,
        summary: "a model names a provider that the project does not define",
        page: "\
`provider` of a model is one of `[providers]`, or, for a vendor at its own address, the kind itself: `openai`, `anthropic`, `gemini`,
`ollama`. Anything else is nobody who could be asked.",
        bad: &[Example {
            template: TASK,
            project: "[models.small]\nprovider = \"antropic\"\ntier = \"economy\"\ncontext_window = 200000\n",
        }],
        good: &[
            Example {
                template: TASK,
                project: "[models.small]\nprovider = \"anthropic\"\ntier = \"economy\"\ncontext_window = 200000\n",
            },
            Example {
                template: TASK,
                project: "[models.local]\nprovider = \"cellar\"\ntier = \"economy\"\ncontext_window = 32768\n\n[providers.cellar]\nkind = \"openai\"\nbase_url = \"http://localhost:8000/v1\"\n",
            },
        ],
    },
    check: Check::Config(word),
};

fn word(cx: &ConfigCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    let FaultKind::UnknownProvider { found, near, valid } = &fault.kind else { return None };
    let message = format!("the project has no provider `{found}`, and it is no kind of provider");
    let finding = Diagnostic::new(&RULE.meta, &cx.path(fault.file), fault.span, message);
    let finding = finding.note(format!("what may stand here is {}", list(valid)));
    if near.is_some() {
        return Some(meant(finding, fault.span, near.as_deref(), Form::Text));
    }
    Some(finding.help(format!("define it under `[providers.{found}]` with its `kind`")))
}
