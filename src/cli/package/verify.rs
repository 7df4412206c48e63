//! `ctxc package verify`: the proof of a package, repeated here.

use super::dependency_set::{lock_project, read_lock};
use super::proof::{PackageProof, ProofCounts, require_passes};
use super::source::{InstalledPackage, names_package, read_archive, read_installed};
use crate::base::fs;
use crate::base::sha256::sha256_hex;
use crate::cli::prelude::*;
use crate::cli::project::find_root;
use crate::eval::scorecard::Scorecard;
use crate::package::PackageDocument;
use crate::package::release::{digest_of, file_digests, find_hidden_text};
use crate::project::config::VERSION;
use crate::project::lock_file::{LOCK_FILE, LockedPackage, Verification};
use std::collections::BTreeMap;

#[derive(Debug, Args)]
pub(super) struct VerifyArgs {
    /// The archive, or the name of a package that this project uses
    #[arg(value_name = "FILE|NAME")]
    subject: PathBuf,
}

/// Repeats the proof.
pub(super) fn run_verify(args: &VerifyArgs, cx: &mut Cx) -> Result<Exit> {
    if names_package(&args.subject) {
        return verify_installed(&args.subject.to_string_lossy(), cx);
    }
    let package = read_archive(&args.subject)?;
    let document = &package.document;
    if let (Some(reason), Some(place)) = (&document.hidden_text, find_hidden_text(&package.files)) {
        cx.print_note(&escape_line(&format!(
            "{place}: models read this character, and no editor displays it; the reason of the package: {reason}"
        )));
    }
    let proof = PackageProof::from_files(&package.files, cx)?;
    let own = proof.compiled.project.config.package.as_ref();
    let is_named = own.is_some_and(|own| {
        own.name.value == document.name && own.version.value.to_string() == document.version
    });
    if !is_named {
        return Err(CliError::new(
            CliErrorKind::Findings,
            format!(
                "the archive is described as {} {}, and its ctxc.toml names another package",
                document.name, document.version
            ),
        ));
    }
    let exit = print_proof(
        &format!("{} {}", document.name, document.version),
        &proof,
        cx,
    )?;
    match find_difference(document, proof.scorecard.as_ref()) {
        Some(difference) => Err(CliError::new(CliErrorKind::Findings, difference)),
        None => Ok(exit),
    }
}

/// Repeats the proof of a package that this project uses, and notes it in the lock.
fn verify_installed(name: &str, cx: &mut Cx) -> Result<Exit> {
    let InstalledPackage {
        files,
        lock,
        lock_path,
    } = read_installed(name, cx)?;
    let proof = PackageProof::from_files(&files, cx)?;
    let package = lock.package(name);
    let title = package.map_or_else(String::new, |package| format!("{name} {}", package.version));
    let exit = print_proof(&title, &proof, cx)?;
    let (Some(package), Some(scorecard), Exit::Success) = (package, &proof.scorecard, exit) else {
        return Ok(exit);
    };
    let json = serde_json::to_vec(scorecard).unwrap_or_default();
    if cx.options.is_locked {
        return Ok(exit);
    }
    if digest_of(&file_digests(&files)) != package.tree {
        cx.print_note(&format!(
            "{name} was changed since it was locked, so the proof is not noted in {LOCK_FILE}; run `ctxc package update` first"
        ));
        return Ok(exit);
    }
    let verified = Some(Verification {
        scorecard: sha256_hex(&json),
        ctxc: VERSION.to_owned(),
    });
    // Another program may have changed the packages during the proof.
    let root = find_root(&cx.options)?;
    let _guard = lock_project(&root)?;
    let mut lock = read_lock(&root)?;
    let is_proven = |own: &&mut LockedPackage| own.name == name && own.tree == package.tree;
    let Some(current) = lock.packages.iter_mut().find(is_proven) else {
        cx.print_note(&format!(
            "{LOCK_FILE} has other content of {name} by now, so the proof is not noted there; run this again"
        ));
        return Ok(exit);
    };
    if current.verified != verified {
        current.verified = verified;
        fs::write_atomic(&lock_path, lock.to_text().as_bytes())
            .map_err(|why| CliError::write_failed(&lock_path, &why))?;
    }
    Ok(exit)
}

/// Prints the counts of a proof. Returns an error if a scenario does not pass.
fn print_proof(title: &str, proof: &PackageProof, cx: &mut Cx) -> Result<Exit> {
    let counts = ProofCounts::new(proof.scorecard.as_ref());
    cx.print_line(&escape_line(&format!("{title}: {counts}")))?;
    require_passes(proof.scorecard.as_ref())?;
    Ok(
        if counts.passed == 0 && counts.undecided + counts.unanswered > 0 {
            Exit::Inconclusive
        } else {
            Exit::Success
        },
    )
}

/// Returns the first difference from the results of the author: of any kind with the same version of
/// this program, otherwise of a verdict.
fn find_difference(document: &PackageDocument, here: Option<&Scorecard>) -> Option<String> {
    let there = document.scorecard.as_ref();
    let is_same_tool = document.tool == VERSION;
    if is_same_tool && there == here {
        return None;
    }
    let (then, now) = (verdicts(there), verdicts(here));
    let mut differences = then.iter().filter_map(|(case, verdict)| {
        let now = now.get(case).unwrap_or(&"not there");
        (now != verdict).then(|| {
            format!("`{case}` was {verdict} where the package was packed, and is {now} here")
        })
    });
    let missing = || {
        let mut missing = now.keys().filter(|case| !then.contains_key(*case));
        Some(format!(
            "`{}` has no result in the package",
            missing.next()?
        ))
    };
    let figures = "the verdicts are those of the package, and figures differ, although this version of ctxc packed it";
    differences
        .next()
        .or_else(missing)
        .or_else(|| is_same_tool.then(|| figures.to_owned()))
}

fn verdicts(scorecard: Option<&Scorecard>) -> BTreeMap<&str, &str> {
    let cases = scorecard.map_or(&[][..], |card| &card.cases);
    cases
        .iter()
        .map(|case| (case.id.as_str(), case.verdict.as_str()))
        .collect()
}
