//! `ctxc baseline`: accepts results and relaxations of a change, and prints accepted results.

use super::args::{AcceptArgs, BaselineArgs, BaselineVerb};
use super::compared::{GateComparison, LOG_FILE, add_baselines, current_baselines};
use super::origin::NewProject;
use crate::base::fs;
use crate::cli::context::eval::{CheckPermissions, CheckRuns, RunSubject, judge_all};
use crate::cli::context::project::CompiledProject;
use crate::cli::context::trust::TrustHashArgs;
use crate::cli::cx::Cx;
use crate::cli::error::{CliError, CliErrorKind, Result};
use crate::cli::exit::Exit;
use crate::cli::render::escape::escape_line;
use crate::cli::render::summary::pluralize;
use crate::cli::rewrite::{self, FileChange};
use crate::cli::secret_check::{NewFile, SecretCheck};
use crate::cli::shared_args::{DataFormat, OutputArgs};
use crate::cli::{overwrite, revision};
use crate::context::request::Files;
use crate::eval::case_result::CaseVerdict;
use crate::eval::gate::{ApprovalEntry, Baseline, Relaxation, SafeguardKind, Safeguards};
use crate::registry::SCHEMA;
use crate::scenario::{date, paths};
use crate::schema::json::names::BASELINE_LOG;
use std::collections::BTreeMap;
use std::path::Path;

/// Runs the verb.
pub(crate) fn run_baseline(args: &BaselineArgs, cx: &mut Cx) -> Result<Exit> {
    match &args.verb {
        BaselineVerb::Accept(args) => accept_results(args, AcceptScope::Any, cx),
        BaselineVerb::Migrate(args) => accept_results(args, AcceptScope::OtherModel, cx),
        BaselineVerb::Show(output) => show_baselines(output, cx),
        BaselineVerb::Log(output) => show_log(output, cx),
    }
}

/// The results that are accepted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AcceptScope {
    Any,
    /// Results of another provider or model, if none is worse.
    OtherModel,
}

fn accept_results(args: &AcceptArgs, whose: AcceptScope, cx: &mut Cx) -> Result<Exit> {
    if args.reason.trim().is_empty() {
        return Err(CliError::usage("--reason is empty")
            .with_hint("say in a few words why these results are right"));
    }
    let compared = GateComparison::new(args.base.as_deref(), NewProject::Permitted, cx)?;
    // Without a base, the relaxations of the change are unknown.
    if compared.base.commit.is_empty() {
        return Err(CliError::usage(compared.base.doubts.join("; ")));
    }
    let root = &compared.project.root;
    let by = match &args.by {
        Some(by) => by.clone(),
        None => revision::author_address(root)?.ok_or_else(|| {
            CliError::usage("git does not know your e-mail address")
                .with_hint("set one with `git config user.email`, or say who accepts with --by")
        })?,
    };
    if !compared.accepters.may_accept(&by) {
        let (base, names) = (&compared.base.name, compared.accepters.list_names());
        cx.print_note(&format!(
            "`ctxc gate` will not count what {by} accepts: the `accepters` of {base} are {names}"
        ));
    }
    let card = match &args.candidate {
        Some(path) => compared.read_candidate(path, &[], &TrustHashArgs::default(), cx)?,
        None => judge_all(
            RunSubject::of_project(&compared.project, &compared.scenarios),
            CheckPermissions {
                trust: &TrustHashArgs::default(),
                runs: &CheckRuns::default(),
            },
            cx,
        )?,
    };
    let refused = |why: crate::eval::gate::BaselineFault| {
        CliError::new(CliErrorKind::Findings, why.to_string())
            .with_hint("`ctxc eval` shows why; `ctxc eval --record` answers it anew")
    };
    let (new, undecided) =
        Baseline::from_scorecard(&card, SCHEMA, &compared.baselines.values()).map_err(refused)?;
    let new: BTreeMap<String, Baseline> = new
        .into_iter()
        .map(|one| (paths::baseline_path(&one.suite), one))
        .collect();
    if whose == AcceptScope::OtherModel {
        check_migration(&compared.baselines, &new)?;
    }
    for fault in undecided {
        cx.print_note(&format!(
            "warning: {}: the rest is accepted without it; `ctxc eval` shows why",
            escape_line(&fault.to_string())
        ));
    }
    let at = date::format_time(i64::try_from(fs::now_nanos() / 1_000_000_000).unwrap_or(0));
    let accepted = unaccepted_relaxations(&compared, &new);
    let line = ApprovalEntry {
        schema: BASELINE_LOG.to_owned(),
        at,
        by,
        reason: args.reason.clone(),
        accepted,
    };
    // Written after the results, and checked before them.
    SecretCheck::new(&cx.options, root).check_files([NewFile {
        name: LOG_FILE,
        text: &line.to_line(),
    }])?;
    let written = write_baselines(root, &compared.baselines, &new, cx)?;
    if line.accepted.is_empty() && written == 0 {
        cx.print_note(
            "these results are the accepted ones, and nothing is loosened: nothing to accept",
        );
        if compared.project.config.workspace.is_some() {
            cx.print_note("this is about the workspace itself: `--member NAME` accepts for one of its projects");
        }
        return Ok(Exit::Success);
    }
    overwrite::reject_links(root, LOG_FILE)?;
    let path = root.join(LOG_FILE);
    let is_whole = |last: &[u8]| serde_json::from_slice::<ApprovalEntry>(last).is_ok();
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|err| CliError::write_failed(folder, &err))?;
    }
    fs::append_line(&path, line.to_line().as_bytes(), is_whole)
        .map_err(|err| CliError::write_failed(&path, &err))?;
    for one in &line.accepted {
        cx.print_hanging(
            &format!(
                "accepted: {} of `{}`: {}",
                one.kind.word(),
                escape_line(&one.of),
                escape_line(&one.what)
            ),
            4,
        )?;
    }
    for case in new
        .values()
        .flat_map(|baseline| &baseline.cases)
        .filter(|case| case.verdict != CaseVerdict::Pass.word())
    {
        let tried = if case.trials == 0 {
            String::new()
        } else {
            format!(" ({} of {} trials pass)", case.passed, case.trials)
        };
        cx.print_note(&format!(
            "warning: `{}` fails{tried}, and is accepted like that: the gate allows it from now on; `ctxc eval` shows why",
            escape_line(&case.id)
        ));
    }
    cx.print_note(&format!(
        "{} written, 1 line added to {LOG_FILE}: commit them with the change",
        pluralize(written, "baseline")
    ));
    Ok(Exit::Success)
}

