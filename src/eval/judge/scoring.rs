//! Scores of the judge for the answers of one case: from its recording, from the script of the
//! case, or from a model.

use super::agent::{JudgeAgent, JudgedMaterial};
use super::criteria::{JudgedCriterion, JudgedScale};
use super::judged_answer::JudgedAnswer;
use super::response::{CriterionScore, RawScore, read_scores};
use super::trust::{CriterionTrust, JudgeTrust};
use crate::base::hash::Hash;
use crate::eval::answer::describe_changes;
use crate::eval::answer_source::{AnswersFrom, CallPurpose, ModelCall};
use crate::eval::case_result::NoAnswerReason;
use crate::eval::role_agent::{RoleRequest, RoleSettings};
use crate::eval::run_context::{CaseInput, RunContext};
use crate::eval::scripted::{is_script_for, reply_text};
use crate::record::comparison::{ComparisonScope, RequestComparison};
use crate::record::recorded_calls::RecordedCalls;
use crate::record::recording::{Recording, TrialNumber, TrialStage};
use crate::run::answers::recorded_response;
use crate::scenario::expect::judge::JUDGE_ROLE;
use crate::scenario::model::ScriptedAnswer;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::sync::PoisonError;

/// The number of times that a judge is asked for one judgement, until its answer is valid.
pub const MAX_ATTEMPTS: usize = 3;

/// The judge of one case.
#[derive(Debug)]
pub(in crate::eval) struct CaseJudge<'a> {
    pub(super) run: &'a RunContext<'a>,
    pub(super) input: &'a CaseInput<'a>,
    /// The request that was answered.
    request: RefCell<String>,
    trial: Cell<TrialNumber>,
    /// The judgements so far, by the key of their request.
    judgements: RefCell<BTreeMap<String, Vec<RawScore>>>,
    /// True if a judgement is missing that a model would have to give.
    is_incomplete: Cell<bool>,
    /// The scores since they were last taken.
    scores: RefCell<Vec<CriterionScore>>,
}

/// The reason why there is no judgement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NoJudgement {
    /// None is recorded or scripted, or there is no judge.
    Missing(String),
    /// As for an answer.
    Failed(NoAnswerReason),
}

impl<'a> CaseJudge<'a> {
    /// The judge of a case.
    pub(in crate::eval) fn new(run: &'a RunContext<'a>, input: &'a CaseInput<'a>) -> Self {
        Self {
            run,
            input,
            request: RefCell::default(),
            trial: Cell::new(TrialNumber {
                stage: TrialStage::First,
                number: 1,
                of: 1,
            }),
            judgements: RefCell::default(),
            is_incomplete: Cell::new(false),
            scores: RefCell::default(),
        }
    }

