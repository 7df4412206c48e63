//! Judges one expectation on an answer. Examines only the answer; every verdict has a reason.

use super::given::{Answer, Flaw};
use super::json::{parting, same, words};
use super::judging::Judging;
use super::own_check;
use super::trajectory::{self, calls};
use super::whole_run;
use crate::base::span::Spanned;
use crate::context::request::Files;
use crate::eval::compiled_patterns as schemas;
use crate::eval::verdict::{
    self, Judged, Outcome, Place, Reason, Verdict, blind, fail, pass, skipped, undecided,
};
use crate::scenario::expect::answer::short;
use crate::scenario::json_schema;
use crate::scenario::model::{AnswerTest, Expectation, Frozen, Risk};
use serde_json::Value;
use std::borrow::Cow;
use std::ops::Range;

/// Judges an expectation.
///
/// # Errors
/// An own check of the project gave no verdict, and the expectation gates; the reason is in the
/// text.
pub(in crate::eval) fn judge(
    case: &Judging<'_>,
    answer: &Answer,
    expectation: &Spanned<Expectation>,
) -> Result<Verdict, String> {
    let Expectation { test, gate } = &expectation.value;
    let (outcome, reason) = match of(case, answer, test) {
        Err(why) if !*gate => skipped("a verdict of the project's own check", &why),
        judged => judged?,
    };
    Ok(Verdict {
        what: test.words(),
        outcome,
        gate: *gate,
        reason,
        span: expectation.span,
    })
}

fn of(case: &Judging<'_>, answer: &Answer, test: &AnswerTest) -> Result<Judged, String> {
    let inner = |inner: &[Spanned<AnswerTest>]| {
        inner
            .iter()
            .map(|one| of(case, answer, &one.value))
            .collect::<Result<Vec<_>, _>>()
    };
    Ok(match test {
        AnswerTest::FieldMatches { path, pattern } => {
            field(case, answer, &path.value, &pattern.value)
        }
        AnswerTest::Absent(patterns) => absent(case, answer, patterns),
        AnswerTest::Contains(patterns) => contains(case, answer, patterns),
        AnswerTest::MaxRisk(most) => max_risk(answer, *most),
        AnswerTest::Decomposes(expected) => decomposes(case, answer, *expected),
        AnswerTest::MaxTokens(most) => max_tokens(answer, *most),
        AnswerTest::ReferencesFiles(paths) => references(answer, paths),
        AnswerTest::Exact(value) => exact(answer, value),
        AnswerTest::Schema(schema) => fits(case, answer, schema),
        AnswerTest::CallsTool(name) => calls(answer, &name.value),
        AnswerTest::NeverCallsTool(name) => verdict::not(
            calls(answer, &name.value),
            &format!("a call of `{}`", name.value),
        ),
        AnswerTest::Trajectory(expected) => trajectory::judge(case, answer, expected),
        AnswerTest::Refuses(expected) => refuses(answer, *expected),
        AnswerTest::MaxLatency(most) => max_latency(answer, *most),
        AnswerTest::MaxCost(most) => max_cost(answer, *most),
        AnswerTest::Judge { .. } | AnswerTest::Rubric(_) => undecided(
            "a judge's score",
            "no judge: `judge` and `rubric` are not judged yet",
        ),
        AnswerTest::Todo(what) => undecided(
            format!("“{}”", short(&what.value)),
            "it still to be written as an expectation",
        ),
        AnswerTest::Own(check) => own_check::judge(case, answer, check)?,
        AnswerTest::Path(expected) => whole_run::path(answer, expected),
        AnswerTest::Ends(end) => whole_run::ends(answer, end),
        AnswerTest::OfAgent { node, test } => {
            let found = whole_run::agents(answer, &node.value);
            let judged = found
                .iter()
                .map(|stage| of(case, &stage.answer, &test.value))
                .collect::<Result<Vec<_>, _>>()?;
            if judged.is_empty() {
                whole_run::not_asked(answer, &node.value)
            } else {
                verdict::all(&judged)
            }
        }
        AnswerTest::Not(one) => verdict::not(of(case, answer, &one.value)?, &one.value.words()),
        AnswerTest::AnyOf(some) => verdict::any(inner(some)?),
        AnswerTest::AllOf(some) => verdict::all(&inner(some)?),
    })
}

fn refuses(answer: &Answer, wanted: bool) -> Judged {
    let expected = if wanted { "a refusal" } else { "no refusal" };
    let is_refused = answer.flaw == Some(Flaw::Withheld);
    let found = match (is_refused, answer.text.trim()) {
        (true, "") => "one".to_owned(),
        (true, said) => format!("one: “{}”", short(said)),
        (false, said) => format!("an answer: “{}”", short(said)),
    };
    if is_refused == wanted {
        pass(expected, found)
    } else {
        fail(expected, found)
    }
}

