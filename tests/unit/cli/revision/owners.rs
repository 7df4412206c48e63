//! Owners by CODEOWNERS.

use super::owners_in;

#[test]
fn the_last_pattern_that_holds_a_path_names_its_owners() {
    let owners = |text: &str| {
        owners_in(text, "bots/baselines/LOG.jsonl")
            .into_iter()
            .collect::<Vec<_>>()
            .join(" ")
    };
    for (text, expected) in [
        ("* @all\n", "@all"),
        (
            "* @all\n/bots/baselines/ ada@example.org @bea # both\n",
            "@bea ada@example.org",
        ),
        ("baselines/ @any\n", "@any"),
        ("bots/*/LOG.jsonl @log\n", "@log"),
        ("*.jsonl @lines\n# * @none\n", "@lines"),
        ("* @all\n/baselines/ @top\n", "@all"),
        ("* @all\n*.jsonl\n", ""),
        ("[Section] @sect\n/other/ @other\n", ""),
    ] {
        assert_eq!(owners(text), expected, "{text}");
    }
}
