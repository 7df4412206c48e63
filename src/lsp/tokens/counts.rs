//! Token counts of a document's agents, made on a separate thread so that no answer waits for a
//! count.
//!
//! Only the newest state of a document is counted. Tokens are cached by the hash of their text, so
//! that after an edit only the changed texts are counted. Older counts stay visible until newer
//! ones arrive.

use super::render::{self, NamedCounters, RenderSelection, lock_mutex};
use crate::context::manifest::{Entry, ManifestOptions, task_manifest};
use crate::context::request::Request;
use crate::lsp::state::project::ProjectState;
use crate::lsp::state::snapshot::DocumentSnapshot;
use crate::registry::workspace::request::CheckGoal;
use crate::template::names::DefinitionKind;
use lsp_server::{ErrorCode, Message, RequestId, Response};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::{self, Debug, Formatter};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

/// The maximum number of counted tasks of a document.
const MAX_TASKS: usize = 500;

/// The key of a document: the folder of its project and its name there.
type DocumentKey = (PathBuf, Arc<str>);

/// Sends a message to the client from any thread.
type SendMessage = Arc<dyn Fn(Message) + Send + Sync>;

/// The token counts of a document's tasks.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::lsp) struct DocumentCounts {
    /// The manifest entries of each task that could be assembled.
    pub(in crate::lsp) tasks: BTreeMap<String, Vec<Entry>>,
}

/// A job for the counting thread.
#[derive(Debug)]
pub(in crate::lsp) enum TokenWork {
    /// Counts the contexts of the agents of these tasks.
    Count {
        document: DocumentKey,
        tasks: Vec<String>,
        state: u64,
        /// True if the client can be asked to request lenses again.
        has_refresh: bool,
    },
    /// Answers a request with the context of an agent.
    Render {
        id: RequestId,
        wanted: RenderSelection,
    },
}

#[derive(Debug)]
struct TokenJob {
    snapshot: DocumentSnapshot,
    work: TokenWork,
}

/// The token counts of all documents, and the counting thread.
pub(in crate::lsp) struct TokenCounts {
    send_message: SendMessage,
    known: Arc<Mutex<BTreeMap<DocumentKey, Arc<DocumentCounts>>>>,
    /// The last requested revision of each document.
    requested: BTreeMap<DocumentKey, u64>,
    /// `None` until the first job.
    jobs: Option<mpsc::Sender<TokenJob>>,
    worker: Option<JoinHandle<()>>,
}

impl Debug for TokenCounts {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenCounts")
            .field("asked", &self.requested)
            .finish_non_exhaustive()
    }
}

impl TokenCounts {
    /// Creates an empty state without a thread.
    pub(in crate::lsp) fn new(tell: impl Fn(Message) + Send + Sync + 'static) -> Self {
        Self {
            send_message: Arc::new(tell),
            known: Arc::default(),
            requested: BTreeMap::new(),
            jobs: None,
            worker: None,
        }
    }

    /// Returns the counts of a document.
    pub(in crate::lsp) fn counts_of(&self, document: &DocumentKey) -> Option<Arc<DocumentCounts>> {
        lock_mutex(&self.known).get(document).cloned()
    }

    /// Records a request for a revision; returns true if it is new.
    pub(in crate::lsp) fn record_revision(&mut self, document: &DocumentKey, state: u64) -> bool {
        self.requested.insert(document.clone(), state) != Some(state)
    }

    /// Removes the counts of a document.
    pub(in crate::lsp) fn remove_document(&mut self, document: &DocumentKey) {
        self.requested.remove(document);
        lock_mutex(&self.known).remove(document);
    }

    /// Starts counting the tasks of a document, unless this revision was requested before.
    pub(in crate::lsp) fn request_counts(
        &mut self,
        project: &ProjectState,
        name: &Arc<str>,
        has_refresh: bool,
    ) {
        let document = (project.root.clone(), Arc::clone(name));
        if project
            .open
            .get(name)
            .is_none_or(|buffer| buffer.is_large())
            || !self.record_revision(&document, project.revision)
        {
            return;
        }
        let tasks = task_names(project, name);
        if !tasks.is_empty() {
            self.start_work(
                DocumentSnapshot::for_document(project, name),
                TokenWork::Count {
                    document,
                    tasks,
                    state: project.revision,
                    has_refresh,
                },
            );
        }
    }

