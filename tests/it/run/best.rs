//! Scenarios of the runs that add the most to those that there are.

use super::support::{project, scripted};
use super::traces::with_state;
use crate::cli::project::Project;
use pretty_assertions::assert_eq;

/// A ticket goes one of two ways.
const CHOICE: &str = r#"<task type="sequential" name="t"><description>Handle {{x}}.</description>
    <parameters><parameter name="x" type="string" required="true"/></parameters><steps>
    <task as="sort"><description>Sort {{x}}.</description></task>
    <cond><case test="sort == 'bill'"><task><description>Refund {{x}}.</description></task></case>
    <case test="sort != 'bill'"><task><description>Answer {{x}}.</description></task></case></cond></steps></task>"#;
const ONE: &str = r#"<task type="atomic" name="one"><description>Say {{x}}.</description><parameters><parameter name="x" type="string" required="true"/></parameters></task>"#;

fn runs() -> Project {
    let project = project(&[("t", CHOICE), ("one", ONE)]);
    let go = |task: &str, x: &str, answers: &str| drop(scripted(&project, &[task, "-i", &format!("x={x}")], answers));
    go("t", "a", "- {when: {node: sort}, reply: bill}\n- {reply: done}\n");
    go("t", "b", "- {when: {node: sort}, reply: bill}\n- {reply: done}\n");
    go("t", "c", "- {when: {node: sort}, reply: other}\n- {reply: done}\n");
    go("t", "d", "- {when: {node: sort}, reply: other}\n- {reply: {status: FAILED, content: no}}\n");
    go("one", "e", "- {reply: said}\n");
    project
}

fn scenarios(project: &Project) -> Vec<String> {
    let is_one = |path: &String| path.strip_prefix("scenarios/").is_some_and(|rest| !rest.contains('/'));
    project.files().into_iter().filter(is_one).collect()
}

#[test]
fn each_run_that_is_chosen_adds_a_way_and_the_next_command_adds_none() {
    let project = runs();
    let first = with_state(&project, &["new", "scenario", "--best", "2"]).code(0).warns("2 of 5 kept runs chosen");
    // A task each, before more of one.
    assert_eq!(scenarios(&project), ["scenarios/one-1.yaml", "scenarios/t-1.yaml"], "{}", first.stdout);
    assert!(project.read("scenarios/t-1.yaml").contains("x: c"), "{}", project.read("scenarios/t-1.yaml"));
    with_state(&project, &["new", "scenario", "--best", "9", "t"]).code(0).warns("2 of 4 kept runs chosen");
    assert_eq!(scenarios(&project).len(), 4);
    with_state(&project, &["check"]).code(0);
    with_state(&project, &["eval"]).code(0);
    with_state(&project, &["new", "scenario", "--best", "9"]).code(5).warns("0 of 5 kept runs chosen");
}

#[test]
fn what_no_scenario_can_hold_is_passed_over_and_wrong_choices_are_refused() {
    let project = runs();
    project.write("templates/one.xml", ONE.replace("Say", "Tell"));
    let none = with_state(&project, &["new", "scenario", "--best", "3"]).code(5);
    none.warns("the templates have changed since");
    with_state(&project, &["new", "scenario", "--best", "3", "--from", "run:last"]).code(2).warns("--from 'run:*'");
    with_state(&project, &["new", "scenario", "--best", "3", "--from", "run:1999*"]).code(5).warns("0 of 0 kept runs");
    with_state(&project, &["new", "scenario", "--best", "3", "tt"]).code(2).warns("there is no task `tt`");
    with_state(&project, &["new", "scenario", "--best", "3", "t", "--name", "x"]).code(2);
}

#[test]
fn what_the_archivist_proposes_is_a_comment_until_somebody_takes_it_over() {
    let project = runs();
    let propose = ["new", "scenario", "--from", "run:last", "--propose", "--script", "archivist.yaml"];
    with_state(&project, &propose).code(2).warns("--propose asks the role `archivist`, which ctxc.toml does not have");
    project.write(
        "ctxc.toml",
        "edition = \"2026\"\n[roles.archivist]\ntemplate = \"one\"\nsystem = \"You record what there is.\"\n",
    );
    let reply = r#"{"name": "said-once", "reason": "it was said\nonce", "expectations": [{"contains": ["(?i)said"]}, {"contains": ["[a-"]}, {"wish": 1}]}"#;
    project.write(
        "archivist.yaml",
        format!("answers:\n- {{when: {{has: [You record what there is, 'name: one-1', said]}}, reply: {reply}}}\n"),
    );
    with_state(&project, &propose[..5]).code(2).warns("asking a model is not permitted in this project");
    with_state(&project, &propose).code(0);
    let text = project.read("scenarios/one-1.yaml");
    let expected = "# Proposed by the role `archivist`; nothing of it holds before somebody takes it over.\n\
        # name: \"said-once\"\n# reason: \"it was said\\nonce\"\n# expectations:\n#   - {\"contains\":[\"(?i)said\"]}\n# (2 more were none that scenarios have)\n# What one";
    assert!(text.starts_with(expected), "{text}");
    with_state(&project, &["check"]).code(0);
    with_state(&project, &["eval"]).code(0);
    project.write("archivist.yaml", "answers:\n- {reply: I would rather not}\n");
    with_state(&project, &propose).code(3).warns("the archivist proposes nothing");
    assert_eq!(scenarios(&project).len(), 1);
    with_state(&project, &["new", "scenario", "--from", "@last#1", "--propose"]).code(2).warns("--propose is for runs");
}
