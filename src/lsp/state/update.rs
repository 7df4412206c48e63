//! Marks changed files and updates the project in one pass. Compiles only changed files, then
//! checks names and scenarios over all files.

use super::open_documents::{DocumentBuffer, EditorOverlay};
use super::project::{FindingsByFile, PROJECT_FILE, PendingChange, active_rules, is_template_name};
use super::{scenarios, speculative};
use crate::base::diagnostic::Diagnostic;
use crate::base::fs::{self, ReadFs, RealFs};
use crate::base::source::LineIndex;
use crate::lsp::prelude::*;
use crate::project::config::Config;
use crate::project::dependencies::normalize_folder;
use crate::project::lock_file::LOCK_FILE;
use crate::project::suppressions::{SUPPRESSIONS_FILE as SUPPRESSIONS, Suppressions};
use crate::registry::compile::{CompileOutcome, CompileReason, CompiledFile, sources};
use crate::registry::workspace::documents::CompiledFiles;
use crate::registry::workspace::packages::{PackageInput, add_packages, merge_findings};
use crate::rules::check::{self, Fingerprints};
use crate::rules::input::read_fault;
use crate::rules::list;
use crate::rules::names::names_prelude::IN_TEXT_LABEL;
use crate::rules::syntax::undecodable;
use crate::syntax::decode;
use crate::template::names::FileFacts;
use crate::template::scope::LinkDetail;
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

impl ProjectState {
    /// Adds an open document or replaces its buffer.
    pub(in crate::lsp) fn put_buffer(&mut self, name: &Arc<str>, buffer: Arc<DocumentBuffer>) {
        // A new template that is not saved yet also belongs to the project.
        if is_template_name(name) && self.template(name).is_none() {
            self.pending.insert(PendingChange::Files);
        }
        let is_new = Arc::make_mut(&mut self.open)
            .insert(Arc::clone(name), buffer)
            .is_none();
        // While it was closed, the project file may have been read without it.
        if is_new && self.is_named_in_project_file(name) {
            self.pending.insert(PendingChange::Config);
        }
        self.mark_changed(name);
    }

    /// Removes a closed document, so that the file on disk counts again.
    pub(in crate::lsp) fn close_buffer(&mut self, name: &str) -> Option<Arc<DocumentBuffer>> {
        let closed = Arc::make_mut(&mut self.open).remove(name)?;
        let name = Arc::from(name);
        self.mark_changed(&name);
        // A closed document without a file on disk no longer exists.
        if (is_template_name(&name) || self.suites.contains_key(&name))
            && !fs::exists(&self.root.join(&*name))
        {
            self.pending.insert(PendingChange::Files);
        }
        if self.outside.remove(&name).is_some() {
            self.pending
                .remove(&PendingChange::Document(Arc::clone(&name)));
        }
        Some(closed)
    }

    /// Marks a file as changed, in the editor or on disk.
    pub(in crate::lsp) fn mark_changed(&mut self, name: &Arc<str>) {
        self.touch_scenarios(name);
        // A template whose names stay the same affects no finding of a project file; findings of
        // closed scenarios are computed on request.
        if !self.is_xml(name) || self.open.keys().any(|open| self.suites.contains_key(open)) {
            self.pending.insert(PendingChange::Scenarios);
        }
        // If the project file includes this file, it is read again with the state on disk.
        if self.is_config(name)
            || self.is_in_live_package(&self.path(name))
            || !self.open.contains_key(name) && self.is_named_in_project_file(name)
        {
            self.pending.insert(PendingChange::Config);
        }
        if self.is_xml(name) {
            self.pending
                .insert(PendingChange::Document(Arc::clone(name)));
        }
        // Templates that include the file as a text.
        let base = name.rsplit('/').next().unwrap_or(name);
        let is_user = |template: &CompiledFile| {
            let is_base = |path: &str| {
                path.strip_suffix(base)
                    .is_some_and(|folder| folder.is_empty() || folder.ends_with('/'))
            };
            template
                .facts
                .sources
                .iter()
                .any(|source| is_base(&source.path))
        };
        let users = self.templates().filter(|(_, template)| is_user(template));
        let users: Vec<PendingChange> = users
            .map(|(user, _)| PendingChange::Document(Arc::clone(user)))
            .collect();
        self.pending.extend(users);
    }

