//! CTX323: a field or entry that a value does not have.

use super::prelude::*;
use crate::base::source::Position;
use crate::project::linked_parts::{PartFault, Why};
use crate::rules::names::fault_location::in_text;
use crate::template::shape::NoPart;

/// Otherwise the answer would arrive, and the next request could not be built from it.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        promise,
        323,
        "unknown-field",
        "a field or entry that a value does not have"
    )
    .fixed(Fixable::Suggested),
    Check::Link(check),
);

fn check(cx: &LinkCx<'_>, out: &mut Vec<Diagnostic>) {
    for fault in &cx.names.parts {
        match &fault.why {
            Why::NoPart(no) => out.extend(word(cx, fault, no)),
            Why::NotInDefault { no, is_certain } => {
                out.extend(by_default(cx, fault, no, *is_certain));
            }
            Why::WrongType { .. } => {}
        }
    }
}

/// Creates a finding at the use of a field or entry.
pub(crate) fn at_use(
    rule: &'static RuleMeta,
    cx: &LinkCx<'_>,
    (file, span, inside): (u32, Span, Option<(Span, Position)>),
    message: String,
) -> Option<Diagnostic> {
    let file = cx.index.file(file)?;
    let found = Diagnostic::new(rule, file.path, span, message);
    let source = || file.facts.sources.iter().find(|source| source.span == span);
    Some(match inside.and_then(|inside| Some((source()?, inside))) {
        Some((source, inside)) => in_text(found, &source.path, inside),
        None => found,
    })
}

/// Reports a part that the default does not have. Only runs that replace the default could
/// continue.
fn by_default(
    cx: &LinkCx<'_>,
    fault: &PartFault,
    no: &NoPart,
    is_certain: bool,
) -> Option<Diagnostic> {
    let (whole, rest) = fault.used.split_at_checked(no.upto)?;
    let part = rest.get(
        ..rest
            .get(1..)?
            .find(['.', '['])
            .map_or(rest.len(), |end| end + 1),
    )?;
    let used = shown(&fault.used);
    let why = format!(
        "`{}` has no `{}` in it",
        shown(whole),
        shown(part.trim_start_matches('.'))
    );
    let found = match fault.by {
        Some(at) => {
            cx.at_reference(&RULE.meta, at, |reference| {
                format!(
                    "the {} `{}` uses `{used}`, but with the default {why}",
                    reference.kind.target().word(),
                    shown(&reference.name)
                )
            })?
            .0
        }
        None => at_use(
            &RULE.meta,
            cx,
            fault.place(),
            format!("`{used}` leads nowhere with the default: {why}"),
        )?,
    };
    let found = if is_certain {
        found
    } else {
        found
            .severity(Severity::Warning)
            .note("a condition in front of it decides by another value")
    };
    match no.fields.as_ref().and_then(|fields| fields.near.as_ref()) {
        Some(near) => Some(instead(found, fault, no, near)),
        None => Some(found.help("add it to the default, or require a value: remove the default")),
    }
}

/// Suggests the nearest field in place of the missing one.
fn instead(found: Diagnostic, fault: &PartFault, no: &NoPart, near: &str) -> Diagnostic {
    let found = found.help(format!("did you mean `{}`?", shown(near)));
    let rest = fault.used.get(no.upto + 1..).unwrap_or("");
    let start = fault.span.start + no.upto as u32 + 1;
    let end = start + rest.find(['.', '[']).unwrap_or(rest.len()) as u32;
    let is_exact = fault.by.is_none()
        && fault.inside.is_none()
        && fault.span.len() as usize == fault.used.len();
    let fix = || {
        Fix::suggested(
            format!("write `{}`", shown(near)),
            vec![Edit::replace(Span::new(start, end), near)],
        )
    };
    if is_exact { found.fix(fix()) } else { found }
}

fn word(cx: &LinkCx<'_>, fault: &PartFault, no: &NoPart) -> Option<Diagnostic> {
    let (whole, rest) = fault.used.split_at_checked(no.upto)?;
    let field = rest
        .get(1..)
        .and_then(|rest| rest.split(['.', '[']).next())
        .unwrap_or("");
    let why = match (&no.fields, no.found) {
        (Some(_), _) => format!(
            "the schema of `{}` names no field `{}`",
            shown(whole),
            shown(field)
        ),
        (None, "object") => format!(
            "`{}` is an object, which has fields and no entries",
            shown(whole)
        ),
        (None, "array") => format!(
            "`{}` is an array, which has entries, such as `[0]`, and no fields",
            shown(whole)
        ),
        (None, scalar) => format!("`{}` is a {scalar}, which has no parts", shown(whole))
            .replace("a integer", "an integer"),
    };
    let used = shown(&fault.used);
    let mut found = match fault.by {
        Some(at) => {
            cx.at_reference(&RULE.meta, at, |reference| {
                let (word, of) = (reference.kind.target().word(), shown(&reference.name));
                format!("the {word} `{of}` uses `{used}`, but here {why}")
            })?
            .0
        }
        None => at_use(
            &RULE.meta,
            cx,
            fault.place(),
            format!("`{used}` leads nowhere: {why}"),
        )?,
    };
    let Some(fields) = &no.fields else {
        return Some(found.help("use the value as it is, or change what makes it"));
    };
    if !fields.is_closed {
        found = found
            .severity(Severity::Warning)
            .note("the schema does not exclude other fields, and does not promise this one");
    }
    let Some(near) = &fields.near else {
        return Some(found.help("add the field to the schema, or use one that it names"));
    };
    Some(instead(found, fault, no, near))
}
