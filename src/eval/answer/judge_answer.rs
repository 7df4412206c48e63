//! Judges one expectation on an answer. Examines only the answer; every verdict has a reason.

use super::json_comparison::{equal_json, first_difference, scalar_text};
use super::trajectory::judge_call;
use super::trial_answer::{AnswerFlaw, TrialAnswer};
use super::{NoAnswerReason, trajectory};
use crate::base::span::Spanned;
use crate::context::request::Files;
use crate::eval::compaction::survival::judge_survival;
use crate::eval::compiled_patterns as schemas;
use crate::eval::judge::{judge_rubric, judge_words};
use crate::eval::prepared_case::AnswerJudging;
use crate::eval::score;
use crate::eval::verdict::{
    self, ExpectationOutcome, ExpectationVerdict, JudgedOutcome, Reason, ResultPlace, ScorePart,
    fail, fail_blind, pass, skip, skip_undecided,
};
use crate::scenario::expect::answer::one_line_excerpt;
use crate::scenario::expect::own_check::OwnCheck;
use crate::scenario::json_schema;
use crate::scenario::model::{AnswerExpectation, AnswerTest, FrozenValue, Risk};
use serde::Deserialize;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::ops::Range;

/// Judges an expectation.
///
/// # Errors
/// An own check of the project or its judge gave no verdict, and the expectation gates.
pub(in crate::eval) fn judge_expectation(
    case: &AnswerJudging<'_>,
    answer: &TrialAnswer,
    expectation: &Spanned<AnswerExpectation>,
) -> Result<ExpectationVerdict, NoAnswerReason> {
    let AnswerExpectation { test, gate, .. } = &expectation.value;
    let weight = expectation.value.score_weight();
    let (outcome, reason) = match judge_test(case, answer, test) {
        Err(why) if !*gate => skip("a verdict", &why.describe()),
        judged => judged?,
    };
    // Inside another expectation, a score is a verdict like any.
    let is_alone = test.inner_tests().is_empty();
    let graded = reason.score.filter(|_| is_alone);
    Ok(ExpectationVerdict {
        part: (case.input.case.is_scored && *gate).then(|| ScorePart::new(outcome, graded, weight)),
        what: test.describe(),
        outcome,
        gate: *gate && !(reason.only_informs && depends_on_one(test)),
        reason,
        span: expectation.span,
    })
}

/// True if the verdict of a test is that of a single test, or its opposite.
fn depends_on_one(test: &AnswerTest) -> bool {
    if let AnswerTest::Not(inner) | AnswerTest::OfAgent { test: inner, .. } = test {
        return depends_on_one(&inner.value);
    }
    test.inner_tests().is_empty()
}

