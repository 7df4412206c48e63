//! `contracts/MATRIX.jsonl`: which version of a package keeps which contract of which consumer; and
//! `contracts/ACCEPTED.jsonl`: the broken contracts that the package's authors publish against.
//!
//! The verdicts contain no time and no path of a machine: equal contracts and equal packages give
//! equal bytes.

use crate::base::words::words;
use crate::schema::json::names::{CONTRACT_ACCEPTANCE, CONTRACT_MATRIX};
use schemars::JsonSchema;
use semver::Version;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use thiserror::Error;

/// The file of verdicts, relative to the project.
pub const MATRIX_FILE: &str = "contracts/MATRIX.jsonl";
/// The file of accepted breaks, relative to the project.
pub const ACCEPTED_FILE: &str = "contracts/ACCEPTED.jsonl";

words! {
    /// The verdict on a contract.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    #[schemars(rename = "Verdict")]
    pub enum ContractVerdict {
        /// It holds.
        Pass = "pass",
        /// It held before and does not hold now.
        Broken = "broken",
        /// It does not hold, and never did.
        Pending = "pending",
        /// Its answers are missing or belong to another request.
        Undecided = "undecided",
    }
}

/// A line of the matrix.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Row")]
pub struct MatrixRow {
    /// The version of the format.
    pub schema: String,
    /// The consumer: the name of its repository or folder.
    pub consumer: String,
    /// The file of the contract in the consumer's project.
    pub file: String,
    /// The name of the contract; empty if the file cannot be read.
    pub contract: String,
    /// The hash of the contract with the files that it names.
    pub hash: String,
    /// The commit of the consumer; null for one in a folder.
    pub commit: Option<String>,
    /// The version of the package.
    pub version: String,
    /// The verdict.
    pub verdict: ContractVerdict,
    /// The reason; empty if it holds.
    pub reason: String,
    /// The last version that kept this contract; null if none did.
    pub passed: Option<String>,
    /// True for a consumer of `--consumer`, which the package does not list; absent for others.
    #[serde(rename = "extra", default, skip_serializing_if = "std::ops::Not::not")]
    pub is_extra: bool,
}

impl MatrixRow {
    /// True if the row is about a whole file, which cannot be read.
    pub const fn is_of_file(&self) -> bool {
        self.contract.is_empty()
    }

    /// True if a version kept the contract, and new rows have neither it nor another version of it.
    fn is_gone(&self, new: &[MatrixRow]) -> bool {
        let is_same = |own: &MatrixRow| {
            let is_file = own.file == self.file && (own.is_of_file() || self.is_of_file());
            let is_name = own.file == self.file && own.contract == self.contract;
            own.consumer == self.consumer && (own.hash == self.hash || is_name || is_file)
        };
        self.passed.is_some() && !new.iter().any(is_same)
    }
}

/// A line of the accepted breaks.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Acceptance")]
pub struct AcceptedBreak {
    /// The version of the format.
    pub schema: String,
    /// The consumer.
    pub consumer: String,
    /// The name of the contract.
    pub contract: String,
    /// The hash of the contract.
    pub hash: String,
    /// The version that may be published against it.
    pub version: String,
    /// The last version that kept it: once another one does, the acceptance is over.
    pub passed: Option<String>,
    /// The fault of the contract that is accepted: another one is not. Empty in lines of earlier
    /// versions, which accept none.
    #[serde(default)]
    pub fault: String,
    /// The time of the acceptance, in UTC; empty in lines of earlier versions.
    #[serde(default)]
    pub at: String,
    /// The person who accepts.
    pub by: String,
    /// The reason.
    pub reason: String,
}

/// The outcome of a contract, before earlier versions are looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ContractOutcome {
    /// It holds.
    Holds,
    /// It does not hold, for a reason.
    Fails(String),
    /// It cannot be decided, for a reason.
    Open(String),
}

