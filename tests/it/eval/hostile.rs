//! Patterns, paths and schemas that are made to take for ever end in time, or are refused with a
//! reason.

use super::bench::{answering, finish, word, words};
use ctxc::internals::eval::verdict::ExpectationOutcome;
use ctxc::internals::scenario::model::{AnswerTest, FrozenValue};
use ctxc::internals::scenario::pattern;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// The outcome of a test on a reply, and the time limit for it.
fn told(reply: Value, test: AnswerTest) -> (ExpectationOutcome, String) {
    let limit = Duration::from_millis(if cfg!(debug_assertions) { 30_000 } else { 400 });
    let started = Instant::now();
    let done = finish(&answering(reply, vec![test]));
    assert!(started.elapsed() < limit, "{:?}", started.elapsed());
    let verdict = &done.trials[0].verdicts[0];
    (verdict.outcome, verdict.reason.found.clone())
}

fn nested(depth: usize) -> Value {
    (0..depth).fold(
        json!([[1], [1]]),
        |inner, _| json!({"a": inner, "b": [inner, 1]}),
    )
}

#[test]
fn no_path_leads_to_more_nodes_than_it_may() {
    let deep = (0..100).fold(json!(1), |inner, _| json!({ "a": [inner] }));
    let many: Vec<u32> = (0..3_000).collect();
    for (path, reply) in [
        (format!("${}", "..a".repeat(300)), deep.clone()),
        (format!("${}", "..*".repeat(40)), nested(6)),
        (
            format!("${}", "[*,*]".repeat(150)),
            (0..100).fold(json!(1), |inner, _| json!([inner])),
        ),
        (
            "$..[?@..a]..b".to_owned(),
            (0..30).fold(json!(1), |inner, _| json!({"a": inner, "b": many})),
        ),
        ("$[?count($..*) > 1]".to_owned(), json!(many)),
    ] {
        assert_eq!(pattern::check_path(&path), Ok(()), "{path}");
        let (outcome, found) = told(
            reply,
            AnswerTest::FieldMatches {
                path: word(&path),
                pattern: word("x"),
            },
        );
        assert_eq!(outcome, ExpectationOutcome::Fail);
        assert!(
            found.contains("is too complex: in ") && found.contains("2000000 nodes"),
            "{found}"
        );
    }
    // Ordinary tests are far from the limit.
    let steps: Vec<Value> = (0..1_000)
        .map(|at| json!({"name": format!("s{at}"), "tags": ["x"]}))
        .collect();
    for path in [
        "$..name",
        "$.steps[*].tags[0]",
        "$..tags[*]",
        "$.steps[?@.name == 's7'].name",
        "$['steps', 'none'][0, 1].name",
    ] {
        let reply = json!({"steps": steps, "none": []});
        assert_eq!(
            told(
                reply,
                AnswerTest::FieldMatches {
                    path: word(path),
                    pattern: word("^[sx]")
                }
            )
            .0,
            ExpectationOutcome::Pass,
            "{path}"
        );
    }
    // A filter does not compile patterns for each node.
    assert!(pattern::check_path("$[?match(@.a, '(a{1000}){1000}')]").is_err());
}

#[test]
fn what_a_pattern_unfolds_into_is_bounded_when_it_is_read() {
    for large in [
        "(?:a{1000}){1000}",
        r"\w{60}",
        r"(?:\pL{2}){40}",
        "((a{100}){100}){100}",
        ".{5000}",
        "x(?:[^a]{900}){9}",
    ] {
        let fault = pattern::find_fault(large).unwrap_or_else(|| panic!("{large}"));
        assert!(fault.reason.contains("it unfolds into"), "{}", fault.reason);
        let (_, found) = told(json!("a"), AnswerTest::Contains(words(&[large])));
        assert!(
            found.contains("is not a valid pattern: with its repetitions"),
            "{found}"
        );
    }
    // Every path that can be read can be compiled.
    for allowed in [
        r"\w{40}",
        "a{20000}",
        ".{3000}",
        r"(?i)(?:straße|gruß){100}",
        r"\d{3,80}-\d{3,80}",
        "(?:[a-z]{1,60}@[a-z]{1,60}\\.)+",
    ] {
        assert_eq!(pattern::find_fault(allowed), None, "{allowed}");
        let (_, found) = told(json!("-"), AnswerTest::Contains(words(&[allowed])));
        assert!(found.contains("nowhere in"), "{found}");
    }
}

