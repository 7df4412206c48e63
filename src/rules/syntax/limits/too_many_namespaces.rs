//! CTX032: more namespaces are in scope than the limit.

use super::word::{Limit, word};
use crate::base::diagnostic::Diagnostic;
use crate::rules::rule::{Check, FileCx, Rule};
use crate::rules::syntax::family::{FINE, meta, shown};
use crate::syntax::fault::{Fault, FaultKind};

/// Reading stops here, so that no input costs more than it is worth.
pub(crate) static RULE: Rule = Rule {
    meta: meta(32, "too-many-namespaces", "more namespaces are in scope than the limit", PAGE, &[], FINE),
    check: Check::Syntax(check),
};

const PAGE: &str = "\
Namespace declarations hold for the element that they stand on and for everything inside; 128 of them may hold at once.

`--max-namespaces` raises the limit for one run.";

fn check(cx: &FileCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    if fault.kind != FaultKind::TooManyNamespaces {
        return None;
    }
    let limit = cx.config.limits.namespaces;
    let name = shown(cx, fault.span);
    let about = Limit { value: u64::from(limit), option: "max-namespaces", counts: "namespace declarations" };
    Some(word(
        &RULE,
        cx,
        fault,
        about,
        format!("`{name}` is one namespace declaration more than {limit} in scope"),
        "one too many".to_owned(),
    ))
}
