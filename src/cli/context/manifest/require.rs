//! Conditions on `manifest_tokens`, which only a manifest can decide; reported whenever one is
//! made.
//!
//! The tokens of an agent are those known before a run, in the form of the request. Tokens that a
//! run adds are limited by budgets.

use crate::base::rule_meta::Severity;
use crate::base::span::Spanned;
use crate::cli::context::project::CompiledProject;
use crate::cli::prelude::*;
use crate::context::manifest::{Entry, Manifest};
use crate::project::require::{Condition, ConditionTest, Measure, Requirement};
use crate::registry::Registry;

/// A condition that an agent does not meet.
struct FailedCondition {
    level: Severity,
    message: String,
}

/// Prints the failed conditions; returns an error if one has severity error.
pub(super) fn check_conditions(
    project: &CompiledProject,
    manifest: &Manifest,
    cx: &mut Cx,
) -> Result<()> {
    let (errors, others): (Vec<FailedCondition>, Vec<FailedCondition>) =
        failed_conditions(project, manifest)
            .into_iter()
            .partition(|unmet| unmet.level == Severity::Error);
    for FailedCondition { level, message } in others {
        cx.print_note(&format!("{level}: {message}"));
    }
    let mut errors = errors.into_iter().map(|unmet| unmet.message);
    let Some(first) = errors.next() else {
        return Ok(());
    };
    Err(errors.map(|message| format!("and {message}")).fold(
        CliError::new(CliErrorKind::Findings, first),
        CliError::with_hint,
    ))
}

/// Returns the failed conditions on tokens of all agents of the manifest, in the order of the
/// agents.
fn failed_conditions(project: &CompiledProject, manifest: &Manifest) -> Vec<FailedCondition> {
    let is_applicable = |requirement: &&Requirement| {
        requirement.conditions.iter().any(|condition| {
            matches!(
                condition.value.test,
                ConditionTest::Number(Measure::ManifestTokens, ..)
            )
        })
    };
    let applicable: Vec<&Requirement> = project
        .config
        .requirements
        .iter()
        .filter(is_applicable)
        .collect();
    let mut out = Vec::new();
    if applicable.is_empty() {
        return out;
    }
    for entry in &manifest.entries {
        for requirement in applicable
            .iter()
            .filter(|requirement| applies_to(requirement, entry, &project.registry))
        {
            out.extend(entry_failures(project, requirement, entry));
        }
    }
    out
}

/// Returns true if a requirement applies to an agent, by its role and its task.
fn applies_to(requirement: &Requirement, entry: &Entry, registry: &Registry) -> bool {
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

fn entry_failures(
    project: &CompiledProject,
    requirement: &Requirement,
    entry: &Entry,
) -> Vec<FailedCondition> {
    let tokens = entry.total.expected_tokens() as u64;
    let fails = |test: &ConditionTest| matches!(test, ConditionTest::Number(Measure::ManifestTokens, order, limit) if !order.is_satisfied(tokens, *limit));
    let why = requirement
        .reason
        .as_ref()
        .map_or_else(String::new, |reason| format!(": {reason}"));
    let describe = |condition: &Spanned<Condition>| {
        let at = project
            .config
            .position(requirement.file, condition.span.start);
        let at = at.map_or_else(String::new, |(path, start)| {
            format!("{path}:{}: ", start.line)
        });
        let message = format!(
            "{at}{} has {} tokens, and the project requires `{}`{why}",
            entry.title(),
            format_thousands(entry.total.expected_tokens()),
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
        .map(describe)
        .collect()
}