fn judge_test(
    case: &AnswerJudging<'_>,
    answer: &TrialAnswer,
    test: &AnswerTest,
) -> Result<JudgedOutcome, NoAnswerReason> {
    let inner = |inner: &[Spanned<AnswerTest>]| {
        inner
            .iter()
            .map(|one| judge_test(case, answer, &one.value))
            .collect::<Result<Vec<_>, _>>()
    };
    Ok(match test {
        AnswerTest::FieldMatches { path, pattern } => {
            judge_field(case, answer, &path.value, &pattern.value)
        }
        AnswerTest::Absent(patterns) => judge_absent(case, answer, patterns),
        AnswerTest::Contains(patterns) => judge_contains(case, answer, patterns),
        AnswerTest::MaxRisk(max) => judge_max_risk(answer, *max),
        AnswerTest::Decomposes(expected) => judge_decomposition(case, answer, *expected),
        AnswerTest::MaxTokens(max) => judge_max_tokens(answer, *max),
        AnswerTest::ReferencesFiles(paths) => judge_references(answer, paths),
        AnswerTest::Exact(value) => judge_exact(answer, value),
        AnswerTest::Schema(schema) => judge_schema(case, answer, schema),
        AnswerTest::CallsTool(name) => judge_call(answer, &name.value),
        AnswerTest::NeverCallsTool(name) => verdict::negate(
            judge_call(answer, &name.value),
            &format!("a call of `{}`", name.value),
        ),
        AnswerTest::Trajectory(expected) => trajectory::judge_trajectory(case, answer, expected),
        AnswerTest::Refuses(expected) => judge_refusal(answer, *expected),
        AnswerTest::MaxLatency(max) => judge_max_latency(answer, *max),
        AnswerTest::MaxCost(max) => judge_max_cost(answer, *max),
        AnswerTest::Judge(test) => judge_rubric(case, &answer.text, test)?,
        AnswerTest::Rubric(words) => judge_words(case, &answer.text, &words.value)?,
        AnswerTest::Survives(test) => match case.session {
            Some(session) => judge_survival(&session.facts_after(&answer.text), test),
            None => fail_blind(
                test.describe(),
                "no compaction: the scenario has no `compaction`",
            ),
        },
        AnswerTest::Todo(what) => skip_undecided(
            format!("“{}”", one_line_excerpt(&what.value)),
            "it still to be written as an expectation",
        ),
        AnswerTest::Own(check) => judge_own_check(case, answer, check)?,
        AnswerTest::Path(expected) => trajectory::judge_path(answer, expected),
        AnswerTest::Ends(end) => trajectory::judge_end(answer, end),
        AnswerTest::OfAgent { node, test } => {
            let found = trajectory::find_agents(answer, &node.value);
            let judged = found
                .iter()
                .map(|stage| judge_test(case, &stage.answer, &test.value))
                .collect::<Result<Vec<_>, _>>()?;
            if judged.is_empty() {
                trajectory::uncalled_agent(answer, &node.value)
            } else {
                verdict::all_hold(&judged)
            }
        }
        AnswerTest::Not(one) => {
            verdict::negate(judge_test(case, answer, &one.value)?, &one.value.describe())
        }
        AnswerTest::AnyOf(some) => verdict::any_holds(inner(some)?),
        AnswerTest::AllOf(some) => verdict::all_hold(&inner(some)?),
    })
}

fn judge_refusal(answer: &TrialAnswer, wanted: bool) -> JudgedOutcome {
    let expected = if wanted { "a refusal" } else { "no refusal" };
    let is_refused = answer.flaw == Some(AnswerFlaw::Withheld);
    let found = match (is_refused, answer.text.trim()) {
        (true, "") => "one".to_owned(),
        (true, found) => format!("one: “{}”", one_line_excerpt(found)),
        (false, found) => format!("an answer: “{}”", one_line_excerpt(found)),
    };
    if is_refused == wanted {
        pass(expected, found)
    } else {
        fail(expected, found)
    }
}

/// The description of an answer that is not valid JSON.
fn describe_non_json(answer: &TrialAnswer) -> String {
    format!("no JSON: “{}”", one_line_excerpt(&answer.text))
}

fn judge_field(
    case: &AnswerJudging<'_>,
    answer: &TrialAnswer,
    path: &str,
    pattern: &str,
) -> JudgedOutcome {
    let expected = format!("{path} to match /{pattern}/");
    let Some(json) = &answer.json else {
        return fail_blind(expected, describe_non_json(answer));
    };
    let nodes = match case.run.patterns.select_path(path, json) {
        Ok(nodes) => nodes,
        Err(why) => return fail_blind(expected, why),
    };
    if nodes.is_empty() {
        return fail_blind(
            expected,
            format!(
                "nothing at {path} in {}",
                one_line_excerpt(&json.to_string())
            ),
        );
    }
    for (at, value) in &nodes {
        let text = scalar_text(value);
        match case.run.patterns.find_pattern(pattern, &text) {
            Ok(Some(_)) => {}
            Ok(None) => return fail(expected, format!("“{}” at {at}", one_line_excerpt(&text))),
            Err(why) => return fail_blind(expected, why),
        }
    }
    let (_, first) = nodes
        .first()
        .map_or(("", ""), |(at, _)| (at.as_str(), at.as_str()));
    pass(expected, format!("it at {first}"))
}

