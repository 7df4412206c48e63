//! `ctxc eval`: chooses scenarios, compares them with earlier results, runs them and prints the
//! results. The exit code is that of the most severe verdict.

use super::accept::{RequestAcceptance, StdoutUse};
use super::accepted::{AcceptedResults, RunCoverage};
use super::args::{EvalArgs, EvalFormat, PassRule, Shard};
use super::choose::{EvalRun, RunOptions, RunSetup, StoredCase, needs_judge};
use super::journal::{EvalJournal, RunStart, SelectionOptions};
use super::live_calls::{AnswerStorage, LiveModels};
use super::load::{BrokenFile, CachedFiles, ChosenCase, Scenarios};
use super::page::{PageDetails, RunHistory};
use super::plan::PlanOptions;
use super::progress::EvalProgress;
use super::rescore::EarlierRun;
use super::runnable::RunnableCommands;
use super::{choose, coverage, journal, junit, mutate, page, plan, progress, scorecard_text};
use crate::base::fs;
use crate::cli::compaction::SESSION_TEXT_NOTE;
use crate::cli::context::contracts::{
    BrokenContract, ContractJudgements, ContractOwner, judge_contract_files,
};
use crate::cli::context::lookup::ProjectLookup;
use crate::cli::context::models::ProjectCounters;
use crate::cli::context::project::{CompiledProject, path_in_project};
use crate::cli::context::trust;
use crate::cli::cx::Cx;
use crate::cli::error::{CliError, CliErrorKind, Result};
use crate::cli::exit::Exit;
use crate::cli::interrupt;
use crate::cli::render::summary::pluralize;
use crate::cli::rewrite::RewriteMode;
use crate::cli::secret_check::SecretCheck;
use crate::context::lines::Lines;
use crate::context::request::Files;
use crate::eval::affected::RunChoice;
use crate::eval::answer_source::{AnswerOptions, AnswersFrom, ModelCaller};
use crate::eval::case_result::CaseVerdict;
use crate::eval::compaction::session_point::session_path;
use crate::eval::locate::Locator;
use crate::eval::mutate::MutationScores;
use crate::eval::receiver::resolve_receiver;
use crate::eval::scorecard::{CaseRow, RowSubject, Scorecard, SuiteRow};
use crate::project::config::RecordedContent;
use crate::project::eval::StalePolicy;
use crate::project::packages::{contract_package, may_hold_contracts};
use crate::provider::endpoint::ProviderAddress;
use crate::provider::limiter::MAX_CALLS;
use crate::provider::spending::SpendLimit;
use crate::record::volatile::VolatileParts;
use crate::registry::scenarios::Refusals;
use crate::rules::check::is_error;
use crate::scenario::paths;
use serde::Serialize;
use std::collections::BTreeSet;
use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};

/// Loads the project, with the roles that contracts are about.
fn load_with_roles(args: &EvalArgs, cx: &Cx) -> Result<CompiledProject> {
    let mut project = CompiledProject::load_or_empty(cx)?;
    let place = |path: &String| path_in_project(&project.root, Path::new(path));
    let mut places = args.what.iter().filter_map(place);
    if places.any(|place| may_hold_contracts(&place)) {
        project.config.add_exported_roles();
    }
    Ok(project)
}

/// Reads the scenarios, with the reasons why some are not run: errors, and packages in use that break
/// a contract. A contract that holds whatever is answered needs no answer.
fn read_scenarios(
    args: &EvalArgs,
    project: &CompiledProject,
    rule: Option<PassRule>,
) -> Result<(Scenarios, Refusals)> {
    let mut scenarios = Scenarios::read(project, &args.what)?.with_rule(rule);
    let contracts = scenarios.files.iter();
    let contracts = contracts.filter(|file| contract_package(&file.path).is_some());
    let owner = ContractOwner {
        root: &project.root,
        config: &project.config,
    };
    let ContractJudgements {
        broken,
        certain_cases,
    } = judge_contract_files(owner, contracts);
    if !args.record && !args.coverage {
        scenarios.leave_answers_out(&certain_cases);
    }
    let mut refusals = scenarios.refusals(project);
    for BrokenContract { case, finding } in broken {
        if is_error(&finding) {
            let why = format!("{}: {}", finding.rule.name, finding.message);
            refusals.add_reason(&finding.path, &case, why);
        }
    }
    Ok((scenarios, refusals))
}

