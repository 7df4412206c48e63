//! Each expectation on an answer holds and fails, or reports why it could not be judged; scripts
//! and trials.

use super::bench::{Setting, TRIAGE, answering, at, finish, registry, word, words};
use ctxc::internals::eval::case_result::{AnswerOrigin, CaseResult, CaseVerdict};
use ctxc::internals::eval::trials::TrialPolicy;
use ctxc::internals::eval::verdict::ExpectationOutcome;
use ctxc::internals::scenario::expect::judge::JudgeTest;
use ctxc::internals::scenario::expect::own_check::{CheckProgram, OwnCheck};
use ctxc::internals::scenario::expect::trajectory::{ExpectedCall, Matching, Trajectory};
use ctxc::internals::scenario::model::{
    AnswerTest, FrozenValue, Risk, ScenarioCase, ScriptedAnswer, SequentialRule, TrialRule,
};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

fn one(reply: Value, test: AnswerTest) -> (ExpectationOutcome, String) {
    let done = finish(&answering(reply, vec![test]));
    let verdict = &done
        .trials
        .first()
        .unwrap_or_else(|| panic!("{done:?}"))
        .verdicts[0];
    let expected = match verdict.outcome {
        ExpectationOutcome::Pass => CaseVerdict::Pass,
        ExpectationOutcome::Skipped => CaseVerdict::Inconclusive,
        ExpectationOutcome::Fail => CaseVerdict::Fail,
    };
    assert_eq!(done.verdict, expected);
    let mut told = format!(
        "expected {}, found {}",
        verdict.reason.expected, verdict.reason.found
    );
    for advice in &verdict.reason.advice {
        told.push_str("; ");
        told.push_str(advice);
    }
    (verdict.outcome, told)
}

fn holds(reply: Value, test: AnswerTest) {
    let (outcome, told) = one(reply, test);
    assert_eq!(outcome, ExpectationOutcome::Pass, "{told}");
}

fn fails(reply: Value, test: AnswerTest) -> String {
    let (outcome, told) = one(reply, test);
    assert_eq!(outcome, ExpectationOutcome::Fail, "{told}");
    told
}

fn field(path: &str, pattern: &str) -> AnswerTest {
    AnswerTest::FieldMatches {
        path: word(path),
        pattern: word(pattern),
    }
}

#[test]
fn fields_match_patterns() {
    let reply = || json!({"team": "billing", "tags": ["a1", "b2"], "n": 7});
    holds(reply(), field("$.team", "^bill"));
    holds(reply(), field("$.tags[*]", "[0-9]$"));
    holds(reply(), field("$.n", "^7$"));
    assert_eq!(
        fails(reply(), field("$.tags[*]", "^a")),
        "expected $.tags[*] to match /^a/, found “b2” at $['tags'][1]"
    );
    assert!(fails(reply(), field("$.nothing", ".")).contains("found nothing at $.nothing in {"));
    assert!(fails(json!("words"), field("$.team", ".")).contains("found no JSON: “words”"));
    assert!(fails(reply(), field("team", ".")).contains("`team` is not a valid JSONPath"));
    // JSON inside a text is JSON.
    holds(json!("{\"team\": \"data\"}"), field("$.team", "data"));
}

#[test]
fn texts_contain_or_lack() {
    holds(
        json!("all is well"),
        AnswerTest::Contains(words(&["well", "^all"])),
    );
    assert_eq!(
        fails(
            json!("all is well"),
            AnswerTest::Contains(words(&["ill"])).clone()
        )
        .as_str(),
        "expected /ill/, found it nowhere in “all is well”"
    );
    holds(json!("all is well"), AnswerTest::Absent(words(&["refund"])));
    assert_eq!(
        fails(json!("a refund"), AnswerTest::Absent(words(&["refund"]))),
        "expected no /refund/, found “refund”"
    );
    holds(
        json!("see docs/a.md"),
        AnswerTest::ReferencesFiles(words(&["docs/a.md"])),
    );
    assert!(
        fails(
            json!("see docs"),
            AnswerTest::ReferencesFiles(words(&["docs/a.md"]))
        )
        .contains("`docs/a.md` to be mentioned")
    );
}

