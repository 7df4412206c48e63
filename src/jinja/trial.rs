//! Renders at compile time the statements that depend on no value of a run, or only on defaults of
//! parameters: a statement that fails then fails in every run, or in every run with those defaults.

use super::environment::build_environment;
use super::jinja_fault::{JinjaFault, JinjaFaultKind};
use super::parse::{JinjaAnalysis, JinjaPart, PathSteps, variable_path};
use super::reads::analyze_flow;
use super::render::{RenderFailure, RenderInputs, render_text};
use super::tags::split_tags;
use super::tree::{Expr, Stmt, parse_tree, statement_exprs, visit_exprs, visit_statements};
use crate::base::span::Span;
use minijinja::machinery::Token;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::ops::Range;

/// Maximum number of statements that are tried in a text.
const MAX_STATEMENTS: usize = 64;
/// Maximum number of values that are tried for the run's names in a statement.
const MAX_VALUES: usize = 10;
/// Maximum number of steps of each trial; longer statements are left to a run.
const MAX_TRIAL_STEPS: u64 = 2_000;
/// Maximum size in bytes of the statements that are tried.
const MAX_SOURCE_BYTES: usize = 1 << 14;

/// minijinja's notation in an error message for a part in brackets, which it does not quote.
const INDEX_NOTATION: &str = "(...)[...]";

/// A statement that fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrialFailure {
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
pub fn analyze_with_trials(text: &str) -> JinjaAnalysis {
    let parsed = super::parse::analyze(text);
    if !parsed.faults.is_empty() {
        return parsed;
    }
    let fault = |failure: TrialFailure| JinjaFault {
        kind: JinjaFaultKind::Fails(failure.words),
        span: failure.span,
    };
    JinjaAnalysis {
        faults: find_failures(text, &Map::new(), &BTreeSet::new())
            .into_iter()
            .map(fault)
            .collect(),
        ..parsed
    }
}

/// The statements of a text that fail with the defaults of parameters, in order; without defaults,
/// those that fail in every run. `samples` are names among the defaults whose values are made up:
/// everything computed from them is unknown.
pub fn find_failures(
    text: &str,
    defaults: &Map<String, Value>,
    samples: &BTreeSet<String>,
) -> Vec<TrialFailure> {
    let Ok(whole) = parse_tree(text) else {
        return Vec::new();
    };
    let globals = build_environment();
    let mut trial = StatementTrial {
        text,
        defaults,
        samples,
        functions: globals
            .globals()
            .map(|(name, _)| name.to_owned())
            .filter(|name| name != "namespace")
            .collect(),
        inputs: analyze_flow(&whole)
            .variables
            .into_iter()
            .filter(|name| !defaults.contains_key(*name))
            .collect(),
        known: defaults.keys().cloned().collect(),
        before: String::new(),
        found: Vec::new(),
    };
    outer_statements(text)
        .into_iter()
        .take(MAX_STATEMENTS)
        .for_each(|range| trial.try_statement(range));
    trial.found
}

struct StatementTrial<'t> {
    text: &'t str,
    defaults: &'t Map<String, Value>,
    samples: &'t BTreeSet<String>,
    functions: BTreeSet<String>,
    /// The names that receive values in a run.
    inputs: BTreeSet<&'t str>,
    /// The names whose values do not depend on a run, and the statements that set some of them.
    known: BTreeSet<String>,
    before: String,
    found: Vec<TrialFailure>,
}

