//! Answers that an author sees: hover, completion, actions, names, hints.

use super::client::{Client, applied, plain, position, pulling};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

const REVIEW: &str = r#"<task type="sequential" name="review">
  <description>review {{topic}}</description>
  <parameters>
    <parameter name="topic"/>
  </parameters>
  <context_management>
    <inherit_context>none</inherit_context>
  </context_management>
  <steps>
    <task type="atomic" as="draft">
      <description>draft {{topic}}</description>
    </task>
    <task ref="polish"/>
  </steps>
</task>
"#;
const POLISH: &str =
    "<task type=\"atomic\" name=\"polish\">\n  <description>d</description>\n</task>\n";
const PATH: &str = "templates/review.xml";

fn client() -> Client {
    let project =
        "[defaults.atomic]\ninherit_context = \"subset\"\n\n[operators.atomic.subtypes.research]\n";
    let _ = project;
    let client = Client::new(
        &[
            (
                "ctxc.toml",
                "[defaults.atomic]\ninherit_context = \"subset\"\n",
            ),
            (PATH, REVIEW),
            ("templates/polish.xml", POLISH),
        ],
        &pulling_markdown(),
    );
    client.open(PATH, REVIEW);
    client
}

fn pulling_markdown() -> Value {
    let mut capabilities = pulling();
    capabilities["textDocument"]["hover"] = plain()["textDocument"]["hover"].clone();
    capabilities["general"]["positionEncodings"] = json!(["utf-16"]);
    capabilities
}

fn labels(items: &Value) -> Vec<&str> {
    items
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["label"].as_str().unwrap())
        .collect()
}

#[test]
fn hover_shows_where_a_value_comes_from() {
    let mut client = client();
    let hover = client.at("textDocument/hover", PATH, REVIEW, "<inherit_con");
    let text = hover["contents"]["value"].as_str().unwrap();
    assert!(
        text.contains(
            "**inherit_context** `none` — written here; over `full`, default of type sequential"
        ),
        "{text}"
    );
    let hover = client
        .at("textDocument/hover", PATH, REVIEW, "    <task typ")
        .clone();
    assert!(
        hover["contents"]["value"]
            .as_str()
            .unwrap()
            .starts_with("`type`"),
        "{hover}"
    );
    let hover = client.at("textDocument/hover", PATH, REVIEW, "  <steps>\n    <tas");
    let text = hover["contents"]["value"].as_str().unwrap();
    let place = format!("[ctxc.toml:2]({}#L2)", client.uri("ctxc.toml"));
    let expected = format!(
        "**inherit_context** `subset` — set for type atomic in {place}; over `full`, default of type atomic; write it in"
    );
    assert!(text.contains(&expected), "{text}");
    assert_eq!(
        client.at("textDocument/hover", PATH, REVIEW, "  <description>rev"),
        Value::Null
    );
}

#[test]
fn completion_offers_what_may_stand_there() {
    let cases: &[(&str, &str, &[&str], &[&str])] = &[
        (
            "<task type=\"atomic\" name=\"a\"><des",
            "</task>",
            &["description", "instructions", "context_management"],
            &["steps", "inner_task"],
        ),
        (
            "<task type=\"sequential\" name=\"a\"><",
            "</task>",
            &["steps"],
            &["inner_task"],
        ),
        (
            "<task ty",
            "></task>",
            &["type", "name", "subtype"],
            &["template"],
        ),
        (
            "<task type=\"",
            "\"></task>",
            &[
                "atomic",
                "sequential",
                "reduce",
                "script",
                "director_evaluator_loop",
            ],
            &[],
        ),
        (
            "<task type=\"atomic\" subtype=\"",
            "\"></task>",
            &["subtask", "standard"],
            &[],
        ),
        (
            "<task type=\"sequential\" name=\"a\"><steps><task ref=\"",
            "\"/></steps></task>",
            &["polish", "review"],
            &["a"],
        ),
        (
            "<task type=\"atomic\" name=\"a\"><context_management><inherit_context>",
            "</inherit_context></context_management></task>",
            &["full", "none", "subset"],
            &[],
        ),
        (
            "<task type=\"atomic\" name=\"a\"><parameters><parameter name=\"who\"/></parameters><description>{{",
            "</description></task>",
            &["who"],
            &[],
        ),
        (
            "<task type=\"atomic\" name=\"a\"><description>d</",
            "",
            &["description"],
            &[],
        ),
        ("<", "", &["task", "template", "library"], &[]),
    ];
    let mut client = client();
    for (before, after, offered, missing) in cases {
        let text = format!("{before}{after}");
        client.open("templates/new.xml", &text);
        let items = client.at(
            "textDocument/completion",
            "templates/new.xml",
            &text,
            before,
        );
        let labels = labels(&items);
        for label in *offered {
            assert!(
                labels.contains(label),
                "{label} behind {before}: {labels:?}"
            );
        }
        for label in *missing {
            assert!(
                !labels.contains(label),
                "{label} behind {before}: {labels:?}"
            );
        }
        client.close("templates/new.xml");
    }
}