/// Runs the verb.
pub(crate) fn run_eval(args: &EvalArgs, cx: &mut Cx) -> Result<Exit> {
    let limit = args.spend_limit()?;
    let mut project = load_with_roles(args, cx)?;
    let has_packages = project.config.packages.iter().next().is_some();
    if project.is_empty && !has_packages && !Scenarios::read(&project, &args.what)?.have_requests()
    {
        // Requests of other programs need no templates.
        project = if args.allow_empty {
            project
        } else {
            project.require_templates("this project")?
        };
        return emit_empty(args, &project, cx);
    }
    let (rule, from) = (args.trial_rule()?, args.answers_from());
    let (scenarios, refusals) = read_scenarios(args, &project, rule)?;
    let chosen = scenarios.choose_cases(args, &project.config)?;
    let broken = scenarios.broken_files(&project);
    if args.coverage {
        return print_coverage(args, &project, &chosen, &scenarios, cx);
    }
    // A shard may be empty; its scorecard is merged with the others.
    if chosen.is_empty() && broken.is_empty() && args.shard.is_none() {
        return if args.allow_empty {
            emit_empty(args, &project, cx)
        } else {
            Err(no_scenario_error(args, &project))
        };
    }
    let asking = live_models(args, &project, limit, cx)?;
    let files = CachedFiles::new(project.files());
    let counters = ProjectCounters::new(&project.config, None)?;
    let rows = args.trial_policy();
    let index = ProjectLookup::new(&project, &args.cache);
    let mut eval_run = EvalRun::new(RunSetup {
        project: &project,
        chosen: &chosen,
        files: &files,
        frozen: &files,
        counters: &counters,
        trials: rows,
        from,
    });
    let accepted = args
        .baseline
        .as_deref()
        .map(AcceptedResults::read)
        .transpose()?;
    let earlier = args
        .rescore
        .as_deref()
        .map(|name| EarlierRun::read(&project, name))
        .transpose()?;
    (eval_run.session, eval_run.earlier, eval_run.index) =
        (&args.session, earlier.as_ref(), Some(&index));
    eval_run.refusals = refusals;
    let checked = || chosen.iter().filter(|_| !args.plan);
    let runnable = RunnableCommands::collect(&project, checked(), &args.trust)?;
    if let Some(note) = runnable.unpermitted_note() {
        cx.print_note(&note);
    }
    let eval_run = eval_run.with_answers(AnswerOptions {
        ask: asking.as_ref().map(|asking| -> &dyn ModelCaller { asking }),
        config: Some(&project.config),
        confirms: args.confirm || args.baseline.is_some(),
        estimates_only: args.plan,
        retains_messages: needs_page(args),
        ..runnable.answer_options()
    });
    let lines = || project.text_lines(&project.definition_paths());
    let locator = new_locator(&scenarios, &files, &lines);
    if args.mutate {
        return print_mutations(args, &eval_run, &broken, cx);
    }
    if args.plan {
        return print_plan(args, &eval_run, &locator, cx);
    }
    let mut choices = choose::run_choices(args, &project, &eval_run, cx)?;
    let is_run = |choice: &RunChoice| *choice == RunChoice::Run;
    let planned = choices.iter().filter(|choice| is_run(choice)).count();
    let private = private_cases(&chosen, &files);
    let journal = (!args.no_history && earlier.is_none() && planned > 0).then(|| {
        let options = SelectionOptions {
            from,
            trials: rows,
            rule,
        };
        let start = RunStart {
            record: journal::new_record(&project, &chosen, options, planned),
            resumed_name: args.resume.as_deref(),
            has_commands: runnable.has_commands(),
            private: private.clone(),
        };
        EvalJournal::begin(&project, asking.as_ref(), start)
    });
    let journal = journal.transpose()?;
    if journal.is_some() && cx.options.prints_notes() {
        interrupt::add_exit_handler(print_resume_hint);
    }
    let mut eval_run = eval_run.with_journal(journal.as_ref());
    let resumed = journal.as_ref().and_then(|journal| {
        journal.carry_finished(&mut choices, || eval_run.result_keys(cx.options.threads))
    });
    if args.resume.is_some() {
        cx.print_note(&resumed.unwrap_or_else(|| {
            "no interrupted run of these scenarios: starting a new one".to_owned()
        }));
    }
    let which: Vec<bool> = choices.iter().map(is_run).collect();
    let options = run_options(args, asking.as_ref(), cx);
    let finished = match asking.as_ref().filter(|_| cx.options.prints_notes()) {
        Some(asking) => progress::with_progress(
            || current_progress(planned, &eval_run, asking),
            || eval_run.run_cases(&which, &locator, options),
        ),
        None => eval_run.run_cases(&which, &locator, options),
    };
    let mut results = RunResults { choices, finished };
    leave_out_unrun(&mut results, cx);
    let accepted_requests = requested_acceptance(args)
        .map(|acceptance| {
            acceptance.accept_requests(&mut eval_run, &locator, &mut results.finished, cx)
        })
        .transpose()?
        .unwrap_or_default();
    let kept = journal.as_ref().map_or(Ok(()), EvalJournal::end_run);
    index.note_index(cx);
    note_answers(&chosen, from, asking.as_ref(), cx);
    if let Some(earlier) = &earlier {
        let done = results.finished.iter_mut().flatten();
        earlier.note_rescored(done.map(|done| &mut *done.row), cx);
    }
    let history = if !args.no_history && kept.is_ok() {
        RunHistory::Stored
    } else {
        RunHistory::Absent
    };
    let details = if needs_page(args) {
        PageDetails::collect(&eval_run, &results.finished, history)
    } else {
        PageDetails::default()
    };
    let card = build_scorecard(&eval_run, &scenarios, &locator, results);
    let card = complete_scorecard(card, args, asking.as_ref(), accepted);
    cx.emit_result(&args.result_outputs(), |format, cx| match format {
        EvalFormat::Text => scorecard_text::print_cases(&card, cx),
        EvalFormat::Json | EvalFormat::Junit | EvalFormat::Markdown | EvalFormat::Html => {
            ScorecardReport {
                card: &card,
                stale: project.config.eval.stale,
                details: &details,
            }
            .write(format, cx)
        }
    })?;
    note_session_text(args, &private, cx);
    accepted_requests.store_requests(&project.root, cx)?;
    if !is_narrow(args) && broken.is_empty() {
        note_unused(&project, &scenarios, eval_run.comparison.volatile(), cx);
    }
    report_unsaved(kept, &project, cx)?;
    let is_refused = |row: &CaseRow| {
        eval_run.refusals.reason_for(&row.path, &row.id).is_some()
            || broken.iter().any(|broken| *broken.file.path == row.id)
    };
    Ok(exit_code(
        worst_exit(&card, project.config.eval.stale, &is_refused).graver_of(threshold_exit(&card)),
        from,
        &project,
        cx,
    ))
}

