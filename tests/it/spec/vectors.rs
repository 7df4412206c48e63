//! The conformance vectors: made by the compiler, stored, and compared with its current output.

use crate::cli::project::Project;
use crate::project::reading::read;
use crate::schema::cells;
use crate::support::examples::RuleExamples as _;
use crate::support::fresh::assert_fresh;
use ctxc::Config;
use ctxc::internals::registry::body::{NodeBody, Text};
use ctxc::internals::rules::list;
use ctxc::internals::settings::bodies::ResolvedBodies;
use ctxc::internals::settings::data::{OriginData, SettingData};
use ctxc::internals::settings::explain::SettingsView;
use ctxc::internals::syntax::{XmlLimits, XmlReader};
use ctxc::internals::template::model::Definition;
use ctxc::internals::template::nodes::{self, TaskNode};
use ctxc::internals::template::setting::{SettingName, Word};
use serde_json::{Map, Value, json};
use std::fmt::Write as _;

/// Files by their paths, `ctxc.toml` among them.
type Files = Vec<(String, String)>;

/// A file of vectors, a case a line.
fn vectors(about: &str, cases: impl IntoIterator<Item = (String, Files)>) -> String {
    let mut out = format!(
        "{{\"schema\": \"ctxc/vectors/1\", \"edition\": \"2026\", \"about\": {}, \"cases\": [\n",
        json!(about)
    );
    for (at, (name, files)) in cases.into_iter().enumerate() {
        let comma = if at == 0 { "" } else { ",\n" };
        let _ = write!(out, "{comma}{}", case(&name, &files));
    }
    out + "\n]}\n"
}

fn config(files: &Files) -> Config {
    read(
        files
            .iter()
            .find(|(path, _)| path == "ctxc.toml")
            .map_or("", |(_, text)| text),
    )
}

/// The findings of a project: code, severity and file of each.
fn findings(files: &Files) -> Vec<[String; 3]> {
    let sources = files
        .iter()
        .filter(|(path, _)| path != "ctxc.toml")
        .map(|(path, text)| (path.as_str(), text.as_str()));
    let mut findings: Vec<[String; 3]> = ctxc::compile_sources(&config(files), sources)
        .diagnostics
        .iter()
        .map(|finding| {
            [
                finding.rule.code.to_string(),
                finding.severity.to_string(),
                finding.path.to_string(),
            ]
        })
        .collect();
    findings.sort();
    findings.dedup();
    findings
}

fn case(name: &str, files: &Files) -> Value {
    let (config, findings) = (config(files), findings(files));
    let templates = files.iter().filter(|(path, _)| {
        std::path::Path::new(path)
            .extension()
            .is_some_and(|ending| ending == "xml")
    });
    let settings: Map<String, Value> = templates
        .map(|(path, text)| (path.clone(), settings(path, text, &config)))
        .collect();
    let files: Map<String, Value> = files
        .iter()
        .map(|(path, text)| (path.clone(), json!(text)))
        .collect();
    json!({"name": name, "files": files, "settings": settings, "findings": findings})
}

/// The settings of every body of a file.
fn settings(path: &str, text: &str, config: &Config) -> Value {
    let mut reader = XmlReader::new();
    reader.read(text, &XmlLimits::default());
    if !reader.faults().is_empty() {
        // The reading of broken XML is not specified.
        return json!({});
    }
    let file = ctxc::internals::template::lower_document(reader.document(text));
    let mut bodies = ResolvedBodies::default();
    bodies.resolve(&file, &config.layers);
    let mut out = Map::new();
    for (number, task) in file
        .definitions
        .iter()
        .enumerate()
        .filter_map(|(at, of)| Some((at, Definition::task(of)?)))
    {
        nodes::visit_nodes(task, &mut |node, id| {
            let TaskNode::Task(task) = node else { return };
            let Some(body) = bodies.get(task).filter(|body| body.fault.is_none()) else {
                return;
            };
            let view = SettingsView {
                resolved: &body.resolved,
                layers: &config.layers,
                path,
            };
            let four = SettingName::ALL
                .iter()
                .map(|name| (name.word().to_owned(), setting(&view.setting_data(*name))));
            let id = if number == 0 {
                id.to_owned()
            } else {
                format!("{number}:{id}")
            };
            out.insert(id, Value::Object(four.collect()));
        });
    }
    Value::Object(out)
}

