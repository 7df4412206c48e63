//! The meaning of a name or a word: beside completions and on hover; and nothing wrong is offered.

use super::client::{Client, plain};
use ctxc::internals::settings::operators::Operator;
use ctxc::internals::template::element_specs;
use ctxc::internals::template::setting::{SettingName, Word};
use pretty_assertions::assert_eq;
use serde_json::Value;

const TRIAGE: &str = r#"<task type="atomic" name="triage">
  <description>Sort the ticket {{subject}} by
    how urgent it is.</description>
  <parameters>
    <parameter name="subject" type="string" required="true"/>
    <parameter name="depth" type="integer" default="3"/>
  </parameters>
</task>
"#;
const SHARED: &str = r#"<library>
  <template name="twice" params="word, times" returns="string">
    <task type="atomic">
      <description>say {{word}} {{times}} times</description>
      <parameters>
        <parameter name="word" type="string" required="true"/>
        <parameter name="times" type="integer" default="2"/>
      </parameters>
    </task>
  </template>
  <fragment name="tone">Be short and kind.</fragment>
</library>
"#;
const NEW: &str = r#"<task type="sequential" name="new">
  <description>answer {{subject}} {{loose}}</description>
  <steps>
    <task ref="triage" as="sorted"/>
    <call template="twice" as="said"><arg name="word" from="sorted"/></call>
    <task type="atomic" subtype="subtask" as="last">
      <description>from {{ sorted }} and {{copy}} <use fragment="tone"/></description>
      <inputs>
        <input name="copy" from="said"/>
      </inputs>
      <context_management>
        <inherit_context>none</inherit_context>
      </context_management>
    </task>
  </steps>
</task>
"#;
const PATH: &str = "templates/new.xml";

fn client() -> Client {
    let project = "[operators.audit]\nbase = \"sequential\"\n";
    let files = [
        ("ctxc.toml", project),
        ("templates/triage.xml", TRIAGE),
        ("templates/shared.xml", SHARED),
        (
            "templates/user.xml",
            "<task type=\"sequential\" name=\"user\"><description>d</description><steps><task ref=\"new\"/></steps></task>\n",
        ),
        (PATH, NEW),
    ];
    let mut able = plain();
    able["textDocument"]["completion"]["completionItem"]["documentationFormat"] =
        serde_json::json!(["markdown"]);
    let client = Client::new(&files, &able);
    client.open(PATH, NEW);
    client
}

/// The completions at `|`: label, detail and documentation.
fn offered(client: &mut Client, marked: &str) -> Vec<(String, String, String)> {
    let (before, after) = marked.split_once('|').unwrap();
    let text = format!("{before}{after}");
    client.replace(PATH, 2, &text);
    let items = client.at("textDocument/completion", PATH, &text, before);
    let word = |value: &Value| value.as_str().unwrap_or("").to_owned();
    let one = |item: &Value| {
        (
            word(&item["label"]),
            word(&item["detail"]),
            word(&item["documentation"]["value"]),
        )
    };
    items.as_array().unwrap().iter().map(one).collect()
}

fn hover(client: &mut Client, before: &str) -> String {
    let hover = client.at("textDocument/hover", PATH, NEW, before);
    hover["contents"]["value"].as_str().unwrap_or("").to_owned()
}

fn within(body: &str) -> String {
    format!(
        "<task type=\"sequential\" name=\"new\">\n  <description>d</description>\n{body}\n</task>\n"
    )
}

