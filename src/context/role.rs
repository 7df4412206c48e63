//! The effects of a role on its task's context: the role's system text stands before the task's,
//! and the role's model determines budget, counter and profile. The choice of the model is made by
//! `project::routing`.

use super::fault::{Fault, FaultKind};
use super::options::{ModelSettings, Options};
use super::render::call::{CallParams, answer_form, output_limit};
use super::request::Request;
use super::sampling::resolve_sampling;
use super::segments::draft_segment::DraftSegment;
use super::task_graph::{ChainLink, TaskGraph};
use crate::kernel::context::{Kind, Origin, Segment, Stability, TracedText, Trust};
use crate::kernel::profile::Profile;
use crate::kernel::sampling::Sampled;
use crate::project::models::ModelConfig;
use crate::project::roles::{Role, SystemPrompt};
use crate::project::routing::{self, RoutedModel};
use crate::project::tools::ProjectTool;

/// The model of an agent, and the options of its context.
#[derive(Clone, Debug)]
pub struct ModelRoute<'a> {
    /// The options with the role's profile, the model's counter and the smallest of all budgets;
    /// `models` is already applied.
    pub options: Options<'a>,
    /// The chosen model, if the project has one for the agent.
    pub choice: Option<RoutedModel<'a>>,
    /// The model that the task names, even if the project does not define it.
    pub named: Option<String>,
    /// The sampling parameters of the call, each with its source.
    pub sampling: Vec<Sampled>,
}

impl ModelRoute<'_> {
    /// The name of the model to call: the chosen one, otherwise the one that the task names.
    pub fn model(&self) -> Option<&str> {
        self.choice
            .as_ref()
            .map(|choice| choice.model.name.value.as_str())
            .or(self.named.as_deref())
    }
}

impl ModelRoute<'_> {
    /// Returns the parts of the agent's request beside its messages: the model's id at its
    /// provider, the tokens reserved for the answer, tools, sampling and the form of the answer.
    ///
    /// # Errors
    /// The agent does not exist, or the schema of its answer cannot be read.
    pub fn request_settings(
        &self,
        graph: &TaskGraph<'_>,
        request: &Request<'_>,
    ) -> Result<CallParams, Fault> {
        let missing = || {
            Fault::from(FaultKind::Dangling {
                name: request.task.to_owned(),
            })
        };
        let chain = graph.find_chain(request.task, request.node)?;
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
        Ok(CallParams {
            name: link.tree.task.name().to_owned(),
            model: model.map(|model| model.id.clone()).or_else(named),
            limit: output_limit(&sampling).or(reserve),
            tools: tools
                .iter()
                .flat_map(|tools| tools.agent_definitions())
                .cloned()
                .collect(),
            sampling,
            answer: answer_form(graph, request)?,
        })
    }
}

/// Returns the model of an agent and the options that follow from it.
///
/// # Errors
/// The agent does not exist.
pub fn route_model<'a>(
    forest: &TaskGraph<'_>,
    request: &Request<'_>,
    options: &Options<'a>,
) -> Result<ModelRoute<'a>, Fault> {
    let chain = forest.find_chain(request.task, request.node)?;
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
        task_model,
        ..
    }) = options.models
    else {
        return Ok(ModelRoute {
            options: settled,
            choice: None,
            named: None,
            sampling: resolve_sampling(&chain, request.role, None),
        });
    };
    let other_model = task_model.filter(|_| request.role.is_none());
    let wanted = other_model.map_or_else(|| requested_models(&chain), |model| vec![model]);
    let choice = routing::choose_model(models, request.role, &wanted);
    let model = choice.as_ref().map(|choice| choice.model);
    let limit = routing::context_budget(request.role, model)
        .map(|tokens| usize::try_from(tokens).unwrap_or(usize::MAX));
    let options = Options {
        profile: profile.unwrap_or(settled.profile),
        budget: [options.budget, limit].into_iter().flatten().min(),
        counter: model
            .and_then(|model| counters.find_counter(model.tokenizer))
            .unwrap_or(options.counter),
        objective_tokens: objective_tokens.unwrap_or(options.objective_tokens),
        ..settled
    };
    let sampling = resolve_sampling(&chain, request.role, model);
    Ok(ModelRoute {
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
pub fn sampling_for(
    forest: &TaskGraph<'_>,
    request: &Request<'_>,
    model: Option<&ModelConfig>,
) -> Result<Vec<Sampled>, Fault> {
    Ok(resolve_sampling(
        &forest.find_chain(request.task, request.node)?,
        request.role,
        model,
    ))
}

/// Returns the models that the task names: those of the nearest node that names any, the preferred
/// one first.
fn requested_models<'f>(chain: &[ChainLink<'f>]) -> Vec<&'f str> {
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
pub(super) fn segment_order(role: Option<&Role>, profile: Profile) -> Vec<Kind> {
    let order: Vec<Kind> = role
        .map_or(&[][..], |role| &role.order)
        .iter()
        .filter_map(|word| Kind::from_word(word.value))
        .collect();
    if order.is_empty() && profile == Profile::Bare {
        vec![Kind::History]
    } else {
        order
    }
}

/// Replaces the order of the options by that of a role, if the role has one.
pub(super) fn with_order<'a>(options: &Options<'a>, order: &'a [Kind]) -> Options<'a> {
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
fn system_text(system: &SystemPrompt) -> TracedText {
    TracedText::new(
        system.text.as_str(),
        Origin::File {
            path: system.path.clone(),
            line: system.line,
        },
    )
}

/// Prepends the role's system text to that of its task: one segment with two origins. An untrusted
/// system text of the task stays a separate segment.
pub(super) fn prepend_system(system: &SystemPrompt, context: &mut Vec<DraftSegment>) {
    match context
        .iter_mut()
        .find(|drafted| is_trusted_system(&drafted.segment))
    {
        Some(own) => {
            // The role's text is always present, even if the task's part is empty.
            let may_lack = own.condition.take().is_some();
            join_system(
                system_text(system),
                &mut own.segment,
                if may_lack { "" } else { "\n\n" },
            );
        }
        None => context.insert(
            0,
            DraftSegment::known(Segment::from_template(
                Kind::System,
                system_text(system),
                "the role's system",
            )),
        ),
    }
}

/// Returns the segment of a tool, which stays the same as long as the project's files do.
pub(super) fn tool_segment(tool: &ProjectTool) -> DraftSegment {
    let text = TracedText::new(
        tool.to_json(),
        Origin::File {
            path: tool.path.clone(),
            line: tool.line,
        },
    );
    let segment =
        Segment::from_template(Kind::Tools, text, "the role's tools").stable(Stability::Project);
    DraftSegment::known(segment.named(format!("tool:{}", tool.name), tool.name.as_str()))
}

fn is_trusted_system(segment: &Segment) -> bool {
    segment.kind == Kind::System && segment.trust == Trust::Trusted
}

fn join_system(mut words: TracedText, own: &mut Segment, between: &str) {
    words.push(between, Origin::Generated);
    words.append(&own.text);
    own.text = words;
    own.why = format!("the role's system and {}", own.why);
}