/// A line of the matrix or of the accepted breaks that cannot be read.
#[derive(Debug, Error)]
#[error("{file}:{line}: {why}")]
pub struct MatrixFault {
    file: &'static str,
    line: usize,
    why: String,
}

/// The rows of a matrix.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Matrix {
    rows: Vec<MatrixRow>,
}

impl Matrix {
    /// The given rows.
    pub const fn from_rows(rows: Vec<MatrixRow>) -> Self {
        Self { rows }
    }

    /// Reads the lines of a matrix.
    ///
    /// # Errors
    /// A line is no row of this version of the format: without it, a contract that was kept would
    /// count as one that never was.
    pub fn parse(text: &str) -> Result<Self, MatrixFault> {
        let rows = parse_lines(text, MATRIX_FILE, CONTRACT_MATRIX)?;
        Ok(Self { rows })
    }

    /// The rows, in the order of the file.
    pub fn rows(&self) -> &[MatrixRow] {
        &self.rows
    }

    /// Adds the rows of another state of the file.
    pub fn extend(&mut self, other: Self) {
        self.rows.extend(other.rows);
    }

    /// Removes the rows of consumers that the package listed and that are not among `consumers`.
    /// Returns their names.
    pub fn remove_unlisted(&mut self, consumers: &[String]) -> BTreeSet<String> {
        let is_gone = |row: &mut MatrixRow| !row.is_extra && !consumers.contains(&row.consumer);
        let gone = self.rows.extract_if(.., is_gone);
        gone.map(|row| row.consumer).collect()
    }

    /// Returns the last version that kept a contract; of a file that cannot be read, any contract
    /// in it.
    fn last_passed(&self, row: &MatrixRow) -> Option<String> {
        let is_same = |own: &&MatrixRow| {
            let is_contract = if row.is_of_file() {
                own.file == row.file
            } else {
                own.hash == row.hash
            };
            own.consumer == row.consumer && is_contract
        };
        let passed = self.rows.iter().filter(is_same);
        passed
            .filter_map(|own| own.passed.clone())
            .max_by_key(|version| Version::parse(version).ok())
    }

    /// Completes a row with the verdict that its outcome and the earlier versions give.
    pub fn settle(&self, row: MatrixRow, outcome: ContractOutcome) -> MatrixRow {
        let passed = self.last_passed(&row);
        let (verdict, reason, passed) = match (outcome, passed) {
            (ContractOutcome::Holds, _) => {
                let version = Some(row.version.clone());
                (ContractVerdict::Pass, String::new(), version)
            }
            (ContractOutcome::Open(why), passed) => (ContractVerdict::Undecided, why, passed),
            (ContractOutcome::Fails(why), Some(passed)) => {
                (ContractVerdict::Broken, why, Some(passed))
            }
            (ContractOutcome::Fails(why), None) => (ContractVerdict::Pending, why, None),
        };
        MatrixRow {
            verdict,
            reason,
            passed,
            ..row
        }
    }