/// Notes that the files that the command line names have words of sessions.
fn note_session_text(args: &EvalArgs, private: &BTreeSet<String>, cx: &mut Cx) {
    if !private.is_empty() && args.result_outputs().names_file() {
        cx.print_note(SESSION_TEXT_NOTE);
    }
}

/// Returns the names of the cases about sessions that are not in the project.
fn private_cases(chosen: &[ChosenCase<'_>], files: &dyn Files) -> BTreeSet<String> {
    let is_private = |one: &&ChosenCase<'_>| {
        let subject = one.case.subject.value.compaction();
        subject.is_some_and(|subject| {
            let path = paths::resolve_beside(one.path, &session_path(&subject.session.value));
            path.is_none_or(|path| files.text(&path).is_err())
        })
    };
    let private = chosen.iter().filter(is_private);
    private.map(|one| one.case.name.value.clone()).collect()
}

fn print_coverage(
    args: &EvalArgs,
    project: &CompiledProject,
    chosen: &[ChosenCase<'_>],
    scenarios: &Scenarios,
    cx: &mut Cx,
) -> Result<Exit> {
    let document = coverage::build_report(project, chosen, &scenarios.refusals(project))?;
    let print = |cx: &mut Cx| coverage::print_report(&document, cx);
    emit_report(args, &document, print, cx).map(|()| Exit::Success)
}

/// Returns the options of the threads. A run that calls models mostly waits.
fn run_options(args: &EvalArgs, asking: Option<&LiveModels<'_>>, cx: &Cx) -> RunOptions {
    let callers = args
        .jobs
        .or(NonZeroUsize::new(MAX_CALLS))
        .filter(|_| asking.is_some());
    RunOptions {
        threads: callers.or(cx.options.threads),
        fails_fast: args.fail_fast,
    }
}

/// Returns the acceptance that the arguments request; `None` without one.
fn requested_acceptance(args: &EvalArgs) -> Option<RequestAcceptance> {
    let stdout = if args.output.format.result_format() == EvalFormat::Text {
        StdoutUse::Differences
    } else {
        StdoutUse::Document
    };
    let mode = if args.diff {
        RewriteMode::Diff
    } else {
        RewriteMode::Write
    };
    (args.accept || args.diff).then_some(RequestAcceptance { stdout, mode })
}

/// Returns the exit code of a run. A run with live answers only informs, unless the project limits
/// their variation.
fn exit_code(exit: Exit, from: AnswersFrom, project: &CompiledProject, cx: &mut Cx) -> Exit {
    let informs = from == AnswersFrom::Live && project.config.eval.stability.is_none();
    if !informs || !matches!(exit, Exit::Findings | Exit::Inconclusive) {
        return exit;
    }
    cx.print_note("this run only informs: answers of a model differ from run to run, and `[eval.stability]` in ctxc.toml does not say how much they may");
    Exit::Success
}

/// Completes the scorecard with data of the whole run: calls and cost, intervals, the shard, the
/// comparison with accepted results.
fn complete_scorecard(
    card: Scorecard,
    args: &EvalArgs,
    asking: Option<&LiveModels<'_>>,
    accepted: Option<AcceptedResults>,
) -> Scorecard {
    let card = match asking.map(LiveModels::total_usage) {
        Some((calls, spent)) => card.as_real_run(calls, (spent.usd * 1e9).round() / 1e9),
        None => card,
    };
    let card = if args.exact {
        card.with_exact_intervals()
    } else {
        card
    };
    let is_part = is_narrow(args)
        || args.affected
        || args.since.is_some()
        || args.retry_errors
        || args.fail_fast;
    let coverage = if is_part {
        RunCoverage::Some
    } else {
        RunCoverage::All
    };
    let card = match accepted {
        Some(accepted) => accepted.compare_scorecard(card, coverage),
        None => card,
    };
    Scorecard {
        shard: args.shard.map(Shard::number_and_count),
        ..card
    }
}

/// Returns the models to call, if this run may call any.
pub(super) fn live_models<'p>(
    args: &EvalArgs,
    project: &'p CompiledProject,
    limit: SpendLimit,
    cx: &mut Cx,
) -> Result<Option<LiveModels<'p>>> {
    let from = args.answers_from();
    if !from.calls_models() || args.plan {
        return Ok(None);
    }
    trust::require_permission(project, &args.trust, "asking a model")?;
    if from != AnswersFrom::Live && project.config.record.content == RecordedContent::Shape {
        return Err(CliError::usage("answers are not recorded in this project: `[record] content` in ctxc.toml is \"shape\"")
            .with_hint("`--answers live` asks and keeps no words; `content = \"redacted\"` keeps them, without secrets and personal data"));
    }
    let providers: BTreeSet<&str> = project
        .config
        .models
        .values()
        .map(|model| model.provider.value.as_str())
        .collect();
    for name in providers {
        if let Some(ProviderAddress { base_url, .. }) =
            ProviderAddress::resolve(name, &project.config).filter(ProviderAddress::is_unencrypted)
        {
            cx.print_note(&format!(
                "`{name}` is asked at {base_url}, which is not encrypted: anyone on the network path can read requests and keys"
            ));
        }
    }
    let storage = if from == AnswersFrom::Live {
        AnswerStorage::Discard
    } else {
        AnswerStorage::Record
    };
    let asking = LiveModels::new(project, storage, limit, args.jobs)?;
    Ok(Some(asking.with_secret_check(SecretCheck::new(
        &cx.options,
        &project.root,
    ))))
}

