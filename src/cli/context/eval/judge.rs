//! The scorecard of a project for verbs that decide by it. Calls no model and prints nothing.

use super::args::EvalArgs;
use super::choose::{EvalRun, RunOptions, RunSetup, needs_judge};
use super::live_calls::LiveModels;
use super::load::{BrokenFile, CachedFiles, Scenarios};
use super::own_checks::{CheckRuns, CheckSide};
use super::run::{RunResults, build_scorecard, live_models, new_locator};
use super::runnable::RunnableCommands;
use crate::base::number::format_usd;
use crate::cli::context::lookup::{CacheArgs, ProjectLookup};
use crate::cli::context::models::ProjectCounters;
use crate::cli::context::project::CompiledProject;
use crate::cli::context::trust::TrustHashArgs;
use crate::cli::cx::Cx;
use crate::cli::error::{CliError, CliErrorKind, Result};
use crate::cli::render::escape::escape_line;
use crate::cli::render::summary::pluralize;
use crate::eval::affected::RunChoice;
use crate::eval::answer_source::{AnswerOptions, AnswersFrom, ModelCaller};
use crate::eval::judge::{JudgeTrust, JudgedAnswer};
use crate::eval::prepared_case::{CaseInput, RunContext};
use crate::eval::run::run_cases;
use crate::eval::scorecard::Scorecard;
use crate::eval::trials::TrialPolicy;
use crate::provider::limiter::MAX_CALLS;
use crate::provider::spending::SpendLimit;
use crate::scenario::model::ScenarioCase;
use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};

/// The scenarios of a run over the tasks of a project.
#[derive(Clone, Copy)]
pub(in crate::cli::context) struct RunSubject<'a> {
    pub(in crate::cli::context) project: &'a CompiledProject,
    pub(in crate::cli::context) scenarios: &'a Scenarios,
    /// The project that the scenarios belong to: its frozen files and stored requests count.
    pub(in crate::cli::context) whose: &'a CompiledProject,
}

impl<'a> RunSubject<'a> {
    /// Creates the subject of a project with its own scenarios.
    pub(in crate::cli::context) const fn of_project(
        project: &'a CompiledProject,
        scenarios: &'a Scenarios,
    ) -> Self {
        Self {
            project,
            scenarios,
            whose: project,
        }
    }
}

/// The commands that a run may start for checks, and the checks that ran for the other side of a
/// comparison.
#[derive(Clone, Copy)]
pub(in crate::cli::context) struct CheckPermissions<'a> {
    pub(in crate::cli::context) trust: &'a TrustHashArgs,
    pub(in crate::cli::context) runs: &'a CheckRuns,
}

/// The models that may be called for new answers.
#[derive(Clone, Copy)]
pub(in crate::cli::context) struct RecordingLimits<'a> {
    pub(in crate::cli::context) budget: SpendLimit,
    pub(in crate::cli::context) trust: &'a TrustHashArgs,
}

/// Calls a function with a prepared run of some scenarios, and with the files for its lookups.
fn with_run<T>(
    subject: RunSubject<'_>,
    from: AnswersFrom,
    is_chosen: impl Fn(&ScenarioCase) -> bool,
    work: impl FnOnce(EvalRun<'_>, &ProjectLookup<'_>) -> Result<T>,
) -> Result<T> {
    let RunSubject {
        project,
        scenarios,
        whose,
    } = subject;
    let mut chosen = scenarios.choose_cases(&EvalArgs::default(), &project.config)?;
    chosen.retain(|one| is_chosen(one.case));
    let live = CachedFiles::new(project.files());
    let frozen = CachedFiles::new(whose.files());
    let counters = ProjectCounters::new(&project.config, None)?;
    let cache = CacheArgs::default();
    let index = ProjectLookup::new(project, &cache);
    let eval_run = EvalRun::new(RunSetup {
        project,
        chosen: &chosen,
        files: &live,
        frozen: &frozen,
        counters: &counters,
        trials: TrialPolicy::RunAll,
        from,
    });
    work(eval_run, &index)
}

/// Judges every scenario of the project, or those of another version of it: with that version's
/// frozen files and stored requests, and with the tasks and the recorded answers of the project.
pub(in crate::cli::context) fn judge_all(
    subject: RunSubject<'_>,
    permitted: CheckPermissions<'_>,
    cx: &Cx,
) -> Result<Scorecard> {
    judge_some(subject, &|_| true, permitted, cx)
}

