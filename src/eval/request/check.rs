//! Judges one expectation on a request of another program. Properties that only agents of this
//! project have, such as settings, cannot be judged.

use super::blocks::sections;
use super::sent::{Sent, plain_request, stored as stored_as};
use crate::base::span::Spanned;
use crate::base::suggest;
use crate::eval::answer::{parting, same_json};
use crate::eval::context::partings;
use crate::eval::prepared::{CaseInput, RunContext};
use crate::eval::verdict::{self, Judged, Outcome, Place, Reason, Verdict};
use crate::kernel::tokens::TokenCounter;
use crate::record::comparison::Comparison;
use crate::record::volatile::{ADVICE, differ_in_digits};
use crate::request::model::{CacheMark, Request};
use crate::request::prompt_cache::{self, Break};
use crate::request::segments::{Segment, segments as segments_of};
use crate::request::threads::is_shared;
use crate::scenario::expect::context::{percent, quoted};
use crate::scenario::expect::segments::listed;
use crate::scenario::expect::tools::ToolTest;
use crate::scenario::frozen::Frozen;
use crate::scenario::model::{ContextExpectation, Counted, Patterns, Selector, State};
use crate::scenario::paths;
use std::collections::{BTreeMap, BTreeSet};

/// The maximum length of a displayed text, in bytes.
const EXCERPT: usize = 60;

/// A request with its case.
#[derive(Clone, Copy, Debug)]
pub(super) struct SeenRequest<'a> {
    pub(super) context: &'a RunContext<'a>,
    pub(super) input: &'a CaseInput<'a>,
    pub(super) sent: &'a Sent,
}

/// A text of a request with its id.
struct Text<'a> {
    id: &'a str,
    words: &'a str,
    tokens: usize,
}

pub(super) fn judge(seen: &SeenRequest<'_>, expectation: &Spanned<ContextExpectation>) -> Verdict {
    let (outcome, reason) = of(seen, &expectation.value);
    Verdict {
        what: expectation.value.words(),
        outcome,
        gate: true,
        reason,
        span: expectation.span,
    }
}

fn of(seen: &SeenRequest<'_>, expectation: &ContextExpectation) -> Judged {
    let inner = |inner: &[Spanned<ContextExpectation>]| -> Vec<Judged> {
        inner.iter().map(|one| of(seen, &one.value)).collect()
    };
    match expectation {
        ContextExpectation::Segment { which, state } => segment(seen, which, *state),
        ContextExpectation::Segments(ids) => segments(seen, ids),
        ContextExpectation::Contains(patterns) => found(seen, patterns, true),
        ContextExpectation::Absent(patterns) => found(seen, patterns, false),
        ContextExpectation::Order(ids) => order(seen, ids),
        ContextExpectation::Tokens { of, max, min } => tokens(seen, of, max.as_ref(), min.as_ref()),
        ContextExpectation::PromptCache { min_reused } => prompt_cache(seen, *min_reused),
        ContextExpectation::NothingCut(true) => {
            verdict::pass("every segment whole", "a request as it was sent")
        }
        ContextExpectation::Tools(names) => same_tools(seen, names),
        ContextExpectation::ToolsOf(test) => tools(seen, test),
        ContextExpectation::Model(name) => model(seen, name),
        ContextExpectation::ModelOf(test) if test.provider.is_none() && test.sampling.is_none() => {
            verdict::all(
                &test
                    .name
                    .iter()
                    .chain(&test.id)
                    .map(|id| model(seen, id))
                    .collect::<Vec<_>>(),
            )
        }
        ContextExpectation::Snapshot => snapshot(seen),
        ContextExpectation::Not(one) => verdict::not(of(seen, &one.value), &one.value.words()),
        ContextExpectation::AnyOf(some) => verdict::any(inner(some)),
        ContextExpectation::AllOf(some) => verdict::all(&inner(some)),
        ContextExpectation::Trust { .. }
        | ContextExpectation::NothingCut(false)
        | ContextExpectation::Setting { .. }
        | ContextExpectation::ModelOf(_)
        | ContextExpectation::ProtectedPaths(_)
        | ContextExpectation::Lookup(_)
        | ContextExpectation::OfAgent { .. } => verdict::blind(
            expectation.words(),
            "a request of another program, for which this cannot be checked",
        ),
    }
}