#[test]
fn an_accepted_completion_inserts_the_text_that_it_shows() {
    let mut client = client();
    let text = "<task type=\"atomic\" name=\"a\">\n  <des\n</task>\n";
    client.open("templates/new.xml", text);
    let items = client.at("textDocument/completion", "templates/new.xml", text, "<des");
    let item = items
        .as_array()
        .unwrap()
        .iter()
        .find(|item| item["label"] == "description")
        .unwrap();
    assert_eq!(item["textEdit"]["newText"], "<description></description>");
    assert_eq!(
        item["textEdit"]["range"]["start"],
        json!({"line": 1, "character": 2})
    );
    assert_eq!(item["textEdit"]["range"]["end"], position(text, "<des"));
    assert!(
        item["documentation"]
            .as_str()
            .is_some_and(|doc| !doc.is_empty())
    );
}

#[test]
fn completions_are_described_in_a_form_that_the_client_announced_for_them() {
    let text = "<task type=\"atomic\" name=\"a\" inputs=\"x\">\n  <cont\n</task>\n";
    let described = |capabilities: &Value| {
        let mut client = Client::new(&[], capabilities);
        client.open("templates/new.xml", text);
        let items = client.at(
            "textDocument/completion",
            "templates/new.xml",
            text,
            "<cont",
        );
        items
            .as_array()
            .unwrap()
            .iter()
            .find(|item| item["label"] == "context_management")
            .unwrap()["documentation"]
            .clone()
    };
    // The formats that a client shows on hover do not determine those of its completions.
    let mut able = plain();
    let unmarked = described(&able);
    assert!(
        unmarked
            .as_str()
            .is_some_and(|doc| !doc.is_empty() && !doc.contains('`')),
        "{unmarked}"
    );
    able["textDocument"]["completion"]["completionItem"]["documentationFormat"] =
        json!(["markdown", "plaintext"]);
    assert_eq!(described(&able)["kind"], "markdown");
}

