//! From requests to findings: asks every rule of the family, applies `[lints]`, locates and sorts. Reads nothing.

use super::cx::RequestCx;
use super::{bad_request_body, lone_surrogate};
use crate::base::diagnostic::{self, Diagnostic};
use crate::base::rule_meta::{RuleMeta, Severity};
use crate::base::source::LineIndex;
use crate::project::config::Config;
use crate::request::model::{NoRequest, Request};
use crate::request::places::Places;
use crate::rules::check::{is_error, weigh};
use crate::rules::list;
use crate::rules::rule::Check;
use std::sync::Arc;

/// Findings of one request at most, the gravest first to stay.
const MOST: usize = 50;

/// Why a vendor refuses a request.
#[derive(Debug)]
pub struct Refusal {
    /// The rule that says so.
    pub rule: &'static RuleMeta,
    /// What is wrong.
    pub message: String,
}

impl Refusal {
    /// That the vendor refuses it, why, and who says so.
    pub fn words(&self) -> String {
        let name = self.rule.name;
        format!("its vendor would refuse it: {} (`ctxc explain {name}`)", self.message)
    }
}

/// The findings of a request, located and sorted.
pub fn request(cx: &RequestCx<'_>, config: &Config) -> Vec<Diagnostic> {
    let mut found = findings(cx, config);
    for finding in found.iter_mut().filter(|finding| cx.was_answered && is_error(finding)) {
        finding.severity = Severity::Info;
        finding.notes.push("the vendor answered this request, so this rule may be wrong here".into());
    }
    located(cx.text, found)
}

/// The findings of a body that cannot be read, which begins at an offset of its text. Located and sorted.
pub fn unreadable(path: &Arc<str>, (text, offset): (&str, usize), why: &NoRequest, config: &Config) -> Vec<Diagnostic> {
    located(text, unread(path, (text, offset), why, config))
}

/// Who counts the tokens of a request with so many bytes; `None` where nobody can.
pub type Count = fn(&Request, usize, &Config) -> Option<u64>;

/// Why the vendor refuses a request: the first error in it.
pub fn refusal(request: &Request, body: &str, count: Count, config: &Config) -> Option<Refusal> {
    let path = Arc::from("-");
    let input_tokens = count(request, body.len(), config);
    let cx = RequestCx { input_tokens, ..RequestCx::new(&path, body, request, config) };
    findings(&cx, config).into_iter().find_map(refused)
}

/// Why the vendor refuses a body that goes to a path: the first error in it, or why it is no request.
pub fn refusal_of_body(body: &str, endpoint: Option<&str>, count: Count, config: &Config) -> Option<Refusal> {
    match Request::read(body, endpoint) {
        Ok(request) => refusal(&request, body, count, config),
        Err(why) => unread(&Arc::from("-"), (body, 0), &why, config).into_iter().find_map(refused),
    }
}

fn refused(finding: Diagnostic) -> Option<Refusal> {
    is_error(&finding).then_some(Refusal { rule: finding.rule, message: finding.message })
}

fn unread(path: &Arc<str>, (text, offset): (&str, usize), why: &NoRequest, config: &Config) -> Vec<Diagnostic> {
    let found = lone_surrogate::word(path, text, offset).or_else(|| bad_request_body::word(path, text, offset, why));
    found.into_iter().filter_map(|finding| weigh(config, finding)).collect()
}

fn findings(cx: &RequestCx<'_>, config: &Config) -> Vec<Diagnostic> {
    let places = Places::new(cx.text, cx.offset);
    let cx = &RequestCx { places: Some(&places), ..*cx };
    let mut found = Vec::new();
    for rule in list::all().filter(|rule| config.lints.is_on(&rule.meta)) {
        if let Check::Request(check) = rule.check {
            check(cx, &mut found);
        }
    }
    let mut found: Vec<Diagnostic> = found.into_iter().filter_map(|finding| weigh(config, finding)).collect();
    found.sort_by_key(|finding| (finding.severity, finding.span.start, finding.rule.code, finding.span.end));
    found.dedup_by_key(|finding| (finding.span, finding.rule.code));
    found.truncate(MOST);
    found
}

fn located(text: &str, mut found: Vec<Diagnostic>) -> Vec<Diagnostic> {
    if found.is_empty() {
        return found;
    }
    let index = LineIndex::new(text);
    for finding in &mut found {
        finding.locate(text, &index);
    }
    diagnostic::sort(&mut found);
    found
}
