//! Tasks and their sources. A task is delivered until it is done, and never to two workers at once.
//!
//! Nothing is stored between runs: sources that outlive a program keep a journal.

use crate::kernel::pipeline::outcome::{Obstacle, OutcomeContext, Visit};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// A piece of work for an organisation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task<P> {
    /// Its permanent identity: a task delivered under the same id is the same task.
    pub id: String,
    /// The organisation that it belongs to.
    #[serde(default)]
    pub org: String,
    /// Its urgency: 0 goes first.
    #[serde(default)]
    pub priority: u8,
    /// The work, in the organisation's own form.
    pub payload: P,
    /// The failure pattern that it remedies, if it was proposed for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedies: Option<String>,
}

impl<P> Task<P> {
    /// A task of the highest priority.
    pub fn new(org: impl Into<String>, id: impl Into<String>, payload: P) -> Self {
        Self {
            id: id.into(),
            org: org.into(),
            priority: 0,
            payload,
            remedies: None,
        }
    }

    /// The outcome of a visit of one of its stages, for histories and analysis.
    pub fn outcome(&self, visit: Visit, at: Duration) -> OutcomeContext {
        OutcomeContext {
            remedies: self.remedies.clone(),
            ..OutcomeContext::new(&self.id, visit, at)
        }
    }
}

/// A source of tasks.
///
/// A claimed task is not delivered again until it is released. One that is neither completed nor
/// released, because its program ended, is delivered again.
pub trait TaskSource<P> {
    /// Claims the most urgent unclaimed task; `None` if none is available at the moment.
    ///
    /// # Errors
    /// The source cannot be read, or the claim cannot be stored.
    fn claim(&mut self) -> Result<Option<Task<P>>, Obstacle>;

    /// Marks a task as done: it is never delivered again.
    ///
    /// # Errors
    /// The completion cannot be stored, so the task may be delivered again.
    fn complete(&mut self, id: &str) -> Result<(), Obstacle>;

    /// Returns a task that is not done: it is delivered again, after others of its priority.
    ///
    /// # Errors
    /// The release cannot be stored.
    fn release(&mut self, id: &str) -> Result<(), Obstacle>;
}

/// Tasks in memory.
///
/// ```
/// use ctxc::runtime::{Task, TaskQueue, TaskSource};
///
/// let mut queue = TaskQueue::default();
/// assert!(queue.push(Task { priority: 2, ..Task::new("ops", "A-1", "disk 80 % full") }));
/// assert!(queue.push(Task::new("ops", "A-2", "checkout is down")));
/// assert!(!queue.push(Task::new("ops", "A-2", "checkout is down")), "the same task");
///
/// let first = queue.claim()?.expect("two are waiting");
/// assert_eq!(first.id, "A-2");
/// queue.release("A-2")?;
/// queue.claim()?;
/// queue.complete("A-2")?;
/// assert_eq!(queue.claim()?.map(|task| task.id), Some("A-1".to_owned()));
/// assert_eq!(queue.claim()?, None);
/// # Ok::<(), ctxc::runtime::Obstacle>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskQueue<P> {
    /// By priority, then in the order of arrival.
    waiting: BTreeMap<(u8, u64), Task<P>>,
    claimed: BTreeMap<String, Task<P>>,
    known: BTreeSet<String>,
    count: u64,
}

impl<P> Default for TaskQueue<P> {
    fn default() -> Self {
        Self {
            waiting: BTreeMap::new(),
            claimed: BTreeMap::new(),
            known: BTreeSet::new(),
            count: 0,
        }
    }
}

impl<P> TaskQueue<P> {
    /// Adds a task; `false` if its id was added before, even if that task is done.
    pub fn push(&mut self, task: Task<P>) -> bool {
        let is_new = self.known.insert(task.id.clone());
        if is_new {
            self.enqueue(task);
        }
        is_new
    }

    /// Returns true if a task with this id was ever added.
    pub fn knows(&self, id: &str) -> bool {
        self.known.contains(id)
    }

    /// The unclaimed tasks, in the order of delivery.
    pub fn waiting(&self) -> impl Iterator<Item = &Task<P>> {
        self.waiting.values()
    }

    /// The claimed tasks, by id.
    pub fn claimed(&self) -> impl Iterator<Item = &Task<P>> {
        self.claimed.values()
    }

    /// Adds the id of a task that was done in an earlier run.
    #[cfg(feature = "fs")]
    pub(crate) fn remember(&mut self, id: String) {
        self.known.insert(id);
    }

    /// The ids of all tasks that are done.
    #[cfg(feature = "fs")]
    pub(crate) fn done_ids(&self) -> impl Iterator<Item = &str> {
        let open: BTreeSet<&str> = self
            .waiting
            .values()
            .chain(self.claimed.values())
            .map(|task| task.id.as_str())
            .collect();
        self.known
            .iter()
            .map(String::as_str)
            .filter(move |id| !open.contains(id))
    }

    fn enqueue(&mut self, task: Task<P>) {
        self.count += 1;
        self.waiting.insert((task.priority, self.count), task);
    }
}

impl<P: Clone> TaskSource<P> for TaskQueue<P> {
    fn claim(&mut self) -> Result<Option<Task<P>>, Obstacle> {
        let Some((_, task)) = self.waiting.pop_first() else {
            return Ok(None);
        };
        self.claimed.insert(task.id.clone(), task.clone());
        Ok(Some(task))
    }

    fn complete(&mut self, id: &str) -> Result<(), Obstacle> {
        self.claimed.remove(id);
        Ok(())
    }

    fn release(&mut self, id: &str) -> Result<(), Obstacle> {
        if let Some(task) = self.claimed.remove(id) {
            self.enqueue(task);
        }
        Ok(())
    }
}
