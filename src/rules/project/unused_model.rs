//! CTX526: a model that no role can get.

use crate::project::fault::{Fault, FaultKind};
use crate::rules::prelude::*;

/// It is kept up to date for nobody.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::info(526, "unused-model", "a model that no role can get", PAGE).examples(BAD, GOOD),
    check: Check::Config(word),
};

const PAGE: &str = "\
No role names this model, and for none that asks for a tier or capabilities does it qualify, not even as one to fall back to. Only a task that
names it with `<model>` could get it. Mostly a role's demands moved and the model was left behind, or its tier or capabilities are incomplete.

It is looked for where every role says which model it wants.";

const BAD: &[Example] = &[project(
    "[roles.triage]\nmodel = \"small\"\n\n[models.small]\nprovider = \"openai\"\ntier = \"economy\"\ncontext_window = 128000\n\n[models.large]\nprovider = \"openai\"\ntier = \"premium\"\ncontext_window = 200000\n",
)];

const GOOD: &[Example] = &[project(
    "[roles.triage]\nmodel = [\"small\", \"large\"]\n\n[models.small]\nprovider = \"openai\"\ntier = \"economy\"\ncontext_window = 128000\n\n[models.large]\nprovider = \"openai\"\ntier = \"premium\"\ncontext_window = 200000\n",
)];

fn word(cx: &ConfigCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    let FaultKind::UnusedModel { model } = &fault.kind else { return None };
    let message = format!("no role of the project can get the model `{model}`");
    let finding = cx.finding(&RULE, fault, message);
    Some(finding.help("remove it, or check its tier and capabilities against what the roles ask for"))
}