    /// Returns true if a file lies in the folder of a package whose edits count at once.
    fn is_in_live_package(&self, path: &Path) -> bool {
        let live = self.config.packages.iter();
        let mut folders = live.filter(|package| package.folder.hashes.is_none());
        folders.any(|package| path.starts_with(normalize_folder(&package.folder.path(&self.root))))
    }

    /// Reads the packages again if a file lies in one whose edits count at once. Returns true if it
    /// does.
    pub(in crate::lsp) fn note_package_change(&mut self, path: &Path) -> bool {
        let is_inside = self.is_in_live_package(path);
        if is_inside {
            self.pending.insert(PendingChange::Config);
        }
        is_inside
    }

    /// Schedules one comparison with the disk, for clients that do not watch files.
    pub(in crate::lsp) fn expect_disk_changes(&mut self) {
        self.pending.insert(PendingChange::Disk);
    }

    /// Schedules a new search for files after some were added or removed.
    pub(in crate::lsp) fn schedule_walk(&mut self) {
        self.pending.insert(PendingChange::Files);
    }

    /// Applies all pending changes. Returns the folders of nested projects if files were searched.
    pub(in crate::lsp) fn settle(&mut self) -> Vec<PathBuf> {
        if self.pending.remove(&PendingChange::Disk) {
            self.poll_all();
        }
        let pending = std::mem::take(&mut self.pending);
        if pending.is_empty() {
            return Vec::new();
        }
        self.read.clear();
        let is_read = pending.contains(&PendingChange::Config);
        let is_walked = is_read || pending.contains(&PendingChange::Files);
        let mut changed: BTreeSet<Arc<str>> = BTreeSet::new();
        let mut inner = Vec::new();
        if is_read {
            // Those of the packages that the project used before.
            let names = self.documents.iter().map(|(name, _)| Arc::clone(name));
            let names: Vec<_> = names.filter(|name| self.is_of_package(name)).collect();
            for name in names {
                self.documents.remove(&name);
            }
            self.reload_config();
            self.load_packages();
            changed.extend(self.templates().map(|(name, _)| Arc::clone(name)));
        }
        if is_walked {
            let (new, others) = self.walk_files();
            changed.extend(new);
            self.inner.clone_from(&others);
            self.walk_scenarios(&others);
            inner = others;
        }
        if self.read_scenarios() && !self.is_config_broken {
            self.config_findings
                .retain(|finding| *finding.path == *SUPPRESSIONS);
            self.config_findings
                .append(&mut check::config_findings(&self.config));
            changed.extend(self.templates().map(|(name, _)| Arc::clone(name)));
        }
        changed.extend(pending.iter().filter_map(|change| match change {
            PendingChange::Document(name) => Some(Arc::clone(name)),
            PendingChange::Disk
            | PendingChange::Config
            | PendingChange::Files
            | PendingChange::Scenarios => None,
        }));
        let is_moved = is_walked || !changed.is_empty();
        let mut is_linked = !is_walked;
        for name in &changed {
            is_linked &= self.compile_file(name) == NamesChange::Unchanged;
        }
        if !is_linked {
            self.check_links();
        }
        if is_moved {
            self.revision += 1;
            self.compiled.get_mut().clear();
            self.signatures.get_mut().clear();
        }
        *self.closed_findings.get_mut() = None;
        if !is_linked || is_walked || pending.contains(&PendingChange::Scenarios) {
            self.check_scenarios();
        }
        self.shown.is_stale = true;
        inner
    }

