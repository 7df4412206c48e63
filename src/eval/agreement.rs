//! Coefficients of agreement between raters: Krippendorff's α, Fleiss' κ, Spearman's ρ, Kendall's τ-b.
//! Cohen's κ of a judge and a person is in `kappa`.
//!
//! Pure functions of ratings. No statistic is ever NaN: it is a number, or the reason why it is
//! undefined. No resampling: equal ratings give equal bytes.

use super::statistics::wilson_interval;
use serde::Serialize;
use std::cmp::Ordering;
use std::fmt::{self, Display, Formatter};
use thiserror::Error;

/// The probability on either side of a 95 % interval.
pub(super) const TAIL_PROBABILITY: f64 = 0.025;

/// A statistic with its interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct Estimate {
    /// The value in the sample.
    pub value: f64,
    /// The interval that contains the true value in 95 % of samples; null if the sample is too
    /// small or has no spread to compute one from.
    pub interval: Option<(f64, f64)>,
}

impl Display for Estimate {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{:.2}", self.value)?;
        self.interval.map_or(Ok(()), |(low, high)| {
            write!(f, " (95 % {low:.2} to {high:.2})")
        })
    }
}

/// The reason why a statistic is undefined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error, Serialize)]
#[serde(rename_all = "kebab-case", tag = "reason")]
pub enum Undefined {
    /// Fewer ratings than the statistic needs.
    #[error("found {found} ratings, expected at least {minimum}: label more answers")]
    TooFewRatings {
        /// The ratings, pairs or units of the sample.
        found: usize,
        /// The minimum number of them.
        minimum: usize,
    },
    /// Ratings without variation, for which agreement by chance is already complete.
    #[error(
        "all ratings are equal, so that chance explains them: label answers of another verdict"
    )]
    NoVariation,
    /// A rating that is NaN or infinite.
    #[error("found a rating that is not a finite number")]
    NotFinite,
    /// Units that differ in their number of ratings, for Fleiss' κ.
    #[error(
        "found units with different numbers of ratings, expected equal ones: use Krippendorff's α"
    )]
    UnequalCounts,
    /// A judge whose TPR and TNR add up to 1 or less: its verdicts do not depend on the answer.
    #[error("TPR and TNR add up to 1 or less, so that the judge's verdicts carry no information")]
    Uninformative,
}

