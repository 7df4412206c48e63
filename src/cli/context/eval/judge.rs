//! The scorecard of a project for verbs that decide by it. Calls no model and prints nothing.

use super::args::EvalArgs;
use super::choose::{EvalRun, needs_judge};
use super::live_calls::LiveModels;
use super::load::{CachedFiles, Scenarios};
use super::own_checks::{CheckRuns, CheckSide};
use super::run::{build_scorecard, live_models, new_locator};
use super::runnable::RunnableCommands;
use crate::base::number::format_usd;
use crate::cli::context::lookup::{CacheArgs, ProjectLookup};
use crate::cli::context::models::ProjectCounters;
use crate::cli::context::project::CompiledProject;
use crate::cli::context::trust::TrustHashArgs;
use crate::cli::cx::Cx;
use crate::cli::error::Result;
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
struct RunSubject<'a> {
    project: &'a CompiledProject,
    scenarios: &'a Scenarios,
    /// The project that the scenarios belong to: its frozen files and stored requests count.
    whose: &'a CompiledProject,
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
    let eval_run = EvalRun::new(
        project,
        &chosen,
        (&live, &frozen),
        &counters,
        TrialPolicy::RunAll,
        from,
    );
    work(eval_run, &index)
}

/// Judges every scenario of the project, or those of another version of it: with that version's
/// frozen files and stored requests, and with the tasks and the recorded answers of the project.
pub(in crate::cli::context) fn judge_all(
    project: &CompiledProject,
    scenarios: &Scenarios,
    whose: &CompiledProject,
    permitted: (&TrustHashArgs, &CheckRuns),
    cx: &Cx,
) -> Result<Scorecard> {
    judge_some(project, (scenarios, &|_| true), whose, permitted, cx)
}

/// Like `judge_all`, for some scenarios.
pub(in crate::cli::context) fn judge_some(
    project: &CompiledProject,
    (scenarios, is_asked): (&Scenarios, &dyn Fn(&ScenarioCase) -> bool),
    whose: &CompiledProject,
    (trust, runs): (&TrustHashArgs, &CheckRuns),
    cx: &Cx,
) -> Result<Scorecard> {
    let subject = RunSubject {
        project,
        scenarios,
        whose,
    };
    with_run(subject, AnswersFrom::Known, is_asked, |eval_run, index| {
        let (chosen, live) = (eval_run.chosen, eval_run.files);
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
        let lines = || project.text_lines(&project.definition_paths());
        let locator = new_locator(scenarios, live, &lines);
        let all = vec![true; chosen.len()];
        let finished = eval_run.run_cases(&all, &locator, (cx.options.threads, false));
        let choices = vec![RunChoice::Run; chosen.len()];
        let tokenizer = eval_run.with_cases(|run, _| run.counter.name().to_owned());
        Ok(build_scorecard(
            project,
            (scenarios, &locator),
            &eval_run,
            choices,
            finished,
            &tokenizer,
        ))
    })
}

/// Calls a function with the named scenarios of `whose`, over the tasks of a project.
pub(in crate::cli::context) fn with_cases<T>(
    project: &CompiledProject,
    (scenarios, whose): (&Scenarios, &CompiledProject),
    names: &BTreeSet<String>,
    work: impl FnOnce(&RunContext<'_>, &[CaseInput<'_>]) -> T,
) -> Result<T> {
    let subject = RunSubject {
        project,
        scenarios,
        whose,
    };
    let is_named = |case: &ScenarioCase| names.contains(&case.name.value);
    with_run(subject, AnswersFrom::Known, is_named, |eval_run, _| {
        let answers = AnswerOptions {
            config: Some(&project.config),
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
    let subject = RunSubject {
        project,
        scenarios,
        whose: project,
    };
    with_run(subject, AnswersFrom::Known, needs_judge, |eval_run, _| {
        let judge = eval_run.with_answers(AnswerOptions::default()).judge;
        Ok(judge.map(|judge| judge.trust).unwrap_or_default())
    })
}

/// Calls a function with the answers that the judge is to score, as far as they are recorded or
/// scripted, and with the context of a run that may ask the judge.
pub(in crate::cli::context) fn with_judged_answers<T>(
    project: &CompiledProject,
    what: &[String],
    asking: Option<&LiveModels<'_>>,
    threads: Option<NonZeroUsize>,
    work: impl FnOnce(&RunContext<'_>, Vec<JudgedAnswer>) -> Result<T>,
) -> Result<T> {
    let scenarios = &Scenarios::read(project, what)?;
    let subject = RunSubject {
        project,
        scenarios,
        whose: project,
    };
    with_run(
        subject,
        AnswersFrom::Known,
        needs_judge,
        |eval_run, index| {
            let mut eval_run = eval_run.with_answers(AnswerOptions {
                ask: asking.map(|asking| -> &dyn ModelCaller { asking }),
                config: Some(&project.config),
                ..AnswerOptions::default()
            });
            (eval_run.refusals, eval_run.index) = (scenarios.refusals(project), Some(index));
            if let Some(judge) = &mut eval_run.judge {
                judge.observer = Some(Mutex::default());
            }
            eval_run.with_cases(|run, inputs| {
                let _ = run_cases(run, inputs, threads);
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
    project: &CompiledProject,
    scenarios: &Scenarios,
    names: &BTreeSet<String>,
    (budget, trust): (SpendLimit, &TrustHashArgs),
    cx: &mut Cx,
) -> Result<BTreeSet<String>> {
    let args = EvalArgs::for_recording(trust);
    let Some(asking) = live_models(&args, project, budget, cx)? else {
        return Ok(BTreeSet::new());
    };
    let subject = RunSubject {
        project,
        scenarios,
        whose: project,
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
        let threads = NonZeroUsize::new(MAX_CALLS);
        let finished = eval_run.run_cases(&all, &locator, (threads, false));
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
