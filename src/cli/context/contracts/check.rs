//! Runs the contracts of consumers against the project as it is. Calls no model, and writes nothing.

use super::consumers::{ConsumerContracts, ConsumerSource};
use super::surface_changes::{ChangesSince, is_edited_release, project_surface, require_package};
use crate::base::hash::Hasher;
use crate::base::source::LineIndex;
use crate::cli::context::eval::{
    CachedFiles, FilesBeside, RunSubject, describe_calls, judge_contracts, problem_lines,
};
use crate::cli::context::project::CompiledProject;
use crate::cli::prelude::*;
use crate::eval::case_result::{AnswerOrigin, CaseVerdict};
use crate::eval::scorecard::CaseRow;
use crate::package::contract::{Contract, SurfaceJudgement};
use crate::package::matrix::{ContractOutcome, ContractVerdict, Matrix, MatrixRow};
use crate::package::surface::Surface;
use crate::scenario::expect::answer::AnswerTest;
use crate::scenario::model::{CaseSubject, ScenarioCase};
use crate::schema::json::names::CONTRACT_MATRIX;
use crate::store::trust::quote_word;
use std::collections::BTreeMap;

/// The verdicts on the contracts of all consumers.
#[derive(Debug)]
pub(in crate::cli) struct ContractReport {
    /// The name of the package.
    pub(in crate::cli) package: String,
    /// Its version.
    pub(in crate::cli) version: String,
    /// True if that version is released, and the project was edited since.
    pub(in crate::cli) is_edited_release: bool,
    /// The names of the consumers.
    pub(in crate::cli) consumers: Vec<String>,
    /// One row for each contract.
    pub(in crate::cli) rows: Vec<MatrixRow>,
    /// The changes of the surface since each version that kept a contract that is broken.
    pub(super) changes: BTreeMap<String, ChangesSince>,
    /// The export that a broken contract is about, by consumer and contract.
    pub(super) exports: BTreeMap<(String, String), String>,
}

/// The earlier versions of a package.
#[derive(Clone, Copy)]
pub(in crate::cli) struct KnownVersions<'a> {
    /// Their rows.
    pub(in crate::cli) matrix: &'a Matrix,
    /// The revision to compare surfaces with if a version has no tag.
    pub(in crate::cli) revision: &'a str,
}

/// A contract with its judgement by the surface.
struct JudgedContract {
    file: String,
    name: String,
    export: String,
    hash: String,
    judgement: SurfaceJudgement,
    /// The faults with their lines; empty without faults.
    reason: String,
    /// True if a script may decide: only the path of a run is expected.
    is_of_path: bool,
}

/// Holds a project to the contracts of its consumers, and completes the verdicts by the rows of
/// earlier versions.
pub(in crate::cli) fn check_contracts(
    project: &CompiledProject,
    consumers: &[ConsumerSource],
    known: KnownVersions<'_>,
    cx: &Cx,
) -> Result<ContractReport> {
    let package = &require_package(&project.config)?.name.value;
    let consumers = consumers.iter().map(|source| source.read(package));
    check_consumers(project, consumers, known, cx)
}

/// Holds a project to the contracts of consumers as they are read.
pub(in crate::cli) fn check_consumers(
    project: &CompiledProject,
    consumers: impl IntoIterator<Item = Result<ConsumerContracts>>,
    known: KnownVersions<'_>,
    cx: &Cx,
) -> Result<ContractReport> {
    let package = require_package(&project.config)?;
    let surface = project_surface(project)?;
    let version = package.version.value.to_string();
    let mut report = ContractReport {
        package: package.name.value.clone(),
        is_edited_release: is_edited_release(project, &version, &surface),
        version,
        consumers: Vec::new(),
        rows: Vec::new(),
        changes: BTreeMap::new(),
        exports: BTreeMap::new(),
    };
    for consumer in consumers {
        report.add_consumer(project, consumer?, &surface, known.matrix, cx)?;
    }
    let versions = known.matrix.versions();
    for row in &report.rows {
        let passed = row.passed.iter();
        for version in passed.filter(|_| row.verdict == ContractVerdict::Broken) {
            if !report.changes.contains_key(version)
                && let Some(changes) = ChangesSince::find(
                    project,
                    std::iter::once(version).chain(&versions),
                    Some(known.revision),
                    &surface,
                )
            {
                report.changes.insert(version.clone(), changes);
            }
        }
    }
    Ok(report)
}

impl ContractReport {
    fn add_consumer(
        &mut self,
        project: &CompiledProject,
        mut consumer: ConsumerContracts,
        surface: &Surface,
        known: &Matrix,
        cx: &Cx,
    ) -> Result<()> {
        let row = |file: &str, contract: &str, hash: String| MatrixRow {
            schema: CONTRACT_MATRIX.to_owned(),
            consumer: consumer.name.clone(),
            file: file.to_owned(),
            contract: contract.to_owned(),
            hash,
            commit: consumer.commit.clone(),
            version: self.version.clone(),
            verdict: ContractVerdict::Undecided,
            reason: String::new(),
            passed: None,
            is_extra: false,
        };
        let mut rows = Vec::new();
        for broken in consumer.scenarios.broken_files(&consumer.project) {
            let hash = text_hash(&[&broken.file.text]);
            let row = row(&broken.file.path, "", hash);
            rows.push(known.settle(row, ContractOutcome::Fails(broken.reason)));
        }
        let judged = judge_by_surface(&consumer, &self.package, surface);
        for case in consumer.scenarios.cases_mut() {
            remove_package_name(case, &self.package);
        }
        let subject = RunSubject {
            project,
            scenarios: &consumer.scenarios,
            whose: &consumer.project,
        };
        let card = judge_contracts(subject, cx)?;
        for contract in judged {
            let result = card
                .cases
                .iter()
                .find(|row| row.path == contract.file && row.id == contract.name);
            let record = format!(
                "{} records one with `ctxc eval {} --record`",
                consumer.name,
                quote_word(&contract.file)
            );
            let outcome = contract_outcome(&contract, result, &record);
            let row = row(&contract.file, &contract.name, contract.hash);
            let row = known.settle(row, outcome);
            self.exports.insert(
                (row.consumer.clone(), row.contract.clone()),
                contract.export,
            );
            rows.push(row);
        }
        self.consumers.push(consumer.name);
        self.rows.extend(rows);
        Ok(())
    }
}

