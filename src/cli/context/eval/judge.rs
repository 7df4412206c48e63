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
use crate::eval::scorecard::{CaseRow, Scorecard};
use crate::eval::trials::TrialPolicy;
use crate::provider::limiter::MAX_CALLS;
use crate::provider::spending::SpendLimit;
use crate::registry::scenarios::Refusals;
use crate::scenario::model::ScenarioCase;
use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};

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
    let args = EvalArgs::default();
    let mut chosen = scenarios.choose_cases(&args, &project.config)?;
    chosen.retain(|one| is_asked(one.case));
    let live = CachedFiles::new(project.files());
    let frozen = CachedFiles::new(whose.files());
    let counters = ProjectCounters::new(&project.config, None)?;
    let cache = CacheArgs::default();
    let index = ProjectLookup::new(project, &cache);
    let is_own = std::ptr::eq(project, whose);
    let refusals = if is_own {
        scenarios.refusals(project)
    } else {
        Refusals::default()
    };
    let eval_run = EvalRun::new(
        project,
        &chosen,
        (&live, &frozen),
        &counters,
        TrialPolicy::RunAll,
        AnswersFrom::Known,
    );
    // Scenarios without permission stay undecided; those that only the base runs expect nothing
    // here.
    let side = if is_own {
        CheckSide::Own
    } else {
        CheckSide::Other
    };
    let runnable = RunnableCommands::collect(project, chosen.iter(), trust)?.on_side(side, runs);
    let mut eval_run = eval_run.with_answers(AnswerOptions {
        config: Some(&project.config),
        ..runnable.answer_options()
    });
    (eval_run.refusals, eval_run.index) = (refusals, Some(&index));
    if let (Some(judge), Some(base)) = (&mut eval_run.judge, &runs.judge_trust) {
        judge.trust.restrict_to(base);
    }
    let all = vec![true; chosen.len()];
    let lines = || project.text_lines(&project.definition_paths());
    let locator = new_locator(scenarios, &live, &lines);
    let finished = eval_run.run_cases(&all, &locator, (cx.options.threads, false));
    let choices = vec![RunChoice::Run; chosen.len()];
    Ok(build_scorecard(
        project,
        (scenarios, &locator),
        &eval_run,
        choices,
        finished,
        counters.default_counter().name(),
    ))
}

/// Calls a function with the named scenarios of `whose`, over the tasks of a project.
pub(in crate::cli::context) fn with_cases<T>(
    project: &CompiledProject,
    (scenarios, whose): (&Scenarios, &CompiledProject),
    names: &BTreeSet<String>,
    work: impl FnOnce(&RunContext<'_>, &[CaseInput<'_>]) -> T,
) -> Result<T> {
    let live = CachedFiles::new(project.files());
    let frozen = CachedFiles::new(whose.files());
    let mut chosen = scenarios.choose_cases(&EvalArgs::default(), &whose.config)?;
    chosen.retain(|one| names.contains(&one.case.name.value));
    let counters = ProjectCounters::new(&project.config, None)?;
    let eval_run = EvalRun::new(
        project,
        &chosen,
        (&live, &frozen),
        &counters,
        TrialPolicy::RunAll,
        AnswersFrom::Known,
    );
    let answers = AnswerOptions {
        config: Some(&project.config),
        ..AnswerOptions::default()
    };
    Ok(eval_run.with_answers(answers).with_cases(work))
}

/// Returns the criteria on which the judge of a project is trusted, by its own labels.
pub(in crate::cli::context) fn judge_trust(
    project: &CompiledProject,
    scenarios: &Scenarios,
) -> Result<JudgeTrust> {
    let files = CachedFiles::new(project.files());
    let mut chosen = scenarios.choose_cases(&EvalArgs::default(), &project.config)?;
    chosen.retain(|one| needs_judge(one.case));
    let counters = ProjectCounters::new(&project.config, None)?;
    let eval_run = EvalRun::new(
        project,
        &chosen,
        (&files, &files),
        &counters,
        TrialPolicy::RunAll,
        AnswersFrom::Known,
    );
    let eval_run = eval_run.with_answers(AnswerOptions::default());
    Ok(eval_run.judge.map(|judge| judge.trust).unwrap_or_default())
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
    let args = EvalArgs::for_paths(what);
    let scenarios = Scenarios::read(project, what)?;
    let files = CachedFiles::new(project.files());
    let mut chosen = scenarios.choose_cases(&args, &project.config)?;
    chosen.retain(|one| needs_judge(one.case));
    let counters = ProjectCounters::new(&project.config, None)?;
    let cache = CacheArgs::default();
    let index = ProjectLookup::new(project, &cache);
    let eval_run = EvalRun::new(
        project,
        &chosen,
        (&files, &files),
        &counters,
        TrialPolicy::RunAll,
        AnswersFrom::Known,
    );
    let mut eval_run = eval_run.with_answers(AnswerOptions {
        ask: asking.map(|asking| -> &dyn ModelCaller { asking }),
        config: Some(&project.config),
        ..AnswerOptions::default()
    });
    (eval_run.refusals, eval_run.index) = (scenarios.refusals(project), Some(&index));
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
    let mut chosen = scenarios.choose_cases(&EvalArgs::default(), &project.config)?;
    chosen.retain(|one| names.contains(&one.case.name.value));
    let files = CachedFiles::new(project.files());
    let counters = ProjectCounters::new(&project.config, None)?;
    let cache = CacheArgs::default();
    let index = ProjectLookup::new(project, &cache);
    let eval_run = EvalRun::new(
        project,
        &chosen,
        (&files, &files),
        &counters,
        TrialPolicy::RunAll,
        AnswersFrom::Record,
    );
    let answers = AnswerOptions {
        ask: Some(&asking),
        config: Some(&project.config),
        ..AnswerOptions::default()
    };
    let mut eval_run = eval_run.with_answers(answers);
    (eval_run.refusals, eval_run.index) = (scenarios.refusals(project), Some(&index));
    let lines = || project.text_lines(&project.definition_paths());
    let locator = new_locator(scenarios, &files, &lines);
    let all = vec![true; chosen.len()];
    let finished = eval_run.run_cases(&all, &locator, (NonZeroUsize::new(MAX_CALLS), false));
    let (calls, spent) = asking.total_usage();
    cx.print_note(&format!(
        "asked models anew: {}, US$ {}",
        pluralize(calls as usize, "call"),
        format_usd(spent.usd)
    ));
    let is_recorded = |row: &CaseRow| !row.trials.is_empty() && row.trouble.is_none();
    let mut recorded = BTreeSet::new();
    for (chosen, done) in chosen.iter().zip(finished.iter().flatten()) {
        let name = &chosen.case.name.value;
        if is_recorded(&done.row) {
            recorded.insert(name.clone());
        } else {
            let why = done
                .row
                .trouble
                .as_deref()
                .unwrap_or("its context does not hold, or it has no expectation on the answer");
            cx.print_note(&format!(
                "`{}` was not recorded: {}",
                escape_line(name),
                escape_line(why)
            ));
        }
    }
    Ok(recorded)
}
