//! Checks and fixes the project with another text in place of a file, with the engine of `check
//! --fix`. Changes nothing.

use super::open_documents::{DocumentBuffer, EditorOverlay};
use super::project::{PROJECT_FILE, ProjectState};
use super::scenarios;
use crate::base::diagnostic::Diagnostic;
use crate::lsp::uri;
use crate::project::linked_names::Links;
use crate::project::suppressions::{SUPPRESSIONS_FILE as SUPPRESSIONS, Suppressions};
use crate::registry::compile::{CompileBuffers, CompileOutcome, CompileReason, CompiledFile};
use crate::registry::workspace::link;
use crate::rules::apply::{self, FixSelection};
use crate::rules::check;
use crate::rules::rule::CheckScope;
use std::collections::BTreeMap;
use std::sync::Arc;

impl ProjectState {
    /// Returns a copy of the project with other texts of some files.
    pub(in crate::lsp) fn with_texts(&self, texts: BTreeMap<Arc<str>, String>) -> Self {
        let mut other = Self::new(self.root.clone());
        other.is_alone = self.is_alone;
        let mut open = (*self.open).clone();
        for (name, text) in texts {
            let uri = uri::from_path(&self.path(&name));
            let is_xml = self.is_xml(&name);
            open.insert(
                name,
                Arc::new(DocumentBuffer {
                    is_xml,
                    ..DocumentBuffer::new(uri, 0, text)
                }),
            );
        }
        for (name, buffer) in open {
            other.put_buffer(&name, buffer);
        }
        other.settle();
        other
    }
}

/// Returns the text of a file with every safe fix, including those that appear after other fixes;
/// `None` if there are none. No fix adds an error to any file.
pub(in crate::lsp) fn fixed_text(
    project: &ProjectState,
    name: &Arc<str>,
    text: &str,
) -> Option<String> {
    if !is_fixable(project, name) {
        return None;
    }
    let is_suppressed = |finding: &Diagnostic| {
        project
            .suppressions
            .as_ref()
            .is_some_and(|(_, known)| known.contains(finding))
    };
    let own = |finding: &Diagnostic| finding.path == *name && !is_suppressed(finding);
    let mut scratch = CompileBuffers::new();
    let mut check = |text: &str| speculative_check(project, name, text, &mut scratch);
    let fixed = apply::fix_text(
        text,
        FixSelection::Safe,
        &project.config.limits,
        &own,
        &mut check,
    );
    (fixed.text != text).then_some(fixed.text)
}

/// Returns true if a finding of a file has a safe fix.
pub(in crate::lsp) fn is_fixable(project: &ProjectState, name: &str) -> bool {
    project
        .findings(name)
        .iter()
        .any(|finding| apply::eligible_fix(finding, FixSelection::Safe).is_some())
}

/// Returns the findings of a file with another text.
pub(in crate::lsp) fn findings_with_text(
    project: &ProjectState,
    name: &Arc<str>,
    text: &str,
) -> Vec<Diagnostic> {
    let mut found = speculative_check(project, name, text, &mut CompileBuffers::new());
    project.remove_suppressed(&mut found);
    found
}

/// Returns the findings of a file with another text, and those about names in all files.
fn speculative_check(
    project: &ProjectState,
    name: &Arc<str>,
    text: &str,
    scratch: &mut CompileBuffers,
) -> Vec<Diagnostic> {
    if **name == *PROJECT_FILE {
        return check::config_findings(&project.parse_config(text));
    }
    if **name == *SUPPRESSIONS {
        return Suppressions::parse(text).map_or_else(
            |_| Vec::new(),
            |known| project.stale_suppressions(text, &known),
        );
    }
    if project.is_scenario(name) {
        return scenarios::findings_of_text(project, name, text);
    }
    let files = EditorOverlay {
        root: &project.root,
        open: &project.open,
    };
    let outcome =
        project
            .compiler(&files, text)
            .compile_text(name, text, CompileReason::Found, scratch);
    let CompileOutcome::Taken(mut file) = outcome else {
        return Vec::new();
    };
    let mut found = std::mem::take(&mut file.diagnostics);
    let texts = |other: &str| {
        if *other == **name {
            Some(text.to_owned())
        } else {
            project.read_text(other)
        }
    };
    if project.documents.get(name).is_some() {
        found.extend(link::link_files(
            &project.config,
            &Links::new(&project.documents.index_with(name, &file)),
            project.check_scope(),
            texts,
        ));
    } else {
        found.extend(outside_findings(project, name, &file, texts));
    }
    found
}

/// Returns the findings about names in a file outside the project: it may use the project's names
/// and defines none for it.
pub(in crate::lsp) fn outside_findings(
    project: &ProjectState,
    name: &Arc<str>,
    template: &CompiledFile,
    text: impl Fn(&str) -> Option<String>,
) -> Vec<Diagnostic> {
    let found = link::link_files(
        &project.config,
        &Links::new(&project.documents.index_with(name, template)),
        CheckScope::NamedFiles,
        text,
    );
    found
        .into_iter()
        .filter(|finding| finding.path == *name)
        .collect()
}
