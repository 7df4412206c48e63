//! The effects of a role on its task's context: the role's system text stands before the task's,
//! and the role's model determines budget, counter and profile. The choice of the model is made by
//! `project::routing`.

use super::fault::{Fault, FaultKind};
use super::options::{ModelSettings, Options};
use super::render::call::{Call, answer, limit};
use super::request::Request;
use super::sampling::sampled;
use super::segments::draft::DraftSegment;
use super::task_graph::{Link, TaskGraph};
use crate::kernel::context::{Kind, Origin, Segment, Stability, Traced, Trust};
use crate::kernel::profile::Profile;
use crate::kernel::sampling::Sampled;
use crate::project::models::Model;
use crate::project::roles::{Role, SystemPrompt};
use crate::project::routing::{self, Choice};
use crate::project::tools::ToolDefinition;

/// The model of an agent, and the options of its context.
#[derive(Clone, Debug)]
pub struct Routed<'a> {
    /// The options with the role's profile, the model's counter and the smallest of all budgets;
    /// `models` is already applied.
    pub options: Options<'a>,
    /// The chosen model, if the project has one for the agent.
    pub choice: Option<Choice<'a>>,
    /// The model that the task names, even if the project does not define it.
    pub named: Option<String>,
    /// The sampling parameters of the call, each with its source.
    pub sampling: Vec<Sampled>,
}

impl Routed<'_> {
    /// The name of the model to call: the chosen one, otherwise the one that the task names.
    pub fn model(&self) -> Option<&str> {
        self.choice
            .as_ref()
            .map(|choice| choice.model.name.value.as_str())
            .or(self.named.as_deref())
    }
}

impl Routed<'_> {
    /// Returns the parts of the agent's request beside its messages: the model's id at its
    /// provider, the tokens reserved for the answer, tools, sampling and the form of the answer.
    ///
    /// # Errors
    /// The agent does not exist, or the schema of its answer cannot be read.
    pub fn call(&self, graph: &TaskGraph<'_>, request: &Request<'_>) -> Result<Call, Fault> {
        let missing = || {
            Fault::from(FaultKind::Dangling {
                name: request.task.to_owned(),
            })
        };
        let chain = graph.chain(request.task, request.node)?;
        let link = chain.last().ok_or_else(missing)?;
        let model = self.choice.as_ref().map(|choice| choice.model);
        let named = || {
            chain
                .iter()
                .rev()
                .find_map(|link| link.node.body.model.as_deref())
                .map(str::to_owned)
        };
        let sampling = self
            .sampling
            .iter()
            .map(|one| (one.name, one.value.clone()))
            .collect();
        let reserve = model
            .and_then(|model| u32::try_from(model.reserve).ok())
            .filter(|reserve| *reserve > 0);
        let tools = request.role.and_then(|role| role.tools.as_ref());
        Ok(Call {
            name: link.tree.task.name().to_owned(),
            model: model.map(|model| model.id.clone()).or_else(named),
            limit: limit(&sampling).or(reserve),
            tools: tools
                .iter()
                .flat_map(|tools| tools.given())
                .cloned()
                .collect(),
            sampling,
            answer: answer(graph, request)?,
        })
    }
}

/// Returns the model of an agent and the options that follow from it.
///
/// # Errors
/// The agent does not exist.
pub fn route<'a>(
    forest: &TaskGraph<'_>,
    request: &Request<'_>,
    options: &Options<'a>,
) -> Result<Routed<'a>, Fault> {
    let chain = forest.chain(request.task, request.node)?;
    let own = chain.iter().rev().find_map(|link| link.node.body.profile);
    let own = own.or_else(|| {
        request
            .role
            .and_then(|role| Some(role.profile.as_ref()?.value))
    });
    let settled = Options {
        models: None,
        profile: own.unwrap_or(options.profile),
        ..*options
    };
    let Some(ModelSettings {
        models,
        counters,
        profile,
        objective_tokens,
        ..
    }) = options.models
    else {
        return Ok(Routed {
            options: settled,
            choice: None,
            named: None,
            sampling: sampled(&chain, request.role, None),
        });
    };
    let wanted = wanted(&chain);
    let choice = routing::choose(models, request.role, &wanted);
    let model = choice.as_ref().map(|choice| choice.model);
    let limit = routing::budget(request.role, model)
        .map(|tokens| usize::try_from(tokens).unwrap_or(usize::MAX));
    let options = Options {
        profile: profile.unwrap_or(settled.profile),
        budget: [options.budget, limit].into_iter().flatten().min(),
        counter: model
            .and_then(|model| counters.named(model.tokenizer))
            .unwrap_or(options.counter),
        objective_tokens: objective_tokens.unwrap_or(options.objective_tokens),
        ..settled
    };
    let sampling = sampled(&chain, request.role, model);
    Ok(Routed {
        options,
        sampling,
        choice,
        named: wanted.first().map(|name| (*name).to_owned()),
    })
}

