//! CTX614: an expectation that always fails or never fails because of its form. `ctxc eval` detects
//! contradictions between expectations.

use super::scenario_prelude::*;
use crate::scenario::expect::own_check::{CheckProgram, OwnCheck};
use crate::scenario::expect::trajectory::Matching;
use crate::scenario::model::{AnswerTest, ContextExpectation};
use crate::scenario::pattern;
use std::collections::BTreeMap;

/// The case can only fail, or the expectation checks nothing.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        error,
        614,
        "impossible-expectation",
        "an expectation that always or never fails"
    ),
    Check::Case(check_case),
);

fn check_case(cx: &CaseCx<'_>, out: &mut Vec<Diagnostic>) {
    let mut open: Vec<&Spanned<ContextExpectation>> = cx.case.expect_context.iter().rev().collect();
    while let Some(one) = open.pop() {
        #[allow(
            clippy::wildcard_enum_match_arm,
            reason = "no other expectation is impossible by its form"
        )]
        match &one.value {
            ContextExpectation::AllOf(inner) => open.extend(inner.iter().rev()),
            ContextExpectation::Contains(found) => {
                // The existence of the segment is an expectation, regardless of its content.
                let must = if found.within.is_some() {
                    PatternGoal::OccurInSegment
                } else {
                    PatternGoal::Occur
                };
                check_patterns(cx, &found.patterns, must, out);
            }
            ContextExpectation::Absent(found) => {
                check_patterns(cx, &found.patterns, PatternGoal::BeAbsent, out);
            }
            ContextExpectation::Tokens {
                max: Some(max),
                min: Some(min),
                ..
            } if max.value < min.value => {
                let most = max.value;
                let least = min.value;
                let what =
                    format!("at most {most} tokens are allowed, and at least {least} are expected");
                out.push(contradiction_finding(cx, max.span, what, min.span));
            }
            ContextExpectation::Order(ids) => {
                report_repeated_ids(cx, ids, "cannot stand before itself", out);
            }
            ContextExpectation::Segments(ids) => report_repeated_ids(
                cx,
                ids,
                "is listed twice, and an id is unique in a context",
                out,
            ),
            _ => {}
        }
    }
    let gates = cx
        .case
        .expectations
        .iter()
        .filter(|one| one.value.gate)
        .map(|one| &one.value.test);
    let mut open: Vec<&AnswerTest> = gates.rev().collect();
    while let Some(test) = open.pop() {
        #[allow(
            clippy::wildcard_enum_match_arm,
            reason = "no other expectation is impossible by its form"
        )]
        match test {
            AnswerTest::AllOf(inner) => open.extend(inner.iter().rev().map(|one| &one.value)),
            // A selection by the path is an expectation, regardless of its content.
            AnswerTest::FieldMatches { pattern, .. } => {
                check_patterns(
                    cx,
                    std::slice::from_ref(pattern),
                    PatternGoal::OccurInSegment,
                    out,
                );
            }
            AnswerTest::Contains(found) => check_patterns(cx, found, PatternGoal::Occur, out),
            AnswerTest::Absent(found) => check_patterns(cx, found, PatternGoal::BeAbsent, out),
            AnswerTest::Survives(_) if cx.case.subject.value.compaction().is_none() => {
                let what = "`survives` is about a compaction, and the scenario has no `compaction`";
                out.push(cx.finding(&RULE.meta, cx.case.subject.span, what.to_owned()));
            }
            AnswerTest::CallsTool(name) => check_tool(cx, name, out),
            AnswerTest::Trajectory(expected) if expected.matching != Matching::Subset => {
                expected
                    .calls
                    .iter()
                    .for_each(|call| check_tool(cx, &call.name, out));
            }
            AnswerTest::Own(OwnCheck {
                what: CheckProgram::Python(function),
                ..
            }) if !is_function_path(&function.value) => {
                let what = format!(
                    "`{}` names no function of a module",
                    shorten(&function.value)
                );
                out.push(
                    cx.finding(&RULE.meta, function.span, what)
                        .help("write `module:function`, such as `checks.plan:owners`"),
                );
            }
            _ => {}
        }
    }
}

/// True if the text has the form `module:function`.
fn is_function_path(text: &str) -> bool {
    let is_name = |name: &str| {
        name.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_alphanumeric() || c == '_')
    };
    text.split_once(':')
        .is_some_and(|(module, function)| module.split('.').all(is_name) && is_name(function))
}

/// Reports an expected call of a tool that the role may not use.
fn check_tool(cx: &CaseCx<'_>, name: &Spanned<String>, out: &mut Vec<Diagnostic>) {
    let Some(role) = cx.case.subject.value.role() else {
        return;
    };
    let Some(tools) = cx
        .file
        .world
        .config
        .roles
        .get(role)
        .and_then(|role| role.tools.as_ref())
    else {
        return;
    };
    if name.value.contains('*') || tools.permits(&name.value) {
        return;
    }
    let what = format!(
        "the role `{role}` may not use the tool `{}`, so a call of it cannot be expected",
        shorten(&name.value)
    );
    let finding = cx
        .finding(&RULE.meta, name.span, what)
        .severity(Severity::Warning);
    let near = nearest_candidate(
        &name.value,
        tools.allowed.iter().map(|tool| tool.value.as_str()),
    );
    out.push(match near {
        Some(near) => finding.help(format!("did you mean `{near}`?")),
        None => finding,
    });
}

/// The goal of a pattern.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PatternGoal {
    Occur,
    /// The pattern occurs in a place that must exist.
    OccurInSegment,
    BeAbsent,
}

fn check_patterns(
    cx: &CaseCx<'_>,
    patterns: &[Spanned<String>],
    must: PatternGoal,
    out: &mut Vec<Diagnostic>,
) {
    for one in patterns {
        let never = pattern::never_matches(&one.value);
        let always = pattern::always_matches(&one.value);
        let (what, severity) = match must {
            PatternGoal::Occur | PatternGoal::OccurInSegment if never => (
                "no text matches this pattern, so it never occurs",
                Severity::Error,
            ),
            PatternGoal::BeAbsent if never => (
                "no text matches this pattern, so it guards nothing",
                Severity::Warning,
            ),
            PatternGoal::BeAbsent if always => (
                "every text matches this pattern, so it is never absent",
                Severity::Error,
            ),
            PatternGoal::Occur if always => (
                "every text matches this pattern, so it expects nothing",
                Severity::Warning,
            ),
            PatternGoal::Occur | PatternGoal::OccurInSegment | PatternGoal::BeAbsent => continue,
        };
        out.push(cx.finding(&RULE.meta, one.span, what).severity(severity));
    }
}

fn report_repeated_ids(
    cx: &CaseCx<'_>,
    ids: &[Spanned<String>],
    why: &str,
    out: &mut Vec<Diagnostic>,
) {
    let mut known: BTreeMap<&str, Span> = BTreeMap::new();
    for id in ids {
        if let Some(first) = known.insert(&id.value, id.span) {
            out.push(contradiction_finding(
                cx,
                id.span,
                format!("`{}` {why}", shorten(&id.value)),
                first,
            ));
        }
    }
}

fn contradiction_finding(cx: &CaseCx<'_>, at: Span, what: String, other: Span) -> Diagnostic {
    let finding = cx.finding(&RULE.meta, at, what);
    if cx.is_table_row() {
        finding
    } else {
        finding.label(other, "against this")
    }
}
