//! The command line of `ctxc package`.

use super::add::{AddArgs, run_add};
use super::can_publish::{CanPublishArgs, run_can_publish};
use super::diff::{DiffArgs, run_diff};
use super::list::run_list;
use super::lock_drift::require_locked;
use super::pack::{PackArgs, run_pack};
use super::remove::{RemoveArgs, run_remove};
use super::update::{UpdateArgs, run_update};
use super::vendor::{VendorArgs, run_vendor};
use super::verify::{VerifyArgs, run_verify};
use crate::cli::prelude::*;
use crate::cli::workspace_reach::{PrintedForm, WorkspaceReach};
use crate::project::lock_file::LOCK_FILE;
use clap::Subcommand;

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ctxc package pack -o rules.tar.zst\n  ctxc package verify rules.tar.zst\n  ctxc package diff . .\n  ctxc package list\n  ctxc package update --all\n  ctxc package update --all --pr-summary body.md\n  ctxc package can-publish\n\n\
    `[package]` in ctxc.toml names the package, its version and what it exports. A project that requires acme/rules uses \
    <task ref=\"acme/rules/NAME\"/>, <use fragment=\"acme/rules/NAME\"/>, and in ctxc.toml `extends = \"acme/rules/NAME\"` in a role, \
    `from = [\"acme/rules\"]` in `[tools]`, and `extends = [\"acme/rules\"]` for its rules.\n\n\
    Exit codes: 0 done, 1 findings, 2 wrong usage or project file, 3 a file or repository cannot be read or written, 4 a contract that was kept is broken, 5 the package has no consumer, 6 a contract is undecided. An update with a broken contract exits with 0: it is a proposal, and `check` decides about it."
)]
pub(crate) struct PackageArgs {
    #[command(subcommand)]
    verb: PackageVerb,
}

#[derive(Debug, Subcommand)]
enum PackageVerb {
    /// Write the package of this project to an archive
    #[command(after_help = "Examples:\n  ctxc package pack -o rules.tar.zst")]
    Pack(PackArgs),
    /// Test a package by its own scenarios and recorded answers, without a network
    #[command(
        after_help = "Examples:\n  ctxc package verify rules.tar.zst\n  ctxc package verify acme/rules\n\n\
            The proof of a NAME that passes is noted in ctxc.lock (`verified`), except with `--locked`. The proof of a FILE is noted nowhere."
    )]
    Verify(VerifyArgs),
    /// Show what a new version of a package breaks, and the version number that it needs
    #[command(
        after_help = "Examples:\n  ctxc package diff rules.tar.zst .\n  ctxc package diff acme/rules@1.0.0 ."
    )]
    Diff(DiffArgs),
    /// Add a package to `ctxc.toml` and `ctxc.lock`, and fetch it
    #[command(
        after_help = "Examples:\n  ctxc package add path:../rules\n  ctxc package add git+https://example.org/rules.git@v1.2.0\n  ctxc package add git+ssh://git@example.org/acme/rules.git"
    )]
    Add(AddArgs),
    /// Fetch what `ctxc.toml` asks for, and move packages to newer releases
    #[command(
        after_help = "Examples:\n  ctxc package update\n  ctxc package update acme/rules\n  ctxc package update --locked"
    )]
    Update(UpdateArgs),
    /// Take a package out of `ctxc.toml` and `ctxc.lock`
    #[command(after_help = "Examples:\n  ctxc package remove acme/rules")]
    Remove(RemoveArgs),
    /// List the packages, their versions and sources, and what requires them
    List,
    /// Copy the packages from git into `vendor/ctxc/`
    #[command(after_help = "Examples:\n  ctxc package vendor\n  ctxc package vendor --offline")]
    Vendor(VendorArgs),
    /// Hold the package to the contracts of its consumers before it is published
    CanPublish(CanPublishArgs),
}

impl PackageArgs {
    /// The part of a workspace that the subcommand is about.
    pub(crate) fn workspace_reach(&self) -> WorkspaceReach {
        match &self.verb {
            PackageVerb::List | PackageVerb::Vendor(_) => {
                WorkspaceReach::Members(PrintedForm::Text)
            }
            PackageVerb::Update(args) if args.is_for_all_packages() => {
                WorkspaceReach::members(PrintedForm::Text, args.summary_file().into_iter())
            }
            PackageVerb::Pack(_)
            | PackageVerb::Verify(_)
            | PackageVerb::Diff(_)
            | PackageVerb::Add(_)
            | PackageVerb::Update(_)
            | PackageVerb::Remove(_)
            | PackageVerb::CanPublish(_) => WorkspaceReach::Folder,
        }
    }
}

/// Runs the subcommand.
pub(crate) fn run_package(args: &PackageArgs, cx: &mut Cx) -> Result<Exit> {
    let writes_lock = matches!(args.verb, PackageVerb::Add(_) | PackageVerb::Remove(_));
    if cx.options.is_locked && writes_lock {
        let message = format!("`--locked` changes no {LOCK_FILE}, and this writes it");
        return Err(CliError::usage(message).with_hint("leave out `--locked`"));
    }
    // These two compare with the sources, and the second writes vendored packages as the lock has them.
    if !matches!(args.verb, PackageVerb::Update(_) | PackageVerb::Vendor(_)) {
        require_locked(cx)?;
    }
    match &args.verb {
        PackageVerb::Pack(args) => run_pack(args, cx),
        PackageVerb::Verify(args) => run_verify(args, cx),
        PackageVerb::Diff(args) => run_diff(args, cx),
        PackageVerb::Add(args) => run_add(args, cx),
        PackageVerb::Update(args) => run_update(args, cx),
        PackageVerb::Remove(args) => run_remove(args, cx),
        PackageVerb::List => run_list(cx),
        PackageVerb::Vendor(args) => run_vendor(args, cx),
        PackageVerb::CanPublish(args) => run_can_publish(args, cx),
    }
}
