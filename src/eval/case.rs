//! Runs one case: assembles and judges its context, then judges its answers, recorded or scripted.
//! An answer that is missing or belongs to another request is reported, and never counted as
//! passed.

use super::answer::{NoAnswerReason, RunStage, TrialAnswer};
use super::case_result::{AnswerOrigin, CaseResult, CaseVerdict};
use super::prepared_case::{CaseInput, PreparedCase, RunContext, SeenContext};
use super::receiver::Receiver;
use super::result_keys::{hash_agent_context, hash_run_context, result_keys};
use super::trials::TrialDecision;
use super::verdict::{ExpectationOutcome, ExpectationVerdict, Reason};
use super::{answer, context, prepared_case, verdict};
use crate::base::span::Spanned;
use crate::context::TaskGraph;
use crate::context::assemble::{Assembly, Report};
use crate::context::fault::Fault;
use crate::run::flow::TaskFlow;
use crate::scenario::model::{ContextExpectation, ScenarioCase};
use std::collections::BTreeMap;
use std::sync::Arc;

pub(super) fn run_case(
    context: &RunContext<'_>,
    input: &CaseInput<'_>,
    forest: &TaskGraph<'_>,
    receiver: Receiver<'_>,
) -> CaseResult {
    let case = match prepared_case::prepare_case(context, input, forest, receiver) {
        Ok(case) => case,
        Err(trouble) => return finish_unprepared(*trouble, input.case),
    };
    // The project's model name can refer to another id tomorrow, so the id is stored.
    let id = case
        .routed
        .choice
        .as_ref()
        .map(|choice| choice.model.id.as_str());
    let model = id.or_else(|| case.model()).map(str::to_owned);
    let tokenizer = case.routed.options.counter.name().to_owned();
    let provider = case
        .routed
        .choice
        .as_ref()
        .map(|choice| choice.model.provider.value.clone());
    let mut done = CaseResult {
        provider,
        model,
        tokenizer,
        trouble: None,
        ..CaseResult::failed_case(&case.node, "")
    };
    if input.case.is_run {
        run_whole_task(&case, &mut done);
        return done;
    }
    let assembled = case.assemble(&|_| {});
    done.keys = Some(result_keys(
        &case,
        hash_agent_context(&case, assembled.as_ref().map_err(Vec::as_slice)),
    ));
    match assembled {
        Err(faults) => {
            // A fault that prevents the context changes the agent's input as much as an edited
            // text, so the case fails.
            done.verdict = CaseVerdict::Fail;
            done.faults = faults;
            done.context = skipped_verdicts(input.case);
        }
        Ok(assembly) => judge_case(&case, &assembly, &mut done),
    }
    done
}

/// Adds skipped verdicts for all expectations to a case whose context has faults.
fn finish_unprepared(trouble: CaseResult, case: &ScenarioCase) -> CaseResult {
    if trouble.faults.is_empty() {
        trouble
    } else {
        CaseResult {
            context: skipped_verdicts(case),
            ..trouble
        }
    }
}

/// Skipped verdicts on a context that does not exist.
fn skipped_verdicts(case: &ScenarioCase) -> Vec<ExpectationVerdict> {
    let skipped = |one: &crate::base::span::Spanned<crate::scenario::model::ContextExpectation>| {
        let what = one.value.describe();
        let reason = Reason::new(what.clone(), "no context");
        ExpectationVerdict::new(what, (ExpectationOutcome::Skipped, reason), one.span)
    };
    case.expect_context.iter().map(skipped).collect()
}

