//! CTX206: a subset without a selection.

use super::context_prelude::*;
use crate::settings::conflict::is_empty_subset;
use crate::template::setting::SettingName::InheritContext;

/// Matching then decides which context the agent sees, which is rarely intended.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        warning,
        206,
        "subset-selects-nothing",
        "inherits a subset of its parent's context, and nothing says which"
    )
    .with_fix(Fixable::Suggested),
    Check::Node(check_node),
);

fn check_node(cx: &NodeCx<'_>, out: &mut Vec<Diagnostic>) {
    if !is_empty_subset(&cx.body.resolved, task_facts(cx))
        || !is_undamaged(cx)
        || !is_readable(cx, InheritContext)
    {
        return;
    }
    let message = "sees a part of its parent's context, but nothing says which part";
    let mut finding = Diagnostic::new(
        &RULE.meta,
        cx.cx.path,
        setting_span(cx, InheritContext),
        message,
    );
    if cx.body.resolved.inherit_context.origin.layer.is_written() {
        finding = finding.here("written here");
    } else if has_known_defaults(cx) {
        finding = add_provenance(cx, finding, InheritContext);
    } else {
        return;
    }
    finding = finding
        .note("without `file_paths`, `inputs` or `context_relevance` it is matched on the task's text alone")
        .help("add <file_paths>, <inputs> or <context_relevance>");
    // With fresh context, `full` would be a conflict.
    let is_alone = check_exclusivity(&cx.body.resolved, &cx.cx.config.layers).is_none();
    let full = setting_fix(
        cx.task,
        InheritContext,
        "full",
        "sees all of its parent's context",
    );
    out.push(if is_alone { finding.fix(full) } else { finding });
}
