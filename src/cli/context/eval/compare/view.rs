//! A comparison as text and as a self-contained page: the verdict, the figures side by side, and a
//! line about each scenario that differs.
//!
//! A write to a string cannot fail, so the results of `write!` are ignored.

use super::super::page::STYLE;
use crate::base::number::format_usd;
use crate::cli::prelude::*;
use crate::cli::render::markup::escape_html as text;
use crate::eval::comparison::{
    CaseChange, ComparedCase, Comparison, MeanScore, SideFigures, SidePair,
};
use crate::schema::json::names::COMPARISON;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The probability below which a difference is significant.
const SIGNIFICANCE: f64 = 0.05;

/// The style of tables, beside that of a page of scenarios.
const TABLE_STYLE: &str = "\
table{border-collapse:collapse;margin:1rem 0}
th,td{text-align:left;padding:.2rem 1.2rem .2rem 0;border-bottom:1px solid #8883;overflow-wrap:anywhere}
tbody th{font-weight:normal;opacity:.7}
";

/// Prints a comparison.
pub(super) fn print_comparison(comparison: &Comparison, cx: &mut Cx) -> Result<()> {
    for pair in &comparison.pairs {
        let verdict = cx
            .options
            .screen
            .paint(Paint::Strong, &escape_line(&verdict_line(pair)));
        cx.print_hanging(&verdict, 2)?;
        for line in summary_lines(pair) {
            cx.print_hanging(&format!("  {line}"), 4)?;
        }
        let rows = figure_rows(pair);
        let widths =
            |[label, base, _]: &[String; 3]| [label, base].map(|cell| cell.chars().count());
        let [mut label, mut base] = [0, 0];
        for row in &rows {
            let [first, second] = widths(row);
            (label, base) = (label.max(first), base.max(second));
        }
        for [name, own, theirs] in &rows {
            let line = format!("  {name:label$}  {own:base$}  {theirs}");
            cx.print_hanging(&escape_line(&line), 4)?;
        }
        for line in case_lines(pair) {
            cx.print_hanging(&escape_line(&line), 4)?;
        }
    }
    Ok(())
}

/// Returns the page.
pub(super) fn html_page(comparison: &Comparison) -> String {
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<meta name=\"generator\" content=\"{COMPARISON}\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>Comparison</title>\n<style>\n{STYLE}{TABLE_STYLE}</style>\n"
    );
    for pair in &comparison.pairs {
        let _ = writeln!(out, "<h1>{}</h1>", text(&verdict_line(pair)));
        for line in summary_lines(pair) {
            let _ = writeln!(out, "<p>{}</p>", text(&line));
        }
        out.push_str("<table>\n");
        for [name, own, theirs] in figure_rows(pair)
            .iter()
            .map(|row| row.each_ref().map(|cell| text(cell)))
        {
            let cell = if name.is_empty() { "th" } else { "td" };
            let _ = writeln!(
                out,
                "<tr><th>{name}</th><{cell}>{own}</{cell}><{cell}>{theirs}</{cell}></tr>"
            );
        }
        out.push_str("</table>\n<ol>\n");
        for line in case_lines(pair) {
            let _ = writeln!(out, "<li>{}</li>", text(&line));
        }
        out.push_str("</ol>\n");
    }
    out.push_str("</html>\n");
    out
}

fn verdict_line(pair: &SidePair) -> String {
    let (base, other) = (&pair.base.name, &pair.other.name);
    if pair.cases.is_empty() {
        format!("`{other}` and `{base}` were not compared: no scenario is decided with both")
    } else if pair.sign_test_worse < SIGNIFICANCE {
        format!("`{other}` is worse than `{base}`")
    } else if pair.sign_test_better < SIGNIFICANCE {
        format!("`{other}` is better than `{base}`")
    } else if pair.worse + pair.better > 0 {
        format!("`{other}` differs from `{base}`, but not significantly")
    } else {
        format!("`{other}` passes as often as `{base}`")
    }
}

