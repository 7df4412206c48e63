//! The words for values that are untrusted because a role gives its agents tools: the role and its task are named, and the role is a place
//! of the finding.

use super::prelude::*;
use crate::base::diagnostic::Label;
use crate::project::linked_tools::ToolUse;

/// The uses that the roles of the project make untrusted.
pub(crate) fn tool_uses<'a>(cx: &LinkCx<'a>) -> Vec<ToolUse<'a>> {
    cx.names.tool_results.uses(cx.index, cx.order, cx.config)
}

/// The condition on which it is from outside, to stand before what is found.
pub(crate) fn tools_condition(found: &ToolUse<'_>) -> String {
    let ToolUse { role, others, .. } = found;
    let (role, task) = (shown(&role.name.value), shown(&role.task.value));
    let others = match others {
        0 => String::new(),
        1 => "and of one more role, ".to_owned(),
        others => format!("and of {others} more roles, "),
    };
    format!("with the tools of role `{role}`, which plays the task `{task}`, {others}")
}

/// The finding with the place where its role is given tools.
pub(crate) fn with_role_label(cx: &LinkCx<'_>, mut found: Diagnostic, of: &ToolUse<'_>) -> Diagnostic {
    let allowed = of.role.tools.as_ref().and_then(|tools| tools.allowed.first());
    let span = allowed.map_or(of.role.name.span, |tool| tool.span);
    if let Some((path, start)) = cx.config.position(0, span.start) {
        let path = Some(path).filter(|path| *path != found.path);
        found.labels.push(Label { path, span, start, text: "its agents may call tools".into() });
    }
    found
}
