//! CTX626: a frozen result or a scripted answer that nobody takes.

use super::cx::{CaseCx, Results};
use super::words::{first_line, short, some};
use crate::base::diagnostic::Diagnostic;
use crate::base::rule_meta::{Code, Example, Fixable, RuleMeta, Severity};
use crate::base::span::Span;
use crate::base::suggest::nearest;
use crate::rules::rule::{Check, Rule};
use std::collections::BTreeSet;

/// A task whose second step is given what the first one left.
const STEPS: &str = "\
<task type=\"sequential\" name=\"triage\">
  <description>sort the ticket</description>
  <context_management>
    <accumulate_data>false</accumulate_data>
  </context_management>
  <steps>
    <task as=\"facts\"><description>gather facts</description></task>
    <task as=\"mood\"><description>guess the mood</description></task>
    <task><description>answer by {{facts}}</description></task>
  </steps>
</task>
";

/// What reaches nobody tests nothing.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta {
        code: Code(626),
        name: "untaken-result",
        renamed_from: &[],
        severity: Some(Severity::Error),
        when_enabled: Severity::Error,
        locked: false,
        fix: Fixable::Suggested,
        summary: "a frozen result or a scripted answer that nobody takes",
        page: "\
`context.results` gives what earlier steps left, by the names of the steps (`as`) or by their nodes (`/steps/0`); an agent of a round is given
`director_result`, `current_input` and the like. A result that no step of the task leaves reaches no prompt, and the case would test a context
without it. One that the task has and the case's agent is not shown, since it comes later or no text names it and nothing carries it along, is a
warning; one under the `defaults` of a suite is for those of its cases that take it, and is told where none does. So is a scripted answer below one
without `when`, which answers every request.",
        bad: &[Example { template: STEPS, project: "\
# file: scenarios/refund.yaml
name: refund
task: triage
node: /steps/2
context:
  objective: answer
  results: {fact: it came late}
expect_context:
  - nothing_cut: true
" }, Example { template: STEPS, project: "\
# file: scenarios/refund.yaml
name: refund
task: triage
node: /steps/2
context:
  objective: answer
  results: {facts: it came late, mood: angry}
expect_context:
  - nothing_cut: true
" }, Example { template: STEPS, project: "\
# file: scenarios/refund.yaml
name: refund
task: triage
context:
  objective: answer
expectations:
  - contains: late
answers:
  - reply: it came late
  - when: {has: order}
    reply: it was lost
" }],
        good: &[Example { template: STEPS, project: "\
# file: scenarios/refund.yaml
name: refund
task: triage
node: /steps/2
context:
  objective: answer
  results: {facts: it came late}
expect_context:
  - nothing_cut: true
" }],
    },
    check: Check::Case(check),
};

fn check(cx: &CaseCx<'_>, out: &mut Vec<Diagnostic>) {
    answers(cx, out);
    let given = &cx.case.situation.results;
    if given.is_empty() {
        return;
    }
    let Some((task, known)) = cx.results() else { return };
    for (name, value) in given {
        if known.shown.contains(name) {
            continue;
        }
        // What the defaults of a suite freeze is for those of its cases that take it.
        let sharing = sharing(cx, name, value.span);
        if sharing.takes {
            continue;
        }
        let span = cx.key_of(name, value.span);
        let place = first_line(cx.file.text, span);
        if known.all.contains(name) {
            let Some(agent) = &known.agent else { continue };
            if sharing.others {
                let message = format!("no case of this suite is shown the result `{}`", short(name));
                out.push(Diagnostic::new(&RULE.meta, cx.file.path, place, message).severity(Severity::Warning));
                continue;
            }
            let finding = cx.finding(
                &RULE.meta,
                place,
                format!("the agent `{agent}` of `{task}` is not shown the result `{}`", short(name)),
            );
            out.push(listed(finding.severity(Severity::Warning), &known));
            continue;
        }
        let free = known.names().filter(|other| !given.contains_key(*other));
        let near = nearest(name, free);
        let finding = cx.finding(&RULE.meta, place, format!("no step of `{task}` leaves a result `{}`", short(name)));
        let finding = if near.is_some() { finding } else { listed(finding, &known) };
        out.push(match near {
            // A fix needs the key's place; a row of a table has none.
            Some(near) if span == value.span => finding.help(format!("did you mean `{near}`?")),
            _ => cx.meant(finding, span, near),
        });
    }
}

/// The other cases that have a result from the same place.
struct Sharing {
    /// Whether there are some.
    others: bool,
    /// Whether it reaches the agent of one of them.
    takes: bool,
}

/// Looks at each agent once, however many cases ask it.
fn sharing(cx: &CaseCx<'_>, name: &str, span: Span) -> Sharing {
    let mut sharing = Sharing { others: false, takes: false };
    // A row's own results stand where its table is named.
    if cx.suite.cases_from.as_ref().is_some_and(|from| from.span == span) {
        return sharing;
    }
    let mut seen = BTreeSet::new();
    for case in &cx.suite.cases {
        if std::ptr::eq(case, cx.case) || case.situation.results.get(name).is_none_or(|given| given.span != span) {
            continue;
        }
        sharing.others = true;
        let other = CaseCx { case, ..*cx };
        let agent = (other.receiver().map(|(task, _)| task.to_owned()), case.node.as_ref().map(|node| node.value.clone()));
        if seen.insert(agent) && other.results().is_some_and(|(_, known)| known.shown.contains(name)) {
            sharing.takes = true;
            return sharing;
        }
    }
    sharing
}

/// Says what the agent is shown.
fn listed(finding: Diagnostic, known: &Results) -> Diagnostic {
    let names: Vec<&str> = known.shown.iter().map(String::as_str).filter(|name| !name.starts_with('/')).collect();
    match (names.as_slice(), known.shown.first()) {
        ([], None) => finding.note("it is shown none: `node` names the agent, and the first one is meant where it is left out"),
        ([], Some(_)) => {
            finding.note(format!("it is shown {}", some(&known.shown.iter().map(String::as_str).collect::<Vec<_>>())))
        }
        (names, _) => finding.note(format!("it is shown {}", some(names))),
    }
}

/// Answers behind one that answers everything.
fn answers(cx: &CaseCx<'_>, out: &mut Vec<Diagnostic>) {
    let answers = &cx.case.answers;
    let Some(at) = answers.iter().position(|answer| answer.value.has.is_empty() && answer.value.lacks.is_empty()) else { return };
    let Some(first) = answers.get(at) else { return };
    for never in answers.iter().skip(at + 1) {
        let span = first_line(cx.file.text, never.span);
        let finding = cx.finding(&RULE.meta, span, "this answer is never given: one before it answers every request");
        let finding = finding.severity(Severity::Warning).help("put the answer without `when` last");
        out.push(if cx.is_row() {
            finding
        } else {
            finding.label(first_line(cx.file.text, first.span), "this one has no `when`")
        });
    }
}
