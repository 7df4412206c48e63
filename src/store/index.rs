//! The public interface of the index: opens and updates itself on the first query, and does nothing
//! before.

use super::indexable_files::{Candidate, Scope, Skipped, Why, survey};
use super::query::{self, Asked};
use super::refresh::Plan;
use super::sqlite::{Base, Broken, Holds, Row};
use crate::base::{folders, fs};
use crate::context::context_source::{ContextSource, Match};
use crate::kernel::context::Trust;
use std::cell::{Ref, RefCell};
use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

/// The reason why the index is not stored if no folder is configured.
const NOWHERE: &str = "no folder for caches is known; `--cache-dir` or CTXC_CACHE_DIR names one";
/// The database, and the files that SQLite may leave beside it.
const FILES: [&str; 4] = [
    "search.db-journal",
    "search.db-wal",
    "search.db-shm",
    "search.db",
];
const DATABASE: &str = "search.db";
const LOCK: &str = "search.lock";
/// The maximum wait for another program that updates the index.
const PATIENCE: Duration = Duration::from_secs(5);
const NAP: Duration = Duration::from_millis(20);
/// The number of passages that are examined for each requested file.
const PASSAGES: usize = 16;
/// A passage that scores less than the best one divided by this is no match: it shares only a short
/// word.
const FAINT: i64 = 3;

/// A full-text index of a project's files.
#[derive(Debug)]
pub struct Index {
    scope: Scope,
    open: RefCell<Option<Open>>,
}

/// A passage that matches a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
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
pub struct State {
    /// The number of indexed files.
    pub files: usize,
    /// The number of their passages.
    pub passages: u64,
    /// The files that are not indexed, by path.
    pub skipped: Vec<Skipped>,
    /// The reason why the index is not stored for the next run, if it is not.
    pub unkept: Option<String>,
}

/// The error of a query.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the index cannot be used: {0}")]
pub struct Refused(String);

/// An open, up-to-date index.
#[derive(Debug)]
struct Open {
    base: Base,
    state: State,
}

impl Index {
    /// Creates the index of a project. Opens and reads nothing.
    pub const fn new(scope: Scope) -> Self {
        Self {
            scope,
            open: RefCell::new(None),
        }
    }

