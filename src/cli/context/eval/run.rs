//! `ctxc eval`: chooses scenarios, compares them with earlier results, runs them and prints the
//! results. The exit code is that of the most severe verdict.

use super::accept::{self, Shown};
use super::accepted::Accepted;
use super::args::{EvalArgs, EvalFormat, Shard};
use super::asking::Asking;
use super::choose::{self, Done, EvalRun};
use super::journal::{self, Journal};
use super::load::{CachedFiles, Chosen, Scenarios};
use super::page_details::PageDetails;
use super::progress::{self, Progress};
use super::rescore::Earlier;
use super::runnable::Runnable;
use super::{coverage, junit, mutate, page, plan, text};
use crate::base::fs;
use crate::cli::context::lookup::Lookup;
use crate::cli::context::models::Counters;
use crate::cli::context::project::Compiled;
use crate::cli::context::trust;
use crate::cli::cx::Cx;
use crate::cli::error::{CliError, Kind, Result};
use crate::cli::exit::Exit;
use crate::cli::interrupt;
use crate::cli::render::summary::plural;
use crate::cli::rewrite::Output;
use crate::cli::secret_check::SecretCheck;
use crate::context::lines::Lines;
use crate::eval::affected::Choice;
use crate::eval::asked::{AnswersFrom, Ask, RunAnswers};
use crate::eval::finished::CaseVerdict;
use crate::eval::locate::Locator;
use crate::eval::mutate::Scores;
use crate::eval::receiver::receiver;
use crate::eval::scorecard::{CaseRow, Of, Scorecard, SuiteRow};
use crate::eval::trials::Rows;
use crate::project::config::Content;
use crate::project::eval::Stale;
use crate::provider::endpoint::Address;
use crate::provider::limiter::CEILING;
use crate::provider::spending::SpendLimit;
use crate::record::volatile::Volatile;
use crate::scenario::load::Loaded;
use crate::scenario::paths;
use serde::Serialize;
use std::collections::BTreeSet;
use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};