#[test]
fn risk_parts_tokens_and_tools() {
    holds(
        json!({"risk": "low", "risk_level": "medium"}),
        AnswerTest::MaxRisk(Risk::Medium),
    );
    assert!(
        fails(
            json!({"risk_level": "critical"}),
            AnswerTest::MaxRisk(Risk::High)
        )
        .contains("found critical at $.risk_level")
    );
    assert!(fails(json!({"a": 1}), AnswerTest::MaxRisk(Risk::Critical)).contains("found none"));
    assert!(
        fails(json!({"risk": "huge"}), AnswerTest::MaxRisk(Risk::Critical))
            .contains("which is not a risk")
    );
    holds(json!({"subtasks": [1, 2]}), AnswerTest::Decomposes(true));
    holds(
        json!({"status": "CONTINUATION"}),
        AnswerTest::Decomposes(true),
    );
    holds(json!({"subtasks": [1]}), AnswerTest::Decomposes(false));
    assert!(
        fails(json!({"subtasks": [1]}), AnswerTest::Decomposes(true))
            .contains("two or more parts at $.subtasks, found 1")
    );
    holds(json!("x"), AnswerTest::MaxTokens(120));
    assert_eq!(
        fails(json!("x"), AnswerTest::MaxTokens(119)),
        "expected at most 119 tokens, found 120: 100 in, 20 out"
    );
    let calling = |test| {
        let mut case = answering(json!("done"), vec![test]);
        case.answers[0].value.tool_calls = vec![("read_file".to_owned(), json!({"path": "a"}))];
        finish(&case).trials[0].verdicts[0].outcome
    };
    assert_eq!(
        calling(AnswerTest::CallsTool(word("read_file"))),
        ExpectationOutcome::Pass
    );
    assert_eq!(
        calling(AnswerTest::CallsTool(word("write_file"))),
        ExpectationOutcome::Fail
    );
    assert_eq!(
        calling(AnswerTest::NeverCallsTool(word("read_file"))),
        ExpectationOutcome::Fail
    );
    assert_eq!(
        calling(AnswerTest::NeverCallsTool(word("write_file"))),
        ExpectationOutcome::Pass
    );
}

/// A call: its tool, its arguments, and the pattern of one.
type Call<'c> = (&'c str, Value, Option<(&'c str, &'c str)>);

/// The outcome of a trajectory for a trial that looks an order up, refunds it and looks another one
/// up.
fn trajectory(matching: Matching, calls: &[Call<'_>]) -> (ExpectationOutcome, String) {
    let call = |(name, arguments, pattern): &Call<'_>| ExpectedCall {
        name: word(name),
        arguments: arguments
            .as_object()
            .into_iter()
            .flatten()
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect(),
        patterns: pattern
            .iter()
            .map(|(name, pattern)| ((*name).to_owned(), word(pattern)))
            .collect(),
    };
    let expected = Trajectory {
        matching,
        calls: calls.iter().map(call).collect(),
    };
    let mut case = answering(json!("done"), vec![AnswerTest::Trajectory(expected)]);
    case.answers[0].value.tool_calls = [
        ("lookup", json!({"order": 4711, "deep": true})),
        ("refund", json!({"order": 4711, "note": "late by a day"})),
        ("lookup", json!({"order": 9})),
    ]
    .map(|(name, given)| (name.to_owned(), given))
    .to_vec();
    let done = finish(&case);
    let verdict = &done.trials[0].verdicts[0];
    (
        verdict.outcome,
        format!(
            "expected {}, found {}",
            verdict.reason.expected, verdict.reason.found
        ),
    )
}

