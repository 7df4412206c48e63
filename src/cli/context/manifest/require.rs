//! Conditions on `manifest_tokens`, which only a manifest can decide; reported whenever one is
//! made.
//!
//! The tokens of an agent are those known before a run, in the form of the request. Tokens that a
//! run adds are limited by budgets.

use crate::base::rule_meta::Severity;
use crate::base::span::Spanned;
use crate::cli::context::project::Compiled;
use crate::cli::prelude::*;
use crate::context::manifest::{Entry, Manifest};
use crate::project::require::{Condition, Measure, Requirement, Test};
use crate::registry::Registry;

/// A condition that an agent does not meet.
struct FailedCondition {
    level: Severity,
    message: String,
}

/// Prints the failed conditions; returns an error if one has severity error.
pub(super) fn met(project: &Compiled, manifest: &Manifest, cx: &mut Cx) -> Result<()> {
    let (errors, others): (Vec<FailedCondition>, Vec<FailedCondition>) = unmet(project, manifest)
        .into_iter()
        .partition(|unmet| unmet.level == Severity::Error);
    for FailedCondition { level, message } in others {
        cx.note(&format!("{level}: {message}"));
    }
    let mut errors = errors.into_iter().map(|unmet| unmet.message);
    let Some(first) = errors.next() else {
        return Ok(());
    };
    Err(errors
        .map(|message| format!("and {message}"))
        .fold(CliError::new(Kind::Findings, first), CliError::hint))
}

/// Returns the failed conditions on tokens of all agents of the manifest, in the order of the
/// agents.
fn unmet(project: &Compiled, manifest: &Manifest) -> Vec<FailedCondition> {
    let asks = |requirement: &&Requirement| {
        requirement.conditions.iter().any(|condition| {
            matches!(
                condition.value.test,
                Test::Number(Measure::ManifestTokens, ..)
            )
        })
    };
    let asked: Vec<&Requirement> = project.config.requirements.iter().filter(asks).collect();
    let mut out = Vec::new();
    if asked.is_empty() {
        return out;
    }
    for entry in &manifest.entries {
        for requirement in asked
            .iter()
            .filter(|requirement| is_about(requirement, entry, &project.registry))
        {
            out.extend(of_entry(project, requirement, entry));
        }
    }
    out
}

/// Returns true if a requirement applies to an agent, by its role and its task.
fn is_about(requirement: &Requirement, entry: &Entry, registry: &Registry) -> bool {
    let selector = &requirement.selector;
    let Some(task) = registry.find(&entry.task) else {
        return false;
    };
    let any = |words: &[Spanned<String>], found: Option<&str>| {
        words.is_empty() || words.iter().any(|word| Some(word.value.as_str()) == found)
    };
    let standard = (task.operator() == "atomic").then_some("standard");
    any(&selector.role, entry.role.as_deref())
        && any(&selector.operator, Some(task.operator()))
        && any(&selector.subtype, task.subtype().or(standard))
        && selector
            .name
            .as_ref()
            .is_none_or(|globs| globs.matches_name(&entry.task))
        && selector.path.as_ref().is_none_or(|globs| {
            task.source()
                .is_ok_and(|source| globs.matches(&source.path))
        })
}

fn of_entry(project: &Compiled, requirement: &Requirement, entry: &Entry) -> Vec<FailedCondition> {
    let tokens = entry.total.expected() as u64;
    let fails = |test: &Test| matches!(test, Test::Number(Measure::ManifestTokens, order, limit) if !order.holds(tokens, *limit));
    let why = requirement
        .reason
        .as_ref()
        .map_or_else(String::new, |reason| format!(": {reason}"));
    let told = |condition: &Spanned<Condition>| {
        let at = project
            .config
            .position(requirement.file, condition.span.start);
        let at = at.map_or_else(String::new, |(path, start)| {
            format!("{path}:{}: ", start.line)
        });
        let message = format!(
            "{at}{} has {} tokens, and the project requires `{}`{why}",
            entry.title(),
            thousands(entry.total.expected()),
            condition.value.text
        );
        FailedCondition {
            level: requirement.level,
            message,
        }
    };
    requirement
        .conditions
        .iter()
        .filter(|condition| fails(&condition.value.test))
        .map(told)
        .collect()
}
