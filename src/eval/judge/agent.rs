//! The agent that judges: the role `judge` of the project, and its requests.

use super::criteria::JudgedCriterion;
use super::judged_answer::JudgedAnswer;
use super::trust::JudgeTrust;
use crate::base::hash::{Hash, Hasher};
use crate::context::TaskGraph;
use crate::context::assemble::assemble_loaded;
use crate::context::options::Options;
use crate::context::render::message::Message;
use crate::context::request::{Files, Request};
use crate::context::role;
use crate::eval::receiver::Roles;
use crate::kernel::context::{TracedText, Trust};
use crate::project::models::{ModelConfig, ProviderConfig};
use crate::project::roles::Role;
use crate::registry::{Registry, Task};
use crate::run::wire::{OutgoingRequest, WireFormat, model_target};
use crate::scenario::expect::judge::JUDGE_ROLE;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Mutex, OnceLock};

/// The parameter that receives the answer to be judged.
const ANSWER: &str = "answer";
/// The parameter that receives the criteria.
const CRITERIA: &str = "criteria";
/// The parameter that receives the request that was answered; a template may leave it out.
const REQUEST: &str = "request";

/// Texts that stand in the place of an answer and its request while a template is checked.
const SAMPLE_ANSWER: &str = "the sample of an answer to be scored";
const SAMPLE_REQUEST: &str = "the sample of a request that was answered";

/// The agent that judges answers.
#[derive(Debug)]
pub struct JudgeAgent<'a> {
    role: &'a Role,
    graph: TaskGraph<'a>,
    node: String,
    has_request: bool,
    /// The reason why its prompt is refused, if it is.
    fences: OnceLock<Result<(), String>>,
}

/// The surroundings in which requests of the judge are built.
#[derive(Clone, Copy, Debug)]
pub(in crate::eval) struct JudgeSettings<'a> {
    /// Files of the project that its template names.
    pub(super) files: &'a (dyn Files + Sync),
    /// The options of assembly.
    pub(super) options: Options<'a>,
    /// The providers of the project.
    pub(super) providers: Option<&'a BTreeMap<String, ProviderConfig>>,
}

/// A request of the judge, ready to be sent.
#[derive(Debug)]
pub(super) struct JudgeRequest<'a> {
    pub(super) sent: OutgoingRequest,
    /// Its tokens, if they were counted.
    pub(super) tokens: Option<u64>,
    /// The model to be called, if the project defines one.
    pub(super) model: Option<&'a ModelConfig>,
    pub(super) messages: Vec<Message>,
    /// The upper bound of the tokens of its answer, if there is one.
    pub(super) output_limit: Option<u64>,
}

/// The material of one judgement.
#[derive(Clone, Copy, Debug)]
pub(super) struct JudgedMaterial<'a> {
    /// The request that was answered.
    pub(super) request: &'a str,
    /// The answer.
    pub(super) answer: &'a str,
    /// The guide of the rubric.
    pub(super) guide: Option<&'a str>,
    /// The criteria, in the order in which they are asked.
    pub(super) criteria: &'a [&'a JudgedCriterion],
}

impl<'a> JudgeAgent<'a> {
    /// Loads the role `judge` and its task.
    ///
    /// # Errors
    /// The project has no usable judge; the reason is in the text, with advice.
    pub fn load(registry: &'a Registry, roles: &'a Roles) -> Result<Self, String> {
        let role = roles.get(JUDGE_ROLE).ok_or_else(|| {
            format!("ctxc.toml has no role `{JUDGE_ROLE}`; `ctxc new judge` writes one")
        })?;
        let task = role.task.value.as_str();
        let graph = TaskGraph::load(registry, task)
            .map_err(|fault| fault.to_string())?
            .ok_or_else(|| {
                format!("the role `{JUDGE_ROLE}` has the task `{task}`, which does not exist")
            })?;
        let agents = graph.agents(task).map_err(|fault| fault.to_string())?;
        let [agent] = agents.as_slice() else {
            return Err(format!(
                "the task `{task}` of the role `{JUDGE_ROLE}` has {} agents; a judge has one",
                agents.len()
            ));
        };
        let node = agent.node.clone();
        let declared = registry
            .find(task)
            .map_or(Ok(Vec::new()), Task::parameters)
            .map_err(|error| error.to_string())?;
        let has = |name: &str| declared.iter().any(|parameter| &*parameter.name == name);
        for name in [ANSWER, CRITERIA] {
            if !has(name) {
                return Err(format!(
                    "the task `{task}` of the role `{JUDGE_ROLE}` has no parameter `{name}`, which a judge receives"
                ));
            }
        }
        Ok(Self {
            role,
            node,
            has_request: has(REQUEST),
            graph,
            fences: OnceLock::new(),
        })
    }