/// The description of an answer that is not valid JSON.
fn no_json(answer: &Answer) -> String {
    format!("no JSON: “{}”", short(&answer.text))
}

fn field(case: &Judging<'_>, answer: &Answer, path: &str, pattern: &str) -> Judged {
    let expected = format!("{path} to match /{pattern}/");
    let Some(json) = &answer.json else {
        return blind(expected, no_json(answer));
    };
    let nodes = match case.run.patterns.select(path, json) {
        Ok(nodes) => nodes,
        Err(why) => return blind(expected, why),
    };
    if nodes.is_empty() {
        return blind(
            expected,
            format!("nothing at {path} in {}", short(&json.to_string())),
        );
    }
    for (at, value) in &nodes {
        let text = words(value);
        match case.run.patterns.find(pattern, &text) {
            Ok(Some(_)) => {}
            Ok(None) => return fail(expected, format!("“{}” at {at}", short(&text))),
            Err(why) => return blind(expected, why),
        }
    }
    let (_, first) = nodes
        .first()
        .map_or(("", ""), |(at, _)| (at.as_str(), at.as_str()));
    pass(expected, format!("it at {first}"))
}

/// The first match of a pattern: the index of the text, and the byte range in it.
fn first(
    case: &Judging<'_>,
    said: &[Cow<'_, str>],
    pattern: &str,
) -> Result<Option<(usize, Range<usize>)>, String> {
    for (number, text) in said.iter().enumerate() {
        if let Some(range) = case.run.patterns.find(pattern, text)? {
            return Ok(Some((number, range)));
        }
    }
    Ok(None)
}

fn absent(case: &Judging<'_>, answer: &Answer, patterns: &[Spanned<String>]) -> Judged {
    let said = answer.said_or_given();
    for pattern in patterns {
        let expected = format!("no /{}/", pattern.value);
        match first(case, &said, &pattern.value) {
            Ok(None) => {}
            Ok(Some((number, range))) => {
                let text = said
                    .get(number)
                    .and_then(|text| text.get(range.clone()))
                    .unwrap_or("");
                // A place refers to the answer's own text, which comes first.
                let place = Place {
                    range: Some(range).filter(|_| number == 0),
                    ..Place::default()
                };
                return (
                    Outcome::Fail,
                    Reason::new(expected, format!("“{}”", short(text))).at(place),
                );
            }
            Err(why) => return blind(expected, why),
        }
    }
    pass("none of the patterns", "none")
}

fn contains(case: &Judging<'_>, answer: &Answer, patterns: &[Spanned<String>]) -> Judged {
    let said = answer.said();
    for pattern in patterns {
        let expected = format!("/{}/", pattern.value);
        match first(case, &said, &pattern.value) {
            Ok(Some(_)) => {}
            Ok(None) => return (Outcome::Fail, nowhere(case, answer, expected)),
            Err(why) => return blind(expected, why),
        }
    }
    pass("each pattern", "each")
}

/// The reason for a missing pattern, with a description of an answer without text.
fn nowhere(case: &Judging<'_>, answer: &Answer, expected: String) -> Reason {
    match answer
        .tool_calls
        .last()
        .filter(|_| answer.text.trim().is_empty())
    {
        None => Reason::new(expected, format!("it nowhere in “{}”", short(&answer.text))),
        Some((name, _)) => {
            let reason = Reason::new(
                expected,
                format!("no text, but a call of `{}`", short(name)),
            );
            let given = format!(
                "what the tool gives back stands in `fixtures: {{tools: {{{}: …}}}}` of the suite",
                short(name)
            );
            if case.prepared.is_some() {
                reason.hint(given)
            } else {
                reason
            }
        }
    }
}

fn max_risk(answer: &Answer, most: Risk) -> Judged {
    let expected = format!("a risk of at most {}", most.word());
    let Some(json) = &answer.json else {
        return blind(expected, no_json(answer));
    };
    let Some((key, value)) = ["risk_level", "risk"]
        .into_iter()
        .find_map(|key| Some((key, json.get(key)?)))
    else {
        return blind(
            expected,
            "none: the answer has neither `risk_level` nor `risk`",
        );
    };
    let written = words(value);
    match Risk::parse(&written.to_ascii_lowercase()) {
        Some(found) if found <= most => pass(expected, found.word()),
        Some(found) => fail(expected, format!("{} at $.{key}", found.word())),
        None => blind(
            expected,
            format!("“{}” at $.{key}, which is not a risk", short(&written)),
        ),
    }
}

fn decomposes(case: &Judging<'_>, answer: &Answer, wanted: bool) -> Judged {
    let plan = case.run.plan;
    let expected = if wanted {
        format!("two or more parts at {plan}")
    } else {
        format!("less than two parts at {plan}")
    };
    match parts(case, answer) {
        Err(why) => blind(expected, why),
        Ok((is_split, found)) if is_split == wanted => pass(expected, found),
        Ok((_, found)) => fail(expected, found),
    }
}

/// Returns true if an answer splits its work, with a description of the evidence.
///
/// # Errors
/// The configured path of the plan cannot be evaluated.
pub(in crate::eval) fn parts(
    case: &Judging<'_>,
    answer: &Answer,
) -> Result<(bool, String), String> {
    parts_at(case.run.plan, case.run.patterns, answer)
}

/// The same, with the path of the parts given.
pub(in crate::eval) fn parts_at(
    plan: &str,
    patterns: &schemas::CompiledPatterns,
    answer: &Answer,
) -> Result<(bool, String), String> {
    let Some(json) = &answer.json else {
        return Ok((false, no_json(answer)));
    };
    if json.get("status").and_then(Value::as_str) == Some("CONTINUATION") {
        return Ok((true, "the status CONTINUATION".to_owned()));
    }
    let nodes = patterns.select(plan, json)?;
    let parts = nodes
        .first()
        .and_then(|(_, value)| value.as_array())
        .map_or(0, Vec::len);
    Ok((parts >= 2, parts.to_string()))
}

fn max_tokens(answer: &Answer, most: u64) -> Judged {
    let (input, output) = answer.tokens;
    let all = input.saturating_add(output);
    let expected = format!("at most {most} tokens");
    let found = format!("{all}: {input} in, {output} out");
    if all <= most {
        pass(expected, found)
    } else {
        fail(expected, found)
    }
}

fn max_latency(answer: &Answer, most: u64) -> Judged {
    let expected = format!("at most {most} ms");
    match answer.took.latency_ms.filter(|_| answer.took.is_live) {
        None => skipped(
            expected,
            "no clock: time is measured where a model is asked",
        ),
        Some(took) if took <= most => pass(expected, format!("{took} ms")),
        Some(took) => fail(expected, format!("{took} ms")),
    }
}

fn max_cost(answer: &Answer, most: f64) -> Judged {
    let expected = format!("at most US$ {most}");
    match answer.took.usd.filter(|_| answer.took.is_live) {
        None if answer.took.is_live => blind(
            expected,
            "no price: `[models]` in ctxc.toml names none for this model",
        ),
        None => skipped(expected, "no bill: cost arises where a model is asked"),
        Some(usd) if usd <= most => pass(expected, format!("US$ {usd}")),
        Some(usd) => fail(expected, format!("US$ {usd}")),
    }
}

fn references(answer: &Answer, paths: &[Spanned<String>]) -> Judged {
    for path in paths {
        if !answer.text.contains(&path.value) {
            return fail(
                format!("`{}` to be mentioned", path.value),
                format!("it nowhere in “{}”", short(&answer.text)),
            );
        }
    }
    pass("each file to be mentioned", "each")
}

fn exact(answer: &Answer, value: &Value) -> Judged {
    // An expected text is compared as text, even if the answer is valid JSON.
    let found = if value.is_string() {
        Value::String(answer.text.clone())
    } else {
        answer.value()
    };
    let expected = short(&value.to_string());
    if same(value, &found) || same(value, &answer.value()) {
        return pass(expected, "it");
    }
    let at = parting(value, &found, "$".to_owned());
    fail(
        expected,
        format!("{}, another at {at}", short(&found.to_string())),
    )
}

/// The schema of an expectation, inline or from a file beside the case.
pub(in crate::eval) fn schema(beside: &dyn Files, schema: &Frozen) -> Result<Value, String> {
    match schema {
        Frozen::Value(schema) => Ok(schema.clone()),
        Frozen::File(path) => beside
            .text(path)
            .and_then(|text| serde_json::from_str(&text).map_err(|error| error.to_string()))
            .map_err(|why| format!("{path} cannot be read: {why}"))
            .and_then(|schema| schemas::sound(path, schema)),
    }
}

fn fits(case: &Judging<'_>, answer: &Answer, schema: &Frozen) -> Judged {
    let expected = match schema {
        Frozen::File(path) => format!("an answer that fits {path}"),
        Frozen::Value(_) => "an answer that fits the schema".to_owned(),
    };
    let Some(json) = &answer.json else {
        return blind(expected, no_json(answer));
    };
    match self::schema(case.input.beside, schema)
        .and_then(|schema| json_schema::violations(&schema, json))
    {
        Ok(violations) => match violations.split_first() {
            None => pass(expected, "that"),
            Some((first, rest)) => {
                let reason = Reason::new(expected, first.clone());
                (
                    Outcome::Fail,
                    rest.iter()
                        .fold(reason, |reason, one| reason.hint(format!("and {one}"))),
                )
            }
        },
        Err(why) => blind(expected, why),
    }
}
