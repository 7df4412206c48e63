//! A project as a revision has it: its `ctxc.toml`, what that extends, its templates and what they pull in.

use super::git::Git;
use super::tree::Tree;
use crate::base::contained_path;
use crate::base::fs::{self, ReadFs, RealFs};
use crate::cli::findings::broken;
use crate::cli::prelude::*;
use crate::cli::project::FILE;
use crate::project::config::{Config, FILE_LIMIT};
use crate::registry::Registry;
use crate::registry::library::{Built, FileSource, compile_files};
use crate::registry::workspace::listed;
use crate::registry::workspace::request::Goal;
use crate::rules::check::is_error;
use crate::rules::input::read_fault::reason;
use crate::rules::rule::Scope;
use crate::syntax::decode;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

/// A project as a revision has it.
#[derive(Debug)]
pub(crate) struct Past {
    /// The revision as it was asked for.
    name: String,
    /// The project's folder, as [`Past::files`] has it.
    pub(crate) root: PathBuf,
    /// Its project file, or the defaults.
    pub(crate) config: Config,
    is_unknown: bool,
    commit: CommitFiles,
    folder: String,
}

/// The files of a commit, with the repository that they are read from.
#[derive(Clone, Debug)]
pub(crate) struct CommitFiles {
    git: Git,
    id: String,
    pub(super) tree: Arc<Tree>,
}

impl CommitFiles {
    /// The files of a commit, by its id.
    pub(super) fn new(git: Git, id: String) -> Result<Self> {
        let tree = Arc::new(Tree::of(&git, &id)?.with_filters(&git.at_top(), git.top())?);
        Ok(Self { git, id, tree })
    }
}

impl Past {
    /// The project in a folder as a revision of the repository around it has it. Nothing is compiled yet.
    pub(crate) fn open(folder: &Path, revision: &str) -> Result<Self> {
        let git = Git::around(folder, revision)?;
        let (id, place) = (git.commit(revision)?, git.prefix().to_owned());
        let (past, faults) = Self::open_at(CommitFiles::new(git, id)?, revision, place)?;
        faults.map_or(Ok(past), Err)
    }

    /// The project that a commit has in a folder, by its path from the top of the repository; `revision` is the name of the commit in
    /// messages. The error is about its project file, of which the rest was read.
    pub(crate) fn open_at(commit: CommitFiles, revision: &str, folder: String) -> Result<(Self, Option<CliError>)> {
        let CommitFiles { git, id, tree } = &commit;
        if tree.below(&folder).next().is_none() {
            let what = if folder.is_empty() { "holds no file".to_owned() } else { format!("has no folder {folder}") };
            return Err(CliError::usage(format!("`{revision}` {what}"))
                .hint("the project may have had another place, or not have been committed, by then"));
        }
        let root = Path::new("/").join(&folder);
        let (mut config, mut fault) = settings(tree, &root, revision);
        let mut is_unknown = false;
        if let Some(fault) = &mut fault {
            // What a project holds itself to, and who may change that, is not lost by an error in its file.
            match earlier(git, id, &root)? {
                Some((id, sound)) => {
                    config = sound;
                    fault.message = format!("{}: its settings of {:.10} hold", fault.message, id);
                }
                None => is_unknown = true,
            }
        }
        Ok((Self { name: revision.to_owned(), root, config, is_unknown, commit, folder }, fault))
    }

    fn tree(&self) -> &Tree {
        &self.commit.tree
    }

    fn top(&self) -> &Path {
        self.commit.git.top()
    }

    /// The files of the repository that are others in the work tree, new, or gone, from its top.
    pub(crate) fn changed(&self) -> Result<Vec<String>> {
        self.tree().changed(&self.commit.git.at_top(), self.top(), &self.commit.id)
    }