/// Runs the verb.
pub(crate) fn run(args: &EvalArgs, cx: &mut Cx) -> Result<Exit> {
    let most = args.budget()?;
    let mut project = Compiled::load_or_empty(cx)?;
    if project.is_empty && !Scenarios::read(&project, &args.what)?.are_of_requests() {
        // Requests of other programs need no templates.
        project = if args.allow_empty {
            project
        } else {
            project.filled("this project")?
        };
        return empty(args, &project, cx);
    }
    let (rule, from) = (args.rule()?, args.answers());
    let scenarios = Scenarios::read(&project, &args.what)?.ruled(rule);
    let chosen = scenarios.choose(args, &project.config)?;
    let broken = scenarios.broken(&project);
    if args.coverage {
        let document = coverage::of(&project, &chosen, &scenarios.refusals(&project))?;
        return shown(args, &document, |cx| coverage::print(&document, cx), cx)
            .map(|()| Exit::Success);
    }
    // A shard may be empty; its scorecard is merged with the others.
    if chosen.is_empty() && broken.is_empty() && args.shard.is_none() {
        return if args.allow_empty {
            empty(args, &project, cx)
        } else {
            Err(nothing(args, &project))
        };
    }
    let asking = asking(args, &project, most, cx)?;
    let files = CachedFiles::new(project.files());
    let counters = Counters::new(&project.config, None)?;
    let rows = if args.full {
        Rows::Full
    } else {
        Rows::Curtailed
    };
    let index = Lookup::new(&project, &args.cache);
    let mut eval_run = EvalRun::new(&project, &chosen, (&files, &files), &counters, rows, from);
    let accepted = args.baseline.as_deref().map(Accepted::read).transpose()?;
    let earlier = args
        .rescore
        .as_deref()
        .map(|name| Earlier::read(&project, name))
        .transpose()?;
    (eval_run.session, eval_run.earlier, eval_run.index) =
        (&args.session, earlier.as_ref(), Some(&index));
    eval_run.refusals = scenarios.refusals(&project);
    let checked = || chosen.iter().filter(|_| !args.plan);
    let runnable = Runnable::of(&project, checked(), &args.trust)?;
    if let Some(note) = runnable.note() {
        cx.note(&note);
    }
    let eval_run = eval_run.asking(RunAnswers {
        ask: asking.as_ref().map(|asking| -> &dyn Ask { asking }),
        config: Some(&project.config),
        confirms: args.confirm || args.baseline.is_some(),
        plans: args.plan,
        shows: wants_page(args),
        ..runnable.answers()
    });
    let lines = || project.lines(&project.paths());
    let locator = locator(&scenarios, &files, &lines);
    if args.mutate {
        return mutated(args, &project, &eval_run, &broken, cx);
    }
    if args.plan {
        return plan_only(args, (&chosen, &locator), &eval_run, cx);
    }
    let mut choices = choose::choices(args, &project, &eval_run, cx)?;
    let planned = choices
        .iter()
        .filter(|choice| **choice == Choice::Run)
        .count();
    let journal = (!args.no_history && earlier.is_none() && planned > 0).then(|| {
        let head = journal::head(&project, &chosen, (from, rows, rule), planned);
        let asked = (asking.as_ref(), runnable.is_some());
        Journal::begin(&project, asked, (head, args.resume.as_deref()))
    });
    let journal = journal.transpose()?;
    if journal.is_some() && cx.options.is_chatty() {
        interrupt::before(say_how_to_resume);
    }
    let mut eval_run = eval_run.kept_by(journal.as_ref());
    let resumed = journal
        .as_ref()
        .and_then(|journal| journal.take(&mut choices, || eval_run.keys(cx.options.threads)));
    if args.resume.is_some() {
        cx.note(&resumed.unwrap_or_else(|| {
            "no interrupted run of these scenarios: starting a new one".to_owned()
        }));
    }
    let which: Vec<bool> = choices
        .iter()
        .map(|choice| *choice == Choice::Run)
        .collect();
    // A run that calls models mostly waits.
    let callers = args
        .jobs
        .or(NonZeroUsize::new(CEILING))
        .filter(|_| asking.is_some());
    let how = (callers.or(cx.options.threads), args.fail_fast);
    let mut finished = match asking.as_ref().filter(|_| cx.options.is_chatty()) {
        Some(asking) => progress::told(
            || so_far(planned, &eval_run, asking),
            || eval_run.run(&which, &locator, how),
        ),
        None => eval_run.run(&which, &locator, how),
    };
    leave_out(&mut choices, &finished, cx);
    let accepted_requests = accept::accept(
        &project.root,
        (&mut eval_run, &locator),
        &mut finished,
        accepting(args),
        cx,
    )?;
    let kept = journal.as_ref().map_or(Ok(()), Journal::end);
    index.note(cx);
    note_answers(&chosen, (from, asking.as_ref()), cx);
    if let Some(earlier) = &earlier {
        earlier.note(finished.iter_mut().flatten().map(|done| &mut *done.row), cx);
    }
    let is_kept = !args.no_history && kept.is_ok();
    let details = if wants_page(args) {
        PageDetails::of(&project, &eval_run, &finished, is_kept)
    } else {
        PageDetails::default()
    };
    let card = card(
        &project,
        (&scenarios, &locator),
        &eval_run,
        choices,
        finished,
        counters.first().name(),
    );
    let card = completed(card, args, asking.as_ref(), accepted);
    cx.emit(&args.results(), |format, cx| match format {
        EvalFormat::Text => text::print(&card, cx),
        EvalFormat::Json | EvalFormat::Junit | EvalFormat::Markdown | EvalFormat::Html => {
            written(&card, format, (project.config.eval.stale, &details), cx)
        }
    })?;
    accepted_requests.store(&project.root, cx)?;
    if !is_narrow(args) && broken.is_empty() {
        note_unused(&project, &scenarios, eval_run.comparison.volatile(), cx);
    }
    unkept(kept, &project, cx)?;
    let is_refused = |row: &CaseRow| {
        eval_run.refusals.of(&row.path, &row.id).is_some()
            || broken.iter().any(|(file, _)| *file.path == row.id)
    };
    Ok(ended(
        verdict(&card.cases, project.config.eval.stale, &is_refused),
        from,
        &project,
        cx,
    ))
}

