//! The recorded answer to the request of another program: judges it as long as the request is the
//! one that was answered, and drafts expectations on it for a new scenario, coarse enough that
//! another good answer passes too.

use super::examined_request::ExaminedRequest;
use crate::eval::answer::{
    AnswerJudging, NoAnswerReason, ObtainedAnswer, SCRIPT, TrialAnswer, describe_changes,
    find_parts_at, recorded_answer, rescore_trials, run_single_answer,
};
use crate::eval::answer_source::AnswersFrom;
use crate::eval::case_result::{AnswerOrigin, CaseResult};
use crate::eval::compiled_patterns::CompiledPatterns;
use crate::eval::draft::{round_up_limit, yaml_scalar};
use crate::eval::judge::CaseJudge;
use crate::eval::prepared_case::{CaseInput, RunContext};
use crate::eval::trials::TrialDecision;
use crate::kernel::tokens::TokenCounter;
use crate::record::comparison::RequestComparison;
use crate::record::recording::{AnsweredBy, Recording};
use crate::request::segments::RequestSegment;
use std::collections::BTreeSet;

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
    let judge = CaseJudge::new(run, input);
    judge.set_request(sent.segments.iter().map(|segment| segment.text.as_str()));
    let case = AnswerJudging {
        judge: &judge,
        run,
        input,
        model: sent.request.model.as_deref(),
        prepared: None,
        session: None,
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
    let (origin, by) = match call.answered_by {
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
    let answer = read_answer(call, &sent.segments, &*sent.counter)?;
    let decision = run_single_answer(&case, &ObtainedAnswer { answer, origin, by }, done)?;
    judge.finish_recording()?;
    Ok(decision)
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
    let recorded = recorded_answer(call).map_err(|why| match why {
        NoAnswerReason::Trouble(why) => why,
        NoAnswerReason::Stale(_) => String::new(),
    })?;
    let tokens: usize = segments.iter().map(|segment| segment.tokens(counter)).sum();
    let mut answer = TrialAnswer::from_model(&recorded, tokens as u64, counter, None);
    answer.took.latency_ms = call.latency_ms;
    Ok(answer)
}

/// The maximum length of a file extension.
const MAX_EXTENSION_LENGTH: usize = 5;

/// Expectations on the answer of a call, one per line: the tools that it calls, the files of the
/// request that it mentions, the split of the work, a limit of tokens. Empty if the call was not
/// answered.
///
/// # Errors
/// The answer cannot be read; the reason is in the text.
pub fn answer_expectations(
    call: &Recording,
    segments: &[RequestSegment],
    counter: &dyn TokenCounter,
    plan: &str,
) -> Result<Vec<String>, String> {
    if !call.is_answered() {
        return Ok(Vec::new());
    }
    let answer = read_answer(call, segments, counter)?;
    let mut lines = Vec::new();
    let called: BTreeSet<&str> = answer
        .tool_calls
        .iter()
        .map(|(name, _)| name.as_str())
        .collect();
    lines.extend(
        called
            .iter()
            .map(|name| format!("calls_tool: {}", yaml_scalar(name))),
    );
    if called.is_empty() && segments.iter().any(|segment| segment.group == "tools") {
        lines.push("never_calls_tool: \"*\"".to_owned());
    }
    let shown = |path: &&str| {
        segments
            .iter()
            .any(|segment| segment.group != "tools" && segment.text.contains(*path))
    };
    let files: BTreeSet<&str> = mentioned_files(&answer.text).filter(shown).collect();
    if !files.is_empty() {
        let files: Vec<String> = files.into_iter().map(yaml_scalar).collect();
        lines.push(format!("references_files: [{}]", files.join(", ")));
    }
    if answer
        .json
        .as_ref()
        .is_some_and(serde_json::Value::is_object)
    {
        let (is_split, _) = find_parts_at(plan, &CompiledPatterns::compile_for([], plan), &answer)?;
        lines.push(format!("decomposes: {is_split}"));
    }
    if answer.flaw.is_none() {
        let (input, output) = answer.tokens;
        let all = usize::try_from(input.saturating_add(output)).unwrap_or(usize::MAX / 2);
        lines.push(format!("max_tokens: {}", round_up_limit(all)));
    }
    Ok(lines)
}

/// The words of a text that can be file paths: with a folder and an alphanumeric extension.
fn mentioned_files(text: &str) -> impl Iterator<Item = &str> {
    let is_path = |c: char| c.is_alphanumeric() || matches!(c, '/' | '.' | '_' | '-');
    let words = text
        .split(move |c| !is_path(c))
        .map(|word| word.trim_end_matches('.'));
    words.filter(|word| {
        let name = word
            .rsplit_once('/')
            .filter(|(folder, _)| !folder.is_empty())
            .map(|(_, name)| name);
        let ending = name
            .and_then(|name| name.rsplit_once('.'))
            .map(|(_, ending)| ending);
        ending.is_some_and(|ending| {
            (1..=MAX_EXTENSION_LENGTH).contains(&ending.len())
                && ending.chars().all(|c| c.is_ascii_alphanumeric())
        })
    })
}
