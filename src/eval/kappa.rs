//! Agreement of two raters on one scale: Cohen's κ, plain and weighted, and a judge's rates.
//!
//! The bounds of κ are score bounds, as Wilson's are for a rate: the error of κ is that of the table
//! with the bound's κ, not that of the sample, which vanishes when all pairs agree. For weighted κ of
//! three or more categories these are too cautious (they trust half as often), since they add
//! disagreements of any distance; its bounds are by the jackknife, on the scale of ln(1 − κ).

use super::agreement::{Estimate, TAIL_PROBABILITY, Undefined, normal_quantile, rate};
use serde::Serialize;
use thiserror::Error;

/// The number of halvings of a bound: nine digits.
const HALVINGS: u32 = 30;
/// The expected disagreement below which there is none but that of rounding.
const MIN_EXPECTED: f64 = 1e-12;

/// The ratings of one answer, as places on a scale: 0 is the lowest category.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RatingPair {
    /// The rating of a person.
    pub person: usize,
    /// The rating of the judge.
    pub judge: usize,
}

/// A rating that is not on its scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("found the rating {rating}, expected one of 0 to {highest}")]
pub struct OutsideScale {
    /// The rating.
    pub rating: usize,
    /// The highest category of the scale.
    pub highest: usize,
}

/// The weights of disagreements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Weighting {
    /// Every disagreement counts the same.
    Unweighted,
    /// A disagreement counts by its distance in categories.
    Linear,
    /// A disagreement counts by the square of its distance.
    Quadratic,
}

impl Weighting {
    fn weight(self, first: usize, second: usize) -> f64 {
        let distance = f64::from(first.abs_diff(second) as u32);
        match self {
            Self::Unweighted => distance.min(1.0),
            Self::Linear => distance,
            Self::Quadratic => distance * distance,
        }
    }
}

/// The power that a number of labels is to have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KappaTarget {
    /// The κ that the lower bound is to exceed.
    pub minimum: f64,
    /// The probability that the bound exceeds a true κ of the minimum.
    pub level: f64,
    /// The probability that the bound exceeds the minimum if κ is as estimated.
    pub power: f64,
}

/// The number of answers for each pair of a person's and the judge's rating.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PairTable {
    categories: usize,
    /// One row for each category of the person.
    counts: Vec<u32>,
}

impl PairTable {
    /// Counts the pairs on a scale of so many categories.
    pub fn from_pairs(categories: usize, pairs: &[RatingPair]) -> Result<Self, OutsideScale> {
        let mut counts = vec![0; categories * categories];
        for pair in pairs {
            let rating = pair.person.max(pair.judge);
            if rating >= categories {
                let highest = categories.saturating_sub(1);
                return Err(OutsideScale { rating, highest });
            }
            if let Some(count) = counts.get_mut(pair.person * categories + pair.judge) {
                *count += 1;
            }
        }
        Ok(Self { categories, counts })
    }

    /// The number of pairs.
    pub fn total(&self) -> u32 {
        self.counts.iter().sum()
    }

    /// The number of pairs for which both ratings fulfil a condition.
    fn count(&self, matches: impl Fn(RatingPair) -> bool) -> u32 {
        (0..)
            .zip(&self.counts)
            .filter(|(place, _)| {
                matches(RatingPair {
                    person: place / self.categories,
                    judge: place % self.categories,
                })
            })
            .map(|(_, count)| count)
            .sum()
    }

    /// The number of answers that a person passes, if a rating of at least `min_rating` passes.
    pub fn passes(&self, min_rating: usize) -> u32 {
        self.count(|pair| pair.person >= min_rating)
    }

    /// The share of answers with equal ratings, with Wilson's interval.
    pub fn agreement_rate(&self) -> Result<Estimate, Undefined> {
        rate(self.count(|pair| pair.person == pair.judge), self.total())
    }

    /// The share of answers passed by the judge among those passed by people, with Wilson's
    /// interval.
    pub fn true_positive_rate(&self, min_rating: usize) -> Result<Estimate, Undefined> {
        let both = self.count(|pair| pair.person >= min_rating && pair.judge >= min_rating);
        rate(both, self.passes(min_rating))
    }

    /// The share of answers failed by the judge among those failed by people, with Wilson's
    /// interval.
    pub fn true_negative_rate(&self, min_rating: usize) -> Result<Estimate, Undefined> {
        let both = self.count(|pair| pair.person < min_rating && pair.judge < min_rating);
        rate(both, self.total() - self.passes(min_rating))
    }

    /// Cohen's κ (1960; weighted, 1968): the share of the disagreement expected by chance that is
    /// absent, with its 95 % interval.
    pub fn kappa(&self, weighting: Weighting) -> Result<Estimate, Undefined> {
        let (shares, sample) = self.shares(weighting)?;
        let scaled = normal_quantile(TAIL_PROBABILITY) / f64::from(self.total()).sqrt();
        let high = match self.log_error(weighting) {
            Some(error) => 1.0 - (1.0 - sample.kappa) / (scaled * error).exp(),
            None => shares.upper_bound(weighting, scaled),
        };
        Ok(Estimate {
            value: sample.kappa,
            interval: Some((self.kappa_lower_bound(weighting, TAIL_PROBABILITY)?, high)),
        })
    }

