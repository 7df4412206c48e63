//! Contracts between a package and its consumers: what a consumer expects, held to the package as it
//! is.

mod check;
mod consumers;
mod findings;
mod installed_package;
mod matrix_files;
mod surface_changes;
mod text;

pub(in crate::cli) use check::{ContractReport, KnownVersions, check_consumers, check_contracts};
pub(in crate::cli) use consumers::ConsumerSource;
pub(in crate::cli) use findings::{
    BrokenContract, ContractJudgements, ContractOwner, check_contract_files, judge_contract_files,
};
pub(in crate::cli) use installed_package::{CompiledPackage, compile_package, temp_folder_error};
pub(in crate::cli) use matrix_files::{read_acceptances, read_matrix, require_committed_matrix};
pub(in crate::cli) use surface_changes::{
    ChangesSince, find_release, project_surface, require_package,
};
pub(in crate::cli) use text::{COMMIT_DIGITS, broken_lines, print_report, quote_contract};