/// The quantile of the normal distribution that leaves this probability above it, to about 16
/// digits. Source: algorithm AS 241 of Wichura, Applied Statistics 37 (1988).
#[allow(clippy::excessive_precision, reason = "coefficients as published")]
pub(super) fn normal_quantile(probability: f64) -> f64 {
    const MIDDLE: [[f64; 8]; 2] = [
        [
            3.387_132_872_796_366_608_0,
            1.331_416_678_917_843_774_5e2,
            1.971_590_950_306_551_442_7e3,
            1.373_169_376_550_946_112_5e4,
            4.592_195_393_154_987_145_7e4,
            6.726_577_092_700_870_085_3e4,
            3.343_057_558_358_812_810_5e4,
            2.509_080_928_730_122_672_7e3,
        ],
        [
            1.0,
            4.231_333_070_160_091_125_2e1,
            6.871_870_074_920_579_083_0e2,
            5.394_196_021_424_751_107_7e3,
            2.121_379_430_158_659_586_7e4,
            3.930_789_580_009_271_061_0e4,
            2.872_908_573_572_194_267_4e4,
            5.226_495_278_852_854_561_0e3,
        ],
    ];
    const NEAR: [[f64; 8]; 2] = [
        [
            1.423_437_110_749_683_577_34,
            4.630_337_846_156_545_295_90,
            5.769_497_221_460_691_405_50,
            3.647_848_324_763_204_605_04,
            1.270_458_252_452_368_382_58,
            2.417_807_251_774_506_117_70e-1,
            2.272_384_498_926_918_458_33e-2,
            7.745_450_142_783_414_076_40e-4,
        ],
        [
            1.0,
            2.053_191_626_637_758_821_87,
            1.676_384_830_183_803_849_40,
            6.897_673_349_851_000_045_50e-1,
            1.481_039_764_274_800_745_90e-1,
            1.519_866_656_361_645_719_66e-2,
            5.475_938_084_995_344_946_00e-4,
            1.050_750_071_644_416_843_24e-9,
        ],
    ];
    const FAR: [[f64; 8]; 2] = [
        [
            6.657_904_643_501_103_777_20,
            5.463_784_911_164_114_369_90,
            1.784_826_539_917_291_335_80,
            2.965_605_718_285_048_912_30e-1,
            2.653_218_952_657_612_309_30e-2,
            1.242_660_947_388_078_438_60e-3,
            2.711_555_568_743_487_578_15e-5,
            2.010_334_399_292_288_132_65e-7,
        ],
        [
            1.0,
            5.998_322_065_558_879_376_90e-1,
            1.369_298_809_227_358_053_10e-1,
            1.487_536_129_085_061_485_25e-2,
            7.868_691_311_456_132_591_00e-4,
            1.846_318_317_510_054_681_80e-5,
            1.421_511_758_316_445_888_70e-7,
            2.044_263_103_389_939_785_64e-15,
        ],
    ];
    let ratio = |[above, below]: [[f64; 8]; 2], at: f64| {
        let value = |terms: [f64; 8]| terms.iter().rev().fold(0.0, |sum, term| sum * at + term);
        value(above) / value(below)
    };
    let from_middle = 0.5 - probability;
    if from_middle.abs() <= 0.425 {
        return from_middle * ratio(MIDDLE, 0.180_625 - from_middle * from_middle);
    }
    let tail = probability.min(1.0 - probability);
    let depth = (-tail.ln()).sqrt();
    let size = if depth <= 5.0 {
        ratio(NEAR, depth - 1.6)
    } else {
        ratio(FAR, depth - 5.0)
    };
    size.copysign(from_middle)
}

/// A rate with Wilson's interval; undefined without trials.
pub(super) fn rate(successes: u32, trials: u32) -> Result<Estimate, Undefined> {
    let interval = wilson_interval(successes, trials);
    if interval.is_none() {
        return Err(Undefined::TooFewRatings {
            found: 0,
            minimum: 1,
        });
    }
    Ok(Estimate {
        value: f64::from(successes) / f64::from(trials),
        interval,
    })
}

/// The scale on which a coefficient's distribution is closest to a normal one.
#[derive(Clone, Copy)]
enum IntervalScale {
    /// −ln(1 − value), of a coefficient that is 1 less a ratio of disagreements.
    Disagreement,
    /// Fisher's artanh(value), of a correlation.
    Correlation,
}

/// A coefficient with the interval by its values without each unit (the jackknife; Efron and Stein,
/// 1981). There is none if these are missing or equal, as in full agreement.
#[allow(clippy::cast_precision_loss, reason = "fewer than 2^52 units")]
fn jackknife(value: f64, without: &[f64], scale: IntervalScale) -> Estimate {
    let n = without.len() as f64;
    let mean = without.iter().sum::<f64>() / n;
    let squares: f64 = without.iter().map(|one| (one - mean).powi(2)).sum();
    let half = normal_quantile(TAIL_PROBABILITY) * ((n - 1.0) / n * squares).sqrt();
    let (low, high) = match scale {
        IntervalScale::Disagreement => {
            let factor = (half / (1.0 - value)).exp();
            (1.0 - (1.0 - value) * factor, 1.0 - (1.0 - value) / factor)
        }
        IntervalScale::Correlation => {
            let (middle, half) = (value.atanh(), half / (1.0 - value * value));
            ((middle - half).tanh(), (middle + half).tanh())
        }
    };
    let is_known = half > 0.0 && low.is_finite() && high.is_finite();
    Estimate {
        value,
        interval: is_known.then_some((low, high)),
    }
}

