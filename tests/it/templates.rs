//! The shipped templates: they compile without a finding, together cover the whole language, and
//! are listed in the gallery `docs/TEMPLATES.md` with their resolved settings.

use crate::support::fresh::assert_fresh;
use ctxc::internals::jinja::environment::JinjaNameKind;
use ctxc::internals::jinja::unsupported::{UNSUPPORTED_NAMES, UnsupportedName};
use ctxc::internals::registry::node::Node;
use ctxc::internals::registry::{Registry, Task};
use ctxc::internals::settings::data::{SettingData, SettingsData};
use ctxc::internals::settings::operators::DEFAULTS;
use ctxc::internals::settings::provenance::Layer;
use ctxc::internals::template::setting::{SettingName, Word};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

fn repository_root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the registry of this repository, built once.
fn own_registry() -> &'static Registry {
    static BUILT: OnceLock<Registry> = OnceLock::new();
    BUILT.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("registry.json");
        let run = |args: &[&str]| {
            Command::new(env!("CARGO_BIN_EXE_ctxc"))
                .args(args)
                .current_dir(repository_root())
                .output()
                .unwrap()
        };
        let check = run(&["check", "templates", "--verbose"]);
        let printed = String::from_utf8_lossy(&check.stdout);
        assert!(check.status.success(), "{printed}");
        assert!(
            printed.ends_with("files: nothing found\n"),
            "shipped templates have findings:\n{printed}"
        );
        let build = run(&["build", "-o", output.to_str().unwrap()]);
        assert!(
            build.status.success(),
            "{}",
            String::from_utf8_lossy(&build.stdout)
        );
        Registry::read(std::fs::read(output).unwrap()).unwrap()
    })
}

/// Returns every node of a task in document order.
fn task_nodes(task: Task<'_>) -> Vec<Node> {
    let mut found = Vec::new();
    let mut open = vec![task.root().unwrap()];
    while let Some(mut node) = open.pop() {
        let children: Vec<Node> = node.children.drain(..).map(|child| child.node).collect();
        open.extend(children.into_iter().rev());
        found.push(node);
    }
    found
}

/// Returns every node of everything that the repository ships.
fn all_nodes() -> Vec<(String, Node)> {
    let registry = own_registry();
    let both = registry.tasks().chain(registry.templates());
    both.flat_map(|task| {
        task_nodes(task)
            .into_iter()
            .map(move |node| (task.name().to_owned(), node))
    })
    .collect()
}

/// Returns the four settings of a task's root as words, in the order of the table.
fn setting_words(name: &str) -> [String; 4] {
    let root = own_registry()
        .find(name)
        .unwrap_or_else(|| panic!("no task `{name}`"))
        .root()
        .unwrap();
    let settings = root.settings.unwrap();
    SettingName::ALL
        .iter()
        .map(|&setting| setting_word(settings.get(setting)))
        .collect::<Vec<_>>()
        .try_into()
        .unwrap()
}

fn setting_word(setting: &SettingData) -> String {
    if setting.applies {
        setting.value.as_str().to_owned()
    } else {
        "–".to_owned()
    }
}

/// Returns the names of the settings that the template itself defines.
fn written_settings(settings: &SettingsData) -> BTreeSet<&'static str> {
    let names = SettingName::ALL.iter().copied();
    names
        .filter(|&name| settings.get(name).origin.layer == Layer::Template)
        .map(Word::word)
        .collect()
}

#[test]
fn every_file_is_one_task_named_after_it() {
    let mut files = BTreeSet::new();
    let folders = ["templates", "templates/roles", "templates/imported"]
        .map(|folder| std::fs::read_dir(repository_root().join(folder)).unwrap());
    for entry in folders.into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "xml") {
            files.insert(path.file_stem().unwrap().to_str().unwrap().to_owned());
            let text = std::fs::read_to_string(&path).unwrap();
            assert!(
                text.contains("<!-- Shows: ") || text.contains("<!-- Imported by "),
                "{}: no comment that says what it shows",
                path.display()
            );
        }
    }
    assert!(files.remove("house-rules"), "the library");
    assert!(files.len() >= 16, "{files:?}");
    let tasks: BTreeSet<String> = own_registry()
        .tasks()
        .map(|task| task.name().to_owned())
        .collect();
    assert_eq!(files, tasks);
}

