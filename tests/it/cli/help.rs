//! Every example that a `--help` shows is run, in a project where it makes sense.

use super::project::{ProgramRun, Project};
use pretty_assertions::assert_eq;
use std::process::Command;

/// The lines below `Examples:` that call the program.
fn examples(help: &str) -> Vec<&str> {
    let below = help
        .lines()
        .skip_while(|line| !line.starts_with("Examples:"))
        .skip(1);
    let shown = below.take_while(|line| line.starts_with("  "));
    shown
        .map(str::trim)
        .filter(|line| line.contains("ctxc"))
        .collect()
}

/// The verbs that the help lists, except `help` itself.
pub(super) fn verbs(help: &str) -> Vec<&str> {
    let below = help
        .lines()
        .skip_while(|line| !line.starts_with("Commands:"))
        .skip(1);
    // Continuation lines of a description are indented further.
    let named = below
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.strip_prefix("  "))
        .filter(|line| !line.starts_with(' '));
    named
        .filter_map(|line| line.split_whitespace().next())
        .filter(|verb| *verb != "help")
        .collect()
}

fn sample() -> Project {
    let triage = "<task type=\"atomic\" name=\"triage\">\n  <description>Sort the ticket.</description>\n</task>\n";
    let answer = "<task type=\"atomic\" name=\"answer\">\n  <description>Answer {{ticket}}.</description>\n  <parameters>\n    \
        <parameter name=\"ticket\" required=\"true\"/>\n  </parameters>\n</task>\n";
    let investigate = "<task type=\"sequential\" name=\"investigate\">\n  <description>Find the cause.</description>\n  <steps>\n    \
        <task as=\"precedents\" type=\"atomic\">\n      <description>Find like cases.</description>\n    </task>\n    \
        <task type=\"atomic\">\n      <description>Compare with {{precedents}}.</description>\n    </task>\n  </steps>\n</task>\n";
    let project = Project::new()
        .with_file("templates/triage.xml", triage)
        .with_file("templates/answer.xml", answer)
        .with_file("templates/investigate.xml", investigate)
        .with_file("samples/t1.txt", "My invoice is wrong.\n")
        .with_file(
            "ctxc.toml",
            "[roles.clerk]\ntemplate = \"triage\"\nsystem = \"You sort.\"\n",
        )
        .with_file(
            "calls.jsonl",
            super::requests::line(1, &super::requests::bodies()[0]),
        )
        .with_file("session.jsonl", crate::session::samples::short_session())
        .with_file("answers.yaml", "answers:\n- {reply: done}\n")
        .with_file("legacy/reply.j2", "Reply to {{ name }}.\n")
        .with_file(
            "samples.jsonl",
            "{\"template\": \"triage\", \"expected\": \"## Task\\n\\nSort the ticket.\"}\n",
        );
    project.run(&["build"]).exits_with(0);
    project
        .run(&["new", "scenario", "triage", "--name", "triage-t1"])
        .exits_with(0);
    project
}

