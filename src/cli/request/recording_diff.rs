//! `ctxc diff @A @B`: the differences between the requests of two recordings, segment by segment.

use super::load::LoadedRequest;
use super::session_calls::{SubjectReader, add_missing, missing_parts_line};
use crate::base::lines::diff_lines;
use crate::cli::compaction::names_session;
use crate::cli::prelude::*;
use crate::cli::record::comparison::{known_secrets, project_comparison};
use crate::eval::request::examined_request::{RequestModelFacts, model_facts};
use crate::record::comparison::RequestComparison;
use crate::record::places::RecordingSelector;
use crate::request::difference::{SegmentDifference, differences, distance};
use crate::request::model::ModelRequest;
use crate::request::segments::{RequestSegment, build_segments};
use crate::schema::json::names;

/// The maximum number of calls up to which every pair is compared.
const MAX_COMPARED_CALLS: usize = 1_000;
/// The maximum number of lines shown of a change.
const MAX_SHOWN_LINES: usize = 6;
/// The maximum number of segments shown of a call.
const MAX_SHOWN_SEGMENTS: usize = 100;

/// The line below a comparison of sessions without a number.
const LAST_CALLS_NOTE: &str = "a session is compared by its last call, which has no messages from before its last compaction; `SESSION#2` is its second call";

/// The differences between the requests of two recordings: `ctxc diff @A @B --json`.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "Document")]
pub(crate) struct RecordingDiff {
    /// The version of the format.
    schema: &'static str,
    /// The calls that both have and that differ, in the order of the later recording.
    changed: Vec<ChangedCallRow>,
    /// The calls that are the same, by their names in the later recording.
    same: Vec<String>,
    /// Calls that only the later recording has.
    added: Vec<String>,
    /// Calls that only the earlier recording has.
    removed: Vec<String>,
    /// The parts of requests that sessions do not hold, so that they are not compared; empty for
    /// recordings.
    missing_parts: Vec<&'static str>,
}

/// A call that differs.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "CallRow")]
pub(crate) struct ChangedCallRow {
    /// Its name in the earlier recording.
    before: String,
    /// Its name in the later recording.
    after: String,
    /// The tokens before.
    tokens_before: usize,
    /// The tokens after.
    tokens_after: usize,
    /// The segments that differ, in order.
    segments: Vec<SegmentChangeRow>,
}

/// A segment that differs.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "SegmentRow")]
pub(crate) struct SegmentChangeRow {
    /// The id of the segment: in the later request, or in the earlier one if it was removed.
    id: String,
    /// The kind of the change.
    #[schemars(extend("enum" = ["added", "removed", "changed", "moved"]))]
    change: &'static str,
    /// The tokens before; null if the segment was added.
    tokens_before: Option<usize>,
    /// The tokens after; null if the segment was removed.
    tokens_after: Option<usize>,
    /// Removed lines of a changed segment.
    lines_before: Vec<String>,
    /// Added lines of a changed segment.
    lines_after: Vec<String>,
}

/// Compares the recordings and prints the result.
pub(crate) fn diff_recordings(
    old: &str,
    new: &str,
    output: &OutputArgs<DataFormat>,
    cx: &mut Cx,
) -> Result<Exit> {
    let project = Project::load(&cx.options)?;
    let reader = SubjectReader::new(&project, cx);
    let mut missing_parts = Vec::new();
    let mut read = |subject: &str| {
        let calls = reader.load_calls(&[subject.to_owned()], &mut |line| cx.print_note(line))?;
        for call in &calls {
            add_missing(&mut missing_parts, call.missing_parts.clone());
        }
        Ok::<_, CliError>(calls)
    };
    let comparison = project_comparison(
        known_secrets(&project.root, &project.config),
        &project.config,
    );
    let (before, after) = (
        to_comparable(read(old)?, &comparison),
        to_comparable(read(new)?, &comparison),
    );
    let (pairs, removed) = pair_calls(&before, &after);
    let mut document = RecordingDiff {
        schema: names::RECORDING_DIFF,
        changed: Vec::new(),
        same: Vec::new(),
        added: Vec::new(),
        removed,
        missing_parts,
    };
    for (now, was) in after.iter().zip(pairs) {
        let Some(was) = was.and_then(|at| before.get(at)) else {
            document.added.push(now.name.clone());
            continue;
        };
        let row = changed_call(was, now, &model_facts(&now.request, &project.config.models));
        if row.segments.is_empty() {
            document.same.push(now.name.clone());
        } else {
            document.changed.push(row);
        }
    }
    let is_last =
        |subject| names_session(subject) && RecordingSelector::parse(subject).number.is_none();
    let has_last = is_last(old) || is_last(new);
    cx.emit_result(output, |format, cx| match format {
        DataFormat::Json => cx.print_json(&document),
        DataFormat::Text => {
            print_diff(&document, cx)?;
            if has_last {
                cx.print_hanging(LAST_CALLS_NOTE, 2)?;
            }
            Ok(())
        }
    })?;
    Ok(Exit::Success)
}

