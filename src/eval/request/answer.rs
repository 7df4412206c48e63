//! Judges the recorded answer to the request of another program, as long as the request is the one
//! that was answered.

use super::sent::Sent;
use crate::eval::answer::{Answer, Judging, SCRIPT, Unanswered, answer_of, moved, one, rejudged};
use crate::eval::asked::AnswersFrom;
use crate::eval::finished::{Answered, Finished};
use crate::eval::prepared::{CaseInput, RunContext};
use crate::eval::trials::Decision;
use crate::kernel::tokens::TokenCounter;
use crate::record::comparison::Comparison;
use crate::record::recording::{AnsweredBy, Recording};
use crate::request::segments::Segment;

/// Judges the recorded answer; `Open` if the case has no expectation on it, or none was recorded.
///
/// # Errors
/// It was recorded for another request, or cannot be read.
pub(super) fn answered(
    run: &RunContext<'_>,
    input: &CaseInput<'_>,
    sent: &Sent,
    done: &mut Finished,
) -> Result<Decision, Unanswered> {
    let case = Judging {
        run,
        input,
        model: sent.request.model.as_deref(),
        prepared: None,
    };
    if input.case.expectations.is_empty() {
        return Ok(Decision::Open);
    }
    let from = run.answers.from;
    if from == AnswersFrom::Kept {
        return rejudged(&case, done);
    }
    let Some(call) = sent.recorded.as_ref().filter(|call| call.is_answered()) else {
        return Ok(Decision::Open);
    };
    let by = match call.answered_by {
        AnsweredBy::Script => (Answered::Scripted, SCRIPT),
        // A model answered; it is not called again.
        AnsweredBy::Upstream | AnsweredBy::Replay if from != AnswersFrom::Scripted => {
            (Answered::Replayed, "recording")
        }
        AnsweredBy::Upstream | AnsweredBy::Replay => return Ok(Decision::Open),
    };
    if let Some(own) = &sent.call {
        let now = own.live();
        let none = Comparison::default();
        let comparison = run.answers.comparison.unwrap_or(&none);
        if !comparison.is_same(call, &now) {
            return Err(Unanswered::Stale(moved(comparison, call, &now)));
        }
    }
    one(
        &case,
        &given(call, &sent.segments, &*sent.counter)?,
        by,
        done,
    )
}

/// The answer of a recorded call.
///
/// # Errors
/// It cannot be read; the reason is in the text.
pub(super) fn given(
    call: &Recording,
    segments: &[Segment],
    counter: &dyn TokenCounter,
) -> Result<Answer, String> {
    let given = answer_of(call).map_err(|why| match why {
        Unanswered::Trouble(why) => why,
        Unanswered::Stale(_) => String::new(),
    })?;
    let tokens: usize = segments.iter().map(|segment| segment.tokens(counter)).sum();
    let mut answer = Answer::given(&given, tokens as u64, counter, None);
    answer.took.latency_ms = call.latency_ms;
    Ok(answer)
}
