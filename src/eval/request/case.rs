//! Runs a case about the request of another program: judges the request and its recorded answer.
//! Never calls a model.

use super::examined_request::{ExaminedRequest, min_tokens, stored_form};
use super::judge_request::SeenRequest;
use super::{judge_request, recorded_answer};
use crate::base::hash::Hasher;
use crate::eval::case::decide_verdict;
use crate::eval::case_result::{CaseResult, CaseVerdict, ResultKeys};
use crate::eval::prepared_case::{CaseInput, RunContext};
use crate::eval::result_keys;
use crate::eval::verdict::{ExpectationOutcome, ExpectationVerdict, Reason};
use crate::record::comparison::RequestComparison;
use crate::rules::request::check as check_request;
use crate::scenario::model::CaseSubject;
use crate::scenario::request_source::RequestSource;

pub(in crate::eval) fn run_request_case(
    context: &RunContext<'_>,
    input: &CaseInput<'_>,
) -> CaseResult {
    if let Some(why) = input.rejection {
        return CaseResult::rejected_case(why);
    }
    if let Some(why) = unpermitted_program(context, input) {
        return CaseResult {
            verdict: CaseVerdict::Inconclusive,
            ..CaseResult::failed_case("/", why)
        };
    }
    let sent = match read_sent(context, input) {
        Ok(sent) => sent,
        Err(why) => return CaseResult::failed_case("/", why),
    };
    let seen = SeenRequest {
        context,
        input,
        sent: &sent,
    };
    let mut verdicts: Vec<ExpectationVerdict> = input
        .case
        .expect_context
        .iter()
        .map(|one| judge_request::judge_request(&seen, one))
        .collect();
    verdicts.extend(vendor_rejection(context, input, &sent));
    let tokens: usize = sent
        .segments
        .iter()
        .map(|segment| segment.tokens(&*sent.counter))
        .sum();
    let mut done = CaseResult {
        keys: Some(keys_for(context, input, &sent)),
        model: sent.request.model.clone(),
        tokenizer: sent.counter.name().to_owned(),
        tokens: Some((tokens as u64, 0)),
        snapshot: input.case.uses_snapshot().then(|| {
            stored_form(
                &sent.request,
                context.answers.comparison.map(RequestComparison::volatile),
            )
        }),
        context: verdicts,
        trouble: None,
        ..CaseResult::failed_case("/", "")
    };
    let answered = recorded_answer::judge_answer(context, input, &sent, &mut done);
    decide_verdict(answered, context, input.case, &mut done);
    done
}

/// The reason why the program of a case does not run, if the user did not permit it.
fn unpermitted_program(context: &RunContext<'_>, input: &CaseInput<'_>) -> Option<String> {
    let CaseSubject::Request(source) = &input.case.subject.value else {
        return None;
    };
    let is_program = !matches!(source, RequestSource::File(_));
    let is_permitted = context
        .answers
        .programs
        .is_some_and(|programs| programs.permits(source));
    (is_program && !is_permitted).then(|| {
        format!(
            "undecided: {} is not run here: `ctxc trust` permits it",
            source.describe()
        )
    })
}

/// The verdict on a request that its vendor would reject; `None` if it would be accepted, or was.
fn vendor_rejection(
    context: &RunContext<'_>,
    input: &CaseInput<'_>,
    sent: &ExaminedRequest,
) -> Option<ExpectationVerdict> {
    let config = context.answers.config.filter(|_| !sent.was_answered)?;
    let found = check_request::find_rejection(
        &sent.request,
        &sent.request.body.to_string(),
        min_tokens,
        config,
    )?;
    let what = "a request that its vendor takes".to_owned();
    let reason = Reason::new(what.clone(), found.describe());
    Some(ExpectationVerdict::new(
        what,
        (ExpectationOutcome::Fail, reason),
        input.case.subject.span,
    ))
}

/// The keys that its result belongs to.
pub(in crate::eval) fn request_keys(
    context: &RunContext<'_>,
    input: &CaseInput<'_>,
) -> Option<ResultKeys> {
    Some(keys_for(context, input, &read_sent(context, input).ok()?))
}

fn keys_for(context: &RunContext<'_>, input: &CaseInput<'_>, sent: &ExaminedRequest) -> ResultKeys {
    let snapshot = input.snapshot.filter(|_| input.case.uses_snapshot());
    let mut hasher = Hasher::new();
    let rest = context.answers.comparison.and_then(|comparison| {
        comparison
            .volatile()
            .without_volatile(sent.request.body.clone())
    });
    let body = rest.as_ref().unwrap_or(&sent.request.body);
    hasher
        .add_field("ctxc request context 1")
        .add_field(sent.counter.name())
        .add_field(body.to_string());
    ResultKeys {
        context: hasher.finish(),
        case: result_keys::hash_case(input.case, input.beside, snapshot, context.plan),
    }
}

pub(super) fn read_sent(
    context: &RunContext<'_>,
    input: &CaseInput<'_>,
) -> Result<ExaminedRequest, String> {
    match &input.case.subject.value {
        CaseSubject::Request(source) => ExaminedRequest::read_case(context, input, source),
        CaseSubject::Role(_) | CaseSubject::Task(_) | CaseSubject::Compaction(_) => {
            Err("it is about an agent of this project".to_owned())
        }
    }
}
