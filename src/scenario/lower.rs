//! Converts a tree that was checked against the key tables to cases. Reports nothing: invalid
//! values were reported before and are left out.

use super::date;
use super::keys::{CASE, CONTEXT, SCENARIO};
use super::model::{
    Case, ContextExpectation, Conversation, Expectation, Failure, Fixture, Frozen, LookupStore,
    Risk, Rule, ScriptEnd, Scripted, Sequential, Situation, Subject,
};
use super::request_source::RequestSource;
use super::table::{Table, find};
use super::values::{content, flag, frozen, number, patterns, text, texts, whole};
use crate::base::span::Spanned;
use crate::syntax::yaml::{Node, Value};
use std::collections::BTreeMap;

/// The values that all cases of a file share.
#[derive(Clone, Copy)]
pub(super) struct Cx<'t> {
    pub(super) text: &'t str,
    /// The default trial rule.
    pub(super) rule: &'t Rule,
}

/// Reads a text, or a number as it is written.
pub(super) fn label(cx: Cx<'_>, node: &Node<'_>) -> Option<Spanned<String>> {
    let Value::Number(number) = &node.value else {
        return text(node);
    };
    let written = node.span.slice(cx.text);
    let is_number = written.parse::<f64>().is_ok();
    Some(Spanned::new(
        if is_number {
            written.to_owned()
        } else {
            number.to_string()
        },
        node.span,
    ))
}

fn risk(node: &Node<'_>) -> Option<Spanned<Risk>> {
    Risk::parse(node.text()?).map(|risk| Spanned::new(risk, node.span))
}

fn map<T>(node: Option<&Node<'_>>, take: impl Fn(&Node<'_>) -> Option<T>) -> BTreeMap<String, T> {
    let entries = node.and_then(Node::entries).unwrap_or_default();
    entries
        .iter()
        .filter_map(|entry| Some((entry.key.value.as_ref().to_owned(), take(&entry.value)?)))
        .collect()
}

/// Reads the situation of a case.
fn situation(cx: Cx<'_>, node: &Node<'_>) -> Situation {
    let get = |key| find(&CONTEXT, node, key);
    Situation {
        task_id: get("task_id")
            .and_then(|id| label(cx, id))
            .map(|id| id.value),
        objective: get("objective")
            .and_then(text)
            .filter(|text| !text.value.trim().is_empty()),
        constraints: texts(get("constraints")),
        files: map(get("file_context"), content),
        previous_output: get("previous_output").map(Node::to_json),
        failures: get("failure_history")
            .and_then(Node::items)
            .unwrap_or_default()
            .iter()
            .map(failure)
            .collect(),
        criteria: texts(get("acceptance_criteria")),
        risk_level: get("risk_level").and_then(risk),
        extra: map(get("extra"), |value| Some(value.to_json())),
        inputs: map(get("inputs"), |value| Some(Box::new(frozen(value)))),
        results: map(get("results"), |value| Some(Box::new(frozen(value)))),
        history: get("history").and_then(conversation),
        matches: fixtures(LookupStore::Memory, get("memory"))
            .into_iter()
            .chain(fixtures(LookupStore::Retrieval, get("retrieval")))
            .collect(),
    }
}

fn conversation(node: &Node<'_>) -> Option<Spanned<Conversation>> {
    let value = match (node.items(), frozen(node).value) {
        (Some(items), _) => Conversation::Messages(
            items
                .iter()
                .map(|one| Spanned::new(one.to_json(), one.span))
                .collect(),
        ),
        (None, Frozen::File(path)) => Conversation::File(path),
        (None, Frozen::Value(_)) => return None,
    };
    Some(Spanned::new(value, node.span))
}

fn failure(node: &Node<'_>) -> Failure {
    let get = |key| node.get(key).and_then(Node::text).unwrap_or("").to_owned();
    Failure {
        stage: get("stage"),
        obstacle: get("obstacle"),
        note: get("note"),
    }
}

fn fixtures(shelf: LookupStore, node: Option<&Node<'_>>) -> Vec<Fixture> {
    let Some(node) = node else { return Vec::new() };
    let of = |id: &str, text: Option<&Node<'_>>| {
        Some(Fixture {
            shelf,
            id: id.to_owned(),
            text: content(text?)?,
        })
    };
    match &node.value {
        Value::List(items) => items
            .iter()
            .filter_map(|item| of(item.get("id")?.text()?, item.get("text")))
            .collect(),
        Value::Map(entries) => entries
            .iter()
            .filter_map(|entry| of(&entry.key.value, Some(&entry.value)))
            .collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) => Vec::new(),
    }
}

