//! Several projects at one server: no file of one counts in another.

use super::client::{Client, plain, position, pulling};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use std::collections::BTreeSet;

const TRIAGE: &str =
    "<task type=\"atomic\" name=\"triage\">\n  <description>d</description>\n</task>\n";
const USE: &str = "<task type=\"sequential\" name=\"use\">\n  <description>d</description>\n  <steps>\n    <task ref=\"triage\"/>\n  </steps>\n</task>\n";
const NONE: &str = "[defaults.atomic]\ninherit_context = \"none\"\nfresh_context = \"enabled\"\n";

const FILES: [(&str, &str); 6] = [
    ("ws/one/ctxc.toml", NONE),
    ("ws/one/templates/triage.xml", TRIAGE),
    ("ws/one/templates/use.xml", USE),
    ("ws/two/ctxc.toml", "edition = \"2026\"\n"),
    ("ws/two/templates/use.xml", USE),
    ("outside.xml", USE),
];

/// A client whose workspace has these folders.
fn working(files: &[(&str, &str)], folders: &[&str], capabilities: &Value) -> Client {
    let mut client = Client::unborn(files);
    let folders: Vec<Value> = folders
        .iter()
        .map(|folder| json!({"uri": client.uri(folder), "name": folder}))
        .collect();
    client.ask(
        "initialize",
        &json!({"workspaceFolders": folders, "capabilities": capabilities}),
    );
    client.tell("initialized", &json!({}));
    client
}

fn codes(items: &[Value]) -> Vec<&str> {
    items
        .iter()
        .map(|item| item["code"].as_str().unwrap())
        .collect()
}

/// The files in an answer, by their names in the test.
fn files(client: &Client, uris: impl Iterator<Item = String>) -> BTreeSet<String> {
    let root = client.uri("");
    uris.map(|uri| uri.strip_prefix(&root).unwrap().to_owned())
        .collect()
}

fn symbols(client: &mut Client) -> Vec<(String, String)> {
    let answer = client.ask("workspace/symbol", &json!({"query": ""}));
    let root = client.uri("");
    let one = |symbol: &Value| {
        let uri = symbol["location"]["uri"].as_str().unwrap();
        (
            symbol["name"].as_str().unwrap().to_owned(),
            uri.strip_prefix(&root).unwrap().to_owned(),
        )
    };
    answer.as_array().unwrap().iter().map(one).collect()
}

fn pair(name: &str, file: &str) -> (String, String) {
    (name.to_owned(), file.to_owned())
}

/// The files that a rename of `triage` in the first project touches.
fn renamed(client: &mut Client) -> BTreeSet<String> {
    let uri = client.uri("ws/one/templates/triage.xml");
    let at = position(TRIAGE, "name=\"tri");
    let params = json!({"textDocument": {"uri": uri}, "position": at, "newName": "sort"});
    let answer = client.ask("textDocument/rename", &params);
    files(
        client,
        answer["changes"].as_object().unwrap().keys().cloned(),
    )
}

fn references(client: &mut Client) -> BTreeSet<String> {
    let uri = client.uri("ws/one/templates/triage.xml");
    let at = position(TRIAGE, "name=\"tri");
    let params = json!({"textDocument": {"uri": uri}, "position": at, "context": {"includeDeclaration": true}});
    let answer = client.ask("textDocument/references", &params);
    let uris = answer
        .as_array()
        .unwrap()
        .iter()
        .map(|place| place["uri"].as_str().unwrap().to_owned());
    files(client, uris)
}

fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn names_references_renames_and_findings_stay_in_their_project() {
    // As folders of the workspace, and as projects inside of its one folder.
    for folders in [&["ws/one", "ws/two"][..], &["ws"]] {
        let mut client = working(&FILES, folders, &pulling());
        for (name, text) in FILES.iter().filter(|(_, text)| text.starts_with("<task")) {
            client.open(name, text);
        }
        assert_eq!(
            codes(&client.pull("ws/one/templates/use.xml")),
            [""; 0],
            "{folders:?}"
        );
        assert_eq!(
            codes(&client.pull("ws/two/templates/use.xml")),
            ["CTX300"],
            "{folders:?}"
        );
        assert_eq!(
            codes(&client.pull("outside.xml")),
            ["CTX300"],
            "{folders:?}"
        );
        let own = set(&["ws/one/templates/triage.xml", "ws/one/templates/use.xml"]);
        assert_eq!(references(&mut client), own, "{folders:?}");
        assert_eq!(renamed(&mut client), own, "{folders:?}");
        let here = pair("use", "ws/two/templates/use.xml");
        let all = [
            pair("triage", "ws/one/templates/triage.xml"),
            pair("use", "ws/one/templates/use.xml"),
            here,
        ];
        assert_eq!(symbols(&mut client), all, "{folders:?}");
        let report = client.ask("workspace/diagnostic", &json!({"previousResultIds": []}));
        let broken = report["items"].as_array().unwrap().iter().filter(|one| {
            one["items"]
                .as_array()
                .is_some_and(|items| !items.is_empty())
        });
        let broken = files(
            &client,
            broken.map(|one| one["uri"].as_str().unwrap().to_owned()),
        );
        assert_eq!(broken, set(&["ws/two/templates/use.xml"]), "{folders:?}");
    }
}

#[test]
fn each_member_of_a_workspace_is_served_as_a_project() {
    let root = format!(
        "[workspace]\nmembers = \"*\"\n[workspace.{}",
        NONE.trim_start_matches('[')
    );
    let mut files = FILES.to_vec();
    files.extend([
        ("ws/ctxc.toml", root.as_str()),
        ("ws/two/ctxc.toml", "[defaults]\nworkspace = true\n"),
    ]);
    let mut client = working(&files, &["ws"], &pulling());
    client.open("ws/two/templates/use.xml", USE);
    let found = client.pull("ws/two/templates/use.xml");
    assert_eq!(codes(&found), ["CTX300"]);
    client.open("ws/two/templates/other.xml", TRIAGE);
    let hover = client.at(
        "textDocument/hover",
        "ws/two/templates/other.xml",
        TRIAGE,
        "<ta",
    );
    let hover = hover["contents"]["value"].as_str().unwrap();
    assert!(
        hover.contains("none — set for type atomic in ../ctxc.toml:4"),
        "{hover}"
    );
}

#[test]
fn each_file_is_judged_by_the_nearest_project_file_above_it() {
    let mut client = working(&FILES, &["ws/one", "ws/two"], &pulling());
    let hover = |client: &mut Client, name: &str| {
        client.open(name, TRIAGE);
        let hover = client.at("textDocument/hover", name, TRIAGE, "<ta");
        hover["contents"]["value"].as_str().unwrap().to_owned()
    };
    let one = hover(&mut client, "ws/one/templates/triage.xml");
    assert!(
        one.contains("none — set for type atomic in ctxc.toml:2"),
        "{one}"
    );
    let two = hover(&mut client, "ws/two/templates/other.xml");
    assert!(
        two.contains("inherit_context full — default of type atomic"),
        "{two}"
    );
    let alone = hover(&mut client, "alone.xml");
    assert!(
        alone.contains("inherit_context full — default of type atomic"),
        "{alone}"
    );
    // A project file outside the workspace applies to the folders below it.
    std::fs::create_dir_all(client.path("far/templates")).unwrap();
    std::fs::write(client.path("far/ctxc.toml"), NONE).unwrap();
    let far = hover(&mut client, "far/templates/triage.xml");
    assert!(
        far.contains("none — set for type atomic in ctxc.toml:2"),
        "{far}"
    );
    assert!(
        symbols(&mut client)
            .iter()
            .all(|(_, file)| file.starts_with("ws/"))
    );
}

