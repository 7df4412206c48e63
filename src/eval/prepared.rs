//! The inputs of cases: those shared by all cases, those of one case, and a case whose files are
//! all read.

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

/// The inputs shared by all cases.
#[derive(Clone, Copy, Debug)]
pub struct RunContext<'a> {
    /// The tasks.
    pub registry: &'a Registry,
    /// The agent roles.
    pub roles: &'a Roles,
    /// Files of the project that templates name and no case freezes.
    pub live: &'a (dyn Files + Sync),
    /// The index for `lookup`; `None` if there is none, as for an earlier revision.
    pub index: Option<&'a (dyn ContextSource + Sync)>,
    /// Counts tokens if no model defines its own counter.
    pub counter: &'a dyn TokenCounter,
    /// The project's roles and models; `None` if it has none.
    pub models: Option<ModelSettings<'a>>,
    /// The path of the parts of a decomposed task.
    pub plan: &'a str,
    /// The policy on trials once the verdict is certain.
    pub rows: Rows,
    /// Patterns and paths, compiled.
    pub patterns: &'a CompiledPatterns,
    /// The sources of answers.
    pub answers: RunAnswers<'a>,
    /// The run or conversation that the requests belong to, from which fence markers are derived;
    /// empty if unknown.
    pub session: &'a str,
}

impl<'a> RunContext<'a> {
    /// The options of assembly, as for rendering.
    pub(super) fn options(&self) -> Options<'a> {
        Options {
            counter: self.counter,
            models: self.models,
            counting: Counting::Always,
            ..Options::default()
        }
    }
}

/// One case with its inputs.
#[derive(Clone, Copy, Debug)]
pub struct CaseInput<'a> {
    /// The scenario's file, relative to the project.
    pub path: &'a str,
    /// The case.
    pub case: &'a Case,
    /// Files beside the scenario.
    pub beside: &'a (dyn Files + Sync),
    /// The stored request, if any.
    pub snapshot: Option<&'a str>,
    /// The reason why the case cannot run as written, as reported by `check`; `None` if nothing is
    /// wrong with it.
    pub refused: Option<&'a str>,
    /// The available answers.
    pub answers: CaseAnswers<'a>,
}

/// A case with all files read, ready for assembly.
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
    /// The format of the requested answer.
    pub(super) answer: Answer,
    /// A model that replaces the configured one.
    pub(super) other_model: Option<String>,
}

impl PreparedCase<'_> {
    /// The model to call.
    pub(super) fn model(&self) -> Option<&str> {
        self.other_model.as_deref().or_else(|| self.routed.model())
    }

    /// The same case for another agent of a whole run, given the results of earlier stages.
    pub(super) fn at(&self, node: &str, results: &Results) -> Result<Self, Fault> {
        let read = Rc::new(self.read.after(results));
        let files = read.over(self.run.live);
        let request = Request {
            role: self.receiver.role,
            files: &files,
            ..Request::new(self.receiver.task)
        };
        let request = Request { node, ..request };
        let routed = role::route(self.forest, &request, &self.run.options())?;
        let answer = call::answer(self.forest, &request)?;
        Ok(Self {
            node: node.to_owned(),
            read,
            routed,
            answer,
            ..self.clone()
        })
    }

    /// Every agent of its task with its context, as far as it is known before a run.
    pub(super) fn agents(&self) -> Vec<AgentBefore<'_>> {
        let before = |agent: AgentNode| {
            let case = self
                .at(&agent.node, &Results::new())
                .map_err(|fault| vec![fault])?;
            let options = case.options();
            let ask = |request: &Request<'_>| {
                preview_in(self.forest, request, &options).map_err(|refused| refused.to_vec())
            };
            let assembly = case.read.ask(
                case.receiver,
                &case.node,
                (self.run.live, self.run.session),
                ask,
            )?;
            Ok((case, assembly))
        };
        match self.forest.agents(self.receiver.task) {
            Ok(agents) => agents.into_iter().map(before).collect(),
            Err(fault) => vec![Err(vec![fault])],
        }
    }

    /// The options of assembly, with the target of the request body.
    fn options(&self) -> Options<'_> {
        let model = self.routed.choice.as_ref().map(|choice| choice.model);
        Options {
            target: Some(wire::target_of(model, self.run.answers.providers)),
            ..self.run.options()
        }
    }

    /// Assembles its context with lookups in the given source only.
    pub(super) fn assemble_from(&self, source: &dyn ContextSource) -> Result<Assembly, Vec<Fault>> {
        let options = self.options();
        let ask = |request: &Request<'_>| {
            assemble_in(self.forest, &Request { source, ..*request }, &options)
                .map_err(|refused| refused.to_vec())
        };
        self.read.ask(
            self.receiver,
            &self.node,
            (self.run.live, self.run.session),
            ask,
        )
    }

    /// Assembles its context, with `edit` applied to the segments before they are fitted to the
    /// budget.
    pub(super) fn assemble(
        &self,
        edit: &dyn Fn(&mut Vec<Segment>),
    ) -> Result<Assembly, Vec<Fault>> {
        let options = self.options();
        let ask = |request: &Request<'_>| {
            assemble_edited(self.forest, request, &options, edit)
                .map_err(|refused| refused.to_vec())
        };
        self.read.ask(
            self.receiver,
            &self.node,
            (self.run.live, self.run.session),
            ask,
        )
    }
}

