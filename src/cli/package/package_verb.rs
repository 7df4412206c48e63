//! The command line of `ctxc package`.

use super::diff::{DiffArgs, run_diff};
use super::pack::{PackArgs, run_pack};
use super::verify::{VerifyArgs, run_verify};
use crate::cli::prelude::*;
use clap::Subcommand;

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ctxc package pack -o rules.tar.zst\n  ctxc package pack -o rules.tar.zst && ctxc package verify rules.tar.zst\n  ctxc package diff . .\n\n\
    `[package]` in ctxc.toml names the package, its version and what it exports.\n\n\
    Exit codes: 0 done, 1 findings, 2 wrong usage or project file, 3 a file cannot be read or written."
)]
pub(crate) struct PackageArgs {
    #[command(subcommand)]
    verb: PackageVerb,
}

#[derive(Debug, Subcommand)]
enum PackageVerb {
    /// Write the package of this project to an archive
    Pack(PackArgs),
    /// Test a package by its own scenarios and recorded answers, without a network
    Verify(VerifyArgs),
    /// Show what a new version of a package breaks, and the version number that it needs
    Diff(DiffArgs),
}

/// Runs the subcommand.
pub(crate) fn run_package(args: &PackageArgs, cx: &mut Cx) -> Result<Exit> {
    match &args.verb {
        PackageVerb::Pack(args) => run_pack(args, cx),
        PackageVerb::Verify(args) => run_verify(args, cx),
        PackageVerb::Diff(args) => run_diff(args, cx),
    }
}
