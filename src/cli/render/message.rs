//! A finding as plain text, for formats with one text field per finding, and helpers that these
//! formats share.

use super::report::CheckReport;
use crate::base::diagnostic::Diagnostic;
use serde_json::Value;
use std::collections::BTreeMap;

/// Returns the message, then the notes, the help and the titles of the fixes, a line each.
pub(super) fn full_message(finding: &Diagnostic) -> String {
    let mut text = finding.message.clone();
    let mut line = |head: &str, body: &str| {
        text.push('\n');
        text.push_str(head);
        text.push_str(body);
    };
    for note in &finding.notes {
        line("note: ", note);
    }
    if let Some(help) = &finding.help {
        line("help: ", help);
    }
    for fix in &finding.fixes {
        line("fix: ", &fix.title);
    }
    text
}

/// Returns a unique fingerprint for every finding: the second of equal ones gets the suffix `-2`,
/// and so on.
pub(super) fn unique_fingerprints(report: &CheckReport) -> Vec<String> {
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    let mut all = Vec::with_capacity(report.diagnostics.len());
    for Diagnostic { fingerprint, .. } in &report.diagnostics {
        let count = seen.entry(fingerprint).or_default();
        *count += 1;
        all.push(if *count == 1 {
            fingerprint.clone()
        } else {
            format!("{fingerprint}-{count}")
        });
    }
    all
}

/// Returns an object without keys that are null or an empty list.
pub(super) fn without_empty_keys(mut object: Value) -> Value {
    if let Some(fields) = object.as_object_mut() {
        fields.retain(|_, value| {
            !value.is_null() && value.as_array().is_none_or(|list| !list.is_empty())
        });
    }
    object
}
