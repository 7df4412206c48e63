//! The scorecard of a project for verbs that decide by it: no model is asked, nothing is shown.

use super::args::EvalArgs;
use super::choose::EvalRun;
use super::load::{CachedFiles, Scenarios};
use super::own_checks::OwnChecks;
use super::programs::Programs;
use super::run::{card, locator};
use crate::cli::context::lookup::{CacheArgs, Lookup};
use crate::cli::context::models::Counters;
use crate::cli::context::project::Compiled;
use crate::cli::context::trust::TrustHashArgs;
use crate::cli::cx::Cx;
use crate::cli::error::Result;
use crate::eval::affected::Choice;
use crate::eval::asked::{AnswersFrom, RunAnswers, RunCheck, RunProgram};
use crate::eval::scorecard::Scorecard;
use crate::eval::trials::Rows;
use crate::registry::scenarios::Refusals;

/// Every scenario of the project, or those of another version of it: with that version's frozen files and stored requests, over the tasks
/// and the recorded answers of the project.
pub(in crate::cli::context) fn judge(
    project: &Compiled,
    scenarios: &Scenarios,
    whose: &Compiled,
    trust: &TrustHashArgs,
    cx: &Cx,
) -> Result<Scorecard> {
    let args = EvalArgs::default();
    let chosen = scenarios.choose(&args, &project.config)?;
    let live = CachedFiles::new(project.files());
    let frozen = CachedFiles::new(whose.files());
    let counters = Counters::new(&project.config, None)?;
    let cache = CacheArgs::default();
    let index = Lookup::new(project, &cache);
    let is_own = std::ptr::eq(project, whose);
    let refusals = if is_own { scenarios.refusals(project) } else { Refusals::default() };
    let eval_run = EvalRun::new(project, &chosen, (&live, &frozen), &counters, Rows::Full, AnswersFrom::Known);
    // What earlier checks ask permission for may be more than the project does now: they are skipped then, and listed as removed.
    let own = match OwnChecks::of(project, chosen.iter().map(|one| one.case), trust) {
        Err(_) if !is_own => None,
        own => own?,
    };
    let own = own.as_ref().map(|own| -> &dyn RunCheck { own });
    let programs = match Programs::of(project, chosen.iter().map(|one| one.case), trust) {
        Err(_) if !is_own => None,
        programs => programs?,
    };
    let programs = programs.as_ref().map(|programs| -> &dyn RunProgram { programs });
    let mut eval_run = eval_run.asking(RunAnswers { own, programs, config: Some(&project.config), ..RunAnswers::default() });
    (eval_run.refusals, eval_run.index) = (refusals, Some(&index));
    let all = vec![true; chosen.len()];
    let lines = || project.lines(&project.paths());
    let locator = locator(scenarios, &live, &lines);
    let finished = eval_run.run(&all, &locator, (cx.options.threads, false));
    let choices = vec![Choice::Run; chosen.len()];
    Ok(card(project, (scenarios, &locator), &eval_run, choices, finished, counters.first().name()))
}
