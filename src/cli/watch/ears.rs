//! Hears of changes in folders, each on its own and never what lies beneath it. Says that something changed and not what: that
//! is found out by looking. Where the system tells nothing, time passes and somebody looks anyway.

use notify::event::{AccessKind, AccessMode, EventKind, ModifyKind};
use notify::{ErrorKind, Event, RecommendedWatcher, RecursiveMode, Watcher};
use std::collections::BTreeMap;
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// It must be quiet for so long before somebody looks: programs write in several steps.
const QUIET: Duration = Duration::from_millis(50);
/// Folders that are never quiet are looked at all the same.
const LONGEST: Duration = Duration::from_millis(500);
/// How often somebody looks where the system tells nothing.
const POLL: Duration = Duration::from_secs(1);
/// The files that count in folders above the project.
const SETTINGS: [&str; 3] = ["ctxc.toml", ".gitignore", ".ignore"];

/// Which names of a folder count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Reach {
    /// Those of [`SETTINGS`].
    Settings,
    /// Every one.
    Every,
}

/// Folders that are listened to.
pub(super) type Folders = BTreeMap<PathBuf, Reach>;

/// How changes are heard of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Manner {
    /// The system tells.
    Told,
    /// Nobody tells.
    Polled,
}

/// Why somebody should go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Woken {
    /// Something changed, or may have.
    Changed,
    /// Whoever read our output has gone away.
    Unread,
}

/// What the threads that wait have to say.
#[derive(Debug)]
enum Heard {
    Paths(Vec<PathBuf>, Fate),
    /// Something got lost on the way.
    Anything,
    Unread,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    There,
    /// Removed or renamed: the system may listen no more to what is there now.
    Gone,
}

/// What a listener did about folders that are new to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Listening {
    /// There are none.
    Already,
    /// It listens from now on: what changed before is not heard of.
    Since,
    /// It cannot, for this reason: from now on nobody tells.
    Deaf(String),
}

/// A listener.
pub(super) struct Ears {
    watcher: Option<Box<dyn Watcher>>,
    folders: Folders,
    sender: Sender<Heard>,
    heard: Receiver<Heard>,
}

impl Ears {
    /// A listener that hears nothing yet; with the reason why the system does not tell, where it was to.
    pub(super) fn new(manner: Manner) -> (Self, Option<String>) {
        let (sender, heard) = channel();
        let mut ears = Self { watcher: None, folders: Folders::new(), sender, heard };
        let mut why = None;
        if manner == Manner::Told {
            let sender = ears.sender.clone();
            match RecommendedWatcher::new(move |event| tell(&sender, event), notify::Config::default()) {
                Ok(watcher) => ears.watcher = Some(Box::new(watcher)),
                Err(error) => why = Some(worded(&error)),
            }
        }
        (ears, why)
    }

