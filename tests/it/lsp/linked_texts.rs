//! Files beside templates: texts of their own, the project file, files with a name, and ways out
//! that end in a person's words.

use super::client::{Client, applied, plain, position, pulling};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

const USER: &str = "<task type=\"atomic\" name=\"write\">\n  <description>d</description>\n  <instructions src=\"text/guide.jinja\" syntax=\"jinja\"/>\n  <parameters>\n    <parameter name=\"topic\" type=\"string\" required=\"true\"/>\n  </parameters>\n</task>\n";
const GUIDE: &str = "Write about {{ topic }}.\n";
const TEXT: &str = "templates/text/guide.jinja";

fn codes(items: &[Value]) -> Vec<&str> {
    items
        .iter()
        .map(|item| item["code"].as_str().unwrap())
        .collect()
}

#[test]
fn a_text_of_its_own_has_findings_names_and_completion() {
    let mut client = Client::new(&[("templates/write.xml", USER), (TEXT, GUIDE)], &pulling());
    let broken = "Write about {{ topic | uper }}.\n";
    client.open(TEXT, broken);
    let found = client.pull(TEXT);
    assert_eq!(codes(&found), ["CTX313"]);
    assert_eq!(found[0]["range"]["start"], position(broken, "topic | "));
    assert!(
        found[0]["message"]
            .as_str()
            .unwrap()
            .starts_with("Jinja has no filter"),
        "{found:?}"
    );
    let related = found[0]["relatedInformation"].as_array().unwrap();
    assert!(
        related
            .iter()
            .any(|one| one["location"]["uri"] == client.uri("templates/write.xml")),
        "{related:?}"
    );
    assert!(
        related.iter().any(|one| one["message"]
            .as_str()
            .unwrap()
            .starts_with("rule `bad-jinja`: ")),
        "{related:?}"
    );
    client.replace(TEXT, 2, GUIDE);
    assert_eq!(client.pull(TEXT), [Value::Null; 0]);
    let place = client.at("textDocument/definition", TEXT, GUIDE, "{{ top");
    assert_eq!(
        (&place["uri"], &place["range"]["start"]),
        (
            &json!(client.uri("templates/write.xml")),
            &position(USER, "<parameter name=\"")
        )
    );
    let hover = client.at("textDocument/hover", TEXT, GUIDE, "{{ top");
    assert!(
        hover["contents"]["value"]
            .as_str()
            .unwrap()
            .contains("parameter of task"),
        "{hover}"
    );
    let params = json!({"textDocument": {"uri": client.uri(TEXT)}, "position": position(GUIDE, "{{ top"), "newName": "subject"});
    let changes = client.ask("textDocument/rename", &params)["changes"].clone();
    assert_eq!(
        applied(GUIDE, &changes[client.uri(TEXT)]),
        GUIDE.replace("topic", "subject")
    );
    let typed = "Write about {{ t\n";
    client.replace(TEXT, 3, typed);
    let items = client.at("textDocument/completion", TEXT, typed, "{{ t");
    assert_eq!(items[0]["label"], "topic");
    assert_eq!(items[0]["textEdit"]["newText"], "topic }}");
}

#[test]
fn the_path_of_a_text_leads_to_it() {
    let mut client = Client::new(&[("templates/write.xml", USER), (TEXT, GUIDE)], &pulling());
    client.open("templates/write.xml", USER);
    let place = client.at(
        "textDocument/definition",
        "templates/write.xml",
        USER,
        "text/gui",
    );
    assert_eq!(place["uri"], client.uri(TEXT));
}

