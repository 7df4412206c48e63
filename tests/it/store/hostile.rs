//! Queries and files of users with any content.

use super::folder::Folder;
use pretty_assertions::assert_eq;
use proptest::prelude::*;

#[test]
fn the_syntax_of_queries_means_nothing() {
    let folder = Folder::of(&[
        ("a.md", "zebra NEAR lion OR text AND path"),
        ("b.md", "quoted ' and \" signs"),
        ("c.md", "rest"),
    ]);
    let index = folder.index();
    let hostile = [
        "zebra\" OR \"lion",
        "\"",
        "\"\"\"",
        "'; DROP TABLE files; --",
        "text:zebra",
        "NEAR(zebra lion, 2)",
        "zebra*",
        "^zebra",
        "zebra AND",
        "NOT zebra",
        "{path text}: zebra",
        "- zebra +",
        "(((",
        "\0zebra\0",
        "🦀 zebra 🦀🦀",
        "\u{202e}zebra\u{feff}",
        "zebra\r\n\t\u{b}\u{c}",
        "%_\\",
        "?1 :x $y @z",
        "",
        " ",
        "\u{0}",
        "é̶̢͍̀ z̸",
    ];
    for query in hostile {
        let found = index
            .find_passages(None, query, 8)
            .unwrap_or_else(|error| panic!("{query:?}: {error}"));
        let holds = query.contains("zebra");
        assert_eq!(
            found.first().map(|found| &*found.id),
            holds.then_some("a.md"),
            "{query:?}"
        );
    }
    assert_eq!(
        index.load_state().unwrap().unkept,
        None,
        "none of it damaged anything"
    );
}

#[test]
fn large_queries_end_soon() {
    let folder = Folder::of(&[("a.md", "zebra"), ("b.md", "lion")]);
    let index = folder.index();
    let began = std::time::Instant::now();
    let words: Vec<String> = (0..100_000).map(|at| format!("w{at}")).collect();
    assert_eq!(index.find_passages(None, &words.join(" "), 8).unwrap(), []);
    assert_eq!(
        index
            .find_passages(None, &"zebra ".repeat(2_000_000), 8)
            .unwrap()
            .len(),
        1
    );
    assert_eq!(
        index
            .find_passages(None, &"x".repeat(20_000_000), 8)
            .unwrap(),
        []
    );
    assert_eq!(
        index
            .find_passages(None, "zebra", usize::MAX)
            .unwrap()
            .len(),
        1
    );
    assert_eq!(index.find_passages(None, "zebra", 0).unwrap(), []);
    assert!(
        began.elapsed() < std::time::Duration::from_secs(20),
        "{:?}",
        began.elapsed()
    );
}

#[test]
fn names_of_files_may_be_anything() {
    let names = [
        "with space.md",
        "quote'\"s.md",
        "ünïcode 回.md",
        "semi;colon.md",
        "new\nline.md",
        "a:1-2.md",
        "#.md",
        "*.md",
    ];
    let folder = Folder::of(&[]);
    for name in names {
        folder.put(name, "zebra");
    }
    let mut found = folder.ids("zebra");
    found.sort();
    let mut names = names.map(str::to_owned);
    names.sort();
    assert_eq!(found, names);
    for name in &names {
        folder.remove(name);
    }
    assert_eq!(folder.ids("zebra"), [""; 0]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    /// For any content of files and queries: no error, and a removed file is gone from the index as
    /// if it had never been.
    #[test]
    fn any_text_can_be_indexed_asked_and_forgotten(texts in prop::collection::vec("\\PC{0,80}|[a-c \\n\"*:]{0,400}", 1..5), query in "\\PC{0,60}|[a-c \"()*^:-]{0,20}") {
        let folder = Folder::of(&[("kept.md", "a b c")]);
        let fresh = super::folder::whole(&folder.index(), &query);
        for (at, text) in texts.iter().enumerate() {
            folder.put(&format!("{at}.md"), text);
        }
        let index = folder.index();
        prop_assert!(index.find_passages(None, &query, 8).is_ok());
        let asked = index.find_passages(None, &texts[0], 8);
        prop_assert!(asked.is_ok());
        for at in 0..texts.len() {
            folder.remove(&format!("{at}.md"));
        }
        prop_assert_eq!(super::folder::whole(&folder.index(), &query), fresh);
    }
}
