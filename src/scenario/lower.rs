//! Converts a tree that was checked against the key tables to cases. Reports nothing: invalid
//! values were reported before and are left out.

use super::compaction::{CONVERSATION_PARAMETER, CompactionSubject};
use super::date;
use super::keys::{CASE_TABLE, CONTEXT_TABLE, SCENARIO_TABLE};
use super::model::{
    AnswerExpectation, CaseSubject, ContextExpectation, FrozenConversation, FrozenValue,
    LookupFixture, LookupStore, PastFailure, Risk, ScenarioCase, ScriptEnd, ScriptedAnswer,
    SequentialRule, Situation, TrialRule,
};
use super::request_source::RequestSource;
use super::table::{ScenarioTable, find_value};
use super::values::{
    read_content, read_flag, read_frozen, read_number, read_patterns, read_text, read_texts,
    read_whole,
};
use crate::base::span::Spanned;
use crate::syntax::yaml::{YamlNode, YamlValue};
use std::collections::BTreeMap;

/// The values that all cases of a file share.
#[derive(Clone, Copy)]
pub(super) struct LowerCx<'t> {
    pub(super) text: &'t str,
    /// The default trial rule.
    pub(super) rule: &'t TrialRule,
}

/// Reads a text, or a number as it is written.
pub(super) fn read_label(cx: LowerCx<'_>, node: &YamlNode<'_>) -> Option<Spanned<String>> {
    let YamlValue::Number(number) = &node.value else {
        return read_text(node);
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

fn read_risk(node: &YamlNode<'_>) -> Option<Spanned<Risk>> {
    Risk::parse(node.text()?).map(|risk| Spanned::new(risk, node.span))
}

fn read_map<T>(
    node: Option<&YamlNode<'_>>,
    take: impl Fn(&YamlNode<'_>) -> Option<T>,
) -> BTreeMap<String, T> {
    let entries = node.and_then(YamlNode::entries).unwrap_or_default();
    entries
        .iter()
        .filter_map(|entry| Some((entry.key.value.as_ref().to_owned(), take(&entry.value)?)))
        .collect()
}

/// Reads the situation of a case.
fn read_situation(cx: LowerCx<'_>, node: &YamlNode<'_>) -> Situation {
    let get = |key| find_value(&CONTEXT_TABLE, node, key);
    Situation {
        task_id: get("task_id")
            .and_then(|id| read_label(cx, id))
            .map(|id| id.value),
        objective: get("objective")
            .and_then(read_text)
            .filter(|text| !text.value.trim().is_empty()),
        constraints: read_texts(get("constraints")),
        files: read_map(get("file_context"), read_content),
        previous_output: get("previous_output").map(YamlNode::to_json),
        failures: get("failure_history")
            .and_then(YamlNode::items)
            .unwrap_or_default()
            .iter()
            .map(read_failure)
            .collect(),
        criteria: read_texts(get("acceptance_criteria")),
        risk_level: get("risk_level").and_then(read_risk),
        extra: read_map(get("extra"), |value| Some(value.to_json())),
        inputs: read_map(get("inputs"), |value| Some(Box::new(read_frozen(value)))),
        results: read_map(get("results"), |value| Some(Box::new(read_frozen(value)))),
        history: get("history").and_then(read_conversation),
        matches: read_fixtures(LookupStore::Memory, get("memory"))
            .into_iter()
            .chain(read_fixtures(LookupStore::Retrieval, get("retrieval")))
            .collect(),
    }
}

fn read_conversation(node: &YamlNode<'_>) -> Option<Spanned<FrozenConversation>> {
    let value = match (node.items(), read_frozen(node).value) {
        (Some(items), _) => FrozenConversation::Messages(
            items
                .iter()
                .map(|one| Spanned::new(one.to_json(), one.span))
                .collect(),
        ),
        (None, FrozenValue::File(path)) => FrozenConversation::File(path),
        (None, FrozenValue::Value(_)) => return None,
    };
    Some(Spanned::new(value, node.span))
}

fn read_failure(node: &YamlNode<'_>) -> PastFailure {
    let get = |key| {
        node.get(key)
            .and_then(YamlNode::text)
            .unwrap_or("")
            .to_owned()
    };
    PastFailure {
        stage: get("stage"),
        obstacle: get("obstacle"),
        note: get("note"),
    }
}

fn read_fixtures(shelf: LookupStore, node: Option<&YamlNode<'_>>) -> Vec<LookupFixture> {
    let Some(node) = node else { return Vec::new() };
    let of = |id: &str, text: Option<&YamlNode<'_>>| {
        Some(LookupFixture {
            shelf,
            id: id.to_owned(),
            text: read_content(text?)?,
        })
    };
    match &node.value {
        YamlValue::List(items) => items
            .iter()
            .filter_map(|item| of(item.get("id")?.text()?, item.get("text")))
            .collect(),
        YamlValue::Map(entries) => entries
            .iter()
            .filter_map(|entry| of(&entry.key.value, Some(&entry.value)))
            .collect(),
        YamlValue::Null | YamlValue::Bool(_) | YamlValue::Number(_) | YamlValue::Text(_) => {
            Vec::new()
        }
    }
}

/// Reads the trial rule of a case. Missing values are taken from the project's rule.
pub(super) fn read_rule(cx: LowerCx<'_>, table: &ScenarioTable, node: &YamlNode<'_>) -> TrialRule {
    let own = find_value(table, node, "rule");
    let get = |short: &str, key: &str| {
        let node = own
            .and_then(|own| own.get(key))
            .or_else(|| find_value(table, node, short))?;
        read_whole(node)
            .filter(|number| (1..=super::keys::MAX_RUNS).contains(number))
            .map(|number| number as u32)
    };
    let runs = get("runs", "runs").unwrap_or(cx.rule.runs);
    let two = |node: &YamlNode<'_>| {
        Some((
            read_whole(node.get("runs")?)? as u32,
            read_whole(node.get("pass")?)? as u32,
        ))
    };
    TrialRule {
        runs,
        pass: get("pass_threshold", "pass").unwrap_or_else(|| cx.rule.pass.min(runs)),
        strict: own
            .and_then(|own| own.get("strict"))
            .and_then(read_flag)
            .unwrap_or(cx.rule.strict),
        confirm: own
            .and_then(|own| own.get("confirm"))
            .and_then(two)
            .or(cx.rule.confirm),
        sequential: own
            .and_then(|own| own.get("sequential"))
            .and_then(read_sequential)
            .or(cx.rule.sequential),
        min_score: find_value(table, node, "min_score").and_then(read_number),
    }
}

fn read_sequential(node: &YamlNode<'_>) -> Option<SequentialRule> {
    let get = |key| node.get(key).and_then(read_number);
    let max = read_whole(node.get("max")?)? as u32;
    Some(SequentialRule {
        p0: get("p0")?,
        p1: get("p1")?,
        alpha: get("alpha")?,
        beta: get("beta")?,
        max,
    })
}

/// Reads the scripted answers of a mapping.
pub(super) fn read_answers(node: &YamlNode<'_>) -> Vec<Spanned<ScriptedAnswer>> {
    node.get("answers")
        .and_then(YamlNode::items)
        .unwrap_or_default()
        .iter()
        .map(read_answer)
        .collect()
}

fn read_answer(node: &YamlNode<'_>) -> Spanned<ScriptedAnswer> {
    let when = |key| {
        node.get("when")
            .and_then(|when| when.get(key))
            .map(read_patterns)
            .unwrap_or_default()
    };
    let calls = node
        .get("tool_calls")
        .and_then(YamlNode::items)
        .unwrap_or_default()
        .iter();
    let call = |call: &YamlNode<'_>| {
        let arguments = call
            .get("arguments")
            .map_or_else(|| serde_json::json!({}), YamlNode::to_json);
        Some((call.get("name")?.text()?.to_owned(), arguments))
    };
    let usage = |usage: &YamlNode<'_>| {
        Some((
            read_whole(usage.get("input")?)?,
            read_whole(usage.get("output")?)?,
        ))
    };
    let end = |key| node.get(key).and_then(read_text).map(|text| text.value);
    let (exit, stderr, killed_by) = (
        node.get("exit").and_then(read_whole),
        end("stderr"),
        end("killed_by"),
    );
    let is_of_script = exit.is_some() || stderr.is_some() || killed_by.is_some();
    let value = ScriptedAnswer {
        node: node
            .get("when")
            .and_then(|when| when.get("node"))
            .and_then(read_text),
        has: when("has"),
        lacks: when("lacks"),
        reply: node
            .get("reply")
            .map_or(serde_json::Value::Null, YamlNode::to_json),
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
pub(super) fn read_case(
    cx: LowerCx<'_>,
    table: &'static ScenarioTable,
    node: &YamlNode<'_>,
    name: Spanned<String>,
) -> Option<ScenarioCase> {
    debug_assert!(
        std::ptr::eq(table, &raw const CASE_TABLE)
            || std::ptr::eq(table, &raw const SCENARIO_TABLE),
        "defaults are no case"
    );
    let get = |key| find_value(table, node, key);
    let task = get("task")
        .and_then(read_text)
        .map(|task| task.map(CaseSubject::Task));
    let role = || {
        get("role")
            .and_then(read_text)
            .map(|role| role.map(CaseSubject::Role))
    };
    let request = || {
        let request = get("request")?;
        Some(Spanned::new(
            CaseSubject::Request(RequestSource::read(request)?),
            request.span,
        ))
    };
    let compaction = || {
        let compaction = get("compaction")?;
        let subject = CompactionSubject::read(compaction)?;
        Some(Spanned::new(
            CaseSubject::Compaction(subject),
            compaction.span,
        ))
    };
    let subject = task.or_else(role).or_else(request).or_else(compaction)?;
    // Without a `context`, misplaced keys beside it are read, so that one finding is enough.
    let mut situation = read_situation(cx, get("context").unwrap_or(node));
    if let CaseSubject::Compaction(compaction) = &subject.value
        && compaction.role().is_some()
    {
        // The session has the text; the name is checked like any input.
        let text = FrozenValue::Value(serde_json::Value::String(String::new()));
        let value = Box::new(Spanned::new(text, subject.span));
        situation
            .inputs
            .insert(CONVERSATION_PARAMETER.to_owned(), value);
    }
    let items = |key| get(key).and_then(YamlNode::items).unwrap_or_default();
    let expectations: Vec<_> = items("expectations")
        .iter()
        .filter_map(AnswerExpectation::read_entry)
        .collect();
    let trial_rule = read_rule(cx, table, node);
    let has_weight = expectations.iter().any(|one| one.value.weight.is_some());
    let counts = expectations.iter().any(|one| one.value.gate);
    Some(ScenarioCase {
        name,
        span: node.span,
        row: None,
        subject,
        node: get("node").and_then(read_text),
        is_run: get("run").and_then(read_flag).unwrap_or(false),
        situation,
        expect_context: items("expect_context")
            .iter()
            .filter_map(ContextExpectation::read_entry)
            .collect(),
        is_scored: counts && (trial_rule.min_score.is_some() || has_weight),
        expectations,
        replaces: Vec::new(),
        rule: trial_rule,
        answers: read_answers(node),
        tags: read_texts(get("tags")),
        baseline_config_hash: get("baseline_config_hash").and_then(read_text),
        reviewed: get("reviewed")
            .and_then(|day| Some(Spanned::new(date::parse_date(day.text()?)?, day.span))),
    })
}
