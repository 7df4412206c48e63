//! A project's own check: its input for a trial, and its verdict.

use super::given::TrialAnswer;
use super::judging::AnswerJudging;
use crate::eval::verdict::{JudgedOutcome, fail, pass, skip_open};
use crate::scenario::expect::answer::one_line_excerpt;
use crate::scenario::expect::own_check::OwnCheck;
use serde::Deserialize;
use serde_json::{Value, json};

/// The reason of a check that was not run, since the user did not permit its command.
pub(in crate::eval) const NOT_PERMITTED: &str = "no run: this command is not permitted here";

/// One verdict in the output of a check.
#[derive(Deserialize)]
struct CheckVerdict {
    pass: bool,
    reason: Option<String>,
}

/// The output of a check.
#[derive(Deserialize)]
#[serde(untagged)]
enum CheckResponse {
    One(CheckVerdict),
    Many(Vec<CheckVerdict>),
}

/// Runs a check and parses its verdict.
///
/// # Errors
/// It gave no verdict; the reason is in the text.
pub(super) fn judge_own_check(
    case: &AnswerJudging<'_>,
    answer: &TrialAnswer,
    check: &OwnCheck,
) -> Result<JudgedOutcome, String> {
    let expected = format!("{} to accept the trial", check.describe());
    let run = case
        .run
        .answers
        .check_runner
        .and_then(|own| own.run(check, &trial_input(case, answer).to_string()));
    let Some(said) = run else {
        return Ok(skip_open(expected, NOT_PERMITTED));
    };
    let failed = |why: String| format!("{} gave no verdict: {why}", check.describe());
    let said = said.map_err(failed)?;
    let no_verdict = || {
        let found = if said.trim().is_empty() {
            "nothing".to_owned()
        } else {
            format!("“{}”", one_line_excerpt(said.trim()))
        };
        failed(format!(
            "it has to write {{\"pass\": true, \"reason\": \"…\"}} or a list of such to its standard output, and wrote {found}"
        ))
    };
    let given = match serde_json::from_str(&said).map_err(|_| no_verdict())? {
        CheckResponse::One(one) => vec![one],
        CheckResponse::Many(many) if many.is_empty() => return Err(no_verdict()),
        CheckResponse::Many(many) => many,
    };
    let passes = given.iter().all(|one| one.pass);
    let reasons = given
        .iter()
        .filter(|one| one.pass == passes)
        .filter_map(|one| one.reason.as_deref());
    let reasons = reasons
        .filter(|reason| !reason.trim().is_empty())
        .collect::<Vec<_>>()
        .join("; ");
    let found = if reasons.is_empty() {
        "a verdict without a reason"
    } else {
        &reasons
    };
    Ok(if passes {
        pass(expected, found)
    } else {
        fail(expected, found)
    })
}

/// The input of a check for a trial.
fn trial_input(case: &AnswerJudging<'_>, answer: &TrialAnswer) -> Value {
    let calls = answer
        .tool_calls
        .iter()
        .map(|(name, arguments)| json!({"name": name, "arguments": arguments}));
    json!({
        "scenario": case.input.case.name.value,
        "task": case.prepared.map(|prepared| prepared.receiver.task),
        "role": case.prepared.and_then(|prepared| prepared.receiver.role_name()),
        "model": case.model,
        "inputs": case.prepared.map(|prepared| prepared.read.inputs()),
        "answer": answer.text,
        "json": answer.json,
        "tool_calls": calls.collect::<Vec<_>>(),
        "tokens": {"input": answer.tokens.0, "output": answer.tokens.1},
        "latency_ms": answer.took.latency_ms,
        "cost_usd": answer.took.usd,
    })
}
