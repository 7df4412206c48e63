//! Merges scorecards of parts of a run into the scorecard of the whole run.

use super::scorecard::{CaseRow, Scorecard};
use std::collections::{BTreeMap, BTreeSet};

/// Merges named scorecards. The result is byte for byte that of one run of all their cases.
///
/// # Errors
/// The scorecards belong to different runs; the reason is in the text.
pub fn merge_scorecards(cards: Vec<(String, Scorecard)>) -> Result<Scorecard, String> {
    check_complete(&cards)?;
    let mut cards = cards.into_iter();
    let Some((first, mut whole)) = cards.next() else {
        return Err("there is no scorecard to merge".to_owned());
    };
    let mut rows: BTreeMap<(String, u32, String), (String, CaseRow)> = BTreeMap::new();
    let place = |row: &CaseRow| (row.path.clone(), row.line, row.id.clone());
    rows.extend(
        std::mem::take(&mut whole.cases)
            .into_iter()
            .map(|row| (place(&row), (first.clone(), row))),
    );
    for (name, mut card) in cards {
        let same = [
            ("registry", &card.registry_hash, &whole.registry_hash),
            ("version of ctxc", &card.tool, &whole.tool),
            ("tokenizer", &card.tokenizer, &whole.tokenizer),
            ("mode", &card.mode, &whole.mode),
        ];
        if let Some((what, theirs, ours)) =
            same.into_iter().find(|(_, theirs, ours)| theirs != ours)
        {
            let differs = format!("the {what} is {ours} in one, and {theirs} in the other");
            return Err(format!(
                "{first} and {name} are of different runs: {differs}"
            ));
        }
        for row in std::mem::take(&mut card.cases) {
            match rows.get(&place(&row)) {
                // A file that cannot be read has the same row in every part.
                Some((_, known)) if *known == row => {}
                Some((with, _)) => {
                    return Err(format!(
                        "{with} and {name} both have `{}`, with different results",
                        row.id
                    ));
                }
                None => drop(rows.insert(place(&row), (name.clone(), row))),
            }
        }
        whole.suites.append(&mut card.suites);
        whole.summary.calls += card.summary.calls;
        whole.summary.cost_usd += card.summary.cost_usd;
    }
    whole.shard = None;
    whole.baseline = None;
    whole.suites.sort();
    whole.suites.dedup();
    Ok(whole.with_cases(rows.into_values().map(|(_, row)| row).collect()))
}

/// Checks that every part of the run is present.
fn check_complete(cards: &[(String, Scorecard)]) -> Result<(), String> {
    let shards: Vec<(&String, [u64; 2])> = cards
        .iter()
        .filter_map(|(name, card)| Some((name, card.shard?)))
        .collect();
    let Some((first, [_, count])) = shards.first() else {
        return Ok(());
    };
    if let Some((name, [_, other])) = shards.iter().find(|(_, [_, other])| other != count) {
        return Err(format!(
            "{first} is one of {count} parts, and {name} one of {other}"
        ));
    }
    let there: BTreeSet<u64> = shards.iter().map(|(_, [index, _])| *index).collect();
    match (1..=*count).find(|index| !there.contains(index)) {
        Some(missing) => Err(format!("part {missing} of {count} is missing")),
        None => Ok(()),
    }
}
