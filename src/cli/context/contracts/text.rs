//! Verdicts on contracts for people: one screen that the authors of the package and of the contract
//! both understand.

use super::check::ContractReport;
use crate::cli::prelude::*;
use crate::package::matrix::{
    AcceptedBreak, ContractVerdict, MATRIX_FILE, MatrixRow, find_acceptance,
};
use crate::project::packages::CONTRACTS_FOLDER;

/// The word for contracts that no version kept.
const NEVER_PASSED: &str = "pending (never passed)";
/// The digits of a commit.
pub(in crate::cli) const COMMIT_DIGITS: usize = 12;

/// Returns the lines about a broken contract.
pub(in crate::cli) fn broken_lines(report: &ContractReport, row: &MatrixRow) -> Vec<String> {
    let passed = row.passed.as_deref().unwrap_or_default();
    let released = if report.is_edited_release && passed == report.version {
        "the released "
    } else {
        ""
    };
    if row.is_of_file() {
        let consumer = describe_consumer(row);
        return vec![
            format!("a file of {consumer} cannot be read, whose contracts {released}{passed} kept"),
            format!("  file: {}", row.file),
            format!("  why: {}", row.reason),
            format!("  its authors mend it, not those of {}", report.package),
        ];
    }
    let mut lines = vec![
        format!(
            "{} {} breaks a contract of {}, which {released}{passed} kept",
            report.package,
            report.version,
            describe_consumer(row)
        ),
        format!("  contract: {} in {}", quote_contract(row), row.file),
        format!("  why: {}", row.reason),
    ];
    let export = report
        .exports
        .get(&(row.consumer.clone(), row.contract.clone()));
    if let (Some(since), Some(export)) = (report.changes.get(passed), export) {
        let changes = since.of_export(export, &row.reason);
        lines.extend(changes.into_iter().map(|change| {
            format!(
                "  changed since {}: {} {}: {}",
                since.revision,
                change.category.word(),
                change.export,
                change.what
            )
        }));
    }
    lines
}

/// Returns the quoted name of a contract.
pub(in crate::cli) fn quote_contract(row: &MatrixRow) -> String {
    if row.is_of_file() {
        return "a file".to_owned();
    }
    format!("“{}”", row.contract)
}

fn describe_consumer(row: &MatrixRow) -> String {
    match row
        .commit
        .as_deref()
        .and_then(|commit| commit.get(..COMMIT_DIGITS))
    {
        Some(commit) => format!("{} ({commit})", row.consumer),
        None => row.consumer.clone(),
    }
}

/// Prints the verdicts.
pub(in crate::cli) fn print_report(
    report: &ContractReport,
    accepted: &[AcceptedBreak],
    cx: &mut Cx,
) -> Result<()> {
    for row in &report.rows {
        let name = quote_contract(row);
        let consumer = describe_consumer(row);
        let acceptance = find_acceptance(accepted, row);
        match (row.verdict, acceptance) {
            (ContractVerdict::Pass, _) => {}
            (ContractVerdict::Broken, None) => {
                for line in broken_lines(report, row) {
                    cx.print_hanging(&escape_line(&line), 4)?;
                }
            }
            (ContractVerdict::Broken, Some(AcceptedBreak { by, reason, .. })) => {
                let line = format!("accepted by {by}: {name} of {consumer} is broken: {reason}");
                cx.print_hanging(&escape_line(&line), 4)?;
                cx.print_hanging(&escape_line(&format!("  why: {}", row.reason)), 4)?;
            }
            (verdict @ (ContractVerdict::Pending | ContractVerdict::Undecided), _) => {
                let (word, file) = (verdict.word(), &row.file);
                let line = format!("{word}: {name} of {consumer} in {file}: {}", row.reason);
                cx.print_hanging(&escape_line(&line), 4)?;
            }
        }
    }
    for consumer in &report.consumers {
        if report.rows.iter().all(|row| row.consumer != *consumer) {
            let line = format!(
                "warning: {consumer} has no contract: expected a scenario in {CONTRACTS_FOLDER}/{}/ there",
                report.package
            );
            cx.print_line(&escape_line(&line))?;
        }
    }
    if report.is_edited_release {
        let version = &report.version;
        let line = format!(
            "your changes after v{version}: raise `version` in ctxc.toml; {MATRIX_FILE} keeps the rows of the released {version}"
        );
        cx.print_line(&line)?;
    }
    let word = |row: &MatrixRow| match row.verdict {
        ContractVerdict::Pass => "kept",
        ContractVerdict::Broken if find_acceptance(accepted, row).is_some() => "broken, accepted",
        ContractVerdict::Broken => "broken",
        ContractVerdict::Pending => NEVER_PASSED,
        ContractVerdict::Undecided => "undecided",
    };
    let words = [
        "kept",
        "broken",
        "broken, accepted",
        NEVER_PASSED,
        "undecided",
    ];
    let counts = words.into_iter().filter_map(|one| {
        let count = report.rows.iter().filter(|row| word(row) == one).count();
        (count > 0 || one == "kept").then(|| format!("{count} {one}"))
    });
    let line = format!(
        "{} {}: {} of consumers: {}",
        report.package,
        report.version,
        pluralize(report.rows.len(), "contract"),
        counts.collect::<Vec<_>>().join(", ")
    );
    cx.print_line(&line)
}