/// Returns the use of standard output by an acceptance, and whether to write it; `None` without an
/// acceptance.
fn accepting(args: &EvalArgs) -> Option<(Shown, Output)> {
    let shown = if args.output.format.resolve() == EvalFormat::Text {
        Shown::Differences
    } else {
        Shown::Document
    };
    (args.accept || args.diff).then_some((
        shown,
        if args.diff {
            Output::Diff
        } else {
            Output::Write
        },
    ))
}

/// Returns the exit code of a run. A run with live answers only informs, unless the project limits
/// their variation.
fn ended(exit: Exit, from: AnswersFrom, project: &Compiled, cx: &mut Cx) -> Exit {
    let informs = from == AnswersFrom::Live && project.config.eval.stability.is_none();
    if !informs || !matches!(exit, Exit::Findings | Exit::Inconclusive) {
        return exit;
    }
    cx.note("this run only informs: answers of a model differ from run to run, and `[eval.stability]` in ctxc.toml does not say how much they may");
    Exit::Success
}

/// Completes the scorecard with data of the whole run: calls and cost, intervals, the shard, the
/// comparison with accepted results.
fn completed(
    card: Scorecard,
    args: &EvalArgs,
    asking: Option<&Asking<'_>>,
    accepted: Option<Accepted>,
) -> Scorecard {
    let card = match asking.map(Asking::spent) {
        Some((calls, spent)) => card.asked(calls, (spent.usd * 1e9).round() / 1e9),
        None => card,
    };
    let card = if args.exact { card.exact() } else { card };
    let is_part = is_narrow(args) || args.affected || args.since.is_some() || args.fail_fast;
    let card = match accepted {
        Some(accepted) => accepted.compare(card, is_part),
        None => card,
    };
    Scorecard {
        shard: args.shard.map(Shard::numbers),
        ..card
    }
}

/// Returns the models to call, if this run may call any.
pub(super) fn asking<'p>(
    args: &EvalArgs,
    project: &'p Compiled,
    most: SpendLimit,
    cx: &mut Cx,
) -> Result<Option<Asking<'p>>> {
    let from = args.answers();
    if !from.asks() || args.plan {
        return Ok(None);
    }
    trust::require(project, &args.trust, "asking a model")?;
    if from != AnswersFrom::Live && project.config.record.content == Content::Shape {
        return Err(CliError::usage("answers are not recorded in this project: `[record] content` in ctxc.toml is \"shape\"")
            .hint("`--answers live` asks and keeps no words; `content = \"redacted\"` keeps them, without secrets and personal data"));
    }
    let providers: BTreeSet<&str> = project
        .config
        .models
        .values()
        .map(|model| model.provider.value.as_str())
        .collect();
    for name in providers {
        if let Some(Address { base_url, .. }) =
            Address::of(name, &project.config).filter(Address::is_unencrypted)
        {
            cx.note(&format!(
                "`{name}` is asked at {base_url}, which is not encrypted: anyone on the network path can read requests and keys"
            ));
        }
    }
    let asking = Asking::new(project, from != AnswersFrom::Live, most, args.jobs)?;
    Ok(Some(
        asking.checking(SecretCheck::new(&cx.options, &project.root)),
    ))
}

/// Returns true if a page is written, which shows conversations.
fn wants_page(args: &EvalArgs) -> bool {
    let output = args.results();
    output.format.resolve() == EvalFormat::Html
        || output
            .format
            .reports()
            .iter()
            .any(|report| report.format == EvalFormat::Html)
}

