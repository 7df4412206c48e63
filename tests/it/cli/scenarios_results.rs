//! Results and answers of scenarios that no agent takes, and slips in their schemas.

use super::project::Project;

const ROUND: &str = "<task type=\"sequential\" name=\"round\">\n  <description>Go round.</description>\n  <context_management>\n    \
    <accumulate_data>false</accumulate_data>\n  </context_management>\n  <steps>\n    \
    <task as=\"facts\"><description>Gather facts.</description></task>\n    \
    <task as=\"mood\"><?ctxc allow unread-value reason=\"nothing takes it\"?><description>Guess the mood.</description></task>\n    \
    <task><description syntax=\"jinja\">{% if facts.late %}Say sorry.{% endif %} Answer.</description></task>\n  </steps>\n</task>\n";

fn sample() -> Project {
    let carrying = ROUND
        .replace("round", "carrying")
        .replace("false", "true")
        .replace("facts.late", "true");
    let carrying = carrying.replace(
        "<?ctxc allow unread-value reason=\"nothing takes it\"?>",
        "",
    );
    let project = Project::new()
        .with_file("ctxc.toml", "edition = \"2026\"\n")
        .with_file("templates/round.xml", ROUND);
    project.with_file("templates/carrying.xml", carrying)
}

fn scenario(name: &str, node: &str, results: &str) -> String {
    format!(
        "name: {name}\ntask: round\nnode: {node}\ncontext:\n  objective: go\n  results: {results}\nexpect_context:\n  - nothing_cut: true\n"
    )
}