fn ids<'a>(seen: &SeenRequest<'a>) -> Vec<&'a str> {
    seen.sent
        .segments
        .iter()
        .map(|segment| segment.id.as_str())
        .collect()
}

/// The texts that a selector selects; a failed outcome if there are none. `expected` describes
/// their purpose.
fn texts_named<'a>(
    seen: &SeenRequest<'a>,
    which: &Selector,
    expected: impl FnOnce() -> String,
) -> Result<Vec<Text<'a>>, Box<Judged>> {
    let id = named(which)?;
    let found = texts(seen, id);
    if found.is_empty() {
        Err(Box::new((
            Outcome::Fail,
            nothing(seen, id, expected()).blind(),
        )))
    } else {
        Ok(found)
    }
}

fn texts<'a>(seen: &SeenRequest<'a>, id: &str) -> Vec<Text<'a>> {
    let counter = &*seen.sent.counter;
    let all = &seen.sent.segments;
    let whole = |segment: &'a Segment| Text {
        id: &segment.id,
        words: &segment.text,
        tokens: segment.tokens(counter),
    };
    let named: Vec<Text<'a>> = all
        .iter()
        .filter(|segment| segment.id == id || segment.group == id)
        .map(whole)
        .collect();
    if !named.is_empty() {
        return named;
    }
    let Some((group, title)) = id.split_once('/') else {
        return Vec::new();
    };
    let of_group = all
        .iter()
        .filter(|segment| segment.group == group || segment.id == group);
    let nothing = BTreeMap::new();
    let blocks = seen
        .context
        .answers
        .config
        .map_or(&nothing, |config| &config.requests.blocks);
    let section = |segment: &'a Segment| {
        let section = sections(segment, blocks)
            .into_iter()
            .find(|section| section.title == title)?;
        let text = segment.text.get(section.range)?;
        Some(Text {
            id: &segment.id,
            words: text,
            tokens: counter.count(text),
        })
    };
    of_group.filter_map(section).collect()
}

fn named(which: &Selector) -> Result<&str, Box<Judged>> {
    match which {
        Selector::Id(id) => Ok(&id.value),
        Selector::Kind(_) | Selector::Source(_) => Err(Box::new(verdict::blind(
            which.words(),
            "a request of another program, whose segments only have ids",
        ))),
    }
}

/// The reason for a missing text, with the nearest or all existing ids.
fn nothing(seen: &SeenRequest<'_>, id: &str, expected: String) -> Reason {
    let here = ids(seen);
    let near =
        suggest::nearest(id, here.iter().copied()).map(|near| format!("did you mean `{near}`?"));
    let there = match (here.as_slice(), here.len() > 12) {
        ([first, .., last], true) => format!("{} segments, `{first}` to `{last}`", here.len()),
        _ => here.join(", "),
    };
    Reason::new(expected, format!("no `{id}`"))
        .hint(near.unwrap_or_else(|| format!("it has {there}")))
}

fn segment(seen: &SeenRequest<'_>, which: &Selector, state: State) -> Judged {
    let id = match named(which) {
        Ok(id) => id,
        Err(blind) => return *blind,
    };
    let is_there = !texts(seen, id).is_empty();
    match state {
        State::Kept if is_there => verdict::pass(which.words(), "it"),
        State::Kept => (Outcome::Fail, nothing(seen, id, which.words())),
        State::Absent if is_there => {
            verdict::fail(format!("no {}", which.words()), format!("`{id}`"))
        }
        State::Absent => verdict::pass(format!("no {}", which.words()), "none"),
        State::Cut | State::Dropped => verdict::blind(
            format!("{} {}", which.words(), state.word()),
            "a request as it was sent: what was left out is not in it",
        ),
    }
}

