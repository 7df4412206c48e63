//! The search index in which `render` and `manifest` look context up, opened with the first query;
//! and the passages that an agent's sources return now and that end up in its context.

use super::broken_parts::BrokenParts;
use super::project::{CompiledProject, build_sound_parts};
use crate::base::{folders, fs};
use crate::cli::prelude::*;
use crate::cli::project::PROJECT_FILE;
use crate::context::TaskGraph;
use crate::context::assemble::assemble;
use crate::context::context_source::{ContextSource, Match, NoSource};
use crate::context::fault::Refused;
use crate::context::options::Options;
use crate::context::request::{Files as _, Request};
use crate::eval::draft::{self, LookedUpPassages};
use crate::kernel::context::{Origin, Segment};
use crate::project::config::{Config, LookupSettings as Section};
use crate::registry::library::Built;
use crate::registry::{Registry, scenarios};
use crate::scenario::paths::{RECORDING_FOLDER, SNAPSHOT_FOLDER};
use crate::store::{IndexScope, SearchIndex};
use crate::template::text::normalize_line_ends;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// Options for the lookup of context and its index.
#[derive(Clone, Debug, Args)]
pub(super) struct LookupArgs {
    /// Look up no context: neither for `fresh_context` nor by matching a description of files
    #[arg(long)]
    no_index: bool,
    #[command(flatten)]
    cache: CacheArgs,
}

/// The location of the index.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct CacheArgs {
    /// Keep the index of the project's files in this folder [default: `CTXC_CACHE_DIR`, else your user cache folder]
    #[arg(long, value_name = "FOLDER")]
    cache_dir: Option<PathBuf>,
}

/// The index of a project, shared by several threads that use it one at a time.
#[derive(Debug)]
pub(super) struct ProjectLookup<'p> {
    project: &'p CompiledProject,
    cache: &'p CacheArgs,
    index: Option<OnceLock<Mutex<SearchIndex>>>,
}

impl LookupArgs {
    /// Returns the lookup of a project. The index is opened with the first query.
    pub(super) fn for_project<'p>(&'p self, project: &'p CompiledProject) -> ProjectLookup<'p> {
        ProjectLookup {
            index: (!self.no_index).then(OnceLock::new),
            ..ProjectLookup::new(project, &self.cache)
        }
    }
}

/// Returns the index of the project of this run. Templates may have errors or be absent; without a
/// registry no file counts as a template.
pub(super) fn open_index(cx: &Cx, cache: &CacheArgs) -> Result<SearchIndex> {
    let project = Project::load(&cx.options)?.require_no_errors()?;
    project.require_project()?;
    let (
        Built {
            registry,
            diagnostics,
            ..
        },
        left_out,
    ) = build_sound_parts(&project);
    let broken = BrokenParts::new(diagnostics, left_out);
    let cache_folder = folders::project_cache(cache.cache_dir.as_deref(), &project.root);
    Ok(SearchIndex::new(index_scope(
        &project.root,
        &project.config,
        registry.as_ref(),
        &broken,
        cache_folder,
    )))
}

/// Returns the files that can be looked up in a folder, by its templates and by the `[context]` and
/// role settings of its project file.
fn index_scope(
    root: &Path,
    config: &Config,
    registry: Option<&Registry>,
    broken: &BrokenParts,
    cache_folder: Option<PathBuf>,
) -> IndexScope {
    let Section {
        include,
        exclude,
        documents,
        ..
    } = config.context.clone();
    let mut excluded = excluded_files(root, config, registry);
    // A file with errors must not become context of other agents.
    excluded.extend(broken.affected_files().map(str::to_owned));
    let roles = config
        .roles
        .values()
        .filter(|role| !role.protected.is_empty());
    let protected = roles
        .map(|role| (role.name.value.clone(), role.protected.clone()))
        .collect();
    IndexScope {
        root: root.to_path_buf(),
        cache_folder,
        include,
        exclude,
        documents,
        excluded_files: excluded,
        protected,
    }
}

/// Builds the index of a revision in memory: writes the files that it may contain to a temporary
/// folder, reads them and removes the folder. Files that cannot be written are not found.
fn index_revision(project: &CompiledProject, names: &[&str]) -> SearchIndex {
    let CompiledProject {
        registry,
        config,
        broken,
        ..
    } = project;
    let folder = fs::temp_folder();
    let root = folder
        .as_ref()
        .map_or(Path::new(""), |folder| folder.path());
    let scope = index_scope(root, config, Some(registry), broken, None);
    let is_meant = |name: &&&str| {
        matches!(scope.check_name(name), Some(Ok(()))) || name.ends_with(".gitignore")
    };
    for name in names.iter().filter(is_meant).filter(|_| folder.is_ok()) {
        let path = root.join(name);
        if let (Ok(text), Some(above)) = (project.files().text(name), path.parent()) {
            let _ =
                fs::create_dir_all(above).and_then(|()| fs::write_cache(&path, text.as_bytes()));
        }
    }
    let index = SearchIndex::new(scope);
    let _ = index.load_state();
    index
}

