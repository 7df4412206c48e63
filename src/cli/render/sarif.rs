//! SARIF 2.1.0, one run. Columns count UTF-16 code units, paths are relative URIs, rules include
//! their pages.
//!
//! Never exceeds the limits of GitHub's code scanning: at most [`MAX_RESULTS`] results and
//! [`MAX_RESULT_BYTES`] bytes before compression. If necessary, the least grave findings are left
//! out, with a notification in the file.

use super::super::manual_page;
use super::plain_finding::{RepositoryBase, full_message, unique_fingerprints, without_empty_keys};
use super::report::CheckReport;
use super::sources::{FindingSource, SourceTexts};
use crate::base::diagnostic::Diagnostic;
use crate::base::fix::{Edit, Fix};
use crate::base::rule_meta::{RuleMeta, Severity};
use crate::base::source::Position;
use crate::base::span::Span;
use serde_json::{Value, json};
use std::io::{self, Write};

/// The maximum number of results in one run.
const MAX_RESULTS: usize = 5_000;
/// The maximum size of all results in bytes. The service accepts ten million bytes after
/// compression, so this fits with any compression ratio.
const MAX_RESULT_BYTES: usize = 9_000_000;
/// The maximum number of related places of one result.
const MAX_RELATED_PLACES: usize = 99;

/// Writes the findings, only the gravest if they are too many. Returns the number of omitted ones.
pub(crate) fn write_sarif(
    out: &mut dyn Write,
    report: &CheckReport,
    base: &RepositoryBase,
    sources: &mut SourceTexts,
) -> io::Result<usize> {
    let mut used: Vec<&'static RuleMeta> = report
        .diagnostics
        .iter()
        .map(|finding| finding.rule)
        .collect();
    used.sort_unstable_by_key(|rule| rule.code);
    used.dedup_by_key(|rule| rule.code);
    let (results, left_out) = build_results(report, &used, base, sources);
    let notice = format!(
        "{left_out} of {} findings are left out, the least grave first: no more are shown of one run; `--format json` has them all",
        report.diagnostics.len()
    );
    let notifications = if left_out > 0 {
        vec![json!({"level": "warning", "message": text_object(notice)})]
    } else {
        Vec::new()
    };
    let invocation = without_empty_keys(
        json!({"executionSuccessful": true, "toolExecutionNotifications": notifications}),
    );
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "ctxc",
                "fullName": "ctxc, the context compiler",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": used.iter().map(|rule| describe_rule(rule)).collect::<Vec<_>>(),
            }},
            "columnKind": "utf16CodeUnits",
            "newlineSequences": ["\r\n", "\n", "\r"],
            "invocations": [invocation],
            "results": results,
        }],
    });
    serde_json::to_writer(&mut *out, &log).map_err(io::Error::from)?;
    out.write_all(b"\n")?;
    Ok(left_out)
}

fn text_object(text: impl Into<String>) -> Value {
    json!({"text": text.into()})
}

/// Returns the results that fit, in the order of the report, and the number of omitted ones.
fn build_results(
    report: &CheckReport,
    used: &[&RuleMeta],
    base: &RepositoryBase,
    sources: &mut SourceTexts,
) -> (Vec<Value>, usize) {
    let fingerprints = unique_fingerprints(report);
    let mut order: Vec<usize> = (0..report.diagnostics.len()).collect();
    // The sort is stable: of findings of one severity, those of the first files stay.
    order.sort_by_key(|at| report.diagnostics.get(*at).map(|finding| finding.severity));
    let mut kept = Vec::new();
    let mut bytes = 0;
    for at in order.into_iter().take(MAX_RESULTS) {
        let (Some(finding), Some(fingerprint)) = (report.diagnostics.get(at), fingerprints.get(at))
        else {
            continue;
        };
        let index = used.partition_point(|rule| rule.code < finding.rule.code);
        let result = build_result(finding, index, fingerprint, base, sources);
        bytes += result.to_string().len();
        if bytes > MAX_RESULT_BYTES {
            break;
        }
        kept.push((at, result));
    }
    kept.sort_unstable_by_key(|(at, _)| *at);
    let left_out = report.diagnostics.len() - kept.len();
    (
        kept.into_iter().map(|(_, result)| result).collect(),
        left_out,
    )
}

