//! The verdict on one expectation with its reason: the expected and the found value and the place.
//! A failure always has a reason.

use crate::base::span::{Span, Spanned};
use crate::base::words::words;
use crate::kernel::context::Origin;
use serde::{Deserialize, Serialize};
use std::ops::Range;

words! {
    /// The outcome of an expectation.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum ExpectationOutcome {
        /// It holds.
        Pass = "pass",
        /// It does not hold.
        Fail = "fail",
        /// It could not be judged.
        Skipped = "skipped",
    }
}

/// A place in a context, an answer or a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResultPlace {
    /// The segment, by its id.
    pub segment: Option<String>,
    /// The byte range in the text of the segment, message or answer.
    pub range: Option<Range<usize>>,
    /// The origin of these bytes.
    pub origin: Option<Origin>,
    /// A place in a file: its path relative to the project, and a span if known.
    pub file: Option<(String, Option<Span>)>,
}

/// The expected and the found value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reason {
    /// The expected value, as a fragment that follows “expected”.
    pub expected: String,
    /// The found value, as a fragment that follows “found”.
    pub found: String,
    /// The place of the found value.
    pub place: Option<ResultPlace>,
    /// Further hints: existing alternatives, the nearest name.
    pub advice: Vec<String>,
    /// True if the outcome depends on an expectation that could not be judged, since the
    /// alternatives do not hold.
    pub is_undecided: bool,
    /// True if the subject is missing or cannot be read. The negation does not hold either.
    pub is_blind: bool,
    /// True if the outcome was found by a judge that is not trusted.
    pub only_informs: bool,
    /// The score from 0 to 1 that a judge or a check of the project gave.
    pub score: Option<f64>,
}

impl Reason {
    pub(super) fn new(expected: impl Into<String>, found: impl Into<String>) -> Self {
        Self {
            expected: expected.into(),
            found: found.into(),
            ..Self::default()
        }
    }

    /// Adds a place.
    pub(super) fn with_place(mut self, place: ResultPlace) -> Self {
        self.place = Some(place);
        self
    }

    /// Marks it as blind.
    pub(super) fn into_blind(mut self) -> Self {
        self.is_blind = true;
        self
    }

    /// Sets the score.
    pub(super) const fn with_score(mut self, score: Option<f64>) -> Self {
        self.score = score;
        self
    }

    /// Adds advice.
    pub(super) fn with_advice(mut self, advice: impl Into<String>) -> Self {
        self.advice.push(advice.into());
        self
    }
}

/// The part of an expectation in the score of its trial.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct ScorePart {
    /// Its own score, from 0 to 1: that of a judge or of a check of the project, else 1 if it holds;
    /// 0 if it was not judged.
    pub score: f64,
    /// Its weight.
    pub weight: f64,
}

impl ScorePart {
    /// The part of an expectation with a verdict; `graded` is its score, if it has one of its own.
    pub fn new(outcome: ExpectationOutcome, graded: Option<f64>, weight: f64) -> Self {
        let score = match outcome {
            ExpectationOutcome::Skipped => 0.0,
            ExpectationOutcome::Pass => graded.unwrap_or(1.0),
            ExpectationOutcome::Fail => graded.unwrap_or(0.0),
        };
        Self { score, weight }
    }
}

/// The verdict on one expectation.
#[derive(Clone, Debug, PartialEq)]
pub struct ExpectationVerdict {
    /// The text of the expectation.
    pub what: String,
    /// The outcome.
    pub outcome: ExpectationOutcome,
    /// True if it can fail the case.
    pub gate: bool,
    /// The reason.
    pub reason: Reason,
    /// Its span in the scenario's file.
    pub span: Span,
    /// Its part in the score of the trial; `None` if it has none.
    pub part: Option<ScorePart>,
}

impl ExpectationVerdict {
    /// The verdict on a gating expectation without a part in a score.
    pub(super) fn new(what: String, judged: JudgedOutcome, span: Span) -> Self {
        let (outcome, reason) = judged;
        Self {
            what,
            outcome,
            gate: true,
            reason,
            span,
            part: None,
        }
    }

