//! Budgets that cut an agent's own texts in every call, for `ctxc check`. Only an assembled context
//! shows them.
//!
//! Assembles nothing if a project has neither roles nor models, and runs no command.

use super::models::ProjectCounters;
use super::project::ProjectFiles;
use crate::base::diagnostic::Diagnostic;
use crate::base::fs::RealFs;
use crate::cli::prelude::*;
use crate::cli::selection::TemplateSelection;
use crate::context::manifest::{CutTexts, ManifestOptions, cut_texts};
use crate::context::options::Options;
use crate::registry::Registry;
use crate::rules::project::crowded_budget::{self, CrowdedAgent};

/// Returns true if budgets are checked: only with the whole project, and only if one of its agents
/// can have a budget.
pub(in crate::cli) fn is_enabled(project: &Project, selection: &TemplateSelection) -> bool {
    let has_budgets = !project.config.roles.is_empty() || !project.config.models.is_empty();
    selection.is_all() && has_budgets && !project.has_errors()
}

/// Returns the findings in a registry of the project.
pub(in crate::cli) fn check_registry(
    project: &Project,
    registry: &[u8],
    cx: &Cx,
) -> Result<Vec<Diagnostic>> {
    let Ok(registry) = Registry::read(registry) else {
        return Ok(Vec::new());
    };
    let config = &project.config;
    let counters = ProjectCounters::new(config, None)?;
    let options = Options {
        counter: counters.default_counter(),
        models: Some(counters.model_settings(config)),
        ..Options::default()
    };
    let files = ProjectFiles {
        root: &project.root,
        files: &RealFs,
    };
    let found = cut_texts(
        &registry,
        &ManifestOptions {
            options,
            files: &files,
        },
        cx.options.threads,
    );
    Ok(found
        .iter()
        .filter_map(|cut| report_cut_texts(project, cut))
        .collect())
}

fn report_cut_texts(project: &Project, cut: &CutTexts) -> Option<Diagnostic> {
    let CutTexts {
        role,
        task,
        node,
        model,
        budget,
        untrusted_reserve,
        texts,
    } = cut;
    let node = if node == "/" { "" } else { node };
    let agent = role.as_ref().map_or_else(
        || format!("{task}{node}"),
        |role| format!("{role}: {task}{node}"),
    );
    let (role, model) = (role.as_deref(), model.as_deref());
    let crowded = CrowdedAgent {
        role,
        agent: &agent,
        model,
        budget: *budget,
        untrusted_reserve: *untrusted_reserve,
        texts,
    };
    crowded_budget::report(&project.config, &crowded)
}