#[test]
fn an_edit_in_one_project_changes_nothing_in_another() {
    let mut client = working(&FILES, &["ws/one", "ws/two"], &plain());
    client.open("ws/two/templates/use.xml", USE);
    assert_eq!(
        codes(
            client.pushed("ws/two/templates/use.xml")["diagnostics"]
                .as_array()
                .unwrap()
        ),
        ["CTX300"]
    );
    client.open("ws/one/templates/triage.xml", TRIAGE);
    client.pushed("ws/one/templates/triage.xml");
    client.replace("ws/one/templates/triage.xml", 2, "<task");
    assert_ne!(
        client.pushed("ws/one/templates/triage.xml")["diagnostics"],
        json!([])
    );
    // The name that is missing in the second project appears there, and only then.
    client.open("ws/two/templates/triage.xml", TRIAGE);
    assert_eq!(
        client.pushed("ws/two/templates/use.xml")["diagnostics"],
        json!([])
    );
    client.close("ws/two/templates/triage.xml");
    assert_eq!(
        codes(
            client.pushed("ws/two/templates/use.xml")["diagnostics"]
                .as_array()
                .unwrap()
        ),
        ["CTX300"]
    );
}

#[test]
fn folders_come_and_go() {
    let mut client = working(&FILES, &["ws/one"], &pulling());
    let folder = |client: &Client, name: &str| json!([{"uri": client.uri(name), "name": name}]);
    let here = [
        pair("triage", "ws/one/templates/triage.xml"),
        pair("use", "ws/one/templates/use.xml"),
    ];
    assert_eq!(symbols(&mut client), here);
    let added = folder(&client, "ws/two");
    client.tell(
        "workspace/didChangeWorkspaceFolders",
        &json!({"event": {"added": added, "removed": []}}),
    );
    assert_eq!(symbols(&mut client).len(), 3);
    let removed = folder(&client, "ws/one");
    client.tell(
        "workspace/didChangeWorkspaceFolders",
        &json!({"event": {"added": [], "removed": removed}}),
    );
    assert_eq!(
        symbols(&mut client),
        [pair("use", "ws/two/templates/use.xml")]
    );
    // Open files of a removed project are still judged by it.
    client.open("ws/one/templates/use.xml", USE);
    assert_eq!(codes(&client.pull("ws/one/templates/use.xml")), [""; 0]);
}

#[test]
fn a_project_file_that_comes_takes_its_files_with_it_and_gives_them_back() {
    let files = [
        ("ctxc.toml", ""),
        ("templates/triage.xml", TRIAGE),
        ("templates/inner/use.xml", USE),
    ];
    let mut client = working(&files, &[""], &pulling());
    client.open("templates/inner/use.xml", USE);
    assert_eq!(codes(&client.pull("templates/inner/use.xml")), [""; 0]);
    // In the editor alone it is no project yet; then it is on disk, then gone.
    client.open("templates/inner/ctxc.toml", "");
    assert_eq!(codes(&client.pull("templates/inner/use.xml")), [""; 0]);
    client.close("templates/inner/ctxc.toml");
    assert_eq!(codes(&client.pull("templates/inner/use.xml")), [""; 0]);
    let path = client.path("templates/inner/ctxc.toml");
    let changed = |client: &Client| {
        let event = json!({"uri": client.uri("templates/inner/ctxc.toml"), "type": 1});
        client.tell(
            "workspace/didChangeWatchedFiles",
            &json!({"changes": [event]}),
        );
    };
    std::fs::write(&path, "").unwrap();
    changed(&client);
    assert_eq!(codes(&client.pull("templates/inner/use.xml")), ["CTX300"]);
    std::fs::remove_file(&path).unwrap();
    changed(&client);
    assert_eq!(codes(&client.pull("templates/inner/use.xml")), [""; 0]);
}

