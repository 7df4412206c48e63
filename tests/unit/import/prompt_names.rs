//! Tests of the private items of `src/import/prompt_names.rs`.

use crate::import::prompt_model::TurnRole;
use crate::import::prompt_names::{parse_half, path_in_folder, search_folders, task_name};
use pretty_assertions::assert_eq;

#[test]
fn a_task_is_named_after_its_file() {
    assert_eq!(task_name("legacy/SupportReply.md.j2"), "support-reply");
    assert_eq!(task_name("sql_query v2.prompt"), "sql-query-v2");
    assert_eq!(task_name(".j2"), "j2");
    assert_eq!(task_name("a/★.md"), "prompt");
}

#[test]
fn halves_are_matched_by_their_names() {
    let system = TurnRole::System;
    let user = TurnRole::User;
    assert_eq!(
        parse_half("p/triage_system.j2"),
        Some(("p/triage".to_owned(), system))
    );
    assert_eq!(
        parse_half("p/triage.user.j2"),
        Some(("p/triage".to_owned(), user))
    );
    assert_eq!(
        parse_half("p/triage/system_prompt.md"),
        Some(("p/triage".to_owned(), system))
    );
    assert_eq!(parse_half("p/filesystem.j2"), None);
}

#[test]
fn names_are_looked_up_from_the_given_folders_upwards() {
    assert_eq!(
        search_folders("a/b/c.j2", &["x".to_owned()]),
        ["x", "a/b", "a", ""]
    );
    assert_eq!(path_in_folder("a", "./b/c.j2").as_deref(), Some("a/b/c.j2"));
    assert_eq!(path_in_folder("a", "../c.j2"), None);
    assert_eq!(path_in_folder("a", "/etc/passwd"), None);
}
