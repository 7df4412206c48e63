//! Expectations on the context in words, as reports name them.

use super::select::named;
use crate::base::span::Spanned;
use crate::scenario::model::{ContextExpectation, Counted, Patterns, Selector, State};
use crate::template::setting::{SettingName, Word};

/// The word of a state.
pub(super) const fn state(state: State) -> &'static str {
    match state {
        State::Kept => "kept",
        State::Cut => "cut",
        State::Dropped => "dropped",
        State::Absent => "absent",
    }
}

/// Names in backquotes.
pub(super) fn quoted(names: &[Spanned<String>]) -> String {
    if names.is_empty() {
        return "none".to_owned();
    }
    names.iter().map(|name| format!("`{}`", name.value)).collect::<Vec<_>>().join(", ")
}

/// Patterns between slashes.
pub(super) fn slashed(patterns: &[Spanned<String>]) -> String {
    patterns.iter().map(|pattern| format!("/{}/", pattern.value)).collect::<Vec<_>>().join(", ")
}

/// Where patterns are looked for.
pub(super) fn within(which: Option<&Selector>) -> String {
    which.map_or_else(|| "the context".to_owned(), named)
}

/// What is counted.
pub(super) fn counted(of: &Counted) -> String {
    match of {
        Counted::Total => "tokens in all".to_owned(),
        Counted::Prefix => "tokens of the reusable prefix".to_owned(),
        Counted::Segment(which) => format!("tokens of {}", named(which)),
    }
}

/// A setting of a node.
pub(super) fn setting(name: SettingName, node: Option<&Spanned<String>>) -> String {
    node.map_or_else(|| name.word().to_owned(), |node| format!("{} of {}", name.word(), node.value))
}

/// An expectation in words.
pub fn described(expectation: &ContextExpectation) -> String {
    let patterns = |verb: &str, Patterns { within: place, patterns }: &Patterns| {
        format!("{} {verb} {}", within(place.as_ref()), slashed(patterns))
    };
    let list = |inner: &[Spanned<ContextExpectation>], between: &str| {
        inner.iter().map(|inner| described(&inner.value)).collect::<Vec<_>>().join(between)
    };
    match expectation {
        ContextExpectation::Segment { which, state: expected } => format!("{} {}", named(which), state(*expected)),
        ContextExpectation::Contains(found) => patterns("contains", found),
        ContextExpectation::Absent(found) => patterns("does not contain", found),
        ContextExpectation::Order(ids) => format!("order {}", quoted(ids)),
        ContextExpectation::Tokens { of, max, min } => {
            let max = max.as_ref().map(|max| format!("at most {}", max.value));
            let min = min.as_ref().map(|min| format!("at least {}", min.value));
            let bounds: Vec<String> = min.into_iter().chain(max).collect();
            format!("{} {}", counted(of), bounds.join(" and "))
        }
        ContextExpectation::NothingCut(true) => "nothing cut".to_owned(),
        ContextExpectation::NothingCut(false) => "something cut".to_owned(),
        ContextExpectation::Setting { name, value, node } => {
            format!("setting {} is {}", setting(name.value, node.as_ref()), value.value)
        }
        ContextExpectation::Tools(names) => format!("tools {}", quoted(names)),
        ContextExpectation::Model(name) => format!("model `{}`", name.value),
        ContextExpectation::ProtectedPaths(paths) => format!("protected paths {}", quoted(paths)),
        ContextExpectation::Snapshot => "snapshot".to_owned(),
        ContextExpectation::Not(inner) => format!("not ({})", described(&inner.value)),
        ContextExpectation::AnyOf(inner) => format!("any of ({})", list(inner, "; ")),
        ContextExpectation::AllOf(inner) => format!("all of ({})", list(inner, "; ")),
    }
}