#[test]
fn actions_mend_what_is_found() {
    let text = "<task type=\"atomic\" name=\"a\">\n  <description>this & that</description>\n  <context_management>\n    <inherit_context>true</inherit_context>\n  </context_management>\n</task>\n";
    let mut client = client();
    client.open("templates/a.xml", text);
    let found = client.pull("templates/a.xml").len();
    assert!(found >= 2);
    let everything =
        json!({"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}});
    let uri = client.uri("templates/a.xml");
    let mut ask = |only: Value| {
        let mut context = json!({"diagnostics": []});
        if !only.is_null() {
            context["only"] = only;
        }
        client.ask(
            "textDocument/codeAction",
            &json!({"textDocument": {"uri": uri}, "range": everything, "context": context}),
        )
    };
    let all = ask(Value::Null);
    let kinds: Vec<&str> = all
        .as_array()
        .unwrap()
        .iter()
        .map(|action| action["kind"].as_str().unwrap())
        .collect();
    assert!(
        kinds.contains(&"quickfix") && kinds.contains(&"source.fixAll.ctxc"),
        "{kinds:?}"
    );
    assert!(
        ask(json!(["quickfix"]))
            .as_array()
            .unwrap()
            .iter()
            .all(|action| action["kind"] == "quickfix")
    );
    let fixes = ask(json!(["source.fixAll"]));
    let [fix] = fixes.as_array().unwrap().as_slice() else {
        panic!("{fixes}")
    };
    let mended = applied(text, &fix["edit"]["changes"][&uri]);
    assert!(
        mended.contains("this &amp; that")
            && mended.contains("<inherit_context>full</inherit_context>"),
        "{mended}"
    );
    client.replace("templates/a.xml", 2, &mended);
    assert_eq!(client.pull("templates/a.xml"), Vec::<Value>::new());
}

#[test]
fn names_lead_to_their_places_and_can_be_changed_everywhere() {
    let mut client = client();
    let place = client.at("textDocument/definition", PATH, REVIEW, "ref=\"po");
    assert_eq!(place["uri"], client.uri("templates/polish.xml"));
    assert_eq!(place["range"]["start"], position(POLISH, "name=\""));
    let params = json!({"textDocument": {"uri": client.uri(PATH)}, "position": position(REVIEW, "ref=\"po"), "context": {"includeDeclaration": true}});
    assert_eq!(
        client
            .ask("textDocument/references", &params)
            .as_array()
            .unwrap()
            .len(),
        2
    );
    let rename = |name: &str| json!({"textDocument": {"uri": client.uri(PATH)}, "position": position(REVIEW, "ref=\"po"), "newName": name});
    let (good, taken, bad) = (rename("smooth"), rename("review"), rename("a\"b"));
    let changes = client.ask("textDocument/rename", &good)["changes"].clone();
    assert_eq!(changes.as_object().unwrap().len(), 2);
    let uri = client.uri(PATH);
    assert!(applied(REVIEW, &changes[&uri]).contains("<task ref=\"smooth\"/>"));
    assert!(client.try_ask("textDocument/rename", &taken).is_err());
    assert!(client.try_ask("textDocument/rename", &bad).is_err());
    assert_eq!(
        client.at("textDocument/prepareRename", PATH, REVIEW, "ref=\"po")["placeholder"],
        "polish"
    );
}

#[test]
fn edits_name_the_state_that_they_were_made_for() {
    let mut able = pulling_markdown();
    able["workspace"]["workspaceEdit"]["documentChanges"] = json!(true);
    let mut client = Client::new(
        &[
            ("ctxc.toml", ""),
            (PATH, REVIEW),
            ("templates/polish.xml", POLISH),
        ],
        &able,
    );
    client.open(PATH, "<task/>");
    client.replace(PATH, 7, REVIEW);
    let params = json!({"textDocument": {"uri": client.uri(PATH)}, "position": position(REVIEW, "ref=\"po"), "newName": "smooth"});
    let edit = client.ask("textDocument/rename", &params);
    let (polish, review) = (client.uri("templates/polish.xml"), client.uri(PATH));
    let changes = edit["documentChanges"].as_array().unwrap();
    let documents: Vec<&Value> = changes.iter().map(|one| &one["textDocument"]).collect();
    assert_eq!(
        documents,
        [
            &json!({"uri": polish, "version": null}),
            &json!({"uri": review, "version": 7})
        ]
    );
    assert!(edit.get("changes").is_none(), "{edit}");
    assert!(applied(REVIEW, &changes[1]["edits"]).contains("<task ref=\"smooth\"/>"));
    let text = "<task type=\"atomic\" name=\"a\"><description>this & that</description></task>\n";
    client.open("templates/a.xml", text);
    let params = json!({
        "textDocument": {"uri": client.uri("templates/a.xml")},
        "range": {"start": {"line": 0, "character": 0}, "end": {"line": 1, "character": 0}},
        "context": {"diagnostics": []},
    });
    let actions = client.ask("textDocument/codeAction", &params);
    assert!(
        actions
            .as_array()
            .is_some_and(|actions| !actions.is_empty())
    );
    for action in actions.as_array().unwrap() {
        let changes = action["edit"]["documentChanges"].as_array().unwrap();
        assert_eq!(
            changes[0]["textDocument"],
            json!({"uri": client.uri("templates/a.xml"), "version": 1}),
            "{action}"
        );
        assert!(
            applied(text, &changes[0]["edits"]).contains("&amp;"),
            "{action}"
        );
    }
}

#[test]
fn documents_have_symbols_folds_links_and_pairs() {
    let mut client = client();
    let document = json!({"textDocument": {"uri": client.uri(PATH)}});
    let symbols = client.ask("textDocument/documentSymbol", &document);
    assert_eq!(symbols[0]["name"], "review");
    let children: Vec<&str> = symbols[0]["children"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["name"].as_str().unwrap())
        .collect();
    assert_eq!(children, ["topic", "draft", "polish"]);
    let found = client.ask("workspace/symbol", &json!({"query": "pls"}));
    assert_eq!(found[0]["name"], "polish");
    let folds = client.ask("textDocument/foldingRange", &document);
    assert!(
        folds
            .as_array()
            .unwrap()
            .contains(&json!({"startLine": 8, "endLine": 12})),
        "{folds}"
    );
    let pairs = client.at("textDocument/linkedEditingRange", PATH, REVIEW, "<ste");
    let lines: Vec<u64> = pairs["ranges"]
        .as_array()
        .unwrap()
        .iter()
        .map(|range| range["start"]["line"].as_u64().unwrap())
        .collect();
    assert_eq!(lines, [8, 13]);
    let selection = client.ask(
        "textDocument/selectionRange",
        &json!({"textDocument": {"uri": client.uri(PATH)}, "positions": [position(REVIEW, "type=\"seq")]}),
    );
    assert_eq!(selection[0]["range"]["start"], position(REVIEW, "type=\""));
    let tokens = client.ask("textDocument/semanticTokens/full", &document);
    assert_eq!(
        tokens["data"].as_array().unwrap()[..5],
        [json!(1), json!(22), json!(2), json!(2), json!(0)]
    );
    let range = |from: u32, to: u32| {
        let range =
            json!({"start": {"line": from, "character": 0}, "end": {"line": to, "character": 0}});
        json!({"textDocument": {"uri": client.uri(PATH)}, "range": range})
    };
    let (all, none) = (range(0, 99), range(0, 1));
    assert_eq!(
        client.ask("textDocument/semanticTokens/range", &all),
        tokens
    );
    assert_eq!(
        client.ask("textDocument/semanticTokens/range", &none),
        json!({"data": []})
    );
    let linked = "<task type=\"atomic\" name=\"l\"><description src=\"d.md\"/></task>";
    client.open("templates/l.xml", linked);
    let found = client.ask(
        "textDocument/documentLink",
        &json!({"textDocument": {"uri": client.uri("templates/l.xml")}}),
    );
    assert_eq!(found[0]["target"], client.uri("templates/d.md"));
}

#[test]
fn lenses_show_what_holds_and_hints_what_the_project_decides() {
    let mut client = client();
    let range = json!({"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}});
    let hints = client.ask(
        "textDocument/inlayHint",
        &json!({"textDocument": {"uri": client.uri(PATH)}, "range": range}),
    );
    // Decisions of the language stand in the lens; a hint is a decision of the project file, and
    // leads there.
    assert_eq!(hints.as_array().unwrap().len(), 1, "{hints}");
    let label = &hints[0]["label"][0];
    assert_eq!(
        (&label["value"], hints[0]["label"].as_array().unwrap().len()),
        (&json!("inherit_context subset"), 1)
    );
    assert!(
        label["tooltip"]
            .as_str()
            .unwrap()
            .contains("set for type atomic in ctxc.toml:2")
    );
    assert_eq!(
        (
            &label["location"]["uri"],
            &label["location"]["range"]["start"]["line"]
        ),
        (&json!(client.uri("ctxc.toml")), &json!(1))
    );
    let decided = client.at(
        "textDocument/definition",
        PATH,
        REVIEW,
        "  <steps>\n    <tas",
    );
    assert_eq!(decided, json!([label["location"]]));
    let hover = client.at("textDocument/hover", PATH, REVIEW, "  <steps>\n    <tas");
    let link = format!("[ctxc.toml:2]({}#L2)", client.uri("ctxc.toml"));
    assert!(
        hover["contents"]["value"].as_str().unwrap().contains(&link),
        "{hover}"
    );
    let lenses = client.ask(
        "textDocument/codeLens",
        &json!({"textDocument": {"uri": client.uri(PATH)}}),
    );
    assert_eq!(
        lenses[0]["command"]["title"],
        "inherit_context: none · accumulate_data: true · accumulation_format: notes_only · fresh_context: disabled"
    );
    assert!(client.folder().is_dir());
}

#[test]
fn documents_are_laid_out_as_the_project_requires() {
    let mut client = client();
    let uri = client.uri("templates/loose.xml");
    let params =
        json!({"textDocument": {"uri": uri}, "options": {"tabSize": 8, "insertSpaces": false}});
    let loose = "<task   name=\"l\" type=\"atomic\"><description>d</description></task>";
    client.open("templates/loose.xml", loose);
    let edits = client.ask("textDocument/formatting", &params);
    let tidy = applied(loose, &edits);
    assert_eq!(
        tidy,
        "<task name=\"l\" type=\"atomic\">\n  <description>d</description>\n</task>\n"
    );
    client.replace("templates/loose.xml", 2, &tidy);
    assert_eq!(client.ask("textDocument/formatting", &params), json!([]));
    client.replace("templates/loose.xml", 3, "<task>");
    assert_eq!(client.ask("textDocument/formatting", &params), Value::Null);
}
