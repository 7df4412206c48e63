//! CTX527: a budget that the model's window does not hold.

use crate::project::fault::{Fault, FaultKind};
use crate::rules::prelude::*;

/// A limit that never limits.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::warning(527, "budget-over-window", "a role's budget is larger than what its model's window holds", PAGE)
        .fixed(Fixable::Suggested)
        .examples(BAD, GOOD),
    check: Check::Config(word),
};

const PAGE: &str = "\
The budget of a context is the smaller of the role's and the model's window less its `output_reserve`. A role that allows itself more than
its model holds has no budget of its own: the window cuts what the author thought would be there.";

const BAD: &[Example] = &[project(
    "[roles.triage]\nmodel = \"small\"\nbudget = { tokens = 40000 }\n\n[models.small]\nprovider = \"ollama\"\ntier = \"economy\"\ncontext_window = 32768\noutput_reserve = 4096\n",
)];

const GOOD: &[Example] = &[project(
    "[roles.triage]\nmodel = \"small\"\nbudget = { tokens = 20000 }\n\n[models.small]\nprovider = \"ollama\"\ntier = \"economy\"\ncontext_window = 32768\noutput_reserve = 4096\n",
)];

fn word(cx: &ConfigCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    let FaultKind::BudgetOverWindow { role, tokens, model, room } = &fault.kind else { return None };
    let message = format!("role `{role}` may have {tokens} tokens, and its model `{model}` holds {room} beside its answer");
    let finding = cx.finding(&RULE, fault, message);
    let finding = finding.note("the smaller of the two holds, so this budget never does");
    let edit = Edit::replace(fault.span, room.to_string());
    Some(finding.fix(Fix::suggested(format!("write {room}, what the model holds"), vec![edit])))
}
