//! The schema of `ctxc.toml`: fresh, equal to the reader for every key, bound and word, and valid
//! for every sound file.

use crate::project::reading::read;
use crate::support::examples::RuleExamples as _;
use crate::support::fresh::assert_fresh;
use ctxc::internals::project::read::keys::{SETTINGS, TOP_TABLE};
use ctxc::internals::project::table::{ConfigKey, ConfigShape, ConfigTable};
use ctxc::internals::rules::{check, list};
use ctxc::internals::schema::config::{CONFIG_SCHEMA_FILE, config_schema};
use ctxc::internals::settings::operators::Operator;
use ctxc::internals::template::setting::{SettingName, Word as _};
use jsonschema::Validator;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

#[test]
fn the_file_is_fresh() {
    assert_fresh(&format!("schema/{CONFIG_SCHEMA_FILE}"), &config_schema());
}

fn schema() -> Validator {
    let schema: Value = serde_json::from_str(&config_schema()).unwrap();
    jsonschema::draft7::meta::validate(&schema).unwrap_or_else(|error| panic!("{error}"));
    jsonschema::draft7::new(&schema).unwrap()
}

fn parsed(text: &str) -> Value {
    toml::from_str(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The errors of the schema on a document.
fn refusals(schema: &Validator, document: &Value) -> Vec<String> {
    schema
        .iter_errors(document)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect()
}

/// The reader's faults on the keys and values of a project file; its faults on names and policies
/// are its own.
fn key_faults(text: &str) -> Vec<String> {
    let of_keys = [
        "CTX502", "CTX503", "CTX504", "CTX505", "CTX509", "CTX530", "CTX532",
    ];
    let found = check::config_findings(&read(text))
        .into_iter()
        .filter(|found| of_keys.contains(&found.rule.code.to_string().as_str()));
    found
        .map(|found| format!("{}: {}", found.rule.code, found.message))
        .collect()
}

/// A document with a value at a place.
struct Place<'p> {
    /// The keys that lead to it, for messages.
    path: String,
    wrap: &'p dyn Fn(Value) -> Value,
}

fn object(fields: impl IntoIterator<Item = (&'static str, Value)>) -> Value {
    Value::Object(
        fields
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect(),
    )
}

/// A table with its required keys.
fn least(table: &ConfigTable) -> Map<String, Value> {
    let needed = table
        .keys
        .iter()
        .filter(|key| table.required_names().any(|name| name == key.name));
    needed
        .map(|key| (key.name.to_owned(), good(key).pop().unwrap()))
        .collect()
}

/// Values that a key takes: those at its bounds, and each of its words.
fn good(key: &ConfigKey) -> Vec<Value> {
    match key.name {
        // Rules that only a parser can check.
        "must" => vec![json!("has owner"), json!(["has owner", "lacks version"])],
        "plan_path" => vec![json!("$.parts")],
        "base_url" => vec![json!("https://models.example/v1")],
        "name" if matches!(key.shape, ConfigShape::Name) => vec![json!("acme/rules")],
        "version" => vec![json!("1.2.0")],
        "source" => vec![json!("path:../a")],
        "exports" => vec![json!("rules"), json!(["tasks/triage", "rules"])],
        // Compared with another key.
        "output_reserve" => vec![json!(0)],
        "max_output_tokens" => vec![json!(1)],
        _ => sound(key.shape),
    }
}

fn sound(shape: ConfigShape) -> Vec<Value> {
    let words = |words: &[&str]| words.iter().map(|word| json!(word)).collect::<Vec<_>>();
    match shape {
        ConfigShape::Text | ConfigShape::Name => vec![json!("X")],
        ConfigShape::Texts | ConfigShape::Set => vec![json!("x"), json!(["x", "y"])],
        ConfigShape::Pointer => vec![json!("/a/b"), json!("")],
        ConfigShape::PointersOr(table) => vec![json!("/a"), json!(["/a", least(table)])],
        ConfigShape::Globs => vec![json!("./a/**/*.md"), json!(["a", "b..c/[x]{y,z}"])],
        ConfigShape::Folders => vec![json!("./teams/*"), json!(["a", "b..c/[x]{y,z}/"])],
        ConfigShape::Words(all) => [words(all), vec![json!(all)]].concat(),
        ConfigShape::Word(all) => words(all),
        ConfigShape::Bool | ConfigShape::Setting(SettingName::AccumulateData) => {
            vec![json!(true), json!(false)]
        }
        ConfigShape::Setting(name) => words(name.allowed_words()),
        ConfigShape::Base => words(&Operator::ALL.map(Operator::word)),
        ConfigShape::Whole((least, most)) => vec![json!(least), json!(most)],
        ConfigShape::Number((least, most)) => vec![json!(least), json!(most)],
        ConfigShape::WholeOr((least, most), word) => vec![json!(least), json!(most), json!(word)],
        ConfigShape::NameOr(table) => vec![json!("x"), Value::Object(least(table))],
        ConfigShape::NamesOr(table) => {
            vec![json!("x"), json!(["x", "y"]), Value::Object(least(table))]
        }
        ConfigShape::Table(table) => vec![Value::Object(least(table))],
        ConfigShape::List(table) => vec![json!([least(table)])],
        ConfigShape::Map(inner) => sound(*inner)
            .into_iter()
            .map(|value| object([("atomic", value)]))
            .collect(),
        ConfigShape::Lints => {
            vec![
                json!({"all": "error", "context": "off", "no-context": "info", "ctx2xx": "hint", "CTX205": "warning"}),
            ]
        }
        ConfigShape::Any => vec![json!({"anything": {"at": ["all"]}})],
    }
}

/// Values that no such key takes.
fn bad(shape: ConfigShape) -> Vec<Value> {
    let beyond = |(least, most): (u64, u64)| {
        vec![
            json!(i128::from(least) as i64 - 1),
            json!(most + 1),
            json!(1.5),
        ]
    };
    match shape {
        ConfigShape::Text => vec![json!(5), json!(["x"])],
        ConfigShape::Name | ConfigShape::NameOr(_) => vec![json!(5), json!(" ")],
        ConfigShape::Texts | ConfigShape::NamesOr(_) => vec![json!(5), json!([5])],
        ConfigShape::Pointer => vec![json!(5), json!("a"), json!("/")],
        ConfigShape::PointersOr(_) => {
            vec![json!(5), json!(""), json!(["/"]), json!([5]), json!([{}])]
        }
        ConfigShape::Set => vec![json!(5), json!(["x", " "])],
        ConfigShape::Globs => vec![
            json!(5),
            json!("/x"),
            json!(["a", "../x"]),
            json!("a/../x"),
            json!(""),
        ],
        ConfigShape::Folders => vec![
            json!(5),
            json!("/x"),
            json!(["a", "../x"]),
            json!("a/**"),
            json!("a/./b"),
            json!(""),
        ],
        ConfigShape::Words(_) => vec![json!("nothing"), json!(["nothing"]), json!(5)],
        ConfigShape::Word(_) | ConfigShape::Base => vec![json!("nothing"), json!(5), json!(true)],
        ConfigShape::Bool | ConfigShape::Setting(SettingName::AccumulateData) => {
            vec![json!("true"), json!(1)]
        }
        ConfigShape::Setting(_) => vec![json!("nothing"), json!(true)],
        ConfigShape::Whole(bounds) => [beyond(bounds), vec![json!("5")]].concat(),
        ConfigShape::Number((least, most)) => {
            vec![json!(least - 0.5), json!(most + 0.5), json!("5")]
        }
        ConfigShape::WholeOr(bounds, _) => [beyond(bounds), vec![json!("tabs")]].concat(),
        ConfigShape::Table(_) | ConfigShape::Map(_) | ConfigShape::List(_) => {
            vec![json!(5), json!("x")]
        }
        ConfigShape::Any => Vec::new(),
        ConfigShape::Lints => vec![
            json!(5),
            json!({"no-contxt": "off"}),
            json!({"no-context": "loud"}),
            json!({"CTX9x": "off"}),
        ],
    }
}

/// Compares reader and schema at every key of a table and of those inside it; returns the number of
/// documents.
fn agree(schema: &Validator, table: &'static ConfigTable, place: &Place<'_>) -> usize {
    let mut tried = 0;
    let mut hold = |path: &str, document: &Value, is_sound: bool| {
        let text = toml::to_string(document).unwrap();
        let (said, refused) = (key_faults(&text), refusals(schema, document));
        assert_eq!(
            (said.is_empty(), refused.is_empty()),
            (is_sound, is_sound),
            "{path}:\n{text}\n{said:#?}\n{refused:#?}"
        );
        tried += 1;
    };
    let with = |name: &str, value: Value| {
        let mut own = least(table);
        // Of one trial no thousand can pass.
        if name == "pass" {
            own.insert("runs".to_owned(), json!(1000));
        }
        own.insert(name.to_owned(), value);
        (place.wrap)(Value::Object(own))
    };
    hold(
        &place.path,
        &with("no_such_key", json!(1)),
        matches!(table.others, Some(ConfigShape::Any)),
    );
    for name in table.required_names() {
        let mut own = least(table);
        own.remove(name);
        // A requirement without a condition belongs to another rule.
        if name != "must" && !place.path.starts_with("extends") {
            hold(
                &format!("{} without {name}", place.path),
                &(place.wrap)(Value::Object(own)),
                false,
            );
        }
    }
    for key in table.keys {
        let path = format!("{}.{}", place.path, key.name);
        for (values, is_sound) in [(good(key), true), (bad(key.shape), false)] {
            for value in values {
                hold(&path, &with(key.name, value), is_sound);
            }
        }
    }
    for key in table.keys {
        let path = format!("{}{}.", place.path, key.name);
        // Types of the language take no `base`.
        let name = if key.name == "operators" {
            "scout"
        } else {
            "atomic"
        };
        #[allow(
            clippy::wildcard_enum_match_arm,
            reason = "no other shape holds a table"
        )]
        let inside = match key.shape {
            ConfigShape::Table(inner) | ConfigShape::NameOr(inner) => agree(
                schema,
                inner,
                &Place {
                    path,
                    wrap: &|value| with(key.name, value),
                },
            ),
            ConfigShape::List(inner) => agree(
                schema,
                inner,
                &Place {
                    path,
                    wrap: &|value| with(key.name, json!([value])),
                },
            ),
            ConfigShape::Map(ConfigShape::Table(inner)) => agree(
                schema,
                inner,
                &Place {
                    path,
                    wrap: &|value| with(key.name, json!({name: value})),
                },
            ),
            _ => 0,
        };
        tried += inside;
    }
    if let Some(ConfigShape::Table(inner)) = table.others {
        let wrap = |value| with("subtask", value);
        tried += agree(
            schema,
            inner,
            &Place {
                path: format!("{}*.", place.path),
                wrap: &wrap,
            },
        );
    }
    tried
}

