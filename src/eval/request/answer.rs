//! Judges the recorded answer to the request of another program, as long as the request is the one
//! that was answered.

use super::sent::ExaminedRequest;
use crate::eval::answer::{
    AnswerJudging, NoAnswerReason, SCRIPT, TrialAnswer, describe_changes, recorded_answer,
    rescore_trials, run_single_answer,
};
use crate::eval::asked::AnswersFrom;
use crate::eval::finished::{AnswerOrigin, CaseResult};
use crate::eval::prepared::{CaseInput, RunContext};
use crate::eval::trials::TrialDecision;
use crate::kernel::tokens::TokenCounter;
use crate::record::comparison::RequestComparison;
use crate::record::recording::{AnsweredBy, Recording};
use crate::request::segments::RequestSegment;

/// Judges the recorded answer; `Open` if the case has no expectation on it, or none was recorded.
///
/// # Errors
/// It was recorded for another request, or cannot be read.
pub(super) fn judge_answer(
    run: &RunContext<'_>,
    input: &CaseInput<'_>,
    sent: &ExaminedRequest,
    done: &mut CaseResult,
) -> Result<TrialDecision, NoAnswerReason> {
    let case = AnswerJudging {
        run,
        input,
        model: sent.request.model.as_deref(),
        prepared: None,
    };
    if input.case.expectations.is_empty() {
        return Ok(TrialDecision::Open);
    }
    let from = run.answers.from;
    if from == AnswersFrom::Kept {
        return rescore_trials(&case, done);
    }
    let Some(call) = sent.recorded.as_ref().filter(|call| call.is_answered()) else {
        return Ok(TrialDecision::Open);
    };
    let by = match call.answered_by {
        AnsweredBy::Script => (AnswerOrigin::Scripted, SCRIPT),
        // A model answered; it is not called again.
        AnsweredBy::Upstream | AnsweredBy::Replay if from != AnswersFrom::Scripted => {
            (AnswerOrigin::Replayed, "recording")
        }
        AnsweredBy::Upstream | AnsweredBy::Replay => return Ok(TrialDecision::Open),
    };
    if let Some(own) = &sent.call {
        let now = own.as_live_request();
        let none = RequestComparison::default();
        let comparison = run.answers.comparison.unwrap_or(&none);
        if !comparison.is_same(call, &now) {
            return Err(NoAnswerReason::Stale(describe_changes(
                comparison, call, &now,
            )));
        }
    }
    run_single_answer(
        &case,
        &read_answer(call, &sent.segments, &*sent.counter)?,
        by,
        done,
    )
}

/// The answer of a recorded call.
///
/// # Errors
/// It cannot be read; the reason is in the text.
pub(super) fn read_answer(
    call: &Recording,
    segments: &[RequestSegment],
    counter: &dyn TokenCounter,
) -> Result<TrialAnswer, String> {
    let given = recorded_answer(call).map_err(|why| match why {
        NoAnswerReason::Trouble(why) => why,
        NoAnswerReason::Stale(_) => String::new(),
    })?;
    let tokens: usize = segments.iter().map(|segment| segment.tokens(counter)).sum();
    let mut answer = TrialAnswer::from_model(&given, tokens as u64, counter, None);
    answer.took.latency_ms = call.latency_ms;
    Ok(answer)
}
