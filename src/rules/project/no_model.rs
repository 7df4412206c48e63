//! CTX525: a role that no model qualifies for.

use super::words::{Form, meant};
use crate::project::fault::{Fault, FaultKind};
use crate::project::unfit::Unfit;
use crate::rules::prelude::*;

/// A role without a model cannot be called.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::error(
        525,
        "no-model-qualifies",
        "a role asks for a tier or capabilities that no model of the project has",
        PAGE,
    )
    .fixed(Fixable::Suggested)
    .examples(BAD, GOOD),
    check: Check::Config(word),
};

const PAGE: &str = "\
A role says what its model has to be: at least a `tier`, and `capabilities`. The cheapest of `[models]` that has all of it is taken. Here
none has, so the role could not be called. The finding says what the nearest ones lack.

Tiers are `economy`, `standard`, `standard_plus`, `premium`; a model qualifies for its own tier and those below. Capabilities are words of
the project's own, the same in roles and models.";

const BAD: &[Example] = &[
    project(
        "[roles.triage]\ntier = \"premium\"\n\n[models.small]\nprovider = \"openai\"\ntier = \"economy\"\ncontext_window = 128000\n",
    ),
    project(
        "[roles.triage]\ncapabilities = [\"visoin\"]\n\n[models.small]\nprovider = \"openai\"\ntier = \"economy\"\ncapabilities = [\"vision\"]\ncontext_window = 128000\n",
    ),
];

const GOOD: &[Example] = &[project(
    "[roles.triage]\ntier = \"economy\"\ncapabilities = [\"tools\"]\n\n[models.small]\nprovider = \"openai\"\ntier = \"standard\"\ncapabilities = [\"tools\"]\ncontext_window = 128000\n",
)];

fn word(cx: &ConfigCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    let FaultKind::NoModel { role, tier, capabilities, refused, near } = &fault.kind else { return None };
    let mut wanted: Vec<String> = tier.iter().map(|tier| format!("at least {}", tier.word())).collect();
    if !capabilities.is_empty() {
        wanted.push(format!("with {}", capabilities.join(", ")));
    }
    let message = format!("no model of the project is {}, which role `{role}` asks for", wanted.join(" "));
    let mut finding = cx.finding(&RULE, fault, message);
    for (model, unfit) in refused {
        finding = finding.note(format!("`{model}` {}", why(unfit)));
    }
    Some(match near {
        Some((written, near)) => meant(finding, written.span, Some(near), Form::Text),
        None if refused.is_empty() => finding.help("define one under `[models.NAME]` with provider, tier and context_window"),
        None => finding.help("ask for less, or define a model under `[models.NAME]` that has it"),
    })
}

fn why(unfit: &Unfit) -> String {
    let tier = unfit.tier.map(|tier| format!("is only {}", tier.word()));
    let lacks = (!unfit.lacks.is_empty()).then(|| format!("lacks {}", unfit.lacks.join(", ")));
    [tier, lacks].into_iter().flatten().collect::<Vec<_>>().join(" and ")
}
