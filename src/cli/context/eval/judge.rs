//! The scorecard of a project for verbs that decide by it. Calls no model and prints nothing.

use super::args::EvalArgs;
use super::choose::EvalRun;
use super::load::{CachedFiles, Scenarios};
use super::own_checks::{CheckRuns, CheckSide};
use super::run::{asking, card, locator};
use super::runnable::Runnable;
use crate::base::number::usd;
use crate::cli::context::lookup::{CacheArgs, Lookup};
use crate::cli::context::models::Counters;
use crate::cli::context::project::Compiled;
use crate::cli::context::trust::TrustHashArgs;
use crate::cli::cx::Cx;
use crate::cli::error::Result;
use crate::cli::render::escape::escape;
use crate::cli::render::summary::plural;
use crate::eval::affected::Choice;
use crate::eval::asked::{AnswersFrom, RunAnswers};
use crate::eval::prepared::{CaseInput, RunContext};
use crate::eval::scorecard::{CaseRow, Scorecard};
use crate::eval::trials::Rows;
use crate::provider::limiter::CEILING;
use crate::provider::spending::SpendLimit;
use crate::registry::scenarios::Refusals;
use crate::scenario::model::Case;
use std::collections::BTreeSet;
use std::num::NonZeroUsize;

/// Judges every scenario of the project, or those of another version of it: with that version's
/// frozen files and stored requests, and with the tasks and the recorded answers of the project.
pub(in crate::cli::context) fn judge(
    project: &Compiled,
    scenarios: &Scenarios,
    whose: &Compiled,
    permitted: (&TrustHashArgs, &CheckRuns),
    cx: &Cx,
) -> Result<Scorecard> {
    judge_some(project, (scenarios, &|_| true), whose, permitted, cx)
}

/// Like `judge_all`, for some scenarios.
pub(in crate::cli::context) fn judge_some(
    project: &Compiled,
    (scenarios, is_asked): (&Scenarios, &dyn Fn(&Case) -> bool),
    whose: &Compiled,
    (trust, runs): (&TrustHashArgs, &CheckRuns),
    cx: &Cx,
) -> Result<Scorecard> {
    let args = EvalArgs::default();
    let mut chosen = scenarios.choose(&args, &project.config)?;
    chosen.retain(|one| is_asked(one.case));
    let live = CachedFiles::new(project.files());
    let frozen = CachedFiles::new(whose.files());
    let counters = Counters::new(&project.config, None)?;
    let cache = CacheArgs::default();
    let index = Lookup::new(project, &cache);
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
        Rows::Full,
        AnswersFrom::Known,
    );
    // Scenarios without permission stay undecided; those that only the base runs expect nothing
    // here.
    let side = if is_own {
        CheckSide::Own
    } else {
        CheckSide::Other
    };
    let runnable = Runnable::of(project, chosen.iter(), trust)?.on(side, runs);
    let mut eval_run = eval_run.asking(RunAnswers {
        config: Some(&project.config),
        ..runnable.answers()
    });
    (eval_run.refusals, eval_run.index) = (refusals, Some(&index));
    let all = vec![true; chosen.len()];
    let lines = || project.lines(&project.paths());
    let locator = locator(scenarios, &live, &lines);
    let finished = eval_run.run(&all, &locator, (cx.options.threads, false));
    let choices = vec![Choice::Run; chosen.len()];
    Ok(card(
        project,
        (scenarios, &locator),
        &eval_run,
        choices,
        finished,
        counters.first().name(),
    ))
}

/// Calls a function with the named scenarios of `whose`, over the tasks of a project.
pub(in crate::cli::context) fn with_cases<T>(
    project: &Compiled,
    (scenarios, whose): (&Scenarios, &Compiled),
    names: &BTreeSet<String>,
    work: impl FnOnce(&RunContext<'_>, &[CaseInput<'_>]) -> T,
) -> Result<T> {
    let live = CachedFiles::new(project.files());
    let frozen = CachedFiles::new(whose.files());
    let mut chosen = scenarios.choose(&EvalArgs::default(), &whose.config)?;
    chosen.retain(|one| names.contains(&one.case.name.value));
    let counters = Counters::new(&project.config, None)?;
    let eval_run = EvalRun::new(
        project,
        &chosen,
        (&live, &frozen),
        &counters,
        Rows::Full,
        AnswersFrom::Known,
    );
    let answers = RunAnswers {
        config: Some(&project.config),
        ..RunAnswers::default()
    };
    Ok(eval_run.asking(answers).with_cases(work))
}

/// Returns a note on the scenarios that stay undecided because the user did not permit their
/// commands; `None` without such scenarios.
pub(in crate::cli::context) fn unpermitted(
    project: &Compiled,
    scenarios: &Scenarios,
    trust: &TrustHashArgs,
) -> Result<Option<String>> {
    let chosen = scenarios.choose(&EvalArgs::default(), &project.config)?;
    Ok(Runnable::of(project, chosen.iter(), trust)?.note())
}

/// Records new answers of the named scenarios beside them, and returns the names of those that were
/// recorded. Only calls providers of `[providers]`, and only with the user's permission.
pub(in crate::cli::context) fn record(
    project: &Compiled,
    scenarios: &Scenarios,
    names: &BTreeSet<String>,
    (budget, trust): (SpendLimit, &TrustHashArgs),
    cx: &mut Cx,
) -> Result<BTreeSet<String>> {
    let args = EvalArgs::recording(trust);
    let Some(asking) = asking(&args, project, budget, cx)? else {
        return Ok(BTreeSet::new());
    };
    let mut chosen = scenarios.choose(&EvalArgs::default(), &project.config)?;
    chosen.retain(|one| names.contains(&one.case.name.value));
    let files = CachedFiles::new(project.files());
    let counters = Counters::new(&project.config, None)?;
    let cache = CacheArgs::default();
    let index = Lookup::new(project, &cache);
    let eval_run = EvalRun::new(
        project,
        &chosen,
        (&files, &files),
        &counters,
        Rows::Full,
        AnswersFrom::Record,
    );
    let answers = RunAnswers {
        ask: Some(&asking),
        config: Some(&project.config),
        ..RunAnswers::default()
    };
    let mut eval_run = eval_run.asking(answers);
    (eval_run.refusals, eval_run.index) = (scenarios.refusals(project), Some(&index));
    let lines = || project.lines(&project.paths());
    let locator = locator(scenarios, &files, &lines);
    let all = vec![true; chosen.len()];
    let finished = eval_run.run(&all, &locator, (NonZeroUsize::new(CEILING), false));
    let (calls, spent) = asking.spent();
    cx.note(&format!(
        "asked models anew: {}, US$ {}",
        plural(calls as usize, "call"),
        usd(spent.usd)
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
            cx.note(&format!(
                "`{}` was not recorded: {}",
                escape(name),
                escape(why)
            ));
        }
    }
    Ok(recorded)
}
