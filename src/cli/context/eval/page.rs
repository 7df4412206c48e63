//! Scenarios as a page: Markdown for a comment, and self-contained HTML. Scenarios that do not pass
//! come first, with their reasons.
//!
//! A write to a string cannot fail, so the results of `write!` are ignored.

use super::page_details::PageDetails;
use super::text::{answer, compared, lines, state, totals};
use crate::base::number::usd;
use crate::cli::render::markup::{cell, code, html as text};
use crate::cli::render::summary::thousands;
use crate::eval::finished::CaseVerdict;
use crate::eval::scorecard::{CaseRow, RateRow, SCHEMA, Scorecard};
use std::fmt::Write as _;

/// The most rows of a table in a comment.
const ROWS: usize = 50;

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
fn ordered(card: &Scorecard) -> (Vec<&CaseRow>, Vec<&CaseRow>) {
    card.cases
        .iter()
        .partition(|row| row.verdict() != CaseVerdict::Pass)
}

/// Returns the facts beside the name: context, answer, tokens, price, model.
fn facts(row: &CaseRow) -> Vec<String> {
    let (held, all) = row.held();
    let used = row.used();
    let cost: f64 = row.trials.iter().filter_map(|trial| trial.cost_usd).sum();
    let mut facts = vec![format!("context {held}/{all}"), answer(row)];
    if let Some(RateRow {
        value, low, high, ..
    }) = row.rate.filter(|_| row.trials.len() > 1)
    {
        facts.push(format!(
            "passes {}, 95 % interval {} to {}",
            percent(value),
            percent(low),
            percent(high)
        ));
    }
    facts.extend(
        row.tokens
            .as_ref()
            .map(|tokens| format!("{} tokens of context", many(tokens.total))),
    );
    if used > 0 {
        facts.push(format!("{} in trials", many(used)));
    }
    if cost > 0.0 {
        facts.push(format!("US$ {}", usd(cost)));
    }
    facts.extend(row.model.clone());
    facts
}

fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

fn many(number: u64) -> String {
    thousands(usize::try_from(number).unwrap_or(usize::MAX))
}

/// Returns the HTML page.
pub(super) fn html(card: &Scorecard, details: &PageDetails) -> String {
    let (open, passed) = ordered(card);
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<meta name=\"generator\" content=\"{SCHEMA}\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>Scenarios</title>\n<style>\n{STYLE}</style>\n\
         <h1>Scenarios</h1>\n<p>{}</p>\n",
        text(&totals(card))
    );
    bar(card, &mut out);
    details.trend(&mut out);
    for line in [rate(card), compared(card)].into_iter().flatten() {
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
            head(row)
        );
        for line in lines(row) {
            let _ = writeln!(out, "{}", text(&line));
        }
        for line in row.diff.iter().flat_map(|diff| diff.lines()) {
            let _ = writeln!(out, "{}", text(line));
        }
        out.push_str("</pre>\n");
        details.case(row, &mut out);
        out.push_str("</details>\n");
    }
    out.push_str("<ul>\n");
    for row in passed {
        let _ = writeln!(out, "<li>{}", head(row));
    }
    out.push_str("</ul>\n</html>\n");
    out
}

fn head(row: &CaseRow) -> String {
    let mut out = format!("<b>{}</b><span>{}</span>", text(&row.id), text(&state(row)));
    for fact in facts(row) {
        let _ = write!(out, "<span class=\"dim\">{}</span>", text(&fact));
    }
    out
}

/// Describes the pass rate of all scenarios.
fn rate(card: &Scorecard) -> Option<String> {
    let rate = card.summary.pass_rate?;
    let interval = card
        .summary
        .interval
        .map_or_else(String::new, |[low, high]| {
            format!(", 95 % interval {} to {}", percent(low), percent(high))
        });
    Some(format!("answers pass {}{interval}", percent(rate)))
}

/// Writes the verdicts of all scenarios as the parts of a bar.
fn bar(card: &Scorecard, out: &mut String) {
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
        text(&totals(card))
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
pub(super) fn markdown(card: &Scorecard) -> String {
    let (open, passed) = ordered(card);
    let mut out = format!(
        "<!-- {SCHEMA} -->\n### Scenarios\n\n{}\n",
        cell(&totals(card))
    );
    for line in [rate(card), compared(card)].into_iter().flatten() {
        let _ = writeln!(out, "\n{}", cell(&line));
    }
    if !open.is_empty() {
        out.push_str("\n| scenario | verdict | context and answer |\n|---|---|---|\n");
    }
    for row in open.iter().take(ROWS) {
        let facts: Vec<String> = facts(row).iter().map(|fact| cell(fact)).collect();
        let _ = writeln!(
            out,
            "| {} | {} | {} |",
            code(&row.id),
            cell(&state(row)),
            facts.join(", ")
        );
    }
    let beyond = open.len().saturating_sub(ROWS);
    if beyond > 0 {
        let _ = writeln!(out, "\n{beyond} more do not pass.");
    }
    for row in open.iter().take(ROWS) {
        let _ = write!(out, "\n<details><summary>{}</summary>\n\n", code(&row.id));
        for line in lines(row) {
            let _ = writeln!(out, "- {}", cell(line.trim_start()));
        }
        out.push_str("\n</details>\n");
    }
    if !passed.is_empty() {
        let names: Vec<String> = passed.iter().take(ROWS).map(|row| code(&row.id)).collect();
        let rest = passed.len().saturating_sub(ROWS);
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
