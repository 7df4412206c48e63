//! Accepted completions: the text at the position is replaced, the text behind it is not written
//! again, and required items come first.

use super::client::{Client, applied, pulling};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

const FILES: &[(&str, &str)] = &[
    ("ctxc.toml", ""),
    ("templates/text/guide.md", "guide\n"),
    (
        "templates/verdict.json",
        r#"{"type": "object", "properties": {"team": {"type": "string"}, "severity": {"enum": ["sev1", "sev2"]}}}"#,
    ),
    (
        "templates/triage.xml",
        "<task type=\"atomic\" name=\"triage\">\n  <description>d</description>\n  <output_format type=\"json\" schema=\"verdict.json\"/>\n</task>\n",
    ),
    (
        "templates/short.xml",
        "<template name=\"short\" params=\"text audience\">\n  <task type=\"atomic\">\n    <description>{{text}} {{audience}}</description>\n  </task>\n</template>\n",
    ),
];

/// The edits of an item, as a client applies them that replaces the text behind the position.
fn accept_item(text: &str, item: &Value) -> String {
    let edit = &item["textEdit"];
    let range = if edit["replace"].is_null() {
        &edit["range"]
    } else {
        &edit["replace"]
    };
    applied(text, &json!([{"range": range, "newText": edit["newText"]}]))
}

/// The completions at the mark, and the text without the mark.
fn offered(client: &mut Client, marked: &str) -> (String, Vec<Value>) {
    let (before, after) = marked.split_once('¦').unwrap();
    let text = format!("{before}{after}");
    client.open("templates/new.xml", &text);
    let line = before.matches('\n').count();
    let character = before.rsplit('\n').next().unwrap().len();
    let params = json!({"textDocument": {"uri": client.uri("templates/new.xml")}, "position": {"line": line, "character": character}});
    let items = client.ask("textDocument/completion", &params);
    client.close("templates/new.xml");
    (text, items.as_array().unwrap().clone())
}

fn labels(items: &[Value]) -> Vec<&str> {
    items
        .iter()
        .map(|item| item["label"].as_str().unwrap())
        .collect()
}