/// The meaning of a distance between two ratings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Measurement {
    /// Ratings are names: equal or not.
    Nominal,
    /// Ratings have an order alone: the distance is in ranks.
    Ordinal,
    /// Differences of ratings have a meaning.
    Interval,
    /// Ratios of ratings have a meaning; 0 is nothing.
    Ratio,
}

impl Measurement {
    /// The squared difference of two places.
    #[allow(clippy::float_cmp, reason = "copies of the same values")]
    fn distance(self, first: f64, second: f64) -> f64 {
        match self {
            Self::Nominal => f64::from(u8::from(first != second)),
            Self::Ordinal | Self::Interval => (first - second).powi(2),
            Self::Ratio if first + second == 0.0 => 0.0,
            Self::Ratio => ((first - second) / (first + second)).powi(2),
        }
    }
}

/// Krippendorff's α (1970; "Computing Krippendorff's Alpha-Reliability", 2011): 1 less observed over
/// expected disagreement. A unit has the ratings that exist: their order has no effect, and a unit with
/// fewer than two has none.
///
/// The interval is by the jackknife over units, on the scale of ln(1 − α).
pub fn krippendorff_alpha(
    units: &[Vec<f64>],
    measurement: Measurement,
) -> Result<Estimate, Undefined> {
    let units: Vec<&Vec<f64>> = units.iter().filter(|unit| unit.len() > 1).collect();
    let mut values: Vec<f64> = units.iter().flat_map(|unit| unit.iter().copied()).collect();
    if values.iter().any(|value| !value.is_finite()) {
        return Err(Undefined::NotFinite);
    }
    if units.is_empty() {
        return Err(Undefined::TooFewRatings {
            found: 0,
            minimum: 2,
        });
    }
    // `+ 0.0` makes zeros equal, whatever their sign.
    for value in &mut values {
        *value += 0.0;
    }
    values.sort_by(f64::total_cmp);
    values.dedup();
    let size = values.len();
    let units: Vec<Vec<f64>> = units
        .iter()
        .map(|unit| coincidences(unit, &values))
        .collect();
    let mut all = vec![0.0; size * size];
    for unit in &units {
        all.iter_mut().zip(unit).for_each(|(all, one)| *all += one);
    }
    let value = alpha(&all, &values, measurement).ok_or(Undefined::NoVariation)?;
    let without = units.iter().map(|unit| {
        let rest: Vec<f64> = all.iter().zip(unit).map(|(all, one)| all - one).collect();
        alpha(&rest, &values, measurement)
    });
    let without: Option<Vec<f64>> = without.collect();
    Ok(jackknife(
        value,
        &without.unwrap_or_default(),
        IntervalScale::Disagreement,
    ))
}

/// The pairs of values within a unit, each weighted by 1 / (ratings − 1).
#[allow(
    clippy::cast_precision_loss,
    clippy::float_cmp,
    reason = "fewer than 2^52 ratings, and copies of the same values"
)]
fn coincidences(unit: &[f64], values: &[f64]) -> Vec<f64> {
    let count = |value: &f64| unit.iter().filter(|one| *one == value).count() as f64;
    let counts: Vec<f64> = values.iter().map(count).collect();
    let weight = unit.len() as f64 - 1.0;
    let row = |(row, first): (usize, &f64)| {
        let cells = counts.iter().enumerate().map(|(column, second)| {
            let own = if row == column { 1.0 } else { 0.0 };
            first * (second - own) / weight
        });
        cells.collect::<Vec<f64>>()
    };
    counts.iter().enumerate().flat_map(row).collect()
}

