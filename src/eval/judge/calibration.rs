//! The calibration of the judge: its identity for a criterion, its trust by labels, and questions in
//! other forms, which show how stable its verdicts are.

use super::agent::{JudgedMaterial, ProjectJudge};
use super::criteria::{
    JudgedCriterion, JudgedScale, lowest_score, rubric_criteria, words_criterion,
};
use super::judged_answer::{JudgedAnswer, stability_forms};
use super::labels::{LabelStore, QuestionForm};
use super::response::read_scores;
use super::scoring::{MAX_ATTEMPTS, judge_settings, seeded_order};
use super::trust::{CriterionTrust, JudgeTrust};
use crate::eval::answer_source::{CallPurpose, ModelCall};
use crate::eval::role_agent::RoleRequest;
use crate::eval::run_context::{CaseInput, RunContext};
use crate::record::recording::{TrialNumber, TrialStage};
use crate::scenario::expect::answer::all_tests;
use crate::scenario::model::AnswerTest;

/// The criteria of each expectation of a case for the judge, as far as they can be read.
pub(super) fn case_criteria(input: &CaseInput<'_>) -> Vec<Vec<JudgedScale>> {
    let read = |test: &AnswerTest| {
        let (criteria, min_score) = match (test.judge_test(), test) {
            (Some(test), _) => (
                rubric_criteria(test, input.path, input.beside).ok()?,
                test.min_score,
            ),
            (None, AnswerTest::Rubric(words)) => (vec![words_criterion(&words.value)], 1.0),
            (None, _) => return None,
        };
        let min = lowest_score(min_score);
        let scale = |criterion| JudgedScale { criterion, min };
        Some(criteria.into_iter().map(scale).collect())
    };
    all_tests(&input.case.expectations)
        .filter_map(|(test, _)| read(test))
        .collect()
}

/// The hash of the judge's prompt, model and parameters, with a criterion.
///
/// # Errors
/// The project has no usable judge; the reason is in the text.
pub fn criterion_hash(
    judge: &ProjectJudge<'_>,
    run: &RunContext<'_>,
    criterion: &JudgedCriterion,
) -> Result<String, String> {
    let agent = judge.agent.as_ref().map_err(Clone::clone)?;
    agent.criterion_hash(judge_settings(run), criterion)
}

/// Decides by labels on which criteria of some cases the judge is trusted.
pub fn assess_trust(
    judge: &ProjectJudge<'_>,
    run: &RunContext<'_>,
    inputs: &[CaseInput<'_>],
    labels: Result<&LabelStore, &str>,
) -> JudgeTrust {
    let mut trust = JudgeTrust::default();
    let expectations: Vec<Vec<JudgedScale>> = inputs.iter().flat_map(case_criteria).collect();
    for scale in expectations.iter().flatten() {
        match labels {
            Ok(labels) => {
                let scales = expectations.iter().map(Vec::as_slice);
                let forms = stability_forms(&scale.criterion.key, scales);
                let hash = criterion_hash(judge, run, &scale.criterion).ok();
                if let Some(found) = hash.and_then(|hash| labels.assess(scale, hash, &forms)) {
                    trust.insert(scale, found.to_trust());
                }
            }
            Err(why) => trust.insert(scale, CriterionTrust::withheld(why)),
        }
    }
    trust
}

impl JudgedAnswer {
    /// Asks the judge about it in a form; the scores are in the order of the criteria.
    ///
    /// # Errors
    /// There is no judge or no valid answer of it; the reason is in the text.
    pub fn ask_in_form(
        &self,
        run: &RunContext<'_>,
        form: QuestionForm,
    ) -> Result<Vec<u64>, String> {
        let judge = run.answers.judge.ok_or("no case needs a judge")?;
        let agent = judge.agent.as_ref().map_err(Clone::clone)?;
        let criteria: Vec<JudgedCriterion> = self
            .criteria
            .iter()
            .map(|one| one.criterion.clone())
            .collect();
        let mut order = seeded_order(&criteria, &self.case);
        if form == QuestionForm::Order {
            order.reverse();
        }
        let answer = self.text_in_form(form);
        let material = JudgedMaterial {
            request: &self.request,
            answer: &answer,
            guide: criteria.first().and_then(|one| one.guide.as_deref()),
            criteria: &order,
        };
        let request = agent.build_request(judge_settings(run), &material)?;
        let mut refusal = String::new();
        for _ in 0..MAX_ATTEMPTS {
            match read_scores(&self.ask_once(run, &request)?, &criteria) {
                Ok(scores) => return Ok(scores.into_iter().map(|one| one.score).collect()),
                Err(why) => refusal = why,
            }
        }
        Err(format!(
            "the judge gave no valid scores in {MAX_ATTEMPTS} attempts: {refusal}"
        ))
    }

    fn ask_once(&self, run: &RunContext<'_>, request: &RoleRequest<'_>) -> Result<String, String> {
        let ask = run.answers.ask.ok_or("no model may be called here")?;
        let model = request.model.ok_or(
            "no model is known for the judge: `model` of `[roles.judge]` names one of `[models]`",
        )?;
        let call = ModelCall {
            path: &self.path,
            case: &self.case,
            purpose: CallPurpose::Judge,
            trial: TrialNumber {
                stage: TrialStage::First,
                number: 1,
                of: 1,
            },
            model,
            sent: &request.sent,
            context: request.tokens,
        };
        Ok(ask.call_model(&call)?.answer.content())
    }
}
