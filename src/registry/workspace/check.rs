//! Checks all files of a run (load, then link), and makes the registry from them on request. Writes
//! nothing.
//!
//! A run over given files reads the rest of the project only if those files have references that
//! lead to none of them; it reports no findings of other files. One given file starts no thread.

use super::inputs::Inputs;
use super::load::{Loaded, Loader};
use super::partial::{self, Excluded};
use super::request::{Goal, NoSuchPath, Request};
use crate::base::diagnostic::{self, Diagnostic};
use crate::base::fs::RealFs;
use crate::project::linked_names::Links;
use crate::registry::compile::Compiler;
use crate::registry::finding_counts::Tally;
use crate::rules::check::Active;
use crate::rules::rule::Scope;
use crate::template::scope::Purpose;
use std::sync::Arc;

/// The result of a check.
#[derive(Debug, Default)]
pub struct CheckOutput {
    /// The findings, located and sorted.
    pub diagnostics: Vec<Diagnostic>,
    /// Findings that were counted instead of retained.
    pub counted: Vec<Tally>,
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
    pub excluded: Vec<Excluded>,
    /// The files and folders that were read, if they were recorded.
    pub inputs: Inputs,
}

/// Checks files and the references between them.
///
/// # Errors
/// A given path does not exist.
pub fn check_project(request: &Request<'_>) -> Result<CheckOutput, NoSuchPath> {
    let Request {
        root, config, goal, ..
    } = *request;
    let active = Active::new(config).with_identity(request.identity);
    let purpose = if goal == Goal::Findings {
        Purpose::Findings
    } else {
        Purpose::Registry
    };
    let compiler = Compiler {
        config,
        active: &active,
        root,
        files: &RealFs,
        purpose,
    };
    let loader = Loader {
        request,
        compiler: &compiler,
    };
    let Loaded {
        mut documents,
        counted,
        skipped,
        mut inputs,
    } = loader.asked()?;
    let mut found = documents.take_findings();
    let paths: Vec<Arc<str>> = documents.iter().map(|(path, _)| Arc::clone(path)).collect();
    let is_all = request.given.is_empty() && request.stdin.is_none();
    let mut has_others = false;
    if goal == Goal::Findings && !is_all && documents.points_elsewhere() {
        let others = loader.paths(&[])?;
        inputs.add_others(others.inputs);
        has_others = others
            .documents
            .iter()
            .any(|(path, _)| paths.binary_search(path).is_err());
        documents.add(others.documents);
    }
    let index = documents.index();
    let scope = if is_all || goal != Goal::Findings && request.stdin.is_none() {
        Scope::Whole
    } else {
        Scope::Part
    };
    let links = Links::on(&index, request.threads);
    let linked = super::link::link(config, &links, scope, |path| request.text(path));
    // If there are no other files, a finding in the project file is reported too.
    let is_asked = |finding: &Diagnostic| !has_others || paths.binary_search(&finding.path).is_ok();
    let named_alone = |mut finding: Diagnostic| {
        if !is_all
            && goal != Goal::Findings
            && finding.rule.name == "unresolved-reference"
            && finding.fixes.is_empty()
        {
            finding.help =
                Some("only the files that were named are read: name the one that defines it as well, or none to read all".into());
        }
        finding
    };
    let own = found.len();
    found.extend(linked.into_iter().filter(is_asked).map(named_alone));
    // The findings are already sorted within each file, and so are the files.
    if found.len() > own {
        diagnostic::sort(&mut found);
    }
    let (registry, excluded) = partial::registry(&documents, &links, &found, goal);
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
