//! Scenarios that run a whole task: `run: true`.

use super::support::{project_with_templates, run_scripted};
use super::traces::{THREE, with_state};
use crate::cli::project::Project;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

/// A draft is reviewed until the review has no objection; a script counts its words.
const LOOP: &str = r#"<task type="director_evaluator_loop" name="t"><description>Write on {{topic}}.</description>
    <parameters><parameter name="topic" type="string" required="true"/></parameters><max_iterations>2</max_iterations>
    <director><description>Draft.</description><inputs><input name="said" from="evaluation_feedback"/></inputs>
      <instructions>Heed: {{said}}</instructions></director>
    <script_execution><description>Count.</description><command>wc -w</command></script_execution>
    <evaluator><description>Judge.</description><inputs><input name="words" from="script_result"/></inputs>
      <instructions>It has {{words}} words.</instructions><output_format type="json" schema="object"/></evaluator>
    <termination_condition><condition>evaluation.success == true</condition></termination_condition></task>"#;

const HEAD: &str =
    "name: s\ntask: t\nrun: true\ncontext:\n  objective: write\n  inputs: {topic: bees}\n";
const ANSWERS: &str = "answers:\n\
    - {when: {node: /director}, reply: bees are}\n\
    - {when: {node: /director}, reply: bees are small}\n\
    - {when: {node: /script_execution}, reply: '2'}\n\
    - {when: {node: /script_execution}, reply: '3'}\n\
    - {when: {node: /evaluator}, reply: {success: false, feedback: too short}}\n\
    - {when: {node: /evaluator}, reply: {success: true}}\n";

/// A run of THREE whose first answer is JSON.
const JSON: &str = "- {when: {node: a}, reply: {severity: sev1}}\n- {when: {node: b}, reply: two}\n- {reply: three}\n";

fn scenario_project(task: &str, expected: &str) -> Project {
    let project = project_with_templates(&[("t", task)]);
    project.write_file("scenarios/s.yaml", format!("{HEAD}{expected}{ANSWERS}"));
    project
}

/// A scenario that passes.
pub(crate) fn sample() -> Project {
    scenario_project(LOOP, "expectations:\n- ends: complete\n")
}

fn card(project: &Project, code: i32) -> Value {
    project.run(&["eval", "--json"]).exits_with(code).json()["cases"][0].clone()
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
        - not: {path: {match: superset, nodes: [/evaluator@3]}}\n\
        - {node: /evaluator@1, field_matches: {path: $.success, pattern: '^false$'}}\n\
        - {node: /script_execution, contains: ['^[23]$']}\n\
        - ends: complete\n\
        - exact: bees are small\n";
    let project = scenario_project(LOOP, expected);
    project.run(&["check"]).exits_with(0);
    let row = card(&project, 0);
    assert_eq!(
        (&row["verdict"], &row["answer"]),
        (&json!("pass"), &json!("scripted")),
        "{row:#}"
    );
    let run = &row["trials"][0]["run"];
    assert_eq!(
        (&run["ends"], run["path"].as_array().unwrap().len()),
        (&json!("complete"), 6)
    );
}

#[test]
fn each_expectation_on_a_run_can_fail_and_names_the_agent() {
    for (wrong, says) in [
        (
            "expect_context:\n- {node: /director@2, absent: [too short]}\n",
            "the context of `/director@2`",
        ),
        (
            "expect_context:\n- absent: [too short]\n",
            "the context of `/director@2`",
        ),
        (
            "expect_context:\n- {node: /evaluator@3, contains: [bees]}\n",
            "`/evaluator@3` to be asked",
        ),
        (
            "expectations:\n- path: [/director, /script_execution, /evaluator]\n",
            "the path `/director`",
        ),
        (
            "expectations:\n- path: {match: subset, nodes: [/director, /evaluator]}\n",
            "nobody but",
        ),
        (
            "expectations:\n- {node: /evaluator, field_matches: {path: $.success, pattern: 'false'}}\n",
            "to match /false/",
        ),
        (
            "expectations:\n- {node: /director@3, contains: [bees]}\n",
            "`/director@3` to be asked",
        ),
        ("expectations:\n- ends: blocked\n", "a run that is blocked"),
        ("expectations:\n- exact: wasps\n", "wasps"),
    ] {
        let project = scenario_project(LOOP, wrong);
        let run = project.run(&["eval"]).exits_with(1);
        assert!(run.stdout.contains(says), "{wrong}: {}", run.stdout);
    }
}

