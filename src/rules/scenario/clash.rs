//! Expectations of one list that cannot hold together, or not at all, or not fail. Words them, since what is wrong is in the words.
//!
//! Only what must hold is held against each other: `all_of` with the rest, nothing under `not` and `any_of`.

use super::words::short;
use crate::base::span::{Span, Spanned};
use crate::kernel::context::Kind;
use crate::scenario::model::{AnswerTest, ContextExpectation, Counted, Expectation, Patterns, Selector, State};
use crate::scenario::pattern;
use crate::template::setting::Word;
use std::collections::BTreeMap;

/// One contradiction.
pub(super) struct Clash {
    /// Where.
    pub(super) at: Span,
    /// What, in words.
    pub(super) what: String,
    /// The other side.
    pub(super) against: Option<Span>,
    /// Whether it holds for ever, rather than fails for ever.
    pub(super) guard: bool,
}

type Report<'r> = dyn FnMut(Clash) + 'r;

fn clash(report: &mut Report<'_>, at: Span, against: Span, what: String) {
    report(Clash { at, what, against: Some(against), guard: false });
}

/// A choice of segments as a key.
type Place<'c> = (u8, &'c str);

fn place(selector: &Selector) -> Place<'_> {
    match selector {
        Selector::Id(id) => (0, &id.value),
        Selector::Kind(kind) => (1, Kind::word(kind.value)),
        Selector::Source(source) => (2, &source.value),
    }
}

/// What has been seen to hold, with its place.
#[derive(Default)]
struct Seen<'c> {
    states: BTreeMap<Place<'c>, (State, Span)>,
    whole: Option<(bool, Span)>,
    most: BTreeMap<Place<'c>, (u64, Span)>,
    least: BTreeMap<Place<'c>, (u64, Span)>,
    patterns: BTreeMap<(Option<Place<'c>>, &'c str), (bool, Span)>,
    settings: BTreeMap<(&'c str, &'c str), (&'c str, Span)>,
    sets: BTreeMap<&'static str, (Vec<&'c str>, Span)>,
}

/// Expectations on the context.
pub(super) fn context(all: &[Spanned<ContextExpectation>], report: &mut Report<'_>) {
    let mut seen = Seen::default();
    let mut open: Vec<&Spanned<ContextExpectation>> = all.iter().rev().collect();
    while let Some(one) = open.pop() {
        if let ContextExpectation::AllOf(inner) = &one.value {
            open.extend(inner.iter().rev());
        } else {
            seen.take(one, report);
        }
    }
}

impl<'c> Seen<'c> {
    fn take(&mut self, one: &'c Spanned<ContextExpectation>, report: &mut Report<'_>) {
        match &one.value {
            ContextExpectation::Segment { which, state } => self.state(which, *state, one.span, report),
            ContextExpectation::NothingCut(whole) => self.whole(*whole, one.span, report),
            ContextExpectation::Contains(patterns) => self.patterns(patterns, Must::Occur, report),
            ContextExpectation::Absent(patterns) => self.patterns(patterns, Must::BeAbsent, report),
            ContextExpectation::Tokens { of, max, min } => self.tokens(of, (*max, *min), report),
            ContextExpectation::Order(ids) => self.order(ids, report),
            ContextExpectation::Setting { name, value, node } => {
                let key = (name.value.word(), node.as_ref().map_or("", |node| &node.value));
                let (known, first) = *self.settings.entry(key).or_insert((&value.value, value.span));
                if known != value.value {
                    let what =
                        format!("`{}` is expected to be `{}` here and `{known}` before", name.value.word(), short(&value.value));
                    clash(report, value.span, first, what);
                }
            }
            ContextExpectation::Tools(names) => self.set("the tools", names, one.span, report),
            ContextExpectation::ProtectedPaths(paths) => self.set("the protected paths", paths, one.span, report),
            ContextExpectation::Model(name) => self.set("the model", std::slice::from_ref(name), one.span, report),
            ContextExpectation::Snapshot
            | ContextExpectation::Not(_)
            | ContextExpectation::AnyOf(_)
            | ContextExpectation::AllOf(_) => {}
        }
    }

