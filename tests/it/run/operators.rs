//! Every operator of the language, run from a script.

use super::support::{
    events_of_kind, newest_trace, project_with_templates, run_scripted, state_folder, trace_calls,
};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

fn message_contents(call: &Value) -> String {
    call["request"]["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| message["content"].to_string())
        .collect()
}

#[test]
fn a_sequence_hands_on_results_and_notes() {
    let task = r#"<task type="sequential" name="t"><description>Handle {{x}}.</description>
        <parameters><parameter name="x" type="string" required="true"/></parameters>
        <steps>
          <task as="plan"><description>Plan {{x}}.</description></task>
          <task as="work"><description>Work on {{plan}}.</description></task>
          <task><description>Report.</description></task>
        </steps></task>"#;
    let project = project_with_templates(&[("t", task)]);
    let answers = "- {when: {node: plan}, reply: {status: COMPLETE, content: two parts, notes: planned twice}}\n\
        - {when: {node: work}, reply: done with both}\n- {when: {node: /steps/2}, reply: all is well}\n";
    let run = run_scripted(&project, &["t", "--input", "x=the ticket"], answers).exits_with(0);
    assert_eq!(run.stdout, "all is well\n");
    let trace = newest_trace(&state_folder(&project));
    let calls = trace_calls(&trace);
    assert_eq!(calls.len(), 3);
    assert!(
        message_contents(calls[1]).contains("Work on two parts.")
            && message_contents(calls[1]).contains("planned twice"),
        "{}",
        message_contents(calls[1])
    );
    // Notes are carried, and without notes the content takes their place.
    assert!(
        message_contents(calls[2]).contains("planned twice")
            && message_contents(calls[2]).contains("done with both"),
        "{}",
        message_contents(calls[2])
    );
    assert!(
        !message_contents(calls[2]).contains("two parts"),
        "notes alone are carried"
    );
    let results = events_of_kind(&trace, "result");
    assert_eq!(
        results
            .iter()
            .map(|one| &one["notes_cut"])
            .collect::<Vec<_>>(),
        [&json!(false), &json!(true), &json!(true)]
    );
    assert_eq!(events_of_kind(&trace, "end")[0]["status"], "complete");
}

#[test]
fn a_choice_takes_the_first_case_that_holds_and_a_function_its_arguments() {
    let task = r#"<task type="sequential" name="t"><description>Answer.</description>
        <steps>
          <task as="verdict"><description>Judge.</description><output_format type="json" schema="object"/></task>
          <cond as="reply">
            <case test="verdict.severity == 'sev1'"><task><description>Page somebody.</description></task></case>
            <case test="verdict.severity != 'sev1'"><task><description>Write a letter.</description></task></case>
          </cond>
          <call template="shorten"><arg name="text" from="reply"/><arg name="words">8</arg></call>
        </steps></task>"#;
    let shorten = r#"<template name="shorten" params="text, words" returns="string"><task type="atomic">
        <description>Shorten to {{words}} words.</description><instructions>{{text}}</instructions><output_format type="text"/></task></template>"#;
    let project = project_with_templates(&[("t", task), ("shorten", shorten)]);
    let answers = "- {when: {node: verdict}, reply: {severity: sev3}}\n- {when: {has: Write a letter}, reply: Dear customer}\n\
        - {when: {has: Shorten to 8 words}, reply: Dear}\n";
    let run = run_scripted(&project, &["t", "--explain"], answers).exits_with(0);
    assert_eq!(run.stdout, "Dear\n");
    run.stderr_contains("/steps/1: case 1, since `verdict.severity != 'sev1'` holds");
    let trace = newest_trace(&state_folder(&project));
    assert_eq!(trace_calls(&trace).len(), 3);
    assert!(message_contents(trace_calls(&trace)[2]).contains("Dear customer"));
}

#[test]
fn a_fold_begins_with_its_initial_value_and_merges_one_by_one() {
    let task = r#"<task type="reduce" name="t"><description>Merge.</description>
        <parameters><parameter name="a" type="string" required="true"/><parameter name="b" type="string" required="true"/></parameters>
        <inputs><input name="one" from="a"/><input name="two" from="b"/></inputs>
        <initial_value>Nothing yet.</initial_value>
        <inner_task><description>Read.</description><inputs><input name="part" from="current_input"/></inputs></inner_task>
        <reduction_task><description>Merge.</description>
          <inputs><input name="so_far" from="accumulator"/><input name="new" from="current_result"/></inputs></reduction_task></task>"#;
    let project = project_with_templates(&[("t", task)]);
    let answers = "- {when: {node: /inner_task}, reply: read 1}\n- {when: {node: /inner_task}, reply: read 2}\n\
        - {when: {node: /reduction_task}, reply: merged 1}\n- {when: {node: /reduction_task}, reply: merged 2}\n";
    let run = run_scripted(
        &project,
        &["t", "--input", "a=north", "--input", "b=south"],
        answers,
    )
    .exits_with(0);
    assert_eq!(run.stdout, "merged 2\n");
    let trace = newest_trace(&state_folder(&project));
    let texts: Vec<String> = trace_calls(&trace)
        .into_iter()
        .map(message_contents)
        .collect();
    assert_eq!(texts.len(), 4);
    assert!(
        texts[0].contains("north")
            && texts[1].contains("Nothing yet.")
            && texts[1].contains("read 1"),
        "{texts:#?}"
    );
    assert!(
        texts[2].contains("south") && texts[3].contains("merged 1") && texts[3].contains("read 2"),
        "{texts:#?}"
    );
    let stages: Vec<&str> = events_of_kind(&trace, "stage")
        .iter()
        .map(|one| one["stage"].as_str().unwrap())
        .collect();
    assert_eq!(
        stages,
        [
            "/inner_task@1",
            "/reduction_task@1",
            "/inner_task@2",
            "/reduction_task@2"
        ]
    );
}

const LOOP: &str = r#"<task type="director_evaluator_loop" name="t"><description>Polish.</description>
    <max_iterations>3</max_iterations>
    <director><description>Improve in round {{current_iteration}}.</description>
      <inputs><input name="reading" from="evaluation_feedback"/></inputs></director>
    <evaluator><description>Read.</description><inputs><input name="text" from="director_result"/></inputs>
      <output_format type="json" schema="object"/></evaluator>
    <termination_condition><condition>evaluation.success == true</condition></termination_condition></task>"#;

#[test]
fn a_loop_passes_feedback_on_until_its_condition_holds() {
    let project = project_with_templates(&[("t", LOOP)]);
    let answers = "- {when: {node: /director}, reply: first draft}\n- {when: {node: /director}, reply: second draft}\n\
        - {when: {node: /evaluator}, reply: {success: false, said: too long}}\n- {when: {node: /evaluator}, reply: {success: true}}\n";
    let run = run_scripted(&project, &["t"], answers).exits_with(0);
    assert_eq!(run.stdout, "second draft\n");
    let trace = newest_trace(&state_folder(&project));
    let texts: Vec<String> = trace_calls(&trace)
        .into_iter()
        .map(message_contents)
        .collect();
    assert!(
        texts[0].contains("round 1") && texts[0].contains("none yet"),
        "{texts:#?}"
    );
    assert!(
        texts[2].contains("round 2")
            && texts[2].contains("too long")
            && !texts[2].contains("first draft"),
        "{texts:#?}"
    );
    let rounds: Vec<&Value> = events_of_kind(&trace, "round")
        .into_iter()
        .map(|one| &one["ends"])
        .collect();
    assert_eq!(rounds, [&json!(false), &json!(true)]);
}

#[test]
fn a_loop_without_progress_is_blocked_at_its_bound() {
    let project = project_with_templates(&[("t", LOOP)]);
    let answers = "- {when: {node: /director}, reply: a draft}\n- {when: {node: /evaluator}, reply: {success: false}}\n";
    let run = run_scripted(&project, &["t"], answers).exits_with(7);
    run.stderr_contains("did not hold after 3 rounds");
    let trace = newest_trace(&state_folder(&project));
    let end = events_of_kind(&trace, "end")[0];
    assert_eq!(
        (&end["status"], &end["obstacle"]["kind"]),
        (&json!("blocked"), &json!("loop_limit"))
    );
    assert_eq!(end["partial"].as_array().unwrap().len(), 6);
}

#[test]
fn inputs_are_made_before_the_task_that_names_them() {
    let task = r#"<task type="atomic" name="t"><description>Join.</description>
        <inputs>
          <input name="one"><task type="atomic"><description>Make one.</description></task></input>
          <input name="two"><task type="atomic"><description>Make two of {{one}}.</description></task></input>
        </inputs><instructions>{{one}} and {{two}}</instructions></task>"#;
    let project = project_with_templates(&[("t", task)]);
    let answers = "- {when: {has: Make one}, reply: first}\n- {when: {has: Make two of first}, reply: second}\n- {when: {has: Join}, reply: both}\n";
    assert_eq!(
        run_scripted(&project, &["t"], answers).exits_with(0).stdout,
        "both\n"
    );
    let trace = newest_trace(&state_folder(&project));
    assert!(message_contents(trace_calls(&trace)[2]).contains("first and second"));
}

#[test]
fn what_fails_keeps_what_was_done_in_the_form_in_which_it_is_carried() {
    let of = |format: &str| {
        let task = format!(
            r#"<task type="sequential" name="t"><description>Handle.</description>
            <context_management><accumulation_format>{format}</accumulation_format></context_management>
            <steps><task as="a"><description>First.</description></task><task><description>Then.</description></task></steps></task>"#
        );
        let project = project_with_templates(&[("t", &task)]);
        let answers = "- {when: {node: a}, reply: {status: COMPLETE, content: all of it, notes: a note}}\n- {reply: {status: FAILED, content: no way}}\n";
        run_scripted(&project, &["t"], answers)
            .exits_with(1)
            .stderr_contains("no way")
            .stdout_is_empty();
        let trace = newest_trace(&state_folder(&project));
        events_of_kind(&trace, "end")[0]["partial"][0].clone()
    };
    assert_eq!(
        of("notes_only"),
        json!({"stage": "/steps/0", "notes": "a note"})
    );
    assert_eq!(
        of("full_output"),
        json!({"stage": "/steps/0", "notes": "a note", "content": "all of it"})
    );
}

const SIMPLE: &str = r#"<task type="atomic" name="t"><description>Do it.</description></task>"#;

#[test]
fn an_answer_without_its_form_is_repaired_once() {
    let task = r#"<task type="atomic" name="t"><description>Count.</description><output_format type="json" schema="number"/></task>"#;
    let project = project_with_templates(&[("t", task)]);
    let answers = "- {when: {lacks: does not have the form}, reply: about seven}\n- {when: {has: does not have the form}, reply: 7}\n";
    assert_eq!(
        run_scripted(&project, &["t"], answers).exits_with(0).stdout,
        "7\n"
    );
    let again = "- {reply: about seven}\n";
    run_scripted(&project, &["t"], again)
        .exits_with(1)
        .stderr_contains("nor did its repair: expected JSON, found “about seven”");
}

#[test]
fn who_waits_for_somebody_is_blocked() {
    let project = project_with_templates(&[("t", SIMPLE)]);
    let answers = "- {reply: {status: WAITING, content: ask the landlord}}\n";
    run_scripted(&project, &["t"], answers)
        .exits_with(7)
        .stderr_contains("ask the landlord");
}

#[test]
fn a_subtask_runs_before_its_agent_continues() {
    let project = project_with_templates(&[("t", SIMPLE)]);
    let ask = "{status: CONTINUATION, content: one moment, subtask_request: {type: atomic, description: Measure the desk., inputs: {unit: cm}}}";
    let answers = format!(
        "- {{when: {{has: Measure the desk, lacks: The result of the subtask}}, reply: 140}}\n\
         - {{when: {{has: The result of the subtask}}, reply: it fits}}\n- {{reply: {ask}}}\n"
    );
    let run = run_scripted(&project, &["t"], &answers).exits_with(0);
    assert_eq!(run.stdout, "it fits\n");
    let trace = newest_trace(&state_folder(&project));
    let subtask = events_of_kind(&trace, "subtask")[0];
    assert_eq!(
        (&subtask["depth"], &subtask["refused"]),
        (&json!(1), &Value::Null)
    );
    // Its settings are those of the subtype `subtask`: nothing is inherited unless it is set.
    assert!(
        !message_contents(trace_calls(&trace)[1]).contains("Do it."),
        "{}",
        message_contents(trace_calls(&trace)[1])
    );
    assert!(message_contents(trace_calls(&trace)[2]).contains("140"));
    // The tasks of the project's roles do not concern the subtask.
    project.write_file(
        "ctxc.toml",
        "edition = \"2026\"\n[roles.clerk]\ntemplate = \"t\"\n",
    );
    assert_eq!(
        run_scripted(
            &project,
            &["--role", "clerk", "--objective", "do it"],
            &answers
        )
        .exits_with(0)
        .stdout,
        "it fits\n"
    );
}

#[test]
fn subtasks_go_neither_in_a_circle_nor_too_deep() {
    let project = project_with_templates(&[("t", SIMPLE)]);
    let same = "- {reply: {status: CONTINUATION, content: x, subtask_request: {type: atomic, description: Again.}}}\n";
    run_scripted(&project, &["t"], same)
        .exits_with(1)
        .stderr_contains("the same request is among its ancestors");
    let deeper = (0..9).fold(String::new(), |deeper, depth| {
            let lacks = format!("Level {depth}");
            deeper + &format!("- {{when: {{lacks: '{lacks}', has: '{}'}}, reply: {{status: CONTINUATION, content: x, subtask_request: {{type: atomic, description: 'Level {depth}'}}}}}}\n",
                if depth == 0 { "Do it".to_owned() } else { format!("Level {}", depth - 1) })
        });
    run_scripted(&project, &["t"], &deeper)
        .exits_with(1)
        .stderr_contains("it would be 6 deep; the limit is 5");
    run_scripted(&project, &["t", "--max-depth", "2"], &deeper)
        .exits_with(1)
        .stderr_contains("it would be 3 deep; the limit is 2");
}

#[test]
fn the_flow_of_a_task_is_drawn() {
    let project = project_with_templates(&[("t", LOOP)]);
    let run = project.run(&["graph", "t"]).exits_with(0);
    run.stdout_contains("flowchart TD")
        .stdout_contains("[\"director\"]")
        .stdout_contains("until evaluation.success == true, at most 3 rounds");
    let svg = project
        .run(&["graph", "t", "--as", "svg"])
        .exits_with(0)
        .stdout;
    let count = |svg: &str, tag: &str| {
        let svg = roxmltree::Document::parse(svg).unwrap();
        svg.descendants()
            .filter(|node| node.has_tag_name(tag))
            .count()
    };
    // The frame, its two parts and the end; an arrow between the parts, to the frame's end, and out.
    assert_eq!(count(&svg, "rect"), 4);
    assert_eq!(svg.matches("class=\"edge\"").count(), 3);
    assert!(svg.contains("marker-end:url(#arrow)"), "{svg}");
    let choice = r#"<task type="sequential" name="t"><description>Sort.</description><parameters><parameter name="x" type="string"/></parameters><steps>
        <task as="sort"><description>Sort {{x}}.</description></task>
        <cond><case test="sort == 'bill'"><task><description>Refund.</description></task></case>
        <case test="sort == 'door'"><task ref="open"/></case></cond></steps></task>"#;
    let open = SIMPLE.replace("\"t\"", "\"open\"");
    let project = project_with_templates(&[("t", choice), ("open", &open)]);
    let svg = project
        .run(&["graph", "t", "--as", "svg"])
        .exits_with(0)
        .stdout;
    let titles = [
        "sort",
        "step 2",
        "case 1",
        "open",
        "sort == 'bill'",
        "no case",
        "done",
    ];
    for title in titles {
        assert!(svg.contains(&format!(">{title}</text>")), "{title}\n{svg}");
    }
    assert!(!svg.contains("/steps/"), "{svg}");
    // Each of the three ways leaves the choice and comes to the end.
    assert_eq!(count(&svg, "polygon"), 1);
    assert_eq!(svg.matches("class=\"edge\"").count(), 1 + 3 + 3);
}