    /// Sets the request that the answers respond to.
    pub(in crate::eval) fn set_request<'t>(&self, texts: impl Iterator<Item = &'t str>) {
        *self.request.borrow_mut() = texts.collect::<Vec<_>>().join("\n\n");
    }

    /// The trust in the judge on a criterion.
    pub(super) fn trust(&self, criterion: &str, min: u64) -> CriterionTrust {
        let judge = self.run.answers.judge;
        judge
            .map_or_else(JudgeTrust::default, |judge| judge.trust.clone())
            .find(criterion, min)
    }

    /// Sets the trial whose answer is judged next.
    pub(in crate::eval) fn begin_trial(&self, trial: TrialNumber) {
        self.trial.set(trial);
    }

    /// Takes the scores of the trial.
    pub(in crate::eval) fn take_scores(&self) -> Vec<CriterionScore> {
        self.scores.take()
    }

    /// True if a judgement is missing that a model would have to give.
    pub(in crate::eval) const fn is_incomplete(&self) -> bool {
        self.is_incomplete.get()
    }

    /// Passes an answer to the observer of the judge, if there is one.
    pub(super) fn observe(
        &self,
        answer: &str,
        criteria: &[JudgedCriterion],
        min: u64,
        scores: Option<&[RawScore]>,
    ) {
        let observer = self
            .run
            .answers
            .judge
            .and_then(|judge| judge.observer.as_ref());
        let Some(observer) = observer else {
            return;
        };
        let scale = |criterion: &JudgedCriterion| JudgedScale {
            criterion: criterion.clone(),
            min,
        };
        let judged = JudgedAnswer {
            path: self.input.path.to_owned(),
            case: self.input.case.name.value.clone(),
            request: self.request.borrow().clone(),
            answer: answer.to_owned(),
            criteria: criteria.iter().map(scale).collect(),
            scores: scores.map(|scores| scores.iter().map(|one| one.score).collect()),
        };
        let mut judgements = observer.lock().unwrap_or_else(PoisonError::into_inner);
        judgements.push(judged);
    }

    pub(super) fn add_scores(&self, scores: &[CriterionScore]) {
        self.scores.borrow_mut().extend_from_slice(scores);
    }

    pub(super) fn agent(&self) -> Result<&'a JudgeAgent<'a>, NoJudgement> {
        match self.run.answers.judge.map(|judge| &judge.agent) {
            Some(Ok(agent)) => Ok(agent),
            Some(Err(why)) => Err(NoJudgement::Missing(format!("no judge: {why}"))),
            None => Err(NoJudgement::Missing(
                "no judge: none is asked here".to_owned(),
            )),
        }
    }

    /// The scores of an answer by some criteria, in their order.
    pub(super) fn score_answer(
        &self,
        answer: &str,
        criteria: &[JudgedCriterion],
    ) -> Result<Vec<RawScore>, NoJudgement> {
        let agent = self.agent()?;
        let name = &self.input.case.name.value;
        let order = seeded_order(criteria, name);
        let asked = self.request.borrow();
        let material = JudgedMaterial {
            request: &asked,
            answer,
            guide: criteria.first().and_then(|one| one.guide.as_deref()),
            criteria: &order,
        };
        let request = agent
            .build_request(judge_settings(self.run), &material)
            .map_err(|why| trouble(format!("the judge cannot be asked: {why}")))?;
        if let Some(known) = self.judgements.borrow().get(&request.sent.key) {
            return Ok(known.clone());
        }
        let mut refusals: Vec<String> = Vec::new();
        while refusals.len() < MAX_ATTEMPTS {
            let text = self.answer_text(&request, refusals.len())?;
            match read_scores(&text, criteria) {
                Ok(scores) => {
                    self.judgements
                        .borrow_mut()
                        .insert(request.sent.key, scores.clone());
                    return Ok(scores);
                }
                Err(why) => refusals.push(why),
            }
        }
        refusals.dedup();
        Err(trouble(format!(
            "the judge gave no valid scores in {MAX_ATTEMPTS} attempts: {}",
            refusals.join("; ")
        )))
    }

    /// The text of the judge's answer: recorded, scripted, or just asked for.
    fn answer_text(
        &self,
        request: &RoleRequest<'_>,
        attempt: usize,
    ) -> Result<String, NoJudgement> {
        let from = self.run.answers.from;
        let none = RequestComparison::default();
        let comparison = self.run.answers.comparison.unwrap_or(&none);
        let live = request.sent.to_live();
        let recorded = self
            .input
            .answers
            .judged
            .map_err(|why| trouble(why.to_owned()))?;
        let mut same = recorded
            .iter()
            .filter(|call| call.is_answered() && comparison.is_same(call, &live));
        let call = same.clone().nth(attempt).or_else(|| same.next_back());
        let is_new = attempt >= recorded_count(recorded, |call| comparison.is_same(call, &live));
        if let Some(call) = call.filter(|_| !from.calls_models() || !is_new) {
            let response = recorded_response(call)
                .map_err(|why| NoJudgement::Failed(NoAnswerReason::from(why)))?;
            if from.calls_models() {
                self.keep_call(request, call)?;
            }
            return Ok(response.answer.content());
        }
        if let Some(ask) = self.run.answers.ask.filter(|_| from.calls_models()) {
            let model = request.model.ok_or_else(|| {
                trouble("no model is known for the judge: `model` of `[roles.judge]` names one of `[models]`".to_owned())
            })?;
            let asked = self.model_call(request, model);
            let response = ask.call_model(&asked).map_err(trouble)?;
            return Ok(response.answer.content());
        }
        let by_script = matches!(
            from,
            AnswersFrom::Known | AnswersFrom::Scripted | AnswersFrom::Kept
        );
        if by_script && let Some(script) = self.find_script(request)? {
            return Ok(reply_text(&script.reply));
        }
        self.is_incomplete.set(true);
        if recorded.is_empty() {
            return Err(NoJudgement::Missing(
                "no judgement: none is recorded, and `ctxc eval --record --stale` asks the judge"
                    .to_owned(),
            ));
        }
        let answered = recorded.iter().filter(|call| call.is_answered()).collect();
        let calls: RecordedCalls<&Recording> =
            RecordedCalls::new(answered, comparison.clone(), ComparisonScope::Whole);
        let changes = calls
            .most_similar(&live)
            .map_or_else(Vec::new, |call| describe_changes(comparison, call, &live));
        let changes = std::iter::once("the request of the judge".to_owned()).chain(changes);
        Err(NoJudgement::Failed(NoAnswerReason::Stale(
            changes.collect(),
        )))
    }

    /// The scripted answer of the judge: the first for the node `judge` whose patterns match.
    fn find_script(
        &self,
        request: &RoleRequest<'_>,
    ) -> Result<Option<&ScriptedAnswer>, NoJudgement> {
        for script in &self.input.case.answers {
            let script = &script.value;
            let is_of_judge = script
                .node
                .as_ref()
                .is_some_and(|node| node.value == JUDGE_ROLE);
            let texts = || request.messages.iter().map(|one| one.text.text());
            if is_of_judge && is_script_for(self.run.patterns, script, texts).map_err(trouble)? {
                return Ok(Some(script));
            }
        }
        Ok(None)
    }

    fn model_call<'c>(
        &'c self,
        request: &'c RoleRequest<'_>,
        model: &'c crate::project::models::ModelConfig,
    ) -> ModelCall<'c> {
        ModelCall {
            path: self.input.path,
            case: &self.input.case.name.value,
            purpose: CallPurpose::Judge,
            trial: self.trial.get(),
            model,
            sent: &request.sent,
            context: request.tokens,
        }
    }

    /// Copies a recorded judgement into the recording that is being written.
    fn keep_call(&self, request: &RoleRequest<'_>, call: &Recording) -> Result<(), NoJudgement> {
        match (self.run.answers.ask, request.model) {
            (Some(ask), Some(model)) => ask
                .copy_recorded_call(&self.model_call(request, model), call)
                .map_err(trouble),
            _ => Ok(()),
        }
    }

    /// Replaces the recording of the judgements once the case is done.
    ///
    /// # Errors
    /// It cannot be written; the reason is in the text.
    pub(in crate::eval) fn finish_recording(&self) -> Result<(), String> {
        if self.judgements.borrow().is_empty() {
            return Ok(());
        }
        self.run.answers.ask.map_or(Ok(()), |ask| {
            ask.finish_recording(self.input.path, &self.input.case.name.value)
        })
    }
}

/// The order in which criteria are asked, since a fixed one would favour those that come first.
pub(super) fn seeded_order<'c>(
    criteria: &'c [JudgedCriterion],
    case: &str,
) -> Vec<&'c JudgedCriterion> {
    let mut order: Vec<&JudgedCriterion> = criteria.iter().collect();
    order.sort_by_cached_key(|one| Hash::digest(format!("{case}\0{}", one.id).as_bytes()));
    order
}

/// The surroundings of the judge in a run.
pub(in crate::eval) fn judge_settings<'a>(run: &RunContext<'a>) -> RoleSettings<'a> {
    RoleSettings {
        files: run.live,
        options: run.assembly_options(),
        providers: run.answers.providers,
    }
}

fn recorded_count(calls: &[Recording], is_same: impl Fn(&Recording) -> bool) -> usize {
    calls
        .iter()
        .filter(|call| call.is_answered() && is_same(call))
        .count()
}

fn trouble(why: String) -> NoJudgement {
    NoJudgement::Failed(NoAnswerReason::Trouble(why))
}
