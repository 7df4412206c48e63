//! Messages about values that are untrusted because a role gives its agents tools. They name the
//! role and its task, and label the place of the role.

use super::prelude::*;
use crate::base::diagnostic::Label;
use crate::project::linked_tools::ToolUse;

/// Returns the uses that the project's roles make untrusted.
pub(crate) fn untrusted_tool_uses<'a>(cx: &LinkCx<'a>) -> Vec<ToolUse<'a>> {
    cx.names
        .tool_results
        .find_uses(cx.index, cx.order, cx.config)
}

/// The condition under which a value comes from outside, as the beginning of a message.
pub(crate) fn describe_tools_condition(found: &ToolUse<'_>) -> String {
    let ToolUse { role, others, .. } = found;
    let (role, task) = (
        short_excerpt(&role.name.value),
        short_excerpt(&role.task.value),
    );
    let others = match others {
        0 => String::new(),
        1 => "and of one more role, ".to_owned(),
        others => format!("and of {others} more roles, "),
    };
    format!("with the tools of role `{role}`, which plays the task `{task}`, {others}")
}

/// Adds the place that gives the role its tools to a finding.
pub(crate) fn add_role_label(
    cx: &LinkCx<'_>,
    mut found: Diagnostic,
    of: &ToolUse<'_>,
) -> Diagnostic {
    let allowed = of
        .role
        .tools
        .as_ref()
        .and_then(|tools| tools.allowed.first());
    let span = allowed.map_or(of.role.name.span, |tool| tool.span);
    if let Some((path, start)) = cx.config.position(0, span.start) {
        let path = Some(path).filter(|path| *path != found.path);
        found.labels.push(Label {
            path,
            span,
            start,
            text: "its agents may call tools".into(),
        });
    }
    found
}
