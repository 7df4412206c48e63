//! `ctxc gate`: runs the scenarios with the expectations of both sides, and decides.

use super::args::GateArgs;
use super::base_files::prepare_check_runs;
use super::compared::{BaseProject, GateComparison, read_baselines};
use super::contracts::{find_broken_by_packages, find_broken_contracts};
use super::decision_text;
use super::origin::NewProject;
use super::untested_changes::find_uncovered;
use crate::cli::context::eval::{
    CheckPermissions, CheckRuns, RecordingLimits, RunSubject, judge_all, judge_some,
    record_scenarios, unpermitted_note,
};
use crate::cli::context::sent_requests::SentRequests;
use crate::cli::cx::Cx;
use crate::cli::error::{CliError, CliErrorKind, Result};
use crate::cli::exit::Exit;
use crate::cli::record::comparison::comparison_masks;
use crate::cli::shared_args::CommentFormat;
use crate::eval::case_result::CaseVerdict;
use crate::eval::gate::{
    Baseline, BaselineCase, GateDecision, GateHeader, GateInput, GateVerdict, LocatedRelaxation,
    NEW_ANSWERS_LABEL, SafeguardKind, decide_gate,
};
use crate::eval::scorecard::{CaseRow, Scorecard};
use crate::provider::spending::SpendLimit;
use crate::registry::SCHEMA;
use crate::scenario::model::ScenarioCase;
use std::collections::BTreeSet;

/// Runs the verb. An error ends the run with its own exit code, and the reports contain it.
pub(crate) fn run_gate(args: &GateArgs, cx: &mut Cx) -> Result<Exit> {
    let error = match evaluate_gate(args, cx) {
        Err(error) if error.kind != CliErrorKind::BrokenPipe => error,
        ended => return ended,
    };
    let verdict = match error.kind {
        CliErrorKind::Findings | CliErrorKind::Project => GateVerdict::Fail,
        CliErrorKind::Usage
        | CliErrorKind::Infrastructure
        | CliErrorKind::NothingSelected
        | CliErrorKind::BrokenPipe => GateVerdict::Inconclusive,
    };
    let details = error.others.iter().chain(&error.hints).cloned().collect();
    let decision = GateDecision::from_error(
        args.base.as_deref().unwrap_or_default(),
        verdict,
        error.message.clone(),
        details,
    );
    // On the terminal the error itself is sufficient.
    let format = &args.output.format;
    if matches!(format.result_format(), CommentFormat::Text) && args.output.output.is_none() {
        cx.emit_reports(format, |format, cx| emit_decision(&decision, format, cx))?;
    } else {
        cx.emit_result(&args.output, |format, cx| {
            emit_decision(&decision, format, cx)
        })?;
    }
    Err(error)
}

fn emit_decision(decision: &GateDecision, format: CommentFormat, cx: &mut Cx) -> Result<()> {
    match format {
        CommentFormat::Text => decision_text::print_decision(decision, cx),
        CommentFormat::Json => cx.print_json(decision),
        CommentFormat::Markdown => {
            cx.print(|out| out.write_all(decision_text::markdown_comment(decision).as_bytes()))
        }
    }
}

fn evaluate_gate(args: &GateArgs, cx: &mut Cx) -> Result<Exit> {
    let new_project = if args.new_project {
        NewProject::Permitted
    } else {
        NewProject::Doubted
    };
    let mut compared = GateComparison::new(args.base.as_deref(), new_project, cx)?;
    if !args.suite.is_empty() {
        compared.retain_suites(&args.suite)?;
    }
    if args.record {
        record_new_answers(&mut compared, args, cx)?;
    }
    let given = args
        .requests
        .as_deref()
        .map(SentRequests::read_file)
        .transpose()?;
    let mut contracts = find_broken_contracts(&mut compared, cx)?;
    contracts.extend(find_broken_by_packages(&mut compared, cx));
    let runs = prepare_check_runs(&mut compared)?
        .with_requests(given.unwrap_or_default())
        .with_judge_trust(compared.base.judge.trust.clone());
    let GateComparison {
        project,
        scenarios,
        base,
        relaxations: weakened,
        notes,
        approvals,
        ..
    } = &compared;
    let judged = judge_sides(&compared, &runs, args, cx);
    if let Some(file) = &args.save_requests {
        runs.requests.write_file(
            file,
            &comparison_masks(project.known_secrets(), &project.config).keep_personal_data(),
        )?;
    }
    let (card, by_base) = judged?;
    if let Some(note) = unpermitted_note(project, scenarios, &args.trust)? {
        cx.print_note(&note);
    }
    let baselines = args
        .baseline
        .as_deref()
        .map_or_else(|| Ok(deciding_baselines(&compared)), read_baselines)?;
    let uncovered = find_uncovered(&compared)?;
    if !args.allow_key_change {
        check_comparable(&baselines, &card)?;
    }
    let sides = GateHeader {
        base: base.name.clone(),
        commit: base.commit.clone(),
        has_base: base.loaded.is_some(),
        registry_hash: project.registry.hash().to_string(),
        scenarios: card.summary.planned,
        answered: card.summary.answered,
        baselines: baselines
            .iter()
            .map(|baseline| crate::scenario::paths::baseline_path(&baseline.suite))
            .collect(),
    };
    let candidate = GateInput {
        card: &card,
        by_base: by_base.as_ref(),
        unchecked: &runs.failed_checks(),
        baselines: &baselines,
        weakened,
        contracts: &contracts,
        notes,
        doubts: &base.doubts,
        approvals,
        accepters: &compared.accepters,
        uncovered: &uncovered,
        limits: compared.gate_limits(),
        min_answered: args.min_answered,
        may_be_empty: args.allow_empty || project.config.workspace.is_some(),
    };
    let decision = decide_gate(sides, &candidate);
    cx.emit_result(&args.output, |format, cx| {
        emit_decision(&decision, format, cx)
    })?;
    let is_untried = card
        .cases
        .iter()
        .any(|row| row.verdict() == CaseVerdict::Error);
    Ok(match decision.decision {
        GateVerdict::Fail => Exit::Gate,
        GateVerdict::Inconclusive if is_untried => Exit::Infrastructure,
        GateVerdict::Inconclusive if compared.is_idle => Exit::Nothing,
        GateVerdict::Inconclusive => Exit::Inconclusive,
        GateVerdict::Pass => Exit::Success,
    })
}

