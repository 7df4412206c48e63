//! The agent that judges: the role `judge` of the project, and its requests.

use super::criteria::JudgedCriterion;
use super::judged_answer::JudgedAnswer;
use super::trust::JudgeTrust;
use crate::base::hash::{Hash, Hasher};
use crate::eval::receiver::Roles;
use crate::eval::role_agent::{FenceFault, RoleAgent, RoleRequest, RoleSettings, find_fence_fault};
use crate::registry::Registry;
use crate::scenario::expect::judge::JUDGE_ROLE;
use crate::scenario::rubric::Criterion;
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
    agent: RoleAgent<'a>,
    /// The reason why its prompt is refused, if it is.
    fences: OnceLock<Result<(), String>>,
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
        Ok(Self {
            agent: RoleAgent::load(registry, role, &[ANSWER, CRITERIA])?,
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
        settings: RoleSettings<'r>,
        material: &JudgedMaterial<'_>,
    ) -> Result<RoleRequest<'r>, String> {
        let fences = self.fences.get_or_init(|| self.check_fences(settings));
        fences.clone()?;
        self.assemble_request(settings, material)
    }

    /// Checks that its template shows the answer, and shows it and the request in fences alone.
    fn check_fences(&self, settings: RoleSettings<'_>) -> Result<(), String> {
        let material = JudgedMaterial {
            request: SAMPLE_REQUEST,
            answer: SAMPLE_ANSWER,
            guide: None,
            criteria: &[],
        };
        let messages = self.assemble_request(settings, &material)?.messages;
        let why = match find_fence_fault(&messages, &[SAMPLE_ANSWER, SAMPLE_REQUEST]) {
            Some(FenceFault::Open) => {
                "shows the answer or its request without a fence, so that text in it could give orders"
            }
            Some(FenceFault::Missing) => "does not show the answer",
            None => return Ok(()),
        };
        Err(format!(
            "the template `{}` of the role `{JUDGE_ROLE}` {why}: pass it on by `<input name=\"scored_answer\" from=\"answer\" trust=\"untrusted\"/>`",
            self.agent.role.task.value
        ))
    }

    fn assemble_request<'r>(
        &'r self,
        settings: RoleSettings<'r>,
        material: &JudgedMaterial<'_>,
    ) -> Result<RoleRequest<'r>, String> {
        let criteria =
            describe_criteria(material.guide, material.criteria.iter().map(|one| &***one));
        let inputs = [
            (ANSWER, material.answer),
            (CRITERIA, &criteria),
            (REQUEST, material.request),
        ];
        let inputs = inputs.map(|(name, text)| (name.to_owned(), text.into()));
        self.agent.build_request(settings, inputs.into())
    }

    /// The hash of its prompt, model and parameters, with a criterion.
    ///
    /// # Errors
    /// As for a request.
    pub(super) fn criterion_hash(
        &self,
        settings: RoleSettings<'_>,
        criterion: &JudgedCriterion,
    ) -> Result<String, String> {
        let hash = self.prompt_hash(settings, &[criterion])?;
        Ok(hash.to_string())
    }

    /// The hash of its prompt, model and parameters, with some criteria.
    fn prompt_hash(
        &self,
        settings: RoleSettings<'_>,
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
        let definition = self.agent.graph.registry.find(&self.agent.role.task.value);
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
    pub(in crate::eval) fn add_to_hash(&self, settings: RoleSettings<'_>, hasher: &mut Hasher) {
        let prompt = self.agent.as_ref().map_err(Clone::clone);
        let prompt = prompt.and_then(|agent| agent.prompt_hash(settings, &[]));
        hasher
            .add_field("ctxc judge 1")
            .add_field(prompt.map_or_else(|why| why, |hash| hash.to_string()));
        self.trust.add_to_hash(hasher);
    }
}

/// The criteria as a judge reads them.
pub fn describe_criteria<'c>(
    guide: Option<&str>,
    criteria: impl IntoIterator<Item = &'c Criterion>,
) -> String {
    let mut text = guide.map_or_else(String::new, |guide| format!("{}\n\n", guide.trim()));
    for criterion in criteria {
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