    /// The bound that exceeds the true κ with at most this probability.
    pub fn kappa_lower_bound(&self, weighting: Weighting, level: f64) -> Result<f64, Undefined> {
        let (shares, sample) = self.shares(weighting)?;
        let scaled = normal_quantile(level) / f64::from(self.total()).sqrt();
        let low = match self.log_error(weighting) {
            Some(error) => 1.0 - (1.0 - sample.kappa) * (scaled * error).exp(),
            None => shares.lower_bound(weighting, scaled),
        };
        Ok(low.max(-1.0))
    }

    /// The number of pairs with which the lower bound exceeds the target's minimum at the target's
    /// power, if κ and the margins are those of the sample; `None` if κ does not exceed it.
    pub fn required_pairs(
        &self,
        weighting: Weighting,
        target: KappaTarget,
    ) -> Result<Option<u32>, Undefined> {
        let (shares, sample) = self.shares(weighting)?;
        let excess = sample.kappa - target.minimum;
        if excess <= 0.0 {
            return Ok(None);
        }
        let level = normal_quantile(target.level);
        let power = normal_quantile(1.0 - target.power);
        let root = if let Some(error) = self.log_error(weighting) {
            (level + power) * error / ((1.0 - target.minimum) / (1.0 - sample.kappa)).ln()
        } else {
            let at_minimum = shares
                .mixed(&shares.independent(), excess / sample.kappa)
                .large_sample(weighting)
                .map_or(0.0, |mixed| mixed.error);
            (level * at_minimum + power * sample.error) / excess
        };
        // A float becomes the nearest integer: no overflow.
        #[allow(clippy::cast_sign_loss, reason = "a square is not negative")]
        Ok(Some((root * root).ceil() as u32))
    }

    /// The error of ln(1 − κ) in samples of one pair, by the jackknife. `None` where bounds are score
    /// bounds: without weights, for two categories, or if all pairs agree.
    fn log_error(&self, weighting: Weighting) -> Option<f64> {
        if weighting == Weighting::Unweighted || self.categories < 3 {
            return None;
        }
        let (shares, sample) = self.shares(weighting).ok()?;
        let total = f64::from(self.total());
        let without = |place: usize| {
            let pair: Vec<f64> = (0..self.counts.len())
                .map(|other| f64::from(u8::from(other == place)))
                .collect();
            shares
                .mixed(&pair, -1.0 / (total - 1.0))
                .large_sample(weighting)
        };
        let (mut sum, mut squares) = (0.0, 0.0);
        for (place, count) in self.counts.iter().enumerate().filter(|cell| *cell.1 > 0) {
            let difference = without(place)?.kappa - sample.kappa;
            sum += f64::from(*count) * difference;
            squares += f64::from(*count) * difference * difference;
        }
        let variance = (total - 1.0) * (squares - sum * sum / total);
        let error = variance.max(0.0).sqrt() / (1.0 - sample.kappa);
        (error > 0.0 && error.is_finite()).then_some(error)
    }

    /// The shares of all pairs, with κ.
    fn shares(&self, weighting: Weighting) -> Result<(Shares, LargeSample), Undefined> {
        let total = self.total();
        if total == 0 {
            return Err(Undefined::TooFewRatings {
                found: 0,
                minimum: 1,
            });
        }
        let cells = self.counts.iter();
        let shares = Shares {
            categories: self.categories,
            cells: cells.map(|n| f64::from(*n) / f64::from(total)).collect(),
        };
        let sample = shares
            .large_sample(weighting)
            .ok_or(Undefined::NoVariation)?;
        Ok((shares, sample))
    }
}

