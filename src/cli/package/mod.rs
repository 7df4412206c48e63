//! `ctxc package`: packages of projects. One file for each subcommand.

<<<<<<< HEAD
<<<<<<< HEAD
mod diff;
=======
=======
>>>>>>> b6b8f4ea (Hold a package to the contracts of its consumers before it is published)
mod add;
mod can_publish;
mod change_list;
mod dependency_set;
mod diff;
mod list;
>>>>>>> d4b08bfe (Add, update, remove, list and vendor packages)
mod pack;
mod pack_checks;
mod package_verb;
mod project_files;
<<<<<<< HEAD
mod proof;
<<<<<<< HEAD
mod source;
mod verify;
=======
=======
>>>>>>> b6b8f4ea (Hold a package to the contracts of its consumers before it is published)
mod remove;
mod source;
mod update;
mod vendor;
<<<<<<< HEAD
>>>>>>> d4b08bfe (Add, update, remove, list and vendor packages)
=======
mod verify;
>>>>>>> b6b8f4ea (Hold a package to the contracts of its consumers before it is published)

pub(crate) use package_verb::{PackageArgs, run_package};
