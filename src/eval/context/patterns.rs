//! `contains` and `absent`: patterns in the text of an agent's context.

use super::rendered_context::{kept, origin, place, stayed};
use super::select::{nothing, select};
use crate::eval::prepared::Seen;
use crate::eval::verdict::{Judged, Outcome, Place, Reason};
use crate::kernel::assembler::SegmentReport;
use crate::kernel::context::Kind;
use crate::scenario::model::{Patterns, Selector};
use std::ops::Range;

/// The maximum length of a displayed match, in bytes.
const SHOWN: usize = 60;

/// The texts that a pattern is searched in.
enum Texts<'a> {
    /// The texts of segments that were retained.
    Segments(Vec<&'a SegmentReport>),
    /// The messages as sent, and the tools.
    Messages,
}

/// A match of a pattern.
struct Hit {
    place: Place,
    excerpt: String,
}

/// Judges patterns that must all occur.
pub(super) fn contains(seen: &Seen<'_>, patterns: &Patterns) -> Judged {
    let texts = match texts(seen, patterns, "to contain") {
        Ok(texts) => texts,
        Err(reason) => return (Outcome::Fail, *reason),
    };
    let place = patterns.place();
    for pattern in &patterns.patterns {
        let expected = format!("{place} to contain /{}/", pattern.value);
        match first(seen, &texts, &pattern.value) {
            Ok(Some(_)) => {}
            Ok(None) => return (Outcome::Fail, missed(seen, &texts, expected)),
            Err(why) => return (Outcome::Fail, Reason::new(expected, why).blind()),
        }
    }
    (
        Outcome::Pass,
        Reason::new(format!("{place} to contain {}", patterns.words()), "each"),
    )
}

/// Judges patterns that must not occur.
pub(super) fn absent(seen: &Seen<'_>, patterns: &Patterns) -> Judged {
    let texts = match texts(seen, patterns, "not to contain") {
        Ok(texts) => texts,
        Err(reason) => {
            let id = patterns
                .within
                .as_ref()
                .map_or_else(String::new, Selector::words);
            let advice = format!(
                "{id} is not part of this context; to expect that, write `segment: {{…, state: absent}}`"
            );
            return (Outcome::Fail, reason.hint(advice));
        }
    };
    let place = patterns.place();
    for pattern in &patterns.patterns {
        let expected = format!("{place} not to contain /{}/", pattern.value);
        match first(seen, &texts, &pattern.value) {
            Ok(None) => {}
            Ok(Some(hit)) => {
                return (
                    Outcome::Fail,
                    Reason::new(expected, hit.excerpt).at(hit.place),
                );
            }
            Err(why) => return (Outcome::Fail, Reason::new(expected, why).blind()),
        }
    }
    (
        Outcome::Pass,
        Reason::new(
            format!("{place} not to contain {}", patterns.words()),
            "none",
        ),
    )
}

fn texts<'a>(seen: &Seen<'a>, patterns: &Patterns, verb: &str) -> Result<Texts<'a>, Box<Reason>> {
    let Some(which) = &patterns.within else {
        return Ok(Texts::Messages);
    };
    let found = select(seen.assembly, which);
    if !found.is_empty() {
        return Ok(Texts::Segments(found));
    }
    let expected = format!("{} {verb} {}", which.words(), patterns.words());
    Err(Box::new(nothing(seen.assembly, which, expected).blind()))
}

/// The first match of a pattern.
fn first(seen: &Seen<'_>, texts: &Texts<'_>, pattern: &str) -> Result<Option<Hit>, String> {
    match texts {
        Texts::Segments(accounts) => {
            for account in accounts {
                let text = kept(account);
                if let Some(range) = seen.case.run.patterns.find(pattern, &text)? {
                    return Ok(Some(in_segment(account, &text, range)));
                }
            }
        }
        Texts::Messages => {
            for message in &seen.assembly.messages {
                let text = message.text.text();
                if let Some(range) = seen.case.run.patterns.find(pattern, text)? {
                    let excerpt = format!(
                        "{} in the {} message",
                        excerpt(text, &range),
                        message.speaker.word()
                    );
                    let part = message.text.slice(range.start..text.len());
                    let origin = part
                        .stretches()
                        .first()
                        .map(|stretch| stretch.origin.clone());
                    let place = Place {
                        range: Some(range),
                        origin,
                        ..Place::default()
                    };
                    return Ok(Some(Hit { place, excerpt }));
                }
            }
            let all = seen.assembly.report.segments.iter();
            return first(
                seen,
                &Texts::Segments(
                    all.filter(|account| account.segment.kind == Kind::Tools)
                        .collect(),
                ),
                pattern,
            );
        }
    }
    Ok(None)
}

fn in_segment(account: &SegmentReport, text: &str, range: Range<usize>) -> Hit {
    let excerpt = excerpt(text, &range);
    let start = stayed(account).start;
    let range = range.start + start..range.end + start;
    let origin = origin(account, range.start);
    let place = Place {
        segment: Some(account.segment.id.clone()),
        range: Some(range),
        origin,
        file: None,
    };
    Hit { place, excerpt }
}

/// The match, in quotation marks, on one line.
fn excerpt(text: &str, range: &Range<usize>) -> String {
    let end = text.floor_char_boundary(range.end.min(range.start + SHOWN));
    let found = text.get(range.start..end).unwrap_or("");
    let more = if end < range.end { "…" } else { "" };
    format!("“{}{more}”", found.replace('\n', "⏎"))
}

/// The reason for a pattern without a match, with a description of the text.
fn missed(seen: &Seen<'_>, texts: &Texts<'_>, expected: String) -> Reason {
    match texts {
        Texts::Segments(accounts) => {
            let text: usize = accounts.iter().map(|account| kept(account).len()).sum();
            let Some(first) = accounts.first() else {
                return Reason::new(expected, "nowhere");
            };
            let begins = excerpt(&kept(first), &(0..kept(first).len()));
            let found = if text == 0 {
                "no text: it was dropped".to_owned()
            } else {
                format!("it nowhere in {text} bytes: {begins}")
            };
            Reason::new(expected, found).at(place(first))
        }
        Texts::Messages => {
            let bytes: usize = seen
                .assembly
                .messages
                .iter()
                .map(|message| message.text.text().len())
                .sum();
            Reason::new(expected, format!("it nowhere in {bytes} bytes"))
                .hint(super::select::here(seen.assembly))
        }
    }
}
