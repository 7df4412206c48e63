//! `defaults`: the operator table, with the project's changes.

use super::project::Project;
use pretty_assertions::assert_eq;

#[test]
fn the_table_of_the_language_is_one_screen() {
    let run = Project::new()
        .run(&["defaults"])
        .exits_with(0)
        .stderr_is_empty();
    insta::assert_snapshot!("defaults", run.stdout);
}

#[test]
fn a_project_default_is_marked_and_shows_where_it_stands() {
    let project = Project::new().with_file(
        "ctxc.toml",
        "[defaults.atomic]\ninherit_context = \"none\"\n",
    );
    let run = project.run(&["defaults"]).exits_with(0);
    run.stdout_contains("none*").stdout_contains(
        "* atomic inherit_context: none, the project's default for atomic, ctxc.toml:2:19, over full (the default of atomic)",
    );
}

#[test]
fn programs_get_the_same_with_origins() {
    let project = Project::new().with_file(
        "ctxc.toml",
        "[defaults.reduce]\ninherit_context = \"full\"\nfresh_context = \"disabled\"\n",
    );
    let json = project.run(&["defaults", "--json"]).exits_with(0).json();
    assert_eq!(json["schema"], "ctxc/defaults/1");
    let rows = json["rows"].as_array().unwrap();
    let reduce = rows
        .iter()
        .find(|row| row["operator"] == "reduce" && row["subtype"].is_null())
        .unwrap();
    let setting = &reduce["settings"]["inherit_context"];
    assert_eq!(
        (&setting["value"], &setting["origin"]["layer"]),
        (&"full".into(), &"project".into())
    );
    assert_eq!(setting["beaten"][0]["value"], "none");
    assert_eq!(
        reduce["settings"]["accumulate_data"]["value"],
        serde_json::Value::Null
    );
}

#[test]
fn a_folder_that_is_not_there_is_wrong_usage() {
    Project::new()
        .run(&["defaults", "--project", "nowhere"])
        .exits_with(2)
        .stderr_contains("there is no such folder")
        .stderr_contains("hint: ");
}

#[test]
fn the_project_is_found_from_below() {
    let project = Project::new()
        .with_file(
            "ctxc.toml",
            "[defaults.atomic]\ninherit_context = \"none\"\n",
        )
        .with_file("deep/er/x", "");
    let mut command = project.command(&["defaults"]);
    let output = command
        .current_dir(project.path("deep/er"))
        .output()
        .unwrap();
    assert!(String::from_utf8(output.stdout).unwrap().contains("none*"));
}

#[test]
fn a_project_file_that_cannot_be_taken_is_wrong_usage() {
    let project = Project::new().with_file(
        "ctxc.toml",
        "[defalts.atomic]\ninherit_context = \"none\"\n",
    );
    project
        .run(&["defaults"])
        .exits_with(2)
        .stderr_contains("error: ctxc.toml has errors")
        .stderr_contains("ctxc.toml:1:2: ")
        .stdout_is_empty();
}
