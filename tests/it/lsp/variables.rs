//! Parameters, inputs and steps: their definitions, their uses, and renames of them across files.

use super::client::{Client, applied, position, pulling};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const HANDLE: &str = r#"<task type="sequential" name="handle">
  <description>handle {{ticket}}</description>
  <parameters>
    <parameter name="ticket"/>
  </parameters>
  <steps>
    <task ref="triage" as="verdict"/>
    <task type="atomic" as="answer">
      <description>answer {{ticket.body}} by {{verdict}}</description>
      <inputs><input name="why" from="verdict"/></inputs>
    </task>
    <cond as="sent">
      <case test="verdict == 'verdict' and ticket &lt; 3">
        <task type="atomic"><description src="send.md"/></task>
      </case>
    </cond>
  </steps>
</task>
"#;
const TRIAGE: &str = r#"<task type="atomic" name="triage">
  <description>sort {{ticket}} as {{ticket.kind}}</description>
  <parameters>
    <parameter name="ticket"/>
  </parameters>
</task>
"#;
const SEND: &str = "Send {{ answer }}\nfor {{ticket}}.\n";
const DIGEST: &str = r#"<library>
  <template name="summarise" params="text, words">
    <task type="atomic">
      <description syntax="jinja">{% if text %}{{ text|upper }}{% endif %} in {{ words }} 'text'</description>
    </task>
  </template>
  <task type="atomic" name="daily">
    <description>{{summarise(text='x', words=3)}}</description>
  </task>
  <fragment name="tone">write to {{reader}}</fragment>
  <task type="atomic" name="letter">
    <description>a letter</description>
    <instructions><use fragment="tone"/></instructions>
    <parameters><parameter name="reader"/></parameters>
  </task>
</library>
"#;
const CALLER: &str = r#"<task type="sequential" name="caller">
  <description>d</description>
  <steps>
    <call template="summarise"><arg name="text">long</arg><arg name="words">9</arg></call>
  </steps>
</task>
"#;
const FILES: &[(&str, &str)] = &[
    ("templates/handle.xml", HANDLE),
    ("templates/triage.xml", TRIAGE),
    ("templates/send.md", SEND),
    ("templates/digest.xml", DIGEST),
    ("templates/caller.xml", CALLER),
];

fn client() -> Client {
    let client = Client::new(FILES, &pulling());
    for (name, text) in FILES.iter().filter(|(_, text)| text.starts_with('<')) {
        client.open(name, text);
    }
    client
}

fn text(name: &str) -> &'static str {
    FILES.iter().find(|(own, _)| *own == name).unwrap().1
}

/// The places of an answer: file, line from 1, and the text there.
fn places(client: &Client, found: &Value) -> Vec<(String, u64, String)> {
    let one = |place: &Value| {
        let uri = place["uri"].as_str().unwrap();
        let name = FILES
            .iter()
            .map(|(name, _)| *name)
            .find(|name| client.uri(name) == uri)
            .unwrap();
        let (start, end) = (&place["range"]["start"], &place["range"]["end"]);
        let line = start["line"].as_u64().unwrap();
        let of = text(name).lines().nth(line as usize).unwrap();
        let word = &of[start["character"].as_u64().unwrap() as usize
            ..end["character"].as_u64().unwrap() as usize];
        (
            name.trim_start_matches("templates/").to_owned(),
            line + 1,
            word.to_owned(),
        )
    };
    found.as_array().unwrap().iter().map(one).collect()
}

fn references(client: &mut Client, name: &str, before: &str) -> Vec<(String, u64)> {
    let params = json!({"textDocument": {"uri": client.uri(name)}, "position": position(text(name), before),
        "context": {"includeDeclaration": true}});
    let found = client.ask("textDocument/references", &params);
    places(client, &found)
        .into_iter()
        .map(|(file, line, _)| (file, line))
        .collect()
}

