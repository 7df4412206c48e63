//! The proof of a package: its files alone, in a folder of their own, checked and tested by this
//! program. No model is asked, and no program of the package runs: the user permitted none there.

use super::pack_checks::HIDDEN_TEXT_HINT;
use crate::base::diagnostic::Diagnostic;
use crate::base::rule_meta::Severity;
use crate::cli::context::contracts::{CompiledPackage, project_surface, temp_folder_error};
use crate::cli::context::eval::judge_project;
use crate::cli::context::manifest::whole_manifest;
use crate::cli::context::project::CompiledProject;
use crate::cli::prelude::*;
use crate::cli::scenarios::{PartialRegistry, ScenarioCheck};
use crate::cli::selection::{FindingRetention, SelectionResult, TemplateSelection};
use crate::context::manifest::Manifest;
use crate::eval::scorecard::{CaseRow, Scorecard};
use crate::package::PackedFile;
use crate::package::store::write_temp_folder;
use crate::package::surface::Surface;
use crate::project::dependencies::PackageSource;
use crate::project::lock_file::{LOCK_FILE, LockFile};
use crate::registry::workspace::request::CheckGoal;
use crate::rules::check::Fingerprints;
use crate::rules::input::hidden_text::HIDDEN_TEXT;
use std::fmt::{self, Display, Formatter};

/// The maximum number of findings and scenarios in a message.
const MAX_LINES: usize = 5;

/// A package as this program compiles and tests it.
#[derive(Debug)]
pub(super) struct PackageProof {
    /// The compiled files.
    pub(super) compiled: CompiledPackage,
    /// The surface of each export.
    pub(super) exports: Surface,
    /// The contexts of the agents.
    pub(super) manifest: Manifest,
    /// The results of the scenarios; `None` without scenarios.
    pub(super) scorecard: Option<Scorecard>,
}

/// The scenarios of a package by their results.
#[derive(Debug, Default)]
pub(super) struct ProofCounts {
    /// Those that pass.
    pub(super) passed: usize,
    /// Those with an answer that the package does not hold; their contexts are judged.
    pub(super) unanswered: usize,
    /// Those without a decisive result, such as those whose commands are not permitted.
    pub(super) undecided: usize,
    /// Those that do not pass.
    pub(super) failed: usize,
}

impl CompiledPackage {
    /// Compiles a project in its folder.
    pub(super) fn from_folder(folder: &Path) -> Result<Self> {
        CompiledProject::load_or_root_in(folder).map(Self::from_project)
    }

    /// A compiled project.
    pub(super) const fn from_project(project: CompiledProject) -> Self {
        Self {
            project,
            _folder: None,
        }
    }

    /// Writes the files of a package into a temporary folder, and compiles them.
    pub(super) fn from_files(files: &[PackedFile]) -> Result<Self> {
        require_inside(files)?;
        let folder = write_temp_folder(files).map_err(|why| temp_folder_error(&why))?;
        Ok(Self {
            project: CompiledProject::load_or_root_in(folder.path())?,
            _folder: Some(folder),
        })
    }
}

/// Returns an error for a package that reads another one in a folder outside of its own files: that
/// folder would be one of the machine, and the proof would depend on it.
fn require_inside(files: &[PackedFile]) -> Result<()> {
    let lock = files.iter().find(|file| file.path == LOCK_FILE);
    let lock = lock.and_then(|file| LockFile::read(&String::from_utf8_lossy(&file.bytes)).ok());
    let packages = lock.into_iter().flat_map(|lock| lock.packages);
    for package in packages {
        if let PackageSource::Path(folder) = &package.source
            && folder.starts_with("..")
        {
            let message = format!(
                "{} is read from {}, which lies outside of the package",
                package.name, package.source
            );
            return Err(CliError::new(CliErrorKind::Findings, escape_line(&message))
                .with_hint("a package requires others by the tag of a repository"));
        }
    }
    Ok(())
}

impl PackageProof {
    /// Checks and tests the files of a package.
    ///
    /// # Errors
    /// A file cannot be written, or the files have errors.
    pub(super) fn from_files(files: &[PackedFile], cx: &Cx) -> Result<Self> {
        let compiled = CompiledPackage::from_files(files)?;
        let project = &compiled.project;
        require_no_errors(&project.root, cx)?;
        Ok(Self {
            exports: project_surface(project)?,
            manifest: whole_manifest(project, cx.options.threads)?,
            scorecard: judge_project(project, cx)?,
            compiled,
        })
    }
}

