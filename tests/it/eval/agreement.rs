//! Agreement by the reference values of scipy 1.17.1, scikit-learn 1.9.1, statsmodels 0.15.0 and
//! krippendorff 0.9.0, and intervals by simulation of a known truth.

#![allow(
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    clippy::float_cmp,
    reason = "small counts, and quotients without rounding"
)]

use super::drift::Chance;
use ctxc::internals::eval::agreement::{
    Estimate, Measurement, ScorePair, Undefined, fleiss_kappa, kendall_tau, krippendorff_alpha,
    spearman_rho,
};
use ctxc::internals::eval::kappa::{
    JudgeRates, KappaTarget, OutsideScale, PairTable, RatingPair, Weighting, corrected_pass_rate,
};

const PERSON: [u8; 12] = [5, 4, 4, 3, 2, 5, 1, 0, 3, 4, 2, 5];
const JUDGE: [u8; 12] = [4, 4, 5, 3, 3, 5, 1, 1, 2, 4, 2, 4];

#[track_caller]
fn close(found: Result<Estimate, Undefined>, expected: f64) {
    let found = found.unwrap();
    assert!(
        (found.value - expected).abs() < 1e-9,
        "{} in place of {expected}",
        found.value
    );
    if let Some((low, high)) = found.interval {
        assert!(low <= found.value && found.value <= high, "{found:?}");
    }
}

/// A table with these counts, one row for each category of the person.
fn table(rows: &[&[u32]]) -> PairTable {
    let mut pairs = Vec::new();
    for (person, row) in rows.iter().enumerate() {
        for (judge, count) in row.iter().enumerate() {
            pairs.extend((0..*count).map(|_| RatingPair { person, judge }));
        }
    }
    PairTable::from_pairs(rows.len(), &pairs).unwrap()
}

fn scores() -> Vec<ScorePair> {
    let pairs = PERSON.iter().zip(JUDGE);
    pairs
        .map(|(person, judge)| ScorePair {
            person: f64::from(*person),
            judge: f64::from(judge),
        })
        .collect()
}

#[test]
fn kappa_is_that_of_scikit_learn() {
    let three = table(&[&[44, 5, 1], &[7, 20, 3], &[9, 5, 6]]);
    close(three.kappa(Weighting::Unweighted), 0.491_525_423_728_813_6);
    close(three.kappa(Weighting::Linear), 0.473_684_210_526_315_8);
    close(three.kappa(Weighting::Quadratic), 0.454_545_454_545_454_6);
    close(three.agreement_rate(), 0.7);
    let pairs: Vec<RatingPair> = scores()
        .iter()
        .map(|pair| RatingPair {
            person: pair.person as usize,
            judge: pair.judge as usize,
        })
        .collect();
    let six = PairTable::from_pairs(6, &pairs).unwrap();
    close(six.kappa(Weighting::Quadratic), 0.883_116_883_116_883_1);
}

#[test]
fn correlations_are_those_of_scipy() {
    close(spearman_rho(&scores()), 0.875_935_743_710_675_7);
    close(kendall_tau(&scores()), 0.772_048_646_977_956);
}

#[test]
fn alpha_is_that_of_krippendorff() {
    let coders = [
        "1 2 3 3 2 1 4 1 2 · · ·",
        "1 2 3 3 2 2 4 1 2 5 · 3",
        "· 3 3 3 2 3 4 2 2 5 1 ·",
        "1 2 3 3 2 4 4 1 2 5 1 ·",
    ];
    let coders = coders.map(|coder| coder.split(' ').map(|rating| rating.parse().ok()));
    let mut units = vec![Vec::new(); 12];
    for coder in coders {
        for (unit, rating) in units.iter_mut().zip(coder) {
            unit.extend::<Option<f64>>(rating);
        }
    }
    for (measurement, expected) in [
        (Measurement::Nominal, 0.743_421_052_631_579),
        (Measurement::Ordinal, 0.815_387_503_754_881_4),
        (Measurement::Interval, 0.849_107_142_857_142_8),
        (Measurement::Ratio, 0.797_402_774_711_612_1),
    ] {
        close(krippendorff_alpha(&units, measurement), expected);
    }
    let pairs = PERSON.iter().zip(JUDGE);
    let units: Vec<Vec<f64>> = pairs
        .map(|(person, judge)| vec![f64::from(*person), f64::from(judge)])
        .collect();
    close(
        krippendorff_alpha(&units, Measurement::Ordinal),
        0.874_545_454_545_454_5,
    );
}

/// Fleiss' κ at Wikipedia: fourteen raters, ten units.
fn units() -> Vec<Vec<u32>> {
    [
        [0, 0, 0, 0, 14],
        [0, 2, 6, 4, 2],
        [0, 0, 3, 5, 6],
        [0, 3, 9, 2, 0],
        [2, 2, 8, 1, 1],
        [7, 7, 0, 0, 0],
        [3, 2, 6, 3, 0],
        [2, 5, 3, 2, 2],
        [6, 5, 2, 1, 0],
        [0, 2, 2, 3, 7],
    ]
    .map(Vec::from)
    .to_vec()
}

