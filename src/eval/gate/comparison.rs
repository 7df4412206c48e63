//! Compares results with accepted ones, scenario by scenario.

use super::accepted::{BaselineCase, BaselineComparison};
use crate::eval::scorecard::{CaseRow, Scorecard};
use crate::eval::statistics::binomial::sign_test;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

impl BaselineComparison {
    /// Compares results with accepted ones. Results of another model are compared only if `across`
    /// is true.
    #[allow(
        clippy::cast_precision_loss,
        reason = "a scenario has fewer than 2^52 trials"
    )]
    pub fn compare<'c>(
        card: &Scorecard,
        accepted: impl IntoIterator<Item = &'c BaselineCase>,
        across: bool,
    ) -> Self {
        let rows: BTreeMap<&str, &CaseRow> = card
            .cases
            .iter()
            .map(|row| (row.id.as_str(), row))
            .collect();
        let mut found = Self::default();
        let (mut ups, mut downs) = (0, 0);
        let mut known = BTreeSet::new();
        for case in accepted {
            known.insert(case.id.as_str());
            let Some(row) = rows.get(case.id.as_str()) else {
                found.missing.push(case.id.clone());
                continue;
            };
            let undecided = (!row.is_decided()).then(|| format!("`{}` is {}", row.id, row.verdict));
            if let Some(why) =
                undecided.or_else(|| case.describe_other_model(row).filter(|_| !across))
            {
                found.not_compared.push(why);
                continue;
            }
            let answered = row.rate.filter(|_| case.trials > 0);
            let by_rate = answered.and_then(|now| {
                now.value
                    .partial_cmp(&(case.passed as f64 / case.trials as f64))
            });
            ups += u32::from(by_rate == Some(Ordering::Greater));
            downs += u32::from(by_rate == Some(Ordering::Less));
            // A context that newly fails is worse, whatever its answers.
            let by_verdict = (row.verdict == "pass").cmp(&(case.verdict == "pass"));
            match by_verdict.then(by_rate.unwrap_or(Ordering::Equal)) {
                Ordering::Greater => found.better += 1,
                Ordering::Less => found.worse += 1,
                Ordering::Equal => found.equal += 1,
            }
            if answered.is_some() {
                found.tokens_then = found
                    .tokens_then
                    .saturating_add(case.tokens / case.trials as u64);
                found.tokens_now = found
                    .tokens_now
                    .saturating_add(row.used_tokens() / row.trials.len().max(1) as u64);
            }
        }
        found.sign_test = sign_test(downs, ups);
        found.new = rows
            .into_keys()
            .filter(|id| !known.contains(id))
            .map(str::to_owned)
            .collect();
        found
    }
}
