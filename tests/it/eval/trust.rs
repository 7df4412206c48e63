//! Trust in judges of a known κ, by exact probabilities and by simulation.

#![allow(
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    clippy::float_cmp,
    reason = "small counts, and quotients without rounding"
)]

use super::drift::Chance;
use ctxc::internals::eval::agreement::Undefined;
use ctxc::internals::eval::kappa::{PairTable, RatingPair};
use ctxc::internals::eval::trust_decision::{
    CalibrationState, Doubt, FlipCount, TrustDecision, TrustEvidence, decide_trust,
};
use std::collections::BTreeMap;

/// The counts of right and wrong verdicts.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Counts {
    true_pass: u32,
    false_fail: u32,
    true_fail: u32,
    false_pass: u32,
}

impl Counts {
    fn table(self) -> PairTable {
        let cells = [
            (1, 1, self.true_pass),
            (1, 0, self.false_fail),
            (0, 0, self.true_fail),
            (0, 1, self.false_pass),
        ];
        let pairs = cells.iter().flat_map(|(person, judge, count)| {
            (0..*count).map(|_| RatingPair {
                person: *person,
                judge: *judge,
            })
        });
        PairTable::from_pairs(2, &pairs.collect::<Vec<_>>()).unwrap()
    }

    fn kappa(self) -> f64 {
        let [a, b, c, d] = [
            self.true_pass,
            self.false_fail,
            self.false_pass,
            self.true_fail,
        ]
        .map(f64::from);
        2.0 * (a * d - b * c) / ((a + b) * (b + d) + (a + c) * (c + d))
    }

    /// Adds a label of this class, which a judge of this κ judges: with equal classes it is right in
    /// (1 + κ) / 2 of cases.
    fn add(&mut self, is_pass: bool, kappa: f64, chance: &mut Chance) {
        let is_right = chance.even() < f64::midpoint(1.0, kappa);
        *match (is_pass, is_right) {
            (true, true) => &mut self.true_pass,
            (true, false) => &mut self.false_fail,
            (false, true) => &mut self.true_fail,
            (false, false) => &mut self.false_pass,
        } += 1;
    }
}

fn evidence(table: &PairTable) -> TrustEvidence<'_> {
    TrustEvidence {
        table,
        min_rating: 1,
        looks: 1,
        prompt_versions: 1,
        calibration: CalibrationState::Current,
        stability: Some(FlipCount {
            flips: 1,
            trials: 20,
        }),
        held_out: 100,
        unscored: 5,
    }
}

fn decide(counts: Counts) -> TrustDecision {
    decide_trust(&evidence(&counts.table())).decision
}

/// Computes each decision once.
#[derive(Default)]
struct Decisions(BTreeMap<(Counts, u32, u32), bool>);

impl Decisions {
    fn trusts(&mut self, counts: Counts, looks: u32, prompt_versions: u32) -> bool {
        let decision = self.0.entry((counts, looks, prompt_versions));
        *decision.or_insert_with(|| {
            let table = counts.table();
            let evidence = TrustEvidence {
                looks,
                prompt_versions,
                ..evidence(&table)
            };
            decide_trust(&evidence).decision == TrustDecision::Trusted
        })
    }
}

/// The share of judges of this κ that are trusted at one look, in percent.
fn power(kappa: f64, labels: u32, decisions: &mut Decisions, chance: &mut Chance) -> f64 {
    let judges = 2_500;
    let trusted = (0..judges).filter(|_| {
        let mut counts = Counts::default();
        (0..labels).for_each(|label| counts.add(label % 2 == 0, kappa, chance));
        decisions.trusts(counts, 1, 1)
    });
    100.0 * trusted.count() as f64 / f64::from(judges)
}

/// The exact probability of trust at one look, in percent: the sum of the binomial probabilities of
/// all tables of equal classes whose lower bound of κ is at least 0.6.
const POWER: [(f64, f64, f64); 6] = [
    (0.5, 0.7, 0.2),
    (0.7, 21.9, 34.6),
    (0.8, 61.6, 87.5),
    (0.85, 83.0, 98.2),
    (0.9, 96.2, 100.0),
    (0.95, 99.9, 100.0),
];