/// The value, a flag if it applies, layer and row; then the value it overrides, if any.
fn setting(data: &SettingData) -> Value {
    let from = |origin: &OriginData| format!("{} {}", origin.layer.as_str(), origin.row);
    let overridden: Vec<Value> = data
        .overridden
        .iter()
        .map(|overridden| json!([overridden.value, from(&overridden.origin)]))
        .collect();
    let mut out = vec![
        json!(data.value),
        json!(data.applies),
        json!(from(&data.origin)),
    ];
    if !overridden.is_empty() {
        out.push(json!(overridden));
    }
    json!(out)
}

fn template(text: &str) -> (String, String) {
    ("template.xml".to_owned(), text.to_owned())
}

/// A project file and a template under it.
fn under(project: &str, text: &str) -> Files {
    vec![("ctxc.toml".to_owned(), project.to_owned()), template(text)]
}

const NOTHING: &str = "<task type=\"atomic\" name=\"t\"><description>d</description></task>";

/// Projects that move defaults, each with a task that shows it.
fn layers() -> Vec<(String, Files)> {
    let subtask = NOTHING.replace("\"atomic\"", "\"atomic\" subtype=\"subtask\"");
    let fresh = NOTHING.replace(
        "</task>",
        "<context_management><fresh_context>enabled</fresh_context></context_management></task>",
    );
    let steps = "<task type=\"sequential\" name=\"t\"><description>d</description><steps><task type=\"atomic\" subtype=\"subtask\"><description>d</description></task><task type=\"atomic\"><description>d</description><context_management><inherit_context>subset</inherit_context></context_management></task></steps></task>";
    let reduce = "<task type=\"reduce\" name=\"t\"><description>d</description><inputs><input name=\"i\">x</input></inputs><inner_task><description>{{current_input}}</description></inner_task><reduction_task><description>{{current_result}}</description><context_management><inherit_context>full</inherit_context><fresh_context>disabled</fresh_context></context_management></reduction_task></task>";
    let cycle = "<task type=\"director_evaluator_loop\" name=\"t\"><description>d</description><director><description>{{evaluation_feedback}}</description></director><evaluator><description>{{director_result}}</description></evaluator><script_execution><command>make</command></script_execution></task>";
    let declared = |kind: &str| steps.replacen("\"sequential\"", &format!("\"{kind}\""), 1);
    let none = "inherit_context = \"none\"\n";
    let atomic = format!("[defaults.atomic]\n{none}");
    let both = format!(
        "{atomic}\n[defaults.atomic.subtask]\ninherit_context = \"subset\"\nfresh_context = \"disabled\"\n"
    );
    let interview =
        "[operators.interview]\nbase = \"sequential\"\naccumulation_format = \"full_output\"\n";
    let cases: Vec<(&str, String, String)> = vec![
        ("no project file: the row of the type", String::new(), NOTHING.to_owned()),
        ("the project's default beats the type's row", atomic.clone(), NOTHING.to_owned()),
        ("the template beats the project's default", format!("{atomic}fresh_context = \"enabled\"\n"), fresh.replace("enabled", "disabled")),
        ("a written side against the project's default agrees", atomic.clone(), fresh.clone()),
        ("a written side against the type's default does not", String::new(), fresh),
        ("the subtype's row beats the project's default of the type", "[defaults.atomic]\ninherit_context = \"subset\"\n".to_owned(), subtask.clone()),
        ("the project's default of the subtype beats its row", both, subtask.clone()),
        ("a default for accumulation on a type without steps", "[defaults.atomic]\naccumulate_data = true\n".to_owned(), NOTHING.to_owned()),
        ("steps have settings of their own", "[defaults.sequential]\naccumulate_data = false\n".to_owned(), steps.to_owned()),
        ("a default for a part", "[defaults.reduce.inner_task]\ninherit_context = \"none\"\nfresh_context = \"enabled\"\n".to_owned(), reduce.to_owned()),
        ("a default for the type does not reach its parts", "[defaults.reduce]\ninherit_context = \"full\"\nfresh_context = \"disabled\"\n".to_owned(), reduce.to_owned()),
        ("the bodies of a loop", "[defaults.director_evaluator_loop.evaluator]\ninherit_context = \"none\"\n[defaults.script]\ninherit_context = \"subset\"\n".to_owned(), cycle.to_owned()),
        ("a declared type", interview.to_owned(), declared("interview")),
        ("a default for a declared type", format!("{interview}[defaults.interview]\naccumulate_data = false\n"), declared("interview")),
        ("a default for the base does not reach a declared type", format!("{interview}[defaults.sequential]\naccumulate_data = false\n"), declared("interview")),
        ("a declared subtype", "[operators.atomic.scout]\nfresh_context = \"enabled\"\ninherit_context = \"none\"\n".to_owned(), NOTHING.replace("\"atomic\"", "\"atomic\" subtype=\"scout\"")),
        ("defaults that contradict each other are the project's fault alone", "[defaults.atomic]\nfresh_context = \"enabled\"\n".to_owned(), NOTHING.to_owned()),
        ("a type that nobody declared", interview.to_owned(), declared("interviw")),
        ("a subtype that nobody declared", interview.to_owned(), subtask.replace("subtask", "subtsk")),
    ];
    cases
        .into_iter()
        .map(|(name, project, text)| (name.to_owned(), under(&project, &text)))
        .collect()
}