#[test]
fn what_the_editor_calls_xml_is_a_template_by_its_root() {
    let mut client = working(&FILES, &["ws/one"], &pulling());
    let open = |client: &Client, uri: &str, language: &str, text: &str| {
        let document = json!({"uri": uri, "languageId": language, "version": 1, "text": text});
        client.tell("textDocument/didOpen", &json!({"textDocument": document}));
    };
    let found = |client: &mut Client, uri: &str| {
        let answer = client.ask(
            "textDocument/diagnostic",
            &json!({"textDocument": {"uri": uri}}),
        );
        codes(answer["items"].as_array().unwrap())
            .into_iter()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let broken = "<task type=\"atomic\" name=\"t\"><description>a & b</description></task>\n";
    let tmpl = client.uri("ws/one/templates/a.tmpl");
    for uri in ["untitled:Untitled-1", &tmpl] {
        open(&client, uri, "xml", broken);
        assert_eq!(found(&mut client, uri).len(), 1, "{uri}");
        // The same text under the same name is no template if the editor gives it another language;
        // nor is another dialect.
        for (language, text) in [
            ("plaintext", broken),
            ("xml", "<html>a & b</html>"),
            ("xml", "words"),
        ] {
            client.tell(
                "textDocument/didClose",
                &json!({"textDocument": {"uri": uri}}),
            );
            open(&client, uri, language, text);
            assert_eq!(found(&mut client, uri), [""; 0], "{uri} {language} {text}");
        }
        client.tell(
            "textDocument/didClose",
            &json!({"textDocument": {"uri": uri}}),
        );
    }
    // It may use the names of the project, and adds none to it.
    open(
        &client,
        "untitled:Untitled-2",
        "xml",
        &USE.replace("\"use\"", "\"fresh\""),
    );
    assert_eq!(found(&mut client, "untitled:Untitled-2"), [""; 0]);
    assert!(symbols(&mut client).iter().all(|(name, _)| name != "fresh"));
    // An old version of a file belongs to no project: nothing of it is renamed.
    open(&client, "git:/use.xml?old", "xml", USE);
    assert_eq!(found(&mut client, "git:/use.xml?old"), ["CTX300"]);
    client.open("ws/one/templates/triage.xml", TRIAGE);
    let at = position(TRIAGE, "name=\"tri");
    let params = json!({"textDocument": {"uri": client.uri("ws/one/templates/triage.xml")}, "position": at, "newName": "sort"});
    let answer = client.ask("textDocument/rename", &params);
    assert!(
        !answer["changes"]
            .as_object()
            .unwrap()
            .contains_key("git:/use.xml?old"),
        "{answer}"
    );
}

#[test]
#[cfg(unix)]
fn a_file_is_one_document_whichever_links_lead_to_it() {
    for (root, opened) in [("link", "real"), ("real", "link")] {
        let files = [
            ("real/ctxc.toml", ""),
            ("real/templates/triage.xml", TRIAGE),
            ("real/templates/use.xml", USE),
        ];
        let mut client = Client::unborn(&files);
        std::os::unix::fs::symlink(client.path("real"), client.path("link")).unwrap();
        client.ask(
            "initialize",
            &json!({"rootUri": client.uri(root), "capabilities": pulling()}),
        );
        client.tell("initialized", &json!({}));
        let file = |name: &str| format!("{opened}/templates/{name}.xml");
        client.open(&file("use"), USE);
        client.open(
            &file("triage"),
            &TRIAGE.replace("<description>d", "<description>e"),
        );
        assert_eq!(client.pull(&file("use")), [""; 0]);
        let place = client.at("textDocument/definition", &file("use"), USE, "ref=\"tri");
        assert_eq!(place["uri"], client.uri(&file("triage")), "{root}");
        let report = client.ask("workspace/diagnostic", &json!({"previousResultIds": []}));
        assert_eq!(report["items"].as_array().unwrap().len(), 2, "{report}");
    }
}
