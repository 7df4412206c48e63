//! Files that change behind the editor, and the messages that follow.

use super::client::{Client, plain, pulling};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const USER: &str = "<task type=\"sequential\" name=\"user\"><description>d</description><steps><task ref=\"late\"/></steps></task>\n";
const LATE: &str =
    "<task type=\"atomic\" name=\"late\">\n  <description>d</description>\n</task>\n";
/// Far more than a round of the server takes; with less, a slow answer would count as none.
const SOON: Duration = Duration::from_secs(10);

fn codes(items: &Value) -> Vec<&str> {
    items
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["code"].as_str().unwrap())
        .collect()
}

/// A client that accepts requests to refresh.
fn refreshing() -> Value {
    let mut can = pulling();
    let yes = json!({"refreshSupport": true});
    can["workspace"] = json!({"diagnostics": yes, "inlayHint": yes, "codeLens": yes, "semanticTokens": yes,
        "didChangeWatchedFiles": {"dynamicRegistration": true, "relativePatternSupport": true}});
    can
}

/// The requests of the server to the client until it came to rest.
fn server_requests(client: &mut Client) -> Vec<String> {
    // Before the second answer arrives, everything that followed from earlier messages was sent.
    for _ in 0..2 {
        client.ask(
            "workspace/symbol",
            &json!({"query": "nothing has this name"}),
        );
    }
    // Figures come when they are counted, at a time that no test can predict.
    let is_counted = |request: &lsp_server::Request| request.id.to_string().contains("figures-");
    let methods = client
        .asked
        .drain(..)
        .filter(|request| !is_counted(request))
        .map(|request| request.method);
    methods
        .filter(|method| method != "client/registerCapability")
        .collect()
}

#[test]
fn a_client_that_watches_nothing_sees_what_changes_on_disk_all_the_same() {
    let text = "<task type=\"atomic\" name=\"t\"><description src=\"t.md\"/></task>\n";
    let mut client = Client::new(
        &[("templates/t.xml", text), ("templates/t.md", "fine")],
        &plain(),
    );
    client.open("templates/user.xml", USER);
    client.open("templates/t.xml", text);
    assert_eq!(
        codes(&client.pushed("templates/user.xml")["diagnostics"]),
        ["CTX300"]
    );
    assert_eq!(
        codes(&client.pushed("templates/t.xml")["diagnostics"]),
        [""; 0]
    );
    let begun = Instant::now();
    // Nothing is sent from here on: a new file, a text, the project file, a removed file.
    std::fs::write(client.path("templates/late.xml"), LATE).unwrap();
    assert_eq!(
        codes(&client.pushed("templates/user.xml")["diagnostics"]),
        [""; 0]
    );
    std::fs::write(client.path("templates/t.md"), "{{ not right").unwrap();
    assert_eq!(
        codes(&client.pushed("templates/t.xml")["diagnostics"]).len(),
        1
    );
    std::fs::write(
        client.path("ctxc.toml"),
        "[lints]\nbad-expression = \"warning\"\n\n[defaults.atomic]\nfresh_context = \"enabled\"\ninherit_context = \"none\"\n",
    )
    .unwrap();
    client.open("templates/late.xml", "<task type=\"atomic\" name=\"late\"><description>d</description><context_management><inherit_context>full</inherit_context></context_management></task>");
    let mut found = client.pushed("templates/late.xml");
    while codes(&found["diagnostics"]).is_empty() {
        found = client.pushed("templates/late.xml");
    }
    assert_eq!(codes(&found["diagnostics"]), ["CTX202"]);
    client.close("templates/late.xml");
    std::fs::remove_file(client.path("templates/late.xml")).unwrap();
    assert_eq!(
        codes(&client.pushed("templates/user.xml")["diagnostics"]),
        ["CTX300"]
    );
    assert!(begun.elapsed() < 4 * SOON, "{:?}", begun.elapsed());
}