fn rename(
    client: &mut Client,
    name: &str,
    text: &str,
    before: &str,
    new: &str,
) -> Result<Value, String> {
    let params = json!({"textDocument": {"uri": client.uri(name)}, "position": position(text, before), "newName": new});
    client
        .try_ask("textDocument/rename", &params)
        .map_err(|(code, message)| {
            assert_eq!(code, -32602, "{message}");
            message
        })
}

/// The texts after a rename.
fn renamed(
    client: &mut Client,
    name: &str,
    before: &str,
    new: &str,
) -> BTreeMap<&'static str, String> {
    let answer = rename(client, name, text(name), before, new).unwrap();
    let changes = answer["changes"].as_object().unwrap();
    assert!(
        changes
            .keys()
            .all(|uri| FILES.iter().any(|(name, _)| client.uri(name) == *uri)),
        "{changes:?}"
    );
    let made = FILES
        .iter()
        .filter_map(|(name, text)| Some((*name, applied(text, changes.get(&client.uri(name))?))));
    made.collect()
}

fn at(file: &str, lines: &[u64]) -> Vec<(String, u64)> {
    lines.iter().map(|line| (file.to_owned(), *line)).collect()
}

#[test]
fn a_parameter_is_found_in_every_task_that_takes_it_by_name() {
    let mut client = client();
    let all = [
        at("handle.xml", &[2, 4, 9, 13]),
        at("send.md", &[2]),
        at("triage.xml", &[2, 2, 4]),
    ]
    .concat();
    for (name, before) in [
        ("templates/handle.xml", "handle {{tick"),
        ("templates/handle.xml", "parameter name=\""),
        ("templates/handle.xml", "and ticket"),
        ("templates/triage.xml", "as {{ticket"),
    ] {
        assert_eq!(references(&mut client, name, before), all, "{before}");
    }
    let place = client.at(
        "textDocument/definition",
        "templates/handle.xml",
        HANDLE,
        "answer {{ticket",
    );
    assert_eq!(
        place["range"]["start"],
        position(HANDLE, "parameter name=\"")
    );
    let highlights = client.at(
        "textDocument/documentHighlight",
        "templates/triage.xml",
        TRIAGE,
        "sort {{",
    );
    let kinds: Vec<u64> = highlights
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["kind"].as_u64().unwrap())
        .collect();
    assert_eq!(kinds, [2, 2, 3]);
    // A field of a value is no variable.
    assert_eq!(
        client.at(
            "textDocument/definition",
            "templates/handle.xml",
            HANDLE,
            "ticket.bod"
        ),
        Value::Null
    );
}

#[test]
fn the_result_of_a_step_is_found_where_later_steps_say_it() {
    let mut client = client();
    assert_eq!(
        references(&mut client, "templates/handle.xml", "as=\"ver"),
        at("handle.xml", &[7, 9, 10, 13])
    );
    assert_eq!(
        references(&mut client, "templates/handle.xml", "as=\"ans"),
        [at("handle.xml", &[8]), at("send.md", &[1])].concat()
    );
    let place = client.at(
        "textDocument/definition",
        "templates/handle.xml",
        HANDLE,
        "from=\"",
    );
    assert_eq!(place["range"]["start"], position(HANDLE, "as=\""));
}

#[test]
fn a_new_name_goes_wherever_the_old_one_was() {
    let mut client = client();
    let made = renamed(&mut client, "templates/triage.xml", "sort {{", "request");
    assert_eq!(
        made.keys().copied().collect::<Vec<_>>(),
        [
            "templates/handle.xml",
            "templates/send.md",
            "templates/triage.xml"
        ]
    );
    for (name, after) in &made {
        assert_eq!(*after, text(name).replace("ticket", "request"));
    }
    let made = renamed(&mut client, "templates/handle.xml", "by {{", "ruling");
    let expected = HANDLE
        .replace("verdict", "ruling")
        .replace("'ruling'", "'verdict'");
    assert_eq!(made, BTreeMap::from([("templates/handle.xml", expected)]));
    let range = client.at(
        "textDocument/prepareRename",
        "templates/handle.xml",
        HANDLE,
        "by {{ver",
    );
    assert_eq!(
        (&range["placeholder"], &range["range"]["start"]),
        (&json!("verdict"), &position(HANDLE, "by {{"))
    );
}

