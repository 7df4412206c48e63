//! `ctxc package verify`: the proof of a package, repeated here.

use super::dependency_set::{lock_project, read_lock};
use super::proof::{PackageProof, ProofCounts, require_passes};
use super::source::{InstalledPackage, names_package, read_archive, read_installed};
use crate::base::fs;
use crate::base::sha256::sha256_hex;
use crate::cli::prelude::*;
use crate::cli::project::find_root;
use crate::eval::scorecard::Scorecard;
use crate::package::release::{digest_of, file_digests, find_hidden_text};
use crate::package::surface::Surface;
use crate::package::{PACKAGE_FILE, PackageDocument};
use crate::project::config::VERSION;
use crate::project::lock_file::{LOCK_FILE, LockedPackage, Verification};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The maximum number of characters of a value in a message.
const MAX_VALUE: usize = 80;

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
    match find_difference(document, &proof) {
        Some(difference) => {
            let difference = escape_line(&difference);
            Err(CliError::new(CliErrorKind::Findings, difference))
        }
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

/// Returns the first difference from the description by the author: of any kind with the same version
/// of this program, otherwise of a verdict or of the names of exports.
fn find_difference(document: &PackageDocument, proof: &PackageProof) -> Option<String> {
    let then = verdicts(document.scorecard.as_ref());
    let now = verdicts(proof.scorecard.as_ref());
    let mut differences = then.iter().filter_map(|(case, verdict)| {
        let now = now.get(case).unwrap_or(&"not there");
        (now != verdict).then(|| {
            format!("`{case}` was {verdict} where the package was packed, and is {now} here")
        })
    });
    if let Some(difference) = differences.next() {
        return Some(difference);
    }
    if let Some(case) = now.keys().find(|case| !then.contains_key(*case)) {
        return Some(format!("`{case}` has no result in the package"));
    }
    let names = |exports: &Surface| json!(exports.keys().collect::<Vec<_>>());
    let there = names(&document.exports);
    if let Some(difference) = find_value_difference("exports", &there, &names(&proof.exports)) {
        return Some(difference);
    }
    if document.tool != VERSION {
        return None;
    }
    let own = proof.compiled.project.config.package.as_ref();
    let here = json!({
        "license": own.and_then(|own| own.license.as_ref()),
        "exports": proof.exports,
        "manifest": proof.manifest,
        "scorecard": proof.scorecard,
    });
    let there = json!({
        "license": document.license,
        "exports": document.exports,
        "manifest": document.manifest,
        "scorecard": document.scorecard,
    });
    // A number of the description was read once.
    let read = |text: &[u8]| serde_json::from_slice(text).unwrap_or(Value::Null);
    let here = read(here.to_string().as_bytes());
    find_value_difference("", &there, &here).or_else(|| {
        let registry = proof.compiled.project.registry.as_bytes();
        let there = read(document.registry.get().as_bytes());
        find_value_difference("registry", &there, &read(registry))
    })
}

/// Returns the place of the first difference of two values, with both.
fn find_value_difference(place: &str, there: &Value, here: &Value) -> Option<String> {
    if there == here {
        return None;
    }
    let inner = |key: &str| match place {
        "" => key.to_owned(),
        _ => format!("{place} → {key}"),
    };
    match (there, here) {
        (Value::Object(then), Value::Object(now)) => {
            let keys: BTreeSet<&String> = then.keys().chain(now.keys()).collect();
            let side =
                |all: &Map<String, Value>, key: &str| all.get(key).cloned().unwrap_or_default();
            keys.into_iter().find_map(|key| {
                find_value_difference(&inner(key), &side(then, key), &side(now, key))
            })
        }
        (Value::Array(then), Value::Array(now)) if then.len() == now.len() => {
            let pairs = then.iter().zip(now).enumerate();
            pairs.into_iter().find_map(|(at, (then, now))| {
                let text = |key: &&str| then.get(*key)?.as_str();
                let names: Vec<&str> = ["id", "name", "task", "node"]
                    .iter()
                    .filter_map(text)
                    .collect();
                let name = if names.is_empty() {
                    at.to_string()
                } else {
                    names.join(" ")
                };
                find_value_difference(&inner(&name), then, now)
            })
        }
        _ => {
            let [there, here] = [there, here].map(|value| {
                let text = value.to_string();
                text.chars().take(MAX_VALUE).collect::<String>()
            });
            Some(format!(
                "{PACKAGE_FILE} does not fit the files: {place} is {there} there, and {here} by ctxc {VERSION}"
            ))
        }
    }
}

fn verdicts(scorecard: Option<&Scorecard>) -> BTreeMap<&str, &str> {
    let cases = scorecard.map_or(&[][..], |card| &card.cases);
    cases
        .iter()
        .map(|case| (case.id.as_str(), case.verdict.as_str()))
        .collect()
}
