//! A case whose files are all read.

use super::case_result::{CaseResult, CaseVerdict};
use super::compaction::session_point::SessionPoint;
use super::judge::CaseJudge;
use super::receiver::Receiver;
pub use super::run_context::{CaseInput, RunContext};
use super::situation::{self, FrozenSituation, SubjectKind};
use crate::context::TaskGraph;
use crate::context::answer_format::AnswerForm;
use crate::context::assemble::{Assembly, assemble_edited, assemble_loaded, preview_loaded};
use crate::context::context_source::ContextSource;
use crate::context::fault::Fault;
use crate::context::options::Options;
use crate::context::render::call;
use crate::context::request::Request;
use crate::context::role::{self, ModelRoute};
use crate::kernel::agent_node::{AgentLookupError, AgentNode};
use crate::kernel::context::Segment;
use crate::run::situation::NodeResults;
use crate::run::wire;
use crate::scenario::model::ScenarioCase;
use std::rc::Rc;

/// A case with all files read, ready for assembly.
#[derive(Clone, Debug)]
pub struct PreparedCase<'a> {
    pub(super) run: &'a RunContext<'a>,
    pub(super) input: &'a CaseInput<'a>,
    pub(super) forest: &'a TaskGraph<'a>,
    pub(super) receiver: Receiver<'a>,
    /// The agent inside the task.
    pub(super) node: String,
    pub(super) read: Rc<FrozenSituation>,
    pub(super) routed: ModelRoute<'a>,
    /// The format of the requested answer.
    pub(super) answer: AnswerForm,
    /// The judge of its answers.
    pub(super) judge: Rc<CaseJudge<'a>>,
    /// The session whose conversation the role compacts.
    pub(super) session: Option<Rc<SessionPoint>>,
    /// A model that replaces the configured one.
    pub(super) other_model: Option<String>,
}

impl PreparedCase<'_> {
    /// The model to call.
    pub(super) fn model(&self) -> Option<&str> {
        self.other_model.as_deref().or_else(|| self.routed.model())
    }

    /// The same case for another agent of a whole run, given the results of earlier stages.
    pub(super) fn for_agent(&self, node: &str, results: &NodeResults) -> Result<Self, Fault> {
        let read = Rc::new(self.read.with_results(results));
        let files = read.overlay_files(self.run.live);
        let request = Request {
            role: self.receiver.role,
            files: &files,
            ..Request::new(self.receiver.task)
        };
        let request = Request { node, ..request };
        let routed = role::route_model(self.forest, &request, &self.run.assembly_options())?;
        let answer = call::answer_form(self.forest, &request)?;
        Ok(Self {
            node: node.to_owned(),
            read,
            routed,
            answer,
            ..self.clone()
        })
    }

    /// Every agent of its task with its context, as far as it is known before a run.
    pub(super) fn preview_agents(&self) -> Vec<AgentPreview<'_>> {
        let before = |agent: AgentNode| {
            let case = self
                .for_agent(&agent.node, &NodeResults::new())
                .map_err(|fault| vec![fault])?;
            let options = case.target_options();
            let ask = |request: &Request<'_>| {
                preview_loaded(self.forest, request, &options).map_err(|refused| refused.to_vec())
            };
            let assembly = case.with_request(ask)?;
            Ok((case, assembly))
        };
        match self.forest.agents(self.receiver.task) {
            Ok(agents) => agents.into_iter().map(before).collect(),
            Err(fault) => vec![Err(vec![fault])],
        }
    }

    /// Calls a function with its situation as a request.
    fn with_request<T>(&self, work: impl FnOnce(&Request<'_>) -> T) -> T {
        let files = self.read.overlay_files(self.run.live);
        let situation = self
            .read
            .as_run_situation(self.receiver, &files, self.run.session);
        work(&situation.request_at(&self.node, self.read.results()))
    }

    /// The options of assembly, with the target of the request body.
    fn target_options(&self) -> Options<'_> {
        let model = self.routed.choice.as_ref().map(|choice| choice.model);
        Options {
            target: Some(wire::model_target(model, self.run.answers.providers)),
            ..self.run.assembly_options()
        }
    }

    /// Assembles its context with lookups in the given source only.
    pub(super) fn assemble_from(&self, source: &dyn ContextSource) -> Result<Assembly, Vec<Fault>> {
        let options = self.target_options();
        let ask = |request: &Request<'_>| {
            assemble_loaded(self.forest, &Request { source, ..*request }, &options)
                .map_err(|refused| refused.to_vec())
        };
        self.with_request(ask)
    }

    /// Assembles its context, with `edit` applied to the segments before they are fitted to the
    /// budget.
    pub(super) fn assemble(
        &self,
        edit: &dyn Fn(&mut Vec<Segment>),
    ) -> Result<Assembly, Vec<Fault>> {
        let options = self.target_options();
        let ask = |request: &Request<'_>| {
            assemble_edited(self.forest, request, &options, edit)
                .map_err(|refused| refused.to_vec())
        };
        self.with_request(ask)
    }
}