/// Forms of older dialects, and settings at allowed and forbidden places.
fn older() -> Vec<(String, Files)> {
    let with = |head: &str, block: &str| {
        format!("<task {head} name=\"t\"><description>d</description>{block}</task>")
    };
    let block = |inside: &str| format!("<context_management>{inside}</context_management>");
    let steps = "<steps><task type=\"atomic\"><description>d</description></task></steps>";
    let cases: Vec<(&str, String)> = vec![
        ("inherit_context true", with("type=\"atomic\"", &block("<inherit_context>true</inherit_context>"))),
        ("inherit_context false", with("type=\"atomic\"", &block("<inherit_context>false</inherit_context><fresh_context>enabled</fresh_context>"))),
        ("accumulation_format minimal", with("type=\"sequential\"", &(block("<accumulation_format>minimal</accumulation_format>") + steps))),
        ("accumulation_format full", with("type=\"sequential\"", &(block("<accumulation_format>full</accumulation_format>") + steps))),
        ("type map", with("type=\"map\"", steps)),
        ("type director", with("type=\"director\"", "")),
        ("type evaluator with a subtype", with("type=\"evaluator\" subtype=\"subtask\"", "")),
        ("no type", with("", "")),
        ("subtype standard", with("type=\"atomic\" subtype=\"standard\"", "")),
        ("words in other case", with("type=\"atomic\"", &block("<inherit_context>Full</inherit_context>"))),
        ("yes for true", with("type=\"sequential\"", &(block("<accumulate_data>yes</accumulate_data>") + steps))),
        ("white space around a word", with("type=\"atomic\"", &block("<inherit_context>\n  none </inherit_context><fresh_context><!-- c -->enabled</fresh_context>"))),
        ("a word in pieces", with("type=\"atomic\"", &block("<inherit_context>no<![CDATA[ne]]></inherit_context>"))),
        ("a setting twice", with("type=\"atomic\"", &block("<inherit_context>none</inherit_context><inherit_context>full</inherit_context>"))),
        ("a setting outside of its block", with("type=\"atomic\"", "<inherit_context>none</inherit_context>")),
        ("a setting as an attribute", with("type=\"atomic\" inherit_context=\"none\"", "")),
        ("an empty block", with("type=\"atomic\"", &block(""))),
        ("foreign elements and attributes", "<task xmlns:x=\"urn:x\" x:a=\"1\" type=\"atomic\" name=\"t\"><x:b><c/></x:b><description>d</description><context_management x:y=\"\"><x:z/></context_management></task>".to_owned()),
        ("a default namespace makes all foreign", "<task xmlns=\"urn:x\" type=\"atomic\"><description>d</description></task>".to_owned()),
        ("a part wrapped once more keeps the row of the part", "<task type=\"reduce\" name=\"t\"><description>d</description><inputs><input name=\"i\">x</input></inputs><inner_task><task type=\"atomic\" subtype=\"subtask\"><description>{{current_input}}</description></task></inner_task><reduction_task><description>{{current_result}}</description></reduction_task></task>".to_owned()),
        ("a task of an input", with("type=\"atomic\"", "<inputs><input name=\"i\"><task type=\"atomic\" subtype=\"subtask\"><description>d</description></task></input></inputs><instructions>{{i}}</instructions>")),
        ("settings of a task with ref", "<library><task type=\"atomic\" name=\"a\"><description>d</description></task><task type=\"sequential\" name=\"b\"><description>d</description><steps><task ref=\"a\"/></steps></task></library>".to_owned()),
        ("a task of a function", "<template name=\"f\" params=\"x\"><task type=\"reduce\"><description>{{x}}</description><inputs><input name=\"i\">x</input></inputs><inner_task><description>{{current_input}}</description></inner_task><reduction_task><description>{{current_result}}</description></reduction_task></task></template>".to_owned()),
        ("branches of a choice", with("type=\"sequential\"", "<parameters><parameter name=\"p\"/></parameters><steps><cond><case test=\"p == 1\"><task type=\"script\"><description>d</description><command>make</command></task></case></cond></steps>")),
        ("deprecated elements", with("type=\"atomic\"", "<output_slot>x</output_slot><manual_xml>true</manual_xml>")),
    ];
    cases
        .into_iter()
        .map(|(name, text)| (name.to_owned(), vec![template(&text)]))
        .collect()
}

