//! Waits for changes in folders, each watched without its subfolders. Reports that something
//! changed, but not the change itself, which the next check finds. If the system reports nothing,
//! folders are polled.

use crate::base::fs;
use notify_debouncer_full::notify::event::{AccessKind, AccessMode, EventKind, ModifyKind};
use notify_debouncer_full::notify::{self, ErrorKind, RecommendedWatcher, RecursiveMode};
use notify_debouncer_full::{
    DebounceEventResult, DebouncedEvent, Debouncer, NoCache, new_debouncer_opt,
};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// The quiet time of a file before its change is reported, because programs write in several steps.
const QUIET_TIME: Duration = Duration::from_millis(50);
/// The interval of checks if the system reports no changes.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// The files that matter in folders above the project.
const SETTINGS_FILES: [&str; 3] = ["ctxc.toml", ".gitignore", ".ignore"];

/// The names of a folder that matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum WatchedNames {
    /// The names in [`SETTINGS_FILES`].
    Settings,
    /// Every name.
    Every,
}

/// The watched folders.
pub(super) type WatchedFolders = BTreeMap<PathBuf, WatchedNames>;

/// The way in which changes are noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WatchMode {
    /// The system reports them.
    Native,
    /// A check every second.
    Poll,
}

/// The reason why a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WakeReason {
    /// Something changed, or may have.
    Changed,
    /// The reader of the output has closed it.
    OutputClosed,
}

/// A message of another thread.
#[derive(Debug)]
enum WatchEvent {
    Files(DebounceEventResult),
    OutputClosed,
}

/// The outcome of a call of [`FileWatcher::watch`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum WatchOutcome {
    /// All folders were watched before.
    Already,
    /// Some folders are newly watched; earlier changes in them are not reported.
    Added,
    /// The system cannot watch the folders, with the reason: from now on they are polled.
    Failed(String),
}

/// Watches folders for changes.
pub(super) struct FileWatcher {
    debouncer: Option<Debouncer<RecommendedWatcher, NoCache>>,
    folders: WatchedFolders,
    sender: Sender<WatchEvent>,
    events: Receiver<WatchEvent>,
}

impl FileWatcher {
    /// Creates a watcher without folders. Also returns the reason if native events are not
    /// available.
    pub(super) fn new(mode: WatchMode) -> (Self, Option<String>) {
        let (sender, events) = channel();
        let mut watcher = Self {
            debouncer: None,
            folders: WatchedFolders::new(),
            sender,
            events,
        };
        if mode == WatchMode::Poll {
            return (watcher, None);
        }
        let sender = watcher.sender.clone();
        // At the end of the program, the receiver is gone.
        let handler = move |result| drop(sender.send(WatchEvent::Files(result)));
        match new_debouncer_opt(
            QUIET_TIME,
            Some(QUIET_TIME),
            handler,
            NoCache::new(),
            notify::Config::default(),
        ) {
            Ok(debouncer) => watcher.debouncer = Some(debouncer),
            Err(error) => return (watcher, Some(error_reason(&error))),
        }
        (watcher, None)
    }