/// An agent of a whole run with its context, or the faults that prevent it.
pub(super) type AgentPreview<'a> = Result<(PreparedCase<'a>, Assembly), Vec<Fault>>;

/// A context with the case that it belongs to.
#[derive(Clone, Copy, Debug)]
pub struct SeenContext<'a> {
    /// The case.
    pub(super) case: &'a PreparedCase<'a>,
    /// The context.
    pub assembly: &'a Assembly,
}

/// The agent that a case is about: the named one, or the only one of the task.
fn resolve_node(forest: &TaskGraph<'_>, task: &str, case: &ScenarioCase) -> Result<String, String> {
    let agents = forest.agents(task).map_err(|fault| fault.to_string())?;
    let wanted = case.node.as_ref().map(|node| node.value.as_str());
    if let Some(first) = agents.first().filter(|_| case.is_run) {
        return Ok(first.node.clone());
    }
    AgentNode::find_agent(&agents, wanted)
        .map(|agent| agent.node.clone())
        .map_err(|why| {
            let there: Vec<String> = agents
                .iter()
                .map(|agent| format!("`{}`", agent.short_name(&agents)))
                .collect();
            match (wanted, why) {
                _ if agents.is_empty() => format!(
                    "`{task}` calls no agent: a task of type script runs a command and nothing else"
                ),
                (Some(asked), AgentLookupError::Unknown) => format!(
                    "`{task}` has no agent `{asked}`; it has {}",
                    there.join(", ")
                ),
                (Some(asked), AgentLookupError::Several) => {
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
pub(super) fn prepare_case<'a>(
    run: &'a RunContext<'a>,
    input: &'a CaseInput<'a>,
    forest: &'a TaskGraph<'a>,
    receiver: Receiver<'a>,
) -> Result<PreparedCase<'a>, Box<CaseResult>> {
    let case = input.case;
    if let Some(why) = input.rejection {
        return Err(Box::new(CaseResult::rejected_case(why)));
    }
    let node = resolve_node(forest, receiver.task, case)
        .map_err(|why| Box::new(CaseResult::failed_case("/", why)))?;
    let declared = forest
        .registry
        .find(receiver.task)
        .map_or(Ok(Vec::new()), crate::registry::Task::parameters);
    let unread = |error: crate::registry::ReadError| CaseResult {
        verdict: CaseVerdict::Error,
        ..CaseResult::failed_case(&node, error.to_string())
    };
    let declared = declared.map_err(|error| Box::new(unread(error)))?;
    let whose = if receiver.role.is_some() {
        SubjectKind::Role
    } else {
        SubjectKind::Task
    };
    let session = SessionPoint::read_case(run, input)?;
    let frozen = session
        .as_ref()
        .map(|point| point.fill_situation(&case.situation));
    let frozen = frozen.as_ref().unwrap_or(&case.situation);
    let read = situation::read_situation(frozen, whose, &declared, input.beside)
        .map_err(|why| Box::new(CaseResult::failed_case(&node, why)))?;
    let request = Request {
        node: &node,
        role: receiver.role,
        ..Request::new(receiver.task)
    };
    let faulty = |fault| {
        Box::new(CaseResult {
            faults: vec![fault],
            trouble: None,
            ..CaseResult::failed_case(&node, "")
        })
    };
    let routed = role::route_model(forest, &request, &run.assembly_options()).map_err(faulty)?;
    let answer = call::answer_form(
        forest,
        &Request {
            files: &read.overlay_files(run.live),
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
        judge: Rc::new(CaseJudge::new(run, input)),
        session: session.map(Rc::new),
        other_model: None,
    })
}

/// A case whose answer is judged.
#[derive(Clone, Copy, Debug)]
pub(in crate::eval) struct AnswerJudging<'a> {
    /// The inputs shared by all cases.
    pub(in crate::eval) run: &'a RunContext<'a>,
    /// The case.
    pub(in crate::eval) input: &'a CaseInput<'a>,
    /// The model that answers.
    pub(in crate::eval) model: Option<&'a str>,
    /// The agent of this project that was called; `None` if another program sent the request.
    pub(in crate::eval) prepared: Option<&'a PreparedCase<'a>>,
    /// The judge of the answer.
    pub(in crate::eval) judge: &'a CaseJudge<'a>,
    /// The session whose compaction the answer is.
    pub(in crate::eval) session: Option<&'a SessionPoint>,
}

impl<'a> AnswerJudging<'a> {
    /// The inputs for answers of an agent of this project.
    pub(in crate::eval) fn for_agent(prepared: &'a PreparedCase<'a>) -> Self {
        Self {
            run: prepared.run,
            input: prepared.input,
            model: prepared.model(),
            prepared: Some(prepared),
            judge: &prepared.judge,
            session: prepared.session.as_deref(),
        }
    }
}