/// Converts calls to a comparable form: independent of the secret of their placeholders, without
/// volatile parts.
fn to_comparable(calls: Vec<LoadedRequest>, comparison: &RequestComparison) -> Vec<LoadedRequest> {
    let form = |loaded: LoadedRequest| {
        let (body, path) = match &loaded.call {
            Some(call) => (
                comparison.comparable_body(call.request.get()),
                call.endpoint.as_str(),
            ),
            None => (
                comparison.comparable_body(&loaded.request.body.to_string()),
                loaded.request.dialect.path_suffix(),
            ),
        };
        match ModelRequest::parse(&body, Some(path)) {
            Ok(request) => LoadedRequest {
                segments: build_segments(&request),
                request,
                ..loaded
            },
            Err(_) => loaded,
        }
    };
    calls.into_iter().map(form).collect()
}

/// Pairs each later call with the most similar earlier one, each used once; also returns the names
/// of unpaired earlier calls. In very long recordings, calls are paired by position.
fn pair_calls(
    before: &[LoadedRequest],
    after: &[LoadedRequest],
) -> (Vec<Option<usize>>, Vec<String>) {
    let mut free: Vec<usize> = (0..before.len()).collect();
    let mut pairs = vec![None; after.len()];
    if before.len().max(after.len()) > MAX_COMPARED_CALLS {
        for (at, pair) in pairs.iter_mut().enumerate().take(before.len()) {
            *pair = Some(at);
        }
        free.retain(|at| *at >= after.len());
    } else {
        let mut all: Vec<(usize, usize, usize, usize)> = Vec::new();
        let is_session = |calls: &[LoadedRequest]| {
            let first = calls.first();
            first.is_some_and(|call| !call.missing_parts.is_empty())
        };
        if is_session(before) && is_session(after) {
            // The sessions themselves come first, then their sub-agents.
            all.push((0, 0, 0, 0));
        }
        for (at, now) in after.iter().enumerate() {
            for (other, was) in before.iter().enumerate() {
                let far = distance(&was.segments, &now.segments);
                if far < was.segments.len() + now.segments.len() {
                    all.push((far, at.abs_diff(other), at, other));
                }
            }
        }
        all.sort_unstable();
        for (_, _, at, other) in all {
            if let Some(pair) = pairs.get_mut(at).filter(|pair| pair.is_none())
                && let Some(found) = free.iter().position(|one| *one == other)
            {
                *pair = Some(free.swap_remove(found));
            }
        }
        free.sort_unstable();
    }
    (
        pairs,
        free.into_iter()
            .filter_map(|at| Some(before.get(at)?.name.clone()))
            .collect(),
    )
}

