//! Changed files are noticed, and only they are read.

use super::folder::Folder;
use pretty_assertions::assert_eq;
use std::time::{Duration, SystemTime};

/// Gives a file a time long past, as files have that are not being edited.
fn settle(folder: &Folder, name: &str, ago: u64) {
    let file = std::fs::File::options()
        .write(true)
        .open(folder.path(name))
        .unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(ago))
        .unwrap();
}

#[test]
fn edits_additions_and_removals_are_seen() {
    let folder = Folder::of(&[("a.md", "zebra"), ("b.md", "lion"), ("c/d.md", "tiger")]);
    assert_eq!(folder.ids("zebra"), ["a.md"]);
    // Of the same length, within the same tick of the clock.
    folder.put("a.md", "lions");
    assert_eq!(folder.ids("zebra"), [""; 0]);
    assert_eq!(
        folder.ids("lion"),
        ["b.md", "a.md"],
        "of the shorter passage it says more"
    );
    folder.put("e.md", "zebra again");
    assert_eq!(folder.ids("zebra"), ["e.md"]);
    folder.remove("b.md");
    assert_eq!(folder.ids("lion"), ["a.md"]);
    std::fs::rename(folder.path("c/d.md"), folder.path("f.md")).unwrap();
    assert_eq!(folder.ids("tiger"), ["f.md"]);
    folder.put("f.md", b"tiger\0");
    assert_eq!(folder.ids("tiger"), [""; 0]);
    folder.put("f.md", "tiger");
    assert_eq!(folder.ids("tiger"), ["f.md"]);
    assert_eq!(folder.index().load_state().unwrap().files, 3);
}

#[test]
fn what_did_not_change_is_not_written() {
    let folder = Folder::of(&[("a.md", "zebra"), ("b.md", "lion")]);
    let database = folder.kept("search.db");
    assert_eq!(folder.ids("zebra"), ["a.md"]);
    std::thread::sleep(Duration::from_millis(2_100));
    // Recent stamps are trusted once they are old.
    assert_eq!(folder.ids("zebra"), ["a.md"]);
    let before = std::fs::read(&database).unwrap();
    assert_eq!(folder.ids("lion"), ["b.md"]);
    assert!(
        before == std::fs::read(&database).unwrap(),
        "nothing was written"
    );
    // Another time and the same bytes: the stamp alone is noted.
    settle(&folder, "a.md", 100);
    assert_eq!(folder.ids("zebra"), ["a.md"]);
    assert_eq!(folder.ids("lion"), ["b.md"]);
}

#[test]
fn a_rule_that_hides_a_file_takes_it_out() {
    let folder = Folder::of(&[("a.md", "zebra"), ("b.md", "zebra")]);
    assert_eq!(folder.ids("zebra"), ["a.md", "b.md"]);
    folder.put(".gitignore", "b.md\n");
    assert_eq!(folder.ids("zebra"), ["a.md"]);
    folder.remove(".gitignore");
    assert_eq!(folder.ids("zebra"), ["a.md", "b.md"]);
}

#[test]
fn one_index_answers_from_one_moment() {
    let folder = Folder::of(&[("a.md", "zebra")]);
    let index = folder.index();
    assert_eq!(super::folder::ids(&index, "zebra"), ["a.md"]);
    folder.put("b.md", "zebra");
    assert_eq!(
        super::folder::ids(&index, "zebra"),
        ["a.md"],
        "a context is of one moment"
    );
    assert_eq!(folder.ids("zebra"), ["a.md", "b.md"]);
}

#[test]
fn nothing_is_touched_before_it_is_asked() {
    let folder = Folder::of(&[("a.md", "zebra")]);
    let index = folder.index();
    assert!(!folder.kept("").exists());
    assert_eq!(index.unstored_reason(), None);
    index.find_passages(None, "zebra", 1).unwrap();
    let ignored = std::fs::read_to_string(folder.kept(".gitignore")).unwrap();
    assert!(
        ignored.contains("\n*\n"),
        "kept out of repositories: {ignored}"
    );
}
