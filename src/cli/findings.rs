//! The last part of every run that checks: its report, closing lines and exit code.

use super::project::PROJECT_FILE;
use super::render::plain_finding::RepositoryBase;
use super::render::report::CheckReport;
use super::render::sources::SourceTexts;
use super::render::{
    checkstyle, concise, full, github, gitlab, json, jsonl, junit, rdjson, sarif, summary,
};
use super::workspace_reach::PrintedForm;
use crate::base::diagnostic::Diagnostic;
use crate::base::rule_meta::Severity;
use crate::cli::prelude::*;
use crate::rules::check::is_error;
use crate::rules::list;

/// Writes a report in a format. Closing lines are printed only in the formats for people.
pub(super) fn print_report(
    cx: &mut Cx,
    report: &CheckReport,
    format: FindingFormat,
    root: &Path,
    sources: &mut SourceTexts,
) -> Result<()> {
    let shown = cx.options.report_detail();
    let screen = cx.options.screen;
    match format {
        FindingFormat::Full => {
            cx.print(|out| full::write_full(out, report, shown, screen, sources))?;
        }
        FindingFormat::Concise => {
            cx.print(|out| concise::write_concise(out, report, shown, screen))?;
        }
        FindingFormat::Json => return cx.print(|out| json::write_json(out, report)),
        FindingFormat::Jsonl => return cx.print(|out| jsonl::write_jsonl(out, report)),
        FindingFormat::Sarif => {
            let mut left_out = 0;
            cx.print(|out| {
                sarif::write_sarif(out, report, &RepositoryBase::for_project(root), sources)
                    .map(|count| left_out = count)
            })?;
            if left_out > 0 {
                cx.print_note(&format!(
                    "{} left out of the SARIF file, the least grave first",
                    pluralize(left_out, "finding")
                ));
            }
            return Ok(());
        }
        FindingFormat::Github => {
            return cx.print(|out| {
                github::write_github(out, report, &RepositoryBase::for_project(root))
            });
        }
        FindingFormat::Gitlab => {
            return cx.print(|out| {
                gitlab::write_gitlab(out, report, &RepositoryBase::for_project(root))
            });
        }
        FindingFormat::Junit => {
            return cx
                .print(|out| junit::write_junit(out, report, &RepositoryBase::for_project(root)));
        }
        FindingFormat::Checkstyle => {
            return cx.print(|out| {
                checkstyle::write_checkstyle(out, report, &RepositoryBase::for_project(root))
            });
        }
        FindingFormat::Rdjson => {
            return cx.print(|out| {
                rdjson::write_rdjson(out, report, &RepositoryBase::for_project(root), sources)
            });
        }
    }
    if cx.options.prints_notes() {
        cx.print(|out| summary::write_summary(out, report, shown, screen))?;
    }
    Ok(())
}

/// Returns the form of a report on standard output.
pub(super) fn printed_form(format: FindingFormat, output: Option<&Path>) -> PrintedForm {
    match (PrintedForm::new(format, output), format) {
        (PrintedForm::Document, FindingFormat::Github) => PrintedForm::Lines,
        (form, _) => form,
    }
}

/// Returns the verdict on a report. An error of the project file alone is wrong usage. Every other
/// error is a finding, also one in the project file that depends on the templates, such as a role
/// whose task is gone.
pub(super) fn report_verdict(report: &CheckReport) -> Exit {
    let errors = || {
        report
            .diagnostics
            .iter()
            .filter(|finding| finding.severity == Severity::Error)
    };
    let is_own =
        |finding: &Diagnostic| *finding.path == *PROJECT_FILE && !list::is_linked(finding.rule);
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
    project.graver_of(found)
}

/// Returns the error that nothing was selected, with the places that were searched.
pub(super) fn no_template(whereabouts: &str, skipped: usize) -> CliError {
    let beside = if skipped == 0 {
        String::new()
    } else {
        format!(", only {} of other kinds", pluralize(skipped, "XML file"))
    };
    CliError::new(CliErrorKind::NothingSelected, format!("there is no template in {whereabouts}{beside}"))
        .with_hint("name files or folders, set `[templates] include` in ctxc.toml, start with `ctxc init`, or make templates of prompts with `ctxc import`")
        .with_hint("if that is intended, `--allow-empty` makes it a success")
}

/// The number of errors listed with their places if a project must be free of errors.
const MAX_LISTED_ERRORS: usize = 3;

/// Returns the error that the contexts of a project are uncertain because of its errors; the hints
/// list the first of them with their places.
pub(super) fn project_has_errors(whose: &str, found: &[Diagnostic]) -> CliError {
    let errors: Vec<&Diagnostic> = found.iter().filter(|finding| is_error(finding)).collect();
    let count = pluralize(errors.len(), "error");
    let error = CliError::new(
        CliErrorKind::Findings,
        format!("{whose} has {count}: what an agent would receive is not certain"),
    );
    located_messages(&errors).fold(error, CliError::with_hint)
}

/// Returns the first of some errors, each with its place.
pub(super) fn located_messages(errors: &[&Diagnostic]) -> impl Iterator<Item = String> {
    let place = |finding: &&Diagnostic| {
        format!(
            "{}:{}:{}: {}",
            finding.path, finding.start.line, finding.start.column, finding.message
        )
    };
    errors.iter().take(MAX_LISTED_ERRORS).map(place)
}
