//! Real artifacts of every kind, as the program and the library write them: from the shipped
//! templates, from every example of every rule with all lowerable findings allowed, and from a
//! project with rare values.

use super::tasks::{HELD, MOVED};
use super::{imports, roles};
use crate::cli::project::Project;
use crate::cli::watch::Watching;
use crate::project::reading::read_with;
use crate::support::examples::{RuleExample, RuleExamples as _};
use ctxc::internals::registry::diff::compare_registries;
use ctxc::internals::registry::{Registry, SCHEMA};
use ctxc::internals::rules::list;
use ctxc::internals::schema::json::names;
use ctxc::{Config, compile_sources};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::OnceLock;

/// One artifact, with its origin.
pub(super) struct Artifact {
    pub(super) from: String,
    pub(super) value: Value,
}

/// Artifacts by their format; lines of `jsonl` under [`LINES`].
pub(super) type Artifacts = BTreeMap<&'static str, Vec<Artifact>>;

/// The key of the lines of `--format jsonl`.
pub(super) const LINES: &str = "jsonl";

/// Every artifact, made once.
pub(super) fn all() -> &'static Artifacts {
    static MADE: OnceLock<Artifacts> = OnceLock::new();
    MADE.get_or_init(|| {
        let mut out = Artifacts::new();
        registries(&mut out);
        findings(&mut out);
        answers(&mut out);
        manifests(&mut out);
        differences(&mut out);
        imports::imports(&mut out);
        searches(&mut out);
        requests(&mut out);
        trusted(&mut out);
        histories(&mut out);
        super::scorecards::scorecards(&mut out);
        super::labels::label_files(&mut out);
        for document in crate::cli::package::documents() {
            put(&mut out, names::PACKAGE, "an archive", document);
        }
        rules(&mut out);
        watched(&mut out);
        out
    })
}

pub(super) fn put(
    out: &mut Artifacts,
    format: &'static str,
    from: impl Into<String>,
    value: Value,
) {
    out.entry(format).or_default().push(Artifact {
        from: from.into(),
        value,
    });
}

/// A project file that allows every lowerable finding.
fn lowered(project: &str) -> String {
    let line = "[lints]\nall = \"info\"\n";
    if project.contains("[lints]") {
        project.replacen("[lints]\n", line, 1)
    } else {
        format!("{project}\n{line}")
    }
}

fn compiled(from: &str, config: &Config, sources: &[(&str, &str)]) -> Option<(String, Registry)> {
    let built = compile_sources(config, sources.iter().copied());
    built.registry.map(|registry| (from.to_owned(), registry))
}

fn of_example(rule: &str, example: &RuleExample) -> Option<(String, Registry)> {
    let files = example.project_files();
    let project = files.first().map_or("", |(_, text)| text);
    let config = read_with(&lowered(project), &files);
    compiled(
        &format!("an example of {rule}"),
        &config,
        &[("template.xml", example.template)],
    )
}

/// Every text of a folder of templates, by its path in the repository.
fn shipped() -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("templates")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path
                .strip_prefix(env!("CARGO_MANIFEST_DIR"))
                .unwrap()
                .to_string_lossy()
                .replace('\\', "/");
            found.push((name, std::fs::read_to_string(&path).unwrap()));
        }
    }
    found.sort();
    found
}

