//! The last part of every run that checks: its report, closing lines and exit code.

use super::project::FILE;
use super::render::place::Base;
use super::render::report::Report;
use super::render::sources::Sources;
use super::render::{
    checkstyle, concise, full, github, gitlab, json, jsonl, junit, rdjson, sarif, summary,
};
use crate::base::diagnostic::Diagnostic;
use crate::base::rule_meta::Severity;
use crate::cli::prelude::*;
use crate::rules::check::is_error;
use crate::rules::list;

/// Writes a report in a format. Closing lines are printed only in the formats for people.
pub(super) fn print(
    cx: &mut Cx,
    report: &Report,
    format: FindingFormat,
    root: &Path,
    sources: &mut Sources,
) -> Result<()> {
    let shown = cx.options.shown();
    let screen = cx.options.screen;
    match format {
        FindingFormat::Full => cx.print(|out| full::write(out, report, shown, screen, sources))?,
        FindingFormat::Concise => cx.print(|out| concise::write(out, report, shown, screen))?,
        FindingFormat::Json => return cx.print(|out| json::write(out, report)),
        FindingFormat::Jsonl => return cx.print(|out| jsonl::write(out, report)),
        FindingFormat::Sarif => {
            let mut left_out = 0;
            cx.print(|out| {
                sarif::write(out, report, &Base::of(root), sources).map(|count| left_out = count)
            })?;
            if left_out > 0 {
                cx.note(&format!(
                    "{} left out of the SARIF file, the least grave first",
                    plural(left_out, "finding")
                ));
            }
            return Ok(());
        }
        FindingFormat::Github => {
            return cx.print(|out| github::write(out, report, &Base::of(root)));
        }
        FindingFormat::Gitlab => {
            return cx.print(|out| gitlab::write(out, report, &Base::of(root)));
        }
        FindingFormat::Junit => return cx.print(|out| junit::write(out, report, &Base::of(root))),
        FindingFormat::Checkstyle => {
            return cx.print(|out| checkstyle::write(out, report, &Base::of(root)));
        }
        FindingFormat::Rdjson => {
            return cx.print(|out| rdjson::write(out, report, &Base::of(root), sources));
        }
    }
    if cx.options.is_chatty() {
        cx.print(|out| summary::write(out, report, shown, screen))?;
    }
    Ok(())
}

/// Returns the verdict on a report. An error of the project file alone is wrong usage. Every other
/// error is a finding, also one in the project file that depends on the templates, such as a role
/// whose task is gone.
pub(super) fn verdict(report: &Report) -> Exit {
    let errors = || {
        report
            .diagnostics
            .iter()
            .filter(|finding| finding.severity == Severity::Error)
    };
    let is_own = |finding: &Diagnostic| *finding.path == *FILE && !list::is_linked(finding.rule);
    let project = if errors().any(is_own) {
        Exit::Usage
    } else {
        Exit::Success
    };
    let found = if report.has_errors() {
        Exit::Findings
    } else {
        Exit::Success
    };
    project.and(found)
}

/// Returns the error that nothing was selected, with the places that were searched.
pub(super) fn nothing(whereabouts: &str, skipped: usize) -> CliError {
    let beside = if skipped == 0 {
        String::new()
    } else {
        format!(", only {} of other kinds", plural(skipped, "XML file"))
    };
    CliError::new(Kind::Nothing, format!("there is no template in {whereabouts}{beside}"))
        .hint("name files or folders, set `[templates] include` in ctxc.toml, start with `ctxc init`, or make templates of prompts with `ctxc import`")
        .hint("if that is intended, `--allow-empty` makes it a success")
}

/// The number of errors listed with their places if a project must be free of errors.
const TOLD: usize = 3;

/// Returns the error that the contexts of a project are uncertain because of its errors; the hints
/// list the first of them with their places.
pub(super) fn broken(whose: &str, found: &[Diagnostic]) -> CliError {
    let errors: Vec<&Diagnostic> = found.iter().filter(|finding| is_error(finding)).collect();
    let count = plural(errors.len(), "error");
    let error = CliError::new(
        Kind::Findings,
        format!("{whose} has {count}: what an agent would receive is not certain"),
    );
    places(&errors).fold(error, CliError::hint)
}

/// Returns the first of some errors, each with its place.
pub(super) fn places(errors: &[&Diagnostic]) -> impl Iterator<Item = String> {
    let place = |finding: &&Diagnostic| {
        format!(
            "{}:{}:{}: {}",
            finding.path, finding.start.line, finding.start.column, finding.message
        )
    };
    errors.iter().take(TOLD).map(place)
}
