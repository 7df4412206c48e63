//! GitLab's code quality report: one JSON list. Each fingerprint stands once, or GitLab would show one finding for two.

use super::message::{fingerprints, message};
use super::place::Base;
use super::report::Report;
use crate::base::rule_meta::Severity;
use serde::{Serialize, Serializer};
use std::io::{self, Write};

#[derive(Serialize)]
struct Issue<'f> {
    description: String,
    check_name: String,
    fingerprint: &'f str,
    severity: &'static str,
    location: Location<'f>,
}

#[derive(Serialize)]
struct Location<'f> {
    path: std::borrow::Cow<'f, str>,
    lines: Lines,
}

#[derive(Serialize)]
struct Lines {
    begin: u32,
    end: u32,
}

/// Writes every finding.
pub(crate) fn write(out: &mut dyn Write, report: &Report, base: &Base) -> io::Result<()> {
    let fingerprints = fingerprints(report);
    let issues = report.diagnostics.iter().zip(&fingerprints).map(|(finding, fingerprint)| Issue {
        description: message(finding),
        check_name: format!("{} {}", finding.rule.code, finding.rule.name),
        fingerprint,
        severity: match finding.severity {
            Severity::Error => "critical",
            Severity::Warning => "major",
            Severity::Info => "minor",
            Severity::Hint => "info",
        },
        location: Location {
            path: base.path(&finding.path),
            lines: Lines { begin: finding.start.line.max(1), end: finding.end.line.max(1) },
        },
    });
    serde_json::Serializer::new(&mut *out).collect_seq(issues).map_err(io::Error::from)?;
    out.write_all(b"\n")
}