/// Assembles the context of a case and passes it to `then`.
///
/// # Errors
/// The outer error is the reason why the case cannot be tried; the inner one, the faults that
/// prevent the context.
pub fn with_context<T>(
    context: &RunContext<'_>,
    input: &CaseInput<'_>,
    forest: &TaskGraph<'_>,
    receiver: Receiver<'_>,
    then: impl FnOnce(&SeenContext<'_>) -> T,
) -> Result<Result<T, Vec<Fault>>, String> {
    let case = match prepared_case::prepare_case(context, input, forest, receiver) {
        Ok(case) => case,
        Err(done) => return done.trouble.map_or(Ok(Err(done.faults)), Err),
    };
    let assembly = case.assemble(&|_| {});
    Ok(assembly.map(|assembly| {
        then(&SeenContext {
            case: &case,
            assembly: &assembly,
        })
    }))
}

/// Judges each expectation on the context.
pub(super) fn judge_context(
    case: &PreparedCase<'_>,
    assembly: &Assembly,
) -> Vec<ExpectationVerdict> {
    let seen = SeenContext { case, assembly };
    case.input
        .case
        .expect_context
        .iter()
        .map(|one| context::judge_expectation(&seen, one))
        .collect()
}

/// Runs a case about a whole task. The contexts of all agents are judged as they were in the first
/// trial.
fn run_whole_task(case: &PreparedCase<'_>, done: &mut CaseResult) {
    let agents = case.preview_agents();
    done.keys = Some(result_keys(case, hash_run_context(case, &agents)));
    let tokens = |report: &Report| {
        report
            .tokens
            .zip(report.prefix_tokens)
            .map(|(all, prefix)| (all as u64, prefix as u64))
    };
    // Until the first agent is called, the preview of its context is the best estimate.
    done.tokens = agents
        .iter()
        .flatten()
        .next()
        .and_then(|(_, first)| tokens(&first.report));
    let answered = answer::run_trials(case, None, done);
    let Some(answer) = done.trials.first().map(|trial| Arc::clone(&trial.answer)) else {
        done.context = skipped_verdicts(case.input.case);
        return decide_verdict(answered, case.run, case.input.case, done);
    };
    let mut faults = Vec::new();
    match agent_contexts(case, &answer) {
        Err(fault) => {
            faults.push(fault);
            done.context = skipped_verdicts(case.input.case);
        }
        Ok(contexts) => {
            done.tokens = contexts
                .first()
                .and_then(|first| tokens(&first.assembly.as_ref().ok()?.report))
                .or(done.tokens);
            done.context = case
                .input
                .case
                .expect_context
                .iter()
                .map(|one| judge_contexts(&contexts, &answer, one))
                .collect();
            faults.extend(
                contexts
                    .into_iter()
                    .filter_map(|one| one.assembly.err())
                    .flatten(),
            );
        }
    }
    decide_verdict(answered, case.run, case.input.case, done);
    // A run that is expected to end without a context has no faults to report.
    if done.verdict == CaseVerdict::Fail {
        done.faults = faults;
    }
}

/// An agent of a run, with its context.
pub(super) struct RunAgentContext<'a, 'c> {
    pub(super) stage: &'a RunStage,
    pub(super) case: PreparedCase<'c>,
    pub(super) assembly: Result<Assembly, Vec<Fault>>,
}

/// The contexts of the agents of a run, each assembled again from the outputs of the stages before
/// it.
pub(super) fn agent_contexts<'a, 'c>(
    case: &PreparedCase<'c>,
    answer: &'a TrialAnswer,
) -> Result<Vec<RunAgentContext<'a, 'c>>, Fault> {
    let files = case.read.overlay_files(case.run.live);
    let flow = TaskFlow::new(
        case.forest,
        case.read
            .as_run_situation(case.receiver, &files, case.run.session),
        &case.run.assembly_options(),
    )?;
    let (mut outputs, mut seen) = (BTreeMap::new(), Vec::new());
    for stage in answer.run.iter().flat_map(|run| &run.stages) {
        if stage.is_agent
            && let Some(ready) = flow.ready_stage(&outputs, &stage.stage)
        {
            let case = case.for_agent(&stage.node, &ready.results)?;
            let assembly = case.assemble(&|_| {});
            seen.push(RunAgentContext {
                stage,
                case,
                assembly,
            });
        }
        outputs.extend(
            stage
                .output
                .clone()
                .map(|output| (stage.stage.clone(), output)),
        );
    }
    Ok(seen)
}

/// The expectation that applies to one call of an agent: one without a node applies to every agent,
/// one with a node only to that agent.
pub(super) fn applicable_test<'e>(
    expectation: &'e Spanned<ContextExpectation>,
    stage: &RunStage,
    answer: &TrialAnswer,
) -> Option<&'e Spanned<ContextExpectation>> {
    let ContextExpectation::OfAgent { node, test } = &expectation.value else {
        return Some(expectation);
    };
    let meant = answer
        .run
        .as_deref()
        .map_or_else(Vec::new, |run| run.find_stages(&node.value));
    meant
        .iter()
        .any(|one| std::ptr::eq(*one, stage))
        .then_some(test)
}