#[test]
fn results_that_no_one_takes_are_reported_and_not_run() {
    let project = sample()
        .with_file(
            "scenarios/a.yaml",
            scenario("a", "/steps/2", "{fact: {late: true}}"),
        )
        .with_file(
            "scenarios/b.yaml",
            scenario("b", "/steps/2", "\n    facts: {late: true}\n    mood: bad"),
        )
        .with_file(
            "scenarios/c.yaml",
            scenario("c", "/steps/0", "{facts: {late: true}}"),
        )
        .with_file(
            "scenarios/d.yaml",
            scenario("d", "/steps/2", "{facts: {late: true}}"),
        )
        .with_file(
            "scenarios/e.yaml",
            scenario("e", "/steps/2", "{/steps/0: {late: true}, mood: bad}")
                .replace("round", "carrying"),
        )
        .with_file(
            "scenarios/f.yaml",
            scenario("f", "/steps/2", "{weather: fine}"),
        )
        .with_file(
            "scenarios/g.yaml",
            scenario("g", "/steps/9", "{facts: fine}"),
        );
    let run = project.run(&["check", "--format", "concise"]).exits_with(1);
    insta::assert_snapshot!(run.stdout, @r#"
    scenarios/a.yaml:6:13: error[untaken-result]: no step of `round` has a result `fact`
    scenarios/f.yaml:6:13: error[untaken-result]: no step of `round` has a result `weather`
    scenarios/g.yaml:3:7: error[unknown-receiver]: the task `round` has no agent `/steps/9`
    checked 9 files: 3 errors; 2 fixable with `check --fix --unsafe-fixes`
    by rule: untaken-result 2, unknown-receiver 1
    "#);
    let run = project.run(&["eval"]).exits_with(1);
    insta::assert_snapshot!(run.stdout, @r#"
    ! ERROR                a  context 0/0  answer not recorded
      scenarios/a.yaml:1: untaken-result (CTX626): scenarios/a.yaml:6:13: no step of `round` has a result `fact`; did you mean `facts`?
    ✓ PASS (context only)  b  context 1/1  answer not recorded
    ✓ PASS (context only)  c  context 1/1  answer not recorded
    ✓ PASS (context only)  d  context 1/1  answer not recorded
    ✓ PASS (context only)  e  context 1/1  answer not recorded
    ! ERROR                f  context 0/0  answer not recorded
      scenarios/f.yaml:1: untaken-result (CTX626): scenarios/f.yaml:6:13: no step of `round` has a result `weather`
    ! ERROR                g  context 0/0  answer not recorded
      scenarios/g.yaml:1: unknown-receiver (CTX610): scenarios/g.yaml:3:7: the task `round` has no agent `/steps/9`; did you mean `/steps/2`?
    7 scenarios: 4 passed, 0 failed, 3 errored; 0 carried, 0 calls, US$ 0
    "#);
    project.run(&["check", "--fix", "--unsafe-fixes", "scenarios/a.yaml"]);
    assert!(
        project
            .read_file("scenarios/a.yaml")
            .contains("  results: {facts: {late: true}}\n")
    );
    for verb in [&["render"][..], &["manifest"], &["new", "scenario"]] {
        let run = project
            .run(&[verb, &["round", "--node", "/steps/2", "--result", "fact=x"]].concat())
            .exits_with(2)
            .stdout_is_empty();
        run.stderr_contains("--result fact: no step of `round` has such a result")
            .stderr_contains("did you mean `facts`?");
    }
    project
        .run(&[
            "render",
            "round",
            "--node",
            "/steps/2",
            "--result",
            "facts={\"late\": true}",
        ])
        .exits_with(0)
        .stdout_contains("Say sorry.");
}

#[test]
fn a_whole_run_is_expected_to_come_by_agents_that_the_task_has() {
    let of = |name: &str, expectations: &str| {
        format!(
            "name: {name}\ntask: round\nrun: true\ncontext:\n  objective: go\nexpectations:\n{expectations}answers:\n  - reply: fine\n"
        )
    };
    let project = sample()
        .with_file("scenarios/a.yaml", of("a", "  - path: [facts, nowhere, /steps/9]\n"))
        .with_file(
            "scenarios/b.yaml",
            of("b", "  - {contains: fine, node: never-there}\n  - not: {path: {match: superset, nodes: [fact]}}\n"),
        )
        .with_file(
            "scenarios/c.yaml",
            of("c", "  - path: {match: superset, nodes: [facts, /steps/2]}\n  - {contains: fine, node: facts}\n"),
        );
    let run = project.run(&["check", "--format", "concise"]).exits_with(1);
    insta::assert_snapshot!(run.stdout, @"
    scenarios/a.yaml:7:19: error[unknown-receiver]: the task `round` has no agent or script `nowhere`
    scenarios/a.yaml:7:28: error[unknown-receiver]: the task `round` has no agent or script `/steps/9`
    scenarios/b.yaml:7:28: error[unknown-receiver]: the task `round` has no agent or script `never-there`
    scenarios/b.yaml:8:43: error[unknown-receiver]: the task `round` has no agent or script `fact`
    checked 5 files: 4 errors; 2 fixable with `check --fix --unsafe-fixes`
    by rule: unknown-receiver 4
    ");
    project.run(&["check", "--fix", "--unsafe-fixes", "scenarios/b.yaml"]);
    assert!(
        project
            .read_file("scenarios/b.yaml")
            .contains("nodes: [facts]"),
        "{}",
        project.read_file("scenarios/b.yaml")
    );
}

#[test]
fn an_answer_below_one_for_everything_is_never_given() {
    let answers = "expectations:\n  - contains: b\nanswers:\n  - when: {has: order}\n    reply: a\n  - reply: b\n  - when: {has: Go}\n    \
        reply: c\n";
    let project = sample().with_file(
        "scenarios/a.yaml",
        format!("name: a\ntask: round\ncontext:\n  objective: go\n{answers}node: facts\n"),
    );
    let run = project
        .run(&["check", "--format", "concise", "scenarios/a.yaml"])
        .exits_with(0);
    run.stdout_contains("scenarios/a.yaml:11:5: warning[untaken-result]: this answer is never given: one before it answers every request");
}

/// A case whose answer is validated with a schema.
fn case_with_schema(name: &str, schema: &str) -> String {
    format!(
        "name: {name}\ntask: round\ncontext:\n  objective: go\nexpectations:\n{schema}answers:\n  - reply: {{team: 5}}\nnode: mood\n"
    )
}

#[test]
fn typos_in_a_schema_are_reported_where_they_stand() {
    let slips = "  - schema:\n      type: objct\n      requried: [team]\n      properties:\n        team: {type: strng, minLenght: 3}\n        \
        parts: {type: array, items: {type: [string, nul]}}\n        when: {format: date-tme, x-own: 1}\n        \
        who: {$ref: '#/$defs/persn'}\n      additionalProperties: false\n      required: [taem, 5]\n      colour: red\n      $defs: {person: {enum: []}}\n";
    let inside = "  - not:\n      any_of:\n        - schema: {type: object, requird: [team]}\n";
    let project = sample()
        .with_file("scenarios/a.yaml", case_with_schema("a", slips))
        .with_file("scenarios/b.yaml", case_with_schema("b", inside))
        .with_file(
            "scenarios/c.yaml",
            case_with_schema("c", "  - schema: {type: object, required: [team], properties: {team: {type: integer}}}\n"),
        )
        .with_file("scenarios/d.yaml", case_with_schema("d", "  - schema: answer.json\n"))
        .with_file("scenarios/e.yaml", case_with_schema("e", "  - not: {schema: {file: answer.json}}\n"))
        .with_file("scenarios/answer.json", "{\"type\": \"object\", \"properties\": {\"team\": {\"tpye\": \"string\"}}}")
        .with_file("scenarios/f.yaml", case_with_schema("f", "  - schema: own.json\n"))
        .with_file("scenarios/own.json", "{\"type\": \"object\", \"ourColour\": \"red\"}");
    let run = project
        .run(&["check", "--format", "concise", "scenarios"])
        .exits_with(1);
    insta::assert_snapshot!(run.stdout, @r#"
    scenarios/a.yaml:7:13: error[wrong-scenario-value]: `expectations.schema.type` is `objct`; expected `object`, `array`, `string`, `number`, `integer`, `boolean`, `null`
    scenarios/a.yaml:8:7: error[unknown-scenario-key]: a JSON Schema (`expectations.schema`) has no key `requried`
    scenarios/a.yaml:10:22: error[wrong-scenario-value]: `expectations.schema.properties.team.type` is `strng`; expected `object`, `array`, `string`, `number`, `integer`, `boolean`, `null`
    scenarios/a.yaml:10:29: error[unknown-scenario-key]: a JSON Schema (`expectations.schema.properties.team`) has no key `minLenght`
    scenarios/a.yaml:11:53: error[wrong-scenario-value]: `expectations.schema.properties.parts.items.type.1` is `nul`; expected `object`, `array`, `string`, `number`, `integer`, `boolean`, `null`
    scenarios/a.yaml:12:24: error[wrong-scenario-value]: `expectations.schema.properties.when.format` is `date-tme`; expected `date-time`, `date`, `time`, `duration`, `email`, `idn-email`, `hostname`, `idn-hostname`, `ipv4`, `ipv6`, `uri`, `uri-reference`, `iri`, `iri-reference`, `uuid`, `uri-template`, `json-pointer`, `relative-json-pointer`, `regex`
    scenarios/a.yaml:13:21: error[wrong-scenario-value]: `expectations.schema.properties.who.$ref` is `#/$defs/persn`; expected a place in this schema: `#/$defs/NAME`
    scenarios/a.yaml:15:18: error[wrong-scenario-value]: `expectations.schema.required.0` is `taem`; expected a name under `properties`, since `additionalProperties` rules out every other
    scenarios/a.yaml:15:24: error[wrong-scenario-value]: `expectations.schema.required.1` is `5`; expected what draft 2020-12 takes, the default without `$schema`: this is not of type "string"
    scenarios/a.yaml:16:7: error[unknown-scenario-key]: a JSON Schema (`expectations.schema`) has no key `colour`
    scenarios/a.yaml:17:30: error[wrong-scenario-value]: `expectations.schema.$defs.person.enum` is `[]`; expected a list of 1 or more values
    scenarios/b.yaml:8:34: error[unknown-scenario-key]: a JSON Schema (`expectations.not.any_of.schema`) has no key `requird`
    scenarios/d.yaml:6:5: error[unsound-frozen-file]: `/properties/team/tpye` in `answer.json` is not a JSON Schema keyword, so it has no effect
    scenarios/e.yaml:6:10: error[unsound-frozen-file]: `/properties/team/tpye` in `answer.json` is not a JSON Schema keyword, so it has no effect
    scenarios/f.yaml:6:5: warning[unsound-frozen-file]: `/ourColour` in `own.json` is not a JSON Schema keyword, so it has no effect
    checked 6 files: 14 errors, 1 warning; 9 fixable with `check --fix --unsafe-fixes`
    by rule: wrong-scenario-value 8, unknown-scenario-key 4, unsound-frozen-file 3
    "#);
    let run = project.run(&["eval"]).exits_with(1);
    insta::assert_snapshot!(run.stdout, @r#"
    ! ERROR  scenarios/a.yaml  context 0/0  answer not recorded
      scenarios/a.yaml:1: nothing of this file is run: wrong-scenario-value (CTX603): scenarios/a.yaml:7:13: `expectations.schema.type` is `objct`; expected `object`, `array`, `string`, `number`, `integer`, `boolean`, `null`; did you mean `object`?; found `type: objct`; and 10 more, which `ctxc check` shows
    ! ERROR  scenarios/b.yaml  context 0/0  answer not recorded
      scenarios/b.yaml:1: nothing of this file is run: unknown-scenario-key (CTX602): scenarios/b.yaml:8:34: a JSON Schema (`expectations.not.any_of.schema`) has no key `requird`; did you mean `required`?; found `- schema: {type: object, requird: [team]}`
    ✓ PASS   c                 context 0/0  answer 2 of 2 (scripted)
    ! ERROR  d                 context 0/0  answer not recorded
      scenarios/d.yaml:1: unsound-frozen-file (CTX627): scenarios/d.yaml:6:5: `/properties/team/tpye` in `answer.json` is not a JSON Schema keyword, so it has no effect; did you mean `type`?
    ! ERROR  e                 context 0/0  answer not recorded
      scenarios/e.yaml:1: unsound-frozen-file (CTX627): scenarios/e.yaml:6:10: `/properties/team/tpye` in `answer.json` is not a JSON Schema keyword, so it has no effect; did you mean `type`?
    ✓ PASS   f                 context 0/0  answer 2 of 2 (scripted)
    6 scenarios: 2 passed, 0 failed, 4 errored; 0 carried, 0 calls, US$ 0
    "#);
}
