//! CTX033: a text or a value is longer than the limit.

use super::word::{Limit, word};
use crate::base::diagnostic::Diagnostic;
use crate::rules::rule::{Check, FileCx, Rule};
use crate::rules::syntax::family::{FINE, meta};
use crate::syntax::fault::{Fault, FaultKind};

/// Reading stops here, so that no input costs more than it is worth.
pub(crate) static RULE: Rule = Rule {
    meta: meta(33, "text-too-long", "a text or a value is longer than the limit", PAGE, &[], FINE),
    check: Check::Syntax(check),
};

const PAGE: &str = "\
One text, or one attribute value, may have 10,000,000 bytes. What an agent should read at such length belongs into a file that the template names in
`<file_paths>`, where it is budgeted and can be cut.

`--max-text-size` raises the limit for one run.";

fn check(cx: &FileCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    if fault.kind != FaultKind::TextTooLong {
        return None;
    }
    let limit = cx.config.limits.text;
    let about = Limit { value: u64::from(limit), option: "max-text-size", counts: "bytes of one text" };
    Some(word(&RULE, cx, fault, about, format!("a text of more than {limit} bytes"), "it begins here".to_owned()))
}
