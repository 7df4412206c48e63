//! CTX302: definitions that contain themselves.

use crate::project::index::ReferenceCycle;
use crate::rules::prelude::*;
use std::fmt::Write as _;

/// Templates have no branch that could end the recursion.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        locked_error,
        302,
        "reference-cycle",
        "a task, template or fragment that contains itself through its references"
    ),
    Check::Link(check_links),
);

/// Maximum number of references of a cycle that a message names.
const MAX_NAMED_STEPS: usize = 12;

fn check_links(cx: &LinkCx<'_>, out: &mut Vec<Diagnostic>) {
    out.extend(cx.cycles.iter().filter_map(|cycle| report(cx, cycle)));
}

fn report(cx: &LinkCx<'_>, cycle: &ReferenceCycle) -> Option<Diagnostic> {
    let first = *cycle.references.first()?;
    let reference = cx.index.reference(first)?;
    let entry = cx.index.file(first.file)?;
    let holder = entry.facts.definitions.get(reference.owner as usize)?;
    let mut path = holder.name.to_string();
    for id in cycle.references.iter().take(MAX_NAMED_STEPS) {
        let _ = write!(path, " → {}", cx.index.reference(*id)?.name);
    }
    if cycle.references.len() > MAX_NAMED_STEPS {
        let _ = write!(
            path,
            " → … ({} more) → {}",
            cycle.references.len() - MAX_NAMED_STEPS,
            holder.name
        );
    }
    let kind = holder.kind.word();
    let message = match cycle.references.len() {
        1 => format!("the {kind} `{}` contains itself", holder.name),
        _ => format!(
            "the {kind} `{}` contains itself by way of others: {path}",
            holder.name
        ),
    };
    let mut finding = Diagnostic::new(&RULE.meta, entry.path, reference.span, message).help(
        "take one of these references out, or move what both need into a definition of its own",
    );
    for id in cycle.references.iter().skip(1).take(MAX_NAMED_STEPS) {
        let next = cx.index.reference(*id)?;
        finding = cx.add_label(
            finding,
            id.file,
            next.span,
            &format!("leads on to `{}`", next.name),
        );
    }
    Some(finding)
}