fn segments(seen: &SeenRequest<'_>, wanted: &[Spanned<String>]) -> Judged {
    let here = ids(seen);
    let expected = format!("exactly {}", listed(wanted));
    let wanted: Vec<&str> = wanted.iter().map(|one| one.value.as_str()).collect();
    if here == wanted {
        return verdict::pass(expected, "them");
    }
    let quote = |ids: Vec<&str>| {
        ids.iter()
            .map(|id| format!("`{id}`"))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let missing: Vec<&str> = wanted
        .iter()
        .copied()
        .filter(|id| !here.contains(id))
        .collect();
    let more: Vec<&str> = here
        .iter()
        .copied()
        .filter(|id| !wanted.contains(id))
        .collect();
    let mut words = Vec::new();
    if !missing.is_empty() {
        words.push(format!("no {}", quote(missing)));
    }
    if !more.is_empty() {
        words.push(format!("{} as well", quote(more)));
    }
    verdict::fail(
        expected,
        if words.is_empty() {
            "another order".to_owned()
        } else {
            words.join(", and ")
        },
    )
}

fn order(seen: &SeenRequest<'_>, wanted: &[Spanned<String>]) -> Judged {
    let expected = format!("the order {}", listed(wanted));
    let mut last: Option<(usize, &str)> = None;
    for id in wanted {
        let is_it = |segment: &Segment| segment.id == id.value || segment.group == id.value;
        let Some(at) = seen.sent.segments.iter().position(is_it) else {
            return (Outcome::Fail, nothing(seen, &id.value, expected).blind());
        };
        if let Some((_, name)) = last.filter(|(before, _)| at < *before) {
            return verdict::fail(expected, format!("`{}` before `{name}`", id.value));
        }
        last = Some((at, &id.value));
    }
    verdict::pass(expected, "it")
}

/// Judges patterns that must occur, or must not.
fn found(seen: &SeenRequest<'_>, patterns: &Patterns, wanted: bool) -> Judged {
    let verb = if wanted {
        "to contain"
    } else {
        "not to contain"
    };
    let place = patterns.place();
    let texts = match &patterns.within {
        None => texts_of_all(seen),
        Some(which) => match texts_named(seen, which, || {
            format!("{place} {verb} {}", patterns.words())
        }) {
            Err(none) => return *none,
            Ok(found) => found,
        },
    };
    for pattern in &patterns.patterns {
        let expected = format!("{place} {verb} /{}/", pattern.value);
        let mut hit = None;
        for text in &texts {
            match seen.context.patterns.find(&pattern.value, text.words) {
                Ok(Some(range)) => {
                    hit = Some((text, range));
                    break;
                }
                Ok(None) => {}
                Err(why) => return verdict::blind(expected, why),
            }
        }
        match (hit, wanted) {
            (None, true) => {
                let bytes: usize = texts.iter().map(|text| text.words.len()).sum();
                return verdict::fail(expected, format!("it nowhere in {bytes} bytes"));
            }
            (Some((text, range)), false) => {
                let end = text
                    .words
                    .floor_char_boundary(range.end.min(range.start + EXCERPT));
                let excerpt = text
                    .words
                    .get(range.start..end)
                    .unwrap_or_default()
                    .replace('\n', "⏎");
                let place = Place {
                    segment: Some(text.id.to_owned()),
                    range: Some(range),
                    ..Place::default()
                };
                return (
                    Outcome::Fail,
                    Reason::new(expected, format!("“{excerpt}” in `{}`", text.id)).at(place),
                );
            }
            (Some(_), true) | (None, false) => {}
        }
    }
    verdict::pass(
        format!("{place} {verb} {}", patterns.words()),
        if wanted { "each" } else { "none" },
    )
}

fn texts_of_all<'a>(seen: &SeenRequest<'a>) -> Vec<Text<'a>> {
    seen.sent
        .segments
        .iter()
        .map(|segment| Text {
            id: &segment.id,
            words: &segment.text,
            tokens: 0,
        })
        .collect()
}

fn tokens(
    seen: &SeenRequest<'_>,
    of: &Counted,
    max: Option<&Spanned<u64>>,
    min: Option<&Spanned<u64>>,
) -> Judged {
    let what = of.words();
    let counter = &*seen.sent.counter;
    let figure: usize = match of {
        Counted::Total => seen
            .sent
            .segments
            .iter()
            .map(|segment| segment.tokens(counter))
            .sum(),
        Counted::Prefix => {
            return verdict::blind(
                what,
                "one request alone: what a cache can reuse depends on the call before",
            );
        }
        Counted::Segment(which) => {
            match texts_named(seen, which, || format!("{} to be counted", which.words())) {
                Err(none) => return *none,
                Ok(found) => found.iter().map(|text| text.tokens).sum(),
            }
        }
    };
    let by = if counter.is_exact() {
        counter.name().to_owned()
    } else {
        format!("{}, an estimate", counter.name())
    };
    verdict::count(figure as u64, what, max, min, &by)
}

