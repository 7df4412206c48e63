//! Packages in the cache folder.

use super::*;

fn files(text: &str) -> Vec<PackedFile> {
    ["ctxc.toml", "templates/a/b.xml"]
        .map(|path| PackedFile {
            path: path.to_owned(),
            bytes: format!("{path}{text}").into_bytes(),
        })
        .to_vec()
}

fn tree_of(files: &[PackedFile]) -> String {
    let digests = files
        .iter()
        .map(|file| (file.path.clone(), sha256_hex(&file.bytes)))
        .collect();
    digest_of(&digests)
}

#[test]
fn a_package_is_stored_read_only_and_mended_when_damaged() {
    let folder = fs::temp_folder().unwrap();
    let (files, store) = (files(""), folder.path().join("packages"));
    let tree = tree_of(&files);
    assert_eq!(read_package(&store, &tree), None);
    install_package(&store, &tree, &files).unwrap();
    assert_eq!(read_package(&store, &tree).as_ref(), Some(&files));
    let file = store.join(&tree).join("templates/a/b.xml");
    assert!(fs::is_read_only(&file));

    fs::remove_file(&file).unwrap();
    assert_eq!(read_package(&store, &tree), None);
    install_package(&store, &tree, &files).unwrap();
    fs::write_temp_file(&store.join(&tree).join("more.xml"), b"", false).unwrap();
    assert_eq!(read_package(&store, &tree), None);
    install_package(&store, &tree, &files).unwrap();
    assert_eq!(read_package(&store, &tree), Some(files));
    assert_eq!(fs::list_names(&store), [tree]);
}

#[test]
fn writers_at_once_leave_one_whole_package() {
    let folder = fs::temp_folder().unwrap();
    let (files, store) = (files(""), folder.path().join("packages"));
    let tree = tree_of(&files);
    for _ in 0..20 {
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| install_package(&store, &tree, &files).unwrap());
            }
            // From the moment that it is there, it is there whole.
            scope.spawn(|| {
                let mut is_there = false;
                for _ in 0..200 {
                    let is_whole = read_package(&store, &tree).is_some();
                    assert!(is_whole || !is_there);
                    is_there |= is_whole;
                }
            });
        });
        assert_eq!(fs::list_names(&store), [tree.as_str()]);
        fs::remove_tree(&store).unwrap();
    }
}

#[test]
fn tags_are_found_by_their_source() {
    let folder = fs::temp_folder().unwrap();
    let source = PackageSource::parse("git+https://example.org/a.git@v1").unwrap();
    let other = PackageSource::parse("git+https://example.org/a.git@v2").unwrap();
    let tag = StoredTag {
        commit: "1".repeat(40),
        tree: "2".repeat(64),
    };
    write_tag(folder.path(), &source, &tag).unwrap();
    assert_eq!(read_tag(folder.path(), &source), Some(tag));
    assert_eq!(read_tag(folder.path(), &other), None);
}
