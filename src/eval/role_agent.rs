//! A role of the project that answers single requests: its task, and the request for some inputs.

use crate::context::TaskGraph;
use crate::context::assemble::assemble_loaded;
use crate::context::options::Options;
use crate::context::render::message::Message;
use crate::context::request::{Files, Request};
use crate::context::role;
use crate::kernel::context::{TracedText, Trust};
use crate::project::models::{ModelConfig, ProviderConfig};
use crate::project::roles::Role;
use crate::registry::{Registry, Task};
use crate::run::wire::{OutgoingRequest, WireFormat, model_target};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A role with its task, which has one agent.
#[derive(Debug)]
pub struct RoleAgent<'a> {
    /// The role.
    pub(super) role: &'a Role,
    /// Its task.
    pub(super) graph: TaskGraph<'a>,
    node: String,
    parameters: BTreeSet<String>,
}

/// The surroundings in which requests of a role are built.
#[derive(Clone, Copy, Debug)]
pub struct RoleSettings<'a> {
    /// Files of the project that its template names.
    pub files: &'a (dyn Files + Sync),
    /// The options of assembly.
    pub options: Options<'a>,
    /// The providers of the project.
    pub providers: Option<&'a BTreeMap<String, ProviderConfig>>,
}

/// A request of a role, ready to be sent.
#[derive(Debug)]
pub struct RoleRequest<'a> {
    /// The request.
    pub sent: OutgoingRequest,
    /// Its tokens, if they were counted.
    pub tokens: Option<u64>,
    /// The model to be called, if the project defines one.
    pub model: Option<&'a ModelConfig>,
    /// Its messages.
    pub messages: Vec<Message>,
    /// The upper bound of the tokens of its answer, if there is one.
    pub output_limit: Option<u64>,
}

/// The reason why the template of a role is not used for texts from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FenceFault {
    /// A text from outside stands outside of a fence.
    Open,
    /// The text that must be shown is not.
    Missing,
}

impl<'a> RoleAgent<'a> {
    /// Loads a role and its task.
    ///
    /// # Errors
    /// The task does not exist, has several agents, or lacks a parameter; the reason is in the text.
    pub fn load(registry: &'a Registry, role: &'a Role, needed: &[&str]) -> Result<Self, String> {
        let (name, task) = (&role.name.value, role.task.value.as_str());
        let graph = TaskGraph::load(registry, task)
            .map_err(|fault| fault.to_string())?
            .ok_or_else(|| {
                format!("the role `{name}` has the task `{task}`, which does not exist")
            })?;
        let agents = graph.agents(task).map_err(|fault| fault.to_string())?;
        let [agent] = agents.as_slice() else {
            return Err(format!(
                "the task `{task}` of the role `{name}` has {} agents, expected one",
                agents.len()
            ));
        };
        let node = agent.node.clone();
        let declared = registry
            .find(task)
            .map_or(Ok(Vec::new()), Task::parameters)
            .map_err(|error| error.to_string())?;
        let parameters: BTreeSet<String> = declared
            .iter()
            .map(|parameter| (*parameter.name).to_owned())
            .collect();
        if let Some(missing) = needed.iter().find(|name| !parameters.contains(**name)) {
            return Err(format!(
                "the task `{task}` of the role `{name}` has no parameter `{missing}`, which it receives"
            ));
        }
        Ok(Self {
            role,
            graph,
            node,
            parameters,
        })
    }

    /// The name of its task.
    pub fn task(&self) -> &str {
        &self.role.task.value
    }

    /// Checks that its template shows texts from outside in fences alone, and the first of these
    /// parameters at all.
    ///
    /// # Errors
    /// It does not, or its context cannot be assembled; the reason is in the text.
    pub fn check_fences(
        &self,
        settings: RoleSettings<'_>,
        needed: &[&str],
        untrusted: &[&str],
    ) -> Result<(), String> {
        let sample = |name: &&str| format!("the sample of {name} from outside");
        let inputs = needed
            .iter()
            .chain(untrusted)
            .map(|name| ((*name).to_owned(), sample(name).into()));
        let messages = self.build_request(settings, inputs.collect())?.messages;
        let samples: Vec<String> = untrusted.iter().map(sample).collect();
        let samples: Vec<&str> = samples.iter().map(String::as_str).collect();
        let first = untrusted.first().copied().unwrap_or_default();
        match find_fence_fault(&messages, &samples) {
            None => Ok(()),
            Some(FenceFault::Missing) => Err(format!(
                "the template `{}` does not show `{first}`",
                self.task()
            )),
            Some(FenceFault::Open) => Err(format!(
                "the template `{}` shows text of a session without a fence, so that it could give orders: pass it on by `<input name=\"text\" from=\"{first}\" trust=\"untrusted\"/>`",
                self.task()
            )),
        }
    }

    /// Returns true if its task has a parameter.
    pub fn has_parameter(&self, name: &str) -> bool {
        self.parameters.contains(name)
    }

    /// Builds the request for some inputs. Those that its task does not declare are left out.
    ///
    /// # Errors
    /// The context cannot be assembled or sent; the reason is in the text.
    pub fn build_request<'r>(
        &'r self,
        settings: RoleSettings<'r>,
        mut inputs: BTreeMap<String, Value>,
    ) -> Result<RoleRequest<'r>, String> {
        inputs.retain(|name, _| self.has_parameter(name));
        let request = Request {
            node: &self.node,
            inputs: &inputs,
            inputs_trust: Trust::Trusted,
            files: settings.files,
            ..Request::of_role(self.role)
        };
        let options = settings.options;
        let routed = role::route_model(&self.graph, &request, &options)
            .map_err(|fault| fault.to_string())?;
        let model = routed.choice.as_ref().map(|choice| choice.model);
        let options = Options {
            target: Some(model_target(model, settings.providers)),
            ..options
        };
        let assembly = assemble_loaded(&self.graph, &request, &options).map_err(|refused| {
            let faults: Vec<String> = refused.to_vec().iter().map(ToString::to_string).collect();
            faults.join("; ")
        })?;
        let mut wire = WireFormat::for_choice(&self.graph, &request, &routed, settings.providers)
            .map_err(|fault| fault.to_string())?;
        if wire.model.is_none() {
            wire.call.model = routed.model().map(str::to_owned);
        }
        Ok(RoleRequest {
            sent: wire.build_request(&assembly.messages)?,
            tokens: assembly.report.tokens.map(|tokens| tokens as u64),
            model,
            messages: assembly.messages,
            output_limit: wire.output_limit(),
        })
    }
}

/// Returns the fault of messages that show texts from outside: all of `samples` only in fences, and
/// the first of them at all.
pub(super) fn find_fence_fault(messages: &[Message], samples: &[&str]) -> Option<FenceFault> {
    let mut frames = messages.iter().map(|one| one.text.without_untrusted());
    let is_open = |frame: TracedText| samples.iter().any(|text| frame.text().contains(text));
    let shows = |text: &str| messages.iter().any(|one| one.as_str().contains(text));
    if frames.any(is_open) {
        Some(FenceFault::Open)
    } else if samples.first().is_none_or(|text| !shows(text)) {
        Some(FenceFault::Missing)
    } else {
        None
    }
}
