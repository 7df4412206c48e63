//! Grades answers by the expected facts or by a role, which receives nothing that names a method, a
//! session or a file of answers.

use super::role_questions::{AskedRole, GRADE_PROBE, QuestionInputs, RoleQuestions};
use crate::base::hash::Hash;
use crate::cli::prelude::*;
use crate::eval::judge::{describe_criteria, read_scores};
use crate::scenario::rubric::{Criterion, Rubric};
use crate::session::probe::deterministic_judge::{GradedText, grade_by_facts};
use crate::session::probe::document::{Probe, ProbePoint};
use crate::session::probe::grade::CriterionResult;

/// The scores of an answer, or the reason why there are none.
pub(super) type GradedProbe = std::result::Result<Vec<CriterionResult>, String>;

/// A role that judges.
#[derive(Clone, Copy)]
pub(super) struct RoleJudge<'a> {
    pub(super) questions: &'a RoleQuestions<'a>,
    pub(super) role: &'a str,
    pub(super) seed: u64,
}

/// Grades the answers of some compactions by the expected facts.
pub(super) fn grade_points_by_facts(
    points: &[ProbePoint],
    form: GradedText,
    rubric: &Rubric,
) -> Vec<GradedProbe> {
    let probes = points.iter().flat_map(|point| &point.probes);
    probes
        .map(|probe| {
            let answer = probe.model_response.as_deref().ok_or("it has no answer")?;
            Ok(grade_by_facts(probe, answer, form, rubric))
        })
        .collect()
}

/// Grades the answers of some compactions by a role, in the order of the probes. Returns `None` if the
/// calls were only planned.
///
/// # Errors
/// The role cannot be asked.
pub(super) fn grade_points_by_role(
    points: &[ProbePoint],
    judge: RoleJudge<'_>,
    rubric: &Rubric,
    cx: &mut Cx,
) -> Result<Option<Vec<GradedProbe>>> {
    let mut asked: Vec<QuestionInputs> = Vec::new();
    let mut criteria: Vec<Vec<&Criterion>> = Vec::new();
    for point in points {
        for probe in &point.probes {
            if let Some(answer) = &probe.model_response {
                let own = seeded_criteria(probe, answer, judge.seed, rubric);
                asked.push(judge_inputs(point, probe, answer, &own, rubric));
                criteria.push(own);
            }
        }
    }
    let read = |number: usize, text: &str| -> GradedProbe {
        let own = criteria.get(number).map(Vec::as_slice).unwrap_or_default();
        let scores = read_scores(text, own)?;
        let results = own
            .iter()
            .zip(scores)
            .map(|(criterion, score)| CriterionResult {
                criterion_id: criterion.id.clone(),
                score: score.score,
                reasoning: score.reason,
            });
        Ok(results.collect())
    };
    let to = AskedRole {
        name: judge.role,
        template: &GRADE_PROBE,
    };
    let Some(graded) = judge.questions.ask(to, asked, read, cx)? else {
        return Ok(None);
    };
    let mut graded = graded.into_iter();
    let probes = points.iter().flat_map(|point| &point.probes);
    let next = |probe: &Probe| {
        let missing = || Err("it has no answer".to_owned());
        if probe.model_response.is_none() {
            return missing();
        }
        graded.next().unwrap_or_else(missing)
    };
    Ok(Some(probes.map(next).collect()))
}

/// The criteria of a probe in the order in which they are asked: a fixed one would favour the first.
fn seeded_criteria<'r>(
    probe: &Probe,
    answer: &str,
    seed: u64,
    rubric: &'r Rubric,
) -> Vec<&'r Criterion> {
    let own = |one: &&Criterion| probe.criteria.contains(&one.id);
    let mut criteria: Vec<&Criterion> = rubric.criteria.iter().filter(own).collect();
    criteria.sort_by_cached_key(|one| {
        let place = format!("{seed}\0{}\0{answer}\0{}", probe.probe_question, one.id);
        Hash::digest(place.as_bytes())
    });
    criteria
}

/// All that a judge receives.
fn judge_inputs(
    point: &ProbePoint,
    probe: &Probe,
    answer: &str,
    criteria: &[&Criterion],
    rubric: &Rubric,
) -> QuestionInputs {
    let guide = rubric.guide.as_deref();
    let criteria = describe_criteria(guide, criteria.iter().copied());
    let truth = probe.ground_truth();
    let texts = [
        ("probe_question", Some(probe.probe_question.as_str())),
        ("model_response", Some(answer)),
        ("compacted_context", point.compacted_context.as_deref()),
        ("ground_truth", Some(truth.as_str())),
        ("rubric_criteria", Some(criteria.as_str())),
    ];
    let texts = texts.into_iter();
    texts
        .filter_map(|(name, text)| Some((name.to_owned(), text?.into())))
        .collect()
}