/// Reads the trial rule of a case. Missing values are taken from the project's rule.
pub(super) fn rule(cx: Cx<'_>, table: &Table, node: &Node<'_>) -> Rule {
    let own = find(table, node, "rule");
    let get = |short: &str, key: &str| {
        let node = own
            .and_then(|own| own.get(key))
            .or_else(|| find(table, node, short))?;
        whole(node)
            .filter(|number| (1..=super::keys::RUNS).contains(number))
            .map(|number| number as u32)
    };
    let runs = get("runs", "runs").unwrap_or(cx.rule.runs);
    let two = |node: &Node<'_>| {
        Some((
            whole(node.get("runs")?)? as u32,
            whole(node.get("pass")?)? as u32,
        ))
    };
    Rule {
        runs,
        pass: get("pass_threshold", "pass").unwrap_or_else(|| cx.rule.pass.min(runs)),
        strict: own
            .and_then(|own| own.get("strict"))
            .and_then(flag)
            .unwrap_or(cx.rule.strict),
        confirm: own
            .and_then(|own| own.get("confirm"))
            .and_then(two)
            .or(cx.rule.confirm),
        sequential: own
            .and_then(|own| own.get("sequential"))
            .and_then(sequential)
            .or(cx.rule.sequential),
    }
}

fn sequential(node: &Node<'_>) -> Option<Sequential> {
    let get = |key| node.get(key).and_then(number);
    let max = whole(node.get("max")?)? as u32;
    Some(Sequential {
        p0: get("p0")?,
        p1: get("p1")?,
        alpha: get("alpha")?,
        beta: get("beta")?,
        max,
    })
}

/// Reads the scripted answers of a mapping.
pub(super) fn answers(node: &Node<'_>) -> Vec<Spanned<Scripted>> {
    node.get("answers")
        .and_then(Node::items)
        .unwrap_or_default()
        .iter()
        .map(scripted)
        .collect()
}

fn scripted(node: &Node<'_>) -> Spanned<Scripted> {
    let when = |key| {
        node.get("when")
            .and_then(|when| when.get(key))
            .map(patterns)
            .unwrap_or_default()
    };
    let calls = node
        .get("tool_calls")
        .and_then(Node::items)
        .unwrap_or_default()
        .iter();
    let call = |call: &Node<'_>| {
        let arguments = call
            .get("arguments")
            .map_or_else(|| serde_json::json!({}), Node::to_json);
        Some((call.get("name")?.text()?.to_owned(), arguments))
    };
    let usage =
        |usage: &Node<'_>| Some((whole(usage.get("input")?)?, whole(usage.get("output")?)?));
    let end = |key| node.get(key).and_then(text).map(|text| text.value);
    let (exit, stderr, killed_by) = (
        node.get("exit").and_then(whole),
        end("stderr"),
        end("killed_by"),
    );
    let is_of_script = exit.is_some() || stderr.is_some() || killed_by.is_some();
    let value = Scripted {
        node: node
            .get("when")
            .and_then(|when| when.get("node"))
            .and_then(text),
        has: when("has"),
        lacks: when("lacks"),
        reply: node
            .get("reply")
            .map_or(serde_json::Value::Null, Node::to_json),
        tool_calls: calls.filter_map(call).collect(),
        usage: node.get("usage").and_then(usage),
        end: is_of_script.then(|| ScriptEnd {
            exit: exit.unwrap_or(0),
            stderr: stderr.unwrap_or_default(),
            killed_by,
        }),
    };
    Spanned::new(value, node.span)
}

/// Reads a case from a table with the keys of a case. `None` if it has no receiver.
pub(super) fn case(
    cx: Cx<'_>,
    table: &'static Table,
    node: &Node<'_>,
    name: Spanned<String>,
) -> Option<Case> {
    debug_assert!(
        std::ptr::eq(table, &raw const CASE) || std::ptr::eq(table, &raw const SCENARIO),
        "defaults are no case"
    );
    let get = |key| find(table, node, key);
    let task = get("task")
        .and_then(text)
        .map(|task| task.map(Subject::Task));
    let role = || {
        get("role")
            .and_then(text)
            .map(|role| role.map(Subject::Role))
    };
    let request = || {
        let request = get("request")?;
        Some(Spanned::new(
            Subject::Request(RequestSource::read(request)?),
            request.span,
        ))
    };
    let subject = task.or_else(role).or_else(request)?;
    let items = |key| get(key).and_then(Node::items).unwrap_or_default();
    Some(Case {
        name,
        span: node.span,
        row: None,
        subject,
        node: get("node").and_then(text),
        is_run: get("run").and_then(flag).unwrap_or(false),
        // Without a `context`, misplaced keys beside it are read, so that one finding is enough.
        situation: situation(cx, get("context").unwrap_or(node)),
        expect_context: items("expect_context")
            .iter()
            .filter_map(ContextExpectation::read)
            .collect(),
        expectations: items("expectations")
            .iter()
            .filter_map(Expectation::read)
            .collect(),
        replaces: Vec::new(),
        rule: rule(cx, table, node),
        answers: answers(node),
        tags: texts(get("tags")),
        baseline_config_hash: get("baseline_config_hash").and_then(text),
        reviewed: get("reviewed")
            .and_then(|day| Some(Spanned::new(date::parse(day.text()?)?, day.span))),
    })
}
