//! The public interface of the index: opens and updates itself on the first query, and does nothing
//! before.

use super::indexable_files::{IndexCandidate, IndexScope, SkipReason, SkippedFile, select_files};
use super::refresh::RefreshPlan;
use super::search_words::{self, QueryWord};
use super::sqlite::{ContentKind, IndexDatabase, IndexDatabaseError, ScoredPassage};
use crate::base::{folders, fs};
use crate::context::context_source::{ContextSource, Match};
use crate::kernel::context::Trust;
use std::cell::{Ref, RefCell};
use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

/// The reason why the index is not stored if no folder is configured.
const NO_CACHE_FOLDER: &str =
    "no folder for caches is known; `--cache-dir` or CTXC_CACHE_DIR names one";
/// The database, and the files that SQLite may leave beside it.
const DATABASE_FILES: [&str; 4] = [
    "search.db-journal",
    "search.db-wal",
    "search.db-shm",
    "search.db",
];
const DATABASE: &str = "search.db";
const LOCK: &str = "search.lock";
/// The maximum wait for another program that updates the index.
const MAX_LOCK_WAIT: Duration = Duration::from_secs(5);
const LOCK_POLL_INTERVAL: Duration = Duration::from_millis(20);
/// The number of passages that are examined for each requested file.
const PASSAGES_PER_FILE: usize = 16;
/// A passage that scores less than the best one divided by this is no match: it shares only a short
/// word.
const MIN_SCORE_DIVISOR: i64 = 3;

/// A full-text index of a project's files.
#[derive(Debug)]
pub struct SearchIndex {
    scope: IndexScope,
    open: RefCell<Option<OpenIndex>>,
}

/// A passage that matches a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PassageMatch {
    /// Its id: the file's path, and the lines unless it is the whole file, such as
    /// `docs/runbook.md:12-40`.
    pub id: String,
    /// Its file.
    pub path: String,
    /// Its first line, from 1.
    pub first: u32,
    /// Its last line.
    pub last: u32,
    /// Its score in billionths; ties are broken by path and line.
    pub score: i64,
    /// The words of the query that it contains, in the order of the query.
    pub words: Vec<String>,
    /// Its text.
    pub text: String,
}

/// The contents of the index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IndexState {
    /// The number of indexed files.
    pub files: usize,
    /// The number of their passages.
    pub passages: u64,
    /// The files that are not indexed, by path.
    pub skipped: Vec<SkippedFile>,
    /// The reason why the index is not stored for the next run, if it is not.
    pub unkept: Option<String>,
}

/// The error of a query.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the index cannot be used: {0}")]
pub struct IndexError(String);

/// An open, up-to-date index.
#[derive(Debug)]
struct OpenIndex {
    base: IndexDatabase,
    state: IndexState,
}

impl SearchIndex {
    /// Creates the index of a project. Opens and reads nothing.
    pub const fn new(scope: IndexScope) -> Self {
        Self {
            scope,
            open: RefCell::new(None),
        }
    }

    /// Returns the state of the index, and updates it before the first use.
    ///
    /// # Errors
    /// SQLite fails even in memory.
    pub fn load_state(&self) -> Result<IndexState, IndexError> {
        let open = self.open_index()?;
        let mut state = open.state.clone();
        let refused = |broken: IndexDatabaseError| IndexError(broken.to_string());
        if self.scope.protected.is_empty() {
            return Ok(state);
        }
        for (path, passages) in open.base.passages_by_file().map_err(refused)? {
            if let Some(role) = self.scope.protecting_role(None, &path) {
                state.files -= 1;
                state.passages -= passages;
                state.skipped.push(SkippedFile {
                    why: SkipReason::Protected {
                        role: role.to_owned(),
                    },
                    path,
                });
            }
        }
        state.skipped.sort();
        Ok(state)
    }

    /// Returns the reason why the index is not stored for the next run; `None` if it is stored or
    /// was never used.
    pub fn unstored_reason(&self) -> Option<String> {
        self.open
            .borrow()
            .as_ref()
            .and_then(|open| open.state.unkept.clone())
    }

    /// Returns true if the index was used and the project's own list of files matches none.
    pub fn is_empty_selection(&self) -> bool {
        self.scope.include.is_some()
            && self
                .open
                .borrow()
                .as_ref()
                .is_some_and(|open| open.state.files == 0)
    }

    /// Returns at most `limit` passages, best first, without files that are protected from a role,
    /// or from agents without a role.
    ///
    /// # Errors
    /// SQLite fails even in memory.
    pub fn find_passages(
        &self,
        role: Option<&str>,
        query: &str,
        limit: usize,
    ) -> Result<Vec<PassageMatch>, IndexError> {
        self.query_base(|base| best_matches(base, query, limit, &self.is_open_to(role)))
    }

    fn is_open_to<'a>(&'a self, role: Option<&'a str>) -> impl Fn(&str) -> bool + 'a {
        move |path| self.scope.protecting_role(role, path).is_none()
    }

