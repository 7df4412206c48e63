//! The command line and the server give the identical set of (code, range, message) on every file
//! of a corpus, in both encodings, from disk and from the editor.

use super::client::Client;
use crate::cli::project::command_in;
use crate::support::examples::RuleExamples as _;
use ctxc::internals::syntax::decode;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// The findings of a file: code, range and message.
type Found = BTreeSet<(String, String, String)>;
type ByFile = BTreeMap<String, Found>;
/// Names and bytes.
type Files = BTreeMap<String, Vec<u8>>;

#[derive(Clone, Copy, Debug)]
enum Encoding {
    Utf8,
    Utf16,
}

/// The range of a finding of the command line as a client counts it: lines from its own positions,
/// columns from the text.
fn range(finding: &Value, text: &str, encoding: Encoding) -> String {
    let end = |side: &str| {
        let line = finding[side]["line"].as_u64().unwrap() - 1;
        let character = match encoding {
            Encoding::Utf16 => finding[side]["utf16"].as_u64().unwrap() - 1,
            Encoding::Utf8 => {
                // A file that is no text has a single position, its beginning.
                let head = &text[..text
                    .len()
                    .min(usize::try_from(finding["span"][side].as_u64().unwrap()).unwrap())];
                (head.len() - head.rfind(['\n', '\r']).map_or(0, |at| at + 1)) as u64
            }
        };
        json!({"line": line, "character": character})
    };
    json!({"start": end("start"), "end": end("end")}).to_string()
}

/// The findings of `ctxc check` in a folder.
fn on_the_command_line(folder: &Path, files: &Files, encoding: Encoding) -> ByFile {
    let output = command_in(folder, &["check", "--format", "json"])
        .output()
        .unwrap();
    let report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    let mut found: ByFile = ByFile::new();
    for finding in report["diagnostics"].as_array().unwrap() {
        let word = |key: &str| finding[key].as_str().unwrap().to_owned();
        let text = files
            .get(&word("path"))
            .and_then(|bytes| decode::decode(bytes).ok())
            .unwrap_or_default();
        found.entry(word("path")).or_default().insert((
            word("code"),
            range(finding, &text, encoding),
            word("message"),
        ));
    }
    found
}

fn of_client(items: &Value) -> Found {
    let one = |item: &Value| {
        let word = |key: &str| item[key].as_str().unwrap().to_owned();
        (
            word("code"),
            json!({"start": item["range"]["start"], "end": item["range"]["end"]}).to_string(),
            word("message"),
        )
    };
    items.as_array().unwrap().iter().map(one).collect()
}

/// Compares both over a project, and returns the number of equal findings.
fn compare(files: &Files) -> usize {
    let mut agreed = 0;
    for encoding in [Encoding::Utf8, Encoding::Utf16] {
        let mut client = Client::unborn(&[]);
        for (name, bytes) in files {
            std::fs::create_dir_all(client.path(name).parent().unwrap()).unwrap();
            std::fs::write(client.path(name), bytes).unwrap();
        }
        let expected = on_the_command_line(client.folder(), files, encoding);
        let known = if matches!(encoding, Encoding::Utf8) {
            json!(["utf-8"])
        } else {
            json!(["utf-16"])
        };
        let capabilities =
            json!({"textDocument": {"diagnostic": {}}, "general": {"positionEncodings": known}});
        let root = client.uri("");
        client.ask(
            "initialize",
            &json!({"rootUri": root, "capabilities": capabilities}),
        );
        client.tell("initialized", &json!({}));
        let all = client.ask("workspace/diagnostic", &json!({"previousResultIds": []}));
        let mut from_disk = ByFile::new();
        for document in all["items"].as_array().unwrap() {
            let name = document["uri"]
                .as_str()
                .unwrap()
                .strip_prefix(&root)
                .unwrap()
                .to_owned();
            from_disk.insert(name, of_client(&document["items"]));
        }
        from_disk.retain(|_, found| !found.is_empty());
        assert_eq!(from_disk, expected, "from disk, {encoding:?}");
        // A file that cannot be decoded cannot be in an editor either.
        let texts: Vec<(&String, String)> = files
            .iter()
            .filter_map(|(name, bytes)| Some((name, decode::decode(bytes).ok()?.into_owned())))
            .collect();
        for (name, text) in &texts {
            client.open(name, text);
        }
        for (name, text) in &texts {
            let found = of_client(&Value::Array(client.pull(name)));
            assert_eq!(
                found,
                expected.get(*name).cloned().unwrap_or_default(),
                "open, {encoding:?}, {name}\n{text}"
            );
        }
        agreed += expected.values().map(BTreeSet::len).sum::<usize>();
        client.end();
    }
    agreed
}