    /// Sends a job to the thread and starts the thread if necessary.
    pub(in crate::lsp) fn start_work(&mut self, snapshot: DocumentSnapshot, work: TokenWork) {
        let Self {
            send_message: tell,
            known,
            jobs,
            worker,
            ..
        } = self;
        let jobs = jobs.get_or_insert_with(|| {
            let (sender, receiver) = mpsc::channel();
            let tell = Arc::clone(tell);
            let known = Arc::clone(known);
            *worker = Some(std::thread::spawn(move || {
                run_worker(&receiver, &tell, &known);
            }));
            sender
        });
        // The thread ends when `self` is dropped, not before.
        let _ = jobs.send(TokenJob { snapshot, work });
    }
}

impl Drop for TokenCounts {
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(worker) = self.worker.take() {
            let _ = worker.join();
        }
    }
}

/// Runs the thread: takes all waiting jobs together and counts only the last requested revision of
/// each document.
fn run_worker(
    jobs: &Receiver<TokenJob>,
    tell: &SendMessage,
    known: &Mutex<BTreeMap<DocumentKey, Arc<DocumentCounts>>>,
) {
    let counters = NamedCounters::new();
    let mut refreshes = 0;
    while let Ok(first) = jobs.recv() {
        let waiting: Vec<TokenJob> = std::iter::once(first).chain(jobs.try_iter()).collect();
        let mut newest: BTreeMap<DocumentKey, u64> = BTreeMap::new();
        for job in &waiting {
            if let TokenWork::Count {
                document, state, ..
            } = &job.work
            {
                newest.insert(document.clone(), *state);
            }
        }
        let mut is_news = false;
        for TokenJob { snapshot, work } in waiting {
            match work {
                TokenWork::Count {
                    document,
                    tasks,
                    state,
                    has_refresh,
                } if newest.get(&document) == Some(&state) => {
                    let found = catch_unwind(AssertUnwindSafe(|| {
                        count_tasks(&snapshot, &tasks, &counters)
                    }));
                    let Ok(Some(tasks)) = found else { continue };
                    let now = Arc::new(DocumentCounts { tasks });
                    let before = lock_mutex(known).insert(document, Arc::clone(&now));
                    is_news |= has_refresh && before.is_none_or(|before| before != now);
                }
                TokenWork::Count { .. } => {}
                TokenWork::Render { id, wanted } => {
                    let rendering = catch_unwind(AssertUnwindSafe(|| {
                        render::render_context(&snapshot, &wanted, &counters)
                    }));
                    let rendering = rendering.unwrap_or_else(|_| {
                        Err("a bug in ctxc: this could not be rendered".to_owned())
                    });
                    tell(match rendering {
                        Ok(value) => Response::new_ok(id, value).into(),
                        Err(why) => {
                            Response::new_err(id, ErrorCode::RequestFailed as i32, why).into()
                        }
                    });
                }
            }
        }
        if is_news {
            refreshes += 1;
            let id = RequestId::from(format!("figures-{refreshes}"));
            tell(
                lsp_server::Request::new(id, "workspace/codeLens/refresh".to_owned(), Value::Null)
                    .into(),
            );
        }
    }
}

/// Counts the agents of each task; `None` if the texts have errors, so that older counts stay.
fn count_tasks(
    snapshot: &DocumentSnapshot,
    tasks: &[String],
    counters: &NamedCounters,
) -> Option<BTreeMap<String, Vec<Entry>>> {
    let registry = snapshot.compile(CheckGoal::Registry).ok()?;
    let how = ManifestOptions {
        options: counters.assembly_options(snapshot.config()),
        files: snapshot,
    };
    let of = |task: &String| {
        // A task of roles is counted as each role receives it, as in the manifest of the project.
        let roles: Vec<Request<'_>> = snapshot
            .config()
            .roles
            .values()
            .filter(|role| role.task.value == *task)
            .map(Request::of_role)
            .collect();
        let requests = if roles.is_empty() {
            vec![Request::new(task)]
        } else {
            roles
        };
        let manifests = requests.iter().map(|request| {
            task_manifest(&registry, request, None, &how)
                .ok()
                .map(|manifest| manifest.entries)
        });
        manifests
            .collect::<Option<Vec<_>>>()
            .map(|entries| (task.clone(), entries.concat()))
    };
    Some(tasks.iter().filter_map(of).collect())
}

/// Returns the names of a document's tasks.
fn task_names(project: &ProjectState, name: &Arc<str>) -> Vec<String> {
    let definitions = project
        .template(name)
        .map_or(&[][..], |template| &template.facts.definitions);
    let tasks = definitions
        .iter()
        .filter(|definition| definition.kind == DefinitionKind::Task);
    tasks
        .take(MAX_TASKS)
        .map(|definition| definition.name.to_string())
        .collect()
}