#[test]
fn parameters_of_templates_and_arguments_of_calls_change_together() {
    let mut client = client();
    let expected = [at("caller.xml", &[4]), at("digest.xml", &[2, 4, 4, 8])].concat();
    for (name, before) in [
        ("templates/digest.xml", "params=\"te"),
        ("templates/digest.xml", "{% if te"),
        ("templates/digest.xml", "summarise(te"),
        ("templates/caller.xml", "<arg name=\"te"),
    ] {
        assert_eq!(references(&mut client, name, before), expected, "{before}");
    }
    let made = renamed(&mut client, "templates/caller.xml", "<arg name=\"", "body");
    assert_eq!(
        made["templates/caller.xml"],
        CALLER.replace("\"text\"", "\"body\"")
    );
    let digest = DIGEST
        .replace("params=\"text", "params=\"body")
        .replace("if text", "if body")
        .replace("{{ text", "{{ body")
        .replace("(text=", "(body=");
    assert_eq!(made["templates/digest.xml"], digest);
}

#[test]
fn fragments_say_the_names_of_who_uses_them() {
    let mut client = client();
    assert_eq!(
        references(&mut client, "templates/digest.xml", "<parameter name=\"rea"),
        at("digest.xml", &[10, 14])
    );
    let place = client.at(
        "textDocument/definition",
        "templates/digest.xml",
        DIGEST,
        "write to {{rea",
    );
    assert_eq!(
        place["range"]["start"],
        position(DIGEST, "<parameter name=\"")
    );
}

#[test]
fn names_that_would_clash_or_are_none_are_refused() {
    let mut client = client();
    let path = "templates/handle.xml";
    for (before, new, why) in [
        ("handle {{", "two words", "cannot be a variable"),
        ("handle {{", "", "cannot be a variable"),
        ("handle {{", "1st", "cannot be a variable"),
        ("handle {{", "a.b", "cannot be a variable"),
        (
            "as=\"",
            "ticket",
            "another parameter is named `ticket` already, at templates/handle.xml:4",
        ),
        (
            "handle {{",
            "sent",
            "another result of a step is named `sent` already, at templates/handle.xml:12",
        ),
        (
            "handle {{",
            "and",
            "there would be a new finding at templates/handle.xml",
        ),
        ("as=\"", "why", "another input is named `why` already"),
        (
            "name=\"wh",
            "verdict",
            "another result of a step is named `verdict` already",
        ),
        ("steps>", "x", "there is no name to change here"),
    ] {
        let refused = rename(&mut client, path, HANDLE, before, new);
        let message = refused.expect_err(&format!("{before} {new}"));
        assert!(message.contains(why), "{new}: {message}");
    }
    let in_loop = r#"<task type="director_evaluator_loop" name="l">
  <description>d</description>
  <director><description>d</description></director>
  <evaluator><description>judge {{director_result}}</description></evaluator>
  <script_execution><command>true</command></script_execution>
</task>
"#;
    client.open("templates/l.xml", in_loop);
    let message = rename(&mut client, "templates/l.xml", in_loop, "{{dir", "x").unwrap_err();
    assert!(message.contains("a name of the language"), "{message}");
    let hidden = "<task type=\"atomic\" name=\"h\">\n  <description>{{who}} {{&#119;ho}}</description>\n</task>\n";
    client.open("templates/h.xml", hidden);
    let message = rename(&mut client, "templates/h.xml", hidden, "{{w", "x").unwrap_err();
    assert!(
        message.contains("character references at templates/h.xml:2:"),
        "{message}"
    );
}