/// Returns true if a page is written, which shows conversations.
fn needs_page(args: &EvalArgs) -> bool {
    let output = args.result_outputs();
    output.format.result_format() == EvalFormat::Html
        || output
            .format
            .reports()
            .iter()
            .any(|report| report.format == EvalFormat::Html)
}

/// The choice for each case, and the results of those that were run.
pub(super) struct RunResults {
    pub(super) choices: Vec<RunChoice>,
    pub(super) finished: Vec<Option<StoredCase>>,
}

/// Leaves out the cases after a failure that were not run, and prints a note with their number.
fn leave_out_unrun(results: &mut RunResults, cx: &mut Cx) {
    let behind = results
        .choices
        .iter_mut()
        .zip(&results.finished)
        .filter(|(choice, done)| **choice == RunChoice::Run && done.is_none());
    let count = behind
        .map(|(choice, _)| *choice = RunChoice::LeaveOut)
        .count();
    if count > 0 {
        cx.print_note(&format!(
            "{} after the first that does not pass: not run",
            pluralize(count, "scenario")
        ));
    }
}

/// Prints a note if a run was not stored; an error if the project configures its history.
fn report_unsaved(kept: Result<()>, project: &CompiledProject, cx: &mut Cx) -> Result<()> {
    match kept {
        Err(error) if project.config.history.is_some() => return Err(error),
        Err(error) => cx.print_note(&format!(
            "this run is not stored in the history: {}",
            error.message
        )),
        Ok(()) => {}
    }
    Ok(())
}

