//! The XML of Checkstyle: files, and their findings as `error` elements. Columns count characters.

use super::plain_finding::{RepositoryBase, full_message};
use super::report::CheckReport;
use crate::base::rule_meta::Severity;
use crate::syntax::write::{TemplateWriter, replace_illegal};
use std::io::{self, Write};

/// Writes every finding, by file.
pub(crate) fn write_checkstyle(
    out: &mut dyn Write,
    report: &CheckReport,
    base: &RepositoryBase,
) -> io::Result<()> {
    let mut xml = TemplateWriter::new();
    xml.declaration().open("checkstyle", &[("version", "10.0")]);
    for file in report.diagnostics.chunk_by(|a, b| a.path == b.path) {
        let path = file.first().map_or("", |finding| &*finding.path);
        xml.open(
            "file",
            &[("name", &replace_illegal(&base.repository_path(path)))],
        );
        for finding in file {
            let severity = match finding.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
                Severity::Info | Severity::Hint => "info",
            };
            xml.empty(
                "error",
                &[
                    ("line", &finding.start.line.max(1).to_string()),
                    ("column", &finding.start.column.max(1).to_string()),
                    ("severity", severity),
                    ("message", &replace_illegal(&full_message(finding))),
                    (
                        "source",
                        &format!("ctxc.{}.{}", finding.rule.code, finding.rule.name),
                    ),
                ],
            );
        }
        xml.close();
    }
    out.write_all(xml.finish().as_bytes())
}