fn changed_call(
    before: &LoadedRequest,
    after: &LoadedRequest,
    facts: &RequestModelFacts,
) -> ChangedCallRow {
    let counter = &*facts.counter;
    let total =
        |segments: &[RequestSegment]| segments.iter().map(|segment| segment.tokens(counter)).sum();
    let row = |change: SegmentDifference| {
        let (id, word, old, new) = match change {
            SegmentDifference::Added(new) => (
                after.segments.get(new),
                "added",
                None,
                after.segments.get(new),
            ),
            SegmentDifference::Removed(old) => (
                before.segments.get(old),
                "removed",
                before.segments.get(old),
                None,
            ),
            SegmentDifference::Changed(old, new) => (
                after.segments.get(new),
                "changed",
                before.segments.get(old),
                after.segments.get(new),
            ),
            SegmentDifference::Moved(old, new) => (
                after.segments.get(new),
                "moved",
                before.segments.get(old),
                after.segments.get(new),
            ),
        };
        let (lines_before, lines_after) = match (old, new) {
            (Some(old), Some(new)) => changed_lines(&old.text, &new.text),
            _ => (Vec::new(), Vec::new()),
        };
        SegmentChangeRow {
            id: id.map(|segment| segment.id.clone()).unwrap_or_default(),
            change: word,
            tokens_before: old.map(|segment| segment.tokens(counter)),
            tokens_after: new.map(|segment| segment.tokens(counter)),
            lines_before,
            lines_after,
        }
    };
    ChangedCallRow {
        before: before.name.clone(),
        after: after.name.clone(),
        tokens_before: total(&before.segments),
        tokens_after: total(&after.segments),
        segments: differences(&before.segments, &after.segments)
            .into_iter()
            .map(row)
            .collect(),
    }
}

/// Returns the removed lines and the added lines.
fn changed_lines(old: &str, new: &str) -> (Vec<String>, Vec<String>) {
    let (before, after): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let changes = diff_lines(&before, &after);
    let of = |lines: &[&str], ranges: Vec<std::ops::Range<usize>>| {
        ranges
            .into_iter()
            .flat_map(|range| {
                lines
                    .get(range)
                    .unwrap_or_default()
                    .iter()
                    .map(|line| (*line).to_owned())
            })
            .collect()
    };
    let removed = changes.iter().map(|(removed, _)| removed.clone()).collect();
    let came = changes.into_iter().map(|(_, came)| came).collect();
    (of(&before, removed), of(&after, came))
}

fn print_diff(document: &RecordingDiff, cx: &mut Cx) -> Result<()> {
    for call in &document.changed {
        let head = format!(
            "{} → {}: {} → {} tokens",
            escape_line(&call.before),
            escape_line(&call.after),
            format_thousands(call.tokens_before),
            format_thousands(call.tokens_after)
        );
        let head = cx.options.screen.paint(Paint::Strong, &head);
        cx.print_line(&head)?;
        for segment in call.segments.iter().take(MAX_SHOWN_SEGMENTS) {
            let tokens = match (segment.tokens_before, segment.tokens_after) {
                (Some(before), Some(after)) if before != after => {
                    format!(
                        ", {} → {} tokens",
                        format_thousands(before),
                        format_thousands(after)
                    )
                }
                (Some(tokens), None) | (None, Some(tokens)) => {
                    format!(", {} tokens", format_thousands(tokens))
                }
                _ => String::new(),
            };
            cx.print_line(&format!(
                "  {} {}{tokens}",
                escape_line(&segment.id),
                segment.change
            ))?;
            for (sign, lines, paint) in [
                ('-', &segment.lines_before, Paint::Error),
                ('+', &segment.lines_after, Paint::Good),
            ] {
                for line in lines.iter().take(MAX_SHOWN_LINES) {
                    let line = cx
                        .options
                        .screen
                        .paint(paint, &format!("    {sign} {}", escape_line(line)));
                    cx.print_line(&line)?;
                }
                if lines.len() > MAX_SHOWN_LINES {
                    cx.print_line(&format!(
                        "    {sign} … {} more",
                        pluralize(lines.len() - MAX_SHOWN_LINES, "line")
                    ))?;
                }
            }
        }
        if let Some(more) = call.segments.len().checked_sub(MAX_SHOWN_SEGMENTS + 1) {
            cx.print_line(&format!("  … {} more", pluralize(more + 1, "segment")))?;
        }
    }
    for (what, names) in [
        ("only in the later recording", &document.added),
        ("only in the earlier recording", &document.removed),
    ] {
        for name in names {
            cx.print_line(&format!("{}: {what}", escape_line(name)))?;
        }
    }
    let changed = document.changed.len();
    cx.print_line(&format!(
        "{} the same, {changed} changed, {} added, {} removed",
        document.same.len(),
        document.added.len(),
        document.removed.len()
    ))?;
    missing_parts_line(&document.missing_parts).map_or(Ok(()), |line| cx.print_hanging(&line, 2))
}