/// The files that an agent is shown, by `<path>`: they exist, with any content.
fn shown_files(template: &str) -> impl Iterator<Item = (String, String)> {
    let paths = template
        .split("<path>")
        .skip(1)
        .filter_map(|rest| rest.split("</path>").next());
    paths
        .filter(|path| !path.contains(['{', '*']))
        .map(|path| (path.to_owned(), "words\n".to_owned()))
}

/// The examples of every rule that need only a project file and the shown files, with their
/// finding.
fn rules() -> Vec<(String, Files)> {
    let mut out = Vec::new();
    for rule in list::all_rules() {
        for (kind, examples) in [
            ("bad", rule.meta.bad_examples()),
            ("good", rule.meta.good_examples()),
        ] {
            for (at, example) in examples.iter().enumerate() {
                let project = example.project_files();
                let alone = project.iter().all(|(path, _)| *path == "ctxc.toml");
                if alone && !example.template.contains(" src=") && example.template.len() < 4_000 {
                    let mut files: Files = project
                        .iter()
                        .map(|(path, text)| ((*path).to_owned(), (*text).to_owned()))
                        .collect();
                    files.push(template(example.template));
                    files.extend(shown_files(example.template));
                    // Decisions of scenarios, requests or the command line are no part of the
                    // language.
                    if kind == "bad"
                        && !findings(&files)
                            .iter()
                            .any(|found| found[0] == rule.meta.code.to_string())
                    {
                        continue;
                    }
                    out.push((
                        format!("{} {} {kind} {at}", rule.meta.code, rule.meta.name),
                        files,
                    ));
                }
            }
        }
    }
    out
}

fn table() -> Vec<(String, Files)> {
    let (project, names) = cells::table();
    let cells = names.iter().filter(|name| name.starts_with("cells/"));
    cells
        .map(|name| (name.clone(), vec![template(&project.read_file(name))]))
        .collect()
}

#[test]
fn the_vectors_are_those_of_the_compiler() {
    let table = table();
    assert_eq!(table.len(), 9 * 108);
    let about = "the truth table: nine rows by 108 combinations of what can be written";
    assert_fresh("docs/spec/vectors/settings.json", &vectors(about, table));
    assert_fresh(
        "docs/spec/vectors/layers.json",
        &vectors(
            "projects with defaults, types and subtypes of their own",
            layers(),
        ),
    );
    assert_fresh(
        "docs/spec/vectors/older.json",
        &vectors("older forms, places, foreign elements", older()),
    );
    let rules = rules();
    assert!(rules.len() > 200, "{} examples", rules.len());
    assert_fresh(
        "docs/spec/vectors/rules.json",
        &vectors("the examples of every finding", rules),
    );
}

/// Texts as they stand between two tags.
const TEXTS: &[&str] = &[
    "one",
    "  one  ",
    "\n    one\n      two\n    three\n  ",
    "Do this:\n      - a\n      - b\n    ",
    " Do this:\n      - a",
    "\tDo this:\n\t\t- a\n\t\t  - b",
    "Do this:\n\n   \n      - a",
    "\n    a\n   \t \n    b\n",
    "\n\ta\n        b",
    "\r\n    a\r\n      b\r\n  ",
    "   \n\n",
    "a &lt; b\n    c &#32;d",
    "<![CDATA[first\n    second]]>",
    "<!-- c -->first\n    second",
    "\n    {{a}}\n      {{b}}\n  ",
];

