//! CTX202: a written setting that contradicts a default.

use super::prelude::*;
use super::words::{LOOKED_UP, PARENT, share};
use crate::settings::conflict::Side;
use crate::template::setting::SettingName::{FreshContext, InheritContext};

/// A default never changes to avoid a conflict, so the missing setting has to be written.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        promise,
        202,
        "context-conflict-with-default",
        "looks up fresh context and inherits its parent's, one of them by default"
    )
    .fixed(Fixable::Suggested),
    Check::Node(check),
);

fn check(cx: &NodeCx<'_>, out: &mut Vec<Diagnostic>) {
    let is_clear = || {
        [InheritContext, FreshContext]
            .into_iter()
            .all(|name| is_readable(cx, name))
            && is_whole(cx)
    };
    out.extend(word(cx).filter(|_| is_clear() && knows_defaults(cx)));
}

/// Returns the finding for the conflict, regardless of other findings about the task.
pub(in crate::rules) fn word(cx: &NodeCx<'_>) -> Option<Diagnostic> {
    let conflict = exclusivity(&cx.body.resolved, &cx.cx.config.layers)?;
    let (written, default) = match conflict.side {
        Side::Both => return None,
        Side::Fresh => (FreshContext, InheritContext),
        Side::Inherit => (InheritContext, FreshContext),
    };
    let share = share(conflict.inherit);
    let message = match conflict.side {
        Side::Inherit => format!(
            "inherits {share} of its parent's context, but would also look up fresh context"
        ),
        Side::Fresh | Side::Both => {
            format!("looks up fresh context, but would also inherit {share} of its parent's")
        }
    };
    let finding =
        Diagnostic::new(&RULE.meta, cx.cx.path, place(cx, written), message).here("written here");
    let finding = provenance(cx, finding, default);
    let looked_up = set(cx.task, InheritContext, "none", LOOKED_UP);
    let parent = set(cx.task, FreshContext, "disabled", PARENT);
    // The fix that keeps the written setting comes first.
    Some(match conflict.side {
        Side::Inherit => finding.fix(parent).fix(looked_up),
        Side::Fresh | Side::Both => finding.fix(looked_up).fix(parent),
    })
}
