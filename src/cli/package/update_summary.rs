//! The effects of an update of packages as Markdown, for the pull request that proposes it: the
//! verdict first, then the broken contracts, the packages with their changes, and the contexts and
//! scenarios of the project. Contains no path of this machine and no time.

use super::update_effects::{PackageEffect, UpdateEffects};
use crate::cli::context::contracts::COMMIT_DIGITS;
use crate::cli::prelude::*;
use crate::cli::render::markup::{code_element, escape_cell};
use crate::package::matrix::{ContractVerdict, MatrixRow};
use crate::package::surface_diff::SurfaceChange;
use crate::project::lock_file::LockedPackage;
use std::fmt::Write as _;

/// The first line, by which a program finds the comment again.
const MARK: &str = "<!-- ctxc/package-update/1 -->";

/// Returns the summary of an update that changes nothing.
pub(super) fn render_no_change() -> String {
    format!("{MARK}\nNo package changes: `ctxc.lock` is up to date.\n")
}

/// Returns the summary. A write to a string cannot fail, so the results of `write!` are ignored.
pub(super) fn render_summary(effects: &UpdateEffects<'_>) -> String {
    let mut out = format!("{MARK}\n### {}\n", effects.verdict());
    effects.write_broken_contracts(&mut out);
    if effects.breaks_project
        && let Err(error) = &effects.contexts
    {
        let _ = write!(
            out,
            "\n**The project has errors with the new packages:** {}\n",
            effects.describe_error(error)
        );
    }
    out.push_str("\n| package | before | after |\n|---|---|---|\n");
    let moved = |package: &&PackageEffect<'_>| package.before != package.after;
    for package in effects.packages.iter().filter(moved) {
        let _ = writeln!(
            out,
            "| {} | {} | {} |",
            code_element(package.name),
            describe_release(package.before),
            describe_release(package.after)
        );
    }
    for package in &effects.packages {
        effects.write_package(package, &mut out);
    }
    match &effects.contexts {
        Ok(contexts) => {
            let _ = write!(out, "\n{contexts}");
        }
        Err(_) if effects.breaks_project => {}
        Err(error) => {
            let _ = write!(
                out,
                "\nThe contexts of the project are not compared: {}\n",
                effects.describe_error(error)
            );
        }
    }
    effects.write_scenarios(&mut out);
    out
}

/// Returns the version of a release, with its commit.
fn describe_release(package: Option<&LockedPackage>) -> String {
    let Some(package) = package else {
        return "–".to_owned();
    };
    let version = escape_cell(&package.version.to_string());
    let commit = package.resolved.as_deref();
    match commit.and_then(|commit| commit.get(..COMMIT_DIGITS)) {
        Some(commit) => format!("{version} ({})", code_element(commit)),
        None => format!("{version} (folder)"),
    }
}

impl PackageEffect<'_> {
    fn contracts(&self) -> &[MatrixRow] {
        match &self.comparison {
            Some(Ok(comparison)) => &comparison.contracts,
            Some(Err(_)) | None => &[],
        }
    }

    fn changes(&self) -> &[SurfaceChange] {
        match &self.comparison {
            Some(Ok(comparison)) => comparison.changes.as_deref().unwrap_or_default(),
            Some(Err(_)) | None => &[],
        }
    }

    /// Returns true if the project uses a changed export, or may.
    fn uses(&self, change: &SurfaceChange) -> bool {
        let used = self.used.as_ref();
        used.is_none_or(|used| used.contains(&change.export))
    }

    /// Returns true if its old content is not known.
    fn is_lost(&self) -> bool {
        let found = self
            .comparison
            .as_ref()
            .and_then(|found| found.as_ref().ok());
        found.is_some_and(|found| found.changes.is_none())
    }
}