    /// Returns true if it fails the case.
    pub fn is_failure(&self) -> bool {
        self.gate && self.outcome == ExpectationOutcome::Fail
    }
}

/// The demand of an expectation on something that may be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Presence {
    /// It has to be there.
    Required,
    /// It must not be there.
    Forbidden,
}

/// An outcome with its reason, not yet assigned to an expectation's span.
pub(super) type JudgedOutcome = (ExpectationOutcome, Reason);

/// The expectation holds.
pub(super) fn pass(expected: impl Into<String>, found: impl Into<String>) -> JudgedOutcome {
    (ExpectationOutcome::Pass, Reason::new(expected, found))
}

/// The expectation does not hold.
pub(super) fn fail(expected: impl Into<String>, found: impl Into<String>) -> JudgedOutcome {
    (ExpectationOutcome::Fail, Reason::new(expected, found))
}

/// A failure because the subject cannot be examined. The negation of the expectation fails as well.
pub(super) fn fail_blind(expected: impl Into<String>, why: impl Into<String>) -> JudgedOutcome {
    (
        ExpectationOutcome::Fail,
        Reason::new(expected, why).into_blind(),
    )
}

/// The expectation was not judged.
pub(super) fn skip(expected: impl Into<String>, why: &str) -> JudgedOutcome {
    (ExpectationOutcome::Skipped, Reason::new(expected, why))
}

/// The expectation was judged by a judge that is not trusted.
pub(super) fn skip_informing(expected: impl Into<String>, found: &str) -> JudgedOutcome {
    let reason = Reason::new(expected, found);
    (
        ExpectationOutcome::Skipped,
        Reason {
            only_informs: true,
            ..reason
        },
    )
}

/// The expectation could not be judged, and the verdict of the case depends on it.
pub(super) fn skip_undecided(expected: impl Into<String>, why: &str) -> JudgedOutcome {
    (
        ExpectationOutcome::Skipped,
        Reason {
            is_undecided: true,
            ..Reason::new(expected, why)
        },
    )
}

/// The bounds of a number, as far as an expectation gives them.
#[derive(Clone, Copy, Debug)]
pub(super) struct CountBounds<'e> {
    pub(super) min: Option<&'e Spanned<u64>>,
    pub(super) max: Option<&'e Spanned<u64>>,
}

/// Judges a number by its bounds, counted by `counter`.
pub(super) fn judge_count(
    figure: u64,
    what: String,
    bounds: CountBounds<'_>,
    counter: &str,
) -> JudgedOutcome {
    let CountBounds { min, max } = bounds;
    match (
        max.filter(|max| figure > max.value),
        min.filter(|min| figure < min.value),
    ) {
        (Some(max), _) => fail(
            format!("at most {} {what}", max.value),
            format!("{figure}, {} too many ({counter})", figure - max.value),
        ),
        (None, Some(min)) => fail(
            format!("at least {} {what}", min.value),
            format!("{figure}, {} too few ({counter})", min.value - figure),
        ),
        (None, None) => pass(what, figure.to_string()),
    }
}

/// Judges a name, such as that of a model. `none` describes a missing one.
pub(super) fn judge_name(
    what: &str,
    expected: &str,
    found: Option<&str>,
    none: &str,
) -> JudgedOutcome {
    let words = format!("{what} `{expected}`");
    match found {
        Some(found) if found == expected => pass(words, "it"),
        Some(found) => fail(words, format!("`{found}`")),
        None => fail_blind(words, none),
    }
}

/// A request that differs from the stored one: the first difference, and some of the others.
pub(super) fn differing_request(
    expected: String,
    place: ResultPlace,
    partings: impl IntoIterator<Item = String>,
) -> JudgedOutcome {
    const SHOWN: usize = 4;
    let mut partings = partings.into_iter();
    let mut reason = Reason::new(
        expected,
        partings.next().unwrap_or_else(|| "another".to_owned()),
    )
    .with_place(place);
    for other in partings.by_ref().take(SHOWN) {
        reason = reason.with_advice(format!("and {other}"));
    }
    let more = partings.count();
    if more > 0 {
        reason = reason.with_advice(format!("and at {more} more places"));
    }
    (
        ExpectationOutcome::Fail,
        reason.with_advice("`ctxc eval --accept` shows what changed and stores it"),
    )
}

