//! One side of a comparison: a manifest, a registry, a project's folder, or a git revision of this
//! project.
//!
//! An existing file or folder has priority over a revision of the same name.

use super::counting::{CountingArgs, of_project, of_registry};
use crate::base::fs::{self, RealFs};
use crate::cli::context::project::{Compiled, Inside};
use crate::cli::prelude::*;
use crate::cli::{request, revision};
use crate::context::manifest::{Manifest, SCHEMA};
use crate::registry::{self, Registry};
use crate::rules::input::read_fault::reason;
use serde::Deserialize;
use std::collections::BTreeSet;
use std::io;
use std::num::NonZeroUsize;

/// The most bytes of a file; more than any manifest has.
const LIMIT: u64 = 4 << 30;
/// The hint on how to make manifests.
const WHENCE: &str =
    "`ctxc manifest --output context-manifest.json` writes a manifest, `ctxc build` a registry";

/// Reads sides with the same options.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sides<'a> {
    /// The folder of this run's project.
    pub(super) root: &'a Path,
    pub(super) counting: &'a CountingArgs,
    pub(super) threads: Option<NonZeroUsize>,
}

/// One side of a comparison.
#[derive(Debug)]
pub(super) struct Side {
    /// The name for people.
    pub(super) name: String,
    pub(super) manifest: Manifest,
    /// The origin of the manifest.
    from: From,
}

#[derive(Debug)]
enum From {
    Project(Box<Compiled>),
    Registry(Box<Registry>, PathBuf),
    Manifest,
}

/// The name of the work tree.
pub(super) const HERE: &str = "work tree";

impl Side {
    /// A manifest without its origin.
    pub(super) const fn bare(name: String, manifest: Manifest) -> Self {
        Self {
            name,
            manifest,
            from: From::Manifest,
        }
    }

    /// A project with its manifest.
    pub(super) fn of_project(name: String, manifest: Manifest, project: Compiled) -> Self {
        Self {
            name,
            manifest,
            from: From::Project(Box::new(project)),
        }
    }

    /// Returns the files that define its settings.
    pub(super) fn files(&self) -> Option<Inside<'_>> {
        match &self.from {
            From::Project(project) => Some(project.files()),
            From::Registry(_, root) => Some(Inside {
                root,
                files: &RealFs,
            }),
            From::Manifest => None,
        }
    }

    /// Returns the registry, if the side has one.
    pub(super) fn registry(&self) -> Option<&Registry> {
        match &self.from {
            From::Project(project) => Some(&project.registry),
            From::Registry(registry, _) => Some(registry),
            From::Manifest => None,
        }
    }
}