#[test]
fn schema_and_reader_agree_at_every_key_bound_and_word() {
    let tried = agree(
        &schema(),
        &TOP_TABLE,
        &Place {
            path: String::new(),
            wrap: &|value| value,
        },
    );
    assert!(tried > 400, "only {tried} documents");
    assert_eq!(
        SETTINGS.key_names(),
        SettingName::ALL
            .iter()
            .map(|name| name.word())
            .collect::<Vec<_>>()
    );
}

#[test]
fn a_role_names_its_model_or_reports_what_it_has_to_be() {
    let both = "[roles.a]\nmodel = \"m\"\ntier = \"economy\"\n";
    assert!(!refusals(&schema(), &parsed(both)).is_empty() && !key_faults(both).is_empty());
}

/// Every `ctxc.toml` below a folder.
fn projects(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && name != "target" && name != "node_modules" && !name.starts_with('.') {
            projects(&path, out);
        } else if name == "ctxc.toml" {
            out.push(path);
        }
    }
}

#[test]
fn every_project_file_here_validates() {
    let (schema, mut found) = (schema(), Vec::new());
    projects(Path::new(env!("CARGO_MANIFEST_DIR")), &mut found);
    let mut texts: Vec<(String, String)> = found
        .iter()
        .map(|path| {
            (
                path.display().to_string(),
                std::fs::read_to_string(path).unwrap(),
            )
        })
        .collect();
    assert!(texts.len() >= 3, "{found:?}");
    let page =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/PROJECT.md")).unwrap();
    for (marker, rest) in page
        .split("<!-- example: ")
        .skip(1)
        .filter_map(|rest| rest.split_once(" -->"))
    {
        let text = rest
            .split_once("```toml\n")
            .and_then(|(_, text)| text.split_once("```"));
        if let Some((text, _)) = text.filter(|_| marker.ends_with("/ctxc.toml")) {
            texts.push((marker.to_owned(), text.to_owned()));
        }
    }
    assert!(texts.len() >= 13, "{}", texts.len());
    for (name, text) in texts {
        assert_eq!(refusals(&schema, &parsed(&text)), [""; 0], "{name}");
    }
}

#[test]
fn the_examples_of_the_rules_are_of_one_mind_with_it() {
    let schema = schema();
    let own = |project: &str| {
        project
            .split("# file: ")
            .next()
            .unwrap_or_default()
            .to_owned()
    };
    for rule in list::all_rules() {
        for example in &rule.meta.good_examples() {
            assert_eq!(
                refusals(&schema, &parsed(&own(example.project))),
                [""; 0],
                "{}: {}",
                rule.meta.code,
                example.project
            );
        }
        // Unknown keys, wrong values, an unknown edition, a key in the file, keys that are missing.
        if [503, 504, 505, 529, 532].contains(&rule.meta.code.0) {
            for example in &rule.meta.bad_examples() {
                // The content of an address is not checked by the schema.
                let is_secret =
                    example.project.contains("base_url") || example.project.contains("api_key_env");
                let refused = refusals(&schema, &parsed(&own(example.project)));
                assert!(
                    !refused.is_empty() || is_secret,
                    "{}: {}",
                    rule.meta.code,
                    example.project
                );
            }
        }
    }
}
