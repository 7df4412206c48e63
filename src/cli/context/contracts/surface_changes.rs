//! The surface of a project as a package, and its changes since a version.

use crate::base::span::Spanned;
use crate::cli::context::manifest::{CountingArgs, with_counters};
use crate::cli::context::project::CompiledProject;
use crate::cli::prelude::*;
use crate::package::surface::{ExportSurface, Surface, read_surface};
use crate::package::surface_diff::{SurfaceChange, compare_surfaces};
use crate::project::config::Config;
use crate::project::glob::Globs;
use crate::project::package_section::PackageSection;
use crate::project::require::Selector;
use crate::rules::list::all_rules;

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
        return (export == "rules").then(|| rules_surface(config));
    };
    let tool = config.tools.get(name)?;
    Some(ExportSurface {
        arguments: Some(tool.parameters.clone()),
        ..ExportSurface::from_text(&tool.to_json())
    })
}

/// Returns the surface of the rules: what a project that extends them takes over.
fn rules_surface(config: &Config) -> ExportSurface {
    let lints = all_rules().filter_map(|rule| {
        let level = config.lints.level(rule.meta.code)?;
        Some((rule.meta.name.to_owned(), level.as_str().to_owned()))
    });
    let requirements = config.requirements.iter().flat_map(|one| {
        let selector = describe_selector(&one.selector);
        let conditions = one.conditions.iter();
        conditions.map(move |condition| {
            let text: Vec<&str> = condition.value.text.split_whitespace().collect();
            let name = format!("{selector}{}", text.join(" "));
            (name, one.level.as_str().to_owned())
        })
    });
    ExportSurface {
        lints: lints.collect(),
        requirements: requirements.collect(),
        ..ExportSurface::default()
    }
}

/// Describes the tasks that a requirement applies to; empty for all.
fn describe_selector(selector: &Selector) -> String {
    let globs = |globs: &Option<Globs>| globs.as_ref().map(|globs| globs.patterns().join(", "));
    let words = |words: &[Spanned<String>]| {
        let words: Vec<&str> = words.iter().map(|word| word.value.as_str()).collect();
        (!words.is_empty()).then(|| words.join(", "))
    };
    let parts = [
        ("path", globs(&selector.path)),
        ("name", globs(&selector.name)),
        ("operator", words(&selector.operator)),
        ("subtype", words(&selector.subtype)),
        ("role", words(&selector.role)),
    ];
    let parts = parts.into_iter();
    let parts: Vec<String> = parts
        .filter_map(|(key, value)| Some(format!("{key} {}", value?)))
        .collect();
    if parts.is_empty() {
        String::new()
    } else {
        format!("{}: ", parts.join(" and "))
    }
}

/// The changes of a surface since a revision.
#[derive(Debug)]
pub(in crate::cli) struct ChangesSince {
    /// The name of the revision.
    pub(in crate::cli) revision: String,
    /// The changes.
    pub(in crate::cli) changes: Vec<SurfaceChange>,
}

impl ChangesSince {
    /// Returns the changes since the tag of the first version that has one, or else since another
    /// revision; `None` if none of them can be compiled.
    pub(in crate::cli) fn find<'v>(
        project: &CompiledProject,
        versions: impl IntoIterator<Item = &'v String>,
        other: Option<&str>,
        now: &Surface,
    ) -> Option<Self> {
        let mut versions = versions.into_iter();
        let release = versions.find_map(|version| find_release(project, version));
        let (revision, then) = match release {
            Some(release) => release,
            None => (
                other?.to_owned(),
                CompiledProject::load_at(&project.root, other?).ok()?,
            ),
        };
        let changes = compare_surfaces(&project_surface(&then).ok()?, now);
        Some(Self { revision, changes })
    }

    /// Returns the changes of an export that may be the reason why a contract is broken, the
    /// likeliest first.
    pub(super) fn of_export(&self, export: &str, reason: &str) -> Vec<&SurfaceChange> {
        let changes = self.changes.iter();
        let mut changes: Vec<_> = changes.filter(|change| change.export == export).collect();
        // A contract may expect a text, but other changes are the likelier reason.
        if changes.iter().any(|change| !change.is_harmless()) {
            changes.retain(|change| !change.is_harmless());
        }
        changes.sort_by_key(|change| change.distance_from(reason));
        changes
    }
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
