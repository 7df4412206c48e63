//! Readers of the program's surroundings: the action and the hooks, completion scripts, manual
//! pages.

#[cfg(unix)]
use crate::cli::ci_workflow::{Forge, History};
#[cfg(unix)]
use crate::cli::gate::commit;
use crate::cli::project::Project;
use std::process::Command;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

fn succeeds(program: &str, args: &[&str]) {
    let output = Command::new(program)
        .args(args)
        .current_dir(ROOT)
        .output()
        .unwrap_or_else(|error| panic!("{program}: {error}"));
    let (said, told) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(
        output.status.success(),
        "{program} {args:?}\n{said}\n{told}"
    );
}

#[test]
#[ignore = "needs pipelines: check-jsonschema and pre-commit"]
fn the_action_and_the_hooks_are_what_their_services_take() {
    succeeds(
        "check-jsonschema",
        &["--builtin-schema", "vendor.github-actions", "action.yml"],
    );
    let project = Project::new();
    project.run(&["init", "--ci", "github"]).exits_with(0);
    let written = project.path(".github/workflows/ctxc.yml");
    for workflow in [
        "examples/ci/.github/workflows/ctxc.yml",
        "examples/python_agent/.github/workflows/ctxc.yml",
        "examples/langgraph_agent/.github/workflows/ctxc.yml",
        written.to_str().unwrap(),
    ] {
        succeeds(
            "check-jsonschema",
            &["--builtin-schema", "vendor.github-workflows", workflow],
        );
    }
    succeeds(
        "pre-commit",
        &["validate-manifest", ".pre-commit-hooks.yaml"],
    );
}

#[test]
#[ignore = "needs pipelines: bash, zsh and fish"]
fn shells_can_read_their_completions() {
    let project = Project::new();
    for shell in ["bash", "zsh", "fish"] {
        project.write_file(
            shell,
            project.run(&["completions", shell]).exits_with(0).stdout,
        );
        let script = project.path(shell);
        succeeds(shell, &["-n", script.to_str().unwrap()]);
    }
    // One shell completes a command line, as for a user: the words after `ctxc che`.
    let asked = format!(
        "source {}; COMP_WORDS=(ctxc che); COMP_CWORD=1; _ctxc ctxc che ctxc; [ \"${{COMPREPLY[*]}}\" = check ]",
        project.path("bash").display()
    );
    succeeds("bash", &["-c", &asked]);
}

#[test]
#[ignore = "needs pipelines: mandoc"]
fn manual_pages_have_no_errors() {
    let project = Project::new();
    for verb in [&["man"][..], &["man", "check"], &["man", "schema"]] {
        project.write_file("page.1", project.run(verb).exits_with(0).stdout);
        succeeds(
            "mandoc",
            &[
                "-T",
                "lint",
                "-W",
                "error",
                project.path("page.1").to_str().unwrap(),
            ],
        );
    }
}

#[test]
#[ignore = "needs pipelines: check-jsonschema"]
fn real_artifacts_are_valid_by_the_schema_of_all_artifacts() {
    let project = Project::new().with_file(
        "a.xml",
        "<task type=\"atomic\" name=\"a\">\n  <description>d</description>\n</task>\n",
    );
    project.run(&["build"]).exits_with(0);
    project.write_file(
        "ctxc.schema.json",
        project.run(&["schema", "json"]).exits_with(0).stdout,
    );
    for (name, args) in [
        ("check", &["check", "--json"][..]),
        ("show", &["show", "a", "--json"]),
        ("rules", &["rules", "--json"]),
    ] {
        project.write_file(
            &format!("{name}.json"),
            project.run(args).exits_with(0).stdout,
        );
    }
    let path = |name: &str| project.path(name).to_str().unwrap().to_owned();
    let schema = path("ctxc.schema.json");
    succeeds("check-jsonschema", &["--check-metaschema", &schema]);
    for name in ["registry", "check", "show", "rules"] {
        succeeds(
            "check-jsonschema",
            &["--schemafile", &schema, &path(&format!("{name}.json"))],
        );
    }
    project.write_file(
        "bad.json",
        project
            .read_file("check.json")
            .replace("\"files\"", "\"flies\""),
    );
    let bad = Command::new("check-jsonschema")
        .args(["--schemafile", &schema, &path("bad.json")])
        .output()
        .unwrap();
    assert!(!bad.status.success(), "a key of another name is refused");
}

