//! `ctxc compaction probe make`: the questions about what each compaction truncated.

use super::command_line::{CommonArgs, MakeArgs};
use super::read_probes::{read_probes, read_rubric};
use crate::cli::compaction::find_session::SESSION_TEXT_NOTE;
use crate::cli::prelude::*;
use crate::session::probe::document::{ProbeDocument, ProbePoint};

/// Runs the verb.
pub(super) fn make_probes(args: &MakeArgs, cx: &mut Cx) -> Result<Exit> {
    let rubric = read_rubric(&args.common.rubric)?;
    let document = read_probes(&args.sessions.sessions, &rubric, cx)?;
    emit_probes(&document, &args.common, cx)?;
    Ok(Exit::Success)
}

/// Writes the document.
pub(super) fn emit_probes(document: &ProbeDocument, args: &CommonArgs, cx: &mut Cx) -> Result<()> {
    cx.emit_result(&args.output, |format, cx| match format {
        DataFormat::Json => cx.print_json(document),
        DataFormat::Text => print_probes(document, cx),
    })?;
    if args.output.names_file() {
        cx.print_note(SESSION_TEXT_NOTE);
    }
    Ok(())
}

/// Prints the questions with their expected facts.
fn print_probes(document: &ProbeDocument, cx: &mut Cx) -> Result<()> {
    for point in &document.points {
        print_point(point, cx)?;
    }
    let probes: usize = document.points.iter().map(|point| point.probes.len()).sum();
    cx.print_line(&format!(
        "{} about {}",
        pluralize(probes, "probe"),
        pluralize(document.points.len(), "compaction")
    ))
}

fn print_point(point: &ProbePoint, cx: &mut Cx) -> Result<()> {
    let after = point
        .tokens_after
        .map_or_else(|| "opaque".to_owned(), format_thousands);
    cx.print_line(&format!(
        "{} #{}: {}, {} of {} truncated, {} tokens → {after}",
        escape_line(&point.session),
        point.number,
        point.task.word(),
        point.truncated,
        pluralize(point.messages, "message"),
        format_thousands(point.tokens_before),
    ))?;
    for probe in &point.probes {
        cx.print_hanging(&format!("  {}: {}", probe.id, probe.probe_question), 4)?;
        for fact in &probe.facts {
            cx.print_hanging(&format!("    {}", escape_line(&fact.describe())), 6)?;
        }
        if let Some(answer) = &probe.model_response {
            cx.print_hanging(&format!("    answer: {}", escape_line(answer.trim())), 6)?;
        }
    }
    Ok(())
}
