//! Values from a scenario or the command line are compared with the parameters of the task, before
//! anything is run.

use super::project::Project;

const TASK: &str = "<task type=\"atomic\" name=\"triage\">\n  <description>sort {{ticket}} {{words}} {{teams}}</description>\n  \
    <parameters>\n    <parameter name=\"ticket\" type=\"string\" required=\"true\"/>\n    \
    <parameter name=\"words\" type=\"integer\" default=\"50\"/>\n    \
    <parameter name=\"teams\" type=\"string[]\" default=\"[]\"/>\n  </parameters>\n</task>\n";
const HEAD: &str = "task: triage\ncontext:\n  objective: sort the ticket\n  inputs:\n";
const TAIL: &str = "expect_context:\n  - nothing_cut: true\n";

#[test]
fn inputs_of_a_wrong_type_are_reported_where_they_stand_and_not_run() {
    let project = Project::new()
        .with_file("templates/triage.xml", TASK)
        .with_file(
            "scenarios/a.yaml",
            format!("name: a\n{HEAD}    ticket: 4711\n    words: \"20\"\n    teams:\n      - a\n      - 1\n{TAIL}"),
        )
        .with_file("scenarios/b.yaml", format!("name: b\n{HEAD}    ticket: null\n    words: 2.5\n    teams: '[1]'\n{TAIL}"))
        .with_file("scenarios/c.yaml", format!("name: c\n{HEAD}    ticket: '20'\n    words: null\n    teams: [a]\n{TAIL}"))
        .with_file("scenarios/s.yaml", "id: s\ndefaults: {task: triage, context: {objective: x}}\ncases_from: rows.csv\n")
        .with_file("scenarios/rows.csv", "id,ticket,words,contains\n1,late,20,x\n");
    let run = project.run(&["check", "--format", "concise"]).exits_with(1);
    insta::assert_snapshot!(run.stdout, @r#"
    scenarios/a.yaml:6:13: error[wrong-input]: the value of `ticket` is a number, and its type in the task `triage` is `string`
    scenarios/a.yaml:7:12: error[wrong-input]: the value of `words` is a string, and its type in the task `triage` is `integer`
    scenarios/a.yaml:9:7: error[wrong-input]: the value of `teams` is an array, and its type in the task `triage` is `string[]`
    scenarios/b.yaml:6:13: error[wrong-input]: the value of `ticket` is null, and its type in the task `triage` is `string`
    scenarios/b.yaml:7:12: error[wrong-input]: the value of `words` is a number, and its type in the task `triage` is `integer`
    scenarios/b.yaml:8:12: error[wrong-input]: the value of `teams` is a string, and its type in the task `triage` is `string[]`
    scenarios/s.yaml:3:13: error[wrong-input]: the value of `words` is a string, and its type in the task `triage` is `integer`
    checked 5 files: 7 errors; 2 fixable with `check --fix --unsafe-fixes`
    by rule: wrong-input 7
    "#);
    let run = project.run(&["eval"]).exits_with(1);
    insta::assert_snapshot!(run.stdout, @r#"
    ! ERROR                a    context 0/0  answer not recorded
      scenarios/a.yaml:1: wrong-input (CTX624): scenarios/a.yaml:6:13: the value of `ticket` is a number, and its type in the task `triage` is `string`; did you mean `"4711"`?
    ! ERROR                b    context 0/0  answer not recorded
      scenarios/b.yaml:1: wrong-input (CTX624): scenarios/b.yaml:6:13: the value of `ticket` is null, and its type in the task `triage` is `string`
    ✓ PASS (context only)  c    context 1/1  answer not recorded
    ! ERROR                s/1  context 0/0  answer not recorded
      scenarios/s.yaml:3: wrong-input (CTX624): scenarios/s.yaml:3:13: the value of `words` is a string, and its type in the task `triage` is `integer`
    4 scenarios: 1 passed, 0 failed, 3 errored; 0 carried, 0 calls, US$ 0
    "#);
    // The intended value is written.
    project.run(&["check", "--fix", "--unsafe-fixes", "scenarios/a.yaml"]);
    assert!(
        project
            .read_file("scenarios/a.yaml")
            .contains("    ticket: \"4711\"\n    words: 20\n")
    );
}

#[test]
fn a_request_to_a_model_is_no_scenario_wherever_it_lies() {
    let json = "{\"model\": \"m\", \"messages\": [{\"role\": \"user\", \"content\": \"see ctxc/scenario/1\"}]}";
    let project = Project::new()
        .with_file("templates/triage.xml", TASK)
        .with_file(
            "scenarios/a.yaml",
            format!("name: a\n{HEAD}    ticket: late\n{TAIL}"),
        )
        .with_file(
            "scenarios/body.yaml",
            "model: m\nmessages:\n  - {role: user, content: hello}\n",
        )
        .with_file("scenarios/body.json", json);
    assert_eq!(
        project.run(&["check"]).exits_with(0).stdout,
        "checked 2 files: nothing found\n"
    );
    assert!(
        project
            .run(&["eval"])
            .exits_with(0)
            .stdout
            .contains("1 scenario: 1 passed")
    );
    for (verb, file) in [
        ("check", "scenarios/body.yaml"),
        ("eval", "scenarios/body.json"),
    ] {
        let run = project.run(&[verb, file]).exits_with(2);
        assert!(
            run.stderr
                .contains(&format!("{file} is a request to a model, not a scenario")),
            "{}",
            run.stderr
        );
    }
}