/// Prints a hint on an interrupt: finished cases are stored.
fn print_resume_hint() {
    let _ = io::stderr().write_all(
        b"interrupted: what is finished is kept; `ctxc eval --resume` continues with the rest\n",
    );
}

/// Prints notes on the scenarios without a call, and on answers reused from an interrupted run.
fn note_answers(
    chosen: &[ChosenCase<'_>],
    from: AnswersFrom,
    asking: Option<&LiveModels<'_>>,
    cx: &mut Cx,
) {
    if let Some(count @ 1..) = asking.map(LiveModels::resumed_answers) {
        cx.print_note(&format!(
            "reused {} of an interrupted recording; no model was asked again for them",
            pluralize(count, "answer")
        ));
    }
    let unasked = chosen
        .iter()
        .filter(|one| from.calls_models() && one.case.expectations.is_empty())
        .count();
    if unasked > 0 {
        cx.print_note(&format!(
            "{} without `expectations`: no model was asked",
            pluralize(unasked, "scenario")
        ));
    }
}

/// Prints the planned calls, and makes none.
fn print_plan(
    args: &EvalArgs,
    eval_run: &EvalRun<'_>,
    locator: &Mutex<Locator<'_>>,
    cx: &mut Cx,
) -> Result<Exit> {
    let finished = eval_run.run_cases(
        &vec![true; eval_run.chosen.len()],
        locator,
        RunOptions::with_threads(cx.options.threads),
    );
    let options = PlanOptions {
        jobs: args.jobs.map(NonZeroUsize::get),
        confirms: args.confirm,
    };
    let plan = plan::build_plan(eval_run.chosen, &finished, options);
    emit_report(args, &plan, |cx| plan::print_plan(&plan, cx), cx).map(|()| Exit::Success)
}

/// Prints the changes that no scenario notices.
fn print_mutations(
    args: &EvalArgs,
    eval_run: &EvalRun<'_>,
    broken: &[BrokenFile<'_>],
    cx: &mut Cx,
) -> Result<Exit> {
    for BrokenFile { file, reason } in broken {
        cx.print_note(&format!("{}: {reason}", file.path));
    }
    let found = eval_run.mutation_scores(cx.options.threads);
    let failing = found
        .failing
        .iter()
        .cloned()
        .chain(broken.iter().map(|broken| broken.file.path.to_string()));
    let all = MutationScores {
        failing: failing.collect(),
        ..found.clone()
    };
    // A selection of scenarios cannot show the agents that all scenarios leave out.
    let unasked = if is_narrow(args) {
        Vec::new()
    } else {
        mutate::untested_agents(eval_run.project(), &found)?
    };
    emit_report(
        args,
        &all.report(&unasked),
        |cx| mutate::print_report(&found, &unasked, cx),
        cx,
    )?;
    Ok(if found.failing.is_empty() && broken.is_empty() {
        Exit::Success
    } else {
        Exit::Findings
    })
}

/// Prints a report without verdicts: as text or as its JSON document.
fn emit_report(
    args: &EvalArgs,
    document: &impl Serialize,
    print: impl Fn(&mut Cx) -> Result<()>,
    cx: &mut Cx,
) -> Result<()> {
    cx.emit_result(&args.output, |format, cx| match format {
        EvalFormat::Text => print(cx),
        EvalFormat::Json => cx.print_json(document),
        EvalFormat::Junit | EvalFormat::Markdown | EvalFormat::Html => Err(format_error()),
    })
}

/// A scorecard with the data that only its reports need.
pub(super) struct ScorecardReport<'a> {
    pub(super) card: &'a Scorecard,
    pub(super) stale: StalePolicy,
    pub(super) details: &'a PageDetails,
}

impl ScorecardReport<'_> {
    /// Writes the scorecard in a format other than text.
    pub(super) fn write(&self, format: EvalFormat, cx: &mut Cx) -> Result<()> {
        let card = self.card;
        let text = match format {
            EvalFormat::Text | EvalFormat::Json => return cx.print_json(card),
            EvalFormat::Junit => junit::xml_report(card, self.stale),
            EvalFormat::Markdown => page::markdown_comment(card),
            EvalFormat::Html => page::html_page(card, self.details),
        };
        cx.print(|out| out.write_all(text.as_bytes()))
    }
}