/// The first occurrence of a pattern in an answer.
struct TextMatch {
    excerpt: String,
    /// Its place, if it is in the answer's own text.
    range: Option<Range<usize>>,
}

/// Finds the first occurrence of a pattern in texts, of which the first is the answer's own.
fn first_match<'t>(
    case: &AnswerJudging<'_>,
    texts: impl Iterator<Item = Cow<'t, str>>,
    pattern: &str,
) -> Result<Option<TextMatch>, String> {
    let mut search = case.run.patterns.search(pattern)?;
    for (number, text) in texts.enumerate() {
        if let Some(range) = search.find(&text, 0)? {
            return Ok(Some(TextMatch {
                excerpt: one_line_excerpt(text.get(range.clone()).unwrap_or("")),
                range: Some(range).filter(|_| number == 0),
            }));
        }
    }
    Ok(None)
}

fn judge_absent(
    case: &AnswerJudging<'_>,
    answer: &TrialAnswer,
    patterns: &[Spanned<String>],
) -> JudgedOutcome {
    for pattern in patterns {
        let expected = format!("no /{}/", pattern.value);
        match first_match(case, answer.all_texts(), &pattern.value) {
            Ok(None) => {}
            Ok(Some(TextMatch { excerpt, range })) => {
                let place = ResultPlace {
                    range,
                    ..ResultPlace::default()
                };
                return (
                    ExpectationOutcome::Fail,
                    Reason::new(expected, format!("“{excerpt}”")).with_place(place),
                );
            }
            Err(why) => return fail_blind(expected, why),
        }
    }
    pass("none of the patterns", "none")
}

fn judge_contains(
    case: &AnswerJudging<'_>,
    answer: &TrialAnswer,
    patterns: &[Spanned<String>],
) -> JudgedOutcome {
    for pattern in patterns {
        let expected = format!("/{}/", pattern.value);
        match first_match(case, answer.searchable_texts(), &pattern.value) {
            Ok(Some(_)) => {}
            Ok(None) => {
                return (
                    ExpectationOutcome::Fail,
                    missing_reason(case, answer, expected),
                );
            }
            Err(why) => return fail_blind(expected, why),
        }
    }
    pass("each pattern", "each")
}

/// The reason for a missing pattern, with a description of an answer without text.
fn missing_reason(case: &AnswerJudging<'_>, answer: &TrialAnswer, expected: String) -> Reason {
    match answer
        .tool_calls
        .last()
        .filter(|_| answer.text.trim().is_empty())
    {
        None => Reason::new(
            expected,
            format!("it nowhere in “{}”", one_line_excerpt(&answer.text)),
        ),
        Some((name, _)) => {
            let reason = Reason::new(
                expected,
                format!("no text, but a call of `{}`", one_line_excerpt(name)),
            );
            let advice = format!(
                "what the tool gives back stands in `fixtures: {{tools: {{{}: …}}}}` of the suite",
                one_line_excerpt(name)
            );
            if case.prepared.is_some() {
                reason.with_advice(advice)
            } else {
                reason
            }
        }
    }
}

fn judge_max_risk(answer: &TrialAnswer, max: Risk) -> JudgedOutcome {
    let expected = format!("a risk of at most {}", max.word());
    let Some(json) = &answer.json else {
        return fail_blind(expected, describe_non_json(answer));
    };
    let Some((key, value)) = ["risk_level", "risk"]
        .into_iter()
        .find_map(|key| Some((key, json.get(key)?)))
    else {
        return fail_blind(
            expected,
            "none: the answer has neither `risk_level` nor `risk`",
        );
    };
    let written = scalar_text(value);
    match Risk::parse(&written.to_ascii_lowercase()) {
        Some(found) if found <= max => pass(expected, found.word()),
        Some(found) => fail(expected, format!("{} at $.{key}", found.word())),
        None => fail_blind(
            expected,
            format!(
                "“{}” at $.{key}, which is not a risk",
                one_line_excerpt(&written)
            ),
        ),
    }
}

