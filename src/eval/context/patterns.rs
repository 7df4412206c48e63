//! `contains` and `absent`: patterns in the text of an agent's context.

use super::rendered_segments::{
    missing_reason, retained_range, retained_text, segment_origin, segment_place, select_segments,
};
use crate::eval::prepared_case::SeenContext;
use crate::eval::verdict::{ExpectationOutcome, JudgedOutcome, Reason, ResultPlace};
use crate::kernel::assembler::SegmentReport;
use crate::kernel::context::Kind;
use crate::scenario::model::{PatternTest, SegmentSelector};
use std::ops::Range;

/// The maximum length of a displayed match, in bytes.
const MAX_EXCERPT_BYTES: usize = 60;

/// The texts that a pattern is searched in.
enum SearchedTexts<'a> {
    /// The texts of segments that were retained.
    Segments(Vec<&'a SegmentReport>),
    /// The messages as sent, and the tools.
    Messages,
}

/// A match of a pattern.
struct PatternMatch {
    place: ResultPlace,
    excerpt: String,
}

/// Judges patterns that must all occur.
pub(super) fn judge_contains(seen: &SeenContext<'_>, patterns: &PatternTest) -> JudgedOutcome {
    let texts = match select_texts(seen, patterns, "to contain") {
        Ok(texts) => texts,
        Err(reason) => return (ExpectationOutcome::Fail, *reason),
    };
    let place = patterns.describe_place();
    for pattern in &patterns.patterns {
        let expected = format!("{place} to contain /{}/", pattern.value);
        match first_match(seen, &texts, &pattern.value) {
            Ok(Some(_)) => {}
            Ok(None) => {
                return (
                    ExpectationOutcome::Fail,
                    unmatched_reason(seen, &texts, expected),
                );
            }
            Err(why) => {
                return (
                    ExpectationOutcome::Fail,
                    Reason::new(expected, why).into_blind(),
                );
            }
        }
    }
    (
        ExpectationOutcome::Pass,
        Reason::new(
            format!("{place} to contain {}", patterns.describe()),
            "each",
        ),
    )
}

/// Judges patterns that must not occur.
pub(super) fn judge_absent(seen: &SeenContext<'_>, patterns: &PatternTest) -> JudgedOutcome {
    let texts = match select_texts(seen, patterns, "not to contain") {
        Ok(texts) => texts,
        Err(reason) => {
            let id = patterns
                .within
                .as_ref()
                .map_or_else(String::new, SegmentSelector::describe);
            let advice = format!(
                "{id} is not part of this context; to expect that, write `segment: {{…, state: absent}}`"
            );
            return (ExpectationOutcome::Fail, reason.with_advice(advice));
        }
    };
    let place = patterns.describe_place();
    for pattern in &patterns.patterns {
        let expected = format!("{place} not to contain /{}/", pattern.value);
        match first_match(seen, &texts, &pattern.value) {
            Ok(None) => {}
            Ok(Some(hit)) => {
                return (
                    ExpectationOutcome::Fail,
                    Reason::new(expected, hit.excerpt).with_place(hit.place),
                );
            }
            Err(why) => {
                return (
                    ExpectationOutcome::Fail,
                    Reason::new(expected, why).into_blind(),
                );
            }
        }
    }
    (
        ExpectationOutcome::Pass,
        Reason::new(
            format!("{place} not to contain {}", patterns.describe()),
            "none",
        ),
    )
}

fn select_texts<'a>(
    seen: &SeenContext<'a>,
    patterns: &PatternTest,
    verb: &str,
) -> Result<SearchedTexts<'a>, Box<Reason>> {
    let Some(which) = &patterns.within else {
        return Ok(SearchedTexts::Messages);
    };
    let found = select_segments(seen.assembly, which);
    if !found.is_empty() {
        return Ok(SearchedTexts::Segments(found));
    }
    let expected = format!("{} {verb} {}", which.describe(), patterns.describe());
    Err(Box::new(
        missing_reason(seen.assembly, which, expected).into_blind(),
    ))
}

/// The first match of a pattern.
fn first_match(
    seen: &SeenContext<'_>,
    texts: &SearchedTexts<'_>,
    pattern: &str,
) -> Result<Option<PatternMatch>, String> {
    match texts {
        SearchedTexts::Segments(accounts) => {
            for account in accounts {
                let text = retained_text(account);
                if let Some(range) = seen.case.run.patterns.find_pattern(pattern, &text)? {
                    return Ok(Some(segment_match(account, &text, range)));
                }
            }
        }
        SearchedTexts::Messages => {
            for message in &seen.assembly.messages {
                let text = message.text.text();
                if let Some(range) = seen.case.run.patterns.find_pattern(pattern, text)? {
                    let excerpt = format!(
                        "{} in the {} message",
                        quote_match(text, &range),
                        message.speaker.word()
                    );
                    let part = message.text.slice(range.start..text.len());
                    let origin = part
                        .stretches()
                        .first()
                        .map(|stretch| stretch.origin.clone());
                    let place = ResultPlace {
                        range: Some(range),
                        origin,
                        ..ResultPlace::default()
                    };
                    return Ok(Some(PatternMatch { place, excerpt }));
                }
            }
            let all = seen.assembly.report.segments.iter();
            return first_match(
                seen,
                &SearchedTexts::Segments(
                    all.filter(|account| account.segment.kind == Kind::Tools)
                        .collect(),
                ),
                pattern,
            );
        }
    }
    Ok(None)
}

fn segment_match(account: &SegmentReport, text: &str, range: Range<usize>) -> PatternMatch {
    let excerpt = quote_match(text, &range);
    let start = retained_range(account).start;
    let range = range.start + start..range.end + start;
    let origin = segment_origin(account, range.start);
    let place = ResultPlace {
        segment: Some(account.segment.id.clone()),
        range: Some(range),
        origin,
        file: None,
    };
    PatternMatch { place, excerpt }
}

/// The match, in quotation marks, on one line.
fn quote_match(text: &str, range: &Range<usize>) -> String {
    let end = text.floor_char_boundary(range.end.min(range.start + MAX_EXCERPT_BYTES));
    let found = text.get(range.start..end).unwrap_or("");
    let more = if end < range.end { "…" } else { "" };
    format!("“{}{more}”", found.replace('\n', "⏎"))
}

/// The reason for a pattern without a match, with a description of the text.
fn unmatched_reason(seen: &SeenContext<'_>, texts: &SearchedTexts<'_>, expected: String) -> Reason {
    match texts {
        SearchedTexts::Segments(accounts) => {
            let text: usize = accounts
                .iter()
                .map(|account| retained_text(account).len())
                .sum();
            let Some(first) = accounts.first() else {
                return Reason::new(expected, "nowhere");
            };
            let begins = quote_match(&retained_text(first), &(0..retained_text(first).len()));
            let found = if text == 0 {
                "no text: it was dropped".to_owned()
            } else {
                format!("it nowhere in {text} bytes: {begins}")
            };
            Reason::new(expected, found).with_place(segment_place(first))
        }
        SearchedTexts::Messages => {
            let bytes: usize = seen
                .assembly
                .messages
                .iter()
                .map(|message| message.text.text().len())
                .sum();
            Reason::new(expected, format!("it nowhere in {bytes} bytes"))
                .with_advice(super::rendered_segments::describe_segments(seen.assembly))
        }
    }
}
