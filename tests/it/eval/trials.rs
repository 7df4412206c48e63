//! Trials end when the verdict is certain, and never change it.

use ctxc::internals::eval::trials::{Decision, TrialOutcome, decide, most};
use ctxc::internals::scenario::model::{Rule, Sequential};
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
    let rule = Rule::default();
    let of = |word: &str| decide(&rule, &tried(word));
    assert_eq!(
        (of(""), of("+"), of("-"), of("+-")),
        (
            Decision::Open,
            Decision::Open,
            Decision::Open,
            Decision::Open
        )
    );
    assert_eq!(
        (of("++"), of("+-+"), of("--"), of("-+-")),
        (
            Decision::Pass,
            Decision::Pass,
            Decision::Fail,
            Decision::Fail
        )
    );
}

#[test]
fn curtailment_never_changes_a_verdict() {
    for runs in 1..=7_u32 {
        for pass in 1..=runs {
            let rule = Rule {
                runs,
                pass,
                ..Rule::default()
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
                    Decision::Pass
                } else {
                    Decision::Fail
                };
                let first = (0..=row.len())
                    .map(|end| decide(&rule, &row[..end]))
                    .find(|one| *one != Decision::Open);
                assert_eq!(first, Some(whole), "{runs} {pass} {bits:b}");
            }
        }
    }
}

#[test]
fn a_sequential_test_ends_early_or_says_that_it_cannot_tell() {
    let test = Sequential {
        p0: 0.6,
        p1: 0.9,
        alpha: 0.05,
        beta: 0.1,
        max: 12,
    };
    let rule = Rule {
        sequential: Some(test),
        ..Rule::default()
    };
    // ln(0.9 / 0.05) / ln(0.9 / 0.6) = 7.1; ln(0.1 / 0.95) / ln(0.1 / 0.4) = 1.6
    assert_eq!(decide(&rule, &tried("+++++++")), Decision::Open);
    assert_eq!(decide(&rule, &tried("++++++++")), Decision::Pass);
    assert_eq!(
        (decide(&rule, &tried("-")), decide(&rule, &tried("--"))),
        (Decision::Open, Decision::Fail)
    );
    assert_eq!(
        decide(&rule, &tried("+++-++++-+++")),
        Decision::Inconclusive
    );
    assert_eq!(most(&rule), 12);
}
