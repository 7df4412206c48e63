//! The report of `ctxc import` for programs: `ctxc/import/1`.

use super::report::{ImportDisposition, ImportReport};
use super::show::{difference_lines, difference_title};
use super::suggest::suggest_config;
use super::verify::SampleVerdict;
use crate::import::{FORMATS, ImportNote, NoteWeight, PromptFormat};
use crate::schema::json::names::IMPORT;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::json;
use std::borrow::Cow;
use std::collections::BTreeSet;

/// The prompts that `ctxc import` found, their templates, and everything that could not be carried
/// over.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "Document")]
pub(crate) struct ImportDocument<'t> {
    /// Files that are only included by others and are no tasks of their own.
    parts: Vec<IncludedFile<'t>>,
    /// Pages without any placeholder; they were skipped.
    plain: &'t [String],
    /// Every prompt.
    prompts: Vec<PromptRow<'t>>,
    /// The result of --verify; null without it.
    samples: Option<SampleTotals<'t>>,
    /// The version of the format.
    schema: &'static str,
    /// Entries for ctxc.toml: the models of the prompts, and settings that no template can contain;
    /// null if there are none.
    suggestion: Option<String>,
    /// Files that look like prompts but cannot be read.
    unreadable: Vec<UnreadablePrompt<'t>>,
}

/// A prompt and its result.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "Prompt")]
struct PromptRow<'t> {
    /// The file of the prompt; for a prompt in two halves both, the system's first.
    files: Vec<&'t str>,
    /// The format of the prompt.
    format: FormatName,
    /// Notes on the prompt.
    notes: Vec<NoteRow<'t>>,
    /// Other files whose text the template now contains.
    parts: Vec<&'t str>,
    /// The file with its tests as scenarios; null if it has none, or is not carried over.
    scenarios: Option<&'t str>,
    /// The state of the template's file.
    state: ImportDisposition,
    /// The name of the task; null if the prompt is not carried over.
    task: Option<&'t str>,
    /// The template's file; null if the prompt is not carried over.
    template: Option<&'t str>,
}

/// A format by its name.
struct FormatName(&'static PromptFormat);

impl Serialize for FormatName {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.name)
    }
}

impl JsonSchema for FormatName {
    fn schema_name() -> Cow<'static, str> {
        "Format".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let one = |format: &&PromptFormat| json!({"const": format.name, "description": format.files, "type": "string"});
        json_schema!({"description": "Formats that are read.", "oneOf": FORMATS.iter().map(one).collect::<Vec<_>>()})
    }
}

/// A note on a prompt.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "Note")]
struct NoteRow<'t> {
    /// The line from 1; 0: the file as a whole.
    line: u32,
    /// The text of the note.
    message: String,
    /// The file.
    path: &'t str,
    /// The severity of the note.
    severity: NoteWeight,
}

/// A file that others include.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "Taken")]
struct IncludedFile<'t> {
    /// The file.
    path: &'t str,
    /// A prompt that includes it.
    whole: &'t str,
}

/// A file that cannot be read.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "Unread")]
struct UnreadablePrompt<'t> {
    /// The file.
    path: &'t str,
    /// The reason that it cannot be read.
    reason: &'t str,
}

/// The verdict over all samples.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "Samples")]
struct SampleTotals<'t> {
    /// The samples that differ.
    differences: Vec<SampleDifference<'t>>,
    /// The members that were compared beside the messages, if samples are requests.
    compared: &'t BTreeSet<String>,
    /// The number of samples that came out as expected, byte for byte.
    equal: usize,
    /// Members of requests that were not compared.
    not_compared: &'t BTreeSet<String>,
    /// The number of samples.
    total: usize,
}

/// A sample that differs.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "Difference")]
struct SampleDifference<'t> {
    /// The line in the file of samples, from 1.
    line: usize,
    /// The difference, with both lines if a byte differs.
    message: String,
    /// The template that the sample names.
    template: &'t str,
}

/// Builds the report.
pub(super) fn build_document<'t>(report: &ImportReport<'t>) -> ImportDocument<'t> {
    let prompts =
        report
            .batch
            .converted
            .iter()
            .zip(report.dispositions)
            .map(|(converted, disposition)| {
                let is_carried = *disposition != ImportDisposition::Refused;
                PromptRow {
                    files: converted
                        .system
                        .iter()
                        .chain([&converted.path])
                        .map(String::as_str)
                        .collect(),
                    format: FormatName(converted.format),
                    notes: converted.imported.notes.iter().map(note_row).collect(),
                    parts: converted
                        .imported
                        .parts
                        .iter()
                        .map(String::as_str)
                        .collect(),
                    scenarios: converted
                        .suite
                        .as_ref()
                        .filter(|_| is_carried)
                        .map(|(path, _)| path.as_str()),
                    state: *disposition,
                    task: is_carried.then_some(&converted.name),
                    template: is_carried.then_some(&converted.output),
                }
            });
    let parts = report
        .batch
        .parts
        .iter()
        .map(|(path, whole)| IncludedFile { path, whole });
    let unreadable = report
        .found
        .unreadable
        .iter()
        .map(|(path, reason)| UnreadablePrompt { path, reason });
    ImportDocument {
        parts: parts.collect(),
        plain: &report.found.plain,
        prompts: prompts.collect(),
        samples: report.verdict.map(|(_, verdict)| sample_totals(verdict)),
        schema: IMPORT,
        suggestion: suggest_config(&report.batch.converted),
        unreadable: unreadable.collect(),
    }
}

fn sample_totals(verdict: &SampleVerdict) -> SampleTotals<'_> {
    let differences = verdict.differences.iter().map(|difference| {
        let words: Vec<String> = std::iter::once(difference_title(difference))
            .chain(difference_lines(difference))
            .collect();
        SampleDifference {
            line: difference.line,
            message: words.join("\n"),
            template: &difference.template,
        }
    });
    SampleTotals {
        differences: differences.collect(),
        compared: &verdict.compared,
        equal: verdict.samples - verdict.differences.len(),
        not_compared: &verdict.others,
        total: verdict.samples,
    }
}

fn note_row(note: &ImportNote) -> NoteRow<'_> {
    NoteRow {
        line: note.line,
        message: note.kind.to_string(),
        path: &note.path,
        severity: note.kind.weight(),
    }
}