#[test]
fn every_row_of_the_table_is_shown() {
    let mut seen = BTreeSet::new();
    for (_, node) in all_nodes() {
        let part = [
            "inner_task",
            "reduction_task",
            "director",
            "evaluator",
            "script_execution",
        ]
        .contains(&node.element.as_str());
        let subtype = if part {
            Some(node.element.clone())
        } else {
            node.subtype.clone()
        };
        seen.insert((
            node.operator.unwrap_or_default(),
            subtype.unwrap_or_default(),
            part,
        ));
    }
    let has = |subtype: &str, part: bool| {
        seen.iter()
            .any(|(_, seen, as_part)| seen == subtype && *as_part == part)
    };
    for row in &DEFAULTS {
        for name in row.names {
            match row.kind {
                ctxc::internals::settings::operators::RowKind::Part => {
                    assert!(has(name, true), "no template shows the part {name}");
                }
                ctxc::internals::settings::operators::RowKind::Subtype => {
                    assert!(has(name, false), "no template shows the subtype {name}");
                }
                ctxc::internals::settings::operators::RowKind::Operator => {}
            }
        }
        let operator = row.operator.word();
        assert!(
            seen.iter().any(|(seen, ..)| seen == operator),
            "no template shows the type {operator}"
        );
    }
    for (name, part) in [
        ("director", false),
        ("evaluator", false),
        ("script_execution", true),
    ] {
        assert!(has(name, part), "no template shows {name}");
    }
}

#[test]
fn every_override_pattern_is_shown() {
    let expected = [
        ("assess-api-change", ["none", "–", "–", "enabled"]),
        (
            "investigate-incident",
            ["none", "true", "notes_only", "enabled"],
        ),
        (
            "plan-migration",
            ["full", "true", "full_output", "disabled"],
        ),
        (
            "write-release-notes",
            ["full", "true", "full_output", "disabled"],
        ),
        ("review-security", ["subset", "–", "–", "disabled"]),
        ("diagnose-test-failure", ["subset", "–", "–", "disabled"]),
        ("critique-rfc", ["full", "true", "full_output", "disabled"]),
    ];
    for (name, settings) in expected {
        assert_eq!(setting_words(name), settings, "{name}");
    }
    let written_by = |name: &str| {
        written_settings(
            &own_registry()
                .task(name)
                .unwrap()
                .root()
                .unwrap()
                .settings
                .unwrap(),
        )
    };
    assert_eq!(
        written_by("write-release-notes"),
        BTreeSet::from(["accumulation_format"]),
        "a partial override"
    );
    assert_eq!(
        written_by("plan-migration").len(),
        4,
        "full preservation is written out"
    );
    let body = |name: &str| own_registry().task(name).unwrap().root().unwrap().body;
    assert!(
        body("review-security").file_paths.is_some(),
        "a subset by files"
    );
    assert!(
        !body("diagnose-test-failure").context_relevance.is_empty(),
        "a subset by inputs"
    );
}

#[test]
fn the_default_of_the_project_is_used_and_overridden() {
    let inner = |name: &str| {
        let found = task_nodes(own_registry().task(name).unwrap())
            .into_iter()
            .find(|node| node.element == "inner_task");
        found.unwrap().settings.unwrap()
    };
    let used = inner("summarise-document").inherit_context;
    assert_eq!(
        (used.value.as_str(), used.origin.layer),
        ("none", Layer::ProjectSubtype)
    );
    assert_eq!(used.origin.path.as_deref(), Some("ctxc.toml"));
    let setting = inner("extract-contract-terms").inherit_context;
    assert_eq!(
        (setting.value.as_str(), setting.origin.layer),
        ("full", Layer::Template)
    );
    assert!(
        setting
            .overridden
            .iter()
            .any(|one| one.origin.layer == Layer::ProjectSubtype),
        "{setting:?}"
    );
}