fn current_progress(
    planned: usize,
    eval_run: &EvalRun<'_>,
    asking: &LiveModels<'_>,
) -> EvalProgress {
    let (calls, spent) = asking.total_usage();
    EvalProgress {
        done: eval_run.done.load(Ordering::Relaxed),
        planned,
        calls,
        usd: spent.usd,
    }
}

fn format_error() -> CliError {
    CliError::usage(
        "--mutate, --coverage and --plan list no verdicts, and this format is for verdicts",
    )
    .with_hint("take --format text or json")
}

/// Prints the results of no scenario: an empty document for programs, nothing for people.
fn emit_empty(args: &EvalArgs, project: &CompiledProject, cx: &mut Cx) -> Result<Exit> {
    let counters = ProjectCounters::new(&project.config, None)?;
    let card = Scorecard::new(
        project.registry.hash(),
        counters.default_counter().name(),
        Vec::new(),
        Vec::new(),
    );
    let scores = MutationScores {
        scores: Vec::new(),
        failing: Vec::new(),
    };
    cx.emit_result(&args.result_outputs(), |format, cx| match format {
        EvalFormat::Text => Ok(()),
        EvalFormat::Json if args.mutate => cx.print_json(&scores.report(&[])),
        EvalFormat::Junit | EvalFormat::Markdown | EvalFormat::Html if args.mutate => {
            Err(format_error())
        }
        EvalFormat::Json | EvalFormat::Junit | EvalFormat::Markdown | EvalFormat::Html => {
            ScorecardReport {
                card: &card,
                stale: project.config.eval.stale,
                details: &PageDetails::default(),
            }
            .write(format, cx)
        }
    })?;
    Ok(Exit::Success)
}

