//! The findings of `ctxc check` in contracts: each is held to the locked version of its package.
//!
//! Runs no contract, and compiles a package only if the project has a contract with it.

use super::installed_package::compile_package;
use super::surface_changes::project_surface;
use crate::base::diagnostic::Diagnostic;
use crate::base::fs::RealFs;
use crate::base::span::Span;
use crate::base::suggest::nearest_candidate;
use crate::cli::context::eval::load::Scenarios;
use crate::cli::context::eval::{CachedFiles, FilesBeside};
use crate::cli::context::project::ProjectFiles;
use crate::cli::prelude::*;
use crate::cli::revision::ProjectAtRevision;
use crate::package::contract::{Contract, ContractFault, SurfaceJudgement};
use crate::package::surface::Surface;
use crate::project::config::Config;
use crate::project::lock_file::{LOCK_FILE, LockFile};
use crate::project::packages::{CONTRACTS_FOLDER, contract_package};
use crate::registry::scenarios::{self, ScenarioRequest};
use crate::rules::scenario::broken_contract::{self, ContractFile};
use crate::rules::scenario::check::ScenarioScope;
use crate::scenario::load::LoadedScenario;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The findings in contracts, with the files that were read.
#[derive(Debug, Default)]
pub(in crate::cli) struct ContractFindings {
    pub(in crate::cli) diagnostics: Vec<Diagnostic>,
    pub(in crate::cli) paths: Vec<Arc<str>>,
}

/// A contract that the package in use cannot keep.
#[derive(Debug)]
pub(in crate::cli) struct BrokenContract {
    /// The name of the contract; empty if the whole file lies in the wrong place.
    pub(in crate::cli) case: String,
    pub(in crate::cli) finding: Diagnostic,
}

/// The project that contracts belong to.
#[derive(Clone, Copy, Debug)]
pub(in crate::cli) struct ContractOwner<'p> {
    pub(in crate::cli) root: &'p Path,
    pub(in crate::cli) config: &'p Config,
}

/// Checks the contracts of a project whose paths are wanted.
pub(in crate::cli) fn check_contract_files(
    project: &Project,
    is_wanted: &dyn Fn(&str) -> bool,
) -> ContractFindings {
    let (root, config) = (&*project.root, &project.config);
    let mut scenarios = Scenarios::read_contracts(root, config, CONTRACTS_FOLDER);
    // Scenarios of the project's own can lie there, too.
    let is_contract =
        |path: &str| contract_package(path).is_some() || !config.eval.contains_scenario(path);
    let files = &mut scenarios.files;
    files.retain(|file| is_wanted(&file.path) && is_contract(&file.path));
    if scenarios.files.is_empty() {
        return ContractFindings::default();
    }
    let paths = scenarios.files.iter().map(|file| file.path.to_string());
    let request = ScenarioRequest {
        root,
        config,
        registry: None,
        excluded: &[],
        today: None,
    };
    let paths: Vec<String> = paths.collect();
    let written = scenarios::check_files(&request, &paths, ScenarioScope::Some, &|_| true);
    let mut diagnostics = written.diagnostics;
    let judged = judge_contract_files(ContractOwner { root, config }, &scenarios.files);
    diagnostics.extend(judged.broken.into_iter().map(|broken| broken.finding));
    ContractFindings {
        diagnostics,
        paths: written.paths,
    }
}

/// The judgement of contracts by the packages in use.
#[derive(Debug, Default)]
pub(in crate::cli) struct ContractJudgements {
    /// Those that cannot be kept.
    pub(in crate::cli) broken: Vec<BrokenContract>,
    /// Those that hold whatever is answered, by file and name.
    pub(in crate::cli) certain_cases: BTreeSet<(String, String)>,
}