impl StatementTrial<'_> {
    fn try_statement(&mut self, range: Range<usize>) {
        let source = self.text.get(range.clone()).unwrap_or_default();
        let Ok(tree) = parse_tree(source) else { return };
        let flow = analyze_flow(&tree);
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
            _ if self.before.len() + source.len() > MAX_SOURCE_BYTES => None,
            // Without defaults it has been tried already.
            true if !self.defaults.is_empty() && sets.is_empty() && flow.variables.is_empty() => {
                None
            }
            true => self
                .try_render(source, &[], &Value::Null)
                .err()
                .map(|message| (message, true)),
            false if defaults.is_empty() => None,
            false => self.try_any_values(source, &tree, &open),
        };
        let is_made_up = flow
            .variables
            .iter()
            .any(|name| self.samples.contains(*name));
        let is_known = open.is_empty()
            && !is_made_up
            && failed.is_none()
            && self.before.len() + source.len() <= MAX_SOURCE_BYTES;
        if let Some((message, is_certain)) = failed {
            let end = split_tags(source)
                .next()
                .map_or(range.end, |tag| range.start + tag.range.end);
            let shift = |at: u32| range.start + at as usize;
            let part = self.missing_part(source, &tree, &message);
            let part = part.map(|part| JinjaPart {
                span: Span::from_offsets(shift(part.span.start), shift(part.span.end)),
                ..part
            });
            self.found.push(TrialFailure {
                span: Span::from_offsets(range.start, end),
                words: message,
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
    fn try_any_values(
        &self,
        source: &str,
        tree: &Stmt<'_>,
        open: &[&str],
    ) -> Option<(String, bool)> {
        let mut values = vec![
            json!(true),
            json!(false),
            json!("text"),
            json!(3),
            json!([]),
            json!(["text"]),
        ];
        visit_all_exprs(tree, &mut |expr| match expr {
            Expr::Const(one) if values.len() < MAX_VALUES => {
                values.extend(one.value.as_str().map(Value::from));
            }
            _ => {}
        });
        let ends: Vec<_> = values
            .iter()
            .map(|value| self.try_render(source, open, value))
            .collect();
        let is_certain = ends.iter().all(Result::is_err);
        let mut failed = ends.into_iter().filter_map(Result::err);
        failed
            .find(|message| self.missing_part(source, tree, message).is_some())
            .map(|message| (message, is_certain))
    }

    /// Returns the part of a default that an error message names; of several, the one with the
    /// longest path.
    fn missing_part(&self, source: &str, tree: &Stmt<'_>, message: &str) -> Option<JinjaPart> {
        let mut found: Option<JinjaPart> = None;
        visit_all_exprs(tree, &mut |expr| {
            let own = variable_path(source, expr, PathSteps::FieldsAndItems)
                .filter(|own| !own.path.is_empty() && self.defaults.contains_key(&own.name));
            let is_longer = |own: &JinjaPart| {
                found
                    .as_ref()
                    .is_none_or(|other| own.path.len() > other.path.len())
            };
            let is_named = |own: &JinjaPart| {
                let written = own.span.slice(source);
                message.contains(written)
                    || written.ends_with(']') && message.contains(INDEX_NOTATION)
            };
            if let Some(own) = own.filter(|own| is_named(own) && is_longer(own)) {
                found = Some(own);
            }
        });
        found
    }

    /// Renders a statement after those that set known names, with the defaults and one value for
    /// all other names; returns the error message if it fails.
    fn try_render(&self, source: &str, open: &[&str], value: &Value) -> Result<(), String> {
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
            steps: MAX_TRIAL_STEPS,
        };
        match render_text(&text, with) {
            Err(RenderFailure::Jinja { detail, .. }) => Err(detail),
            Err(RenderFailure::TooLarge { limit }) => {
                Err(format!("it handles more than {limit} bytes in all"))
            }
            Ok(_) | Err(RenderFailure::TooLong { .. } | RenderFailure::TooCostly { .. }) => Ok(()),
        }
    }
}

fn visit_all_exprs<'s, 't>(tree: &'s Stmt<'t>, look: &mut impl FnMut(&'s Expr<'t>)) {
    visit_statements(tree, &mut |stmt| {
        for expr in statement_exprs(stmt) {
            visit_exprs(expr, look);
        }
    });
}

/// The outermost outputs and statements of a text.
fn outer_statements(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut depth = 0_usize;
    let mut start = 0;
    for tag in split_tags(text) {
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
