//! CTX035: a file has more elements and texts than the limit.

use super::word::{Limit, word};
use crate::base::diagnostic::Diagnostic;
use crate::rules::rule::{Check, FileCx, Rule};
use crate::rules::syntax::family::{FINE, meta};
use crate::syntax::fault::{Fault, FaultKind};

/// Reading stops here, so that no input costs more than it is worth.
pub(crate) static RULE: Rule = Rule {
    meta: meta(35, "too-many-nodes", "a file has more elements and texts than the limit", PAGE, &[], FINE),
    check: Check::Syntax(check),
};

const PAGE: &str = "\
A file may have 1,000,000 elements, texts, comments and instructions. Split it; a project may have any number of files.

`--max-nodes` raises the limit for one run.";

fn check(cx: &FileCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    if fault.kind != FaultKind::TooManyNodes {
        return None;
    }
    let limit = cx.config.limits.nodes;
    let about = Limit { value: u64::from(limit), option: "max-nodes", counts: "nodes" };
    Some(word(
        &RULE,
        cx,
        fault,
        about,
        format!("the file has more than {limit} elements, texts and comments"),
        "reading stopped here".to_owned(),
    ))
}