    /// Returns at most `limit` files, those with the best passages first, without protected ones.
    /// The id is the path, the text that of the file.
    ///
    /// # Errors
    /// SQLite fails even in memory.
    pub fn find_files(
        &self,
        role: Option<&str>,
        query: &str,
        limit: usize,
    ) -> Result<Vec<Match>, IndexError> {
        self.query_base(|base| {
            let mut seen = BTreeSet::new();
            let passages = best_matches(
                base,
                query,
                limit.saturating_mul(PASSAGES_PER_FILE),
                &self.is_open_to(role),
            )?;
            let paths = passages
                .into_iter()
                .filter(|found| seen.insert(found.path.clone()))
                .map(|found| found.path);
            let file = |path: String| {
                Ok(Match {
                    text: base.file_text(&path)?,
                    id: path,
                    trust: Trust::Untrusted,
                })
            };
            paths.take(limit).map(file).collect()
        })
    }

    /// Returns the significant words of a query, which are searched for.
    #[must_use]
    pub fn significant_words(query: &str) -> Vec<String> {
        search_words::query_words(query)
            .into_iter()
            .map(|asked| asked.word)
            .collect()
    }

    /// Runs a query; a damaged index is rebuilt once on disk, and then in memory.
    fn query_base<T>(
        &self,
        ask: impl Fn(&IndexDatabase) -> Result<T, IndexDatabaseError>,
    ) -> Result<T, IndexError> {
        let answer = ask(&self.open_index()?.base);
        match answer {
            Ok(answer) => return Ok(answer),
            Err(IndexDatabaseError::InTheWay(_)) => {}
            Err(IndexDatabaseError::Useless(_)) => {
                drop(self.open.take());
                let (on_disk, skipped) = select_files(&self.scope);
                self.open.replace(
                    self.open_on_disk(&on_disk, &skipped, IndexStart::Rebuild)
                        .ok(),
                );
                let answer = ask(&self.open_index()?.base);
                if let Ok(answer) = answer {
                    return Ok(answer);
                }
            }
        }
        let (on_disk, skipped) = select_files(&self.scope);
        let unkept = "the index on disk cannot be read".to_owned();
        self.open
            .replace(Some(build_in_memory(&on_disk, &skipped, unkept)?));
        ask(&self.open_index()?.base).map_err(|broken| IndexError(broken.to_string()))
    }

    fn open_index(&self) -> Result<Ref<'_, OpenIndex>, IndexError> {
        if self.open.borrow().is_none() {
            let (on_disk, skipped) = select_files(&self.scope);
            let open = match self.open_on_disk(&on_disk, &skipped, IndexStart::Reuse) {
                Ok(open) => open,
                Err(unkept) => build_in_memory(&on_disk, &skipped, unkept)?,
            };
            self.open.replace(Some(open));
        }
        Ref::filter_map(self.open.borrow(), Option::as_ref)
            .map_err(|_| IndexError("it was closed".to_owned()))
    }

    /// Returns the up-to-date index on disk, otherwise the reason why it is not available.
    fn open_on_disk(
        &self,
        on_disk: &[IndexCandidate],
        skipped: &[SkippedFile],
        start: IndexStart,
    ) -> Result<OpenIndex, String> {
        let folder = self.scope.cache_folder.as_deref().ok_or(NO_CACHE_FOLDER)?;
        let path = folder.join(DATABASE);
        if start == IndexStart::Reuse
            && let Ok(Some(base)) = IndexDatabase::open(&path)
            && let Ok(known) = base.indexed_files()
            && RefreshPlan::new(&known, on_disk).is_empty()
            && let Ok(open) = into_open_index(base, skipped.to_vec())
        {
            return Ok(open);
        }
        let describe = |err: io::Error| {
            format!(
                "the folder for caches cannot be written: {}",
                crate::rules::input::read_fault::describe_io_error(&err)
            )
        };
        folders::create_private(folder).map_err(describe)?;
        let _lock = wait_for_lock(&folder.join(LOCK))
            .map_err(describe)?
            .ok_or("another ctxc is making the index at this moment")?;
        if start == IndexStart::Reuse {
            match IndexDatabase::open(&path).and_then(|base| {
                base.map(|base| update_base(base, on_disk, skipped))
                    .transpose()
            }) {
                Ok(Some(open)) => return Ok(open),
                Err(IndexDatabaseError::InTheWay(why)) => return Err(why),
                Ok(None) | Err(IndexDatabaseError::Useless(_)) => {}
            }
        }
        // All old files are removed: SQLite would replay an old journal into the new database.
        fs::remove_unused_folder(folder, &DATABASE_FILES);
        IndexDatabase::create(&path)
            .and_then(|base| update_base(base, on_disk, skipped))
            .map_err(|broken| broken.to_string())
    }
}

/// The treatment of an existing index on disk.
#[derive(Clone, Copy, PartialEq, Eq)]
enum IndexStart {
    Reuse,
    Rebuild,
}