/// Programs that send one request to the address in the environment, in two languages.
#[cfg(unix)]
const AGENTS: [(&str, &str); 2] = [
    (
        "python3 agent.py",
        "import json, os, urllib.request\n\
         body = {'model': 'gpt-4.1', 'messages': [{'role': 'system', 'content': 'You answer questions on parcels.'}, {'role': 'user', 'content': 'Where is 4711?'}]}\n\
         head = {'content-type': 'application/json', 'authorization': 'Bearer none'}\n\
         sent = urllib.request.Request(os.environ['OPENAI_BASE_URL'] + '/chat/completions', json.dumps(body).encode(), head)\n\
         print(json.load(urllib.request.urlopen(sent))['choices'][0]['message']['content'])\n",
    ),
    (
        "node agent.mjs",
        "const messages = [{role: 'system', content: 'You answer questions on parcels.'}, {role: 'user', content: 'Where is 4711?'}];\n\
         const head = {'content-type': 'application/json', authorization: 'Bearer none'};\n\
         const body = JSON.stringify({model: 'gpt-4.1', messages});\n\
         const answer = await fetch(process.env.OPENAI_BASE_URL + '/chat/completions', {method: 'POST', headers: head, body});\n\
         console.log((await answer.json()).choices[0].message.content);\n",
    ),
];

#[test]
#[cfg(unix)]
#[ignore = "needs pipelines: python3 with venv, node and npm"]
fn the_generated_workflow_is_green_for_agents_in_python_and_node() {
    let lock = "{\"name\": \"agent\", \"lockfileVersion\": 3, \"requires\": true, \"packages\": {\"\": {\"name\": \"agent\"}}}";
    let venv = tempfile::tempdir().unwrap();
    for (command, program) in AGENTS {
        let words: Vec<&str> = command.split(' ').collect();
        let project = Project::new()
            .with_file(words[1], program)
            .with_file("script.yaml", "answers:\n  - reply: In Oslo.\n");
        let is_python = words[0] == "python3";
        if is_python {
            project.write_file("requirements.txt", "# none\n");
        } else {
            project.write_file("package.json", "{\"name\": \"agent\"}");
            project.write_file("package-lock.json", lock);
        }
        let record = [
            "record",
            "--script",
            "script.yaml",
            "--into",
            "calls",
            "--name",
            "a",
            "--",
        ];
        project.run(&[&record[..], &words].concat()).exits_with(0);
        project
            .run(&["new", "scenario", "--from", "calls#1", "--name", "where"])
            .exits_with(0);
        let mut forge = Forge::of(project);
        if is_python {
            succeeds("python3", &["-m", "venv", venv.path().to_str().unwrap()]);
            forge.tools = venv.path().join("bin").display().to_string();
        }
        let base = forge.head();
        forge
            .project
            .write_file("NOTES.md", "nothing that matters\n");
        commit(&forge.project);
        let hash = forge.hash();
        for history in [History::Whole, History::Shallow] {
            for (name, code, output) in forge.run(history, &base, &hash) {
                assert_eq!(code, 0, "{command}: {name}\n{output}");
            }
        }
        // The agent's answer changed, and the expectation was not taken back.
        forge
            .project
            .write_file(words[1], program.replace("You answer", "Answer no"));
        commit(&forge.project);
        let steps = forge.run(History::Whole, &base, &forge.hash());
        let of = |name: &str| steps.iter().find(|step| step.0 == name).map(|step| step.1);
        let codes = [of("gate"), of("eval")];
        assert_eq!(codes, [Some(4), Some(1)], "{command}");
    }
}
