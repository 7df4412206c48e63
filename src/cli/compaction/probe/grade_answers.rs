//! `ctxc compaction probe grade`: the grades of the answers in a document.

use super::command_line::{GradeArgs, RubricArgs};
use super::comparison_report::UncomparedProbe;
use super::grade_agreement::GradeAgreement;
use super::grade_points::{EvidenceCounts, RoleJudge, grade_points_by_facts};
use super::grade_report::{GradeReport, GradeRow, print_grades};
use super::labelled_answers::judged_answers;
use super::read_probes::{read_document, read_rubric};
use super::role_questions::RoleQuestions;
use crate::cli::compaction::find_session::SESSION_TEXT_NOTE;
use crate::cli::context::eval::read_labels;
use crate::cli::context::project::CompiledProject;
use crate::cli::prelude::*;
use crate::eval::judge::labels::LabelStore;
use crate::scenario::rubric::Rubric;
use crate::schema::json::names;
use crate::session::probe::deterministic_judge::GradedText;
use crate::session::probe::grade::{MeanScores, ProbeGrade};
use std::collections::BTreeMap;

/// Runs the verb.
pub(super) fn grade_answers(args: &GradeArgs, cx: &mut Cx) -> Result<Exit> {
    let rubric = read_rubric(&args.common.rubric)?;
    let points = read_document(&args.answers)?.points;
    let probes = points.iter().flat_map(|point| &point.probes);
    if probes.clone().all(|probe| probe.model_response.is_none()) {
        return Err(CliError::usage(format!(
            "found no answer in {}, expected `model_response` of at least one probe",
            args.answers.display()
        ))
        .with_hint("`ctxc compaction probe ask` lets a role answer"));
    }
    let project = CompiledProject::load_or_empty(cx)?;
    let by_facts = grade_points_by_facts(&points, GradedText::Answer, &rubric);
    let by_role = match &args.judge {
        Some(role) => {
            let questions = RoleQuestions::open(&project, &args.asking, cx)?;
            let judge = RoleJudge {
                questions: &questions,
                role,
                votes: args.votes,
                seed: args.asking.seed,
                rubric: &rubric,
            };
            Some(judge.grade_points(&points, cx)?)
        }
        None => None,
    };
    if args.asking.plan {
        if by_role.is_none() {
            cx.print_line("no role is named, so no model is asked")?;
        }
        return Ok(Exit::Success);
    }
    let answers = judged_answers(&points, &args.common.rubric, &rubric);
    let labels = read_labels(&project).map_err(|why| {
        let why = format!("the labels cannot be read: {why}");
        CliError::new(CliErrorKind::Infrastructure, why)
    })?;
    let labels = label_scores(&labels, &args.common.rubric, &rubric);
    let by_people = |at: usize, criterion: &str| {
        let answer = answers.get(at)?.answer_hash();
        labels.get(&(criterion.to_owned(), answer)).copied()
    };
    let facts = |at: usize, criterion: &str| by_facts.get(at)?.as_ref().ok()?.score(criterion);
    let judge = args.judge.as_deref().unwrap_or("facts");
    let mut agreement = Vec::new();
    let graded = by_role.as_ref().unwrap_or(&by_facts);
    agreement.extend(GradeAgreement::compare(
        [judge, "labels"],
        graded,
        by_people,
    ));
    if by_role.is_some() {
        agreement.extend(GradeAgreement::compare(
            ["facts", "labels"],
            &by_facts,
            by_people,
        ));
        agreement.extend(GradeAgreement::compare([judge, "facts"], graded, facts));
    }
    let (mut rows, mut ungraded) = (Vec::new(), Vec::new());
    let places = points
        .iter()
        .flat_map(|point| point.probes.iter().map(move |probe| (point, probe)));
    for (((point, probe), graded), answer) in places.zip(graded.clone()).zip(&answers) {
        match graded {
            Ok(graded) => rows.push(GradeRow {
                session: point.session.clone(),
                number: point.number,
                probe: probe.id.clone(),
                kind: probe.kind,
                opaque: point.compacted_context.is_none(),
                answer: answer.answer_hash(),
                output: ProbeGrade::new(graded.results, &rubric),
                evidence: graded.evidence,
            }),
            Err(reason) => ungraded.push(UncomparedProbe {
                session: point.session.clone(),
                number: point.number,
                probe: Some(probe.id.clone()),
                reason,
            }),
        }
    }
    let means = |opaque: bool| {
        let own = rows.iter().filter(|row: &&GradeRow| row.opaque == opaque);
        MeanScores::new(own.map(|row| &*row.output.criterion_results), &rubric)
    };
    let report = GradeReport {
        schema: names::COMPACTION_GRADES,
        judge: judge.to_owned(),
        seed: args.asking.seed,
        votes: args.votes.votes,
        readable: means(false),
        opaque: Some(means(true)).filter(|means| means.overall.is_some()),
        evidence: EvidenceCounts::new(rows.iter().flat_map(|row| &row.evidence)),
        grades: rows,
        ungraded,
        agreement,
    };
    cx.emit_result(&args.common.output, |format, cx| match format {
        DataFormat::Json => cx.print_json(&report),
        DataFormat::Text => print_grades(&report, cx),
    })?;
    if args.common.output.names_file() {
        cx.print_note(SESSION_TEXT_NOTE);
    }
    Ok(if report.grades.is_empty() {
        Exit::Infrastructure
    } else {
        Exit::Success
    })
}

/// The scores of the first person who labelled each answer, by criterion and answer.
fn label_scores(
    labels: &LabelStore,
    args: &RubricArgs,
    rubric: &Rubric,
) -> BTreeMap<(String, String), u64> {
    let mut scores = BTreeMap::new();
    for criterion in &rubric.criteria {
        let known = labels.labels_by_answer(&args.label_key(criterion), criterion.max_score);
        for (answer, labels) in known {
            let key = (criterion.id.clone(), answer.to_owned());
            scores.extend(labels.first().map(|label| (key, label.score)));
        }
    }
    scores
}
