//! Scores: the weighted mean of expectations, which nothing that is missing ever raises.

use super::bench::{Setting, TRIAGE, answering, registry, words};
use ctxc::internals::base::span::Span;
use ctxc::internals::eval::case_result::{CaseResult, CaseVerdict};
use ctxc::internals::eval::groups::{ScoreRow, ThresholdsRow};
use ctxc::internals::eval::score::TrialScore;
use ctxc::internals::eval::scorecard::{CaseRow, Scorecard, SuiteRow};
use ctxc::internals::eval::statistics::k_trial_rates;
use ctxc::internals::eval::verdict::{ExpectationOutcome, ExpectationVerdict, Reason, ScorePart};
use ctxc::internals::scenario::model::{AnswerTest, ScenarioCase};
use pretty_assertions::assert_eq;
use proptest::prelude::*;
use serde_json::json;

const OUTCOMES: [ExpectationOutcome; 3] = [
    ExpectationOutcome::Pass,
    ExpectationOutcome::Fail,
    ExpectationOutcome::Skipped,
];

/// An expectation with its verdict, the score of its own, and its weight.
type Part = (usize, Option<f64>, f64);

fn verdict((outcome, graded, weight): Part) -> ExpectationVerdict {
    let outcome = OUTCOMES[outcome];
    ExpectationVerdict {
        what: String::new(),
        outcome,
        gate: true,
        reason: Reason::default(),
        span: Span::empty_at(0),
        part: Some(ScorePart::new(outcome, graded, weight)),
    }
}

fn parts() -> impl Strategy<Value = Vec<Part>> {
    let graded = prop::option::of(0.0..=1.0_f64);
    prop::collection::vec((0..3_usize, graded, 0.001..1000.0_f64), 1..12)
}

fn weight(parts: &[Part]) -> f64 {
    parts.iter().map(|part| part.2).sum()
}

proptest! {
    #[test]
    fn no_part_that_is_skipped_or_missing_raises_a_score(parts in parts(), at in 0..12_usize) {
        let all = weight(&parts);
        let verdicts: Vec<_> = parts.iter().copied().map(verdict).collect();
        let before = TrialScore::new(&verdicts, all);
        prop_assert!((0.0..=1.0).contains(&before.value) && before.value <= before.upper_bound);
        let at = at % parts.len();
        let mut skipped = verdicts.clone();
        skipped[at] = verdict((2, parts[at].1, parts[at].2));
        let mut missing = verdicts;
        missing.remove(at);
        for now in [skipped, missing] {
            prop_assert!(TrialScore::new(&now, all).value <= before.value);
        }
    }

    #[test]
    fn no_scenario_without_a_result_helps_its_suite(
        rows in prop::collection::vec((prop::option::of(0.0..=1.0_f64), any::<bool>()), 1..8),
        at in 0..8_usize,
        limit in 0.01..=1.0_f64,
    ) {
        let at = at % rows.len();
        let of = |rows: &[(Option<f64>, bool)], open: Option<usize>| {
            let rows = rows.iter().enumerate().map(|(index, (score, passes))| CaseRow {
                path: "s.yaml".to_owned(),
                verdict: match (open == Some(index), *passes) {
                    (true, _) => "error",
                    (false, true) => "pass",
                    (false, false) => "fail",
                }.to_owned(),
                score: Some(ScoreRow { value: score.filter(|_| open != Some(index)), min: None }),
                ..CaseRow::default()
            });
            let card = card(rows.collect(), limit);
            [0, 1].map(|index| (card.thresholds[index].value, card.thresholds[index].verdict.clone()))
        };
        for (before, after) in of(&rows, None).into_iter().zip(of(&rows, Some(at))) {
            prop_assert!(after.0 <= before.0, "{before:?} {after:?}");
            prop_assert!(before.1 == "pass" || after.1 != "pass", "{before:?} {after:?}");
        }
    }
}

fn card(rows: Vec<CaseRow>, limit: f64) -> Scorecard {
    let suite = SuiteRow {
        path: "s.yaml".to_owned(),
        id: "s".to_owned(),
        name: None,
        version: None,
        thresholds: Some(ThresholdsRow {
            min_score: Some(limit),
            pass_rate: Some(limit),
            cases: rows.len(),
        }),
    };
    let hash = ctxc::internals::base::hash::Hash::digest(b"");
    Scorecard::new(hash, "estimate", vec![suite], rows)
}

