//! CTX606: a pattern that is no regular expression.

use super::cx::ScenarioCx;
use super::words::scenario;
use crate::rules::prelude::*;
use crate::scenario::{Fault, FaultKind};

/// A pattern that cannot be read finds nothing.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::error(606, "bad-pattern", "a pattern that is no regular expression", PAGE).examples(BAD, GOOD),
    check: Check::Scenario(word),
};

const PAGE: &str = "\
Patterns are regular expressions of the Rust crate `regex`: unanchored, case-sensitive, in time linear in the text. It has no look-around and no
back-references. What it unfolds into is bounded, about a mebibyte: `\\w{60}` and `(a{1000}){1000}` are refused. `(?i)` makes a pattern blind to case, `\\(` means the sign itself. In YAML a pattern is best written in single quotes, which leave
backslashes alone.";

const BAD: &[Example] = &[scenario!("expect_context:\n  - contains: ['order (\\d+']\n")];

const GOOD: &[Example] = &[scenario!("expect_context:\n  - contains: ['order (\\d+)']\n")];

fn word(cx: &ScenarioCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    let FaultKind::BadPattern { reason, at, part } = &fault.kind else { return None };
    let part = if part.is_empty() || part.len() > 40 { String::new() } else { format!(", `{part}`") };
    let finding = cx.finding(&RULE.meta, fault, format!("the pattern is no regular expression: {reason}"));
    let finding = finding.note(format!("at character {at} of the pattern{part}"));
    Some(finding.help("a sign that is meant as itself takes a backslash: `\\(`"))
}