    /// Returns the contracts that a version kept and that these consumers, by the new rows, have no
    /// more, each in its newest version.
    pub fn find_gone<'m>(
        &'m self,
        consumers: &[String],
        new: &[MatrixRow],
    ) -> impl Iterator<Item = &'m MatrixRow> {
        let version = |row: &MatrixRow| Version::parse(&row.version).ok();
        self.rows.iter().filter(move |row| {
            let is_same = |own: &&MatrixRow| {
                own.consumer == row.consumer && own.file == row.file && own.contract == row.contract
            };
            let mut others = self.rows.iter().filter(is_same);
            consumers.contains(&row.consumer)
                && row.is_gone(new)
                && others.all(|own| version(own) <= version(row))
        })
    }

    /// The versions of the rows, the newest first.
    pub fn versions(&self) -> Vec<String> {
        let versions = self.rows.iter().map(|row| Version::parse(&row.version));
        let versions: BTreeSet<Version> = versions.filter_map(Result::ok).collect();
        versions.iter().rev().map(Version::to_string).collect()
    }

    /// Returns the text of the matrix with the new rows of a version in place of those that it had
    /// of it and these consumers: sorted, a line each. A contract that was kept and is gone, or
    /// whose file cannot be read, leaves its row, to which it is held when it is back.
    pub fn with_rows(&self, version: &str, consumers: &[String], new: &[MatrixRow]) -> String {
        let is_unreadable = |row: &MatrixRow| {
            let mut files = new.iter().filter(|own| own.is_of_file());
            files.any(|own| own.consumer == row.consumer && own.file == row.file)
        };
        let is_replaced = |row: &&MatrixRow| {
            let is_kept = is_unreadable(row) || row.is_gone(new);
            row.version == version && consumers.contains(&row.consumer) && !is_kept
        };
        let others = self.rows.iter().filter(|row| !is_replaced(row));
        let key = |row: &MatrixRow| {
            let version = Version::parse(&row.version).ok();
            let (consumer, file) = (row.consumer.clone(), row.file.clone());
            (consumer, file, row.contract.clone(), version)
        };
        let all: BTreeMap<_, _> = others.chain(new).map(|row| (key(row), row)).collect();
        print_lines(all.values())
    }
}

/// Returns the acceptance of a broken contract.
pub fn find_acceptance<'a>(
    accepted: &'a [AcceptedBreak],
    row: &MatrixRow,
) -> Option<&'a AcceptedBreak> {
    accepted.iter().find(|one| {
        one.consumer == row.consumer
            && one.hash == row.hash
            && one.passed == row.passed
            && is_same_fault(&one.fault, &row.reason)
    })
}

/// True if two faults differ in numbers and spaces alone that change with each edit of a text: those of lines,
/// tokens and bytes.
fn is_same_fault(one: &str, other: &str) -> bool {
    fn words(text: &str) -> impl Iterator<Item = &str> {
        let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let next = text.split_whitespace().skip(1).chain([""]);
        text.split_whitespace().zip(next).map(move |(word, next)| {
            let is_count = ["tokens", "bytes"]
                .iter()
                .any(|unit| next.starts_with(unit));
            match word.trim_end_matches(':').rsplit_once(':') {
                Some((path, line)) if !line.is_empty() && is_number(line) => path,
                _ if is_count && is_number(&word.replace(',', "")) => "",
                _ => word,
            }
        })
    }
    words(one).eq(words(other))
}

/// Reads the lines of the accepted breaks.
///
/// # Errors
/// A line is no acceptance of this version of the format.
pub fn parse_acceptances(text: &str) -> Result<Vec<AcceptedBreak>, MatrixFault> {
    parse_lines(text, ACCEPTED_FILE, CONTRACT_ACCEPTANCE)
}

/// Reads the lines of a file, of which each has the same `schema`, but blank ones.
fn parse_lines<T: DeserializeOwned>(
    text: &str,
    file: &'static str,
    schema: &str,
) -> Result<Vec<T>, MatrixFault> {
    let parse = |line: &str| {
        let value: Value =
            serde_json::from_str(line).map_err(|why| format!("found no JSON: {why}"))?;
        match value.get("schema") {
            Some(found) if found == schema => {
                serde_json::from_value(value).map_err(|why| why.to_string())
            }
            Some(found) => Err(format!("found `schema` {found}")),
            None => Err("found no `schema`".to_owned()),
        }
    };
    let lines = text.lines().enumerate();
    lines
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(index, line)| {
            parse(line).map_err(|found| MatrixFault {
                file,
                line: index + 1,
                why: format!("{found}; expected an object of `schema` {schema:?}"),
            })
        })
        .collect()
}

/// Prints values as JSON lines.
pub fn print_lines<T: Serialize>(all: impl IntoIterator<Item = T>) -> String {
    let lines = all
        .into_iter()
        .filter_map(|one| serde_json::to_string(&one).ok());
    lines.map(|line| line + "\n").collect()
}
