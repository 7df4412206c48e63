//! Drift with a known truth: quiet series raise no alarm, planted changes are found.

use ctxc::internals::eval::drift::{DriftCause, DriftSignal, find_drift};
use ctxc::internals::project::eval::Eval;
use ctxc::internals::store::history::{CaseSeries, SeriesPoint, median};
use pretty_assertions::assert_eq;

const TRIALS: usize = 3;
const CASES: usize = 4_000;

/// Even numbers from 0 to 1 (the upper bits of a linear congruential generator), and normal ones of
/// two of them.
pub(super) struct Chance(pub(super) u64);

impl Chance {
    #[allow(clippy::cast_precision_loss, reason = "31 bits")]
    pub(super) fn even(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as f64 + 0.5) / (1_u64 << 31) as f64
    }

    fn normal(&mut self) -> f64 {
        (-2.0 * self.even().ln()).sqrt() * (std::f64::consts::TAU * self.even()).cos()
    }
}

/// The distribution of answers.
#[derive(Clone, Copy)]
struct Truth {
    tokens: f64,
    /// The standard deviation of tokens, as a part of the mean.
    spread: f64,
    latency: f64,
    /// The standard deviation of the logarithm of times.
    jitter: f64,
    passes: f64,
    splits: bool,
}

const USUAL: Truth = Truth {
    tokens: 1_000.0,
    spread: 0.2,
    latency: 800.0,
    jitter: 0.4,
    passes: 0.9,
    splits: false,
};

fn point(truth: Truth, chance: &mut Chance) -> SeriesPoint {
    let tokens: f64 = (0..TRIALS)
        .map(|_| truth.tokens * (1.0 + truth.spread * chance.normal()))
        .sum();
    let mut times: Vec<f64> = (0..TRIALS)
        .map(|_| truth.latency * (truth.jitter * chance.normal()).exp())
        .collect();
    let passed = (0..TRIALS).filter(|_| chance.even() < truth.passes).count();
    SeriesPoint {
        key: "k".to_owned(),
        passed: passed >= 2,
        tokens: Some(tokens / 3.0),
        latency: median(&mut times),
        classified: 3,
        splitting: if truth.splits { 3 } else { 0 },
    }
}

fn series(before: Truth, last: Truth, chance: &mut Chance) -> CaseSeries {
    let now = (0..15)
        .map(|run| point(if run < 10 { before } else { last }, chance))
        .collect();
    CaseSeries {
        id: "a".to_owned(),
        live: true,
        now,
        ..CaseSeries::default()
    }
}

/// The share of cases that show each signal, and any.
fn shares(before: Truth, last: Truth) -> ([f64; 4], f64) {
    let (mut chance, mut counts, mut any) = (Chance(2026), [0_u32; 4], 0_u32);
    let limits = Eval::default().drift;
    for _ in 0..CASES {
        let found = find_drift(&series(before, last, &mut chance), &limits);
        any += u32::from(!found.is_empty());
        for finding in found {
            let at = [
                DriftSignal::TokenInflation,
                DriftSignal::LatencyRegression,
                DriftSignal::DecompositionShift,
                DriftSignal::PassRateDegradation,
            ];
            counts[at
                .iter()
                .position(|signal| *signal == finding.signal)
                .unwrap()] += 1;
        }
    }
    let share = |count: u32| f64::from(count) / f64::from(u32::try_from(CASES).unwrap());
    (counts.map(share), share(any))
}

