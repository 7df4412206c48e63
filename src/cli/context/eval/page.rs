//! Scenarios as a page: Markdown for a comment, and self-contained HTML. Scenarios that do not pass
//! come first, with their reasons.
//!
//! A write to a string cannot fail, so the results of `write!` are ignored.

use super::choose::{EvalRun, StoredCase};
use super::score_text::{score_lines, threshold_lines};
use super::scorecard_text::{
    answer_summary, comparison_line, problem_lines, totals_line, verdict_label, verdict_symbol,
};
use crate::base::number::format_usd;
use crate::cli::context::model_calls::fixed_mask;
use crate::cli::history::HistoryPlace;
use crate::cli::render::markup::{
    code_element, escape_cell, escape_html as text, escape_html_lines,
};
use crate::cli::render::screen::Screen;
use crate::cli::render::summary::{format_thousands, pluralize};
use crate::cli::render::unified;
use crate::eval::case_result::{CaseResult, CaseVerdict};
use crate::eval::groups::ThresholdRow;
use crate::eval::scorecard::{CaseRow, RateRow, SCHEMA, Scorecard};
use crate::eval::trials::TrialOutcome;
use crate::record::fixed_mask::FixedMask;
use crate::scenario::paths;
use crate::store::history::{CaseSeries, EvalHistory, HistoryError, RunRecord, SeriesPoint};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The maximum number of rows of a table in a comment.
const MAX_ROWS: usize = 50;

