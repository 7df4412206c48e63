//! CTX301: two definitions with one name.

use crate::rules::prelude::*;
use std::collections::BTreeSet;

/// A lookup by name must have one answer.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        locked_error,
        301,
        "duplicate-name",
        "two tasks, templates or fragments with one name"
    ),
    Check::Link(check_links),
);

fn check_links(cx: &LinkCx<'_>, out: &mut Vec<Diagnostic>) {
    let mut seen = BTreeSet::new();
    for &(first, later) in cx.index.duplicates() {
        let (Some(one), Some(two), Some(here)) = (
            cx.index.definition(first),
            cx.index.definition(later),
            cx.index.file(later.file),
        ) else {
            continue;
        };
        let (kind, name) = (two.kind.word(), &two.name);
        let help = || {
            format!(
                "give one of the two another name: `{name}` is looked up by name and must mean one {kind}"
            )
        };
        let finding = Diagnostic::new(
            &RULE.meta,
            here.path,
            two.span,
            format!("a second {kind} is called `{name}`"),
        )
        .here("this one would never be found")
        .help(help());
        out.push(cx.add_label(finding, first.file, one.span, "the first one is here"));
        // The author of the first definition, or a check of its file alone, looks at that file.
        let is_reported = first.file == later.file || !seen.insert(first);
        // Standard input without a path may be the other file itself.
        let Some(existing) = cx
            .index
            .file(first.file)
            .filter(|existing| !is_reported && **existing.path != *"-")
        else {
            continue;
        };
        let finding = Diagnostic::new(
            &RULE.meta,
            existing.path,
            one.span,
            format!("another {kind} is called `{name}`"),
        );
        out.push(cx.add_label(
            finding.help(help()),
            later.file,
            two.span,
            "the other one is here",
        ));
    }
}
