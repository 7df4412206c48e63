//! Tasks that outlive a program: the added and the completed ones, each as a line of JSON.
//!
//! Only one program at a time uses a journal. Claims are not recorded: they end with the program,
//! so that tasks that were neither completed nor released are delivered again. An added task is on
//! the disk before `add` returns.

use crate::base::contained_path::describe_io_error;
use crate::base::folders;
use crate::base::fs::{self, FileLock};
use crate::kernel::pipeline::outcome::{Obstacle, ObstacleKind};
use crate::kernel::work::task::{Task, TaskQueue, TaskSource};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

/// Maximum size of a journal in bytes.
const MAX_JOURNAL_BYTES: u64 = 1 << 30;

/// A queue of tasks that is stored in a folder.
#[derive(Debug)]
pub struct TaskJournal<P> {
    queue: TaskQueue<P>,
    path: PathBuf,
    _lock: FileLock,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum JournalLine<T> {
    Added(T),
    Done(String),
}

impl<P: Clone + Serialize + DeserializeOwned> TaskJournal<P> {
    /// Opens the journal of a folder, which is created if missing.
    ///
    /// # Errors
    /// Another program uses it, it is damaged, or an I/O error occurs.
    pub fn open(folder: &Path) -> Result<Self, Obstacle> {
        let path = folder.join("tasks.jsonl");
        let refused = |what: &str, why: &io::Error| {
            journal_obstacle(&path, &format!("{what}: {}", describe_io_error(why)))
        };
        folders::create_private(folder)
            .map_err(|why| refused("its folder cannot be made", &why))?;
        let lock = fs::try_lock(&folder.join("tasks.lock"))
            .map_err(|why| refused("it cannot be locked", &why))?;
        let lock = lock.ok_or_else(|| {
            journal_obstacle(
                &path,
                "another program is working on these tasks; stop it, or use another folder",
            )
        })?;
        let mut bytes = Vec::new();
        if fs::exists(&path) {
            fs::read_regular(&path, MAX_JOURNAL_BYTES, &mut bytes)
                .map_err(|why| refused("it cannot be read", &why))?;
        }
        let (queue, count) = read_journal(&bytes).map_err(|why| journal_obstacle(&path, &why))?;
        let journal = Self {
            queue,
            path,
            _lock: lock,
        };
        if count > 2 * journal.queue.waiting().count() + journal.queue.done_ids().count() {
            journal.compact().map_err(|why| {
                journal_obstacle(
                    &journal.path,
                    &format!("it cannot be written: {}", describe_io_error(&why)),
                )
            })?;
        }
        Ok(journal)
    }

    /// Adds a task, and returns once it is on the disk; `false` if its id was added before, even if
    /// that task is done.
    ///
    /// # Errors
    /// The task cannot be written and is not added.
    pub fn add(&mut self, task: Task<P>) -> Result<bool, Obstacle> {
        if self.queue.knows(&task.id) {
            return Ok(false);
        }
        self.append_line(&JournalLine::Added(&task))?;
        Ok(self.queue.push(task))
    }

    /// Returns true if a task with this id was ever added.
    pub fn knows(&self, id: &str) -> bool {
        self.queue.knows(id)
    }

    /// The unclaimed tasks, the most urgent first.
    pub fn waiting(&self) -> impl Iterator<Item = &Task<P>> {
        self.queue.waiting()
    }

    fn append_line<T: Serialize>(&self, line: &JournalLine<T>) -> Result<(), Obstacle> {
        let unwritten = |why: io::Error| {
            journal_obstacle(
                &self.path,
                &format!("it cannot be written: {}", describe_io_error(&why)),
            )
        };
        let mut bytes = serde_json::to_vec(line).map_err(|why| unwritten(why.into()))?;
        bytes.push(b'\n');
        fs::append_line(&self.path, &bytes, |rest| {
            serde_json::from_slice::<serde_json::Value>(rest).is_ok()
        })
        .map_err(unwritten)
    }

    /// Rewrites the journal with only the information that is still needed.
    fn compact(&self) -> io::Result<()> {
        let mut bytes = Vec::new();
        for id in self.queue.done_ids() {
            serde_json::to_writer(&mut bytes, &JournalLine::<()>::Done(id.to_owned()))?;
            bytes.push(b'\n');
        }
        for task in self.queue.waiting() {
            serde_json::to_writer(&mut bytes, &JournalLine::Added(task))?;
            bytes.push(b'\n');
        }
        fs::write_private(&self.path, &bytes)
    }
}

impl<P: Clone + Serialize + DeserializeOwned> TaskSource<P> for TaskJournal<P> {
    fn claim(&mut self) -> Result<Option<Task<P>>, Obstacle> {
        self.queue.claim()
    }

    fn complete(&mut self, id: &str) -> Result<(), Obstacle> {
        if self.queue.claimed().any(|task| task.id == id) {
            self.append_line(&JournalLine::<()>::Done(id.to_owned()))?;
        }
        self.queue.complete(id)
    }

    fn release(&mut self, id: &str) -> Result<(), Obstacle> {
        self.queue.release(id)
    }
}

fn journal_obstacle(path: &Path, what: &str) -> Obstacle {
    Obstacle {
        kind: ObstacleKind::Source,
        note: format!("{}: {what}", path.display()),
    }
}

/// The queue that a journal describes, and its number of lines. An incomplete last line is the
/// remnant of a killed program, which never acknowledged it.
fn read_journal<P: Clone + DeserializeOwned>(
    bytes: &[u8],
) -> Result<(TaskQueue<P>, usize), String> {
    let mut added = Vec::new();
    let mut done = BTreeSet::new();
    let mut count = 0;
    let mut lines = bytes.split_inclusive(|byte| *byte == b'\n').peekable();
    while let Some(line) = lines.next() {
        count += 1;
        match serde_json::from_slice(line) {
            Ok(JournalLine::Added(task)) => added.push(task),
            Ok(JournalLine::Done(id)) => drop(done.insert(id)),
            Err(_) if lines.peek().is_none() && !line.ends_with(b"\n") => {}
            Err(why) => return Err(format!("line {count} is damaged: {why}")),
        }
    }
    let mut queue = TaskQueue::default();
    for id in done {
        queue.remember(id);
    }
    for task in added {
        queue.push(task);
    }
    Ok((queue, count))
}
