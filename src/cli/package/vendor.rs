//! `ctxc package vendor`: copies the packages from git into the project.

use super::dependency_set::{DependencySet, FetchArgs};
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
    set.write_lock_first(&lock)?;
    let count = set.vendor(&lock)?;
    cx.print_note(&format!("vendor/ctxc: {}", pluralize(count, "package")));
    Ok(Exit::Success)
}
