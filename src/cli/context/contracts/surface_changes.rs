//! The surface of a project as a package, and its changes since a version.

use crate::cli::context::manifest::{CountingArgs, with_counters};
use crate::cli::context::project::CompiledProject;
use crate::cli::prelude::*;
use crate::package::surface::{ExportSurface, Surface, read_surface};
use crate::package::surface_diff::{SurfaceChange, compare_surfaces};
use crate::project::config::Config;
use crate::project::flat_keys::flatten_keys;
use crate::project::package_section::PackageSection;

/// Returns the package that a project is published as.
pub(in crate::cli) fn require_package(config: &Config) -> Result<&PackageSection> {
    config.package.as_ref().ok_or_else(|| {
        CliError::new(CliErrorKind::Project, "ctxc.toml has no `[package]`").with_hint(
            "name the package and its version there: `name = \"acme/rules\"`, `version = \"0.1.0\"`",
        )
    })
}

/// Returns the surface of what a project exports as a package.
pub(in crate::cli) fn project_surface(project: &CompiledProject) -> Result<Surface> {
    let package = project.config.package.iter();
    let exports: Vec<String> = package
        .flat_map(|package| &package.exports)
        .map(|export| export.value.to_string())
        .collect();
    let found = with_counters(
        &project.config,
        &project.files(),
        &CountingArgs::default(),
        |how| read_surface(&project.registry, &project.config.roles, &exports, how),
    )?;
    let mut surface = found.map_err(|faults| project.context_error(&faults))?;
    let others = exports
        .into_iter()
        .filter_map(|export| Some((export.clone(), other_export(&export, &project.config)?)));
    surface.extend(others);
    Ok(surface)
}

/// Returns the surface of a tool or of the rules.
fn other_export(export: &str, config: &Config) -> Option<ExportSurface> {
    let Some(name) = export.strip_prefix("tools/") else {
        let keys = config
            .files
            .iter()
            .flat_map(|file| flatten_keys(&file.text));
        let lints = keys.filter(|(key, _)| key.first().is_some_and(|top| top == "lints"));
        let rows: Vec<String> = lints
            .map(|(key, value)| format!("{} = {value}\n", key.join(".")))
            .collect();
        return (export == "rules").then(|| ExportSurface::from_text(&rows.concat()));
    };
    let tool = config.tools.get(name)?;
    Some(ExportSurface {
        arguments: Some(tool.parameters.clone()),
        ..ExportSurface::from_text(&tool.to_json())
    })
}

/// The changes of a surface since a revision.
#[derive(Debug)]
pub(super) struct ChangesSince {
    /// The name of the revision.
    pub(super) revision: String,
    /// The changes that may fail a contract; all if each seems harmless.
    pub(super) changes: Vec<SurfaceChange>,
}

/// Returns the changes since the tag of a version, or since another revision if there is no such
/// tag; `None` if neither can be compiled.
pub(super) fn changes_since(
    project: &CompiledProject,
    [version, other]: [&str; 2],
    now: &Surface,
) -> Option<ChangesSince> {
    let release = find_release(project, version);
    let (revision, then) = match release {
        Some(release) => release,
        None => (
            other.to_owned(),
            CompiledProject::load_at(&project.root, other).ok()?,
        ),
    };
    let mut changes = compare_surfaces(&project_surface(&then).ok()?, now);
    // A contract may expect a text, but other changes are the likelier reason.
    if changes.iter().any(|change| !change.is_harmless()) {
        changes.retain(|change| !change.is_harmless());
    }
    Some(ChangesSince { revision, changes })
}

/// True if a version has a tag, and the project is no longer as it was there.
pub(super) fn is_edited_release(project: &CompiledProject, version: &str, now: &Surface) -> bool {
    let release = find_release(project, version).and_then(|(_, then)| project_surface(&then).ok());
    release.is_some_and(|then| !compare_surfaces(&then, now).is_empty())
}

/// Returns the tag of a version of this package with the project in it. A repository of several
/// packages names the package in front of the version.
pub(in crate::cli) fn find_release(
    project: &CompiledProject,
    version: &str,
) -> Option<(String, CompiledProject)> {
    let package = project.config.package.as_ref()?;
    let name = &package.name.value;
    let own = name.rsplit('/').next().unwrap_or(name);
    let prefixes = [
        String::new(),
        format!("{own}/"),
        format!("{own}-"),
        format!("{name}/"),
    ];
    let tags = prefixes
        .iter()
        .flat_map(|prefix| ["v", ""].map(|sign| format!("{prefix}{sign}{version}")));
    tags.into_iter().find_map(|tag| {
        let then = CompiledProject::load_at(&project.root, &tag).ok()?;
        let released = then.config.package.as_ref()?;
        let is_own = released.name.value == *name && released.version.value.to_string() == *version;
        is_own.then_some((tag, then))
    })
}