fn prompt_cache(seen: &SeenRequest<'_>, least: f64) -> Judged {
    let expected = ContextExpectation::PromptCache { min_reused: least }.words();
    if let Some(lost) = lost_breakpoints(seen.sent) {
        let hint = "what no breakpoint (`cache_control`) stands behind is sent and paid for anew in each call";
        return (
            Outcome::Fail,
            Reason::new(expected, lost).hint(hint.to_owned()),
        );
    }
    let Some(before) = &seen.sent.before else {
        return verdict::blind(
            expected,
            "the first call of its conversation, so nothing of it can be reused",
        );
    };
    let counter = &*seen.sent.counter;
    let (found, had) = (
        prompt_cache::compare(before, &seen.sent.segments, counter),
        tokens_of(before, counter),
    );
    let share = share(found.reused, had);
    let words = format!(
        "{} % of the {had} tokens of the call before",
        percent(share)
    );
    if share >= least {
        return verdict::pass(expected, words);
    }
    let reason = Reason::new(expected, words);
    let Some(broken) = found.broken_by else {
        return (Outcome::Fail, reason);
    };
    let Break {
        segment,
        offset,
        before,
        after,
        ..
    } = broken;
    let place = Place {
        segment: Some(segment.clone()),
        ..Place::default()
    };
    let moved = format!(
        "`{segment}` differs from its byte {offset}: “{}” in place of “{}”",
        excerpt(&after),
        excerpt(&before)
    );
    (Outcome::Fail, reason.at(place).hint(moved))
}

/// The description of cache breakpoints that the recorded call has and the request lacks: all of
/// them, or those before the messages.
fn lost_breakpoints(sent: &Sent) -> Option<&'static str> {
    let recorded = sent.recorded.as_ref()?;
    let recorded = plain_request(recorded.request.get(), Some(&recorded.endpoint)).ok()?;
    let marks = |request: &Request, segments: &[Segment]| {
        let marked = || segments.iter().filter(|segment| segment.is_breakpoint);
        (
            CacheMark::of(&request.body).is_some() || marked().next().is_some(),
            marked().any(is_shared),
        )
    };
    let (had, has) = (
        marks(&recorded, &segments_of(&recorded)),
        marks(&sent.request, &sent.segments),
    );
    match () {
        () if had.0 && !has.0 => Some("no cache breakpoint, and the recorded call has one"),
        () if had.1 && !has.1 => Some(
            "no cache breakpoint behind the tools or the system text, and the recorded call has one",
        ),
        () => None,
    }
}

/// The fraction of a call that the next one repeats unchanged at its beginning, from 0 to 1.
pub fn reused(before: &[Segment], now: &[Segment], counter: &dyn TokenCounter) -> f64 {
    share(
        prompt_cache::compare(before, now, counter).reused,
        tokens_of(before, counter),
    )
}

fn share(reused: usize, had: usize) -> f64 {
    let number = |tokens: usize| f64::from(u32::try_from(tokens).unwrap_or(u32::MAX));
    (number(reused) / number(had.max(1))).min(1.0)
}

fn tokens_of(segments: &[Segment], counter: &dyn TokenCounter) -> usize {
    segments.iter().map(|segment| segment.tokens(counter)).sum()
}

/// The beginning of a text, on one line.
fn excerpt(text: &str) -> String {
    text.get(..text.floor_char_boundary(EXCERPT))
        .unwrap_or_default()
        .replace('\n', "⏎")
}

fn same_tools(seen: &SeenRequest<'_>, wanted: &[Spanned<String>]) -> Judged {
    let expected = format!("tools {}", quoted(wanted));
    let here: BTreeSet<&str> = seen
        .sent
        .request
        .tools
        .iter()
        .map(|tool| tool.name.as_str())
        .collect();
    let wanted: BTreeSet<&str> = wanted.iter().map(|one| one.value.as_str()).collect();
    let missing: Vec<String> = wanted
        .difference(&here)
        .map(|name| format!("no `{name}`"))
        .collect();
    let more: Vec<String> = here
        .difference(&wanted)
        .map(|name| format!("`{name}` too"))
        .collect();
    if missing.is_empty() && more.is_empty() {
        return verdict::pass(expected, "the same");
    }
    verdict::fail(expected, [missing, more].concat().join(", and "))
}

