//! Scenarios about compactions: the session stays out of the project, methods are judged by the
//! facts that survive, and a change of a compaction prompt fails.

use super::report::steps;
use super::writers::{Agent, Step, write_session};
use crate::cli::eval_record::{asked, completion, upstream};
use crate::cli::project::{ProgramRun, Project};
use insta::assert_snapshot;
use pretty_assertions::assert_eq;
use std::path::Path;

const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/compaction");
const SECRET: &str = "ghp_0123456789abcdefghijklmnopqrstuvwxyzAB";
const PERSON: &str = "Ottoline Fernsby";

/// A session with a planted secret and a planted name.
fn session() -> String {
    let mut steps = steps();
    steps.insert(0, Step::User(format!("{PERSON} says: use {SECRET}.")));
    write_session(Agent::Claude, &steps)
}

/// A project with a scenario about a session that lies outside of it.
fn project(flags: &[&str]) -> Project {
    let project = Project::new();
    let outside = tempfile::tempdir().unwrap();
    let file = outside.path().join("session.jsonl");
    std::fs::write(&file, session()).unwrap();
    let from = format!("{}#1", file.display());
    let args = [
        &["new", "scenario", "--from", &from, "--name", "kept"],
        flags,
    ]
    .concat();
    let run = project
        .run(&args)
        .exits_with(0)
        .stdout_contains("wrote scenarios/kept.yaml");
    if flags.contains(&"--embed") {
        run.stderr_contains("masked in it: 1 value;");
    }
    project
}

/// A run on a machine without the sessions of this one.
fn run_elsewhere(project: &Project, args: &[&str]) -> ProgramRun {
    let state = tempfile::tempdir().unwrap();
    let mut command = project.command(args);
    ProgramRun::from(
        command
            .env("XDG_STATE_HOME", state.path())
            .output()
            .unwrap(),
    )
}

/// Replaces the method and the expectations of the scenario.
fn test_method(project: &Project, method: &str, survives: &str) {
    let scenario = project.read_file("scenarios/kept.yaml");
    let (head, _) = scenario.split_once("\n  method:").unwrap();
    let rest = format!("\n  method: {method}\nexpectations:\n  - survives: {survives}\n");
    project.write_file("scenarios/kept.yaml", head.to_owned() + &rest);
}

fn bytes_with(project: &Project, text: &str) -> Vec<String> {
    let mut files = project.files();
    files.retain(|file| {
        let bytes = std::fs::read(project.path(file)).unwrap();
        bytes
            .windows(text.len())
            .any(|part| part == text.as_bytes())
    });
    files
}

#[test]
fn no_text_of_a_session_comes_into_the_project_unless_it_is_embedded() {
    let private = project(&[]);
    private.run(&["eval"]).exits_with(1).stdout_contains("FAIL");
    for text in [SECRET, PERSON, "generated clients", "orders.json"] {
        assert_eq!(bytes_with(&private, text), Vec::<String>::new(), "{text}");
    }
    run_elsewhere(&private, &["eval"])
        .exits_with(7)
        .stdout_contains("undecided: the session b3:")
        .output_lacks("PASS");
    let embedded = project(&["--embed", "--yes"]);
    assert_eq!(bytes_with(&embedded, SECRET), Vec::<String>::new());
    assert_eq!(bytes_with(&embedded, PERSON).len(), 1);
    run_elsewhere(&embedded, &["eval"])
        .exits_with(1)
        .stdout_contains("FAIL");
    // Without an answer, nothing is embedded.
    let from = format!("{EXAMPLE}/session.jsonl");
    let unasked = Project::new();
    unasked
        .run(&["new", "scenario", "--from", &from, "--embed"])
        .exits_with(2)
        .stderr_contains("masked in it: 0 values")
        .stderr_contains("`--yes` embeds it");
    assert_eq!(unasked.files(), Vec::<String>::new());
}