#[test]
fn every_word_of_the_language_is_offered_with_what_it_means() {
    for spec in element_specs::table_rows() {
        for attribute in spec.kind.attributes() {
            let meant: Vec<_> = attribute
                .allowed_words()
                .iter()
                .map(|word| attribute.word_meaning(word))
                .collect();
            assert!(
                meant.iter().all(|meaning| meaning.is_some_and(is_sentence)),
                "{} {}: {meant:?}",
                spec.tag,
                attribute.name
            );
        }
    }
    for setting in SettingName::ALL {
        assert_eq!(setting.allowed_words().len(), setting.meanings().len());
        assert!(
            setting.meanings().iter().copied().all(is_sentence),
            "{}",
            setting.word()
        );
    }
    assert!(
        Operator::ALL
            .iter()
            .map(|operator| operator.doc())
            .all(is_sentence)
    );
    let mut client = client();
    let places = [
        "<task type=\"|\"/>".to_owned(),
        "<task type=\"atomic\" subtype=\"|\"/>".to_owned(),
        within("<parameters><parameter name=\"a\" type=\"|\"/></parameters>"),
        within("<parameters><parameter name=\"a\" required=\"|\"/></parameters>"),
        within("<context_management><inherit_context>|</inherit_context></context_management>"),
        within("<context_management><accumulate_data>|</accumulate_data></context_management>"),
        within("<file_paths source=\"|\"/>"),
        within("<instructions syntax=\"|\"/>"),
        within("<steps><task ref=\"|\"/></steps>"),
        within("<steps><call template=\"|\"/></steps>"),
        within("<instructions><use fragment=\"|\"/></instructions>"),
    ];
    for place in places {
        let offered = offered(&mut client, &place);
        assert!(!offered.is_empty(), "{place}");
        assert!(
            offered.iter().all(|(_, _, doc)| is_sentence(doc)),
            "{place}: {offered:?}"
        );
    }
}

fn is_sentence(text: &str) -> bool {
    text.split(' ').count() > 1 || matches!(text, "seconds" | "milliseconds")
}

#[test]
fn types_subtypes_and_definitions_are_offered_with_what_they_do() {
    let mut client = client();
    let of = |found: &[(String, String, String)], label: &str| {
        found
            .iter()
            .find(|(own, ..)| own == label)
            .map(|(_, detail, doc)| format!("{detail}|{doc}"))
            .unwrap()
    };
    let types = offered(&mut client, "<task type=\"|\"/>");
    assert_eq!(
        of(&types, "sequential"),
        "|steps, one after the other\n\nby default: inherit_context `full`, accumulate_data `true`, accumulation_format `notes_only`, fresh_context `disabled`"
    );
    assert!(
        of(&types, "audit")
            .starts_with("|a type of this project, built on `sequential`: steps, one"),
        "{types:?}"
    );
    let subtypes = offered(&mut client, "<task type=\"atomic\" subtype=\"|\"/>");
    assert!(
        of(&subtypes, "subtask")
            .starts_with("|sets inherit_context to `none`, fresh_context to `enabled` ("),
        "{subtypes:?}"
    );
    assert!(
        of(&subtypes, "director")
            .starts_with("|keeps the settings of `atomic`: inherit_context `full`"),
        "{subtypes:?}"
    );
    let tasks = offered(&mut client, &within("<steps><task ref=\"|\"/></steps>"));
    assert_eq!(
        of(&tasks, "triage"),
        "templates/triage.xml|Sort the ticket {{subject}} by how urgent it is.\n\nparameters: `subject` string, required; `depth` integer, optional, default `3`\n\ntype `atomic`: inherit_context `full`, fresh_context `disabled`"
    );
    let templates = offered(
        &mut client,
        &within("<steps><call template=\"|\"/></steps>"),
    );
    assert_eq!(
        of(&templates, "twice"),
        "templates/shared.xml|say {{word}} {{times}} times\n\nparameters: `word` string, required; `times` integer, optional, default `2`\n\nreturns: `string`\n\ntype `atomic`: inherit_context `full`, fresh_context `disabled`"
    );
    let fragments = offered(
        &mut client,
        &within("<instructions><use fragment=\"|\"/></instructions>"),
    );
    assert_eq!(
        of(&fragments, "tone"),
        "templates/shared.xml|Be short and kind."
    );
    // The summary of a definition follows its text.
    let changed = TRIAGE.replace("Sort", "Rank");
    client.open("templates/triage.xml", &changed);
    let tasks = offered(&mut client, &within("<steps><task ref=\"|\"/></steps>"));
    assert!(
        of(&tasks, "triage").contains("Rank the ticket"),
        "{tasks:?}"
    );
}

