//! CTX401: a setting with a value of an older dialect.

use crate::rules::prelude::*;
use crate::rules::structure::family::finding;
use crate::template::fault::{Fault, FaultKind};

/// Read as what it meant then, so that older templates build.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::warning(401, "legacy-value", "a setting with a value of an older dialect", PAGE)
        .examples(BAD, FINE)
        .fixed(Fixable::Safe),
    check: Check::Template(word),
};

const PAGE: &str = "\
Older templates write `inherit_context` as `true` or `false`, and `accumulation_format` as `minimal` or `full`. They are read as `full`,
`none`, `notes_only` and `full_output`, so the template builds and the agent receives what was meant. Write the modern word: it says
which of the three ways of inheriting is meant. The fix changes no resolved setting.";

const BAD: &[Example] = &[
    template(
        "<task type=\"atomic\" name=\"triage\">\n  <description>sort the ticket</description>\n  <context_management>\n    <inherit_context>true</inherit_context>\n  </context_management>\n</task>\n",
    ),
    template(
        "<task type=\"sequential\" name=\"triage\">\n  <description>sort the ticket</description>\n  <context_management>\n    <accumulation_format>minimal</accumulation_format>\n  </context_management>\n  <steps>\n    <task><description>read it</description></task>\n  </steps>\n</task>\n",
    ),
];

fn word(cx: &FileCx<'_>, fault: &Fault<'_>) -> Option<Diagnostic> {
    let FaultKind::LegacyValue { name, found, modern } = fault.kind else { return None };
    let message = format!("`{found}` is an older word of `{name}`, read as `{modern}`");
    let fix = Fix::safe(format!("write `{modern}`"), vec![Edit::replace(fault.span, modern)]);
    Some(finding(&RULE.meta, cx, fault.span, message).fix(fix))
}