fn text_hash(parts: &[&str]) -> String {
    let mut hasher = Hasher::new();
    for part in parts {
        hasher.add_field(part);
    }
    hasher.finish().to_string()
}

/// Holds each contract of a consumer to the surface.
fn judge_by_surface(
    consumer: &ConsumerContracts,
    package: &str,
    surface: &Surface,
) -> Vec<JudgedContract> {
    let files = CachedFiles::new(consumer.project.files());
    let mut judged = Vec::new();
    for file in consumer
        .scenarios
        .files
        .iter()
        .filter(|file| file.is_sound())
    {
        let lines = LineIndex::new(&file.text);
        let beside = FilesBeside {
            scenario: &file.path,
            files: &files,
        };
        for case in file.suite.iter().flat_map(|suite| &suite.cases) {
            let contract = Contract {
                case,
                package,
                beside: &beside,
            };
            let judgement = contract.judge(surface);
            let faults = judgement.faults.iter().map(|fault| {
                let line = lines.position(&file.text, fault.span.start).line;
                format!("{}:{line}: {}", file.path, fault.message)
            });
            let mut tests = case.expectations.iter().filter(|own| own.value.gate);
            let is_of_path = case.is_run
                && tests
                    .all(|own| matches!(own.value.test, AnswerTest::Path(_) | AnswerTest::Ends(_)));
            // A day of review or a tag makes no new contract.
            let expected = ScenarioCase {
                tags: Vec::new(),
                reviewed: None,
                baseline_config_hash: None,
                ..case.clone()
            };
            let written = serde_json::to_string(&expected).unwrap_or_default();
            judged.push(JudgedContract {
                file: file.path.to_string(),
                name: case.name.value.clone(),
                export: contract.export().unwrap_or_default(),
                hash: text_hash(&[&written, &consumer.hash_files(&file.path, case)]),
                reason: faults.collect::<Vec<_>>().join("; "),
                judgement,
                is_of_path,
            });
        }
    }
    judged
}

/// Removes the name of the package from the subject of a contract: inside the package, an export has
/// its own name.
fn remove_package_name(case: &mut ScenarioCase, package: &str) {
    if let CaseSubject::Task(name) | CaseSubject::Role(name) = &mut case.subject.value
        && let Some(own) = name
            .strip_prefix(package)
            .and_then(|rest| rest.strip_prefix('/'))
    {
        *name = own.to_owned();
    }
}

/// Returns the outcome of a contract by the surface and by its run; `record` is the step that the
/// consumer takes for an answer.
fn contract_outcome(
    contract: &JudgedContract,
    result: Option<&CaseRow>,
    record: &str,
) -> ContractOutcome {
    if !contract.judgement.faults.is_empty() {
        // Its authors see all that is broken at once, each expectation once.
        let failed = result.filter(|row| row.verdict() == CaseVerdict::Fail);
        let is_new = |line: &String| {
            let place = line.split_inclusive(": ").next();
            place.is_some_and(|place| !line.starts_with(' ') && !contract.reason.contains(place))
        };
        let problems = failed.into_iter().flat_map(problem_lines).filter(is_new);
        let reasons = std::iter::once(contract.reason.clone()).chain(problems);
        return ContractOutcome::Fails(reasons.collect::<Vec<_>>().join("; "));
    }
    let Some(row) = result else {
        return ContractOutcome::Open("it was not run".to_owned());
    };
    let is_settled = contract.judgement.is_settled;
    let problems = || {
        let lines = problem_lines(row);
        let lines: Vec<&str> = lines.iter().map(|line| line.trim_start()).collect();
        lines.join("; ")
    };
    let is_unrecorded = row.unanswered
        || row.verdict() == CaseVerdict::Inconclusive
            && row.answer == AnswerOrigin::NotRecorded.word();
    match row.verdict() {
        CaseVerdict::Fail => ContractOutcome::Fails(problems()),
        CaseVerdict::Pass | CaseVerdict::Stale | CaseVerdict::Inconclusive if is_settled => {
            ContractOutcome::Holds
        }
        CaseVerdict::Stale => {
            let price = row.anew.as_ref();
            let price = price.map_or_else(
                || "its model has no price".to_owned(),
                |anew| describe_calls(anew.calls, anew.usd),
            );
            ContractOutcome::Open(format!(
                "its recorded answers are for another request; {record} from the package as it is now; new ones: {price}"
            ))
        }
        CaseVerdict::Pass | CaseVerdict::Inconclusive
            if is_unrecorded =>
        {
            ContractOutcome::Open(format!(
                "no answer is recorded for what it expects of one: {record}"
            ))
        }
        CaseVerdict::Pass if row.answer == "scripted" && !contract.is_of_path => ContractOutcome::Open(
            "its answer is a script of the consumer, which says nothing about the package: record one, or expect a `schema`"
                .to_owned(),
        ),
        CaseVerdict::Pass => ContractOutcome::Holds,
        CaseVerdict::Inconclusive | CaseVerdict::Error => ContractOutcome::Open(problems()),
    }
}
