//! Results held against accepted ones, scenario by scenario.

use super::accepted::{BaselineCase, Comparison};
use crate::eval::scorecard::{CaseRow, Scorecard};
use crate::eval::statistics::binomial::sign_test;
use std::collections::{BTreeMap, BTreeSet};

impl Comparison {
    /// Holds results against accepted ones. Results of another model say nothing of this one: they are compared where `across` says so.
    #[allow(clippy::cast_precision_loss, reason = "a scenario has fewer than 2^52 trials")]
    pub fn of<'c>(card: &Scorecard, accepted: impl IntoIterator<Item = &'c BaselineCase>, across: bool) -> Self {
        let rows: BTreeMap<&str, &CaseRow> = card.cases.iter().map(|row| (row.id.as_str(), row)).collect();
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
            if let Some(why) = undecided.or_else(|| case.other_model(row).filter(|_| !across)) {
                found.not_compared.push(why);
                continue;
            }
            let answered = row.rate.filter(|_| case.trials > 0);
            let then_now = answered.map(|now| (case.passed as f64 / case.trials as f64, now.value));
            ups += u32::from(then_now.is_some_and(|(then, now)| then < now));
            downs += u32::from(then_now.is_some_and(|(then, now)| then > now));
            // A context that fails now is worse, however its answers pass.
            let verdicts = (f64::from(case.verdict == "pass"), f64::from(row.verdict == "pass"));
            let (then, now) = if case.verdict == row.verdict { then_now.unwrap_or(verdicts) } else { verdicts };
            *if then < now {
                &mut found.better
            } else if then > now {
                &mut found.worse
            } else {
                &mut found.equal
            } += 1;
            if answered.is_some() {
                found.tokens_then = found.tokens_then.saturating_add(case.tokens / case.trials as u64);
                found.tokens_now = found.tokens_now.saturating_add(row.used() / row.trials.len().max(1) as u64);
            }
        }
        found.sign_test = sign_test(downs, ups);
        found.new = rows.into_keys().filter(|id| !known.contains(id)).map(str::to_owned).collect();
        found
    }
}