/// Returns the files that define contexts or their expected contents: each would be the best match
/// of its own query.
fn excluded_files(root: &Path, config: &Config, registry: Option<&Registry>) -> BTreeSet<String> {
    let mut excluded = registry.map_or_else(BTreeSet::new, super::project::definition_paths);
    excluded.insert(PROJECT_FILE.to_owned());
    // A registry with unreadable definitions has no contexts either.
    if let Some(Ok(forest)) = registry.map(TaskGraph::load_all) {
        excluded.extend(forest.source_files().flat_map(|(_, sources)| sources));
    }
    excluded.extend(
        config
            .roles
            .values()
            .filter_map(|role| role.system.as_ref()?.file.clone()),
    );
    let scenarios = scenarios::list_files(root, config);
    let folders: BTreeSet<&str> = scenarios
        .iter()
        .map(|path| path.rsplit_once('/').map_or("", |(folder, _)| folder))
        .collect();
    for (folder, kind) in folders
        .into_iter()
        .flat_map(|folder| [(folder, SNAPSHOT_FOLDER), (folder, RECORDING_FOLDER)])
    {
        let folder = [folder, if folder.is_empty() { "" } else { "/" }, kind].concat();
        let stored = fs::list_names(&root.join(&folder));
        excluded.extend(stored.into_iter().map(|name| format!("{folder}/{name}")));
    }
    excluded.extend(scenarios);
    excluded
}

impl<'p> ProjectLookup<'p> {
    /// Returns the lookup of a project with a cache setting. The index is opened with the first
    /// query.
    pub(super) const fn new(project: &'p CompiledProject, cache: &'p CacheArgs) -> Self {
        Self {
            project,
            cache,
            index: Some(OnceLock::new()),
        }
    }

    fn lock_index(&self) -> Option<MutexGuard<'_, SearchIndex>> {
        let CompiledProject {
            root,
            registry,
            config,
            broken,
            ..
        } = self.project;
        let open = || {
            let today = || {
                let cache_folder = folders::project_cache(self.cache.cache_dir.as_deref(), root);
                SearchIndex::new(index_scope(
                    root,
                    config,
                    Some(registry),
                    broken,
                    cache_folder,
                ))
            };
            Mutex::new(
                self.project
                    .revision_files()
                    .map_or_else(today, |names| index_revision(self.project, &names)),
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
    pub(super) fn note_index(&self, cx: &mut Cx) {
        if let Some(index) = self.index.as_ref().and_then(OnceLock::get) {
            note_index_state(&index.lock().unwrap_or_else(PoisonError::into_inner), cx);
        }
    }
}

/// Prints a note if the index is not stored, or if it contains no file.
pub(super) fn note_index_state(index: &SearchIndex, cx: &mut Cx) {
    if let Some(why) = index.unstored_reason() {
        cx.print_note(&format!(
            "note: context was looked up in memory, and will be read again the next time: {why}"
        ));
    }
    if index.is_empty_selection() {
        cx.print_note("note: there are no files to look up context in; `[context] include` in ctxc.toml says which are used");
    }
}

impl ContextSource for ProjectLookup<'_> {
    fn search(&self, query: &str, limit: usize) -> std::result::Result<Vec<Match>, String> {
        self.search_for(None, query, limit)
    }

    fn search_for(
        &self,
        role: Option<&str>,
        query: &str,
        limit: usize,
    ) -> std::result::Result<Vec<Match>, String> {
        self.lock_index().map_or_else(
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
        let found = self.lock_index().map_or_else(
            || NoSource.files(query, limit),
            |index| index.files_for(role, query, limit),
        )?;
        let with_line_ends = |found: Match| Match {
            text: normalize_line_ends(&found.text).into_owned(),
            ..found
        };
        Ok(found.into_iter().map(with_line_ends).collect())
    }

    fn is_there(&self) -> bool {
        self.index.is_some()
    }
}

/// A source that records the files found by a description.
#[derive(Debug)]
struct RecordingSource<'s, 'p> {
    source: &'s ProjectLookup<'p>,
    files: RefCell<Vec<Match>>,
}

impl ContextSource for RecordingSource<'_, '_> {
    fn search(&self, query: &str, limit: usize) -> std::result::Result<Vec<Match>, String> {
        self.source.search(query, limit)
    }

    fn search_for(
        &self,
        role: Option<&str>,
        query: &str,
        limit: usize,
    ) -> std::result::Result<Vec<Match>, String> {
        self.source.search_for(role, query, limit)
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
        let found = self.source.files_for(role, query, limit)?;
        let mut known = self.files.borrow_mut();
        let new: Vec<Match> = found
            .iter()
            .filter(|file| !known.iter().any(|other| other.id == file.id))
            .cloned()
            .collect();
        known.extend(new);
        Ok(found)
    }

    fn is_there(&self) -> bool {
        self.source.is_there()
    }
}

/// Returns the passages that are looked up for the agent of a request, by itself and by the tasks
/// around it.
pub(super) fn find_passages(
    project: &CompiledProject,
    request: &Request<'_>,
    source: &ProjectLookup<'_>,
) -> std::result::Result<LookedUpPassages, Refused> {
    let known = RecordingSource {
        source,
        files: RefCell::default(),
    };
    let request = Request {
        source: &known,
        ..*request
    };
    let assembly = assemble(&project.registry, &request, &Options::default())?;
    let mut fresh: Vec<Match> = Vec::new();
    for found in assembly
        .report
        .segments
        .iter()
        .filter_map(|account| segment_match(&account.segment))
    {
        if !fresh.iter().any(|known| known.id == found.id) {
            fresh.push(found);
        }
    }
    let held = draft::lookup_segments(&assembly);
    let mut files = known.files.into_inner();
    files.retain(|file| {
        held.iter()
            .any(|(id, text)| id.ends_with(&format!("file:{}", file.id)) && *text == file.text)
    });
    Ok(LookedUpPassages { files, fresh, held })
}

/// Returns the match that a segment consists of, if it is one.
fn segment_match(segment: &Segment) -> Option<Match> {
    let of = |origin: &Origin| {
        if let Origin::Match { id } = origin {
            Some(id.clone())
        } else {
            None
        }
    };
    let id = segment
        .text
        .stretches()
        .iter()
        .find_map(|stretch| of(&stretch.origin))?;
    Some(Match {
        id,
        text: segment.text.text().to_owned(),
        trust: segment.trust,
    })
}