/// Judges one expectation on the contexts of a run: it must hold at every call of the agent that it
/// names, or of every agent.
fn judge_contexts(
    contexts: &[RunAgentContext<'_, '_>],
    answer: &TrialAnswer,
    expectation: &Spanned<ContextExpectation>,
) -> ExpectationVerdict {
    let judged = contexts.iter().filter_map(|one| {
        let test = applicable_test(expectation, one.stage, answer)?;
        let Ok(assembly) = &one.assembly else {
            return Some(verdict::fail_blind(test.value.describe(), "no context"));
        };
        let judged = context::judge_expectation(
            &SeenContext {
                case: &one.case,
                assembly,
            },
            test,
        );
        let reason = if judged.outcome == ExpectationOutcome::Pass {
            judged.reason
        } else {
            judged
                .reason
                .with_advice(format!("it is the context of `{}`", one.stage.label()))
        };
        Some((judged.outcome, reason))
    });
    let (named, test) = if let ContextExpectation::OfAgent { node, test } = &expectation.value {
        (Some(node.value.as_str()), &**test)
    } else {
        (None, expectation)
    };
    let judged: Vec<_> = judged.collect();
    let (outcome, reason) = match (judged.is_empty(), named) {
        (false, _) => verdict::all_hold(&judged),
        (true, Some(name)) => answer::uncalled_agent(answer, name),
        (true, None) => verdict::fail_blind(test.value.describe(), "no agent that was asked"),
    };
    let reason = if judged.len() > 1 && outcome == ExpectationOutcome::Pass {
        Reason {
            expected: test.value.describe(),
            found: format!("it in {} contexts", judged.len()),
            ..reason
        }
    } else {
        reason
    };
    ExpectationVerdict::new(
        expectation.value.describe(),
        (outcome, reason),
        expectation.span,
    )
}

fn judge_case(case: &PreparedCase<'_>, assembly: &Assembly, done: &mut CaseResult) {
    done.context = judge_context(case, assembly);
    done.tokens = assembly
        .report
        .tokens
        .zip(assembly.report.prefix_tokens)
        .map(|(all, prefix)| (all as u64, prefix as u64));
    if case.input.case.uses_snapshot() {
        done.snapshot = Some(context::stored_request(&SeenContext { case, assembly }));
    }
    let answered = answer::run_trials(case, Some(assembly), done);
    decide_verdict(answered, case.run, case.input.case, done);
    if case.run.answers.retains_messages && done.verdict != CaseVerdict::Pass {
        done.messages = assembly
            .messages
            .iter()
            .map(|message| (message.speaker, message.text.text().to_owned()))
            .collect();
    }
}

/// Decides the verdict of a case whose context was judged, from the outcome of its answers.
pub(super) fn decide_verdict(
    answered: Result<TrialDecision, NoAnswerReason>,
    run: &RunContext<'_>,
    case: &ScenarioCase,
    done: &mut CaseResult,
) {
    let holds = !done.context.iter().any(ExpectationVerdict::is_failure);
    done.verdict = match answered {
        Err(NoAnswerReason::Trouble(why)) => {
            done.trouble = Some(why);
            CaseVerdict::Error
        }
        Err(NoAnswerReason::Stale(moved)) => {
            done.clear_trials();
            done.answered = AnswerOrigin::Stale;
            done.changes = moved;
            if holds {
                CaseVerdict::Stale
            } else {
                CaseVerdict::Fail
            }
        }
        Ok(_) if !holds => CaseVerdict::Fail,
        Ok(TrialDecision::Open)
            if let Some(key) = unjudged_key(run, case).filter(|_| done.trials.is_empty()) =>
        {
            done.trouble = Some(match key {
                "todo" => {
                    "undecided: `todo` names an expectation that is still to be written".to_owned()
                }
                key => format!(
                    "undecided: `{key}` has no judge, `ctxc new judge` writes one; with `gate: false` it only informs"
                ),
            });
            CaseVerdict::Inconclusive
        }
        // Without a single verdict on the context, the case does not pass.
        Ok(TrialDecision::Open)
            if !done
                .context
                .iter()
                .any(|verdict| verdict.outcome != ExpectationOutcome::Skipped) =>
        {
            CaseVerdict::Inconclusive
        }
        Ok(TrialDecision::Pass | TrialDecision::Open) => CaseVerdict::Pass,
        Ok(TrialDecision::Fail) => CaseVerdict::Fail,
        Ok(TrialDecision::Inconclusive) => CaseVerdict::Inconclusive,
    };
}

/// The key of the first gating expectation that cannot be judged yet.
fn unjudged_key(run: &RunContext<'_>, case: &ScenarioCase) -> Option<&'static str> {
    let has_judge = run.answers.judge.is_some_and(|judge| judge.agent.is_ok());
    case.expectations
        .iter()
        .filter(|one| one.value.gate)
        .filter_map(|one| one.value.test.unjudged_key())
        .find(|key| !has_judge || *key == "todo")
}
