//! CTX301: two definitions with one name.

use crate::rules::prelude::*;

/// A lookup by name must have one answer.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::promise(301, "duplicate-name", "two tasks, templates or fragments with one name", case!("duplicate-name")),
    check: Check::Link(check),
};

fn check(cx: &LinkCx<'_>, out: &mut Vec<Diagnostic>) {
    for &(first, later) in cx.index.duplicates() {
        let (Some(one), Some(two), Some(here)) =
            (cx.index.definition(first), cx.index.definition(later), cx.index.file(later.file))
        else {
            continue;
        };
        let kind = two.kind.word();
        let finding = Diagnostic::new(&RULE.meta, here.path, two.span, format!("a second {kind} is called `{}`", two.name))
            .here("this one would never be found")
            .help(format!("give one of the two another name: `{}` is looked up by name and must mean one {kind}", two.name));
        out.push(cx.label(finding, first.file, one.span, "the first one stands here"));
    }
}