#[test]
fn what_would_be_wrong_is_not_offered() {
    let mut client = client();
    let labels = |client: &mut Client, marked: &str| -> Vec<String> {
        offered(client, marked)
            .into_iter()
            .map(|(label, ..)| label)
            .collect()
    };
    // Neither the task itself nor one with a reference back to it.
    assert_eq!(
        labels(&mut client, &within("<steps><task ref=\"|\"/></steps>")),
        ["triage"]
    );
    let inputs = within(
        "<parameters><parameter name=\"given\"/></parameters><inputs><input name=\"a\" from=\"given\"/><input name=\"b\" from=\"|\"/></inputs>",
    );
    assert_eq!(labels(&mut client, &inputs), ["a", "given"]);
    // A result exists once its step has run; a name declared inside a step stays there.
    let steps = within(
        "<steps><task as=\"one\"><description>d</description><inputs><input name=\"inner\">x</input></inputs></task>\
         <task as=\"two\"><description>{{|}}</description></task><task as=\"three\"><description>d</description></task></steps>",
    );
    assert_eq!(labels(&mut client, &steps), ["one", "twice"]);
    let reduce = "<task type=\"reduce\" name=\"new\"><description>d</description><inner_task><description>{{|}}</description></inner_task></task>";
    assert_eq!(labels(&mut client, reduce), ["current_input", "twice"]);
}

#[test]
fn hover_reports_what_a_name_stands_for() {
    let mut client = client();
    let cases: &[(&str, &[&str])] = &[
        (
            "<task type=\"seq",
            &[
                "`sequential` — steps, one after the other",
                "by default: inherit_context `full`",
                "`type` — the kind",
            ],
        ),
        (
            "<task type=\"atomic\" subtype=\"sub",
            &["`subtask` — sets inherit_context to `none`"],
        ),
        (
            "<inherit_context>no",
            &[
                "`none` — the task sees nothing of its parent's context",
                "**inherit_context** `none` — written here",
            ],
        ),
        (
            "<task ref=\"tri",
            &[
                "task `triage` in `templates/triage.xml`",
                "Sort the ticket {{subject}}",
                "`depth` integer, optional",
                "`ref` — use",
            ],
        ),
        (
            "<call template=\"tw",
            &[
                "template `twice` in `templates/shared.xml`",
                "`times` integer, optional, default `2`",
            ],
        ),
        (
            "<use fragment=\"to",
            &[
                "fragment `tone` in `templates/shared.xml`",
                "Be short and kind.",
            ],
        ),
        (
            "{{ sor",
            &[
                "`sorted` — result of step 1 of task `new`: task `triage`",
                "Sort the ticket",
                "`templates/new.xml:4`",
            ],
        ),
        (
            "{{co",
            &[
                "`copy` — input of a task in this place: the value of `said`",
                "`templates/new.xml:9`",
            ],
        ),
        (
            "from=\"sai",
            &[
                "`said` — result of step 2 of task `new`: a call of `twice`",
                "say {{word}} {{times}} times",
            ],
        ),
        ("{{loo", &["`loose` — nothing in task `new` declares it"]),
        (
            "<arg name=\"wo",
            &["`word` — parameter of template `twice`"],
        ),
    ];
    for (before, expected) in cases {
        let before = NEW
            .split_once(before)
            .map(|(head, _)| format!("{head}{before}"))
            .unwrap();
        let text = hover(&mut client, &before);
        for words in *expected {
            assert!(text.contains(words), "{words} in {text:?}");
        }
    }
    client.open("templates/triage.xml", TRIAGE);
    let expected = |client: &mut Client, text: &str, before: &str| {
        client.at("textDocument/hover", "templates/triage.xml", text, before)["contents"]["value"]
            .to_string()
    };
    let text = expected(
        &mut client,
        TRIAGE,
        "<task type=\"atomic\" name=\"triage\">\n  <description>Sort the ticket {{sub",
    );
    assert!(
        text.contains("`subject` — parameter of task `triage`: string, required"),
        "{text}"
    );
    let looped = "<task type=\"reduce\" name=\"r\"><description>d</description><inputs><input name=\"i\">x</input></inputs>\
                  <inner_task><description>{{current_input}}</description></inner_task>\
                  <reduction_task><description>{{accumulator}}</description></reduction_task></task>";
    client.replace("templates/triage.xml", 2, looped);
    let text = expected(
        &mut client,
        looped,
        looped.split_once("_input}}").unwrap().0,
    );
    assert!(
        text.contains("`current_input` — the input of this round"),
        "{text}"
    );
}
