//! Path patterns.

use ctxc::internals::project::glob::{GlobError, Globs};

fn globs(pattern: &str) -> Globs {
    let mut globs = Globs::default();
    globs.add_pattern(pattern).unwrap();
    globs
}

#[test]
fn patterns_match_paths_and_what_lies_under_them() {
    for (pattern, path, expected) in [
        ("templates/a.xml", "templates/a.xml", true),
        ("templates/*.xml", "templates/a.xml", true),
        ("templates/*.xml", "templates/b/a.xml", false),
        ("templates/**/*.xml", "templates/a.xml", true),
        ("templates/**/*.xml", "templates/b/c/a.xml", true),
        ("templates/**/*.xml", "other/a.xml", false),
        ("**/drafts/**", "a/b/drafts/c/d.xml", true),
        ("**/drafts", "drafts/d.xml", true),
        ("**/drafts", "a/drafts.xml", false),
        ("drafts", "drafts/d.xml", true),
        ("drafts/", "drafts/d.xml", true),
        ("./drafts", "drafts/d.xml", true),
        ("drafts", "a/drafts/d.xml", false),
        ("draft", "drafts/d.xml", false),
        ("**", "a/b", true),
        ("*", "a/b", true),
        ("?.xml", "a.xml", true),
        ("?.xml", "ab.xml", false),
        ("a?b", "a/b", false),
        ("[a-c]x", "bx", true),
        ("[!a-c]x", "bx", false),
        ("[!a-c]x", "dx", true),
        ("{a,b}/*.{xml,toml}", "b/c.toml", true),
        ("{a,b}/*.{xml,toml}", "c/c.toml", false),
        ("a{,-old}/x", "a-old/x", true),
        ("a/**/b/*c", "a/b/b/xc", true),
        ("a/**/b/**/c.xml", "a/x/b/y/b/c.xml", true),
        ("**/*a*b*c", "x/aabbc", true),
        ("**/*a*b*c", "x/aabb", false),
        ("über/*", "über/ä.xml", true),
    ] {
        assert_eq!(
            globs(pattern).matches(path),
            expected,
            "{pattern} against {path}"
        );
    }
}

#[test]
fn names_match_as_a_whole() {
    assert!(globs("triage-*").matches_name("triage-mail"));
    assert!(!globs("triage").matches_name("triage/mail"));
    assert!(!globs("triage").matches_name("triages"));
}

#[test]
fn what_cannot_be_read_is_refused() {
    let add = |pattern: &str| Globs::default().add_pattern(pattern);
    assert_eq!(add(""), Err(GlobError::Empty));
    assert_eq!(add("./"), Err(GlobError::Empty));
    assert_eq!(add("/"), Err(GlobError::Outside));
    assert_eq!(add("/srv/x"), Err(GlobError::Outside));
    assert_eq!(add("a/../../x"), Err(GlobError::Outside));
    for broken in ["a[b", "a{b,c", "a}b"] {
        assert!(matches!(add(broken), Err(GlobError::Syntax(_))), "{broken}");
    }
    assert_eq!(add(&"a".repeat(1001)), Err(GlobError::Long));
}

#[test]
fn no_pattern_takes_long() {
    let evil = globs(&format!("{}b", "a*".repeat(400)));
    let started = std::time::Instant::now();
    assert!(!evil.matches(&"a".repeat(4000)));
    let evil = globs(&format!("{}b", "**/a*/".repeat(150)));
    assert!(!evil.matches(&"a/".repeat(2000)));
    assert!(
        started.elapsed().as_millis() < 2000,
        "took {:?}",
        started.elapsed()
    );
}
