//! A document with all its references at one moment. Another thread counts and renders it while the
//! editor continues.

use super::open_documents::{EditorOverlay, OpenBuffers};
use super::project::ProjectState;
use crate::base::diagnostic::Diagnostic;
use crate::base::fs::{ReadFs, RealFs};
use crate::context::request::Files;
use crate::project::config::Config;
use crate::registry::Registry;
use crate::registry::compile::sources::{self, FileAccess};
use crate::registry::library::{Built, VirtualProject, compile_files};
use crate::registry::workspace::request::CheckGoal;
use crate::rules::check::is_error;
use crate::rules::rule::CheckScope;
use crate::template::text::normalize_line_ends;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A document and the files it needs.
#[derive(Debug)]
pub(in crate::lsp) struct DocumentSnapshot {
    root: PathBuf,
    config: Arc<Config>,
    open: Arc<OpenBuffers>,
    /// The document and the files of all its references.
    names: BTreeSet<Arc<str>>,
}

impl DocumentSnapshot {
    /// Takes a snapshot of a document.
    pub(in crate::lsp) fn for_document(project: &ProjectState, name: &Arc<str>) -> Self {
        Self::for_documents(project, [name])
    }

    /// Takes a snapshot of several documents.
    pub(in crate::lsp) fn for_documents<'n>(
        project: &ProjectState,
        names: impl IntoIterator<Item = &'n Arc<str>>,
    ) -> Self {
        Self {
            root: project.root.clone(),
            config: Arc::clone(&project.config),
            open: Arc::clone(&project.open),
            names: required_files(project, names),
        }
    }

    /// The project file.
    pub(in crate::lsp) fn config(&self) -> &Config {
        &self.config
    }

    fn file_system(&self) -> EditorOverlay<'_> {
        EditorOverlay {
            root: &self.root,
            open: &self.open,
        }
    }

    /// Compiles its tasks.
    ///
    /// # Errors
    /// The number of errors, if the goal requires a registry without any.
    pub(in crate::lsp) fn compile(&self, goal: CheckGoal) -> Result<Registry, usize> {
        let files = self.file_system();
        let source = VirtualProject {
            root: &self.root,
            files: &files,
            scope: CheckScope::NamedFiles,
            goal,
        };
        let read = |name: &Arc<str>| {
            let bytes = match self.open.get(name) {
                Some(buffer) => Ok(Cow::Borrowed(buffer.text.as_bytes())),
                None => RealFs
                    .read(&self.root.join(&**name), self.config.limits.file)
                    .map(Cow::Owned),
            };
            (Arc::clone(name), bytes)
        };
        let Built {
            registry,
            diagnostics,
            ..
        } = compile_files(&self.config, source, self.names.iter().map(read));
        let errors =
            |found: &[Diagnostic]| found.iter().filter(|finding| is_error(finding)).count();
        registry.ok_or_else(|| errors(&diagnostics))
    }
}

impl Files for DocumentSnapshot {
    fn text(&self, path: &str) -> Result<String, String> {
        let files = self.file_system();
        let text = sources::read_inside_project(
            FileAccess {
                root: &self.root,
                files: &files,
                limit: sources::MAX_CONTEXT_FILE_BYTES,
            },
            Path::new(path),
        )?;
        Ok(normalize_line_ends(&text).into_owned())
    }
}

/// Returns documents and all files of their direct and indirect references.
fn required_files<'n>(
    project: &ProjectState,
    names: impl IntoIterator<Item = &'n Arc<str>>,
) -> BTreeSet<Arc<str>> {
    let mut needed: BTreeSet<Arc<str>> = names.into_iter().cloned().collect();
    needed.retain(|name| !project.is_of_package(name));
    let references = |name: &Arc<str>| {
        project
            .template(name)
            .map_or(&[][..], |template| &template.facts.references)
    };
    let mut open: Vec<Arc<str>> = needed
        .iter()
        .filter(|name| !references(name).is_empty())
        .cloned()
        .collect();
    if open.is_empty() {
        return needed;
    }
    let index = project.index();
    while let Some(name) = open.pop() {
        for reference in references(&name) {
            let found = index
                .find_definition(reference.kind.definition_kind(), &reference.name)
                .and_then(|id| index.file(id.file));
            // Packages are compiled with their users.
            let is_own = |path: &str| !project.is_of_package(path);
            let found = found.filter(|file| is_own(file.path) && !needed.contains(file.path));
            if let Some(file) = found {
                needed.insert(Arc::clone(file.path));
                open.push(Arc::clone(file.path));
            }
        }
    }
    needed
}
