//! The files of the base in a folder of their own, for custom checks: run there, a check reads no
//! file that the change edited.

use super::compared::{BaseProject, GateComparison};
use super::uncompared_files;
use crate::base::fs::{self, ReadFs, RealFs};
use crate::cli::context::eval::load::Scenarios;
use crate::cli::context::eval::{CheckFolder, CheckRuns};
use crate::cli::context::project::CompiledProject;
use crate::cli::error::{CliError, CliErrorKind, Result};
use crate::context::TaskGraph;
use crate::scenario::expect::answer::all_tests;
use crate::scenario::paths;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Files that list dependencies, for the common package managers.
const DEPENDENCY_FILES: [&str; 14] = [
    "package.json",
    "package-lock.json",
    "pnpm-lock.yaml",
    "yarn.lock",
    "bun.lock",
    "requirements.txt",
    "pyproject.toml",
    "uv.lock",
    "poetry.lock",
    "Pipfile",
    "Pipfile.lock",
    "Gemfile",
    "Gemfile.lock",
    "composer.lock",
];

/// Prepares the folder in which checks of the base run, with the base's files and the folders of
/// its `[eval.gate] link`. No folder is made if no file differs that a check may read. Adds the
/// reasons why some checks cannot be run, and notes.
pub(super) fn prepare_check_runs(compared: &mut GateComparison) -> Result<CheckRuns> {
    let none = || Ok(CheckRuns::default());
    let Some(BaseProject { project: then, .. }) = compared
        .base
        .loaded
        .as_ref()
        .filter(|base| has_checks(&base.scenarios))
    else {
        return none();
    };
    let Some(past) = then.past() else {
        return none();
    };
    let (top, folder) = past.work_tree_place();
    let within = |path: &str| {
        if folder.is_empty() {
            path.to_owned()
        } else {
            format!("{folder}/{path}")
        }
    };
    // Templates and their texts are the tested input of any check; a file that is a text only now
    // counts as changed.
    let tried: BTreeSet<String> = template_texts(then)
        .into_iter()
        .map(|path| within(&path))
        .collect();
    let changed: Vec<String> = past
        .changed_files()?
        .into_iter()
        .filter(|path| !tried.contains(path))
        .collect();
    if changed.is_empty() {
        return Ok(CheckRuns::with_equal_checks());
    }
    let failed = |why: std::io::Error| {
        CliError::new(
            CliErrorKind::Infrastructure,
            format!(
                "the files of {} cannot be written for its checks: {why}",
                compared.base.name
            ),
        )
    };
    let temp = fs::temp_folder().map_err(failed)?;
    let missing = past.write_repository(temp.path()).map_err(failed)?;
    let (root, instead_of) = (temp.path().join(folder), top.to_owned());
    let (mut doubts, mut notes) = (Vec::new(), Vec::new());
    let base = &compared.base.name;
    doubts.extend(missing.iter().map(|module| {
        format!("checks of {base} may read the submodule {module}, whose commit of then this clone lacks: fetch it there, with its history")
    }));
    doubts.extend(
        past.unfiltered_anywhere()
            .map(|path| uncompared_files::describe_unfiltered(path, base)),
    );
    if !then.config.eval.gate.link.is_empty() {
        let is_list = |path: &&String| {
            DEPENDENCY_FILES.contains(&path.rsplit('/').next().unwrap_or_default())
        };
        notes.extend(changed.iter().filter(is_list).map(|path| {
            format!("{path} differs from {}: what `[eval.gate] link` names may be installed by this change", compared.base.name)
        }));
    }
    for link in &then.config.eval.gate.link {
        let link = link.value.trim_end_matches('/');
        let Some(path) = paths::resolve_beside("", link).filter(|path| !path.is_empty()) else {
            continue;
        };
        let (from, to) = (compared.project.root.join(&path), root.join(&path));
        let is_below = |name: &&String| {
            name.strip_prefix(&*within(&path))
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        if let Some(own) = changed.iter().find(is_below) {
            doubts.push(format!(
                "`[eval.gate] link` names {link}, in which this change has {own}: what checks depend on is no file of git"
            ));
        } else if !fs::exists(&from) {
            doubts.push(format!(
                "`[eval.gate] link` names {link}, which is not here: install it before the gate"
            ));
        } else if !fs::exists(&to) {
            let place = LinkedFolders {
                top,
                base: temp.path(),
            };
            fs::create_dir_all(to.parent().unwrap_or(&root))
                .and_then(|()| place.link_folder(&from, &to))
                .map_err(failed)?;
        }
    }
    let runs = CheckRuns::in_folder(CheckFolder {
        top: temp,
        root,
        instead_of,
    });
    compared.base.doubts.append(&mut doubts);
    compared.notes.append(&mut notes);
    Ok(runs)
}

/// The roots of the work tree and of the folder with the base's files.
struct LinkedFolders<'p> {
    top: &'p Path,
    base: &'p Path,
}

impl LinkedFolders<'_> {
    /// Makes a folder of installed dependencies available to the base. Workspace packages are links
    /// back into the work tree; for the base they lead to its own files.
    fn link_folder(&self, from: &Path, to: &Path) -> std::io::Result<()> {
        if !self.has_workspace_links(from) {
            return fs::link_temp_file(from, to);
        }
        fs::create_dir_all(to)?;
        for (name, entry) in fs::list_entries(from) {
            let place = to.join(&name);
            match self.target_in_work_tree(&entry) {
                Some(inside) => fs::link_temp_file(&self.base.join(inside), &place)?,
                None if name.starts_with('@') => self.link_folder(&entry, &place)?,
                None => fs::link_temp_file(&entry, &place)?,
            }
        }
        Ok(())
    }

    fn has_workspace_links(&self, folder: &Path) -> bool {
        fs::list_entries(folder).into_iter().any(|(name, entry)| {
            self.target_in_work_tree(&entry).is_some()
                || name.starts_with('@') && !fs::is_link(&entry) && self.has_workspace_links(&entry)
        })
    }

    /// Returns the place in the work tree that a link leads to; `None` if it stays in the link's
    /// own folder or leads outside.
    fn target_in_work_tree(&self, link: &Path) -> Option<PathBuf> {
        let parent = RealFs.canonicalize(link.parent()?).ok()?;
        let (top, target) = (
            RealFs.canonicalize(self.top).ok()?,
            RealFs
                .canonicalize(link)
                .ok()
                .filter(|_| fs::is_link(link))?,
        );
        let inside = target.strip_prefix(&top).ok()?;
        (!target.starts_with(&parent)).then(|| inside.to_owned())
    }
}

fn has_checks(scenarios: &Scenarios) -> bool {
    super::renames::all_cases(scenarios)
        .any(|(.., case)| all_tests(&case.expectations).any(|(test, _)| test.own_check().is_some()))
}

/// Returns the templates of a project and the texts that they include.
fn template_texts(project: &CompiledProject) -> BTreeSet<String> {
    let mut paths = project.definition_paths();
    if let Ok(graph) = TaskGraph::load_all(&project.registry) {
        paths.extend(graph.source_files().flat_map(|(_, sources)| sources));
    }
    paths
}
