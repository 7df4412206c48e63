//! Turns scenario files into findings: runs every rule of the family, applies `[lints]`, locates
//! and sorts. Never reads files.

pub use super::cx::ScenarioScope;
use super::cx::{CaseCx, ProjectView, ScenarioCx, ScenarioFile, SuitesCx};
use super::duplicate_case;
use crate::base::diagnostic::{self, Diagnostic};
use crate::base::source::LineIndex;
use crate::rules::check::{apply_levels, is_error};
use crate::rules::input::hidden_text;
use crate::rules::list;
use crate::rules::rule::{Check, Rule};
use crate::scenario::scenario_fault::CaseTableRow;
use std::sync::Arc;

/// Maximum number of table lines that a finding names.
const MAX_LINES: usize = 5;
/// Maximum number of findings of one file.
const MAX_FINDINGS: usize = 1000;

/// Returns the findings of files, located and sorted. The files must be sorted by path. Files that
/// are not wanted only contribute the names of their cases.
pub fn scenario_findings(
    world: &ProjectView<'_>,
    files: &[ScenarioFile<'_>],
    reach: ScenarioScope,
    is_wanted: &dyn Fn(&str) -> bool,
) -> Vec<Diagnostic> {
    let rules: Vec<&'static Rule> = list::all_rules()
        .filter(|rule| rule.meta.code.family() == 6 && world.config.lints.is_on(&rule.meta))
        .collect();
    let mut found = Vec::new();
    for file in files.iter().filter(|file| is_wanted(file.path)) {
        let mut own = file_findings(world, &rules, file);
        own.truncate(MAX_FINDINGS);
        found.append(&mut own);
    }
    let all = SuitesCx {
        world,
        files,
        reach,
        found: &found.clone(),
    };
    for rule in &rules {
        if let Check::Suites(check) = rule.check {
            check(&all, &mut found);
        }
    }
    // Findings about untested tasks require all scenarios.
    found.retain(|finding| {
        reach == ScenarioScope::All || files.iter().any(|file| *file.path == finding.path)
    });
    let mut found: Vec<Diagnostic> = found
        .into_iter()
        .filter_map(|finding| apply_levels(world.config, finding))
        .collect();
    found.sort_by(|a, b| a.path.cmp(&b.path));
    locate_findings(world, files, &mut found);
    diagnostic::sort_diagnostics(&mut found);
    found
}

/// A case that cannot be run as written.
#[derive(Debug)]
pub struct RejectedCase {
    /// The file that contains it.
    pub path: Arc<str>,
    /// Its name.
    pub case: String,
    /// Its first error, not located.
    pub finding: Diagnostic,
}

/// Returns the cases that have an error of this family, in the order of their files. Cases that
/// could not be parsed are not included.
pub fn rejected_cases(world: &ProjectView<'_>, files: &[ScenarioFile<'_>]) -> Vec<RejectedCase> {
    let rules: Vec<&'static Rule> = list::all_rules()
        .filter(|rule| rule.meta.code.family() == 6 && world.config.lints.is_on(&rule.meta))
        .collect();
    let is_error = |finding: Diagnostic| apply_levels(world.config, finding).filter(is_error);
    let mut refused = Vec::new();
    for file in files {
        let cx = ScenarioCx {
            path: file.path,
            text: file.text,
            world,
        };
        for case in file.suite.iter().flat_map(|suite| &suite.cases) {
            let mut found = Vec::new();
            for rule in &rules {
                if let Check::Case(check) = rule.check {
                    check(&CaseCx { file: &cx, case }, &mut found);
                }
            }
            let first = found.into_iter().find_map(is_error);
            refused.extend(first.map(|finding| RejectedCase {
                path: Arc::clone(file.path),
                case: case.name.value.clone(),
                finding,
            }));
        }
    }
    duplicate_case::for_each_duplicate(
        &SuitesCx {
            world,
            files,
            reach: ScenarioScope::All,
            found: &[],
        },
        &mut |file, case, finding| {
            if let Some(finding) = is_error(finding) {
                refused.push(RejectedCase {
                    path: Arc::clone(file.path),
                    case: case.name.value.clone(),
                    finding,
                });
            }
        },
    );
    refused
}

