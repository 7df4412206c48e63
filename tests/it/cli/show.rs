//! `show` and `explain TASK.SETTING`: the resolved value, its provenance, the values it overrides.
//! Also in a project with errors.

use super::check::{CLEAN, CONFLICT};
use super::project::Project;
use pretty_assertions::assert_eq;

const SEQUENCE: &str = "\
<task type=\"sequential\" name=\"week\">
  <description>Write the week's report.</description>
  <context_management>
    <accumulation_format>full_output</accumulation_format>
  </context_management>
  <steps>
    <task ref=\"clean\" as=\"first\"/>
    <task subtype=\"subtask\" as=\"second\">
      <description>Look up what changed.</description>
    </task>
  </steps>
</task>
";

fn sample() -> Project {
    let project = Project::new().with_file(
        "ctxc.toml",
        "[defaults.atomic]\ninherit_context = \"subset\"\n",
    );
    project
        .with_file("templates/week.xml", SEQUENCE)
        .with_file("templates/clean.xml", CLEAN)
        .with_file("templates/triage.xml", CONFLICT)
}

#[test]
fn a_task_is_shown_with_every_layer_that_had_a_say() {
    let run = sample()
        .run(&["show", "week"])
        .exits_with(0)
        .stderr_is_empty();
    insta::assert_snapshot!("show", run.stdout);
    let by_file = sample().run(&["show", "templates/week.xml"]).exits_with(0);
    assert_eq!(by_file.stdout, run.stdout);
    let project = sample();
    let below = project
        .command(&["show", "week.xml"])
        .current_dir(project.path("templates"))
        .output()
        .unwrap();
    assert_eq!(
        String::from_utf8(below.stdout).unwrap(),
        run.stdout,
        "as it is typed where one stands"
    );
}

#[test]
fn programs_get_every_node_with_its_settings() {
    let json = sample()
        .run(&["show", "week", "--json"])
        .exits_with(0)
        .json();
    assert_eq!(
        (&json["schema"], &json["path"]),
        (&"ctxc/show/1".into(), &"templates/week.xml".into())
    );
    let nodes = json["nodes"].as_array().unwrap();
    let ids: Vec<&str> = nodes
        .iter()
        .map(|node| node["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids, ["/", "/steps/0", "/steps/1"]);
    assert_eq!(
        (&nodes[1]["reference"], &nodes[1]["settings"]),
        (&"clean".into(), &serde_json::Value::Null)
    );
    let inherit = &nodes[2]["settings"]["inherit_context"];
    assert_eq!(
        (&inherit["value"], &inherit["origin"]["layer"]),
        (&"none".into(), &"subtype".into())
    );
    assert_eq!(
        (
            &inherit["beaten"][0]["value"],
            &inherit["beaten"][0]["origin"]["path"]
        ),
        (&"subset".into(), &"ctxc.toml".into())
    );
    assert_eq!(inherit["beaten"][1]["value"], "full");
}

#[test]
fn one_setting_is_explained_in_words_and_as_data() {
    let run = sample()
        .run(&["explain", "week/steps/1.inherit_context"])
        .exits_with(0);
    assert_eq!(
        run.stdout,
        "week/steps/1.inherit_context is none: sees nothing of its parent's context\n\
         \x20 none        the default of atomic.subtask\n\
         \x20 subset      the project's default for atomic, ctxc.toml:2:19 (beaten)\n\
         \x20 full        the default of atomic (beaten)\n"
    );
    let json = sample()
        .run(&["explain", "week/steps/1.inherit_context", "--json"])
        .exits_with(0)
        .json();
    let keys: Vec<&String> = json.as_object().unwrap().keys().collect();
    assert_eq!(
        keys,
        [
            "schema", "task", "node", "setting", "value", "applies", "origin", "beaten"
        ]
    );
    assert_eq!(
        (&json["schema"], &json["node"], &json["value"]),
        (&"ctxc/explain/1".into(), &"/steps/1".into(), &"none".into())
    );
}

#[test]
fn a_task_with_a_conflict_can_be_looked_at() {
    let run = sample().run(&["show", "triage"]).exits_with(0);
    run.stdout_contains("fresh_context        enabled      written at templates/triage.xml:5:20, over disabled (the default of atomic)");
}

#[test]
fn what_is_not_there_gets_the_nearest_name() {
    let project = sample();
    project
        .run(&["show", "wek"])
        .exits_with(2)
        .stderr_contains("there is no task `wek` in this project")
        .stderr_contains("did you mean `week`?");
    project
        .run(&["explain", "wek.fresh_context"])
        .exits_with(2)
        .stderr_contains("did you mean `week`?");
    project
        .run(&["explain", "week.fresh_contxt"])
        .exits_with(2)
        .stderr_contains("did you mean `week.fresh_context`?");
    project
        .run(&["explain", "week.length"])
        .exits_with(2)
        .stderr_contains("`length` is no setting")
        .stderr_contains("the settings are inherit_context, ");
    project
        .run(&["show", "something-else"])
        .exits_with(2)
        .stderr_contains("tasks here: clean, triage, week\n");
    project
        .run(&["show", "templates"])
        .exits_with(2)
        .stderr_contains("templates holds no task of this project")
        .stderr_contains("tasks here: clean,");
    Project::new()
        .run(&["show", "week"])
        .exits_with(2)
        .stderr_contains("this project holds none yet")
        .stderr_contains("`ctxc init`");
    project
        .run(&["explain", "week/steps/7.fresh_context"])
        .exits_with(2)
        .stderr_contains("has no node `/steps/7`")
        .stderr_contains("ctxc show week");
    project
        .run(&["explain", "week/steps/0.fresh_context"])
        .exits_with(2)
        .stderr_contains("it stands for `clean`: ask for clean.fresh_context");
}