#[test]
fn the_canonical_texts_are_those_of_the_compiler() {
    let case = |written: &&str| {
        let file =
            format!("<task type=\"atomic\" name=\"t\"><description>{written}</description></task>");
        json!({"written": written, "text": canonical(&file, |body| body.description.as_ref()).unwrap_or_default()}).to_string()
    };
    let cases: Vec<String> = TEXTS.iter().map(case).collect();
    let head = "{\"schema\": \"ctxc/vectors/1\", \"edition\": \"2026\", \"about\": \"texts as written, and in their canonical form\", \"cases\": [\n";
    assert_fresh(
        "docs/spec/vectors/texts.json",
        &format!("{head}{}\n]}}\n", cases.join(",\n")),
    );
}

/// Texts between braces, with their parsed form.
const EXPRESSIONS: &[&str] = &[
    "a",
    " a ",
    "a.b",
    "a . b",
    "a [ 0 ]",
    "a[007]",
    "a[4294967295]",
    "a[4294967296]",
    "a.",
    "a b",
    "f()",
    "f ( a )",
    "f(a,)",
    "f(,)",
    "f(1)",
    "f(-1)",
    "f(007)",
    "f(1.5e3)",
    "f(1.5E-3)",
    "f(12345678901234567890123)",
    "f(1.)",
    "f(.5)",
    "f(+1)",
    "f('x', \"y\", true)",
    "f(k=1, l=2)",
    "f(k = 1)",
    "f(k=1, k=2)",
    "f(k=1, a)",
    "f(g(a).b)",
];

#[test]
fn the_expressions_are_those_of_the_compiler() {
    use ctxc::internals::template::expression::{Expression, ScanItem, scan_plain};
    let read = |written: &&str| match scan_plain(&format!("{{{{{written}}}}}"), 0).next() {
        Some(ScanItem::Expression(found)) => {
            let kind = if matches!(found.value, Expression::Call(_)) {
                "call"
            } else {
                "path"
            };
            json!({"written": written, "kind": kind, "read": found.value.to_string()}).to_string()
        }
        _ => json!({"written": written, "kind": "error"}).to_string(),
    };
    let cases: Vec<String> = EXPRESSIONS.iter().map(read).collect();
    let head = "{\"schema\": \"ctxc/vectors/1\", \"edition\": \"2026\", \"about\": \"expressions as written between braces, and in one spelling\", \"cases\": [\n";
    assert_fresh(
        "docs/spec/vectors/expressions.json",
        &format!("{head}{}\n]}}\n", cases.join(",\n")),
    );
}

/// A text of the only task of a file, as the registry has it; `None` if the file has an error.
fn canonical(
    file: &str,
    text: for<'a> fn(&'a NodeBody<'static>) -> Option<&'a Text<'static>>,
) -> Option<String> {
    let registry = ctxc::compile_sources(&Config::default(), [("a.xml", file)]).registry?;
    let root = registry.task("t").unwrap().root().unwrap();
    let text = text(&root.body)?;
    let words: &str = text.text.as_ref().map_or("", |words| words);
    Some(words.to_owned())
}

/// The rule of `docs/spec/README.md`, "Texts", word by word.
fn stated(written: &str) -> String {
    let unix = written.replace("\r\n", "\n").replace('\r', "\n");
    let mut lines: Vec<String> = unix.split('\n').map(str::to_owned).collect();
    let blank = |line: &str| line.chars().all(|c| c == ' ' || c == '\t');
    let white = |line: &str| {
        line.chars()
            .take_while(|c| *c == ' ' || *c == '\t')
            .collect::<String>()
    };
    // A first line on the line of its tag does not take part and loses the blanks before it.
    let behind_tag = !blank(&lines[0]);
    if behind_tag {
        let own = lines[0].trim_start_matches([' ', '\t']).to_owned();
        lines[0] = own;
    }
    let part: Vec<usize> = (usize::from(behind_tag)..lines.len())
        .filter(|at| !blank(&lines[*at]))
        .collect();
    let longest = part
        .iter()
        .map(|at| white(&lines[*at]).len())
        .min()
        .unwrap_or(0);
    let common = (0..=longest).rev().find(|length| {
        let starts: std::collections::BTreeSet<&str> =
            part.iter().map(|at| &lines[*at][..*length]).collect();
        starts.len() <= 1
    });
    for at in part {
        let rest = lines[at][common.unwrap_or(0)..].to_owned();
        lines[at] = rest;
    }
    for line in lines.iter_mut().filter(|line| blank(line)) {
        line.clear();
    }
    lines.join("\n").trim_matches('\n').to_owned()
}

