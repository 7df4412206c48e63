//! How a context is assembled: profile, order, budget, who counts, and the project's models.

use super::render::profile::Profile;
use super::render::target::Target;
use crate::kernel::budget::Counting;
use crate::kernel::context::Kind;
use crate::kernel::tokens::{Bytes, TokenCounter};
use crate::project::models::Model;
use crate::project::roles::Role;
use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Arc;

/// Tokens that an objective may have where a project says nothing of it.
pub const OBJECTIVE_TOKENS: usize = 8_000;

/// How a context is assembled.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// How segments look, where neither the task nor its role says.
    pub profile: Profile,
    /// Kinds that stand before all others of their message but the `system` text, in this order; the others stand most stable first.
    pub order: &'a [Kind],
    /// Tokens in all; `None` for no limit.
    pub budget: Option<usize>,
    /// Who counts tokens.
    pub counter: &'a dyn TokenCounter,
    /// Whether figures are wanted where nothing has to be counted.
    pub counting: Counting,
    /// Tokens that an objective may have, which is never cut.
    pub objective_tokens: usize,
    /// Whose body the messages are for: in the profile `bare`, the form of the answer is left to a body that has a field for it.
    pub target: Option<&'static Target>,
    /// The project's roles and models: those of the request decide about profile, budget and counter. `None` for the ones above.
    pub models: Option<ModelSettings<'a>>,
}

impl Default for Options<'_> {
    fn default() -> Self {
        let profile = Profile::default();
        let order = &[][..];
        let counting = Counting::WhenNeeded;
        let objective_tokens = OBJECTIVE_TOKENS;
        Self { profile, order, budget: None, counter: &Bytes, counting, objective_tokens, target: None, models: None }
    }
}

/// What a project says of models, and who counts for them.
#[derive(Clone, Copy, Debug)]
pub struct ModelSettings<'a> {
    /// `[models.NAME]`.
    pub models: &'a BTreeMap<String, Model>,
    /// `[roles.NAME]`.
    pub roles: &'a BTreeMap<String, Role>,
    /// Who counts, by the names that models give.
    pub counters: &'a dyn Counters,
    /// A profile that was asked for: it holds for every task and role.
    pub profile: Option<Profile>,
    /// `[context] objective_tokens`.
    pub objective_tokens: Option<usize>,
}

#[cfg(feature = "compile")]
impl<'a> ModelSettings<'a> {
    /// Those of a project.
    pub fn of(config: &'a crate::project::config::Config, counters: &'a dyn Counters) -> Self {
        let (models, roles, objective_tokens) = (&config.models, &config.roles, config.context.objective_tokens);
        Self { models, roles, counters, profile: None, objective_tokens }
    }
}

/// Counters of tokens by name.
pub trait Counters: Debug + Send + Sync {
    /// The counter with a name; `None` where nobody counts like that.
    fn named(&self, name: &str) -> Option<&dyn TokenCounter>;
}

/// Nobody counts but who is asked anyway.
impl Counters for () {
    fn named(&self, _: &str) -> Option<&dyn TokenCounter> {
        None
    }
}

impl<K: Ord + Borrow<str> + Debug + Send + Sync> Counters for BTreeMap<K, Arc<dyn TokenCounter>> {
    fn named(&self, name: &str) -> Option<&dyn TokenCounter> {
        self.get(name).map(|counter| &**counter as &dyn TokenCounter)
    }
}