/// Holds files of contracts to the packages in use.
pub(in crate::cli) fn judge_contract_files<'f>(
    owner: ContractOwner<'_>,
    files: impl IntoIterator<Item = &'f LoadedScenario>,
) -> ContractJudgements {
    let cache = CachedFiles::new(ProjectFiles {
        root: owner.root,
        files: &RealFs,
    });
    let mut packages: BTreeMap<&str, PackageInUse> = BTreeMap::new();
    let mut found = Vec::new();
    let mut certain_cases = BTreeSet::new();
    for file in files {
        let mut add = |case: &str, fault: ContractFault, help: Option<String>| {
            let place = ContractFile {
                path: &file.path,
                text: &file.text,
            };
            let finding = broken_contract::report(owner.config, place, fault.span, fault.message);
            found.extend(finding.map(|finding| BrokenContract {
                case: case.to_owned(),
                finding: help.into_iter().fold(finding, Diagnostic::help),
            }));
        };
        let Some(package) = contract_package(&file.path) else {
            add("", misplaced_file(), None);
            continue;
        };
        let in_use = packages
            .entry(package)
            .or_insert_with(|| PackageInUse::load(owner, package));
        let beside = FilesBeside {
            scenario: &file.path,
            files: &cache,
        };
        let suite = file.suite.iter().filter(|_| file.is_sound());
        for case in suite.flat_map(|suite| &suite.cases) {
            let contract = Contract {
                case,
                package,
                beside: &beside,
            };
            let judgement = in_use.judge(contract);
            let informs = case.expectations.iter().any(|own| !own.value.gate);
            if judgement.is_settled && judgement.faults.is_empty() && !informs {
                certain_cases.insert((file.path.to_string(), case.name.value.clone()));
            }
            for mut fault in judgement.faults {
                let is_own = fault.export.is_empty();
                if !is_own {
                    let (export, version) = (&fault.export, &in_use.version);
                    fault.message = format!(
                        "`{export}` of {package} {version} breaks this contract: {}",
                        fault.message
                    );
                }
                let help = (!is_own).then(|| in_use.next_step(owner, package));
                add(&case.name.value, fault, help);
            }
        }
    }
    ContractJudgements {
        broken: found,
        certain_cases,
    }
}

fn misplaced_file() -> ContractFault {
    ContractFault {
        span: Span::default(),
        export: String::new(),
        message: format!(
            "a contract in this place is never tested: expected `{CONTRACTS_FOLDER}/ORG/NAME/*.yaml`, with the name of the package that it is about"
        ),
    }
}

/// A package that contracts are about.
struct PackageInUse {
    version: String,
    /// Its surface, or the reason why there is none.
    surface: std::result::Result<Surface, String>,
}

impl PackageInUse {
    fn load(owner: ContractOwner<'_>, package: &str) -> Self {
        let Some(installed) = owner.config.packages.get(package) else {
            let names = owner.config.dependencies.keys().map(String::as_str);
            let near = nearest_candidate(package, names);
            let next = near.map_or_else(
                || "`ctxc package add SOURCE` adds it".to_owned(),
                |near| format!("did you mean `{CONTRACTS_FOLDER}/{near}/`?"),
            );
            return Self {
                version: String::new(),
                surface: Err(format!(
                    "`{package}` is not among the [dependencies]: {next}"
                )),
            };
        };
        let compiled = compile_package(installed, owner.root, &owner.config.packages);
        let surface = compiled.and_then(|compiled| project_surface(&compiled.project)).map_err(|error| {
            let why: Vec<&str> = std::iter::once(&error.message)
                .chain(error.hints.first())
                .map(String::as_str)
                .collect();
            format!(
                "the surface of `{package}` cannot be read, so that the contract is not checked: {}; expected a package that compiles by itself: `ctxc check` in its folder shows its errors",
                why.join("; ")
            )
        });
        let version = installed.version.to_string();
        Self { version, surface }
    }

    /// The next step after it broke a contract.
    fn next_step(&self, owner: ContractOwner<'_>, package: &str) -> String {
        let earlier = version_at_head(owner.root, package);
        let earlier = earlier.filter(|then| *then != self.version);
        let back = earlier.map_or_else(String::new, |then| {
            format!(", or stay at {then}, which {LOCK_FILE} has in HEAD")
        });
        format!(
            "ask the authors of {package} to restore this{back}; if the contract expects too much, edit it"
        )
    }

    fn judge(&self, contract: Contract<'_>) -> SurfaceJudgement {
        match &self.surface {
            Ok(surface) => contract.judge(surface),
            Err(missing) => {
                let span = contract.case.subject.span;
                let mut faults = contract.find_own_faults();
                // Its task fits the right name of the folder.
                faults.retain(|fault| fault.span != span);
                faults.push(ContractFault {
                    span,
                    export: String::new(),
                    message: missing.clone(),
                });
                SurfaceJudgement {
                    faults,
                    is_settled: false,
                }
            }
        }
    }
}

/// Returns the version of a package in the lock file of the last commit.
fn version_at_head(root: &Path, package: &str) -> Option<String> {
    let head = ProjectAtRevision::open(root, "HEAD").ok()?;
    let lock = LockFile::read(&head.text_in_work_tree(root, LOCK_FILE)?).ok()?;
    Some(lock.package(package)?.version.to_string())
}
