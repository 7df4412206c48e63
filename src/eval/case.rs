//! One case: its context assembled and judged, its scripted answers tried. Never an answer that nobody gave: what was not
//! recorded is said so, and never passes in silence.

use super::answer::{self, Answer, Judging};
use super::context::{self as contexts, Seen};
use super::finished::{Answered, CaseVerdict, Finished, Snapshot, Trial};
use super::keys::{self, Keys};
use super::library::Library;
use super::receiver::Receiver;
use super::situation::{self, Read, Whose};
use super::snapshot::wants_snapshot;
use super::trials::{self, Decision, Rows, Tried};
use super::verdict::{Outcome, Reason, Verdict};
use crate::base::hash::Hash;
use crate::context::Forest;
use crate::context::assemble::{Assembly, Options, assemble_edited};
use crate::context::fault::Fault;
use crate::context::request::{Files, Request};
use crate::context::role::{self, House, Routed};
use crate::kernel::context::Segment;
use crate::kernel::fit::Counting;
use crate::kernel::tokens::TokenCounter;
use crate::scenario::model::{Case, ContextExpectation, Scripted};
use crate::scenario::paths;

/// What all cases share.
#[derive(Clone, Copy, Debug)]
pub struct Bench<'a> {
    /// Files of the project, for what templates name and no case freezes.
    pub live: &'a (dyn Files + Sync),
    /// Who counts tokens where no model says who does.
    pub counter: &'a dyn TokenCounter,
    /// What the project says of roles and models; `None` where it says nothing.
    pub house: Option<House<'a>>,
    /// The path at which the parts of a decomposed task stand.
    pub plan: &'a str,
    /// Whether trials go on once the verdict is certain.
    pub rows: Rows,
    /// Patterns and paths, compiled.
    pub library: &'a Library,
}

impl<'a> Bench<'a> {
    /// How contexts are put together: as they are for whoever renders them.
    fn options(&self) -> Options<'a> {
        Options { counter: self.counter, house: self.house, counting: Counting::Always, ..Options::default() }
    }
}

/// One case with what belongs to it.
#[derive(Clone, Copy, Debug)]
pub struct Item<'a> {
    /// The scenario's file, relative to the project.
    pub path: &'a str,
    /// The case.
    pub case: &'a Case,
    /// Files beside the scenario.
    pub beside: &'a (dyn Files + Sync),
    /// The stored request; `None` where there is none.
    pub snapshot: Option<&'a str>,
    /// Why it cannot be run as it is written, as `check` says it; `None` where nothing is wrong with it.
    pub refused: Option<&'a str>,
}

/// The agent that a case is about: the one it names, else the first of the task.
pub(super) fn node(forest: &Forest<'_>, task: &str, case: &Case) -> Result<String, String> {
    if let Some(node) = &case.node {
        return Ok(node.value.clone());
    }
    let agents = forest.agents(task).map_err(|fault| fault.to_string())?;
    let first = agents.into_iter().next();
    first
        .map(|agent| agent.node)
        .ok_or_else(|| format!("`{task}` calls no agent: a task of type script runs a command and nothing else"))
}

/// A case with what it is about, ready to be assembled.
#[derive(Clone, Copy, Debug)]
pub(super) struct Set<'a> {
    pub(super) bench: &'a Bench<'a>,
    pub(super) item: &'a Item<'a>,
    pub(super) forest: &'a Forest<'a>,
    pub(super) receiver: Receiver<'a>,
    pub(super) node: &'a str,
    /// The model that would be called.
    pub(super) model: Option<&'a str>,
    pub(super) read: &'a Read,
}

