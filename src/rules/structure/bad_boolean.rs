//! CTX112: `yes`, `no`, `1`, `0` where `true` or `false` must stand.

use super::family::{finding, shown};
use crate::rules::prelude::*;
use crate::template::fault::{Fault, FaultKind};

/// Everybody knows what is meant, and no two readers agree on the list.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::error(112, "bad-boolean", "`yes`, `no`, `1` or `0` in place of `true` or `false`", PAGE)
        .examples(BAD, FINE)
        .fixed(Fixable::Safe),
    check: Check::Template(word),
};

const PAGE: &str = "\
A switch is `true` or `false`, in lower case. `yes`, `1`, `on`, `True` are understood well enough to offer the fix, and not well enough
to be accepted: each tool that reads templates would have its own list of such words, and a switch that one of them does not know
changes what the agent receives. The same holds for the `default` of a parameter whose type is `boolean`: any other word counts as true in a
condition.

Where a setting, a type or a subtype of a task hangs on it, the finding is locked: it can be neither silenced nor lowered.";

const BAD: &[Example] = &[template(
    "<task type=\"sequential\" name=\"triage\">\n  <description>sort the ticket</description>\n  <context_management>\n    <accumulate_data>yes</accumulate_data>\n  </context_management>\n  <steps>\n    <task><description>read it</description></task>\n  </steps>\n</task>\n",
)];

fn word(cx: &FileCx<'_>, fault: &Fault<'_>) -> Option<Diagnostic> {
    let FaultKind::BadBoolean { name, found, meant } = &fault.kind else { return None };
    let message = format!("`{name}` is `{}`; expected `true` or `false`", shown(found));
    let fix = Fix::safe(format!("write `{meant}`"), vec![Edit::replace(fault.span, meant.to_string())]);
    Some(finding(&RULE.meta, cx, fault.span, message).fix(fix))
}