fn registries(out: &mut Artifacts) {
    let shipped = shipped();
    let sources: Vec<(&str, &str)> = shipped
        .iter()
        .map(|(path, text)| (path.as_str(), text.as_str()))
        .collect();
    let own = include_str!("../../../../ctxc.toml");
    let mut made = Vec::new();
    made.extend(compiled("templates/", &read_with(own, &sources), &sources));
    made.extend(compiled(
        "templates/ without a project",
        &Config::default(),
        &sources,
    ));
    made.extend(compiled(
        "one of templates/",
        &Config::default(),
        &sources[..1],
    ));
    assert!(made.len() >= 2, "the shipped templates do not compile");
    let before = made.len();
    for rule in list::all_rules() {
        made.extend(
            rule.meta
                .bad_examples()
                .iter()
                .chain(&rule.meta.good_examples())
                .filter_map(|example| of_example(rule.meta.name, example)),
        );
    }
    assert!(
        made.len() > before + 100,
        "only {} examples compile",
        made.len() - before
    );
    made.push((
        "an earlier version".to_owned(),
        Registry::read(include_str!("../../../compat/registry-1.json")).unwrap(),
    ));
    made.push((
        "nothing".to_owned(),
        compile_sources(&Config::default(), []).registry.unwrap(),
    ));
    for (name, text) in RARE {
        let config = read_with(&lowered(""), &[]);
        made.push(
            compiled(
                name,
                &config,
                &[
                    ("templates/rare.xml", text),
                    ("templates/kept.md", "kept\n"),
                ],
            )
            .expect(name),
        );
    }
    for pair in made.windows(2) {
        let from = format!("{} against {}", pair[0].0, pair[1].0);
        put(
            out,
            names::DIFF,
            from,
            serde_json::to_value(compare_registries(&pair[0].1, &pair[1].1).unwrap()).unwrap(),
        );
    }
    for (from, registry) in made {
        let value: Value = serde_json::from_slice(registry.as_bytes()).unwrap();
        for part in parts(&value) {
            put(out, SCHEMA, from.as_str(), part);
        }
    }
}

/// One registry for each definition, so that each check reads little.
fn parts(registry: &Value) -> Vec<Value> {
    let mut bare = registry.clone();
    let mut out = Vec::new();
    for kind in ["tasks", "templates", "fragments"] {
        bare[kind] = Value::Array(Vec::new());
    }
    for kind in ["tasks", "templates", "fragments"] {
        for definition in registry[kind].as_array().unwrap() {
            let mut part = bare.clone();
            part[kind] = Value::Array(vec![definition.clone()]);
            out.push(part);
        }
    }
    out.push(bare);
    out
}

/// Templates with parts that neither the shipped ones nor the examples of rules have.
const RARE: &[(&str, &str)] = &[
    (
        "what stands in a task",
        "<task name=\"rare\" type=\"atomic\" version=\"2\" profile=\"plain\" xmlns:n=\"urn:notes\">
  <description trust=\"untrusted\">read it</description>
  <provider>house</provider>
  <parameters><parameter type=\"string\"/></parameters>
  <context_relevance><input include=\"false\"/></context_relevance>
  <sampling temperature=\"0\" top_p=\"1\" seed=\"1\" effort=\"low\" stop=\"x\" tool_choice=\"auto\" max_output_tokens=\"9\"/>
  <history turns=\"4\" tokens=\"500\" compacted=\"true\"/>
  <examples><example><input>in</input></example><example><output>out</output></example></examples>
  <file_paths source=\"description\"><description>the newest notes</description></file_paths>
  <output_format type=\"text\"/>
  <n:note>kept</n:note>
</task>
",
    ),
    (
        "calls and choices",
        "<library>
<template name=\"twice\" params=\"text more\" returns=\"string\">
  <task type=\"atomic\"><description>say {{text}} and {{more}}</description></task>
</template>
<template name=\"never\" params=\"\"><task type=\"atomic\"><description>say nothing</description></task></template>
<task name=\"rare\" type=\"sequential\">
  <description>say it</description>
  <steps>
    <call template=\"twice\" as=\"said\">
      <arg name=\"text\"><task type=\"atomic\"><description>find words</description><sampling seed=\"1\"/></task></arg>
      <arg name=\"more\"><call template=\"never\"/></arg>
    </call>
    <call template=\"never\"/>
    <call/>
    <cond><case><task type=\"atomic\"><description>give up</description><sampling temperature=\"0\"/></task></case></cond>
  </steps>
</task>
<task name=\"run\" type=\"script\">
  <description>run it</description>
  <command>true</command>
  <env><var>nameless</var></env>
</task>
</library>
",
    ),
];

