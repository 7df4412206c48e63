//! `ctxc gate`: runs the scenarios with the expectations of both sides, and decides.

use super::args::GateArgs;
use super::base_files::check_runs;
use super::compared::{Compared, read_baselines};
use super::origin::NewProject;
use super::text;
use super::uncovered::uncovered;
use crate::cli::args::CommentFormat;
use crate::cli::context::eval::load::Scenarios;
use crate::cli::context::eval::{CheckRuns, judge, judge_some, record, unpermitted};
use crate::cli::context::project::Compiled;
use crate::cli::context::sent_requests::SentRequests;
use crate::cli::cx::Cx;
use crate::cli::error::{CliError, Kind, Result};
use crate::cli::exit::Exit;
use crate::cli::record::comparison::comparison_masks;
use crate::eval::finished::CaseVerdict;
use crate::eval::gate::{
    BROUGHT, Baseline, BaselineCase, Candidate, Decision, Kind as SafeguardKind, Loosened, Sides,
    Verdict, decide,
};
use crate::eval::scorecard::{CaseRow, Scorecard};
use crate::provider::spending::SpendLimit;
use crate::registry::SCHEMA;
use crate::scenario::model::Case;
use std::collections::BTreeSet;

/// Runs the verb. An error ends the run with its own exit code, and the reports contain it.
pub(crate) fn run(args: &GateArgs, cx: &mut Cx) -> Result<Exit> {
    let error = match decided(args, cx) {
        Err(error) if error.kind != Kind::BrokenPipe => error,
        ended => return ended,
    };
    let verdict = match error.kind {
        Kind::Findings | Kind::Project => Verdict::Fail,
        Kind::Usage | Kind::Infrastructure | Kind::Nothing | Kind::BrokenPipe => {
            Verdict::Inconclusive
        }
    };
    let details = error.others.iter().chain(&error.hints).cloned().collect();
    let decision = Decision::stopped(
        args.base.as_deref().unwrap_or_default(),
        verdict,
        error.message.clone(),
        details,
    );
    // On the terminal the error itself is sufficient.
    let format = &args.output.format;
    if matches!(format.resolve(), CommentFormat::Text) && args.output.output.is_none() {
        cx.emit_reports(format, |format, cx| show(&decision, format, cx))?;
    } else {
        cx.emit(&args.output, |format, cx| show(&decision, format, cx))?;
    }
    Err(error)
}

fn show(decision: &Decision, format: CommentFormat, cx: &mut Cx) -> Result<()> {
    match format {
        CommentFormat::Text => text::print(decision, cx),
        CommentFormat::Json => cx.json(decision),
        CommentFormat::Markdown => {
            cx.print(|out| out.write_all(text::markdown(decision).as_bytes()))
        }
    }
}

fn decided(args: &GateArgs, cx: &mut Cx) -> Result<Exit> {
    let new_project = if args.new_project {
        NewProject::Permitted
    } else {
        NewProject::Doubted
    };
    let mut compared = Compared::new(args.base.as_deref(), new_project, cx)?;
    if !args.suite.is_empty() {
        compared.keep_suites(&args.suite)?;
    }
    if args.record {
        record_brought(&mut compared, args, cx)?;
    }
    let given = args
        .requests
        .as_deref()
        .map(SentRequests::read)
        .transpose()?;
    let runs = check_runs(&mut compared)?.with(given.unwrap_or_default());
    let Compared {
        project,
        scenarios,
        base,
        weakened,
        notes,
        approvals,
        ..
    } = &compared;
    let judged = judged(&compared, &runs, args, cx);
    if let Some(file) = &args.save_requests {
        runs.requests.write(
            file,
            &comparison_masks(project.known_secrets(), &project.config).keeping_persons(),
        )?;
    }
    let (card, by_base) = judged?;
    if let Some(note) = unpermitted(project, scenarios, &args.trust)? {
        cx.note(&note);
    }
    let baselines = args
        .baseline
        .as_deref()
        .map_or_else(|| Ok(accepted_results(&compared)), read_baselines)?;
    let uncovered = uncovered(&compared)?;
    if !args.allow_key_change {
        comparable(&baselines, &card)?;
    }
    let sides = Sides {
        base: base.name.clone(),
        commit: base.commit.clone(),
        has_base: base.then.is_some(),
        registry_hash: project.registry.hash().to_string(),
        scenarios: card.summary.planned,
        answered: card.summary.answered,
        baselines: baselines
            .iter()
            .map(|baseline| crate::scenario::paths::baseline(&baseline.suite))
            .collect(),
    };
    let candidate = Candidate {
        card: &card,
        by_base: by_base.as_ref(),
        unchecked: &runs.failed(),
        baselines: &baselines,
        weakened,
        notes,
        doubts: &base.doubts,
        approvals,
        accepters: &compared.accepters,
        uncovered: &uncovered,
        limits: compared.limits(),
        min_answered: args.min_answered,
        may_be_empty: args.allow_empty,
    };
    let decision = decide(sides, &candidate);
    cx.emit(&args.output, |format, cx| show(&decision, format, cx))?;
    let is_untried = card
        .cases
        .iter()
        .any(|row| row.verdict() == CaseVerdict::Error);
    Ok(match decision.decision {
        Verdict::Fail => Exit::Gate,
        Verdict::Inconclusive if is_untried => Exit::Infrastructure,
        Verdict::Inconclusive if compared.is_idle => Exit::Nothing,
        Verdict::Inconclusive => Exit::Inconclusive,
        Verdict::Pass => Exit::Success,
    })
}

