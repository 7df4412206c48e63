//! Renders at compile time the statements that depend on no value of a run, or only on defaults of
//! parameters: a statement that fails then fails in every run, or in every run with those defaults.

use super::environment::environment;
use super::fault::{JinjaFault, JinjaFaultKind};
use super::parse::{JinjaPart, JinjaText, part};
use super::reads::flow;
use super::render::{Failed, RenderInputs, render};
use super::tags::tags;
use super::tree::{Expr, Stmt, each, each_stmt, expressions, tree};
use crate::base::span::Span;
use minijinja::machinery::Token;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::ops::Range;

/// Maximum number of statements that are tried in a text.
const MOST: usize = 64;
/// Maximum number of values that are tried for the run's names in a statement.
const MOST_VALUES: usize = 10;
/// Maximum number of steps of each trial; longer statements are left to a run.
const STEPS: u64 = 2_000;
/// Maximum size in bytes of the statements that are tried.
const LONGEST: usize = 1 << 14;

/// minijinja's notation for a part in brackets.
const INDEX: &str = "(...)[...]";

/// A statement that fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The place of its first tag.
    pub span: Span,
    /// The reason, in minijinja's words.
    pub words: String,
    /// The missing part of a default; `None` if it fails for another reason.
    pub part: Option<JinjaPart>,
    /// The defaults that it reads.
    pub defaults: Vec<String>,
    /// False if the result depends on other values.
    pub is_certain: bool,
}

/// Parses a text at compile time, and tries the statements that depend on no value of a run.
pub fn parse(text: &str) -> JinjaText {
    let parsed = super::parse::parse(text);
    if !parsed.faults.is_empty() {
        return parsed;
    }
    let fault = |failure: Failure| JinjaFault {
        kind: JinjaFaultKind::Fails(failure.words),
        span: failure.span,
    };
    JinjaText {
        faults: failures(text, &Map::new(), &BTreeSet::new())
            .into_iter()
            .map(fault)
            .collect(),
        ..parsed
    }
}

/// The statements of a text that fail with the defaults of parameters, in order; without defaults,
/// those that fail in every run. `samples` are names among the defaults whose values are made up:
/// everything computed from them is unknown.
pub fn failures(
    text: &str,
    defaults: &Map<String, Value>,
    samples: &BTreeSet<String>,
) -> Vec<Failure> {
    let Ok(whole) = tree(text) else {
        return Vec::new();
    };
    let globals = environment();
    let mut trial = Trial {
        text,
        defaults,
        samples,
        functions: globals
            .globals()
            .map(|(name, _)| name.to_owned())
            .filter(|name| name != "namespace")
            .collect(),
        inputs: flow(&whole)
            .variables
            .into_iter()
            .filter(|name| !defaults.contains_key(*name))
            .collect(),
        known: defaults.keys().cloned().collect(),
        before: String::new(),
        found: Vec::new(),
    };
    statements(text)
        .into_iter()
        .take(MOST)
        .for_each(|range| trial.statement(range));
    trial.found
}

struct Trial<'t> {
    text: &'t str,
    defaults: &'t Map<String, Value>,
    samples: &'t BTreeSet<String>,
    functions: BTreeSet<String>,
    /// The names that receive values in a run.
    inputs: BTreeSet<&'t str>,
    /// The names whose values do not depend on a run, and the statements that set some of them.
    known: BTreeSet<String>,
    before: String,
    found: Vec<Failure>,
}