impl ProofCounts {
    /// Counts the scenarios of a scorecard.
    pub(super) fn new(scorecard: Option<&Scorecard>) -> Self {
        let mut counts = Self::default();
        for row in cases(scorecard) {
            counts.unanswered += usize::from(row.unanswered);
            match row.verdict.as_str() {
                "pass" => counts.passed += 1,
                "inconclusive" if row.unanswered => {}
                "inconclusive" => counts.undecided += 1,
                _ => counts.failed += 1,
            }
        }
        counts
    }
}

impl Display for ProofCounts {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let decided = self.passed + self.failed;
        if decided + self.undecided + self.unanswered == 0 {
            return f.write_str("no scenario");
        }
        let verb = if decided == 1 { "passes" } else { "pass" };
        let scenarios = pluralize(decided, "scenario");
        write!(f, "{} of {scenarios} {verb} here", self.passed)?;
        if self.unanswered > 0 {
            let count = self.unanswered;
            write!(f, "; the answers of {count} not run: the package has none")?;
        }
        if self.undecided > 0 {
            let count = self.undecided;
            write!(
                f,
                "; {count} not run: no command of a package is permitted here, or nothing decides"
            )?;
        }
        Ok(())
    }
}

fn cases(scorecard: Option<&Scorecard>) -> &[CaseRow] {
    scorecard.map_or(&[], |card| &card.cases)
}

/// Returns an error for scenarios that do not pass.
pub(super) fn require_passes(scorecard: Option<&Scorecard>) -> Result<()> {
    let failed = |row: &&CaseRow| !matches!(row.verdict.as_str(), "pass" | "inconclusive");
    let mut failed = cases(scorecard).iter().filter(failed).peekable();
    if failed.peek().is_none() {
        return Ok(());
    }
    let lines: Vec<String> = failed
        .map(|row| format!("{}:{}: `{}` is {}", row.path, row.line, row.id, row.verdict))
        .collect();
    let message = format!(
        "{} of the package not passed",
        pluralize(lines.len(), "scenario")
    );
    let error = CliError::new(CliErrorKind::Findings, message);
    Err(lines
        .into_iter()
        .take(MAX_LINES)
        .fold(error, CliError::with_hint)
        .with_hint("`ctxc eval` shows why"))
}

/// Returns an error if `check` finds errors in a project.
pub(super) fn require_no_errors(root: &Path, cx: &Cx) -> Result<()> {
    let project = Project::load_in(root.to_owned())?
        .require_no_errors()?
        .with_tested_agents();
    let selection = TemplateSelection::all_templates();
    let keep = FindingRetention {
        identity: Fingerprints::Omitted,
        min_severity: Severity::Error,
    };
    let SelectionResult {
        mut report,
        registry,
        excluded,
        ..
    } = selection.check_templates(&project, CheckGoal::Partial, keep, cx)?;
    let built = registry.map(|bytes| PartialRegistry { bytes, excluded });
    ScenarioCheck::new(&project, &selection).check_files(
        &project,
        &selection,
        built,
        &mut report,
        cx,
    )?;
    report.add_findings(&project.findings);
    let all = report.diagnostics.iter();
    let errors: Vec<&Diagnostic> = all
        .filter(|finding| finding.severity == Severity::Error)
        .collect();
    let is_hidden_text =
        |finding: &&Diagnostic| std::ptr::eq(finding.rule, &raw const HIDDEN_TEXT.meta);
    let hint = errors
        .iter()
        .any(is_hidden_text)
        .then_some(HIDDEN_TEXT_HINT);
    let errors: Vec<String> = errors
        .into_iter()
        .map(|finding| {
            let (path, start) = (&finding.path, finding.start);
            format!(
                "{path}:{}:{}: {}",
                start.line, start.column, finding.message
            )
        })
        .collect();
    if errors.is_empty() {
        return Ok(());
    }
    let message = format!("the package has {}", pluralize(errors.len(), "error"));
    let error = CliError::new(CliErrorKind::Findings, message);
    let lines = errors.into_iter().take(MAX_LINES);
    Err(lines
        .chain(hint.map(str::to_owned))
        .fold(error, CliError::with_hint)
        .with_hint("`ctxc check` shows how to fix them; if it finds none, `[package] files` leaves out a file that these need"))
}