#[test]
fn chances_of_k_trials_are_unbiased() {
    let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} {b}");
    let rates = |passed, trials, k| {
        k_trial_rates(passed, trials, k).map(|one| (one.pass_at_k, one.pass_hat_k))
    };
    let (any, all) = rates(3, 10, 5).unwrap();
    close(any, 1.0 - 21.0 / 252.0);
    close(all, 0.0);
    let (any, all) = rates(8, 10, 3).unwrap();
    close(any, 1.0);
    close(all, 56.0 / 120.0);
    assert_eq!(
        [rates(1, 2, 3), rates(1, 2, 0), rates(0, 0, 1)],
        [None, None, None]
    );
    // Their mean over all outcomes of n trials is the true chance.
    for (n, k, p) in [(5_u32, 2_u32, 0.3_f64), (7, 7, 0.6), (6, 1, 0.05)] {
        let power = |base: f64, exponent: u32| base.powf(f64::from(exponent));
        let (mut any, mut all, mut chance) = (0.0, 0.0, power(1.0 - p, n));
        for passed in 0..=n {
            let (one, every) = rates(passed, n, k).unwrap();
            any += chance * one;
            all += chance * every;
            chance *= f64::from(n - passed) / f64::from(passed + 1) * p / (1.0 - p);
        }
        close(any, 1.0 - power(1.0 - p, k));
        close(all, power(p, k));
    }
}

fn scored(min: f64, tests: Vec<(AnswerTest, f64)>) -> ScenarioCase {
    let weights: Vec<f64> = tests.iter().map(|test| test.1).collect();
    let tests = tests.into_iter().map(|test| test.0).collect();
    let mut case = ScenarioCase {
        is_scored: true,
        ..answering(json!("billing"), tests)
    };
    case.rule.min_score = Some(min);
    for (one, weight) in case.expectations.iter_mut().zip(weights) {
        one.value.weight = Some(weight);
    }
    case
}

fn finish(case: &ScenarioCase) -> CaseResult {
    Setting::of(&registry(TRIAGE)).finish(case)
}

fn contains(word: &str) -> AnswerTest {
    AnswerTest::Contains(words(&[word]))
}

#[test]
fn a_trial_passes_from_its_minimum_score_on() {
    let tests = || vec![(contains("bill"), 3.0), (contains("sorry"), 1.0)];
    let of = |min, tests| {
        let done = finish(&scored(min, tests));
        (done.verdict, done.trials.len(), done.trials[0].score)
    };
    assert_eq!(of(0.75, tests()), (CaseVerdict::Pass, 3, Some(0.75)));
    assert_eq!(of(0.76, tests()), (CaseVerdict::Fail, 3, Some(0.75)));
    // Time is not measured here: it counts as 0, and decides nothing that it could turn.
    let timed = |weight| vec![(contains("bill"), 3.0), (AnswerTest::MaxLatency(9), weight)];
    assert_eq!(of(0.7, timed(1.0)), (CaseVerdict::Pass, 3, Some(0.75)));
    assert_eq!(of(0.8, timed(1.0)).0, CaseVerdict::Inconclusive);
    let late = vec![(contains("sorry"), 3.0), (AnswerTest::MaxLatency(9), 1.0)];
    assert_eq!(of(0.8, late), (CaseVerdict::Fail, 3, Some(0.0)));
    // An open expectation that cannot turn the score leaves it decided.
    let todo = vec![
        (contains("bill"), 3.0),
        (AnswerTest::Todo(super::bench::word("polite")), 1.0),
    ];
    assert_eq!(of(0.75, todo).0, CaseVerdict::Pass);
}

#[test]
fn what_only_informs_has_no_part_in_a_score() {
    let mut case = scored(1.0, vec![(contains("bill"), 1.0), (contains("sorry"), 1.0)]);
    assert_eq!(finish(&case).verdict, CaseVerdict::Fail);
    case.expectations[1].value.gate = false;
    let done = finish(&case);
    assert_eq!(
        (done.verdict, done.trials[0].score),
        (CaseVerdict::Pass, Some(1.0))
    );
    let parts: Vec<bool> = done.trials[0]
        .verdicts
        .iter()
        .map(|one| one.part.is_some())
        .collect();
    assert_eq!(parts, [false, true, false]);
}
