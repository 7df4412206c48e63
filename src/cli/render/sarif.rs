//! SARIF 2.1.0, one run. Columns count UTF-16 code units, paths are relative URIs, rules include
//! their pages.
//!
//! Never exceeds the limits of GitHub's code scanning: at most [`RESULTS`] results and [`BYTES`]
//! bytes before compression. If necessary, the least grave findings are left out, with a
//! notification in the file.

use super::super::manual_page;
use super::message::{fingerprints, message, trimmed};
use super::place::Base;
use super::report::Report;
use super::sources::{Source, Sources};
use crate::base::diagnostic::Diagnostic;
use crate::base::fix::{Edit, Fix};
use crate::base::rule_meta::{RuleMeta, Severity};
use crate::base::source::Position;
use crate::base::span::Span;
use serde_json::{Value, json};
use std::io::{self, Write};

/// The maximum number of results in one run.
const RESULTS: usize = 5_000;
/// The maximum size of all results in bytes. The service accepts ten million bytes after
/// compression, so this fits with any compression ratio.
const BYTES: usize = 9_000_000;
/// The maximum number of related places of one result.
const PLACES: usize = 99;

/// Writes the findings, only the gravest if they are too many. Returns the number of omitted ones.
pub(crate) fn write(
    out: &mut dyn Write,
    report: &Report,
    base: &Base,
    sources: &mut Sources,
) -> io::Result<usize> {
    let mut used: Vec<&'static RuleMeta> = report
        .diagnostics
        .iter()
        .map(|finding| finding.rule)
        .collect();
    used.sort_unstable_by_key(|rule| rule.code);
    used.dedup_by_key(|rule| rule.code);
    let (results, left_out) = results(report, &used, base, sources);
    let said = format!(
        "{left_out} of {} findings are left out, the least grave first: no more are shown of one run; `--format json` has them all",
        report.diagnostics.len()
    );
    let notifications = if left_out > 0 {
        vec![json!({"level": "warning", "message": text(said)})]
    } else {
        Vec::new()
    };
    let invocation =
        trimmed(json!({"executionSuccessful": true, "toolExecutionNotifications": notifications}));
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "ctxc",
                "fullName": "ctxc, the context compiler",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": used.iter().map(|rule| describe(rule)).collect::<Vec<_>>(),
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

fn text(text: impl Into<String>) -> Value {
    json!({"text": text.into()})
}

/// Returns the results that fit, in the order of the report, and the number of omitted ones.
fn results(
    report: &Report,
    used: &[&RuleMeta],
    base: &Base,
    sources: &mut Sources,
) -> (Vec<Value>, usize) {
    let fingerprints = fingerprints(report);
    let mut order: Vec<usize> = (0..report.diagnostics.len()).collect();
    // The sort is stable: of findings of one severity, those of the first files stay.
    order.sort_by_key(|at| report.diagnostics.get(*at).map(|finding| finding.severity));
    let mut kept = Vec::new();
    let mut bytes = 0;
    for at in order.into_iter().take(RESULTS) {
        let (Some(finding), Some(fingerprint)) = (report.diagnostics.get(at), fingerprints.get(at))
        else {
            continue;
        };
        let index = used.partition_point(|rule| rule.code < finding.rule.code);
        let result = outcome(finding, index, fingerprint, base, sources);
        bytes += result.to_string().len();
        if bytes > BYTES {
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

const fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info | Severity::Hint => "note",
    }
}

fn describe(rule: &'static RuleMeta) -> Value {
    let weight = rule.severity.unwrap_or(rule.when_enabled);
    let problem = match weight {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info | Severity::Hint => "recommendation",
    };
    trimmed(json!({
        "id": rule.code.to_string(),
        "name": rule.name,
        "deprecatedNames": rule.renamed_from,
        "shortDescription": text(format!("{}: {}", rule.name, rule.summary)),
        "help": {"text": rule.page(), "markdown": manual_page::markdown(rule)},
        "defaultConfiguration": {"enabled": rule.severity.is_some(), "level": level(weight)},
        "properties": {"tags": [manual_page::family(rule)], "precision": "very-high", "problem.severity": problem},
    }))
}

fn outcome(
    finding: &Diagnostic,
    rule_index: usize,
    fingerprint: &str,
    base: &Base,
    sources: &mut Sources,
) -> Value {
    let artifact = json!({"uri": base.uri(&finding.path)});
    let source = sources.main(&finding.path);
    let task: Vec<Value> = finding
        .task
        .iter()
        .map(|task| json!({"name": **task}))
        .collect();
    let region = between(finding.start, Some(finding.end));
    let here = json!({"physicalLocation": {"artifactLocation": artifact, "region": region}, "logicalLocations": task});
    let fixes = source.map_or_else(Vec::new, |source| {
        finding
            .fixes
            .iter()
            .map(|fix| mend(fix, source, &artifact))
            .collect()
    });
    trimmed(json!({
        "ruleId": finding.rule.code.to_string(),
        "ruleIndex": rule_index,
        "level": level(finding.severity),
        "message": text(message(finding)),
        "locations": [trimmed(here)],
        "relatedLocations": related(finding, source, base),
        "partialFingerprints": {"ctxc/v1": fingerprint},
        "fixes": fixes,
        "properties": {"severity": finding.severity},
    }))
}

fn related(finding: &Diagnostic, source: Option<&Source>, base: &Base) -> Vec<Value> {
    let labels = finding.labels.iter().take(PLACES).enumerate();
    let place = |(at, label): (usize, &crate::base::diagnostic::Label)| {
        let path = label.path.as_deref().unwrap_or(&finding.path);
        // For a label in another file, only the start is known.
        let region = match source.filter(|_| *path == *finding.path) {
            Some(source) => region(source, label.span),
            None => between(label.start, None),
        };
        let location = json!({"artifactLocation": {"uri": base.uri(path)}, "region": region});
        json!({"id": at + 1, "message": text(label.text.clone()), "physicalLocation": location})
    };
    labels.map(place).collect()
}

fn between(start: Position, end: Option<Position>) -> Value {
    trimmed(json!({
        "startLine": start.line.max(1),
        "startColumn": start.utf16.max(1),
        "endLine": end.map(|end| end.line.max(1)),
        "endColumn": end.map(|end| end.utf16.max(1)),
    }))
}

fn region(source: &Source, span: Span) -> Value {
    let place = |offset: u32| source.index.position(&source.text, offset);
    between(place(span.start), Some(place(span.end)))
}

fn mend(fix: &Fix, source: &Source, artifact: &Value) -> Value {
    let replacement = |edit: &Edit| json!({"deletedRegion": region(source, edit.span), "insertedContent": text(edit.insert.clone())});
    json!({
        "description": text(fix.title.to_string()),
        "artifactChanges": [{
            "artifactLocation": artifact,
            "replacements": fix.edits.iter().map(replacement).collect::<Vec<_>>(),
        }],
        "properties": {"applicability": fix.applicability},
    })
}
