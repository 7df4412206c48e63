//! CTX523: a role with a model that the project does not define.

use super::words::{Form, list, meant};
use crate::project::fault::{Fault, FaultKind};
use crate::rules::prelude::*;

/// A name alone says neither a window nor a price.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::error(523, "unknown-model", "a role names a model that the project does not define", PAGE)
        .fixed(Fixable::Suggested)
        .examples(BAD, GOOD),
    check: Check::Config(word),
};

const PAGE: &str = "\
`model` of a role names one of `[models]`, or a list of them: the first is taken, the others stand behind it. What the project does not
define has no window that a context could be fitted into, no tokenizer and no price, so nothing could be said about what the role receives.

Models go by the names that the project gives them; what their provider calls them is their `id`.";

const BAD: &[Example] = &[project(
    "[roles.triage]\nmodel = \"smal\"\n\n[models.small]\nprovider = \"openai\"\ntier = \"economy\"\ncontext_window = 128000\n",
)];

const GOOD: &[Example] = &[project(
    "[roles.triage]\nmodel = \"small\"\n\n[models.small]\nprovider = \"openai\"\ntier = \"economy\"\ncontext_window = 128000\n",
)];

fn word(cx: &ConfigCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    let FaultKind::UnknownModel { found, near, valid } = &fault.kind else { return None };
    let message = format!("the project has no model `{found}`");
    let finding = cx.finding(&RULE, fault, message);
    if near.is_some() {
        return Some(meant(finding, fault.span, near.as_deref(), Form::Text));
    }
    let finding = if valid.is_empty() { finding } else { finding.note(format!("its models are {}", list(valid))) };
    Some(finding.help(format!("define it under `[models.{found}]`")))
}