#[test]
fn every_construct_of_the_language_is_shown() {
    let mut shown: BTreeMap<&str, usize> = BTreeMap::new();
    let constructs = [
        "<parameters>",
        "<inputs>",
        "trust=\"untrusted\"",
        "<context_relevance>",
        "source=\"literal\"",
        "source=\"command\"",
        "<use fragment=",
        "<fragment name=",
        "<template name=",
        "<call template=",
        "<arg name=",
        "<cond",
        "<case test=",
        "<task ref=",
        " as=\"",
        "<examples>",
        "src=\"",
        "syntax=\"jinja\"",
        "verbatim=\"true\"",
        "<system>",
        "<criteria>",
        "<constraint>",
        "<initial_value>",
        "<command>",
        "<timeout",
        "<env inherit=",
        "<cwd>",
        "<max_iterations>",
        "<termination_condition>",
        "<script_execution>",
        "<model>",
        "schema=\"schemas/",
        "type=\"number\"",
        "type=\"boolean\"",
        "type=\"object\"",
        "type=\"array\"",
        "default=\"",
        "version=\"",
    ];
    for entry in std::fs::read_dir(repository_root().join("templates")).unwrap() {
        let path = entry.unwrap().path();
        let text = if path.is_file() {
            std::fs::read_to_string(&path).unwrap()
        } else {
            String::new()
        };
        for construct in constructs {
            *shown.entry(construct).or_default() += usize::from(text.contains(construct));
        }
    }
    let missing: Vec<&str> = shown
        .iter()
        .filter(|(_, count)| **count == 0)
        .map(|(construct, _)| *construct)
        .collect();
    assert!(missing.is_empty(), "no template shows {missing:?}");
}

#[test]
fn a_step_that_uses_a_registered_task_has_no_settings_of_its_own() {
    let precedents = task_nodes(own_registry().task("investigate-incident").unwrap())
        .into_iter()
        .find(|node| node.id == "/steps/0")
        .unwrap();
    assert_eq!((precedents.operator, precedents.settings), (None, None));
    let used = own_registry()
        .task("find-similar-incidents")
        .unwrap()
        .root()
        .unwrap()
        .settings
        .unwrap();
    assert_eq!(used.fresh_context.value.as_str(), "enabled");
}

#[test]
fn six_roles_play_tasks_of_their_own_with_models_of_every_tier_that_they_ask_for() {
    use ctxc::internals::project::routing::{choose_model, context_budget};
    let project = ctxc::Project::load(repository_root()).unwrap();
    let config = project.config();
    let roles: Vec<&str> = config.roles.keys().map(String::as_str).collect();
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
    let folder = std::fs::read_dir(repository_root().join("templates/roles")).unwrap();
    let written: BTreeSet<String> = folder
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "xml"))
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    let played: BTreeSet<String> = config
        .roles
        .values()
        .map(|role| role.task.value.clone())
        .collect();
    assert_eq!(played, written);
    let models: Vec<String> = config
        .roles
        .values()
        .map(|role| {
            let choice = choose_model(&config.models, Some(role), &[]).unwrap();
            assert_eq!(
                context_budget(Some(role), Some(choice.model)),
                role.budget.tokens.map(|tokens| tokens.value),
                "{}",
                role.name.value
            );
            assert!(
                role.system.is_some() && role.tools.is_some(),
                "{}",
                role.name.value
            );
            format!("{} {}", role.name.value, choice.model.name.value)
        })
        .collect();
    let expected = [
        "architect large-reasoning",
        "archivist small",
        "implementer standard",
        "planner large-reasoning",
        "release standard",
        "security large-reasoning",
    ];
    assert_eq!(models, expected);
    let tools = |role: &str, tool: &str| config.roles[role].tools.as_ref().unwrap().permits(tool);
    assert!(
        tools("implementer", "git_commit")
            && !tools("implementer", "git_push")
            && !tools("planner", "write_file")
    );
}

/// Returns one setting as a table cell: bold if the template defines it, marked if the project
/// does.
fn setting_cell(setting: &SettingData) -> String {
    let word = setting_word(setting);
    match setting.origin.layer {
        Layer::Template => format!("**{word}**"),
        Layer::Project | Layer::ProjectSubtype if setting.applies => format!("{word}¹"),
        Layer::Operator
        | Layer::Project
        | Layer::Subtype
        | Layer::ProjectSubtype
        | Layer::Request => word,
    }
}