fn file_findings(
    world: &ProjectView<'_>,
    rules: &[&'static Rule],
    file: &ScenarioFile<'_>,
) -> Vec<Diagnostic> {
    let cx = ScenarioCx {
        path: file.path,
        text: file.text,
        world,
    };
    let in_table = file
        .suite
        .and_then(|suite| hidden_text::find_in_table(file.path, suite));
    let hidden = hidden_text::find_hidden(file.path, file.text).into_iter();
    let mut found: Vec<(Diagnostic, Option<&CaseTableRow>)> = hidden
        .chain(in_table)
        .map(|finding| (finding, None))
        .collect();
    for fault in file.faults {
        let finding = rules.iter().find_map(|rule| {
            let Check::Scenario(report) = rule.check else {
                return None;
            };
            report(&cx, fault)
        });
        found.extend(finding.map(|finding| (finding, fault.row.as_ref())));
    }
    for case in file.suite.iter().flat_map(|suite| &suite.cases) {
        let mut own = Vec::new();
        for rule in rules {
            if let Check::Case(check) = rule.check {
                check(&CaseCx { file: &cx, case }, &mut own);
            }
        }
        found.extend(own.into_iter().map(|finding| (finding, case.row.as_ref())));
    }
    merge_repeated(found)
}

/// Merges equal findings: a fault in the defaults of a suite is reported once and not for each
/// case; a fault in a table column is reported once with its lines.
fn merge_repeated(mut found: Vec<(Diagnostic, Option<&CaseTableRow>)>) -> Vec<Diagnostic> {
    let key = |finding: &Diagnostic| (finding.span, finding.rule.code);
    found.sort_by(|(a, row), (b, other)| {
        (key(a), &a.message, &a.notes, row).cmp(&(key(b), &b.message, &b.notes, other))
    });
    let mut merged: Vec<(Diagnostic, Vec<&CaseTableRow>)> = Vec::with_capacity(found.len());
    for (finding, row) in found {
        match merged.last_mut() {
            Some((last, rows))
                if key(last) == key(&finding)
                    && last.message == finding.message
                    && last.notes == finding.notes =>
            {
                rows.extend(row);
            }
            _ => merged.push((finding, row.into_iter().collect())),
        }
    }
    let with_rows = |(finding, mut rows): (Diagnostic, Vec<&CaseTableRow>)| {
        rows.dedup();
        let Some(first) = rows.first() else {
            return finding;
        };
        let lines: Vec<String> = rows
            .iter()
            .take(MAX_LINES)
            .map(|row| row.line.to_string())
            .collect();
        let more = rows.len().saturating_sub(MAX_LINES);
        let lines = match more {
            0 => lines.join(", "),
            more => format!("{} and {more} more", lines.join(", ")),
        };
        finding.note(format!(
            "in {} {lines} of {}",
            if rows.len() == 1 { "line" } else { "lines" },
            first.path
        ))
    };
    merged.into_iter().map(with_rows).collect()
}

/// Fills in lines and fingerprints. The findings must be sorted by path.
fn locate_findings(world: &ProjectView<'_>, files: &[ScenarioFile<'_>], found: &mut [Diagnostic]) {
    let mut known: Option<(&str, LineIndex)> = None;
    for finding in found {
        if let Some(own) = world
            .config
            .files
            .iter()
            .find(|file| file.path == finding.path)
        {
            finding.locate(&own.text, &own.lines);
            continue;
        }
        let at = files
            .binary_search_by(|file| file.path.cmp(&finding.path))
            .ok();
        let Some(file) = at.and_then(|at| files.get(at)) else {
            continue;
        };
        if known.as_ref().is_none_or(|(path, _)| *path != &**file.path) {
            known = Some((file.path, LineIndex::new(file.text)));
        }
        if let Some((_, index)) = &known {
            finding.locate(file.text, index);
        }
    }
}