/// In a task, by the label of the accepted item: the text around the position and the resulting
/// text.
const TAKEN: &[(&str, &str, &str)] = &[
    (
        "description",
        "<descr¦>D</description>",
        "<description>D</description>",
    ),
    ("description", "<descr¦>D</descr>", "<description>D</descr>"),
    (
        "description",
        "<d¦escr>D</description>",
        "<description>D</description>",
    ),
    (
        "description",
        "<¦descr>D</description>",
        "<description>D</description>",
    ),
    ("description", "<¦", "<description></description>"),
    ("description", "<¦>", "<description></description>"),
    ("description", "<des¦>", "<description></description>"),
    (
        "description",
        "<des¦\n  <system>s</system>",
        "<description></description>\n  <system>s</system>",
    ),
    (
        "description",
        "<des¦ src=\"a.md\"/>",
        "<description src=\"a.md\"/>",
    ),
    ("description", "<des¦/>", "<description/>"),
    ("description", "<des¦ />", "<description />"),
    (
        "description",
        "<des¦c syntax='jinja'>D</description>",
        "<description syntax='jinja'>D</description>",
    ),
    ("description", "¦", "<description></description>"),
    ("description", "des¦", "<description></description>"),
    ("description", "de¦scr", "<description></description>"),
    (
        "system",
        "<model>a</model>\n<sy¦",
        "<model>a</model>\n<system></system>",
    ),
    (
        "inputs",
        "<in¦><input name=\"a\">b</input></inputs>",
        "<inputs><input name=\"a\">b</input></inputs>",
    ),
    ("inputs", "<in¦>", "<inputs></inputs>"),
    (
        "input",
        "<inputs><in¦></inputs>",
        "<inputs><input name=\"\"></input></inputs>",
    ),
    (
        "input",
        "<inputs><in¦></input></inputs>",
        "<inputs><input></input></inputs>",
    ),
    (
        "parameter",
        "<parameters><par¦ameter name=\"x\"/></parameters>",
        "<parameters><parameter name=\"x\"/></parameters>",
    ),
    (
        "parameter",
        "<parameters><par¦</parameters>",
        "<parameters><parameter name=\"\"/></parameters>",
    ),
    (
        "parameter",
        "<parameters><¦/></parameters>",
        "<parameters><parameter/></parameters>",
    ),
    (
        "description",
        "<description>D</¦description>",
        "<description>D</description>",
    ),
    (
        "description",
        "<description>D</desc¦",
        "<description>D</description>",
    ),
    (
        "description",
        "<description>D</desc¦>",
        "<description>D</description>",
    ),
    (
        "description",
        "<description>D</¦>",
        "<description>D</description>",
    ),
    (
        "description",
        "<description>D</¦descr >",
        "<description>D</description >",
    ),
    (
        "name",
        "<parameters><parameter na¦=\"x\"/></parameters>",
        "<parameters><parameter name=\"x\"/></parameters>",
    ),
    (
        "name",
        "<parameters><parameter na¦me=\"x\"/></parameters>",
        "<parameters><parameter name=\"x\"/></parameters>",
    ),
    (
        "name",
        "<parameters><parameter na¦ = \"x\"/></parameters>",
        "<parameters><parameter name = \"x\"/></parameters>",
    ),
    (
        "type",
        "<parameters><parameter ¦name=\"x\"/></parameters>",
        "<parameters><parameter type=\"\" name=\"x\"/></parameters>",
    ),
    (
        "type",
        "<parameters><parameter ty¦ name=\"x\"/></parameters>",
        "<parameters><parameter type=\"\" name=\"x\"/></parameters>",
    ),
    (
        "type",
        "<parameters><parameter name=\"x\"¦/></parameters>",
        "<parameters><parameter name=\"x\" type=\"\"/></parameters>",
    ),
    (
        "type",
        "<parameters><parameter name=\"x\" ¦/></parameters>",
        "<parameters><parameter name=\"x\" type=\"\"/></parameters>",
    ),
    (
        "type",
        "<parameters><parameter name='x'\n  t¦/></parameters>",
        "<parameters><parameter name='x'\n  type=\"\"/></parameters>",
    ),
    (
        "string",
        "<parameters><parameter type=\"st¦uff\"/></parameters>",
        "<parameters><parameter type=\"string\"/></parameters>",
    ),
    (
        "string",
        "<parameters><parameter type='¦'/></parameters>",
        "<parameters><parameter type='string'/></parameters>",
    ),
    (
        "string",
        "<parameters><parameter type=\"¦string\"/></parameters>",
        "<parameters><parameter type=\"string\"/></parameters>",
    ),
    (
        "string",
        "<parameters><parameter type=\"st¦/></parameters>",
        "<parameters><parameter type=\"string/></parameters>",
    ),
    (
        "triage",
        "<steps><task ref=\"tri¦age-old\"/></steps>",
        "<steps><task ref=\"triage\"/></steps>",
    ),
    (
        "triage",
        "<steps><task ref=\"¦\"/></steps>",
        "<steps><task ref=\"triage\"/></steps>",
    ),
    (
        "short",
        "<steps><call template=\"s¦\"/></steps>",
        "<steps><call template=\"short\"/></steps>",
    ),
    (
        "audience",
        "<steps><call template=\"short\"><arg name=\"text\">t</arg><arg name=\"¦\"/></call></steps>",
        "<steps><call template=\"short\"><arg name=\"text\">t</arg><arg name=\"audience\"/></call></steps>",
    ),
    (
        "abx",
        "<parameters><parameter name=\"abx\"/></parameters><description>{{ab¦cd}}</description>",
        "<parameters><parameter name=\"abx\"/></parameters><description>{{abx}}</description>",
    ),
    (
        "abx",
        "<parameters><parameter name=\"abx\"/></parameters><description>{{¦</description>",
        "<parameters><parameter name=\"abx\"/></parameters><description>{{abx}}</description>",
    ),
    (
        "abx",
        "<parameters><parameter name=\"abx\"/></parameters><description>{{ a¦</description>",
        "<parameters><parameter name=\"abx\"/></parameters><description>{{ abx }}</description>",
    ),
    (
        "abx",
        "<parameters><parameter name=\"abx\"/></parameters><description>{{ a¦ }}</description>",
        "<parameters><parameter name=\"abx\"/></parameters><description>{{ abx }}</description>",
    ),
    (
        "upper",
        "<description syntax=\"jinja\">{{ a | u¦ }}</description>",
        "<description syntax=\"jinja\">{{ a | upper }}</description>",
    ),
    (
        "endif",
        "<description syntax=\"jinja\">{% if a %}{% end¦ %}</description>",
        "<description syntax=\"jinja\">{% if a %}{% endif %}</description>",
    ),
    (
        "defined",
        "<description syntax=\"jinja\">{% if a is ¦ %}</description>",
        "<description syntax=\"jinja\">{% if a is defined %}</description>",
    ),
    (
        "one",
        "<description syntax=\"jinja\">{% for one in all %}{{ ¦ }}</description>",
        "<description syntax=\"jinja\">{% for one in all %}{{ one }}</description>",
    ),
    (
        "team",
        "<steps><task ref=\"triage\" as=\"v\"/><task type=\"atomic\"><description>{{v.¦}}</description></task></steps>",
        "<steps><task ref=\"triage\" as=\"v\"/><task type=\"atomic\"><description>{{v.team}}</description></task></steps>",
    ),
    (
        "severity",
        "<steps><task ref=\"triage\" as=\"v\"/><cond><case test=\"v.sev¦ == 'x'\"/></cond></steps>",
        "<steps><task ref=\"triage\" as=\"v\"/><cond><case test=\"v.severity == 'x'\"/></cond></steps>",
    ),
    (
        "v",
        "<steps><task ref=\"triage\" as=\"v\"/><cond><case test=\"¦\"/></cond></steps>",
        "<steps><task ref=\"triage\" as=\"v\"/><cond><case test=\"v\"/></cond></steps>",
    ),
    (
        "sev2",
        "<steps><task ref=\"triage\" as=\"v\"/><cond><case test=\"v.severity == '¦'\"/></cond></steps>",
        "<steps><task ref=\"triage\" as=\"v\"/><cond><case test=\"v.severity == 'sev2'\"/></cond></steps>",
    ),
    (
        "severity",
        "<steps><task ref=\"triage\" as=\"v\"/><task type=\"atomic\"><inputs><input name=\"a\" from=\"v.s¦\"/></inputs></task></steps>",
        "<steps><task ref=\"triage\" as=\"v\"/><task type=\"atomic\"><inputs><input name=\"a\" from=\"v.severity\"/></inputs></task></steps>",
    ),
    (
        "text/",
        "<description src=\"t¦\"/>",
        "<description src=\"text/\"/>",
    ),
    (
        "guide.md",
        "<description src=\"text/gu¦\"/>",
        "<description src=\"text/guide.md\"/>",
    ),
    (
        "guide.md",
        "<description src=\"text/¦other.md\"/>",
        "<description src=\"text/guide.md\"/>",
    ),
    (
        "verdict.json",
        "<output_format schema=\"¦\"/>",
        "<output_format schema=\"verdict.json\"/>",
    ),
    (
        "ctxc.toml",
        "<file_paths><path>ct¦</path></file_paths>",
        "<file_paths><path>ctxc.toml</path></file_paths>",
    ),
    (
        "triage.xml",
        "<file_paths><path>templates/¦</path></file_paths>",
        "<file_paths><path>templates/triage.xml</path></file_paths>",
    ),
    (
        "a",
        "<inputs><input name=\"a\">x</input></inputs><context_management/><context_relevance><input name=\"¦\"/></context_relevance>",
        "<inputs><input name=\"a\">x</input></inputs><context_management/><context_relevance><input name=\"a\"/></context_relevance>",
    ),
    (
        "none",
        "<context_management><inherit_context>n¦</inherit_context></context_management>",
        "<context_management><inherit_context>none</inherit_context></context_management>",
    ),
    (
        "none",
        "<context_management><inherit_context>¦full</inherit_context></context_management>",
        "<context_management><inherit_context>none</inherit_context></context_management>",
    ),
    (
        "missing-type",
        "<?ctxc allow ¦?>",
        "<?ctxc allow missing-type?>",
    ),
];

