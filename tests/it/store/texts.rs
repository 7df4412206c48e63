//! Texts of lookups: passages of files, words of texts and of questions.

use ctxc::internals::store::passage::{MAX_PASSAGE_BYTES, split_passages};
use ctxc::internals::store::search_words::{STOP_WORDS, index_text, query_words};
use pretty_assertions::assert_eq;

fn passage_lines(path: &str, text: &str) -> Vec<(u32, u32, u32)> {
    let found = split_passages(path, text);
    let whole: String = found
        .iter()
        .map(|passage| &text[passage.range.clone()])
        .collect();
    assert_eq!(whole, text, "passages leave nothing out");
    found
        .iter()
        .map(|passage| (passage.first, passage.last, passage.piece))
        .collect()
}

#[test]
fn small_files_are_whole() {
    assert_eq!(passage_lines("a.md", ""), [(1, 1, 0)]);
    assert_eq!(passage_lines("a.md", "# a\n\ntext\n\n# b\n\n"), [(1, 5, 0)]);
}

#[test]
fn headings_begin_passages() {
    let section = |name: &str| format!("# {name}\n\n{}\n\n", "word ".repeat(300));
    let text = [section("one"), section("two"), section("three")].concat();
    assert_eq!(
        passage_lines("a.md", &text),
        [(1, 3, 0), (5, 7, 0), (9, 11, 0)]
    );
    assert_eq!(
        passage_lines("a.sh", &text),
        [(1, 5, 0), (7, 9, 0), (11, 11, 0)],
        "a comment is no heading"
    );
    let fenced = format!(
        "```\n{}\n```\n{}",
        section("one").repeat(2).replace("word word ", "word "),
        section("two")
    );
    assert_eq!(passage_lines("a.md", &fenced), [(1, 11, 0), (12, 14, 0)]);
}

#[test]
fn blocks_stay_together_where_they_can() {
    let block = format!("{}\n\n", "line of twenty bytes\n".repeat(60));
    assert_eq!(
        passage_lines("a.txt", &block.repeat(3)),
        [(1, 122, 0), (125, 184, 0)]
    );
    let long = "line of twenty bytes\n".repeat(300);
    assert_eq!(
        passage_lines("a.txt", &long),
        [(1, 142, 0), (143, 284, 0), (285, 300, 0)]
    );
}

#[test]
fn a_line_too_long_comes_in_pieces() {
    let text = format!("a\n{}\nb\n", "ä".repeat(MAX_PASSAGE_BYTES));
    let found = passage_lines("a.json", &text);
    assert_eq!(found.first(), Some(&(1, 1, 0)));
    assert!(
        found.contains(&(2, 2, 1)) && found.contains(&(2, 2, 2)),
        "{found:?}"
    );
    assert!(
        split_passages("a.json", &text)
            .iter()
            .all(|passage| passage.range.len() <= MAX_PASSAGE_BYTES)
    );
}

fn words(query: &str) -> Vec<(String, u32)> {
    query_words(query)
        .into_iter()
        .map(|asked| (asked.word, asked.weight))
        .collect()
}

#[test]
fn words_that_say_nothing_are_never_looked_for() {
    let known = |words: &[(&str, u32)]| {
        words
            .iter()
            .map(|(word, weight)| ((*word).to_owned(), *weight))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        words("the rollback of the deploy"),
        known(&[("rollback", 8), ("deploy", 6)])
    );
    assert_eq!(
        words("internationalisation 4711"),
        known(&[("internationalisation", 12), ("4711", 4)])
    );
    assert_eq!(words("the one of them"), []);
    assert!(
        STOP_WORDS
            .iter()
            .all(|word| query_words(&format!("{word} {word}")).is_empty())
    );
}

#[test]
fn a_query_of_any_size_is_read_in_bounds() {
    assert_eq!(words(&"x y z ".repeat(1 << 20)).len(), 3);
    let many: Vec<String> = (0..1000).map(|n| format!("w{n}")).collect();
    let found = words(&many.join(" "));
    assert_eq!(
        (found.len(), &*found[0].0, &*found[31].0),
        (32, "w100", "w131"),
        "the first of the longest"
    );
}

#[test]
fn words_are_what_people_would_ask_for() {
    assert_eq!(index_text("The rollbacks, (again)!"), "the rollback again");
    assert_eq!(index_text("fetchUserIDs"), "fetchuserid fetch user id");
    assert_eq!(index_text("HTTPServer2"), "httpserver2 http server 2");
    assert_eq!(index_text("page_on-call"), "page on call");
    assert_eq!(index_text("status class is Äpfel"), "status class is äpfel");
    assert_eq!(index_text("回滚部署 v2"), "回滚 滚部 部署 v2 v 2");
    assert_eq!(index_text("x回y"), "x 回 y");
    assert_eq!(index_text("a\0b \"c\" d*e NEAR(f) 🦀"), "a b c d e near f");
    assert_eq!(index_text(&"k".repeat(65)), "");
    assert_eq!(index_text("İ"), "i");
}
