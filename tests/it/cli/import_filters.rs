//! Filters, tests and functions of Jinja: each row of a file imported, rendered and compared with
//! the output of Python's Jinja2, which `tests/it/peers/importers.rs` requests.

use super::project::Project;
use serde_json::{Value, json};
use std::fmt::Write as _;

const ROWS: &str = include_str!("../../import/filters.jsonl");

#[test]
fn jinja2_texts_are_rendered_byte_for_byte() {
    let project = Project::new();
    let mut samples = String::new();
    for (number, row) in ROWS.lines().enumerate() {
        let row: Value = serde_json::from_str(row).unwrap();
        let name = format!("prompts/p{number:03}.j2");
        // Not even an end of a line is trimmed beside a text that is not blank.
        project.write_file(
            &name,
            format!("{{{{ 0 }}}}{}{{{{ 0 }}}}", row["text"].as_str().unwrap()),
        );
        let expected = format!("0{}0", row["expected"].as_str().unwrap());
        writeln!(
            samples,
            "{}",
            json!({"template": name, "inputs": row["inputs"], "expected": expected})
        )
        .unwrap();
    }
    project.write_file("samples.jsonl", &samples);
    let run = project.run(&["import", "prompts", "--verify", "samples.jsonl"]);
    run.exits_with(0).stdout_contains(&format!(
        "{} samples: every message equal, byte for byte",
        ROWS.lines().count()
    ));
}

#[test]
fn a_method_of_python_is_reported_by_check_with_what_to_write() {
    let task = |text: &str| {
        let (head, end) = (
            "<task type=\"atomic\" name=\"t\"><description syntax=\"jinja\">",
            "</description></task>",
        );
        Project::new().with_file("templates/t.xml", format!("{head}{text}{end}"))
    };
    let run = task(
        "{{ a.zfill(2) }}\n{{ b.pop('x') }}{{ c.d['e'].rsplit(',')[0] }}{{ (a ~ b).encode() }}",
    )
    .run(&["check"])
    .exits_with(1);
    run.stdout_contains(
        "t.xml:1:63: Jinja's method `zfill` is not supported: a value has no such method here",
    )
    .stdout_contains("write `\"%03d\"|format(number)`")
    .stdout_contains("t.xml:2:6: Jinja's method `pop` is not supported")
    .stdout_contains("Jinja's method `rsplit` is not supported")
    .stdout_contains("Jinja's method `encode` is not supported");
    let own = "{% set s = 'a,b' %}{{ s.split(',')[0].upper().strip() }}{{ {'a': 1}.get('b', 2) }}{% for a in [1] %}{{ loop.cycle(1) }}{% endfor %}{% set c = cycler(1) %}{{ c.next() }}{% set n = namespace(x=1) %}{{ n.x }}";
    task(own)
        .run(&["check"])
        .exits_with(0)
        .stdout_contains("nothing found");
}

#[test]
fn what_jinja2_has_and_a_prompt_cannot_is_named_with_what_to_do() {
    let text = "{{ names|random }} {{ text|urlize }} {{ lipsum() }} {{ _('Hello') }}{% if text is callable %}{% endif %}";
    let project = Project::new().with_file("p/a.j2", text);
    let run = project.run(&["import", "p"]).exits_with(1);
    run.stdout_contains("filter `random` cannot be carried over: its output differs from run to run; choose before the run")
        .stdout_contains("filter `urlize` cannot be carried over: it makes links for a browser")
        .stdout_contains("function `lipsum` cannot be carried over: its output differs from run to run; write the intended text")
        .stdout_contains("function `_` cannot be carried over: it needs translation catalogues")
        .stdout_contains("test `callable` cannot be carried over: no value that is passed in can be called");
    let task = "<task type=\"atomic\" name=\"t\" profile=\"bare\"><description syntax=\"jinja\">{{ names|random }}</description><parameters>\
                <parameter name=\"names\" type=\"array\"/></parameters></task>";
    let project = Project::new().with_file("templates/t.xml", task);
    let run = project.run(&["check"]).exits_with(1);
    run.stdout_contains(
        "Jinja's filter `random` is not supported: its output differs from run to run",
    )
    .stdout_contains("choose before the run, and pass the choice in as a parameter");
    let text = "{% macro m(a) %}\n{{ varargs|join }}{% endmacro %}{{ m(1, 2) }}";
    let project = Project::new()
        .with_file("p/a.j2", text)
        .with_file("templates/t.xml", task.replace("{{ names|random }}", text));
    let reason = "a macro takes only the arguments that it names";
    project
        .run(&["import", "p"])
        .exits_with(1)
        .stdout_contains(&format!(
            "p/a.j2:2: error: `varargs` of a macro cannot be carried over: {reason}"
        ));
    let run = project.run(&["check"]).exits_with(1);
    run.stdout_contains(&format!(
        "Jinja's name `varargs` is not supported: {reason}"
    ))
    .stdout_contains("name them in the macro, with defaults");
}