/// Returns the table of one task: each node with its type and settings.
fn settings_table(task: Task<'_>) -> String {
    let mut out = String::from(
        "| node | type | `inherit_context` | `accumulate_data` | `accumulation_format` | `fresh_context` |\n|---|---|---|---|---|---|\n",
    );
    for node in task_nodes(task) {
        let (Some(settings), Some(operator)) = (&node.settings, &node.operator) else {
            if let Some(used) = node
                .body
                .reference
                .as_deref()
                .or(node.body.template.as_deref())
            {
                writeln!(
                    out,
                    "| `{}` | `{used}`, as it is registered | | | | |",
                    node.id
                )
                .unwrap();
            }
            continue;
        };
        let kind = match &node.subtype {
            Some(part) if *part == node.element => format!("{operator}.{part}"),
            Some(subtype) => format!("{operator} ({subtype})"),
            None => operator.clone(),
        };
        let cells: Vec<String> = SettingName::ALL
            .iter()
            .map(|&name| setting_cell(settings.get(name)))
            .collect();
        writeln!(out, "| `{}` | {kind} | {} |", node.id, cells.join(" | ")).unwrap();
    }
    out
}

/// Returns a page with the text between its marks regenerated.
fn regenerate_page(page: &str, mark: &str, make: impl Fn(&str) -> String) -> String {
    let mut out = String::new();
    let mut skipping = false;
    for line in page.lines() {
        if line == "<!-- end -->" {
            skipping = false;
        }
        if !skipping {
            out.push_str(line);
            out.push('\n');
        }
        if let Some(what) = line
            .strip_prefix(mark)
            .and_then(|rest| rest.strip_suffix(" -->"))
        {
            out.push_str(&make(what.trim()));
            skipping = true;
        }
    }
    assert!(!skipping, "a mark is never closed");
    out
}

#[test]
fn the_gallery_is_complete_and_fresh() {
    let page = std::fs::read_to_string(repository_root().join("docs/TEMPLATES.md")).unwrap();
    let named: BTreeSet<&str> = page
        .lines()
        .filter_map(|line| {
            line.strip_prefix("<!-- generated: settings ")?
                .strip_suffix(" -->")
        })
        .collect();
    let registry = own_registry();
    let shipped: BTreeSet<&str> = registry
        .tasks()
        .chain(registry.templates())
        .map(Task::name)
        .collect();
    assert_eq!(named, shipped);
    let fresh = regenerate_page(&page, "<!-- generated: settings ", |name| {
        settings_table(
            registry
                .find(name)
                .or_else(|| registry.template(name))
                .unwrap(),
        )
    });
    assert_fresh("docs/TEMPLATES.md", &fresh);
}

/// Jinja texts whose result differs from Jinja2, with their result there: one of each known kind.
const JINJA2_DIFFERENCES: [(&str, &str); 13] = [
    ("{{ 1e16 }}", "1e+16"),
    ("{{ [0.00001]|join }}", "1e-05"),
    ("{{ \"é\"|tojson }}", "\"\\u00e9\""),
    ("{{ {\"k\": 1}|attr(\"k\") is defined }}", "False"),
    ("{{ {\"a\": 1, \"b\": 2}|reverse|list }}", "['b', 'a']"),
    ("{{ [1, true, 1.0]|unique|list }}", "[1]"),
    ("{{ \"3 apples\"|int }}", "0"),
    ("{{ \"%s\" % 5 }}", "5"),
    ("{{ 5|format }}", "5"),
    ("{{ {\"k\": 1}.q }}", ""),
    ("{{ {\"k\": 1}.q|upper }}", ""),
    ("{{ {\"k\": 1}.q in [1] }}", "False"),
    ("{% macro m(a, b=a) %}{{ b }}{% endmacro %}{{ m(1) }}", "1"),
];

/// Renders a Jinja text without inputs; `None` if it fails.
fn render_jinja(text: &str) -> Option<String> {
    use ctxc::internals::context::{Options, Request, assemble};
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    let task = format!(
        "<task type=\"atomic\" name=\"t\"><description syntax=\"jinja\">{{{{ '|' }}}}{text}</description></task>"
    );
    let registry =
        ctxc::compile_sources(&ctxc::Config::default(), [("t.xml", task.as_str())]).registry?;
    let assembly = assemble(&registry, &Request::new("t"), &Options::default()).ok()?;
    assembly.messages[0]
        .as_str()
        .split_once('|')
        .map(|(_, said)| said.to_owned())
}

