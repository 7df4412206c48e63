//! `ctxc package`: packages of projects. One file for each subcommand.

mod add;
mod can_publish;
mod change_list;
mod dependency_set;
mod diff;
mod list;
mod lock_drift;
mod pack;
mod pack_checks;
mod package_verb;
mod project_files;
mod proof;
mod remove;
mod source;
mod update;
mod update_effects;
mod update_summary;
mod vendor;
mod verify;

pub(crate) use lock_drift::require_locked;
pub(crate) use package_verb::{PackageArgs, run_package};