/// Returns the sampling parameters of an agent for a model other than the chosen one.
///
/// # Errors
/// The agent does not exist.
pub fn sampling(
    forest: &TaskGraph<'_>,
    request: &Request<'_>,
    model: Option<&Model>,
) -> Result<Vec<Sampled>, Fault> {
    Ok(sampled(
        &forest.chain(request.task, request.node)?,
        request.role,
        model,
    ))
}

/// Returns the models that the task names: those of the nearest node that names any, the preferred
/// one first.
fn wanted<'f>(chain: &[Link<'f>]) -> Vec<&'f str> {
    let nearest = chain
        .iter()
        .rev()
        .map(|link| &link.node.body)
        .find(|body| body.model.is_some());
    nearest
        .into_iter()
        .flat_map(|body| body.model.iter().chain(&body.fallback))
        .map(|name| &**name)
        .collect()
}

/// Returns the kinds of segments that a role puts first, behind the system text. In the profile
/// `bare`, the question stands behind the conversation, as in a chat.
pub(super) fn order(role: Option<&Role>, profile: Profile) -> Vec<Kind> {
    let order: Vec<Kind> = role
        .map_or(&[][..], |role| &role.order)
        .iter()
        .filter_map(|word| Kind::named(word.value))
        .collect();
    if order.is_empty() && profile == Profile::Bare {
        vec![Kind::History]
    } else {
        order
    }
}

/// Replaces the order of the options by that of a role, if the role has one.
pub(super) fn ordered<'a>(options: &Options<'a>, order: &'a [Kind]) -> Options<'a> {
    Options {
        order: if order.is_empty() {
            options.order
        } else {
            order
        },
        ..*options
    }
}

/// Returns the role's system text, with its origin.
fn words(system: &SystemPrompt) -> Traced {
    Traced::new(
        system.text.as_str(),
        Origin::File {
            path: system.path.clone(),
            line: system.line,
        },
    )
}

/// Prepends the role's system text to that of its task: one segment with two origins. An untrusted
/// system text of the task stays a separate segment.
pub(super) fn says(system: &SystemPrompt, context: &mut Vec<DraftSegment>) {
    match context.iter_mut().find(|drafted| is_own(&drafted.segment)) {
        Some(own) => {
            // The role's text is always present, even if the task's part is empty.
            let may_lack = own.condition.take().is_some();
            join(
                words(system),
                &mut own.segment,
                if may_lack { "" } else { "\n\n" },
            );
        }
        None => context.insert(
            0,
            DraftSegment::whole(Segment::of(
                Kind::System,
                words(system),
                "the role's system",
            )),
        ),
    }
}

/// Returns the segment of a tool, which stays the same as long as the project's files do.
pub(super) fn tool(tool: &ToolDefinition) -> DraftSegment {
    let text = Traced::new(
        tool.text(),
        Origin::File {
            path: tool.path.clone(),
            line: tool.line,
        },
    );
    let segment = Segment::of(Kind::Tools, text, "the role's tools").stable(Stability::Project);
    DraftSegment::whole(segment.named(format!("tool:{}", tool.name), tool.name.as_str()))
}

fn is_own(segment: &Segment) -> bool {
    segment.kind == Kind::System && segment.trust == Trust::Trusted
}

fn join(mut words: Traced, own: &mut Segment, between: &str) {
    words.push(between, Origin::Frame);
    words.append(&own.text);
    own.text = words;
    own.why = format!("the role's system and {}", own.why);
}
