//! CTX611: an expectation about a segment that no context has.

use super::prelude::*;
use super::shown::{self, Shown};
use super::walk::{self, MissingNameEffect};
use crate::base::quoted::list;
use crate::scenario::expect::segments::Named;
use crate::scenario::words::KINDS;

/// With a misspelt id, `absent` always holds.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        warning,
        611,
        "unknown-segment",
        "an expectation on a segment that no context has"
    )
    .fixed(Fixable::Suggested),
    Check::Case(check),
);

/// The first words of segment ids of a recorded request.
const OF_REQUESTS: [&str; 5] = ["tools", "tool", "system", "message", "response_format"];

fn check(cx: &CaseCx<'_>, out: &mut Vec<Diagnostic>) {
    walk::named(&cx.case.expect_context, &mut |name, stake| match name {
        Named::Id(written) => out.extend(id(cx, written, stake)),
        Named::Source(written) => out.extend(source(cx, written, stake)),
    });
}

fn id(cx: &CaseCx<'_>, id: &Spanned<String>, stake: MissingNameEffect) -> Option<Diagnostic> {
    let written = id.value.as_str();
    let word = shown::word(written);
    let is_request = matches!(cx.case.subject.value, Subject::Request(_));
    if is_request && OF_REQUESTS.contains(&word) {
        return None;
    }
    if shown::is_kind(word) && !is_request {
        return name(cx, id, stake);
    }
    let what = if is_request { "request" } else { "context" };
    let finding = cx.finding(
        &RULE.meta,
        id.span,
        format!("no {what} has a segment `{written}`: an id begins with a kind"),
    );
    // Each tool of an agent is a segment of its own.
    let of_contexts = || {
        KINDS
            .iter()
            .map(|kind| if *kind == "tools" { "tool" } else { kind })
            .collect()
    };
    let kinds: Vec<&str> = if is_request {
        OF_REQUESTS.to_vec()
    } else {
        of_contexts()
    };
    let near = nearest(word, kinds.iter().copied());
    let whole = near.map(|near| format!("{near}{}", written.get(word.len()..).unwrap_or("")));
    let finding = match near {
        None if !written.contains(':') && written.contains(['/', '.']) => {
            finding.help("a path goes under `source`: `{source: PATH}`")
        }
        _ => finding.note(format!("the kinds are {}", list(&kinds))),
    };
    Some(cx.meant(finding, id.span, whole.as_deref()))
}

/// Reports an id of a known kind whose name no agent of the task can receive. A segment expected to
/// be absent may have any name; only a misspelling of it is reported.
fn name(cx: &CaseCx<'_>, id: &Spanned<String>, stake: MissingNameEffect) -> Option<Diagnostic> {
    let (kind, rest) = shown::named(&id.value)?;
    if kind == "history" && !rest.parse().is_ok_and(|number: usize| number > 0) {
        let message = format!("no message of a conversation is `{}`", short(&id.value));
        let finding = cx.finding(&RULE.meta, id.span, message);
        return Some(finding.help(
            "`history:1` is the first; in `exactly` and `order`, `history:1..30` is thirty of them",
        ));
    }
    let wanted = shown::numbered(rest);
    let (task, takes) = cx.receiver()?;
    let exists = |path: &str| cx.exists(path);
    let shown = Shown {
        takes: &takes,
        situation: &cx.case.situation,
        exists: &exists,
    };
    let (what, known) = shown.names(kind)?;
    if known.contains(&wanted) || stake == MissingNameEffect::Opposite && shown.could_be(&id.value)
    {
        return None;
    }
    let near = Shown::near(wanted, &known, kind);
    if near.is_none() && stake == MissingNameEffect::MayHold {
        return None;
    }
    let whole = near.map(|near| id.value.replacen(rest, near, 1));
    let finding = cx.finding(
        &RULE.meta,
        id.span,
        format!("no agent of `{task}` is shown {what} `{}`", short(wanted)),
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
        (false, known) => finding.note(format!("it can be one of {}", some(known))),
    };
    Some(cx.meant(finding, id.span, whole.as_deref()))
}

/// Reports a source that no text of the task can come from. Any file of the project is possible.
fn source(cx: &CaseCx<'_>, name: &Spanned<String>, stake: MissingNameEffect) -> Option<Diagnostic> {
    let (task, takes) = cx.receiver()?;
    let exists = |path: &str| cx.exists(path);
    let shown = Shown {
        takes: &takes,
        situation: &cx.case.situation,
        exists: &exists,
    };
    if shown.could_come_from(&name.value) {
        return None;
    }
    let near = Shown::near(&name.value, &shown.sources(), "file");
    if near.is_none() && stake == MissingNameEffect::MayHold {
        return None;
    }
    let message = format!(
        "no text that an agent of `{task}` is shown comes from `{}`",
        short(&name.value)
    );
    let finding = cx.finding(&RULE.meta, name.span, message);
    let finding = finding.note("a source is a file of the project, or the name of a task, fragment, input, step or fixture");
    Some(cx.meant(finding, name.span, near))
}