/// Returns the results by the expectations of the change, and by those of the base.
fn judged(
    compared: &Compared,
    runs: &CheckRuns,
    args: &GateArgs,
    cx: &Cx,
) -> Result<(Scorecard, Option<Scorecard>)> {
    let Compared {
        project,
        scenarios,
        base,
        ..
    } = compared;
    let permitted = (&args.trust, runs);
    let by_base = |is_asked: &dyn Fn(&Case) -> bool| {
        let card = |(then, theirs): &(Compiled, Scenarios)| {
            judge_some(project, (theirs, is_asked), then, permitted, cx)
        };
        base.then.as_ref().map(card).transpose()
    };
    let own = || match &args.candidate {
        Some(path) => compared.scorecard(path, &args.suite, &args.trust, cx),
        None => judge(project, scenarios, project, permitted, cx),
    };
    if runs.is_in_folder() {
        // The checks of the base run first, before any code of the change can write into their
        // folder.
        let by_base = by_base(&|_| true)?;
        return Ok((own()?, by_base));
    }
    let card = own()?;
    let mut unchanged = compared.unchanged();
    let is_decided =
        |row: &&CaseRow| args.candidate.is_none() && row.verdict() != CaseVerdict::Error;
    let decided: BTreeSet<&str> = card
        .cases
        .iter()
        .filter(is_decided)
        .map(|row| row.id.as_str())
        .collect();
    unchanged.retain(|name| decided.contains(name.as_str()));
    let by_base = by_base(&|case| !unchanged.contains(&case.name.value))?;
    Ok((card, by_base))
}

/// Returns the deciding baselines: those of the base, replaced by newer ones that are accepted in
/// the log.
fn accepted_results(compared: &Compared) -> Vec<Baseline> {
    let mut held = compared.base.carried.clone();
    let moved = compared
        .weakened
        .iter()
        .filter(|one| one.weakened.kind == SafeguardKind::Baseline);
    for Loosened { weakened, path, .. } in moved.filter(|one| {
        compared
            .approvals
            .of(&one.weakened, &compared.accepters)
            .is_some()
    }) {
        match compared
            .baselines
            .get(path)
            .filter(|_| weakened.after.is_some())
        {
            Some(baseline) => held.insert(path.clone(), baseline.clone()),
            None => held.remove(path),
        };
    }
    held.into_values().collect()
}

/// Returns an error if the baselines are of another model or registry format, which cannot be
/// compared.
fn comparable(baselines: &[Baseline], card: &Scorecard) -> Result<()> {
    let refused = |what: String| {
        Err(CliError::new(Kind::Infrastructure, format!("the accepted results cannot be compared with these: {what}"))
            .hint("`ctxc baseline migrate --reason WHY` accepts the results of the other model; --allow-key-change compares verdicts anyway"))
    };
    for baseline in baselines {
        if baseline.registry_schema != SCHEMA {
            return refused(format!(
                "those of `{}` were made with {}, these with {SCHEMA}",
                baseline.suite, baseline.registry_schema
            ));
        }
    }
    let other =
        |case: &BaselineCase| case.other_model(card.cases.iter().find(|row| row.id == case.id)?);
    baselines
        .iter()
        .flat_map(|baseline| &baseline.cases)
        .find_map(other)
        .map_or(Ok(()), refused)
}

/// Records new answers for changed requests whose answers the change contains. The author of the
/// change does not control these answers, so they need no acceptance.
fn record_brought(compared: &mut Compared, args: &GateArgs, cx: &mut Cx) -> Result<()> {
    let is_brought = |one: &Loosened| {
        one.weakened.kind == SafeguardKind::Recording && one.weakened.what == BROUGHT
    };
    let names: BTreeSet<String> = compared
        .weakened
        .iter()
        .filter(|one| is_brought(one))
        .map(|one| one.weakened.of.clone())
        .collect();
    if names.is_empty() {
        return Ok(());
    }
    let budget = SpendLimit {
        tokens: None,
        usd: args.budget_usd,
    };
    let recorded = record(
        &compared.project,
        &compared.scenarios,
        &names,
        (budget, &args.trust),
        cx,
    )?;
    compared
        .weakened
        .retain(|one| !(is_brought(one) && recorded.contains(&one.weakened.of)));
    compared.notes.extend(
        recorded
            .iter()
            .map(|name| format!("answers of `{name}` were recorded anew by this run")),
    );
    Ok(())
}
