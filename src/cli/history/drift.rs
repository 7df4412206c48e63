//! `ctxc drift`: slow decay, found in the history of runs.

use super::place::HistoryPlace;
use crate::cli::prelude::*;
use crate::eval::drift::{self, DriftCause, DriftFinding, DriftSignal};
use crate::registry::scenarios;
use crate::schema::json::names;
use crate::store::history::EvalHistory;
use std::collections::BTreeSet;

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  ctxc drift\n  ctxc drift --json\n\n\
    Compares the last runs of each scenario with earlier ones, according to `[eval.drift]` in ctxc.toml. Runs are compared only with runs \
    of the same provider, model and context; changes that came with a change of these get the cause `config_change`.\n\n\
    Exit codes: 0 nothing drifts, 1 something does, 2 no such scenario, 3 the history cannot be used.")]
pub(crate) struct DriftArgs {
    /// Scenarios to compare [default: those of the project]
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    #[command(flatten)]
    output: OutputArgs<DataFormat>,
}

/// The decay of scenarios over time: `ctxc drift --json`.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "Document")]
pub(crate) struct DriftReport {
    /// The version of the format.
    schema: &'static str,
    /// The number of scenarios that have answers in the history.
    cases: usize,
    /// The number of these that have enough runs to be compared.
    compared: usize,
    /// The drifts, by scenario.
    findings: Vec<DriftFinding>,
}

/// Compares the runs and prints the findings.
pub(crate) fn run_drift(args: &DriftArgs, cx: &mut Cx) -> Result<Exit> {
    let project = Project::load(&cx.options)?.require_no_errors()?;
    let limits = &project.config.eval.drift;
    let place = HistoryPlace::for_project(&project.root, &project.config)?;
    let names = compared_names(args, &project)?;
    let mut document = DriftReport {
        schema: names::DRIFT,
        cases: 0,
        compared: 0,
        findings: Vec::new(),
    };
    if let Some(history) = place.open()? {
        let window = limits.window as usize;
        let read = history.each_series(window, &mut |series| {
            if names.contains(&series.id) {
                document.cases += 1;
                document.compared += usize::from(drift::is_long_enough(&series, window));
                document.findings.extend(drift::find_drift(&series, limits));
            }
        });
        read.map_err(|error| place.unusable_error(&error))?;
    }
    cx.emit_result(&args.output, |format, cx| match format {
        DataFormat::Json => cx.print_json(&document),
        DataFormat::Text => print_report(&document, cx),
    })?;
    let drifts = document
        .findings
        .iter()
        .any(|finding| finding.cause == DriftCause::Drift);
    Ok(if drifts {
        Exit::Findings
    } else {
        Exit::Success
    })
}

/// Returns the names of the compared scenarios. Scenarios that no longer exist are left out.
fn compared_names(args: &DriftArgs, project: &Project) -> Result<BTreeSet<String>> {
    let files = scenarios::load_files(
        &project.root,
        &project.config,
        &scenarios::list_files(&project.root, &project.config),
    );
    let suites = files.into_iter().filter_map(|file| file.suite);
    let all: BTreeSet<String> = suites
        .flat_map(|suite| suite.cases)
        .map(|case| case.name.value)
        .collect();
    if let Some(unknown) = args.names.iter().find(|name| !all.contains(*name)) {
        let near = crate::base::suggest::nearest_candidate(unknown, all.iter().map(String::as_str));
        return Err(
            CliError::usage(format!("there is no scenario `{unknown}`")).with_suggestion(near)
        );
    }
    Ok(if args.names.is_empty() {
        all
    } else {
        args.names.iter().cloned().collect()
    })
}

fn print_report(document: &DriftReport, cx: &mut Cx) -> Result<()> {
    for finding in &document.findings {
        cx.print_hanging(&describe_finding(finding), 2)?;
    }
    let DriftReport {
        cases,
        compared,
        findings,
        ..
    } = document;
    let drifts = findings
        .iter()
        .filter(|finding| finding.cause == DriftCause::Drift)
        .count();
    let changes = findings.len() - drifts;
    let least = drift::MIN_RUNS;
    cx.print_line(&format!(
        "{} with answers in the history, {compared} with enough runs to compare: {}, {changes} with a change of model or context",
        pluralize(*cases, "scenario"),
        pluralize(drifts, "signal"),
    ))?;
    if compared < cases {
        cx.print_note(&format!(
            "a scenario needs at least {least} runs before the last ones to be compared"
        ));
    }
    Ok(())
}

/// Describes a finding.
fn describe_finding(finding: &DriftFinding) -> String {
    let DriftFinding {
        signal,
        cause,
        case,
        provider,
        model,
        before,
        now,
        z,
        runs,
        against,
        ..
    } = finding;
    let (last, earlier) = (pluralize(*runs, "run"), pluralize(*against, "run"));
    let grown = (now / before - 1.0) * 100.0;
    let far = z.map_or_else(String::new, |z| format!(", {z:.1} deviations"));
    let what = match signal {
        DriftSignal::TokenInflation => {
            format!(
                "token inflation: {now:.0} tokens in the last {last}, {before:.0} in the {earlier} before (+{grown:.0} %{far})"
            )
        }
        DriftSignal::LatencyRegression => {
            format!(
                "latency regression: {now:.0} ms in the last {last}, {before:.0} ms in the {earlier} before (+{grown:.0} %{far})"
            )
        }
        DriftSignal::DecompositionShift if now > before => {
            format!(
                "decomposition shift: the answers of the last {last} split their work, and none of the {earlier} before did"
            )
        }
        DriftSignal::DecompositionShift => {
            format!(
                "decomposition shift: no answer of the last {last} splits its work, and all of the {earlier} before did"
            )
        }
        DriftSignal::PassRateDegradation => {
            format!(
                "pass-rate degradation: it failed in the last {last}, and passed in {:.0} % of the {earlier} before",
                before * 100.0
            )
        }
    };
    let who: Vec<&str> = provider.iter().chain(model).map(String::as_str).collect();
    let who = if who.is_empty() {
        String::new()
    } else {
        format!("; {}", who.join(", "))
    };
    let cause = if *cause == DriftCause::ConfigChange {
        "; since then the model or the context is another"
    } else {
        ""
    };
    escape_line(&format!("{case}: {what}{who}{cause}")).into_owned()
}
