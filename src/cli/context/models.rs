//! The roles and models of a project, for contexts: the requested role, and a counter for each
//! tokenizer of a model.

use crate::base::suggest;
use crate::cli::prelude::*;
use crate::context::options::ModelSettings;
use crate::context::tokens;
use crate::kernel::tokens::TokenCounter;
use crate::project::config::Config;
use crate::project::models::ModelConfig;
use crate::project::roles::Role;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The token counters of a run.
#[derive(Debug)]
pub(in crate::cli) struct ProjectCounters {
    /// The requested counter, or the default one for agents without a model.
    first: Arc<dyn TokenCounter>,
    /// By the names of tokenizers; empty if a counter was requested, which then counts for all
    /// models.
    named: BTreeMap<&'static str, Arc<dyn TokenCounter>>,
}

impl ProjectCounters {
    /// Returns the requested counter; without one, the counter of each model, and a default.
    pub(in crate::cli) fn new(config: &Config, name: Option<&str>) -> Result<Self> {
        let first = find_tokenizer(name.unwrap_or(tokens::DEFAULT_COUNTER))?;
        let mut named = BTreeMap::new();
        for model in config.models.values().filter(|_| name.is_none()) {
            // The default counter replaces a tokenizer that is not built in.
            let is_known = model.tokenizer != tokens::DEFAULT_COUNTER
                && tokens::counter(model.tokenizer).is_some();
            if is_known && !named.contains_key(model.tokenizer) {
                named.insert(model.tokenizer, find_tokenizer(model.tokenizer)?);
            }
        }
        Ok(Self { first, named })
    }

    /// The counter for agents whose model has none.
    pub(in crate::cli) fn default_counter(&self) -> &dyn TokenCounter {
        &*self.first
    }

    /// The models of a project, with these counters.
    pub(in crate::cli) fn model_settings<'a>(&'a self, config: &'a Config) -> ModelSettings<'a> {
        ModelSettings::from_config(config, &self.named)
    }
}

/// Returns the counter of a tokenizer.
fn find_tokenizer(name: &str) -> Result<Arc<dyn TokenCounter>> {
    tokens::counter(name).ok_or_else(|| {
        let error = CliError::usage(format!("there is no tokenizer `{name}`"));
        error.with_suggestion_or(tokens::nearest_name(name), || {
            format!(
                "tokenizers: {}",
                tokens::counter_names().collect::<Vec<_>>().join(", ")
            )
        })
    })
}

/// Returns the role with a name.
pub(in crate::cli) fn find_role<'c>(config: &'c Config, name: &str) -> Result<&'c Role> {
    find_entry(&config.roles, "role", name)
}

/// Returns the model with a name.
pub(super) fn find_model<'c>(config: &'c Config, name: &str) -> Result<&'c ModelConfig> {
    find_entry(&config.models, "model", name)
}

/// Returns an entry of `[roles]` or `[models]`; `kind` is its name in errors.
fn find_entry<'c, T>(entries: &'c BTreeMap<String, T>, kind: &str, name: &str) -> Result<&'c T> {
    entries.get(name).ok_or_else(|| {
        let names = || entries.keys().map(String::as_str);
        let error = CliError::usage(format!("there is no {kind} `{name}` in this project"));
        let existing = || {
            if entries.is_empty() {
                format!("`[{kind}s.NAME]` of ctxc.toml defines one")
            } else {
                format!("{kind}s here: {}", list_first(names()))
            }
        };
        error.with_suggestion_or(suggest::nearest_candidate(name, names()), existing)
    })
}