    /// Returns the state of the index, and updates it before the first use.
    ///
    /// # Errors
    /// SQLite fails even in memory.
    pub fn state(&self) -> Result<State, Refused> {
        let open = self.opened()?;
        let mut state = open.state.clone();
        let refused = |broken: Broken| Refused(broken.to_string());
        if self.scope.protected.is_empty() {
            return Ok(state);
        }
        for (path, passages) in open.base.passages_by_file().map_err(refused)? {
            if let Some(role) = self.scope.protector(None, &path) {
                state.files -= 1;
                state.passages -= passages;
                state.skipped.push(Skipped {
                    why: Why::Protected {
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
    pub fn unkept(&self) -> Option<String> {
        self.open
            .borrow()
            .as_ref()
            .and_then(|open| open.state.unkept.clone())
    }

    /// Returns true if the index was used and the project's own list of files matches none.
    pub fn is_bare(&self) -> bool {
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
    pub fn find(
        &self,
        role: Option<&str>,
        query: &str,
        limit: usize,
    ) -> Result<Vec<Found>, Refused> {
        self.asked(|base| find(base, query, limit, &self.is_open_to(role)))
    }

    fn is_open_to<'a>(&'a self, role: Option<&'a str>) -> impl Fn(&str) -> bool + 'a {
        move |path| self.scope.protector(role, path).is_none()
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
    ) -> Result<Vec<Match>, Refused> {
        self.asked(|base| {
            let mut seen = BTreeSet::new();
            let passages = find(
                base,
                query,
                limit.saturating_mul(PASSAGES),
                &self.is_open_to(role),
            )?;
            let paths = passages
                .into_iter()
                .filter(|found| seen.insert(found.path.clone()))
                .map(|found| found.path);
            let file = |path: String| {
                Ok(Match {
                    text: base.text(&path)?,
                    id: path,
                    trust: Trust::Untrusted,
                })
            };
            paths.take(limit).map(file).collect()
        })
    }

    /// Returns the significant words of a query, which are searched for.
    #[must_use]
    pub fn words(query: &str) -> Vec<String> {
        query::asked(query)
            .into_iter()
            .map(|asked| asked.word)
            .collect()
    }

    /// Runs a query; a damaged index is rebuilt once on disk, and then in memory.
    fn asked<T>(&self, ask: impl Fn(&Base) -> Result<T, Broken>) -> Result<T, Refused> {
        let answer = ask(&self.opened()?.base);
        match answer {
            Ok(answer) => return Ok(answer),
            Err(Broken::InTheWay(_)) => {}
            Err(Broken::Useless(_)) => {
                drop(self.open.take());
                let (there, skipped) = survey(&self.scope);
                self.open
                    .replace(self.kept(&there, &skipped, Start::Afresh).ok());
                let answer = ask(&self.opened()?.base);
                if let Ok(answer) = answer {
                    return Ok(answer);
                }
            }
        }
        let (there, skipped) = survey(&self.scope);
        let unkept = "the index on disk cannot be read".to_owned();
        self.open
            .replace(Some(in_memory(&there, &skipped, unkept)?));
        ask(&self.opened()?.base).map_err(|broken| Refused(broken.to_string()))
    }

    fn opened(&self) -> Result<Ref<'_, Open>, Refused> {
        if self.open.borrow().is_none() {
            let (there, skipped) = survey(&self.scope);
            let open = match self.kept(&there, &skipped, Start::AsItIs) {
                Ok(open) => open,
                Err(unkept) => in_memory(&there, &skipped, unkept)?,
            };
            self.open.replace(Some(open));
        }
        Ref::filter_map(self.open.borrow(), Option::as_ref)
            .map_err(|_| Refused("it was closed".to_owned()))
    }

    /// Returns the up-to-date index on disk, otherwise the reason why it is not available.
    fn kept(&self, there: &[Candidate], skipped: &[Skipped], start: Start) -> Result<Open, String> {
        let folder = self.scope.kept_in.as_deref().ok_or(NOWHERE)?;
        let path = folder.join(DATABASE);
        if start == Start::AsItIs
            && let Ok(Some(base)) = Base::open(&path)
            && let Ok(known) = base.known()
            && Plan::new(&known, there).is_empty()
            && let Ok(open) = ready(base, skipped.to_vec())
        {
            return Ok(open);
        }
        let said = |err: io::Error| {
            format!(
                "the folder for caches cannot be written: {}",
                crate::rules::input::read_fault::reason(&err)
            )
        };
        folders::make(folder).map_err(said)?;
        let _lock = lock(&folder.join(LOCK))
            .map_err(said)?
            .ok_or("another ctxc is making the index at this moment")?;
        if start == Start::AsItIs {
            match Base::open(&path)
                .and_then(|base| base.map(|base| updated(base, there, skipped)).transpose())
            {
                Ok(Some(open)) => return Ok(open),
                Err(Broken::InTheWay(why)) => return Err(why),
                Ok(None) | Err(Broken::Useless(_)) => {}
            }
        }
        // All old files are removed: SQLite would replay an old journal into the new database.
        fs::take_back(folder, &FILES);
        Base::make(&path)
            .and_then(|base| updated(base, there, skipped))
            .map_err(|broken| broken.to_string())
    }
}

/// The treatment of an existing index on disk.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Start {
    AsItIs,
    Afresh,
}

/// Takes the lock of writers; `None` if another program holds it for too long.
fn lock(path: &Path) -> io::Result<Option<fs::Lock>> {
    let began = Instant::now();
    loop {
        if let Some(lock) = fs::try_lock(path)? {
            return Ok(Some(lock));
        }
        if began.elapsed() > PATIENCE {
            return Ok(None);
        }
        std::thread::sleep(NAP);
    }
}

fn in_memory(there: &[Candidate], skipped: &[Skipped], unkept: String) -> Result<Open, Refused> {
    let mut open = Base::in_memory()
        .and_then(|base| updated(base, there, skipped))
        .map_err(|broken| Refused(broken.to_string()))?;
    open.state.unkept = Some(unkept);
    Ok(open)
}

fn updated(mut base: Base, there: &[Candidate], skipped: &[Skipped]) -> Result<Open, Broken> {
    let mut skipped = skipped.to_vec();
    let known = base.known()?;
    let plan = Plan::new(&known, there);
    if !plan.is_empty() {
        skipped.append(&mut plan.carry_out(&mut base)?);
    }
    ready(base, skipped)
}

/// Returns an up-to-date index with its state.
fn ready(base: Base, mut skipped: Vec<Skipped>) -> Result<Open, Broken> {
    let known = base.known()?;
    let why = |holds: Holds| match holds {
        Holds::Text | Holds::Own => None,
        Holds::Binary => Some(Why::Binary),
        Holds::Key => Some(Why::KeyText),
    };
    skipped.extend(known.iter().filter_map(|(path, known)| {
        Some(Skipped {
            path: path.clone(),
            why: why(known.holds)?,
        })
    }));
    skipped.sort();
    let files = known
        .values()
        .filter(|known| known.holds == Holds::Text)
        .count();
    let passages = base.passages()?;
    Ok(Open {
        base,
        state: State {
            files,
            passages,
            skipped,
            unkept: None,
        },
    })
}

fn find(
    base: &Base,
    query: &str,
    limit: usize,
    is_open: &dyn Fn(&str) -> bool,
) -> Result<Vec<Found>, Broken> {
    let words = query::asked(query);
    let rows = base.best(&words, limit, is_open)?;
    let best = rows.first().map_or(0, |row| row.score);
    let is_match = |row: &Row| row.score >= best / FAINT;
    Ok(rows
        .into_iter()
        .filter(is_match)
        .map(|row| found(row, &words))
        .collect())
}

fn found(row: Row, words: &[Asked]) -> Found {
    let Row {
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
        super::words::each(text, |word| {
            if let Some(at) = words.iter().position(|asked| asked.word == word) {
                held.insert(at);
            }
        });
    }
    let words = held
        .into_iter()
        .filter_map(|at| words.get(at).map(|asked| asked.word.clone()))
        .collect();
    Found {
        id,
        path,
        first,
        last,
        score,
        words,
        text: text.trim_end().to_owned(),
    }
}

impl ContextSource for Index {
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
            .find(role, query, limit)
            .map_err(|err| err.to_string())?;
        let known = |found: Found| Match {
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
