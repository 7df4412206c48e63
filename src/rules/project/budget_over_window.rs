//! CTX527: a budget that the model's window does not hold.

use super::words::TASK;
use crate::base::diagnostic::Diagnostic;
use crate::base::fix::{Edit, Fix};
use crate::base::rule_meta::{Code, Example, Fixable, RuleMeta, Severity};
use crate::project::fault::{Fault, FaultKind};
use crate::rules::rule::{Check, ConfigCx, Rule};

/// A limit that never limits.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta {
        code: Code(527),
        name: "budget-over-window",
        renamed_from: &[],
        severity: Some(Severity::Warning),
        when_enabled: Severity::Warning,
        locked: false,
        fix: Fixable::Suggested,
        summary: "a role's budget is larger than what its model's window holds",
        page: "\
The budget of a context is the smaller of the role's and the model's window less its `output_reserve`. A role that allows itself more than
its model holds has no budget of its own: the window cuts what the author thought would be there.",
        bad: &[Example {
            template: TASK,
            project: "[roles.triage]\nmodel = \"small\"\nbudget = { tokens = 40000 }\n\n[models.small]\nprovider = \"ollama\"\ntier = \"economy\"\ncontext_window = 32768\noutput_reserve = 4096\n",
        }],
        good: &[Example {
            template: TASK,
            project: "[roles.triage]\nmodel = \"small\"\nbudget = { tokens = 20000 }\n\n[models.small]\nprovider = \"ollama\"\ntier = \"economy\"\ncontext_window = 32768\noutput_reserve = 4096\n",
        }],
    },
    check: Check::Config(word),
};

fn word(cx: &ConfigCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    let FaultKind::BudgetOverWindow { role, tokens, model, room } = &fault.kind else { return None };
    let message = format!("role `{role}` may have {tokens} tokens, and its model `{model}` holds {room} beside its answer");
    let finding = Diagnostic::new(&RULE.meta, &cx.path(fault.file), fault.span, message);
    let finding = finding.note("the smaller of the two holds, so this budget never does");
    let edit = Edit::replace(fault.span, room.to_string());
    Some(finding.fix(Fix::suggested(format!("write {room}, what the model holds"), vec![edit])))
}
