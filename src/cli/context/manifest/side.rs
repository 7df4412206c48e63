//! One side of a comparison: a manifest, a registry, a project's folder, or a git revision of this
//! project.
//!
//! An existing file or folder has priority over a revision of the same name.

use super::counting::{CountingArgs, project_manifest, registry_manifest};
use crate::base::fs::{self, RealFs};
use crate::cli::context::project::{CompiledProject, ProjectFiles};
use crate::cli::prelude::*;
use crate::cli::{request, revision};
use crate::context::manifest::{MANIFEST_SCHEMA, Manifest};
use crate::registry::{self, Registry};
use crate::rules::input::read_fault::describe_io_error;
use serde::Deserialize;
use std::collections::BTreeSet;
use std::io;
use std::num::NonZeroUsize;

/// The maximum number of bytes of a file; more than any manifest has.
const MAX_FILE_BYTES: u64 = 4 << 30;
/// The hint on how to make manifests.
const SOURCES_HINT: &str =
    "`ctxc manifest --output context-manifest.json` writes a manifest, `ctxc build` a registry";

/// Reads sides with the same options.
#[derive(Clone, Copy, Debug)]
pub(super) struct SideReader<'a> {
    /// The folder of this run's project.
    pub(super) root: &'a Path,
    pub(super) counting: &'a CountingArgs,
    pub(super) threads: Option<NonZeroUsize>,
}

/// One side of a comparison.
#[derive(Debug)]
pub(super) struct ManifestSide {
    /// The name for people.
    pub(super) name: String,
    pub(super) manifest: Manifest,
    /// The origin of the manifest.
    from: SideSource,
}

#[derive(Debug)]
enum SideSource {
    Project(Box<CompiledProject>),
    Registry(Box<Registry>, PathBuf),
    Manifest,
}

/// The name of the work tree.
pub(super) const WORK_TREE: &str = "work tree";

impl ManifestSide {
    /// A manifest without its origin.
    pub(super) const fn manifest_only(name: String, manifest: Manifest) -> Self {
        Self {
            name,
            manifest,
            from: SideSource::Manifest,
        }
    }

    /// A project with its manifest.
    pub(super) fn from_project(name: String, manifest: Manifest, project: CompiledProject) -> Self {
        Self {
            name,
            manifest,
            from: SideSource::Project(Box::new(project)),
        }
    }

    /// Returns the files that define its settings.
    pub(super) fn files(&self) -> Option<ProjectFiles<'_>> {
        match &self.from {
            SideSource::Project(project) => Some(project.files()),
            SideSource::Registry(_, root) => Some(ProjectFiles {
                root,
                files: &RealFs,
            }),
            SideSource::Manifest => None,
        }
    }

    /// Returns the registry, if the side has one.
    pub(super) fn registry(&self) -> Option<&Registry> {
        match &self.from {
            SideSource::Project(project) => Some(&project.registry),
            SideSource::Registry(registry, _) => Some(registry),
            SideSource::Manifest => None,
        }
    }
}

