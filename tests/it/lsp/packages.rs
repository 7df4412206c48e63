//! Names of packages in the editor: definition, hover, completion, rename and findings.

use super::client::{Client, position, pulling};
use serde_json::{Value, json};

const PROJECT: &str = "[dependencies]\n\"acme/base\" = \"path:shared/base\"\n";
const PACKAGE: &str =
    "[package]\nname = \"acme/base\"\nversion = \"1.0.0\"\nexports = [\"tasks/triage\"]\n";
const TRIAGE: &str = "<library>\n  <task name=\"triage\"><description>sorts the ticket</description></task>\n  <task name=\"private\"><description>d</description></task>\n</library>\n";
const OWN: &str = "<task name=\"all\" type=\"sequential\">\n  <description>d</description>\n  <steps>\n    <task ref=\"acme/base/triage\"/>\n  </steps>\n</task>\n";
const OWN_FILE: &str = "templates/all.xml";
const PACKAGE_FILE: &str = "shared/base/templates/triage.xml";

fn lock() -> String {
    format!(
        "version = 1\n[[package]]\nname = \"acme/base\"\nversion = \"1.0.0\"\nsource = \"path:shared/base\"\ntree = \"{}\"\ndependencies = []\n[package.files]\n",
        "a".repeat(64)
    )
}

fn client() -> Client {
    let lock = lock();
    let files = [
        ("ctxc.toml", PROJECT),
        ("ctxc.lock", &lock),
        ("shared/base/ctxc.toml", PACKAGE),
        (PACKAGE_FILE, TRIAGE),
        (OWN_FILE, OWN),
    ];
    Client::new(&files, &pulling())
}

#[test]
fn a_name_of_a_package_leads_into_its_file_and_is_renamed_only_there() {
    let mut client = client();
    client.open(OWN_FILE, OWN);
    assert_eq!(client.pull(OWN_FILE), [Value::Null; 0]);
    let place = client.at("textDocument/definition", OWN_FILE, OWN, "ref=\"acme");
    assert_eq!(place["uri"], client.uri(PACKAGE_FILE));
    assert_eq!(place["range"]["start"], position(TRIAGE, "<task name=\""));
    let hover = client.at("textDocument/hover", OWN_FILE, OWN, "ref=\"acme");
    let words = hover["contents"]["value"].as_str().unwrap();
    assert!(
        words.contains("sorts the ticket")
            && words.contains("acme/base@1.0.0/templates/triage.xml"),
        "{words}"
    );
    let params = json!({"textDocument": {"uri": client.uri(OWN_FILE)}, "position": position(OWN, "ref=\"acme"), "newName": "sort"});
    let refused = client
        .try_ask("textDocument/rename", &params)
        .unwrap_err()
        .1;
    assert_eq!(
        refused,
        "`acme/base/triage` is a name of the package acme/base, which can be changed only there"
    );
    let typed = OWN.replace("acme/base/triage", "acme");
    client.replace(OWN_FILE, 2, &typed);
    let items = client.at("textDocument/completion", OWN_FILE, &typed, "ref=\"acme");
    let labels: Vec<&str> = items
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["label"].as_str().unwrap())
        .collect();
    assert!(
        labels.contains(&"acme/base/triage") && !labels.contains(&"acme/base/private"),
        "{labels:?}"
    );
}

#[test]
fn an_edit_of_a_package_in_a_folder_counts_at_once() {
    let mut client = client();
    client.open(OWN_FILE, OWN);
    assert_eq!(client.pull(OWN_FILE), [Value::Null; 0]);
    std::fs::write(
        client.path(PACKAGE_FILE),
        TRIAGE.replace("\"triage\"", "\"sort\""),
    )
    .unwrap();
    let changed = json!({"changes": [{"uri": client.uri(PACKAGE_FILE), "type": 2}]});
    client.tell("workspace/didChangeWatchedFiles", &changed);
    let found = client.pull(OWN_FILE);
    assert_eq!(found[0]["code"], "CTX300", "{found:?}");
}
