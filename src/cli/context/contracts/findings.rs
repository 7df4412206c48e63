//! The findings of `ctxc check` in contracts: each is held to the locked version of its package.
//!
//! Runs no contract, and compiles a package only if the project has a contract with it.

use super::installed_package::compile_package;
use super::surface_changes::project_surface;
use crate::base::diagnostic::Diagnostic;
use crate::base::fs;
use crate::base::fs::RealFs;
use crate::cli::context::eval::load::Scenarios;
use crate::cli::context::eval::{CachedFiles, FilesBeside};
use crate::cli::context::project::ProjectFiles;
use crate::cli::prelude::*;
use crate::package::contract::{Contract, ContractFault};
use crate::package::surface::Surface;
use crate::project::packages::CONTRACTS_FOLDER;
use crate::registry::scenarios::{self, ScenarioRequest};
use crate::rules::scenario::broken_contract::{self, ContractFile};
use crate::rules::scenario::check::ScenarioScope;
use crate::scenario::load::LoadedScenario;
use std::sync::Arc;

/// The findings in contracts, with the files that were read.
#[derive(Debug, Default)]
pub(in crate::cli) struct ContractFindings {
    pub(in crate::cli) diagnostics: Vec<Diagnostic>,
    pub(in crate::cli) paths: Vec<Arc<str>>,
}

/// Checks the contracts of a project whose paths are wanted.
pub(in crate::cli) fn check_contract_files(
    project: &Project,
    is_wanted: &dyn Fn(&str) -> bool,
) -> ContractFindings {
    let mut found = ContractFindings::default();
    let folder = project.root.join(CONTRACTS_FOLDER);
    for organisation in folders_in(&folder) {
        for name in folders_in(&folder.join(&organisation)) {
            check_package(
                project,
                &format!("{organisation}/{name}"),
                is_wanted,
                &mut found,
            );
        }
    }
    found
}

fn folders_in(folder: &Path) -> Vec<String> {
    let entries = fs::list_folder(folder).into_iter();
    let folders = entries.filter(|entry| entry.is_folder && !entry.name.starts_with('.'));
    folders.map(|entry| entry.name).collect()
}

/// Checks the contracts with one package.
fn check_package(
    project: &Project,
    package: &str,
    is_wanted: &dyn Fn(&str) -> bool,
    found: &mut ContractFindings,
) {
    let config = &project.config;
    let folder = format!("{CONTRACTS_FOLDER}/{package}");
    let mut scenarios = Scenarios::read_contracts(&project.root, config, &folder);
    scenarios.files.retain(|file| is_wanted(&file.path));
    if scenarios.files.is_empty() {
        return;
    }
    let paths: Vec<String> = scenarios
        .files
        .iter()
        .map(|file| file.path.to_string())
        .collect();
    let request = ScenarioRequest {
        root: &project.root,
        config,
        registry: None,
        excluded: &[],
        today: None,
    };
    let written = scenarios::check_files(&request, &paths, ScenarioScope::Some, &|_| true);
    found.diagnostics.extend(written.diagnostics);
    found.paths.extend(written.paths);
    let installed = config.packages.get(package);
    let surface = installed.map(|installed| {
        let compiled = compile_package(installed, project);
        compiled.and_then(|compiled| project_surface(&compiled))
    });
    let surface = match &surface {
        None => Err(format!(
            "`{package}` is not among the [dependencies]: `ctxc package add SOURCE` adds it"
        )),
        Some(Ok(surface)) => Ok(surface),
        Some(Err(error)) => {
            let why: Vec<&str> = std::iter::once(&error.message)
                .chain(error.hints.first())
                .map(String::as_str)
                .collect();
            Err(format!(
                "the surface of `{package}` cannot be read, so that the contract is not checked: {}; expected a package that compiles by itself: `ctxc check` in its folder shows its errors",
                why.join("; ")
            ))
        }
    };
    let files = CachedFiles::new(ProjectFiles {
        root: &project.root,
        files: &RealFs,
    });
    for file in scenarios.files.iter().filter(|file| file.is_sound()) {
        for fault in file_faults(
            file,
            package,
            surface.as_ref().map(|found| *found).map_err(String::as_str),
            &files,
        ) {
            let place = ContractFile {
                path: &file.path,
                text: &file.text,
            };
            let finding = broken_contract::report(config, place, fault.span, fault.message);
            found.diagnostics.extend(finding);
        }
    }
}

fn file_faults(
    file: &LoadedScenario,
    package: &str,
    surface: std::result::Result<&Surface, &str>,
    files: &CachedFiles<'_>,
) -> Vec<ContractFault> {
    let beside = FilesBeside {
        scenario: &file.path,
        files,
    };
    let cases = file.suite.iter().flat_map(|suite| &suite.cases);
    let faults = cases.flat_map(|case| {
        let contract = Contract {
            case,
            package,
            beside: &beside,
        };
        match surface {
            Ok(surface) => contract.judge(surface).faults,
            Err(missing) => {
                let mut faults = contract.find_own_faults();
                faults.push(ContractFault {
                    span: case.subject.span,
                    export: String::new(),
                    message: missing.to_owned(),
                });
                faults
            }
        }
    });
    faults.collect()
}