#[test]
fn fleiss_kappa_is_that_of_statsmodels() {
    close(fleiss_kappa(&units()), 0.209_930_704_421_955_22);
    let unequal = [vec![2, 1], vec![1, 1]];
    assert_eq!(fleiss_kappa(&unequal), Err(Undefined::UnequalCounts));
}

#[test]
fn statistics_without_variation_are_undefined() {
    let none = Err(Undefined::NoVariation);
    let constant = table(&[&[0, 0], &[0, 40]]);
    assert_eq!(constant.kappa(Weighting::Quadratic), none);
    close(
        table(&[&[0, 9], &[0, 31]]).kappa(Weighting::Unweighted),
        0.0,
    );
    let same = vec![vec![3.0, 3.0]; 5];
    for measurement in [
        Measurement::Nominal,
        Measurement::Ordinal,
        Measurement::Ratio,
    ] {
        assert_eq!(krippendorff_alpha(&same, measurement), none);
    }
    assert_eq!(fleiss_kappa(&[vec![0, 3], vec![0, 3]]), none);
    let flat: Vec<ScorePair> = scores()
        .into_iter()
        .map(|pair| ScorePair { judge: 1.0, ..pair })
        .collect();
    assert_eq!(spearman_rho(&flat), none);
    assert_eq!(kendall_tau(&flat), none);
}

#[test]
fn samples_without_pairs_are_undefined() {
    let few = |found, minimum| Err(Undefined::TooFewRatings { found, minimum });
    let empty = table(&[&[0, 0], &[0, 0]]);
    assert_eq!(empty.kappa(Weighting::Linear), few(0, 1));
    assert_eq!(empty.agreement_rate(), few(0, 1));
    assert_eq!(empty.true_positive_rate(1), few(0, 1));
    let alone = [vec![1.0], vec![2.0]];
    assert_eq!(krippendorff_alpha(&alone, Measurement::Interval), few(0, 2));
    assert_eq!(spearman_rho(&scores()[..1]), few(1, 2));
    let broken = [vec![1.0, f64::NAN]];
    assert_eq!(
        krippendorff_alpha(&broken, Measurement::Nominal),
        Err(Undefined::NotFinite)
    );
    let outside = RatingPair {
        person: 0,
        judge: 2,
    };
    assert_eq!(
        PairTable::from_pairs(2, &[outside]),
        Err(OutsideScale {
            rating: 2,
            highest: 1
        })
    );
}

#[test]
fn rates_of_a_judge_have_intervals_of_wilson() {
    let judge = table(&[&[18, 2], &[6, 34]]);
    let positive = judge.true_positive_rate(1).unwrap();
    assert_eq!(positive.value, 0.85);
    // statsmodels.stats.proportion.proportion_confint(34, 40, method="wilson")
    let (low, high) = positive.interval.unwrap();
    assert!((low - 0.709_276_756).abs() < 1e-6, "{low}");
    assert!((high - 0.929_388_123).abs() < 1e-6, "{high}");
    assert_eq!(judge.true_negative_rate(1).unwrap().value, 0.9);
    let graded = table(&[&[5, 0, 0], &[0, 4, 1], &[0, 2, 8]]);
    assert_eq!(graded.true_positive_rate(2).unwrap().value, 0.8);
    assert_eq!(graded.true_negative_rate(2).unwrap().value, 0.9);
}

#[test]
fn pass_rates_are_corrected_within_bounds() {
    let judge = JudgeRates {
        true_positive: 0.9,
        true_negative: 0.8,
    };
    let corrected = corrected_pass_rate(0.69, judge).unwrap();
    assert!((corrected - 0.7).abs() < 1e-12, "{corrected}");
    assert_eq!(corrected_pass_rate(0.1, judge), Ok(0.0));
    assert_eq!(corrected_pass_rate(0.95, judge), Ok(1.0));
    for true_negative in [0.1, 0.05, f64::NAN] {
        let judge = JudgeRates {
            true_negative,
            ..judge
        };
        assert_eq!(
            corrected_pass_rate(0.5, judge),
            Err(Undefined::Uninformative)
        );
    }
    assert_eq!(
        corrected_pass_rate(f64::NAN, judge),
        Err(Undefined::NotFinite)
    );
}

/// A judge who knows the person's rating with a probability of κ, and otherwise guesses by the same
/// margins: κ of any weights is this probability.
fn guessing_judge(chance: &mut Chance, kappa: f64, shares: &[f64]) -> RatingPair {
    let mut rating = || {
        let mut rest = chance.even();
        let passed = shares.iter().take_while(|share| {
            rest -= **share;
            rest > 0.0
        });
        passed.count().min(shares.len() - 1)
    };
    let (person, guess) = (rating(), rating());
    let judge = if chance.even() < kappa { person } else { guess };
    RatingPair { person, judge }
}

