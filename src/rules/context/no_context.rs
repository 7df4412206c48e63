//! CTX203: a task without any context.

use super::context_prelude::*;
use crate::settings::conflict::{WithoutContext, missing_context};
use crate::template::setting::SettingName::{self, AccumulateData, FreshContext, InheritContext};

/// Often intended, and as often an oversight. Only information if files, inputs, parameters or a
/// conversation still give the task something.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        warning,
        203,
        "no-context",
        "inherits nothing, carries nothing and looks nothing up"
    )
    .with_fix(Fixable::Suggested),
    Check::Node(check_node),
);

fn check_node(cx: &NodeCx<'_>, out: &mut Vec<Diagnostic>) {
    let Some(alone) = missing_context(&cx.body.resolved, task_facts(cx)) else {
        return;
    };
    let settings = [InheritContext, AccumulateData, FreshContext];
    if !settings.iter().all(|name| is_readable(cx, *name))
        || !is_undamaged(cx)
        || !has_known_defaults(cx)
    {
        return;
    }
    let is_written = |name: &SettingName| cx.body.resolved.get(*name).origin.layer.is_written();
    let at = settings.into_iter().find(is_written);
    let span = at.map_or_else(|| cx.task.head_span(), |name| setting_span(cx, name));
    let (severity, message) = match alone {
        WithoutContext::Empty => (
            Severity::Warning,
            "sees nothing but its own text: inherits, carries and looks up no context",
        ),
        WithoutContext::OwnContent => (
            Severity::Info,
            "sees only its own files, inputs, parameters and conversation: inherits, carries and looks up no context",
        ),
    };
    let mut finding = Diagnostic::new(&RULE.meta, cx.cx.path, span, message).severity(severity);
    if at.is_some() {
        finding = finding.here("written here");
    }
    for name in [InheritContext, FreshContext]
        .into_iter()
        .filter(|name| Some(*name) != at)
    {
        finding = add_provenance(cx, finding, name);
    }
    finding = finding.help(
        "where that is meant, say so inside the task: <?ctxc allow no-context reason=\"…\"?>",
    );
    let ways = [
        (FreshContext, "enabled", "looks up context of its own"),
        (InheritContext, "full", "sees its parent's context"),
    ];
    // An author who wrote one of these settings has decided already.
    for (name, value, effect) in ways.into_iter().filter(|_| at.is_none()) {
        finding = finding.fix(setting_fix(cx.task, name, value, effect));
    }
    out.push(finding);
}