impl Sides<'_> {
    /// Reads both sides. The default of the new one is the current project.
    pub(super) fn both(&self, old: &Path, new: Option<&Path>) -> Result<(Side, Side)> {
        if let Some(new) = new {
            return Ok((self.one(old)?, self.one(new)?));
        }
        let range = old.to_str().filter(|_| !fs::exists(old));
        let range = range.map_or(Ok(None), |text| revision::range(self.root, text))?;
        let Some((old, new)) = range else {
            return Ok((self.one(old)?, self.folder(self.root, HERE.to_owned())?));
        };
        Ok((self.revision(&old)?, self.revision(&new)?))
    }

    /// Makes a registry and another side comparable: since a registry has no project file, only
    /// tasks are compared. Returns a note on the omitted roles.
    pub(super) fn even(&self, old: &mut Side, new: &mut Side) -> Result<Option<String>> {
        let (bare, full) = match (&old.from, &new.from) {
            (From::Registry(..), From::Registry(..)) => return Ok(None),
            (From::Registry(..), _) => (old, new),
            (_, From::Registry(..)) => (new, old),
            _ => return Ok(None),
        };
        let roles: BTreeSet<&str> = full
            .manifest
            .entries
            .iter()
            .filter_map(|entry| entry.role.as_deref())
            .collect();
        let roles = plural(roles.len(), "role");
        let played = full
            .manifest
            .entries
            .iter()
            .filter(|entry| entry.role.is_some())
            .map(|entry| entry.task.clone());
        let played: BTreeSet<String> = played.collect();
        if let From::Project(project) = &full.from {
            full.manifest = of_registry(
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
        let said = || {
            format!(
                "{roles} of {full} left out, since {bare} is a registry, which holds tasks and no roles"
            )
        };
        Ok((!played.is_empty()).then(said))
    }

    fn one(&self, named: &Path) -> Result<Side> {
        if fs::is_dir(named) {
            return self.folder(named, named.display().to_string());
        }
        if is_recording(named) {
            let found = format!(
                "{} is a recording, which has no manifest of a project to compare",
                named.display()
            );
            return Err(CliError::usage(found).hint("`ctxc diff OLD NEW` compares two recordings"));
        }
        if fs::exists(named) {
            return self.file(named);
        }
        let shown = named.display();
        let Some(revision) = named.to_str() else {
            return Err(CliError::usage(format!("there is no file {shown}")));
        };
        self.revision(revision).map_err(|error| match error.kind {
            Kind::Usage => error.hint(format!("there is no file or folder {shown} either")),
            Kind::Project
            | Kind::Findings
            | Kind::Infrastructure
            | Kind::Nothing
            | Kind::BrokenPipe => error,
        })
    }

    fn folder(&self, folder: &Path, name: String) -> Result<Side> {
        self.project(name, Compiled::load_in(folder)?)
    }

    fn revision(&self, revision: &str) -> Result<Side> {
        self.project(revision.to_owned(), Compiled::load_at(self.root, revision)?)
    }

    fn project(&self, name: String, project: Compiled) -> Result<Side> {
        let manifest = of_project(&project, self.counting, self.threads)?;
        Ok(Side::of_project(name, manifest, project))
    }

    /// Reads a manifest, or makes that of a registry.
    fn file(&self, path: &Path) -> Result<Side> {
        let bytes = bytes(path)?;
        let declared = serde_json::from_slice::<Declared>(&bytes).ok();
        if declared.is_none_or(|declared| declared.schema.starts_with("ctxc/manifest/")) {
            return Ok(Side::bare(
                path.display().to_string(),
                of_bytes(path, &bytes)?,
            ));
        }
        let unusable = |err: registry::ReadError| {
            CliError::new(Kind::from(&err), format!("{}: {err}", path.display())).hint(WHENCE)
        };
        let registry = Registry::read(bytes).map_err(unusable)?;
        let files = Inside {
            root: self.root,
            files: &RealFs,
        };
        let manifest = of_registry(&registry, &files, self.counting, self.threads)?;
        let from = From::Registry(Box::new(registry), self.root.to_owned());
        Ok(Side {
            name: path.display().to_string(),
            manifest,
            from,
        })
    }
}

/// True for `@NAME` and for a file of JSON lines. A JSON document is a manifest or a registry here.
fn is_recording(path: &Path) -> bool {
    let is_lines = path.extension().is_some_and(|ending| ending == "jsonl");
    request::is_request(path) && (is_lines || path.to_string_lossy().starts_with('@'))
}

fn bytes(path: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    match fs::read_into(path, LIMIT, &mut bytes) {
        Ok(_) => Ok(bytes),
        Err(err) => {
            let kind = if err.kind() == io::ErrorKind::NotFound {
                Kind::Usage
            } else {
                Kind::Findings
            };
            Err(CliError::new(
                kind,
                format!("{} cannot be read: {}", path.display(), reason(&err)),
            )
            .hint(WHENCE))
        }
    }
}

/// The schema that a file declares.
#[derive(Deserialize)]
struct Declared {
    schema: String,
}

/// Reads a manifest.
pub(super) fn manifest(path: &Path) -> Result<Manifest> {
    of_bytes(path, &bytes(path)?)
}

fn of_bytes(path: &Path, bytes: &[u8]) -> Result<Manifest> {
    let shown = path.display();
    let other = |why: String| {
        CliError::new(Kind::Findings, format!("{shown} is not a manifest: {why}")).hint(WHENCE)
    };
    let declared: Declared = serde_json::from_slice(bytes).map_err(|err| other(err.to_string()))?;
    if declared.schema != SCHEMA {
        let newer = declared.schema.starts_with("ctxc/manifest/");
        let error = other(format!(
            "its schema is `{}`, expected `{SCHEMA}`",
            declared.schema
        ));
        return Err(if newer {
            CliError {
                kind: Kind::Infrastructure,
                ..error
            }
            .hint("a newer ctxc wrote it: use that one")
        } else {
            error
        });
    }
    serde_json::from_slice(bytes).map_err(|err| other(err.to_string()))
}