/// The changes in words, and the sign test.
fn summary_lines(pair: &SidePair) -> Vec<String> {
    let mut counts = pluralize(pair.cases.len(), "scenario") + " compared";
    for change in CaseChange::ALL
        .into_iter()
        .filter(|change| pair.count(*change) > 0)
    {
        let _ = write!(counts, ", {} {}", pair.count(change), change_label(change));
    }
    let mut lines = vec![format!(
        "{counts}; {} not compared",
        pair.not_compared.len()
    )];
    let (worse, better) = (pair.worse, pair.better);
    if worse + better > 0 {
        let p = pair.sign_test_worse.min(pair.sign_test_better);
        lines.push(format!(
            "{worse} worse, {better} better: one-sided sign test, p = {p:.3}"
        ));
    }
    if (1..5).contains(&(worse + better)) {
        lines.push("fewer than 5 differences can never be significant".to_owned());
    }
    lines
}

/// The figures of both sides, each with its label; the names of the sides come first. Without
/// compared scenarios, there are none.
fn figure_rows(pair: &SidePair) -> Vec<[String; 3]> {
    let all = pair.cases.len();
    let mut rows = Vec::new();
    let mut add = |label: &str, value: &dyn Fn(&SideFigures) -> Option<String>| {
        let [own, theirs] = [&pair.base, &pair.other].map(value);
        if all > 0 && (own.is_some() || theirs.is_some()) {
            let [own, theirs] =
                [own, theirs].map(|value| value.unwrap_or_else(|| "unknown".to_owned()));
            rows.push([label.to_owned(), own, theirs]);
        }
    };
    add("", &|side| Some(side.name.clone()));
    add("model", &|side| {
        side.models
            .iter()
            .cloned()
            .reduce(|all, one| all + ", " + &one)
    });
    add("scenarios passed", &|side| {
        Some(format!("{} of {all}", side.passed))
    });
    add("trials passed", &|side| {
        (side.trials > 0).then(|| trials_passed(side))
    });
    add("tokens per trial", &|side| {
        Some(format!("{:.0}", side.tokens?))
    });
    add("US$ per trial", &|side| side.cost_usd.map(format_usd));
    add("median latency", &|side| {
        Some(format!("{:.0} ms", side.latency_ms?))
    });
    for MeanScore { criterion, .. } in &pair.base.scores {
        add(&format!("score: {criterion}"), &|side| {
            let mut all = side.scores.iter();
            let score = all.find(|score| score.criterion == *criterion)?;
            Some(format!("{:.2}", score.mean))
        });
    }
    rows
}

fn trials_passed(side: &SideFigures) -> String {
    format!("{} of {}", side.passed_trials, side.trials)
}

const fn change_label(change: CaseChange) -> &'static str {
    match change {
        CaseChange::Broken => "pass → fail",
        CaseChange::Fixed => "fail → pass",
        CaseChange::Worse => "with fewer passes",
        CaseChange::Better => "with more passes",
        CaseChange::Equal => "equal",
    }
}

/// A line about each scenario that differs, then those that are not compared, by reason.
fn case_lines(pair: &SidePair) -> Vec<String> {
    let is_different =
        |case: &&ComparedCase| case.change != CaseChange::Equal || case.difference.is_some();
    let line = |case: &ComparedCase| {
        let (own, theirs) = (trials_passed(&case.base), trials_passed(&case.other));
        let mut line = format!(
            "{}: {}, {own} → {theirs} trials",
            case.id,
            change_label(case.change)
        );
        if let Some(one) = &case.difference {
            let _ = write!(
                line,
                "; {}:{}: expected {}, `{}` found {}",
                case.path, one.line, one.expected, one.side, one.found
            );
        }
        line
    };
    let mut lines: Vec<String> = pair.cases.iter().filter(is_different).map(line).collect();
    let mut by_reason: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for case in &pair.not_compared {
        by_reason.entry(&case.reason).or_default().push(&case.id);
    }
    let groups = by_reason.into_iter();
    lines.extend(groups.map(|(reason, ids)| format!("not compared: {}: {reason}", ids.join(", "))));
    lines
}
