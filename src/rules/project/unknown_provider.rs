//! CTX524: a model of a provider that the project does not define.

use super::words::{Form, list, meant};
use crate::project::fault::{Fault, FaultKind};
use crate::rules::prelude::*;

/// Nobody could be asked.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::error(524, "unknown-provider", "a model names a provider that the project does not define", PAGE)
        .fixed(Fixable::Suggested)
        .examples(BAD, GOOD),
    check: Check::Config(word),
};

const PAGE: &str = "\
`provider` of a model is one of `[providers]`, or, for a vendor at its own address, the kind itself: `openai`, `anthropic`, `gemini`,
`ollama`. Anything else is nobody who could be asked.";

const BAD: &[Example] = &[project("[models.small]\nprovider = \"antropic\"\ntier = \"economy\"\ncontext_window = 200000\n")];

const GOOD: &[Example] = &[
    project("[models.small]\nprovider = \"anthropic\"\ntier = \"economy\"\ncontext_window = 200000\n"),
    project(
        "[models.local]\nprovider = \"cellar\"\ntier = \"economy\"\ncontext_window = 32768\n\n[providers.cellar]\nkind = \"openai\"\nbase_url = \"http://localhost:8000/v1\"\n",
    ),
];

fn word(cx: &ConfigCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    let FaultKind::UnknownProvider { found, near, valid } = &fault.kind else { return None };
    let message = format!("the project has no provider `{found}`, and it is no kind of provider");
    let finding = cx.finding(&RULE, fault, message);
    let finding = finding.note(format!("what may stand here is {}", list(valid)));
    if near.is_some() {
        return Some(meant(finding, fault.span, near.as_deref(), Form::Text));
    }
    Some(finding.help(format!("define it under `[providers.{found}]` with its `kind`")))
}
