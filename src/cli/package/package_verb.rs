//! The command line of `ctxc package`.

use super::pack::{PackArgs, run_pack};
use crate::cli::prelude::*;
use clap::Subcommand;

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  ctxc package pack -o rules.tar.zst\n\n\
    `[package]` in ctxc.toml names the package, its version and what it exports.\n\n\
    Exit codes: 0 done, 1 findings, 2 wrong usage or project file, 3 a file cannot be read or written.")]
pub(crate) struct PackageArgs {
    #[command(subcommand)]
    verb: PackageVerb,
}

#[derive(Debug, Subcommand)]
enum PackageVerb {
    /// Write the package of this project to an archive
    Pack(PackArgs),
}

/// Runs the subcommand.
pub(crate) fn run_package(args: &PackageArgs, cx: &mut Cx) -> Result<Exit> {
    match &args.verb {
        PackageVerb::Pack(args) => run_pack(args, cx),
    }
}