    fn reload_config(&mut self) {
        self.config_revision += 1;
        // The project file sets the default number of trials.
        self.suites.values_mut().for_each(|read| *read = None);
        let text = self.read_text(PROJECT_FILE);
        let new = text.map_or_else(Config::default, |text| self.parse_config(&text));
        let mut found = check::config_findings(&new);
        // While the file is invalid TOML, the last valid state is used; if there was none, the
        // parts that can be read.
        self.is_config_broken = new.is_broken();
        if !self.is_config_broken || self.config_revision == 1 || self.config.is_broken() {
            self.config = Arc::new(new);
        }
        self.stamp_config();
        found.extend(self.read_suppressions());
        let before = std::mem::replace(&mut self.config_findings, found);
        if !are_alike(&before, &self.config_findings) {
            self.shown.changed.extend(
                before
                    .iter()
                    .chain(&self.config_findings)
                    .map(|finding| Arc::clone(&finding.path)),
            );
        }
        let identity = if self.suppressions.is_some() {
            Fingerprints::Computed
        } else {
            Fingerprints::Omitted
        };
        (self.active, self.structure) = active_rules(&self.config, identity);
    }

    /// Compiles the templates of the packages that the project uses.
    fn load_packages(&mut self) {
        let mut packages = CompiledFiles::default();
        let config = Arc::clone(&self.config);
        let input = PackageInput {
            config: &config,
            root: &self.root,
            files: &self.file_system(),
            purpose: LinkDetail::Findings,
            threads: None,
        };
        add_packages(input, &mut packages);
        self.documents.add_missing(packages);
    }

    /// Reads the suppressions. While their file is invalid, the last valid ones are used, and the
    /// finding is returned.
    fn read_suppressions(&mut self) -> Option<Diagnostic> {
        let text = self.read_text(SUPPRESSIONS);
        let new = match text.as_deref().map(Suppressions::parse).transpose() {
            Ok(recorded) => text.zip(recorded),
            Err(fault) => {
                let text = text.unwrap_or_default();
                let rule = &list::find_rule("project-syntax")?.meta;
                let mut finding = Diagnostic::new(
                    rule,
                    &Arc::from(SUPPRESSIONS),
                    fault.span(),
                    fault.to_string(),
                );
                finding.locate(&text, &LineIndex::new(&text));
                return Some(finding);
            }
        };
        if self.suppressions != new {
            self.suppressions = new;
            self.shown.changed.extend(self.file_names());
        }
        None
    }

    /// Searches the project's files. Returns the new ones and the folders of nested projects.
    fn walk_files(&mut self) -> (Vec<Arc<str>>, Vec<PathBuf>) {
        let Some((mut on_disk, inner)) = self.files_on_disk() else {
            return Default::default();
        };
        let is_new = |name: &Arc<str>| {
            !fs::exists(&self.root.join(&**name)) && !Path::new(&**name).is_absolute()
        };
        on_disk.extend(
            self.open
                .keys()
                .filter(|name| is_template_name(name) && is_new(name))
                .cloned(),
        );
        let deleted: Vec<Arc<str>> = self
            .documents
            .iter()
            .map(|(name, _)| name)
            .filter(|name| !on_disk.contains(*name) && !self.is_of_package(name))
            .cloned()
            .collect();
        for name in deleted {
            let Some(template) = self.documents.remove(&name) else {
                continue;
            };
            self.shown
                .changed
                .extend(labelled_texts(&template.diagnostics));
            if self.open.contains_key(&name) {
                self.outside.insert(name, template);
            }
        }
        let mut new = Vec::new();
        for name in on_disk {
            if self.documents.get(&name).is_some() {
                continue;
            }
            let template = self.outside.remove(&name).unwrap_or_else(|| {
                new.push(Arc::clone(&name));
                CompiledFile::default()
            });
            self.documents.insert(name, template);
        }
        (new, inner.into_iter().collect())
    }