/// An agent of a whole run with its context, or the faults that prevent it.
pub(super) type AgentBefore<'a> = Result<(PreparedCase<'a>, Assembly), Vec<Fault>>;

/// A context with the case that it belongs to.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// The case.
    pub(super) case: &'a PreparedCase<'a>,
    /// The context.
    pub assembly: &'a Assembly,
}

/// The agent that a case is about: the named one, or the only one of the task.
fn node(forest: &TaskGraph<'_>, task: &str, case: &Case) -> Result<String, String> {
    let agents = forest.agents(task).map_err(|fault| fault.to_string())?;
    let asked = case.node.as_ref().map(|node| node.value.as_str());
    if let Some(first) = agents.first().filter(|_| case.is_run) {
        return Ok(first.node.clone());
    }
    AgentNode::meant(&agents, asked)
        .map(|agent| agent.node.clone())
        .map_err(|why| {
            let there: Vec<String> = agents
                .iter()
                .map(|agent| format!("`{}`", agent.handle(&agents)))
                .collect();
            match (asked, why) {
                _ if agents.is_empty() => format!(
                    "`{task}` calls no agent: a task of type script runs a command and nothing else"
                ),
                (Some(asked), Unmeant::Unknown) => format!(
                    "`{task}` has no agent `{asked}`; it has {}",
                    there.join(", ")
                ),
                (Some(asked), Unmeant::Several) => {
                    format!(
                        "`{task}` has several agents `{asked}`; `node` has the path of one, as {}",
                        there.join(", ")
                    )
                }
                (None, _) => format!(
                    "`{task}` has several agents, and `node` does not say which is meant: {}",
                    there.join(", ")
                ),
            }
        })
}

/// Reads the files that a case names, and resolves its agent and model.
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
    let node =
        node(forest, receiver.task, case).map_err(|why| Box::new(Finished::trouble("/", why)))?;
    let declared = forest
        .registry
        .find(receiver.task)
        .map_or(Ok(Vec::new()), crate::registry::Task::parameters);
    let unread = |error: crate::registry::ReadError| Finished {
        verdict: CaseVerdict::Error,
        ..Finished::trouble(&node, error.to_string())
    };
    let declared = declared.map_err(|error| Box::new(unread(error)))?;
    let whose = if receiver.role.is_some() {
        SubjectKind::Role
    } else {
        SubjectKind::Task
    };
    let read = situation::read(&case.situation, whose, &declared, input.beside)
        .map_err(|why| Box::new(Finished::trouble(&node, why)))?;
    let request = Request {
        node: &node,
        role: receiver.role,
        ..Request::new(receiver.task)
    };
    let faulty = |fault| {
        Box::new(Finished {
            faults: vec![fault],
            trouble: None,
            ..Finished::trouble(&node, "")
        })
    };
    let routed = role::route(forest, &request, &run.options()).map_err(faulty)?;
    let answer = call::answer(
        forest,
        &Request {
            files: &read.over(run.live),
            ..request
        },
    )
    .map_err(faulty)?;
    Ok(PreparedCase {
        run,
        input,
        forest,
        receiver,
        node,
        read: Rc::new(read),
        routed,
        answer,
        other_model: None,
    })
}