#[test]
fn a_quiet_window_raises_an_alarm_in_less_than_one_of_a_hundred_cases() {
    for (spread, jitter, passes) in [
        (0.02, 0.05, 1.0),
        (0.1, 0.2, 0.95),
        (0.2, 0.4, 0.9),
        (0.4, 0.6, 0.8),
    ] {
        let truth = Truth {
            spread,
            jitter,
            passes,
            ..USUAL
        };
        let (each, any) = shares(truth, truth);
        assert!(any <= 0.01, "{spread} {jitter} {passes}: {any} {each:?}");
    }
    // A case that has always failed often is as quiet.
    for passes in [0.7, 0.6, 0.5, 0.4, 0.3, 0.2] {
        let truth = Truth {
            spread: 0.1,
            jitter: 0.2,
            passes,
            ..USUAL
        };
        let (each, any) = shares(truth, truth);
        assert!(any <= 0.01, "{passes}: {any} {each:?}");
    }
}

#[test]
fn what_is_planted_is_found() {
    let found = |last: Truth| shares(USUAL, last).0;
    let [tokens, latency, shift, passes] = [
        found(Truth {
            tokens: 1_800.0,
            ..USUAL
        })[0],
        found(Truth {
            latency: 3_000.0,
            ..USUAL
        })[1],
        found(Truth {
            splits: true,
            ..USUAL
        })[2],
        found(Truth {
            passes: 0.1,
            ..USUAL
        })[3],
    ];
    assert!(
        tokens > 0.9 && latency > 0.9 && passes > 0.9,
        "{tokens} {latency} {passes}"
    );
    assert!(shift > 0.999, "{shift}");
    // A decrease is no inflation, and no regression.
    let (each, any) = shares(
        USUAL,
        Truth {
            tokens: 500.0,
            latency: 300.0,
            passes: 1.0,
            ..USUAL
        },
    );
    assert!(any < 0.0001, "{each:?}");
}

#[test]
fn results_of_another_configuration_are_marked_and_compared_with_earlier_ones() {
    let mut chance = Chance(7);
    let limits = Eval::default().drift;
    let last = Truth {
        tokens: 2_000.0,
        splits: true,
        passes: 0.0,
        ..USUAL
    };
    let points = |truth: Truth, count: usize, chance: &mut Chance| {
        (0..count).map(|_| point(truth, chance)).collect::<Vec<_>>()
    };
    let usual = Truth {
        passes: 1.0,
        spread: 0.05,
        ..USUAL
    };
    let now = points(last, 6, &mut chance);
    let before = points(usual, 10, &mut chance);
    let moved = CaseSeries {
        id: "a".to_owned(),
        live: true,
        now,
        before,
        ..CaseSeries::default()
    };
    let found = find_drift(&moved, &limits);
    let kinds: Vec<(DriftSignal, DriftCause)> = found
        .iter()
        .map(|finding| (finding.signal, finding.cause))
        .collect();
    let all = [
        DriftSignal::TokenInflation,
        DriftSignal::DecompositionShift,
        DriftSignal::PassRateDegradation,
    ];
    assert_eq!(kinds, all.map(|signal| (signal, DriftCause::ConfigChange)));
    // With too few values on either side nothing is reported.
    let few = CaseSeries {
        now: points(last, 4, &mut chance),
        before: points(usual, 10, &mut chance),
        ..moved.clone()
    };
    let kinds: Vec<DriftSignal> = find_drift(&few, &limits)
        .iter()
        .map(|finding| finding.signal)
        .collect();
    assert_eq!(
        kinds,
        [
            DriftSignal::DecompositionShift,
            DriftSignal::PassRateDegradation
        ]
    );
    let few = CaseSeries {
        now: points(last, 6, &mut chance),
        before: Vec::new(),
        ..moved.clone()
    };
    assert!(find_drift(&few, &limits).is_empty());
    // Another text of the scenario is another question: failures since then are compared with
    // nothing.
    let mut edited = moved;
    edited
        .before
        .iter_mut()
        .for_each(|point| "k2".clone_into(&mut point.key));
    let kinds: Vec<DriftSignal> = find_drift(&edited, &limits)
        .iter()
        .map(|finding| finding.signal)
        .collect();
    assert_eq!(
        kinds,
        [DriftSignal::TokenInflation, DriftSignal::DecompositionShift]
    );
}
