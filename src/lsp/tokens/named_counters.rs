//! The token counters of a project.

use crate::context::options::{ModelSettings, Options};
use crate::context::tokens;
use crate::kernel::tokens::{ByteCounter, TokenCounter};
use crate::project::config::Config;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub(in crate::lsp) fn lock_mutex<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// All token counters by name, and the default one. Each model of the project selects its counter.
#[derive(Debug)]
pub(in crate::lsp) struct NamedCounters(
    BTreeMap<&'static str, Arc<dyn TokenCounter>>,
    Arc<dyn TokenCounter>,
);

impl NamedCounters {
    pub(in crate::lsp) fn new() -> Self {
        let named = tokens::counter_names().filter_map(|name| Some((name, tokens::counter(name)?)));
        Self(
            named.collect(),
            tokens::counter(tokens::DEFAULT_COUNTER).unwrap_or_else(|| Arc::new(ByteCounter)),
        )
    }

    /// Returns the assembly options of a project, as on the command line.
    pub(in crate::lsp) fn assembly_options<'a>(&'a self, config: &'a Config) -> Options<'a> {
        Options {
            counter: &*self.1,
            models: Some(ModelSettings::from_config(config, &self.0)),
            ..Options::default()
        }
    }
}
