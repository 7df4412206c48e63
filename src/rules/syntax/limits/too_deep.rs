//! CTX030: elements are nested deeper than the limit.

use super::word::{Limit, word};
use crate::base::diagnostic::Diagnostic;
use crate::rules::rule::{Check, FileCx, Rule};
use crate::rules::syntax::family::{FINE, meta, shown};
use crate::syntax::fault::{Fault, FaultKind};

/// Reading stops here, so that no input costs more than it is worth.
pub(crate) static RULE: Rule = Rule {
    meta: meta(30, "too-deep", "elements are nested deeper than the limit", PAGE, &[], FINE),
    check: Check::Syntax(check),
};

const PAGE: &str = "\
Elements may stand 256 deep inside each other. A template that a person writes has perhaps ten levels; a file beyond the limit was made by a
program, or by an end tag that is missing again and again.

`--max-depth` raises the limit for one run.";

fn check(cx: &FileCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    if fault.kind != FaultKind::TooDeep {
        return None;
    }
    let limit = cx.config.limits.depth;
    let name = shown(cx, fault.span);
    let about = Limit { value: u64::from(limit), option: "max-depth", counts: "elements inside each other" };
    Some(word(&RULE, cx, fault, about, format!("`<{name}>` would be nested more than {limit} deep"), "opened here".to_owned()))
}