fn findings(out: &mut Artifacts) {
    let bad = || {
        list::all_rules().flat_map(|rule| {
            rule.meta
                .bad_examples()
                .into_iter()
                .map(|example| (rule.meta.name, example))
        })
    };
    let mut together = Project::new();
    for (number, (rule, example)) in bad()
        .filter(|(_, example)| example.project.is_empty())
        .enumerate()
    {
        together = together.with_file(&format!("templates/{rule}-{number}.xml"), example.template);
    }
    let mut projects = vec![("all bad examples".to_owned(), together)];
    // A project for another version has no report.
    let has_report = |rule: &str| rule != "wrong-version";
    for (rule, example) in
        bad().filter(|(rule, example)| !example.project.is_empty() && has_report(rule))
    {
        let mut project = Project::new().with_file("templates/template.xml", example.template);
        for (path, text) in example.project_files() {
            project = project.with_file(path, text);
        }
        projects.push((format!("a bad example of {rule}"), project));
    }
    for (from, project) in projects {
        let json = project.run(&["check", "--format", "json"]);
        put(out, names::DIAGNOSTICS, from.as_str(), json.json());
        let lines = project.run(&["check", "--format", "jsonl"]);
        for line in lines.stdout.lines() {
            put(
                out,
                LINES,
                from.as_str(),
                serde_json::from_str(line).unwrap(),
            );
        }
    }
    let mut corpus = Project::new();
    for entry in
        std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/fuzz/corpus/reader")).unwrap()
    {
        let path = entry.unwrap().path();
        let name = format!(
            "templates/{}.xml",
            path.file_name().unwrap().to_string_lossy()
        );
        corpus = corpus.with_file(&name, std::fs::read(&path).unwrap());
    }
    put(
        out,
        names::DIAGNOSTICS,
        "the corpus of the fuzzer",
        corpus.run(&["check", "--json"]).json(),
    );
    let unreadable = Project::new().with_file("templates/a.xml", [0xff, 0xfe, 0x00]);
    put(
        out,
        names::DIAGNOSTICS,
        "bytes that are no text",
        unreadable.run(&["check", "--json"]).json(),
    );
    put(
        out,
        names::DIAGNOSTICS,
        "a build",
        unreadable.run(&["build", "--json"]).json(),
    );
    let piped = unreadable.run_with_input(&["check", "-", "--json"], b"<task");
    put(out, names::DIAGNOSTICS, "standard input", piped.json());
}

/// A project with layers of every kind.
const LAYERED: &str = "\
[operators.interview]
base = \"sequential\"
inherit_context = \"none\"
fresh_context = \"enabled\"

[defaults.atomic]
inherit_context = \"subset\"

[defaults.atomic.subtask]
fresh_context = \"disabled\"

[defaults.sequential]
accumulate_data = false
accumulation_format = \"full_output\"
";

fn answers(out: &mut Artifacts) {
    let mut project = Project::new().with_file("ctxc.toml", LAYERED);
    for (path, text) in shipped() {
        project = project.with_file(&path, text);
    }
    let bare = Project::new();
    put(
        out,
        names::DEFAULTS,
        "the language",
        bare.run(&["defaults", "--json"]).exits_with(0).json(),
    );
    put(
        out,
        names::LIST,
        "everything",
        project.run(&["list", "--json"]).exits_with(0).json(),
    );
    put(
        out,
        names::LIST,
        "tasks",
        project
            .run(&["list", "tasks", "--json"])
            .exits_with(0)
            .json(),
    );
    put(
        out,
        names::LIST,
        "roles",
        project
            .run(&["list", "roles", "--json"])
            .exits_with(0)
            .json(),
    );
    put(
        out,
        names::DEFAULTS,
        "a project with layers",
        project.run(&["defaults", "--json"]).exits_with(0).json(),
    );
    for (path, _) in shipped() {
        let name = Path::new(&path)
            .file_stem()
            .unwrap()
            .to_str()
            .unwrap()
            .to_owned();
        if Path::new(&path)
            .extension()
            .is_none_or(|ending| ending != "xml")
            || name == "house-rules"
        {
            continue;
        }
        let shown = project.run(&["show", &name, "--json"]).exits_with(0).json();
        let nodes: Vec<String> = shown["nodes"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|node| !node["settings"].is_null())
            .map(id)
            .collect();
        put(out, names::SHOW, path, shown);
        // The task itself and its deepest node.
        for id in nodes.first().into_iter().chain(nodes.last()) {
            for setting in [
                "inherit_context",
                "accumulate_data",
                "accumulation_format",
                "fresh_context",
            ] {
                let what = format!("{name}{}.{setting}", id.trim_end_matches('/'));
                let json = project
                    .run(&["explain", &what, "--json"])
                    .exits_with(0)
                    .json();
                put(out, names::EXPLAIN, what, json);
            }
        }
    }
}