/// Prints notes on files and settings of the project that this run did not use.
fn note_unused(
    project: &CompiledProject,
    scenarios: &Scenarios,
    volatile: &VolatileParts,
    cx: &mut Cx,
) {
    for (path, what) in obsolete_files(project, scenarios) {
        cx.print_note(&format!("{path} {what}"));
    }
    for part in volatile.unmatched_parts() {
        cx.print_note(&format!(
            "`[requests] volatile` in ctxc.toml leaves out {part}, which no request of this run has"
        ));
    }
}

/// Returns stored requests and recordings without a scenario, such as those of a renamed one, and
/// unfinished recordings; each with advice.
fn obsolete_files(project: &CompiledProject, scenarios: &Scenarios) -> Vec<(String, &'static str)> {
    const REQUEST: &str =
        "is a stored request without a scenario: remove it, or rename it after its scenario";
    const RECORDING: &str =
        "is a recording without a scenario: remove it, or rename it after its scenario";
    const UNFINISHED: &str = "holds answers of an interrupted recording: `ctxc eval --record` continues from them; remove it to start over";
    let mut wanted = BTreeSet::new();
    let mut folders = BTreeSet::new();
    for file in &scenarios.files {
        for beside in [
            paths::snapshot_path(&file.path, "x"),
            paths::recording_path(&file.path, "x"),
            paths::judgement_path(&file.path, "x"),
        ] {
            folders.extend(beside.rsplit_once('/').map(|(folder, _)| folder.to_owned()));
        }
        for case in file.suite.iter().flat_map(|suite| &suite.cases) {
            wanted.extend(
                case.uses_snapshot()
                    .then(|| paths::snapshot_path(&file.path, &case.name.value)),
            );
            wanted.insert(paths::recording_path(&file.path, &case.name.value));
            if needs_judge(case) {
                wanted.insert(paths::judgement_path(&file.path, &case.name.value));
            }
        }
    }
    let of = |name: &str| {
        let ends = |ending: &str| name.strip_suffix(ending).is_some();
        let known = [
            (".json", REQUEST),
            (".txt", REQUEST),
            (".jsonl", RECORDING),
            (".jsonl.part", UNFINISHED),
        ];
        known
            .into_iter()
            .find(|(ending, _)| ends(ending))
            .map(|(_, what)| what)
    };
    let stored = |folder: String| {
        let names = fs::list_names(&project.root.join(&folder)).into_iter();
        names
            .filter_map(move |name| Some((format!("{folder}/{name}"), of(&name)?)))
            .collect::<Vec<_>>()
    };
    folders
        .into_iter()
        .flat_map(stored)
        .filter(|(path, _)| !wanted.contains(path))
        .collect()
}

/// Returns true if only some of the scenarios are requested.
fn is_narrow(args: &EvalArgs) -> bool {
    !(args.what.is_empty() && args.tag.is_empty() && args.role.is_empty())
        || args.filter.is_some()
        || args.shard.is_some()
}

/// Returns the error for an empty selection.
pub(super) fn no_scenario_error(args: &EvalArgs, project: &CompiledProject) -> CliError {
    let error = CliError::new(CliErrorKind::NothingSelected, "no scenario to run");
    let folders = project.config.eval.scenario_roots().join(", ");
    if is_narrow(args) {
        error.with_hint("the arguments select none of the project's scenarios")
    } else {
        error.with_hint(format!("scenarios are YAML files under {folders}/; `ctxc new scenario TASK` writes one from today's render"))
    }
}