/// Leaves out the cases after a failure that were not run, and prints a note with their number.
fn leave_out(choices: &mut [Choice], finished: &[Option<Done>], cx: &mut Cx) {
    let behind = choices
        .iter_mut()
        .zip(finished)
        .filter(|(choice, done)| **choice == Choice::Run && done.is_none());
    let count = behind.map(|(choice, _)| *choice = Choice::LeaveOut).count();
    if count > 0 {
        cx.note(&format!(
            "{} after the first that does not pass: not run",
            plural(count, "scenario")
        ));
    }
}

/// Prints a note if a run was not stored; an error if the project configures its history.
fn unkept(kept: Result<()>, project: &Compiled, cx: &mut Cx) -> Result<()> {
    match kept {
        Err(error) if project.config.history.is_some() => return Err(error),
        Err(error) => cx.note(&format!(
            "this run is not stored in the history: {}",
            error.message
        )),
        Ok(()) => {}
    }
    Ok(())
}

/// Prints a hint on an interrupt: finished cases are stored.
fn say_how_to_resume() {
    let _ = io::stderr().write_all(
        b"interrupted: what is finished is kept; `ctxc eval --resume` continues with the rest\n",
    );
}

/// Prints notes on the scenarios without a call, and on answers reused from an interrupted run.
fn note_answers(
    chosen: &[Chosen<'_>],
    (from, asking): (AnswersFrom, Option<&Asking<'_>>),
    cx: &mut Cx,
) {
    if let Some(count @ 1..) = asking.map(Asking::taken_over) {
        cx.note(&format!(
            "reused {} of an interrupted recording; no model was asked again for them",
            plural(count, "answer")
        ));
    }
    let unasked = chosen
        .iter()
        .filter(|one| from.asks() && one.case.expectations.is_empty())
        .count();
    if unasked > 0 {
        cx.note(&format!(
            "{} without `expectations`: no model was asked",
            plural(unasked, "scenario")
        ));
    }
}

/// Prints the planned calls, and makes none.
fn plan_only(
    args: &EvalArgs,
    (chosen, locator): (&[Chosen<'_>], &Mutex<Locator<'_>>),
    eval_run: &EvalRun<'_>,
    cx: &mut Cx,
) -> Result<Exit> {
    let finished = eval_run.run(
        &vec![true; chosen.len()],
        locator,
        (cx.options.threads, false),
    );
    let plan = plan::document(
        chosen,
        &finished,
        (args.jobs.map(NonZeroUsize::get), args.confirm),
    );
    shown(args, &plan, |cx| plan::print(&plan, cx), cx).map(|()| Exit::Success)
}

/// Prints the changes that no scenario notices.
fn mutated(
    args: &EvalArgs,
    project: &Compiled,
    eval_run: &EvalRun<'_>,
    broken: &[(&Loaded, String)],
    cx: &mut Cx,
) -> Result<Exit> {
    for (file, why) in broken {
        cx.note(&format!("{}: {why}", file.path));
    }
    let found = eval_run.scores(cx.options.threads);
    let failing = found
        .failing
        .iter()
        .cloned()
        .chain(broken.iter().map(|(file, _)| file.path.to_string()));
    let all = Scores {
        failing: failing.collect(),
        ..found.clone()
    };
    // A selection of scenarios cannot show the agents that all scenarios leave out.
    let unasked = if is_narrow(args) {
        Vec::new()
    } else {
        mutate::unasked(project, &found)?
    };
    shown(
        args,
        &all.document(&unasked),
        |cx| mutate::print(&found, &unasked, cx),
        cx,
    )?;
    Ok(if found.failing.is_empty() && broken.is_empty() {
        Exit::Success
    } else {
        Exit::Findings
    })
}

/// Prints a report without verdicts: as text or as its JSON document.
fn shown(
    args: &EvalArgs,
    document: &impl Serialize,
    print: impl Fn(&mut Cx) -> Result<()>,
    cx: &mut Cx,
) -> Result<()> {
    cx.emit(&args.output, |format, cx| match format {
        EvalFormat::Text => print(cx),
        EvalFormat::Json => cx.json(document),
        EvalFormat::Junit | EvalFormat::Markdown | EvalFormat::Html => Err(no_report()),
    })
}

/// Writes a scorecard in a format other than text.
pub(super) fn written(
    card: &Scorecard,
    format: EvalFormat,
    (stale, details): (Stale, &PageDetails),
    cx: &mut Cx,
) -> Result<()> {
    let text = match format {
        EvalFormat::Text | EvalFormat::Json => return cx.json(card),
        EvalFormat::Junit => junit::xml(card, stale),
        EvalFormat::Markdown => page::markdown(card),
        EvalFormat::Html => page::html(card, details),
    };
    cx.print(|out| out.write_all(text.as_bytes()))
}

fn so_far(planned: usize, eval_run: &EvalRun<'_>, asking: &Asking<'_>) -> Progress {
    let (calls, spent) = asking.spent();
    Progress {
        done: eval_run.done.load(Ordering::Relaxed),
        planned,
        calls,
        usd: spent.usd,
    }
}

fn no_report() -> CliError {
    CliError::usage(
        "--mutate, --coverage and --plan list no verdicts, and this format is for verdicts",
    )
    .hint("take --format text or json")
}

/// Prints the results of no scenario: an empty document for programs, nothing for people.
fn empty(args: &EvalArgs, project: &Compiled, cx: &mut Cx) -> Result<Exit> {
    let counters = Counters::new(&project.config, None)?;
    let card = Scorecard::new(
        project.registry.hash(),
        counters.first().name(),
        BTreeSet::new(),
        Vec::new(),
    );
    let scores = Scores {
        scores: Vec::new(),
        failing: Vec::new(),
    };
    cx.emit(&args.results(), |format, cx| match format {
        EvalFormat::Text => Ok(()),
        EvalFormat::Json if args.mutate => cx.json(&scores.document(&[])),
        EvalFormat::Junit | EvalFormat::Markdown | EvalFormat::Html if args.mutate => {
            Err(no_report())
        }
        EvalFormat::Json | EvalFormat::Junit | EvalFormat::Markdown | EvalFormat::Html => written(
            &card,
            format,
            (project.config.eval.stale, &PageDetails::default()),
            cx,
        ),
    })?;
    Ok(Exit::Success)
}

/// Prints notes on files and settings of the project that this run did not use.
fn note_unused(project: &Compiled, scenarios: &Scenarios, volatile: &Volatile, cx: &mut Cx) {
    for (path, what) in obsolete(project, scenarios) {
        cx.note(&format!("{path} {what}"));
    }
    for part in volatile.idle() {
        cx.note(&format!(
            "`[requests] volatile` in ctxc.toml leaves out {part}, which no request of this run has"
        ));
    }
}

/// Returns stored requests and recordings without a scenario, such as those of a renamed one, and
/// unfinished recordings; each with advice.
fn obsolete(project: &Compiled, scenarios: &Scenarios) -> Vec<(String, &'static str)> {
    const REQUEST: &str =
        "is a stored request without a scenario: remove it, or rename it after its scenario";
    const RECORDING: &str =
        "is a recording without a scenario: remove it, or rename it after its scenario";
    const UNFINISHED: &str = "holds answers of an interrupted recording: `ctxc eval --record` continues from them; remove it to start over";
    let mut wanted = BTreeSet::new();
    let mut folders = BTreeSet::new();
    for file in &scenarios.files {
        for beside in [
            paths::snapshot(&file.path, "x"),
            paths::recording(&file.path, "x"),
        ] {
            folders.extend(beside.rsplit_once('/').map(|(folder, _)| folder.to_owned()));
        }
        for case in file.suite.iter().flat_map(|suite| &suite.cases) {
            wanted.extend(
                case.wants_snapshot()
                    .then(|| paths::snapshot(&file.path, &case.name.value)),
            );
            wanted.insert(paths::recording(&file.path, &case.name.value));
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
        let names = fs::names_in(&project.root.join(&folder)).into_iter();
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
fn nothing(args: &EvalArgs, project: &Compiled) -> CliError {
    let error = CliError::new(Kind::Nothing, "no scenario to run");
    let folders = project.config.eval.places().join(", ");
    if is_narrow(args) {
        error.hint("the arguments select none of the project's scenarios")
    } else {
        error.hint(format!("scenarios are YAML files under {folders}/; `ctxc new scenario TASK` writes one from today's render"))
    }
}

/// Returns a locator of places in the files of a project, with the texts of its scenarios.
pub(super) fn locator<'l>(
    scenarios: &Scenarios,
    files: &'l CachedFiles<'_>,
    lines: &'l (dyn Fn() -> Lines + Sync),
) -> Mutex<Locator<'l>> {
    let locator = Locator::new(files, lines);
    for file in &scenarios.files {
        locator.knows(&file.path, &file.text);
    }
    Mutex::new(locator)
}

/// Returns the scorecard of a run.
pub(super) fn card(
    project: &Compiled,
    (scenarios, locator): (&Scenarios, &Mutex<Locator<'_>>),
    eval_run: &EvalRun<'_>,
    choices: Vec<Choice>,
    finished: Vec<Option<Done>>,
    tokenizer: &str,
) -> Scorecard {
    let locator = locator.lock().unwrap_or_else(PoisonError::into_inner);
    let mut rows = Vec::with_capacity(choices.len());
    let mut suites = BTreeSet::new();
    for ((chosen, choice), finished) in eval_run.chosen.iter().zip(choices).zip(finished) {
        let Chosen { path, suite, case } = *chosen;
        let receiver = receiver(case, eval_run.roles()).ok();
        let of = Of {
            path,
            suite: &suite.id.value,
            case,
            receiver,
        };
        let row = match (choice, finished) {
            (Choice::LeaveOut, _) => continue,
            (Choice::Carry(row), _) => {
                // The place may have changed, unlike the verdict.
                let CaseRow {
                    path,
                    line,
                    suite,
                    tags,
                    ..
                } = CaseRow::bare(of, &locator);
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
            (Choice::Run, Some(done)) => *done.row,
            (Choice::Run, None) => CaseRow::bare(of, &locator),
        };
        rows.push(row);
        suites.insert(SuiteRow::of(path, suite));
    }
    rows.extend(
        scenarios
            .broken(project)
            .into_iter()
            .map(|(file, why)| CaseRow::unread(&file.path, why)),
    );
    rows.sort_by(|a, b| (&a.path, a.line, &a.id).cmp(&(&b.path, b.line, &b.id)));
    Scorecard::new(project.registry.hash(), tokenizer, suites, rows)
}

/// Returns the exit code of the rows; a carried verdict counts like a new one.
fn verdict(rows: &[CaseRow], stale: Stale, is_refused: &dyn Fn(&CaseRow) -> bool) -> Exit {
    rows.iter().fold(Exit::Success, |exit, row| {
        exit.and(match row.verdict() {
            CaseVerdict::Pass => Exit::Success,
            CaseVerdict::Fail => Exit::Findings,
            // A finding of `check` is a finding here too.
            CaseVerdict::Error if is_refused(row) => Exit::Findings,
            CaseVerdict::Error => Exit::Infrastructure,
            CaseVerdict::Inconclusive => Exit::Inconclusive,
            CaseVerdict::Stale if stale == Stale::Warn => Exit::Success,
            CaseVerdict::Stale => Exit::Stale,
        })
    })
}