/// Negation over three outcomes: a skipped expectation stays skipped.
pub(super) fn negate(judged: JudgedOutcome, what: &str) -> JudgedOutcome {
    let (outcome, reason) = judged;
    match outcome {
        ExpectationOutcome::Pass => {
            let reason = Reason {
                expected: format!("not: {what}"),
                ..reason
            };
            (ExpectationOutcome::Fail, reason)
        }
        ExpectationOutcome::Fail if reason.is_blind => {
            let reason = Reason {
                expected: format!("not: {what}"),
                ..reason
            };
            (
                ExpectationOutcome::Fail,
                reason.with_advice("it could not be checked, so `not` does not hold either"),
            )
        }
        ExpectationOutcome::Fail => (
            ExpectationOutcome::Pass,
            Reason::new(format!("not: {what}"), reason.found),
        ),
        ExpectationOutcome::Skipped => (ExpectationOutcome::Skipped, reason),
    }
}

/// True if at least one holds; a skipped one leaves the result open.
pub(super) fn any_holds(judged: Vec<JudgedOutcome>) -> JudgedOutcome {
    let outcome = if judged
        .iter()
        .any(|(outcome, _)| *outcome == ExpectationOutcome::Pass)
    {
        ExpectationOutcome::Pass
    } else if judged
        .iter()
        .any(|(outcome, _)| *outcome == ExpectationOutcome::Skipped)
    {
        ExpectationOutcome::Skipped
    } else {
        ExpectationOutcome::Fail
    };
    let mut reason = match outcome {
        ExpectationOutcome::Pass => judged
            .into_iter()
            .find(|(outcome, _)| *outcome == ExpectationOutcome::Pass)
            .map(|(_, reason)| reason),
        ExpectationOutcome::Skipped => {
            let is_open = judged.iter().any(|(outcome, reason)| {
                *outcome == ExpectationOutcome::Fail || reason.is_undecided
            });
            let skipped = judged
                .into_iter()
                .find(|(outcome, _)| *outcome == ExpectationOutcome::Skipped);
            skipped.map(|(_, reason)| Reason {
                is_undecided: is_open,
                ..reason
            })
        }
        ExpectationOutcome::Fail => {
            let join = |part: fn(&Reason) -> &str, between: &str| {
                judged
                    .iter()
                    .map(|(_, reason)| part(reason))
                    .collect::<Vec<_>>()
                    .join(between)
            };
            let blind = judged.iter().any(|(_, reason)| reason.is_blind);
            let mut reason = Reason::new(
                join(|reason| &reason.expected, ", or "),
                join(|reason| &reason.found, "; and "),
            );
            reason.place = judged.iter().find_map(|(_, reason)| reason.place.clone());
            reason.advice = judged
                .into_iter()
                .flat_map(|(_, reason)| reason.advice)
                .collect();
            reason.advice.dedup();
            reason.is_blind = blind;
            Some(reason)
        }
    };
    (outcome, reason.take().unwrap_or_default())
}

/// True if all hold. One expectation that was judged and does not hold is enough for a negation,
/// whatever else could not be judged.
pub(super) fn all_hold(judged: &[JudgedOutcome]) -> JudgedOutcome {
    let worst = [ExpectationOutcome::Fail, ExpectationOutcome::Skipped];
    for worst in worst {
        let mut found = judged.iter().filter(|(outcome, _)| *outcome == worst);
        if let Some((_, reason)) = found.clone().next() {
            let is_open = found.clone().any(|(_, reason)| reason.is_undecided);
            let is_blind = found.all(|(_, reason)| reason.is_blind);
            return (
                worst,
                Reason {
                    is_undecided: is_open,
                    is_blind,
                    ..reason.clone()
                },
            );
        }
    }
    let words: Vec<&str> = judged
        .iter()
        .map(|(_, reason)| reason.expected.as_str())
        .collect();
    (
        ExpectationOutcome::Pass,
        Reason::new(words.join(", and "), "all of it"),
    )
}
