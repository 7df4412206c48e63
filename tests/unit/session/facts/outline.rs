//! Names that a text defines.

use super::*;

fn labels(path: &str, text: &str) -> Vec<String> {
    let mut outline = Outline::default();
    outline.add_text(path, text);
    outline.names.into_iter().map(|name| name.label).collect()
}

#[test]
fn names_are_those_that_a_file_defines() {
    for (path, text, expected) in [
        (
            "a.rs",
            "pub(crate) const fn parse_block(x: &str) {\n    let y = 1;\n}\nstruct Block;",
            &["fn parse_block", "struct Block"][..],
        ),
        (
            "a.go",
            "func (s *Store) ReadAll(id string) error {\ntype Store struct {\n\treturn nil",
            &["func ReadAll", "type Store"],
        ),
        (
            "a.ex",
            "defmodule Shop.Cart do\n  def total(items), do: 1\n  # def old",
            &["def total"],
        ),
        (
            "a.ts",
            "export default async function load() {}\nexport const limit = 3;\n  const inner = 4;",
            &["function load", "const limit"],
        ),
        (
            "a.md",
            "# Limits\n#hash\ntext # no\n## Rates",
            &["# Limits", "## Rates"],
        ),
        (
            "a.json",
            "{\n  \"scripts\": {\n        \"deep\": 1\n",
            &["scripts"],
        ),
        ("a.toml", "[package]\nname = \"x\"\n", &["package", "name"]),
        ("a.txt", "the class of a thing is\n", &[]),
    ] {
        assert_eq!(labels(path, text), expected, "{path}");
    }
}

#[test]
fn a_line_stands_below_the_name_above_it() {
    let mut outline = Outline::default();
    outline.add_text("a.rs", "use std::fs::read;\nfn first() {\n    let one = compute(1);\n}\nfn second() {\n    let two = compute(2);\n}\n");
    assert_eq!(outline.names_above("    let two = compute(2);\n}"), [1]);
    // The lines of a patch.
    assert_eq!(
        outline.names_above("-    let one = compute(1);\n+    let one = compute(3);"),
        [0]
    );
    assert!(outline.names_above("use std::fs::read;").is_empty());
}
