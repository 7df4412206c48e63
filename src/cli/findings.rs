//! The end of every run that checks: format, closing lines, exit code.

use super::project::FILE;
use super::render::place::Base;
use super::render::report::Report;
use super::render::sources::Sources;
use super::render::{checkstyle, concise, full, github, gitlab, json, jsonl, junit, rdjson, sarif, summary};
use crate::base::diagnostic::Diagnostic;
use crate::base::rule_meta::Severity;
use crate::cli::prelude::*;
use crate::rules::check::is_error;
use crate::rules::list;

/// Writes a report in a format. `closing` lines are for people.
pub(super) fn print(cx: &mut Cx, report: &Report, format: FindingFormat, root: &Path, sources: &mut Sources) -> Result<()> {
    let shown = cx.options.shown();
    let screen = cx.options.screen;
    match format {
        FindingFormat::Full => cx.print(|out| full::write(out, report, shown, screen, sources))?,
        FindingFormat::Concise => cx.print(|out| concise::write(out, report, shown, screen))?,
        FindingFormat::Json => return cx.print(|out| json::write(out, report)),
        FindingFormat::Jsonl => return cx.print(|out| jsonl::write(out, report)),
        FindingFormat::Sarif => {
            let mut left_out = 0;
            cx.print(|out| sarif::write(out, report, &Base::of(root), sources).map(|count| left_out = count))?;
            if left_out > 0 {
                cx.note(&format!("{} left out of the SARIF file, the least grave first", plural(left_out, "finding")));
            }
            return Ok(());
        }
        FindingFormat::Github => return cx.print(|out| github::write(out, report, &Base::of(root))),
        FindingFormat::Gitlab => return cx.print(|out| gitlab::write(out, report, &Base::of(root))),
        FindingFormat::Junit => return cx.print(|out| junit::write(out, report, &Base::of(root))),
        FindingFormat::Checkstyle => return cx.print(|out| checkstyle::write(out, report, &Base::of(root))),
        FindingFormat::Rdjson => return cx.print(|out| rdjson::write(out, report, &Base::of(root), sources)),
    }
    if cx.options.is_chatty() {
        cx.print(|out| summary::write(out, report, shown, screen))?;
    }
    Ok(())
}

/// The verdict on a report: an error that the project file has by itself is wrong usage; any other is a finding, also one that came about
/// by the templates, such as a role whose task is gone.
pub(super) fn verdict(report: &Report) -> Exit {
    let errors = || report.diagnostics.iter().filter(|finding| finding.severity == Severity::Error);
    let is_own = |finding: &Diagnostic| *finding.path == *FILE && !list::is_linked(finding.rule);
    let project = if errors().any(is_own) { Exit::Usage } else { Exit::Success };
    let found = if report.has_errors() { Exit::Findings } else { Exit::Success };
    project.and(found)
}

/// Nothing was selected: an error that says where was looked.
pub(super) fn nothing(whereabouts: &str, skipped: usize) -> CliError {
    let beside = if skipped == 0 { String::new() } else { format!(", only {} of other kinds", plural(skipped, "XML file")) };
    CliError::new(Kind::Nothing, format!("there is no template in {whereabouts}{beside}"))
        .hint("name files or folders, set `[templates] include` in ctxc.toml, start with `ctxc init`, or make templates of prompts with `ctxc import`")
        .hint("if that is intended, `--allow-empty` makes it a success")
}

/// Findings that are told one by one where a project has to be without errors.
const TOLD: usize = 3;

/// Why nobody can say what the agents of a project receive: its errors, the first of them with their places.
pub(super) fn broken(whose: &str, found: &[Diagnostic]) -> CliError {
    let errors: Vec<&Diagnostic> = found.iter().filter(|finding| is_error(finding)).collect();
    let count = plural(errors.len(), "error");
    let error = CliError::new(Kind::Findings, format!("{whose} has {count}: what an agent would receive is not certain"));
    places(&errors).fold(error, CliError::hint)
}

/// The first of some errors, each with its place.
pub(super) fn places(errors: &[&Diagnostic]) -> impl Iterator<Item = String> {
    let place =
        |finding: &&Diagnostic| format!("{}:{}:{}: {}", finding.path, finding.start.line, finding.start.column, finding.message);
    errors.iter().take(TOLD).map(place)
}
