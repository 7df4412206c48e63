//! Selected words become a fragment, and the agent reads what it read before.

use super::client::{Client, applied, plain, position};
use crate::assembly::shipped::{Here, agents};
use ctxc::internals::context::assemble::assemble;
use ctxc::internals::context::context_source::Fixtures;
use ctxc::internals::context::options::Options;
use ctxc::internals::context::request::Request;
use ctxc::{Config, compile_sources};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// A client that makes files and knows versions.
fn client(files: &[(&str, &str)]) -> Client {
    let mut able = plain();
    able["workspace"]["workspaceEdit"] = json!({"documentChanges": true, "resourceOperations": ["create"]});
    Client::new(files, &able)
}

/// The offer for the words between two places of a text.
fn offered(client: &mut Client, name: &str, text: &str, words: &str) -> Option<Value> {
    let before = text.split(words).next().unwrap();
    client.open(name, text);
    let range = json!({"start": position(text, before), "end": position(text, &format!("{before}{words}"))});
    let context = json!({"diagnostics": [], "only": ["refactor"]});
    let params = json!({"textDocument": {"uri": client.uri(name)}, "range": range, "context": context});
    let actions = client.ask("textDocument/codeAction", &params);
    client.close(name);
    actions.as_array().unwrap().first().cloned()
}

/// What every task of these files says, fragments in their places.
fn said(files: &[(&str, &str)]) -> String {
    let built = compile_sources(&Config::default(), files.iter().copied());
    let registry = built.registry.unwrap_or_else(|| panic!("{:?} {files:?}", built.diagnostics));
    let agents = agents(&registry);
    let mut out = String::new();
    for (task, node) in agents {
        let inputs = BTreeMap::from([("x".to_owned(), json!("given"))]);
        let inputs = if registry.find(&task).unwrap().parameters().unwrap().is_empty() { BTreeMap::new() } else { inputs };
        let source = Fixtures(Vec::new());
        let request = Request { node: &node, inputs: &inputs, files: &Here, source: &source, ..Request::new(&task) };
        let made = assemble(&registry, &request, &Options::default()).unwrap();
        for message in &made.messages {
            let _ = writeln!(out, "{task}, {:?}: {}", message.speaker, message.text.text());
        }
    }
    out
}

const TASK: &str = "<task type=\"atomic\" name=\"a\">\n  <description>Be kind. Answer {{x}} &amp; be brief.</description>\n  \
    <instructions>\n    One.\n      - two\n    Three {{x}}.\n  </instructions>\n  <system>Plain <!-- not this --> words</system>\n</task>";

#[test]
fn selected_words_become_a_fragment_and_nothing_else_changes() {
    let library = format!("<library>\n{TASK}\n<fragment name=\"shared-text\">taken</fragment>\n</library>\n");
    let whole = "One.\n      - two\n    Three {{x}}.";
    for words in ["Be kind.", " Answer {{x}} ", "&amp; be brief", whole] {
        let mut client = client(&[("ctxc.toml", "")]);
        let action = offered(&mut client, "templates/a.xml", &library, words).unwrap_or_else(|| panic!("{words}"));
        assert_eq!(action["title"], "move the selected words into the fragment `shared-text-2`");
        let after = applied(&library, &action["edit"]["documentChanges"][0]["edits"]);
        assert!(after.contains("<use fragment=\"shared-text-2\"/>"), "{after}");
        assert_eq!(said(&[("a.xml", &after)]), said(&[("a.xml", &library)]), "{after}");
        // A file of one task has its fragment beside it.
        let action = offered(&mut client, "templates/sub/a.xml", TASK, words).unwrap();
        let changes = action["edit"]["documentChanges"].as_array().unwrap();
        assert_eq!(
            (&changes[0]["kind"], &changes[0]["uri"]),
            (&json!("create"), &json!(client.uri("templates/sub/shared-text.xml")))
        );
        let made = changes[1]["edits"][0]["newText"].as_str().unwrap();
        let after = applied(TASK, &changes[2]["edits"]);
        assert_eq!(said(&[("a.xml", &after), ("b.xml", made)]), said(&[("a.xml", TASK)]), "{after}\n{made}");
        client.leave();
    }
}

#[test]
fn what_cannot_be_moved_whole_is_not_offered() {
    let mut client = client(&[("ctxc.toml", "")]);
    for words in [
        "x}} &amp;",
        "amp; be",
        "Answer {",
        "One.\n      - two",
        "not this",
        "Plain <!-- not",
        "\"atomic\" name",
        "kind. Answer {{x",
    ] {
        assert_eq!(offered(&mut client, "templates/a.xml", TASK, words), None, "{words}");
    }
    let jinja = TASK.replace("<description>", "<description syntax=\"jinja\">");
    assert_eq!(offered(&mut client, "templates/a.xml", &jinja, "Be kind."), None);
    client.leave();
}
