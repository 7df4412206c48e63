//! Runs one case: assembles and judges its context, then judges its answers, recorded or scripted.
//! An answer that is missing or belongs to another request is reported, and never counted as
//! passed.

use super::answer::{self, Answer, RunStage, Unanswered};
use super::context;
use super::context_hash::{keys, of_agent, of_run};
use super::finished::{Answered, CaseVerdict, Finished};
use super::prepared::{self, CaseInput, PreparedCase, RunContext, Seen};
use super::receiver::Receiver;
use super::trials::Decision;
use super::verdict::{self, Outcome, Reason, Verdict};
use crate::base::span::Spanned;
use crate::context::TaskGraph;
use crate::context::assemble::{Assembly, Report};
use crate::context::fault::Fault;
use crate::run::flow::TaskFlow;
use crate::scenario::model::{Case, ContextExpectation};
use std::collections::BTreeMap;
use std::sync::Arc;

pub(super) fn run(
    context: &RunContext<'_>,
    input: &CaseInput<'_>,
    forest: &TaskGraph<'_>,
    receiver: Receiver<'_>,
) -> Finished {
    let case = match prepared::prepare(context, input, forest, receiver) {
        Ok(case) => case,
        Err(trouble) => return not_prepared(*trouble, input.case),
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
    let mut done = Finished {
        provider,
        model,
        tokenizer,
        trouble: None,
        ..Finished::trouble(&case.node, "")
    };
    if input.case.is_run {
        run_whole(&case, &mut done);
        return done;
    }
    let assembled = case.assemble(&|_| {});
    done.keys = Some(keys(
        &case,
        of_agent(&case, assembled.as_ref().map_err(Vec::as_slice)),
    ));
    match assembled {
        Err(faults) => {
            // A fault that prevents the context changes the agent's input as much as an edited
            // text, so the case fails.
            done.verdict = CaseVerdict::Fail;
            done.faults = faults;
            done.context = unseen(input.case);
        }
        Ok(assembly) => judged(&case, &assembly, &mut done),
    }
    done
}

/// Adds skipped verdicts for all expectations to a case whose context has faults.
fn not_prepared(trouble: Finished, case: &Case) -> Finished {
    if trouble.faults.is_empty() {
        trouble
    } else {
        Finished {
            context: unseen(case),
            ..trouble
        }
    }
}

/// Skipped verdicts on a context that does not exist.
fn unseen(case: &Case) -> Vec<Verdict> {
    let skipped = |one: &crate::base::span::Spanned<crate::scenario::model::ContextExpectation>| {
        let what = one.value.words();
        let reason = Reason::new(what.clone(), "no context");
        Verdict {
            what,
            outcome: Outcome::Skipped,
            gate: true,
            reason,
            span: one.span,
        }
    };
    case.expect_context.iter().map(skipped).collect()
}

/// Assembles the context of a case and passes it to `then`.
///
/// # Errors
/// The outer error is the reason why the case cannot be tried; the inner one, the faults that
/// prevent the context.
pub fn context<T>(
    context: &RunContext<'_>,
    input: &CaseInput<'_>,
    forest: &TaskGraph<'_>,
    receiver: Receiver<'_>,
    then: impl FnOnce(&Seen<'_>) -> T,
) -> Result<Result<T, Vec<Fault>>, String> {
    let case = match prepared::prepare(context, input, forest, receiver) {
        Ok(case) => case,
        Err(done) => return done.trouble.map_or(Ok(Err(done.faults)), Err),
    };
    let assembly = case.assemble(&|_| {});
    Ok(assembly.map(|assembly| {
        then(&Seen {
            case: &case,
            assembly: &assembly,
        })
    }))
}

/// Judges each expectation on the context.
pub(super) fn look(case: &PreparedCase<'_>, assembly: &Assembly) -> Vec<Verdict> {
    let seen = Seen { case, assembly };
    case.input
        .case
        .expect_context
        .iter()
        .map(|one| context::judge(&seen, one))
        .collect()
}

/// Runs a case about a whole task. The contexts of all agents are judged as they were in the first
/// trial.
fn run_whole(case: &PreparedCase<'_>, done: &mut Finished) {
    let agents = case.agents();
    done.keys = Some(keys(case, of_run(case, &agents)));
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
    let answered = answer::answered(case, None, done);
    let Some(answer) = done.trials.first().map(|trial| Arc::clone(&trial.answer)) else {
        done.context = unseen(case.input.case);
        return decide(answered, case.input.case, done);
    };
    let mut faults = Vec::new();
    match contexts(case, &answer) {
        Err(fault) => {
            faults.push(fault);
            done.context = unseen(case.input.case);
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
                .map(|one| look_at(&contexts, &answer, one))
                .collect();
            faults.extend(
                contexts
                    .into_iter()
                    .filter_map(|one| one.assembly.err())
                    .flatten(),
            );
        }
    }
    decide(answered, case.input.case, done);
    // A run that is expected to end without a context has no faults to report.
    if done.verdict == CaseVerdict::Fail {
        done.faults = faults;
    }
}

/// An agent of a run, with its context.
pub(super) struct AgentSeen<'a, 'c> {
    pub(super) stage: &'a RunStage,
    pub(super) case: PreparedCase<'c>,
    pub(super) assembly: Result<Assembly, Vec<Fault>>,
}

/// The contexts of the agents of a run, each assembled again from the outputs of the stages before
/// it.
pub(super) fn contexts<'a, 'c>(
    case: &PreparedCase<'c>,
    answer: &'a Answer,
) -> Result<Vec<AgentSeen<'a, 'c>>, Fault> {
    let files = case.read.over(case.run.live);
    let flow = TaskFlow::new(
        case.forest,
        case.read.whole(case.receiver, (&files, case.run.session)),
        &case.run.options(),
    )?;
    let (mut outputs, mut seen) = (BTreeMap::new(), Vec::new());
    for stage in answer.run.iter().flat_map(|run| &run.stages) {
        if stage.is_agent
            && let Some(ready) = flow.ready(&outputs, &stage.stage)
        {
            let case = case.at(&stage.node, &ready.results)?;
            let assembly = case.assemble(&|_| {});
            seen.push(AgentSeen {
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
pub(super) fn about<'e>(
    expectation: &'e Spanned<ContextExpectation>,
    stage: &RunStage,
    answer: &Answer,
) -> Option<&'e Spanned<ContextExpectation>> {
    let ContextExpectation::OfAgent { node, test } = &expectation.value else {
        return Some(expectation);
    };
    let meant = answer
        .run
        .as_deref()
        .map_or_else(Vec::new, |run| run.of(&node.value));
    meant
        .iter()
        .any(|one| std::ptr::eq(*one, stage))
        .then_some(test)
}

/// Judges one expectation on the contexts of a run: it must hold at every call of the agent that it
/// names, or of every agent.
fn look_at(
    contexts: &[AgentSeen<'_, '_>],
    answer: &Answer,
    expectation: &Spanned<ContextExpectation>,
) -> Verdict {
    let judged = contexts.iter().filter_map(|one| {
        let test = about(expectation, one.stage, answer)?;
        let Ok(assembly) = &one.assembly else {
            return Some(verdict::blind(test.value.words(), "no context"));
        };
        let judged = context::judge(
            &Seen {
                case: &one.case,
                assembly,
            },
            test,
        );
        let reason = if judged.outcome == Outcome::Pass {
            judged.reason
        } else {
            judged
                .reason
                .hint(format!("it is the context of `{}`", one.stage.label()))
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
        (false, _) => verdict::all(&judged),
        (true, Some(name)) => answer::not_asked(answer, name),
        (true, None) => verdict::blind(test.value.words(), "no agent that was asked"),
    };
    let reason = if judged.len() > 1 && outcome == Outcome::Pass {
        Reason {
            expected: test.value.words(),
            found: format!("it in {} contexts", judged.len()),
            ..reason
        }
    } else {
        reason
    };
    Verdict {
        what: expectation.value.words(),
        outcome,
        gate: true,
        reason,
        span: expectation.span,
    }
}

fn judged(case: &PreparedCase<'_>, assembly: &Assembly, done: &mut Finished) {
    done.context = look(case, assembly);
    done.tokens = assembly
        .report
        .tokens
        .zip(assembly.report.prefix_tokens)
        .map(|(all, prefix)| (all as u64, prefix as u64));
    if case.input.case.wants_snapshot() {
        done.snapshot = Some(context::stored_request(&Seen { case, assembly }));
    }
    let answered = answer::answered(case, Some(assembly), done);
    decide(answered, case.input.case, done);
    if case.run.answers.shows && done.verdict != CaseVerdict::Pass {
        done.said = assembly
            .messages
            .iter()
            .map(|message| (message.speaker, message.text.text().to_owned()))
            .collect();
    }
}

/// Decides the verdict of a case whose context was judged, from the outcome of its answers.
pub(super) fn decide(answered: Result<Decision, Unanswered>, case: &Case, done: &mut Finished) {
    let holds = !done.context.iter().any(Verdict::is_failure);
    done.verdict = match answered {
        Err(Unanswered::Trouble(why)) => {
            done.trouble = Some(why);
            CaseVerdict::Error
        }
        Err(Unanswered::Stale(moved)) => {
            done.forget_trials();
            done.answered = Answered::Stale;
            done.moved = moved;
            if holds {
                CaseVerdict::Stale
            } else {
                CaseVerdict::Fail
            }
        }
        Ok(_) if !holds => CaseVerdict::Fail,
        Ok(Decision::Open) if let Some(key) = unjudged(case).filter(|_| done.trials.is_empty()) => {
            done.trouble = Some(match key {
                "todo" => {
                    "undecided: `todo` names an expectation that is still to be written".to_owned()
                }
                key => format!(
                    "undecided: `{key}` is not judged yet; with `gate: false` it only informs"
                ),
            });
            CaseVerdict::Inconclusive
        }
        // Without a single verdict on the context, the case does not pass.
        Ok(Decision::Open)
            if !done
                .context
                .iter()
                .any(|verdict| verdict.outcome != Outcome::Skipped) =>
        {
            CaseVerdict::Inconclusive
        }
        Ok(Decision::Pass | Decision::Open) => CaseVerdict::Pass,
        Ok(Decision::Fail) => CaseVerdict::Fail,
        Ok(Decision::Inconclusive) => CaseVerdict::Inconclusive,
    };
}

/// The key of the first gating expectation that cannot be judged yet.
fn unjudged(case: &Case) -> Option<&'static str> {
    case.expectations
        .iter()
        .filter(|one| one.value.gate)
        .find_map(|one| one.value.test.unjudged())
}
