//! Trials end when the verdict is certain, and never change it.

use ctxc::internals::eval::trials::{TrialDecision, TrialOutcome, decide_trials, max_trials};
use ctxc::internals::scenario::model::{SequentialRule, TrialRule};
use pretty_assertions::assert_eq;

fn tried(word: &str) -> Vec<TrialOutcome> {
    word.chars()
        .map(|c| {
            if c == '+' {
                TrialOutcome::Passed
            } else {
                TrialOutcome::Failed
            }
        })
        .collect()
}

#[test]
fn a_case_stops_once_its_verdict_is_certain() {
    let rule = TrialRule::default();
    let of = |word: &str| decide_trials(&rule, &tried(word));
    assert_eq!(
        (of(""), of("+"), of("-"), of("+-")),
        (
            TrialDecision::Open,
            TrialDecision::Open,
            TrialDecision::Open,
            TrialDecision::Open
        )
    );
    assert_eq!(
        (of("++"), of("+-+"), of("--"), of("-+-")),
        (
            TrialDecision::Pass,
            TrialDecision::Pass,
            TrialDecision::Fail,
            TrialDecision::Fail
        )
    );
}

#[test]
fn curtailment_never_changes_a_verdict() {
    for runs in 1..=7_u32 {
        for pass in 1..=runs {
            let rule = TrialRule {
                runs,
                pass,
                ..TrialRule::default()
            };
            for bits in 0..1_u32 << runs {
                let row: Vec<TrialOutcome> = (0..runs)
                    .map(|at| {
                        if bits >> at & 1 == 1 {
                            TrialOutcome::Passed
                        } else {
                            TrialOutcome::Failed
                        }
                    })
                    .collect();
                let whole = if bits.count_ones() >= pass {
                    TrialDecision::Pass
                } else {
                    TrialDecision::Fail
                };
                let first = (0..=row.len())
                    .map(|end| decide_trials(&rule, &row[..end]))
                    .find(|one| *one != TrialDecision::Open);
                assert_eq!(first, Some(whole), "{runs} {pass} {bits:b}");
            }
        }
    }
}

#[test]
fn a_sequential_test_ends_early_or_reports_that_it_cannot_tell() {
    let test = SequentialRule {
        p0: 0.6,
        p1: 0.9,
        alpha: 0.05,
        beta: 0.1,
        max: 12,
    };
    let rule = TrialRule {
        sequential: Some(test),
        ..TrialRule::default()
    };
    // ln(0.9 / 0.05) / ln(0.9 / 0.6) = 7.1; ln(0.1 / 0.95) / ln(0.1 / 0.4) = 1.6
    assert_eq!(decide_trials(&rule, &tried("+++++++")), TrialDecision::Open);
    assert_eq!(
        decide_trials(&rule, &tried("++++++++")),
        TrialDecision::Pass
    );
    assert_eq!(
        (
            decide_trials(&rule, &tried("-")),
            decide_trials(&rule, &tried("--"))
        ),
        (TrialDecision::Open, TrialDecision::Fail)
    );
    assert_eq!(
        decide_trials(&rule, &tried("+++-++++-+++")),
        TrialDecision::Inconclusive
    );
    assert_eq!(max_trials(&rule), 12);
}
