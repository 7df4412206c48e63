//! CTX201: both sides of a context conflict written in one template.

use super::prelude::*;
use super::words::{LOOKED_UP, PARENT, share};
use crate::settings::conflict::Side;
use crate::template::setting::SettingName::{FreshContext, InheritContext};

/// Looked-up context replaces inherited context, so a task cannot have both.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        promise,
        201,
        "context-conflict",
        "looks up fresh context and inherits its parent's, both written"
    )
    .fixed(Fixable::Suggested),
    Check::Node(check),
);

fn check(cx: &NodeCx<'_>, out: &mut Vec<Diagnostic>) {
    let Some(conflict) = exclusivity(&cx.body.resolved, &cx.cx.config.layers)
        .filter(|conflict| conflict.side == Side::Both)
    else {
        return;
    };
    let message = format!(
        "looks up fresh context, but would also inherit {} of its parent's",
        share(conflict.inherit)
    );
    out.push(
        Diagnostic::new(&RULE.meta, cx.cx.path, place(cx, FreshContext), message)
            .here("asks for looked-up context")
            .label(
                place(cx, InheritContext),
                format!(
                    "asks for {} of its parent's context",
                    share(conflict.inherit)
                ),
            )
            .help("keep one of the two")
            .fix(set(cx.task, InheritContext, "none", LOOKED_UP))
            .fix(set(cx.task, FreshContext, "disabled", PARENT)),
    );
}
