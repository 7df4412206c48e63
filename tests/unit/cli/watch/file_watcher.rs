//! Tests of the private items of `src/cli/watch/file_watcher.rs`.

use super::{FileWatcher, WakeReason, WatchMode, WatchOutcome, WatchedFolders, WatchedNames};
use notify_debouncer_full::DebouncedEvent;
use notify_debouncer_full::notify::event::{CreateKind, Event, EventKind, RemoveKind};
use std::path::Path;
use std::time::Instant;

fn watcher(folders: &[(&str, WatchedNames)]) -> FileWatcher {
    let (mut watcher, _) = FileWatcher::new(WatchMode::Poll);
    watcher.folders = folders
        .iter()
        .map(|(path, reach)| (path.into(), *reach))
        .collect();
    watcher
}

fn event(kind: EventKind, path: &str) -> DebouncedEvent {
    DebouncedEvent::new(Event::new(kind).add_path(path.into()), Instant::now())
}

#[test]
fn where_the_system_reports_nothing_time_wakes() {
    let (mut watcher, why) = FileWatcher::new(WatchMode::Poll);
    let folder = tempfile::tempdir().unwrap();
    let wanted = WatchedFolders::from([(folder.path().to_path_buf(), WatchedNames::Every)]);
    assert_eq!(
        (watcher.watch_folders(&wanted), why),
        (WatchOutcome::Already, None)
    );
    assert_eq!(watcher.wait_for_change(), WakeReason::Changed);
    watcher.closed_notifier()();
    assert_eq!(watcher.wait_for_change(), WakeReason::OutputClosed);
}

#[test]
fn above_the_project_only_its_settings_count() {
    let watcher = watcher(&[
        ("/q", WatchedNames::Settings),
        ("/q/p", WatchedNames::Every),
        ("/q/p/t", WatchedNames::Every),
    ]);
    let counts = |path: &str| watcher.is_watched(Path::new(path));
    assert!(
        ["/q/p/a.xml", "/q/p", "/q", "/q/ctxc.toml", "/q/.gitignore"]
            .into_iter()
            .all(counts)
    );
    assert!(
        !["/q/notes", "/q/pp", "/q/p/other/a.xml", "/q/p/t/u/a.xml"]
            .into_iter()
            .any(counts)
    );
}

#[test]
fn a_folder_that_went_is_forgotten_with_those_in_it() {
    let mut watcher =
        watcher(&["/p", "/p/t", "/p/t/u", "/p/tt"].map(|path| (path, WatchedNames::Every)));
    assert!(watcher.is_relevant(&Ok(vec![event(
        EventKind::Create(CreateKind::Folder),
        "/p/t"
    )])));
    assert_eq!(watcher.folders.len(), 4);
    assert!(watcher.is_relevant(&Ok(vec![event(
        EventKind::Remove(RemoveKind::Folder),
        "/p/t"
    )])));
    assert_eq!(
        watcher
            .folders
            .keys()
            .map(|path| path.to_str().unwrap())
            .collect::<Vec<_>>(),
        ["/p", "/p/tt"]
    );
    assert!(watcher.is_relevant(&Err(Vec::new())) && watcher.folders.is_empty());
}
