//! A damaged index, one of another version or a file in its place changes no answer.

use super::folder::{Folder, ids};
use pretty_assertions::assert_eq;

const FILES: &[(&str, &str)] = &[
    ("a.md", "zebra and lion"),
    ("b.md", "lion"),
    ("c.md", "neither"),
    ("d.md", "nor"),
    ("e.md", "this"),
];

fn database(folder: &Folder) -> std::path::PathBuf {
    folder.kept("search.db")
}

/// The answers, and the error if they cannot be stored.
fn answers(folder: &Folder) -> (Vec<String>, Option<String>) {
    let index = folder.index();
    (ids(&index, "zebra lion"), index.unstored_reason())
}

#[test]
fn a_damaged_index_is_made_again() {
    let folder = Folder::of(FILES);
    let expected = (vec!["a.md".to_owned(), "b.md".to_owned()], None);
    assert_eq!(answers(&folder), expected);
    let sound = std::fs::read(database(&folder)).unwrap();
    let part = |from: usize, to: usize| {
        let mut bytes = sound.clone();
        bytes[from..to].fill(0xa5);
        bytes
    };
    let len = sound.len();
    let damaged = [
        Vec::new(),
        b"no database".to_vec(),
        sound[..len / 2].to_vec(),
        sound[..len - 1].to_vec(),
        part(0, 16),
        part(16, 100),
        part(100, 4096),
        part(4096, 8192),
        part(len / 2, len),
        part(4096, len),
    ];
    for (at, bytes) in damaged.iter().enumerate() {
        std::fs::write(database(&folder), bytes).unwrap();
        assert_eq!(answers(&folder), expected, "damage {at}");
        // The file written in its place is sound.
        folder.put("a.md", "zebra, and a lion");
        assert_eq!(answers(&folder), expected, "after damage {at}");
        folder.put("a.md", "zebra and lion");
        assert_eq!(answers(&folder), expected, "and again after damage {at}");
    }
}

#[test]
fn every_page_may_be_damaged() {
    let folder = Folder::of(FILES);
    let expected = answers(&folder);
    let sound = std::fs::read(database(&folder)).unwrap();
    for start in (0..sound.len()).step_by(4096) {
        let mut bytes = sound.clone();
        // The head of a page defines how it is read.
        for byte in &mut bytes[start + usize::from(start == 0) * 100..][..8] {
            *byte ^= 0xff;
        }
        std::fs::write(database(&folder), bytes).unwrap();
        assert_eq!(answers(&folder), expected, "page {}", start / 4096);
    }
}

#[test]
fn an_index_of_another_version_is_made_again() {
    let folder = Folder::of(FILES);
    let expected = answers(&folder);
    let mut bytes = std::fs::read(database(&folder)).unwrap();
    // `user_version` lies at byte 60 of a database, `application_id` at 68.
    bytes[63] += 1;
    std::fs::write(database(&folder), &bytes).unwrap();
    assert_eq!(answers(&folder), expected);
    let mut bytes = std::fs::read(database(&folder)).unwrap();
    assert_eq!(bytes[63], 5, "it is of this version again");
    bytes[68] = 0;
    std::fs::write(database(&folder), &bytes).unwrap();
    assert_eq!(answers(&folder), expected);
}

#[test]
fn an_index_with_tables_of_somebody_else_is_made_again() {
    let folder = Folder::of(FILES);
    let expected = answers(&folder);
    let sound = std::fs::read(database(&folder)).unwrap();
    // The name of a table stands in the schema as it was written: another one of that length is
    // another schema.
    let at = sound
        .windows(11)
        .position(|window| window == b"passages_of")
        .unwrap();
    let mut bytes = sound;
    bytes[at..at + 11].copy_from_slice(b"passages_on");
    std::fs::write(database(&folder), &bytes).unwrap();
    assert_eq!(answers(&folder), expected);
    let made = std::fs::read(database(&folder)).unwrap();
    assert!(!made.windows(11).any(|window| window == b"passages_on"));
}

#[test]
fn a_journal_that_a_crash_left_is_not_played_into_a_new_index() {
    let folder = Folder::of(FILES);
    let expected = answers(&folder);
    std::fs::write(
        folder.kept("search.db-journal"),
        b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7 and nothing sensible",
    )
    .unwrap();
    assert_eq!(answers(&folder), expected);
    std::fs::write(folder.kept("search.db-journal"), vec![0xa5; 8192]).unwrap();
    std::fs::write(database(&folder), "broken").unwrap();
    assert_eq!(answers(&folder), expected);
}

#[test]
fn a_lock_that_somebody_holds_ends_in_memory_and_not_in_waiting() {
    let folder = Folder::of(FILES);
    let expected = answers(&folder).0;
    let lock = std::fs::File::options()
        .write(true)
        .open(folder.kept("search.lock"))
        .unwrap();
    lock.lock().unwrap();
    folder.put("z.md", "a zebra and a lion at last");
    let began = std::time::Instant::now();
    let (found, unkept) = answers(&folder);
    assert_eq!(
        found[..2],
        expected[..1]
            .iter()
            .cloned()
            .chain(["z.md".to_owned()])
            .collect::<Vec<_>>()[..]
    );
    assert_eq!(
        unkept.as_deref(),
        Some("another ctxc is making the index at this moment")
    );
    assert!(began.elapsed() < std::time::Duration::from_secs(20));
    lock.unlock().unwrap();
    assert_eq!(
        answers(&folder),
        (found, None),
        "the same from memory and from disk"
    );
}

#[test]
fn a_folder_in_the_way_is_no_reason_to_fail() {
    let folder = Folder::of(FILES);
    std::fs::write(folder.kept(""), "a file where the folder should be").unwrap();
    let (found, unkept) = answers(&folder);
    assert_eq!(found, ["a.md", "b.md"]);
    assert!(unkept.is_some_and(|why| why.starts_with("the folder for caches cannot be written: ")));
    let folder = Folder::of(FILES);
    std::fs::create_dir_all(database(&folder)).unwrap();
    let (found, unkept) = answers(&folder);
    assert_eq!(found, ["a.md", "b.md"]);
    assert!(unkept.is_some());
}