#[test]
fn every_verb_has_examples_and_every_example_works() {
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_ctxc"));
    let path = std::env::join_paths(
        [program.parent().unwrap().to_path_buf()]
            .into_iter()
            .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    );
    let path = path.unwrap();
    let help = Project::new().run(&["--help"]).exits_with(0).stdout;
    let verbs = verbs(&help);
    assert_eq!(
        verbs,
        [
            "init",
            "import",
            "check",
            "fmt",
            "watch",
            "build",
            "diff",
            "list",
            "show",
            "render",
            "graph",
            "manifest",
            "prompt-cache",
            "compaction",
            "search",
            "new",
            "run",
            "eval",
            "label",
            "gate",
            "baseline",
            "scorecard",
            "compare",
            "history",
            "drift",
            "demo",
            "record",
            "replay",
            "proxy",
            "gc",
            "package",
            "trust",
            "explain",
            "defaults",
            "rules",
            "schema",
            "completions",
            "man",
            "lsp"
        ]
    );
    // Editors start the server; no user types it.
    for verb in verbs.into_iter().filter(|verb| *verb != "lsp") {
        let help = Project::new().run(&[verb, "--help"]).exits_with(0).stdout;
        let examples = examples(&help);
        assert!(
            !examples.is_empty(),
            "`ctxc {verb} --help` shows no example"
        );
        for example in examples {
            let project = sample();
            if ["gate", "baseline"].contains(&verb) {
                super::eval::commit(&project);
                project
                    .run(&[
                        "baseline",
                        "accept",
                        "--reason",
                        "first",
                        "--by",
                        "me@example.org",
                    ])
                    .exits_with(0);
                super::gate::git(&project, &["switch", "-q", "-c", "change"]);
                super::gate::begin(&project);
            }
            if verb == "package" {
                let config = project.read_file("ctxc.toml")
                    + "[package]\nname = \"acme/rules\"\nversion = \"0.1.0\"\nexports = [\"tasks/triage\"]\n[[package.consumers]]\nsource = \"path:shop\"\n";
                project.write_file("ctxc.toml", config);
                project.write_file("shop/README.md", "A consumer.\n");
                project
                    .run(&["package", "pack", "-o", "rules.tar.zst"])
                    .exits_with(0);
            }
            if verb == "label" {
                project.write_file(
                    "scenarios/billing.yaml",
                    "name: billing\ntask: triage\ncontext: {objective: sort}\nexpectations:\n  - rubric: it names a team\nanswers:\n  - reply: billing\n",
                );
            }
            if verb == "compare" {
                let config = project.read_file("ctxc.toml")
                    + "[roles.brief_clerk]\ntemplate = \"triage\"\n[models.small]\nprovider = \"openai\"\ntier = \"economy\"\n\
                       context_window = 8000\n[models.large]\nprovider = \"openai\"\ntier = \"premium\"\ncontext_window = 8000\n";
                project.write_file("ctxc.toml", config);
                super::eval::commit(&project);
            }
            // It ends when its output has no reader any more.
            let example = if verb == "watch" {
                format!("{example} | head -n 1")
            } else {
                example.to_owned()
            };
            let output = Command::new("sh")
                .args(["-c", &example])
                .current_dir(project.path(""))
                .env("PATH", &path)
                .env(
                    "XDG_STATE_HOME",
                    std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("state"),
                )
                .env(
                    "XDG_DATA_HOME",
                    std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("data"),
                )
                .output()
                .unwrap();
            let run = ProgramRun::from(output);
            assert_eq!(run.code, Some(0), "{example}\n{run:#?}");
        }
    }
}

/// Lines of help that end where their author broke them: the screen breaks paragraphs.
fn broken_by_hand(source: &str) -> Vec<&str> {
    let texts = source
        .split("after_help = \"")
        .skip(1)
        .filter_map(|rest| rest.split("\")]").next());
    texts
        .flat_map(str::lines)
        .filter(|line| line.ends_with("\\n\\") && !line.ends_with("\\n\\n\\"))
        .collect()
}

#[test]
fn paragraphs_of_help_are_broken_by_the_screen_alone() {
    let mut open = vec![std::path::PathBuf::from(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/src/cli"
    ))];
    let mut texts = 0;
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(
                std::fs::read_dir(path)
                    .unwrap()
                    .map(|entry| entry.unwrap().path()),
            );
            continue;
        }
        let source = std::fs::read_to_string(&path).unwrap();
        texts += source.matches("after_help = \"").count();
        assert_eq!(broken_by_hand(&source), [""; 0], "{}", path.display());
    }
    assert!(texts > 10, "{texts}");
    assert_eq!(
        broken_by_hand("after_help = \"A:\\n  b\\n\\n\\\none\\n\\\ntwo\\n\\n\\\nthree\")]"),
        ["one\\n\\"]
    );
}
