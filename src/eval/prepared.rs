//! What cases are run with: what all of them share, what each brings along, and a case of which everything was read.

use super::asked::{CaseAnswers, RunAnswers};
use super::compiled_patterns::CompiledPatterns;
use super::finished::{CaseVerdict, Finished};
use super::receiver::{Receiver, Roles};
use super::situation::{self, Read, SubjectKind};
use super::trials::Rows;
use crate::context::TaskGraph;
use crate::context::answer_format::Answer;
use crate::context::assemble::{Assembly, assemble_edited, assemble_in, preview_in};
use crate::context::context_source::ContextSource;
use crate::context::fault::Fault;
use crate::context::options::ModelSettings;
use crate::context::options::Options;
use crate::context::render::call;
use crate::context::request::{Files, Request};
use crate::context::role::{self, Routed};
use crate::kernel::agent_node::{AgentNode, Unmeant};
use crate::kernel::budget::Counting;
use crate::kernel::context::Segment;
use crate::kernel::tokens::TokenCounter;
use crate::registry::Registry;
use crate::run::situation::Results;
use crate::run::wire;
use crate::scenario::model::Case;
use std::rc::Rc;

/// What all cases share.
#[derive(Clone, Copy, Debug)]
pub struct RunContext<'a> {
    /// The tasks.
    pub registry: &'a Registry,
    /// The agent roles.
    pub roles: &'a Roles,
    /// Files of the project, for what templates name and no case freezes.
    pub live: &'a (dyn Files + Sync),
    /// Those files to look up in, for `lookup`; `None` where they are not at hand, as those of an earlier revision.
    pub index: Option<&'a (dyn ContextSource + Sync)>,
    /// Who counts tokens where no model says who does.
    pub counter: &'a dyn TokenCounter,
    /// What the project says of roles and models; `None` where it says nothing.
    pub models: Option<ModelSettings<'a>>,
    /// The path at which the parts of a decomposed task stand.
    pub plan: &'a str,
    /// Whether trials go on once the verdict is certain.
    pub rows: Rows,
    /// Patterns and paths, compiled.
    pub patterns: &'a CompiledPatterns,
    /// Where answers come from.
    pub answers: RunAnswers<'a>,
    /// The run or conversation that the requests belong to, as the marks of fences are made of it; empty where nobody says.
    pub session: &'a str,
}

impl<'a> RunContext<'a> {
    /// How contexts are put together: as they are for whoever renders them.
    pub(super) fn options(&self) -> Options<'a> {
        Options { counter: self.counter, models: self.models, counting: Counting::Always, ..Options::default() }
    }
}

/// One case with what belongs to it.
#[derive(Clone, Copy, Debug)]
pub struct CaseInput<'a> {
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
    /// What answers it.
    pub answers: CaseAnswers<'a>,
}

/// A case with everything that it names read, ready to be assembled.
#[derive(Clone, Debug)]
pub struct PreparedCase<'a> {
    pub(super) run: &'a RunContext<'a>,
    pub(super) input: &'a CaseInput<'a>,
    pub(super) forest: &'a TaskGraph<'a>,
    pub(super) receiver: Receiver<'a>,
    /// The agent inside the task.
    pub(super) node: String,
    pub(super) read: Rc<Read>,
    pub(super) routed: Routed<'a>,
    /// The form of the answer that is asked for.
    pub(super) answer: Answer,
    /// Another model than the one that would be called.
    pub(super) other_model: Option<String>,
}