#[test]
fn a_broken_project_file_is_reported_and_the_last_good_one_holds() {
    let good = "[defaults.atomic]\ninherit_context = \"none\"\n";
    let task = "<task type=\"atomic\" name=\"a\">\n  <description>d</description>\n  <context_management>\n    <fresh_context>enabled</fresh_context>\n  </context_management>\n</task>\n";
    let mut client = Client::new(&[("ctxc.toml", good), ("templates/a.xml", task)], &plain());
    client.open("templates/a.xml", task);
    assert_eq!(client.pushed("templates/a.xml")["diagnostics"], json!([]));
    std::fs::write(client.path("ctxc.toml"), good.replace("atomic]", "atomic")).unwrap();
    let changed = json!({"changes": [{"uri": client.uri("ctxc.toml"), "type": 2}]});
    client.tell("workspace/didChangeWatchedFiles", &changed);
    // The project file is not open, and its findings are pushed all the same.
    let pushed = client.pushed("ctxc.toml");
    assert!(codes(pushed["diagnostics"].as_array().unwrap()).contains(&"CTX502"));
    client.replace(
        "templates/a.xml",
        2,
        &task.replace("<description>d", "<description>e"),
    );
    client.ask(
        "textDocument/hover",
        &json!({"textDocument": {"uri": client.uri("templates/a.xml")}, "position": {"line": 0, "character": 2}}),
    );
    assert!(
        client
            .notes
            .iter()
            .all(|note| note.params["uri"] != json!(client.uri("templates/a.xml"))),
        "nothing is wrong with the template"
    );
    std::fs::write(client.path("ctxc.toml"), good).unwrap();
    client.tell("workspace/didChangeWatchedFiles", &changed);
    // A half-written file may be read in between.
    while client.pushed("ctxc.toml")["diagnostics"] != json!([]) {}
}

#[test]
fn a_project_file_that_is_broken_from_the_start_is_all_that_is_reported() {
    let broken = "[defaults.atomic\ninherit_context = \"none\"\n\n[operators.audit\nbase = \"atomic\"\n\n[roles.a\ntemplate = \"a\"\n";
    let task = "<task type=\"atomic\" name=\"a\">\n  <description>d</description>\n  <context_management>\n    <fresh_context>enabled</fresh_context>\n  </context_management>\n</task>\n";
    let audit = "<task type=\"audit\" name=\"b\">\n  <description>d</description>\n</task>\n";
    let case =
        "name: c\nrole: a\ncontext:\n  objective: o\nexpect_context: [{nothing_cut: true}]\n";
    let files = [
        ("ctxc.toml", broken),
        ("templates/a.xml", task),
        ("templates/b.xml", audit),
        ("scenarios/c.yaml", case),
    ];
    let mut client = Client::new(&files, &pulling());
    client.open("scenarios/c.yaml", case);
    let report = client.ask("workspace/diagnostic", &json!({"previousResultIds": []}));
    let found: Vec<Value> = report["items"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|item| item["items"].as_array().unwrap().clone())
        .collect();
    assert_eq!(codes(&found), ["CTX502"], "{found:#?}");
}

#[test]
fn a_file_that_no_one_watches_is_examined() {
    let task = "<task type=\"atomic\" name=\"a\">\n  <description>d</description>\n  <file_paths><path>src/x.rs</path></file_paths>\n</task>\n";
    let mut able = plain();
    able["workspace"]["didChangeWatchedFiles"]["dynamicRegistration"] = json!(true);
    let mut client = Client::new(&[("ctxc.toml", ""), ("templates/a.xml", task)], &able);
    client.open("templates/a.xml", task);
    assert_eq!(
        codes(
            client.pushed("templates/a.xml")["diagnostics"]
                .as_array()
                .unwrap()
        ),
        ["CTX308"]
    );
    std::fs::create_dir(client.path("src")).unwrap();
    std::fs::write(client.path("src/x.rs"), "x").unwrap();
    assert_eq!(client.pushed("templates/a.xml")["diagnostics"], json!([]));
}

#[test]
fn hover_advises_nothing_without_effect() {
    let task = "<task type=\"atomic\" name=\"a\">\n  <description>d</description>\n</task>\n";
    let mut client = Client::new(&[], &pulling());
    client.open("templates/a.xml", task);
    let hover = client.at("textDocument/hover", "templates/a.xml", task, "<ta");
    let text = hover["contents"]["value"].as_str().unwrap();
    assert!(
        text.contains("inherit_context") && !text.contains("accumulate_data"),
        "{text}"
    );
}