/// Takes the lock of writers; `None` if another program holds it for too long.
fn wait_for_lock(path: &Path) -> io::Result<Option<fs::FileLock>> {
    let began = Instant::now();
    loop {
        if let Some(lock) = fs::try_lock(path)? {
            return Ok(Some(lock));
        }
        if began.elapsed() > MAX_LOCK_WAIT {
            return Ok(None);
        }
        std::thread::sleep(LOCK_POLL_INTERVAL);
    }
}

fn build_in_memory(
    on_disk: &[IndexCandidate],
    skipped: &[SkippedFile],
    unkept: String,
) -> Result<OpenIndex, IndexError> {
    let mut open = IndexDatabase::in_memory()
        .and_then(|base| update_base(base, on_disk, skipped))
        .map_err(|broken| IndexError(broken.to_string()))?;
    open.state.unkept = Some(unkept);
    Ok(open)
}

fn update_base(
    mut base: IndexDatabase,
    on_disk: &[IndexCandidate],
    skipped: &[SkippedFile],
) -> Result<OpenIndex, IndexDatabaseError> {
    let mut skipped = skipped.to_vec();
    let known = base.indexed_files()?;
    let plan = RefreshPlan::new(&known, on_disk);
    if !plan.is_empty() {
        skipped.append(&mut plan.apply(&mut base)?);
    }
    into_open_index(base, skipped)
}

/// Returns an up-to-date index with its state.
fn into_open_index(
    base: IndexDatabase,
    mut skipped: Vec<SkippedFile>,
) -> Result<OpenIndex, IndexDatabaseError> {
    let known = base.indexed_files()?;
    let why = |holds: ContentKind| match holds {
        ContentKind::Text | ContentKind::Own => None,
        ContentKind::Binary => Some(SkipReason::Binary),
        ContentKind::Key => Some(SkipReason::KeyText),
    };
    skipped.extend(known.iter().filter_map(|(path, known)| {
        Some(SkippedFile {
            path: path.clone(),
            why: why(known.holds)?,
        })
    }));
    skipped.sort();
    let files = known
        .values()
        .filter(|known| known.holds == ContentKind::Text)
        .count();
    let passages = base.passage_count()?;
    Ok(OpenIndex {
        base,
        state: IndexState {
            files,
            passages,
            skipped,
            unkept: None,
        },
    })
}

fn best_matches(
    base: &IndexDatabase,
    query: &str,
    limit: usize,
    is_open: &dyn Fn(&str) -> bool,
) -> Result<Vec<PassageMatch>, IndexDatabaseError> {
    let words = search_words::query_words(query);
    let rows = base.best_passages(&words, limit, is_open)?;
    let best = rows.first().map_or(0, |row| row.score);
    let is_match = |row: &ScoredPassage| row.score >= best / MIN_SCORE_DIVISOR;
    Ok(rows
        .into_iter()
        .filter(is_match)
        .map(|row| passage_match(row, &words))
        .collect())
}

fn passage_match(row: ScoredPassage, words: &[QueryWord]) -> PassageMatch {
    let ScoredPassage {
        path,
        first,
        last,
        piece,
        is_whole,
        text,
        score,
    } = row;
    let id = match (is_whole, piece) {
        (true, _) => path.clone(),
        (false, 0) if first == last => format!("{path}:{first}"),
        (false, 0) => format!("{path}:{first}-{last}"),
        (false, piece) => format!("{path}:{first}#{piece}"),
    };
    let mut held = BTreeSet::new();
    for text in [&path, &text] {
        super::search_words::each_word(text, |word| {
            if let Some(at) = words.iter().position(|asked| asked.word == word) {
                held.insert(at);
            }
        });
    }
    let words = held
        .into_iter()
        .filter_map(|at| words.get(at).map(|asked| asked.word.clone()))
        .collect();
    PassageMatch {
        id,
        path,
        first,
        last,
        score,
        words,
        text: text.trim_end().to_owned(),
    }
}

impl ContextSource for SearchIndex {
    fn search(&self, query: &str, limit: usize) -> Result<Vec<Match>, String> {
        self.search_for(None, query, limit)
    }

    fn search_for(
        &self,
        role: Option<&str>,
        query: &str,
        limit: usize,
    ) -> Result<Vec<Match>, String> {
        let found = self
            .find_passages(role, query, limit)
            .map_err(|err| err.to_string())?;
        let known = |found: PassageMatch| Match {
            id: found.id,
            text: found.text,
            trust: Trust::Untrusted,
        };
        Ok(found.into_iter().map(known).collect())
    }

    fn files(&self, query: &str, limit: usize) -> Result<Vec<Match>, String> {
        self.files_for(None, query, limit)
    }

    fn files_for(
        &self,
        role: Option<&str>,
        query: &str,
        limit: usize,
    ) -> Result<Vec<Match>, String> {
        self.find_files(role, query, limit)
            .map_err(|err| err.to_string())
    }
}