const fn sarif_level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info | Severity::Hint => "note",
    }
}

fn describe_rule(rule: &'static RuleMeta) -> Value {
    let weight = rule.severity.unwrap_or(rule.when_enabled);
    let problem = match weight {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info | Severity::Hint => "recommendation",
    };
    without_empty_keys(json!({
        "id": rule.code.to_string(),
        "name": rule.name,
        "deprecatedNames": rule.renamed_from,
        "shortDescription": text_object(format!("{}: {}", rule.name, rule.summary)),
        "help": {"text": rule.page(), "markdown": manual_page::markdown_page(rule)},
        "defaultConfiguration": {"enabled": rule.severity.is_some(), "level": sarif_level(weight)},
        "properties": {"tags": [manual_page::family_name(rule)], "precision": "very-high", "problem.severity": problem},
    }))
}

fn build_result(
    finding: &Diagnostic,
    rule_index: usize,
    fingerprint: &str,
    base: &RepositoryBase,
    sources: &mut SourceTexts,
) -> Value {
    let artifact = json!({"uri": base.repository_uri(&finding.path)});
    let source = sources.finding_source(&finding.path);
    let task: Vec<Value> = finding
        .task
        .iter()
        .map(|task| json!({"name": **task}))
        .collect();
    let region = region_between(finding.start, Some(finding.end));
    let here = json!({"physicalLocation": {"artifactLocation": artifact, "region": region}, "logicalLocations": task});
    let fixes = source.map_or_else(Vec::new, |source| {
        finding
            .fixes
            .iter()
            .map(|fix| fix_object(fix, source, &artifact))
            .collect()
    });
    without_empty_keys(json!({
        "ruleId": finding.rule.code.to_string(),
        "ruleIndex": rule_index,
        "level": sarif_level(finding.severity),
        "message": text_object(full_message(finding)),
        "locations": [without_empty_keys(here)],
        "relatedLocations": related_locations(finding, source, base),
        "partialFingerprints": {"ctxc/v1": fingerprint},
        "fixes": fixes,
        "properties": {"severity": finding.severity},
    }))
}

fn related_locations(
    finding: &Diagnostic,
    source: Option<&FindingSource>,
    base: &RepositoryBase,
) -> Vec<Value> {
    let labels = finding.labels.iter().take(MAX_RELATED_PLACES).enumerate();
    let place = |(at, label): (usize, &crate::base::diagnostic::Label)| {
        let path = label.path.as_deref().unwrap_or(&finding.path);
        // For a label in another file, only the start is known.
        let region = match source.filter(|_| *path == *finding.path) {
            Some(source) => region_of_span(source, label.span),
            None => region_between(label.start, None),
        };
        let location =
            json!({"artifactLocation": {"uri": base.repository_uri(path)}, "region": region});
        json!({"id": at + 1, "message": text_object(label.text.clone()), "physicalLocation": location})
    };
    labels.map(place).collect()
}

fn region_between(start: Position, end: Option<Position>) -> Value {
    without_empty_keys(json!({
        "startLine": start.line.max(1),
        "startColumn": start.utf16.max(1),
        "endLine": end.map(|end| end.line.max(1)),
        "endColumn": end.map(|end| end.utf16.max(1)),
    }))
}

fn region_of_span(source: &FindingSource, span: Span) -> Value {
    let place = |offset: u32| source.index.position(&source.text, offset);
    region_between(place(span.start), Some(place(span.end)))
}

fn fix_object(fix: &Fix, source: &FindingSource, artifact: &Value) -> Value {
    let replacement = |edit: &Edit| json!({"deletedRegion": region_of_span(source, edit.span), "insertedContent": text_object(edit.insert.clone())});
    json!({
        "description": text_object(fix.title.to_string()),
        "artifactChanges": [{
            "artifactLocation": artifact,
            "replacements": fix.edits.iter().map(replacement).collect::<Vec<_>>(),
        }],
        "properties": {"applicability": fix.applicability},
    })
}
