//! CTX622: a frozen file that no agent receives.

use super::scenario_prelude::*;
use crate::scenario::paths::{normalize_path, resolve_beside};

/// The agent receives the file on disk instead, so the case changes with that file.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        warning,
        622,
        "unused-frozen-file",
        "a frozen file that no agent of the task is shown"
    )
    .with_fix(Fixable::Suggested),
    Check::Case(check_case),
);

fn check_case(cx: &CaseCx<'_>, out: &mut Vec<Diagnostic>) {
    if cx.case.situation.files.is_empty() {
        return;
    }
    let Some((task, takes)) = cx.receiver() else {
        return;
    };
    for (path, content) in &cx.case.situation.files {
        // A file outside the project is reported by another rule.
        if resolve_beside("", path).is_none()
            || takes
                .files
                .iter()
                .any(|known| normalize_path(known) == normalize_path(path))
        {
            continue;
        }
        let span = cx.key_span(path, content.span);
        let finding = cx.finding(
            &RULE.meta,
            span,
            format!("no agent of `{task}` is shown `{}`", shorten(path)),
        );
        let known: Vec<&str> = takes.files.iter().map(String::as_str).collect();
        let frozen = |other: &str| {
            cx.case
                .situation
                .files
                .keys()
                .any(|path| normalize_path(path) == normalize_path(other))
        };
        let near = nearest_candidate(path, known.iter().copied().filter(|known| !frozen(known)));
        let finding = match (near, known.is_empty()) {
            (Some(_), _) => finding,
            // A frozen situation may contain more than one task uses.
            (None, true) => finding
                .severity(Severity::Hint)
                .note("it names no files under `<file_paths>`"),
            (None, false) => finding
                .severity(Severity::Hint)
                .note(format!("it is shown {}", list_some(&known))),
        };
        let near = near.filter(|_| span != content.span);
        out.push(cx.suggest_name(finding, span, near));
    }
}