fn judge_decomposition(
    case: &AnswerJudging<'_>,
    answer: &TrialAnswer,
    wanted: bool,
) -> JudgedOutcome {
    let plan = case.run.plan;
    let expected = if wanted {
        format!("two or more parts at {plan}")
    } else {
        format!("less than two parts at {plan}")
    };
    match find_parts(case, answer) {
        Err(why) => fail_blind(expected, why),
        Ok((is_split, found)) if is_split == wanted => pass(expected, found),
        Ok((_, found)) => fail(expected, found),
    }
}

/// Returns true if an answer splits its work, with a description of the evidence.
///
/// # Errors
/// The configured path of the plan cannot be evaluated.
pub(in crate::eval) fn find_parts(
    case: &AnswerJudging<'_>,
    answer: &TrialAnswer,
) -> Result<(bool, String), String> {
    find_parts_at(case.run.plan, case.run.patterns, answer)
}

/// Like [`find_parts`], with the given path of the parts.
pub(in crate::eval) fn find_parts_at(
    plan: &str,
    patterns: &schemas::CompiledPatterns,
    answer: &TrialAnswer,
) -> Result<(bool, String), String> {
    let Some(json) = &answer.json else {
        return Ok((false, describe_non_json(answer)));
    };
    if json.get("status").and_then(Value::as_str) == Some("CONTINUATION") {
        return Ok((true, "the status CONTINUATION".to_owned()));
    }
    let nodes = patterns.select_path(plan, json)?;
    let parts = nodes
        .first()
        .and_then(|(_, value)| value.as_array())
        .map_or(0, Vec::len);
    Ok((parts >= 2, parts.to_string()))
}

fn judge_max_tokens(answer: &TrialAnswer, max: u64) -> JudgedOutcome {
    let (input, output) = answer.tokens;
    let all = input.saturating_add(output);
    let expected = format!("at most {max} tokens");
    let found = format!("{all}: {input} in, {output} out");
    if all <= max {
        pass(expected, found)
    } else {
        fail(expected, found)
    }
}

fn judge_max_latency(answer: &TrialAnswer, max: u64) -> JudgedOutcome {
    let expected = format!("at most {max} ms");
    match answer.took.latency_ms.filter(|_| answer.took.is_live) {
        None => skip(
            expected,
            "no clock: time is measured where a model is asked",
        ),
        Some(took) if took <= max => pass(expected, format!("{took} ms")),
        Some(took) => fail(expected, format!("{took} ms")),
    }
}

fn judge_max_cost(answer: &TrialAnswer, max: f64) -> JudgedOutcome {
    let expected = format!("at most US$ {max}");
    match answer.took.usd.filter(|_| answer.took.is_live) {
        None if answer.took.is_live => fail_blind(
            expected,
            "no price: `[models]` in ctxc.toml names none for this model",
        ),
        None => skip(expected, "no bill: cost arises where a model is asked"),
        Some(usd) if usd <= max => pass(expected, format!("US$ {usd}")),
        Some(usd) => fail(expected, format!("US$ {usd}")),
    }
}

fn judge_references(answer: &TrialAnswer, paths: &[Spanned<String>]) -> JudgedOutcome {
    for path in paths {
        if !answer.text.contains(&path.value) {
            return fail(
                format!("`{}` to be mentioned", path.value),
                format!("it nowhere in “{}”", one_line_excerpt(&answer.text)),
            );
        }
    }
    pass("each file to be mentioned", "each")
}