    /// Compiles one file. Returns the effect on its names and references.
    fn compile_file(&mut self, name: &Arc<str>) -> NamesChange {
        let is_member = self.documents.get(name).is_some();
        let is_open = self.open.contains_key(name);
        if !is_member && !is_open || self.is_of_package(name) {
            return NamesChange::Unchanged;
        }
        if !is_open {
            self.record_stamp(name);
        }
        self.docs.borrow_mut().remove(name);
        // A file that is not a template now may become one again.
        let (new, is_large) = self.compile_template(name).unwrap_or_default();
        if is_large {
            self.large.insert(Arc::clone(name));
        } else {
            self.large.remove(name);
        }
        let all = if is_member {
            &mut self.documents
        } else {
            &mut self.outside
        };
        let old = all.insert(Arc::clone(name), new);
        let new = all.get(name);
        let (before, after) = (template_findings(old.as_ref()), template_findings(new));
        if !are_alike(before, after) {
            self.shown.changed.insert(Arc::clone(name));
            self.shown
                .changed
                .extend(labelled_texts(before).chain(labelled_texts(after)));
        }
        let is_same = match (&old, new) {
            (Some(old), Some(new)) => {
                let largest = grown_expansion(self.largest_expansion, &old.facts, &new.facts);
                let is_small = largest <= u64::from(self.config.limits.text);
                let is_same = is_small && old.facts.same_names(&new.facts) && !self.is_linked(name);
                self.largest_expansion = largest;
                is_same
            }
            (None, None) => true,
            (None, Some(_)) | (Some(_), None) => false,
        };
        self.stamp_sources(name);
        if is_same {
            NamesChange::Unchanged
        } else {
            NamesChange::Changed
        }
    }

    /// True if a finding about names is in a file, has a label in it, or depends on the size of
    /// definitions.
    fn is_linked(&self, name: &str) -> bool {
        let shows = |finding: &Diagnostic| {
            let has_label = finding
                .labels
                .iter()
                .any(|label| label.path.as_deref() == Some(name));
            has_label || finding.rule.name == "expansion-too-large"
        };
        self.link_findings.contains_key(name) || self.link_findings.values().flatten().any(shows)
    }

    /// Compiles a file. Also returns true if only its structure was checked. Returns `None` if the
    /// file does not exist or is no template.
    fn compile_template(&mut self, name: &Arc<str>) -> Option<(CompiledFile, bool)> {
        let open = self.open.get(name).map(Arc::clone);
        let read;
        let text = match &open {
            Some(buffer) => &buffer.text,
            None => match self.read_disk_text(name)? {
                Ok(text) => {
                    read = text;
                    &read
                }
                Err(finding) => {
                    return Some((
                        CompiledFile {
                            diagnostics: vec![finding],
                            ..CompiledFile::default()
                        },
                        false,
                    ));
                }
            },
        };
        if !is_template_name(name) && !place::is_template(text, &self.config.limits) {
            return None;
        }
        let mut scratch = std::mem::take(&mut self.scratch);
        let files = EditorOverlay {
            root: &self.root,
            open: &self.open,
        };
        let outcome = self.compiler(&files, text).compile_text(
            name,
            text,
            CompileReason::Found,
            &mut scratch,
        );
        self.scratch = scratch;
        match outcome {
            CompileOutcome::Skipped => None,
            CompileOutcome::Taken(made) => Some((*made, DocumentBuffer::is_large_text(text))),
        }
    }