/// α of a matrix of coincidences; `None` if no disagreement is expected.
fn alpha(coincidences: &[f64], values: &[f64], measurement: Measurement) -> Option<f64> {
    let rows = coincidences.chunks(values.len());
    let counts: Vec<f64> = rows.clone().map(|row| row.iter().sum()).collect();
    let total: f64 = counts.iter().sum();
    let mut before = 0.0;
    // A rank is the middle of those of equal values.
    let places = values.iter().zip(&counts).map(|(value, count)| {
        before += count;
        if measurement == Measurement::Ordinal {
            before - count / 2.0
        } else {
            *value
        }
    });
    let places: Vec<f64> = places.collect();
    let (mut observed, mut expected) = (0.0, 0.0);
    for ((row, first), place) in rows.zip(&counts).zip(&places) {
        for ((cell, second), other) in row.iter().zip(&counts).zip(&places) {
            let distance = measurement.distance(*place, *other);
            observed += cell * distance;
            expected += first * second * distance;
        }
    }
    // Each rating counts 1, but for rounding.
    let is_varied = counts.iter().filter(|count| **count > 0.5).count() > 1 && expected > 0.0;
    let value = 1.0 - (total - 1.0) * observed / expected;
    (is_varied && value.is_finite()).then_some(value)
}

/// Fleiss' κ (1971), from the number of raters who chose each category, one row for each unit; all
/// units have equally many raters. Its interval is by the jackknife over units.
pub fn fleiss_kappa(units: &[Vec<u32>]) -> Result<Estimate, Undefined> {
    let raters: u32 = units.first().map_or(0, |unit| unit.iter().sum());
    if raters < 2 {
        return Err(Undefined::TooFewRatings {
            found: raters as usize,
            minimum: 2,
        });
    }
    if units.iter().any(|unit| unit.iter().sum::<u32>() != raters) {
        return Err(Undefined::UnequalCounts);
    }
    let raters = f64::from(raters);
    let categories = units.iter().map(Vec::len).max().unwrap_or(0);
    let mut counts = vec![0.0; categories];
    let mut agreeing = Vec::with_capacity(units.len());
    for unit in units {
        let mut pairs = 0.0;
        for (count, chosen) in counts.iter_mut().zip(unit) {
            let chosen = f64::from(*chosen);
            *count += chosen;
            pairs += chosen * (chosen - 1.0);
        }
        agreeing.push(pairs / (raters * (raters - 1.0)));
    }
    let agreement: f64 = agreeing.iter().sum();
    let kappa = |counts: &[f64], agreement: f64| {
        let total: f64 = counts.iter().sum();
        let chance: f64 = counts.iter().map(|count| (count / total).powi(2)).sum();
        (1.0 - chance > 1e-12).then(|| (agreement * raters / total - chance) / (1.0 - chance))
    };
    let value = kappa(&counts, agreement).ok_or(Undefined::NoVariation)?;
    let without = units.iter().zip(&agreeing).map(|(unit, own)| {
        let mut rest = counts.clone();
        let chosen = rest.iter_mut().zip(unit);
        chosen.for_each(|(count, chosen)| *count -= f64::from(*chosen));
        kappa(&rest, agreement - own)
    });
    let without: Option<Vec<f64>> = without.collect();
    Ok(jackknife(
        value,
        &without.unwrap_or_default(),
        IntervalScale::Disagreement,
    ))
}

/// The scores of one answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScorePair {
    /// The score by a person.
    pub person: f64,
    /// The score by the judge.
    pub judge: f64,
}

/// Spearman's ρ: the correlation of ranks, where equal scores have the mean of their ranks. Its
/// interval is by the jackknife, since those by formula are too narrow for scores with ties.
pub fn spearman_rho(pairs: &[ScorePair]) -> Result<Estimate, Undefined> {
    require_scores(pairs)?;
    // Twice the rank, from the middle: the scores below less those above.
    let rank = |own: &ScorePair| Product {
        person: pairs
            .iter()
            .map(|other| order(own.person, other.person))
            .sum(),
        judge: pairs
            .iter()
            .map(|other| order(own.judge, other.judge))
            .sum(),
    };
    let ranks: Vec<Product> = pairs.iter().map(rank).collect();
    let all: Sums = ranks.iter().copied().collect();
    let without = pairs.iter().zip(&ranks).map(|(left_out, its_rank)| {
        let ranks = ranks.iter().zip(pairs).map(|(rank, own)| Product {
            person: rank.person - order(own.person, left_out.person),
            judge: rank.judge - order(own.judge, left_out.judge),
        });
        ranks.collect::<Sums>().less(its_rank.sums())
    });
    estimate(all, without)
}

