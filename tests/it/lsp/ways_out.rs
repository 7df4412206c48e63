//! Every way out that is offered, of every example of every rule: it makes its finding go, brings no new error, and deletes no word of
//! an author.

use super::client::{Client, applied, pulling};
use ctxc::internals::base::rule_meta::Example;
use ctxc::internals::rules::list;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

const PATH: &str = "templates/example.xml";

/// How often each code was found; those of errors alone.
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

/// The words of texts and values, but for those of the language.
fn words(text: &str) -> BTreeSet<String> {
    let own = ["true", "false", "full", "none", "subset", "enabled", "disabled", "notes_only", "full_output", "atomic"];
    let mut found = BTreeSet::new();
    for (at, piece) in text.split(['<', '>']).enumerate() {
        // Of a tag what stands in quotes.
        let parts: Vec<&str> = if at % 2 == 1 { piece.split('"').skip(1).step_by(2).collect() } else { vec![piece] };
        let words = parts.iter().flat_map(|part| part.split(|c: char| !c.is_alphanumeric() && c != '_'));
        found.extend(words.filter(|word| word.len() > 2 && !own.contains(word)).map(str::to_owned));
    }
    found
}

/// What no example has.
const SLIPS: [&str; 9] = [
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

#[test]
fn every_way_out_leads_out() {
    let mut wrong = Vec::new();
    let mut tried = 0;
    let slips = SLIPS.map(|template| ("slips", Example { template, project: "" }));
    let examples = list::all().flat_map(|rule| rule.meta.bad().into_iter().map(|example| (rule.meta.name, example)));
    for (name, example) in examples.chain(slips).filter(|(_, example)| !example.template.is_empty()) {
        let mut files = example.project_files();
        files.push((PATH, example.template));
        let mut client = Client::new(&files, &pulling());
        let text = example.template;
        client.open(PATH, text);
        let (before, errors) = counted(&client.pull(PATH));
        let everything = json!({"start": {"line": 0, "character": 0}, "end": {"line": 999, "character": 0}});
        let params = json!({"textDocument": {"uri": client.uri(PATH)}, "range": everything,
                "context": {"diagnostics": [], "only": ["quickfix"]}});
        let actions = client.ask("textDocument/codeAction", &params);
        for (version, action) in (2..).zip(actions.as_array().unwrap()) {
            let edits = &action["edit"]["changes"][client.uri(PATH)];
            let after = applied(text, edits);
            client.replace(PATH, version, &after);
            let found = client.pull(PATH);
            let (all, left) = counted(&found);
            let code = action["diagnostics"][0]["code"].as_str().unwrap();
            let what = format!("{}: {code} {}\n{text}--->\n{after}", name, action["title"]);
            tried += 1;
            if all.get(code) >= before.get(code) {
                wrong.push(format!("still there: {what}"));
            }
            let hid = code.starts_with("CTX0");
            if let Some((new, _)) = left.iter().find(|(code, count)| !hid && errors.get(*code).is_none_or(|had| had < *count)) {
                let new = found.iter().find(|one| one["code"] == **new).unwrap();
                wrong.push(format!("new error {}: {}: {what}", new["code"], new["message"]));
            }
            let is_deletion = edits.as_array().unwrap().iter().all(|edit| edit["newText"] == "");
            let lost: Vec<String> = words(text).difference(&words(&after)).cloned().collect();
            // The name of what nobody reads, a namespace, and why something is allowed that is not there say nothing to an agent.
            let is_text = !["CTX316", "CTX101", "CTX190"].contains(&code);
            if is_deletion && is_text && !lost.is_empty() {
                wrong.push(format!("lost {lost:?}: {what}"));
            }
        }
        client.end();
    }
    assert!(wrong.is_empty(), "{} of {tried}:\n{}", wrong.len(), wrong.join("\n\n"));
    assert!(tried > 200, "{tried}");
}