#[test]
fn the_filters_of_the_guide_are_those_of_the_code() {
    let page = std::fs::read_to_string(repository_root().join("docs/LANGUAGE.md")).unwrap();
    let fresh = regenerate_page(&page, "<!-- generated: jinja", |_| {
        let mut out = String::from("| | |\n|---|---|\n");
        let quoted = |names: Vec<String>| {
            names
                .iter()
                .map(|name| format!("`{name}`"))
                .collect::<Vec<_>>()
                .join(", ")
        };
        for (word, what) in [
            ("filters", JinjaNameKind::Filter),
            ("tests", JinjaNameKind::Test),
            ("functions", JinjaNameKind::Function),
        ] {
            writeln!(out, "| {word} | {} |", quoted(what.known_names())).unwrap();
        }
        let (methods, others): (Vec<&UnsupportedName>, Vec<&UnsupportedName>) = UNSUPPORTED_NAMES
            .iter()
            .partition(|absent| absent.what == JinjaNameKind::Method);
        let methods = methods.iter().map(|absent| {
            format!(
                "`.{}()`: {}",
                absent.name,
                absent.instead.replace('|', "\\|")
            )
        });
        writeln!(
            out,
            "| methods that do not exist | {} |",
            methods.collect::<Vec<_>>().join("; ")
        )
        .unwrap();
        let why = others
            .iter()
            .map(|absent| (absent.why, absent.instead))
            .collect::<BTreeSet<_>>();
        for (why, instead) in why {
            let names = others
                .iter()
                .filter(|absent| (absent.why, absent.instead) == (why, instead));
            let names = quoted(names.map(|absent| absent.name.to_owned()).collect());
            writeln!(out, "| not available: {names} | {why}: {instead} |").unwrap();
        }
        for (text, jinja2) in JINJA2_DIFFERENCES {
            let here = render_jinja(text).map_or_else(
                || "an error here".to_owned(),
                |here| format!("`{here}` here"),
            );
            assert_ne!(here, format!("`{jinja2}` here"), "{text}");
            writeln!(
                out,
                "| different: `{}` | `{jinja2}` in Jinja2, {here} |",
                text.replace('|', "\\|")
            )
            .unwrap();
        }
        out
    });
    assert_fresh("docs/LANGUAGE.md", &fresh);
}

#[test]
fn the_table_of_the_guide_is_that_of_the_code() {
    let page = std::fs::read_to_string(repository_root().join("docs/LANGUAGE.md")).unwrap();
    let fresh = regenerate_page(&page, "<!-- generated: defaults", |_| {
        let mut out = String::from(
            "| type (subtype or part) | `inherit_context` | `accumulate_data` | `accumulation_format` | `fresh_context` |\n|---|---|---|---|---|\n",
        );
        for row in &DEFAULTS {
            let operator = row.operator.word();
            let name = match (row.kind, row.names) {
                (ctxc::internals::settings::operators::RowKind::Part, names) => names
                    .iter()
                    .map(|name| format!("{operator}.{name}"))
                    .collect::<Vec<_>>()
                    .join(", "),
                (_, []) => operator.to_owned(),
                (_, names) => format!("{operator} ({})", names.join(", ")),
            };
            let accumulate = row.accumulate_data.map_or("N/A", |value| value.word());
            let format = row.accumulation_format.map_or("N/A", |value| value.word());
            let (inherit, fresh) = (row.inherit_context.word(), row.fresh_context.word());
            writeln!(
                out,
                "| {name} | {inherit} | {accumulate} | {format} | {fresh} |"
            )
            .unwrap();
        }
        out
    });
    assert_fresh("docs/LANGUAGE.md", &fresh);
}

#[test]
fn every_role_has_a_scenario_and_all_of_them_pass() {
    let root = env!("CARGO_MANIFEST_DIR");
    let mut eval = std::process::Command::new(env!("CARGO_BIN_EXE_ctxc"));
    let output = eval
        .args(["eval", "--json", "--project", root])
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{printed}");
    let card: serde_json::Value = serde_json::from_str(&printed).unwrap();
    let tested: Vec<&str> = card["cases"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|case| case["role"].as_str())
        .collect();
    for role in [
        "planner",
        "architect",
        "implementer",
        "security",
        "release",
        "archivist",
    ] {
        assert!(tested.contains(&role), "{role}: {tested:?}");
    }
}
