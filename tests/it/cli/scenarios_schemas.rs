//! Schemas of scenarios are read by the draft that they name, by `check` as by `eval`.

use super::project::Project;

const GO: &str = "<task type=\"atomic\" name=\"go\">\n  <description>Go.</description>\n</task>\n";

/// A project with a scenario for each schema, whose answers are these.
fn project_with_schemas(schemas: &[(&str, &str, &str)]) -> Project {
    let project = Project::new()
        .with_file("ctxc.toml", "edition = \"2026\"\n")
        .with_file("templates/go.xml", GO);
    schemas.iter().fold(project, |project, (name, schema, reply)| {
        let case = format!(
            "name: {name}\ntask: go\ncontext:\n  objective: go\nexpectations:\n  - schema: {name}.json\nanswers:\n  - reply: {reply}\n"
        );
        project.with_file(&format!("scenarios/{name}.yaml"), case).with_file(&format!("scenarios/{name}.json"), schema)
    })
}

const SEVEN: &str = "\"$schema\": \"http://json-schema.org/draft-07/schema#\"";
const OF_2019: &str = "\"$schema\": \"https://json-schema.org/draft/2019-09/schema\"";

#[test]
fn a_schema_is_read_by_the_draft_that_it_names() {
    let of = |draft: &str, rest: &str| format!("{{{draft}, {rest}}}");
    let four = "\"$schema\": \"http://json-schema.org/draft-04/schema#\"";
    let anchor = of(
        SEVEN,
        r##""definitions": {"a": {"$id": "#a", "type": "string"}}, "properties": {"k": {"$ref": "#a"}}"##,
    );
    let items = of(
        SEVEN,
        r#""items": [{"type": "string"}], "additionalItems": false"#,
    );
    let bound = of(four, r#""minimum": 0, "exclusiveMinimum": true"#);
    let again = of(OF_2019, r#""$recursiveAnchor": true, "type": "object""#);
    let beside = of(
        SEVEN,
        r##""properties": {"k": {"$ref": "#/definitions/a", "type": "string"}}, "definitions": {"a": {"type": "number"}}"##,
    );
    let recursive = of(
        OF_2019,
        r##""properties": {"c": {"$recursiveRef": "#"}, "k": {"type": "string"}}"##,
    );
    let named = r##"{"$ref": "#a", "$defs": {"a": {"$anchor": "a", "type": "number"}}}"##;
    let addressed =
        r#"{"$ref": "item.json", "$defs": {"a": {"$id": "item.json", "type": "number"}}}"#;
    let project = project_with_schemas(&[
        ("a", &anchor, "{k: x}"),
        ("b", &items, "[x]"),
        ("c", &bound, "1"),
        ("d", &again, "{}"),
        ("e", &beside, "{k: 1}"),
        ("f", &recursive, "{c: {k: x}}"),
        ("g", named, "1"),
        ("h", addressed, "1"),
        (
            "i",
            r#"{"$schema": "http://json-schema.org/schema#", "prefixItems": [{"type": "string"}]}"#,
            "[x]",
        ),
    ]);
    project
        .run(&["check"])
        .exits_with(0)
        .stdout_contains("nothing found");
    project
        .run(&["eval"])
        .exits_with(0)
        .stdout_contains("9 passed");
    // Values that a schema excludes are excluded.
    let project = project_with_schemas(&[
        ("a", &anchor, "{k: 1}"),
        ("b", &items, "[x, y]"),
        ("c", &bound, "0"),
        ("d", &again, "[]"),
        ("e", &beside, "{k: x}"),
        ("f", &recursive, "{c: {k: 1}}"),
    ]);
    project
        .run(&["eval"])
        .exits_with(1)
        .stdout_contains("6 failed");
}

#[test]
fn what_a_draft_does_not_take_is_reported_by_check_and_not_run() {
    let project = project_with_schemas(&[
        (
            "a",
            r#"{"$schema": "http://json-schema.org/draft-08/schema#"}"#,
            "1",
        ),
        ("b", r#"{"items": [{"type": "string"}]}"#, "1"),
        (
            "c",
            r#"{"properties": {"k": {"minimum": 0, "exclusiveMinimum": true}}}"#,
            "1",
        ),
        ("f", r#"{"$ref": "https://example.com/a.json"}"#, "1"),
        (
            "g",
            r#"{"$id": "https://example.com/b.json", "$ref": "a.json"}"#,
            "1",
        ),
        ("h", r#"{"properties": {"k": {"pattern": "^(?!b)"}}}"#, "1"),
        ("i", r##"{"properties": {"k": {"$ref": "#a"}}}"##, "1"),
        ("j", r##"{"allOf": [{"$ref": "#"}]}"##, "1"),
    ]);
    let inline = "name: z\ntask: go\ncontext:\n  objective: go\nexpectations:\n  - schema:\n      type: array\n      items: [{type: string}]\n";
    let project = project.with_file("scenarios/z.yaml", inline);
    let run = project.run(&["check", "--format", "concise"]).exits_with(1);
    insta::assert_snapshot!(run.stdout, @r##"
    scenarios/a.yaml:6:5: error[unsound-frozen-file]: `/$schema` of `a.json` is "http://json-schema.org/draft-08/schema#"; expected a draft of JSON Schema: `http://json-schema.org/draft-04/schema#`, `http://json-schema.org/draft-06/schema#`, `http://json-schema.org/draft-07/schema#`, `https://json-schema.org/draft/2019-09/schema`, `https://json-schema.org/draft/2020-12/schema`
    scenarios/b.yaml:6:5: error[unsound-frozen-file]: `/items` of `b.json` is [{"type":"string"}]; expected what draft 2020-12 takes, the default without `$schema`: this is not of types "boolean", "object"
    scenarios/c.yaml:6:5: error[unsound-frozen-file]: `/properties/k/exclusiveMinimum` of `c.json` is true; expected what draft 2020-12 takes, the default without `$schema`: this is not of type "number"
    scenarios/f.yaml:6:5: error[unsound-frozen-file]: the whole of `f.json` is {"$ref":"https://example.com/a.json"}; expected a schema whose references lead to a place in it: Resource 'https://example.com/a.json' is not present in a registry and retrieving it failed: Retrieval is disabled, cannot fetch https://example.com/a.json
    scenarios/g.yaml:6:5: error[unsound-frozen-file]: the whole of `g.json` is {"$id":"https://example.com/b.json","$ref":"a.json"}; expected a schema whose references lead to a place in it: Resource 'https://example.com/a.json' is not present in a registry and retrieving it failed: Retrieval is disabled, cannot fetch https://example.com/a.json
    scenarios/h.yaml:6:5: error[unsound-frozen-file]: `/properties/k/pattern` of `h.json` is "^(?!b)"; expected a pattern of limited size, without look-around and backreferences
    scenarios/i.yaml:6:5: error[unsound-frozen-file]: the whole of `i.json` is {"properties":{"k":{"$ref":"#a"}}}; expected a schema whose references lead to a place in it: Anchor 'a' does not exist
    scenarios/j.yaml:6:5: error[unsound-frozen-file]: the whole of `j.json` is {"allOf":[{"$ref":"#"}]}; expected a schema whose references come to an end
    scenarios/z.yaml:8:14: error[wrong-scenario-value]: `expectations.schema.items` is `[{type: string}]`; expected what draft 2020-12 takes, the default without `$schema`: this is not of types "boolean", "object"
    checked 10 files: 9 errors
    by rule: unsound-frozen-file 8, wrong-scenario-value 1
    "##);
    let run = project.run(&["eval"]).exits_with(1);
    assert!(
        !run.stdout.contains("it is not a valid JSON Schema"),
        "{}",
        run.stdout
    );
    run.stdout_contains("0 passed, 0 failed, 9 errored");
}
