//! A room of more than 25 files, not counting its sub-rooms, is several concepts. `rules/` is
//! exempt: there one file is one diagnostic.

use super::source::{self, SourceText};
use pretty_assertions::assert_eq;
use std::collections::BTreeMap;

const MAX_FILES: usize = 25;

fn find_faults(sources: &[SourceText]) -> Vec<String> {
    let mut rooms: BTreeMap<&str, usize> = BTreeMap::new();
    for (room, _) in sources
        .iter()
        .filter_map(|source| source.path.rsplit_once('/'))
    {
        *rooms.entry(room).or_default() += 1;
    }
    let large = rooms
        .iter()
        .filter(|(room, count)| !room.starts_with("src/rules/") && **count > MAX_FILES);
    large
        .map(|(room, count)| format!("{room}: {count} files of {MAX_FILES}"))
        .collect()
}

#[test]
fn rooms_hold_few_files() {
    assert_eq!(
        find_faults(&source::rust_sources(&["src/"])),
        Vec::<String>::new()
    );
}

#[test]
fn a_large_room_is_found() {
    let room = |folder: &str, count: usize| {
        let sources: Vec<SourceText> = (0..count)
            .map(|number| SourceText::new(&format!("{folder}/f{number}.rs"), ""))
            .collect();
        find_faults(&sources)
    };
    assert_eq!(room("src/base", 25), [""; 0]);
    assert_eq!(room("src/base", 26), ["src/base: 26 files of 25"]);
    assert_eq!(room("src/rules/structure", 30), [""; 0]);
}
