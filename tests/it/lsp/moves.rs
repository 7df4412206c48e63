//! Renamed files and folders: the paths follow, and no other word is touched.

use super::client::{Client, applied, pulling};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A project in which each item is named `docs`. A path of the folder stands in `⟦…⟧`.
const PROJECT: &[(&str, &str)] = &[
    (
        "ctxc.toml",
        "# docs\nextends = \"⟦docs⟧/house.toml\"\n\n[project]\nname = \"docs\"\ndescription = \"docs/a.md\"\n\n[templates]\ninclude = [\"templates/**/*.xml\", '⟦docs⟧/**/*.xml']\nexclude = \"⟦docs⟧\"\n\n[context]\ninclude = [ \"./⟦docs⟧/**\", # docs\n  \"src/**\" ]\ndocuments = \"⟦docs⟧/a.md\"\n\n[owners]\n\"⟦docs⟧/*.md\" = \"docs\"\n⟦docs⟧ = \"docs\"\n\n[eval]\nscenarios = [\"scenarios\", \"⟦docs⟧/cases\"]\n\n[roles.docs]\ntemplate = \"docs\"\ndescription = \"docs\"\nsystem = \"docs\"\nprotected_paths = [\"⟦docs⟧\", \"src/docs\"]\n\n[roles.filed]\ntemplate = \"docs\"\nsystem = { file = \"⟦docs⟧/a.md\" }\n\n[tools]\nfrom = [\"⟦docs⟧/tools.json\"]\n\n[tools.docs]\ndescription = \"docs\"\nparameters = \"⟦docs⟧/look.json\"\ncommand = [\"⟦docs⟧/run.sh\", \"docs\", \"--docs=docs/run.sh\"]\n\n[tools.typed]\ndescription = \"docs\"\nparameters = { type = \"object\", description = \"docs\" }\n\n[[require]]\npath = \"⟦docs⟧/*.xml\"\nname = \"docs\"\nmust = \"has owner\"\nreason = \"docs\"\n\n[record]\nmask = \"docs\"\n",
    ),
    (
        "templates/a.xml",
        "<task type=\"atomic\" name=\"docs\">\n  <description>docs of {{topic}}</description>\n  <parameters>\n    <parameter name=\"topic\" default=\"docs\"/>\n  </parameters>\n  <inputs>\n    <input name=\"docs\">docs/a.md</input>\n  </inputs>\n  <instructions>Read docs/a.md in docs.</instructions>\n  <file_paths>\n    <path>⟦docs⟧/a.md</path>\n  </file_paths>\n</task>\n",
    ),
    (
        "scenarios/docs.yaml",
        "name: docs\n# docs\ndescription: docs\ntask: docs\ntags: [docs]\ncontext:\n  objective: docs\n  constraints: [docs/a.md]\n  inputs:\n    docs: docs\n    topic: \"@../⟦docs⟧/a.md\"\n  results: {docs: !file ../⟦docs⟧/a.md}\n  file_context:\n    ⟦docs⟧/a.md: docs\n    src/b.md: {file: ../⟦docs⟧/a.md}\n  memory:\n    docs: docs\nexpect_context:\n  - contains: {in: description, patterns: [docs]}\n  - absent: [\"docs/a.md\"]\n  - segment: {id: \"file:⟦docs⟧/a.md\", state: kept}\n  - order: [description, 'file:⟦docs⟧/a.md']\n  - contains: {in: {source: ⟦docs⟧/a.md}, patterns: [docs]}\n  - contains: {in: {source: docs}, patterns: [docs]}\n  - protected_paths: [⟦docs⟧, src/docs]\n  - lookup: {query: docs, finds: [\"⟦docs⟧/a.md#docs\"]}\nexpectations:\n  - contains: docs\n  - exact: docs/a.md\n  - references_files: [docs/a.md]\n  - schema: ../⟦docs⟧/look.json\n  - command: [⟦docs⟧/run.sh, docs, 'docs/run.sh docs']\nanswers:\n  - reply: docs/a.md\n",
    ),
    (
        "scenarios/asked.yaml",
        "name: asked\nrequest:\n  file: ../⟦docs⟧/calls.jsonl#2\nexpect_context:\n  - nothing_cut: true\n",
    ),
    (
        "scenarios/rows.json",
        "{\"id\": \"rows\", \"cases_from\": \"../⟦docs⟧/rows.csv\", \"schema\": \"ctxc/suite/1\", \"defaults\": {\"task\": \"docs\"}}\n",
    ),
    (
        "ctxc.suppressions.toml",
        "schema = \"ctxc/suppressions/1\"\n\n[\"⟦docs⟧/old.xml\"]\nmissing-type = { docs = 1 }\n",
    ),
    ("docs/a.md", "docs\n"),
    ("docs/house.toml", "edition = \"2026\"\n"),
    ("docs/run.sh", "docs\n"),
    ("docs/tools.json", "[]\n"),
    ("docs/look.json", "{\"type\": \"object\"}\n"),
    ("docs/calls.jsonl", "\n"),
    ("docs/rows.csv", "id,objective\na,docs\n"),
];

/// A text with its paths replaced.
fn marked(text: &str, folder: &str) -> String {
    text.split('⟦')
        .enumerate()
        .fold(String::new(), |all, (at, part)| {
            match part.split_once('⟧') {
                Some((_, rest)) if at > 0 => all + folder + rest,
                _ => all + part,
            }
        })
}

