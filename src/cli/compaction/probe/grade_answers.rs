//! `ctxc compaction probe grade`: the grades of the answers in a document.

use super::command_line::GradeArgs;
use super::comparison_report::UncomparedProbe;
use super::grade_points::{RoleJudge, grade_points_by_facts, grade_points_by_role};
use super::grade_report::{GradeAgreement, GradeReport, GradeRow, print_grades};
use super::read_probes::{read_document, read_rubric};
use super::role_questions::RoleQuestions;
use crate::base::hash::Hasher;
use crate::cli::context::eval::read_labels;
use crate::cli::context::project::CompiledProject;
use crate::cli::prelude::*;
use crate::eval::agreement::ScorePair;
use crate::eval::judge::labels::LabelStore;
use crate::scenario::rubric::Rubric;
use crate::session::probe::deterministic_judge::GradedText;
use crate::session::probe::document::{Probe, ProbePoint};
use crate::session::probe::grade::{CriterionResult, ProbeGrade};
use std::collections::BTreeMap;

/// Runs the verb.
pub(super) fn grade_answers(args: &GradeArgs, cx: &mut Cx) -> Result<Exit> {
    let rubric = read_rubric(&args.rubric)?;
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
    let graded = match &args.judge {
        Some(role) => {
            let questions = RoleQuestions::open(&project, &args.asking, cx)?;
            let judge = RoleJudge {
                questions: &questions,
                role,
                seed: args.asking.seed,
            };
            let Some(graded) = grade_points_by_role(&points, judge, &rubric, cx)? else {
                return Ok(Exit::Success);
            };
            graded
        }
        None => by_facts.clone(),
    };
    let (mut rows, mut facts, mut ungraded) = (Vec::new(), Vec::new(), Vec::new());
    let places = points
        .iter()
        .flat_map(|point| point.probes.iter().map(move |probe| (point, probe)));
    for ((point, probe), (graded, by_facts)) in places.zip(graded.into_iter().zip(by_facts)) {
        match graded {
            Ok(results) => {
                rows.push(grade_row(point, probe, ProbeGrade::new(results, &rubric)));
                facts.push(by_facts.unwrap_or_default());
            }
            Err(reason) => ungraded.push(UncomparedProbe {
                session: point.session.clone(),
                number: point.number,
                probe: Some(probe.id.clone()),
                reason,
            }),
        }
    }
    let labels = read_labels(&project).map_err(|why| {
        let why = format!("the labels cannot be read: {why}");
        CliError::new(CliErrorKind::Infrastructure, why)
    })?;
    let mut agreement = label_agreement(&rows, &labels, &rubric);
    if args.judge.is_some() {
        let by_facts = |at: usize, criterion: &str| {
            let results: &Vec<CriterionResult> = facts.get(at)?;
            let own = results.iter().find(|one| one.criterion_id == criterion);
            own.map(|one| one.score)
        };
        agreement.extend(compare_scores(&rows, "facts", by_facts));
    }
    let report = GradeReport {
        ungraded,
        agreement,
        ..GradeReport::new(rows, args, &rubric)
    };
    cx.emit_result(&args.output, |format, cx| match format {
        DataFormat::Json => cx.print_json(&report),
        DataFormat::Text => print_grades(&report, cx),
    })?;
    let is_failed = report.grades.is_empty();
    Ok(if is_failed {
        Exit::Infrastructure
    } else {
        Exit::Success
    })
}

fn grade_row(point: &ProbePoint, probe: &Probe, output: ProbeGrade) -> GradeRow {
    let answer = probe.model_response.as_deref().unwrap_or_default();
    let mut hasher = Hasher::new();
    hasher.add_field(&probe.probe_question).add_field(answer);
    GradeRow {
        session: point.session.clone(),
        number: point.number,
        probe: probe.id.clone(),
        kind: probe.kind,
        opaque: point.compacted_context.is_none(),
        answer: hasher.finish().to_string(),
        output,
    }
}

/// The agreement with the labels of people on the same answers.
fn label_agreement(rows: &[GradeRow], labels: &LabelStore, rubric: &Rubric) -> Vec<GradeAgreement> {
    let mut known: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    for criterion in &rubric.criteria {
        let key = format!("compression#{}", criterion.id);
        for (answer, labels) in labels.labels_by_answer(&key, criterion.max_score) {
            let first = labels.first().map(|label| label.score);
            known.extend(first.map(|score| ((criterion.id.as_str(), answer), score)));
        }
    }
    compare_scores(rows, "labels", |at, criterion| {
        let row = rows.get(at)?;
        known.get(&(criterion, row.answer.as_str())).copied()
    })
}

/// The agreement with other scores, by the number of the answer and the criterion: for each
/// criterion and together; empty without such scores.
fn compare_scores(
    rows: &[GradeRow],
    with: &'static str,
    other: impl Fn(usize, &str) -> Option<u64>,
) -> Vec<GradeAgreement> {
    let mut pairs: BTreeMap<Option<String>, Vec<ScorePair>> = BTreeMap::new();
    for (at, row) in rows.iter().enumerate() {
        for result in &row.output.criterion_results {
            let Some(score) = other(at, &result.criterion_id) else {
                continue;
            };
            #[allow(clippy::cast_precision_loss, reason = "scores are small")]
            let pair = ScorePair {
                person: score as f64,
                judge: result.score as f64,
            };
            for criterion in [None, Some(result.criterion_id.clone())] {
                pairs.entry(criterion).or_default().push(pair);
            }
        }
    }
    let scores = pairs.into_iter();
    scores
        .map(|(criterion, pairs)| GradeAgreement::new(with, criterion, &pairs))
        .collect()
}
