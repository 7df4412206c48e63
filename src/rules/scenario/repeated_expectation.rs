//! CTX615: an expectation that stands twice in one list.

use super::cx::ScenarioCx;
use super::words::{TASK, first_line};
use crate::base::diagnostic::Diagnostic;
use crate::base::fix::{Edit, Fix};
use crate::base::rule_meta::{Code, Example, Fixable, RuleMeta, Severity};
use crate::base::span::Span;
use crate::rules::rule::{Check, Rule};
use crate::syntax::yaml::Node;
use std::collections::BTreeMap;

/// One of the two is forgotten when the other is changed.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta {
        code: Code(615),
        name: "repeated-expectation",
        renamed_from: &[],
        severity: Some(Severity::Warning),
        when_enabled: Severity::Warning,
        locked: false,
        fix: Fixable::Safe,
        summary: "an expectation that stands twice in one list",
        page: "\
The same expectation twice tests nothing more, and one of the two is forgotten when the other is changed.",
        bad: &[
            Example {
                template: TASK,
                project: "\
# file: scenarios/refund.yaml
name: refund
task: triage
context:
  objective: sort the ticket
  inputs: {ticket: it came late}
expect_context:
  - nothing_cut: true
  - {nothing_cut: true}
",
            },
            Example {
                template: TASK,
                project: "\
# file: scenarios/refund.yaml
name: refund
task: triage
context:
  objective: sort the ticket
  inputs: {ticket: it came late}
expect_context: [{nothing_cut: true}, {tokens: {max: 9}}, {nothing_cut: true}]
",
            },
        ],
        good: &[Example {
            template: TASK,
            project: "\
# file: scenarios/refund.yaml
name: refund
task: triage
context:
  objective: sort the ticket
  inputs: {ticket: it came late}
expect_context:
  - nothing_cut: true
",
        }],
    },
    check: Check::Tree(check),
};

fn check(cx: &ScenarioCx<'_>, tree: &Node<'_>, out: &mut Vec<Diagnostic>) {
    let cases = tree.get("cases").and_then(Node::items).unwrap_or_default();
    for node in cases.iter().chain(tree.get("defaults")).chain([tree]) {
        for key in ["expect_context", "expectations", "expected"] {
            list(cx, node.get(key).and_then(Node::items).unwrap_or_default(), out);
        }
    }
}

fn list(cx: &ScenarioCx<'_>, items: &[Node<'_>], out: &mut Vec<Diagnostic>) {
    if items.len() < 2 {
        return;
    }
    let mut seen: BTreeMap<String, &Node<'_>> = BTreeMap::new();
    let mut before = None;
    for item in items {
        if let Some(first) = seen.get(&item.to_json().to_string()) {
            let line = first_line(cx.text, item.span);
            let finding = Diagnostic::new(&RULE.meta, cx.path, line, "this expectation stands in the list already");
            let finding = finding.label(first_line(cx.text, first.span), "first here");
            out.push(finding.fix(Fix::safe("remove it", vec![Edit::delete(whole(cx.text, before, item.span))])));
        } else {
            seen.insert(item.to_json().to_string(), item);
        }
        before = Some(item.span);
    }
}

/// An entry of a list with its dash, and with its lines where nothing else stands on them.
fn whole(text: &str, before: Option<Span>, item: Span) -> Span {
    let head = text.get(..item.start as usize).unwrap_or("");
    let start = head.rfind('\n').map_or(0, |newline| newline + 1);
    let tail = text.get(item.end as usize..).unwrap_or("");
    let end = tail.find('\n').map_or(text.len(), |newline| item.end as usize + newline + 1);
    let rest = tail.get(..end.saturating_sub(item.end as usize)).unwrap_or("").trim();
    let is_alone = head.get(start..).is_some_and(|lead| lead.trim() == "-") && (rest.is_empty() || rest.starts_with('#'));
    if is_alone {
        return Span::of(start, end);
    }
    Span::new(before.map_or(item.start, |before| before.end), item.end)
}
