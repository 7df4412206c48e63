//! `import` of formats with front matter or inside data: the imported and the refused parts; the
//! prompts that the repository ships.

use super::project::Project;
use pretty_assertions::assert_eq;
use std::path::Path;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A folder of the repository in a project of its own, without what `import` makes.
fn shipped() -> Project {
    let project = Project::new();
    for entry in std::fs::read_dir(root().join("templates/imported")).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() && path.extension().is_some_and(|ending| ending != "xml") {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            project.write_file(
                &format!("templates/imported/{name}"),
                std::fs::read(path).unwrap(),
            );
        }
    }
    project
}

#[test]
fn the_shipped_migrations_are_what_the_tool_makes_and_equal_to_their_samples() {
    let project = shipped();
    let samples = "templates/imported/samples.jsonl";
    let run = project
        .run(&[
            "import",
            "templates/imported",
            "-o",
            "templates/imported",
            "--verify",
            samples,
        ])
        .exits_with(0);
    run.stdout_contains("wrote 4 templates")
        .stdout_contains("6 samples: every message equal, byte for byte");
    for name in [
        "draft-support-reply",
        "summarise-pull-request",
        "answer-from-documents",
        "write-sql-query",
    ] {
        let path = format!("templates/imported/{name}.xml");
        assert_eq!(
            project.read_file(&path),
            std::fs::read_to_string(root().join(&path)).unwrap()
        );
    }
    project.run(&["import", "--verify", samples]).exits_with(0);
    project
        .run(&["check", "--verbose"])
        .exits_with(0)
        .stdout_contains("nothing found");
    project.run(&["fmt", "--check"]).exits_with(0);
    let text = project
        .read_file(samples)
        .replacen("Northwind", "Northwing", 1);
    project.write_file(samples, text);
    project
        .run(&["import", "--verify", samples])
        .exits_with(1)
        .stdout_contains("the user message differs from byte 32 on (line 1, column 33)");
}

#[test]
fn dotprompt_carries_messages_inputs_and_the_schema_of_its_answer() {
    let project = Project::new().with_file(
        "p/t.prompt",
        "---\nmodel: openai/gpt-4o\nconfig: {temperature: 0}\ninput:\n  schema:\n    q: string\n    n?: integer\noutput:\n  schema:\n    a: string\ntools: [x]\n---\n{{role \"system\"}}Be {{n}}.{{role \"user\"}}{{q}}",
    );
    let run = project.run(&["import", "p"]).exits_with(0);
    run.stdout_contains("inputs: q (string), n (integer, default 0)")
        .stdout_contains("p/t.prompt:11: warning: `tools` of the front matter is not carried over")
        .stdout_contains("[roles.t]\n  model = \"gpt-4o\"\n\n")
        .stdout_contains("[models.gpt-4o]\n  provider = \"openai\"");
    let text = project.read_file("templates/t.xml");
    assert!(
        text.contains("<description>{{q}}</description>")
            && text.contains("<system>Be {{n}}.</system>"),
        "{text}"
    );
    assert!(text.contains("<sampling temperature=\"0\"/>"), "{text}");
    assert!(
        project
            .read_file("templates/schemas/t.schema.json")
            .contains("\"additionalProperties\": false")
    );
    let json = project.run(&["import", "p", "--json"]).exits_with(0).json();
    assert!(
        json["suggestion"]
            .as_str()
            .unwrap()
            .starts_with("[roles.t]"),
        "{json}"
    );
}

#[test]
fn a_default_is_of_its_type_or_the_type_is_left_out() {
    let project = Project::new()
        .with_file("p/t.prompt", "---\ninput:\n  schema:\n    n?: integer\n---\n{{#if n}}{{n}} answers{{/if}}")
        .with_file("p/d.prompt", "---\ninput:\n  schema:\n    n: integer\n  default:\n    n: few\n---\n{{n}} answers")
        .with_file("p/j.j2", "{{ n|default(\"many\") }}, {{ n ~ 1 }}\n")
        .with_file(
            "p/k.j2",
            "{{ n|default(\"many\") }}, {{ n + 1 }}{% if u %}{{ u.v }}{% endif %}{% if o %}one{% endif %}{{ o.v }}\n",
        );
    let run = project.run(&["import", "p"]).exits_with(0);
    run.stdout_contains("inputs: n (integer, default 0)");
    assert!(
        project
            .read_file("templates/t.xml")
            .contains("<parameter name=\"n\" type=\"integer\" default=\"0\"/>")
    );
    assert!(
        project
            .read_file("templates/d.xml")
            .contains("<parameter name=\"n\" default=\"few\"/>")
    );
    assert!(
        project
            .read_file("templates/j.xml")
            .contains("<parameter name=\"n\" default=\"many\"/>")
    );
    // An input without which a part of the text fails has to be given.
    let text = project.read_file("templates/k.xml");
    for own in [
        "name=\"n\" type=\"number\" required",
        "name=\"u\" type=\"object\" default=\"{}\"",
        "name=\"o\" type=\"object\" required",
    ] {
        assert!(text.contains(own), "{text}");
    }
    project
        .run(&["check", "--verbose"])
        .exits_with(0)
        .stdout_contains("nothing found");
}