#[test]
fn a_history_in_the_project_has_no_words_of_a_session_outside() {
    const PLANTED: [&str; 4] = [SECRET, PERSON, "generated clients", "orders.json"];
    let config = "[history]\npath = \"runs.db\"\n";
    let private = project(&[]);
    private.write_file("ctxc.toml", config);
    let shares = "{instruction: all, error: all, needed_again: 0}";
    for method in ["recorded", "{truncate: 100000}", "{command: [cat]}"] {
        test_method(&private, method, shares);
        private.run(&["trust", "--yes"]);
        private.run(&["eval"]);
        for text in PLANTED {
            assert_eq!(
                bytes_with(&private, text),
                Vec::<String>::new(),
                "{method} {text}"
            );
        }
    }
    private
        .run(&["history", "show", "last", "--json"])
        .exits_with(0)
        .stdout_contains("kept");
    // A file that the command line names has them, and a note.
    test_method(&private, "recorded", shares);
    private
        .run(&["eval", "--format", "html", "-o", "page.html"])
        .exits_with(1)
        .stderr_contains("the file has text of a session");
    assert_eq!(bytes_with(&private, "generated clients"), ["page.html"]);
    assert_eq!(bytes_with(&private, SECRET), Vec::<String>::new());
    // With the session in the project, the history may have its words.
    let embedded = project(&["--embed", "--yes"]);
    embedded.write_file("ctxc.toml", config);
    test_method(&embedded, "recorded", shares);
    embedded.run(&["eval"]).exits_with(1);
    let with_words = bytes_with(&embedded, "generated clients");
    assert!(with_words.contains(&"runs.db".to_owned()), "{with_words:?}");
}

#[test]
fn an_embedded_session_with_other_content_is_not_judged() {
    let project = project(&["--embed", "--yes"]);
    let path = project
        .files()
        .into_iter()
        .find(|file| file.contains("/sessions/"))
        .unwrap();
    project.write_file(
        &path,
        project
            .read_file(&path)
            .replace("Never touch", "Ever touch"),
    );
    project
        .run(&["eval"])
        .exits_with(3)
        .stdout_contains("has another content than its hash says");
}

