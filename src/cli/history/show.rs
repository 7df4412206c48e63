//! The output of `ctxc history list` and `show`.

use crate::cli::prelude::*;
use crate::schema::json::names;
use crate::store::history::{CaseRecord, RunRecord};
use serde::Deserialize;

/// The runs that are kept, or one of them with its scenarios: `ctxc history list --json`, `ctxc history show RUN --json`, and a line of
/// what `ctxc history export` writes.
#[derive(JsonSchema, Serialize, Deserialize)]
pub(crate) struct Document {
    /// The format.
    pub(super) schema: String,
    /// The runs, in order.
    pub(super) runs: Vec<RunRecord>,
    /// The scenarios of the run that was asked for, by name; none where all runs are listed.
    pub(super) cases: Vec<CaseRecord>,
}

impl Document {
    pub(super) fn new(runs: Vec<RunRecord>, cases: Vec<CaseRecord>) -> Self {
        Self {
            schema: names::HISTORY.to_owned(),
            runs,
            cases,
        }
    }
}

/// Prints one line for each run.
pub(super) fn runs(runs: &[RunRecord], cx: &mut Cx) -> Result<()> {
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
        cx.line(&format!(
            "{}  {}  {}  {passed} of {cases} passed, {planned} planned{state}",
            escape(id),
            escape(at),
            escape(mode)
        ))?;
    }
    if runs.is_empty() {
        cx.line("no run is kept yet")?;
    }
    Ok(())
}

/// Prints one line for each scenario of a run.
pub(super) fn cases(cases: &[CaseRecord], cx: &mut Cx) -> Result<()> {
    for case in cases {
        let passed = case
            .trials
            .iter()
            .filter(|trial| trial.verdict == "pass")
            .count();
        let mut parts = vec![format!("  {}  {}", escape(&case.id), escape(&case.verdict))];
        if !case.trials.is_empty() {
            let by = case
                .provider
                .as_deref()
                .map_or_else(String::new, |by| format!(" by {}", escape(by)));
            parts.push(format!(
                "{passed} of {}{by}",
                plural(case.trials.len(), "trial")
            ));
        }
        parts.extend(case.tokens().map(|tokens| format!("{tokens:.0} tokens")));
        parts.extend(
            case.latency()
                .filter(|_| case.live)
                .map(|latency| format!("{latency:.0} ms")),
        );
        cx.line(&parts.join(", "))?;
    }
    Ok(())
}