pub(super) const STYLE: &str = "\
:root{color-scheme:light dark;--good:#24774a;--bad:#b83327;--open:#8f6a1f}
@media (prefers-color-scheme:dark){:root{--good:#5cc98d;--bad:#ff8a7d;--open:#d9ab4f}}
body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:64rem;padding:0 1rem}
svg{display:block;width:100%;height:1.4rem;border-radius:4px;margin:.6rem 0}
ul,ol{list-style:none;padding:0}
ul>li,summary{display:flex;flex-wrap:wrap;gap:.1rem 1rem;padding:.2rem .4rem;border-left:4px solid var(--good);border-bottom:1px solid #8883}ul>li{content-visibility:auto;contain-intrinsic-size:auto 1.6em}
summary{cursor:pointer}summary:focus-visible{outline:2px solid Highlight}
b{flex:1 1 14rem;overflow-wrap:anywhere}span{font-variant-numeric:tabular-nums}
.fail,.error{border-left-color:var(--bad)}.stale,.inconclusive{border-left-color:var(--open)}
strong{color:var(--good)}.fail strong,.error strong{color:var(--bad)}.stale strong,.inconclusive strong{color:var(--open)}
pre{white-space:pre-wrap;overflow-wrap:anywhere;margin:.4rem 0 1rem;padding:.6rem;background:#8882;border-radius:4px;font-size:.9em}
h2{font-size:1em;margin:.8rem 0 .3rem}
ol strong{color:inherit}ol>li{border-left:3px solid #8886;margin:.4rem 0;padding-left:.6rem}
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
    let worst = worst_verdict(card);
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<meta name=\"generator\" content=\"{SCHEMA}\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>Scenarios</title>\n<style>\n{STYLE}</style>\n\
         <h1>Scenarios</h1>\n<p class=\"{}\"><strong>{}</strong> {}</p>\n",
        worst.word(),
        verdict_symbol(worst),
        text(&totals_line(card))
    );
    write_bar(card, &mut out);
    details.write_trend(&mut out);
    for line in summary_lines(card) {
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

/// Returns the verdict of a whole run, which hides no failure behind an open case.
fn worst_verdict(card: &Scorecard) -> CaseVerdict {
    let rows = card.cases.iter();
    let rows = rows.filter(|row| !card.allows_failure_of(row));
    let limits = card.thresholds.iter().map(ThresholdRow::verdict);
    let worst = limits
        .chain(rows.map(CaseRow::verdict))
        .max_by_key(|verdict| {
            let is_failure = *verdict == CaseVerdict::Fail;
            (is_failure, *verdict)
        });
    worst.unwrap_or(CaseVerdict::Pass)
}

fn row_head(row: &CaseRow) -> String {
    let mut out = format!(
        "<strong>{} {}</strong><b>{}</b>",
        verdict_symbol(row.verdict()),
        text(&verdict_label(row)),
        text(&row.id)
    );
    for fact in row_facts(row) {
        let _ = write!(out, "<span class=\"dim\">{}</span>", text(&fact));
    }
    out
}

/// Returns the lines about all scenarios together.
fn summary_lines(card: &Scorecard) -> Vec<String> {
    let lines = [pass_rate_line(card), comparison_line(card)];
    let lines = lines.into_iter().flatten();
    let lines = threshold_lines(card).into_iter().chain(lines);
    lines.chain(score_lines(card)).collect()
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
    for line in summary_lines(card) {
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

/// The maximum number of scenarios with details on a page.
const MAX_CASES: usize = 100;
/// The maximum number of characters of a text.
const MAX_TEXT_CHARS: usize = 6_000;
/// The maximum number of runs before the last, and of runs of equal scenarios.
const MAX_EARLIER_RUNS: usize = 5;
const MAX_RUNS: usize = 30;

/// The place of a run in the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RunHistory {
    /// The run is stored in the history.
    Stored,
    /// The run is not stored.
    Absent,
}

/// The data of a page beyond the scorecard.
#[derive(Debug, Default)]
pub(super) struct PageDetails {
    /// By path and name.
    cases: BTreeMap<(String, String), CaseDetails>,
    /// The results of the last runs of equal scenarios: the numbers of scenarios and of passed ones.
    runs: Vec<(u64, u64)>,
}

#[derive(Debug, Default)]
struct CaseDetails {
    /// The messages, each with its speaker.
    messages: Vec<(String, String)>,
    /// The diff from the stored request to the current one; `None` if none is stored.
    diff: Option<String>,
    series: Option<CaseSeries>,
}

impl PageDetails {
    /// Collects the details of the scenarios of a run; with their history, if the run is stored and
    /// it can be read.
    pub(super) fn collect(
        eval_run: &EvalRun<'_>,
        finished: &[Option<StoredCase>],
        history: RunHistory,
    ) -> Self {
        let project = eval_run.project();
        let history = HistoryPlace::for_project(&project.root, &project.config)
            .ok()
            .filter(|_| history == RunHistory::Stored)
            .and_then(|place| place.open().ok()?);
        let mut cases = BTreeMap::new();
        let mask = fixed_mask(project);
        let all = eval_run
            .chosen
            .iter()
            .zip(&eval_run.snapshots)
            .zip(finished);
        let open = all.filter_map(|(of, done)| {
            Some((of, done.as_ref()?, done.as_ref()?.full_result.as_deref()?))
        });
        for ((chosen, stored), StoredCase { snapshot, .. }, done) in open.take(MAX_CASES) {
            let name = &chosen.case.name.value;
            let diff = stored
                .as_deref()
                .zip(snapshot.as_deref())
                .map(|(before, now)| {
                    let mut out = Vec::new();
                    // A write to memory cannot fail.
                    let now = if mask.is_same_request(before, now) {
                        before.to_owned()
                    } else {
                        mask.mask_stored_request(now)
                    };
                    let _ = unified::write_diff(
                        &mut out,
                        &paths::snapshot_path(chosen.path, name),
                        before,
                        &now,
                        Screen::PLAIN,
                    );
                    String::from_utf8_lossy(&out).into_owned()
                });
            let series = history
                .as_ref()
                .and_then(|history| history.series_of(name, MAX_EARLIER_RUNS).ok()?);
            cases.insert(
                (chosen.path.to_owned(), name.clone()),
                CaseDetails {
                    messages: conversation_texts(done, &mask),
                    diff,
                    series,
                },
            );
        }
        let runs = history.and_then(|history| runs_like_last(&history).ok());
        Self {
            cases,
            runs: runs.unwrap_or_default(),
        }
    }

    /// Writes the results of the last runs as a line chart.
    pub(super) fn write_trend(&self, out: &mut String) {
        if self.runs.len() < 2 {
            return;
        }
        #[allow(
            clippy::cast_precision_loss,
            reason = "a project has fewer than 2^52 scenarios"
        )]
        let share = |(cases, passed): &(u64, u64)| *passed as f64 / *cases as f64;
        let points: Vec<ChartPoint> = self
            .runs
            .iter()
            .map(|run| ChartPoint {
                value: share(run),
                is_good: run.0 == run.1,
            })
            .collect();
        let last = self
            .runs
            .last()
            .map_or_else(String::new, |(cases, passed)| {
                format!(", {passed} of {cases} in the last")
            });
        let what = format!(
            "scenarios that passed in the last {} of this selection{last}",
            pluralize(points.len(), "run")
        );
        let _ = write!(out, "<figure><figcaption>{}</figcaption>", text(&what));
        let chart = LineChart {
            points,
            min: 0.0,
            max: 1.0,
            label: &what,
        };
        chart.write(out);
        out.push_str("</figure>\n");
    }

    /// Writes the details of a scenario.
    pub(super) fn write_case(&self, row: &CaseRow, out: &mut String) {
        let Some(CaseDetails {
            messages,
            diff,
            series,
        }) = self.cases.get(&(row.path.clone(), row.id.clone()))
        else {
            return;
        };
        if !messages.is_empty() {
            out.push_str("<h2>Conversation</h2>\n<ol>\n");
            for (who, what) in messages {
                let _ = writeln!(
                    out,
                    "<li><strong>{}</strong>{}</li>",
                    text(who),
                    scrolling_block("", &escape_html_lines(&shorten_text(what)))
                );
            }
            out.push_str("</ol>\n");
        }
        if let Some(diff) = diff {
            out.push_str("<h2>Request against the stored one</h2>\n");
            if diff.is_empty() {
                out.push_str("<p>It is the stored one.</p>\n");
            } else {
                out.push_str(&scrolling_block(
                    " class=\"diff\"",
                    &colored_diff(&shorten_text(diff)),
                ));
            }
        }
        if let Some(series) = series {
            write_runs(series, out);
        }
    }
}

/// Returns the counts of the last runs that had the same scenarios as the very last one: a run of
/// some scenarios is no point of a line of all.
fn runs_like_last(history: &dyn EvalHistory) -> Result<Vec<(u64, u64)>, HistoryError> {
    let mut runs = history.load_runs()?;
    runs.retain(|run| run.finished && run.cases > 0);
    let Some(last) = runs.last() else {
        return Ok(Vec::new());
    };
    let (count, names) = (last.cases, history.case_names(last.order)?);
    let is_same = |run: &&RunRecord| {
        run.cases == count && history.case_names(run.order).is_ok_and(|own| own == names)
    };
    let same = runs.iter().rev().filter(is_same).take(MAX_RUNS);
    let mut counts: Vec<_> = same.map(|run| (run.cases, run.passed)).collect();
    counts.reverse();
    Ok(counts)
}

/// Returns the messages of the request, and the answer of the first failed trial.
fn conversation_texts(done: &CaseResult, mask: &FixedMask) -> Vec<(String, String)> {
    let mut messages: Vec<(String, String)> = done
        .messages
        .iter()
        .map(|(speaker, text)| (speaker.word().to_owned(), text.clone()))
        .collect();
    let failed = done
        .trials
        .iter()
        .position(|trial| trial.outcome == TrialOutcome::Failed);
    let at = failed.unwrap_or(0);
    if let Some(trial) = done.trials.get(at) {
        let mut words = trial.answer.text.clone();
        for (name, arguments) in &trial.answer.tool_calls {
            let _ = write!(
                words,
                "{}calls {name} {arguments}",
                if words.is_empty() { "" } else { "\n" }
            );
        }
        let state = if failed.is_some() { "fails" } else { "passes" };
        messages.push((
            format!(
                "answer of trial {} of {}, by {}: {state}",
                at + 1,
                done.trials.len(),
                trial.answered_by
            ),
            words,
        ));
    }
    for (_, words) in &mut messages {
        *words = mask
            .mask_text(words)
            .unwrap_or_else(|| std::mem::take(words));
    }
    messages
}

/// Returns a text block that can be scrolled, also by keyboard.
fn scrolling_block(attributes: &str, html: &str) -> String {
    format!("<pre{attributes} tabindex=\"0\">{html}</pre>\n")
}

fn shorten_text(words: &str) -> String {
    match words.char_indices().nth(MAX_TEXT_CHARS) {
        None => words.to_owned(),
        Some((at, _)) => {
            let rest = words.get(at..).map_or(0, |rest| rest.chars().count());
            format!(
                "{}\n… {rest} more characters",
                words.get(..at).unwrap_or_default()
            )
        }
    }
}

/// Returns a diff whose added and removed lines are also marked by their elements.
fn colored_diff(diff: &str) -> String {
    let mut out = String::new();
    for line in diff.lines() {
        let _ = match line.as_bytes().first() {
            Some(b'+') => writeln!(out, "<ins>{}</ins>", escape_html_lines(line)),
            Some(b'-') => writeln!(out, "<del>{}</del>", escape_html_lines(line)),
            _ => writeln!(out, "{}", escape_html_lines(line)),
        };
    }
    out
}

/// Writes the last runs of a scenario: tokens as a line, with points colored by verdict.
fn write_runs(series: &CaseSeries, out: &mut String) {
    let all: Vec<&SeriesPoint> = series.before.iter().chain(&series.now).collect();
    let tokens: Vec<ChartPoint> = all
        .iter()
        .filter_map(|point| {
            Some(ChartPoint {
                value: point.tokens?,
                is_good: point.passed,
            })
        })
        .collect();
    if tokens.len() < 2 {
        return;
    }
    let (min, max) = tokens
        .iter()
        .fold((f64::MAX, f64::MIN), |(min, max), point| {
            (min.min(point.value), max.max(point.value))
        });
    let passed = tokens.iter().filter(|point| point.is_good).count();
    let moved = if series.before.is_empty() {
        ""
    } else {
        "; model or context changed in between"
    };
    let what = format!(
        "mean tokens in the last {}: {min:.0} to {max:.0}; {passed} passed{moved}",
        pluralize(tokens.len(), "run")
    );
    let _ = write!(
        out,
        "<h2>Last runs</h2>\n<figure><figcaption>{}</figcaption>",
        text(&what)
    );
    let chart = LineChart {
        points: tokens,
        min,
        max,
        label: &what,
    };
    chart.write(out);
    out.push_str("</figure>\n");
}

/// A point of a line chart.
struct ChartPoint {
    value: f64,
    is_good: bool,
}

/// A line chart from left to right, with good and bad points in their colors.
struct LineChart<'a> {
    points: Vec<ChartPoint>,
    /// The values at the bottom and at the top.
    min: f64,
    max: f64,
    /// The chart in words.
    label: &'a str,
}

impl LineChart<'_> {
    fn write(&self, out: &mut String) {
        const HEIGHT: f64 = 40.0;
        let Self {
            points,
            min,
            max,
            label,
        } = self;
        let width = points.len().saturating_sub(1).max(1) * 12;
        #[allow(clippy::cast_precision_loss, reason = "a few points")]
        let place = |at: usize, value: f64| {
            let share = if max > min {
                (value - min) / (max - min)
            } else {
                0.5
            };
            ((at * 12) as f64, HEIGHT - share * HEIGHT)
        };
        let _ = write!(
            out,
            "<svg class=\"line\" viewBox=\"-6 -6 {} {}\" role=\"img\" aria-label=\"{}\"><polyline points=\"",
            width + 12,
            HEIGHT + 12.0,
            text(label)
        );
        for (at, ChartPoint { value, .. }) in points.iter().enumerate() {
            let (x, y) = place(at, *value);
            let _ = write!(out, "{x},{y:.1} ");
        }
        out.push_str("\"/>");
        for (at, ChartPoint { value, is_good }) in points.iter().enumerate() {
            let (x, y) = place(at, *value);
            let color = if *is_good { "--good" } else { "--bad" };
            let _ = write!(
                out,
                "<circle cx=\"{x}\" cy=\"{y:.1}\" r=\"3\" fill=\"var({color})\"/>"
            );
        }
        out.push_str("</svg>");
    }
}
