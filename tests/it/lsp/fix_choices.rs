//! Every offered way out, of every example of every rule, in templates, scenarios and the project
//! file: it removes its finding, brings no new error, and deletes no word of an author.

use super::client::{Client, applied, pulling};
use crate::support::examples::{RuleExample, RuleExamples as _};
use ctxc::internals::rules::list;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

const PATH: &str = "templates/example.xml";

/// The number of findings of each code; the same of errors alone.
fn counted(found: &[Value]) -> (BTreeMap<String, usize>, BTreeMap<String, usize>) {
    let (mut all, mut errors) = (BTreeMap::new(), BTreeMap::new());
    for one in found {
        let code = one["code"].as_str().unwrap().to_owned();
        if one["severity"] == 1 {
            *errors.entry(code.clone()).or_default() += 1;
        }
        *all.entry(code).or_default() += 1;
    }
    (all, errors)
}

/// The words of texts and values, except those of the language.
fn words(text: &str) -> BTreeSet<String> {
    let own = [
        "true",
        "false",
        "full",
        "none",
        "subset",
        "enabled",
        "disabled",
        "notes_only",
        "full_output",
        "atomic",
    ];
    let mut found = BTreeSet::new();
    for (at, piece) in text.split(['<', '>']).enumerate() {
        // Of a tag only the text in quotes.
        let parts: Vec<&str> = if at % 2 == 1 {
            piece.split('"').skip(1).step_by(2).collect()
        } else {
            vec![piece]
        };
        let words = parts
            .iter()
            .flat_map(|part| part.split(|c: char| !c.is_alphanumeric() && c != '_'));
        found.extend(
            words
                .filter(|word| word.len() > 2 && !own.contains(word))
                .map(str::to_owned),
        );
    }
    found
}

/// Mistakes that no example has.
const MISTAKES: [&str; 13] = [
    "<!DOCTYPE task [<!-- mine -->]>\n<task type=\"atomic\" name=\"a\"><description>d</description></task>\n",
    "<task type=\"atomic\" name=\"a\">\n  <description>d</description>\n  <system trust=\"untrusted\">Be kind.</system>\n</task>\n",
    "<task type=\"atomic\" name=\"a\">\n  <description>d</description>\n  <output_slot>the answer</output_slot>\n  <input_source>the mail</input_source>\n  <continuation_policy>go on</continuation_policy>\n</task>\n",
    "<task type=\"sequential\" name=\"a\">\n  <description>d</description>\n  <steps>\n    <task as=\"one\"><description>e</description><output_slot>other</output_slot></task>\n  </steps>\n</task>\n",
    "<task type=\"atomic\" name=\"a\">\n  <description>d</description>\n  <context_relevance>\n    <input name=\"b\">c</input>\n  </context}}relevance>\n  <inputs>\n    <input name=\"b\">x</input>\n  </inputs>\n</task>\n",
    "<task type=\"atomic\" name=\"a\">\n  <description>d</description>\n  <parameters>\n    <parameter/>\n  </parameters>\n</task>\n",
    "<task type=\"sequential\" name=\"a\">\n  <description>d</description>\n  <steps/>\n</task>\n",
    "<task type=\"sequential\" name=\"a\"><description>d</description><steps></steps></task>\n",
    "<task type=\"reduce\" name=\"a\"/>\n",
    "<task type=\"reduce\" name=\"a\">\n  <description>d</description>\n  <inputs/>\n</task>\n",
    "<task type=\"script\" name=\"a\"><description>d</description></task>\n",
    "<library>\n  <task type=\"atomic\" name=\"inner\">\n    <description>{{x}} {{y}}</description>\n  </task>\n  <task type=\"sequential\" name=\"a\">\n    <description>d</description>\n    <steps>\n      <task ref=\"inner\"/>\n    </steps>\n  </task>\n</library>\n",
    "<library>\n  <task type=\"atomic\" name=\"inner\">\n    <description>{{x}} {{y}}</description>\n  </task>\n  <task type=\"sequential\" name=\"a\">\n    <description>{{z}}</description>\n    <parameters>\n      <parameter name=\"z\"/>\n    </parameters>\n    <steps>\n      <task ref=\"inner\"/>\n    </steps>\n  </task>\n</library>\n",
];

/// Every compiled example, with the name of its rule.
fn all_examples() -> impl Iterator<Item = (&'static str, RuleExample)> {
    let mistakes = MISTAKES.map(|template| {
        (
            "mistakes",
            RuleExample {
                template,
                project: "",
            },
        )
    });
    list::all_rules()
        .flat_map(|rule| {
            rule.meta
                .bad_examples()
                .into_iter()
                .map(|example| (rule.meta.name, example))
        })
        .chain(mistakes)
}