#[test]
fn intervals_of_kappa_and_alpha_hold_the_truth_as_often_as_they_say() {
    let mut chance = Chance(41);
    let mut inside = [[0_u32; 3]; 2];
    let samples = 500;
    for (shares, inside) in [&[0.5, 0.5][..], &[0.2, 0.3, 0.5]].iter().zip(&mut inside) {
        for _ in 0..samples {
            let pairs: Vec<RatingPair> = (0..50)
                .map(|_| guessing_judge(&mut chance, 0.7, shares))
                .collect();
            let table = PairTable::from_pairs(shares.len(), &pairs).unwrap();
            let units: Vec<Vec<f64>> = pairs
                .iter()
                .map(|pair| vec![pair.person as f64, pair.judge as f64])
                .collect();
            let estimates = [
                table.kappa(Weighting::Unweighted),
                table.kappa(Weighting::Quadratic),
                krippendorff_alpha(&units, Measurement::Ordinal),
            ];
            for (inside, estimate) in inside.iter_mut().zip(estimates) {
                let (low, high) = estimate.unwrap().interval.unwrap_or((1.0, 1.0));
                *inside += u32::from(low <= 0.7 && 0.7 <= high);
            }
        }
    }
    let shares = inside.map(|inside| inside.map(|count| f64::from(count) / f64::from(samples)));
    let is_close = |share: &f64| (0.92..=0.98).contains(share);
    assert!(shares.as_flattened().iter().all(is_close), "{shares:?}");
}

/// The intervals by numpy and `scipy.optimize.brentq`, from the formulas of Fleiss, Cohen and Everitt.
#[test]
fn bounds_of_kappa_are_those_computed_independently() {
    let three = table(&[&[44, 5, 1], &[7, 20, 3], &[9, 5, 6]]);
    let two = table(&[&[20, 5], &[2, 13]]);
    for (kappa, low, high) in [
        (
            three.kappa(Weighting::Quadratic),
            0.228_827_144_6,
            0.614_197_181_5,
        ),
        (
            three.kappa(Weighting::Unweighted),
            0.342_115_049_1,
            0.623_996_528_6,
        ),
        (
            two.kappa(Weighting::Linear),
            0.351_103_201_5,
            0.820_482_037_4,
        ),
    ] {
        let found = kappa.unwrap().interval.unwrap();
        assert!((found.0 - low).abs() < 1e-8, "{found:?}");
        assert!((found.1 - high).abs() < 1e-8, "{found:?}");
    }
    let level = three
        .kappa_lower_bound(Weighting::Unweighted, 0.025)
        .unwrap();
    assert!((level - 0.342_115_049_1).abs() < 1e-8, "{level}");
}

/// Intervals by the coefficients of the packages without each unit in turn.
#[test]
fn intervals_of_other_coefficients_are_those_of_the_jackknife() {
    let pairs = scores();
    let rated = |pair: &ScorePair| vec![pair.person, pair.judge];
    let rated: Vec<Vec<f64>> = pairs.iter().map(rated).collect();
    for (estimate, low, high) in [
        (spearman_rho(&pairs), 0.585_955_958_2, 0.967_045_373_2),
        (kendall_tau(&pairs), 0.464_051_747_4, 0.913_504_002_5),
        (
            krippendorff_alpha(&rated, Measurement::Ordinal),
            0.599_784_055_8,
            0.960_674_123_1,
        ),
        (fleiss_kappa(&units()), -0.013_918_128_2, 0.384_359_077_4),
    ] {
        let found = estimate.unwrap().interval.unwrap();
        assert!((found.0 - low).abs() < 1e-8, "{found:?}");
        assert!((found.1 - high).abs() < 1e-8, "{found:?}");
    }
}

#[test]
fn full_agreement_has_a_lower_bound_that_rises_with_labels() {
    let low = |each: u32| {
        let kappa = table(&[&[each, 0], &[0, each]]).kappa(Weighting::Quadratic);
        kappa.unwrap().interval.unwrap().0
    };
    let (thirty, hundred) = (low(15), low(50));
    // With equal classes κ is 2 × the rate of agreement − 1, and its bound that of Wilson.
    assert!((thirty - 0.772_973_2).abs() < 1e-6, "{thirty}");
    assert!(hundred > 0.92 && hundred < 1.0, "{hundred}");
}

#[test]
fn required_pairs_have_the_power_that_they_are_for() {
    let target = KappaTarget {
        minimum: 0.6,
        level: 0.05,
        power: 0.8,
    };
    let sample = table(&[&[18, 2], &[2, 18]]);
    let pairs = sample.required_pairs(Weighting::Quadratic, target);
    // ((1.645 × 0.8 + 0.842 × 0.6) / 0.2)², from the errors of κ 0.6 and 0.8 with equal classes.
    assert_eq!(pairs, Ok(Some(83)));
    let poor = table(&[&[15, 5], &[5, 15]]);
    assert_eq!(poor.required_pairs(Weighting::Quadratic, target), Ok(None));
}