#[test]
fn judges_are_trusted_as_often_as_computed() {
    let (mut decisions, mut chance) = (Decisions::default(), Chance(4));
    for (kappa, fifty, hundred) in POWER {
        for (labels, expected) in [(50, fifty), (100, hundred)] {
            let found = power(kappa, labels, &mut decisions, &mut chance);
            assert!(
                (found - expected).abs() < 3.0,
                "κ {kappa} with {labels} labels: {found} % in place of {expected} %"
            );
        }
    }
}

/// A look every ten labels from 30 to 200, and ten prompt versions, each judged on labels of its own.
#[test]
fn poor_judges_are_not_trusted_by_looking_again() {
    let mut chance = Chance(5);
    let judges = 1_500;
    // The number of judges that a look would trust, if this were the prompt version of that number.
    let mut trusted = [0_u32; 10];
    for _ in 0..judges {
        let mut counts = Counts::default();
        let mut versions = 0;
        for label in 1..=200_u32 {
            counts.add(chance.even() < 0.5, 0.5, &mut chance);
            // No bound is above κ itself.
            if label >= 30 && label % 10 == 0 && counts.kappa() > 0.6 {
                let table = counts.table();
                let is_trusted = |version| {
                    let evidence = TrustEvidence {
                        looks: label / 10 - 2,
                        prompt_versions: version,
                        ..evidence(&table)
                    };
                    decide_trust(&evidence).decision == TrustDecision::Trusted
                };
                while versions < 10 && is_trusted(versions + 1) {
                    versions += 1;
                }
            }
        }
        trusted
            .iter_mut()
            .take(versions as usize)
            .for_each(|count| *count += 1);
    }
    let distrusted = trusted.map(|count| 1.0 - f64::from(count) / f64::from(judges));
    let share = 100.0 * (1.0 - distrusted.iter().product::<f64>());
    assert!((0.2..=2.5).contains(&share), "{share} %");
}

#[test]
fn trust_ends_when_a_condition_does() {
    let good = Counts {
        true_pass: 24,
        false_fail: 1,
        true_fail: 24,
        false_pass: 1,
    };
    assert_eq!(decide(good), TrustDecision::Trusted);
    let table = good.table();
    let not_trusted = |evidence: TrustEvidence<'_>| {
        let decision = decide_trust(&evidence).decision;
        let TrustDecision::NotTrusted { reasons } = decision else {
            panic!("{decision:?}");
        };
        reasons
    };
    let void = TrustEvidence {
        calibration: CalibrationState::Void,
        stability: None,
        ..evidence(&table)
    };
    assert_eq!(
        not_trusted(void),
        [Doubt::Calibration, Doubt::StabilityUnknown]
    );
    let unstable = FlipCount {
        flips: 2,
        trials: 39,
    };
    let evidence = TrustEvidence {
        stability: Some(unstable),
        ..evidence(&table)
    };
    assert_eq!(
        not_trusted(evidence),
        [Doubt::Unstable {
            flips: 2,
            trials: 39
        }]
    );
}

#[test]
fn inconvenient_answers_cannot_be_left_out() {
    let good = Counts {
        true_pass: 25,
        true_fail: 25,
        ..Counts::default()
    };
    let table = good.table();
    let decide = |unscored| {
        let evidence = TrustEvidence {
            held_out: 50 + unscored,
            unscored,
            ..evidence(&table)
        };
        decide_trust(&evidence).decision
    };
    assert_eq!(decide(2), TrustDecision::Trusted);
    let doubt = Doubt::Unscored {
        unscored: 3,
        held_out: 53,
    };
    let reasons = vec![doubt];
    assert_eq!(decide(3), TrustDecision::NotTrusted { reasons });
}

