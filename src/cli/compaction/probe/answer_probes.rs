//! `ctxc compaction probe ask`: the answers of a role from the compacted context alone.

use super::command_line::AskArgs;
use super::comparison_report::UncomparedProbe;
use super::make_probes::print_probes;
use super::read_probes::{read_probes, read_rubric};
use super::role_questions::{ANSWER_PROBE, AskedRole, QuestionInputs, RoleQuestions};
use crate::cli::context::project::CompiledProject;
use crate::cli::prelude::*;
use crate::session::probe::document::{Probe, ProbePoint};

/// Runs the verb.
pub(super) fn ask_probes(args: &AskArgs, cx: &mut Cx) -> Result<Exit> {
    let rubric = read_rubric(&args.rubric)?;
    let mut document = read_probes(&args.what, &rubric, cx)?;
    let project = CompiledProject::load(cx)?;
    let questions = RoleQuestions::open(&project, &args.asking, cx)?;
    let Some(unanswered) = answer_points(&questions, &args.role, &mut document.points, cx)? else {
        return Ok(Exit::Success);
    };
    for one in &unanswered {
        cx.print_note(&one.describe("not answered"));
    }
    cx.emit_result(&args.output, |format, cx| match format {
        DataFormat::Json => cx.print_json(&document),
        DataFormat::Text => print_probes(&document, cx),
    })?;
    let has_answer = |probe: &Probe| probe.model_response.is_some();
    let is_answered = document
        .points
        .iter()
        .flat_map(|point| &point.probes)
        .any(has_answer);
    Ok(if is_answered {
        Exit::Success
    } else {
        Exit::Infrastructure
    })
}

/// Fills in the answers of a role. Returns the probes without an answer, or `None` if the calls were
/// only planned.
///
/// # Errors
/// The role cannot be asked.
pub(super) fn answer_points(
    questions: &RoleQuestions<'_>,
    role: &str,
    points: &mut [ProbePoint],
    cx: &mut Cx,
) -> Result<Option<Vec<UncomparedProbe>>> {
    let to = AskedRole {
        name: role,
        template: &ANSWER_PROBE,
    };
    let mut asked: Vec<QuestionInputs> = Vec::new();
    for point in points.iter() {
        let Some(context) = &point.compacted_context else {
            continue;
        };
        asked.extend(point.probes.iter().map(|probe| {
            let texts = [
                ("compacted_context", context),
                ("probe_question", &probe.probe_question),
            ];
            texts
                .map(|(name, text)| (name.to_owned(), text.as_str().into()))
                .into()
        }));
    }
    let read = |_: usize, text: &str| {
        let text = text.trim();
        let is_text = !text.is_empty();
        is_text
            .then(|| text.to_owned())
            .ok_or_else(|| "an empty answer".to_owned())
    };
    let Some(answers) = questions.ask(to, asked, read, cx)? else {
        return Ok(None);
    };
    let mut answers = answers.into_iter();
    let mut unanswered = Vec::new();
    for point in points {
        let is_opaque = point.compacted_context.is_none();
        for probe in &mut point.probes {
            let answer = if is_opaque {
                Err("its context is opaque".to_owned())
            } else {
                answers
                    .next()
                    .unwrap_or_else(|| Err("it was not asked".to_owned()))
            };
            match answer {
                Ok(answer) => probe.model_response = Some(answer),
                Err(reason) => unanswered.push(UncomparedProbe {
                    session: point.session.clone(),
                    number: point.number,
                    probe: Some(probe.id.clone()),
                    reason,
                }),
            }
        }
    }
    Ok(Some(unanswered))
}