#[test]
fn a_run_that_is_not_complete_fails_unless_that_is_expected() {
    let task = LOOP.replace("<max_iterations>2", "<max_iterations>1");
    scenario_project(
        &task,
        "expectations:\n- {node: /director, contains: [bees]}\n",
    )
    .run(&["eval"])
    .exits_with(1)
    .stdout_contains("a run that is complete");
    scenario_project(
        &task,
        "expectations:\n- {node: /director, contains: [bees]}\n- ends: blocked\n",
    )
    .run(&["eval"])
    .exits_with(0);
}

#[test]
fn what_is_of_a_whole_run_is_refused_elsewhere_and_the_reverse() {
    let project = project_with_templates(&[("t", LOOP)]);
    for (body, says) in [
        (
            "node: /director\nexpectations:\n- path: [/director]\n",
            "needs `run`",
        ),
        (
            "node: /director\nexpect_context:\n- {node: /evaluator, contains: [x]}\n",
            "needs `run`",
        ),
        (
            "run: true\nnode: /director\nexpectations:\n- ends: complete\n",
            "they exclude each other",
        ),
        (
            "run: true\nexpect_context:\n- snapshot: true\n",
            "they exclude each other",
        ),
        (
            "run: true\nexpect_context:\n- {node: /directer@2, contains: [x]}\n",
            "did you mean `/director`?",
        ),
    ] {
        let head = HEAD.replace("run: true\n", "");
        project.write_file("scenarios/s.yaml", format!("{head}{body}{ANSWERS}"));
        project.run(&["check"]).exits_with(1).stdout_contains(says);
    }
}

#[test]
fn a_command_runs_in_no_evaluation() {
    let project = scenario_project(LOOP, "expectations:\n- ends: complete\n");
    let text = project.read_file("scenarios/s.yaml");
    let text: String = text
        .lines()
        .filter(|line| !line.contains("script_execution"))
        .flat_map(|line| [line, "\n"])
        .collect();
    project.write_file("scenarios/s.yaml", text);
    project
        .run(&["eval"])
        .exits_with(1)
        .stdout_contains("is not run in an evaluation");
}

/// A script before an agent.
const SCRIPT: &str = r#"<task type="sequential" name="t"><description>Review.</description>
    <context_management><accumulate_data>false</accumulate_data></context_management><steps>
    <task type="script" as="diff"><description>Diff.</description><timeout>300</timeout><command shell="sh">echo one; echo bad >&amp;2; exit 3</command></task>
    <task type="atomic" as="review"><description>Review it.</description><inputs><input name="diff" from="diff"/></inputs>
      <instructions>The change: {{diff}}</instructions></task></steps></task>"#;

#[test]
fn a_script_of_a_scenario_ends_as_its_answer_states() {
    let review = "- {when: {node: review}, reply: fine}\n";
    for (answer, ends, says) in [
        ("reply: one, stderr: a warning", "complete", ""),
        (
            "exit: 3, stderr: bad",
            "failed",
            "the command ended with exit code 3: bad",
        ),
        (
            "killed_by: signal, stderr: out of memory",
            "failed",
            "signal 9 ended it: out of memory",
        ),
        (
            "killed_by: timeout",
            "failed",
            "it was stopped after 300 s: `<timeout>` allows more",
        ),
    ] {
        let project = project_with_templates(&[("t", SCRIPT)]);
        let answers = format!("- {{when: {{node: diff}}, {answer}}}\n{review}");
        let head = "name: s\ntask: t\nrun: true\ncontext: {objective: x}\nexpectations:\n";
        project.write_file(
            "scenarios/s.yaml",
            format!("{head}- ends: {ends}\nanswers:\n{answers}"),
        );
        project.run(&["check"]).exits_with(0);
        project.run(&["eval"]).exits_with(0);
        project.write_file(
            "scenarios/s.yaml",
            format!("{head}- ends: blocked\nanswers:\n{answers}"),
        );
        let run = project.run(&["eval"]).exits_with(1);
        assert!(run.stdout.contains(says), "{answer}: {}", run.stdout);
        // `ctxc run` does without the command, and so without permission.
        let run = run_scripted(&project, &["t"], &answers);
        assert_eq!(
            (run.code, run.stderr.contains(says)),
            (Some(i32::from(ends == "failed")), true),
            "{answer}: {}",
            run.stderr
        );
    }
    // In a loop the evaluator judges a failure.
    let project = scenario_project(
        LOOP,
        "expect_context:\n- {node: /evaluator, contains: ['gone\\n\\[exit code 2\\]']}\n",
    );
    project.write_file(
        "scenarios/s.yaml",
        project
            .read_file("scenarios/s.yaml")
            .replace("reply: '2'}", "stderr: gone, exit: 2}")
            .replace("reply: '3'}", "stderr: gone, exit: 2}"),
    );
    project.run(&["eval"]).exits_with(0);
}

