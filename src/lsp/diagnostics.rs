//! Converts findings to LSP diagnostics: the same set as on the command line, with the same codes,
//! ranges and messages.

use super::client::Client;
use super::state::project::ProjectState;
use super::uri;
use crate::base::diagnostic::Diagnostic as Finding;
use crate::base::rule_meta::Severity;
use crate::base::source::LineIndex;
use gen_lsp_types::{
    Code, CodeDescription, Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity,
    DiagnosticTag, Location, Message, Position, Range, Uri,
};
use std::collections::BTreeMap;

/// Returns the diagnostics of one file.
pub(super) fn for_file(project: &ProjectState, client: &Client, name: &str) -> Vec<Diagnostic> {
    let found = project.findings(name);
    let is_large = project.is_large(name);
    if found.is_empty() && !is_large {
        return Vec::new();
    }
    let (text, index) = project.indexed_text(name).unwrap_or_default();
    let mut sources = TextCache {
        project,
        known: BTreeMap::new(),
    };
    let mut one = |finding: &Finding| {
        let range = client.encoding.range(&text, &index, finding.span);
        let mut related = Vec::new();
        // Clients show no notes, so notes become related information at the same place.
        let here = Location {
            uri: file_uri(project, name),
            range,
        };
        related.extend(
            remarks(finding).map(|message| DiagnosticRelatedInformation {
                location: here.clone(),
                message,
            }),
        );
        for label in finding.labels.iter().filter(|label| !label.text.is_empty()) {
            let (uri, range) = match &label.path {
                Some(path) if **path != *name => {
                    let (text, index) = sources.get(path);
                    (
                        file_uri(project, path),
                        client.encoding.range(text, index, label.span),
                    )
                }
                _ => (
                    file_uri(project, name),
                    client.encoding.range(&text, &index, label.span),
                ),
            };
            related.push(DiagnosticRelatedInformation {
                location: Location { uri, range },
                message: label.text.to_string(),
            });
        }
        // The rule's name, which `[lints]` and `<?ctxc allow …?>` use, with its explanation; the
        // code alone means little.
        let rule = finding.rule;
        let message = format!(
            "rule `{}`: {} (`ctxc explain {}`)",
            rule.name, rule.summary, rule.name
        );
        related.push(DiagnosticRelatedInformation {
            location: here,
            message,
        });
        Diagnostic {
            range,
            severity: Some(lsp_severity(finding.severity)),
            code: Some(Code::String(finding.rule.code.to_string())),
            source: Some("ctxc".to_owned()),
            message: Message::String(finding.message.clone()),
            tags: diagnostic_tags(finding),
            related_information: (!related.is_empty()).then_some(related),
            code_description: client
                .pages
                .page_uri(finding.rule.name)
                .map(|href| CodeDescription { href }),
            data: None,
        }
    };
    let mut shown: Vec<Diagnostic> = is_large.then(large_file_diagnostic).into_iter().collect();
    shown.extend(found.iter().map(&mut one));
    shown
}

/// Returns the notes and help of a finding.
pub(super) fn remarks(finding: &Finding) -> impl Iterator<Item = String> {
    finding
        .notes
        .iter()
        .map(ToString::to_string)
        .chain(finding.help.iter().map(|help| format!("help: {help}")))
}

/// Returns the diagnostic of a large file, so that it does not pass for checked.
fn large_file_diagnostic() -> Diagnostic {
    let start = Position {
        line: 0,
        character: 0,
    };
    let message = "more than 5 MB: only the structure is checked in the editor; `ctxc check` checks everything";
    Diagnostic {
        range: Range { start, end: start },
        severity: Some(DiagnosticSeverity::Information),
        source: Some("ctxc".to_owned()),
        message: Message::String(message.to_owned()),
        ..Diagnostic::default()
    }
}

/// Returns the URI of a file: the client's own if the file is open.
pub(super) fn file_uri(project: &ProjectState, name: &str) -> Uri {
    project.open.get(name).map_or_else(
        || uri::from_path(&project.path(name)),
        |buffer| buffer.uri.clone(),
    )
}

const fn lsp_severity(severity: Severity) -> DiagnosticSeverity {
    match severity {
        Severity::Error => DiagnosticSeverity::Error,
        Severity::Warning => DiagnosticSeverity::Warning,
        Severity::Info => DiagnosticSeverity::Information,
        Severity::Hint => DiagnosticSeverity::Hint,
    }
}

/// Rules about text without effect, which is shown faded.
const UNNECESSARY: &[&str] = &[
    "default-without-effect",
    "redundant-override",
    "repeated-lint",
    "requirement-matches-nothing",
    "setting-without-effect",
    "stale-suppression",
    "unused-allow",
    "unused-parameter",
];

fn diagnostic_tags(finding: &Finding) -> Option<Vec<DiagnosticTag>> {
    if (400..500).contains(&finding.rule.code.0) {
        return Some(vec![DiagnosticTag::Deprecated]);
    }
    UNNECESSARY
        .contains(&finding.rule.name)
        .then(|| vec![DiagnosticTag::Unnecessary])
}

/// Texts of other files, each read once.
struct TextCache<'w> {
    project: &'w ProjectState,
    known: BTreeMap<String, (String, LineIndex)>,
}

impl TextCache<'_> {
    fn get(&mut self, name: &str) -> (&str, &LineIndex) {
        let project = self.project;
        let (text, index) = self
            .known
            .entry(name.to_owned())
            .or_insert_with(|| project.indexed_text(name).unwrap_or_default());
        (text, index)
    }
}

/// Returns true if two ranges touch.
pub(super) fn ranges_touch(one: Range, other: Range) -> bool {
    let before = |a: Position, b: Position| (a.line, a.character) <= (b.line, b.character);
    before(one.start, other.end) && before(other.start, one.end)
}

#[cfg(test)]
#[path = "../../tests/unit/lsp/diagnostics.rs"]
mod tests;