/// Every file below a folder of this repository, by its name from `from`.
fn below(folder: &str, from: &str) -> Files {
    let mut files = Files::new();
    for entry in ignore::Walk::new(Path::new(ROOT).join(folder))
        .filter_map(Result::ok)
        .filter(|entry| entry.path().is_file())
    {
        let name = entry
            .path()
            .strip_prefix(Path::new(ROOT).join(from))
            .unwrap()
            .to_str()
            .unwrap();
        files.insert(name.to_owned(), std::fs::read(entry.path()).unwrap());
    }
    files
}

#[test]
fn on_the_templates_of_this_repository() {
    let mut files = below("templates", "");
    files.insert(
        "ctxc.toml".to_owned(),
        std::fs::read(Path::new(ROOT).join("ctxc.toml")).unwrap(),
    );
    compare(&files);
    // The same with the characters and line ends that make positions hard, and a slip in each.
    for (_, bytes) in files
        .iter_mut()
        .filter(|(name, _)| Path::new(name).extension() == Some("xml".as_ref()))
    {
        let text = String::from_utf8(bytes.clone()).unwrap();
        let text = text
            .replace("<description>", "<!-- 😀é --><descripton>")
            .replace(" type=\"", " typ=\"😀\" type=\"")
            .replace('\n', "\r\n");
        *bytes = text.into_bytes();
    }
    assert!(compare(&files) > 100);
}

#[test]
fn on_every_example_of_every_rule() {
    // Examples with one project file are one project, in which they also conflict with each other.
    let mut projects: BTreeMap<&str, Files> = BTreeMap::new();
    // The server reports nothing on scenarios: editors have their schema, and `check` reports the
    // rest.
    for rule in ctxc::internals::rules::list::all_rules().filter(|rule| {
        // A project for another version has no report.
        rule.meta.code.family() != 6 && rule.meta.name != "wrong-version"
    }) {
        for (at, example) in rule
            .meta
            .bad_examples()
            .iter()
            .chain(&rule.meta.good_examples())
            .enumerate()
        {
            let files = projects.entry(example.project).or_default();
            files.insert(
                format!("{}-{at}.xml", rule.meta.name),
                example.template.as_bytes().to_vec(),
            );
        }
    }
    let mut agreed = 0;
    for (project, mut files) in projects {
        files.insert("ctxc.toml".to_owned(), project.as_bytes().to_vec());
        agreed += compare(&files);
    }
    assert!(agreed > 400, "{agreed}");
}