#[test]
fn no_pattern_of_a_schema_steps_back_for_ever() {
    let text = "a".repeat(200_000) + "!";
    for pattern in ["^(a+)+$", "(a|a)*b", "^(a?){200}a{200}$"] {
        let schema = json!({"type": "string", "pattern": pattern});
        let (outcome, _) = told(
            json!(json!(text).to_string()),
            AnswerTest::Schema(FrozenValue::Value(schema)),
        );
        assert_eq!(outcome, ExpectationOutcome::Fail, "{pattern}");
    }
    // A pattern that is too large, or steps back, is not valid here.
    for pattern in ["(?:a{1000}){1000}", "^(?!b)"] {
        let (_, found) = told(
            json!("1"),
            AnswerTest::Schema(FrozenValue::Value(json!({ "pattern": pattern }))),
        );
        assert!(found.contains("it is not a valid JSON Schema"), "{found}");
    }
}

#[test]
fn no_schema_refers_to_itself_for_ever() {
    let twice =
        |to: &str| json!([{"$ref": format!("#/$defs/{to}")}, {"$ref": format!("#/$defs/{to}")}]);
    let defs = json!({"a": {"anyOf": twice("b")}, "b": {"anyOf": twice("c"), "not": {}},
        "c": {"properties": {"a": {"$ref": "#/$defs/a"}}}});
    let schema = json!({"$defs": defs, "$ref": "#/$defs/a"});
    let answer = (0..50).fold(json!(1), |inner, _| json!({"a": inner}));
    let (outcome, found) = told(answer, AnswerTest::Schema(FrozenValue::Value(schema)));
    assert_eq!(outcome, ExpectationOutcome::Fail);
    assert!(
        found.contains("the schema is too much for this value"),
        "{found}"
    );
}

#[test]
fn no_search_builds_automata_for_ever() {
    let mut seed = 1_u64;
    let letters = std::iter::repeat_with(|| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        if seed >> 40 & 1 == 0 { 'a' } else { 'b' }
    });
    let text: String = letters.take(200_000).collect();
    // A look back over this many letters takes more states than atoms exist.
    let (outcome, found) = told(
        json!(text),
        AnswerTest::Contains(words(&["(?:[ab]*a[ab]{900})c"])),
    );
    assert_eq!(outcome, ExpectationOutcome::Fail);
    assert!(
        found.contains("the pattern is too complex for a text of 200000 bytes"),
        "{found}"
    );
    // The text could not be searched, so its absence is not reported either.
    assert_eq!(
        told(
            json!(text),
            AnswerTest::Absent(words(&["(?:[ab]*a[ab]{900})c"]))
        )
        .0,
        ExpectationOutcome::Fail
    );
    for (pattern, outcome) in [
        ("a[ab]{30}b", ExpectationOutcome::Pass),
        (r"\bc\b", ExpectationOutcome::Fail),
        ("(a|b)+$", ExpectationOutcome::Pass),
        (r"\w+\W", ExpectationOutcome::Fail),
    ] {
        assert_eq!(
            told(json!(text), AnswerTest::Contains(words(&[pattern]))).0,
            outcome,
            "{pattern}"
        );
    }
    assert_eq!(
        told(
            json!("é: naïve"),
            AnswerTest::Contains(words(&[r"\bnaïve\b"]))
        )
        .0,
        ExpectationOutcome::Pass
    );
}

#[test]
fn a_schema_that_leads_to_itself_ends() {
    for schema in [json!({"$ref": "#"}), json!({"allOf": [{"$ref": "#"}]})] {
        told(json!("1"), AnswerTest::Schema(FrozenValue::Value(schema)));
    }
}