    fn state(&mut self, which: &'c Selector, state: State, span: Span, report: &mut Report<'_>) {
        let (known, first) = *self.states.entry(place(which)).or_insert((state, span));
        if known != state {
            let name = short(place(which).1);
            clash(report, span, first, format!("`{name}` is expected to be {} here and {} before", state.word(), known.word()));
        }
        if let (State::Cut | State::Dropped, Some((true, whole))) = (state, self.whole) {
            clash(report, span, whole, format!("a segment is expected to be {}, and nothing to be cut", state.word()));
        }
    }

    fn whole(&mut self, whole: bool, span: Span, report: &mut Report<'_>) {
        match self.whole {
            Some((known, first)) if known != whole => {
                clash(report, span, first, "something and nothing is expected to be cut".to_owned());
            }
            Some(_) => {}
            None => self.whole = Some((whole, span)),
        }
        let lost = self.states.values().find(|(state, _)| matches!(state, State::Cut | State::Dropped));
        if let (true, Some((state, first))) = (whole, lost) {
            clash(report, span, *first, format!("nothing is expected to be cut, and a segment to be {}", state.word()));
        }
    }

    fn patterns(&mut self, patterns: &'c Patterns, must: Must, report: &mut Report<'_>) {
        let within = patterns.within.as_ref().map(place);
        for one in &patterns.patterns {
            // That a segment is there is an expectation, whatever it holds.
            if within.is_none() || must == Must::BeAbsent || !pattern::is_everywhere(&one.value) {
                pattern_clash(one, must, report);
            }
            let (known, first) = *self.patterns.entry((within, &one.value)).or_insert((must == Must::Occur, one.span));
            if known != (must == Must::Occur) {
                clash(report, one.span, first, "this pattern has to occur, and may not".to_owned());
            }
        }
        let is_gone = |state: &State| matches!(state, State::Absent | State::Dropped);
        let gone = within.and_then(|within| self.states.get(&within)).filter(|(state, _)| is_gone(state));
        if let (Must::Occur, Some((state, first)), Some(one)) = (must, gone, patterns.patterns.first()) {
            clash(report, one.span, *first, format!("this has to occur in a segment that is expected to be {}", state.word()));
        }
    }

    fn tokens(&mut self, of: &'c Counted, bounds: (Option<Spanned<u64>>, Option<Spanned<u64>>), report: &mut Report<'_>) {
        let key = match of {
            Counted::Total => (3, ""),
            Counted::Prefix => (4, ""),
            Counted::Segment(which) => place(which),
        };
        if let Some(max) = bounds.0 {
            let kept = self.most.entry(key).or_insert((max.value, max.span));
            *kept = (*kept).min((max.value, max.span));
        }
        if let Some(min) = bounds.1 {
            let kept = self.least.entry(key).or_insert((min.value, min.span));
            *kept = (*kept).max((min.value, min.span));
        }
        if let (Some((most, at)), Some((least, floor))) = (self.most.get(&key), self.least.get(&key))
            && most < least
        {
            clash(report, *at, *floor, format!("at most {most} tokens are allowed, and at least {least} are expected"));
        }
    }

    fn order(&self, ids: &'c [Spanned<String>], report: &mut Report<'_>) {
        let mut known: BTreeMap<&str, Span> = BTreeMap::new();
        for id in ids {
            if let Some(first) = known.insert(&id.value, id.span) {
                clash(report, id.span, first, format!("`{}` cannot stand before itself", short(&id.value)));
            }
            let state = self.states.get(&(0, &id.value));
            if let Some((state, first)) = state.filter(|(state, _)| matches!(state, State::Absent | State::Dropped)) {
                clash(
                    report,
                    id.span,
                    *first,
                    format!("`{}` has a place in the order and is expected to be {}", short(&id.value), state.word()),
                );
            }
        }
    }

