//! The options of an assembly: profile, order, budget, token counter, and the project's models.

use super::render::profile::Profile;
use super::render::target::RenderTarget;
use crate::kernel::budget::Counting;
use crate::kernel::context::Kind;
use crate::kernel::tokens::{ByteCounter, TokenCounter};
use crate::project::models::ModelConfig;
use crate::project::roles::Role;
use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Arc;

/// The default maximum of an objective in tokens.
pub const DEFAULT_OBJECTIVE_TOKENS: usize = 8_000;

/// The options of an assembly.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// The format of segments, unless the task or its role sets one.
    pub profile: Profile,
    /// Kinds that stand before all others of their message except the `system` text, in this order;
    /// the others follow, most stable first.
    pub order: &'a [Kind],
    /// The budget of the whole context in tokens; `None` for no limit.
    pub budget: Option<usize>,
    /// The token counter.
    pub counter: &'a dyn TokenCounter,
    /// Controls counting when no limit requires it.
    pub counting: Counting,
    /// The maximum of the objective in tokens; the objective is never cut.
    pub objective_tokens: usize,
    /// The API that receives the messages: in the profile `bare`, the form of the answer is left to
    /// an API that has a field for it.
    pub target: Option<&'static RenderTarget>,
    /// The project's roles and models: those of the request determine profile, budget and counter.
    /// `None` to use the fields above.
    pub models: Option<ModelSettings<'a>>,
}

impl Default for Options<'_> {
    fn default() -> Self {
        let profile = Profile::default();
        let order = &[][..];
        let counting = Counting::WhenNeeded;
        let objective_tokens = DEFAULT_OBJECTIVE_TOKENS;
        Self {
            profile,
            order,
            budget: None,
            counter: &ByteCounter,
            counting,
            objective_tokens,
            target: None,
            models: None,
        }
    }
}

/// The models and roles of a project, with the counters for them.
#[derive(Clone, Copy, Debug)]
pub struct ModelSettings<'a> {
    /// `[models.NAME]`.
    pub models: &'a BTreeMap<String, ModelConfig>,
    /// `[roles.NAME]`.
    pub roles: &'a BTreeMap<String, Role>,
    /// The counters by the tokenizer names of models.
    pub counters: &'a dyn TokenCounters,
    /// A profile that overrides those of every task and role.
    pub profile: Option<Profile>,
    /// `[context] objective_tokens`.
    pub objective_tokens: Option<usize>,
    /// The model of tasks without a role, instead of those that they name.
    pub task_model: Option<&'a str>,
}

#[cfg(feature = "compile")]
impl<'a> ModelSettings<'a> {
    /// Returns the settings of a project.
    pub fn from_config(
        config: &'a crate::project::config::Config,
        counters: &'a dyn TokenCounters,
    ) -> Self {
        let (models, roles, objective_tokens) = (
            &config.models,
            &config.roles,
            config.context.objective_tokens,
        );
        Self {
            models,
            roles,
            counters,
            profile: None,
            objective_tokens,
            task_model: None,
        }
    }
}

/// Counters of tokens by name.
pub trait TokenCounters: Debug + Send + Sync {
    /// Returns the counter with a name; `None` if it does not exist.
    fn find_counter(&self, name: &str) -> Option<&dyn TokenCounter>;
}

/// Contains no counters; the default counter applies.
impl TokenCounters for () {
    fn find_counter(&self, _: &str) -> Option<&dyn TokenCounter> {
        None
    }
}

impl<K: Ord + Borrow<str> + Debug + Send + Sync> TokenCounters
    for BTreeMap<K, Arc<dyn TokenCounter>>
{
    fn find_counter(&self, name: &str) -> Option<&dyn TokenCounter> {
        self.get(name)
            .map(|counter| &**counter as &dyn TokenCounter)
    }
}