impl Set<'_> {
    /// Its context, with the segments changed before they are fitted.
    pub(super) fn assemble(&self, edit: &dyn Fn(&mut Vec<Segment>)) -> Result<Assembly, Vec<Fault>> {
        let options = self.bench.options();
        let ask =
            |request: &Request<'_>| assemble_edited(self.forest, request, &options, edit).map_err(|refused| refused.to_vec());
        self.read.ask(self.receiver, self.node, self.bench.live, ask)
    }

    /// One verdict for each expectation on the context.
    pub(super) fn look(&self, assembly: &Assembly) -> Vec<Verdict> {
        let Item { path, case, snapshot, .. } = *self.item;
        let snapshot_path = paths::snapshot(path, &case.name.value);
        let judge = |seen: &Seen<'_>| {
            let judge = |one| contexts::judge(seen, self.bench.library, one);
            case.expect_context.iter().map(judge).collect()
        };
        self.see(assembly, snapshot, &snapshot_path, judge)
    }

    /// Does something with what can be seen of its context.
    fn see<T>(&self, assembly: &Assembly, snapshot: Option<&str>, snapshot_path: &str, then: impl FnOnce(&Seen<'_>) -> T) -> T {
        let Self { forest, receiver, node, model, .. } = *self;
        let (situation, files) = (&self.item.case.situation, &self.read.over(self.bench.live));
        then(&Seen { forest, receiver, node, model, assembly, snapshot, snapshot_path, situation, files })
    }

    /// The scripted answer to a request: the first whose patterns hold.
    pub(super) fn script(&self, assembly: &Assembly) -> Result<Option<&Scripted>, String> {
        let occurs = |pattern: &str| {
            let mut messages = assembly.messages.iter();
            messages.try_fold(false, |found, message| {
                Ok::<bool, String>(found || self.bench.library.find(pattern, message.text.text())?.is_some())
            })
        };
        'next: for script in &self.item.case.answers {
            for (patterns, wanted) in [(&script.value.has, true), (&script.value.lacks, false)] {
                for pattern in patterns {
                    if occurs(&pattern.value)? != wanted {
                        continue 'next;
                    }
                }
            }
            return Ok(Some(&script.value));
        }
        Ok(None)
    }
}

/// A case with everything that it names read.
#[derive(Debug)]
pub(super) struct Prepared<'a> {
    pub(super) node: String,
    pub(super) read: Read,
    pub(super) keys: Keys,
    pub(super) routed: Routed<'a>,
}

/// Reads what a case names.
pub(super) fn prepare<'a>(
    bench: &Bench<'a>,
    item: &Item<'_>,
    forest: &Forest<'_>,
    receiver: Receiver<'_>,
) -> Result<Prepared<'a>, Box<Finished>> {
    let case = item.case;
    if let Some(why) = item.refused {
        return Err(Box::new(Finished::refused(why)));
    }
    let node = node(forest, receiver.task, case).map_err(|why| Box::new(Finished::trouble("/", why)))?;
    let declared = forest.registry.find(receiver.task).map_or(Ok(Vec::new()), crate::registry::Task::parameters);
    let unread = |error: crate::registry::ReadError| Finished {
        verdict: CaseVerdict::Error,
        ..Finished::trouble(&node, error.to_string())
    };
    let declared = declared.map_err(|error| Box::new(unread(error)))?;
    let whose = if receiver.role.is_some() { Whose::Role } else { Whose::Task };
    let read =
        situation::read(&case.situation, whose, &declared, item.beside).map_err(|why| Box::new(Finished::trouble(&node, why)))?;
    let request = Request { node: &node, role: receiver.role, ..Request::new(receiver.task) };
    let routed = role::route(forest, &request, &bench.options());
    let routed = routed.map_err(|fault| {
        let context = unseen(case);
        Box::new(Finished { faults: vec![fault], context, trouble: None, ..Finished::trouble(&node, "") })
    })?;
    let keys = Keys {
        context: keys::context(forest, &request, &routed, bench.live, |path| read.holds(path)),
        case: keys::case(case, item.beside, item.snapshot.filter(|_| wants_snapshot(case)), bench.plan),
    };
    Ok(Prepared { node, read, keys, routed })
}

/// Runs one case.
pub(super) fn run(bench: &Bench<'_>, item: &Item<'_>, forest: &Forest<'_>, receiver: Receiver<'_>) -> Finished {
    let Prepared { node, read, keys, routed } = match prepare(bench, item, forest, receiver) {
        Ok(prepared) => prepared,
        Err(trouble) => return *trouble,
    };
    let set = Set { bench, item, forest, receiver, node: &node, model: routed.model(), read: &read };
    let (model, tokenizer) = (set.model.map(str::to_owned), routed.options.counter.name().to_owned());
    let mut done = Finished { keys: Some(keys), model, tokenizer, trouble: None, ..Finished::trouble(&node, "") };
    match set.assemble(&|_| {}) {
        Err(faults) => {
            // What keeps an agent from its context is as much a change of what it receives as a text that moved.
            done.verdict = CaseVerdict::Fail;
            done.faults = faults;
            done.context = unseen(item.case);
        }
        Ok(assembly) => judged(&set, &assembly, routed.options.counter, &mut done),
    }
    done
}

/// Verdicts on a context that cannot be had.
fn unseen(case: &Case) -> Vec<Verdict> {
    let skipped = |one: &crate::base::span::Spanned<ContextExpectation>| {
        let what = contexts::described(&one.value);
        let reason = Reason::new(what.clone(), "no context");
        Verdict { what, outcome: Outcome::Skipped, gate: true, reason, span: one.span }
    };
    case.expect_context.iter().map(skipped).collect()
}

