//! GitLab's code quality report: one JSON list. Fingerprints are unique, because GitLab shows only
//! one finding for equal ones.

use super::plain_finding::{RepositoryBase, full_message, unique_fingerprints};
use super::report::CheckReport;
use crate::base::diagnostic::Diagnostic;
use crate::base::rule_meta::Severity;
use serde_json::{Value, json};
use std::io::{self, Write};

/// Writes every finding.
pub(crate) fn write_gitlab(
    out: &mut dyn Write,
    report: &CheckReport,
    base: &RepositoryBase,
) -> io::Result<()> {
    let fingerprints = unique_fingerprints(report);
    let issue = |(finding, fingerprint): (&Diagnostic, &String)| {
        let severity = match finding.severity {
            Severity::Error => "critical",
            Severity::Warning => "major",
            Severity::Info => "minor",
            Severity::Hint => "info",
        };
        let lines = json!({"begin": finding.start.line.max(1), "end": finding.end.line.max(1)});
        json!({
            "description": full_message(finding),
            "check_name": format!("{} {}", finding.rule.code, finding.rule.name),
            "fingerprint": fingerprint,
            "severity": severity,
            "location": {"path": base.repository_path(&finding.path), "lines": lines},
        })
    };
    let issues: Vec<Value> = report
        .diagnostics
        .iter()
        .zip(&fingerprints)
        .map(issue)
        .collect();
    serde_json::to_writer(&mut *out, &issues).map_err(io::Error::from)?;
    out.write_all(b"\n")
}
