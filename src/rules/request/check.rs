//! Turns requests into findings: runs every rule of the family, applies `[lints]`, locates and
//! sorts. Never reads files.

use super::cx::RequestCx;
use super::{bad_request_body, lone_surrogate};
use crate::base::diagnostic::{self, Diagnostic};
use crate::base::rule_meta::{RuleMeta, Severity};
use crate::base::source::LineIndex;
use crate::project::config::Config;
use crate::request::model::{ModelRequest, NoRequest};
use crate::request::places::JsonPlaces;
use crate::rules::check::{apply_levels, is_error};
use crate::rules::list;
use crate::rules::rule::Check;
use std::sync::Arc;

/// Maximum number of findings of one request; the gravest stay.
const MAX_FINDINGS: usize = 50;

/// The reason why a vendor would reject a request.
#[derive(Debug)]
pub struct VendorRejection {
    /// The rule that found it.
    pub rule: &'static RuleMeta,
    /// The message of the finding.
    pub message: String,
}

impl VendorRejection {
    /// Describes the rejection, its reason and the rule.
    pub fn describe(&self) -> String {
        let name = self.rule.name;
        format!(
            "its vendor would refuse it: {} (`ctxc explain {name}`)",
            self.message
        )
    }
}

/// Returns the findings of a request, located and sorted.
pub fn request_findings(cx: &RequestCx<'_>, config: &Config) -> Vec<Diagnostic> {
    let mut found = unlocated_findings(cx, config);
    for finding in found
        .iter_mut()
        .filter(|finding| cx.was_answered && is_error(finding))
    {
        finding.severity = Severity::Info;
        finding
            .notes
            .push("the vendor answered this request, so this rule may be wrong here".into());
    }
    locate_findings(cx.text, found)
}

/// Returns the findings of a body that cannot be read, located and sorted.
pub fn unreadable_body_findings(
    path: &Arc<str>,
    text: &str,
    why: &NoRequest,
    config: &Config,
) -> Vec<Diagnostic> {
    locate_findings(text, unlocated_body_findings(path, text, why, config))
}

/// Counts the tokens of a request of a given size in bytes; `None` if they cannot be counted.
pub type TokenCount = fn(&ModelRequest, usize, &Config) -> Option<u64>;

/// Returns the reason why the vendor would reject a request: its first error.
pub fn find_rejection(
    request: &ModelRequest,
    body: &str,
    count: TokenCount,
    config: &Config,
) -> Option<VendorRejection> {
    let path = Arc::from("-");
    let input_tokens = count(request, body.len(), config);
    let cx = RequestCx {
        input_tokens,
        ..RequestCx::new(&path, body, request, config)
    };
    unlocated_findings(&cx, config)
        .into_iter()
        .find_map(as_rejection)
}

/// Returns the reason why the vendor would reject a body sent to `endpoint`: its first error, or
/// the reason why it is no request.
pub fn find_body_rejection(
    body: &str,
    endpoint: Option<&str>,
    count: TokenCount,
    config: &Config,
) -> Option<VendorRejection> {
    match ModelRequest::parse(body, endpoint) {
        Ok(request) => find_rejection(&request, body, count, config),
        Err(why) => unlocated_body_findings(&Arc::from("-"), body, &why, config)
            .into_iter()
            .find_map(as_rejection),
    }
}

fn as_rejection(finding: Diagnostic) -> Option<VendorRejection> {
    is_error(&finding).then_some(VendorRejection {
        rule: finding.rule,
        message: finding.message,
    })
}

fn unlocated_body_findings(
    path: &Arc<str>,
    text: &str,
    why: &NoRequest,
    config: &Config,
) -> Vec<Diagnostic> {
    let found = lone_surrogate::report(path, text)
        .unwrap_or_else(|| bad_request_body::report(path, text, why));
    apply_levels(config, found).into_iter().collect()
}

fn unlocated_findings(cx: &RequestCx<'_>, config: &Config) -> Vec<Diagnostic> {
    let places = JsonPlaces::new(cx.text, cx.offset);
    let cx = &RequestCx {
        places: Some(&places),
        ..*cx
    };
    let mut found = Vec::new();
    for rule in list::all_rules().filter(|rule| config.lints.is_on(&rule.meta)) {
        if let Check::Request(check) = rule.check {
            check(cx, &mut found);
        }
    }
    let mut found: Vec<Diagnostic> = found
        .into_iter()
        .filter_map(|finding| apply_levels(config, finding))
        .collect();
    found.sort_by_key(|finding| {
        (
            finding.severity,
            finding.span.start,
            finding.rule.code,
            finding.span.end,
        )
    });
    found.dedup_by_key(|finding| (finding.span, finding.rule.code));
    found.truncate(MAX_FINDINGS);
    found
}

fn locate_findings(text: &str, mut found: Vec<Diagnostic>) -> Vec<Diagnostic> {
    if found.is_empty() {
        return found;
    }
    let index = LineIndex::new(text);
    for finding in &mut found {
        finding.locate(text, &index);
    }
    diagnostic::sort_diagnostics(&mut found);
    found
}
