//! CTX034: a name is longer than the limit.

use super::word::{Limit, word};
use crate::base::diagnostic::Diagnostic;
use crate::rules::rule::{Check, FileCx, Rule};
use crate::rules::syntax::family::{FINE, meta, shown};
use crate::syntax::fault::{Fault, FaultKind};

/// Reading stops here, so that no input costs more than it is worth.
pub(crate) static RULE: Rule =
    Rule { meta: meta(34, "name-too-long", "a name is longer than the limit", PAGE, &[], FINE), check: Check::Syntax(check) };

const PAGE: &str = "\
A name may have 1,000 bytes.

`--max-name` raises the limit for one run.";

fn check(cx: &FileCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    if fault.kind != FaultKind::NameTooLong {
        return None;
    }
    let limit = cx.config.limits.name;
    let name = shown(cx, fault.span);
    let about = Limit { value: u64::from(limit), option: "max-name", counts: "bytes of a name" };
    Some(word(&RULE, cx, fault, about, format!("a name of more than {limit} bytes"), format!("`{name}`")))
}
