//! CTX202: a written setting that contradicts a default.

use super::context_prelude::{ONLY_LOOKED_UP, ONLY_PARENT, inherited_share, *};
use crate::settings::conflict::WrittenSide;
use crate::template::setting::SettingName::{FreshContext, InheritContext};

/// A default never changes to avoid a conflict, so the missing setting has to be written.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        locked_error,
        202,
        "context-conflict-with-default",
        "looks up fresh context and inherits its parent's, one of them by default"
    )
    .with_fix(Fixable::Suggested),
    Check::Node(check_node),
);

fn check_node(cx: &NodeCx<'_>, out: &mut Vec<Diagnostic>) {
    let is_clear = || {
        [InheritContext, FreshContext]
            .into_iter()
            .all(|name| is_readable(cx, name))
            && is_undamaged(cx)
    };
    out.extend(report(cx).filter(|_| is_clear() && has_known_defaults(cx)));
}

/// Returns the finding for the conflict, regardless of other findings about the task.
pub(in crate::rules) fn report(cx: &NodeCx<'_>) -> Option<Diagnostic> {
    let conflict = check_exclusivity(&cx.body.resolved, &cx.cx.config.layers)?;
    let (written, default) = match conflict.side {
        WrittenSide::Both => return None,
        WrittenSide::Fresh => (FreshContext, InheritContext),
        WrittenSide::Inherit => (InheritContext, FreshContext),
    };
    let share = inherited_share(conflict.inherit);
    let message = match conflict.side {
        WrittenSide::Inherit => format!(
            "inherits {share} of its parent's context, but would also look up fresh context"
        ),
        WrittenSide::Fresh | WrittenSide::Both => {
            format!("looks up fresh context, but would also inherit {share} of its parent's")
        }
    };
    let finding = Diagnostic::new(&RULE.meta, cx.cx.path, setting_span(cx, written), message)
        .here("written here");
    let finding = add_provenance(cx, finding, default);
    let looked_up = setting_fix(cx.task, InheritContext, "none", ONLY_LOOKED_UP);
    let parent = setting_fix(cx.task, FreshContext, "disabled", ONLY_PARENT);
    // The fix that keeps the written setting comes first.
    Some(match conflict.side {
        WrittenSide::Inherit => finding.fix(parent).fix(looked_up),
        WrittenSide::Fresh | WrittenSide::Both => finding.fix(looked_up).fix(parent),
    })
}