/// The edits for renamed files, by file.
fn edits(client: &mut Client, moves: &[(&str, &str)]) -> Value {
    let files: Vec<Value> = moves
        .iter()
        .map(|(old, new)| json!({"oldUri": client.uri(old), "newUri": client.uri(new)}))
        .collect();
    client.ask("workspace/willRenameFiles", &json!({"files": files}))["changes"].clone()
}

/// The texts of files after a rename of others.
fn moved(files: &[(&str, &str)], moves: &[(&str, &str)]) -> BTreeMap<String, String> {
    let mut client = Client::new(files, &pulling());
    client.open(files[0].0, files[0].1);
    let changes = edits(&mut client, moves);
    let after = |(name, text): &(&str, &str)| {
        let edits = &changes[client.uri(name)];
        (
            (*name).to_owned(),
            if edits.is_null() {
                (*text).to_owned()
            } else {
                applied(text, edits)
            },
        )
    };
    files.iter().map(after).collect()
}

#[test]
fn a_folder_whose_name_is_a_word_as_well_takes_its_paths_with_it_and_no_word() {
    let own: Vec<(&str, String)> = PROJECT
        .iter()
        .map(|(name, text)| (*name, marked(text, "docs")))
        .collect();
    let files: Vec<(&str, &str)> = own
        .iter()
        .map(|(name, text)| (*name, text.as_str()))
        .collect();
    let after = moved(&files, &[("docs", "pages/moved")]);
    for (name, text) in PROJECT {
        let expected = marked(text, "pages/moved")
            .replace("\"./pages", "\"pages")
            .replace("pages/moved = ", "\"pages/moved\" = ");
        assert_eq!(after[*name], expected, "{name}");
    }
    for (old, new) in [("templates", "prompts"), ("src", "lib")] {
        let after = moved(&files, &[(old, new)]);
        let changed: Vec<&str> = files
            .iter()
            .filter(|(name, text)| after[*name] != *text)
            .map(|(name, _)| *name)
            .collect();
        let expected: &[&str] = if old == "src" {
            &["ctxc.toml", "scenarios/docs.yaml"]
        } else {
            &["ctxc.toml"]
        };
        assert_eq!(changed, expected, "{old}");
        assert!(
            after["ctxc.toml"].contains("\n[templates]\ninclude = [\""),
            "{}",
            after["ctxc.toml"]
        );
    }
}

/// The project file after a rename of files, with two scenarios in the project.
fn project_file(project: &str, moves: &[(&str, &str)]) -> String {
    let case = |name: &str| {
        format!(
            "name: {name}\ntask: t\ncontext: {{objective: o}}\nexpect_context: [{{nothing_cut: true}}]\n"
        )
    };
    let (one, two) = (case("one"), case("two"));
    let task = "<task type=\"atomic\" name=\"t\">\n  <description>d</description>\n</task>\n";
    let files = [
        ("ctxc.toml", project),
        ("templates/t.xml", task),
        ("scenarios/one.yaml", &one),
        ("scenarios/deep/two.yaml", &two),
    ];
    moved(&files, moves).remove("ctxc.toml").unwrap()
}

#[test]
fn renaming_the_folder_of_scenarios_loses_no_scenario() {
    let whole = [("scenarios", "tests/cases")];
    let after = |project: &str| project_file(project, &whole);
    assert_eq!(after(""), "[eval]\nscenarios = [\"tests/cases\"]\n");
    assert_eq!(
        after("edition = \"2026\"\n"),
        "edition = \"2026\"\n\n[eval]\nscenarios = [\"tests/cases\"]\n"
    );
    assert_eq!(
        after("[eval] # scenarios\nruns = 3\n"),
        "[eval] # scenarios\nscenarios = [\"tests/cases\"]\nruns = 3\n"
    );
    assert_eq!(
        after("[eval.gate]\ntokens = 1\n"),
        "[eval]\nscenarios = [\"tests/cases\"]\n\n[eval.gate]\ntokens = 1\n"
    );
    assert_eq!(
        after("eval.runs = 3\n"),
        "eval.scenarios = [\"tests/cases\"]\neval.runs = 3\n"
    );
    assert_eq!(
        after("eval = { runs = 3 }\n"),
        "eval = { scenarios = [\"tests/cases\"], runs = 3 }\n"
    );
    assert_eq!(
        after("[eval]\nscenarios = 'scenarios'\n"),
        "[eval]\nscenarios = 'tests/cases'\n"
    );
    assert_eq!(
        after("[eval]\nscenarios = [\"scenarios/*.yaml\", \"scenarios/deep\",]\n"),
        "[eval]\nscenarios = [\"tests/cases/*.yaml\", \"tests/cases/deep\",]\n"
    );
}

#[test]
fn a_scenario_that_leaves_its_folder_is_listed() {
    let one = [("scenarios/one.yaml", "cases/first.yaml")];
    assert_eq!(
        project_file("", &one),
        "[eval]\nscenarios = [\"scenarios\", \"cases/first.yaml\"]\n"
    );
    assert_eq!(
        project_file("[eval]\nscenarios = \"scenarios\"\n", &one),
        "[eval]\nscenarios = [\"scenarios\", \"cases/first.yaml\"]\n"
    );
    assert_eq!(
        project_file(
            "[eval]\nscenarios = [\n  \"scenarios\",\n]\n",
            &[("scenarios/deep", "deep")]
        ),
        "[eval]\nscenarios = [\n  \"scenarios\", \"deep\",\n]\n"
    );
    assert_eq!(
        project_file("", &[("scenarios/one.yaml", "scenarios/deep/one.yaml")]),
        ""
    );
    assert_eq!(project_file("", &[("templates", "scenes")]), "");
}
