//! What a case names: its expectations with those inside them, segments by id or source, files beside it.

use crate::base::span::{Span, Spanned};
use crate::scenario::model::{
    AnswerTest, Case, Content, ContextExpectation, Conversation, Counted, Frozen, Patterns, Selector, State,
};

/// Whether an expectation fails for ever where it names nothing, or may hold all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stake {
    /// It can only fail.
    Fails,
    /// Under `not` it fails too, but where a change of the project could bring what it names.
    Opposite,
    /// That something is absent holds, and under `any_of` so may everything.
    MayHold,
}

/// How expectations name segments.
#[derive(Clone, Copy, Debug)]
pub(super) enum Name<'c> {
    /// By an id.
    Id(&'c Spanned<String>),
    /// By what their text comes from.
    Source(&'c Spanned<String>),
}

/// The names of segments in expectations.
pub(super) fn named<'c>(all: &'c [Spanned<ContextExpectation>], take: &mut dyn FnMut(Name<'c>, Stake)) {
    let mut open: Vec<(&Spanned<ContextExpectation>, Stake)> = all.iter().rev().map(|one| (one, Stake::Fails)).collect();
    let mut found = Vec::new();
    while let Some((one, stake)) = open.pop() {
        let is_guard = matches!(&one.value, ContextExpectation::Segment { state: State::Absent, .. });
        names(&one.value, &mut found);
        for name in found.drain(..) {
            take(name, if is_guard && stake == Stake::Fails { Stake::MayHold } else { stake });
        }
        #[allow(clippy::wildcard_enum_match_arm, reason = "no other expectation holds others")]
        match &one.value {
            ContextExpectation::Not(inner) => {
                open.push((inner, if stake == Stake::MayHold { stake } else { Stake::Opposite }));
            }
            ContextExpectation::AnyOf(inner) => open.extend(inner.iter().rev().map(|one| (one, Stake::MayHold))),
            ContextExpectation::AllOf(inner) => open.extend(inner.iter().rev().map(|one| (one, stake))),
            _ => {}
        }
    }
}

/// Every expectation on the context, with those that others are composed of.
pub(super) fn context<'c>(all: &'c [Spanned<ContextExpectation>], take: &mut dyn FnMut(&'c Spanned<ContextExpectation>)) {
    let mut open: Vec<&Spanned<ContextExpectation>> = all.iter().rev().collect();
    while let Some(one) = open.pop() {
        take(one);
        #[allow(clippy::wildcard_enum_match_arm, reason = "no other expectation holds others")]
        match &one.value {
            ContextExpectation::Not(inner) => open.push(inner),
            ContextExpectation::AnyOf(inner) | ContextExpectation::AllOf(inner) => open.extend(inner.iter().rev()),
            _ => {}
        }
    }
}

/// The names of segments in one expectation.
fn names<'c>(expectation: &'c ContextExpectation, out: &mut Vec<Name<'c>>) {
    let selector = match expectation {
        ContextExpectation::Segment { which, .. } | ContextExpectation::Tokens { of: Counted::Segment(which), .. } => Some(which),
        ContextExpectation::Contains(Patterns { within, .. }) | ContextExpectation::Absent(Patterns { within, .. }) => {
            within.as_ref()
        }
        ContextExpectation::Order(ids) => {
            out.extend(ids.iter().map(Name::Id));
            None
        }
        ContextExpectation::Tokens { .. }
        | ContextExpectation::NothingCut(_)
        | ContextExpectation::Setting { .. }
        | ContextExpectation::Tools(_)
        | ContextExpectation::Model(_)
        | ContextExpectation::ProtectedPaths(_)
        | ContextExpectation::Snapshot
        | ContextExpectation::Not(_)
        | ContextExpectation::AnyOf(_)
        | ContextExpectation::AllOf(_) => None,
    };
    match selector {
        Some(Selector::Id(id)) => out.push(Name::Id(id)),
        Some(Selector::Source(name)) => out.push(Name::Source(name)),
        Some(Selector::Kind(_)) | None => {}
    }
}

/// The files that a case takes something from, as written.
pub(super) fn files<'c>(case: &'c Case, take: &mut dyn FnMut(&'c str, Span)) {
    let situation = &case.situation;
    let contents = situation.files.values().chain(situation.matches.iter().map(|found| &found.text));
    for content in contents {
        if let Content::File(path) = &content.value {
            take(path, content.span);
        }
    }
    for value in situation.inputs.values().chain(situation.results.values()) {
        if let Frozen::File(path) = &value.value {
            take(path, value.span);
        }
    }
    if let Some(history) = &situation.history
        && let Conversation::File(path) = &history.value
    {
        take(path, history.span);
    }
    schemas(case, take);
}

/// The files of JSON Schemas that a case names.
pub(super) fn schemas<'c>(case: &'c Case, take: &mut dyn FnMut(&'c str, Span)) {
    let mut open: Vec<(&AnswerTest, Span)> = case.expectations.iter().map(|one| (&one.value.test, one.span)).collect();
    while let Some((test, span)) = open.pop() {
        #[allow(clippy::wildcard_enum_match_arm, reason = "no other expectation names a file or holds others")]
        match test {
            AnswerTest::Schema(Frozen::File(path)) => take(path, span),
            AnswerTest::Not(inner) => open.push((&inner.value, inner.span)),
            AnswerTest::AnyOf(inner) | AnswerTest::AllOf(inner) => open.extend(inner.iter().map(|one| (&one.value, one.span))),
            _ => {}
        }
    }
}
