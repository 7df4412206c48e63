//! `ctxc render --as`: exactly the body on standard output, with any other message on standard
//! error.

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
        .with_file("ctxc.toml", "")
        .with_file("templates/triage.xml", triage)
        .with_file("templates/named.xml", named)
        .with_file("templates/team.json", schema.to_string())
}

#[test]
fn the_body_is_all_that_is_printed_and_a_missing_model_is_reported_elsewhere() {
    let args = [
        "render",
        "triage",
        "--input",
        "ticket=login",
        "--as",
        "openai-chat",
    ];
    let run = project().run(&args).exits_with(0);
    let body: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(body["model"], "MODEL");
    assert_eq!(body["messages"][0]["role"], "system");
    assert_eq!(
        body["messages"][1],
        json!({"role": "user", "content": "## Task\n\nSort login"})
    );
    let form = &body["response_format"]["json_schema"];
    assert_eq!(
        (&form["name"], &form["strict"]),
        (&json!("triage"), &json!(true))
    );
    assert!(
        run.stderr.contains("`MODEL` stands for the model"),
        "{}",
        run.stderr
    );
    let project = project();
    assert_eq!(
        project.run(&args).exits_with(0).stdout,
        project.run(&args).exits_with(0).stdout
    );
}

#[test]
fn the_model_is_the_one_asked_for_else_the_tasks() {
    let model = |more: &[&str]| {
        let args = [
            &["render", "named", "--input", "text=hi", "--as", "anthropic"],
            more,
        ]
        .concat();
        let run = project().run(&args).exits_with(0);
        assert_eq!(run.stderr, "");
        let body: Value = serde_json::from_str(&run.stdout).unwrap();
        (body["model"].clone(), body["max_tokens"].clone())
    };
    assert_eq!(model(&[]), (json!("small-1"), json!(4096)));
    assert_eq!(
        model(&["--model", "large-1", "--max-output", "99"]),
        (json!("large-1"), json!(99))
    );
}

/// An answer is produced in the order of its schema: a reason that comes before the verdict must
/// stay before it.
#[test]
fn fields_keep_the_order_of_their_author() {
    let task = "<task type=\"atomic\" name=\"t\"><description>{{ ticket }}</description><instructions syntax=\"jinja\">\
        {% for key in ticket %}{{ key }} {% endfor %}{{ ticket|tojson }}</instructions>\
        <parameters><parameter name=\"ticket\" type=\"object\"/></parameters><output_format type=\"json\" schema=\"s.json\"/></task>";
    let schema = r#"{"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object", "properties": {"reason": {"type": "string"}, "answer": {"type": "string"}},
        "required": ["reason", "answer"], "additionalProperties": false}"#;
    let project = Project::new()
        .with_file("templates/t.xml", task)
        .with_file("templates/s.json", schema);
    let args = [
        "render",
        "t",
        "--input",
        r#"ticket={"z": 1, "a": {"y": 2, "b": 3}}"#,
    ];
    let text = project
        .run(&[&args[..], &["--raw"]].concat())
        .exits_with(0)
        .stdout;
    let at = |words: &str| {
        text.find(words)
            .unwrap_or_else(|| panic!("{words}: {text}"))
    };
    assert!(at("\"reason\"") < at("\"answer\""), "{text}");
    assert!(
        at("\"z\": 1") < at("\"y\": 2") && at("\"y\": 2") < at("\"b\": 3"),
        "{text}"
    );
    // `tojson` sorts, as in Jinja2.
    at("z a {\"a\": {\"b\": 3, \"y\": 2}, \"z\": 1}");
    for target in [
        "openai-chat",
        "openai-responses",
        "anthropic",
        "gemini",
        "ollama",
    ] {
        let body = project
            .run(&[&args[..], &["--as", target]].concat())
            .exits_with(0)
            .stdout;
        let schema = body.rfind("\"properties\"").unwrap();
        let at = |words: &str| schema + body[schema..].find(words).unwrap();
        assert!(at("\"reason\"") < at("\"answer\""), "{target}: {body}");
    }
}

#[test]
fn the_mark_of_a_fence_moves_with_the_session_and_with_nothing_else() {
    let task = |words: &str| {
        format!(
            "<task type=\"atomic\" name=\"t\"><description>{words} {{{{a}}}}</description><parameters>\
             <parameter name=\"a\" trust=\"untrusted\"/></parameters></task>"
        )
    };
    let project = Project::new().with_file("templates/t.xml", task("Read"));
    let mark = |project: &Project, args: &[&str]| {
        let text = project
            .run(&[&["render", "t", "--raw"], args].concat())
            .exits_with(0)
            .stdout;
        text.split_once("<untrusted-")
            .unwrap()
            .1
            .split_once(' ')
            .unwrap()
            .0
            .to_owned()
    };
    let first = mark(&project, &["-i", "a=x"]);
    assert_eq!(mark(&project, &["-i", "a=y"]), first);
    assert_eq!(
        mark(
            &Project::new().with_file("templates/t.xml", task("Sort")),
            &["-i", "a=y"]
        ),
        first
    );
    assert_ne!(mark(&project, &["-i", "a=x", "--session", "s1"]), first);
}

#[test]
fn a_body_that_no_provider_takes_is_not_printed() {
    let run = project().run(&[
        "render",
        "named",
        "--input",
        "text= ",
        "--profile",
        "plain",
        "--as",
        "gemini",
    ]);
    // The heading is printed even of a blank text.
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    let run = project()
        .run(&["render", "named", "--input", "text=", "--as", "gemini"])
        .exits_with(1);
    assert_eq!(run.stdout, "");
    assert!(
        run.stderr.contains("there is nothing to ask"),
        "{}",
        run.stderr
    );
}

#[test]
fn what_does_not_go_together_is_refused() {
    project()
        .run(&["render", "named", "--input", "text=hi", "--model", "m"])
        .exits_with(2);
    project()
        .run(&[
            "render",
            "named",
            "--input",
            "text=hi",
            "--as",
            "ollama",
            "--explain",
        ])
        .exits_with(2);
    project()
        .run(&[
            "render",
            "named",
            "--input",
            "text=hi",
            "--as",
            "ollama",
            "--max-output",
            "0",
        ])
        .exits_with(2);
    project()
        .run(&["render", "named", "--input", "text=hi", "--as", "openai"])
        .exits_with(2);
}
