//! `ctxc package can-publish`: which contracts of consumers the package as it is would break.

use super::proof::require_no_errors;
use crate::base::fs;
use crate::cli::context::contracts::{
    ChangesSince, ConsumerSource, ContractReport, KnownVersions, check_consumers, print_report,
    project_surface, quote_contract, read_acceptances, read_matrix, require_committed_matrix,
    require_package,
};
use crate::cli::context::gate::own_accepters;
use crate::cli::context::project::CompiledProject;
use crate::cli::prelude::*;
use crate::cli::project::PROJECT_FILE;
use crate::cli::secret_check::{NewFile, SecretCheck};
use crate::cli::{overwrite, revision, rewrite};
use crate::context::request::Files;
use crate::eval::gate::Accepters;
use crate::package::matrix::{
    ACCEPTED_FILE, AcceptedBreak, ContractVerdict, MATRIX_FILE, MatrixRow, find_acceptance,
    print_lines,
};
use crate::package::surface_diff::SurfaceChange;
use crate::scenario::date;
use crate::schema::json::names::CONTRACT_ACCEPTANCE;
use std::collections::BTreeSet;

#[derive(Debug, Args)]
#[command(
    after_help = "A consumer's contract is a scenario in `contracts/ORG/NAME/` of its project, such as contracts/acme/rules/routing.yaml:\n\n  \
    name: each ticket has a team\n  task: acme/rules/triage\n  context:\n    objective: Sort the ticket.\n    inputs: {ticket: My invoice is wrong.}\n  \
    expectations:\n    - schema: {type: object, required: [team]}\n\n\
    `ctxc check` there holds it to the version in use, `ctxc eval contracts/acme/rules --record` records answers that it needs."
)]
pub(super) struct CanPublishArgs {
    /// Also hold the package to the contracts of the project in this folder; may be repeated
    #[arg(long, value_name = "PATH")]
    consumer: Vec<PathBuf>,
    /// Publish although contracts of this consumer are broken, and log it
    #[arg(long, value_name = "CONSUMER", requires = "reason")]
    accept: Option<String>,
    /// The reason for --accept
    #[arg(long, value_name = "WHY", requires = "accept")]
    reason: Option<String>,
}

/// Runs the subcommand.
pub(super) fn run_can_publish(args: &CanPublishArgs, cx: &mut Cx) -> Result<Exit> {
    let project = CompiledProject::load(cx)?;
    require_no_errors(&project.root, cx)?;
    let listed = ConsumerSource::of_project(&project.config, &project.root)?;
    let extra = args
        .consumer
        .iter()
        .cloned()
        .map(ConsumerSource::from_folder);
    let consumers: Vec<_> = listed.iter().cloned().chain(extra).collect();
    require_committed_matrix(&project)?;
    let mut known = read_matrix(&project)?;
    let names: Vec<String> = consumers.iter().map(ConsumerSource::name).collect();
    if consumers.is_empty() {
        let gone = known.remove_unlisted(&names);
        if !gone.is_empty() {
            write_file(&project.root, MATRIX_FILE, &print_lines(known.rows()), cx)?;
            print_removed(&gone, cx)?;
        }
        return Err(
            CliError::new(CliErrorKind::NothingSelected, "the package has no consumer").with_hint(
                "name one with `[[package.consumers]]` in ctxc.toml, or with --consumer PATH",
            ),
        );
    }
    let consumers = ConsumerSource::require_distinct_names(consumers)?;
    let accepters = own_accepters(&project)?;
    let mut accepted = read_acceptances(&project)?;
    accepted.retain(|one| accepters.may_accept(&one.by));
    let versions = KnownVersions {
        matrix: &known,
        revision: "HEAD",
    };
    let package = &require_package(&project.config)?.name.value;
    // One that cannot be read hides no verdict on the others.
    let mut failures = Vec::new();
    let read = consumers.iter().map(|consumer| consumer.read(package));
    let read: Vec<_> = read
        .filter_map(|found| found.map_err(|why| failures.push(why)).ok())
        .map(Ok)
        .collect();
    let mut report = check_consumers(&project, read, versions, cx)?;
    for row in &mut report.rows {
        row.is_extra = listed.iter().all(|own| own.name() != row.consumer);
    }
    if let (Some(consumer), Some(reason)) = (&args.accept, &args.reason) {
        let broken = broken_rows(&report, consumer, reason)?;
        let new = broken.filter(|row| find_acceptance(&accepted, row).is_none());
        let new: Vec<&MatrixRow> = new.collect();
        if new.is_empty() {
            cx.print_note("each break was accepted before: no line is added");
        } else {
            let new = accept_breaks(&new, &project.root, &accepters, reason)?;
            // A log: earlier lines stay as they are.
            let mut log = project.files().text(ACCEPTED_FILE).unwrap_or_default();
            if !log.is_empty() && !log.ends_with('\n') {
                log.push('\n');
            }
            let log = log + &print_lines(&new);
            write_file(&project.root, ACCEPTED_FILE, &log, cx)?;
            accepted.extend(new);
        }
    }
    // A consumer with a misspelt source keeps its rows.
    let gone = if report.is_edited_release || !failures.is_empty() {
        BTreeSet::new()
    } else {
        known.remove_unlisted(&names)
    };
    let matrix = known.with_rows(&report.version, &report.consumers, &report.rows);
    if !report.is_edited_release && matrix != project.files().text(MATRIX_FILE).unwrap_or_default()
    {
        write_file(&project.root, MATRIX_FILE, &matrix, cx)?;
    }
    print_removed(&gone, cx)?;
    for row in known.find_gone(&report.consumers, &report.rows) {
        let (name, consumer, file) = (quote_contract(row), &row.consumer, &row.file);
        let passed = row.passed.as_deref().unwrap_or_default();
        let line = format!(
            "gone: {name} of {consumer} in {file}, which {passed} kept; {MATRIX_FILE} keeps its row"
        );
        cx.print_hanging(&escape_line(&line), 4)?;
    }
    print_report(&report, &accepted, cx)?;
    let mut broken = report.rows.iter().filter(|row| {
        row.verdict == ContractVerdict::Broken && find_acceptance(&accepted, row).is_none()
    });
    for failure in &failures {
        cx.print_line(&escape_line(&format!("not read: {}", failure.message)))?;
    }
    if let Some(first) = broken.next() {
        let next = if first.is_of_file() && broken.all(MatrixRow::is_of_file) {
            "ask the authors of the file to mend it"
        } else {
            "restore what the contract expects, or agree on another contract with its authors"
        };
        cx.print_note(&format!(
            "{next}; `--accept CONSUMER --reason WHY` publishes all the same"
        ));
        return Ok(Exit::Gate);
    }
    print_breaks(&project, &known.versions(), cx)?;
    if let Some(failure) = failures.into_iter().next() {
        return Err(failure);
    }
    let is_undecided = |verdict| verdict == ContractVerdict::Undecided;
    if report.rows.iter().any(|row| is_undecided(row.verdict)) {
        return Ok(Exit::Stale);
    }
    Ok(Exit::Success)
}