#[test]
fn what_is_taken_replaces_what_stands_there_and_repeats_nothing() {
    assert!(TAKEN.len() >= 60);
    let mut inserting = pulling();
    inserting["textDocument"]["completion"]["completionItem"]["insertReplaceSupport"] = json!(true);
    for able in [pulling(), inserting] {
        let mut client = Client::new(FILES, &able);
        let mut wrong = Vec::new();
        for (label, marked, expected) in TAKEN {
            let operator = if marked.contains("<steps") {
                "sequential"
            } else {
                "atomic"
            };
            let around = |inner: &str| {
                format!("<task type=\"{operator}\" name=\"new\">\n  {inner}\n</task>\n")
            };
            let (text, items) = offered(&mut client, &around(marked));
            let item = items.iter().find(|item| item["label"] == **label);
            match item.map(|item| accept_item(&text, item)) {
                None => wrong.push(format!("no {label} at {marked}: {:?}", labels(&items))),
                Some(found) if found != around(expected) => {
                    wrong.push(format!("{label} at {marked}: {found}"));
                }
                Some(_) => {}
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    }
}

#[test]
fn what_nothing_closes_can_be_closed() {
    let mut client = Client::new(FILES, &pulling());
    let head = "<task type=\"atomic\" name=\"new\">\n";
    let cases = [
        (
            "  <description>hi<¦\n</task>\n",
            "/description",
            "  <description>hi</description>\n</task>\n",
        ),
        (
            "  <description>hi<¦>\n</task>\n",
            "/description",
            "  <description>hi</description>\n</task>\n",
        ),
        (
            "  <parameters>\n    <¦\n</task>\n",
            "/parameters",
            "  <parameters>\n    </parameters>\n</task>\n",
        ),
        (
            "  <parameters>\n  ¦\n</task>\n",
            "/parameters",
            "  <parameters>\n  </parameters>\n</task>\n",
        ),
        (
            "  <description>d</description>\n¦",
            "/task",
            "  <description>d</description>\n</task>",
        ),
        (
            "  <description>d</description>\n<¦",
            "/task",
            "  <description>d</description>\n</task>",
        ),
    ];
    for (marked, label, expected) in cases {
        let (text, items) = offered(&mut client, &format!("{head}{marked}"));
        let item = items
            .iter()
            .find(|item| item["label"] == label)
            .unwrap_or_else(|| panic!("{marked}: {:?}", labels(&items)));
        assert_eq!(
            accept_item(&text, item),
            format!("{head}{expected}"),
            "{marked}"
        );
    }
    for closed in [
        "  <description>hi<¦</description>\n</task>\n",
        "  <parameters>\n  ¦\n  </parameters>\n</task>\n",
        "  ¦\n</task>\n",
    ] {
        let (_, items) = offered(&mut client, &format!("{head}{closed}"));
        assert!(
            labels(&items).iter().all(|label| !label.starts_with('/')),
            "{closed}: {:?}",
            labels(&items)
        );
    }
}

#[test]
fn a_root_is_completed_in_an_empty_file() {
    let mut client = Client::new(FILES, &pulling());
    let (text, items) = offered(&mut client, "¦");
    assert_eq!(labels(&items), ["task", "template", "library"]);
    assert_eq!(accept_item(&text, &items[0]), "<task></task>");
}

#[test]
fn a_filter_text_has_the_tag_that_the_word_belongs_to() {
    let mut client = Client::new(FILES, &pulling());
    let (_, items) = offered(&mut client, "<task type=\"atomic\">\n  <con¦\n</task>");
    let item = items
        .iter()
        .find(|item| item["label"] == "context_management")
        .unwrap();
    assert_eq!(item["filterText"], "<context_management");
    assert_eq!(
        item["textEdit"]["range"]["start"],
        json!({"line": 1, "character": 2})
    );
    let settings = "<task type=\"atomic\">\n  <context_management>\n    <fresh_context>¦</fresh_context>\n  </context_management>\n</task>";
    let (text, items) = offered(&mut client, settings);
    assert_eq!(items[0]["filterText"], "<fresh_context>disabled");
    assert!(accept_item(&text, &items[0]).contains("<fresh_context>disabled</fresh_context>"));
}

#[test]
fn what_is_needed_comes_first() {
    let mut client = Client::new(FILES, &pulling());
    let mut first = |marked: &str| {
        let (_, items) = offered(&mut client, marked);
        let texts: Vec<&str> = items
            .iter()
            .map(|item| item["sortText"].as_str().unwrap())
            .collect();
        assert!(texts.is_sorted());
        labels(&items)
            .into_iter()
            .take(3)
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        first("<task type=\"atomic\" name=\"a\"><¦</task>")[0],
        "description"
    );
    assert_eq!(
        first("<task type=\"reduce\" name=\"a\"><¦</task>"),
        ["description", "inputs", "inner_task"]
    );
    assert_eq!(first("<task ¦/>")[..2], ["type", "name"]);
    assert_eq!(
        first("<task type=\"atomic\"><parameters><parameter ¦/></parameters></task>")[0],
        "name"
    );
    let beside = |setting: &str, place: &str| {
        format!(
            "<task type=\"atomic\"><context_management>{setting}{place}</context_management></task>"
        )
    };
    let fresh = "<fresh_context>enabled</fresh_context>";
    assert_eq!(
        first(&beside(fresh, "<inherit_context>¦</inherit_context>"))[0],
        "none"
    );
    let inherit = "<inherit_context>full</inherit_context>";
    assert_eq!(
        first(&beside(inherit, "<fresh_context>¦</fresh_context>"))[0],
        "disabled"
    );
}

#[test]
fn what_is_offered_can_stand_at_its_place() {
    let mut client = Client::new(FILES, &pulling());
    std::fs::write(
        client.path("templates/new.xml"),
        "<task type=\"atomic\"><description>d</description></task>",
    )
    .unwrap();
    let mut at = |marked: &str| {
        let (text, items) = offered(&mut client, marked);
        (
            labels(&items)
                .into_iter()
                .map(str::to_owned)
                .collect::<Vec<_>>(),
            items.first().map(|first| accept_item(&text, first)),
        )
    };
    let steps = |inner: &str| {
        format!("<task type=\"sequential\" name=\"new\"><steps>{inner}</steps></task>")
    };
    assert_eq!(at(&steps("<task ref=\"triage\" ¦/>")).0, ["as", "trust"]);
    let schema =
        "<task type=\"atomic\" name=\"new\"><output_format type=\"json\" schema=\"¦\"/></task>";
    assert_eq!(
        at(schema).0,
        [
            "object",
            "array",
            "string[]",
            "number",
            "boolean",
            "text/",
            "verdict.json"
        ]
    );
    let (files, _) = at("<task type=\"atomic\" name=\"new\"><instructions src=\"¦\"/></task>");
    assert_eq!(files, ["short.xml", "text/", "triage.xml", "verdict.json"]);
    let (files, _) =
        at("<task type=\"atomic\" name=\"new\"><file_paths><path>¦</path></file_paths></task>");
    assert_eq!(files, ["templates/", "ctxc.toml"]);
    let text = |words: &str| {
        format!(
            "<task type=\"atomic\" name=\"new\"><parameters><parameter name=\"x\"/></parameters><description>{words}</description></task>"
        )
    };
    assert_eq!(
        at(&text("{{sh¦}}")),
        (
            vec!["x".to_owned(), "short".to_owned()],
            Some(text("{{x}}"))
        )
    );
    assert_eq!(
        at(&text("{{short(text=x, ¦)}}")),
        (
            vec!["audience".to_owned(), "x".to_owned()],
            Some(text("{{short(text=x, audience=)}}"))
        )
    );
    assert_eq!(
        at(&text("{{short(x, aud¦=x)}}")).1,
        Some(text("{{short(x, audience=x)}}"))
    );
    let condition = |words: &str| {
        steps(&format!(
            "<task ref=\"triage\" as=\"v\"/><cond><case test=\"{words}\"><task ref=\"triage\"/></case></cond>"
        ))
    };
    assert_eq!(
        at(&condition("v.severity ¦ 3")).0[..4],
        ["==", "!=", "lt", "le"]
    );
    assert_eq!(
        at(&condition("v.severity l¦e 3")).1,
        Some(condition("v.severity == 3"))
    );
    assert_eq!(at(&condition("not ¦")).0, ["v"]);
    assert_eq!(at(&condition("v.team == 'a ¦'")).0, ["v"]);
}
