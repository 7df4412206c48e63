//! CTX625: a conversation that no agent of the task is shown.

use super::cx::{CaseCx, Results};
use super::words::{files, first_line};
use crate::rules::prelude::*;

/// A task that shows the conversation to its agent.
const HEARS: &str = "\
<task type=\"atomic\" name=\"triage\">
  <description>answer what was asked last</description>
  <history turns=\"4\"/>
</task>
";

/// What reaches no prompt tests nothing.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::error(625, "unheard-history", "a conversation that no agent of the task is shown", PAGE).examples(BAD, GOOD),
    check: Check::Case(check),
};

const PAGE: &str = "\
`context.history` is what was said before. A task shows it to its agent by `<history>`; where neither the task nor what it refers to has one, the
conversation reaches no prompt, and the case would test a context without it. Where another agent of the task is shown it than the one that the case is about, that
is a warning; `history: []` leaves out what a suite's defaults say.";

const BAD: &[Example] = &[files(
    "\
# file: scenarios/refund.yaml
name: refund
task: triage
context:
  objective: sort the ticket
  inputs: {ticket: it came late}
  history:
    - {role: user, content: where is my order?}
expect_context:
  - nothing_cut: true
",
)];

const GOOD: &[Example] = &[Example {
    template: HEARS,
    project: "\
# file: scenarios/refund.yaml
name: refund
task: triage
context:
  objective: answer
  history:
    - {role: user, content: where is my order?}
    - {role: assistant, content: on its way}
    - {role: user, content: since when?}
expect_context:
  - segment: {id: history, state: kept}
",
}];

fn check(cx: &CaseCx<'_>, out: &mut Vec<Diagnostic>) {
    let Some(history) = cx.case.situation.history.as_ref().filter(|history| !history.value.is_empty()) else { return };
    let Some((task, takes)) = cx.receiver() else { return };
    let is_told = |results: &Results| results.agent.is_some() && !results.hears;
    let deaf = cx.results().map(|(_, results)| results).filter(|results| takes.hears && is_told(results));
    if takes.hears && deaf.is_none() {
        return;
    }
    let span = cx.key_of("history", history.span);
    let span = first_line(cx.file.text, span);
    if let Some(agent) = deaf.and_then(|results| results.agent) {
        let finding = cx.finding(&RULE.meta, span, format!("the agent `{agent}` of `{task}` is not shown the conversation"));
        let finding = finding.note("neither it nor what it inherits from has `<history>`").severity(Severity::Warning);
        return out.push(finding);
    }
    let finding = cx.finding(&RULE.meta, span, format!("no agent of `{task}` is shown the conversation"));
    out.push(
        finding
            .note("neither the task nor what it refers to has `<history>`")
            .help("add `<history/>` to the task, or leave `history` out"),
    );
}