/// Returns a locator of places in the files of a project, with the texts of its scenarios.
pub(super) fn new_locator<'l>(
    scenarios: &Scenarios,
    files: &'l CachedFiles<'_>,
    lines: &'l (dyn Fn() -> Lines + Sync),
) -> Mutex<Locator<'l>> {
    let locator = Locator::new(files, lines);
    for file in &scenarios.files {
        locator.add_text(&file.path, &file.text);
    }
    Mutex::new(locator)
}

/// Returns the scorecard of a run.
pub(super) fn build_scorecard(
    eval_run: &EvalRun<'_>,
    scenarios: &Scenarios,
    locator: &Mutex<Locator<'_>>,
    results: RunResults,
) -> Scorecard {
    let project = eval_run.project();
    let RunResults { choices, finished } = results;
    let locator = locator.lock().unwrap_or_else(PoisonError::into_inner);
    let mut rows = Vec::with_capacity(choices.len());
    let mut suites = Vec::new();
    for ((chosen, choice), finished) in eval_run.chosen.iter().zip(choices).zip(finished) {
        let ChosenCase { path, suite, case } = *chosen;
        let receiver = resolve_receiver(case, eval_run.roles()).ok();
        let of = RowSubject {
            path,
            suite: &suite.id.value,
            case,
            receiver,
        };
        let row = match (choice, finished) {
            (RunChoice::LeaveOut, _) => continue,
            (RunChoice::Carry(row), _) => {
                // The place may have changed, unlike the verdict.
                let CaseRow {
                    path,
                    line,
                    suite,
                    tags,
                    ..
                } = CaseRow::unjudged(of, &locator);
                CaseRow {
                    suite,
                    path,
                    line,
                    tags,
                    diff: None,
                    baseline: None,
                    ..*row
                }
            }
            (RunChoice::Run, Some(done)) => *done.row,
            (RunChoice::Run, None) => CaseRow::unjudged(of, &locator),
        };
        rows.push(row);
        suites.push(SuiteRow::from_suite(path, suite));
    }
    rows.extend(
        scenarios
            .broken_files(project)
            .into_iter()
            .map(|broken| CaseRow::unreadable(&broken.file.path, broken.reason)),
    );
    rows.sort_by(|a, b| (&a.path, a.line, &a.id).cmp(&(&b.path, b.line, &b.id)));
    Scorecard::new(project.registry.hash(), eval_run.tokenizer(), suites, rows)
}

/// Returns the exit code of the thresholds of suites.
fn threshold_exit(card: &Scorecard) -> Exit {
    card.thresholds.iter().fold(Exit::Success, |exit, row| {
        exit.graver_of(match row.verdict() {
            CaseVerdict::Pass => Exit::Success,
            CaseVerdict::Fail => Exit::Findings,
            CaseVerdict::Stale | CaseVerdict::Inconclusive | CaseVerdict::Error => {
                Exit::Inconclusive
            }
        })
    })
}

/// Returns the exit code of the rows; a carried verdict counts like a new one.
fn worst_exit(card: &Scorecard, stale: StalePolicy, is_refused: &dyn Fn(&CaseRow) -> bool) -> Exit {
    card.cases.iter().fold(Exit::Success, |exit, row| {
        exit.graver_of(match row.verdict() {
            CaseVerdict::Pass => Exit::Success,
            CaseVerdict::Fail if card.allows_failure_of(row) => Exit::Success,
            CaseVerdict::Fail => Exit::Findings,
            // A finding of `check` is a finding here too.
            CaseVerdict::Error if is_refused(row) => Exit::Findings,
            CaseVerdict::Error => Exit::Infrastructure,
            CaseVerdict::Inconclusive => Exit::Inconclusive,
            CaseVerdict::Stale if stale == StalePolicy::Warn => Exit::Success,
            CaseVerdict::Stale => Exit::Stale,
        })
    })
}
