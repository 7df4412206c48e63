//! `ctxc package vendor`: copies the packages from git into the project.

use super::change_list::describe_changes;
use super::dependency_set::{DependencySet, FetchArgs};
use super::update::drift_error;
use crate::cli::prelude::*;

#[derive(Debug, Args)]
pub(super) struct VendorArgs {
    #[command(flatten)]
    fetch: FetchArgs,
}

/// Copies the packages into `vendor/ctxc/`, from where they are read from then on.
pub(super) fn run_vendor(args: &VendorArgs, cx: &mut Cx) -> Result<Exit> {
    let mut set = DependencySet::load(cx, &args.fetch)?;
    let lock = set.resolve()?;
    if cx.options.is_locked && lock != set.before {
        return Err(drift_error(describe_changes(&set.before, &lock)));
    }
    set.write_lock_first(&lock)?;
    let count = set.vendor(&lock)?;
    cx.print_note(&format!("vendor/ctxc: {}", pluralize(count, "package")));
    Ok(Exit::Success)
}