/// Files that shipped tasks read.
const READ: [&str; 6] = [
    "src/syntax/limits.rs",
    "src/syntax/decode.rs",
    "src/base/fs.rs",
    "docs/ARCHITECTURE.md",
    "docs/DESIGN.md",
    "docs/STYLE.md",
];

fn manifests(out: &mut Artifacts) {
    let mut project = Project::new()
        .with_file("ctxc.toml", format!("{LAYERED}{}", roles::roles()))
        .with_file("templates/held.xml", HELD);
    for (path, text) in shipped() {
        project = project.with_file(&path, text);
    }
    for path in READ {
        project = project.with_file(path, "what a shipped task reads\n");
    }
    let whole = project.run(&["manifest", "--json"]).exits_with(0).json();
    for entry in whole["entries"].as_array().unwrap() {
        let mut part = whole.clone();
        part["entries"] = Value::Array(vec![entry.clone()]);
        put(
            out,
            names::MANIFEST,
            format!("{} {}{}", entry["role"], entry["task"], entry["node"]),
            part,
        );
    }
    let given = [
        "manifest",
        "held",
        "--json",
        "--input",
        "topic=rain",
        "--result",
        "read=wet",
        "--budget",
        "2000",
    ];
    put(
        out,
        names::MANIFEST,
        "values given",
        project.run(&given).exits_with(0).json(),
    );
    let given = [
        "render",
        "held",
        "--json",
        "--input",
        "topic=rain",
        "--result",
        "read=wet",
        "--budget",
        "2000",
    ];
    put(
        out,
        names::RENDER,
        "values given",
        project.run(&given).exits_with(0).json(),
    );
    put(
        out,
        names::SHOW,
        "held",
        project
            .run(&["show", "held", "--json"])
            .exits_with(0)
            .json(),
    );
    let made = "<task type=\"atomic\" name=\"made\"><description>d</description><inputs><input name=\"claims\" trust=\"trusted\"><task type=\"atomic\">\
                <description>claim</description></task></input></inputs><instructions>{{claims}}</instructions></task>\n";
    let project = Project::new().with_file("templates/made.xml", made);
    put(
        out,
        names::MANIFEST,
        "an input that a task makes",
        project.run(&["manifest", "--json"]).exits_with(0).json(),
    );
    let long = "<task name=\"long\"><description>d</description><file_paths source=\"literal\"><path>a.md</path></file_paths></task>\n";
    let short = Project::new()
        .with_file("templates/long.xml", long)
        .with_file("a.md", "many words ".repeat(400));
    let cut = short
        .run(&["manifest", "--budget", "300", "--json"])
        .exits_with(0)
        .json();
    assert!(
        cut["entries"][0]["segments"][1]["uncut"].as_u64().unwrap() > 800,
        "{cut:#}"
    );
    short
        .run(&["manifest", "--budget", "300"])
        .exits_with(0)
        .stdout_contains("a.md 294 of 811");
    put(out, names::MANIFEST, "a file that is cut", cut);
    put(
        out,
        names::RENDER,
        "before an input is made",
        project
            .run(&["render", "made", "--json", "--node", "/inputs/0"])
            .exits_with(0)
            .json(),
    );
    let greet = "<task type=\"atomic\" name=\"greet\"><description>Say {{word}}.</description><parameters><parameter name=\"word\" default=\"hi\"/>\
                 </parameters></task>\n";
    let greeting = Project::new().with_file("templates/greet.xml", greet);
    put(
        out,
        names::RENDER,
        "a default",
        greeting
            .run(&["render", "greet", "--json"])
            .exits_with(0)
            .json(),
    );
}