/// Returns the relaxations of the change that are not accepted yet, including those of its accepted
/// results.
fn unaccepted_relaxations(
    compared: &GateComparison,
    new: &BTreeMap<String, Baseline>,
) -> Vec<Relaxation> {
    // A changed log cannot be accepted, and the results are the ones just written.
    let rest = compared
        .relaxations
        .iter()
        .map(|one| &one.weakened)
        .filter(|weakened| weakened.kind != SafeguardKind::Baseline);
    let (mut before, mut after) = (Safeguards::default(), Safeguards::default());
    add_baselines(compared.reference_baselines(new), &mut before);
    add_baselines(new, &mut after);
    let results = before
        .find_relaxations(&after)
        .into_iter()
        .map(|one| one.weakened);
    let mut accepted: Vec<Relaxation> = rest.cloned().chain(results).collect();
    accepted.retain(|weakened| {
        compared
            .approvals
            .acceptance_of(weakened, &compared.accepters)
            .is_none()
    });
    accepted.sort();
    accepted
}

/// Writes the baselines that differ, and removes those of removed suites. Returns the number of
/// changes.
fn write_baselines(
    root: &Path,
    old: &BTreeMap<String, Baseline>,
    new: &BTreeMap<String, Baseline>,
    cx: &mut Cx,
) -> Result<usize> {
    let mut changed = 0;
    let moved = || {
        new.iter()
            .filter(|(path, baseline)| old.get(*path) != Some(baseline))
    };
    let texts: Vec<(&str, String)> = moved()
        .map(|(path, baseline)| (path.as_str(), baseline.json()))
        .collect();
    let checked = SecretCheck::new(&cx.options, root)
        .check_files(texts.iter().map(|(name, text)| NewFile { name, text }))?;
    for (path, baseline) in moved() {
        overwrite::reject_links(root, path)?;
        let place = root.join(path);
        match old.get(path) {
            None => rewrite::create_file(&place, &baseline.json(), checked)?,
            Some(before) => {
                let (before, after) = (before.json(), baseline.json());
                let change = FileChange {
                    name: path,
                    path: &place,
                    before: before.as_bytes(),
                    after: after.as_bytes(),
                };
                if rewrite::write_checked(&change, checked)? == rewrite::RewriteOutcome::Overtaken {
                    return Err(CliError::usage(format!(
                        "{path} was changed meanwhile, so it was left alone"
                    )));
                }
            }
        }
        changed += 1;
    }
    for path in old.keys().filter(|path| !new.contains_key(*path)) {
        overwrite::reject_links(root, path)?;
        fs::remove_file(&root.join(path))
            .map_err(|err| CliError::write_failed(&root.join(path), &err))?;
        cx.print_note(&format!("removed {path}: its suite is gone"));
        changed += 1;
    }
    Ok(changed)
}