    /// Returns a function that reports that the output is closed.
    pub(super) fn closed_notifier(&self) -> impl FnOnce() + Send + 'static {
        let sender = self.sender.clone();
        move || drop(sender.send(WatchEvent::OutputClosed))
    }

    /// Watches exactly these folders. For a missing folder, watches the nearest existing one above
    /// it.
    pub(super) fn watch_folders(&mut self, wanted: &WatchedFolders) -> WatchOutcome {
        let Some(debouncer) = &mut self.debouncer else {
            return WatchOutcome::Already;
        };
        let mut folders = WatchedFolders::new();
        for (folder, reach) in wanted {
            let existing = folder
                .ancestors()
                .find(|folder| fs::is_dir(folder))
                .unwrap_or(Path::new("/"));
            let reach = if existing == folder {
                *reach
            } else {
                WatchedNames::Every
            };
            let known = folders.entry(existing.to_path_buf()).or_insert(reach);
            *known = reach.max(*known);
        }
        for folder in self
            .folders
            .keys()
            .filter(|folder| !folders.contains_key(*folder))
        {
            // The system no longer knows deleted folders.
            let _ = debouncer.unwatch(folder);
        }
        let mut watched = WatchOutcome::Already;
        let mut failed = None;
        folders.retain(|folder, _| {
            if self.folders.contains_key(folder) {
                return true;
            }
            match debouncer.watch(folder, RecursiveMode::NonRecursive) {
                Ok(()) => watched = WatchOutcome::Added,
                Err(error) if is_exhausted(&error) => failed = Some(error_reason(&error)),
                // The folder was just deleted, or is not readable: its files cannot be checked
                // either.
                Err(_) => return false,
            }
            true
        });
        self.folders = folders;
        match failed {
            Some(why) => {
                self.debouncer = None;
                WatchOutcome::Failed(why)
            }
            None => watched,
        }
    }

    /// Waits for a relevant change.
    pub(super) fn wait_for_change(&mut self) -> WakeReason {
        loop {
            let event = if self.debouncer.is_some() {
                self.events
                    .recv()
                    .map_err(|_| RecvTimeoutError::Disconnected)
            } else {
                self.events.recv_timeout(POLL_INTERVAL)
            };
            match event {
                Ok(WatchEvent::OutputClosed) | Err(RecvTimeoutError::Disconnected) => {
                    return WakeReason::OutputClosed;
                }
                Err(RecvTimeoutError::Timeout) => return WakeReason::Changed,
                Ok(WatchEvent::Files(result)) => {
                    if self.is_relevant(&result) {
                        return WakeReason::Changed;
                    }
                }
            }
        }
    }

    /// Returns true if events may change the findings. Forgets replaced folders, so that they are
    /// watched again.
    fn is_relevant(&mut self, result: &DebounceEventResult) -> bool {
        let events = match result {
            Ok(events) if !events.iter().any(|event| event.need_rescan()) => events,
            Ok(_) | Err(_) => {
                self.forget_folders(|_| true);
                return true;
            }
        };
        let is_counted = events
            .iter()
            .filter(|event| is_change(event))
            .any(|event| event.paths.iter().any(|path| self.is_watched(path)));
        let deleted = events.iter().filter(|event| {
            matches!(
                event.kind,
                EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(_))
            )
        });
        for path in deleted.flat_map(|event| &event.paths) {
            self.forget_folders(|folder| folder.starts_with(path));
        }
        is_counted
    }

    /// Returns true if a path has a watched name in a watched folder, is such a folder, or is above
    /// one.
    fn is_watched(&self, path: &Path) -> bool {
        let is_settings = || {
            path.file_name()
                .is_some_and(|name| SETTINGS_FILES.iter().any(|known| name == *known))
        };
        match path.parent().and_then(|parent| self.folders.get(parent)) {
            Some(WatchedNames::Every) => return true,
            Some(WatchedNames::Settings) if is_settings() => return true,
            Some(WatchedNames::Settings) | None => {}
        }
        self.folders.keys().any(|folder| folder.starts_with(path))
    }

    fn forget_folders(&mut self, is_gone: impl Fn(&Path) -> bool) {
        let debouncer = &mut self.debouncer;
        self.folders.retain(|folder, _| {
            let is_gone = is_gone(folder);
            if is_gone && let Some(debouncer) = debouncer {
                // A renamed folder would still report under its old name.
                let _ = debouncer.unwatch(folder);
            }
            !is_gone
        });
    }
}

/// Reads are no changes: a check reads.
fn is_change(event: &DebouncedEvent) -> bool {
    !matches!(event.kind, EventKind::Access(kind) if kind != AccessKind::Close(AccessMode::Write))
}

/// Returns true if the system cannot watch more folders, as opposed to this one.
fn is_exhausted(error: &notify::Error) -> bool {
    match &error.kind {
        ErrorKind::MaxFilesWatch => true,
        ErrorKind::Io(error) => !matches!(
            error.kind(),
            std::io::ErrorKind::NotFound | std::io::ErrorKind::PermissionDenied
        ),
        ErrorKind::Generic(_)
        | ErrorKind::PathNotFound
        | ErrorKind::WatchNotFound
        | ErrorKind::InvalidConfig(_) => false,
    }
}

fn error_reason(error: &notify::Error) -> String {
    match &error.kind {
        ErrorKind::MaxFilesWatch => "no more folders can be watched".to_owned(),
        ErrorKind::Io(error) => crate::rules::input::read_fault::describe_io_error(error),
        ErrorKind::Generic(_)
        | ErrorKind::PathNotFound
        | ErrorKind::WatchNotFound
        | ErrorKind::InvalidConfig(_) => error.to_string(),
    }
}

#[cfg(test)]
#[path = "../../../tests/unit/cli/watch/file_watcher.rs"]
mod tests;
