//! Coefficients of agreement, by the packages that people compute them with.

#![allow(clippy::cast_precision_loss, reason = "ratings below ten")]

use super::editors::script;
use ctxc::internals::eval::agreement::{
    Estimate, Measurement, ScorePair, Undefined, fleiss_kappa, kendall_tau, krippendorff_alpha,
    spearman_rho,
};
use ctxc::internals::eval::kappa::{PairTable, RatingPair, Weighting};
use serde_json::{Value, json};
use std::io::Write as _;
use std::process::{Command, Stdio};

/// The random ratings of one table.
struct Ratings {
    categories: usize,
    pairs: Vec<RatingPair>,
    /// The ratings of each further coder; `None` if one is missing.
    coders: Vec<Vec<Option<f64>>>,
}

impl Ratings {
    /// Ratings of up to 60 answers, by raters that agree always, never or sometimes.
    fn random(random: &mut impl FnMut(usize) -> usize) -> Self {
        let (categories, units, agreeing) = (2 + random(5), 4 + random(57), random(11));
        // Low ratings are more frequent, and in some tables there is only one.
        let used = if random(10) == 0 { 1 } else { categories };
        let mut pairs = Vec::new();
        let mut coders = vec![Vec::new(); 2 + random(4)];
        for _ in 0..units {
            let person = random(used).min(random(used));
            let mut rating = || {
                let guess = random(used);
                (
                    if random(10) < agreeing { person } else { guess },
                    random(5) > 0,
                )
            };
            let (judge, _) = rating();
            pairs.push(RatingPair { person, judge });
            for coder in &mut coders {
                let (rating, is_present) = rating();
                coder.push(is_present.then_some(rating as f64));
            }
        }
        Self {
            categories,
            pairs,
            coders,
        }
    }

    fn to_json(&self) -> Value {
        json!({
            "categories": self.categories,
            "person": self.pairs.iter().map(|pair| pair.person).collect::<Vec<_>>(),
            "judge": self.pairs.iter().map(|pair| pair.judge).collect::<Vec<_>>(),
            "coders": self.coders,
        })
    }

    /// The coefficients, in the order of the script.
    fn coefficients(&self) -> Vec<Option<f64>> {
        let table = PairTable::from_pairs(self.categories, &self.pairs).unwrap();
        let weightings = [
            Weighting::Unweighted,
            Weighting::Linear,
            Weighting::Quadratic,
        ];
        let kappas = weightings.map(|weighting| table.kappa(weighting));
        let units = |unit| self.coders.iter().filter_map(move |coder| coder[unit]);
        let units: Vec<Vec<f64>> = (0..self.pairs.len())
            .map(|unit| units(unit).collect())
            .collect();
        let measurements = [
            Measurement::Nominal,
            Measurement::Ordinal,
            Measurement::Interval,
            Measurement::Ratio,
        ];
        let alphas = measurements.map(|measurement| krippendorff_alpha(&units, measurement));
        let rated = self.pairs.iter().map(|pair| {
            let mut counts = vec![0; self.categories];
            counts[pair.person] += 1;
            counts[pair.judge] += 1;
            counts
        });
        let scores = self.pairs.iter().map(|pair| ScorePair {
            person: pair.person as f64,
            judge: pair.judge as f64,
        });
        let scores: Vec<ScorePair> = scores.collect();
        let rest = [
            fleiss_kappa(&rated.collect::<Vec<_>>()),
            spearman_rho(&scores),
            kendall_tau(&scores),
        ];
        let value = |estimate: Result<Estimate, Undefined>| estimate.ok().map(|found| found.value);
        let (low, high) = table.agreement_rate().unwrap().interval.unwrap();
        let coefficients = kappas.iter().chain(&kappas).chain(&alphas).chain(&rest);
        coefficients
            .map(|estimate| value(*estimate))
            .chain([Some(low), Some(high)])
            .collect()
    }
}

/// The coefficients by the packages.
fn packages(tables: &[Value]) -> Vec<Vec<Option<f64>>> {
    let mut child = Command::new("python3")
        .arg(script("agreement.py"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("python3: {error}"));
    let mut input = child.stdin.take().unwrap();
    let tables = serde_json::to_vec(tables).unwrap();
    let writer = std::thread::spawn(move || input.write_all(&tables));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(output.status.success(), "agreement.py failed");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
#[ignore = "needs agreement: scipy, scikit-learn, statsmodels and krippendorff from its requirements"]
fn agreement_is_that_of_the_packages_in_random_tables() {
    // A linear congruential generator (Knuth, MMIX): the same tables on every machine.
    let mut state = 20_261_128_u64;
    let mut random = |below: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let tables: Vec<Ratings> = (0..200).map(|_| Ratings::random(&mut random)).collect();
    let expected = packages(&tables.iter().map(Ratings::to_json).collect::<Vec<_>>());
    assert_eq!(expected.len(), tables.len());
    let (mut defined, mut undefined) = (0, 0);
    for (table, expected) in tables.iter().zip(&expected) {
        let found = table.coefficients();
        assert_eq!(found.len(), expected.len());
        for (place, pair) in found.iter().zip(expected).enumerate() {
            match pair {
                (Some(found), Some(expected)) => {
                    defined += 1;
                    let difference = (found - expected).abs();
                    let title = || format!("coefficient {place} of {}", table.to_json());
                    assert!(difference < 1e-9, "{found}, not {expected}: {}", title());
                }
                (None, None) => undefined += 1,
                _ => panic!("coefficient {place} of {}: {pair:?}", table.to_json()),
            }
        }
    }
    assert!(defined > 2_700, "only {defined} compared");
    assert!(undefined > 10, "only {undefined} undefined");
}
