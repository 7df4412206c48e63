//! CTX327: a parameter in braces that are not a placeholder.

use super::names_prelude::*;
use super::unused_parameter::{find_placeholders, placeholders_in_texts};
use crate::template::model::Definition;
use std::collections::HashSet;

/// The agent reads the braces literally. A parameter without any other use is reported by
/// `unused-parameter`.
pub(super) static RULE: Rule = Rule::new(
    meta!(
        warning,
        327,
        "single-braces",
        "a parameter in braces that insert nothing"
    )
    .with_fix(Fixable::Suggested),
    Check::File(check_file),
);

fn check_file(cx: &FileCx<'_>, out: &mut Vec<Diagnostic>) {
    let bytes = cx.document.text.as_bytes();
    let is_single = |at: usize| {
        bytes.get(at + 1).is_some_and(u8::is_ascii_alphabetic)
            && (at == 0 || bytes.get(at - 1) != Some(&b'{'))
    };
    if !memchr::memchr_iter(b'{', bytes).any(is_single) {
        return;
    }
    let places = find_placeholders(cx.document.text);
    let unused: HashSet<Span> = cx
        .scopes
        .faults
        .iter()
        .filter(|fault| matches!(fault.kind, ScopeFaultKind::Unused { .. }))
        .map(|fault| fault.span)
        .collect();
    for definition in &cx.file.definitions {
        let names: Vec<_> = match definition {
            Definition::Task(task) => task
                .parameters
                .iter()
                .filter_map(|parameter| parameter.name.as_ref())
                .collect(),
            Definition::Template(template) => template.params.iter().collect(),
            Definition::Fragment(_) => continue,
        };
        for name in names
            .into_iter()
            .filter(|name| !unused.contains(&name.span))
        {
            for place in placeholders_in_texts(cx, definition.element(), &places, &name.value) {
                let (written, meant) = (
                    place.slice(cx.document.text),
                    format!("{{{{{}}}}}", short_excerpt(&name.value)),
                );
                let message = format!(
                    "the agent reads `{written}` literally, but `{}` is a parameter",
                    short_excerpt(&name.value)
                );
                let fix = Fix::suggested(
                    format!("write `{meant}`"),
                    vec![Edit::replace(place, format!("{{{{{}}}}}", name.value))],
                );
                out.push(
                    file_finding(&RULE.meta, cx, place, message)
                        .help(format!("did you mean `{meant}`?"))
                        .fix(fix),
                );
            }
        }
    }
}