#[test]
fn rates_below_the_minimum_are_not_trusted() {
    // κ 0.81, at least 0.67: but one of four bad answers passes.
    let lenient = Counts {
        true_pass: 80,
        false_fail: 0,
        true_fail: 15,
        false_pass: 5,
    };
    assert_eq!(
        decide(lenient),
        TrustDecision::NotTrusted {
            reasons: vec![Doubt::TrueNegativeRate { rate: 0.75 }]
        }
    );
}

#[test]
fn scores_on_a_scale_pass_from_a_minimum() {
    let near = |person: usize| {
        (0..10).map(move |place| RatingPair {
            person,
            judge: if place == 0 { person ^ 1 } else { person },
        })
    };
    let pairs: Vec<RatingPair> = (0..6).flat_map(near).collect();
    let table = PairTable::from_pairs(6, &pairs).unwrap();
    let decide = |min_rating| {
        let evidence = TrustEvidence {
            min_rating,
            ..evidence(&table)
        };
        decide_trust(&evidence)
    };
    // A rating is off by one category at most: κ by squares is high, while one of ten differs.
    let report = decide(2);
    assert!(report.lower_bound.unwrap() > 0.96, "{report:?}");
    assert_eq!(report.true_negative_rate.unwrap().value, 1.0);
    assert_eq!(report.decision, TrustDecision::Trusted);
    // With 5 as the minimum ten of sixty labels pass, and five more are to.
    assert_eq!(decide(5).decision, TrustDecision::TooFewLabels { more: 29 });
}

#[test]
fn looks_and_prompt_versions_are_paid_for() {
    let table = Counts {
        true_pass: 23,
        false_fail: 2,
        true_fail: 22,
        false_pass: 3,
    }
    .table();
    let report = decide_trust(&evidence(&table));
    assert_eq!(report.decision, TrustDecision::Trusted);
    let again = decide_trust(&TrustEvidence {
        looks: 3,
        prompt_versions: 2,
        ..evidence(&table)
    });
    assert!((again.level - 0.05 / 6.0).abs() < 1e-12);
    assert!(again.lower_bound.unwrap() < report.lower_bound.unwrap());
    // κ 0.8 at 5 % / 8: ((2.498 × 0.8 + 0.842 × 0.6) / 0.2)² less the 50 there are.
    assert_eq!(again.decision, TrustDecision::TooFewLabels { more: 107 });
}

#[test]
fn labels_of_both_classes_are_asked_for() {
    let more = |counts: Counts| {
        let TrustDecision::TooFewLabels { more } = decide(counts) else {
            panic!("enough labels");
        };
        more
    };
    assert_eq!(more(Counts::default()), 30);
    let ten = Counts {
        true_pass: 5,
        true_fail: 5,
        ..Counts::default()
    };
    assert_eq!(more(ten), 20);
    // One of ten answers fails: ten more failures take some hundred labels.
    let rare = Counts {
        true_pass: 45,
        true_fail: 5,
        ..Counts::default()
    };
    assert_eq!(more(rare), 87);
    let constant = Counts {
        true_pass: 50,
        ..Counts::default()
    };
    let rare = Doubt::RareClass {
        passes: 50,
        labels: 50,
    };
    let reasons = vec![rare];
    assert_eq!(decide(constant), TrustDecision::NotTrusted { reasons });
    let reason = Undefined::NoVariation;
    let reasons = vec![Doubt::Undefined { reason }];
    assert_eq!(
        serde_json::to_string(&TrustDecision::NotTrusted { reasons }).unwrap(),
        r#"{"decision":"not-trusted","reasons":[{"doubt":"undefined","reason":"no-variation"}]}"#
    );
}

#[test]
fn a_judge_without_agreement_is_not_asked_for_more_labels() {
    let guessing = Counts {
        true_pass: 20,
        false_fail: 10,
        true_fail: 20,
        false_pass: 10,
    };
    let TrustDecision::NotTrusted { reasons } = decide(guessing) else {
        panic!("trusted");
    };
    assert!(matches!(
        reasons[..],
        [
            Doubt::Kappa { .. },
            Doubt::TruePositiveRate { .. },
            Doubt::TrueNegativeRate { .. }
        ]
    ));
}