    /// Returns a text from disk, or a finding with the read error; `None` if there is no such file.
    fn read_disk_text(&self, name: &Arc<str>) -> Option<Result<String, Diagnostic>> {
        let limit = self.config.limits.file;
        match RealFs.read(&self.root.join(&**name), limit) {
            Ok(bytes) => Some(match decode::decode(&bytes) {
                Ok(text) => Ok(text.into_owned()),
                Err(fault) => Err(undecodable::report(name, &fault)),
            }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => Some(Err(read_fault::report(name, &error, limit))),
        }
    }

    /// Checks names and references over all files.
    fn check_links(&mut self) {
        let (mut found, largest) =
            self.documents
                .link_with_size(&self.config, self.check_scope(), |name| {
                    self.read_text(name)
                });
        self.largest_expansion = largest;
        let packages = self
            .documents
            .iter()
            .filter(|(name, _)| self.is_of_package(name));
        found.extend(packages.flat_map(|(_, template)| template.diagnostics.iter().cloned()));
        merge_findings(&self.config, &mut found);
        let mut linked = FindingsByFile::new();
        for finding in found {
            linked
                .entry(Arc::clone(&finding.path))
                .or_default()
                .push(finding);
        }
        for (name, template) in self.outside.iter() {
            linked.insert(
                Arc::clone(name),
                speculative::outside_findings(self, name, template, |name| self.read_text(name)),
            );
        }
        let before = std::mem::replace(&mut self.link_findings, linked);
        self.shown
            .changed
            .extend(changed_files(&before, &self.link_findings));
    }

    /// Checks the open scenarios against the current project.
    fn check_scenarios(&mut self) {
        let found = scenarios::findings(self, &|name| self.open.contains_key(name));
        let before = std::mem::replace(&mut self.scenario_findings, found);
        self.shown
            .changed
            .extend(changed_files(&before, &self.scenario_findings));
    }

    /// Records the state on disk of the project file and the files it includes.
    fn stamp_config(&mut self) {
        let shared: Vec<Arc<str>> = self
            .config
            .files
            .iter()
            .map(|file| Arc::from(&*file.path))
            .collect();
        let named = self.named_in_project_file();
        for name in shared
            .iter()
            .chain(&[PROJECT_FILE, SUPPRESSIONS, LOCK_FILE].map(Arc::from))
            .chain(&named)
        {
            self.record_stamp(name);
        }
    }

    /// Records the state on disk of the texts that a template includes, at its first compilation
    /// with them.
    fn stamp_sources(&mut self, template: &str) {
        let sources = self
            .template(template)
            .map_or(&[][..], |template| &template.facts.sources);
        let names: Vec<String> = sources
            .iter()
            .filter_map(|source| sources::source_name(template, source))
            .collect();
        for name in names {
            if !self.stamps.contains_key(name.as_str()) {
                self.record_stamp(&Arc::from(name));
            }
        }
    }
}

fn template_findings(of: Option<&CompiledFile>) -> &[Diagnostic] {
    of.map_or(&[], |of| &of.diagnostics)
}

/// An upper bound of the largest expansion after a change of sizes: every copy of a definition
/// grows at most by its own ratio.
fn grown_expansion(largest: u64, before: &FileFacts, after: &FileFacts) -> u64 {
    let pairs = before.definitions.iter().zip(&after.definitions);
    let grown = pairs
        .filter(|(before, after)| after.bytes > before.bytes)
        .map(|(before, after)| {
            let grown =
                u128::from(largest) * u128::from(after.bytes) / u128::from(before.bytes.max(1)) + 1;
            u64::try_from(grown).unwrap_or(u64::MAX)
        });
    grown.max().unwrap_or(largest)
}

/// The texts in which findings of templates have labels.
fn labelled_texts(findings: &[Diagnostic]) -> impl Iterator<Item = Arc<str>> {
    let labels = findings
        .iter()
        .flat_map(|finding| &finding.labels)
        .filter(|label| label.text == IN_TEXT_LABEL);
    labels.filter_map(|label| label.path.clone())
}

/// The effect of a compilation on the names and references of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NamesChange {
    Unchanged,
    Changed,
}

/// Returns the files whose shown findings differ.
fn changed_files(before: &FindingsByFile, after: &FindingsByFile) -> Vec<Arc<str>> {
    let names: BTreeSet<&Arc<str>> = before.keys().chain(after.keys()).collect();
    let of = |all: &FindingsByFile, name: &Arc<str>| all.get(name).cloned().unwrap_or_default();
    names
        .into_iter()
        .filter(|name| !are_alike(&of(before, name), &of(after, name)))
        .cloned()
        .collect()
}

/// Returns true if two lists of findings look the same to the client.
fn are_alike(one: &[Diagnostic], other: &[Diagnostic]) -> bool {
    let alike = |(one, other): (&Diagnostic, &Diagnostic)| {
        let place = (one.rule.code, one.span, one.severity)
            == (other.rule.code, other.span, other.severity);
        place
            && (&one.message, &one.labels, &one.notes, &one.help)
                == (&other.message, &other.labels, &other.notes, &other.help)
    };
    one.len() == other.len() && one.iter().zip(other).all(alike)
}
