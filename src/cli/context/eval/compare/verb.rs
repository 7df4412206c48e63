//! `ctxc compare`: loads the sides, runs the scenarios with each, and prints the differences of each
//! side from the first.

use super::super::choose::StoredCase;
use super::super::live_calls::LiveModels;
use super::super::load::{ChosenCase, Scenarios};
use super::super::plan::{self, PlanOptions};
use super::super::run::{live_models, no_scenario_error};
use super::super::runnable::RunnableCommands;
use super::command_line::{CompareArgs, CompareFormat};
use super::side::{Side, SideRun};
use super::view;
use crate::base::number::format_usd;
use crate::cli::context::project::CompiledProject;
use crate::cli::prelude::*;
use crate::eval::comparison::{Comparison, SidePair, SideResults, UncomparedCase, VariedPart};
use crate::scenario::expect::judge::JUDGE_ROLE;
use crate::scenario::model::CaseSubject;
use std::collections::BTreeSet;

/// Runs the verb.
pub(crate) fn run_compare(args: &CompareArgs, cx: &mut Cx) -> Result<Exit> {
    let (across, names) = args.sides()?;
    let eval_args = args.eval_args(across, names);
    let limit = eval_args.spend_limit()?;
    let current = CompiledProject::load_or_empty(cx)?.require_templates("this project")?;
    let scenarios = Scenarios::read(&current, &eval_args.what)?;
    let mut chosen = scenarios.choose_cases(&eval_args, &current.config)?;
    let broken = scenarios.broken_files(&current).into_iter();
    let broken = broken.map(|broken| UncomparedCase {
        id: broken.file.path.to_string(),
        reason: broken.reason,
    });
    let mut excluded: Vec<UncomparedCase> = broken.collect();
    if chosen.is_empty() && excluded.is_empty() {
        return Err(no_scenario_error(&eval_args, &current));
    }
    let refusals = scenarios.refusals(&current);
    chosen.retain(|one| {
        let id = &one.case.name.value;
        let refusal = refusals.reason_for(one.path, id).map(str::to_owned);
        let reason = refusal.or_else(|| exclusion_reason(across, one));
        let is_run = reason.is_none();
        excluded.extend(reason.map(|reason| UncomparedCase {
            id: id.clone(),
            reason,
        }));
        is_run
    });
    let commands = RunnableCommands::collect(&current, chosen.iter(), &eval_args.trust)?;
    if let Some(note) = commands.unpermitted_note().filter(|_| !eval_args.plan) {
        cx.print_note(&note);
    }
    let asking = live_models(&eval_args, &current, limit, cx)?;
    let run = SideRun {
        args: &eval_args,
        current: &current,
        chosen: &chosen,
        commands: &commands,
        asking: asking.as_ref(),
    };
    let load = |name: &String| Side::load(across, name, &run, cx);
    let sides = names.iter().map(load).collect::<Result<Vec<Side<'_>>>>()?;
    let mut finished: Vec<Option<StoredCase>> = Vec::new();
    for side in &sides {
        finished.extend(side.run(&run, &sides, cx.options.threads)?);
    }
    if eval_args.plan {
        if across == VariedPart::Revision {
            plan_once(&mut finished);
        }
        let sides = names
            .iter()
            .flat_map(|name| chosen.iter().map(move |_| name.as_str()));
        let chosen = chosen.repeat(names.len());
        let plan = plan::build_plan(&chosen, &finished, PlanOptions::default()).with_sides(sides);
        cx.emit_result(&args.output, |format, cx| match format {
            CompareFormat::Text => plan::print_plan(&plan, cx),
            CompareFormat::Json => cx.print_json(&plan),
            CompareFormat::Html => {
                Err(CliError::usage("--plan is no page").with_hint("take --format text or json"))
            }
        })?;
        return Ok(Exit::Success);
    }
    if let Some((calls, spent)) = asking.as_ref().map(LiveModels::total_usage) {
        let (calls, usd) = (pluralize(calls as usize, "call"), format_usd(spent.usd));
        cx.print_note(&format!("asked models: {calls}, US$ {usd}"));
    }
    let mut rows = finished.iter().flatten().map(|done| &*done.row);
    let results = names.iter().map(|name| SideResults {
        name,
        rows: rows.by_ref().take(chosen.len()).collect(),
    });
    let comparison = Comparison::new(across, &results.collect::<Vec<_>>(), &excluded);
    cx.emit_result(&args.output, |format, cx| match format {
        CompareFormat::Text => view::print_comparison(&comparison, cx),
        CompareFormat::Json => cx.print_json(&comparison),
        CompareFormat::Html => {
            cx.print(|out| out.write_all(view::html_page(&comparison).as_bytes()))
        }
    })?;
    Ok(if comparison.pairs.iter().all(SidePair::is_complete) {
        Exit::Success
    } else {
        Exit::Inconclusive
    })
}

/// Removes the cost of requests that an earlier revision sends as well, since its answers are used.
fn plan_once(finished: &mut [Option<StoredCase>]) {
    let mut seen = BTreeSet::new();
    for done in finished.iter_mut().flatten() {
        let request = done.row.context_hash.clone();
        if request.is_some() && !seen.insert((done.row.id.clone(), request)) {
            done.new_answer_cost = None;
        }
    }
}

/// Returns the reason why a case is the same on all sides; `None` if it is run.
fn exclusion_reason(across: VariedPart, chosen: &ChosenCase<'_>) -> Option<String> {
    match &chosen.case.subject.value {
        CaseSubject::Request(source) => Some(format!(
            "it is about {}, not about an agent of this project",
            source.describe()
        )),
        CaseSubject::Compaction(compaction)
            if compaction.role().is_none() || across == VariedPart::Role =>
        {
            Some(format!(
                "it is about a compaction by {}, not about an agent of this project",
                compaction.method.describe()
            ))
        }
        CaseSubject::Role(role) if across == VariedPart::Model && role == JUDGE_ROLE => {
            Some("it is about the judge, which keeps its model".to_owned())
        }
        CaseSubject::Role(_) | CaseSubject::Task(_) | CaseSubject::Compaction(_) => None,
    }
}