    /// Writes the files of the whole repository into an empty folder, those of its submodules among them, and returns the submodules whose
    /// commit this clone does not have. One that is not checked out here is an empty folder.
    ///
    /// # Errors
    /// A file cannot be read or written.
    pub(crate) fn write(&self, into: &Path) -> std::io::Result<Vec<String>> {
        self.tree().write(into)?;
        let mut missing = Vec::new();
        for (name, commit) in self.tree().modules().filter(|(name, _)| fs::exists(&self.top().join(name).join(".git"))) {
            match Tree::of(&Git::at(self.top().join(name)), commit) {
                Ok(files) => files.write(&into.join(name))?,
                Err(_) => missing.push(name.to_owned()),
            }
        }
        Ok(missing)
    }

    /// The text that the revision has in the place of a file of the work tree, by its path from a folder there.
    pub(crate) fn text_in_work_tree(&self, folder: &Path, path: &str) -> Option<String> {
        let (top, file) = (RealFs.canonical(self.top()).ok()?, RealFs.canonical(&folder.join(path)).ok()?);
        let bytes = self.tree().read(&Path::new("/").join(file.strip_prefix(top).ok()?), FILE_LIMIT).ok()?;
        String::from_utf8(bytes).ok()
    }

    /// Returns whether git ignores a file of the work tree that it does not hold.
    pub(crate) fn is_ignored(&self, file: &Path) -> Result<bool> {
        self.commit.git.at_top().is_ignored(file)
    }

    /// The top of the work tree, and the project's folder in it.
    pub(crate) fn place(&self) -> (&Path, &str) {
        (self.top(), &self.folder)
    }

    /// Returns whether its settings are not known: its project file has errors, and so has each one before it.
    pub(crate) const fn is_unknown(&self) -> bool {
        self.is_unknown
    }

    /// Its files that differ in the work tree, of which a filter makes what the revision does not hold.
    pub(crate) fn unfiltered(&self) -> impl Iterator<Item = &str> {
        self.tree().unfiltered(&self.folder)
    }

    /// The same of the whole repository.
    pub(crate) fn unfiltered_anywhere(&self) -> impl Iterator<Item = &str> {
        self.tree().unfiltered("")
    }

    /// What the revision's files are read by.
    pub(crate) fn files(&self) -> &dyn ReadFs {
        self.tree()
    }

    /// Its files, by their names in the project.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.tree().below(&self.folder)
    }

    /// Its tasks; a project with errors, or without templates, has none.
    pub(crate) fn compile(&self) -> Result<Registry> {
        let (registry, files) = self.compile_or_empty()?;
        if files == 0 {
            return Err(CliError::usage(format!("there is no template in `{}`", self.name)));
        }
        Ok(registry)
    }

    /// Its tasks and the number of files that they are in; a project with errors has none.
    pub(crate) fn compile_or_empty(&self) -> Result<(Registry, usize)> {
        let Built { registry, diagnostics, files } = self.built(Goal::Registry);
        let registry = registry.ok_or_else(|| of_then(&self.name, broken(&format!("`{}`", self.name), &diagnostics)))?;
        Ok((registry, files))
    }

    /// The same, where those with errors are left out, with the first error of each file that has one.
    pub(crate) fn compile_sound(&self) -> Result<(Registry, usize, BTreeMap<String, String>)> {
        let Built { registry, diagnostics, files } = self.built(Goal::Partial);
        let mut faults = BTreeMap::new();
        for fault in diagnostics.iter().filter(|fault| is_error(fault)) {
            faults.entry(fault.path.to_string()).or_insert_with(|| fault.message.clone());
        }
        let registry = registry.ok_or_else(|| of_then(&self.name, broken(&format!("`{}`", self.name), &diagnostics)))?;
        Ok((registry, files, faults))
    }

    fn built(&self, goal: Goal) -> Built {
        let names = self.tree().below(&self.folder);
        let names = listed::templates(&self.config.templates, &self.root, self.tree(), names);
        let read = |name: &str| {
            let path = self.root.join(name);
            let out = contained_path::leads_out(self.tree(), &self.root, &path);
            let bytes = out.map_or_else(|| self.tree().read(&path, self.config.limits.file), Err);
            // A link that leads to a folder is not followed, as in a walk.
            let is_folder = bytes.as_ref().is_err_and(|err| err.kind() == io::ErrorKind::IsADirectory);
            (!is_folder).then(|| (Arc::from(name), bytes.map(Cow::Owned)))
        };
        let source = FileSource { root: &self.root, files: self.tree(), scope: Scope::Whole, goal };
        compile_files(&self.config, source, names.into_iter().filter_map(read))
    }
}