/// Returns an error if no result is of another model, or if a scenario that passed fails with it.
fn check_migration(
    old: &BTreeMap<String, Baseline>,
    new: &BTreeMap<String, Baseline>,
) -> Result<()> {
    let all = |baselines: &BTreeMap<String, Baseline>| {
        let cases = baselines
            .values()
            .flat_map(|baseline| baseline.cases.clone());
        cases
            .map(|case| (case.id.clone(), case))
            .collect::<BTreeMap<_, _>>()
    };
    let (old, new) = (all(old), all(new));
    let both = || {
        old.iter()
            .filter_map(|(id, before)| Some((id, before, new.get(id)?)))
    };
    if !both().any(|(_, before, after)| {
        (&before.provider, &before.model) != (&after.provider, &after.model)
    }) {
        return Err(
            CliError::usage("no scenario has another provider or model than was accepted")
                .with_hint("`ctxc baseline accept` accepts results of the same model"),
        );
    }
    let worse: Vec<&str> = both()
        .filter(|(_, a, b)| a.verdict == "pass" && b.verdict != "pass")
        .map(|(id, ..)| id.as_str())
        .collect();
    let better = both()
        .filter(|(_, a, b)| a.verdict != "pass" && b.verdict == "pass")
        .count();
    if worse.is_empty() {
        return Ok(());
    }
    let message = format!(
        "{} that passed {} with the other model, {better} the other way round: {}",
        pluralize(worse.len(), "scenario"),
        if worse.len() == 1 { "fails" } else { "fail" },
        worse.join(", ")
    );
    Err(CliError::new(CliErrorKind::Findings, message)
        .with_hint("`ctxc baseline accept --reason WHY` accepts them as they are"))
}

fn show_baselines(output: &OutputArgs<DataFormat>, cx: &mut Cx) -> Result<Exit> {
    let project = CompiledProject::load_or_empty(cx)?;
    let known = current_baselines(&project)?;
    if known.is_empty() {
        return Err(CliError::new(
            CliErrorKind::NothingSelected,
            "no results were accepted yet",
        )
        .with_hint("`ctxc baseline accept --reason WHY` does"));
    }
    cx.emit_result(output, |format, cx| match format {
        DataFormat::Json => cx.print_json(&known.values().collect::<Vec<_>>()),
        DataFormat::Text => known
            .values()
            .flat_map(|baseline| &baseline.cases)
            .try_for_each(|case| {
                let trials = if case.trials == 0 {
                    "context only".to_owned()
                } else {
                    format!("{} of {}", case.passed, case.trials)
                };
                let model = case.model.as_deref().unwrap_or("no model");
                cx.print_line(&escape_line(&format!(
                    "{}  {}  {trials}  {model}",
                    case.id, case.verdict
                )))
            }),
    })?;
    Ok(Exit::Success)
}

fn show_log(output: &OutputArgs<DataFormat>, cx: &mut Cx) -> Result<Exit> {
    let project = CompiledProject::load_or_empty(cx)?;
    let text = project.files().text(LOG_FILE).unwrap_or_default();
    let read = |line: &str| serde_json::from_str::<ApprovalEntry>(line);
    let lines: std::result::Result<Vec<ApprovalEntry>, _> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(read)
        .collect();
    let lines = lines.map_err(|why| {
        CliError::new(
            CliErrorKind::Infrastructure,
            format!("{LOG_FILE} cannot be read: {why}"),
        )
    })?;
    if lines.is_empty() {
        return Err(
            CliError::new(CliErrorKind::NothingSelected, "nothing was accepted yet")
                .with_hint("`ctxc baseline accept --reason WHY` does"),
        );
    }
    cx.emit_result(output, |format, cx| match format {
        DataFormat::Json => cx.print_json(&lines),
        DataFormat::Text => lines.iter().try_for_each(|line| {
            cx.print_line(&escape_line(&format!(
                "{}  {}  {}",
                line.at, line.by, line.reason
            )))?;
            line.accepted.iter().try_for_each(|one| {
                cx.print_hanging(
                    &escape_line(&format!(
                        "  {} of `{}`: {}",
                        one.kind.word(),
                        one.of,
                        one.what
                    )),
                    4,
                )
            })
        }),
    })?;
    Ok(Exit::Success)
}
