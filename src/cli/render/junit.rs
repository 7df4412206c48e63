//! The XML of `JUnit`: one test case per file. A file fails if it has an error; other findings are
//! its output.

use super::plain_finding::{RepositoryBase, full_message};
use super::report::CheckReport;
use crate::base::diagnostic::Diagnostic;
use crate::base::rule_meta::Severity;
use crate::cli::prelude::*;
use crate::syntax::write::{TemplateWriter, replace_illegal};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write};

/// Writes a test case for every checked file. Files without a path in the report share one case.
pub(crate) fn write_junit(
    out: &mut dyn Write,
    report: &CheckReport,
    base: &RepositoryBase,
) -> io::Result<()> {
    let mut files: BTreeMap<&str, &[Diagnostic]> =
        report.paths.iter().map(|path| (&**path, &[][..])).collect();
    for file in report.diagnostics.chunk_by(|a, b| a.path == b.path) {
        files.insert(file.first().map_or("", |finding| &finding.path), file);
    }
    let others = report.files.saturating_sub(files.len());
    let failures = files.values().filter(|file| count_errors(file) > 0).count();
    let tests = (files.len() + usize::from(others > 0)).to_string();
    let failures = failures.to_string();
    let counts = [
        ("name", "ctxc"),
        ("tests", &tests),
        ("failures", &failures),
        ("errors", "0"),
        ("time", "0"),
    ];
    let mut xml = TemplateWriter::new();
    xml.declaration()
        .open("testsuites", &counts)
        .open("testsuite", &counts);
    for (path, findings) in files {
        let path = escape_line(&base.repository_path(path)).into_owned();
        let case = [
            ("classname", "ctxc"),
            ("name", path.as_str()),
            ("file", &path),
            ("time", "0"),
        ];
        if findings.is_empty() {
            xml.empty("testcase", &case);
            continue;
        }
        xml.open("testcase", &case);
        let text = replace_illegal(&list_findings(&path, findings)).into_owned();
        match findings
            .iter()
            .find(|finding| finding.severity == Severity::Error)
        {
            Some(first) => {
                let message = format!(
                    "{}: {}",
                    pluralize(count_errors(findings), "error"),
                    first.message
                );
                xml.leaf(
                    "failure",
                    &[
                        ("message", &replace_illegal(&message)),
                        ("type", &first.rule.code.to_string()),
                    ],
                    &text,
                );
            }
            None => {
                xml.leaf("system-out", &[], &text);
            }
        }
        xml.close();
    }
    if others > 0 {
        xml.empty(
            "testcase",
            &[
                ("classname", "ctxc"),
                ("name", &pluralize(others, "unchanged file")),
                ("time", "0"),
            ],
        );
    }
    out.write_all(xml.finish().as_bytes())
}

fn count_errors(findings: &[Diagnostic]) -> usize {
    findings
        .iter()
        .filter(|finding| finding.severity == Severity::Error)
        .count()
}

fn list_findings(path: &str, findings: &[Diagnostic]) -> String {
    let mut text = String::from("\n");
    for finding in findings {
        let line = finding.start.line;
        let column = finding.start.column;
        let message = full_message(finding).replace('\n', "\n  ");
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{path}:{line}:{column}: {}[{}]: {message}",
            finding.severity, finding.rule.name
        );
    }
    text
}
