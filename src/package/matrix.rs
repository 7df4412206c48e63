//! `contracts/MATRIX.jsonl`: which version of a package keeps which contract of which consumer; and
//! `contracts/ACCEPTED.jsonl`: the broken contracts that the package's authors publish against.
//!
//! Contains no time and no path of a machine: equal contracts and equal packages give equal bytes.

use crate::base::words::words;
use schemars::JsonSchema;
use semver::Version;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::collections::BTreeMap;

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
    /// The name of the contract.
    pub contract: String,
    /// The hash of the contract with the files beside it.
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

/// The rows of a matrix.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Matrix {
    rows: Vec<MatrixRow>,
}

impl Matrix {
    /// Reads the lines of a matrix. Lines of a later version are left out.
    pub fn parse(text: &str) -> Self {
        Self {
            rows: parse_lines(text),
        }
    }

    /// Adds the rows of another state of the file.
    pub fn extend(&mut self, other: Self) {
        self.rows.extend(other.rows);
    }

    /// Returns the last version that kept a contract.
    pub fn last_passed(&self, consumer: &str, hash: &str) -> Option<String> {
        let rows = self.rows.iter();
        let of_contract = rows.filter(|row| row.consumer == consumer && row.hash == hash);
        of_contract
            .filter_map(|row| row.passed.clone())
            .max_by_key(|version| Version::parse(version).ok())
    }

    /// Completes a row with the verdict that its outcome and the earlier versions give.
    pub fn settle(&self, row: MatrixRow, outcome: ContractOutcome) -> MatrixRow {
        let passed = self.last_passed(&row.consumer, &row.hash);
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

    /// Returns the text of the matrix with the rows of a version in place of those that it had:
    /// sorted, a line each.
    pub fn with_version(&self, version: &str, rows: &[MatrixRow]) -> String {
        let key = |row: &MatrixRow| {
            let version = Version::parse(&row.version).ok();
            (
                row.consumer.clone(),
                row.file.clone(),
                row.contract.clone(),
                version,
            )
        };
        let earlier = self.rows.iter().filter(|row| row.version != version);
        let all: BTreeMap<_, _> = earlier.chain(rows).map(|row| (key(row), row)).collect();
        print_lines(all.values())
    }
}

/// Returns the acceptance of a broken contract.
pub fn find_acceptance<'a>(
    accepted: &'a [AcceptedBreak],
    row: &MatrixRow,
) -> Option<&'a AcceptedBreak> {
    accepted.iter().find(|one| {
        one.consumer == row.consumer && one.hash == row.hash && one.passed == row.passed
    })
}

/// Reads a file of JSON lines; those of another form are left out.
pub fn parse_lines<T: DeserializeOwned>(text: &str) -> Vec<T> {
    text.lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect()
}

/// Prints values as JSON lines.
pub fn print_lines<T: Serialize>(all: impl IntoIterator<Item = T>) -> String {
    let lines = all
        .into_iter()
        .filter_map(|one| serde_json::to_string(&one).ok());
    lines.map(|line| line + "\n").collect()
}