impl UpdateEffects<'_> {
    /// Returns the number of contracts with a verdict.
    fn count(&self, verdict: ContractVerdict) -> usize {
        let rows = self.packages.iter().flat_map(PackageEffect::contracts);
        rows.filter(|row| row.verdict == verdict).count()
    }

    /// Returns the heading: all that needs a decision, the gravest first.
    fn verdict(&self) -> String {
        let mut troubles = Vec::new();
        let mut add = |count: usize, what: &str, state: &str| {
            if count > 0 {
                troubles.push(format!("{}{state}", pluralize(count, what)));
            }
        };
        add(self.count(ContractVerdict::Broken), "contract", " broken");
        let breaks = self.packages.iter().flat_map(|package| {
            let changes = package.changes().iter();
            changes.filter(|change| change.is_breaking && package.uses(change))
        });
        add(breaks.count(), "breaking change", " of what is used here");
        let undecided = self.count(ContractVerdict::Undecided);
        add(undecided, "contract", " undecided");
        let pending = self.count(ContractVerdict::Pending);
        add(pending, "contract", " that neither release keeps");
        let failed = |package: &&PackageEffect<'_>| matches!(package.comparison, Some(Err(_)));
        let failed = self.packages.iter().filter(failed).count();
        add(failed, "package", " not compared");
        let lost = self.packages.iter().filter(|package| package.is_lost());
        add(lost.count(), "folder", " whose old content is not known");
        if self.contexts.is_err() && !self.breaks_project {
            troubles.push("the contexts of the project are not compared".to_owned());
        }
        if self.breaks_project {
            troubles.insert(0, "the project has errors with the new packages".to_owned());
        }
        let kept = self.count(ContractVerdict::Pass);
        if troubles.is_empty() && kept > 0 {
            troubles.push(format!(
                "nothing is broken, {} kept",
                pluralize(kept, "contract")
            ));
        } else if troubles.is_empty() {
            troubles.push("nothing is broken".to_owned());
        }
        let moved = self.packages.iter();
        let moved = moved.filter(|package| package.before != package.after);
        let count = pluralize(moved.count(), "package");
        format!("Update of {count}: {}", troubles.join(", "))
    }

    /// Returns a text without secrets.
    fn mask_text(&self, text: &str) -> String {
        let masked = self.mask.as_ref().and_then(|mask| mask.mask_text(text));
        masked.unwrap_or_else(|| text.to_owned())
    }

    /// Returns a text without secrets, for a cell.
    fn mask_cell(&self, text: &str) -> String {
        escape_cell(&self.mask_text(text))
    }

    /// Returns the name of a contract, with its file.
    fn describe_contract(&self, row: &MatrixRow) -> String {
        let file = code_element(&row.file);
        if row.contract.is_empty() {
            return file;
        }
        let name = code_element(&self.mask_text(&row.contract));
        format!("{name} in {file}")
    }

    fn describe_error(&self, error: &CliError) -> String {
        let parts = std::iter::once(&error.message).chain(&error.others);
        let parts: Vec<String> = parts.chain(&error.hints).cloned().collect();
        self.mask_cell(&parts.join("; "))
    }

    fn write_broken_contracts(&self, out: &mut String) {
        let rows = self.packages.iter().flat_map(|package| {
            let rows = package.contracts().iter();
            rows.map(move |row| (package.name, row))
        });
        let is_broken = |(_, row): &(&str, &MatrixRow)| row.verdict == ContractVerdict::Broken;
        for (number, (name, row)) in rows.filter(is_broken).enumerate() {
            if number == 0 {
                out.push_str("\n| broken contract | with | why |\n|---|---|---|\n");
            }
            let (name, why) = (code_element(name), self.mask_cell(&row.reason));
            let _ = writeln!(out, "| {} | {name} | {why} |", self.describe_contract(row));
        }
    }

    /// Writes the changes of a package's exports, and the verdicts on contracts that are not broken.
    fn write_package(&self, package: &PackageEffect<'_>, out: &mut String) {
        let (Some(before), Some(comparison)) = (package.before, &package.comparison) else {
            return;
        };
        let (name, version) = (code_element(package.name), &before.version);
        let version = escape_cell(&version.to_string());
        let Some(after) = package.after else {
            if let Err(error) = comparison {
                let why = self.describe_error(error);
                let _ = write!(out, "\n#### {name} {version} is gone\n\n{why}\n");
            }
            return;
        };
        let _ = if before == after {
            write!(
                out,
                "\n#### {name} {version}, through the packages that it uses\n\n"
            )
        } else {
            let now = escape_cell(&after.version.to_string());
            write!(out, "\n#### {name} {version} → {now}\n\n")
        };
        let comparison = match comparison {
            Ok(comparison) => comparison,
            Err(error) => {
                let why = self.describe_error(error);
                let _ = writeln!(out, "Its exports and contracts are not compared: {why}");
                return;
            }
        };
        let (changes, contracts) = (package.changes(), &comparison.contracts);
        if comparison.changes.is_none() {
            out.push_str(
                "Its exports are not compared: the old content of a folder is not kept.\n",
            );
        } else if changes.is_empty() {
            out.push_str("No change of its exports.\n");
        }
        let is_grave = |change: &&SurfaceChange| package.uses(change) && !change.is_harmless();
        let (grave, others): (Vec<_>, Vec<_>) = changes.iter().partition(is_grave);
        self.write_changes(package, &grave, out);
        if !others.is_empty() {
            // A contract may expect a text.
            let summary = if comparison.has_broken() {
                pluralize(others.len(), "other change")
            } else {
                format!(
                    "{} that can break nothing here",
                    pluralize(others.len(), "change")
                )
            };
            let _ = write!(out, "\n<details><summary>{summary}</summary>\n\n");
            self.write_changes(package, &others, out);
            out.push_str("\n</details>\n");
        }
        let others = contracts
            .iter()
            .filter(|row| row.verdict != ContractVerdict::Broken);
        let is_decided = |row: &&MatrixRow| row.verdict != ContractVerdict::Undecided;
        let has_open = !others.clone().all(|row| is_decided(&row));
        let others: Vec<_> = others.collect();
        if others.is_empty() {
            return;
        }
        let summary = if has_open {
            "kept, pending or undecided"
        } else {
            "that the update does not break"
        };
        let count = pluralize(others.len(), "contract");
        let _ = write!(
            out,
            "\n<details><summary>{count} {summary}</summary>\n\n| contract | verdict | why |\n|---|---|---|\n"
        );
        for row in others {
            let verdict = match row.verdict {
                ContractVerdict::Pass => "kept",
                ContractVerdict::Pending => "kept by neither release",
                ContractVerdict::Broken | ContractVerdict::Undecided => row.verdict.word(),
            };
            let why = self.mask_cell(&row.reason);
            let _ = writeln!(
                out,
                "| {} | {verdict} | {why} |",
                self.describe_contract(row)
            );
        }
        out.push_str("\n</details>\n");
    }

    fn write_changes(
        &self,
        package: &PackageEffect<'_>,
        changes: &[&SurfaceChange],
        out: &mut String,
    ) {
        if !changes.is_empty() {
            out.push_str("| category | export | change | used here |\n|---|---|---|---|\n");
        }
        for change in changes {
            let _ = writeln!(
                out,
                "| {} | {} | {}{} | {} |",
                change.category.word(),
                code_element(&change.export),
                self.mask_cell(&change.what),
                if change.is_breaking {
                    " (**breaks**)"
                } else {
                    ""
                },
                match package.used {
                    None => "unknown",
                    Some(_) if package.uses(change) => "yes",
                    Some(_) => "no",
                }
            );
        }
    }

    fn write_scenarios(&self, out: &mut String) {
        match &self.scenarios {
            Ok(names) if names.is_empty() => out.push_str("\nNo scenario is affected.\n"),
            Ok(names) => {
                let count = pluralize(names.len(), "scenario");
                let _ = write!(
                    out,
                    "\nAffected: {count}; `ctxc eval --affected` runs them.\n\n<details><summary>{count}</summary>\n\n"
                );
                for name in names {
                    let _ = writeln!(out, "- {}", code_element(&self.mask_text(name)));
                }
                out.push_str("\n</details>\n");
            }
            // The errors of the project are the reason, which stands above.
            Err(_) if self.contexts.is_err() => {}
            Err(error) => {
                let why = self.describe_error(error);
                let _ = writeln!(out, "\nThe affected scenarios are not known: {why}");
            }
        }
    }
}
