//! CTX611: an expectation about a segment that no context has.

use super::scenario_prelude::*;
use super::shown::{self, ReceivableNames};
use super::walk::{self, MissingNameEffect};
use crate::base::quoted::name_list;
use crate::scenario::expect::segments::SegmentName;
use crate::scenario::values::SEGMENT_KINDS;

/// With a misspelt id, `absent` always holds.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        warning,
        611,
        "unknown-segment",
        "an expectation on a segment that no context has"
    )
    .with_fix(Fixable::Suggested),
    Check::Case(check_case),
);

/// The first words of segment ids of a recorded request.
const REQUEST_ID_KINDS: [&str; 5] = ["tools", "tool", "system", "message", "response_format"];

fn check_case(cx: &CaseCx<'_>, out: &mut Vec<Diagnostic>) {
    walk::for_each_segment_name(&cx.case.expect_context, &mut |name, stake| match name {
        SegmentName::Id(written) => out.extend(check_id(cx, written, stake)),
        SegmentName::Source(written) => out.extend(check_source(cx, written, stake)),
    });
}

fn check_id(cx: &CaseCx<'_>, id: &Spanned<String>, stake: MissingNameEffect) -> Option<Diagnostic> {
    let written = id.value.as_str();
    let word = shown::id_kind(written);
    let is_request = matches!(cx.case.subject.value, CaseSubject::Request(_));
    if is_request && REQUEST_ID_KINDS.contains(&word) {
        return None;
    }
    if shown::is_known_kind(word) && !is_request {
        return check_name(cx, id, stake);
    }
    let what = if is_request { "request" } else { "context" };
    let finding = cx.finding(
        &RULE.meta,
        id.span,
        format!("no {what} has a segment `{written}`: an id begins with a kind"),
    );
    // Each tool of an agent is a segment of its own.
    let of_contexts = || {
        SEGMENT_KINDS
            .iter()
            .map(|kind| if *kind == "tools" { "tool" } else { kind })
            .collect()
    };
    let kinds: Vec<&str> = if is_request {
        REQUEST_ID_KINDS.to_vec()
    } else {
        of_contexts()
    };
    let near = nearest_candidate(word, kinds.iter().copied());
    let whole = near.map(|near| format!("{near}{}", written.get(word.len()..).unwrap_or("")));
    let finding = match near {
        None if !written.contains(':') && written.contains(['/', '.']) => {
            finding.help("a path goes under `source`: `{source: PATH}`")
        }
        _ => finding.note(format!("the kinds are {}", name_list(&kinds))),
    };
    Some(cx.suggest_name(finding, id.span, whole.as_deref()))
}

/// Reports an id of a known kind whose name no agent of the task can receive. A segment expected to
/// be absent may have any name; only a misspelling of it is reported.
fn check_name(
    cx: &CaseCx<'_>,
    id: &Spanned<String>,
    stake: MissingNameEffect,
) -> Option<Diagnostic> {
    let (kind, rest) = shown::split_id(&id.value)?;
    if kind == "history" && !rest.parse().is_ok_and(|number: usize| number > 0) {
        let message = format!("no message of a conversation is `{}`", shorten(&id.value));
        let finding = cx.finding(&RULE.meta, id.span, message);
        return Some(finding.help(
            "`history:1` is the first; in `exactly` and `order`, `history:1..30` is thirty of them",
        ));
    }
    let wanted = shown::strip_number(rest);
    let (task, takes) = cx.receiver()?;
    let exists = |path: &str| cx.exists(path);
    let shown = ReceivableNames {
        takes: &takes,
        situation: &cx.case.situation,
        exists: &exists,
    };
    let (what, known) = shown.names_of_kind(kind)?;
    if known.contains(&wanted)
        || stake == MissingNameEffect::Opposite && shown.is_possible_id(&id.value)
    {
        return None;
    }
    let near = ReceivableNames::nearest_name(wanted, &known, kind);
    if near.is_none() && stake == MissingNameEffect::MayHold {
        return None;
    }
    let whole = near.map(|near| id.value.replacen(rest, near, 1));
    let finding = cx.finding(
        &RULE.meta,
        id.span,
        format!("no agent of `{task}` is shown {what} `{}`", shorten(wanted)),
    );
    let is_parameter = kind == "input"
        && takes
            .parameters
            .iter()
            .any(|parameter| *parameter.name == *wanted);
    let finding = match (is_parameter && near.is_none(), known.as_slice()) {
        (true, _) => {
            finding.help("its value stands in the texts of the task; only what `<inputs>` declares is a segment of its own")
        }
        (false, []) => finding.note(match kind {
            "input" => "it declares no `<inputs>`",
            "file" => "it names no files: `file_context` gives a file that `<file_paths>` names another text",
            _ => "the case does not say what `memory` and `retrieval` return",
        }),
        (false, known) => finding.note(format!("it can be one of {}", list_some(known))),
    };
    Some(cx.suggest_name(finding, id.span, whole.as_deref()))
}

/// Reports a source that no text of the task can come from. Any file of the project is possible.
fn check_source(
    cx: &CaseCx<'_>,
    name: &Spanned<String>,
    stake: MissingNameEffect,
) -> Option<Diagnostic> {
    let (task, takes) = cx.receiver()?;
    let exists = |path: &str| cx.exists(path);
    let shown = ReceivableNames {
        takes: &takes,
        situation: &cx.case.situation,
        exists: &exists,
    };
    if shown.is_possible_source(&name.value) {
        return None;
    }
    let near = ReceivableNames::nearest_name(&name.value, &shown.source_names(), "file");
    if near.is_none() && stake == MissingNameEffect::MayHold {
        return None;
    }
    let message = format!(
        "no text that an agent of `{task}` is shown comes from `{}`",
        shorten(&name.value)
    );
    let finding = cx.finding(&RULE.meta, name.span, message);
    let finding = finding.note("a source is a file of the project, or the name of a task, fragment, input, step or fixture");
    Some(cx.suggest_name(finding, name.span, near))
}
