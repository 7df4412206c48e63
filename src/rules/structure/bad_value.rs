//! CTX111: a word outside of its set.

use super::family::{either, finding, shown};
use crate::rules::prelude::*;
use crate::template::fault::{Fault, FaultKind};

/// A value that is guessed at is a setting that nobody made.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::error(111, "bad-value", "a value that is none of those that may stand there", PAGE)
        .examples(BAD, FINE)
        .fixed(Fixable::Safe),
    check: Check::Template(word),
};

const PAGE: &str = "\
Settings and many attributes take one of a few words, written exactly: `full`, not `Full` or `all`. A word that is none of them is
not guessed at, since each guess would give the agent another context. Where only capitals or hyphens differ, the fix is safe. The
`default` of a parameter is a value of the parameter's type, as those are that a run hands in: for `array`, `string[]` and `object` it is JSON.

Where a setting, a type or a subtype of a task hangs on it, the finding is locked: it can be neither silenced nor lowered.";

const BAD: &[Example] = &[
    template(
        "<task type=\"atomic\" name=\"triage\">\n  <description>sort the ticket</description>\n  <context_management>\n    <inherit_context>ful</inherit_context>\n  </context_management>\n</task>\n",
    ),
    template(
        "<task type=\"atomic\" name=\"triage\">\n  <description>sort the ticket</description>\n  <output_format type=\"JSON\"/>\n</task>\n",
    ),
    template(
        "<task type=\"atomic\" name=\"triage\">\n  <description>sort the ticket into one of {{teams}}</description>\n  <parameters>\n    <parameter name=\"teams\" type=\"string[]\" default=\"billing\"/>\n  </parameters>\n</task>\n",
    ),
];

fn word(cx: &FileCx<'_>, fault: &Fault<'_>) -> Option<Diagnostic> {
    if let FaultKind::BadDefault { kind, found } = &fault.kind {
        let expected = if kind == "object" { "a JSON object, such as `{}`" } else { "a JSON array, such as `[]`" };
        let of = if kind == "string[]" { " whose entries are strings" } else { "" };
        let message = format!("`default` cannot be `{}`, since the type is `{kind}`; expected {expected}{of}", shown(found));
        return Some(finding(&RULE.meta, cx, fault.span, message));
    }
    let FaultKind::BadValue { name, found, allowed } = &fault.kind else { return None };
    if found.is_empty() {
        let message = format!("`{name}` is empty; expected {}", either(allowed.iter().copied()));
        return Some(finding(&RULE.meta, cx, fault.span, message));
    }
    let message = format!("`{name}` cannot be `{}`; expected {}", shown(found), either(allowed.iter().copied()));
    let finding = finding(&RULE.meta, cx, fault.span, message);
    let Some(meant) = nearest(found, allowed.iter().copied()) else { return Some(finding) };
    let edits = vec![Edit::replace(fault.span, meant)];
    let title = format!("write `{meant}`");
    Some(if plain(found) == plain(meant) {
        finding.fix(Fix::safe(title, edits))
    } else {
        finding.help(format!("did you mean `{meant}`?")).fix(Fix::suggested(title, edits))
    })
}

/// A word without capitals and separators.
fn plain(word: &str) -> String {
    word.chars().filter(|c| !matches!(c, '-' | '_' | ' ')).flat_map(char::to_lowercase).collect()
}
