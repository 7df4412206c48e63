//! Scenarios that run a whole task: `run: true`.

use super::support::{project, scripted};
use super::traces::{THREE, with_state};
use crate::cli::project::Project;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

/// A draft is reviewed until the review has nothing to say; a script counts its words.
const LOOP: &str = r#"<task type="director_evaluator_loop" name="t"><description>Write on {{topic}}.</description>
    <parameters><parameter name="topic" type="string" required="true"/></parameters><max_iterations>2</max_iterations>
    <director><description>Draft.</description><inputs><input name="said" from="evaluation_feedback"/></inputs>
      <instructions>Heed: {{said}}</instructions></director>
    <script_execution><description>Count.</description><command>wc -w</command></script_execution>
    <evaluator><description>Judge.</description><inputs><input name="words" from="script_result"/></inputs>
      <instructions>It has {{words}} words.</instructions><output_format type="json" schema="object"/></evaluator>
    <termination_condition><condition>evaluation.success == true</condition></termination_condition></task>"#;

const HEAD: &str = "name: s\ntask: t\nrun: true\ncontext:\n  objective: write\n  inputs: {topic: bees}\n";
const ANSWERS: &str = "answers:\n\
    - {when: {node: /director}, reply: bees are}\n\
    - {when: {node: /director}, reply: bees are small}\n\
    - {when: {node: /script_execution}, reply: '2'}\n\
    - {when: {node: /script_execution}, reply: '3'}\n\
    - {when: {node: /evaluator}, reply: {success: false, feedback: too short}}\n\
    - {when: {node: /evaluator}, reply: {success: true}}\n";

/// A run of THREE whose first answer is JSON.
const JSON: &str = "- {when: {node: a}, reply: {severity: sev1}}\n- {when: {node: b}, reply: two}\n- {reply: three}\n";

fn with(task: &str, expected: &str) -> Project {
    let project = project(&[("t", task)]);
    project.write("scenarios/s.yaml", format!("{HEAD}{expected}{ANSWERS}"));
    project
}

/// A scenario that passes.
pub(crate) fn sample() -> Project {
    with(LOOP, "expectations:\n- ends: complete\n")
}

fn card(project: &Project, code: i32) -> Value {
    project.run(&["eval", "--json"]).code(code).json()["cases"][0].clone()
}

#[test]
fn a_whole_run_holds_contexts_answers_and_its_path() {
    let expected = "expect_context:\n\
        - {node: /director@1, absent: [too short]}\n\
        - {node: /director@2, contains: [too short]}\n\
        - {node: /evaluator, contains: ['It has [23] words']}\n\
        - absent: [wasps]\n\
        expectations:\n\
        - path: [/director, /script_execution, /evaluator, /director, /script_execution, /evaluator]\n\
        - path: {match: superset, nodes: [/evaluator@2]}\n\
        - not: {path: {match: superset, nodes: [/nobody]}}\n\
        - {node: /evaluator@1, field_matches: {path: $.success, pattern: '^false$'}}\n\
        - {node: /script_execution, contains: ['^[23]$']}\n\
        - ends: complete\n\
        - exact: bees are small\n";
    let project = with(LOOP, expected);
    project.run(&["check"]).code(0);
    let row = card(&project, 0);
    assert_eq!((&row["verdict"], &row["answer"]), (&json!("pass"), &json!("scripted")), "{row:#}");
    let run = &row["trials"][0]["run"];
    assert_eq!((&run["ends"], run["path"].as_array().unwrap().len()), (&json!("complete"), 6));
}

#[test]
fn each_expectation_on_a_run_can_fail_and_says_of_whom() {
    for (wrong, says) in [
        ("expect_context:\n- {node: /director@2, absent: [too short]}\n", "the context of `/director@2`"),
        ("expect_context:\n- absent: [too short]\n", "the context of `/director@2`"),
        ("expect_context:\n- {node: /evaluator@3, contains: [bees]}\n", "`/evaluator@3` to be asked"),
        ("expectations:\n- path: [/director, /script_execution, /evaluator]\n", "the path `/director`"),
        ("expectations:\n- path: {match: subset, nodes: [/director, /evaluator]}\n", "nobody but"),
        ("expectations:\n- {node: /evaluator, field_matches: {path: $.success, pattern: 'false'}}\n", "to match /false/"),
        ("expectations:\n- {node: /nobody, contains: [bees]}\n", "`/nobody` to be asked"),
        ("expectations:\n- ends: blocked\n", "a run that is blocked"),
        ("expectations:\n- exact: wasps\n", "wasps"),
    ] {
        let project = with(LOOP, wrong);
        let run = project.run(&["eval"]).code(1);
        assert!(run.stdout.contains(says), "{wrong}: {}", run.stdout);
    }
}

#[test]
fn a_run_that_is_not_complete_fails_unless_that_is_expected() {
    let task = LOOP.replace("<max_iterations>2", "<max_iterations>1");
    with(&task, "expectations:\n- {node: /director, contains: [bees]}\n").run(&["eval"]).code(1).says("a run that is complete");
    with(&task, "expectations:\n- {node: /director, contains: [bees]}\n- ends: blocked\n").run(&["eval"]).code(0);
}

#[test]
fn what_is_of_a_whole_run_is_refused_elsewhere_and_the_reverse() {
    let project = project(&[("t", LOOP)]);
    for (body, says) in [
        ("node: /director\nexpectations:\n- path: [/director]\n", "needs `run`"),
        ("node: /director\nexpect_context:\n- {node: /evaluator, contains: [x]}\n", "needs `run`"),
        ("run: true\nnode: /director\nexpectations:\n- ends: complete\n", "they exclude each other"),
        ("run: true\nexpect_context:\n- snapshot: true\n", "they exclude each other"),
        ("run: true\nexpect_context:\n- {node: /directer@2, contains: [x]}\n", "did you mean `/director`?"),
    ] {
        let head = HEAD.replace("run: true\n", "");
        project.write("scenarios/s.yaml", format!("{head}{body}{ANSWERS}"));
        project.run(&["check"]).code(1).says(says);
    }
}

#[test]
fn a_command_runs_in_no_evaluation() {
    let project = with(LOOP, "expectations:\n- ends: complete\n");
    let text = project.read("scenarios/s.yaml").replace("/script_execution}", "/elsewhere}");
    project.write("scenarios/s.yaml", text);
    project.run(&["eval"]).code(1).says("is not run in an evaluation");
}

#[test]
fn a_scenario_of_a_whole_run_passes_from_its_recording_and_is_stale_after_a_change() {
    let project = project(&[("t", THREE)]);
    scripted(&project, &["t", "-i", "x=this"], JSON).code(0);
    with_state(&project, &["new", "scenario", "--from", "run:last", "--name", "all"]).code(0).says("wrote scenarios/all.yaml");
    let text = project.read("scenarios/all.yaml");
    assert!(text.contains("run: true") && text.contains("path: [a, b, /steps/2]"), "{text}");
    let more = "  - {node: a, field_matches: {path: $.severity, pattern: sev1}}\n";
    project.write("scenarios/all.yaml", format!("{text}{more}"));
    with_state(&project, &["check"]).code(0);
    with_state(&project, &["eval"]).code(0).says("PASS");
    with_state(&project, &["eval", "--rescore"]).code(0).says("PASS");
    project.write("templates/t.xml", THREE.replace("Third", "Finally"));
    with_state(&project, &["eval"]).code(6).says("STALE");
    // An agent that no scenario names is tested by the whole run.
    project.write("templates/t.xml", THREE);
    project.run(&["eval", "--coverage"]).code(0).says("3 of 3 agents tested");
}