/// The place between 0 and 1 at which a condition that rises from below 0 reaches 0, or else 1.
fn root(condition: impl Fn(f64) -> Option<f64>) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if condition(middle).is_some_and(|value| value < 0.0) {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

/// A distribution of pairs, as a share for each cell of a table.
struct Shares {
    categories: usize,
    cells: Vec<f64>,
}

/// κ of a distribution, and its standard error in samples of one pair: divided by the root of their
/// number it is that of a large sample.
#[derive(Clone, Copy)]
struct LargeSample {
    kappa: f64,
    error: f64,
}

impl Shares {
    fn rows(&self) -> Vec<f64> {
        let rows = self.cells.chunks(self.categories);
        rows.map(|row| row.iter().sum()).collect()
    }

    fn columns(&self) -> Vec<f64> {
        let column = |first| self.cells.iter().skip(first).step_by(self.categories).sum();
        (0..self.categories).map(column).collect()
    }

    /// The distribution with the same margins and independent ratings.
    fn independent(&self) -> Vec<f64> {
        let columns = self.columns();
        let row = |share: f64| columns.iter().map(move |column| share * column);
        self.rows().into_iter().flat_map(row).collect()
    }

    /// The distribution with the mean of both margins and equal ratings.
    fn agreeing(&self) -> Vec<f64> {
        let mut cells = vec![0.0; self.cells.len()];
        let diagonal = cells.iter_mut().step_by(self.categories + 1);
        for (cell, (row, column)) in diagonal.zip(self.rows().iter().zip(self.columns())) {
            *cell = f64::midpoint(*row, column);
        }
        cells
    }

    /// The distribution of which this part comes from another one.
    fn mixed(&self, other: &[f64], part: f64) -> Self {
        let pairs = self.cells.iter().zip(other);
        Self {
            categories: self.categories,
            cells: pairs
                .map(|(own, other)| own + part * (other - own))
                .collect(),
        }
    }

    /// κ and its error by the delta method, which for weighted κ is the formula of Fleiss, Cohen
    /// and Everitt (1969); `None` if no disagreement is expected by chance.
    fn large_sample(&self, weighting: Weighting) -> Option<LargeSample> {
        let mean = |margin: &[f64], category| -> f64 {
            let weights = (0..).zip(margin);
            weights
                .map(|(other, share)| share * weighting.weight(category, other))
                .sum()
        };
        let (rows, columns) = (self.rows(), self.columns());
        let by_row: Vec<f64> = (0..self.categories)
            .map(|row| mean(&columns, row))
            .collect();
        let by_column: Vec<f64> = (0..self.categories).map(|one| mean(&rows, one)).collect();
        let expected: f64 = rows
            .iter()
            .zip(&by_row)
            .map(|(share, mean)| share * mean)
            .sum();
        if expected <= MIN_EXPECTED {
            return None;
        }
        let cells = || {
            let rows = (0..).zip(self.cells.chunks(self.categories)).zip(&by_row);
            rows.flat_map(|((row, cells), by_row)| {
                let columns = (0..).zip(cells).zip(&by_column);
                columns.map(move |((column, share), by_column)| {
                    (*share, weighting.weight(row, column), by_row + by_column)
                })
            })
        };
        let observed: f64 = cells().map(|(share, weight, _)| share * weight).sum();
        let rest = observed / expected;
        let variance: f64 = cells()
            .map(|(share, weight, means)| share * ((weight - rest * means) / expected).powi(2))
            .sum();
        Some(LargeSample {
            kappa: 1.0 - rest,
            error: (variance - rest * rest).max(0.0).sqrt(),
        })
    }

    /// The κ that is so many errors below that of the sample, by the errors of the distributions
    /// between the sample and independence: their margins are the sample's, and their κ falls
    /// evenly.
    fn lower_bound(&self, weighting: Weighting, scaled: f64) -> f64 {
        let independent = self.independent();
        let at = |part| self.mixed(&independent, part).large_sample(weighting);
        let (Some(sample), Some(chance)) = (at(0.0), at(1.0)) else {
            return -1.0;
        };
        if sample.kappa <= 0.0 {
            return sample.kappa - scaled * sample.error;
        }
        if sample.kappa <= scaled * chance.error {
            return sample.kappa - scaled * chance.error;
        }
        let part = root(|part| Some(part * sample.kappa - scaled * at(part)?.error));
        (1.0 - part) * sample.kappa
    }

    /// The κ that is so many errors above that of the sample, by the errors of the distributions
    /// between the sample and full agreement.
    fn upper_bound(&self, weighting: Weighting, scaled: f64) -> f64 {
        let agreeing = self.agreeing();
        let at = |part| self.mixed(&agreeing, part).large_sample(weighting);
        let sample = at(0.0).map_or(1.0, |sample| sample.kappa);
        let part = root(|part| {
            let mixed = at(part)?;
            Some(mixed.kappa - sample - scaled * mixed.error)
        });
        at(part).map_or(1.0, |mixed| mixed.kappa)
    }
}

/// The rate of answers that people would pass, from the rate passed by a judge (Rogan and Gladen,
/// 1978), within 0 and 1; undefined unless TPR and TNR add up to more than 1.
pub fn corrected_pass_rate(pass_rate: f64, judge: JudgeRates) -> Result<f64, Undefined> {
    let information = judge.true_positive + judge.true_negative - 1.0;
    if information.is_nan() || information <= 0.0 {
        return Err(Undefined::Uninformative);
    }
    let corrected = (pass_rate + judge.true_negative - 1.0) / information;
    if corrected.is_nan() {
        return Err(Undefined::NotFinite);
    }
    Ok(corrected.clamp(0.0, 1.0))
}

/// A judge's rates of right verdicts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JudgeRates {
    /// The share passed by the judge among answers that people pass.
    pub true_positive: f64,
    /// The share failed by the judge among answers that people fail.
    pub true_negative: f64,
}