/// The contexts of the shipped tasks compared with their contexts once every text, file and default
/// is another one.
fn differences(out: &mut Artifacts) {
    let roles = roles::roles();
    // One role is removed, one is added, one loses its price, and the others have another one.
    let priced = roles
        .replacen("usd_per_million = { input = 1.5, output = 2 }\n", "", 1)
        .replace("input = 1.5", "input = 3");
    let (old, new) = (
        format!("{LAYERED}{roles}"),
        priced.replace("[roles.premium]", "[roles.other]"),
    );
    let mut project = Project::new()
        .with_file("old/ctxc.toml", old)
        .with_file("new/ctxc.toml", format!("edition = \"2026\"\n{new}"));
    let other = |text: &str| text.replace(" the ", " each and every ");
    let moved = MOVED
        .replace(">none<", ">full<")
        .replace("atomic\"", "atomic\" subtype=\"subtask\"");
    let moved = moved.replace("</task>", "<history turns=\"6\"/></task>");
    let schema = |word: &str| format!("{{\"type\":\"object\",\"title\":\"{word}\"}}\n");
    project = project
        .with_file("old/templates/moved.json", schema("one"))
        .with_file("new/templates/moved.json", schema("other"));
    project = project
        .with_file("old/templates/moved.xml", MOVED)
        .with_file("new/templates/moved.xml", other(&moved));
    let own = [("templates/held.xml".to_owned(), HELD.to_owned())];
    for (path, text) in shipped().into_iter().chain(own) {
        project = project
            .with_file(&format!("old/{path}"), &text)
            .with_file(&format!("new/{path}"), other(&text));
    }
    for path in READ {
        project = project
            .with_file(&format!("old/{path}"), "what a task reads\n")
            .with_file(&format!("new/{path}"), "something else\n");
    }
    project.write_file(
        "new/templates/more.xml",
        "<task type=\"atomic\" name=\"more\"><description>More.</description></task>\n",
    );
    for (side, words) in [("old", "rain"), ("new", "snow")] {
        let (input, result) = (format!("topic={words}"), format!("read={words}"));
        let given = [
            "--project",
            side,
            "manifest",
            "held",
            "--input",
            &input,
            "--result",
            &result,
            "--output",
            &format!("{side}.json"),
        ];
        project.run(&given).exits_with(0);
    }
    for (old, new) in [
        ("old", "new"),
        ("new", "old"),
        ("old.json", "new.json"),
        ("old", "old"),
    ] {
        let json = project
            .run(&["manifest", "diff", old, new, "--json"])
            .exits_with(0)
            .json();
        put(out, names::MANIFEST_DIFF, format!("{old} and {new}"), json);
    }
}

fn id(node: &Value) -> String {
    node["id"].as_str().unwrap().to_owned()
}

fn rules(out: &mut Artifacts) {
    let project = Project::new();
    put(
        out,
        names::RULES,
        "rules",
        project.run(&["rules", "--json"]).exits_with(0).json(),
    );
    let mut weights = Vec::new();
    for (number, rule) in list::all_rules().enumerate() {
        let is_first_of_its_weight = !weights.contains(&rule.meta.severity);
        weights.push(rule.meta.severity);
        if number % 7 > 0 && !is_first_of_its_weight {
            continue;
        }
        put(
            out,
            names::RULE,
            rule.meta.name,
            project
                .run(&["explain", rule.meta.name, "--json"])
                .exits_with(0)
                .json(),
        );
    }
}

/// Lines of `watch`, with every event that a line can report.
fn watched(out: &mut Artifacts) {
    let mut project = Project::new();
    let bad = list::all_rules()
        .flat_map(|rule| rule.meta.bad_examples())
        .filter(|example| example.project.is_empty());
    for (number, example) in bad.enumerate() {
        project = project.with_file(&format!("templates/{number:03}.xml"), example.template);
    }
    let mut watching = Watching::start(&project, &[]);
    let mut say = |what: &str, is_said: &dyn Fn(&Value) -> bool| loop {
        let line = watching.line();
        let is_last = is_said(&line);
        put(out, names::WATCH, what, line);
        if is_last {
            return;
        }
    };
    let some = |line: &Value, key: &str| line[key].as_array().is_some_and(|all| !all.is_empty());
    say("all bad examples", &|line| some(line, "new"));
    project.write_file(
        "templates/000.xml",
        format!("<!-- more -->\n{}", project.read_file("templates/000.xml")),
    );
    say("one that moved", &|line| some(line, "moved"));
    std::fs::remove_dir_all(project.path("templates")).unwrap();
    say("templates gone", &|line| {
        some(line, "gone") && line["files"] == 0
    });
    project.write_file("ctxc.toml", [0xff]);
    say("trouble", &|line| !line["trouble"].is_null());
}