#[test]
fn calls_of_tools_go_together_with_a_list() {
    use Matching::{Strict, Subset, Superset, Unordered};
    let any = |name: &'static str| (name, Value::Null, None);
    let order = |name: &'static str, order: u32| (name, json!({"order": order}), None);
    let whole = [
        order("lookup", 4711),
        ("refund", json!({"order": 4711.0}), Some(("note", "late"))),
        any("look*"),
    ];
    let turned = [whole[2].clone(), whole[0].clone(), whole[1].clone()];
    for (matching, calls) in [
        (Strict, &whole[..]),
        (Unordered, &whole),
        (Subset, &whole),
        (Superset, &whole),
        // The first of the list fits both lookups, and leaves the one to the other that fits that
        // alone.
        (Unordered, &turned),
        (Superset, &turned),
        (Superset, &turned[..1]),
        (
            Subset,
            &[any("refund"), any("*"), any("lookup"), any("pay")],
        ),
    ] {
        let (outcome, told) = trajectory(matching, calls);
        assert_eq!(
            outcome,
            ExpectationOutcome::Pass,
            "{matching:?} {calls:?} {told}"
        );
    }
    let third = "call 3 of 3: `lookup` with {\"order\":9}";
    for (matching, calls, told) in [
        (Strict, &turned[..], "expected call 2 to be `lookup` with `order` 4711, found call 2 of 3: `refund` with {\"order\":4711,\"note\":\"late by a day\"}".to_owned()),
        (Strict, &whole[..2], format!("expected no call after `lookup` with `order` 4711, `refund` with `order` 4711.0 and `note` matching /late/, found {third}")),
        (Strict, &[any("lookup"), any("refund"), any("lookup"), any("pay")], "expected call 4 to be `pay`, found no more than calls of `lookup`, `refund`, `lookup`".to_owned()),
        (Unordered, &[any("lookup"), any("refund")], format!("expected no call but `lookup`, `refund`, found {third}")),
        (Subset, &[any("lookup"), any("refund"), any("pay")], format!("expected no call but `lookup`, `refund`, `pay`, found {third}")),
        (Superset, &[order("refund", 12)], "expected a call of `refund` with `order` 12, found call 2 of 3: `refund` with {\"order\":4711,\"note\":\"late by a day\"}".to_owned()),
        (Superset, &[any("pay")], "expected a call of `pay`, found calls of `lookup`, `refund`, `lookup`".to_owned()),
        (Superset, &[any("refund"), any("refund")], "expected a call of `refund`, found calls of `lookup`, `refund`, `lookup`, and each call counts once".to_owned()),
        (Superset, &[("refund", Value::Null, Some(("note", "early")))], "expected a call of `refund` with `note` matching /early/, found call 2 of 3: `refund` with {\"order\":4711,\"note\":\"late by a day\"}".to_owned()),
        (Superset, &[("refund", Value::Null, Some(("nothing", ".*")))], "expected a call of `refund` with `nothing` matching /.*/, found call 2 of 3: `refund` with {\"order\":4711,\"note\":\"late by a day\"}".to_owned()),
    ] {
        assert_eq!(trajectory(matching, calls), (ExpectationOutcome::Fail, told), "{matching:?} {calls:?}");
    }
}

