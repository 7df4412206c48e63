//! `ctxc diff @A @B`: the differences between the requests of two recordings, segment by segment.

use super::load::{self, Loaded};
use crate::base::lines::changes;
use crate::cli::prelude::*;
use crate::cli::record::comparison::comparison;
use crate::cli::record::known_secrets::known_secrets;
use crate::eval::request::facts::{Facts, facts};
use crate::record::comparison::Comparison;
use crate::request::difference::{Change, differences, distance};
use crate::request::model::Request;
use crate::request::segments::{Segment, segments};
use crate::schema::json::names;

/// The maximum number of calls up to which every pair is compared.
const MATCHED: usize = 1_000;
/// The maximum number of lines shown of a change.
const LINES: usize = 6;

/// What two recordings send differently: `ctxc diff @A @B --json`.
#[derive(JsonSchema, Serialize)]
pub(crate) struct Document {
    /// The format.
    schema: &'static str,
    /// The calls that both have and that differ, in the order of the later recording.
    changed: Vec<CallRow>,
    /// The calls that are the same, by their names in the later recording.
    same: Vec<String>,
    /// Calls that the later recording alone has.
    added: Vec<String>,
    /// Calls that the earlier recording alone has.
    removed: Vec<String>,
}

/// A call that differs.
#[derive(JsonSchema, Serialize)]
pub(crate) struct CallRow {
    /// Its name in the earlier recording.
    before: String,
    /// Its name in the later recording.
    after: String,
    /// Its tokens before.
    tokens_before: usize,
    /// Its tokens after.
    tokens_after: usize,
    /// What differs, in order.
    segments: Vec<SegmentRow>,
}

/// A segment that differs.
#[derive(JsonSchema, Serialize)]
pub(crate) struct SegmentRow {
    /// Names it: in the later request, or in the earlier one where it went.
    id: String,
    /// What became of it.
    #[schemars(extend("enum" = ["added", "removed", "changed", "moved"]))]
    change: &'static str,
    /// Its tokens before; null where it came.
    tokens_before: Option<usize>,
    /// Its tokens after; null where it went.
    tokens_after: Option<usize>,
    /// Lines that went, of one that changed.
    lines_before: Vec<String>,
    /// Lines that came, of one that changed.
    lines_after: Vec<String>,
}

/// Compares the recordings and prints the result.
pub(crate) fn run(
    old: &str,
    new: &str,
    output: &OutputArgs<DataFormat>,
    cx: &mut Cx,
) -> Result<Exit> {
    let project = Project::load(&cx.options)?;
    let mut read = |subject: &str| {
        load::load(
            std::slice::from_ref(&subject.to_owned()),
            &project.root,
            &mut |line| cx.note(line),
        )
    };
    let comparison = comparison(
        known_secrets(&project.root, &project.config),
        &project.config,
    );
    let (before, after) = (
        comparable(read(old)?, &comparison),
        comparable(read(new)?, &comparison),
    );
    let (pairs, removed) = pairs(&before, &after);
    let mut document = Document {
        schema: names::RECORDING_DIFF,
        changed: Vec::new(),
        same: Vec::new(),
        added: Vec::new(),
        removed,
    };
    for (now, was) in after.iter().zip(pairs) {
        let Some(was) = was.and_then(|at| before.get(at)) else {
            document.added.push(now.name.clone());
            continue;
        };
        let row = call(was, now, &facts(&now.request, &project.config.models));
        if row.segments.is_empty() {
            document.same.push(now.name.clone());
        } else {
            document.changed.push(row);
        }
    }
    cx.emit(output, |format, cx| match format {
        DataFormat::Json => cx.json(&document),
        DataFormat::Text => text(&document, cx),
    })?;
    Ok(Exit::Success)
}

