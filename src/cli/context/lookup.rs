//! The search index in which `render` and `manifest` look context up, opened with the first query.

use super::broken_parts::BrokenParts;
use super::project::{Compiled, built};
use crate::base::{folders, fs};
use crate::cli::prelude::*;
use crate::cli::project::FILE;
use crate::context::TaskGraph;
use crate::context::context_source::{ContextSource, Match, NoSource};
use crate::context::request::Files as _;
use crate::project::config::{Config, Lookup as Section};
use crate::registry::Registry;
use crate::registry::library::Built;
use crate::registry::scenarios;
use crate::scenario::paths::{RECORDINGS, SNAPSHOTS};
use crate::store::{Index, Scope};
use crate::template::text::normalized;
use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// Whether context is looked up, and where the index is kept.
#[derive(Clone, Debug, Args)]
pub(super) struct LookupArgs {
    /// Look up no context: neither for `fresh_context` nor by matching a description of files
    #[arg(long)]
    no_index: bool,
    #[command(flatten)]
    cache: CacheArgs,
}

/// Where the index is kept.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct CacheArgs {
    /// Keep the index of the project's files in this folder [default: `CTXC_CACHE_DIR`, else your user cache folder]
    #[arg(long, value_name = "FOLDER")]
    cache_dir: Option<PathBuf>,
}

/// The index of a project, shared by several threads that use it one at a time.
#[derive(Debug)]
pub(super) struct Lookup<'p> {
    project: &'p Compiled,
    cache: &'p CacheArgs,
    index: Option<OnceLock<Mutex<Index>>>,
}

impl LookupArgs {
    /// Returns the lookup of a project. The index is opened with the first query.
    pub(super) fn of<'p>(&'p self, project: &'p Compiled) -> Lookup<'p> {
        Lookup {
            index: (!self.no_index).then(OnceLock::new),
            ..Lookup::new(project, &self.cache)
        }
    }
}

/// Returns the index of the project of this run. Templates may have errors or be absent; without a
/// registry no file counts as a template.
pub(super) fn of_run(cx: &Cx, cache: &CacheArgs) -> Result<Index> {
    let project = Project::load(&cx.options)?.without_errors()?;
    let (
        Built {
            registry,
            diagnostics,
            ..
        },
        left_out,
    ) = built(&project)?;
    let broken = BrokenParts::new(diagnostics, left_out);
    let kept_in = folders::cache(cache.cache_dir.as_deref(), &project.root);
    Ok(Index::new(scope(
        &project.root,
        &project.config,
        registry.as_ref(),
        &broken,
        kept_in,
    )))
}

/// Returns the files that can be looked up in a folder, by its templates and by the `[context]` and
/// role settings of its project file.
fn scope(
    root: &Path,
    config: &Config,
    registry: Option<&Registry>,
    broken: &BrokenParts,
    kept_in: Option<PathBuf>,
) -> Scope {
    let Section {
        include,
        exclude,
        documents,
        ..
    } = config.context.clone();
    let mut apart = apart(root, config, registry);
    // A file with errors must not become context of other agents.
    apart.extend(broken.files().map(str::to_owned));
    let roles = config
        .roles
        .values()
        .filter(|role| !role.protected.is_empty());
    let protected = roles
        .map(|role| (role.name.value.clone(), role.protected.clone()))
        .collect();
    Scope {
        root: root.to_path_buf(),
        kept_in,
        include,
        exclude,
        documents,
        apart,
        protected,
    }
}

/// Builds the index of a revision in memory: writes the files that it may contain to a temporary
/// folder, reads them and removes the folder. Files that cannot be written are not found.
fn of_revision(project: &Compiled, names: &[&str]) -> Index {
    let Compiled {
        registry,
        config,
        broken,
        ..
    } = project;
    let folder = fs::temp_folder();
    let root = folder
        .as_ref()
        .map_or(Path::new(""), |folder| folder.path());
    let scope = scope(root, config, Some(registry), broken, None);
    let is_meant =
        |name: &&&str| matches!(scope.verdict(name), Some(Ok(()))) || name.ends_with(".gitignore");
    for name in names.iter().filter(is_meant).filter(|_| folder.is_ok()) {
        let path = root.join(name);
        if let (Ok(text), Some(above)) = (project.files().text(name), path.parent()) {
            let _ =
                fs::create_dir_all(above).and_then(|()| fs::write_cache(&path, text.as_bytes()));
        }
    }
    let index = Index::new(scope);
    let _ = index.state();
    index
}

