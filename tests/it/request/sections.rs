//! Sections of texts.

use ctxc::internals::request::sections::find_sections;
use pretty_assertions::assert_eq;

#[test]
fn headings_elements_and_fences_open_sections() {
    let text = "You help.\n# Rules\nBe kind.\n## Limits\nNone.\n# Runbook\n<steps>\n# Inner\none\n</steps>\n```src/a.py\n# no heading\n```\nend\n";
    let found: Vec<(String, &str)> = find_sections(text)
        .into_iter()
        .map(|one| (one.title, &text[one.range]))
        .collect();
    let expected = [
        ("Rules", "# Rules\nBe kind.\n## Limits\nNone.\n"),
        ("Limits", "## Limits\nNone.\n"),
        (
            "Runbook",
            "# Runbook\n<steps>\n# Inner\none\n</steps>\n```src/a.py\n# no heading\n```\nend\n",
        ),
        ("steps", "<steps>\n# Inner\none\n</steps>\n"),
        ("Inner", "# Inner\none\n"),
        ("src/a.py", "```src/a.py\n# no heading\n```\n"),
    ];
    assert_eq!(
        found,
        expected.map(|(title, text)| (title.to_owned(), text))
    );
    assert!(find_sections("#no heading\n<a> b\n</c>\n#\n```\nx\n```\n").is_empty());
}