fn tools(seen: &SeenRequest<'_>, test: &ToolTest) -> Judged {
    let tools = &seen.sent.request.tools;
    let here = |name: &str| tools.iter().find(|tool| tool.name == name);
    let mut judged = Vec::new();
    for name in &test.has {
        let words = format!("a tool `{}`", name.value);
        judged.push(if here(&name.value).is_some() {
            verdict::pass(words, "that")
        } else {
            verdict::fail(words, "none of that name")
        });
    }
    for name in &test.lacks {
        let words = format!("not a tool `{}`", name.value);
        judged.push(if here(&name.value).is_none() {
            verdict::pass(words, "that")
        } else {
            verdict::fail(words, "it")
        });
    }
    judged.extend(test.exactly.iter().map(|wanted| same_tools(seen, wanted)));
    for (name, wanted) in &test.schema_of {
        let words = format!(
            "the parameters of `{}` as they stand {}",
            name.value,
            if matches!(wanted, Frozen::File(_)) {
                "in its file"
            } else {
                "here"
            }
        );
        let wanted =
            match wanted {
                Frozen::Value(value) => Ok(value.clone()),
                Frozen::File(path) => seen.input.beside.text(path).and_then(|text| {
                    serde_json::from_str(&text).map_err(|error| error.to_string())
                }),
            };
        judged.push(
            match (
                here(&name.value).and_then(|tool| seen.sent.request.schema(tool)),
                wanted,
            ) {
                (None, _) => verdict::blind(words, "no definition of that tool"),
                (_, Err(why)) => verdict::blind(words, why),
                (Some(found), Ok(wanted)) if same_json(&wanted, found) => {
                    verdict::pass(words, "the same")
                }
                (Some(found), Ok(wanted)) => verdict::fail(
                    words,
                    format!("others at {}", parting(&wanted, found, "$".to_owned())),
                ),
            },
        );
    }
    verdict::all(&judged)
}

fn model(seen: &SeenRequest<'_>, wanted: &Spanned<String>) -> Judged {
    verdict::name(
        "model",
        &wanted.value,
        seen.sent.request.model.as_deref(),
        "none",
    )
}

fn snapshot(seen: &SeenRequest<'_>) -> Judged {
    let input = seen.input;
    let path = paths::snapshot(input.path, &input.case.name.value);
    let expected = format!("the request as stored in {path}");
    let Some(stored) = input.snapshot else {
        let reason = Reason::new(expected, "no such file")
            .hint("nothing is stored yet: `ctxc eval --accept` stores it");
        return (Outcome::Fail, reason.blind());
    };
    let comparison = seen.context.answers.comparison;
    let now = stored_as(&seen.sent.request, comparison.map(Comparison::volatile));
    // The stored request can have been masked by other rules than today's.
    let masked = |document: &str| {
        comparison.map_or_else(
            || document.to_owned(),
            |comparison| comparison.masked(document),
        )
    };
    let is_same = |comparison: &Comparison| {
        let sent = seen
            .sent
            .call
            .as_ref()
            .and_then(|call| Request::read(&call.body, Some(&call.endpoint)).ok());
        let clear = sent.map_or_else(
            || now.clone(),
            |request| stored_as(&request, Some(comparison.volatile())),
        );
        comparison.is_same_document(stored, &clear)
    };
    if stored == now || comparison.is_some_and(is_same) {
        return verdict::pass(expected, "the same");
    }
    let (stored, now) = (masked(stored), masked(&now));
    let advice = differ_in_digits(&stored, &now).then_some(ADVICE);
    let partings = partings(&stored, &now, None)
        .into_iter()
        .map(|one| one.words);
    let (outcome, reason) = verdict::parted(
        expected,
        Place {
            file: Some((path, None)),
            ..Place::default()
        },
        partings,
    );
    let reason = match advice {
        Some(advice) => reason.hint(advice),
        None => reason,
    };
    (outcome, reason)
}