/// The two revisions of `A..B` and `A...B`, as git means them: a side that is missing is `HEAD`, and three dots begin where
/// B left A. `None` for anything else.
pub(crate) fn range(folder: &Path, text: &str) -> Result<Option<(String, String)>> {
    let Some((old, new)) = text.split_once("..") else { return Ok(None) };
    let (from_base, new) = new.strip_prefix('.').map_or((false, new), |new| (true, new));
    let head = |side: &str| if side.is_empty() { "HEAD".to_owned() } else { side.to_owned() };
    let old = head(old);
    let new = head(new);
    let old = if from_base { Git::around(folder, text)?.base(&old, &new)? } else { old };
    Ok(Some((old, new)))
}

/// The address that git has of whoever works in a folder.
pub(crate) fn author(folder: &Path) -> Result<Option<String>> {
    Git::around(folder, "HEAD")?.author()
}

/// The project file of a revision, as far as it can be read, and why not all of it can.
fn settings(tree: &Tree, root: &Path, revision: &str) -> (Config, Option<CliError>) {
    let failed = |why: String| CliError::new(Kind::Project, format!("{FILE} in `{revision}` cannot be read: {why}"));
    let path = root.join(FILE);
    let bytes = match contained_path::leads_out(tree, root, &path).map_or_else(|| tree.read(&path, FILE_LIMIT), Err) {
        Ok(bytes) => bytes,
        Err(err) if err.kind() == io::ErrorKind::NotFound => return (Config::default(), None),
        Err(err) => return (Config::default(), Some(failed(reason(&err)))),
    };
    let text = match decode::decode(&bytes) {
        Ok(text) => text,
        Err(fault) => return (Config::default(), Some(failed(fault.to_string()))),
    };
    let project = Project::with_files(root.to_owned(), &text, tree);
    let config = project.config.clone();
    let fault = project.without_errors().err().map(|mut error| {
        error.message = format!("{} in `{revision}`", error.message);
        // What shows more shows the files of today.
        error.hints.pop();
        of_then(revision, error)
    });
    (config, fault)
}

/// Commits that are looked through for a project file without errors.
const EARLIER: &str = "--max-count=50";

/// The last commit before another in which a project file has no error, with its settings; none where that is not among the last.
fn earlier(git: &Git, commit: &str, root: &Path) -> Result<Option<(String, Config)>> {
    let place = format!(":(top,literal){}", contained_path::name(root.join(FILE).strip_prefix("/").unwrap_or(root)));
    // Of the branch itself: merged commits may be of other people.
    for id in git.lines(&["rev-list", "--first-parent", EARLIER, commit, "--", &place])? {
        let tree = Tree::of(git, &id)?;
        if !tree.has_file(place.trim_start_matches(":(top,literal)")) {
            continue;
        }
        if let (config, None) = settings(&tree, root, &id) {
            return Ok(Some((id, config)));
        }
    }
    Ok(None)
}

/// Says of each place of an error that it is in a revision: the file of that name here may be another.
fn of_then(revision: &str, mut error: CliError) -> CliError {
    for place in &mut error.hints {
        *place = format!("in `{revision}`: {place}");
    }
    error.hint("the files here are not the cause: name a revision in which `ctxc check` finds no error")
}