/// Returns the results by the expectations of the change, and by those of the base.
fn judge_sides(
    compared: &GateComparison,
    runs: &CheckRuns,
    args: &GateArgs,
    cx: &Cx,
) -> Result<(Scorecard, Option<Scorecard>)> {
    let GateComparison {
        project,
        scenarios,
        base,
        ..
    } = compared;
    let permitted = CheckPermissions {
        trust: &args.trust,
        runs,
    };
    let by_base = |is_asked: &dyn Fn(&ScenarioCase) -> bool| {
        let card = |base: &BaseProject| {
            let subject = RunSubject {
                project,
                scenarios: &base.scenarios,
                whose: &base.project,
            };
            judge_some(subject, is_asked, permitted, cx)
        };
        base.loaded.as_ref().map(card).transpose()
    };
    let own = || match &args.candidate {
        Some(path) => {
            let card = compared.read_candidate(path, &args.suite, &args.trust, cx)?;
            compared.check_counted_scores(path, &card)?;
            Ok(card)
        }
        None => judge_all(RunSubject::of_project(project, scenarios), permitted, cx),
    };
    if runs.is_in_folder() {
        // The checks of the base run first, before any code of the change can write into their
        // folder.
        let by_base = by_base(&|_| true)?;
        return Ok((own()?, by_base));
    }
    let card = own()?;
    let mut unchanged = compared.unchanged_scenarios();
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
fn deciding_baselines(compared: &GateComparison) -> Vec<Baseline> {
    let mut held = compared.base.carried.clone();
    let moved = compared
        .relaxations
        .iter()
        .filter(|one| one.weakened.kind == SafeguardKind::Baseline);
    for LocatedRelaxation { weakened, path, .. } in moved.filter(|one| {
        compared
            .approvals
            .acceptance_of(&one.weakened, &compared.accepters)
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
fn check_comparable(baselines: &[Baseline], card: &Scorecard) -> Result<()> {
    let refused = |what: String| {
        Err(CliError::new(CliErrorKind::Infrastructure, format!("the accepted results cannot be compared with these: {what}"))
            .with_hint("`ctxc baseline migrate --reason WHY` accepts the results of the other model; --allow-key-change compares verdicts anyway"))
    };
    for baseline in baselines {
        if baseline.registry_schema != SCHEMA {
            return refused(format!(
                "those of `{}` were made with {}, these with {SCHEMA}",
                baseline.suite, baseline.registry_schema
            ));
        }
    }
    let other = |case: &BaselineCase| {
        case.describe_other_model(card.cases.iter().find(|row| row.id == case.id)?)
    };
    baselines
        .iter()
        .flat_map(|baseline| &baseline.cases)
        .find_map(other)
        .map_or(Ok(()), refused)
}

/// Records new answers for changed requests whose answers the change contains. The author of the
/// change does not control these answers, so they need no acceptance.
fn record_new_answers(compared: &mut GateComparison, args: &GateArgs, cx: &mut Cx) -> Result<()> {
    let is_brought = |one: &LocatedRelaxation| {
        one.weakened.kind == SafeguardKind::Recording && one.weakened.what == NEW_ANSWERS_LABEL
    };
    let names: BTreeSet<String> = compared
        .relaxations
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
    let limits = RecordingLimits {
        budget,
        trust: &args.trust,
    };
    let recorded = record_scenarios(
        RunSubject::of_project(&compared.project, &compared.scenarios),
        &names,
        limits,
        cx,
    )?;
    compared
        .relaxations
        .retain(|one| !(is_brought(one) && recorded.contains(&one.weakened.of)));
    compared.notes.extend(
        recorded
            .iter()
            .map(|name| format!("answers of `{name}` were recorded anew by this run")),
    );
    Ok(())
}
