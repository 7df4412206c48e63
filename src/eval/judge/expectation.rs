//! The verdict of `judge` and `rubric` on one answer.

use super::criteria::{JudgedCriterion, lowest_score, rubric_criteria, words_criterion};
use super::response::{CriterionScore, RawScore, is_quoted};
use super::scoring::NoJudgement;
use crate::base::hash::Hash;
use crate::eval::case_result::NoAnswerReason;
use crate::eval::prepared_case::AnswerJudging;
use crate::eval::verdict::{JudgedOutcome, fail, pass, skip_informing, skip_undecided};
use crate::scenario::expect::answer::one_line_excerpt;
use crate::scenario::expect::judge::JudgeTest;
use std::fmt::Write as _;

/// Judges an answer by the criteria of an expectation.
///
/// # Errors
/// The judge gave no valid scores, or its answer was recorded for another request.
pub(in crate::eval) fn judge_rubric(
    case: &AnswerJudging<'_>,
    answer: &str,
    test: &JudgeTest,
) -> Result<JudgedOutcome, NoAnswerReason> {
    let criteria = rubric_criteria(test, case.input.path, case.input.beside)?;
    judge_scores(case, answer, &criteria, test.min_score)
}

/// Judges an answer by a criterion in words.
///
/// # Errors
/// As for a rubric.
pub(in crate::eval) fn judge_words(
    case: &AnswerJudging<'_>,
    answer: &str,
    words: &str,
) -> Result<JudgedOutcome, NoAnswerReason> {
    judge_scores(case, answer, &[words_criterion(words)], 1.0)
}

fn judge_scores(
    case: &AnswerJudging<'_>,
    answer: &str,
    criteria: &[JudgedCriterion],
    min_score: f64,
) -> Result<JudgedOutcome, NoAnswerReason> {
    let min = lowest_score(min_score);
    let expected = describe_expected(criteria, min);
    let raw = case.judge.score_answer(answer, criteria);
    case.judge
        .observe(answer, criteria, min, raw.as_deref().ok());
    let raw = match raw {
        Ok(raw) => raw,
        Err(NoJudgement::Missing(why)) => return Ok(skip_undecided(expected, &why)),
        Err(NoJudgement::Failed(reason)) => return Err(reason),
    };
    let scores: Vec<CriterionScore> = criteria
        .iter()
        .zip(raw)
        .map(|(criterion, raw)| to_score(case, answer, CriterionScale { criterion, min }, raw))
        .collect();
    case.judge.add_scores(&scores);
    let found = describe_found(criteria, &scores);
    if let Some(untrusted) = scores.iter().find(|one| !one.counts) {
        let trust = case.judge.trust(&untrusted.criterion, untrusted.min);
        let found = format!("{found}, which only informs: {}", trust.reason);
        return Ok(skip_informing(expected, &found));
    }
    let (outcome, reason) = if scores.iter().all(CriterionScore::is_met) {
        pass(expected, found)
    } else {
        fail(expected, found)
    };
    Ok((
        outcome,
        reason.with_score(Some(mean_score(criteria, &scores))),
    ))
}

/// The mean of the shares of the highest scores, by the weights of the criteria.
#[allow(
    clippy::cast_precision_loss,
    reason = "the key table bounds scores by 100"
)]
fn mean_score(criteria: &[JudgedCriterion], scores: &[CriterionScore]) -> f64 {
    let weights: f64 = criteria.iter().map(|one| one.weight).sum();
    let share = |(criterion, one): (&JudgedCriterion, &CriterionScore)| {
        criterion.weight * one.score as f64 / one.max as f64
    };
    criteria.iter().zip(scores).map(share).sum::<f64>() / weights
}

/// The score of a criterion, with its evidence checked and the trust in the judge applied.
fn to_score(
    case: &AnswerJudging<'_>,
    answer: &str,
    scale: CriterionScale<'_>,
    raw: RawScore,
) -> CriterionScore {
    let CriterionScale { criterion, min } = scale;
    CriterionScore {
        criterion: criterion.key.clone(),
        score: raw.score,
        max: criterion.max_score,
        min,
        quoted: is_quoted(&raw.quote, answer),
        quote: raw.quote,
        reason: raw.reason,
        counts: case.judge.trust(&criterion.key, min).is_trusted,
        answer: Hash::digest(answer.as_bytes()).to_string(),
    }
}

/// A criterion with the lowest score that meets it.
#[derive(Clone, Copy)]
struct CriterionScale<'a> {
    criterion: &'a JudgedCriterion,
    min: u64,
}

fn describe_expected(criteria: &[JudgedCriterion], min: u64) -> String {
    match criteria {
        [only] if only.max_score == 1 => {
            format!("a judge to find “{}”", one_line_excerpt(&only.question))
        }
        _ => {
            let names: Vec<String> = criteria.iter().map(|one| format!("`{}`", one.id)).collect();
            format!("a score of {min} or more for {}", names.join(", "))
        }
    }
}

/// Describes the scores that are too low, or all if none is.
fn describe_found(criteria: &[JudgedCriterion], scores: &[CriterionScore]) -> String {
    let all_met = scores.iter().all(CriterionScore::is_met);
    let shown = criteria
        .iter()
        .zip(scores)
        .filter(|(_, score)| all_met || !score.is_met());
    let describe = |(criterion, score): (&JudgedCriterion, &CriterionScore)| {
        let value = match (criterion.max_score, score.score) {
            (1, 0) => "it does not hold".to_owned(),
            (1, _) => "it holds".to_owned(),
            (max, score) => format!("{score} of {max} for `{}`", criterion.id),
        };
        // Writing to a string cannot fail.
        let mut text = value;
        if !score.reason.is_empty() {
            let _ = write!(text, ": {}", one_line_excerpt(&score.reason));
        }
        if !score.quote.is_empty() {
            let note = if score.quoted {
                ""
            } else {
                ", which is not in the answer"
            };
            let _ = write!(text, " (“{}”{note})", one_line_excerpt(&score.quote));
        }
        text
    };
    shown.map(describe).collect::<Vec<_>>().join("; ")
}
