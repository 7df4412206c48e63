//! A project at a revision: its `ctxc.toml`, the files that this extends, its templates and the
//! files that they use.

use super::git::GitRepository;
use super::tree::CommitTree;
use crate::base::contained_path::{self, slash_path};
use crate::base::fs::{self, ReadFs, RealFs};
use crate::cli::findings::project_has_errors;
use crate::cli::prelude::*;
use crate::cli::project::PROJECT_FILE;
use crate::project::config::{Config, MAX_FILE_BYTES};
use crate::registry::Registry;
use crate::registry::library::{Built, VirtualProject, compile_files};
use crate::registry::workspace::listed;
use crate::registry::workspace::request::CheckGoal;
use crate::rules::check::is_error;
use crate::rules::input::read_fault::describe_io_error;
use crate::rules::rule::CheckScope;
use crate::syntax::decode;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

/// A project at a revision.
#[derive(Debug)]
pub(crate) struct ProjectAtRevision {
    /// The revision as named.
    name: String,
    /// The project's folder in [`Self::file_system`].
    pub(crate) root: PathBuf,
    /// The settings of its project file, or the defaults.
    pub(crate) config: Config,
    version_fault: Option<String>,
    has_unknown_settings: bool,
    commit: CommitFiles,
    folder: String,
}

/// The files of a commit, with the repository that contains it.
#[derive(Clone, Debug)]
pub(crate) struct CommitFiles {
    git: GitRepository,
    id: String,
    pub(super) tree: Arc<CommitTree>,
}

impl CommitFiles {
    /// Reads the list of files of a commit, by its id.
    pub(super) fn new(git: GitRepository, id: String) -> Result<Self> {
        let tree =
            Arc::new(CommitTree::of_commit(&git, &id)?.with_filters(&git.at_top(), git.top())?);
        Ok(Self { git, id, tree })
    }
}

impl ProjectAtRevision {
    /// Opens the project of a folder at a revision of the repository around it. Compiles nothing
    /// yet.
    pub(crate) fn open(folder: &Path, revision: &str) -> Result<Self> {
        let git = GitRepository::open_around(folder, revision)?;
        let (id, place) = (git.resolve_commit(revision)?, git.prefix().to_owned());
        let (past, faults) = Self::open_at(CommitFiles::new(git, id)?, revision, place)?;
        if let Some(fault) = past.version_fault() {
            let message = format!("in `{revision}`: {fault}");
            return Err(CliError::new(CliErrorKind::Project, message)
                .with_hint("name a revision for this version of ctxc, or run the other version"));
        }
        faults.map_or(Ok(past), Err)
    }

    /// Opens the project of a commit in a folder, by its path from the top of the repository;
    /// `revision` is the name of the commit in messages. Also returns an error if the project file
    /// is invalid; its valid part was read.
    pub(crate) fn open_at(
        commit: CommitFiles,
        revision: &str,
        folder: String,
    ) -> Result<(Self, Option<CliError>)> {
        let CommitFiles { git, id, tree } = &commit;
        if tree.names_below(&folder).next().is_none() {
            let what = if folder.is_empty() {
                "holds no file".to_owned()
            } else {
                format!("has no folder {folder}")
            };
            return Err(CliError::usage(format!("`{revision}` {what}")).with_hint(
                "the project may have had another place, or not have been committed, by then",
            ));
        }
        let root = Path::new("/").join(&folder);
        let SettingsAtRevision {
            mut config,
            version_fault,
            mut fault,
        } = read_settings(tree, &root, revision);
        let mut is_unknown = false;
        if let Some(fault) = &mut fault {
            // An error in the project file must not disable the project's own limits, nor the rule
            // who may change them.
            match last_valid_settings(git, id, &root)? {
                Some((id, sound)) => {
                    config = sound;
                    fault.message = format!("{}: its settings of {:.10} hold", fault.message, id);
                }
                None => is_unknown = true,
            }
        }
        Ok((
            Self {
                name: revision.to_owned(),
                root,
                config,
                version_fault,
                has_unknown_settings: is_unknown,
                commit,
                folder,
            },
            fault,
        ))
    }

    /// Returns the files of its commit.
    pub(crate) fn commit_files(&self) -> CommitFiles {
        self.commit.clone()
    }

    /// Returns the revision as named.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the path of one of its folders from the top of the repository.
    pub(crate) fn place_of(&self, folder: &str) -> String {
        slash_path(&Path::new(&self.folder).join(folder))
    }

    /// Returns the finding on its `required-version`, if that excludes this version of the program.
    pub(crate) fn version_fault(&self) -> Option<&str> {
        self.version_fault.as_deref()
    }

    fn commit_tree(&self) -> &CommitTree {
        &self.commit.tree
    }

    fn top(&self) -> &Path {
        self.commit.git.top()
    }