#[test]
fn what_is_not_there_is_not_what_was_ruled_out() {
    let not = |test: AnswerTest| AnswerTest::Not(Box::new(at(test)));
    let high = |path: &str| AnswerTest::FieldMatches {
        path: word(path),
        pattern: word("high"),
    };
    holds(json!({"risk": "low"}), not(high("$.risk")));
    assert!(fails(json!({"risk_lvl": "high"}), not(high("$.risk"))).contains("nothing at $.risk"));
    assert!(
        fails(
            json!({"risk_lvl": "high"}),
            not(AnswerTest::MaxRisk(Risk::Medium))
        )
        .contains("neither `risk_level` nor `risk`")
    );
    assert!(
        fails(
            json!({"risk": "hihg"}),
            not(AnswerTest::MaxRisk(Risk::Medium))
        )
        .contains("which is not a risk")
    );
    // A text within JSON is compared without its escapes.
    let said = json!({"t": "say \"refund\""});
    holds(
        said.clone(),
        AnswerTest::Contains(words(&[r#"say "refund""#])),
    );
    fails(said, not(AnswerTest::Contains(words(&[r#"say "refund""#]))));
}

#[test]
fn what_is_ruled_out_is_ruled_out_as_it_is_meant_and_in_what_tools_are_given() {
    let absent = |pattern: &str| AnswerTest::Absent(words(&[pattern]));
    let reply = json!({"t": "say \"refund\"", "u": ["a\nb", 4111], "empty": ""});
    for pattern in [r#"say "refund""#, "a\nb", "^4111$", "refund"] {
        assert!(
            fails(reply.clone(), absent(pattern)).starts_with(&format!("expected no /{pattern}/")),
            "{pattern}"
        );
    }
    holds(reply, absent("^$"));
    let mut case = answering(json!("done"), vec![absent("hunter2")]);
    case.answers[0].value.tool_calls = vec![(
        "mail".to_owned(),
        json!({"to": ["a"], "body": "password hunter2"}),
    )];
    assert_eq!(
        finish(&case).trials[0].verdicts[0].outcome,
        ExpectationOutcome::Fail
    );
}

#[test]
fn an_answer_of_tool_calls_alone_has_no_text_and_its_arguments_count() {
    let calling = |tests, body: &str| {
        let mut case = answering(Value::Null, tests);
        case.answers[0].value.tool_calls = vec![("mail".to_owned(), json!({"body": body}))];
        case.answers[0].value.usage = None;
        finish(&case)
    };
    let none = calling(
        vec![
            AnswerTest::Absent(words(&["null"])),
            AnswerTest::Exact(json!("")),
        ],
        "x",
    );
    assert_eq!(none.verdict, CaseVerdict::Pass, "{none:?}");
    let (few, many) = (
        calling(vec![AnswerTest::MaxTokens(100)], "x"),
        calling(vec![AnswerTest::MaxTokens(100)], &"word ".repeat(90)),
    );
    assert_eq!(
        (few.verdict, many.verdict),
        (CaseVerdict::Pass, CaseVerdict::Fail)
    );
    // `mail`, and `{"body":"x"}`, at four bytes a token.
    assert_eq!(few.trials[0].tokens.1, 1 + 3);
}

#[test]
fn exact_answers_and_schemas() {
    holds(
        json!("{\"b\": 1.0, \"a\": [true]}"),
        AnswerTest::Exact(json!({"a": [true], "b": 1})),
    );
    holds(json!("yes"), AnswerTest::Exact(json!("yes")));
    assert!(
        fails(
            json!({"a": [1, 2]}),
            AnswerTest::Exact(json!({"a": [1, 3]}))
        )
        .contains("another at $.a[1]")
    );
    let schema = || json!({"type": "object", "required": ["team"], "properties": {"team": {"enum": ["data"]}}});
    holds(
        json!({"team": "data"}),
        AnswerTest::Schema(FrozenValue::Value(schema())),
    );
    let told = fails(
        json!({"team": 3}),
        AnswerTest::Schema(FrozenValue::Value(schema())),
    );
    assert!(told.contains("found /team: 3 is not one of"), "{told}");
    assert!(
        fails(
            json!({}),
            AnswerTest::Schema(FrozenValue::Value(json!({"type": 3})))
        )
        .contains("it is not a valid JSON Schema")
    );
    let file = answering(
        json!({"team": "data"}),
        vec![AnswerTest::Schema(FrozenValue::File(
            "team.json".to_owned(),
        ))],
    );
    let registry = registry(TRIAGE);
    let mut setting = Setting::of(&registry);
    assert_eq!(setting.finish(&file).verdict, CaseVerdict::Fail);
    setting
        .beside
        .insert("team.json".to_owned(), schema().to_string());
    assert_eq!(setting.finish(&file).verdict, CaseVerdict::Pass);
    // No schema reaches outside itself.
    let remote = json!({"$ref": "https://example.com/a.json"});
    assert!(
        fails(json!({}), AnswerTest::Schema(FrozenValue::Value(remote)))
            .contains("it is not a valid JSON Schema")
    );
}

#[test]
fn what_only_a_model_a_clock_or_a_command_could_say_is_skipped() {
    let skipped = [
        AnswerTest::MaxLatency(1),
        AnswerTest::MaxCost(0.1),
        AnswerTest::Rubric(word("polite")),
        AnswerTest::Judge(JudgeTest {
            rubric: None,
            criteria: words(&["polite"]),
            min_score: 0.5,
        }),
        AnswerTest::Own(OwnCheck {
            what: CheckProgram::Command(words(&["true"])),
            timeout_s: 10,
        }),
    ];
    for test in skipped {
        let done = finish(&answering(json!("x"), vec![test.clone()]));
        assert_eq!(
            (done.verdict, done.answered),
            (CaseVerdict::Inconclusive, AnswerOrigin::NotJudged),
            "{test:?}"
        );
        assert_eq!(
            done.trials[0].verdicts[0].outcome,
            ExpectationOutcome::Skipped
        );
        // An expectation that could not be judged decides nothing, also inside others.
        let not = AnswerTest::Not(Box::new(at(test.clone())));
        assert_eq!(one(json!("x"), not).0, ExpectationOutcome::Skipped);
        let either = AnswerTest::AnyOf(vec![
            at(test.clone()),
            at(AnswerTest::Contains(words(&["x"]))),
        ]);
        assert_eq!(one(json!("x"), either).0, ExpectationOutcome::Pass);
        let both = AnswerTest::AllOf(vec![at(test), at(AnswerTest::Contains(words(&["y"])))]);
        assert_eq!(one(json!("x"), both).0, ExpectationOutcome::Fail);
    }
}

#[test]
fn a_failure_that_is_no_gate_only_informs() {
    let mut case = answering(
        json!("x"),
        vec![
            AnswerTest::Contains(words(&["y"])),
            AnswerTest::Contains(words(&["x"])),
        ],
    );
    case.expectations[0].value.gate = false;
    let done = finish(&case);
    assert_eq!(
        (done.verdict, done.trials[0].verdicts[0].outcome),
        (CaseVerdict::Pass, ExpectationOutcome::Fail)
    );
    case.expectations[0].value.gate = true;
    assert_eq!(finish(&case).verdict, CaseVerdict::Fail);
}

fn counts(done: &CaseResult) -> (CaseVerdict, usize, bool) {
    (done.verdict, done.trials.len(), done.stopped_early)
}

#[test]
fn trials_stop_once_they_are_certain() {
    let passing = answering(json!("x"), vec![AnswerTest::Contains(words(&["x"]))]);
    assert_eq!(counts(&finish(&passing)), (CaseVerdict::Pass, 2, true));
    let failing = ScenarioCase {
        rule: TrialRule {
            runs: 5,
            pass: 4,
            ..TrialRule::default()
        },
        ..answering(json!("x"), vec![AnswerTest::Contains(words(&["y"]))])
    };
    assert_eq!(counts(&finish(&failing)), (CaseVerdict::Fail, 2, true));
    let registry = registry(TRIAGE);
    let full = Setting {
        rows: TrialPolicy::RunAll,
        ..Setting::of(&registry)
    };
    assert_eq!(
        counts(&full.finish(&failing)),
        (CaseVerdict::Fail, 5, false)
    );
    let test = SequentialRule {
        p0: 0.6,
        p1: 0.9,
        alpha: 0.05,
        beta: 0.1,
        max: 5,
    };
    let open = ScenarioCase {
        rule: TrialRule {
            sequential: Some(test),
            ..TrialRule::default()
        },
        ..passing
    };
    assert_eq!(
        counts(&finish(&open)),
        (CaseVerdict::Inconclusive, 5, false)
    );
}

#[test]
fn the_first_script_whose_patterns_hold_answers() {
    let script = |has: &[&str], lacks: &[&str], reply: &str| {
        at(ScriptedAnswer {
            node: None,
            has: words(has),
            lacks: words(lacks),
            reply: json!(reply),
            tool_calls: Vec::new(),
            usage: None,
            end: None,
        })
    };
    let mut case = answering(json!(""), vec![AnswerTest::Contains(words(&["^second$"]))]);
    case.answers = vec![
        script(&["invoice", "password"], &[], "first"),
        script(&["invoice", "^You"], &["password"], "second"),
        script(&[], &[], "third"),
    ];
    let done = finish(&case);
    assert_eq!(
        (done.verdict, done.answered),
        (CaseVerdict::Pass, AnswerOrigin::Scripted)
    );
    // Tokens that the script does not give are counted.
    assert_eq!(done.trials[0].tokens, (done.tokens.unwrap().0, 2));
    case.answers.truncate(1);
    let none = finish(&case);
    assert_eq!(none.verdict, CaseVerdict::Error);
    assert_eq!(
        none.trouble.as_deref(),
        Some("none of the 1 scripted answers is for this request: no `when` holds")
    );
    // A missing answer never passes in silence.
    case.answers.clear();
    let unrecorded = finish(&case);
    assert_eq!(
        (unrecorded.verdict, unrecorded.answered),
        (CaseVerdict::Inconclusive, AnswerOrigin::NotRecorded)
    );
    assert_eq!(unrecorded.trials, Vec::new());
}

/// Numbers are compared by value, at any size and in any notation.
#[test]
fn numbers_are_compared_as_what_they_are_worth() {
    let exact = AnswerTest::Exact;
    holds(json!(1), exact(json!(1.0)));
    holds(json!({"n": 1e3}), exact(json!({"n": 1000})));
    holds(json!(0.5), exact(json!(0.5)));
    holds(json!(-0.0), exact(json!(0)));
    holds(json!(u64::MAX), exact(json!(u64::MAX)));
    fails(
        json!(9_007_199_254_740_993_u64),
        exact(json!(9_007_199_254_740_992_u64)),
    );
    fails(
        json!(9_007_199_254_740_993_u64),
        exact(json!(9_007_199_254_740_992.0)),
    );
    fails(json!(u64::MAX), exact(json!(u64::MAX - 1)));
    fails(json!(0.5), exact(json!(0)));
}

#[test]
fn tools_are_named_by_patterns_too() {
    let done = |test: AnswerTest| {
        let mut case = answering(json!("done"), vec![test]);
        case.answers[0].value.tool_calls = vec![
            ("fs.read_file".to_owned(), json!({})),
            ("shell".to_owned(), json!({})),
        ];
        finish(&case).verdict
    };
    for (pattern, is_called) in [
        ("fs.*", true),
        ("*file", true),
        ("fs.*_*", true),
        ("*", true),
        ("sh*ell", true),
        ("shell*", true),
        ("fs.read*read_file", false),
        ("read*", false),
        ("shells*", false),
        ("sh", false),
        ("", false),
    ] {
        let (yes, no) = if is_called {
            (CaseVerdict::Pass, CaseVerdict::Fail)
        } else {
            (CaseVerdict::Fail, CaseVerdict::Pass)
        };
        assert_eq!(done(AnswerTest::CallsTool(word(pattern))), yes, "{pattern}");
        assert_eq!(
            done(AnswerTest::NeverCallsTool(word(pattern))),
            no,
            "{pattern}"
        );
    }
}

/// A test that only a judge model could decide neither passes nor fails without one.
#[test]
fn a_choice_that_hangs_on_a_judge_is_open() {
    let contains = |pattern: &str| at(AnswerTest::Contains(words(&[pattern])));
    let rubric = || at(AnswerTest::Rubric(word("it is kind")));
    let verdict = |tests: Vec<AnswerTest>| finish(&answering(json!("all is well"), tests)).verdict;
    let well = || AnswerTest::Contains(words(&["well"]));
    assert_eq!(
        verdict(vec![
            well(),
            AnswerTest::AnyOf(vec![contains("sad"), rubric()])
        ]),
        CaseVerdict::Inconclusive
    );
    assert_eq!(
        verdict(vec![AnswerTest::AnyOf(vec![contains("sad"), rubric()])]),
        CaseVerdict::Inconclusive
    );
    assert_eq!(
        verdict(vec![
            well(),
            AnswerTest::AnyOf(vec![contains("all"), rubric()])
        ]),
        CaseVerdict::Pass
    );
    assert_eq!(
        verdict(vec![well(), AnswerTest::AnyOf(vec![contains("sad")])]),
        CaseVerdict::Fail
    );
    let nested = AnswerTest::AnyOf(vec![at(AnswerTest::AnyOf(vec![contains("sad"), rubric()]))]);
    assert_eq!(verdict(vec![well(), nested]), CaseVerdict::Inconclusive);
    // The same beside a test that holds, if it gates; and for an expectation that is not written
    // yet.
    for unjudged in [
        AnswerTest::Rubric(word("it is kind")),
        AnswerTest::Todo(word("it is kind")),
    ] {
        assert_eq!(
            verdict(vec![well(), unjudged.clone()]),
            CaseVerdict::Inconclusive
        );
        assert_eq!(
            verdict(vec![
                AnswerTest::Not(Box::new(at(unjudged.clone()))),
                well()
            ]),
            CaseVerdict::Inconclusive
        );
        assert_eq!(
            verdict(vec![
                AnswerTest::Contains(words(&["sad"])),
                unjudged.clone()
            ]),
            CaseVerdict::Fail
        );
        let mut informs = answering(json!("all is well"), vec![well(), unjudged]);
        informs.expectations[1].value.gate = false;
        assert_eq!(finish(&informs).verdict, CaseVerdict::Pass);
    }
    // A test that fails in any case fails.
    let sad = AnswerTest::Contains(words(&["sad"]));
    assert_eq!(
        verdict(vec![
            sad,
            AnswerTest::AnyOf(vec![contains("sad"), rubric()])
        ]),
        CaseVerdict::Fail
    );
}