    /// What says that nobody reads any more.
    pub(super) fn unread(&self) -> impl FnOnce() + Send + 'static {
        let sender = self.sender.clone();
        // At the end of the program nobody listens either.
        move || drop(sender.send(Heard::Unread))
    }

    /// Listens to these folders and no other. For one that is not there, to the nearest above it.
    pub(super) fn listen(&mut self, wanted: &Folders) -> Listening {
        let Some(watcher) = &mut self.watcher else { return Listening::Already };
        let mut folders = Folders::new();
        for (folder, reach) in wanted {
            let there = folder.ancestors().find(|folder| crate::base::fs::is_dir(folder)).unwrap_or(Path::new("/"));
            let reach = if there == folder { *reach } else { Reach::Every };
            let known = folders.entry(there.to_path_buf()).or_insert(reach);
            *known = reach.max(*known);
        }
        let mut fresh = Listening::Already;
        let mut failed = None;
        let mut paths = watcher.paths_mut();
        for folder in self.folders.keys().filter(|folder| !folders.contains_key(*folder)) {
            // The system has forgotten those that are gone.
            let _ = paths.remove(folder);
        }
        folders.retain(|folder, _| {
            if self.folders.contains_key(folder) {
                return true;
            }
            match paths.add(folder, RecursiveMode::NonRecursive) {
                Ok(()) => fresh = Listening::Since,
                Err(error) if is_exhausted(&error) => failed = Some(worded(&error)),
                // It went away this moment, or may not be read: then what is in it cannot be checked either.
                Err(_) => return false,
            }
            true
        });
        if let Err(error) = paths.commit() {
            failed = failed.or(Some(worded(&error)));
        }
        self.folders = folders;
        match failed {
            Some(why) => {
                self.watcher = None;
                Listening::Deaf(why)
            }
            None => fresh,
        }
    }

    /// Waits for a change, and for quiet after it.
    pub(super) fn wait(&mut self) -> Woken {
        loop {
            let heard = match self.watcher {
                Some(_) => self.heard.recv().map_err(|_| RecvTimeoutError::Disconnected),
                None => self.heard.recv_timeout(POLL),
            };
            match heard {
                Ok(Heard::Unread) => return Woken::Unread,
                Ok(heard) if self.takes(&heard) => break,
                Ok(_) => {}
                Err(_) => return Woken::Changed,
            }
        }
        let first = Instant::now();
        let mut last = first;
        while first.elapsed() < LONGEST {
            match self.heard.recv_timeout(QUIET.saturating_sub(last.elapsed())) {
                Ok(Heard::Unread) => return Woken::Unread,
                Ok(heard) if self.takes(&heard) => last = Instant::now(),
                Ok(_) => {}
                Err(_) => break,
            }
        }
        Woken::Changed
    }

    /// Whether what was heard may change what is found. Forgets folders that are not what they were.
    fn takes(&mut self, heard: &Heard) -> bool {
        let Heard::Paths(paths, fate) = heard else {
            self.folders.clear();
            return true;
        };
        let counts = paths.iter().any(|path| self.counts(path));
        if *fate == Fate::Gone {
            for path in paths {
                self.forget(path);
            }
        }
        counts
    }

    fn counts(&self, path: &Path) -> bool {
        // A folder that is listened to, or one above it.
        if self.beneath(path).next().is_some() {
            return true;
        }
        let is_settings = || path.file_name().is_some_and(|name| SETTINGS.iter().any(|known| name == *known));
        match path.parent().and_then(|parent| self.folders.get(parent)) {
            Some(Reach::Every) => true,
            Some(Reach::Settings) => is_settings(),
            None => false,
        }
    }

    /// Folders that lie in another, itself among them. Paths are sorted by their parts.
    fn beneath<'e>(&'e self, path: &'e Path) -> impl Iterator<Item = &'e PathBuf> {
        let from = self.folders.range::<Path, _>((Bound::Included(path), Bound::Unbounded));
        from.map(|(folder, _)| folder).take_while(move |folder| folder.starts_with(path))
    }

    fn forget(&mut self, path: &Path) {
        let gone: Vec<PathBuf> = self.beneath(path).cloned().collect();
        for folder in gone {
            self.folders.remove(&folder);
            if let Some(watcher) = &mut self.watcher {
                // One that was renamed would go on telling, under its old name.
                let _ = watcher.unwatch(&folder);
            }
        }
    }
}

fn tell(sender: &Sender<Heard>, event: notify::Result<Event>) {
    let heard = match event {
        Ok(event) if event.need_rescan() => Heard::Anything,
        Ok(event) => match event.kind {
            // Reading is no change, and we read ourselves.
            EventKind::Access(kind) if kind != AccessKind::Close(AccessMode::Write) => return,
            EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(_)) => Heard::Paths(event.paths, Fate::Gone),
            EventKind::Any | EventKind::Access(_) | EventKind::Create(_) | EventKind::Modify(_) | EventKind::Other => {
                Heard::Paths(event.paths, Fate::There)
            }
        },
        Err(_) => Heard::Anything,
    };
    // At the end of the program nobody listens any more.
    let _ = sender.send(heard);
}