    /// Builds the request for some material.
    ///
    /// # Errors
    /// The context cannot be assembled or sent, or its template lacks a fence; the reason is in the
    /// text.
    pub(super) fn build_request<'r>(
        &'r self,
        settings: JudgeSettings<'r>,
        material: &JudgedMaterial<'_>,
    ) -> Result<JudgeRequest<'r>, String> {
        let fences = self.fences.get_or_init(|| self.check_fences(settings));
        fences.clone()?;
        self.assemble_request(settings, material)
    }

    /// Checks that its template shows the answer, and shows it and the request in fences alone.
    fn check_fences(&self, settings: JudgeSettings<'_>) -> Result<(), String> {
        let material = JudgedMaterial {
            request: SAMPLE_REQUEST,
            answer: SAMPLE_ANSWER,
            guide: None,
            criteria: &[],
        };
        let messages = self.assemble_request(settings, &material)?.messages;
        let mut frames = messages.iter().map(|one| one.text.without_untrusted());
        let is_open = |frame: TracedText| {
            [SAMPLE_ANSWER, SAMPLE_REQUEST]
                .iter()
                .any(|text| frame.text().contains(text))
        };
        let why = if frames.any(is_open) {
            "shows the answer or its request without a fence, so that text in it could give orders"
        } else if messages
            .iter()
            .all(|one| !one.as_str().contains(SAMPLE_ANSWER))
        {
            "does not show the answer"
        } else {
            return Ok(());
        };
        Err(format!(
            "the template `{}` of the role `{JUDGE_ROLE}` {why}: pass it on by `<input name=\"scored_answer\" from=\"answer\" trust=\"untrusted\"/>`",
            self.role.task.value
        ))
    }

    fn assemble_request<'r>(
        &'r self,
        settings: JudgeSettings<'r>,
        material: &JudgedMaterial<'_>,
    ) -> Result<JudgeRequest<'r>, String> {
        let mut inputs: BTreeMap<String, Value> = BTreeMap::new();
        inputs.insert(ANSWER.to_owned(), material.answer.into());
        inputs.insert(CRITERIA.to_owned(), describe_criteria(material).into());
        if self.has_request {
            inputs.insert(REQUEST.to_owned(), material.request.into());
        }
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
        Ok(JudgeRequest {
            sent: wire.build_request(&assembly.messages)?,
            tokens: assembly.report.tokens.map(|tokens| tokens as u64),
            model,
            messages: assembly.messages,
            output_limit: wire.output_limit(),
        })
    }

    /// The hash of its prompt, model and parameters, with a criterion.
    ///
    /// # Errors
    /// As for a request.
    pub(super) fn criterion_hash(
        &self,
        settings: JudgeSettings<'_>,
        criterion: &JudgedCriterion,
    ) -> Result<String, String> {
        let hash = self.prompt_hash(settings, &[criterion])?;
        Ok(hash.to_string())
    }

    /// The hash of its prompt, model and parameters, with some criteria.
    fn prompt_hash(
        &self,
        settings: JudgeSettings<'_>,
        criteria: &[&JudgedCriterion],
    ) -> Result<Hash, String> {
        let material = JudgedMaterial {
            request: "",
            answer: "-",
            guide: criteria.first().and_then(|one| one.guide.as_deref()),
            criteria,
        };
        let request = self.build_request(settings, &material)?;
        let provider = request
            .model
            .map_or("", |model| model.provider.value.as_str());
        let address = settings
            .providers
            .and_then(|all| all.get(provider)?.base_url.as_deref());
        // A condition in the template can depend on the answer, so the request alone shows too little.
        let definition = self.graph.registry.find(&self.role.task.value);
        let definition = definition.map_or_else(String::new, |task| task.hash().to_string());
        let mut hasher = Hasher::new();
        hasher
            .add_field("ctxc judge 1")
            .add_field(definition)
            .add_field(provider)
            .add_field(address.unwrap_or_default())
            .add_field(&request.sent.endpoint)
            .add_field(&request.sent.body);
        Ok(hasher.finish())
    }
}

/// The judge of a project.
#[derive(Debug)]
pub struct ProjectJudge<'a> {
    /// Its agent, or the reason why the project has none.
    pub agent: Result<JudgeAgent<'a>, String>,
    /// The criteria on which it is trusted.
    pub trust: JudgeTrust,
    /// Collects the answers that it is to judge; `None` if they are not needed.
    pub observer: Option<Mutex<Vec<JudgedAnswer>>>,
}

impl<'a> ProjectJudge<'a> {
    /// Loads the judge, without trust.
    pub fn load(registry: &'a Registry, roles: &'a Roles) -> Self {
        Self {
            agent: JudgeAgent::load(registry, roles),
            trust: JudgeTrust::default(),
            observer: None,
        }
    }

    /// Adds everything that determines its scores, besides the answers and criteria of a case.
    pub(in crate::eval) fn add_to_hash(&self, settings: JudgeSettings<'_>, hasher: &mut Hasher) {
        let prompt = self.agent.as_ref().map_err(Clone::clone);
        let prompt = prompt.and_then(|agent| agent.prompt_hash(settings, &[]));
        hasher
            .add_field("ctxc judge 1")
            .add_field(prompt.map_or_else(|why| why, |hash| hash.to_string()));
        self.trust.add_to_hash(hasher);
    }
}

/// The criteria as the judge reads them.
fn describe_criteria(material: &JudgedMaterial<'_>) -> String {
    let mut text = material
        .guide
        .map_or_else(String::new, |guide| format!("{}\n\n", guide.trim()));
    for criterion in material.criteria {
        let scale = criterion.max_score;
        let question = criterion.question.trim();
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}: {question} (0 to {scale})", criterion.id);
        for (score, meaning) in &criterion.anchors {
            let _ = writeln!(text, "  {score}: {}", meaning.trim());
        }
    }
    text.truncate(text.trim_end().len());
    text
}
