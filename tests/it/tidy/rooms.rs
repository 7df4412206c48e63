//! A room of more than 25 files, not counting its sub-rooms, is several concepts. `rules/` is
//! exempt: there one file is one diagnostic.

use super::source::{self, Source};
use pretty_assertions::assert_eq;
use std::collections::BTreeMap;

const FILES: usize = 25;

fn faults(sources: &[Source]) -> Vec<String> {
    let mut rooms: BTreeMap<&str, usize> = BTreeMap::new();
    for (room, _) in sources
        .iter()
        .filter_map(|source| source.path.rsplit_once('/'))
    {
        *rooms.entry(room).or_default() += 1;
    }
    let large = rooms
        .iter()
        .filter(|(room, count)| !room.starts_with("src/rules/") && **count > FILES);
    large
        .map(|(room, count)| format!("{room}: {count} files of {FILES}"))
        .collect()
}

#[test]
fn rooms_hold_few_files() {
    assert_eq!(faults(&source::rust(&["src/"])), Vec::<String>::new());
}

#[test]
fn a_large_room_is_found() {
    let room = |folder: &str, count: usize| {
        let sources: Vec<Source> = (0..count)
            .map(|number| Source::new(&format!("{folder}/f{number}.rs"), ""))
            .collect();
        faults(&sources)
    };
    assert_eq!(room("src/base", 25), [""; 0]);
    assert_eq!(room("src/base", 26), ["src/base: 26 files of 25"]);
    assert_eq!(room("src/rules/structure", 30), [""; 0]);
}
