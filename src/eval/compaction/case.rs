//! Runs a case about a compaction by a method without a model: the recorded summary, a truncation,
//! or a program of the project.

use super::session_point::SessionPoint;
use crate::base::hash::Hash;
use crate::eval::answer::{
    AnswerJudging, NoAnswerReason, ObtainedAnswer, TrialAnswer, run_single_answer,
};
use crate::eval::case::decide_verdict;
use crate::eval::case_result::{AnswerOrigin, CaseResult, CaseVerdict, ResultKeys};
use crate::eval::judge::CaseJudge;
use crate::eval::prepared_case::{CaseInput, RunContext};
use crate::eval::result_keys::{hash_case, hash_with_checks};
use crate::eval::trials::TrialDecision;
use crate::scenario::expect::own_check::{CheckProgram, OwnCheck};
use crate::scenario::model::CompactionMethod;

/// Runs a case.
pub(in crate::eval) fn run_compaction_case(
    run: &RunContext<'_>,
    input: &CaseInput<'_>,
) -> CaseResult {
    if let Some(why) = input.rejection {
        return CaseResult::rejected_case(why);
    }
    let point = match SessionPoint::read_case(run, input) {
        Ok(Some(point)) => point,
        Ok(None) => return CaseResult::failed_case("/", "it is about no compaction"),
        Err(done) => return *done,
    };
    let mut done = CaseResult {
        keys: Some(compaction_keys(run, input)),
        trouble: None,
        ..CaseResult::failed_case("/", "")
    };
    match compact(run, input, &point) {
        // A plan runs nothing.
        None if run.answers.estimates_only => done.verdict = CaseVerdict::Inconclusive,
        None => {
            let method = input.case.subject.value.compaction_program();
            let what = method.map(OwnCheck::describe).unwrap_or_default();
            done.trouble = Some(format!(
                "undecided: {what} is not run here: `ctxc trust` permits it"
            ));
            done.verdict = CaseVerdict::Inconclusive;
        }
        Some(summary) => {
            let judge = CaseJudge::new(run, input);
            let request = point.conversation_at.prompt_text();
            judge.set_request(std::iter::once(request.as_str()));
            let case = AnswerJudging {
                run,
                input,
                model: None,
                prepared: None,
                judge: &judge,
                session: Some(&point),
            };
            let answered = summary
                .map_err(NoAnswerReason::Trouble)
                .and_then(|summary| judge_summary(&case, summary, &mut done));
            decide_verdict(answered, run, input.case, &mut done);
        }
    }
    done
}

/// Returns the keys that the result of a case belongs to.
pub(in crate::eval) fn compaction_keys(run: &RunContext<'_>, input: &CaseInput<'_>) -> ResultKeys {
    let case = hash_case(input.case, input.beside, None, run.plan);
    let subject = input.case.subject.value.compaction();
    let session = subject.map_or("", |subject| &subject.session.value);
    ResultKeys {
        context: hash_with_checks(Hash::digest(session.as_bytes()), input.case, run.live),
        case: hash_with_checks(case, input.case, run.live),
    }
}

/// The summary of a method without a model; `None` if the user did not permit its program.
fn compact(
    run: &RunContext<'_>,
    input: &CaseInput<'_>,
    point: &SessionPoint,
) -> Option<Result<String, String>> {
    let program = match &input.case.subject.value.compaction()?.method {
        CompactionMethod::Recorded => {
            return Some(Ok(point.conversation_at.point.summary.clone()));
        }
        CompactionMethod::Truncate { .. } | CompactionMethod::Role(_) => {
            return Some(Ok(String::new()));
        }
        CompactionMethod::Program(program) => program,
    };
    // Serialising texts cannot fail.
    let given = serde_json::to_string(&point.conversation_at.method_input()).unwrap_or_default();
    let written = run.answers.check_runner?.run_method(program, &given)?;
    let failed = |why| format!("{}: {why}", program.describe());
    Some(
        written
            .map_err(failed)
            .and_then(|written| match program.what {
                CheckProgram::Command(_) => Ok(written),
                CheckProgram::Python(_) => serde_json::from_str(&written).map_err(|_| {
                    failed("expected a text as the summary, found another value".to_owned())
                }),
            }),
    )
}

fn judge_summary(
    case: &AnswerJudging<'_>,
    summary: String,
    done: &mut CaseResult,
) -> Result<TrialDecision, NoAnswerReason> {
    let tokens = (0, case.run.counter.count(&summary) as u64);
    let answer = TrialAnswer {
        tokens,
        ..TrialAnswer::without_tokens(summary)
    };
    let answer = ObtainedAnswer {
        answer,
        origin: AnswerOrigin::Computed,
        by: "method",
    };
    let decision = run_single_answer(case, &answer, done)?;
    // A method without a model has one answer, however many trials there are.
    done.recorded = None;
    case.judge.finish_recording()?;
    Ok(decision)
}