/// Converts calls to a comparable form: independent of the secret of their placeholders, without
/// volatile parts.
fn comparable(calls: Vec<Loaded>, comparison: &Comparison) -> Vec<Loaded> {
    let form = |loaded: Loaded| {
        let (body, path) = match &loaded.call {
            Some(call) => (comparison.body(call.request.get()), call.endpoint.as_str()),
            None => (
                comparison.body(&loaded.request.body.to_string()),
                loaded.request.dialect.path(),
            ),
        };
        match Request::read(&body, Some(path)) {
            Ok(request) => Loaded {
                segments: segments(&request),
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
fn pairs(before: &[Loaded], after: &[Loaded]) -> (Vec<Option<usize>>, Vec<String>) {
    let mut free: Vec<usize> = (0..before.len()).collect();
    let mut pairs = vec![None; after.len()];
    if before.len().max(after.len()) > MATCHED {
        for (at, pair) in pairs.iter_mut().enumerate().take(before.len()) {
            *pair = Some(at);
        }
        free.retain(|at| *at >= after.len());
    } else {
        let mut all: Vec<(usize, usize, usize, usize)> = Vec::new();
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

fn call(was: &Loaded, now: &Loaded, facts: &Facts) -> CallRow {
    let counter = &*facts.counter;
    let total = |segments: &[Segment]| segments.iter().map(|segment| segment.tokens(counter)).sum();
    let row = |change: Change| {
        let (id, word, old, new) = match change {
            Change::Added(new) => (now.segments.get(new), "added", None, now.segments.get(new)),
            Change::Removed(old) => (
                was.segments.get(old),
                "removed",
                was.segments.get(old),
                None,
            ),
            Change::Changed(old, new) => (
                now.segments.get(new),
                "changed",
                was.segments.get(old),
                now.segments.get(new),
            ),
            Change::Moved(old, new) => (
                now.segments.get(new),
                "moved",
                was.segments.get(old),
                now.segments.get(new),
            ),
        };
        let (lines_before, lines_after) = match (old, new) {
            (Some(old), Some(new)) => lines(&old.text, &new.text),
            _ => (Vec::new(), Vec::new()),
        };
        SegmentRow {
            id: id.map(|segment| segment.id.clone()).unwrap_or_default(),
            change: word,
            tokens_before: old.map(|segment| segment.tokens(counter)),
            tokens_after: new.map(|segment| segment.tokens(counter)),
            lines_before,
            lines_after,
        }
    };
    CallRow {
        before: was.name.clone(),
        after: now.name.clone(),
        tokens_before: total(&was.segments),
        tokens_after: total(&now.segments),
        segments: differences(&was.segments, &now.segments)
            .into_iter()
            .map(row)
            .collect(),
    }
}

/// Returns the removed lines and the added lines.
fn lines(old: &str, new: &str) -> (Vec<String>, Vec<String>) {
    let (before, after): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let changes = changes(&before, &after);
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
    let gone = changes.iter().map(|(gone, _)| gone.clone()).collect();
    let came = changes.into_iter().map(|(_, came)| came).collect();
    (of(&before, gone), of(&after, came))
}

fn text(document: &Document, cx: &mut Cx) -> Result<()> {
    for call in &document.changed {
        let head = format!(
            "{} → {}: {} → {} tokens",
            escape(&call.before),
            escape(&call.after),
            thousands(call.tokens_before),
            thousands(call.tokens_after)
        );
        let head = cx.options.screen.paint(Paint::Strong, &head);
        cx.line(&head)?;
        for segment in &call.segments {
            let tokens = match (segment.tokens_before, segment.tokens_after) {
                (Some(before), Some(after)) if before != after => {
                    format!(", {} → {} tokens", thousands(before), thousands(after))
                }
                (Some(tokens), None) | (None, Some(tokens)) => {
                    format!(", {} tokens", thousands(tokens))
                }
                _ => String::new(),
            };
            cx.line(&format!(
                "  {} {}{tokens}",
                escape(&segment.id),
                segment.change
            ))?;
            for (sign, lines, paint) in [
                ('-', &segment.lines_before, Paint::Error),
                ('+', &segment.lines_after, Paint::Good),
            ] {
                for line in lines.iter().take(LINES) {
                    let line = cx
                        .options
                        .screen
                        .paint(paint, &format!("    {sign} {}", escape(line)));
                    cx.line(&line)?;
                }
                if lines.len() > LINES {
                    cx.line(&format!(
                        "    {sign} … {} more",
                        plural(lines.len() - LINES, "line")
                    ))?;
                }
            }
        }
    }
    for (what, names) in [
        ("only in the later recording", &document.added),
        ("only in the earlier recording", &document.removed),
    ] {
        for name in names {
            cx.line(&format!("{}: {what}", escape(name)))?;
        }
    }
    let changed = document.changed.len();
    cx.line(&format!(
        "{} the same, {changed} changed, {} added, {} removed",
        document.same.len(),
        document.added.len(),
        document.removed.len()
    ))
}
