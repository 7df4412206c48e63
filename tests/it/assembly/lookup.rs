//! Lookups: which task makes them, with which words, and if they are known before a run.

use super::settings::{registry, values};
use ctxc::internals::context::assemble::assemble;
use ctxc::internals::context::context_source::{ContextSource, Fixtures, Match};
use ctxc::internals::context::manifest::{ManifestOptions, Part, task_manifest};
use ctxc::internals::context::options::Options;
use ctxc::internals::context::request::Request;
use ctxc::internals::kernel::context::Trust;
use pretty_assertions::assert_eq;
use serde_json::json;
use std::cell::RefCell;
use std::collections::BTreeMap;

const TASKS: &str = r#"
<task name="answer" type="atomic" subtype="subtask">
  <description>answer about {{topic}}</description>
  <inputs><input name="topic" from="topic"/><input name="tone" from="tone"/></inputs>
  <context_relevance><input name="topic" include="true"/></context_relevance>
  <context_management><inherit_context>none</inherit_context><fresh_context>enabled</fresh_context></context_management>
</task>
<task name="files" type="atomic" subtype="subtask">
  <description>answer with files</description>
  <file_paths source="literal"><path>docs/a.md</path></file_paths>
  <context_management><inherit_context>none</inherit_context><fresh_context>enabled</fresh_context></context_management>
</task>
<task name="described" type="atomic" subtype="subtask">
  <description>answer with described files</description>
  <file_paths source="description"><description>everything about {{topic}}</description></file_paths>
  <inputs><input name="topic" from="topic"/></inputs>
  <context_management><inherit_context>none</inherit_context><fresh_context>disabled</fresh_context></context_management>
</task>"#;

/// Remembers the queries it receives.
#[derive(Debug, Default)]
struct Asked(RefCell<Vec<(String, usize)>>);

impl ContextSource for Asked {
    fn search(&self, query: &str, limit: usize) -> Result<Vec<Match>, String> {
        self.0.borrow_mut().push((query.to_owned(), limit));
        Ok(vec![
            passage("docs/a.md:3-9", "of a file that may be there"),
            passage("docs/b.md", "of another"),
        ])
    }

    fn files(&self, query: &str, _: usize) -> Result<Vec<Match>, String> {
        Ok(vec![passage(
            "docs/whole.md",
            &format!("all of it, for: {query}"),
        )])
    }
}

fn passage(id: &str, text: &str) -> Match {
    Match {
        id: id.to_owned(),
        text: text.to_owned(),
        trust: Trust::Untrusted,
    }
}

/// The segments of a dry run: id, tokens and the inputs they wait for.
fn dry(
    task: &str,
    inputs: &[(&str, serde_json::Value)],
    source: &dyn ContextSource,
) -> Vec<(String, Vec<String>)> {
    let (registry, inputs) = (registry(TASKS), values(inputs));
    let files = BTreeMap::from([("docs/a.md".to_owned(), "the file".to_owned())]);
    let request = Request {
        inputs: &inputs,
        source,
        ..Request::new(task)
    };
    let manifest = task_manifest(
        &registry,
        &request,
        None,
        &ManifestOptions {
            options: Options::default(),
            files: &files,
        },
    )
    .unwrap();
    let part = |part: &Part| (part.id.clone(), part.variable.clone());
    manifest.entries[0].segments.iter().map(part).collect()
}

fn open(parts: &[(String, Vec<String>)]) -> Vec<&str> {
    parts
        .iter()
        .filter(|(_, variable)| !variable.is_empty())
        .map(|(id, _)| id.as_str())
        .collect()
}

#[test]
fn what_a_lookup_needs_decides_when_it_is_known() {
    let source = Asked::default();
    let given = [("topic", json!("zebras"))];
    // Without the topic the query is unknown; the tone has no part in it.
    assert_eq!(
        open(&dry("answer", &[], &source)),
        ["description", "input:tone", "fresh"]
    );
    assert_eq!(source.0.borrow().len(), 0, "nothing was asked");
    let known = dry("answer", &given, &source);
    assert_eq!(open(&known), ["input:tone"]);
    assert!(known.iter().any(|(id, _)| id == "fresh:docs/b.md"));
    assert_eq!(
        source.0.take(),
        [("answer about zebras\nzebras".to_owned(), 8)]
    );
    // Without a query the lookup stays open. Without a passage it is empty.
    assert_eq!(
        open(&dry(
            "answer",
            &given,
            &ctxc::internals::context::context_source::NoSource
        )),
        ["input:tone", "fresh"]
    );
    let nothing = dry("answer", &given, &Fixtures::default());
    assert!(
        !nothing.iter().any(|(id, _)| id.starts_with("fresh")),
        "{nothing:?}"
    );
}