/// Whether the system can listen to no more folders, rather than not to this one.
fn is_exhausted(error: &notify::Error) -> bool {
    match &error.kind {
        ErrorKind::MaxFilesWatch => true,
        ErrorKind::Io(error) => !matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::PermissionDenied),
        ErrorKind::Generic(_) | ErrorKind::PathNotFound | ErrorKind::WatchNotFound | ErrorKind::InvalidConfig(_) => false,
    }
}

fn worded(error: &notify::Error) -> String {
    match &error.kind {
        ErrorKind::MaxFilesWatch => "no more folders can be watched".to_owned(),
        ErrorKind::Io(error) => crate::rules::input::read_fault::reason(error),
        ErrorKind::Generic(_) | ErrorKind::PathNotFound | ErrorKind::WatchNotFound | ErrorKind::InvalidConfig(_) => {
            error.to_string()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Ears, Fate, Folders, Heard, Listening, Manner, Reach, Woken};
    use notify::{Config, ErrorKind, EventHandler, RecursiveMode, Watcher, WatcherKind};
    use std::path::Path;

    /// A system that has nothing left.
    #[derive(Debug)]
    struct Exhausted;

    impl Watcher for Exhausted {
        fn new<F: EventHandler>(_: F, _: Config) -> notify::Result<Self> {
            Ok(Self)
        }

        fn watch(&mut self, _: &Path, _: RecursiveMode) -> notify::Result<()> {
            Err(notify::Error::new(ErrorKind::MaxFilesWatch))
        }

        fn unwatch(&mut self, _: &Path) -> notify::Result<()> {
            Ok(())
        }

        fn kind() -> WatcherKind {
            WatcherKind::NullWatcher
        }
    }

    #[test]
    fn when_the_system_has_no_more_watches_time_wakes() {
        let (mut ears, _) = Ears::new(Manner::Polled);
        ears.watcher = Some(Box::new(Exhausted));
        let folder = tempfile::tempdir().unwrap();
        let wanted = Folders::from([(folder.path().to_path_buf(), Reach::Every)]);
        assert_eq!(ears.listen(&wanted), Listening::Deaf("no more folders can be watched".to_owned()));
        assert_eq!(ears.listen(&wanted), Listening::Already);
        assert_eq!(ears.wait(), Woken::Changed);
        ears.unread()();
        assert_eq!(ears.wait(), Woken::Unread);
    }

    #[test]
    fn above_the_project_only_its_settings_count() {
        let (mut ears, _) = Ears::new(Manner::Polled);
        let folders = [("/q", Reach::Settings), ("/q/p", Reach::Every), ("/q/p/t", Reach::Every)];
        ears.folders = folders.into_iter().map(|(path, reach)| (path.into(), reach)).collect();
        let counts = |path: &str| ears.counts(Path::new(path));
        assert!(["/q/p/a.xml", "/q/p", "/q", "/q/ctxc.toml", "/q/.gitignore"].into_iter().all(counts));
        assert!(!["/q/notes", "/q/pp", "/q/p/other/a.xml", "/q/p/t/u/a.xml"].into_iter().any(counts));
    }

    #[test]
    fn a_folder_that_went_is_forgotten_with_those_in_it() {
        let (mut ears, _) = Ears::new(Manner::Polled);
        ears.folders = ["/p", "/p/t", "/p/t/u", "/p/tt"].map(|path| (path.into(), Reach::Every)).into();
        assert!(ears.takes(&Heard::Paths(vec!["/p/t/a.xml".into()], Fate::Gone)));
        assert_eq!(ears.folders.len(), 4);
        assert!(ears.takes(&Heard::Paths(vec!["/p/t".into()], Fate::There)));
        assert_eq!(ears.folders.len(), 4);
        assert!(ears.takes(&Heard::Paths(vec!["/p/t".into()], Fate::Gone)));
        assert_eq!(ears.folders.keys().map(|path| path.to_str().unwrap()).collect::<Vec<_>>(), ["/p", "/p/tt"]);
        assert!(ears.takes(&Heard::Anything) && ears.folders.is_empty());
    }
}
