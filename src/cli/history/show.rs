//! The output of `ctxc history list` and `show`.

use crate::cli::prelude::*;
use crate::schema::json::names;
use crate::store::history::{CaseRecord, RunRecord};
use serde::Deserialize;

/// The stored runs, or one of them with its scenarios: `ctxc history list --json`, `ctxc history
/// show RUN --json`, and a line of the file that `ctxc history export` writes.
#[derive(JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "Document")]
pub(crate) struct HistoryDocument {
    /// The version of the format.
    pub(super) schema: String,
    /// The runs, in order.
    pub(super) runs: Vec<RunRecord>,
    /// The scenarios of the requested run, by name; empty if all runs are listed.
    pub(super) cases: Vec<CaseRecord>,
}

impl HistoryDocument {
    pub(super) fn new(runs: Vec<RunRecord>, cases: Vec<CaseRecord>) -> Self {
        Self {
            schema: names::HISTORY.to_owned(),
            runs,
            cases,
        }
    }
}

/// Prints one line for each run.
pub(super) fn print_runs(runs: &[RunRecord], cx: &mut Cx) -> Result<()> {
    for run in runs {
        let RunRecord {
            id,
            at,
            mode,
            planned,
            cases,
            passed,
            finished,
            ..
        } = run;
        let state = if *finished { "" } else { ", not finished" };
        cx.print_line(&format!(
            "{}  {}  {}  {passed} of {cases} passed, {planned} planned{state}",
            escape_line(id),
            escape_line(at),
            escape_line(mode)
        ))?;
    }
    if runs.is_empty() {
        cx.print_line("no run is kept yet")?;
    }
    Ok(())
}

/// Prints one line for each scenario of a run.
pub(super) fn print_cases(cases: &[CaseRecord], cx: &mut Cx) -> Result<()> {
    for case in cases {
        let passed = case
            .trials
            .iter()
            .filter(|trial| trial.verdict == "pass")
            .count();
        let mut parts = vec![format!(
            "  {}  {}",
            escape_line(&case.id),
            escape_line(&case.verdict)
        )];
        if !case.trials.is_empty() {
            let by = case
                .provider
                .as_deref()
                .map_or_else(String::new, |by| format!(" by {}", escape_line(by)));
            parts.push(format!(
                "{passed} of {}{by}",
                pluralize(case.trials.len(), "trial")
            ));
        }
        parts.extend(
            case.mean_tokens()
                .map(|tokens| format!("{tokens:.0} tokens")),
        );
        parts.extend(
            case.median_latency()
                .filter(|_| case.live)
                .map(|latency| format!("{latency:.0} ms")),
        );
        cx.print_line(&parts.join(", "))?;
    }
    Ok(())
}