/// Judges the scenarios of a project by recordings and scripts; `None` without scenarios. Those whose
/// commands the user did not permit stay undecided.
pub(in crate::cli) fn judge_project(
    project: &CompiledProject,
    cx: &Cx,
) -> Result<Option<Scorecard>> {
    let scenarios = Scenarios::read(project, &[])?;
    if let Some(BrokenFile { file, reason }) = scenarios.broken_files(project).into_iter().next() {
        let message = format!("{}: {reason}", file.path);
        return Err(CliError::new(CliErrorKind::Findings, message));
    }
    if scenarios.files.is_empty() {
        return Ok(None);
    }
    let permitted = CheckPermissions {
        trust: &TrustHashArgs::default(),
        runs: &CheckRuns::default(),
    };
    judge_all(RunSubject::of_project(project, &scenarios), permitted, cx).map(Some)
}

/// Like `judge_all`, for some scenarios.
pub(in crate::cli::context) fn judge_some(
    subject: RunSubject<'_>,
    is_asked: &dyn Fn(&ScenarioCase) -> bool,
    permitted: CheckPermissions<'_>,
    cx: &Cx,
) -> Result<Scorecard> {
    let RunSubject {
        project,
        scenarios,
        whose,
    } = subject;
    let CheckPermissions { trust, runs } = permitted;
    with_run(subject, AnswersFrom::Known, is_asked, |eval_run, index| {
        let chosen = eval_run.chosen;
        let is_own = std::ptr::eq(project, whose);
        // Scenarios without permission stay undecided; those that only the base runs expect nothing
        // here.
        let side = if is_own {
            CheckSide::Own
        } else {
            CheckSide::Other
        };
        let runnable =
            RunnableCommands::collect(project, chosen.iter(), trust)?.on_side(side, runs);
        let mut eval_run = eval_run.with_answers(AnswerOptions {
            config: Some(&project.config),
            ..runnable.answer_options()
        });
        if is_own {
            eval_run.refusals = scenarios.refusals(project);
        }
        eval_run.index = Some(index);
        if let (Some(judge), Some(base)) = (&mut eval_run.judge, &runs.judge_trust) {
            judge.trust.restrict_to(base);
        }
        Ok(run_chosen(&eval_run, subject, cx))
    })
}

/// Runs the chosen scenarios, and returns their scorecard.
fn run_chosen(eval_run: &EvalRun<'_>, subject: RunSubject<'_>, cx: &Cx) -> Scorecard {
    let (project, scenarios) = (subject.project, subject.scenarios);
    let lines = || project.text_lines(&project.definition_paths());
    let locator = new_locator(scenarios, eval_run.files, &lines);
    let count = eval_run.chosen.len();
    let results = RunResults {
        choices: vec![RunChoice::Run; count],
        finished: eval_run.run_cases(
            &vec![true; count],
            &locator,
            RunOptions::with_threads(cx.options.threads),
        ),
    };
    build_scorecard(eval_run, scenarios, &locator, results)
}

/// Judges contracts of another organisation on the tasks of the project, by the answers that either
/// side recorded. No program is run and no model is asked.
pub(in crate::cli::context) fn judge_contracts(
    subject: RunSubject<'_>,
    cx: &Cx,
) -> Result<Scorecard> {
    with_run(
        subject,
        AnswersFrom::Known,
        |_| true,
        |eval_run, index| {
            let mut eval_run =
                eval_run
                    .with_side_answers(subject.whose, &[])
                    .with_answers(AnswerOptions {
                        config: Some(&subject.project.config),
                        ..AnswerOptions::default()
                    });
            eval_run.index = Some(index);
            Ok(run_chosen(&eval_run, subject, cx))
        },
    )
}

/// Calls a function with the named scenarios of a subject.
pub(in crate::cli::context) fn with_cases<T>(
    subject: RunSubject<'_>,
    names: &BTreeSet<String>,
    work: impl FnOnce(&RunContext<'_>, &[CaseInput<'_>]) -> T,
) -> Result<T> {
    let is_named = |case: &ScenarioCase| names.contains(&case.name.value);
    with_run(subject, AnswersFrom::Known, is_named, |eval_run, _| {
        let answers = AnswerOptions {
            config: Some(&subject.project.config),
            ..AnswerOptions::default()
        };
        Ok(eval_run.with_answers(answers).with_cases(work))
    })
}

/// Returns the criteria on which the judge of a project is trusted, by its own labels.
pub(in crate::cli::context) fn judge_trust(
    project: &CompiledProject,
    scenarios: &Scenarios,
) -> Result<JudgeTrust> {
    let subject = RunSubject::of_project(project, scenarios);
    with_run(subject, AnswersFrom::Known, needs_judge, |eval_run, _| {
        let judge = eval_run.with_answers(AnswerOptions::default()).judge;
        Ok(judge.map(|judge| judge.trust).unwrap_or_default())
    })
}

/// The models that the judge may call, and the threads that call them.
#[derive(Clone, Copy)]
pub(in crate::cli::context) struct JudgeCalls<'a> {
    /// The models; `None` if no call is made.
    pub(in crate::cli::context) models: Option<&'a LiveModels<'a>>,
    /// The number of threads; `None` for one per core.
    pub(in crate::cli::context) threads: Option<NonZeroUsize>,
}

