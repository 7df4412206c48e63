//! Checks all files of a run (load, then link), and makes the registry from them on request. Writes
//! nothing.
//!
//! A run over given files reads the rest of the project only if those files have references that
//! lead to none of them; it reports no findings of other files. One given file starts no thread.

use super::inputs::{CheckInputs, RecordingFs};
use super::load::{LoadedFiles, Loader};
use super::packages::{PackageInput, add_packages, merge_findings};
use super::partial::{self, ExcludedDefinition, RegistryInput};
use super::request::{CheckGoal, CheckRequest, InputRecording, NoSuchPath};
use crate::base::diagnostic::{self, Diagnostic};
use crate::base::fs::RealFs;
use crate::project::linked_names::Links;
use crate::registry::compile::Compiler;
use crate::registry::finding_counts::FindingTally;
use crate::rules::check::ActiveRules;
use crate::rules::rule::CheckScope;
use crate::template::scope::LinkDetail;
use std::sync::Arc;

/// The result of a check.
#[derive(Debug, Default)]
pub struct CheckOutput {
    /// The findings, located and sorted.
    pub diagnostics: Vec<Diagnostic>,
    /// Findings that were counted instead of retained.
    pub counted: Vec<FindingTally>,
    /// The number of checked files, including those that could not be read.
    pub files: usize,
    /// Their names, sorted.
    pub paths: Vec<Arc<str>>,
    /// The number of `*.xml` files in folders that are not templates.
    pub skipped: usize,
    /// The registry, if it was requested and there are no errors, or if a partial one was
    /// requested.
    pub registry: Option<Vec<u8>>,
    /// The definitions that the registry lacks because of errors.
    pub excluded: Vec<ExcludedDefinition>,
    /// The files and folders that were read, if they were recorded.
    pub inputs: CheckInputs,
}

/// Checks files and the references between them.
///
/// # Errors
/// A given path does not exist.
pub fn check_project(request: &CheckRequest<'_>) -> Result<CheckOutput, NoSuchPath> {
    let CheckRequest {
        root, config, goal, ..
    } = *request;
    let active = ActiveRules::new(config).with_fingerprints(request.identity);
    let purpose = if goal == CheckGoal::Findings {
        LinkDetail::Findings
    } else {
        LinkDetail::Registry
    };
    let compiler = Compiler {
        config,
        active: &active,
        root,
        files: &RealFs,
        purpose,
        package: None,
    };
    let loader = Loader {
        request,
        compiler: &compiler,
    };
    let LoadedFiles {
        mut documents,
        counted,
        skipped,
        mut inputs,
    } = loader.load_requested()?;
    let mut found = documents.take_findings();
    let paths: Vec<Arc<str>> = documents.iter().map(|(path, _)| Arc::clone(path)).collect();
    let is_all = request.given.is_empty() && request.stdin.is_none();
    let mut has_others = false;
    let own = found.len();
    if is_all || goal != CheckGoal::Findings || documents.has_unresolved_references() {
        let recorder = RecordingFs::default();
        let is_recorded = request.recording == InputRecording::On;
        let packages = PackageInput {
            config,
            root,
            files: if is_recorded { &recorder } else { &RealFs },
            purpose,
            threads: request.threads,
        };
        add_packages(packages, &mut documents);
        inputs.add_reads(recorder.take_reads());
        found.append(&mut documents.take_findings());
    }
    if goal == CheckGoal::Findings && !is_all && documents.has_unresolved_references() {
        let others = loader.load_paths(&[])?;
        inputs.add_others(others.inputs);
        has_others = others
            .documents
            .iter()
            .any(|(path, _)| paths.binary_search(path).is_err());
        documents.add_missing(others.documents);
    }
    let index = documents.index();
    let scope = if is_all || goal != CheckGoal::Findings && request.stdin.is_none() {
        CheckScope::WholeProject
    } else {
        CheckScope::NamedFiles
    };
    let links = Links::with_threads(&index, request.threads);
    let linked = super::link::link_files(config, &links, scope, |path| request.checked_text(path));
    // If there are no other files, a finding in the project file is reported too.
    let is_asked = |finding: &Diagnostic| {
        let is_named = || paths.binary_search(&finding.path).is_ok();
        !has_others || is_named() || config.packages.of_file(&finding.path).is_some()
    };
    let named_alone = |mut finding: Diagnostic| {
        if !is_all
            && goal != CheckGoal::Findings
            && finding.rule.name == "unresolved-reference"
            && finding.fixes.is_empty()
        {
            finding.help =
                Some("only the files that were named are read: name the one that defines it as well, or none to read all".into());
        }
        finding
    };
    found.extend(linked.into_iter().filter(is_asked).map(named_alone));
    let of_packages = merge_findings(config, &mut found);
    // The findings are already sorted within each file, and so are the files.
    if found.len() > own {
        diagnostic::sort_diagnostics(&mut found);
    }
    let input = RegistryInput {
        config,
        documents: &documents,
        links: &links,
    };
    let all = found.iter().chain(&of_packages).collect();
    let (registry, excluded) = partial::build_registry(&input, all, goal);
    Ok(CheckOutput {
        diagnostics: found,
        counted,
        files: paths.len(),
        paths,
        skipped,
        registry,
        excluded,
        inputs,
    })
}
