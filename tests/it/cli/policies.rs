//! `[[require]]` over files outside the templates: the scenarios of a project, in every command
//! that judges policies.

use super::project::Project;

const TASK: &str = "<task type=\"atomic\" name=\"triage\">\n  <description>sort {{ticket}}</description>\n  <parameters>\n    \
    <parameter name=\"ticket\" type=\"string\" required=\"true\"/>\n  </parameters>\n  <context_management>\n    \
    <inherit_context>full</inherit_context>\n  </context_management>\n</task>\n";
const HELPER: &str = "<template name=\"helper\" params=\"x\">\n  <task type=\"atomic\">\n    <description>say {{x}}</description>\n    \
    <context_management>\n      <inherit_context>full</inherit_context>\n    </context_management>\n  </task>\n</template>\n";
const CASE: &str = "name: refund\ntask: triage\ncontext:\n  objective: sort the ticket\n  inputs: {ticket: late}\nexpect_context:\n  \
    - nothing_cut: true\n";
const TESTED: &str =
    "[[require]]\nmust = \"has scenario\"\nreason = \"what nobody tests changes unseen\"\n";

fn project() -> Project {
    Project::new()
        .with_file("ctxc.toml", TESTED)
        .with_file("templates/triage.xml", TASK)
        .with_file("templates/helper.xml", HELPER)
}

#[test]
fn a_task_without_a_scenario_is_reported_at_its_place() {
    let project = project();
    let run = project.run(&["check"]).exits_with(1);
    insta::assert_snapshot!(run.stdout, @r#"
    error[requirement-not-met] templates/triage.xml:1:2: has no scenario, which the project requires (CTX514)
       ╭─
     1 │ <task type="atomic" name="triage">
       ·  ────
     2 │   <description>sort {{ticket}}</description>
       ╰────
       ╭─[ctxc.toml:2:8]
     1 │ [[require]]
     2 │ must = "has scenario"
       ·        ───────┬──────
       ·               ╰── required here
     3 │ reason = "what nobody tests changes unseen"
       ╰────
      = the project's reason: what nobody tests changes unseen
      help: `ctxc new scenario triage` writes one from what is received today

    checked 2 files: 1 error
    by rule: requirement-not-met 1
    "#);
    // A policy that is queried is not reported as unchecked.
    project.write_file("scenarios/a.yaml", CASE);
    project
        .run(&["check"])
        .exits_with(0)
        .stdout_contains("nothing found");
    // A role is tested for its task.
    project.write_file(
        "ctxc.toml",
        format!("{TESTED}[roles.clerk]\ntemplate = \"triage\"\n"),
    );
    project.write_file(
        "scenarios/a.yaml",
        CASE.replace("task: triage", "role: clerk"),
    );
    project
        .run(&["check"])
        .exits_with(0)
        .stdout_contains("nothing found");
    project.write_file(
        "scenarios/a.yaml",
        CASE.replace("task: triage", "task: other"),
    );
    project
        .run(&["check"])
        .exits_with(1)
        .stdout_contains("has no scenario, which the project requires");
    // The reason why it does not count is printed as well.
    project.write_file("ctxc.toml", TESTED);
    project.write_file(
        "scenarios/a.yaml",
        CASE.replace("task: triage", "task: triage\nnode: sotr"),
    );
    project
        .run(&["check"])
        .exits_with(1)
        .stdout_contains("has no scenario")
        .stdout_contains("the task `triage` has no agent `sotr`");
}

#[test]
fn a_misspelt_key_of_a_role_is_one_finding() {
    let project = project().with_file("ctxc.toml", "[roles.clerk]\ntask = \"triage\"\n");
    project
        .run(&["check"])
        .exits_with(2)
        .stdout_contains("has no key `task`")
        .stdout_contains("checked 2 files: 1 error");
}

#[test]
fn the_opposite_the_level_and_the_selector_hold_too() {
    let project = project().with_file("scenarios/a.yaml", CASE);
    project.write_file(
        "ctxc.toml",
        "[[require]]\nmust = \"lacks scenario\"\nlevel = \"warning\"\n",
    );
    project
        .run(&["check"])
        .exits_with(0)
        .stdout_contains("warning[requirement-not-met]")
        .stdout_contains("has scenario, which the project does not want");
    project.write_file(
        "ctxc.toml",
        "[[require]]\nname = \"other-*\"\nmust = \"lacks scenario\"\n",
    );
    project
        .run(&["check"])
        .exits_with(0)
        .stdout_contains("requirement-matches-nothing");
}

#[test]
fn a_build_sees_scenarios_come_and_go() {
    let project = project();
    project
        .run(&["build"])
        .exits_with(1)
        .stdout_contains("has no scenario, which the project requires");
    assert!(!project.path("registry.json").exists());
    project.write_file("scenarios/a.yaml", CASE);
    project
        .run(&["build"])
        .exits_with(0)
        .stdout_contains("wrote ");
    project
        .run(&["build"])
        .exits_with(0)
        .stdout_contains("is up to date");
    // No template moved.
    std::fs::remove_file(project.path("scenarios/a.yaml")).unwrap();
    project
        .run(&["build"])
        .exits_with(1)
        .stdout_contains("has no scenario, which the project requires")
        .stderr_contains("left as it was");
}

#[test]
fn commands_that_read_no_scenarios_are_not_kept_from_the_first_one() {
    let project = project();
    project
        .run(&["new", "scenario", "triage", "-i", "ticket=late"])
        .exits_with(0);
    project
        .run(&["check"])
        .exits_with(0)
        .stdout_contains("nothing found");
    project
        .run(&["render", "triage", "-i", "ticket=late"])
        .exits_with(0);
}