#[test]
fn a_client_that_watches_files_receives_the_patterns() {
    let mut client = Client::new(&[("ctxc.toml", "")], &refreshing());
    client.ask("workspace/symbol", &json!({"query": ""}));
    let request = client
        .asked
        .iter()
        .find(|request| request.method == "client/registerCapability")
        .unwrap();
    let registration = &request.params["registrations"][0];
    assert_eq!(registration["method"], "workspace/didChangeWatchedFiles");
    let watchers = registration["registerOptions"]["watchers"]
        .as_array()
        .unwrap();
    assert!(
        watchers[0]["globPattern"]["pattern"]
            .as_str()
            .is_some_and(|glob| glob.contains("xml") && glob.contains("toml"))
    );
    // For a removed folder some clients report only the folder.
    let last = watchers.last().unwrap();
    assert_eq!(
        (&last["globPattern"]["pattern"], &last["kind"]),
        (&json!("**/*"), &json!(4))
    );
    assert_eq!(
        watchers[0]["globPattern"]["baseUri"]
            .as_str()
            .map(|uri| uri.trim_end_matches('/').to_owned()),
        Some(client.uri("").trim_end_matches('/').to_owned())
    );
    // A client that cannot watch files outside its open ones does not look for a project above it:
    // the server does.
    let mut below = Client::unborn(&[("ctxc.toml", ""), ("templates/a.xml", LATE)]);
    let root = below.uri("templates");
    let can = json!({"workspace": {"didChangeWatchedFiles": {"dynamicRegistration": true}}});
    below.ask("initialize", &json!({"rootUri": root, "capabilities": can}));
    below.tell("initialized", &json!({}));
    below.ask("workspace/symbol", &json!({"query": ""}));
    assert!(below.asked.is_empty());
}

#[test]
fn a_client_is_asked_to_refresh_when_another_change_affects_its_display() {
    let mut client = Client::new(
        &[("templates/late.xml", LATE), ("templates/user.xml", USER)],
        &refreshing(),
    );
    client.open("templates/user.xml", USER);
    client.open("templates/late.xml", LATE);
    assert_eq!(server_requests(&mut client), [""; 0]);
    // A client pulls its own findings by itself.
    client.replace(
        "templates/user.xml",
        2,
        &USER.replace("<description>d</description>", ""),
    );
    assert_eq!(server_requests(&mut client), [""; 0]);
    // Those of another document change with the name.
    client.replace("templates/late.xml", 2, &LATE.replace("late", "later"));
    assert_eq!(
        server_requests(&mut client),
        ["workspace/diagnostic/refresh"]
    );
    // A file on disk.
    std::fs::write(client.path("templates/broken.xml"), "<task").unwrap();
    let event = json!({"changes": [{"uri": client.uri("templates/broken.xml"), "type": 1}]});
    client.tell("workspace/didChangeWatchedFiles", &event);
    assert_eq!(
        server_requests(&mut client),
        ["workspace/diagnostic/refresh"]
    );
    client.tell("workspace/didChangeWatchedFiles", &event);
    assert_eq!(server_requests(&mut client), [""; 0]);
    // The project file: every request that shows resolved settings is refreshed, and the findings
    // if they changed.
    client.open(
        "ctxc.toml",
        "[defaults.atomic]\ninherit_context = \"subset\"\n",
    );
    let all = [
        "workspace/codeLens/refresh",
        "workspace/diagnostic/refresh",
        "workspace/inlayHint/refresh",
        "workspace/semanticTokens/refresh",
    ];
    let mut requests = server_requests(&mut client);
    requests.sort();
    assert_eq!(requests, all);
    assert!(
        client
            .notes
            .iter()
            .all(|note| note.method != "textDocument/publishDiagnostics")
    );
}

#[test]
fn a_folder_that_is_moved_away_takes_its_files_with_it() {
    let text = "<task type=\"atomic\" name=\"t\"><description src=\"text/t.md\"/></task>\n";
    let suite = "id: s\ndefaults: {task: late, expect_context: [{nothing_cut: true}]}\ncases_from: files/rows.csv\n";
    let files = [
        ("templates/user.xml", USER),
        ("templates/deep/late.xml", LATE),
        ("templates/t.xml", text),
        ("templates/text/t.md", "d"),
        ("scenarios/s.yaml", suite),
        ("scenarios/files/rows.csv", "id,objective\na,b\n"),
    ];
    let mut client = Client::new(&files, &refreshing());
    let folders = [
        ("templates/deep", "templates/user.xml", USER, "CTX300"),
        ("templates/text", "templates/t.xml", text, "CTX306"),
        ("scenarios/files", "scenarios/s.yaml", suite, "CTX621"),
    ];
    for (folder, shown, text, code) in folders {
        client.open(shown, text);
        assert_eq!(client.pull(shown), [Value::Null; 0], "{shown}");
        let (path, away) = (client.path(folder), client.path("away"));
        let tell = |client: &Client, name: &str, kind: u8| {
            client.tell(
                "workspace/didChangeWatchedFiles",
                &json!({"changes": [{"uri": client.uri(name), "type": kind}]}),
            );
        };
        std::fs::rename(&path, &away).unwrap();
        tell(&client, folder, 3);
        assert_eq!(codes(&json!(client.pull(shown))), [code], "{folder}");
        std::fs::rename(&away, &path).unwrap();
        let back = files
            .iter()
            .find(|(name, _)| name.starts_with(folder))
            .unwrap();
        tell(&client, back.0, 1);
        assert_eq!(client.pull(shown), [Value::Null; 0], "{shown}");
    }
}

