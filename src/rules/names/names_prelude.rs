//! Shared imports and helpers of this family: the location of faults of variables (the template, and
//! the text's own file too if it has one), and messages about values that are untrusted because a
//! role gives its agents tools.

use crate::base::contained_path;
use crate::base::diagnostic::Label;
use crate::base::source::Position;
use crate::project::linked_tools::ToolUse;
use crate::rules::structure::structure_prelude;
use std::sync::Arc;

pub(super) use crate::rules::prelude::*;
pub(super) use crate::rules::structure::structure_prelude::{file_finding, short_excerpt};
pub(super) use crate::syntax::tree::Element;
pub(super) use crate::syntax::write::set_attribute;
pub(super) use crate::template::elements::ElementKind;
pub(super) use crate::template::scope::{ScopeFault, ScopeFaultKind};

/// The label of the position in the text.
pub(crate) const IN_TEXT_LABEL: &str = "in this text";

pub(super) fn fault_finding(
    rule: &'static RuleMeta,
    cx: &FileCx<'_>,
    fault: &ScopeFault<'_>,
    message: impl Into<String>,
) -> Diagnostic {
    let Some(inside) = &fault.inside else {
        return structure_prelude::file_finding(rule, cx, fault.span, message);
    };
    move_into_text(
        Diagnostic::new(rule, cx.path, fault.span, message),
        &inside.written,
        inside.span,
        inside.start,
    )
}

/// Moves a finding from a `src` to a position in the text that it names.
pub(super) fn move_into_text(
    mut found: Diagnostic,
    written: &str,
    span: Span,
    start: Position,
) -> Diagnostic {
    let path: Arc<str> = contained_path::resolve_beside(&found.path, written)
        .map_or_else(|| Arc::from(written), Arc::from);
    found.message = format!(
        "in {path}:{}:{}: {}",
        start.line, start.column, found.message
    );
    found.label_in(path, span, start, IN_TEXT_LABEL)
}

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
