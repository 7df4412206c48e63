//! All files of a run checked, and the registry made of them where it is wanted: load, link. Writes nothing.
//!
//! A run over named files looks at the rest of the project only when those files point at something that is not among
//! them; what it finds elsewhere it does not report. One named file starts no thread.

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

/// What was found.
#[derive(Debug, Default)]
pub struct CheckOutput {
    /// Located and sorted.
    pub diagnostics: Vec<Diagnostic>,
    /// Findings that were counted and not kept.
    pub counted: Vec<Tally>,
    /// Files checked, those that could not be read among them.
    pub files: usize,
    /// Their names, sorted.
    pub paths: Vec<Arc<str>>,
    /// `*.xml` files found in folders that are no templates.
    pub skipped: usize,
    /// The registry, when it was asked for and nothing is an error, or the definitions without errors were asked for.
    pub registry: Option<Vec<u8>>,
    /// What it does not have, since something is an error.
    pub excluded: Vec<Excluded>,
    /// What was read, where that was to be recorded.
    pub inputs: Inputs,
}

/// Checks files and what they say of each other.
///
/// # Errors
/// A given path does not exist.
pub fn check_project(request: &Request<'_>) -> Result<CheckOutput, NoSuchPath> {
    let Request { root, config, goal, .. } = *request;
    let active = Active::new(config).with_identity(request.identity);
    let purpose = if goal == Goal::Findings { Purpose::Findings } else { Purpose::Registry };
    let compiler = Compiler { config, active: &active, root, files: &RealFs, purpose };
    let loader = Loader { request, compiler: &compiler };
    let Loaded { mut documents, counted, skipped, mut inputs } = loader.asked()?;
    let mut found = documents.take_findings();
    let paths: Vec<Arc<str>> = documents.iter().map(|(path, _)| Arc::clone(path)).collect();
    let is_all = request.given.is_empty() && request.stdin.is_none();
    let mut has_others = false;
    if goal == Goal::Findings && !is_all && documents.points_elsewhere() {
        let others = loader.paths(&[])?;
        inputs.add_others(others.inputs);
        has_others = others.documents.iter().any(|(path, _)| paths.binary_search(path).is_err());
        documents.add(others.documents);
    }
    let index = documents.index();
    let scope = if is_all || goal != Goal::Findings && request.stdin.is_none() { Scope::Whole } else { Scope::Part };
    let links = Links::on(&index, request.threads);
    let linked = super::link::link(config, &links, scope, |path| request.text(path));
    // Where there is nothing else, a finding in the project file is one of these files.
    let is_asked = |finding: &Diagnostic| !has_others || paths.binary_search(&finding.path).is_ok();
    let named_alone = |mut finding: Diagnostic| {
        if !is_all && goal != Goal::Findings && finding.rule.name == "unresolved-reference" && finding.fixes.is_empty() {
            finding.help =
                Some("only the files that were named are read: name the one that defines it as well, or none to read all".into());
        }
        finding
    };
    let own = found.len();
    found.extend(linked.into_iter().filter(is_asked).map(named_alone));
    // The findings of each file are in order already, and the files are.
    if found.len() > own {
        diagnostic::sort(&mut found);
    }
    let (registry, excluded) = partial::registry(&documents, &links, &found, goal);
    Ok(CheckOutput { diagnostics: found, counted, files: paths.len(), paths, skipped, registry, excluded, inputs })
}
