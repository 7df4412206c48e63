//! No file names a folder of one machine, or the host of a package registry: a clone must behave
//! the same everywhere, also behind a mirror.

use super::source::{self, SourceText};
use pretty_assertions::assert_eq;

/// Absolute folders of a single machine. Split, so that this file does not contain them.
const MACHINE_FOLDERS: &[&str] = &[
    concat!("/ho", "me/"),
    concat!("/ro", "ot/"),
    concat!("/tm", "p/"),
    concat!("/wo", "rk/"),
    concat!("/Us", "ers/"),
];
/// Hosts of package registries.
const REGISTRY_HOSTS: &[&str] = &[
    concat!("crates", ".io"),
    concat!("registry.npm", "js"),
    concat!("npmjs", ".org"),
    concat!("py", "pi.org"),
    concat!("arti", "factory"),
];

/// Lock files are written by tools, which name their index in their own way.
const LOCK_FILES: &[&str] = &["Cargo.lock"];

/// Returns true if a path starts at `at`: the character before it does not make it a part of a
/// longer, relative path.
fn starts_a_path(line: &str, at: usize) -> bool {
    let before = line.get(..at).and_then(|head| head.chars().next_back());
    before.is_none_or(|c| {
        !(c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '/' | '}' | '~' | '*' | '>'))
    })
}

fn find_faults(sources: &[SourceText]) -> Vec<String> {
    let mut faults = Vec::new();
    for source in sources
        .iter()
        .filter(|source| !LOCK_FILES.iter().any(|name| source.path.ends_with(name)))
    {
        for (number, line) in source.text.lines().enumerate() {
            let folder = MACHINE_FOLDERS.iter().find(|folder| {
                line.match_indices(**folder)
                    .any(|(at, _)| starts_a_path(line, at))
            });
            let host = REGISTRY_HOSTS.iter().find(|host| line.contains(**host));
            faults.extend(
                folder
                    .or(host)
                    .map(|found| format!("{}:{}: names {found}", source.path, number + 1)),
            );
        }
    }
    faults
}

#[test]
fn no_file_names_a_place_of_one_machine() {
    assert_eq!(find_faults(&source::all_sources()), Vec::<String>::new());
}

#[test]
fn a_place_of_one_machine_is_found() {
    let bad = |text: &str| find_faults(&[SourceText::new("README.md", text)]);
    let folder = |at: usize| MACHINE_FOLDERS[at];
    assert_eq!(
        bad(&format!("see\n`{}me/notes`", folder(0))),
        [format!("README.md:2: names {}", folder(0))]
    );
    assert_eq!(bad(&format!("path=\"{}x\"", folder(2))).len(), 1);
    assert_eq!(
        bad(&format!("https://{}/crates/serde", REGISTRY_HOSTS[0])).len(),
        1
    );
    assert_eq!(bad(&format!("src{0}a and ..{0}b", folder(3))), [""; 0]);
}
