//! Changes of `[dependencies]` in texts of authors.

use super::*;

fn source(text: &str) -> PackageSource {
    PackageSource::parse(text).unwrap()
}

#[test]
fn a_package_gets_a_line_behind_the_others() {
    let text = "# ours\nedition = \"2026\"\n\n[dependencies] # shared\n\"acme/a\" = \"path:a\" # a\n\n# tail\n[lints]\nall = \"warning\"\n";
    assert_eq!(
        set_dependency(text, "acme/b", &source("path:b")).unwrap(),
        text.replace("# a\n", "# a\n\"acme/b\" = \"path:b\"\n")
    );
    let bare = "[dependencies]\n\n[lints]\n";
    assert_eq!(
        set_dependency(bare, "acme/b", &source("path:b")).unwrap(),
        "[dependencies]\n\"acme/b\" = \"path:b\"\n\n[lints]\n"
    );
    for (text, gap) in [
        ("", ""),
        ("edition = \"2026\"", "\n\n"),
        ("edition = \"2026\"\n", "\n"),
    ] {
        assert_eq!(
            set_dependency(text, "acme/b", &source("path:b")).unwrap(),
            format!("{text}{gap}[dependencies]\n\"acme/b\" = \"path:b\"\n")
        );
    }
    let open = "[dependencies]\n\"acme/a\" = \"path:a\"";
    assert_eq!(
        set_dependency(open, "acme/b", &source("path:b")).unwrap(),
        format!("{open}\n\"acme/b\" = \"path:b\"\n")
    );
}

#[test]
fn a_source_changes_in_its_place() {
    let new = source("git+https://example.org/a.git@v2.0.0");
    for (text, old) in [
        (
            "[dependencies]\n  'acme/a'   =  'path:a' # why\n",
            "'path:a'",
        ),
        (
            "[dependencies]\n\"acme/a\" = { source = \"path:a\", trust = \"outside\" } # why\n",
            "\"path:a\"",
        ),
        ("dependencies.\"acme/a\" = \"path:a\"\n", "\"path:a\""),
        ("dependencies = { \"acme/a\" = \"path:a\" }\n", "\"path:a\""),
        (
            "[dependencies.\"acme/a\"]\ntrust = \"outside\"\nsource = \"path:a\" # why\n",
            "\"path:a\"",
        ),
    ] {
        assert_eq!(
            set_dependency(text, "acme/a", &new).unwrap(),
            text.replace(old, &format!("\"{new}\""))
        );
    }
}

#[test]
fn a_package_goes_with_its_line_alone() {
    let text = "[dependencies]\n# first\n\"acme/a\" = \"path:a\" # a\n\"acme/b\" = { source = \"path:b\", trust = \"outside\" }\n[lints]\nall = \"warning\"\n";
    assert_eq!(
        remove_dependency(text, "acme/a").unwrap(),
        text.replace("\"acme/a\" = \"path:a\" # a\n", "")
    );
    let without = remove_dependency(text, "acme/b").unwrap();
    assert_eq!(
        without,
        text.replace(
            "\"acme/b\" = { source = \"path:b\", trust = \"outside\" }\n",
            ""
        )
    );
    let own = "edition = \"2026\"\n\n[dependencies.\"acme/a\"]\nsource = \"path:a\"\ntrust = \"author\"\n\n[lints]\nall = \"warning\"\n";
    assert_eq!(
        remove_dependency(own, "acme/a").unwrap(),
        "edition = \"2026\"\n\n[lints]\nall = \"warning\"\n"
    );
    let comment = own.replace("[lints]", "# ours\n[lints]");
    assert_eq!(
        remove_dependency(&comment, "acme/a").unwrap(),
        "edition = \"2026\"\n\n# ours\n[lints]\nall = \"warning\"\n"
    );
    assert_eq!(remove_dependency(text, "acme/c"), None);
}

#[test]
fn a_form_without_a_place_is_left_to_its_author() {
    let inline =
        "dependencies = { \"acme/a\" = \"path:a\", \"acme/b\" = \"path:b\" }\nedition = \"2026\"\n";
    assert_eq!(set_dependency(inline, "acme/c", &source("path:c")), None);
    assert_eq!(remove_dependency(inline, "acme/a"), None);
    assert_eq!(
        set_dependency("dependencies = 1\n", "acme/c", &source("path:c")),
        None
    );
    // A text that only looks like a header.
    let quoted = "about = '''\n[dependencies]\n'''\ndependencies.\"acme/a\" = \"path:a\"\n";
    assert_eq!(
        set_dependency(quoted, "acme/c", &source("path:c")).unwrap(),
        format!("{quoted}dependencies.\"acme/c\" = \"path:c\"\n")
    );
}
