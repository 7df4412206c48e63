//! What the agents of a document would receive, counted on a thread of its own: no answer waits for a figure.
//!
//! Of several states of a document only the newest is counted. Tokens are remembered by the hash of their text, so that an edit
//! counts what it changed. Figures that are not those of the state on the screen are shown until newer ones come.

use super::preview::{self, Wanted};
use super::snapshot::Snapshot;
use crate::base::hash::{Hash, Hasher};
use crate::context::assemble::Options;
use crate::context::manifest::{Dry, Entry, of_task};
use crate::context::request::Request;
use crate::context::role::{Counters, House};
use crate::context::tokens;
use crate::kernel::tokens::{Bytes, TokenCounter};
use crate::project::config::Config;
use lsp_server::{ErrorCode, Message, RequestId, Response};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::fmt::{self, Debug, Formatter};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

/// Counts that are remembered; with more of them all are forgotten.
const MOST: usize = 1 << 14;

/// A document: the folder of its project, and its name there.
type Key = (PathBuf, Arc<str>);

/// Sends to the client, from any thread.
type Tell = Arc<dyn Fn(Message) + Send + Sync>;

/// What is known of a document's tasks.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Known {
    /// The agents of each task that could be assembled.
    pub(super) tasks: BTreeMap<String, Vec<Entry>>,
}

/// What is to be done.
#[derive(Debug)]
pub(super) enum Work {
    /// Count what the agents of these tasks receive.
    Count {
        document: Key,
        tasks: Vec<String>,
        state: u64,
        /// The client can be told to ask for lenses again.
        is_told: bool,
    },
    /// Answer a request with what an agent would receive.
    Render { id: RequestId, wanted: Wanted },
}

#[derive(Debug)]
struct Job {
    snapshot: Snapshot,
    work: Work,
}

/// The figures of all documents, and the thread that counts.
pub(super) struct Figures {
    tell: Tell,
    known: Arc<Mutex<BTreeMap<Key, Arc<Known>>>>,
    /// The state of each document that figures were asked for.
    asked: BTreeMap<Key, u64>,
    /// `None` until something is to be done.
    jobs: Option<mpsc::Sender<Job>>,
    worker: Option<JoinHandle<()>>,
}

impl Debug for Figures {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Figures").field("asked", &self.asked).finish_non_exhaustive()
    }
}

impl Figures {
    /// Nothing is known, and no thread runs.
    pub(super) fn new(tell: impl Fn(Message) + Send + Sync + 'static) -> Self {
        Self { tell: Arc::new(tell), known: Arc::default(), asked: BTreeMap::new(), jobs: None, worker: None }
    }

    /// What is known of a document.
    pub(super) fn of(&self, document: &Key) -> Option<Arc<Known>> {
        locked(&self.known).get(document).cloned()
    }

    /// Whether nobody has asked for the figures of this state yet.
    pub(super) fn is_new(&mut self, document: &Key, state: u64) -> bool {
        self.asked.insert(document.clone(), state) != Some(state)
    }

    /// Forgets a document.
    pub(super) fn forget(&mut self, document: &Key) {
        self.asked.remove(document);
        locked(&self.known).remove(document);
    }

    /// Has something done.
    pub(super) fn begin(&mut self, snapshot: Snapshot, work: Work) {
        let Self { tell, known, jobs, worker, .. } = self;
        let jobs = jobs.get_or_insert_with(|| {
            let (sender, receiver) = mpsc::channel();
            let (tell, known) = (Arc::clone(tell), Arc::clone(known));
            *worker = Some(std::thread::spawn(move || run(&receiver, &tell, &known)));
            sender
        });
        // The thread ends with us and not before.
        let _ = jobs.send(Job { snapshot, work });
    }
}

impl Drop for Figures {
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(worker) = self.worker.take() {
            let _ = worker.join();
        }
    }
}