impl SideReader<'_> {
    /// Reads both sides. The default of the new one is the current project.
    pub(super) fn read_both(
        &self,
        old: &Path,
        new: Option<&Path>,
    ) -> Result<(ManifestSide, ManifestSide)> {
        if let Some(new) = new {
            return Ok((self.read_side(old)?, self.read_side(new)?));
        }
        let range = old.to_str().filter(|_| !fs::exists(old));
        let range = range.map_or(Ok(None), |text| revision::parse_range(self.root, text))?;
        let Some((old, new)) = range else {
            return Ok((
                self.read_side(old)?,
                self.folder_side(self.root, WORK_TREE.to_owned())?,
            ));
        };
        Ok((self.revision_side(&old)?, self.revision_side(&new)?))
    }

    /// Makes a registry and another side comparable: since a registry has no project file, only
    /// tasks are compared. Returns a note on the omitted roles.
    pub(super) fn make_comparable(
        &self,
        old: &mut ManifestSide,
        new: &mut ManifestSide,
    ) -> Result<Option<String>> {
        let (bare, full) = match (&old.from, &new.from) {
            (SideSource::Registry(..), SideSource::Registry(..)) => return Ok(None),
            (SideSource::Registry(..), _) => (old, new),
            (_, SideSource::Registry(..)) => (new, old),
            _ => return Ok(None),
        };
        let roles: BTreeSet<&str> = full
            .manifest
            .entries
            .iter()
            .filter_map(|entry| entry.role.as_deref())
            .collect();
        let roles = pluralize(roles.len(), "role");
        let played = full
            .manifest
            .entries
            .iter()
            .filter(|entry| entry.role.is_some())
            .map(|entry| entry.task.clone());
        let played: BTreeSet<String> = played.collect();
        if let SideSource::Project(project) = &full.from {
            full.manifest = registry_manifest(
                &project.registry,
                &project.files(),
                self.counting,
                self.threads,
            )?;
        } else {
            // A manifest has no registry to compute the tasks of roles from.
            full.manifest.entries.retain(|entry| entry.role.is_none());
            bare.manifest
                .entries
                .retain(|entry| !played.contains(&entry.task));
        }
        let full = &full.name;
        let bare = &bare.name;
        let note = || {
            format!(
                "{roles} of {full} left out, since {bare} is a registry, which holds tasks and no roles"
            )
        };
        Ok((!played.is_empty()).then(note))
    }

    fn read_side(&self, named: &Path) -> Result<ManifestSide> {
        if fs::is_dir(named) {
            return self.folder_side(named, named.display().to_string());
        }
        if is_recording(named) {
            let found = format!(
                "{} is a recording, which has no manifest of a project to compare",
                named.display()
            );
            return Err(
                CliError::usage(found).with_hint("`ctxc diff OLD NEW` compares two recordings")
            );
        }
        if fs::exists(named) {
            return self.file_side(named);
        }
        let Some(revision) = named.to_str() else {
            return Err(CliError::usage(format!(
                "there is no file {}",
                named.display()
            )));
        };
        self.revision_side(revision)
            .map_err(|error| match error.kind {
                CliErrorKind::Usage => error.with_hint(format!(
                    "there is no file or folder {} either",
                    named.display()
                )),
                CliErrorKind::Project
                | CliErrorKind::Findings
                | CliErrorKind::Infrastructure
                | CliErrorKind::NothingSelected
                | CliErrorKind::BrokenPipe => error,
            })
    }

    fn folder_side(&self, folder: &Path, name: String) -> Result<ManifestSide> {
        self.project_side(name, CompiledProject::load_in(folder)?)
    }

    fn revision_side(&self, revision: &str) -> Result<ManifestSide> {
        self.project_side(
            revision.to_owned(),
            CompiledProject::load_at(self.root, revision)?,
        )
    }

    /// Makes the manifest of a compiled project.
    pub(super) fn project_side(
        &self,
        name: String,
        project: CompiledProject,
    ) -> Result<ManifestSide> {
        let manifest = project_manifest(&project, self.counting, self.threads)?;
        Ok(ManifestSide::from_project(name, manifest, project))
    }

    /// Reads a manifest, or makes that of a registry.
    fn file_side(&self, path: &Path) -> Result<ManifestSide> {
        let bytes = read_bytes(path)?;
        let declared = serde_json::from_slice::<DeclaredSchema>(&bytes).ok();
        if declared.is_none_or(|declared| declared.schema.starts_with("ctxc/manifest/")) {
            return Ok(ManifestSide::manifest_only(
                path.display().to_string(),
                parse_manifest(path, &bytes)?,
            ));
        }
        let unusable = |err: registry::ReadError| {
            CliError::new(
                CliErrorKind::from(&err),
                format!("{}: {err}", path.display()),
            )
            .with_hint(SOURCES_HINT)
        };
        let registry = Registry::read(bytes).map_err(unusable)?;
        let files = ProjectFiles {
            root: self.root,
            files: &RealFs,
        };
        let manifest = registry_manifest(&registry, &files, self.counting, self.threads)?;
        let from = SideSource::Registry(Box::new(registry), self.root.to_owned());
        Ok(ManifestSide {
            name: path.display().to_string(),
            manifest,
            from,
        })
    }
}

/// True for `@NAME` and for a file of JSON lines. A JSON document is a manifest or a registry here.
fn is_recording(path: &Path) -> bool {
    let is_lines = path.extension().is_some_and(|ending| ending == "jsonl");
    // `@` alone and `@{…}` are revisions.
    let is_named = |name: &str| name.starts_with(|sign: char| sign.is_alphanumeric());
    let is_named = path
        .to_str()
        .and_then(|path| path.strip_prefix('@'))
        .is_some_and(is_named);
    request::is_request(path) && (is_lines || is_named)
}

fn read_bytes(path: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    match fs::read_into(path, MAX_FILE_BYTES, &mut bytes) {
        Ok(_) => Ok(bytes),
        Err(err) => {
            let kind = if err.kind() == io::ErrorKind::NotFound {
                CliErrorKind::Usage
            } else {
                CliErrorKind::Findings
            };
            Err(CliError::new(
                kind,
                format!(
                    "{} cannot be read: {}",
                    path.display(),
                    describe_io_error(&err)
                ),
            )
            .with_hint(SOURCES_HINT))
        }
    }
}

/// The schema that a file declares.
#[derive(Deserialize)]
struct DeclaredSchema {
    schema: String,
}

/// Reads a manifest.
pub(super) fn read_manifest(path: &Path) -> Result<Manifest> {
    parse_manifest(path, &read_bytes(path)?)
}

fn parse_manifest(path: &Path, bytes: &[u8]) -> Result<Manifest> {
    let other = |why: String| {
        CliError::new(
            CliErrorKind::Findings,
            format!("{} is not a manifest: {why}", path.display()),
        )
        .with_hint(SOURCES_HINT)
    };
    let declared: DeclaredSchema =
        serde_json::from_slice(bytes).map_err(|err| other(err.to_string()))?;
    if declared.schema != MANIFEST_SCHEMA {
        let newer = declared.schema.starts_with("ctxc/manifest/");
        let error = other(format!(
            "its schema is `{}`, expected `{MANIFEST_SCHEMA}`",
            declared.schema
        ));
        return Err(if newer {
            CliError {
                kind: CliErrorKind::Infrastructure,
                ..error
            }
            .with_hint("a newer ctxc wrote it: use that one")
        } else {
            error
        });
    }
    serde_json::from_slice(bytes).map_err(|err| other(err.to_string()))
}