    fn set(&mut self, what: &'static str, names: &'c [Spanned<String>], span: Span, report: &mut Report<'_>) {
        let mut sorted: Vec<&str> = names.iter().map(|name| name.value.as_str()).collect();
        sorted.sort_unstable();
        let (known, first) = self.sets.entry(what).or_insert_with(|| (sorted.clone(), span));
        if *known != sorted {
            clash(
                report,
                span,
                *first,
                format!("{what} are expected to be something else before").replace("model are", "model is"),
            );
        }
    }
}

/// What a pattern has to do.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Must {
    Occur,
    BeAbsent,
}

fn pattern_clash(one: &Spanned<String>, must: Must, report: &mut Report<'_>) {
    let (what, guard) = if pattern::is_impossible(&one.value) {
        match must {
            Must::Occur => ("no text matches this pattern, so it never occurs", false),
            Must::BeAbsent => ("no text matches this pattern, so it guards nothing", true),
        }
    } else if must == Must::BeAbsent && pattern::is_everywhere(&one.value) {
        ("every text matches this pattern, so it is never absent", false)
    } else if must == Must::Occur && pattern::is_everywhere(&one.value) {
        ("every text matches this pattern, so it expects nothing", true)
    } else {
        return;
    };
    report(Clash { at: one.span, what: what.to_owned(), against: None, guard });
}

/// Expectations on the answer. What only reports is held against nothing.
pub(super) fn answer(all: &[Spanned<Expectation>], report: &mut Report<'_>) {
    let mut patterns: BTreeMap<&str, (bool, Span)> = BTreeMap::new();
    let mut tools: BTreeMap<&str, (bool, Span)> = BTreeMap::new();
    let mut splits: Option<(bool, Span)> = None;
    let mut exact: Option<(&serde_json::Value, Span)> = None;
    let gates = all.iter().filter(|one| one.value.gate).map(|one| (&one.value.test, one.span));
    let mut open: Vec<(&AnswerTest, Span)> = gates.rev().collect();
    while let Some((test, span)) = open.pop() {
        #[allow(clippy::wildcard_enum_match_arm, reason = "no other expectations contradict each other")]
        match test {
            AnswerTest::AllOf(inner) => open.extend(inner.iter().rev().map(|one| (&one.value, one.span))),
            // That the path selects something is an expectation, whatever it is.
            AnswerTest::FieldMatches { pattern, .. } if pattern::is_everywhere(&pattern.value) => {}
            AnswerTest::FieldMatches { pattern, .. } => pattern_clash(pattern, Must::Occur, report),
            AnswerTest::Contains(found) | AnswerTest::Absent(found) => {
                let must = if matches!(test, AnswerTest::Contains(_)) { Must::Occur } else { Must::BeAbsent };
                for one in found {
                    pattern_clash(one, must, report);
                    let what = "this pattern has to occur, and may not";
                    opposite(&mut patterns, &one.value, (must == Must::Occur, one.span), what, report);
                }
            }
            AnswerTest::CallsTool(name) => {
                opposite(&mut tools, &name.value, (true, name.span), "this tool has to be called, and may not", report);
            }
            AnswerTest::NeverCallsTool(name) => {
                opposite(&mut tools, &name.value, (false, name.span), "this tool has to be called, and may not", report);
            }
            AnswerTest::Decomposes(value) => match splits {
                Some((known, first)) if known != *value => {
                    clash(report, span, first, "the answer has to split the work, and may not".to_owned());
                }
                Some(_) => {}
                None => splits = Some((*value, span)),
            },
            AnswerTest::Exact(value) => match exact {
                Some((known, first)) if known != value => {
                    clash(report, span, first, "the answer cannot equal two values".to_owned());
                }
                Some(_) => {}
                None => exact = Some((value, span)),
            },
            _ => {}
        }
    }
}

fn opposite<'c>(
    seen: &mut BTreeMap<&'c str, (bool, Span)>,
    key: &'c str,
    side: (bool, Span),
    what: &str,
    report: &mut Report<'_>,
) {
    let (known, first) = *seen.entry(key).or_insert(side);
    if known != side.0 {
        clash(report, side.1, first, what.to_owned());
    }
}