#[test]
fn on_a_project_with_recorded_findings() {
    let task = |name: &str, more: &str| {
        format!("<task type=\"atomic\" name=\"{name}\">\n  <description>d</description>\n{more}</task>\n").into_bytes()
    };
    let braces = "  <instructions src=\"text/guide.md\"/>\n  <parameters>\n    <parameter name=\"x\" type=\"string\"/>\n  </parameters>\n";
    let unused = "  <parameters>\n    <parameter name=\"x\" type=\"string\"/>\n  </parameters>\n";
    let mut files = Files::from([
        ("ctxc.toml".to_owned(), b"[lint]\nx = 1\n".to_vec()),
        ("templates/a.xml".to_owned(), task("a", braces)),
        (
            "templates/text/guide.md".to_owned(),
            b"Look at {x}.\n".to_vec(),
        ),
        ("templates/b.xml".to_owned(), task("b", unused)),
        ("templates/c.xml".to_owned(), task("c", unused)),
        (
            "scenarios/c.yaml".to_owned(),
            b"name: c\ntask: d\ncontext: {objective: o}\nexpect_context: [{nothing_cut: true}]\n"
                .to_vec(),
        ),
    ]);
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in &files {
        std::fs::create_dir_all(folder.path().join(name).parent().unwrap()).unwrap();
        std::fs::write(folder.path().join(name), bytes).unwrap();
    }
    assert!(
        command_in(folder.path(), &["check", "--suppress-existing"])
            .output()
            .unwrap()
            .status
            .code()
            .is_some()
    );
    let recorded = "ctxc.suppressions.toml";
    files.insert(
        recorded.to_owned(),
        std::fs::read(folder.path().join(recorded)).unwrap(),
    );
    let after = compare(&files);
    assert!(after < 3, "{after}");
    // One that was recorded is gone, another one is new.
    files.insert("templates/b.xml".to_owned(), task("b", ""));
    files.insert(
        "templates/c.xml".to_owned(),
        task("c", &unused.replace("\"x\"", "\"y\"")),
    );
    assert!(compare(&files) > after);
}

#[test]
fn on_damaged_and_foreign_files() {
    let mut files = below("fuzz/corpus/reader", "fuzz/corpus/reader");
    for (name, text) in below("tests/it/syntax/recovery", "tests/it/syntax/recovery") {
        let text = String::from_utf8(text).unwrap();
        let ends: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
        for (number, at) in ends.into_iter().step_by(23).enumerate() {
            let (head, tail) = text.split_at(at);
            let cut: String = tail.chars().skip(1).collect();
            for (kind, damaged) in [
                ("cut", head.to_owned()),
                ("gap", format!("{head}{cut}")),
                ("astral", format!("{head}😀\r\n{tail}")),
            ] {
                // A name of its own, so that they do not all define the same.
                files.insert(
                    format!("{kind}-{number}-{name}"),
                    damaged
                        .replace("name=\"", &format!("name=\"{kind}-{number}-"))
                        .into_bytes(),
                );
            }
        }
    }
    files.insert(
        "latin.xml".to_owned(),
        b"<task type=\"atomic\" name=\"\xe9\"/>".to_vec(),
    );
    files.insert(
        "marked.xml".to_owned(),
        b"\xef\xbb\xbf<task type=\"atomc\" name=\"marked\"><description>d</description></task>"
            .to_vec(),
    );
    files.insert(
        "wide.xml".to_owned(),
        "\u{feff}<task type=\"atomc\" name=\"wide😀\"/>"
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect(),
    );
    files.insert(
        "old.xml".to_owned(),
        b"<task type=\"atomc\"\r name=\"old\">\r<description>d</descripton>\r</task>\r".to_vec(),
    );
    files.insert("ctxc.toml".to_owned(), b"[lint]\nx = 1\n".to_vec());
    assert!(compare(&files) > 1_000);
}

#[test]
#[ignore = "needs corpus: python3"]
fn on_the_generated_corpus() {
    let folder = tempfile::tempdir().unwrap();
    let corpus = folder.path().join("corpus");
    let made = Command::new("python3")
        .arg(Path::new(ROOT).join("benches/gen_corpus.py"))
        .arg(&corpus)
        .arg("2000")
        .status()
        .unwrap();
    assert!(made.success());
    let mut files = Files::new();
    for entry in ignore::Walk::new(&corpus)
        .filter_map(Result::ok)
        .filter(|entry| entry.path().is_file())
    {
        let name = entry
            .path()
            .strip_prefix(&corpus)
            .unwrap()
            .to_str()
            .unwrap()
            .to_owned();
        files.insert(name, std::fs::read(entry.path()).unwrap());
    }
    assert_eq!(files.len(), 2_000);
    files.insert("ctxc.toml".to_owned(), Vec::new());
    assert!(compare(&files) > 4_000);
}