fn judge_exact(answer: &TrialAnswer, value: &Value) -> JudgedOutcome {
    // An expected text is compared as text, even if the answer is valid JSON.
    let found = if value.is_string() {
        Value::String(answer.text.clone())
    } else {
        answer.json_value()
    };
    let expected = one_line_excerpt(&value.to_string());
    if equal_json(value, &found) || equal_json(value, &answer.json_value()) {
        return pass(expected, "it");
    }
    let at = first_difference(value, &found, "$".to_owned());
    fail(
        expected,
        format!("{}, another at {at}", one_line_excerpt(&found.to_string())),
    )
}

/// The schema of an expectation, inline or from a file beside the case.
pub(in crate::eval) fn load_schema(
    beside: &dyn Files,
    schema: &FrozenValue,
) -> Result<Value, String> {
    match schema {
        FrozenValue::Value(schema) => Ok(schema.clone()),
        FrozenValue::File(path) => beside
            .text(path)
            .and_then(|text| serde_json::from_str(&text).map_err(|error| error.to_string()))
            .map_err(|why| format!("{path} cannot be read: {why}"))
            .and_then(|schema| schemas::check_schema(path, schema)),
    }
}

fn judge_schema(
    case: &AnswerJudging<'_>,
    answer: &TrialAnswer,
    schema: &FrozenValue,
) -> JudgedOutcome {
    let expected = match schema {
        FrozenValue::File(path) => format!("an answer that fits {path}"),
        FrozenValue::Value(_) => "an answer that fits the schema".to_owned(),
    };
    let Some(json) = &answer.json else {
        return fail_blind(expected, describe_non_json(answer));
    };
    match load_schema(case.input.beside, schema)
        .and_then(|schema| json_schema::find_violations(&schema, json))
    {
        Ok(violations) => match violations.split_first() {
            None => pass(expected, "that"),
            Some((first, rest)) => {
                let reason = Reason::new(expected, first.clone());
                (
                    ExpectationOutcome::Fail,
                    rest.iter().fold(reason, |reason, one| {
                        reason.with_advice(format!("and {one}"))
                    }),
                )
            }
        },
        Err(why) => fail_blind(expected, why),
    }
}

/// The reason of a check that was not run, since the user did not permit its command.
pub(in crate::eval) const NOT_PERMITTED: &str = "no run: this command is not permitted here";

/// One verdict in the output of a check.
#[derive(Deserialize)]
struct CheckVerdict {
    pass: bool,
    reason: Option<String>,
    score: Option<f64>,
}

impl CheckVerdict {
    fn graded_score(&self) -> f64 {
        self.score.unwrap_or(if self.pass { 1.0 } else { 0.0 })
    }
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
    let Some(result) = run else {
        return Ok(skip_undecided(expected, NOT_PERMITTED));
    };
    let failed = |why: String| format!("{} gave no verdict: {why}", check.describe());
    let stdout = result.map_err(failed)?;
    let no_verdict = || {
        let found = if stdout.trim().is_empty() {
            "nothing".to_owned()
        } else {
            format!("“{}”", one_line_excerpt(stdout.trim()))
        };
        failed(format!(
            "it has to write {{\"pass\": true, \"reason\": \"…\"}} or a list of such to its standard output, and wrote {found}"
        ))
    };
    let given = match serde_json::from_str(&stdout).map_err(|_| no_verdict())? {
        CheckResponse::One(one) => vec![one],
        CheckResponse::Many(many) if many.is_empty() => return Err(no_verdict()),
        CheckResponse::Many(many) => many,
    };
    if let Some(score) = given
        .iter()
        .filter_map(|one| one.score)
        .find(|score| !(0.0..=1.0).contains(score))
    {
        return Err(failed(format!(
            "its score is {score}; expected a number from 0 to 1"
        )));
    }
    let score = score::mean(given.iter().map(CheckVerdict::graded_score));
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
    let (outcome, reason) = if passes {
        pass(expected, found)
    } else {
        fail(expected, found)
    };
    Ok((outcome, reason.with_score(score)))
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
