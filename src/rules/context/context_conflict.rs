//! CTX201: both sides of a context conflict written in one template.

use super::words::{LOOKED_UP, PARENT, place, share};
use crate::rules::prelude::*;
use crate::rules::ways_out::set;
use crate::settings::conflict::{Side, exclusivity};
use crate::template::setting::SettingName::{FreshContext, InheritContext};

/// Looked-up context replaces inherited context; a task cannot ask for both.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::promise(201, "context-conflict", "looks up fresh context and inherits its parent's, both written", PAGE)
        .fixed(Fixable::Suggested)
        .examples(BAD, GOOD),
    check: Check::Node(check),
};

const PAGE: &str = "\
Context that is looked up afresh stands in the place of what a task would see of its parent: a task has the one or the other. This template
writes both, so what the agent would receive depends on which line is believed. No value is flipped to escape the conflict; say which one
is meant:

- `<inherit_context>none</inherit_context>`: the agent receives only looked-up context
- `<fresh_context>disabled</fresh_context>`: the agent receives only its parent's context";

const BAD: &[Example] = &[
    template(
        r#"<task type="atomic" name="triage">
  <description>sort the ticket</description>
  <context_management>
    <inherit_context>full</inherit_context>
    <fresh_context>enabled</fresh_context>
  </context_management>
</task>
"#,
    ),
    template(
        r#"<task type="atomic" name="triage">
  <description>sort the ticket</description>
  <file_paths>
    <path>src/lib.rs</path>
  </file_paths>
  <context_management>
    <inherit_context>subset</inherit_context>
    <fresh_context>enabled</fresh_context>
  </context_management>
</task>
"#,
    ),
];

const GOOD: &[Example] = &[
    template(
        r#"<task type="atomic" name="triage">
  <description>sort the ticket</description>
  <context_management>
    <inherit_context>none</inherit_context>
    <fresh_context>enabled</fresh_context>
  </context_management>
</task>
"#,
    ),
    template(
        r#"<task type="atomic" name="triage">
  <description>sort the ticket</description>
  <context_management>
    <inherit_context>full</inherit_context>
    <fresh_context>disabled</fresh_context>
  </context_management>
</task>
"#,
    ),
];

fn check(cx: &NodeCx<'_>, out: &mut Vec<Diagnostic>) {
    let Some(conflict) = exclusivity(&cx.body.resolved, &cx.cx.config.layers).filter(|conflict| conflict.side == Side::Both)
    else {
        return;
    };
    let message = format!("looks up fresh context, but would also inherit {} of its parent's", share(conflict.inherit));
    out.push(
        Diagnostic::new(&RULE.meta, cx.cx.path, place(cx, FreshContext), message)
            .here("asks for looked-up context")
            .label(place(cx, InheritContext), format!("asks for {} of its parent's context", share(conflict.inherit)))
            .help("keep one of the two")
            .fix(set(cx.task, InheritContext, "none", LOOKED_UP))
            .fix(set(cx.task, FreshContext, "disabled", PARENT)),
    );
}