impl Trial<'_> {
    fn statement(&mut self, range: Range<usize>) {
        let source = self.text.get(range.clone()).unwrap_or_default();
        let Ok(tree) = tree(source) else { return };
        let flow = flow(&tree);
        let sets: Vec<&str> = flow
            .scopes
            .first()
            .into_iter()
            .flat_map(|scope| scope.names.keys().copied())
            .collect();
        let is_sure = |name: &str| {
            self.known.contains(name)
                || self.functions.contains(name) && !flow.values.contains(name)
        };
        let open: Vec<&str> = flow
            .variables
            .iter()
            .filter(|name| !is_sure(name))
            .copied()
            .collect();
        let reads =
            |name: &&String| flow.variables.contains(name.as_str()) && self.known.contains(*name);
        let defaults: Vec<String> = self.defaults.keys().filter(reads).cloned().collect();
        let failed = match open.is_empty() {
            _ if self.before.len() + source.len() > LONGEST => None,
            // Without defaults it has been tried already.
            true if !self.defaults.is_empty() && sets.is_empty() && flow.variables.is_empty() => {
                None
            }
            true => self
                .tried(source, &[], &Value::Null)
                .err()
                .map(|words| (words, true)),
            false if defaults.is_empty() => None,
            false => self.by_any(source, &tree, &open),
        };
        let is_made_up = flow
            .variables
            .iter()
            .any(|name| self.samples.contains(*name));
        let is_known = open.is_empty()
            && !is_made_up
            && failed.is_none()
            && self.before.len() + source.len() <= LONGEST;
        if let Some((words, is_certain)) = failed {
            let end = tags(source)
                .next()
                .map_or(range.end, |tag| range.start + tag.range.end);
            let moved = |at: u32| range.start + at as usize;
            let part = self.missing(source, &tree, &words);
            let part = part.map(|part| JinjaPart {
                span: Span::of(moved(part.span.start), moved(part.span.end)),
                ..part
            });
            self.found.push(Failure {
                span: Span::of(range.start, end),
                words,
                part,
                defaults,
                is_certain,
            });
        }
        if !is_known {
            // Its assignments depend on a run.
            self.known.retain(|name| !sets.contains(&&**name));
        } else if !sets.is_empty() {
            self.known.extend(
                sets.iter()
                    .filter(|name| !self.inputs.contains(**name))
                    .map(|name| (*name).to_owned()),
            );
            self.before.push_str(source);
        }
    }

    /// The error of a statement that lacks a part of a default, tried with other names set to a
    /// value of each type and to the literals that it contains. True if it fails with each of them.
    fn by_any(&self, source: &str, tree: &Stmt<'_>, open: &[&str]) -> Option<(String, bool)> {
        let mut values = vec![
            json!(true),
            json!(false),
            json!("text"),
            json!(3),
            json!([]),
            json!(["text"]),
        ];
        all_expressions(tree, &mut |expr| match expr {
            Expr::Const(one) if values.len() < MOST_VALUES => {
                values.extend(one.value.as_str().map(Value::from));
            }
            _ => {}
        });
        let ends: Vec<_> = values
            .iter()
            .map(|value| self.tried(source, open, value))
            .collect();
        let is_certain = ends.iter().all(Result::is_err);
        let mut failed = ends.into_iter().filter_map(Result::err);
        failed
            .find(|words| self.missing(source, tree, words).is_some())
            .map(|words| (words, is_certain))
    }

    /// The part of a default that an error message names.
    fn missing(&self, source: &str, tree: &Stmt<'_>, words: &str) -> Option<JinjaPart> {
        let mut found: Option<JinjaPart> = None;
        all_expressions(tree, &mut |expr| {
            let own = part(source, expr, true)
                .filter(|own| !own.way.is_empty() && self.defaults.contains_key(&own.name));
            let is_longer = |own: &JinjaPart| {
                found
                    .as_ref()
                    .is_none_or(|other| own.way.len() > other.way.len())
            };
            let is_named = |own: &JinjaPart| {
                let written = own.span.slice(source);
                words.contains(written) || written.ends_with(']') && words.contains(INDEX)
            };
            if let Some(own) = own.filter(|own| is_named(own) && is_longer(own)) {
                found = Some(own);
            }
        });
        found
    }

    /// Renders a statement after those that set known names, with the defaults and one value for
    /// all other names; returns the error message if it fails.
    fn tried(&self, source: &str, open: &[&str], value: &Value) -> Result<(), String> {
        let text = [&*self.before, source].concat();
        let mut values = self.defaults.clone();
        values.extend(open.iter().map(|name| ((*name).to_owned(), value.clone())));
        let names = values.keys().cloned().collect();
        let none = BTreeSet::new();
        let fence = Box::new(|_: &str, _: &str| (String::new(), String::new()));
        let with = RenderInputs {
            values: &Value::Object(values),
            names: &names,
            untrusted: &none,
            fence,
            steps: STEPS,
        };
        match render(&text, with) {
            Err(Failed::Jinja { detail, .. }) => Err(detail),
            Err(Failed::TooLarge { limit }) => {
                Err(format!("it handles more than {limit} bytes in all"))
            }
            Ok(_) | Err(Failed::TooLong { .. } | Failed::TooCostly { .. }) => Ok(()),
        }
    }
}

fn all_expressions<'s, 't>(tree: &'s Stmt<'t>, look: &mut impl FnMut(&'s Expr<'t>)) {
    each_stmt(tree, &mut |stmt| {
        expressions(stmt)
            .into_iter()
            .for_each(|expr| each(expr, look));
    });
}

/// The outermost outputs and statements of a text.
fn statements(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut depth = 0_usize;
    let mut start = 0;
    for tag in tags(text) {
        if depth == 0 {
            start = tag.range.start;
        }
        match tag.keyword() {
            "set"
                if tag
                    .tokens
                    .iter()
                    .any(|(token, _)| matches!(token, Token::Assign)) => {}
            "for" | "if" | "with" | "set" | "autoescape" | "filter" | "macro" | "call" => {
                depth += 1;
            }
            word if word.starts_with("end") => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            found.push(start..tag.range.end);
        }
    }
    found
}
