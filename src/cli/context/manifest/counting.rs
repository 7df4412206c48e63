//! The token counting of manifests, and manifests made with it: of a project, or of a registry
//! alone.

use crate::cli::context::models::ProjectCounters;
use crate::cli::context::project::{CompiledProject, ProjectFiles};
use crate::cli::context::render_errors::context_error;
use crate::cli::prelude::*;
use crate::context::lines::Lines;
use crate::context::manifest::{self, Manifest, ManifestOptions};
use crate::context::options::Options;
use crate::project::config::Config;
use crate::registry::Registry;
use std::num::NonZeroUsize;

/// Options for counting tokens.
#[derive(Clone, Debug, Default, Args)]
pub(in crate::cli::context) struct CountingArgs {
    /// Tokenizer: o200k and cl100k count exactly; claude, gemini and llama estimate; bytes gives an upper bound
    /// [default: that of the agent's model; o200k if it has none]
    #[arg(long, value_name = "NAME")]
    pub(super) tokenizer: Option<String>,
    /// Tokens that each context may have, unless its role or model allows fewer
    #[arg(long, value_name = "TOKENS", value_parser = parse_tokens)]
    pub(super) budget: Option<usize>,
}

/// Returns the manifest of a whole project.
pub(super) fn project_manifest(
    project: &CompiledProject,
    counting: &CountingArgs,
    threads: Option<NonZeroUsize>,
) -> Result<Manifest> {
    let make =
        |how: &ManifestOptions<'_>| manifest::project_manifest(&project.registry, how, threads);
    with_counters(&project.config, &project.files(), counting, make)?
        .map_err(|faults| project.context_error(&faults))
}

/// Returns the manifest of a whole project, counted as its models do.
pub(in crate::cli) fn whole_manifest(
    project: &CompiledProject,
    threads: Option<NonZeroUsize>,
) -> Result<Manifest> {
    project_manifest(project, &CountingArgs::default(), threads)
}

/// Returns the manifest of a registry alone, which has no roles, with files of a project.
pub(super) fn registry_manifest(
    registry: &Registry,
    files: &ProjectFiles<'_>,
    counting: &CountingArgs,
    threads: Option<NonZeroUsize>,
) -> Result<Manifest> {
    let make = |how: &ManifestOptions<'_>| manifest::project_manifest(registry, how, threads);
    with_counters(&Config::default(), files, counting, make)?
        .map_err(|faults| context_error(&faults, &Lines::default()))
}

/// Calls a function with the roles, models and counters of a project.
pub(in crate::cli::context) fn with_counters<T>(
    config: &Config,
    files: &ProjectFiles<'_>,
    counting: &CountingArgs,
    make: impl FnOnce(&ManifestOptions<'_>) -> T,
) -> Result<T> {
    let counters = ProjectCounters::new(config, counting.tokenizer.as_deref())?;
    let models = Some(counters.model_settings(config));
    let options = Options {
        budget: counting.budget,
        counter: counters.default_counter(),
        models,
        ..Options::default()
    };
    Ok(make(&ManifestOptions { options, files }))
}
