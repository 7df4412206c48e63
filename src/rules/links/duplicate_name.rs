//! CTX301: two definitions with one name.

use crate::rules::prelude::*;

/// A lookup by name must have one answer.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::promise(301, "duplicate-name", "two tasks, templates or fragments with one name", PAGE).examples(BAD, GOOD),
    check: Check::Link(check),
};

const PAGE: &str = "\
Tasks are looked up by name, so a name means one task in the whole registry; the same holds among templates and among fragments. A
task without a `name` is called like its file, without the ending, so two files of one name in different folders collide too.

Rename one of them, with every reference to it.";

const BAD: &[Example] = &[template(
    r#"<library>
  <task name="review">
    <description>review the change</description>
  </task>
  <task name="review">
    <description>review the text</description>
  </task>
</library>
"#,
)];

const GOOD: &[Example] = &[template(
    r#"<library>
  <task name="review-code">
    <description>review the change</description>
  </task>
  <task name="review-text">
    <description>review the text</description>
  </task>
</library>
"#,
)];

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