    /// Returns the files of the repository that differ in the work tree, are new, or no longer
    /// exist, relative to its top.
    pub(crate) fn changed_files(&self) -> Result<Vec<String>> {
        self.commit_tree()
            .changed_files(&self.commit.git.at_top(), self.top(), &self.commit.id)
    }

    /// Writes the files of the whole repository into an empty folder, including those of its
    /// submodules, and returns the submodules whose commit this clone lacks. A submodule that is
    /// not checked out here becomes an empty folder.
    ///
    /// # Errors
    /// A file cannot be read or written.
    pub(crate) fn write_repository(&self, into: &Path) -> std::io::Result<Vec<String>> {
        self.commit_tree().write_files(into)?;
        let mut missing = Vec::new();
        for (name, commit) in self
            .commit_tree()
            .submodules()
            .filter(|(name, _)| fs::exists(&self.top().join(name).join(".git")))
        {
            match CommitTree::of_commit(&GitRepository::with_top(self.top().join(name)), commit) {
                Ok(files) => files.write_files(&into.join(name))?,
                Err(_) => missing.push(name.to_owned()),
            }
        }
        Ok(missing)
    }

    /// Returns the text at the revision of a file of the work tree, by its path from a folder
    /// there.
    pub(crate) fn text_in_work_tree(&self, folder: &Path, path: &str) -> Option<String> {
        let (top, file) = (
            RealFs.canonicalize(self.top()).ok()?,
            RealFs.canonicalize(&folder.join(path)).ok()?,
        );
        let bytes = self
            .commit_tree()
            .read(
                &Path::new("/").join(file.strip_prefix(top).ok()?),
                MAX_FILE_BYTES,
            )
            .ok()?;
        String::from_utf8(bytes).ok()
    }

    /// Returns true if git ignores an untracked file of the work tree.
    pub(crate) fn is_ignored(&self, file: &Path) -> Result<bool> {
        self.commit.git.at_top().is_ignored(file)
    }

    /// Returns the top of the work tree, and the path of the project's folder in it.
    pub(crate) fn work_tree_place(&self) -> (&Path, &str) {
        (self.top(), &self.folder)
    }

    /// Returns true if its settings are unknown: its project file has errors, and so have all
    /// earlier ones.
    pub(crate) const fn has_unknown_settings(&self) -> bool {
        self.has_unknown_settings
    }

    /// Returns its files that differ in the work tree and whose content Git changes by a filter, so
    /// that the revision does not contain it.
    pub(crate) fn unfiltered_files(&self) -> impl Iterator<Item = &str> {
        self.commit_tree().unfiltered_files(&self.folder)
    }

    /// Returns the files of the whole repository that differ in the work tree and whose content Git
    /// changes by a filter.
    pub(crate) fn unfiltered_anywhere(&self) -> impl Iterator<Item = &str> {
        self.commit_tree().unfiltered_files("")
    }

    /// Returns the file system of the revision.
    pub(crate) fn file_system(&self) -> &dyn ReadFs {
        self.commit_tree()
    }

    /// Returns its files, by their paths in the project.
    pub(crate) fn file_names(&self) -> impl Iterator<Item = &str> {
        self.commit_tree().names_below(&self.folder)
    }

    /// Compiles its tasks. Errors, or a project without templates, give an error.
    pub(crate) fn compile(&self) -> Result<Registry> {
        let (registry, files) = self.compile_or_empty()?;
        if files == 0 {
            return Err(CliError::usage(format!(
                "there is no template in `{}`",
                self.name
            )));
        }
        Ok(registry)
    }

    /// Compiles its tasks, and returns them with the number of template files. Errors of templates
    /// give an error.
    pub(crate) fn compile_or_empty(&self) -> Result<(Registry, usize)> {
        let Built {
            registry,
            diagnostics,
            files,
        } = self.build(CheckGoal::Registry);
        let registry = registry.ok_or_else(|| {
            with_revision(
                &self.name,
                project_has_errors(&format!("`{}`", self.name), &diagnostics),
            )
        })?;
        Ok((registry, files))
    }

    /// Compiles its tasks without those with errors. Also returns the number of template files, and
    /// the first error of each file with errors.
    pub(crate) fn compile_sound(&self) -> Result<(Registry, usize, BTreeMap<String, String>)> {
        let Built {
            registry,
            diagnostics,
            files,
        } = self.build(CheckGoal::Partial);
        let mut faults = BTreeMap::new();
        for fault in diagnostics.iter().filter(|fault| is_error(fault)) {
            faults
                .entry(fault.path.to_string())
                .or_insert_with(|| fault.message.clone());
        }
        let registry = registry.ok_or_else(|| {
            with_revision(
                &self.name,
                project_has_errors(&format!("`{}`", self.name), &diagnostics),
            )
        })?;
        Ok((registry, files, faults))
    }

