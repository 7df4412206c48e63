//! CTX036: more findings than anybody reads.

use super::word::{Limit, word};
use crate::base::diagnostic::Diagnostic;
use crate::base::rule_meta::Severity;
use crate::base::span::Span;
use crate::rules::rule::{Check, FileCx, Rule};
use crate::rules::syntax::family::{FINE, finding, meta};
use crate::syntax::fault::{Fault, FaultKind};

/// The closing line of a file that gives more findings than the limit, whether the reader or the rules made them.
pub(crate) static RULE: Rule = Rule {
    meta: meta(36, "too-many-findings", "a file gives more findings than the limit", PAGE, &[], FINE),
    check: Check::Syntax(check),
};

const PAGE: &str = "\
Of one file, 10,000 findings are reported, the gravest first; a file with more is most likely no template at all. So many syntax errors
stop the reading. Mend what was reported, or leave the file out with `[templates] exclude` in `ctxc.toml`.

`--max-diagnostics` raises the limit for one run.";

fn check(cx: &FileCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    if fault.kind != FaultKind::TooManyFaults {
        return None;
    }
    let limit = cx.config.limits.diagnostics;
    let about = Limit { value: u64::from(limit), option: "max-diagnostics", counts: "findings" };
    let message = format!("the file has {limit} syntax errors or more");
    Some(word(&RULE, cx, fault, about, message, "reading stopped here".to_owned()))
}

/// Keeps the gravest findings within the limit, the last of them one that says how many are left out.
pub(in crate::rules) fn shorten(cx: &FileCx<'_>, found: &mut Vec<Diagnostic>) {
    let most = cx.config.limits.diagnostics as usize;
    let uncounted = (cx.file.left_out + cx.scopes.left_out) as usize;
    if found.len() <= most && uncounted == 0 {
        return;
    }
    // That the reading stopped is said whatever else is left out.
    found.sort_by_key(|finding| (finding.severity, finding.rule.code != RULE.meta.code, finding.span));
    let left = found.split_off(most.saturating_sub(1).min(found.len()));
    let severity = left.first().map_or(Severity::Info, |finding| finding.severity);
    let end = cx.document.text.trim_end().len() as u32;
    let message = format!("{} more findings in this file", left.len() + uncounted);
    found.push(
        finding(&RULE.meta, cx, Span::at(end), message)
            .severity(severity)
            .note(format!("the limit is {most} findings of a file, the gravest first"))
            .help("mend those that are shown and check again; `--max-diagnostics` raises the limit"),
    );
}
