//! Renders, when a text is compiled, what it says without a value of a run: what fails there fails in every run.

use super::environment::environment;
use super::fault::{JinjaFault, JinjaFaultKind};
use super::parse::JinjaText;
use super::reads::flow;
use super::render::{Failed, RenderInputs, render};
use super::tags::tags;
use super::tree::tree;
use crate::base::span::Span;
use minijinja::machinery::Token;
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::ops::Range;

/// How many statements of a text are tried.
const MOST: usize = 64;
/// How many steps each of them may take: what takes more is left to a run.
const STEPS: u64 = 2_000;
/// Bytes of statements that are tried.
const LONGEST: usize = 1 << 14;

/// Parses a text that is compiled, and tries what needs no value of a run.
pub fn parse(text: &str) -> JinjaText {
    let parsed = super::parse::parse(text);
    if parsed.faults.is_empty() { JinjaText { faults: failures(text), ..parsed } } else { parsed }
}

/// What fails in every run, by its place.
fn failures(text: &str) -> Vec<JinjaFault> {
    let globals = environment();
    let is_function = |name: &str| name != "namespace" && globals.globals().any(|(own, _)| own == name);
    let mut known: BTreeSet<String> = BTreeSet::new();
    let mut before = String::new();
    let mut found = Vec::new();
    for range in statements(text).into_iter().take(MOST) {
        let source = text.get(range.clone()).unwrap_or_default();
        let Ok(tree) = tree(source) else { continue };
        let flow = flow(&tree);
        let sets = flow.scopes.first().into_iter().flat_map(|scope| scope.names.keys());
        let is_sure = |name: &&str| known.contains(*name) || is_function(name) && !flow.values.contains(name);
        if before.len() + source.len() > LONGEST || !flow.variables.iter().all(is_sure) {
            // What it sets depends on a run.
            known.retain(|name| sets.clone().all(|set| set != name));
            continue;
        }
        let sets: Vec<String> = sets.map(|name| (*name).to_owned()).collect();
        let whole = [&*before, source].concat();
        match tried(&whole) {
            Ok(()) if sets.is_empty() => {}
            Ok(()) => {
                known.extend(sets);
                before = whole;
            }
            Err(words) => {
                let end = tags(source).next().map_or(range.end, |tag| range.start + tag.range.end);
                found.push(JinjaFault { kind: JinjaFaultKind::Fails(words), span: Span::of(range.start, end) });
            }
        }
    }
    found
}

/// Renders a text that needs no values: why that fails.
fn tried(text: &str) -> Result<(), String> {
    let none = BTreeSet::new();
    let values = Value::Object(Map::new());
    let fence = Box::new(|_: &str, _: &str| (String::new(), String::new()));
    let with = RenderInputs { values: &values, names: &none, untrusted: &none, fence, steps: STEPS };
    match render(text, with) {
        Err(Failed::Jinja { detail, .. }) => Err(detail),
        Err(Failed::TooLarge { limit }) => Err(format!("it handles more than {limit} bytes in all")),
        Ok(_) | Err(Failed::TooLong { .. } | Failed::TooCostly { .. }) => Ok(()),
    }
}

/// The outputs and statements of a text that stand in no other.
fn statements(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut depth = 0_usize;
    let mut start = 0;
    for tag in tags(text) {
        if depth == 0 {
            start = tag.range.start;
        }
        match tag.keyword() {
            "set" if tag.tokens.iter().any(|(token, _)| matches!(token, Token::Assign)) => {}
            "for" | "if" | "with" | "set" | "autoescape" | "filter" | "macro" | "call" => depth += 1,
            word if word.starts_with("end") => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            found.push(start..tag.range.end);
        }
    }
    found
}
