//! CTX201: both sides of a context conflict written in one template.

use super::context_prelude::{ONLY_LOOKED_UP, ONLY_PARENT, inherited_share, *};
use crate::settings::conflict::WrittenSide;
use crate::template::setting::SettingName::{FreshContext, InheritContext};

/// Looked-up context replaces inherited context, so a task cannot have both.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        locked_error,
        201,
        "context-conflict",
        "looks up fresh context and inherits its parent's, both written"
    )
    .with_fix(Fixable::Suggested),
    Check::Node(check_node),
);

fn check_node(cx: &NodeCx<'_>, out: &mut Vec<Diagnostic>) {
    let Some(conflict) = check_exclusivity(&cx.body.resolved, &cx.cx.config.layers)
        .filter(|conflict| conflict.side == WrittenSide::Both)
    else {
        return;
    };
    let message = format!(
        "looks up fresh context, but would also inherit {} of its parent's",
        inherited_share(conflict.inherit)
    );
    out.push(
        Diagnostic::new(
            &RULE.meta,
            cx.cx.path,
            setting_span(cx, FreshContext),
            message,
        )
        .here("asks for looked-up context")
        .label(
            setting_span(cx, InheritContext),
            format!(
                "asks for {} of its parent's context",
                inherited_share(conflict.inherit)
            ),
        )
        .help("keep one of the two")
        .fix(setting_fix(cx.task, InheritContext, "none", ONLY_LOOKED_UP))
        .fix(setting_fix(cx.task, FreshContext, "disabled", ONLY_PARENT)),
    );
}
