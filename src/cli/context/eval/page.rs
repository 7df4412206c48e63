//! Scenarios as a page: Markdown for a comment, and self-contained HTML. Scenarios that do not pass
//! come first, with their reasons.
//!
//! A write to a string cannot fail, so the results of `write!` are ignored.

use super::page_details::PageDetails;
use super::text::{answer_summary, comparison_line, problem_lines, totals_line, verdict_label};
use crate::base::number::format_usd;
use crate::cli::render::markup::{code_element, escape_cell, escape_html as text};
use crate::cli::render::summary::format_thousands;
use crate::eval::finished::CaseVerdict;
use crate::eval::scorecard::{CaseRow, RateRow, SCHEMA, Scorecard};
use std::fmt::Write as _;

/// The maximum number of rows of a table in a comment.
const MAX_ROWS: usize = 50;

const STYLE: &str = "\
:root{color-scheme:light dark;--good:#24774a;--bad:#b83327;--open:#8f6a1f}
@media (prefers-color-scheme:dark){:root{--good:#5cc98d;--bad:#ff8a7d;--open:#d9ab4f}}
body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:64rem;padding:0 1rem}
svg{display:block;width:100%;height:1.4rem;border-radius:4px;margin:.6rem 0}
ul,ol{list-style:none;padding:0}
ul>li,summary{display:flex;flex-wrap:wrap;gap:.1rem 1rem;padding:.2rem .4rem;border-left:4px solid var(--good);border-bottom:1px solid #8883}ul>li{content-visibility:auto;contain-intrinsic-size:auto 1.6em}
summary{cursor:pointer}summary:focus-visible{outline:2px solid Highlight}
b{flex:1 1 14rem;overflow-wrap:anywhere}span{font-variant-numeric:tabular-nums}
.fail,.error{border-left-color:var(--bad)}.stale,.inconclusive{border-left-color:var(--open)}
pre{white-space:pre-wrap;overflow-wrap:anywhere;margin:.4rem 0 1rem;padding:.6rem;background:#8882;border-radius:4px;font-size:.9em}
h2{font-size:1em;margin:.8rem 0 .3rem}
ol>li{border-left:3px solid #8886;margin:.4rem 0;padding-left:.6rem}
ol pre,.diff{max-height:22rem;overflow:auto}pre:focus-visible{outline:2px solid Highlight}
ins{color:var(--good);text-decoration:none}del{color:var(--bad);text-decoration:none}
figure{margin:.6rem 0}figcaption{opacity:.7}
svg.line{width:auto;max-width:100%;height:4.5rem}polyline{fill:none;stroke:currentColor;stroke-width:1.5;opacity:.6}
.dim{opacity:.7}code{font-size:.9em;overflow-wrap:anywhere}
";

/// Splits the rows into those that do not pass and the others, in the order of the scorecard.
fn split_by_verdict(card: &Scorecard) -> (Vec<&CaseRow>, Vec<&CaseRow>) {
    card.cases
        .iter()
        .partition(|row| row.verdict() != CaseVerdict::Pass)
}

/// Returns the facts beside the name: context, answer, tokens, price, model.
fn row_facts(row: &CaseRow) -> Vec<String> {
    let (held, all) = row.held_expectations();
    let used = row.used_tokens();
    let cost: f64 = row.trials.iter().filter_map(|trial| trial.cost_usd).sum();
    let mut facts = vec![format!("context {held}/{all}"), answer_summary(row)];
    if let Some(RateRow {
        value, low, high, ..
    }) = row.rate.filter(|_| row.trials.len() > 1)
    {
        facts.push(format!(
            "passes {}, 95 % interval {} to {}",
            format_percent(value),
            format_percent(low),
            format_percent(high)
        ));
    }
    facts.extend(
        row.tokens
            .as_ref()
            .map(|tokens| format!("{} tokens of context", format_count(tokens.total))),
    );
    if used > 0 {
        facts.push(format!("{} in trials", format_count(used)));
    }
    if cost > 0.0 {
        facts.push(format!("US$ {}", format_usd(cost)));
    }
    facts.extend(row.model.clone());
    facts
}

fn format_percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

fn format_count(number: u64) -> String {
    format_thousands(usize::try_from(number).unwrap_or(usize::MAX))
}

/// Returns the HTML page.
pub(super) fn html_page(card: &Scorecard, details: &PageDetails) -> String {
    let (open, passed) = split_by_verdict(card);
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<meta name=\"generator\" content=\"{SCHEMA}\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>Scenarios</title>\n<style>\n{STYLE}</style>\n\
         <h1>Scenarios</h1>\n<p>{}</p>\n",
        text(&totals_line(card))
    );
    write_bar(card, &mut out);
    details.write_trend(&mut out);
    for line in [pass_rate_line(card), comparison_line(card)]
        .into_iter()
        .flatten()
    {
        let _ = writeln!(out, "<p>{}</p>", text(&line));
    }
    let _ = writeln!(
        out,
        "<p class=\"dim\">{}, registry <code>{}</code></p>",
        text(&card.mode),
        text(&card.registry_hash)
    );
    for row in open {
        let _ = write!(
            out,
            "<details open><summary class=\"{}\">{}</summary>\n<pre>",
            text(&row.verdict),
            row_head(row)
        );
        for line in problem_lines(row) {
            let _ = writeln!(out, "{}", text(&line));
        }
        for line in row.diff.iter().flat_map(|diff| diff.lines()) {
            let _ = writeln!(out, "{}", text(line));
        }
        out.push_str("</pre>\n");
        details.write_case(row, &mut out);
        out.push_str("</details>\n");
    }
    out.push_str("<ul>\n");
    for row in passed {
        let _ = writeln!(out, "<li>{}", row_head(row));
    }
    out.push_str("</ul>\n</html>\n");
    out
}

fn row_head(row: &CaseRow) -> String {
    let mut out = format!(
        "<b>{}</b><span>{}</span>",
        text(&row.id),
        text(&verdict_label(row))
    );
    for fact in row_facts(row) {
        let _ = write!(out, "<span class=\"dim\">{}</span>", text(&fact));
    }
    out
}

/// Describes the pass rate of all scenarios.
fn pass_rate_line(card: &Scorecard) -> Option<String> {
    let rate = card.summary.pass_rate?;
    let interval = card
        .summary
        .interval
        .map_or_else(String::new, |[low, high]| {
            format!(
                ", 95 % interval {} to {}",
                format_percent(low),
                format_percent(high)
            )
        });
    Some(format!("answers pass {}{interval}", format_percent(rate)))
}

/// Writes the verdicts of all scenarios as the parts of a bar.
fn write_bar(card: &Scorecard, out: &mut String) {
    let summary = &card.summary;
    let parts = [
        ("passed", summary.passed, "--good"),
        ("failed", summary.failed, "--bad"),
        ("errored", summary.errored, "--bad"),
        ("stale", summary.stale, "--open"),
        ("inconclusive", summary.inconclusive, "--open"),
    ];
    let all = summary.planned.max(1);
    let _ = write!(
        out,
        "<svg viewBox=\"0 0 {all} 1\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"{}\">",
        text(&totals_line(card))
    );
    let mut from = 0;
    for (word, count, color) in parts.into_iter().filter(|(_, count, _)| *count > 0) {
        let _ = write!(
            out,
            "<rect x=\"{from}\" width=\"{count}\" height=\"1\" fill=\"var({color})\"><title>{count} {word}</title></rect>"
        );
        from += count;
    }
    out.push_str("</svg>\n");
}

/// Returns the comment.
pub(super) fn markdown_comment(card: &Scorecard) -> String {
    let (open, passed) = split_by_verdict(card);
    let mut out = format!(
        "<!-- {SCHEMA} -->\n### Scenarios\n\n{}\n",
        escape_cell(&totals_line(card))
    );
    for line in [pass_rate_line(card), comparison_line(card)]
        .into_iter()
        .flatten()
    {
        let _ = writeln!(out, "\n{}", escape_cell(&line));
    }
    if !open.is_empty() {
        out.push_str("\n| scenario | verdict | context and answer |\n|---|---|---|\n");
    }
    for row in open.iter().take(MAX_ROWS) {
        let facts: Vec<String> = row_facts(row)
            .iter()
            .map(|fact| escape_cell(fact))
            .collect();
        let _ = writeln!(
            out,
            "| {} | {} | {} |",
            code_element(&row.id),
            escape_cell(&verdict_label(row)),
            facts.join(", ")
        );
    }
    let beyond = open.len().saturating_sub(MAX_ROWS);
    if beyond > 0 {
        let _ = writeln!(out, "\n{beyond} more do not pass.");
    }
    for row in open.iter().take(MAX_ROWS) {
        let _ = write!(
            out,
            "\n<details><summary>{}</summary>\n\n",
            code_element(&row.id)
        );
        for line in problem_lines(row) {
            let _ = writeln!(out, "- {}", escape_cell(line.trim_start()));
        }
        out.push_str("\n</details>\n");
    }
    if !passed.is_empty() {
        let names: Vec<String> = passed
            .iter()
            .take(MAX_ROWS)
            .map(|row| code_element(&row.id))
            .collect();
        let rest = passed.len().saturating_sub(MAX_ROWS);
        let more = if rest > 0 {
            format!(" and {rest} more")
        } else {
            String::new()
        };
        let _ = write!(
            out,
            "\n<details><summary>{} pass</summary>\n\n{}{more}\n\n</details>\n",
            passed.len(),
            names.join(", ")
        );
    }
    out
}
