//! `ctxc compaction probe ask`: the answers of a role from the compacted context alone.

use super::command_line::AskArgs;
use super::comparison_report::UncomparedProbe;
use super::make_probes::emit_probes;
use super::read_probes::{read_probes, read_rubric};
use super::role_questions::{ANSWER_PROBE, AskedRole, RoleQuestions, question_inputs};
use crate::cli::context::project::CompiledProject;
use crate::cli::prelude::*;
use crate::session::probe::document::ProbePoint;

/// Runs the verb.
pub(super) fn ask_probes(args: &AskArgs, cx: &mut Cx) -> Result<Exit> {
    let rubric = read_rubric(&args.common.rubric)?;
    let mut document = read_probes(&args.what, &rubric, cx)?;
    let project = CompiledProject::load(cx)?;
    let questions = RoleQuestions::open(&project, &args.asking, cx)?;
    let unanswered = answer_points(&questions, &args.role, &mut document.points, cx)?;
    if args.asking.plan {
        return Ok(Exit::Success);
    }
    for one in &unanswered {
        cx.print_note(&one.describe("not answered"));
    }
    emit_probes(&document, &args.common, cx)?;
    let mut probes = document.points.iter().flat_map(|point| &point.probes);
    Ok(if probes.any(|probe| probe.model_response.is_some()) {
        Exit::Success
    } else {
        Exit::Infrastructure
    })
}

/// Fills in the answers of a role. Returns the probes without an answer.
///
/// # Errors
/// The role cannot be asked.
pub(super) fn answer_points(
    questions: &RoleQuestions<'_>,
    role: &str,
    points: &mut [ProbePoint],
    cx: &mut Cx,
) -> Result<Vec<UncomparedProbe>> {
    let to = AskedRole {
        name: role,
        template: &ANSWER_PROBE,
        votes: 1,
    };
    let (mut asked, mut open, mut unanswered) = (Vec::new(), Vec::new(), Vec::new());
    for point in points {
        let context = point.compacted_context.as_deref();
        for probe in &mut point.probes {
            asked.extend(context.map(|context| {
                question_inputs([
                    ("compacted_context", Some(context)),
                    ("probe_question", Some(&probe.probe_question)),
                ])
            }));
            let no_answer = UncomparedProbe {
                session: point.session.clone(),
                number: point.number,
                probe: Some(probe.id.clone()),
                reason: "its context is opaque".to_owned(),
            };
            if context.is_some() {
                open.push((probe, no_answer));
            } else {
                unanswered.push(no_answer);
            }
        }
    }
    let answers = questions.ask_texts(to, asked, cx)?;
    for ((probe, no_answer), answer) in open.into_iter().zip(answers) {
        match answer {
            Ok(mut texts) => probe.model_response = texts.pop(),
            Err(reason) => unanswered.push(UncomparedProbe {
                reason,
                ..no_answer
            }),
        }
    }
    Ok(unanswered)
}
