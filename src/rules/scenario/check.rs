//! Turns scenario files into findings: runs every rule of the family, applies `[lints]`, locates
//! and sorts. Never reads files.

pub use super::cx::Reach;
use super::cx::{CaseCx, File, ProjectView, ScenarioCx, SuitesCx};
use super::duplicate_case;
use crate::base::diagnostic::{self, Diagnostic};
use crate::base::source::LineIndex;
use crate::rules::check::{is_error, weigh};
use crate::rules::list;
use crate::rules::rule::{Check, Rule};
use crate::scenario::fault::Row;
use std::sync::Arc;

/// Maximum number of table lines that a finding names.
const LINES: usize = 5;
/// Maximum number of findings of one file.
const MOST: usize = 1000;

/// Returns the findings of files, located and sorted. The files must be sorted by path. Files that
/// are not `wanted` only contribute the names of their cases.
pub fn files(
    world: &ProjectView<'_>,
    files: &[File<'_>],
    reach: Reach,
    wanted: &dyn Fn(&str) -> bool,
) -> Vec<Diagnostic> {
    let rules: Vec<&'static Rule> = list::all()
        .filter(|rule| rule.meta.code.family() == 6 && world.config.lints.is_on(&rule.meta))
        .collect();
    let mut found = Vec::new();
    for file in files.iter().filter(|file| wanted(file.path)) {
        let mut own = one(world, &rules, file);
        own.truncate(MOST);
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
        reach == Reach::All || files.iter().any(|file| *file.path == finding.path)
    });
    let mut found: Vec<Diagnostic> = found
        .into_iter()
        .filter_map(|finding| weigh(world.config, finding))
        .collect();
    found.sort_by(|a, b| a.path.cmp(&b.path));
    locate(world, files, &mut found);
    diagnostic::sort(&mut found);
    found
}

/// A case that cannot be run as written.
#[derive(Debug)]
pub struct Refused {
    /// The file that contains it.
    pub path: Arc<str>,
    /// Its name.
    pub case: String,
    /// Its first error, not located.
    pub finding: Diagnostic,
}

/// Returns the cases that have an error of this family, in the order of their files. Cases that
/// could not be parsed are not included.
pub fn refused(world: &ProjectView<'_>, files: &[File<'_>]) -> Vec<Refused> {
    let rules: Vec<&'static Rule> = list::all()
        .filter(|rule| rule.meta.code.family() == 6 && world.config.lints.is_on(&rule.meta))
        .collect();
    let is_error = |finding: Diagnostic| weigh(world.config, finding).filter(is_error);
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
            refused.extend(first.map(|finding| Refused {
                path: Arc::clone(file.path),
                case: case.name.value.clone(),
                finding,
            }));
        }
    }
    duplicate_case::each(
        &SuitesCx {
            world,
            files,
            reach: Reach::All,
            found: &[],
        },
        &mut |file, case, finding| {
            if let Some(finding) = is_error(finding) {
                refused.push(Refused {
                    path: Arc::clone(file.path),
                    case: case.name.value.clone(),
                    finding,
                });
            }
        },
    );
    refused
}

fn one(world: &ProjectView<'_>, rules: &[&'static Rule], file: &File<'_>) -> Vec<Diagnostic> {
    let cx = ScenarioCx {
        path: file.path,
        text: file.text,
        world,
    };
    let mut found: Vec<(Diagnostic, Option<&Row>)> = Vec::new();
    for fault in file.faults {
        let told = rules.iter().find_map(|rule| {
            let Check::Scenario(told) = rule.check else {
                return None;
            };
            told(&cx, fault)
        });
        found.extend(told.map(|finding| (finding, fault.row.as_ref())));
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
    once(found)
}

/// Merges equal findings: a fault in the defaults of a suite is reported once and not for each
/// case; a fault in a table column is reported once with its lines.
fn once(mut found: Vec<(Diagnostic, Option<&Row>)>) -> Vec<Diagnostic> {
    let key = |finding: &Diagnostic| (finding.span, finding.rule.code);
    found.sort_by(|(a, row), (b, other)| {
        (key(a), &a.message, &a.notes, row).cmp(&(key(b), &b.message, &b.notes, other))
    });
    let mut kept: Vec<(Diagnostic, Vec<&Row>)> = Vec::with_capacity(found.len());
    for (finding, row) in found {
        match kept.last_mut() {
            Some((last, rows))
                if key(last) == key(&finding)
                    && last.message == finding.message
                    && last.notes == finding.notes =>
            {
                rows.extend(row);
            }
            _ => kept.push((finding, row.into_iter().collect())),
        }
    }
    let with_rows = |(finding, mut rows): (Diagnostic, Vec<&Row>)| {
        rows.dedup();
        let Some(first) = rows.first() else {
            return finding;
        };
        let lines: Vec<String> = rows
            .iter()
            .take(LINES)
            .map(|row| row.line.to_string())
            .collect();
        let more = rows.len().saturating_sub(LINES);
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
    kept.into_iter().map(with_rows).collect()
}

/// Fills in lines and fingerprints. The findings must be sorted by path.
fn locate(world: &ProjectView<'_>, files: &[File<'_>], found: &mut [Diagnostic]) {
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
