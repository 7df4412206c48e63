//! `ctxc package`: packages of projects. One file for each subcommand.

mod diff;
mod pack;
mod pack_checks;
mod package_verb;
mod project_files;
mod proof;
mod source;
mod verify;

pub(crate) use package_verb::{PackageArgs, run_package};