#[test]
fn the_compiler_follows_the_rule_on_texts() {
    let pieces = [
        " ", "  ", "\t", "\n", "\r\n", "\r", "a", "é", "- b", "\n    ", "\n      ",
    ];
    let mut state = 7_u64;
    let mut next = |below: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let mut seen = 0;
    for _ in 0..1_500 {
        let written: String = (0..next(14)).map(|_| pieces[next(pieces.len())]).collect();
        let file = format!(
            "<task type=\"atomic\" name=\"t\"><description>x</description><criteria>{written}</criteria></task>"
        );
        let Some(found) = canonical(&file, |body| body.criteria.as_ref()) else {
            continue;
        };
        assert_eq!(found, stated(&written), "{written:?}");
        seen += 1;
    }
    assert!(seen > 1_000, "{seen}");
}

/// Each case that names a file is a complete project: written to a folder, it gives the listed
/// findings of `check`.
#[test]
fn the_vectors_can_be_replayed() {
    let path = format!(
        "{}/docs/spec/vectors/rules.json",
        env!("CARGO_MANIFEST_DIR")
    );
    let vectors: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    for case in vectors["cases"].as_array().unwrap() {
        let files = case["files"].as_object().unwrap();
        let names = ["<path>", " src=", ".json\"", ".toml\"", ".md\""];
        if !files.values().any(|text| {
            names
                .iter()
                .any(|name| text.as_str().unwrap().contains(name))
        }) {
            continue;
        }
        let toml = files
            .get("ctxc.toml")
            .map_or("", |text| text.as_str().unwrap());
        let all = files
            .iter()
            .map(|(path, text)| (path.as_str(), text.as_str().unwrap()));
        let project = all
            .fold(Project::new(), |project, (path, text)| {
                project.with_file(path, text)
            })
            .with_file("ctxc.toml", toml);
        let found = project
            .run(&["check", "--format", "json", "--allow-empty"])
            .json();
        let mut codes: Vec<&str> = found["diagnostics"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["code"].as_str().unwrap())
            .collect();
        codes.sort_unstable();
        codes.dedup();
        let mut wanted: Vec<&str> = case["findings"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one[0].as_str().unwrap())
            .collect();
        wanted.dedup();
        assert_eq!(codes, wanted, "{}", case["name"]);
    }
}

/// Reads the vectors as another implementation would: they must be sound in themselves.
#[test]
fn the_vectors_hold_to_the_rule_of_the_language() {
    let mut bodies = 0;
    for file in ["settings", "layers", "older", "rules"] {
        let path = format!(
            "{}/docs/spec/vectors/{file}.json",
            env!("CARGO_MANIFEST_DIR")
        );
        let vectors: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        for case in vectors["cases"].as_array().unwrap() {
            let contradicts = case["settings"]
                .as_object()
                .unwrap()
                .values()
                .flat_map(|file| file.as_object().unwrap().values())
                .any(|body| {
                    bodies += 1;
                    body["fresh_context"][0] == "enabled" && body["inherit_context"][0] != "none"
                });
            let codes: Vec<&str> = case["findings"]
                .as_array()
                .unwrap()
                .iter()
                .map(|finding| finding[0].as_str().unwrap())
                .collect();
            let has_code = |known: &[&str]| codes.iter().any(|code| known.contains(code));
            let at = &case["name"];
            assert!(
                !contradicts || has_code(&["CTX201", "CTX202", "CTX501"]),
                "{file}: {at}: {codes:?}"
            );
            assert!(
                contradicts || !has_code(&["CTX201", "CTX202"]),
                "{file}: {at}: {codes:?}"
            );
        }
    }
    assert!(bodies > 1_500, "{bodies} bodies");
}