/// Kendall's τ-b (1945): concordant less discordant pairs of answers, over the mean of the pairs
/// that each rater does not tie. Its interval is by the jackknife.
pub fn kendall_tau(pairs: &[ScorePair]) -> Result<Estimate, Undefined> {
    require_scores(pairs)?;
    let orders = |own: &ScorePair| -> Sums {
        let orders = pairs.iter().map(|other| Product {
            person: order(own.person, other.person),
            judge: order(own.judge, other.judge),
        });
        orders.collect()
    };
    let own: Vec<Sums> = pairs.iter().map(orders).collect();
    // Each pair of answers is counted from both sides.
    let all = own.iter().fold(Sums::default(), |all, own| all.plus(*own));
    estimate(all, own.iter().map(|own| all.less(*own).less(*own)))
}

/// 1 if the first score is higher, −1 if it is lower.
fn order(first: f64, second: f64) -> f64 {
    match first.partial_cmp(&second) {
        Some(Ordering::Less) => -1.0,
        Some(Ordering::Greater) => 1.0,
        Some(Ordering::Equal) | None => 0.0,
    }
}

fn require_scores(pairs: &[ScorePair]) -> Result<(), Undefined> {
    if pairs.len() < 2 {
        return Err(Undefined::TooFewRatings {
            found: pairs.len(),
            minimum: 2,
        });
    }
    let is_finite = |pair: &ScorePair| pair.person.is_finite() && pair.judge.is_finite();
    if pairs.iter().all(is_finite) {
        Ok(())
    } else {
        Err(Undefined::NotFinite)
    }
}

/// The deviations of both raters, of which a correlation is made.
#[derive(Clone, Copy)]
struct Product {
    person: f64,
    judge: f64,
}

impl Product {
    fn sums(self) -> Sums {
        Sums {
            product: self.person * self.judge,
            person: self.person * self.person,
            judge: self.judge * self.judge,
        }
    }
}

/// The sums of products and squares of deviations.
#[derive(Clone, Copy, Default)]
struct Sums {
    product: f64,
    person: f64,
    judge: f64,
}

impl Sums {
    fn plus(self, other: Self) -> Self {
        Self {
            product: self.product + other.product,
            person: self.person + other.person,
            judge: self.judge + other.judge,
        }
    }

    fn less(self, other: Self) -> Self {
        Self {
            product: self.product - other.product,
            person: self.person - other.person,
            judge: self.judge - other.judge,
        }
    }

    fn correlation(self) -> Option<f64> {
        let is_varied = self.person > 0.0 && self.judge > 0.0;
        let value = self.product / (self.person.sqrt() * self.judge.sqrt());
        is_varied.then(|| value.clamp(-1.0, 1.0))
    }
}

impl FromIterator<Product> for Sums {
    fn from_iter<I: IntoIterator<Item = Product>>(products: I) -> Self {
        let sums = products.into_iter().map(Product::sums);
        sums.fold(Self::default(), Self::plus)
    }
}

fn estimate(all: Sums, without: impl Iterator<Item = Sums>) -> Result<Estimate, Undefined> {
    let value = all.correlation().ok_or(Undefined::NoVariation)?;
    let without: Option<Vec<f64>> = without.map(Sums::correlation).collect();
    Ok(jackknife(
        value,
        &without.unwrap_or_default(),
        IntervalScale::Correlation,
    ))
}
