//! SARIF 2.1.0, one run. Columns count UTF-16 code units, paths are relative URIs, rules bring their pages along.
//!
//! Never more than GitHub's code scanning takes and shows: at most [`RESULTS`] results and [`BYTES`] bytes before
//! compression. What does not fit is left out from the least grave on, and the file says so.

use super::super::manual_page;
use super::message::{fingerprints, message};
use super::place::{Base, Unit, spots};
use super::report::Report;
use super::sources::{Source, Sources};
use crate::base::diagnostic::Diagnostic;
use crate::base::fix::{Applicability, Fix};
use crate::base::rule_meta::{RuleMeta, Severity};
use crate::base::source::Position;
use crate::base::span::Span;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Results that are shown of one run.
const RESULTS: usize = 5_000;
/// Bytes of all results. The service takes ten million after compression, so that this fits however badly it compresses.
const BYTES: usize = 9_000_000;
/// Places that are shown of one result, without its own.
const PLACES: usize = 99;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Log<'r> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [Run<'r>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Run<'r> {
    tool: Tool,
    column_kind: &'static str,
    newline_sequences: [&'static str; 3],
    invocations: [Invocation; 1],
    results: Vec<&'r RawValue>,
}

#[derive(Serialize)]
struct Tool {
    driver: Driver,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Driver {
    name: &'static str,
    full_name: &'static str,
    semantic_version: &'static str,
    rules: Vec<Rule>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Rule {
    id: String,
    name: &'static str,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    deprecated_names: &'static [&'static str],
    short_description: Text,
    help: Help,
    default_configuration: Configuration,
    properties: RuleBag,
}

#[derive(Serialize)]
struct Help {
    text: String,
    markdown: String,
}

#[derive(Serialize)]
struct Configuration {
    enabled: bool,
    level: &'static str,
}

#[derive(Serialize)]
struct RuleBag {
    tags: [&'static str; 1],
    precision: &'static str,
    #[serde(rename = "problem.severity")]
    severity: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Invocation {
    execution_successful: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_execution_notifications: Vec<Notification>,
}

#[derive(Serialize)]
struct Notification {
    level: &'static str,
    message: Text,
}

#[derive(Serialize)]
struct Text {
    text: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Outcome<'r> {
    rule_id: String,
    rule_index: usize,
    level: &'static str,
    message: Text,
    locations: [Location; 1],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related_locations: Vec<Related>,
    partial_fingerprints: BTreeMap<&'static str, &'r str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    fixes: Vec<SarifFix>,
    properties: Properties,
}

#[derive(Serialize)]
struct Properties {
    severity: Severity,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Location {
    physical_location: Physical,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    logical_locations: Vec<Logical>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Related {
    id: usize,
    message: Text,
    physical_location: Physical,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Physical {
    artifact_location: Artifact,
    region: Region,
}

#[derive(Serialize)]
struct Logical {
    name: String,
}

#[derive(Clone, Serialize)]
struct Artifact {
    uri: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    start_line: u32,
    start_column: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    end_line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end_column: Option<u32>,
}

impl Region {
    fn between(start: Position, end: Option<Position>) -> Self {
        Self {
            start_line: start.line.max(1),
            start_column: start.utf16.max(1),
            end_line: end.map(|end| end.line.max(1)),
            end_column: end.map(|end| end.utf16.max(1)),
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SarifFix {
    description: Text,
    artifact_changes: [Change; 1],
    properties: FixProperties,
}

#[derive(Serialize)]
struct FixProperties {
    applicability: Applicability,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Change {
    artifact_location: Artifact,
    replacements: Vec<Replacement>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Replacement {
    deleted_region: Region,
    inserted_content: Text,
}

/// Writes the findings, the gravest if they are too many. Returns how many were left out.
pub(crate) fn write(out: &mut dyn Write, report: &Report, base: &Base, sources: &mut Sources) -> io::Result<usize> {
    let mut used: Vec<&'static RuleMeta> = report.diagnostics.iter().map(|finding| finding.rule).collect();
    used.sort_unstable_by_key(|rule| rule.code);
    used.dedup_by_key(|rule| rule.code);
    let (results, left_out) = results(report, &used, base, sources)?;
    let said = format!(
        "{left_out} of {} findings are left out, the least grave first: no more are shown of one run; `--format json` has them all",
        report.diagnostics.len()
    );
    let notification = (left_out > 0).then_some(Notification { level: "warning", message: Text { text: said } });
    let driver = Driver {
        name: "ctxc",
        full_name: "ctxc, the context compiler",
        semantic_version: env!("CARGO_PKG_VERSION"),
        rules: used.iter().map(|rule| describe(rule)).collect(),
    };
    let run = Run {
        tool: Tool { driver },
        column_kind: "utf16CodeUnits",
        newline_sequences: ["\r\n", "\n", "\r"],
        invocations: [Invocation {
            execution_successful: true,
            tool_execution_notifications: notification.into_iter().collect(),
        }],
        results: results.iter().map(AsRef::as_ref).collect(),
    };
    let log = Log { schema: "https://json.schemastore.org/sarif-2.1.0.json", version: "2.1.0", runs: [run] };
    serde_json::to_writer(&mut *out, &log).map_err(io::Error::from)?;
    out.write_all(b"\n")?;
    Ok(left_out)
}

/// The results that fit, in the order of the report, and how many do not.
fn results(report: &Report, used: &[&RuleMeta], base: &Base, sources: &mut Sources) -> io::Result<(Vec<Box<RawValue>>, usize)> {
    let fingerprints = fingerprints(report);
    let mut order: Vec<usize> = (0..report.diagnostics.len()).collect();
    // Stable: among findings of one weight, those of the first files stay.
    order.sort_by_key(|at| report.diagnostics.get(*at).map(|finding| finding.severity));
    let mut kept = Vec::new();
    let mut bytes = 0;
    for at in order.into_iter().take(RESULTS) {
        let (Some(finding), Some(fingerprint)) = (report.diagnostics.get(at), fingerprints.get(at)) else { continue };
        let index = used.partition_point(|rule| rule.code < finding.rule.code);
        let written = to_raw_value(&outcome(finding, index, fingerprint, base, sources)).map_err(io::Error::from)?;
        bytes += written.get().len();
        if bytes > BYTES {
            break;
        }
        kept.push((at, written));
    }
    kept.sort_unstable_by_key(|(at, _)| *at);
    let left_out = report.diagnostics.len() - kept.len();
    Ok((kept.into_iter().map(|(_, written)| written).collect(), left_out))
}

const fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info | Severity::Hint => "note",
    }
}

fn describe(rule: &'static RuleMeta) -> Rule {
    let weight = rule.severity.unwrap_or(rule.when_enabled);
    Rule {
        id: rule.code.to_string(),
        name: rule.name,
        deprecated_names: rule.renamed_from,
        short_description: Text { text: format!("{}: {}", rule.name, rule.summary) },
        help: Help { text: rule.page().to_owned(), markdown: manual_page::markdown(rule) },
        default_configuration: Configuration { enabled: rule.severity.is_some(), level: level(weight) },
        properties: RuleBag {
            tags: [manual_page::family(rule)],
            precision: "very-high",
            severity: match weight {
                Severity::Error => "error",
                Severity::Warning => "warning",
                Severity::Info | Severity::Hint => "recommendation",
            },
        },
    }
}

fn outcome<'r>(finding: &Diagnostic, rule_index: usize, fingerprint: &'r str, base: &Base, sources: &mut Sources) -> Outcome<'r> {
    let artifact = Artifact { uri: base.uri(&finding.path) };
    let source = sources.main(&finding.path);
    let region = Region::between(finding.start, Some(finding.end));
    let here = Location {
        physical_location: Physical { artifact_location: artifact.clone(), region },
        logical_locations: finding.task.iter().map(|task| Logical { name: task.to_string() }).collect(),
    };
    Outcome {
        rule_id: finding.rule.code.to_string(),
        rule_index,
        level: level(finding.severity),
        message: Text { text: message(finding) },
        locations: [here],
        related_locations: related(finding, source, base),
        partial_fingerprints: BTreeMap::from([("ctxc/v1", fingerprint)]),
        fixes: source
            .map_or_else(Vec::new, |source| finding.fixes.iter().map(|fix| mend(fix, source, artifact.clone())).collect()),
        properties: Properties { severity: finding.severity },
    }
}

fn related(finding: &Diagnostic, source: Option<&Source>, base: &Base) -> Vec<Related> {
    let labels = finding.labels.iter().take(PLACES).enumerate();
    let place = |(at, label): (usize, &crate::base::diagnostic::Label)| {
        let path = label.path.as_deref().unwrap_or(&finding.path);
        // Of another file only the start is known.
        let region = match source.filter(|_| *path == *finding.path) {
            Some(source) => region(source, label.span),
            None => Region::between(label.start, None),
        };
        Related {
            id: at + 1,
            message: Text { text: label.text.to_string() },
            physical_location: Physical { artifact_location: Artifact { uri: base.uri(path) }, region },
        }
    };
    labels.map(place).collect()
}

fn region(source: &Source, span: Span) -> Region {
    let (start, end) = spots(source, span, Unit::Utf16);
    Region { start_line: start.line, start_column: start.column, end_line: Some(end.line), end_column: Some(end.column) }
}

fn mend(fix: &Fix, source: &Source, artifact: Artifact) -> SarifFix {
    let replacement = |edit: &crate::base::fix::Edit| Replacement {
        deleted_region: region(source, edit.span),
        inserted_content: Text { text: edit.insert.clone() },
    };
    SarifFix {
        description: Text { text: fix.title.to_string() },
        artifact_changes: [Change { artifact_location: artifact, replacements: fix.edits.iter().map(replacement).collect() }],
        properties: FixProperties { applicability: fix.applicability },
    }
}
