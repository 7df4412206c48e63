//! Tests of the private items of `src/registry/workspace/walk.rs`.

use super::{FileVisitor, FoundFile, SelectedBy, WalkPlan};
use crate::project::config::Templates;
use crate::project::glob::Globs;
use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Mutex;

struct Names<'a>(&'a Mutex<Vec<(String, SelectedBy)>>);

impl FileVisitor for Names<'_> {
    fn visit_file(&mut self, found: &FoundFile<'_>) {
        self.0
            .lock()
            .unwrap()
            .push((found.name.to_owned(), found.by));
    }

    fn report_unreadable(&mut self, name: &str, error: std::io::Error) {
        panic!("{name}: {error}");
    }
}

fn tree(files: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for name in files {
        let path = folder.path().join(name);
        crate::base::fs::create_dir_all(path.parent().unwrap()).unwrap();
        crate::base::fs::write_cache(
            &path,
            if name.ends_with(".gitignore") {
                b"drafts/\n"
            } else {
                b""
            },
        )
        .unwrap();
    }
    folder
}

fn names(plan: &WalkPlan, threads: usize) -> BTreeSet<String> {
    let found = Mutex::new(Vec::new());
    plan.run(NonZeroUsize::new(threads).unwrap(), || Names(&found));
    let found = found.into_inner().unwrap();
    let names: BTreeSet<String> = found.iter().map(|(name, _)| name.clone()).collect();
    assert_eq!(names.len(), found.len(), "each file once");
    names
}

fn plan(root: &Path, given: &[&str], include: &[&str], exclude: &[&str]) -> WalkPlan {
    let globs = |patterns: &[&str]| {
        let mut globs = Globs::default();
        for pattern in patterns {
            globs.add_pattern(pattern).unwrap();
        }
        globs
    };
    let given: Vec<_> = given.iter().map(|path| root.join(path)).collect();
    let include = (!include.is_empty()).then(|| globs(include));
    WalkPlan::new(
        root,
        &given,
        &Templates {
            include,
            exclude: globs(exclude),
        },
    )
    .unwrap()
}

#[test]
fn files_are_found_by_name_and_ignore_rules() {
    let files = [
        "templates/a.xml",
        "templates/b.txt",
        "templates/x/c.xml",
        "templates/drafts/d.xml",
        ".gitignore",
        "e.xml",
    ];
    let folder = tree(&files);
    let root = folder.path();
    let set = |names: &[&str]| {
        names
            .iter()
            .map(|name| (*name).to_owned())
            .collect::<BTreeSet<_>>()
    };
    for threads in [1, 3] {
        assert_eq!(
            names(&plan(root, &[], &[], &[]), threads),
            set(&["templates/a.xml", "templates/x/c.xml"])
        );
        assert_eq!(
            names(&plan(root, &["."], &[], &[]), threads),
            set(&["e.xml", "templates/a.xml", "templates/x/c.xml"])
        );
        assert_eq!(
            names(&plan(root, &[], &[], &["templates/x/**"]), threads),
            set(&["templates/a.xml"])
        );
        assert_eq!(
            names(&plan(root, &[], &["*.xml", "templates/x"], &[]), threads),
            set(&["e.xml", "templates/x/c.xml"])
        );
        assert_eq!(
            names(&plan(root, &[], &["nothing/**"], &[]), threads),
            set(&[])
        );
    }
}

#[test]
fn named_files_are_always_taken() {
    let folder = tree(&["drafts/d.xml", ".gitignore", "b.txt"]);
    let given = ["drafts/d.xml", "b.txt", "./drafts/../b.txt"];
    let plan = plan(folder.path(), &given, &[], &["**"]);
    assert_eq!(
        names(&plan, 2).into_iter().collect::<Vec<_>>(),
        ["b.txt", "drafts/d.xml"]
    );
    let missing = folder.path().join("none.xml");
    let error = WalkPlan::new(
        folder.path(),
        std::slice::from_ref(&missing),
        &Templates::default(),
    )
    .unwrap_err();
    assert_eq!(error.0, missing);
}
