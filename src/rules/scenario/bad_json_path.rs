//! CTX607: a path into an answer that is no `JSONPath`.

use super::cx::ScenarioCx;
use super::words::scenario;
use crate::rules::prelude::*;
use crate::scenario::{Fault, FaultKind};

/// A path that cannot be read selects nothing.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::error(607, "bad-json-path", "a path into an answer that is no JSONPath", PAGE).examples(BAD, GOOD),
    check: Check::Scenario(word),
};

const PAGE: &str = "\
`field_matches` selects parts of an answer by a JSONPath of RFC 9535: `$` is the whole answer, `$.risk_level` a field of it, `$.steps[0]` the first
of a list, `$.steps[*].name` a field of each. A path has 1,000 bytes at most and 12 brackets inside each other; `match` and `search` are
not there, `pattern` is. An answer in which it could lead to more than 2,000,000 nodes is not looked at, and the expectation fails with that reason.";

const BAD: &[Example] = &[scenario!(
    "\
expect_context:
  - nothing_cut: true
expectations:
  - field_matches: {path: team, pattern: billing}
"
)];

const GOOD: &[Example] = &[scenario!(
    "\
expect_context:
  - nothing_cut: true
expectations:
  - field_matches: {path: $.team, pattern: billing}
"
)];

fn word(cx: &ScenarioCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    let FaultKind::BadPath { at } = &fault.kind else { return None };
    let finding = cx.finding(&RULE.meta, fault, format!("this is no JSONPath: it stops being one at character {at}"));
    Some(finding.help("a path begins with `$`: `$.risk_level`, `$.steps[0].name`"))
}