#[test]
fn a_client_without_refresh_support_receives_no_refresh() {
    let mut client = Client::new(&[("templates/user.xml", USER)], &pulling());
    client.open("templates/user.xml", USER);
    client.ask("workspace/symbol", &json!({"query": ""}));
    client.open("templates/late.xml", LATE);
    client.open(
        "ctxc.toml",
        "[defaults.atomic]\ninherit_context = \"subset\"\n",
    );
    assert_eq!(server_requests(&mut client), [""; 0]);
}

#[test]
fn what_a_client_has_is_not_sent_again() {
    let mut client = Client::new(
        &[("templates/late.xml", LATE), ("templates/user.xml", USER)],
        &pulling(),
    );
    client.open("templates/late.xml", &LATE.replace("\"late\"", "\"other\""));
    let first = client.ask("workspace/diagnostic", &json!({"previousResultIds": []}));
    let items = first["items"].as_array().unwrap();
    assert_eq!(
        items.iter().map(|one| &one["kind"]).collect::<Vec<_>>(),
        ["full", "full"]
    );
    let known: Vec<Value> = items
        .iter()
        .map(|one| json!({"uri": one["uri"], "value": one["resultId"]}))
        .collect();
    client.replace("templates/late.xml", 2, LATE);
    let second = client.ask("workspace/diagnostic", &json!({"previousResultIds": known}));
    let of = |name: &str| {
        second["items"]
            .as_array()
            .unwrap()
            .iter()
            .find(|one| one["uri"] == client.uri(name))
            .unwrap()
            .clone()
    };
    // Nothing was and is found in the one; the reference of the other resolves now.
    let late = of("templates/late.xml");
    assert_eq!(
        (late["kind"].as_str(), late["version"].as_i64()),
        (Some("unchanged"), Some(2))
    );
    assert_eq!(of("templates/user.xml")["kind"], "full");
    let id = of("templates/late.xml")["resultId"].clone();
    let params =
        json!({"textDocument": {"uri": client.uri("templates/late.xml")}, "previousResultId": id});
    let again = client.ask("textDocument/diagnostic", &params);
    assert_eq!(again, json!({"kind": "unchanged", "resultId": id}));
}

#[test]
fn findings_lead_to_the_pages_of_their_rules_and_say_of_which_kind_they_are() {
    let text = "<task type=\"atomic\" name=\"a\">\n  <description>d</description>\n  <parameters><parameter name=\"unused\"/></parameters>\n  <context_management><inherit_context>true</inherit_context></context_management>\n</task>\n";
    let mut client = Client::unborn(&[]);
    let options = json!({"rulePages": "https://example.com/rules/"});
    client.ask(
        "initialize",
        &json!({"initializationOptions": options, "capabilities": pulling()}),
    );
    client.open("templates/a.xml", text);
    let found = client.pull("templates/a.xml");
    let shown: Vec<(String, Value, Value)> = found
        .iter()
        .map(|one| {
            (
                one["code"].as_str().unwrap().to_owned(),
                one["tags"].clone(),
                one["codeDescription"]["href"].clone(),
            )
        })
        .collect();
    assert_eq!(
        shown,
        [
            (
                "CTX316".to_owned(),
                json!([1]),
                json!("https://example.com/rules/unused-parameter.md")
            ),
            (
                "CTX401".to_owned(),
                json!([2]),
                json!("https://example.com/rules/legacy-value.md")
            ),
        ]
    );
    // Without a configured folder, the pages of the clone that the program was built in.
    let mut client = Client::new(&[], &pulling());
    client.open("templates/a.xml", text);
    let href = client.pull("templates/a.xml")[0]["codeDescription"]["href"]
        .as_str()
        .unwrap()
        .to_owned();
    let page = std::fs::read_to_string(href.strip_prefix("file://").unwrap()).unwrap();
    assert!(page.contains("unused-parameter"), "{page}");
}