    fn build(&self, goal: CheckGoal) -> Built {
        let names = self.commit_tree().names_below(&self.folder);
        let names = listed::filter_templates(
            &self.config.templates,
            &self.root,
            self.commit_tree(),
            names,
        );
        let read = |name: &str| {
            let path = self.root.join(name);
            let out = contained_path::link_out_error(self.commit_tree(), &self.root, &path);
            let bytes = out.map_or_else(
                || self.commit_tree().read(&path, self.config.limits.file),
                Err,
            );
            // A link to a folder is not followed, as in a file walk.
            let is_folder = bytes
                .as_ref()
                .is_err_and(|err| err.kind() == io::ErrorKind::IsADirectory);
            (!is_folder).then(|| (Arc::from(name), bytes.map(Cow::Owned)))
        };
        let source = VirtualProject {
            root: &self.root,
            files: self.commit_tree(),
            scope: CheckScope::WholeProject,
            goal,
        };
        compile_files(&self.config, source, names.into_iter().filter_map(read))
    }
}

/// Returns the two revisions of `A..B` and `A...B`, with git's meaning: an omitted side is `HEAD`,
/// and three dots begin where B left A. `None` for any other text.
pub(crate) fn parse_range(folder: &Path, text: &str) -> Result<Option<(String, String)>> {
    let Some((old, new)) = text.split_once("..") else {
        return Ok(None);
    };
    let (from_base, new) = new
        .strip_prefix('.')
        .map_or((false, new), |new| (true, new));
    let head = |side: &str| {
        if side.is_empty() {
            "HEAD".to_owned()
        } else {
            side.to_owned()
        }
    };
    let old = head(old);
    let new = head(new);
    let old = if from_base {
        GitRepository::open_around(folder, text)?.require_merge_base(&old, &new)?
    } else {
        old
    };
    Ok(Some((old, new)))
}

/// Returns the address that git has of the user of a folder.
pub(crate) fn author_address(folder: &Path) -> Result<Option<String>> {
    GitRepository::open_around(folder, "HEAD")?.author_address()
}

/// The settings of a revision, as far as they can be read.
#[derive(Default)]
struct SettingsAtRevision {
    config: Config,
    /// The finding on a `required-version` that excludes this version of the program.
    version_fault: Option<String>,
    /// The error for the rest.
    fault: Option<CliError>,
}

fn read_settings(tree: &CommitTree, root: &Path, revision: &str) -> SettingsAtRevision {
    let failed = |why: String| {
        let message = format!("{PROJECT_FILE} in `{revision}` cannot be read: {why}");
        SettingsAtRevision {
            fault: Some(CliError::new(CliErrorKind::Project, message)),
            ..SettingsAtRevision::default()
        }
    };
    let path = root.join(PROJECT_FILE);
    let bytes = match contained_path::link_out_error(tree, root, &path)
        .map_or_else(|| tree.read(&path, MAX_FILE_BYTES), Err)
    {
        Ok(bytes) => bytes,
        Err(err) if err.kind() == io::ErrorKind::NotFound => return SettingsAtRevision::default(),
        Err(err) => return failed(describe_io_error(&err)),
    };
    let text = match decode::decode(&bytes) {
        Ok(text) => text,
        Err(fault) => return failed(fault.to_string()),
    };
    let mut project = Project::with_files(root.to_owned(), &text, tree);
    let version_fault = project.take_version_fault();
    let config = project.config.clone();
    let fault = project.require_no_errors().err().map(|mut error| {
        error.message = format!("{} in `{revision}`", error.message);
        // The last hint would lead to today's files.
        error.hints.pop();
        with_revision(revision, error)
    });
    SettingsAtRevision {
        config,
        version_fault,
        fault,
    }
}

/// The number of commits that are searched for a project file without errors.
const MAX_EARLIER_COMMITS: &str = "--max-count=50";

/// Returns the last commit before another one whose project file has no error, with its settings;
/// `None` if none of the searched commits has one.
fn last_valid_settings(
    git: &GitRepository,
    commit: &str,
    root: &Path,
) -> Result<Option<(String, Config)>> {
    let place = format!(
        ":(top,literal){}",
        contained_path::slash_path(root.join(PROJECT_FILE).strip_prefix("/").unwrap_or(root))
    );
    // Only commits of the branch itself: merged commits may come from other people.
    for id in git.query_lines(&[
        "rev-list",
        "--first-parent",
        MAX_EARLIER_COMMITS,
        commit,
        "--",
        &place,
    ])? {
        let tree = CommitTree::of_commit(git, &id)?;
        if !tree.has_file(place.trim_start_matches(":(top,literal)")) {
            continue;
        }
        let found = read_settings(&tree, root, &id);
        if found.fault.is_none() {
            return Ok(Some((id, found.config)));
        }
    }
    Ok(None)
}

/// Adds the revision to each place in an error, because the file of that name may differ here.
fn with_revision(revision: &str, mut error: CliError) -> CliError {
    for place in &mut error.hints {
        *place = format!("in `{revision}`: {place}");
    }
    error.with_hint(
        "the files here are not the cause: name a revision in which `ctxc check` finds no error",
    )
}
