//! The context of a role is the same for every verb: `eval`, `manifest` and `render` agree token
//! for token on every shipped role, and the shipped scenarios pass.

use super::project::Project;
use ctxc::internals::scenario::model::{CaseSubject, FrozenValue, ScenarioCase};
use pretty_assertions::assert_eq;
use std::path::Path;

/// Total, prefix, and the token counter.
type Figures = (u64, u64, String);

/// The roles of this repository with their tasks and files.
fn shipped() -> Project {
    let project = Project::new();
    for folder in [
        "templates",
        "scenarios",
        "docs",
        "schema",
        "src/base",
        "src/syntax",
        "ctxc.toml",
    ] {
        copy(&project, folder);
    }
    project
}

fn copy(project: &Project, name: &str) {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    if !from.is_dir() {
        return project.write_file(name, std::fs::read(from).unwrap());
    }
    for entry in std::fs::read_dir(from).unwrap() {
        let inside = entry.unwrap().file_name();
        copy(project, &format!("{name}/{}", inside.to_string_lossy()));
    }
}

/// The command-line arguments for the situation of a case.
fn args(case: &ScenarioCase) -> Vec<String> {
    let CaseSubject::Role(role) = &case.subject.value else {
        panic!()
    };
    let mut args = vec!["--role".to_owned(), role.clone(), "--no-index".to_owned()];
    let situation = &case.situation;
    args.extend(
        situation
            .objective
            .iter()
            .flat_map(|objective| ["--objective".to_owned(), objective.value.clone()]),
    );
    args.extend(
        case.node
            .iter()
            .flat_map(|node| ["--node".to_owned(), node.value.clone()]),
    );
    for (name, value) in &situation.inputs {
        let value = match &value.value {
            FrozenValue::Value(value) => value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned),
            FrozenValue::File(path) => format!("@scenarios/{path}"),
        };
        args.extend(["--input".to_owned(), format!("{name}={value}")]);
    }
    args
}

/// The last figures of `render --explain`.
fn explained(text: &str) -> Figures {
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("total "))
        .unwrap_or_else(|| panic!("{text}"));
    let number = |words: &str| {
        words
            .replace(',', "")
            .parse()
            .unwrap_or_else(|_| panic!("{words}: {line}"))
    };
    let (total, rest) = line
        .trim()
        .trim_start_matches("about ")
        .split_once(" token")
        .unwrap();
    let (who, rest) = rest
        .split_once("counted by ")
        .unwrap()
        .1
        .split_once("; the first ")
        .unwrap();
    (
        number(total),
        number(rest.split(' ').next().unwrap()),
        who.to_owned(),
    )
}

#[test]
fn eval_manifest_and_render_agree_token_for_token_on_every_shipped_role() {
    let project = shipped();
    // Constraints of the caller have no option on the command line.
    let planner = project.read_file("scenarios/planner-flag.yaml");
    let lines = planner
        .lines()
        .filter(|line| !line.contains("constraint") && !line.contains("no new dependency"));
    project.write_file(
        "scenarios/planner-flag.yaml",
        lines.collect::<Vec<_>>().join("\n") + "\n",
    );
    let card = project
        .run(&["eval", "--tag", "roles", "--json"])
        .exits_with(0)
        .json();
    let mut roles = Vec::new();
    for row in card["cases"].as_array().unwrap() {
        let path = row["path"].as_str().unwrap();
        let case = ctxc::internals::scenario::read_suite(path, &project.read_file(path))
            .0
            .unwrap()
            .cases
            .remove(0);
        let args = args(&case);
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let manifest = project
            .run(&[&["manifest", "--json"], &args[..]].concat())
            .exits_with(0)
            .json();
        let entry = &manifest["entries"][0];
        assert_eq!(entry["node"], row["node"], "{path}");
        let tokens = &row["tokens"];
        let evaluated = (
            tokens["total"].as_u64().unwrap(),
            tokens["prefix"].as_u64().unwrap(),
            tokens["tokenizer"].as_str().unwrap().to_owned(),
        );
        let listed = (
            // Defaults and rounds are open in its bounds.
            entry["total"]
                .get("estimate")
                .unwrap_or(&entry["total"]["fixed"])
                .as_u64()
                .unwrap(),
            entry["prefix_tokens"].as_u64().unwrap(),
            entry["tokenizer"]["name"].as_str().unwrap().to_owned(),
        );
        assert_eq!(evaluated, listed, "{path}");
        assert_eq!(row["model"], entry["model"], "{path}");
        let rendered = project
            .run(&[&["render", "--explain"], &args[..]].concat())
            .exits_with(0);
        assert_eq!(evaluated, explained(&rendered.stdout), "{path}");
        roles.push(row["role"].as_str().unwrap().to_owned());
    }
    roles.sort();
    assert_eq!(
        roles,
        [
            "architect",
            "archivist",
            "implementer",
            "planner",
            "release",
            "security"
        ]
    );
}

#[test]
fn the_model_that_a_task_names_decides_who_counts_and_how_much_there_may_be() {
    let task = "<task type=\"atomic\" name=\"t\"><description>Do it well.</description><model><preferred>MODEL</preferred></model>\
        <file_paths source=\"literal\"><path>a.md</path></file_paths></task>\n";
    let toml = "edition = \"2026\"\n[roles.r]\ntemplate = \"t\"\n[models.small]\nprovider = \"anthropic\"\ntier = \"economy\"\n\
        context_window = 120\noutput_reserve = 20\n[models.large]\nprovider = \"openai\"\ntier = \"premium\"\ncontext_window = 8000\n";
    let whole = "expect_context:\n  - nothing_cut: true\n  - model: small\n";
    let scenario = |subject: &str| {
        format!(
            "name: {}\n{subject}\ncontext: {{objective: Do it well.}}\n{whole}",
            &subject[..4]
        )
    };
    let project = Project::new()
        .with_file("ctxc.toml", toml)
        .with_file("templates/t.xml", task.replace("MODEL", "small"));
    let project = project.with_file("a.md", "words and more words\n".repeat(200));
    let project = project
        .with_file("scenarios/a.yaml", scenario("role: r"))
        .with_file("scenarios/b.yaml", scenario("task: t"));
    let card = project
        .run(&["eval", "--json", "--out", "card.json"])
        .exits_with(1)
        .json();
    for row in card["cases"].as_array().unwrap() {
        assert_eq!(
            (&row["model"], &row["tokens"]["tokenizer"]),
            (&"small".into(), &"claude (estimate)".into()),
            "{row:#}"
        );
        assert!(row["tokens"]["total"].as_u64().unwrap() <= 100, "{row:#}");
        let outcomes: Vec<&str> = row["context"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["verdict"].as_str().unwrap())
            .collect();
        assert_eq!(outcomes, ["fail", "pass"]);
    }
    // Another model in the template is another context.
    project.write_file("templates/t.xml", task.replace("MODEL", "large"));
    let run = project
        .run(&["eval", "--since", "card.json"])
        .exits_with(1)
        .stdout_contains("0 carried");
    assert!(
        run.stdout.contains("expected model `small`, found `large`"),
        "{}",
        run.stdout
    );
}

#[test]
fn the_shipped_scenarios_pass() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let output = super::project::command_in(root, &["eval", "--json", "--no-history"])
        .output()
        .unwrap();
    let run = super::project::ProgramRun::from(output)
        .exits_with(0)
        .stderr_is_empty();
    let totals = &run.json()["summary"];
    assert!(
        totals["planned"].as_u64().unwrap() >= 7 && totals["planned"] == totals["passed"],
        "{totals}"
    );
}