fn trusted(out: &mut Artifacts) {
    let script = "<task type=\"script\" name=\"tests\">\n  <description>Test.</description>\n  <command>cargo test</command>\n</task>\n";
    let providers = "[providers.a]\nkind = \"openai\"\n[providers.b]\nkind = \"ollama\"\nbase_url = \"http://localhost:1\"\napi_key_env = \"B_KEY\"\n";
    let project = Project::new()
        .with_file("templates/tests.xml", script)
        .with_file("ctxc.toml", providers);
    put(
        out,
        names::TRUST,
        "asked",
        project.run(&["trust", "--json"]).exits_with(0).json(),
    );
    put(
        out,
        names::TRUST,
        "permitted",
        project
            .run(&["trust", "--yes", "--json"])
            .exits_with(0)
            .json(),
    );
}

fn histories(out: &mut Artifacts) {
    let project = crate::cli::history::sample();
    put(
        out,
        names::HISTORY,
        "none",
        project
            .run(&["history", "list", "--json"])
            .exits_with(0)
            .json(),
    );
    project.run(&["eval"]).exits_with(1);
    put(
        out,
        names::HISTORY,
        "runs",
        project
            .run(&["history", "list", "--json"])
            .exits_with(0)
            .json(),
    );
    put(
        out,
        names::HISTORY,
        "cases",
        project
            .run(&["history", "show", "last", "--json"])
            .exits_with(0)
            .json(),
    );
    put(
        out,
        names::DRIFT,
        "none",
        project.run(&["drift", "--json"]).exits_with(0).json(),
    );
    put(
        out,
        names::DRIFT,
        "some",
        crate::cli::drift::planted()
            .run(&["drift", "--json"])
            .exits_with(1)
            .json(),
    );
}

fn requests(out: &mut Artifacts) {
    let project = crate::cli::requests::sample();
    put(
        out,
        names::PROMPT_CACHE,
        "broken",
        project
            .run(&["prompt-cache", "calls.jsonl", "--json"])
            .exits_with(0)
            .json(),
    );
    let project = project
        .with_file("billed.jsonl", crate::session::samples::billed_session())
        .with_file("session.jsonl", crate::session::samples::losing_session())
        .with_file("other.jsonl", crate::session::samples::short_session());
    for (case, file) in [("needed-again", "session.jsonl"), ("lost", "other.jsonl")] {
        let run = project.run(&["compaction", file, "--json"]).exits_with(0);
        put(out, names::COMPACTION, case, run.json());
    }
    for (format, verb) in [
        (names::PROMPT_CACHE, "prompt-cache"),
        (names::REQUEST_MANIFEST, "manifest"),
        (names::DIAGNOSTICS, "check"),
    ] {
        let run = project.run(&[verb, "billed.jsonl", "--json"]).exits_with(0);
        put(out, format, "a session", run.json());
    }
    crate::session::probes::put_artifacts(|format, case, value| put(out, format, case, value));
    put(
        out,
        names::REQUEST_MANIFEST,
        "calls",
        project
            .run(&["manifest", "calls.jsonl", "--json"])
            .exits_with(0)
            .json(),
    );
    put(
        out,
        names::RECORDING_DIFF,
        "calls",
        project
            .run(&["diff", "calls.jsonl", "later.jsonl", "--json"])
            .exits_with(0)
            .json(),
    );
    put(
        out,
        names::RECORDING_DIFF,
        "more",
        project
            .run(&["diff", "one.json", "calls.jsonl", "--json"])
            .exits_with(0)
            .json(),
    );
}

fn searches(out: &mut Artifacts) {
    let mut project = Project::new().with_file("a.bin", b"\0");
    for path in [
        "docs/one.md",
        "docs/two.md",
        "docs/three.md",
        "docs/four.md",
    ] {
        project = project.with_file(
            path,
            format!("{path} and\n\n{}", "a paragraph\n\n".repeat(400)),
        );
    }
    put(
        out,
        names::SEARCH,
        "found",
        project
            .run(&["search", "--json", "docs one"])
            .exits_with(0)
            .json(),
    );
    put(
        out,
        names::SEARCH,
        "nothing",
        project
            .run(&["search", "--json", "zebra"])
            .exits_with(0)
            .json(),
    );
    put(
        out,
        names::SEARCH,
        "not asked",
        project.run(&["search", "--json"]).exits_with(0).json(),
    );
}