/// Returns the files that define contexts or their expected contents: each would be the best match
/// of its own query.
fn apart(root: &Path, config: &Config, registry: Option<&Registry>) -> BTreeSet<String> {
    let mut apart = registry.map_or_else(BTreeSet::new, super::project::paths);
    apart.insert(FILE.to_owned());
    // A registry with unreadable definitions has no contexts either.
    if let Some(Ok(forest)) = registry.map(TaskGraph::whole) {
        apart.extend(forest.sources().flat_map(|(_, sources)| sources));
    }
    apart.extend(
        config
            .roles
            .values()
            .filter_map(|role| role.system.as_ref()?.file.clone()),
    );
    let scenarios = scenarios::files(root, config);
    let folders: BTreeSet<&str> = scenarios
        .iter()
        .map(|path| path.rsplit_once('/').map_or("", |(folder, _)| folder))
        .collect();
    for (folder, kind) in folders
        .into_iter()
        .flat_map(|folder| [(folder, SNAPSHOTS), (folder, RECORDINGS)])
    {
        let folder = [folder, if folder.is_empty() { "" } else { "/" }, kind].concat();
        let stored = fs::names_in(&root.join(&folder));
        apart.extend(stored.into_iter().map(|name| format!("{folder}/{name}")));
    }
    apart.extend(scenarios);
    apart
}

impl<'p> Lookup<'p> {
    /// Returns the lookup of a project with a cache setting. The index is opened with the first
    /// query.
    pub(super) const fn new(project: &'p Compiled, cache: &'p CacheArgs) -> Self {
        Self {
            project,
            cache,
            index: Some(OnceLock::new()),
        }
    }

    fn index(&self) -> Option<MutexGuard<'_, Index>> {
        let Compiled {
            root,
            registry,
            config,
            broken,
            ..
        } = self.project;
        let open = || {
            let today = || {
                let kept_in = folders::cache(self.cache.cache_dir.as_deref(), root);
                Index::new(scope(root, config, Some(registry), broken, kept_in))
            };
            Mutex::new(
                self.project
                    .names()
                    .map_or_else(today, |names| of_revision(self.project, &names)),
            )
        };
        Some(
            self.index
                .as_ref()?
                .get_or_init(open)
                .lock()
                .unwrap_or_else(PoisonError::into_inner),
        )
    }

    /// Prints the notes about the index, if it was opened.
    pub(super) fn note(&self, cx: &mut Cx) {
        if let Some(index) = self.index.as_ref().and_then(OnceLock::get) {
            note(&index.lock().unwrap_or_else(PoisonError::into_inner), cx);
        }
    }
}

/// Prints a note if the index is not stored, or if it contains no file.
pub(super) fn note(index: &Index, cx: &mut Cx) {
    if let Some(why) = index.unkept() {
        cx.note(&format!(
            "note: context was looked up in memory, and will be read again the next time: {why}"
        ));
    }
    if index.is_bare() {
        cx.note("note: there are no files to look up context in; `[context] include` in ctxc.toml says which are used");
    }
}

impl ContextSource for Lookup<'_> {
    fn search(&self, query: &str, limit: usize) -> std::result::Result<Vec<Match>, String> {
        self.search_for(None, query, limit)
    }

    fn search_for(
        &self,
        role: Option<&str>,
        query: &str,
        limit: usize,
    ) -> std::result::Result<Vec<Match>, String> {
        self.index().map_or_else(
            || NoSource.search(query, limit),
            |index| index.search_for(role, query, limit),
        )
    }

    fn files(&self, query: &str, limit: usize) -> std::result::Result<Vec<Match>, String> {
        self.files_for(None, query, limit)
    }

    fn files_for(
        &self,
        role: Option<&str>,
        query: &str,
        limit: usize,
    ) -> std::result::Result<Vec<Match>, String> {
        let found = self.index().map_or_else(
            || NoSource.files(query, limit),
            |index| index.files_for(role, query, limit),
        )?;
        let with_line_ends = |found: Match| Match {
            text: normalized(&found.text).into_owned(),
            ..found
        };
        Ok(found.into_iter().map(with_line_ends).collect())
    }

    fn is_there(&self) -> bool {
        self.index.is_some()
    }
}