/// Calls a function with the answers that the judge is to score, as far as they are recorded or
/// scripted, and with the context of a run that may ask the judge.
pub(in crate::cli::context) fn with_judged_answers<T>(
    project: &CompiledProject,
    what: &[String],
    calls: JudgeCalls<'_>,
    work: impl FnOnce(&RunContext<'_>, Vec<JudgedAnswer>) -> Result<T>,
) -> Result<T> {
    let scenarios = &Scenarios::read(project, what)?;
    let subject = RunSubject::of_project(project, scenarios);
    with_run(
        subject,
        AnswersFrom::Known,
        needs_judge,
        |eval_run, index| {
            let mut eval_run = eval_run.with_answers(AnswerOptions {
                ask: calls.models.map(|models| -> &dyn ModelCaller { models }),
                config: Some(&project.config),
                ..AnswerOptions::default()
            });
            (eval_run.refusals, eval_run.index) = (scenarios.refusals(project), Some(index));
            if let Some(judge) = &mut eval_run.judge {
                judge.observer = Some(Mutex::default());
            }
            eval_run.with_cases(|run, inputs| {
                let _ = run_cases(run, inputs, calls.threads);
                let judge = run.answers.judge.and_then(|judge| judge.observer.as_ref());
                let mut answers = judge.map_or_else(Vec::new, |observer| {
                    std::mem::take(&mut *observer.lock().unwrap_or_else(PoisonError::into_inner))
                });
                answers.sort_by_cached_key(|one| (one.case.clone(), one.answer_hash()));
                work(run, answers)
            })
        },
    )
}

/// Prepares the models for questions that are not recorded, with the user's permission.
pub(in crate::cli::context) fn live_judge<'p>(
    project: &'p CompiledProject,
    budget: SpendLimit,
    trust: &TrustHashArgs,
    cx: &mut Cx,
) -> Result<Option<LiveModels<'p>>> {
    let args = EvalArgs::for_asking(trust);
    live_models(&args, project, budget, cx)
}

/// Returns a note on the scenarios that stay undecided because the user did not permit their
/// commands; `None` without such scenarios.
pub(in crate::cli::context) fn unpermitted_note(
    project: &CompiledProject,
    scenarios: &Scenarios,
    trust: &TrustHashArgs,
) -> Result<Option<String>> {
    let chosen = scenarios.choose_cases(&EvalArgs::default(), &project.config)?;
    Ok(RunnableCommands::collect(project, chosen.iter(), trust)?.unpermitted_note())
}

/// Records new answers of the named scenarios beside them, and returns the names of those that were
/// recorded. Only calls providers of `[providers]`, and only with the user's permission.
pub(in crate::cli::context) fn record_scenarios(
    subject: RunSubject<'_>,
    names: &BTreeSet<String>,
    limits: RecordingLimits<'_>,
    cx: &mut Cx,
) -> Result<BTreeSet<String>> {
    let RunSubject {
        project, scenarios, ..
    } = subject;
    let args = EvalArgs::for_recording(limits.trust);
    let Some(asking) = live_models(&args, project, limits.budget, cx)? else {
        return Ok(BTreeSet::new());
    };
    let is_named = |case: &ScenarioCase| names.contains(&case.name.value);
    let rows = with_run(subject, AnswersFrom::Record, is_named, |eval_run, index| {
        let files = eval_run.files;
        let mut eval_run = eval_run.with_answers(AnswerOptions {
            ask: Some(&asking),
            config: Some(&project.config),
            ..AnswerOptions::default()
        });
        (eval_run.refusals, eval_run.index) = (scenarios.refusals(project), Some(index));
        let lines = || project.text_lines(&project.definition_paths());
        let locator = new_locator(scenarios, files, &lines);
        let all = vec![true; eval_run.chosen.len()];
        let options = RunOptions::with_threads(NonZeroUsize::new(MAX_CALLS));
        let finished = eval_run.run_cases(&all, &locator, options);
        Ok(finished.into_iter().flatten().map(|done| done.row))
    })?;
    let (calls, spent) = asking.total_usage();
    cx.print_note(&format!(
        "asked models anew: {}, US$ {}",
        pluralize(calls as usize, "call"),
        format_usd(spent.usd)
    ));
    let mut recorded = BTreeSet::new();
    for row in rows {
        if !row.trials.is_empty() && row.trouble.is_none() {
            recorded.insert(row.id);
        } else {
            let why = row
                .trouble
                .as_deref()
                .unwrap_or("its context does not hold, or it has no expectation on the answer");
            cx.print_note(&format!(
                "`{}` was not recorded: {}",
                escape_line(&row.id),
                escape_line(why)
            ));
        }
    }
    Ok(recorded)
}
