//! CTX612: a value for a parameter that the task does not have.

use super::cx::CaseCx;
use super::words::{SOUND, TASK, some};
use crate::base::diagnostic::Diagnostic;
use crate::base::rule_meta::{Code, Example, Fixable, RuleMeta, Severity};
use crate::base::suggest::nearest;
use crate::rules::rule::{Check, Rule};

/// A value that reaches no prompt tests nothing.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta {
        code: Code(612),
        name: "unknown-input",
        renamed_from: &[],
        severity: Some(Severity::Error),
        when_enabled: Severity::Error,
        locked: false,
        fix: Fixable::Suggested,
        summary: "a value for a parameter that the task does not have",
        page: "\
`context.inputs` gives values to the parameters of the task. A value for a parameter that the task does not have reaches no prompt, and the
case would test a context without it.",
        bad: &[Example { template: TASK, project: "\
# file: scenarios/refund.yaml
name: refund
task: triage
context:
  objective: sort the ticket
  inputs: {tickt: it came late}
expect_context:
  - nothing_cut: true
" }],
        good: SOUND,
    },
    check: Check::Case(check),
};

fn check(cx: &CaseCx<'_>, out: &mut Vec<Diagnostic>) {
    let Some((task, takes)) = cx.receiver() else { return };
    let parameters = &takes.parameters;
    let inputs = &cx.case.situation.inputs;
    for (name, value) in inputs {
        if parameters.iter().any(|parameter| *parameter.name == **name) {
            continue;
        }
        let span = cx.key_of(name, value.span);
        let finding = cx.finding(&RULE.meta, span, format!("the task `{task}` takes no value `{name}`"));
        // A parameter that has its value is not what was meant.
        let free: Vec<&str> =
            parameters.iter().map(|parameter| &*parameter.name).filter(|name| !inputs.contains_key(*name)).collect();
        let all: Vec<&str> = parameters.iter().map(|parameter| &*parameter.name).collect();
        let near = nearest(name, free.iter().copied());
        let finding = match near {
            Some(_) => finding,
            None if all.is_empty() => finding.note("it takes none"),
            None => finding.note(format!("it takes {}", some(&all))),
        };
        out.push(match near {
            // A fix needs the key's place; a row of a table has none.
            Some(near) if span == value.span => finding.help(format!("did you mean `{near}`?")),
            _ => cx.meant(finding, span, near),
        });
    }
}