#[test]
fn files_that_a_description_matches_are_whole() {
    let source = Asked::default();
    assert_eq!(open(&dry("described", &[], &source)), ["file:files"]);
    let known = dry("described", &[("topic", json!("zebras"))], &source);
    assert_eq!(
        known.iter().map(|(id, _)| id.as_str()).collect::<Vec<_>>(),
        ["description", "file:docs/whole.md"]
    );
}

#[test]
fn a_file_that_is_there_is_not_looked_up_again() {
    let registry = registry(TASKS);
    let source = Asked::default();
    let files = BTreeMap::from([("docs/a.md".to_owned(), "the file".to_owned())]);
    let request = Request {
        source: &source,
        files: &files,
        ..Request::new("files")
    };
    let assembly = assemble(&registry, &request, &Options::default()).unwrap();
    let ids: Vec<&str> = assembly
        .report
        .segments
        .iter()
        .map(|account| account.segment.id.as_str())
        .collect();
    assert_eq!(ids, ["description", "file:docs/a.md", "fresh:docs/b.md"]);
    assert!(
        source.0.take()[0].1 > 8,
        "more is asked for, since some of it may be there"
    );
}

#[test]
fn a_match_knows_its_file() {
    let file = |id: &str| passage(id, "").file().to_owned();
    assert_eq!(file("docs/a.md"), "docs/a.md");
    assert_eq!(file("docs/a.md:3-9"), "docs/a.md");
    assert_eq!(file("docs/a.md:3"), "docs/a.md");
    assert_eq!(file("docs/a.md:3#2"), "docs/a.md");
    assert_eq!(file("memory:note"), "memory:note");
    assert_eq!(file("a:"), "a:");
    assert_eq!(file("key:-"), "key:-");
    let source = Fixtures(vec![passage("docs/a.md", "zebra")]);
    assert_eq!(
        source.files("zebra", 8).unwrap()[0].id,
        "docs/a.md",
        "what a source finds is a file where it says nothing else"
    );
}

#[test]
fn what_an_agent_is_given_is_not_looked_up_for_it_again() {
    let registry = registry(TASKS);
    let inputs = values(&[
        ("topic", json!("zebras")),
        ("tone", json!("a ticket kept in the project\n")),
    ]);
    let source = Fixtures(vec![
        passage("samples/t1.txt", "a ticket kept in the project"),
        passage("docs/b.md", "of another"),
    ]);
    let request = Request {
        inputs: &inputs,
        source: &source,
        ..Request::new("answer")
    };
    let assembly = assemble(&registry, &request, &Options::default()).unwrap();
    let ids: Vec<&str> = assembly
        .report
        .segments
        .iter()
        .map(|account| account.segment.id.as_str())
        .collect();
    assert_eq!(ids, ["description", "input:tone", "fresh:docs/b.md"]);
}

#[test]
fn a_task_with_plain_parameters_asks_with_the_values_it_is_given() {
    let source = Asked::default();
    let tasks = r#"<task name="plain" type="atomic" subtype="subtask"><description>answer {{who}}</description>
      <parameters><parameter name="topic"/><parameter name="who" default="everybody"/><parameter name="tone" default="calm"/></parameters>
      <instructions>Stay on {{topic}}, {{tone}}.</instructions>
      <context_management><inherit_context>none</inherit_context><fresh_context>enabled</fresh_context></context_management></task>"#;
    let registry = registry(tasks);
    let asked = |given: &[(&str, serde_json::Value)]| {
        let inputs = values(given);
        let request = Request {
            inputs: &inputs,
            source: &source,
            ..Request::new("plain")
        };
        task_manifest(
            &registry,
            &request,
            None,
            &ManifestOptions {
                options: Options::default(),
                files: &(),
            },
        )
        .unwrap();
        source
            .0
            .take()
            .into_iter()
            .map(|(query, _)| query)
            .collect::<Vec<_>>()
    };
    // A parameter without a value is no query, nor one with a default, since a caller may hand in
    // another value.
    assert_eq!(asked(&[]), [""; 0]);
    assert_eq!(asked(&[("topic", json!("zebras"))]), [""; 0]);
    assert_eq!(
        asked(&[
            ("topic", json!("zebras")),
            ("tone", json!("warm")),
            ("who", json!("Ann"))
        ]),
        ["answer Ann\nzebras\nwarm"]
    );
}
