//! CTX206: a subset that nothing selects.

use super::words::{facts, is_readable, is_whole, knows_defaults, place, provenance};
use crate::rules::prelude::*;
use crate::rules::ways_out::set;
use crate::settings::conflict::subset_selects_nothing;
use crate::template::setting::SettingName::InheritContext;

/// Matching then decides what the agent sees, which is rarely what the author had in mind.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::warning(
        206,
        "subset-selects-nothing",
        "inherits a subset of its parent's context, and nothing says which",
        PAGE,
    )
    .fixed(Fixable::Suggested)
    .examples(BAD, GOOD),
    check: Check::Node(check),
};

const PAGE: &str = "\
`subset` lets a task see the part of its parent's context that its `file_paths`, its `inputs` or its `context_relevance` select. With none of
them, associative matching decides on the task's text alone, and the part may be another one from run to run.";

const BAD: &[Example] = &[template(
    r#"<task type="atomic" name="triage">
  <description>sort the ticket</description>
  <context_management>
    <inherit_context>subset</inherit_context>
  </context_management>
</task>
"#,
)];

const GOOD: &[Example] = &[
    template(
        r#"<task type="atomic" name="triage">
  <description>sort the ticket</description>
  <file_paths>
    <path>src/lib.rs</path>
  </file_paths>
  <context_management>
    <inherit_context>subset</inherit_context>
  </context_management>
</task>
"#,
    ),
    template(
        r#"<task type="atomic" name="triage">
  <description>sort the ticket</description>
  <context_management>
    <inherit_context>full</inherit_context>
  </context_management>
</task>
"#,
    ),
];

fn check(cx: &NodeCx<'_>, out: &mut Vec<Diagnostic>) {
    if !subset_selects_nothing(&cx.body.resolved, facts(cx)) || !is_whole(cx) || !is_readable(cx, InheritContext) {
        return;
    }
    let message = "sees a part of its parent's context, but nothing says which part";
    let mut finding = Diagnostic::new(&RULE.meta, cx.cx.path, place(cx, InheritContext), message);
    if cx.body.resolved.inherit_context.origin.layer.is_written() {
        finding = finding.here("written here");
    } else if knows_defaults(cx) {
        finding = provenance(cx, finding, InheritContext);
    } else {
        return;
    }
    out.push(
        finding
            .note("without `file_paths`, `inputs` or `context_relevance` it is matched on the task's text alone")
            .help("add <file_paths>, <inputs> or <context_relevance>")
            .fix(set(cx.task, InheritContext, "full", "sees all of its parent's context")),
    );
}