/// Prints the changes since the last release that may break users of what no contract is about.
fn print_breaks(project: &CompiledProject, versions: &[String], cx: &mut Cx) -> Result<()> {
    let now = project_surface(project)?;
    let Some(since) = ChangesSince::find(project, versions, None, &now) else {
        return Ok(());
    };
    let breaks = since.changes.iter().filter(|change| change.is_breaking);
    let breaks: Vec<&SurfaceChange> = breaks.collect();
    let Some(first) = breaks.first() else {
        return Ok(());
    };
    let (release, count) = (&since.revision, pluralize(breaks.len(), "change"));
    let line = format!(
        "{count} since {release} may break users, with or without a contract, first {}: {}; `ctxc package diff` lists them",
        first.export, first.what
    );
    cx.print_hanging(&escape_line(&line), 4)
}

/// Prints the consumers whose rows were removed.
fn print_removed(gone: &BTreeSet<String>, cx: &mut Cx) -> Result<()> {
    if gone.is_empty() {
        return Ok(());
    }
    let gone = list_first(gone.iter().map(String::as_str));
    cx.print_line(&escape_line(&format!(
        "no consumer any more, and removed from {MATRIX_FILE}: {gone}"
    )))
}

/// Returns the broken contracts of a consumer.
///
/// # Errors
/// There is none, or the reason for their acceptance is empty.
fn broken_rows<'r>(
    report: &'r ContractReport,
    consumer: &str,
    reason: &str,
) -> Result<impl Iterator<Item = &'r MatrixRow>> {
    if reason.trim().is_empty() {
        return Err(CliError::usage("--reason is empty")
            .with_hint("say in a few words why the package is published against the contract"));
    }
    let of = |verdict| {
        let rows = report.rows.iter();
        rows.filter(move |row| row.consumer == consumer && row.verdict == verdict)
    };
    if of(ContractVerdict::Broken).next().is_some() {
        return Ok(of(ContractVerdict::Broken));
    }
    let error = CliError::usage(format!(
        "no contract of `{consumer}` is broken: nothing to accept"
    ));
    let open = of(ContractVerdict::Undecided);
    Err(open.fold(error, |error, row| {
        let (name, why) = (quote_contract(row), &row.reason);
        error.with_hint(escape_line(&format!(
            "{name} is undecided, which only an answer decides: {why}"
        )))
    }))
}

/// Returns the acceptance of each broken contract.
fn accept_breaks(
    broken: &[&MatrixRow],
    root: &Path,
    accepters: &Accepters,
    reason: &str,
) -> Result<Vec<AcceptedBreak>> {
    let by = revision::author_address(root)?.ok_or_else(|| {
        CliError::usage("git does not know your e-mail address")
            .with_hint("set one with `git config user.email`")
    })?;
    if !accepters.may_accept(&by) {
        let names = accepters.list_names();
        return Err(CliError::usage(format!(
            "{by} may accept no broken contract: the `accepters` of {PROJECT_FILE} are {names}"
        ))
        .with_hint("ask one of them to accept it"));
    }
    let at = date::format_time(fs::timestamp_seconds());
    let accept = |row: &&MatrixRow| AcceptedBreak {
        schema: CONTRACT_ACCEPTANCE.to_owned(),
        consumer: row.consumer.clone(),
        contract: row.contract.clone(),
        hash: row.hash.clone(),
        version: row.version.clone(),
        passed: row.passed.clone(),
        fault: row.reason.clone(),
        at: at.clone(),
        by: by.clone(),
        reason: reason.to_owned(),
    };
    Ok(broken.iter().map(accept).collect())
}

/// Writes a file of the project.
fn write_file(root: &Path, name: &str, text: &str, cx: &Cx) -> Result<()> {
    let checked = SecretCheck::new(&cx.options, root).check_files([NewFile { name, text }])?;
    overwrite::reject_links(root, name)?;
    rewrite::create_file(&root.join(name), text, checked)
}