/// The quick fixes of a text, by title, with the resulting text; edits of one file.
fn fixes(client: &mut Client, name: &str, text: &str) -> Vec<(String, Value)> {
    client.open(name, text);
    let everything =
        json!({"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}});
    let context = json!({"diagnostics": [], "only": ["quickfix"]});
    let params =
        json!({"textDocument": {"uri": client.uri(name)}, "range": everything, "context": context});
    let actions = client.ask("textDocument/codeAction", &params);
    client.close(name);
    actions
        .as_array()
        .unwrap()
        .iter()
        .map(|one| {
            (
                one["title"].as_str().unwrap().to_owned(),
                one["edit"].clone(),
            )
        })
        .collect()
}

#[test]
fn what_is_missing_can_be_added_or_silenced() {
    let short = "<template name=\"short\" params=\"text\">\n  <task type=\"atomic\">\n    <description>{{text}}</description>\n  </task>\n</template>\n";
    let mut client = Client::new(&[("templates/short.xml", short)], &pulling());
    let cases = [
        (
            "<task type=\"atomic\" name=\"a\">\n</task>\n",
            "add `<description>`",
            "\n  <description>TODO: say what this is for</description>\n",
        ),
        (
            "<task type=\"atomic\" name=\"a\"/>\n",
            "add `<description>`",
            ">\n  <description>TODO: say what this is for</description>\n</task>",
        ),
        (
            "<task type=\"sequential\" name=\"a\">\n  <description>d</description>\n</task>\n",
            "add `<steps>`",
            "<steps>\n    <task type=\"atomic\">",
        ),
        (
            "<task type=\"sequential\" name=\"a\">\n  <description>d</description>\n  <steps>\n    <call template=\"short\"/>\n  </steps>\n</task>\n",
            "add `<arg name=\"text\">`",
            "<call template=\"short\">\n      <arg name=\"text\">TODO</arg>\n    </call>",
        ),
        (
            "<task type=\"zzzzzzzz\" name=\"a\">\n  <description>d</description>\n</task>\n",
            "write `sequential`",
            "type=\"sequential\"",
        ),
        (
            "<task type=\"atomic\" name=\"a\">\n  <description>d</description>\n  <context_management>\n    <inherit_context>whatever</inherit_context>\n  </context_management>\n</task>\n",
            "write `subset`",
            "<inherit_context>subset</inherit_context>",
        ),
        (
            "<template name=\"short\" params=\"text\">\n  <task type=\"atomic\">\n    <description>{{text}}</description>\n  </task>\n</template>\n",
            "name this one `short-2`",
            "name=\"short-2\"",
        ),
        (
            "<task type=\"atomic\" name=\"a\">\n  <description>  </description>\n</task>\n",
            "add `<description>`",
            "\n  <description>TODO: say what this is for</description>\n",
        ),
        (
            "<task type=\"sequential\" name=\"a\">\n  <description>d</description>\n  <steps/>\n</task>\n",
            "add `<task>`",
            "  <steps>\n    <task type=\"atomic\">\n      <description>TODO</description>\n    </task>\n  </steps>\n",
        ),
        (
            "<task type=\"reduce\" name=\"a\">\n  <description>d</description>\n  <inner_task>\n    <description>e</description>\n  </inner_task>\n  <reduction_task>\n    <description>f</description>\n  </reduction_task>\n</task>\n",
            "add `<inputs>`",
            "d</description>\n  <inputs>\n    <input name=\"TODO\">TODO</input>\n  </inputs>\n  <inner_task>",
        ),
        (
            "<task type=\"atomic\" name=\"a\">\n  <description>d</description>\n  <parameters>\n    <parameter/>\n  </parameters>\n</task>\n",
            "add `name`",
            "<parameter name=\"TODO\"/>",
        ),
        (
            "<task type=\"atomic\" subtype=\"zzzzzz\" name=\"a\">\n  <description>d</description>\n</task>\n",
            "write `subtask`",
            "subtype=\"subtask\"",
        ),
        (
            "<library>\n  <task type=\"atomic\" name=\"inner\">\n    <description>{{x}}</description>\n  </task>\n  <task type=\"sequential\" name=\"a\">\n    <description>{{z}}</description>\n    <parameters>\n      <parameter name=\"z\"/>\n    </parameters>\n    <steps>\n      <task ref=\"inner\"/>\n    </steps>\n  </task>\n</library>\n",
            "declare `x` here",
            "<parameter name=\"z\"/>\n      <parameter name=\"x\" required=\"true\"/>",
        ),
        (
            "<task type=\"atomic\" name=\"a\">\n  <description>d</description>\n  <context_relevance>\n    <input name=\"b\">c</input>\n  </context}}relevance>\n</task>\n",
            "write </context_relevance>",
            "  </context_relevance>\n</task>",
        ),
        (
            "<task name=\"a\">\n  <description>d</description>\n</task>\n",
            "silence `missing-type` here, with a reason",
            "<task name=\"a\">\n  <?ctxc allow missing-type reason=\"TODO\"?>\n",
        ),
    ];
    for (text, title, expected) in cases {
        let found = fixes(&mut client, "templates/a.xml", text);
        let titles: Vec<&str> = found.iter().map(|(title, _)| title.as_str()).collect();
        let (_, edit) = found
            .iter()
            .find(|(own, _)| own == title)
            .unwrap_or_else(|| panic!("no {title}: {titles:?}"));
        let after = applied(text, &edit["changes"][client.uri("templates/a.xml")]);
        assert!(after.contains(expected), "{after}");
    }
}

#[test]
fn a_file_that_is_missing_can_be_created() {
    let mut able = pulling();
    able["workspace"]["workspaceEdit"] =
        json!({"documentChanges": true, "resourceOperations": ["create"]});
    let mut client = Client::new(&[], &able);
    let found = fixes(&mut client, "templates/write.xml", USER);
    let (_, edit) = found
        .iter()
        .find(|(title, _)| title == "create `templates/text/guide.jinja`")
        .unwrap_or_else(|| panic!("{found:?}"));
    assert_eq!(
        edit["documentChanges"][0],
        json!({"kind": "create", "uri": client.uri(TEXT)})
    );
    assert_eq!(
        edit["documentChanges"][1]["textDocument"]["uri"],
        client.uri(TEXT)
    );
}

#[test]
fn a_call_shows_its_parameters() {
    let short = "<template name=\"short\" params=\"text audience\">\n  <task type=\"atomic\">\n    <description>{{text}} {{audience}}</description>\n  </task>\n</template>\n";
    let text = "<task type=\"sequential\" name=\"a\">\n  <description>d</description>\n  <steps>\n    <call template=\"short\">\n      <arg name=\"text\">t</arg>\n      <arg>\n    </call>\n  </steps>\n</task>\n";
    let mut client = Client::new(&[("templates/short.xml", short)], &pulling());
    client.open("templates/a.xml", text);
    let help = client.at(
        "textDocument/signatureHelp",
        "templates/a.xml",
        text,
        "      <arg>",
    );
    assert_eq!(
        (&help["signatures"][0]["label"], &help["activeParameter"]),
        (&json!("short(text, audience)"), &json!(1))
    );
}

#[test]
fn files_that_are_renamed_are_named_anew() {
    let unnamed = USER.replace(" name=\"write\"", "");
    let user = "<task type=\"sequential\" name=\"use\">\n  <description>d</description>\n  <steps>\n    <task ref=\"write\"/>\n  </steps>\n</task>\n";
    let case = "name: c\ntask: write\ncontext:\n  objective: o\n  inputs: {topic: t}\nexpect_context: [{nothing_cut: true}]\n";
    let files = [
        ("templates/write.xml", unnamed.as_str()),
        (TEXT, GUIDE),
        ("templates/use.xml", user),
        ("scenarios/c.yaml", case),
    ];
    let mut client = Client::new(&files, &pulling());
    client.open("templates/use.xml", user);
    let renamed = |old: &str, new: &str| json!({"files": [{"oldUri": old, "newUri": new}]});
    let params = renamed(
        &client.uri("templates/write.xml"),
        &client.uri("templates/deep/compose.xml"),
    );
    let changes = client.ask("workspace/willRenameFiles", &params)["changes"].clone();
    assert_eq!(
        applied(user, &changes[client.uri("templates/use.xml")]),
        user.replace("write", "compose")
    );
    assert_eq!(
        applied(case, &changes[client.uri("scenarios/c.yaml")]),
        case.replace("write", "compose")
    );
    let moved = applied(&unnamed, &changes[client.uri("templates/write.xml")]);
    assert_eq!(
        moved,
        unnamed.replace("text/guide.jinja", "../text/guide.jinja")
    );
    let params = renamed(
        &client.uri("templates/text"),
        &client.uri("templates/words"),
    );
    let changes = client.ask("workspace/willRenameFiles", &params)["changes"].clone();
    assert_eq!(
        applied(&unnamed, &changes[client.uri("templates/write.xml")]),
        unnamed.replace("text/guide", "words/guide")
    );
}

#[test]
fn files_that_are_renamed_are_named_anew_in_scenarios_and_the_project_file() {
    let project =
        "[roles.a]\ntemplate = \"write\"\nsystem = { file = \"templates/text/guide.jinja\" }\n";
    let case = "name: c\ntask: write\ncontext:\n  objective: look at text/guide.jinja, please\n  file_context:\n    templates/text/guide.jinja: !file ../templates/text/guide.jinja\n    b.md: {file: b.md}\n  inputs: {topic: '@b.md'}\nexpect_context: [{nothing_cut: true}]\n";
    let files = [
        ("ctxc.toml", project),
        ("templates/write.xml", USER),
        (TEXT, GUIDE),
        ("scenarios/c.yaml", case),
        ("scenarios/b.md", "b"),
    ];
    let mut client = Client::new(&files, &pulling());
    client.open("templates/write.xml", USER);
    let mut renamed = |old: &str, new: &str| {
        let params = json!({"files": [{"oldUri": client.uri(old), "newUri": client.uri(new)}]});
        let changes = client.ask("workspace/willRenameFiles", &params)["changes"].clone();
        let after = |name: &str, text: &str| {
            let edits = &changes[client.uri(name)];
            if edits.is_null() {
                text.to_owned()
            } else {
                applied(text, edits)
            }
        };
        (after("ctxc.toml", project), after("scenarios/c.yaml", case))
    };
    let (toml, yaml) = renamed("templates/text", "words");
    assert_eq!(toml, project.replace("templates/text", "words"));
    assert_eq!(yaml, case.replace("templates/text", "words"));
    let (toml, yaml) = renamed("scenarios/b.md", "scenarios/deep/c.md");
    assert_eq!(
        (toml.as_str(), yaml),
        (
            project,
            case.replace("{file: b.md}", "{file: deep/c.md}")
                .replace("@b.md", "@deep/c.md")
        )
    );
    let (toml, yaml) = renamed("scenarios/c.yaml", "scenarios/deep/c.yaml");
    let moved = case
        .replace("{file: b.md}", "{file: ../b.md}")
        .replace("@b.md", "@../b.md")
        .replace("!file ../", "!file ../../");
    assert_eq!((toml.as_str(), yaml), (project, moved));
}

#[test]
fn no_reference_follows_a_text_that_is_moved_out_of_the_project() {
    let mut client = Client::new(
        &[
            ("ctxc.toml", ""),
            ("templates/write.xml", USER),
            (TEXT, GUIDE),
        ],
        &pulling(),
    );
    client.open("templates/write.xml", USER);
    let params =
        json!({"files": [{"oldUri": client.uri(TEXT), "newUri": "file:///elsewhere/guide.jinja"}]});
    assert_eq!(
        client.ask("workspace/willRenameFiles", &params)["changes"],
        json!({})
    );
}

/// No model is reported missing while the list of models cannot be read.
#[test]
fn a_project_file_that_is_no_toml_has_its_own_error_alone() {
    let task = "<task type=\"atomic\" name=\"t\">\n  <description>d</description>\n</task>\n";
    let good = "[roles.r]\ntemplate = \"t\"\nmodel = \"small\"\n\n[models.small]\nprovider = \"ollama\"\ntier = \"economy\"\ncontext_window = 1000\noutput_reserve = 10\n";
    let broken = good.replace("[models.small]", "[models.small");
    let mut cold = Client::new(
        &[("ctxc.toml", &*broken), ("templates/t.xml", task)],
        &pulling(),
    );
    cold.open("ctxc.toml", &broken);
    assert_eq!(codes(&cold.pull("ctxc.toml")), ["CTX502"]);
    let mut warm = Client::new(
        &[("ctxc.toml", good), ("templates/t.xml", task)],
        &pulling(),
    );
    warm.open("ctxc.toml", good);
    assert_eq!(warm.pull("ctxc.toml"), [Value::Null; 0]);
    warm.replace("ctxc.toml", 2, &broken);
    assert_eq!(codes(&warm.pull("ctxc.toml")), ["CTX502"]);
    // The last valid state applies.
    let definition = warm.at(
        "textDocument/definition",
        "ctxc.toml",
        &broken,
        "template = \"t",
    );
    assert_eq!(definition["uri"], warm.uri("templates/t.xml"));
}

#[test]
fn a_byte_order_mark_that_an_editor_sends_is_no_text() {
    let mut client = Client::new(&[("ctxc.toml", "")], &pulling());
    client.open(
        "templates/a.xml",
        "\u{feff}<task type=\"atomic\" name=\"a\">\n  <description>d</description>\n</task>\n",
    );
    assert_eq!(client.pull("templates/a.xml"), [Value::Null; 0]);
    client.open("ctxc.toml", "\u{feff}edition = \"2026\"\n");
    assert_eq!(client.pull("ctxc.toml"), [Value::Null; 0]);
}
