//! CTX017: the markers of a merge conflict.

use super::family::{FINE, finding, meta, other, template};
use crate::base::diagnostic::Diagnostic;
use crate::base::fix::{Edit, Fix};
use crate::base::rule_meta::{Example, Fixable};
use crate::rules::rule::{Check, FileCx, Rule};
use crate::syntax::fault::{Fault, FaultKind};

/// Two versions of a prompt in one file are none.
pub(crate) static RULE: Rule = Rule {
    meta: meta(17, "merge-conflict", "a merge conflict was left unresolved", PAGE, BAD, FINE).fixed(Fixable::Choice),
    check: Check::Syntax(word),
};

const PAGE: &str = "\
The lines `<<<<<<<`, `=======` and `>>>>>>>` are those of a version control system that could not decide between two versions. Choose one, or
join them, and remove the markers. ctxc reads the first version and reports nothing else inside of the conflict. It sees conflicts between
elements, inside of tags, in comments and in CDATA sections, and a first marker that lost the others.";

const BAD: &[Example] = &[template(
    "<task type=\"atomic\" name=\"triage\">\n<<<<<<< HEAD\n  <description>sort the ticket</description>\n=======\n  <description>sort it</description>\n>>>>>>> shorter\n</task>\n",
)];

fn word(cx: &FileCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    if fault.kind != FaultKind::MergeConflict {
        return None;
    }
    let written = fault.span.slice(cx.document.text);
    let after = u32::from(cx.document.text.get(fault.span.end as usize..).is_some_and(|rest| rest.starts_with('\n')));
    let span = crate::base::span::Span::new(fault.span.start, fault.span.end + after);
    if fault.other.is_none() {
        let found = finding(&RULE.meta, cx, fault.span, "a marker of a merge conflict without the others");
        return Some(
            found
                .here("a version control system wrote this line")
                .help("look at what the merge left here, and remove the line")
                .fix(Fix::suggested("remove the line", vec![Edit::delete(span)])),
        );
    }
    let middle = (other(fault).start - fault.span.start) as usize;
    let body = |start: usize, end: usize| {
        let part = written.get(start..end).unwrap_or("");
        part.split_once('\n').map_or("", |(_, body)| body).to_owned()
    };
    let last = written.rfind("\n>>>>>>>").map_or(written.len(), |last| last + 1);
    // A conflict shown with its common ancestor has a third part, which nobody wants.
    let ancestor = written.get(..middle).and_then(|ours| ours.find("\n|||||||")).map_or(middle, |at| at + 1);
    let (ours, theirs) = (body(0, ancestor), body(middle, last));
    Some(
        finding(&RULE.meta, cx, fault.span, "an unresolved merge conflict")
            .here("from this marker to the last one")
            .label(other(fault), "the second version begins here")
            .help("keep one version, or join them, and remove the markers")
            .fix(Fix::suggested("keep the first version", vec![Edit::replace(span, ours)]))
            .fix(Fix::suggested("keep the second version", vec![Edit::replace(span, theirs)])),
    )
}