#[test]
fn a_text_that_others_pull_in_too_keeps_its_names() {
    let mut client = client();
    let other = "<task type=\"atomic\" name=\"other\">\n  <description src=\"send.md\"/>\n  <parameters><parameter name=\"ticket\"/><parameter name=\"answer\"/></parameters>\n</task>\n";
    client.open("templates/other.xml", other);
    let message = rename(
        &mut client,
        "templates/handle.xml",
        HANDLE,
        "handle {{",
        "request",
    )
    .unwrap_err();
    assert!(
        message.contains("there would be a new finding at templates/other.xml:"),
        "{message}"
    );
    // An unsaved file counts; a removed one does not.
    client.close("templates/other.xml");
    assert!(
        rename(
            &mut client,
            "templates/handle.xml",
            HANDLE,
            "handle {{",
            "request"
        )
        .is_ok()
    );
}

#[test]
fn what_is_not_saved_is_renamed_as_it_stands_in_the_editor() {
    let mut client = client();
    let longer = TRIAGE.replace(
        "sort {{ticket}}",
        "first of all, sort {{ticket}}, {{ticket}}",
    );
    client.replace("templates/triage.xml", 2, &longer);
    let answer = rename(
        &mut client,
        "templates/handle.xml",
        HANDLE,
        "handle {{",
        "request",
    )
    .unwrap();
    let uri = client.uri("templates/triage.xml");
    assert_eq!(
        applied(&longer, &answer["changes"][&uri]),
        longer.replace("ticket", "request")
    );
}

#[test]
fn a_task_that_is_named_by_its_file_gets_its_new_name_written() {
    let bare = "<task type=\"atomic\">\n  <description>d</description>\n</task>\n";
    let user = "<task type=\"sequential\" name=\"u\"><description>d</description><steps><task ref=\"bare\"/></steps></task>";
    let mut client = Client::new(
        &[("templates/bare.xml", bare), ("templates/u.xml", user)],
        &pulling(),
    );
    client.open("templates/u.xml", user);
    let answer = rename(&mut client, "templates/u.xml", user, "ref=\"", "plain").unwrap();
    let after = applied(bare, &answer["changes"][client.uri("templates/bare.xml")]);
    assert_eq!(after, bare.replace("<task ", "<task name=\"plain\" "));
}

#[test]
fn names_that_the_language_gives_lead_to_the_parts_that_they_come_from() {
    let text = r#"<task type="director_evaluator_loop" name="l">
  <description>d</description>
  <director><description>again, {{evaluation_feedback}}</description></director>
  <evaluator><description>judge {{director_result}}, {{director_result.text}}</description></evaluator>
  <max_iterations>3</max_iterations>
  <termination_condition><condition>evaluation.success and current_iteration gt 1</condition></termination_condition>
</task>
"#;
    let mut client = Client::new(&[], &pulling());
    client.open("templates/l.xml", text);
    for (before, part) in [
        ("{{dir", "  <director"),
        ("{{eval", "  <evaluator"),
        ("<condition>eval", "  <evaluator"),
        ("and curr", "  <max_iterations"),
    ] {
        let place = client.at("textDocument/definition", "templates/l.xml", text, before);
        assert_eq!(
            place["range"]["end"],
            position(text, part),
            "{before}: {place}"
        );
    }
    let highlights = client.at(
        "textDocument/documentHighlight",
        "templates/l.xml",
        text,
        "{{dir",
    );
    let lines: Vec<u64> = highlights
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["range"]["start"]["line"].as_u64().unwrap())
        .collect();
    assert_eq!(lines, [2, 3, 3]);
    let refused = client.try_ask(
        "textDocument/prepareRename",
        &json!({"textDocument": {"uri": client.uri("templates/l.xml")}, "position": position(text, "{{dir")}),
    );
    assert!(refused.unwrap_err().1.contains("a name of the language"));
}
