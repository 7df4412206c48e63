//! CTX031: an element has more attributes than the limit.

use super::word::{Limit, word};
use crate::base::diagnostic::Diagnostic;
use crate::rules::rule::{Check, FileCx, Rule};
use crate::rules::syntax::family::{FINE, meta, shown};
use crate::syntax::fault::{Fault, FaultKind};

/// Reading stops here, so that no input costs more than it is worth.
pub(crate) static RULE: Rule = Rule {
    meta: meta(31, "too-many-attributes", "an element has more attributes than the limit", PAGE, &[], FINE),
    check: Check::Syntax(check),
};

const PAGE: &str = "\
An element may have 256 attributes. No element of the language has more than a handful.

`--max-attributes` raises the limit for one run.";

fn check(cx: &FileCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    if fault.kind != FaultKind::TooManyAttributes {
        return None;
    }
    let limit = cx.config.limits.attributes;
    let name = shown(cx, fault.span);
    let about = Limit { value: u64::from(limit), option: "max-attributes", counts: "attributes" };
    Some(word(&RULE, cx, fault, about, format!("`<{name}>` has more than {limit} attributes"), "this element".to_owned()))
}
