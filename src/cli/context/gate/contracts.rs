//! Contracts for the gate: those of consumers with this package, and those of this project with the
//! packages that it uses.

use super::compared::GateComparison;
use crate::base::fs::is_dir;
use crate::cli::context::contracts::{
    ConsumerSource, ContractOwner, KnownVersions, broken_lines, check_consumers, check_contracts,
    compile_package, judge_contract_files, quote_contract, read_acceptances, read_matrix,
};
use crate::cli::context::eval::load::Scenarios;
use crate::cli::cx::Cx;
use crate::cli::error::Result;
use crate::eval::gate::FailingCase;
use crate::package::matrix::{
    ACCEPTED_FILE, AcceptedBreak, ContractVerdict, Matrix, find_acceptance,
};
use crate::project::packages::{CONTRACTS_FOLDER, contract_package};
use crate::scenario::load::LoadedScenario;
use crate::store::trust::quote_word;

/// Returns the contracts that the change breaks and no permitted person accepted. Adds notes on the
/// others that do not hold, and doubts about those that are undecided. A contract counts as kept
/// before if the matrix of the base or of the change has it as kept, since a change can remove rows.
pub(super) fn find_broken_contracts(
    compared: &mut GateComparison,
    cx: &Cx,
) -> Result<Vec<FailingCase>> {
    let project = &compared.project;
    let Some(package) = &project.config.package else {
        return Ok(Vec::new());
    };
    let sources = ConsumerSource::of_project(&project.config, &project.root)?;
    let mut sources = ConsumerSource::require_distinct_names(sources)?;
    let mut consumers = Vec::new();
    for source in &sources {
        consumers.push(source.read(&package.name.value)?);
    }
    if let Some(base) = &compared.base.loaded {
        for consumer in ConsumerSource::of_project(&base.project.config, &project.root)? {
            if sources.contains(&consumer) {
                continue;
            }
            match consumer.read(&package.name.value) {
                Ok(contracts) => consumers.push(contracts),
                // An error would refuse the change that takes a lost consumer off the list.
                Err(why) => compared.base.doubts.push(format!(
                    "a consumer that only the base lists cannot be read: {}",
                    why.message
                )),
            }
            sources.push(consumer);
        }
    }
    if consumers.is_empty() {
        return Ok(Vec::new());
    }
    let mut known = read_matrix(project)?;
    if let Some(base) = &compared.base.loaded {
        match read_matrix(&base.project) {
            Ok(matrix) => known.extend(matrix),
            // An error would refuse the change that mends the file.
            Err(why) => {
                let doubt = format!(
                    "earlier verdicts on contracts are unknown at the base: {}",
                    why.message
                );
                compared.base.doubts.push(doubt);
            }
        }
    }
    let mut accepted = read_acceptances(project)?;
    accepted.retain(|one| compared.accepters.may_accept(&one.by));
    let versions = KnownVersions {
        matrix: &known,
        revision: &compared.base.commit,
    };
    let consumers = consumers.into_iter().map(Ok);
    let report = check_consumers(project, consumers, versions, cx)?;
    let mut broken = Vec::new();
    for row in &report.rows {
        let id = if row.is_of_file() {
            format!("{} of {}", row.file, row.consumer)
        } else {
            format!("contract {} of {}", quote_contract(row), row.consumer)
        };
        match (row.verdict, find_acceptance(&accepted, row)) {
            (ContractVerdict::Pass, _) => {}
            (ContractVerdict::Broken, None) => {
                let mut lines = broken_lines(&report, row);
                lines.push(format!(
                    "  `ctxc package can-publish --accept {} --reason WHY` accepts it",
                    quote_word(&row.consumer)
                ));
                let reason = lines.join("\n");
                broken.push(FailingCase { id, reason });
            }
            (ContractVerdict::Broken, Some(accepted)) => {
                let AcceptedBreak { by, reason, .. } = accepted;
                let note = format!(
                    "{id} is broken, accepted by {by}, as {ACCEPTED_FILE} has it without a signature: {reason}"
                );
                compared.notes.push(note);
            }
            (ContractVerdict::Pending, _) => {
                let note = format!("{id} never passed, and does not now: {}", row.reason);
                compared.notes.push(note);
            }
            (ContractVerdict::Undecided, _) => {
                let doubt = format!("{id} is undecided: {}", row.reason);
                compared.base.doubts.push(doubt);
            }
        }
    }
    Ok(broken)
}

/// Returns the contracts of this project that the packages in use break. Adds doubts about those that
/// are undecided.
pub(super) fn find_broken_by_packages(compared: &mut GateComparison, cx: &Cx) -> Vec<FailingCase> {
    let project = &compared.project;
    let (root, packages) = (&project.root, &project.config.packages);
    let owner = ContractOwner {
        root,
        config: &project.config,
    };
    let contracts = Scenarios::contracts_of(project);
    let is_unused = |file: &&LoadedScenario| {
        let package = contract_package(&file.path);
        package.is_some_and(|name| packages.get(name).is_none())
    };
    let unused = contracts.files.iter().filter(is_unused);
    let unused = judge_contract_files(owner, unused).broken.into_iter();
    let mut broken: Vec<FailingCase> = unused
        .map(|one| FailingCase {
            id: format!("contract “{}” in {}", one.case, one.finding.path),
            reason: one.finding.message.clone(),
        })
        .collect();
    for package in packages.iter() {
        let name = &package.names.package;
        if !is_dir(&root.join(CONTRACTS_FOLDER).join(name)) {
            continue;
        }
        let compiled = compile_package(package, root, packages);
        let consumer = [ConsumerSource::from_folder(root.clone())];
        let versions = KnownVersions {
            matrix: &Matrix::default(),
            revision: &compared.base.commit,
        };
        let report = compiled
            .and_then(|compiled| check_contracts(&compiled.project, &consumer, versions, cx));
        let report = match report {
            Ok(report) => report,
            Err(why) => {
                let id = format!("contracts with {name}");
                broken.push(FailingCase {
                    id,
                    reason: why.message,
                });
                continue;
            }
        };
        for row in &report.rows {
            let id = format!(
                "contract {} with {name} {}",
                quote_contract(row),
                report.version
            );
            match row.verdict {
                ContractVerdict::Pass => {}
                ContractVerdict::Undecided => {
                    let doubt = format!("{id} is undecided: {}", row.reason);
                    compared.base.doubts.push(doubt);
                }
                ContractVerdict::Pending | ContractVerdict::Broken => {
                    let reason = row.reason.clone();
                    broken.push(FailingCase { id, reason });
                }
            }
        }
    }
    broken
}
