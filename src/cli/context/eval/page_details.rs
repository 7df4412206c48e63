//! The details of failed scenarios on the page, beyond the scorecard: the conversation, the changes
//! of the request, the last runs.
//!
//! Only the first scenarios, and only the beginnings of long texts, so that a page always opens
//! quickly.

use super::choose::{EvalRun, StoredCase};
use crate::cli::context::model_calls::fixed_mask;
use crate::cli::context::project::CompiledProject;
use crate::cli::history::HistoryPlace;
use crate::cli::render::markup::{escape_html as text, escape_html_lines};
use crate::cli::render::screen::Screen;
use crate::cli::render::summary::pluralize;
use crate::cli::render::unified;
use crate::eval::finished::CaseResult;
use crate::eval::scorecard::CaseRow;
use crate::eval::trials::TrialOutcome;
use crate::record::fixed_mask::FixedMask;
use crate::scenario::paths;
use crate::store::history::{CaseSeries, EvalHistory, RunRecord, SeriesPoint};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The maximum number of scenarios with details on a page.
const MAX_CASES: usize = 100;
/// The maximum number of characters of a text.
const MAX_TEXT_CHARS: usize = 6_000;
/// The maximum number of runs before the last, and of runs of all scenarios.
const MAX_EARLIER_RUNS: usize = 5;
const MAX_RUNS: usize = 30;

/// The data of a page beyond the scorecard.
#[derive(Debug, Default)]
pub(super) struct PageDetails {
    /// By path and name.
    cases: BTreeMap<(String, String), CaseDetails>,
    /// The results of the last runs: the numbers of scenarios and of passed ones.
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
        project: &CompiledProject,
        eval_run: &EvalRun<'_>,
        finished: &[Option<StoredCase>],
        is_kept: bool,
    ) -> Self {
        let history = HistoryPlace::for_project(&project.root, &project.config)
            .ok()
            .filter(|_| is_kept)
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
        let ended =
            |run: &RunRecord| (run.finished && run.cases > 0).then_some((run.cases, run.passed));
        let runs = history
            .and_then(|history| history.load_runs().ok())
            .unwrap_or_default();
        let mut runs: Vec<(u64, u64)> = runs.iter().filter_map(ended).collect();
        runs.drain(..runs.len().saturating_sub(MAX_RUNS));
        Self { cases, runs }
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
        let points: Vec<(f64, bool)> = self
            .runs
            .iter()
            .map(|run| (share(run), run.0 == run.1))
            .collect();
        let last = self
            .runs
            .last()
            .map_or_else(String::new, |(cases, passed)| {
                format!(", {passed} of {cases} in the last")
            });
        let what = format!(
            "scenarios that passed in the last {}{last}",
            pluralize(points.len(), "run")
        );
        let _ = write!(out, "<figure><figcaption>{}</figcaption>", text(&what));
        write_line_chart(&points, (0.0, 1.0), &what, out);
        out.push_str("</figure>\n");
    }

    /// Writes the details of a scenario.
    pub(super) fn write_case(&self, row: &CaseRow, out: &mut String) {
        let Some(CaseDetails {
            messages: said,
            diff,
            series,
        }) = self.cases.get(&(row.path.clone(), row.id.clone()))
        else {
            return;
        };
        if !said.is_empty() {
            out.push_str("<h2>Conversation</h2>\n<ol>\n");
            for (who, what) in said {
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

/// Returns the messages of the request, and the answer of the first failed trial.
fn conversation_texts(done: &CaseResult, mask: &FixedMask) -> Vec<(String, String)> {
    let mut said: Vec<(String, String)> = done
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
        said.push((
            format!(
                "answer of trial {} of {}, by {}: {state}",
                at + 1,
                done.trials.len(),
                trial.answered_by
            ),
            words,
        ));
    }
    for (_, words) in &mut said {
        *words = mask
            .mask_text(words)
            .unwrap_or_else(|| std::mem::take(words));
    }
    said
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
    let tokens: Vec<(f64, bool)> = all
        .iter()
        .filter_map(|point| Some((point.tokens?, point.passed)))
        .collect();
    if tokens.len() < 2 {
        return;
    }
    let (least, most) = tokens
        .iter()
        .fold((f64::MAX, f64::MIN), |(least, most), (one, _)| {
            (least.min(*one), most.max(*one))
        });
    let passed = tokens.iter().filter(|(_, passed)| *passed).count();
    let moved = if series.before.is_empty() {
        ""
    } else {
        "; model or context changed in between"
    };
    let what = format!(
        "mean tokens in the last {}: {least:.0} to {most:.0}; {passed} passed{moved}",
        pluralize(tokens.len(), "run")
    );
    let _ = write!(
        out,
        "<h2>Last runs</h2>\n<figure><figcaption>{}</figcaption>",
        text(&what)
    );
    write_line_chart(&tokens, (least, most), &what, out);
    out.push_str("</figure>\n");
}

/// Writes a line chart from left to right, with good and bad points in their colors.
fn write_line_chart(
    points: &[(f64, bool)],
    (least, most): (f64, f64),
    what: &str,
    out: &mut String,
) {
    const HEIGHT: f64 = 40.0;
    let width = points.len().saturating_sub(1).max(1) * 12;
    #[allow(clippy::cast_precision_loss, reason = "a few points")]
    let place = |at: usize, value: f64| {
        let share = if most > least {
            (value - least) / (most - least)
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
        text(what)
    );
    for (at, (value, _)) in points.iter().enumerate() {
        let (x, y) = place(at, *value);
        let _ = write!(out, "{x},{y:.1} ");
    }
    out.push_str("\"/>");
    for (at, (value, is_good)) in points.iter().enumerate() {
        let (x, y) = place(at, *value);
        let color = if *is_good { "--good" } else { "--bad" };
        let _ = write!(
            out,
            "<circle cx=\"{x}\" cy=\"{y:.1}\" r=\"3\" fill=\"var({color})\"/>"
        );
    }
    out.push_str("</svg>");
}
