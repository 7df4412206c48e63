//! `import`: prompts that are found, converted, skipped and refused; samples; hostile input.

use super::project::Project;
use pretty_assertions::assert_eq;

const REPLY: &str =
    "Reply to {{ customer.name }} in a {{ tone | default(\"warm\") }} tone:\n{{ message }}\n";

fn template(project: &Project, path: &str) -> String {
    project
        .run(&["check", "--verbose"])
        .exits_with(0)
        .stdout_contains("nothing found");
    project.run(&["fmt", "--check"]).exits_with(0);
    project.read_file(path)
}

#[test]
fn a_jinja_prompt_stays_where_it_is_and_is_named_by_its_template() {
    let project = Project::new().with_file("legacy/support/reply.j2", REPLY);
    let run = project
        .run(&["import", "legacy"])
        .exits_with(0)
        .stderr_contains("next: ctxc check");
    run.stdout_contains(
        "legacy/support/reply.j2 (Jinja, text stays in its file) → templates/support/reply.xml\n",
    )
    .stdout_contains("  inputs: customer (object), tone (any, default \"warm\"), message (any)\n")
    .stdout_contains("wrote 1 template; changed none of the prompts\n");
    assert_eq!(project.read_file("legacy/support/reply.j2"), REPLY);
    insta::assert_snapshot!(template(&project, "templates/support/reply.xml"), @r#"
    <?xml version="1.0" encoding="UTF-8"?>
    <!-- Imported by `ctxc import` from legacy/support/reply.j2 (Jinja). -->
    <task type="atomic" name="reply" profile="bare">
      <description src="../../legacy/support/reply.j2" syntax="jinja"/>
      <parameters>
        <parameter name="customer" type="object" required="true"/>
        <parameter name="tone" default="warm"/>
        <parameter name="message" required="true"/>
      </parameters>
    </task>
    "#);
}

#[test]
fn markdown_is_carried_with_each_kind_of_placeholder() {
    let project = Project::new()
        .with_file("p/double.md", "Summarise {{ diff }}.")
        .with_file(
            "p/single.md",
            "Answer {question} as {{\"answer\": \"…\"}} if a < b & c.",
        )
        .with_file("p/README.md", "# Nothing here");
    let run = project
        .run(&["import", "p", "-o", "templates/docs"])
        .exits_with(0);
    run.stdout_contains("skipped 1 page without placeholders");
    insta::assert_snapshot!(template(&project, "templates/docs/single.xml"), @r#"
    <?xml version="1.0" encoding="UTF-8"?>
    <!-- Imported by `ctxc import` from p/single.md (Markdown). -->
    <task type="atomic" name="single" profile="bare">
      <description>Answer {{question}} as {"answer": "…"} if a &lt; b &amp; c.</description>
      <parameters>
        <parameter name="question" required="true"/>
      </parameters>
    </task>
    "#);
    assert!(
        project
            .read_file("templates/docs/double.xml")
            .contains("<description src=\"../../p/double.md\"/>")
    );
    project
        .run(&["import", "p/README.md"])
        .exits_with(0)
        .stdout_contains("→ templates/readme.xml");
    assert!(template(&project, "templates/readme.xml").contains("verbatim=\"true\""));
}

#[test]
fn two_halves_become_one_task_and_a_system_message_alone_asks_for_the_rest() {
    let project = Project::new()
        .with_file("p/triage_system.j2", "You triage for {{ team }}.")
        .with_file("p/triage_user.j2", "Ticket: {{ ticket }}")
        .with_file("p/critic/system.md", "You criticise {{ work }}.");
    let run = project.run(&["import", "p"]).exits_with(0);
    run.stdout_contains("p/triage_system.j2 + p/triage_user.j2 (Jinja, text stays in its file) → templates/triage.xml");
    let triage = template(&project, "templates/triage.xml");
    assert!(
        triage.contains("<system src=\"../p/triage_system.j2\" syntax=\"jinja\"/>"),
        "{triage}"
    );
    let critic = project.read_file("templates/critic/system.xml");
    assert!(
        critic.contains("<description>{{request}}</description>")
            && critic.contains("name=\"request\""),
        "{critic}"
    );
    let sample = r#"{"template":"triage","inputs":{"team":"A","ticket":"b"},"expected":[{"role":"system","content":"You triage for A."},{"role":"user","content":"Ticket: b"}]}"#;
    project.write_file("s.jsonl", sample);
    project
        .run(&["import", "--verify", "s.jsonl"])
        .exits_with(0)
        .stdout_contains("1 sample: every message equal, byte for byte\n");
}

#[test]
fn what_is_there_is_left_alone_without_force() {
    let project = Project::new()
        .with_file("p/a.j2", "{{ x }}")
        .with_file("templates/a.xml", "<!-- mine -->");
    let run = project.run(&["import", "p"]).exits_with(0);
    run.stdout_contains("templates/a.xml already exists; left as it is (--force overwrites it)");
    assert_eq!(project.read_file("templates/a.xml"), "<!-- mine -->");
    project
        .run(&["import", "p", "--force", "--dry-run"])
        .exits_with(0)
        .stdout_contains("→ templates/a.xml (not written)");
    assert_eq!(project.read_file("templates/a.xml"), "<!-- mine -->");
    project
        .run(&["import", "p", "--force"])
        .exits_with(0)
        .stdout_contains("wrote 1 template");
    project
        .run(&["import", "p"])
        .exits_with(0)
        .stdout_contains("already exists, unchanged");
}

#[test]
fn what_cannot_be_carried_is_named_with_its_line_and_gives_no_template() {
    let project = Project::new()
        .with_file("p/a.j2", "fine\n{{ name.zfill(3) }}\n{{ text | markdown }}\n{% include chosen %}\n{{ x is sunny }}\n")
        .with_file("p/b.j2", "{% for %}")
        .with_file("p/c.j2", "{{ ok }}");
    let run = project.run(&["import", "p"]).exits_with(1);
    let printed = run.stdout.clone();
    run.stdout_contains("p/a.j2:2: error: `.zfill()` cannot be carried over: a value has no such method here")
        .stdout_contains("p/a.j2:3: error: filter `markdown` cannot be carried over")
        .stdout_contains("p/a.j2:4: error: `include` cannot be carried over: what it includes is chosen while rendering")
        .stdout_contains("p/a.j2:5: error: test `sunny` cannot be carried over")
        .stdout_contains("p/b.j2:1: error: the text is not valid Jinja")
        .stdout_contains("wrote 1 template; 2 prompts not carried over; changed none of the prompts");
    assert!(
        !project.files().contains(&"templates/a.xml".to_owned()),
        "{printed}"
    );
    let json = project.run(&["import", "p", "--json"]).exits_with(1).json();
    assert_eq!(
        (
            json["schema"].as_str(),
            json["prompts"][0]["state"].as_str()
        ),
        (Some("ctxc/import/1"), Some("refused"))
    );
    assert_eq!(json["prompts"][0]["notes"][0]["line"], 2);
}

#[test]
fn parts_are_taken_in_and_no_tasks_of_their_own() {
    let project = Project::new()
        .with_file("p/base.j2", "A {% block b %}-{% endblock %}")
        .with_file("p/x/one.j2", "{% extends 'base.j2' %}{% block b %}{{ super() }}{% include 'x/tone.j2' ignore missing %}{% include 'parts/p.j2' %}{% endblock %}")
        .with_file("p/parts/p.j2", "{{ v }}\n");
    let run = project.run(&["import", "p"]).exits_with(0);
    run.stdout_contains("2 files are parts of others")
        .stdout_contains(
            "it includes p/base.j2, p/parts/p.j2, and a text of a template cannot include others",
        );
    assert!(
        template(&project, "templates/x/one.xml")
            .contains("<description syntax=\"jinja\">A -{{ v }}</description>")
    );
    project
        .run(&["import", "p/parts/p.j2"])
        .exits_with(0)
        .stdout_contains("→ templates/p.xml");
}

#[test]
fn a_sample_that_differs_shows_the_first_byte_with_both_lines() {
    let project = Project::new().with_file("p/a.j2", "Dear {{ name }},\nbye\n");
    project.write_file(
        "s.jsonl",
        concat!(
            r#"{"template":"p/a.j2","inputs":{"name":"Zoë"},"expected":"Dear Zoë,\nbye"}"#,
            "\n\n",
            r#"{"template":"a","inputs":{"name":"Zoë"},"expected":"Dear Zoë,\nbye \n"}"#,
            "\n",
            r#"{"template":"templates/a.xml","inputs":{},"expected":""}"#,
            "\n",
            r#"{"template":"nobody","inputs":{},"expected":""}"#,
            "\n",
            r#"{"template":"a","inputs":{"name":""},"expected":[{"role":"system","content":""}]}"#,
        ),
    );
    let run = project
        .run(&["import", "p", "--verify", "s.jsonl"])
        .exits_with(1);
    run.stdout_contains("s.jsonl:3: error: a: the user message differs from byte 14 on (line 2, column 4)\n  expected: bye \\n\n  rendered: bye\n")
        .stdout_contains("s.jsonl:4: error: templates/a.xml cannot be rendered: ")
        .stdout_contains("s.jsonl:5: error: nobody cannot be rendered: there is no template `nobody`\n")
        .stdout_contains("s.jsonl:6: error: a is user; expected system\n")
        .stdout_contains("5 samples: 1 equal byte for byte, 4 not\n");
    let json = project
        .run(&["import", "p", "--verify", "s.jsonl", "--json"])
        .exits_with(1)
        .json();
    assert_eq!(
        (&json["samples"]["total"], &json["samples"]["equal"]),
        (&5.into(), &1.into())
    );
    project
        .run(&["import", "--verify", "s.jsonl"])
        .exits_with(1)
        .stdout_contains("5 samples: 1 equal byte for byte, 4 not");
    project.write_file("s.jsonl", "{}");
    project
        .run(&["import", "p", "--verify", "s.jsonl"])
        .exits_with(2)
        .stderr_contains("s.jsonl:1: expected a text in `template`");
}

#[test]
fn switches_of_the_engine_are_worked_into_the_text() {
    let project = Project::new().with_file("p/a.j2", "{% if x %}\n  yes\n  {% endif %}\nend\n\n");
    let sample = |text: &str| {
        format!(
            "{{\"template\":\"a\",\"inputs\":{{\"x\":true}},\"expected\":{}}}",
            serde_json::json!(text)
        )
    };
    for (switches, expected) in [
        (&[][..], "\n  yes\n  \nend\n"),
        (&["--trim-blocks"], "  yes\n  end\n"),
        (&["--trim-blocks", "--lstrip-blocks"], "  yes\nend\n"),
        (&["--keep-trailing-newline"], "\n  yes\n  \nend\n\n"),
    ] {
        project.write_file("s.jsonl", sample(expected));
        let args: Vec<&str> = ["import", "p", "--force", "--verify", "s.jsonl"]
            .iter()
            .chain(switches)
            .copied()
            .collect();
        project.run(&args).exits_with(0);
        project
            .run(&["import", "--verify", "s.jsonl"])
            .exits_with(0);
    }
}

#[test]
fn hostile_prompts_are_refused_and_not_followed() {
    let project = Project::new()
        .with_file("p/round/a.j2", "{% include 'b.j2' %}")
        .with_file("p/round/b.j2", "{% extends 'a.j2' %}")
        .with_file("p/self.j2", "{% include 'self.j2' %}")
        .with_file("p/latin.j2", b"caf\xe9 {{ x }}".as_slice())
        .with_file(
            "p/out.j2",
            "{% include '../../etc/passwd' %}{% include '/etc/passwd' %}",
        )
        .with_file("p/blocks.j2", "{% block a %}".repeat(50_000))
        .with_file(
            "p/joins.j2",
            format!("{{{{ {} }}}}", "'a'.join((".repeat(50_000)),
        )
        .with_file("p/braces.md", "{".repeat(1 << 20) + "{x}");
    for level in 0..30 {
        let next = level + 1;
        let twice = format!("{{% include 'bomb/{next}.j2' %}}{{% include 'bomb/{next}.j2' %}}");
        project.write_file(&format!("p/bomb/{level}.j2"), twice);
    }
    project.write_file("p/bomb/30.j2", "x".repeat(1_000));
    project.write_file("p/huge.j2", vec![b'x'; 50 << 20]);
    #[cfg(unix)]
    std::os::unix::fs::symlink("/etc/hostname", project.path("p/link.j2")).unwrap();
    let started = std::time::Instant::now();
    let run = project.run(&["import", "p"]).exits_with(1);
    assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
    run.stdout_contains("p/self.j2:1: error: `self.j2` includes itself: p/self.j2 → p/self.j2\n")
        .stdout_contains("includes itself: p/round/a.j2 → p/round/b.j2 → p/round/a.j2\n")
        .stdout_contains("p/latin.j2: error: it cannot be read: ")
        .stdout_contains("p/huge.j2: error: it cannot be read: it is larger than 10 MiB, the limit: 52,428,800 bytes\n")
        .stdout_contains("p/out.j2:1: error: `../../etc/passwd` is not found")
        .stdout_contains("`/etc/passwd` is not found")
        .stdout_contains("p/bomb/0.j2")
        .stdout_contains("with everything that it includes, the text has more than 1000000 bytes");
    #[cfg(unix)]
    project
        .run(&["import", "p/link.j2"])
        .exits_with(2)
        .stderr_contains("lies outside the project's folder");
    project.run(&["import", "p/none.j2"]).exits_with(2);
    project
        .run(&["import", "p", "-o", "../elsewhere"])
        .exits_with(2)
        .stderr_contains("the folder lies outside the project's");
    let empty = Project::new()
        .with_file("p/a.txt", "x")
        .with_file("p/README.md", "x");
    empty
        .run(&["import", "p"])
        .exits_with(5)
        .stderr_contains("no prompt was found")
        .stderr_contains("p/README.md has no placeholders");
    empty
        .run(&["import", "p/a.txt", "--from", "jinja"])
        .exits_with(0);
}

#[test]
fn init_reports_what_import_would_find() {
    let project = Project::new()
        .with_file("legacy/a.j2", "{{ x }}")
        .with_file("docs/b.md", "{{ x }}")
        .with_file("docs/c.md", "no prompt");
    let run = project.run(&["init"]).exits_with(0);
    run.stdout_contains("found 1 Jinja file in legacy/ and 1 Markdown file in docs/ (see `ctxc import`); changed none of them\n");
}

#[test]
fn samples_name_templates_by_their_prompts_without_a_path_too() {
    let project = Project::new()
        .with_file("ctxc.toml", "edition = \"2026\"\n")
        .with_file("legacy/reply.j2", "Hello {{ name }}.");
    // One text stays in its file, the other is written in another way; `--` cannot stand in a
    // comment.
    let project = project.with_file("legacy/a--b.md", "Bye {name}.");
    project.run(&["import", "legacy"]).exits_with(0);
    assert!(
        !project.read_file("templates/a-b.xml").contains("src="),
        "{}",
        project.read_file("templates/a-b.xml")
    );
    let line = |template: &str, text: &str| {
        format!(
            "{{\"template\": \"{template}\", \"inputs\": {{\"name\": \"Ann\"}}, \"expected\": \"{text}\"}}\n"
        )
    };
    let all = [
        "reply",
        "templates/reply.xml",
        "legacy/reply.j2",
        "./legacy/reply.j2",
    ]
    .map(|name| line(name, "Hello Ann."));
    project.write_file(
        "samples.jsonl",
        all.concat() + &line("legacy/a--b.md", "Bye Ann."),
    );
    project
        .run(&["import", "--verify", "samples.jsonl"])
        .exits_with(0)
        .stdout_contains("5 samples: every message equal, byte for byte");
    // A prompt of two templates belongs to neither.
    project.write_file(
        "templates/again.xml",
        project
            .read_file("templates/reply.xml")
            .replace("\"reply\"", "\"again\""),
    );
    project.write_file(
        "samples.jsonl",
        line("legacy/reply.j2", "Hello Ann.") + &line("again", "Hello Ann."),
    );
    project
        .run(&["import", "--verify", "samples.jsonl"])
        .exits_with(1)
        .stdout_contains(
            "several templates are made of `legacy/reply.j2`: name one of `again`, `reply`",
        );
}

#[test]
#[cfg(target_os = "linux")]
fn a_prompt_whose_name_is_no_text_is_reported() {
    use std::os::unix::ffi::OsStrExt as _;
    let project = Project::new().with_file("legacy/reply.j2", "Hello {{ name }}.");
    std::fs::write(
        project
            .path("legacy")
            .join(std::ffi::OsStr::from_bytes(b"b\xffd.j2")),
        "Hi {{ x }}",
    )
    .unwrap();
    let run = project.run(&["import", "legacy"]).exits_with(1);
    run.stdout_contains("legacy/b\u{fffd}d.j2: error: it cannot be read: its name is not UTF-8, and a template cannot name it")
        .stdout_contains("wrote 1 template");
}

#[test]
fn types_are_what_uses_tell_and_none_where_they_do_not() {
    let text = "\
{% macro plan(steps, title='') %}{% for s in steps %}{{ s }}{% endfor %}{{ title|upper }}{% endmacro %}{% macro outer(inner) %}{{ plan(inner) }}{% endmacro %}\
{{ document[:2000] }}{% for h in history[-3:] %}{{ h }}{% endfor %}{{ price|round(2) }}{{ docs|length }}{{ outer(constraints) }}{{ plan([], title=heading) }}\
{% for k, v in labels.items() %}{{ k }}{% endfor %}{% if tone == 'formal' %}{% endif %}{% if limit >= 3 %}{% endif %}{% if 'a' != mode %}{% endif %}\
{{ n + 1 }}{{ 100 - used }}{{ tools[0].name }}{{ user['name'] }}{% set all = sources|default([]) %}{{ all|length }}{% set kept = cited %}{{ kept|join }}\
{{ plain }}{{ note|default('none') }}{% if asked %}{% endif %}{% for i in range(count) %}{% endfor %}{% if level in ['a', 'b'] %}{% endif %}\
{{ both|upper }}{{ both + 1 }}{% if low < high %}{% endif %}{% for x in text|split(',') %}{% endfor %}{{ facts|tojson }}{% if strict == true %}{% endif %}{{ last[-1] }}{{ plan(title=plain) }}";
    let project = Project::new().with_file("p/a.j2", text);
    let run = project.run(&["import", "p"]).exits_with(0);
    let inputs = run
        .stdout
        .lines()
        .find_map(|line| line.trim().strip_prefix("inputs: "))
        .unwrap()
        .replace("), ", ")\n");
    insta::assert_snapshot!(inputs, @r#"
    document (any)
    history (array)
    price (number)
    docs (any)
    constraints (array)
    heading (string)
    labels (object)
    tone (string)
    limit (number)
    mode (string)
    n (number)
    used (number)
    tools (array)
    user (object)
    sources (array, default [])
    cited (array)
    plain (string)
    note (any, default "none")
    asked (any, default "")
    count (number)
    level (string)
    both (any)
    low (number)
    high (number)
    text (string)
    facts (any)
    strict (boolean)
    last (array)
    "#);
}

#[test]
fn the_name_of_a_function_that_is_not_called_is_an_input() {
    let text = "{{ range }}{{ dict.a }}{% for x in cycler %}{{ x }}{% endfor %}{% for i in range(n) %}{{ joiner() }}{% endfor %}";
    let run = Project::new()
        .with_file("p/a.j2", text)
        .run(&["import", "p"])
        .exits_with(0);
    run.stdout_contains("inputs: range (any), dict (object), cycler (array), n (number)");
}

#[test]
fn what_is_put_to_a_test_takes_any_value_and_is_reported_in_its_own_words() {
    let text = "{% if xs is not none and xs is not string %}q{% endif %}{% if tools is defined %}T{% endif %}\n{{ 'A' if v|default(none) is none else 'B' }}";
    let project = Project::new().with_file("p/a.j2", text);
    project.write_file("s.jsonl", r#"{"template": "a", "inputs": {"xs": [1], "tools": ["t"], "v": [2]}, "expected": "qT\nB"}"#);
    let run = project
        .run(&["import", "p", "--verify", "s.jsonl"])
        .exits_with(0)
        .stdout_contains("1 sample: every message equal");
    run.stdout_contains("inputs: xs (any, default \"\"), tools (any, default \"\"), v (any, default \"\")\n")
        .stdout_contains("p/a.j2:1: warning: `xs is not none`: an input that a run leaves out")
        .stdout_contains("`xs is not string`: an input")
        .stdout_contains("`tools is defined`: an input")
        .stdout_contains("p/a.j2:2: warning: `v|default(none)`: an input that a run leaves out has its default here, which is not none");
}

#[test]
fn a_value_of_another_type_is_refused_with_its_parameter() {
    let project = Project::new()
        .with_file("p/a.j2", "{% for x in list %}\n- {{ x }}{% endfor %}{{ words|upper }}{{ n|round }}{% if late %}!{% endif %}");
    project.run(&["import", "p"]).exits_with(0);
    let render = |list: &str, n: &str| {
        project.run(&[
            "render",
            "a",
            "-i",
            &format!("list={list}"),
            "-i",
            "words=w",
            "-i",
            &format!("n={n}"),
            "-i",
            "late=null",
        ])
    };
    render("[1, 2]", "1.5").exits_with(0);
    render("\"abc\"", "1.5")
        .exits_with(2)
        .stderr_contains("--input list: the parameter's type is array, and `\"abc\"` is a string");
    render("[1, 2]", "[]")
        .exits_with(2)
        .stderr_contains("--input n: the parameter's type is number, and `[]` is an array");
    project.write_file(
        "s.jsonl",
        r#"{"template":"a","inputs":{"list":["x"],"words":["w"],"n":1},"expected":"x"}"#,
    );
    project
        .run(&["import", "--verify", "s.jsonl"])
        .exits_with(1)
        .stdout_contains("the value of `words` is an array, and its type is `string`");
}

#[test]
fn a_name_that_is_none_is_an_error_at_its_line() {
    let project = Project::new().with_file("p/a.md", "# Hello\n\nDear {{ user-name }},\n");
    let run = project.run(&["import", "p"]).exits_with(1);
    run.stdout_contains("p/a.md:3: error: `{{ user-name }}` cannot be carried over: names have letters, digits and `_`: write `user_name`");
}

#[test]
fn a_folder_without_prompts_is_reported_with_all_their_endings() {
    let project = Project::new().with_file("p/a.rs", "");
    let run = project.run(&["import", "p"]).exits_with(5);
    run.stderr_contains("prompts are recognised by extension: .j2, .jinja, .jinja2, .prompt, .prompty, .yaml, .yml, .json, .md, .markdown; name a file");
}

#[test]
fn a_folder_of_prompts_gets_a_project_and_no_example() {
    let project = Project::new()
        .with_file("legacy/a.j2", "{{ x }}")
        .with_file("legacy/parts/b.j2", "Bye.")
        .with_file("docs/c.md", "{name}");
    let run = project.run(&["init"]).exits_with(0).stdout_contains(
        "found 2 Jinja files in legacy/ and 1 Markdown file in docs/ (see `ctxc import`)",
    );
    run.stderr_contains("next: ctxc import docs legacy");
    assert_eq!(
        project.files(),
        ["ctxc.toml", "docs/c.md", "legacy/a.j2", "legacy/parts/b.j2"]
    );
    project.run(&["import", "docs", "legacy"]).exits_with(0);
    project
        .run(&["check"])
        .exits_with(0)
        .stdout_contains("checked 3 files: nothing found");
    let samples = r#"{"template":"legacy/a.j2","inputs":{"x":1},"expected":"1"}"#;
    project.write_file("s.jsonl", samples);
    project
        .run(&["import", "--verify", "s.jsonl"])
        .exits_with(0)
        .stdout_contains("1 sample: every message equal, byte for byte");
}

#[test]
fn methods_of_python_say_what_they_say_there() {
    let text = "{{ user.get('name', 'you').split(' ')[0] }}|{{ user.get('tags', ['a', 'b'])[1] }}|{{ user.get('none') }}|{{ user.values()|length }}|\
                {{ text.strip().split(',')[0].upper() }}|{{ (text ~ 'z').split(',')[1] }}";
    let project = Project::new().with_file("p/a.j2", text);
    let sample = r#"{"template":"p/a.j2","inputs":{"user":{"name":"Zoë Adler"},"text":" a,b"},"expected":"Zoë|b|None|1|A|bz"}"#;
    project.write_file("s.jsonl", sample);
    let run = project
        .run(&["import", "p", "--verify", "s.jsonl"])
        .exits_with(0);
    run.stdout_contains("text stays in its file")
        .stdout_contains("inputs: user (object), text (string)\n")
        .stdout_contains("every message equal");
}

#[test]
fn a_broken_template_fails_its_own_samples_and_no_others() {
    let project = Project::new()
        .with_file("ctxc.toml", "edition = \"2026\"\n")
        .with_file("legacy/good.j2", "Hello {{ name }}.");
    let project = project.with_file("legacy/bad.j2", "Bye {{ name }}.");
    project.run(&["import", "legacy"]).exits_with(0);
    project.write_file(
        "templates/bad.xml",
        project
            .read_file("templates/bad.xml")
            .replace("</task>", "&</task>"),
    );
    project.write_file("templates/lost.xml", "<");
    let line = |template: &str| {
        format!(
            "{{\"template\": \"{template}\", \"inputs\": {{\"name\": \"Ann\"}}, \"expected\": \"Hello Ann.\"}}\n"
        )
    };
    project.write_file("samples.jsonl", line("good") + &line("legacy/good.j2"));
    project
        .run(&["import", "--verify", "samples.jsonl"])
        .exits_with(0)
        .stdout_contains("2 samples: every message equal, byte for byte");
    let bad = [
        "bad",
        "legacy/bad.j2",
        "templates/bad.xml",
        "templates/lost.xml",
        "none",
    ]
    .map(line)
    .concat();
    project.write_file("samples.jsonl", line("good") + &bad);
    let run = project
        .run(&["import", "--verify", "samples.jsonl"])
        .exits_with(1)
        .stdout_contains("6 samples: 1 equal byte for byte, 5 not");
    let why = "cannot be rendered: templates/bad.xml has 1 error: what an agent would receive is not certain";
    let run = run
        .stdout_contains(&format!("error: bad {why}"))
        .stdout_contains(&format!("error: legacy/bad.j2 {why}"));
    run.stdout_contains(&format!("error: templates/bad.xml {why}"))
        .stdout_contains("error: templates/lost.xml cannot be rendered: templates/lost.xml has ")
        .stdout_contains("error: none cannot be rendered: there is no template `none`");
}

#[test]
fn a_sample_with_a_typo_in_a_key_is_reported() {
    let task = "<task type=\"atomic\" name=\"t\" profile=\"bare\">\n  <description>Go {{tone}}.</description>\n  <parameters><parameter name=\"tone\" default=\"on\"/></parameters>\n</task>\n";
    let project = Project::new().with_file("templates/t.xml", task);
    project.write_file(
        "s.jsonl",
        "{\"template\": \"t\", \"inputs\": {\"tine\": \"off\"}, \"expected\": \"Go on.\"}\n",
    );
    project
        .run(&["import", "--verify", "s.jsonl"])
        .exits_with(0)
        .stderr_contains("s.jsonl:1: t takes no input `tine`; did you mean `tone`?");
    project.write_file("s.jsonl", "{\"template\": \"t\", \"inputs\": {\"tone\": \"a\", \"tone\": \"b\"}, \"expected\": \"Go b.\"}\n");
    project
        .run(&["import", "--verify", "s.jsonl"])
        .exits_with(2)
        .stderr_contains("s.jsonl:1: it is not valid JSON: `tone` a second time in one object");
}
