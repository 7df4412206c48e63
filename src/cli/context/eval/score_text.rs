//! Scores in reports: of scenarios and their expectations, by tag, over repeated trials, and the
//! thresholds of suites.

use crate::eval::case_result::CaseVerdict;
use crate::eval::groups::{TagRow, ThresholdRow};
use crate::eval::score::format_score;
use crate::eval::scorecard::{CaseRow, Scorecard, VerdictRow};

/// Describes the score of a scenario, as an addition to its answers; empty if it has none.
pub(super) fn score_suffix(row: &CaseRow) -> String {
    let score = row.score.and_then(|score| score.value);
    score.map_or_else(String::new, |score| {
        format!(", score {}", format_score(score))
    })
}

/// Describes the part of an expectation in the score of its trial; `None` if it has none.
pub(super) fn describe_part(verdict: &VerdictRow) -> Option<String> {
    let part = verdict.part?;
    let scored = format_score(part.score * part.weight);
    let skipped = if verdict.verdict == "skipped" {
        "skipped: "
    } else {
        ""
    };
    Some(format!(" ({skipped}scores {scored} of {})", part.weight))
}

/// Returns a line for each threshold that is not reached, or that allows a failure.
pub(super) fn threshold_lines(card: &Scorecard) -> Vec<String> {
    let allows = |limit: &ThresholdRow| {
        let mut own = card.cases.iter().filter(|row| row.path == limit.path);
        limit.name == "pass_rate" && own.any(|row| card.allows_failure_of(row))
    };
    let limits = card.thresholds.iter();
    let shown = limits.filter(|row| row.verdict() != CaseVerdict::Pass || allows(row));
    shown.map(ThresholdRow::describe).collect()
}

/// Returns the lines about scores and repeated trials, of all scenarios and by each tag that has
/// answers.
pub(super) fn score_lines(card: &Scorecard) -> Vec<String> {
    let totals = &card.summary;
    let figure = |name: &str, value: Option<f64>| Some(format!("{name} {}", format_score(value?)));
    let all = [
        figure("mean score", totals.score),
        figure("pass@k", totals.pass_at_k),
        figure("pass^k", totals.pass_hat_k),
    ];
    let all: Vec<String> = all.into_iter().flatten().collect();
    let of_tag = |row: &TagRow| {
        let parts = [
            Some(format!(
                "tag {}: {} of {} pass",
                row.tag, row.passed, row.planned
            )),
            figure("pass rate of trials", row.pass_rate),
            figure("mean score", row.score),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    };
    let has_figure = |row: &&TagRow| row.pass_rate.or(row.score).is_some();
    let tags = totals.tags.iter().filter(has_figure);
    let all = (!all.is_empty()).then(|| all.join(", "));
    all.into_iter().chain(tags.map(of_tag)).collect()
}