#[test]
fn what_a_format_has_and_the_language_has_not_is_named() {
    let project = Project::new()
        .with_file(
            "p/a.prompt",
            "{{#if c}}{{history}}{{/if}}\n{{media url=x}}\n{{> part}}\n{{#each a}}{{upper this}}{{/each}}\n{{#if b}}",
        )
        .with_file("p/b.prompty", "---\nname: b\ninputs:\n  h:\n    kind: image\n---\nsystem:\nx\nassistant:\ny\n")
        .with_file("p/c.yaml", "_type: prompt\ntemplate: '{a.b} {}'\n")
        .with_file(
            "p/d.json",
            "{\"_type\": \"chat\", \"messages\": [[\"placeholder\", \"{h}\"], {\"role\": \"tool\", \"content\": \"x\"}]}",
        )
        .with_file("p/data.json", "{\"a\": 1}");
    let run = project.run(&["import", "p"]).exits_with(1);
    for message in [
        "p/a.prompt:1: error: `{{history}}` cannot be carried over",
        "p/a.prompt:2: error: `{{media url=x}}` cannot be carried over",
        "p/a.prompt:3: error: `{{> part}}` cannot be carried over: write its text in its place",
        "p/a.prompt:4: error: `{{upper this}}` cannot be carried over: there is no helper of that name",
        "p/a.prompt:5: error: `{{#if}}` is never closed",
        "p/b.prompty:5: error: input `h` of kind image cannot be carried over",
        "p/c.yaml:2: error: `{a.b}` cannot be carried over",
        "p/d.json:1: error: a message without a role cannot be carried over",
    ] {
        assert!(run.stdout.contains(message), "{message}\n{}", run.stdout);
    }
    assert_eq!(project.files().len(), 5, "{:?}", project.files());
}

#[test]
fn hostile_front_matter_is_refused() {
    let bomb = (0..20).fold("a0: &a0 [x, x]\n".to_owned(), |text, at| {
        format!(
            "{text}a{}: &a{} [*a{at}, *a{at}, *a{at}, *a{at}, *a{at}, *a{at}, *a{at}, *a{at}]\n",
            at + 1,
            at + 1
        )
    });
    let project = Project::new()
        .with_file("p/bomb.prompt", format!("---\n{bomb}---\nx"))
        .with_file("p/open.prompty", "---\nname: x\nsystem:\nhi\n")
        .with_file(
            "p/deep.yaml",
            format!("_type: prompt\ntemplate: {}", "[".repeat(10_000)),
        )
        .with_file("p/twice.prompt", "---\na: 1\na: 2\n---\nx")
        .with_file("p/blocks.prompt", "{{#if a}}".repeat(50_000));
    let started = std::time::Instant::now();
    let run = project.run(&["import", "p"]).exits_with(1);
    assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
    run.stdout_contains("its aliases repeat too much")
        .stdout_contains("p/open.prompty:1: error: the front matter is never closed")
        .stdout_contains("its lists and mappings are nested too deep")
        .stdout_contains("p/twice.prompt:3: error: key `a` is there twice")
        .stdout_contains("p/blocks.prompt");
}

#[test]
fn the_sampling_of_a_prompt_is_in_its_template() {
    let prompt = |config: &str| format!("---\nconfig: {config}\n---\nSort {{{{q}}}}");
    let project = Project::new()
        .with_file("p/a.prompt", prompt("{temperature: 0.2, topP: 0.9, maxOutputTokens: 50, stopSequences: [\"\\nHuman:\"], seed: 7}"))
        .with_file("p/b.prompt", prompt("{temperature: 3, stop: [A, B], frequencyPenalty: 1}"))
        .with_file("p/c.prompty", "---\nname: c\nmodel:\n  parameters:\n    max_tokens: 9\n    reasoning_effort: low\ninputs:\n  q:\n    type: string\n---\nuser:\nSort {{q}}\n");
    let run = project.run(&["import", "p"]).exits_with(0);
    run.stdout_contains("[roles.b]\n  # temperature = 3: whoever calls the model sets it\n  stop = [\"A\",\"B\"]\n  # frequencyPenalty = 1")
        .output_lacks("[roles.a]")
        .output_lacks("p/a.prompt: warning");
    for (name, sampling) in [
        (
            "a",
            "<sampling temperature=\"0.2\" top_p=\"0.9\" seed=\"7\" stop=\"&#10;Human:\" max_output_tokens=\"50\"/>",
        ),
        ("c", "<sampling effort=\"low\" max_output_tokens=\"9\"/>"),
    ] {
        let text = project.read_file(&format!("templates/{name}.xml"));
        assert!(text.contains(sampling), "{text}");
    }
    project.run(&["check"]).exits_with(0);
    let body = project
        .run(&["render", "a", "--as", "openai-chat", "-i", "q=b"])
        .exits_with(0)
        .json();
    assert_eq!(
        (&body["temperature"], &body["stop"]),
        (&serde_json::json!(0.2), &serde_json::json!(["\nHuman:"]))
    );
}