/// The next answer of an agent is the first unused one, in any order of those before.
#[test]
fn no_answer_is_left_out_because_an_earlier_one_fits_no_more() {
    let project = scenario_project(LOOP, "expectations:\n- contains: [small]\n");
    let (first, second) = (
        "{when: {node: /director}, reply: bees are}",
        "    - {when: {node: /director}, reply: bees are small}\n",
    );
    let text = project.read_file("scenarios/s.yaml").replace(
        first,
        "{when: {node: /director, lacks: too short}, reply: bees are}",
    );
    project.write_file(
        "scenarios/s.yaml",
        text.replace(
            second,
            &format!("{second}{}", second.replace("small", "large")),
        ),
    );
    project.run(&["eval"]).exits_with(0).stdout_contains("PASS");
}

#[test]
fn an_answer_for_no_one_is_refused() {
    let project = project_with_templates(&[("t", SCRIPT)]);
    let subtask = "- {when: {node: review, lacks: result of the subtask}, reply: {status: CONTINUATION, content: x, subtask_request: {type: atomic, description: Look.}}}\n- {when: {node: /}, reply: seen}\n- {when: {node: review}, reply: fine}\n";
    for (answer, says) in [
        (
            "- {when: {node: dif}, reply: x}\n",
            "no agent or script `dif`",
        ),
        (
            "- {when: {node: /steps/7}, reply: x}\n",
            "no agent or script `/steps/7`",
        ),
        (
            "- {when: {node: review}, exit: 1}\n",
            "`review` is an agent",
        ),
        ("- {exit: 1}\n", "add `when: {node: …}`"),
        (
            "- {when: {node: diff}, tool_calls: [{name: x}]}\n",
            "a script calls no tools",
        ),
        (
            "- {when: {node: diff}, exit: 1, killed_by: timeout}\n",
            "they exclude each other",
        ),
        (
            "- {when: {node: diff}, killed_by: oom}\n",
            "expected `signal`, `timeout`",
        ),
    ] {
        let answers = format!("{answer}- {{when: {{node: diff}}, reply: x}}\n");
        project.write_file(
            "scenarios/s.yaml",
            format!("name: s\ntask: t\nrun: true\ncontext: {{objective: x}}\nexpectations:\n- ends: failed\nanswers:\n{answers}"),
        );
        project.run(&["check"]).exits_with(1).stdout_contains(says);
        run_scripted(&project, &["t"], &answers)
            .exits_with(2)
            .stderr_contains(says);
    }
    run_scripted(&project, &["t"], "- {when: {node: dif}, reply: x}\n")
        .exits_with(2)
        .stderr_contains("did you mean `diff`?");
    // It has answers, so its command does not run where none fits.
    let other =
        "- {when: {node: diff, has: nope}, reply: x}\n- {when: {node: review}, reply: fine}\n";
    run_scripted(&project, &["t"], other)
        .exits_with(1)
        .stderr_contains("none of the scripted answers for `diff` fits");
    // The names of a subtask's agents are not known before it runs.
    run_scripted(
        &project,
        &["t"],
        &format!("- {{when: {{node: diff}}, reply: x}}\n{subtask}"),
    )
    .exits_with(0);
    let words = subtask.replace(
        "{status: CONTINUATION, content: x, subtask_request: {type: atomic, description: Look.}}",
        r#"'{"status": "CONTINUATION", "content": "x", "subtask_request": {"type": "atomic", "description": "Look."}}'"#,
    );
    run_scripted(
        &project,
        &["t"],
        &format!("- {{when: {{node: diff}}, reply: x}}\n{words}"),
    )
    .exits_with(0);
    project.write_file("scenarios/s.yaml", "name: s\ntask: t\nnode: review\ncontext: {objective: x, results: {diff: x}}\nexpectations:\n- exact: x\nanswers:\n- exit: 1\n");
    project
        .run(&["check"])
        .exits_with(1)
        .stdout_contains("needs `run`");
}

