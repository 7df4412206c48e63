//! What is generated is fresh, and what the help shows works.

use super::project::Project;
use crate::support::fresh::assert_fresh;

#[test]
fn the_command_line_reference_and_the_rule_pages_are_fresh() {
    let project = Project::new();
    project.run(&["generate-docs", "."]).code(0);
    let generated = project.files();
    assert!(generated.iter().any(|path| path == "rules/unreadable-file.md"), "{generated:?}");
    for path in &generated {
        assert_fresh(&format!("docs/{path}"), &project.read(path));
    }
    let kept = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/rules")).unwrap();
    for page in kept {
        let page = format!("rules/{}", page.unwrap().file_name().to_string_lossy());
        assert!(generated.contains(&page), "docs/{page} is the page of no rule: remove it");
    }
}
