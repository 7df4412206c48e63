//! `ctxc package`: packages of projects. One file for each subcommand.

<<<<<<< HEAD
mod diff;
=======
mod add;
mod change_list;
mod dependency_set;
mod list;
>>>>>>> d4b08bfe (Add, update, remove, list and vendor packages)
mod pack;
mod pack_checks;
mod package_verb;
mod project_files;
<<<<<<< HEAD
mod proof;
mod source;
mod verify;
=======
mod remove;
mod update;
mod vendor;
>>>>>>> d4b08bfe (Add, update, remove, list and vendor packages)

pub(crate) use package_verb::{PackageArgs, run_package};
