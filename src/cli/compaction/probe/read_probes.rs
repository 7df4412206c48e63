//! Reads the compactions of sessions, documents of probes, and rubrics.

use super::command_line::RubricArgs;
use crate::base::fs;
use crate::cli::compaction::find_session::{
    SelectedSessions, SessionFile, SessionPlace, unreadable,
};
use crate::cli::prelude::*;
use crate::context::tokens;
use crate::scenario::rubric::Rubric;
use crate::schema::json::names;
use crate::session::method::describe_message;
use crate::session::probe::document::{ProbeDocument, ProbePoint};
use crate::session::probe::grade::shipped_rubric;
use crate::session::probe::maker::{PointMaterial, ProbeMaker};
use crate::session::probe::questions;
use crate::session::read::session_reader::read_session;
use crate::session::session_event::SessionEvent;
use std::collections::BTreeMap;
use std::io;

/// The maximum size of a document or rubric in bytes.
const MAX_FILE_BYTES: u64 = 1 << 28;

/// A compaction with its place.
pub(super) struct LocatedPoint {
    /// The name of the session.
    pub(super) session: String,
    /// The number of the compaction in the session, from 1.
    pub(super) number: usize,
    /// The compaction.
    pub(super) material: PointMaterial,
}

/// The compactions of sessions, with the mask for their texts.
pub(super) struct LocatedPoints {
    pub(super) points: Vec<LocatedPoint>,
    pub(super) place: SessionPlace,
}

/// Reads the compactions of sessions, in order.
///
/// # Errors
/// A session cannot be read, or none of them was compacted.
pub(super) fn read_sessions(sessions: &[String], cx: &mut Cx) -> Result<LocatedPoints> {
    let place = SessionPlace::load(cx)?;
    let mut points = Vec::new();
    for subject in sessions {
        let SelectedSessions { files, number, .. } = place.find_compacted(subject, cx)?;
        for file in &files {
            let found = read_points(file, &place)?.into_iter();
            points.extend(found.filter(|point| number.is_none_or(|own| own == point.number)));
        }
    }
    if points.is_empty() {
        return Err(CliError::new(
            CliErrorKind::NothingSelected,
            "found no such compaction in these sessions, expected at least one",
        )
        .with_hint("`ctxc compaction SESSION` shows the compactions of a session"));
    }
    Ok(LocatedPoints { points, place })
}

/// Returns the path of a document of probes, if this is the only thing that is named.
pub(in crate::cli) fn document_path(what: &[String]) -> Option<&Path> {
    let [file] = what else {
        return None;
    };
    let ending = Path::new(file).extension()?;
    (ending == "json").then_some(Path::new(file))
}

/// Reads a document of probes, or makes the probes of sessions.
///
/// # Errors
/// They cannot be read.
pub(super) fn read_probes(what: &[String], rubric: &Rubric, cx: &mut Cx) -> Result<ProbeDocument> {
    if let Some(file) = document_path(what) {
        return read_document(file);
    }
    let LocatedPoints { points, place } = read_sessions(what, cx)?;
    let mask = |text: &str| place.mask(text);
    let build = |point: &LocatedPoint| {
        let material = &point.material;
        let context = material.context_after(&material.conversation.point, &mask);
        with_context(build_point(point, rubric), context)
    };
    Ok(ProbeDocument {
        schema: names::COMPACTION_PROBES.to_owned(),
        points: points.iter().map(build).collect(),
    })
}

/// Reads the compactions of a file.
fn read_points(file: &SessionFile, place: &SessionPlace) -> Result<Vec<LocatedPoint>> {
    let unreadable = |err: io::Error| unreadable(&file.name, &err);
    let mask = |text: &str| place.mask(text);
    let mut makers = BTreeMap::new();
    let mut conversation = String::new();
    let mut found = Vec::new();
    let lines = fs::open_lines(&file.path).map_err(unreadable)?;
    let rows = read_session(lines, file.format, |event| {
        if let SessionEvent::Conversation(own) = event {
            conversation = own;
            return;
        }
        let (maker, number) = makers
            .entry(conversation.clone())
            .or_insert_with(|| (ProbeMaker::new(&mask, file.format), 0));
        if let Some(material) = maker.add_event(event) {
            *number += 1;
            found.push(LocatedPoint {
                session: place.conversation_name(file, &conversation),
                number: *number,
                material,
            });
        }
    });
    rows.map_err(unreadable)?;
    Ok(found)
}

/// The number of tokens of a text, by the default tokenizer.
pub(super) fn token_count(text: &str) -> usize {
    tokens::counter(tokens::DEFAULT_COUNTER).map_or(0, |counter| counter.count(text))
}

/// Makes the probes of a compaction, without a context.
pub(super) fn build_point(point: &LocatedPoint, rubric: &Rubric) -> ProbePoint {
    let conversation = &point.material.conversation;
    let texts = conversation
        .messages
        .iter()
        .map(|one| token_count(&describe_message(&one.message)));
    ProbePoint {
        session: point.session.clone(),
        number: point.number,
        task: point.material.task,
        messages: conversation.messages.len(),
        truncated: conversation.dropped().count(),
        tokens_before: texts.sum::<usize>() + token_count(&conversation.summary),
        tokens_after: None,
        compacted_context: None,
        probes: questions::make_probes(&point.material.facts, rubric),
    }
}

/// Returns a compaction with the context that is left; `None` if it is opaque.
pub(super) fn with_context(point: ProbePoint, context: Option<String>) -> ProbePoint {
    ProbePoint {
        tokens_after: context.as_deref().map(token_count),
        compacted_context: context,
        ..point
    }
}

/// Reads a document of probes.
///
/// # Errors
/// It cannot be read, or is none.
pub(super) fn read_document(path: &Path) -> Result<ProbeDocument> {
    let text = read_text(path)?;
    let refuse = |why: String| {
        CliError::new(
            CliErrorKind::Findings,
            format!("{} is no document of probes: {why}", path.display()),
        )
        .with_hint("`ctxc compaction probe make SESSION --json` writes one")
    };
    let document: ProbeDocument =
        serde_json::from_str(&text).map_err(|why| refuse(why.to_string()))?;
    if document.schema != names::COMPACTION_PROBES {
        return Err(refuse(format!(
            "found `schema` {:?}, expected {:?}",
            document.schema,
            names::COMPACTION_PROBES
        )));
    }
    Ok(document)
}

/// Reads the rubric.
///
/// # Errors
/// It cannot be read, or has errors.
pub(super) fn read_rubric(args: &RubricArgs) -> Result<Rubric> {
    let Some(path) = &args.rubric else {
        return Ok(shipped_rubric());
    };
    let (rubric, faults) = Rubric::read(&read_text(path)?);
    if !faults.is_empty() {
        return Err(CliError::new(
            CliErrorKind::Findings,
            format!("the rubric {} has errors", path.display()),
        )
        .with_hint("`ctxc check FILE` shows them"));
    }
    Ok(rubric)
}

fn read_text(path: &Path) -> Result<String> {
    let mut bytes = Vec::new();
    fs::read_into(path, MAX_FILE_BYTES, &mut bytes)
        .map_err(|err| unreadable(path.display(), &err))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