/// Messages as every provider takes them: nothing marks doubled braces as braces.
#[test]
fn messages_of_no_library_say_by_their_braces_what_is_filled() {
    let chat = |words: &str| {
        format!(
            "messages:\n  - role: system\n    content: Be brief.\n  - role: user\n    content: {words}\n"
        )
    };
    let project = Project::new()
        .with_file("a.yaml", chat("\"Sort {{ticket}}.\""))
        .with_file("b.yaml", chat("\"Sort {ticket}.\""));
    project
        .run(&["import", "a.yaml", "b.yaml"])
        .exits_with(0)
        .stdout_contains("inputs: ticket");
    for name in ["templates/a.xml", "templates/b.xml"] {
        let text = project.read_file(name);
        assert!(text.contains("<parameter name=\"ticket\""), "{text}");
        assert!(
            text.contains("{{ticket}}") || text.contains("{{ ticket }}"),
            "{text}"
        );
    }
    let project = Project::new().with_file("c.yaml", chat("\"Sort {ticket} for {{team}}.\""));
    project
        .run(&["import", "c.yaml"])
        .exits_with(1)
        .stdout_contains("`{ticket}` beside `{{team}}` cannot be carried over");
    let of_langchain = format!("_type: chat\n{}", chat("\"Sort {ticket} as {{team}}.\""));
    let project = Project::new().with_file("d.yaml", of_langchain);
    project.run(&["import", "d.yaml"]).exits_with(0);
    assert!(
        !project
            .read_file("templates/d.xml")
            .contains("name=\"team\"")
    );
}

#[test]
fn a_page_with_two_kinds_of_braces_is_refused_and_dollars_are_signs() {
    let project = Project::new().with_file("a.md", "Sort {ticket} for {{ team }}.\n");
    project
        .run(&["import", "a.md"])
        .exits_with(1)
        .stdout_contains("a.md: error: `{ticket}` beside `{{team}}` cannot be carried over");
    let project = Project::new().with_file("a.md", "Hi ${name}, of ${team}.\n");
    project
        .run(&["import", "a.md"])
        .exits_with(0)
        .stdout_contains("a value is written `${name}` in it");
    let text = project.read_file("templates/a.xml");
    assert!(text.contains("Hi {{name}}, of {{team}}."), "{text}");
    let project = Project::new().with_file("a.md", "{name} pays ${sum}.\n");
    project.run(&["import", "a.md"]).exits_with(0);
    assert!(
        project
            .read_file("templates/a.xml")
            .contains("{{name}} pays ${{sum}}.")
    );
}

#[test]
fn prompts_in_other_data_are_named() {
    let data = "prompts:\n  greet: Hello {{ name }}\n";
    let ci = "run: echo ${{ github.ref }}\n";
    let project = Project::new()
        .with_file("p/a.md", "Hi {{name}}.\n")
        .with_file("p/b.yml", data)
        .with_file("p/ci.yml", ci);
    let run = project.run(&["import", "p"]).exits_with(0);
    let run = run.stderr_contains("note: skipped p/b.yml: placeholders in no supported format");
    assert!(!run.stderr.contains("ci.yml"), "{}", run.stderr);
    Project::new()
        .with_file("p/b.yml", data)
        .run(&["import", "p"])
        .stderr_contains("p/b.yml: placeholders in no supported format");
}

#[test]
fn an_image_of_prompty_is_no_text() {
    let text = "---\nname: t\n---\nuser:\nLook at this: {{ q }}\n![image](photo.png)\n";
    let run = Project::new()
        .with_file("t.prompty", text)
        .run(&["import", "t.prompty"])
        .exits_with(1);
    run.stdout_contains(
        "t.prompty:6: error: the image in `![image](photo.png)` cannot be carried over",
    );
}