#[test]
fn a_scenario_of_a_whole_run_passes_from_its_recording_and_is_stale_after_a_change() {
    let project = project_with_templates(&[("t", THREE)]);
    run_scripted(&project, &["t", "-i", "x=this"], JSON).exits_with(0);
    with_state(
        &project,
        &["new", "scenario", "--from", "run:last", "--name", "all"],
    )
    .exits_with(0)
    .stdout_contains("wrote scenarios/all.yaml");
    let text = project.read_file("scenarios/all.yaml");
    assert!(
        text.contains("run: true") && text.contains("path: [a, b, /steps/2]"),
        "{text}"
    );
    let more = "  - {node: a, field_matches: {path: $.severity, pattern: sev1}}\n";
    project.write_file("scenarios/all.yaml", format!("{text}{more}"));
    with_state(&project, &["check"]).exits_with(0);
    with_state(&project, &["eval"])
        .exits_with(0)
        .stdout_contains("PASS");
    with_state(&project, &["eval", "--rescore"])
        .exits_with(0)
        .stdout_contains("PASS");
    project.write_file("templates/t.xml", THREE.replace("Third", "Finally"));
    with_state(&project, &["eval"])
        .exits_with(6)
        .stdout_contains("STALE");
    // An agent that no scenario names is tested by the whole run.
    project.write_file("templates/t.xml", THREE);
    project
        .run(&["eval", "--coverage"])
        .exits_with(0)
        .stdout_contains("3 of 3 agents tested");
}

/// The first stage is a script, an input that is made, a call, or a first value before the first
/// agent, by the task and its answers.
const FIRST: [(&str, &str, &str, &str); 7] = [
    (
        "a script before a step",
        r#"<task type="sequential" name="t"><description>Review.</description>
            <context_management><accumulate_data>false</accumulate_data></context_management><steps>
            <task type="script" as="diff"><description>Diff.</description><command shell="sh">git diff</command></task>
            <task type="atomic" as="review"><description>Review it.</description><inputs><input name="diff" from="diff"/></inputs>
              <instructions>The change: {{diff}}</instructions></task></steps></task>"#,
        "diff, review",
        "- {when: {node: diff}, reply: +1 line}\n- {when: {node: review}, reply: it is good}\n",
    ),
    (
        "an input that a task makes",
        r#"<task type="atomic" name="t"><description>Review.</description><inputs>
            <input name="facts"><task type="atomic"><description>Find facts.</description></task></input></inputs>
            <instructions>Known: {{facts}}</instructions></task>"#,
        "/inputs/0, /",
        "- {when: {node: /inputs/0}, reply: +1 line}\n- {when: {node: /}, reply: it is good}\n",
    ),
    (
        "an input that a script makes",
        r#"<task type="atomic" name="t"><description>Review.</description><inputs>
            <input name="diff"><task type="script"><description>Diff.</description><command>git diff</command></task></input></inputs>
            <instructions>The change: {{diff}}</instructions></task>"#,
        "/inputs/0, /",
        "- {when: {node: /inputs/0}, reply: +1 line}\n- {when: {node: /}, reply: it is good}\n",
    ),
    (
        "a script that decides",
        r#"<task type="sequential" name="t"><description>Review.</description><steps>
            <task type="script" as="diff"><description>Diff.</description><command>git diff</command></task>
            <cond as="review"><case test="diff == 'none'"><task type="atomic"><description>Say so.</description></task></case>
            <case test="diff != 'none'"><task type="atomic"><description>Review it.</description><inputs><input name="diff" from="diff"/></inputs>
              <instructions>The change: {{diff}}</instructions></task></case></cond></steps></task>"#,
        "diff, /steps/1/cases/1",
        "- {when: {node: diff}, reply: +1 line}\n- {when: {node: /steps/1/cases/1}, reply: it is good}\n",
    ),
    (
        "a fold of what a script makes",
        r#"<task type="reduce" name="t"><description>Merge.</description><inputs>
            <input name="one"><task type="script"><description>Diff.</description><command>git diff</command></task></input></inputs>
            <initial_value>Nothing yet.</initial_value>
            <inner_task><description>Read.</description><inputs><input name="part" from="current_input"/></inputs></inner_task>
            <reduction_task><description>Merge both.</description><inputs><input name="so_far" from="accumulator"/>
              <input name="new" from="current_result"/></inputs></reduction_task></task>"#,
        "/inputs/0, /inner_task, /reduction_task",
        "- {when: {node: /inputs/0}, reply: a change}\n- {when: {node: /inner_task, has: a change}, reply: +1 line}\n\
         - {when: {node: /reduction_task, has: Nothing yet}, reply: it is good}\n",
    ),
    (
        "a call of a template that begins with a script",
        r#"<task type="atomic" name="t"><description>Review.</description><inputs>
            <input name="diff"><call template="diffed"/></input></inputs><instructions>The change: {{diff}}</instructions></task>"#,
        "/inputs/0, /",
        "- {when: {node: /inputs/0}, reply: +1 line}\n- {when: {node: /}, reply: it is good}\n",
    ),
    (
        "a loop whose script runs before its judge",
        LOOP,
        "/director, /script_execution, /evaluator",
        "- {when: {node: /director}, reply: it is good}\n- {when: {node: /script_execution}, reply: +1 line}\n- {when: {node: /evaluator}, reply: {success: true}}\n",
    ),
];