fn locked<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The thread: everything that waits is taken together, and of a document only what was asked last.
fn run(jobs: &Receiver<Job>, tell: &Tell, known: &Mutex<BTreeMap<Key, Arc<Known>>>) {
    let counters = Memories::new();
    let mut refreshes = 0;
    while let Ok(first) = jobs.recv() {
        let waiting: Vec<Job> = std::iter::once(first).chain(jobs.try_iter()).collect();
        let mut newest: BTreeMap<Key, u64> = BTreeMap::new();
        for job in &waiting {
            if let Work::Count { document, state, .. } = &job.work {
                newest.insert(document.clone(), *state);
            }
        }
        let mut is_news = false;
        for Job { snapshot, work } in waiting {
            match work {
                Work::Count { document, tasks, state, is_told } if newest.get(&document) == Some(&state) => {
                    let found = catch_unwind(AssertUnwindSafe(|| count(&snapshot, &tasks, &counters)));
                    let Ok(Some(tasks)) = found else { continue };
                    let now = Arc::new(Known { tasks });
                    let before = locked(known).insert(document, Arc::clone(&now));
                    is_news |= is_told && before.is_none_or(|before| before != now);
                }
                Work::Count { .. } => {}
                Work::Render { id, wanted } => {
                    let made = catch_unwind(AssertUnwindSafe(|| preview::of(&snapshot, &wanted, &counters)));
                    let made = made.unwrap_or_else(|_| Err("a bug in ctxc: this could not be rendered".to_owned()));
                    tell(match made {
                        Ok(value) => Response::new_ok(id, value).into(),
                        Err(why) => Response::new_err(id, ErrorCode::RequestFailed as i32, why).into(),
                    });
                }
            }
        }
        if is_news {
            refreshes += 1;
            let id = RequestId::from(format!("figures-{refreshes}"));
            tell(lsp_server::Request::new(id, "workspace/codeLens/refresh".to_owned(), Value::Null).into());
        }
    }
}

/// The agents of each task; `None` where the texts have errors, and older figures stay.
fn count(snapshot: &Snapshot, tasks: &[String], counters: &Memories) -> Option<BTreeMap<String, Vec<Entry>>> {
    let registry = snapshot.compile().ok()?;
    let how = Dry { options: counters.options(snapshot.config()), files: snapshot };
    let of = |task: &String| {
        // A task that roles play is told as each of them receives it, as the manifest of the project tells it.
        let roles: Vec<Request<'_>> =
            snapshot.config().roles.values().filter(|role| role.task.value == *task).map(Request::of_role).collect();
        let requests = if roles.is_empty() { vec![Request::new(task)] } else { roles };
        let made = requests.iter().map(|request| of_task(&registry, request, None, &how).ok().map(|manifest| manifest.entries));
        made.collect::<Option<Vec<_>>>().map(|entries| (task.clone(), entries.concat()))
    };
    Some(tasks.iter().filter_map(of).collect())
}

/// Every counter by its name, each with a memory: models say who counts for them.
#[derive(Debug)]
pub(super) struct Memories(BTreeMap<&'static str, Memory>, Memory);

impl Memories {
    fn new() -> Self {
        let named = tokens::names().filter_map(|name| Some((name, Memory::of(tokens::counter(name)?))));
        let first = tokens::counter(tokens::DEFAULT).unwrap_or_else(|| Arc::new(Bytes));
        Self(named.collect(), Memory::of(first))
    }

    /// How contexts of a project are assembled, as the command line does.
    pub(super) fn options<'a>(&'a self, config: &'a Config) -> Options<'a> {
        let house = Some(House { config, counters: self, profile: None });
        Options { counter: &self.1, house, ..Options::default() }
    }
}

impl Counters for Memories {
    fn named(&self, name: &str) -> Option<&dyn TokenCounter> {
        // What most ask for is remembered in one place.
        let other = self.0.get(name).filter(|_| name != tokens::DEFAULT)?;
        Some(other)
    }
}

/// A counter that remembers what it has counted.
#[derive(Debug)]
pub(super) struct Memory {
    counter: Arc<dyn TokenCounter>,
    known: Mutex<HashMap<Hash, usize>>,
}

impl Memory {
    fn of(counter: Arc<dyn TokenCounter>) -> Self {
        Self { counter, known: Mutex::default() }
    }

    fn remembered(&self, hash: Hash, count: impl FnOnce() -> usize) -> usize {
        if let Some(known) = locked(&self.known).get(&hash) {
            return *known;
        }
        let count = count();
        let mut known = locked(&self.known);
        if known.len() >= MOST {
            known.clear();
        }
        known.insert(hash, count);
        count
    }
}

impl TokenCounter for Memory {
    fn name(&self) -> &str {
        self.counter.name()
    }

    fn is_exact(&self) -> bool {
        self.counter.is_exact()
    }

    fn count(&self, text: &str) -> usize {
        self.remembered(Hash::of(text.as_bytes()), || self.counter.count(text))
    }

    fn least(&self, pieces: &[&str]) -> usize {
        let mut hasher = Hasher::new();
        for piece in pieces {
            hasher.field(piece);
        }
        self.remembered(hasher.finish(), || self.counter.least(pieces))
    }

    fn fit(&self, text: &str, limit: usize) -> usize {
        self.counter.fit(text, limit)
    }
}
