//! Tests of the private items of `src/base/folders.rs`.

use super::project_cache;

#[test]
fn projects_of_one_name_have_folders_of_their_own() {
    let one = tempfile::tempdir().unwrap();
    let two = tempfile::tempdir().unwrap();
    let caches = tempfile::tempdir().unwrap();
    let of = |folder: &tempfile::TempDir, name: &str| {
        let project = folder.path().join(name);
        std::fs::create_dir_all(&project).unwrap();
        project_cache(Some(caches.path()), &project).unwrap()
    };
    let first = of(&one, "my agents");
    let second = of(&two, "my agents");
    assert_ne!(first, second);
    assert_eq!(first, of(&one, "./my agents"));
    let name = first.strip_prefix(caches.path()).unwrap().to_str().unwrap();
    assert!(
        name.starts_with("my_agents-") && name.len() == "my_agents-".len() + 16,
        "{name}"
    );
    assert_eq!(
        project_cache(Some(caches.path()), &one.path().join("nowhere")),
        None
    );
}
