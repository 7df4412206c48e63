//! CTX323: a field or entry that a value does not have.

use super::names_prelude::{move_into_text, *};
use crate::project::linked_parts::{PartFault, PartFaultReason, UsePosition};
use crate::template::shape::NoPart;

/// Otherwise the answer would arrive, and the next request could not be built from it.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        locked_error,
        323,
        "unknown-field",
        "a field or entry that a value does not have"
    )
    .with_fix(Fixable::Suggested),
    Check::Link(check_links),
);

fn check_links(cx: &LinkCx<'_>, out: &mut Vec<Diagnostic>) {
    for fault in &cx.names.parts {
        match &fault.reason {
            PartFaultReason::NoPart(no) => out.extend(report(cx, fault, no)),
            PartFaultReason::NotInDefault {
                missing: no,
                is_certain,
            } => {
                out.extend(default_finding(cx, fault, no, *is_certain));
            }
            PartFaultReason::WrongType { .. } => {}
        }
    }
}

/// Creates a finding at the use of a field or entry.
pub(crate) fn use_finding(
    rule: &'static RuleMeta,
    cx: &LinkCx<'_>,
    UsePosition { file, span, inside }: UsePosition,
    message: String,
) -> Option<Diagnostic> {
    let file = cx.index.file(file)?;
    let found = Diagnostic::new(rule, file.path, span, message);
    let source = || file.facts.sources.iter().find(|source| source.span == span);
    Some(match inside.and_then(|inside| Some((source()?, inside))) {
        Some((source, (span, start))) => move_into_text(found, &source.path, span, start),
        None => found,
    })
}

/// Reports a part that the default does not have. Only runs that replace the default could
/// continue.
fn default_finding(
    cx: &LinkCx<'_>,
    fault: &PartFault,
    missing: &NoPart,
    is_certain: bool,
) -> Option<Diagnostic> {
    let (whole, rest) = fault.used_part.split_at_checked(missing.upto)?;
    let part = rest.get(
        ..rest
            .get(1..)?
            .find(['.', '['])
            .map_or(rest.len(), |end| end + 1),
    )?;
    let used = short_excerpt(&fault.used_part);
    let why = format!(
        "`{}` has no `{}` in it",
        short_excerpt(whole),
        short_excerpt(part.trim_start_matches('.'))
    );
    let found = match fault.reference {
        Some(at) => {
            cx.reference_finding(&RULE.meta, at, |reference| {
                format!(
                    "the {} `{}` uses `{used}`, but with the default {why}",
                    reference.kind.definition_kind().word(),
                    short_excerpt(&reference.name)
                )
            })?
            .0
        }
        None => use_finding(
            &RULE.meta,
            cx,
            fault.position(),
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
    match missing
        .fields
        .as_ref()
        .and_then(|fields| fields.near.as_ref())
    {
        Some(near) => Some(suggest_field(found, fault, missing, near)),
        None => Some(found.help("add it to the default, or require a value: remove the default")),
    }
}

/// Suggests the nearest field in place of the missing one.
fn suggest_field(found: Diagnostic, fault: &PartFault, missing: &NoPart, near: &str) -> Diagnostic {
    let found = found.help(format!("did you mean `{}`?", short_excerpt(near)));
    let rest = fault.used_part.get(missing.upto + 1..).unwrap_or("");
    let start = fault.span.start + missing.upto as u32 + 1;
    let end = start + rest.find(['.', '[']).unwrap_or(rest.len()) as u32;
    let is_exact = fault.reference.is_none()
        && fault.position_inside.is_none()
        && fault.span.len() as usize == fault.used_part.len();
    let fix = || {
        Fix::suggested(
            format!("write `{}`", short_excerpt(near)),
            vec![Edit::replace(Span::new(start, end), near)],
        )
    };
    if is_exact { found.fix(fix()) } else { found }
}

fn report(cx: &LinkCx<'_>, fault: &PartFault, no: &NoPart) -> Option<Diagnostic> {
    let (whole, rest) = fault.used_part.split_at_checked(no.upto)?;
    let field = rest
        .get(1..)
        .and_then(|rest| rest.split(['.', '[']).next())
        .unwrap_or("");
    let why = match (&no.fields, no.found) {
        (Some(_), _) => format!(
            "the schema of `{}` names no field `{}`",
            short_excerpt(whole),
            short_excerpt(field)
        ),
        (None, "object") => format!(
            "`{}` is an object, which has fields and no entries",
            short_excerpt(whole)
        ),
        (None, "array") => format!(
            "`{}` is an array, which has entries, such as `[0]`, and no fields",
            short_excerpt(whole)
        ),
        (None, scalar) => format!(
            "`{}` is a {scalar}, which has no parts",
            short_excerpt(whole)
        )
        .replace("a integer", "an integer"),
    };
    let used = short_excerpt(&fault.used_part);
    let mut found = match fault.reference {
        Some(at) => {
            cx.reference_finding(&RULE.meta, at, |reference| {
                let (word, of) = (
                    reference.kind.definition_kind().word(),
                    short_excerpt(&reference.name),
                );
                format!("the {word} `{of}` uses `{used}`, but here {why}")
            })?
            .0
        }
        None => use_finding(
            &RULE.meta,
            cx,
            fault.position(),
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
    Some(suggest_field(found, fault, no, near))
}
