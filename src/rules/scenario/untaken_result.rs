//! CTX626: a frozen result or scripted answer that is never used.

use super::scenario_prelude::*;
use crate::scenario::model::ScriptedAnswer;

/// An unused result or answer tests nothing.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        error,
        626,
        "untaken-result",
        "a frozen result or a scripted answer that nothing uses"
    )
    .with_fix(Fixable::Suggested),
    Check::Case(check_case),
);

fn check_case(cx: &CaseCx<'_>, out: &mut Vec<Diagnostic>) {
    check_answers(cx, out);
    let given = &cx.case.situation.results;
    if given.is_empty() {
        return;
    }
    let Some((task, known)) = cx.available_results() else {
        return;
    };
    for (name, value) in given {
        let paths = known.all.get(name).map_or(&[][..], Vec::as_slice);
        if paths.len() == 1 {
            continue;
        }
        let span = cx.key_span(name, value.span);
        let place = span.first_line(cx.file.text);
        if let [first, ..] = paths {
            let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
            let message = format!(
                "`{}` is the name of {} results of the task `{task}`",
                shorten(name),
                paths.len()
            );
            let finding = cx
                .finding(&RULE.meta, place, message)
                .note(format!("they are {}", list_some(&paths)));
            out.push(finding.help(format!("give each by its path, such as `{first}`")));
            continue;
        }
        let free = known.names().filter(|other| !given.contains_key(*other));
        let near = nearest_candidate(name, free);
        let finding = cx.finding(
            &RULE.meta,
            place,
            format!("no step of `{task}` has a result `{}`", shorten(name)),
        );
        let leaves: Vec<&str> = known.names().collect();
        out.push(match near {
            // A fix needs the span of the key, which a table row does not have.
            Some(near) if span == value.span => finding.help(format!("did you mean `{near}`?")),
            None if leaves.is_empty() => finding.note("it has no step that does"),
            None => finding.note(format!("its steps have {}", list_some(&leaves))),
            Some(_) => cx.suggest_name(finding, span, near),
        });
    }
}

/// Reports answers after an answer to every request.
fn check_answers(cx: &CaseCx<'_>, out: &mut Vec<Diagnostic>) {
    let answers = &cx.case.answers;
    // Answers for a named agent of a run are given in turn.
    let is_for_all = |answer: &ScriptedAnswer| {
        answer.node.is_none() && answer.has.is_empty() && answer.lacks.is_empty()
    };
    let Some(at) = answers.iter().position(|answer| is_for_all(&answer.value)) else {
        return;
    };
    let Some(first) = answers.get(at) else { return };
    for never in answers
        .iter()
        .skip(at + 1)
        .filter(|answer| answer.value.node.is_none())
    {
        let span = never.span.first_line(cx.file.text);
        let finding = cx.finding(
            &RULE.meta,
            span,
            "this answer is never given: one before it answers every request",
        );
        let finding = finding
            .severity(Severity::Warning)
            .help("put the answer without `when` last");
        out.push(if cx.is_table_row() {
            finding
        } else {
            finding.label(
                first.span.first_line(cx.file.text),
                "this one has no `when`",
            )
        });
    }
}