#[test]
fn what_runs_before_the_first_agent_is_no_missing_context() {
    for (what, task, path, answers) in FIRST {
        let diffed = r#"<template name="diffed"><task type="script"><description>Diff.</description><command>git diff</command></task></template>"#;
        let project = project_with_templates(&[("t", task), ("diffed", diffed)]);
        let inputs = if task.contains("topic") {
            "  inputs: {topic: bees}\n"
        } else {
            ""
        };
        let expected = "expect_context:\n- nothing_cut: true\n- {node: NODE, contains: ['\\+1 line']}\nexpectations:\n- path: [PATH]\n- exact: it is good\n";
        let node = path.rsplit(", ").next().unwrap();
        let expected = expected.replace("NODE", node).replace("PATH", path);
        project.write_file(
            "scenarios/s.yaml",
            format!("name: s\ntask: t\nrun: true\ncontext:\n  objective: review\n{inputs}{expected}answers:\n{answers}"),
        );
        let run = project.run(&["eval", "--json"]);
        assert_eq!(run.stderr, "", "{what}");
        let row = run.json()["cases"][0].clone();
        assert_eq!(row["verdict"], "pass", "{what}: {row:#}");
    }
}

#[test]
fn a_change_of_any_agent_of_a_run_is_tried_and_noticed_by_its_expectations() {
    let expected = "expect_context:\n- {node: /director, contains: [Draft]}\n- {node: /evaluator, segments: {exactly: SEGMENTS}}\nexpectations:\n- ends: complete\n";
    let ids = "[output_format, description, instructions, 'accumulated:script_result', 'accumulated:director_result', 'inherited:description']";
    let project = scenario_project(LOOP, &expected.replace("SEGMENTS", ids));
    let found = project.run(&["eval", "--mutate", "--json"]).json();
    let agents = found["agents"].as_array().unwrap();
    let of = |node: &str| {
        agents
            .iter()
            .find(|agent| agent["node"] == node)
            .unwrap_or_else(|| panic!("{node}: {found:#}"))
    };
    let misses = |node: &str, change: &str| {
        let missed = of(node)["unnoticed"].as_array().unwrap().clone();
        missed
            .iter()
            .filter(|one| one["change"] == change)
            .map(|one| one["name"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        (
            &of("/director")["scenarios"],
            of("/director")["tried"].as_u64().unwrap() > 5
        ),
        (&json!(1), true),
        "{found:#}"
    );
    assert!(
        !misses("/director", "segment_dropped").contains(&"description".to_owned()),
        "{found:#}"
    );
    assert!(
        misses("/director", "segment_dropped").contains(&"instructions".to_owned()),
        "{found:#}"
    );
    assert_eq!(
        misses("/evaluator", "segment_dropped"),
        Vec::<String>::new()
    );
    assert_eq!(
        (&found["untested"], &found["not_asked"]),
        (&json!([]), &json!([]))
    );
}