/// The offered ways out of a file, each with the code of its finding and the file afterwards.
fn ways_out(client: &mut Client, path: &str, text: &str) -> Vec<(String, Value, String)> {
    let everything =
        json!({"start": {"line": 0, "character": 0}, "end": {"line": 999, "character": 0}});
    let params = json!({"textDocument": {"uri": client.uri(path)}, "range": everything,
            "context": {"diagnostics": [], "only": ["quickfix"]}});
    let actions = client.ask("textDocument/codeAction", &params);
    let one = |action: &Value| {
        let edits = action["edit"]["changes"][client.uri(path)].clone();
        (
            action["diagnostics"][0]["code"]
                .as_str()
                .unwrap()
                .to_owned(),
            action.clone(),
            applied(text, &edits),
        )
    };
    actions.as_array().unwrap().iter().map(one).collect()
}

#[test]
fn every_way_out_leads_out() {
    let mut wrong = Vec::new();
    let mut tried = BTreeMap::<&str, usize>::new();
    for (name, example) in all_examples() {
        let mut files = example.project_files();
        files.push((PATH, example.template));
        files.retain(|(_, text)| !text.is_empty());
        let mut client = Client::new(&files, &pulling());
        let files = files.iter().filter(|(path, _)| {
            [".xml", ".toml", ".yaml"]
                .iter()
                .any(|end| path.ends_with(end))
        });
        for &(path, text) in files {
            client.open(path, text);
            let (before, errors) = counted(&client.pull(path));
            for (version, (code, action, after)) in (2..).zip(ways_out(&mut client, path, text)) {
                let edits = &action["edit"]["changes"][client.uri(path)];
                client.replace(path, version, &after);
                let found = client.pull(path);
                let (all, left) = counted(&found);
                let what = format!("{}: {code} {}\n{text}--->\n{after}", name, action["title"]);
                *tried.entry(path.rsplit('.').next().unwrap()).or_default() += 1;
                if all.get(&code) >= before.get(&code) {
                    wrong.push(format!("still there: {what}"));
                }
                // A part that could not be read hid its own faults.
                let hid = code.starts_with("CTX0") || code == "CTX504";
                if let Some((new, _)) = left
                    .iter()
                    .find(|(code, count)| !hid && errors.get(*code).is_none_or(|had| had < *count))
                {
                    let new = found.iter().find(|one| one["code"] == **new).unwrap();
                    wrong.push(format!(
                        "new error {}: {}: {what}",
                        new["code"], new["message"]
                    ));
                }
                let is_deletion = edits
                    .as_array()
                    .unwrap()
                    .iter()
                    .all(|edit| edit["newText"] == "");
                let lost: Vec<String> = words(text).difference(&words(&after)).cloned().collect();
                // Some texts never reach an agent: an unused name, the name of a branch or of a
                // namespace, the reason of an allowance without a finding, and a level without
                // effect; a tag that becomes text counts as another one here.
                let is_text = ![
                    "CTX017", "CTX316", "CTX101", "CTX190", "CTX510", "CTX511", "CTX520",
                ]
                .contains(&&*code);
                let is_much = lost.len() > 1 && !hid && code != "CTX102";
                if is_text && (is_much || is_deletion && !lost.is_empty()) {
                    wrong.push(format!("lost {lost:?}: {what}"));
                }
            }
            client.close(path);
        }
        client.end();
    }
    assert!(
        wrong.is_empty(),
        "{} of {tried:?}:\n{}",
        wrong.len(),
        wrong.join("\n\n")
    );
    assert!(
        tried["xml"] > 200 && tried["toml"] > 20 && tried["yaml"] > 10,
        "{tried:?}"
    );
}

#[test]
fn no_way_out_takes_a_comment() {
    let mut wrong = Vec::new();
    let mut tried = 0;
    for (name, example) in all_examples() {
        let planted = |(path, text): (&'static str, &'static str)| {
            let is_xml = path.contains(".xml");
            let text = if is_xml {
                text.replace('>', "><!-- kept -->")
            } else {
                text.replace('\n', " # kept\n")
            };
            (path, text)
        };
        let files: Vec<(&str, String)> = example
            .project_files()
            .into_iter()
            .chain([(PATH, example.template)])
            .map(planted)
            .collect();
        let files: Vec<(&str, &str)> = files
            .iter()
            .map(|(path, text)| (*path, text.as_str()))
            .collect();
        let mut client = Client::new(&files, &pulling());
        for &(path, text) in files.iter().filter(|(path, _)| {
            [".xml", ".toml", ".yaml"]
                .iter()
                .any(|end| path.ends_with(end))
        }) {
            client.open(path, text);
            for (code, action, after) in ways_out(&mut client, path, text) {
                tried += 1;
                if after.matches("kept").count() < text.matches("kept").count() {
                    wrong.push(format!(
                        "{name}: {code} {}\n{text}--->\n{after}",
                        action["title"]
                    ));
                }
            }
            client.close(path);
        }
        client.end();
    }
    assert!(
        wrong.is_empty(),
        "{} of {tried}:\n{}",
        wrong.len(),
        wrong.join("\n\n")
    );
    assert!(tried > 150, "{tried}");
}