/// The context of a case, for whoever writes expectations on it.
///
/// # Errors
/// Why the case cannot be tried; inside, why there is no context.
pub fn context<T>(
    bench: &Bench<'_>,
    item: &Item<'_>,
    forest: &Forest<'_>,
    receiver: Receiver<'_>,
    then: impl FnOnce(&Seen<'_>) -> T,
) -> Result<Result<T, Vec<Fault>>, String> {
    let prepared = prepare(bench, item, forest, receiver);
    let Prepared { node, read, routed, .. } = match prepared {
        Ok(prepared) => prepared,
        Err(done) => return done.trouble.map_or(Ok(Err(done.faults)), Err),
    };
    let (node, model) = (node.as_str(), routed.model());
    let set = Set { bench, item, forest, receiver, node, model, read: &read };
    let assembly = set.assemble(&|_| {});
    Ok(assembly.map(|assembly| set.see(&assembly, None, "", then)))
}

fn judged(set: &Set<'_>, assembly: &Assembly, counter: &dyn TokenCounter, done: &mut Finished) {
    done.context = set.look(assembly);
    done.tokens = assembly.report.tokens.zip(assembly.report.prefix_tokens).map(|(all, prefix)| (all as u64, prefix as u64));
    if wants_snapshot(set.item.case) {
        done.snapshot = Some(Snapshot { now: contexts::rendered(assembly) });
    }
    let holds = !done.context.iter().any(Verdict::is_failure);
    let answered = answered(set, assembly, counter, done);
    done.verdict = match answered {
        Err(why) => {
            done.trouble = Some(why);
            CaseVerdict::Error
        }
        Ok(_) if !holds => CaseVerdict::Fail,
        // Nobody looked at anything: that is no success.
        Ok(Decision::Open) if !done.context.iter().any(|verdict| verdict.outcome != Outcome::Skipped) => {
            CaseVerdict::Inconclusive
        }
        Ok(Decision::Pass | Decision::Open) => CaseVerdict::Pass,
        Ok(Decision::Fail) => CaseVerdict::Fail,
        Ok(Decision::Inconclusive) => CaseVerdict::Inconclusive,
    };
}

/// Tries the scripted answers; `Open` where there is nothing to try.
fn answered(set: &Set<'_>, assembly: &Assembly, counter: &dyn TokenCounter, done: &mut Finished) -> Result<Decision, String> {
    let (case, bench) = (set.item.case, set.bench);
    if case.answers.is_empty() {
        return Ok(Decision::Open);
    }
    let script = set.script(assembly)?.ok_or_else(|| {
        let count = case.answers.len();
        format!("none of the {count} scripted answers is for this request: no `when` holds")
    })?;
    let tokens = done.tokens.map_or(0, |(all, _)| all);
    let answer = Answer::scripted(script, tokens, counter);
    let judging = Judging { library: bench.library, plan: bench.plan, beside: set.item.beside };
    let verdicts: Vec<Verdict> = case.expectations.iter().map(|one| answer::judge(&judging, &answer, one)).collect();
    let is_judged = verdicts.iter().any(|verdict| verdict.outcome != Outcome::Skipped);
    done.answered = if is_judged { Answered::Scripted } else { Answered::NotJudged };
    let tried = if verdicts.iter().any(Verdict::is_failure) { Tried::Failed } else { Tried::Passed };
    // What hangs on a judge that nobody asked is decided by no trial.
    let is_open = tried == Tried::Passed && verdicts.iter().any(|verdict| verdict.gate && verdict.reason.is_open);
    let trial = Trial { tried, verdicts, tokens: answer.tokens, output: Hash::of(answer.text.as_bytes()) };
    if !is_judged || is_open {
        done.trials.push(trial);
        return Ok(if is_open { Decision::Inconclusive } else { Decision::Open });
    }
    let most = trials::most(&case.rule);
    let mut row = Vec::new();
    let mut decision = Decision::Open;
    while (row.len() as u64) < u64::from(most) {
        // A script gives the same answer every time.
        row.push(tried);
        done.trials.push(trial.clone());
        if decision == Decision::Open {
            decision = trials::decide(&case.rule, &row);
        }
        if decision != Decision::Open && bench.rows == Rows::Curtailed {
            break;
        }
    }
    done.stopped_early = (row.len() as u64) < u64::from(most);
    Ok(if decision == Decision::Open { Decision::Inconclusive } else { decision })
}
