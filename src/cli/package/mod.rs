//! `ctxc package`: packages of projects. One file for each subcommand.

mod pack;
mod package_verb;
mod project_files;

pub(crate) use package_verb::{PackageArgs, run_package};