impl PreparedCase<'_> {
    /// The model that would be called.
    pub(super) fn model(&self) -> Option<&str> {
        self.other_model.as_deref().or_else(|| self.routed.model())
    }

    /// The same for an agent of a whole run, by what the stages before it left.
    pub(super) fn at(&self, node: &str, results: &Results) -> Result<Self, Fault> {
        let read = Rc::new(self.read.after(results));
        let files = read.over(self.run.live);
        let request = Request { role: self.receiver.role, files: &files, ..Request::new(self.receiver.task) };
        let request = Request { node, ..request };
        let routed = role::route(self.forest, &request, &self.run.options())?;
        let answer = call::answer(self.forest, &request)?;
        Ok(Self { node: node.to_owned(), read, routed, answer, ..self.clone() })
    }

    /// Every agent of its task with what it would receive, as far as that is known before a run.
    pub(super) fn agents(&self) -> Vec<AgentBefore<'_>> {
        let before = |agent: AgentNode| {
            let case = self.at(&agent.node, &Results::new()).map_err(|fault| vec![fault])?;
            let options = case.options();
            let ask = |request: &Request<'_>| preview_in(self.forest, request, &options).map_err(|refused| refused.to_vec());
            let assembly = case.read.ask(case.receiver, &case.node, (self.run.live, self.run.session), ask)?;
            Ok((case, assembly))
        };
        match self.forest.agents(self.receiver.task) {
            Ok(agents) => agents.into_iter().map(before).collect(),
            Err(fault) => vec![Err(vec![fault])],
        }
    }

    /// How its context is put together: for the body that it is sent in.
    fn options(&self) -> Options<'_> {
        let model = self.routed.choice.as_ref().map(|choice| choice.model);
        Options { target: Some(wire::target_of(model, self.run.answers.providers)), ..self.run.options() }
    }

    /// Its context with nothing found but what a source finds.
    pub(super) fn assemble_from(&self, source: &dyn ContextSource) -> Result<Assembly, Vec<Fault>> {
        let options = self.options();
        let ask = |request: &Request<'_>| {
            assemble_in(self.forest, &Request { source, ..*request }, &options).map_err(|refused| refused.to_vec())
        };
        self.read.ask(self.receiver, &self.node, (self.run.live, self.run.session), ask)
    }

    /// Its context, with the segments changed before they are fitted.
    pub(super) fn assemble(&self, edit: &dyn Fn(&mut Vec<Segment>)) -> Result<Assembly, Vec<Fault>> {
        let options = self.options();
        let ask =
            |request: &Request<'_>| assemble_edited(self.forest, request, &options, edit).map_err(|refused| refused.to_vec());
        self.read.ask(self.receiver, &self.node, (self.run.live, self.run.session), ask)
    }
}

/// An agent of a whole run with what it would receive; why it would receive nothing.
pub(super) type AgentBefore<'a> = Result<(PreparedCase<'a>, Assembly), Vec<Fault>>;

/// A context with everything about it that can be asked.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// The case that it is of.
    pub(super) case: &'a PreparedCase<'a>,
    /// The context.
    pub assembly: &'a Assembly,
}

/// The agent that a case is about: the one it names, else the only one of the task.
fn node(forest: &TaskGraph<'_>, task: &str, case: &Case) -> Result<String, String> {
    let agents = forest.agents(task).map_err(|fault| fault.to_string())?;
    let asked = case.node.as_ref().map(|node| node.value.as_str());
    if let Some(first) = agents.first().filter(|_| case.is_run) {
        return Ok(first.node.clone());
    }
    AgentNode::meant(&agents, asked).map(|agent| agent.node.clone()).map_err(|why| {
        let there: Vec<String> = agents.iter().map(|agent| format!("`{}`", agent.handle(&agents))).collect();
        match (asked, why) {
            _ if agents.is_empty() => format!("`{task}` calls no agent: a task of type script runs a command and nothing else"),
            (Some(asked), Unmeant::Unknown) => format!("`{task}` has no agent `{asked}`; it has {}", there.join(", ")),
            (Some(asked), Unmeant::Several) => {
                format!("`{task}` has several agents `{asked}`; `node` has the path of one, as {}", there.join(", "))
            }
            (None, _) => format!("`{task}` has several agents, and `node` does not say which is meant: {}", there.join(", ")),
        }
    })
}

/// Reads what a case names.
pub(super) fn prepare<'a>(
    run: &'a RunContext<'a>,
    input: &'a CaseInput<'a>,
    forest: &'a TaskGraph<'a>,
    receiver: Receiver<'a>,
) -> Result<PreparedCase<'a>, Box<Finished>> {
    let case = input.case;
    if let Some(why) = input.refused {
        return Err(Box::new(Finished::refused(why)));
    }
    let node = node(forest, receiver.task, case).map_err(|why| Box::new(Finished::trouble("/", why)))?;
    let declared = forest.registry.find(receiver.task).map_or(Ok(Vec::new()), crate::registry::Task::parameters);
    let unread = |error: crate::registry::ReadError| Finished {
        verdict: CaseVerdict::Error,
        ..Finished::trouble(&node, error.to_string())
    };
    let declared = declared.map_err(|error| Box::new(unread(error)))?;
    let whose = if receiver.role.is_some() { SubjectKind::Role } else { SubjectKind::Task };
    let read = situation::read(&case.situation, whose, &declared, input.beside)
        .map_err(|why| Box::new(Finished::trouble(&node, why)))?;
    let request = Request { node: &node, role: receiver.role, ..Request::new(receiver.task) };
    let faulty = |fault| Box::new(Finished { faults: vec![fault], trouble: None, ..Finished::trouble(&node, "") });
    let routed = role::route(forest, &request, &run.options()).map_err(faulty)?;
    let answer = call::answer(forest, &Request { files: &read.over(run.live), ..request }).map_err(faulty)?;
    Ok(PreparedCase { run, input, forest, receiver, node, read: Rc::new(read), routed, answer, other_model: None })
}
