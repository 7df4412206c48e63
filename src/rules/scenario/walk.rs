//! Traversals of a case: nested expectations, segments by id or source, files of the case.

use crate::base::span::{Span, Spanned};
use crate::scenario::expect::judge::JudgeTest;
use crate::scenario::expect::segments::SegmentName;
use crate::scenario::expect::{answer, context};
use crate::scenario::model::{
    ContextExpectation, FrozenConversation, FrozenText, FrozenValue, ScenarioCase, SegmentState,
};

/// The effect of an expectation about a segment that cannot exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MissingNameEffect {
    /// The expectation always fails.
    Fails,
    /// Under `not`: fails too, unless a change of the project could add the segment.
    Opposite,
    /// The expectation may hold: it expects absence, or stands under `any_of`.
    MayHold,
}

/// Calls `take` for each segment name in the expectations.
pub(crate) fn for_each_segment_name<'c>(
    all: &'c [Spanned<ContextExpectation>],
    take: &mut dyn FnMut(SegmentName<'c>, MissingNameEffect),
) {
    let mut open: Vec<(&Spanned<ContextExpectation>, MissingNameEffect)> = all
        .iter()
        .rev()
        .map(|one| (one, MissingNameEffect::Fails))
        .collect();
    while let Some((one, stake)) = open.pop() {
        let is_guard = matches!(
            &one.value,
            ContextExpectation::Segment {
                state: SegmentState::Absent,
                ..
            }
        );
        for name in one.value.segment_names() {
            take(
                name,
                if is_guard && stake == MissingNameEffect::Fails {
                    MissingNameEffect::MayHold
                } else {
                    stake
                },
            );
        }
        #[allow(
            clippy::wildcard_enum_match_arm,
            reason = "no other expectation holds others"
        )]
        match &one.value {
            ContextExpectation::Not(inner) => {
                open.push((
                    inner,
                    if stake == MissingNameEffect::MayHold {
                        stake
                    } else {
                        MissingNameEffect::Opposite
                    },
                ));
            }
            ContextExpectation::AnyOf(inner) => open.extend(
                inner
                    .iter()
                    .rev()
                    .map(|one| (one, MissingNameEffect::MayHold)),
            ),
            ContextExpectation::AllOf(inner) => {
                open.extend(inner.iter().rev().map(|one| (one, stake)));
            }
            _ => {}
        }
    }
}

/// Calls `take` for each file that a case reads, as written.
pub(super) fn for_each_file<'c>(case: &'c ScenarioCase, take: &mut dyn FnMut(&'c str, Span)) {
    let situation = &case.situation;
    let contents = situation
        .files
        .values()
        .chain(situation.matches.iter().map(|found| &found.text));
    for content in contents {
        if let FrozenText::File(path) = &content.value {
            take(path, content.span);
        }
    }
    for value in situation.inputs.values().chain(situation.results.values()) {
        if let FrozenValue::File(path) = &value.value {
            take(path, value.span);
        }
    }
    if let Some(history) = &situation.history
        && let FrozenConversation::File(path) = &history.value
    {
        take(path, history.span);
    }
    for_each_schema_file(case, take);
    for (_, path) in rubrics(case) {
        take(&path.value, path.span);
    }
}

/// The rubrics of a case, with the expectations that name them.
pub(super) fn rubrics(case: &ScenarioCase) -> impl Iterator<Item = (&JudgeTest, &Spanned<String>)> {
    answer::all_tests(&case.expectations)
        .filter_map(|(test, _)| test.judge_test())
        .filter_map(|test| Some((test, test.rubric_file()?)))
}

/// Calls `take` for each JSON Schema file of a case.
pub(super) fn for_each_schema_file<'c>(
    case: &'c ScenarioCase,
    take: &mut dyn FnMut(&'c str, Span),
) {
    for (test, span) in answer::all_tests(&case.expectations) {
        test.schema_file()
            .into_iter()
            .for_each(|path| take(path, span));
    }
    for test in context::all_expectations(&case.expect_context) {
        test.value
            .schema_files()
            .for_each(|path| take(path, test.span));
    }
}
