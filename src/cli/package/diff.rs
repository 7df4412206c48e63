//! `ctxc package diff`: the changes between two versions of a package that its users notice, and the
//! version that they ask for.

use super::project_files::require_package;
use super::source::read_archive;
use crate::base::fs;
use crate::cli::context::contracts::{CompiledPackage, find_release, project_surface};
use crate::cli::context::project::CompiledProject;
use crate::cli::prelude::*;
use crate::cli::project::find_root;
use crate::cli::verbs::diff::print_diff;
use crate::package::VersionStep;
use crate::package::surface::Surface;
use crate::package::surface_diff::{ChangeCategory, SurfaceChange, compare_surfaces};
use crate::project::package_section::is_package_name;
use crate::registry::diff::compare_registries;
use semver::Version;

#[derive(Debug, Args)]
pub(super) struct DiffArgs {
    /// The old version: an archive, the folder of a project, or NAME@VERSION for a tag of the package here
    #[arg(value_name = "OLD")]
    old: PathBuf,
    /// The new version, in the same forms
    #[arg(value_name = "NEW")]
    new: PathBuf,
}

/// One of the two versions.
#[derive(Debug)]
struct PackageSide {
    compiled: CompiledPackage,
    name: String,
    version: Version,
    surface: Surface,
}

/// Prints the changes.
pub(super) fn run_diff(args: &DiffArgs, cx: &mut Cx) -> Result<Exit> {
    let old = PackageSide::load(&args.old, cx)?;
    let new = PackageSide::load(&args.new, cx)?;
    if old.name != new.name {
        return Err(CliError::usage(format!(
            "these are two packages: {} and {}",
            old.name, new.name
        )));
    }
    let mut changes = compare_surfaces(&old.surface, &new.surface);
    // Breaks come first; a few tokens more, which nearly every change brings, last.
    changes.sort_by_key(|change| {
        let is_growth = change.category == ChangeCategory::Tokens;
        (!change.is_breaking, !change.is_breaking && is_growth)
    });
    let texts = compare_registries(
        &old.compiled.project.registry,
        &new.compiled.project.registry,
    );
    let texts =
        texts.map_err(|why| CliError::new(CliErrorKind::Infrastructure, why.to_string()))?;
    let is_new = |export: &String| !old.surface.contains_key(export);
    let step = if changes.iter().any(|change| change.is_breaking) {
        VersionStep::Major
    } else if new.surface.keys().any(is_new)
        || changes
            .iter()
            .any(|change| change.category != ChangeCategory::Text)
    {
        VersionStep::Minor
    } else if !changes.is_empty() || !texts.is_empty() {
        VersionStep::Patch
    } else {
        VersionStep::None
    };
    cx.print_line(&format!("{} {} → {}", old.name, old.version, new.version))?;
    for change in changes
        .iter()
        .filter(|change| change.category != ChangeCategory::Text)
    {
        print_change(change, cx)?;
    }
    for change in changes
        .iter()
        .filter(|change| change.category == ChangeCategory::Text)
    {
        print_change(change, cx)?;
    }
    if !texts.is_empty() {
        cx.print_line(ChangeCategory::Text.word())?;
        print_diff(&texts, cx)?;
    }
    let wanted = step.next(&old.version);
    if new.version >= wanted {
        cx.print_line(&format!("{step}: {} will do", new.version))?;
        return Ok(Exit::Success);
    }
    cx.print_line(&format!(
        "{step}: the version must be {wanted} or higher, and is {}",
        new.version
    ))?;
    Ok(Exit::Findings)
}

fn print_change(change: &SurfaceChange, cx: &mut Cx) -> Result<()> {
    let word = change.category.word();
    let end = if change.is_breaking { "  (breaks)" } else { "" };
    cx.print_hanging(
        &escape_line(&format!(
            "{word:8}  {}  {}{end}",
            change.export, change.what
        )),
        10,
    )
}

impl PackageSide {
    fn load(path: &Path, cx: &Cx) -> Result<Self> {
        let release = path.to_str().and_then(|text| text.split_once('@'));
        let release = release.filter(|(name, _)| is_package_name(name) && !fs::exists(path));
        let compiled = if fs::is_dir(path) {
            CompiledPackage::from_folder(path)?
        } else if let Some((name, version)) = release {
            let own = CompiledProject::load_or_root_in(&find_root(&cx.options)?)?;
            let is_own = require_package(&own.config)?.name.value == name;
            let found = is_own.then(|| find_release(&own, version)).flatten();
            let (_, project) = found.ok_or_else(|| {
                CliError::usage(format!("no tag here has {name} {version}"))
                    .with_hint("expected an archive, the folder of a project, or NAME@VERSION of the package in this folder")
            })?;
            CompiledPackage::from_project(project)
        } else {
            CompiledPackage::from_files(&read_archive(path)?.files)?
        };
        let package = require_package(&compiled.project.config)?;
        Ok(Self {
            name: package.name.value.clone(),
            version: package.version.value.clone(),
            surface: project_surface(&compiled.project)?,
            compiled,
        })
    }
}