#[test]
fn the_shares_of_facts_are_those_that_a_method_leaves() {
    let project = project(&[]);
    let scenario = project.read_file("scenarios/kept.yaml");
    let (_, expectations) = scenario.split_once("  method: recorded\n").unwrap();
    assert_snapshot!(expectations, @r"
    expectations:
      - survives: {file.created: all, file.read: all, command: all}
      # fails with the recorded summary; lost instructions, by rows of the session: 3
      - survives: {instruction: all}
      # fails with the recorded summary; facts needed again, by rows of the session: 4, 6
      - survives: {needed_again: 0}
    ");
    // The new scenario fails where the summary lost something, and lists it with its rows.
    project
        .run(&["eval"])
        .exits_with(1)
        .stdout_contains(&format!(
            "not found in the summary: instruction “{RULE}” (row 3)"
        ))
        .stdout_contains("(row 6, met again at row 24)");
    let wanted = "{instruction: all, file.created: all, error: 0.5, needed_again: 1}";
    test_method(&project, "recorded", wanted);
    project
        .run(&["eval"])
        .exits_with(1)
        .stdout_contains("expected instruction all, error 0.5, needed again at most 1")
        .stdout_contains(
            "found instruction 0 of 1, file.created 1 of 1, error 0 of 1, needed again 2",
        )
        .stdout_contains(&format!("not found in the summary: instruction “{RULE}”"))
        .stdout_contains(
            "error “TypeError: order.lines is not iterable” (row 6, met again at row 24)",
        );
    // Without a summary, the newest messages keep what they contain.
    let wanted = "{instruction: all, file.created: all, error: all, command: all}";
    test_method(&project, "{truncate: 100000}", wanted);
    project.run(&["eval"]).exits_with(0).stdout_contains("PASS");
    test_method(&project, "{truncate: 0}", wanted);
    project.run(&["eval"]).exits_with(1).stdout_contains(
        "found instruction 0 of 1, file.created 0 of 1, error 0 of 1, command 0 of 1",
    );
    // A class without a fact, and `survives` without a compaction.
    test_method(&project, "recorded", "{todo: 0}");
    project
        .run(&["eval"])
        .exits_with(1)
        .stdout_contains("no fact of the class `todo`");
    let scenario =
        "name: other\ntask: t\ncontext: {objective: x}\nexpectations: [survives: {error: all}]\n";
    project.write_file("scenarios/other.yaml", scenario);
    project
        .run(&["check"])
        .exits_with(1)
        .stdout_contains("the scenario has no `compaction`");
    std::fs::remove_file(project.path("scenarios/other.yaml")).unwrap();
    test_method(
        &project,
        "recorded",
        "{tudo: all, error: 1.5, instruction: most}",
    );
    project
        .run(&["check"])
        .exits_with(1)
        .stdout_contains("tudo")
        .stdout_contains("`1.5`; expected a number from 0 to 1, or `all`")
        .stdout_contains("`most`; expected a number from 0 to 1, or `all`");
    // The form of `compaction probe compare`.
    test_method(&project, "truncate=2000", "{error: all}");
    project
        .run(&["check"])
        .exits_with(1)
        .stdout_contains("expected `recorded`, or a mapping, as `{truncate: 2000}`");
}

#[test]
fn a_compaction_has_one_new_scenario_that_is_named_after_its_session() {
    let from = format!("{EXAMPLE}/session.jsonl#1");
    let project = Project::new();
    let new = ["new", "scenario", "--from", &from];
    project
        .run(&new)
        .exits_with(0)
        .stdout_contains("wrote scenarios/compaction-1-d56b9dff.yaml")
        .stdout_contains("`ctxc eval` fails: lost instructions 2, facts needed again 2");
    project.run(&new).exits_with(2).stderr_contains(
        "there is a scenario `compaction-1-d56b9dff` already, in scenarios/compaction-1-d56b9dff.yaml",
    );
}

#[test]
fn a_scenario_notices_the_loss_of_each_fact_that_it_requires() {
    let project = project(&[]);
    test_method(&project, "recorded", "{file.created: all}");
    project
        .run(&["eval", "--mutate"])
        .exits_with(0)
        .stdout_contains("kept  1 of 2 changes noticed by 1 scenario")
        .stdout_contains("not detected: command “npm run checkout” dropped from the summary");
    test_method(&project, "recorded", "{file.created: all, command: all}");
    project
        .run(&["eval", "--mutate"])
        .exits_with(0)
        .stdout_contains("2 of 2 changes noticed");
}

/// The example's folder.
pub(crate) fn example() -> Project {
    let mut project = Project::new();
    let mut folders = vec![String::new()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(Path::new(EXAMPLE).join(&folder)).unwrap() {
            let entry = entry.unwrap();
            let name = format!("{folder}{}", entry.file_name().to_string_lossy());
            if entry.path().is_dir() {
                folders.push(name + "/");
            } else {
                project = project.with_file(&name, std::fs::read(entry.path()).unwrap());
            }
        }
    }
    project
}

#[test]
fn the_example_fails_without_any_line_of_its_prompt_and_passes_with_a_paraphrase() {
    let project = example();
    run_elsewhere(&project, &["eval"])
        .exits_with(7)
        .stdout_contains("is not run here: `ctxc trust` permits it");
    project.run(&["trust", "--yes"]).exits_with(0);
    project
        .run(&["eval", "--plan"])
        .exits_with(0)
        .stdout_contains(
            "checkout: runs `sh compact.sh compact.md`, which `ctxc trust` has to permit; no call",
        )
        .output_lacks("undecided");
    project.run(&["eval"]).exits_with(0).stdout_contains("PASS");
    let prompt = project.read_file("compact.md");
    let lines: Vec<&str> = prompt
        .lines()
        .filter(|line| line.starts_with("- "))
        .collect();
    assert_eq!(lines.len(), 4);
    for (line, paraphrase) in lines.iter().zip([
        "- The instructions that were given stay as they are.",
        "- Name all files that you touched, with their paths.",
        "- Keep failures, each with its message.",
        "- Keep the command lines.",
    ]) {
        project.write_file("compact.md", prompt.replace(line, ""));
        project
            .run(&["eval"])
            .exits_with(1)
            .stdout_contains("not found in the summary");
        project.write_file("compact.md", prompt.replace(line, paraphrase));
        project.run(&["eval"]).exits_with(0).stdout_contains("PASS");
    }
}

const PROMPT: &str = "<task type=\"atomic\" name=\"compact\">\n  <description>Summarise the conversation.</description>\n  <parameters>\n    \
    <parameter name=\"conversation\" type=\"string\" required=\"true\" trust=\"untrusted\"/>\n  </parameters>\n  <instructions>\n    \
    Repeat every rule of the user.\n    Name every file.\n\n    {{conversation}}\n  </instructions>\n</task>\n";
const RULE: &str = "Never touch the generated clients.";
const FILES: &str = "src/total.ts is new, tests/fixtures/orders.json is changed.";

/// Gives the project a role that compacts, whose model is behind an address.
fn with_role(project: &Project, address: &str) {
    let config = format!(
        "[roles.compactor]\ntemplate = \"compact\"\nmodel = \"small\"\n[models.small]\nid = \"house-1\"\nprovider = \"house\"\ntier = \"economy\"\n\
         context_window = 80000\nusd_per_million = {{ input = 1.0, output = 10.0 }}\n[providers.house]\nkind = \"openai\"\nbase_url = \"{address}\"\n\
         api_key_env = \"HOUSE_KEY\"\n"
    );
    project.write_file("ctxc.toml", config);
    project.write_file("templates/compact.xml", PROMPT);
    let survives = "{instruction: all, file.created: all, file.modified: all}";
    test_method(project, "{role: compactor}", survives);
}

/// Asks the role again, whose model answers with a summary.
fn record(project: &Project, summary: &str) -> ProgramRun {
    let server = upstream(vec![completion(summary); 3]);
    let config = project.read_file("ctxc.toml");
    let (head, rest) = config.split_once("base_url = \"").unwrap();
    let (_, rest) = rest.split_once('"').unwrap();
    let config = format!("{head}base_url = \"{}\"{rest}", server.address);
    project.write_file("ctxc.toml", config);
    asked(project, &["trust", "--yes"]).exits_with(0);
    asked(project, &["eval", "--record"])
}

#[test]
fn a_line_that_leaves_the_prompt_of_a_role_is_stale_and_then_a_failure() {
    let project = project(&["--embed", "--yes"]);
    with_role(&project, "http://127.0.0.1:9/v1");
    let whole = format!("Rules: {RULE} Files: {FILES}");
    project.run(&["check"]).exits_with(0);
    project
        .run(&["eval"])
        .exits_with(7)
        .stdout_contains("answer not recorded");
    record(&project, &whole)
        .exits_with(0)
        .stdout_contains("PASS");
    // On another machine, without a key.
    run_elsewhere(&project, &["eval"])
        .exits_with(0)
        .stdout_contains("PASS");
    project.write_file(
        "templates/compact.xml",
        PROMPT.replace("Repeat every rule of the user.\n", "\n"),
    );
    project
        .run(&["eval"])
        .exits_with(6)
        .stdout_contains("STALE");
    record(&project, &format!("Files: {FILES}"))
        .exits_with(1)
        .stdout_contains(&format!("instruction “{RULE}”"));
    project.write_file(
        "templates/compact.xml",
        PROMPT.replace("Repeat every rule", "Keep each instruction"),
    );
    project
        .run(&["eval"])
        .exits_with(6)
        .stdout_contains("STALE");
    record(&project, &whole)
        .exits_with(0)
        .stdout_contains("PASS");
    project
        .run(&["eval", "--mutate"])
        .exits_with(0)
        .stdout_contains("compactor  3 of ");
}

#[test]
fn a_role_is_not_recorded_while_the_session_stays_outside() {
    let project = project(&[]);
    with_role(&project, "http://127.0.0.1:9/v1");
    record(&project, RULE)
        .exits_with(3)
        .stdout_contains("a recording would put text of the session into the project");
    assert_eq!(bytes_with(&project, PERSON), Vec::<String>::new());
    // A parameter that the task lacks is reported.
    project.write_file(
        "templates/compact.xml",
        PROMPT.replace("conversation", "talk"),
    );
    project
        .run(&["check"])
        .exits_with(1)
        .stdout_contains("conversation");
}
