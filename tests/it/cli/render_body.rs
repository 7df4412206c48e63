//! `ctxc render --as`: exactly the body on standard output, whatever else is to be said.

use super::project::Project;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

fn project() -> Project {
    let triage = "<task type=\"atomic\" name=\"triage\">\n  <description>Sort {{ticket}}</description>\n  <system>You sort.</system>\n  \
        <parameters>\n    <parameter name=\"ticket\" required=\"true\"/>\n  </parameters>\n  \
        <output_format type=\"json\" schema=\"team.json\"/>\n</task>\n";
    let named = "<task type=\"atomic\" name=\"named\">\n  <description>{{text}}</description>\n  <model>small-1</model>\n  \
        <parameters>\n    <parameter name=\"text\" required=\"true\"/>\n  </parameters>\n</task>\n";
    let schema = json!({"type": "object", "properties": {"team": {"type": "string"}}, "required": ["team"], "additionalProperties": false});
    Project::new()
        .file("ctxc.toml", "")
        .file("templates/triage.xml", triage)
        .file("templates/named.xml", named)
        .file("templates/team.json", schema.to_string())
}

#[test]
fn the_body_is_all_that_is_printed_and_a_missing_model_is_told_of_elsewhere() {
    let args = ["render", "triage", "--input", "ticket=login", "--as", "openai-chat"];
    let run = project().run(&args).code(0);
    let body: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(body["model"], "MODEL");
    assert_eq!(body["messages"][0]["role"], "system");
    assert_eq!(body["messages"][1], json!({"role": "user", "content": "## Task\n\nSort login"}));
    let form = &body["response_format"]["json_schema"];
    assert_eq!((&form["name"], &form["strict"]), (&json!("triage"), &json!(true)));
    assert!(run.stderr.contains("`MODEL` stands for the model"), "{}", run.stderr);
    let project = project();
    assert_eq!(project.run(&args).code(0).stdout, project.run(&args).code(0).stdout);
}

#[test]
fn the_model_is_the_one_asked_for_else_the_tasks() {
    let model = |more: &[&str]| {
        let args = [&["render", "named", "--input", "text=hi", "--as", "anthropic"], more].concat();
        let run = project().run(&args).code(0);
        assert_eq!(run.stderr, "");
        let body: Value = serde_json::from_str(&run.stdout).unwrap();
        (body["model"].clone(), body["max_tokens"].clone())
    };
    assert_eq!(model(&[]), (json!("small-1"), json!(4096)));
    assert_eq!(model(&["--model", "large-1", "--max-output", "99"]), (json!("large-1"), json!(99)));
}

#[test]
fn a_body_that_no_provider_takes_is_not_printed() {
    let run = project().run(&["render", "named", "--input", "text= ", "--profile", "plain", "--as", "gemini"]);
    // The heading is said even of a blank text.
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    let run = project().run(&["render", "named", "--input", "text=", "--as", "gemini"]).code(1);
    assert_eq!(run.stdout, "");
    assert!(run.stderr.contains("there is nothing to ask"), "{}", run.stderr);
}

#[test]
fn what_does_not_go_together_is_refused() {
    project().run(&["render", "named", "--input", "text=hi", "--model", "m"]).code(2);
    project().run(&["render", "named", "--input", "text=hi", "--as", "ollama", "--explain"]).code(2);
    project().run(&["render", "named", "--input", "text=hi", "--as", "ollama", "--max-output", "0"]).code(2);
    project().run(&["render", "named", "--input", "text=hi", "--as", "openai"]).code(2);
}
